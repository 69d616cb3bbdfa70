"""dbt's reading of its project, kept for the user: one lake's build spares the next one's.

Parsing takes dbt about four seconds and depends on nothing in a lake. What dbt parsed for one lake
is lent to the others, for as long as the definitions, the installation and dbt are the same. It is
a convenience: where nothing can be kept, each lake has its own, as dbt does it.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from gradelake.sql.common.cache import cache_folder
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.whole_file import whole_file

_FILE = "partial_parse.msgpack"  # dbt's name for it
_OTHERWISE = ("--vars", "--target", "--profile", "--no-partial-parse")  # parsed with other settings
_KEPT = 4  # of the newest


class Shared:
    """The kept file for a dbt project with these definitions (a hash), unless dbt's arguments rule
    it out."""

    def __init__(self, dbt_project: Path, definitions: str, dbt_arguments: list[str]):
        made_by = [f"{name} {version(name)}" for name in ("dbt-core", "dbt-duckdb")]
        key = "\0".join([str(dbt_project), definitions, *made_by])
        self.file = cache_folder() / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}-{_FILE}"
        self.fits = not any(argument.startswith(_OTHERWISE) for argument in dbt_arguments)
        self.lent: bytes | None = None

    @contextmanager
    def lent_to(self, target: Path) -> Iterator[None]:
        """dbt, run inside, finds the kept file in its `target` folder; what it parsed is kept."""
        self.lend(target)
        yield
        self.keep(target)

    def lend(self, target: Path) -> None:
        """Put the kept file into dbt's `target` folder, where dbt looks for its own."""
        if not self.fits:
            return
        try:
            self.lent = self.file.read_bytes()
            target.mkdir(parents=True, exist_ok=True)
            with whole_file(target / _FILE) as file:
                file.write(self.lent)
        except (OSError, BadInput):
            self.lent = None

    def keep(self, target: Path) -> None:
        """Keep what dbt parsed, if it is not what it was lent."""
        if not self.fits:
            return
        try:
            parsed = (target / _FILE).read_bytes()
            if parsed == self.lent:
                return
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(self.file) as file:
                file.write(parsed)
            kept = sorted(
                self.file.parent.glob(f"*-{_FILE}"), key=lambda each: each.stat().st_mtime
            )
            for old in kept[:-_KEPT]:
                old.unlink(missing_ok=True)
        except (OSError, BadInput):
            return
