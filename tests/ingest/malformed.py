"""What can be wrong with a file: mutations of a good one's bytes, lines, cells and JSON values."""

import gzip
import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

TEXTS = [
    "",
    " ",
    "nan",
    "NaN",
    "inf",
    "-Infinity",
    "1e999",
    "-1",
    "-0",
    "1.5",
    "0x1f",
    "1_0",
    "true",
    "99999999999",
    "99999999999999999999",
    "9" * 400,
    "9" * 5000,
    "null",
    "q1",
    "p1",
    "a b",
    "'",
    '"',
    '""',
    "it's",
    "\\",
    "\\u0000",
    "|",
    ",",
    ";",
    "\t",
    "--",
    "{}",
    "%s",
    "$1",
    "?",
    "'; drop table lake.raw.grades; --",
    "../../etc/passwd",
    "..",
    "/dev/null",
    "*",
    "[",
    "[a-",
    "\0",
    "\a",
    "\x0b",
    "\x1c",
    "\x1b[31m",
    "\x85",
    "\xa0",
    "\u3000",
    "\u2028",
    "\ud800",
    "\ufeff",
    "\uff11",
    "\u0661",
    "e\u0301",
    "\U0001f41d",
    "[red]x[/red]",
    "x" * 200_000,
]
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    1e308,
    float("nan"),
    float("inf"),
    2**31,
    2**63,
    10**400,
    [],
    {},
    [[]],
    [None],
    {"a": 1},
    {"": ""},
    ["a", 1],
    [1, "p1"],
    [["p1", "p2", "p3"]],
    [{}],
    {"text": None},
    {"grades": [{}]},
    {"gradelake": {}},
    "2026-01-01T00:00:00+02:00",
    *TEXTS,
]
BYTES = [text.encode("utf-8", "surrogatepass") for text in TEXTS] + [
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\x1a",
    b"#",
    b"=",
    b"[",
    b"]",
    b"{",
    b"}",
    b":",
    b"\x1f\x8b",
]
NESTED = [b"[" * 100_000, b'{"a":' * 20_000, b"[" * 5_000 + b"]" * 5_000]
WHOLE: list[Callable[[bytes], bytes]] = [
    lambda data: b"",
    lambda data: b" \n\t\n",
    lambda data: b"\x1c\n\xc2\xa0\n",
    lambda data: b"\xef\xbb\xbf" + data,
    lambda data: b"\xef\xbb\xbf",
    lambda data: data.decode().encode("utf-16"),
    lambda data: data.decode().encode("utf-16-le"),
    lambda data: data.decode().encode("utf-32"),
    lambda data: data.replace(b"\n", b"\r\n"),
    lambda data: data.replace(b"\n", b"\r"),
    lambda data: data.replace(b" ", b"\t"),
    lambda data: data.replace(b"\t", b" "),
    lambda data: data.replace(b",", b";"),
    lambda data: data.replace(b'"', b"'"),
    lambda data: data.rstrip(b"\n"),
    lambda data: data + data,
    lambda data: data + b"\0" * 512,
    lambda data: b"," * 20 + b"\n" + data,
    lambda data: b'""\n' + data,
    lambda data: b",,,\n;;;\n",
    lambda data: b"null\n",
    lambda data: b"[]\n",
    lambda data: b"{}\n",
    lambda data: b'"text"\n',
    lambda data: b"1\n",
    lambda data: b"[" + b",".join(data.split(b"\n")[:-1]) + b"]",
    lambda data: gzip.compress(data),
    lambda data: bytes(range(256)) * 4,
    *((lambda data, nested=nested: nested) for nested in NESTED),
]
TOML_VALUES = [
    '""',
    '" "',
    '"\\u0000"',
    '"nist.qrels\\u0000"',
    '".."',
    '"../"',
    '"."',
    '"lake"',
    '"nist.qrels"',
    '"postgres:host=nowhere.invalid"',
    '"~"',
    '"it\'s"',
    '"a\\"b"',
    '"x; drop table y"',
    '"runs/["',
    '"[z-a]"',
    '"**"',
    '"**/*"',
    '"\\u001b"',
    '"runs/x.run"',
    f'"{"x" * 300}"',
    f'"{"x/" * 3000}"',
    '"s3://"',
    '"beir/none"',
    '"gradelake/tiny"',
    '"https://x"',
    "0",
    "-1",
    "2147483648",
    "1e3",
    "9223372036854775808",
    "9" * 5000,
    "nan",
    "inf",
    "1e999",
    "true",
    "2026-01-01",
    "12:00:00",
    "[]",
    "[1]",
    '[""]',
    '[["a"]]',
    '["runs/*", "runs/*"]',
    "[" * 3000 + "]" * 3000,
    "{}",
    "{ a = 1 }",
    '{ a = "nist.qrels" }',
    '{ "a b" = "nist.qrels" }',
    '{ "" = "x" }',
    '{ "a\\u0000" = "x" }',
    '{ "\'; drop table x; --" = "nist.qrels" }',
    '{ a = { b = ["x"] } }',
    '{ a = ["x"] }',
    "",
    "=",
    '"unclosed',
    "[unclosed",
]
SEPARATORS = (b"\t", b" ", b",")


@st.composite
def mutated(draw, content: bytes, zipped: bool = False) -> bytes:
    """Variants of a good file's bytes, with one to three things wrong; `zipped`: as a .gz holds
    it, which may be broken too."""
    data = content
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        data = draw(st.sampled_from(_WAYS))(draw, data)
    if not zipped:
        return data
    packed = gzip.compress(data, mtime=0)
    if draw(st.integers(0, 3)):
        return packed
    return draw(st.sampled_from([_cut, _flipped, _inserted, lambda _, data: data * 2]))(
        draw, draw(st.sampled_from([packed, gzip.compress(packed, mtime=0), data]))
    )


