"""Where the answers of a session go, and in which format."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from gradelake.sql.ask import confined, question
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.pager import WHEN, paged
from gradelake.sql.common.project import require_known
from gradelake.sql.lake.opening import Lake


class Answers:
    """The lake that a session asks, the format of its answers, and where they go."""

    def __init__(
        self,
        lake: Lake,
        format_: str,
        output: Path | None = None,
        is_named: bool = False,
        first: int | None = None,
        pager: str = "auto",
    ):
        """`is_named`: the lake is a release that was asked for by name; `first`: so many rows of an
        answer. Raises `BadInput` for a format that cannot hold several answers, and when `output`
        cannot be written."""
        self.lake = lake
        self.is_named = is_named
        self.first = first
        self.set_pager(pager)
        self._file: TextIO | None = None
        self._path: Path | None = None
        self.set_format(format_)
        self.set_output(output)

    def read_newest(self) -> None:
        """Ask the newest release, unless another or the working catalog was asked for."""
        if not self.lake.release or self.is_named:
            return
        if self.lake.project.on_postgres and not self.lake.allows_files:
            self.lake.reopen()  # closed to files, DuckDB attaches no PostgreSQL any more
            confined.prepare(self.lake, allow_files=False)
            console.tell("temporary tables and views of this session are gone")
        else:
            self.lake.read_newest()

    def set_format(self, name: str) -> None:
        """Print answers in one of `question.FORMATS`. Raises `BadInput` for another."""
        if name == "parquet":
            raise BadInput(
                "a Parquet file holds one answer",
                'Give the query with it: gradelake sql --format parquet --output FILE "select ..."',
            )
        require_known(name, question.FORMATS, f"no format {name!r}")
        self.format = name

    def set_pager(self, when: str) -> None:
        """Send answers through a pager: auto, on or off (see `pager.WHEN`). Raises `BadInput`."""
        if when not in WHEN:
            raise BadInput(f".pager {when}: {', '.join(WHEN[:-1])} or {WHEN[-1]} is needed")
        self.pager = when

    def set_output(self, path: Path | None) -> None:
        """Send answers to a new file, or (None) to standard output again.

        Raises `BadInput` when the file cannot be written; answers then go where they went.
        """
        try:
            opened = path.open("w", encoding="utf-8") if path else None
        except OSError as error:
            raise question.cannot_be_written(path, error) from None
        self.close()
        self._file, self._path = opened, path

    def close(self) -> None:
        if self._file:
            self._file.close()

    @contextlib.contextmanager
    def printing(self) -> Iterator[bool]:
        """What is printed inside goes to the output: a file, a pager, or standard output. Gives
        whether a person reads it there."""
        if self._file:
            try:
                with contextlib.redirect_stdout(self._file):
                    yield False
                self._file.flush()
            except OSError as error:
                raise question.cannot_be_written(self._path, error) from None
            return
        for_people = self.format in question.FOR_PEOPLE or self.pager == "on"
        with paged(self.pager if for_people else "off") as for_person:
            yield for_person
