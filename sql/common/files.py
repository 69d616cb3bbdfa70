"""Reading people's files: gzip or plain, UTF-8, with every fault reported by line."""

import codecs
import csv
import errno
import gzip
import hashlib
import io
import json
import os
import stat
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isal import igzip, isal_zlib

from gradelake.sql.common.console import unseen
from gradelake.sql.common.counted import counted
from gradelake.sql.common.problems import Problems, Rejected, named, reject
from gradelake.sql.common.project import Project

if TYPE_CHECKING:  # commands that read one small file need not wait for it
    import polars as pl

NAME_ENCODING = 'Save it as UTF-8, or name its encoding in gradelake.toml: encoding = "latin-1".'
MAX_TREC_LINE = 1 << 20  # bytes; ids, numbers and a tag never need more
MAX_TEXT_LINE = 32 << 20  # bytes; a passage or a response
_GZIP = b"\x1f\x8b"
# how files begin that are no text, whatever their names
_OTHERS = {
    b"PK\x03\x04": ("a spreadsheet (.xlsx) or another zip archive", "Save it as CSV, or unzip it."),
    b"\xd0\xcf\x11\xe0": ("an old spreadsheet (.xls)", "Save it as CSV."),
    b"%PDF": ("a PDF", "Take the text out of it."),
    b"PAR1": ("a Parquet file", "Write it as CSV or JSON lines."),
    b"\xfd7zXZ": ("an xz file", "Unzip it with xz, or pack it with gzip."),
    b"\x28\xb5\x2f\xfd": ("a zstd file", "Unzip it with zstd, or pack it with gzip."),
    b"BZh": ("a bzip2 file", "Unzip it with bunzip2, or pack it with gzip."),
}
_BROKEN: tuple = (EOFError, gzip.BadGzipFile, zlib.error, isal_zlib.error)  # .gz files
_CHUNK = 1 << 17
_BLOCK = 16 << 20
_LINE = 16  # bytes that a line costs beside its own, at least
_FREE = 64 << 20  # bytes that any .gz may become
csv.field_size_limit(MAX_TEXT_LINE)  # 131,072 characters otherwise: a passage's text may be longer


@dataclass(frozen=True)
class UnzipLimits:
    """What a .gz file may become: `max_unzipped_gb` and `max_unzipped_ratio` of a project."""

    gb: float
    ratio: float

    def check(self, zipped: int, unzipped: int, shown: str) -> None:
        """Raise `Rejected` for a file that became too large."""
        if unzipped > self.gb * 1e9:
            what, setting = f"{self.gb:g} GB", "max_unzipped_gb"
        elif unzipped > max(_FREE, zipped * self.ratio):
            what, setting = f"{self.ratio:g} times its size", "max_unzipped_ratio"
        else:
            return
        hint = f"Is this the right file? If so, raise {setting} in [lake] of gradelake.toml."
        raise reject(shown, None, f"unzips to more than {what}", hint)


limits = UnzipLimits(
    Project.max_unzipped_gb, Project.max_unzipped_ratio
)  # set where a lake is opened


