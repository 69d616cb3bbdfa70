"""The most memory that a report takes, and a server that holds it while people compare systems.

Made-up collections of 3 systems x 5,000 queries and of 300 x 100, as `pages` makes them. GB are the
process's resident set at its largest, which Linux keeps.

    python -m tests.benchmarks.memory
"""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.table import Table

from tests.benchmarks.aims import console, note
from tests.benchmarks.pages import make_sized
from tests.benchmarks.scale import measured
from tests.serve.server import Server

SIZES = {"3x5000": (3, 5_000), "300x100": (300, 100)}  # systems, queries
AT_ONCE = 16  # comparisons


def main() -> None:
    """Print a row for each collection."""
    table = Table(title="Memory of reports")
    for column in ("systems x queries", "GB of a report", "CPU s", "GB of a server"):
        table.add_column(column, justify="right")
    with tempfile.TemporaryDirectory() as place:
        for name, size in SIZES.items():
            folder = Path(place, name)
            make_sized(name, *size, folder)
            _, cpu, of_report = measured(folder, "report", name)
            of_server = serve(folder, name)
            note(f"{name}: GB of a report", of_report)
            note(f"{name}: GB of a server", of_server)
            table.add_row(name, f"{of_report:.2f}", f"{cpu:.1f}", f"{of_server:.2f}")
    console.print(table)


def serve(folder: Path, name: str) -> float:
    """GB at most of a server that made a report early and is asked for many comparisons at once."""
    of = {"a": "system000", "b": "system001", "labels": "assessor:me", "measure": "nDCG@10"}
    with Server(folder, is_early=True) as server:
        client = server.browser("ann")
        client.timeout = 600
        while client.get(f"/c/{name}/").raise_for_status().status_code == 202:
            pass  # it waits two seconds by itself
        compare = f"/c/{name}/compare.json"
        with ThreadPoolExecutor(AT_ONCE) as people:
            for answer in people.map(
                lambda _: client.get(compare, params=of | {"level": 1}), range(AT_ONCE)
            ):
                answer.raise_for_status()
        status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1e6


if __name__ == "__main__":
    main()
