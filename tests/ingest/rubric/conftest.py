"""The tiny collection with two banks and the views of its rubric; made once, copied for each."""

import shlex
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gradelake.ingest.banks.banks import import_bank
from gradelake.ingest.rubric.commands import rubric as commands
from gradelake.ingest.rubric.rubric import Rubric
from gradelake.ingest.rubric.save import Session
from gradelake.ingest.rubric.up_to_date import open_up_to_date
from tests.command_line import start
from tests.ingest.conftest import Tiny, new_tiny

SKY, LIGHT, BLUE = "Why is the sky blue?", "What scatters light?", "Blue scatters most"
BEES = "Do bees see the sun?"
BANK = [
    "query_id,kind,text,gold_answer,weight",
    f"q1,question,{SKY},,",
    f"q1,question,{LIGHT},air|molecules,2",
    f"q1,nugget,{BLUE},,",
    f"q2,question,{BEES},,0.5",
]
FACETS = ["query_id,facet_id,kind,text", "q1,f1,question,Same words?", "q1,f2,question,Same words?"]


class Edited(Tiny):
    """A project whose rubric people edit."""

    def rubric(self, *arguments: str, code: int = 0, stdin: str | None = None) -> Result:
        """`gradelake rubric ...` in this process; fail with what it said unless it ends so."""
        project = self.project
        result = CliRunner().invoke(commands, list(arguments), obj=lambda: project, input=stdin)
        error = result.exception if not isinstance(result.exception, SystemExit) else None
        left = getattr(error, "exit_code", None) if error else result.exit_code
        assert left == code, f"{arguments}: {left}\n{result.output}{error!r}"
        result.error = str(error) if error else ""  # type: ignore[attr-defined]
        return result

    def sheet(self, *queries: str) -> str:
        """The sheet of these queries as it stands."""
        return self.rubric("edit", *queries, "--print").stdout

    def use(self, sheet: str, *options: str, code: int = 0) -> Result:
        """Bring a changed sheet in."""
        self.write("sheet.txt", sheet)
        return self.rubric("edit", "--from", str(self.folder / "sheet.txt"), *options, code=code)

    def session(self, **options) -> Session:
        """A `rubric edit` that has begun."""
        project = self.project
        lake, rows = open_up_to_date(project)
        with lake:
            return Session(project, Rubric(lake, self.name), rows, **options)

    def start(self, *arguments: str, editor: str) -> subprocess.Popen:
        """A `gradelake rubric edit` of its own, with a scripted editor."""
        assert self.project
        return start(self.folder, "rubric", "edit", *arguments, VISUAL="", EDITOR=editor)

    def editor(self, code: str, name: str = "editor.py") -> str:
        """An editor that is a Python script: `text` is the sheet's, to be changed."""
        script = "import sys\nfrom pathlib import Path\nfile = Path(sys.argv[-1])\n"
        script += f"text = file.read_bytes().decode()\n{code}\nfile.write_bytes(text.encode())\n"
        return f"{shlex.quote(sys.executable)} {shlex.quote(str(self.write(name, script)))}"

    @property
    def edits(self) -> Path:
        return self.folder / "seeds" / "rubric_edits.csv"


def line_of(sheet: str, text: str) -> tuple[int, str]:
    """(number, line) of the one line that holds this text."""
    found = [(n, line) for n, line in enumerate(sheet.split("\n"), start=1) if text in line]
    assert len(found) == 1, (text, sheet)
    return found[0]


def without(sheet: str, text: str) -> str:
    """The sheet without the line that holds this text."""
    return sheet.replace(f"{line_of(sheet, text)[1]}\n", "")


@pytest.fixture(scope="session")
def rubric_lake(tmp_path_factory, tiny_lake) -> Path:
    folder = tmp_path_factory.mktemp("rubric") / "project"
    with closing(new_tiny(folder, tiny_lake)) as project:
        for name, lines in (("mine", BANK), ("facets", FACETS)):
            project.write(f"{name}.csv", lines)
            import_bank(project.lake, "tiny", folder / f"{name}.csv", name, "csv", [])
        open_up_to_date(project.project)[0].close()
    return folder / "lake"


@pytest.fixture
def tiny(tmp_path, rubric_lake, monkeypatch) -> Edited:
    """A rubric at version 0."""
    monkeypatch.setenv("VISUAL", "")
    monkeypatch.setenv("EDITOR", "")
    shutil.copytree(rubric_lake, tmp_path / "project" / "lake")
    return Edited(tmp_path / "project")
