"""Folders of which nothing is sure: `start` says so, and writes nothing."""

import zlib
from collections.abc import Callable
from pathlib import Path

import polars as pl

from tests.projects import write

_POEM = """\
The owl walked out, the moon was thin,
A lantern hung above the door,
And no one came to let him in,
So he went back, and walked once more.
"""
_CODE = """\
import sys

def main(path):
    for line in open(path):
        print(line.split()[0], len(line))

main(sys.argv[1])
"""
_LOG = """\
2026-03-05 12:00:01,311 INFO server started on port 8080
2026-03-05 12:00:04,002 WARN slow answer, 812 ms
2026-03-05 12:00:09,950 INFO 127.0.0.1 GET /search?q=tent 200
"""
# an image of one dark point
_DOT = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00"
_SETTINGS = '{"name": "shop", "version": 3, "plugins": ["a", "b"], "paths": {"src": "lib"}}\n'
_NUMBERS = "".join(f"{n * 7 % 11} {n * 3 % 5} {n}\n" for n in range(40))
_INVOICES = [
    {"invoice": f"2026-{n}", "customer": f"C{n}", "date": "2026-03-05", "amount": n * 17.5}
    for n in range(1, 12)
]


def _weather(folder: Path) -> None:
    days = [{"day": f"2026-03-{n:02}", "low": n % 7 - 2.5, "high": n % 9 + 4} for n in range(1, 29)]
    folder.mkdir(exist_ok=True)
    pl.DataFrame(days).write_parquet(folder / "weather.parquet")


def _files(contents: dict[str, str | bytes | list[dict]]) -> Callable[[Path], None]:
    def fill(folder: Path) -> None:
        for name, content in contents.items():
            write(folder / name, content)

    return fill


NONSENSE: dict[str, Callable[[Path], None]] = {
    "poems": _files({"owl.txt": _POEM, "more/owl2.md": f"# Owls\n\n{_POEM}"}),
    "code": _files({"main.py": _CODE, "lib/util.js": "export const two = () => 2;\n"}),
    "invoices": _files({"invoices.csv": _INVOICES}),
    "logs": _files({"server.log": _LOG, "old/server.log.1": _LOG}),
    "images": _files({"dot.png": _DOT, "blob.bin": zlib.compress(_POEM.encode())}),
    "empty": _files({"results.csv": "query,doc_id,rank\n", "nothing.json": "[]\n"}),
    "numbers": _files({"numbers.txt": _NUMBERS, "plain.csv": "1,2,3\n4,5,6\n7,8,9\n"}),
    "settings": _files({"package.json": _SETTINGS, "pyproject.toml": '[project]\nname = "shop"\n'}),
    "stock": _files(
        {
            "stock.csv": [
                {"query": "tent", "sku": f"B{n}", "price": n * 3, "left": n % 5} for n in range(30)
            ],
            "edges.txt": "".join(f"{n}\t{n + 1}\t{n % 4 + 1}\n" for n in range(40)),
        }
    ),
    "weather": _weather,
    "contacts": _files(
        {
            "people.csv": [
                {"id": n, "name": f"Ann {n}", "email": f"a{n}@shop.test", "phone": f"0{n}7"}
                for n in range(1, 9)
            ]
        }
    ),
}