@st.composite
def mutated_toml(draw, content: bytes) -> bytes:
    """Variants of a gradelake.toml: as of any file, or settings with other names and values."""
    if draw(st.integers(0, 3)) == 0:
        return draw(mutated(content))
    lines = content.decode().splitlines()
    for _ in range(draw(st.sampled_from([1, 1, 2]))):
        at = draw(st.integers(0, len(lines) - 1))
        key, equals, _ = lines[at].partition(" = ")
        value = draw(st.sampled_from(TOML_VALUES))
        if not equals:
            headers = [f"{key}x", "[]", "[[collections]]", "", f"a = {value}"]
            lines[at] = draw(st.sampled_from(headers))
        elif draw(st.integers(0, 5)) == 0:
            lines[at] = f"{draw(st.sampled_from(['', 'x', '.', key + 's']))}{equals}{value}"
        else:
            lines[at] = f"{key} = {value}"
    return "\n".join(lines).encode()


def _place(draw, data: bytes) -> int:
    return draw(st.integers(0, len(data)))


def _cut(draw, data: bytes) -> bytes:
    return data[: _place(draw, data)]


def _flipped(draw, data: bytes) -> bytes:
    at = _place(draw, data)
    return data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]


def _deleted(draw, data: bytes) -> bytes:
    at = _place(draw, data)
    return data[:at] + data[at + draw(st.integers(1, 20)) :]


def _inserted(draw, data: bytes) -> bytes:
    at = _place(draw, data)
    return data[:at] + draw(st.sampled_from(BYTES)) + data[at:]


def _lines(draw, data: bytes) -> bytes:
    """A line dropped, repeated, moved, cut, put into another, or one that is none of the file's."""
    lines = data.split(b"\n")
    at, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    way = draw(st.sampled_from(["drop", "repeat", "swap", "cut", "join", "strange"]))
    if way == "drop":
        del lines[at]
    elif way == "repeat":
        lines.insert(other, lines[at])
    elif way == "swap":
        lines[at], lines[other] = lines[other], lines[at]
    elif way == "cut":
        lines[at] = _cut(draw, lines[at])
    elif way == "join":
        lines[at : at + 2] = [b"".join(lines[at : at + 2])]
    else:
        lines.insert(at, draw(st.sampled_from(BYTES + NESTED)))
    return b"\n".join(lines)


def _cells(draw, data: bytes) -> bytes:
    """A cell of a line replaced, removed or added."""
    lines = data.split(b"\n")
    at = draw(st.integers(0, len(lines) - 1))
    separator = draw(st.sampled_from([s for s in SEPARATORS if s in lines[at]] or [b" "]))
    cells = lines[at].split(separator)
    cell = draw(st.integers(0, len(cells) - 1))
    way = draw(st.sampled_from(["replace", "replace", "remove", "add", "repeat"]))
    if way == "remove":
        del cells[cell]
    elif way == "repeat":
        cells.insert(cell, cells[cell])
    else:
        width = 1 if way == "replace" else 0
        cells[cell : cell + width] = [draw(st.sampled_from(BYTES))]
    lines[at] = separator.join(cells)
    return b"\n".join(lines)


def _json(draw, data: bytes) -> bytes:
    """A value of a line's JSON (or of the whole) replaced, a key removed, added or repeated."""
    lines = data.split(b"\n")
    at = draw(st.integers(0, len(lines) - 1))
    try:
        value, before, after = json.loads(data), b"", b"\n"
    except (ValueError, RecursionError):
        try:
            value = json.loads(lines[at])
        except (ValueError, RecursionError):
            return _cells(draw, data)
        before, after = (b"\n".join(part) for part in (lines[:at], lines[at + 1 :]))
        before, after = before + b"\n" * bool(before), b"\n" + after
    changed = json.dumps(_changed(draw, value)).encode()
    if draw(st.integers(0, 9)) == 0:  # the first key twice
        key = changed[1 : changed.find(b":")]
        changed = b"{" + key + b": 1, " + changed[1:]
    return before + changed + after


def _changed(draw, value: Any) -> Any:
    """One place of a JSON value, at any depth, is something else."""
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 4)) == 0:
        if isinstance(value, dict) and draw(st.booleans()):
            return value | {draw(st.sampled_from(TEXTS)): draw(st.sampled_from(VALUES))}
        return draw(st.sampled_from(VALUES))
    if isinstance(value, list):
        at = draw(st.integers(0, len(value) - 1))
        if draw(st.integers(0, 5)) == 0:
            return value[:at] + value[at + 1 :]
        return [*value[:at], _changed(draw, value[at]), *value[at + 1 :]]
    key = draw(st.sampled_from(sorted(value)))
    way = draw(st.integers(0, 7))
    if way == 0:
        return {k: v for k, v in value.items() if k != key}
    if way == 1:
        return {(draw(st.sampled_from(TEXTS)) if k == key else k): v for k, v in value.items()}
    return value | {key: _changed(draw, value[key])}


def _whole(draw, data: bytes) -> bytes:
    try:
        return draw(st.sampled_from(WHOLE))(data)
    except UnicodeDecodeError:  # another mutation made it so
        return data


_WAYS = [_cut, _flipped, _deleted, _inserted, _lines, _cells, _cells, _json, _json, _json, _whole]
