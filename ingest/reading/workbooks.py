"""Sheets of a workbook (.xlsx): what they are called, and how far their cells reach.

DuckDB reads as many columns as a sheet's first row fills, which may be a title; told how far the
cells reach, it reads all of them.
"""

import html
import posixpath
import re
import zipfile
from collections.abc import Iterator
from typing import IO

_CHUNK = 1 << 20
_SHEET = re.compile(r'<(?:\w+:)?sheet\b[^>]*?\sname="([^"]*)"[^>]*?\s\w+:id="([^"]*)"')
_PART = re.compile(r"<(?:\w+:)?Relationship\b[^>]*>")
_ATTRIBUTE = re.compile(r'\b(Id|Target)="([^"]*)"')
# a cell that is not empty, with its place
_CELL = re.compile(rb'<(?:\w+:)?c r="([A-Z]{1,3})([0-9]{1,7})"[^>]*(?<!/)>')


def sheets_of(book: zipfile.ZipFile) -> dict[str, str]:
    """The part of the book that holds each sheet, by the sheet's name.

    Raises `KeyError` and `UnicodeDecodeError` for what is no workbook.
    """
    parts = {}
    for found in _PART.findall(book.read("xl/_rels/workbook.xml.rels").decode()):
        attributes = dict(_ATTRIBUTE.findall(found))
        target = posixpath.join("/xl", attributes.get("Target", ""))
        parts[attributes.get("Id", "")] = posixpath.normpath(target).lstrip("/")
    content = book.read("xl/workbook.xml").decode()
    return {html.unescape(name): parts.get(key, "") for name, key in _SHEET.findall(content)}


def extent(book: zipfile.ZipFile, part: str) -> str | None:
    """The range from the first cell of a sheet to the last column and row that hold anything; None
    where its cells do not say their places."""
    columns: set[bytes] = set()
    last_row = 0
    try:
        with book.open(part) as stream:
            for chunk in _chunks(stream):
                found = _CELL.findall(chunk)
                columns.update(column for column, _ in found)
                last_row = max(last_row, int(found[-1][1]) if found else 0)
    except KeyError:
        return None
    if not columns:
        return None
    last = max(columns, key=lambda column: (len(column), column)).decode()
    return f"A1:{last}{last_row}"


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    """Parts of a sheet, each of which ends with a tag."""
    rest = b""
    while read := stream.read(_CHUNK):
        whole, mark, rest = (rest + read).rpartition(b">")
        yield whole + mark
