"""What can be wrong with a file: Hypothesis' variants of a good one's bytes, lines and values."""

import gzip
import json
from typing import Any

from hypothesis import strategies as st

TEXTS = [
    *("", " ", "nan", "inf", "-Infinity", "1e999", "-1", "-0", "1.5", "0x1f", "1_0", "true"),
    *("null", "99999999999", "9" * 400, "9" * 5000, "q1", "p1", "a b", "'", '"', '""', "it's"),
    *("\\", "|", "\\u0000", ",", ";", "\t", "--", "{}", "%s", "$1", "?", "../../etc/passwd", ".."),
    *("/dev/null", "'; drop table lake.raw.grades; --", "*", "[", "[a-", "\0", "\a", "\x0b"),
    *("\x1c", "\x1b[31m", "\x85", "\xa0", "\u3000", "\u2028", "\ud800", "\ufeff", "\uff11"),
    *("e\u0301", "\U0001f41d", "[red]x[/red]", "x" * 200_000),
]
VALUES: list[Any] = [
    *(None, True, 0, -1, 1.5, 1e308, float("nan"), float("inf"), 2**31, 2**63, 10**400, [], {}),
    *([[]], [None], {"a": 1}, {"": ""}, ["a", 1], [["p1", "p2", "p3"]], [{}], {"text": None}),
    *({"grades": [{}]}, {"gradelake": {}}, "2026-01-01T00:00:00+02:00", *TEXTS),
]
PIECES = [text.encode("utf-8", "surrogatepass") for text in TEXTS] + [
    *(b"\xff", b"\xc3", b"\xed\xa0\x80", b"\n", b"\r", b"\n\n", b"\x1a", b"#", b"]", b":"),
    *(b"\x1f\x8b", b"[" * 100_000, b'{"a":' * 20_000, b"[" * 5_000 + b"]" * 5_000),
]
WHOLE = [
    *(b"", b" \n\t\n", b"\xef\xbb\xbf", b",,,\n;;;\n", b"null\n", b"[]\n", b"{}\n", b'"text"\n'),
    bytes(range(256)) * 4,
]
CODINGS = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig")
REPLACED = [
    *((b"\n", b"\r\n"), (b"\n", b"\r"), (b" ", b"\t"), (b"\t", b" "), (b",", b";"), (b'"', b"'"))
]
TOML_VALUES = [
    *('""', '" "', '"\\u0000"', '".."', '"."', '"lake"', '"nist.qrels"', '"~"', '"it\'s"'),
    *('"**/*"', '"a\\"b"', '"x; drop table y"', '"[z-a]"', '"\\u001b"', '"runs/x.run"'),
    *(f'"{"x" * 300}"', f'"{"x/" * 3000}"', '"s3://"', '"postgres:host=nowhere.invalid"'),
    *('"beir/none"', '"https://x"', "0", "-1", "2147483648", "1e3", "9223372036854775808"),
    *("9" * 5000, "nan", "inf", "true", "2026-01-01", "12:00:00", "[]", "[1]", '[""]', '[["a"]]'),
    *('["runs/*", "runs/*"]', "{}", "[" * 3000 + "]" * 3000, "{ a = 1 }", '{ a = "nist.qrels" }'),
    *('{ "" = "x" }', '{ a = ["x"] }', '{ "a\\u0000" = "x" }'),
    *('{ "\'; drop table x; --" = "nist.qrels" }', '{ a = { b = ["x"] } }', "", "=", '"unclosed'),
    "[unclosed",
]


@st.composite
def malformed(draw, good: bytes, zipped: bool = False) -> bytes:
    """A good file's bytes with one to three things wrong; `zipped`: as a .gz holds them, which may
    be broken too."""
    data = good
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        data = draw(st.sampled_from([_bytes, _line, _cell, _value, _value, _whole]))(draw, data)
    if not zipped:
        return data
    packed = gzip.compress(data, mtime=0)
    if draw(st.integers(0, 3)):
        return packed
    return draw(st.sampled_from([_bytes(draw, packed), packed * 2, gzip.compress(packed), data]))


