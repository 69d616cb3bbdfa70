"""Reading people's files: gzip or plain, UTF-8, with every fault reported by line."""

import csv
import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradelake.sql.common.counted import counted
from gradelake.sql.common.problems import Problems, reject

if TYPE_CHECKING:  # commands that read one small file need not wait for it
    import polars as pl

MAX_TREC_LINE = 1 << 20  # bytes; ids, numbers and a tag never need more
MAX_TEXT_LINE = 32 << 20  # bytes; a passage or a response
_CHUNK = 1 << 20
csv.field_size_limit(MAX_TEXT_LINE)  # 131,072 characters otherwise: a passage's text may be longer


def sha256_of(path: Path) -> str:
    """Hash of a file's bytes as stored."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_file_name(shown: str) -> None:
    """Raise `Rejected` for a file whose name is not UTF-8: the lake could not say where rows came
    from."""
    try:
        shown.encode()
    except UnicodeEncodeError:
        raise reject(shown, None, "the file's name is not UTF-8", "Rename it.") from None


def read(path: Path, shown: str, max_line: int = MAX_TEXT_LINE) -> bytes:
    """The file's UTF-8 bytes, unzipped when its name ends in .gz, without a byte order mark.

    Raises `Rejected` for a missing, unreadable, empty or truncated file, one that is not UTF-8 or
    whose name is not, and a line longer than `max_line` bytes (found before the line is held in
    memory).
    """
    check_file_name(shown)
    chunks: list[bytes] = []
    line, line_length = 1, 0
    try:
        with _open(path) as stream:
            while chunk := stream.read1(_CHUNK):
                first = chunk.find(b"\n")
                line_length += len(chunk) if first < 0 else first
                if line_length > max_line:
                    raise reject(
                        shown,
                        line,
                        f"this line is longer than {max_line >> 20} MiB",
                        "Is this the right file? Lines end with a newline character.",
                    )
                if first >= 0:
                    line += chunk.count(b"\n")
                    line_length = len(chunk) - chunk.rfind(b"\n") - 1
                chunks.append(chunk)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise reject(
            shown,
            line,
            f"the gzip file is broken or cut off here ({error})",
            "Copy or download the file again.",
        ) from error
    except OSError as error:
        raise reject(
            shown,
            None,
            f"cannot be read: {error.strerror or error}",
            "Check the path and its permissions.",
        ) from error
    data = b"".join(chunks).removeprefix(b"\xef\xbb\xbf")
    try:
        if _is_blank(data.decode("utf-8")):
            raise reject(shown, None, "the file is empty", "Remove it or put its content in place.")
    except UnicodeDecodeError as error:
        raise reject(
            shown,
            data.count(b"\n", 0, error.start) + 1,
            f"byte 0x{data[error.start]:02x} is not UTF-8",
            "Convert the file, for example: iconv -f LATIN1 -t UTF-8 FILE > NEWFILE",
        ) from error
    if (null := data.find(b"\0")) >= 0:
        raise reject(
            shown,
            data.count(b"\n", 0, null) + 1,
            "holds a null byte: this is not a text file",
            "Is this the right file?",
        )
    return data


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _open(path: Path) -> io.BufferedIOBase:
    if path.name.endswith(".gz"):
        return gzip.open(path, "rb")
    return path.open("rb")


def numbered_lines(data: bytes) -> Iterator[tuple[int, str]]:
    """(line number, text) of every line that is not blank."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        text = line.rstrip(b"\r").decode("utf-8")
        if not _is_blank(text):
            yield number, text


def json_lines(data: bytes, shown: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of every line. Raises `Rejected` with all lines that are no object."""
    problems = Problems(shown, "Each line must be one JSON object, complete on its line.")
    objects = []
    for number, line in numbered_lines(data):
        try:
            value = parse_json(line)
        except json.JSONDecodeError as error:
            problems.add(number, f"not JSON: {error.msg} at column {error.colno}")
            continue
        except ValueError as error:
            problems.add(number, f"not JSON that can be read: {error}")
            continue
        if not isinstance(value, dict):
            problems.add(number, f"a JSON {type(value).__name__}, not an object")
            continue
        objects.append((number, value))
    problems.raise_if_any()
    return iter(objects)


def parse_json(text: str, **options: Any) -> Any:
    """`json.loads`, raising `ValueError` also for what Python could not hold or write again."""
    try:
        value = json.loads(text, **options)
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except UnicodeEncodeError as error:
        raise ValueError("half a character (a \\ud... without its other half)") from error
    return value


def columns(data: bytes, names: list[str], what: str, problems: Problems) -> "pl.DataFrame":
    """Whitespace-separated columns as strings, with each row's 1-based `line`.

    Shape (rows, len(names) + 1). Lines with another number of columns are left out and added to
    the problems, which the caller raises once it has looked at the others.
    Files with one kind of separator throughout take a fast road; the result is the same.
    """
    regular = _regular_columns(data, names)
    return _any_columns(data, names, what, problems) if regular is None else regular


def _regular_columns(data: bytes, names: list[str]) -> "pl.DataFrame | None":
    import polars as pl

    separator, other = (b"\t", b" ") if b"\t" in data[: data.find(b"\n")] else (b" ", b"\t")
    if any(mixed in data for mixed in (other, b"\v", b"\f")):
        return None
    if (returns := data.count(b"\r")) and returns != data.count(b"\r\n"):
        return None
    try:
        frame = pl.read_csv(
            data,
            separator=separator.decode(),
            has_header=False,
            quote_char=None,
            schema=dict.fromkeys(names, pl.String),
        )
    except pl.exceptions.PolarsError:  # a line with more columns
        return None
    # a line with fewer columns, a blank one and an empty cell all leave nulls
    n_lines = data.count(b"\n") + (not data.endswith(b"\n"))
    if frame.height != n_lines or any(frame.null_count().row(0)):
        return None
    return frame.with_columns(pl.int_range(1, frame.height + 1, dtype=pl.Int64).alias("line"))


def _any_columns(data: bytes, names: list[str], what: str, problems: Problems) -> "pl.DataFrame":
    import polars as pl

    rows = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        cells = line.split()
        if len(cells) == len(names):
            rows.append((*(cell.decode("utf-8") for cell in cells), number))
        elif cells:
            problems.add(number, f"{counted(len(cells), 'columns')} instead of {len(names)}")
            problems.hint = f"{what} lines have {len(names)} columns: {' '.join(names)}."
    schema = dict.fromkeys(names, pl.String) | {"line": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")
