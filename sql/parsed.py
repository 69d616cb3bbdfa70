"""dbt's reading of its project, kept beside the project: one lake's build spares the next one's.

Parsing takes dbt about four seconds and depends on nothing in a lake. dbt keeps what it parsed in
a lake's own folder; a copy of it serves every lake of this installation, for as long as the
definitions are the ones it was made from.
"""

from pathlib import Path

from sql.errors import BadInput
from sql.whole_file import whole_file

_FILE = "partial_parse.msgpack"  # dbt's name for it
_OTHERWISE = ("--vars", "--target", "--profile", "--no-partial-parse")  # parsed with other settings


class Shared:
    """The kept file for these definitions (a hash of them), unless dbt's arguments rule it out."""

    def __init__(self, dbt_project: Path, definitions: str, dbt_arguments: list[str]):
        self.file = dbt_project / "target" / f"{definitions[:16]}-{_FILE}"
        self.fits = not any(argument.startswith(_OTHERWISE) for argument in dbt_arguments)

    def option(self) -> list[str]:
        """dbt's option that reads the kept file; none when there is none."""
        if self.fits and self.file.is_file():
            return ["--partial-parse-file-path", str(self.file)]
        return []

    def keep(self, target: Path) -> None:
        """Keep what dbt parsed into its `target` folder, unless it is kept already.

        Where the installation may not be written to, each lake has its own file only.
        """
        parsed = target / _FILE
        if not self.fits or self.file.is_file() or not parsed.is_file():
            return
        try:
            self.file.parent.mkdir(exist_ok=True)
            with whole_file(self.file) as file:
                file.write(parsed.read_bytes())
            for older in self.file.parent.glob(f"*-{_FILE}"):
                if older != self.file:
                    older.unlink(missing_ok=True)
        except (OSError, BadInput):
            return