@st.composite
def malformed_toml(draw, good: bytes) -> bytes:
    """A gradelake.toml: wrong as any file is, or settings with other names and values."""
    if draw(st.integers(0, 3)) == 0:
        return draw(malformed(good))
    lines = good.decode().splitlines()
    for _ in range(draw(st.sampled_from([1, 1, 2]))):
        at = draw(st.integers(0, len(lines) - 1))
        key, equals, _ = lines[at].partition(" = ")
        value = draw(st.sampled_from(TOML_VALUES))
        if not equals:
            lines[at] = draw(st.sampled_from([f"{key}x", "[]", "[[collections]]", f"a = {value}"]))
        else:
            lines[at] = f"{draw(st.sampled_from([key] * 5 + ['', 'x', '.', f'{key}s']))} = {value}"
    return "\n".join(lines).encode()


def _bytes(draw, data: bytes) -> bytes:
    """Cut off, or with some bytes in place of others."""
    at, piece = (
        draw(st.integers(0, len(data))),
        draw(st.sampled_from(PIECES) | st.binary(max_size=2)),
    )
    return data[:at] + draw(st.sampled_from([b"", piece + data[at + draw(st.integers(0, 20)) :]]))


def _line(draw, data: bytes) -> bytes:
    """A line is gone, or is another one, joined with the next, or none of the file's."""
    lines = data.split(b"\n")
    at, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    joined = [b"".join(lines[at : at + 2])]
    choices = [[], [lines[other]], [lines[at]] * 2, joined, [draw(st.sampled_from(PIECES))]]
    lines[at : at + 1] = draw(st.sampled_from(choices))
    return b"\n".join(lines)


def _cell(draw, data: bytes) -> bytes:
    """A cell of a line is replaced, gone, or there twice."""
    lines = data.split(b"\n")
    at = draw(st.integers(0, len(lines) - 1))
    separator = draw(st.sampled_from([s for s in (b"\t", b" ", b",") if s in lines[at]] or [b" "]))
    cells = lines[at].split(separator)
    cell, new = draw(st.integers(0, len(cells) - 1)), [draw(st.sampled_from(PIECES))]
    cells[cell : cell + 1] = draw(st.sampled_from([new, new, [], [cells[cell]] * 2]))
    lines[at] = separator.join(cells)
    return b"\n".join(lines)


def _value(draw, data: bytes) -> bytes:
    """One value in the JSON of a line, or of the whole file, is something else."""
    lines = data.split(b"\n")
    at = draw(st.integers(0, len(lines) - 1))
    for text, before, after in ((data, [], []), (lines[at], lines[:at], lines[at + 1 :])):
        try:
            changed = json.dumps(_changed(draw, json.loads(text))).encode()
        except (ValueError, RecursionError):
            continue
        if draw(st.integers(0, 9)) == 0 and b":" in changed:  # the first key twice
            changed = b"{" + changed[1 : changed.find(b":")] + b": 1, " + changed[1:]
        return b"\n".join([*before, changed, *after])
    return _cell(draw, data)


def _changed(draw, value: Any) -> Any:
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 4)) == 0:
        new = draw(st.sampled_from(VALUES))
        is_added = isinstance(value, dict) and draw(st.booleans())
        return value | {draw(st.sampled_from(TEXTS)): new} if is_added else new
    at = draw(st.integers(0, len(value) - 1))
    is_gone = draw(st.integers(0, 5)) == 0
    if isinstance(value, list):
        return [*value[:at], *([] if is_gone else [_changed(draw, value[at])]), *value[at + 1 :]]
    key = list(value)[at]
    rest = {k: v for k, v in value.items() if k != key}
    return rest if is_gone else rest | {key: _changed(draw, value[key])}


def _whole(draw, data: bytes) -> bytes:
    """All of it is something else, in another encoding, or with other separators."""
    way = draw(st.integers(0, 4))
    if way == 0:
        return draw(st.sampled_from(WHOLE))
    if way == 1:
        return draw(
            st.sampled_from([data + data, data + b"\0" * 512, b'""\n' + data, gzip.compress(data)])
        )
    if way == 2:
        return data.decode(errors="replace").encode(draw(st.sampled_from(CODINGS)))
    if way == 3:
        return b"[" + b",".join(data.split(b"\n")[:-1]) + b"]"
    return data.replace(*draw(st.sampled_from(REPLACED)))