def sha256_of(path: Path) -> str:
    """Hash of a file's bytes as stored. Raises `OSError` as `_opened` does."""
    with _opened(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def require_same(path: Path, shown: str, sha256: str) -> None:
    """Raise `Rejected` where a file that was read is not the one any more that was hashed: the hash
    would stand for rows that it does not hold."""
    with suppress(OSError):  # it is gone
        if sha256_of(path) == sha256:
            return
    fix = "Run the command again once nobody writes to it."
    raise reject(shown, None, "was changed while it was read", fix)


def check_file_name(shown: str) -> None:
    """Raise `Rejected` for a file whose name is not UTF-8 or more than a line: the lake could not
    say where rows came from."""
    try:
        shown.encode()
    except UnicodeEncodeError:
        raise reject(shown, None, "the file's name is not UTF-8", "Rename it.") from None
    if named(shown) != shown:
        raise reject(shown, None, "the file's name holds a line break or the like", "Rename it.")


def read(path: Path, shown: str, max_line: int = MAX_TEXT_LINE) -> bytes:
    """The file's UTF-8 bytes, as `chunks` hands them out and with what it raises."""
    return b"".join(chunks(path, shown, max_line))


def chunks(
    path: Path, shown: str, max_line: int = MAX_TEXT_LINE, progress: Callable[..., Any] = unseen
) -> Iterator[bytes]:
    """The file's UTF-8 bytes a part at a time, unzipped when its name ends in .gz, without a byte
    order mark. `progress` is `console.progress`, to be shown how far.

    Raises `Rejected` for a missing, unreadable, empty or truncated file, one that is not UTF-8 or
    whose name is not, a null byte, a line longer than `max_line` bytes (found before the line is
    held in memory), and one that unzips to more than `limits` allow.
    """
    for chunk, _ in _counted_chunks(path, shown, max_line, progress):
        yield chunk


def _counted_chunks(
    path: Path, shown: str, max_line: int, progress: Callable[..., Any], by_zlib: bool = False
) -> Iterator[tuple[bytes, int]]:
    """`chunks`, each with the number of its newlines. `by_zlib`: not by isal, which unzips in a
    third of the time, and says less of a fault, and of where it is."""
    check_file_name(shown)
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, line_length, size = 1, 0, 0
    at_start = is_blank = True
    try:
        with _opened(path) as raw, _unzipped(path, raw, by_zlib) as stream:
            read = iter(lambda: stream.read1(_CHUNK), b"")
            total = os.fstat(raw.fileno()).st_size
            for chunk in progress(f"reading {shown}", read, total, at=raw.tell):
                size += len(chunk)
                if stream is not raw:
                    limits.check(total, size, shown)
                if at_start:
                    _require_text(chunk, shown)
                    chunk, at_start = chunk.removeprefix(codecs.BOM_UTF8), False
                first = chunk.find(b"\n")
                line_length += len(chunk) if first < 0 else first
                if line_length > max_line:
                    raise _too_long(shown, line, max_line)
                if is_blank or not chunk.isascii() or decoder.getstate()[0]:
                    is_blank = _is_blank(decoder.decode(chunk)) and is_blank
                if b"\0" in chunk:
                    raise _null_byte(shown, line + chunk.count(b"\n", 0, chunk.find(b"\0")))
                yield chunk, (n_lines := chunk.count(b"\n"))
                line += n_lines
                if n_lines:
                    line_length = len(chunk) - chunk.rfind(b"\n") - 1
            decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise reject(
            shown,
            line + error.object.count(b"\n", 0, error.start),
            f"byte 0x{error.object[error.start]:02x} is not UTF-8",
            "Convert the file, for example: iconv -f LATIN1 -t UTF-8 FILE > NEWFILE",
        ) from error
    except _BROKEN as error:
        if not by_zlib:
            deque(_counted_chunks(path, shown, max_line, unseen, by_zlib=True), maxlen=0)
        raise _broken_zip(error, path, shown, None if at_start else line) from error
    except OSError as error:
        raise reject(
            shown,
            None,
            f"cannot be read: {error.strerror or error}",
            "Check the path and its permissions.",
        ) from error
    if is_blank:
        raise reject(shown, None, "the file is empty", "Remove it or put its content in place.")


def _too_long(shown: str, line: int, most: int) -> Rejected:
    return reject(
        shown,
        line,
        f"this line is longer than {most >> 20} MiB",
        "Is this the right file? Lines end with a newline character.",
    )


def _null_byte(shown: str, line: int) -> Rejected:
    what = "holds a null byte: this is not a text file"
    return reject(shown, line, what, "Is this the right file?")


def _broken_zip(error: Exception, path: Path, shown: str, line: int | None) -> Rejected:
    """What is wrong with a gzip file that was read as far as a line, or (None) not at all."""
    if line is None and not _is_gzip(path):
        return reject(
            shown,
            None,
            "is not gzip, though its name ends in .gz",
            "If it is the right file, rename it without .gz.",
        )
    return reject(
        shown,
        line or 1,
        f"the gzip file is broken or cut off here ({error})",
        "Copy or download the file again.",
    )


def recoded(path: Path, shown: str, encoding: str) -> bytes:
    """The UTF-8 bytes of a file in another encoding. Raises `Rejected` as `chunks` does, and for an
    encoding that Python does not know."""
    check_file_name(shown)
    try:
        with _opened(path) as raw, _unzipped(path, raw, by_zlib=True) as stream:
            parts, size = [], 0
            while part := stream.read(_CHUNK):
                size += len(part)
                if stream is not raw:
                    limits.check(os.fstat(raw.fileno()).st_size, size, shown)
                parts.append(part)
        text = b"".join(parts).decode(encoding).removeprefix("\ufeff")
    except LookupError:
        raise reject(shown, None, f"there is no encoding {encoding!r}", NAME_ENCODING) from None
    except UnicodeError as error:
        raise reject(shown, None, f"is not {encoding}: {error}", NAME_ENCODING) from error
    except (OSError, EOFError, zlib.error) as error:
        raise reject(shown, None, f"cannot be read: {error}", "Check the file.") from error
    if "\0" in text or _is_blank(text):
        what = "holds a null byte" if "\0" in text else "the file is empty"
        raise reject(shown, None, what, "Is this the right file?")
    return text.encode()


def blocks(
    path: Path, shown: str, max_line: int = MAX_TEXT_LINE, progress: Callable[..., Any] = unseen
) -> Iterator[tuple[int, bytes]]:
    """(number of its first line, whole lines), some MiB at a time, without blocks of blank lines.
    Raises as `chunks` does."""
    line, held, size, n_held = 1, [], 0, 0
    for chunk, n_lines in _counted_chunks(path, shown, max_line, progress):
        held.append(chunk)
        size, n_held = size + len(chunk) + _LINE * n_lines, n_held + n_lines
        if size >= _BLOCK and n_lines:
            end = chunk.rfind(b"\n") + 1
            held[-1], rest = chunk[:end], chunk[end:]
            if not (whole := b"".join(held)).isspace():
                yield line, whole
            line, held, size, n_held = line + n_held, [rest], len(rest), 0
    if any(chunk and not chunk.isspace() for chunk in held):
        yield line, b"".join(held)


def _opened(path: Path) -> io.BufferedReader:
    """The file's bytes. Raises `OSError`, too, for a pipe, which may wait, and a device, which may
    never end."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "it is a pipe, a socket or a device, not a file")
    return path.open("rb")


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(2) == _GZIP


def _require_text(start: bytes, shown: str) -> None:
    """Raise `Rejected` for the start of a file that is something else."""
    if start.startswith(_GZIP):
        if shown.endswith(".gz"):
            raise reject(shown, None, "is zipped twice", "Unzip it once, with gunzip.")
        raise reject(shown, None, "is a gzip file", f"Rename it: {Path(shown).name}.gz")
    for magic, (what, hint) in _OTHERS.items():
        if start.startswith(magic):
            raise reject(shown, None, f"is {what}, not text", hint)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise reject(
            shown,
            None,
            "is UTF-16, not UTF-8",
            "Convert the file, for example: iconv -f UTF-16 -t UTF-8 FILE > NEWFILE",
        )


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _unzipped(path: Path, raw: io.BufferedReader, by_zlib: bool) -> io.BufferedIOBase:
    if not path.name.endswith(".gz"):
        return raw
    return gzip.GzipFile(fileobj=raw) if by_zlib else igzip.IGzipFile(fileobj=raw)


def numbered_lines(data: bytes, first: int = 1) -> Iterator[tuple[int, str]]:
    """(line number, text) of every line that is not blank; the `first` has that number."""
    for number, line in enumerate(data.split(b"\n"), start=first):
        text = line.rstrip(b"\r").decode("utf-8")
        if not _is_blank(text):
            yield number, text


def lines_of(
    path: Path, shown: str, progress: Callable[..., Any] = unseen, max_line: int = MAX_TEXT_LINE
) -> Iterator[tuple[int, str]]:
    """(line number, text) of every line that is not blank, of a file that need not fit into
    memory. Raises as `chunks` does."""
    for first, block in blocks(path, shown, max_line, progress):
        yield from numbered_lines(block, first)


def json_of(data: bytes, shown: str, hint: str, **options: Any) -> Any:
    """What a file of JSON holds. Raises `Rejected` where it is none."""
    try:
        return parse_json(data.decode(), **options)
    except json.JSONDecodeError as error:
        raise reject(shown, error.lineno, f"not JSON: {error.msg}", hint) from error
    except ValueError as error:
        raise reject(shown, None, f"not JSON that can be read: {error}", hint) from error


def json_lines(data: bytes, shown: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of every line. Raises `Rejected` with all lines that are no object."""
    problems = Problems(shown, "")
    objects = [*json_objects(numbered_lines(data), problems)]
    problems.raise_if_any()
    return iter(objects)


def json_objects(
    lines: Iterable[tuple[int, str]], problems: Problems
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of the lines that hold one; the others are added to the problems,
    which the caller raises once it has looked at all."""
    hint = "Each line must be one JSON object, complete on its line."
    for number, value in json_values(lines, problems, hint):
        if isinstance(value, dict):
            yield number, value
        else:
            problems.add(number, f"a JSON {type(value).__name__}, not an object")
            problems.hint = hint


def json_values(
    lines: Iterable[tuple[int, str]], problems: Problems, hint: str | None = None
) -> Iterator[tuple[int, Any]]:
    """(line number, value) of the lines that hold JSON; the others are added to the problems, with
    what is then to be done."""
    for number, line in lines:
        try:
            yield number, parse_json(line)
            continue
        except json.JSONDecodeError as error:
            fault = f"not JSON: {error.msg} at column {error.colno}"
        except ValueError as error:
            fault = f"not JSON that can be read: {error}"
        problems.add(number, fault)
        problems.hint = hint or problems.hint


def parse_json(text: str, **options: Any) -> Any:
    """`json.loads`, raising `ValueError` also for what Python could not hold or write again."""
    try:
        value = json.loads(text, **options)
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # of Python's limit on the digits of whole numbers
        raise ValueError("a whole number of thousands of digits") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    refuse_half_characters(text, value)
    return value


def refuse_half_characters(text: str, value: Any) -> None:
    """Raise `ValueError` where a JSON text holds a value that could not be written again."""
    if "\\ud" in text.lower():
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise ValueError("half a character (a \\ud... without its other half)") from error


def columns(
    data: bytes, names: list[str], what: str, problems: Problems, first: int = 1
) -> "pl.DataFrame":
    """Whitespace-separated columns as strings, with each row's `line`; `first` is that of the
    first.

    Shape (rows, len(names) + 1). Lines with another number of columns are left out and added to
    the problems, which the caller raises once it has looked at the others.
    Files with one kind of separator throughout take a fast road; the result is the same.
    """
    import polars as pl

    regular = regular_columns(data, dict.fromkeys(names, pl.String), first)
    if regular is not None:
        return regular
    rows = []
    for number, line in enumerate(data.split(b"\n"), start=first):
        cells = line.split()
        if len(cells) == len(names):
            rows.append((*(cell.decode("utf-8") for cell in cells), number))
        elif cells:
            problems.add(number, f"{counted(len(cells), 'columns')} instead of {len(names)}")
            problems.hint = f"{what} lines have {len(names)} columns: {' '.join(names)}."
    schema = dict.fromkeys(names, pl.String) | {"line": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def regular_columns(data: bytes, schema: "pl.Schema | dict", first: int) -> "pl.DataFrame | None":
    """`columns`, of types, in a file with one kind of separator throughout, whose every line has
    them all. None for others."""
    import polars as pl

    separator, other = (b"\t", b" ") if b"\t" in data[: data.find(b"\n")] else (b" ", b"\t")
    if any(mixed in data for mixed in (other, b"\v", b"\f")):
        return None
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        return None
    try:
        frame = pl.read_csv(
            data,
            separator=separator.decode(),
            has_header=False,
            quote_char=None,
            schema=schema,
            n_threads=1,  # more take twice as much processor time
        )
    except pl.exceptions.PolarsError:  # a line with more columns, a cell of another type
        return None
    # a line with fewer columns, a blank one and an empty cell all leave nulls
    n_lines = data.count(b"\n") + (not data.endswith(b"\n"))
    if frame.height != n_lines or any(frame.null_count().row(0)):
        return None
    return frame.with_columns(
        pl.int_range(first, first + frame.height, dtype=pl.Int64).alias("line")
    )
