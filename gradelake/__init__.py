"""Evaluate retrieval and generation systems with LLM grades, in SQL.

`gradelake.open()` is the way in from Python; the rooms are `gradelake.sql` and so on.
"""

from os import PathLike
from typing import TYPE_CHECKING

from gradelake.sql.common.errors import GradelakeError as GradelakeError

if TYPE_CHECKING:
    from gradelake.open_lake import OpenLake


def open(
    place: str | PathLike[str] | None = None,
    release: str | None = None,
    *,
    allow_files: bool = False,
) -> "OpenLake":
    """A lake to ask and to work on.

    `place`: a folder with a gradelake.toml, or such a file; None: `$GRADELAKE_CONFIG`, else the
    nearest at or above the working directory. `release`: the one to read; None: the newest.
    `allow_files`: its `sql` may read and write files, too, as you.
    Raises `GradelakeError` where there is no gradelake.toml, or it cannot be read.
    """
    from gradelake.open_lake import OpenLake
    from gradelake.sql.common.project import Project

    return OpenLake(Project.find(place), release, allow_files)
