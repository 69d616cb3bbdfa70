"""dbt's reading of its project, kept for the user: one lake's build spares the next one's.

Parsing takes dbt about four seconds, and a second where it finds its own former parse; it depends
on nothing in a lake. What dbt parsed once is given to every later run, for as long as the
definitions, the installation and dbt are the same. It is a convenience: where nothing can be kept,
dbt parses.
"""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from gradelake.sql.build import changes
from gradelake.sql.common.cache import cache_folder
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.whole_file import whole_file

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

_FILE = "partial_parse.msgpack"  # dbt's name for it
_OTHERWISE = ("--vars", "--target", "--profile", "--no-partial-parse")  # parsed with other settings
_KEPT = 4  # of the newest


class Shared:
    """The kept parse of the models with these definitions (`changes.definitions`), unless dbt's
    arguments rule it out."""

    def __init__(self, definitions: str, dbt_arguments: list[str]):
        key = hashlib.sha256(f"{changes.DBT_PROJECT}\0{definitions}".encode()).hexdigest()
        self.file = cache_folder() / f"{key[:32]}-{_FILE}"
        self.fits = not any(argument.startswith(_OTHERWISE) for argument in dbt_arguments)

    def manifest(self) -> "Manifest | None":
        """The kept parse; None where there is none, or one that cannot be read."""
        from dbt.contracts.graph.manifest import Manifest
        from dbt.parser.manifest import extended_mashumuro_decoder

        try:
            packed = self.file.read_bytes() if self.fits else b""
            manifest = Manifest.from_msgpack(packed, decoder=extended_mashumuro_decoder)
            manifest.build_flat_graph()  # what models see as `graph`; dbt makes it after parsing
            return manifest
        except Exception:  # what reading a damaged file raises is msgpack's and mashumaro's affair
            return None

    def keep(self, target: Path) -> None:
        """Keep what dbt has just parsed and written into its `target` folder."""
        if not self.fits:
            return
        try:
            parsed = (target / _FILE).read_bytes()
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
