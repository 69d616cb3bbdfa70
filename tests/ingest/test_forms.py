"""Folders of other people's files: `start` knows what they are, and its commands bring them in."""

import re
import tomllib
from pathlib import Path

import pytest

from gradelake.ingest.starting.looking import look_at
from gradelake.sql.common.project import CONFIG_NAME, Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake, typed
from tests.ingest.forms import FOLDERS
from tests.ingest.forms.folder import NOTHING, QUERIES, Folder
from tests.ingest.forms.nonsense import NONSENSE
from tests.tiers import CAMPAIGN, EVERY, first_of

_COUNTED = ("queries", "passages", "judgments", "systems", "run_entries")
# two forms side by side, of the same searches: ids of queries, and texts where a form has no ids
MIXED = (
    ("beir", "quepid-basic"),
    ("beir", "sheet-titles"),
    ("beir", "judge-csv"),
    ("beir-trec", "ranx"),
    ("beir-trec", "esci"),
    ("beir-hub", "opensearch"),
    ("mteb", "label-studio"),
    ("mteb", "trec"),
    ("ranx", "argilla"),
    ("ranx", "quepid-book"),
    ("pytrec-eval", "esci-hub"),
    ("pytrec-eval", "label-studio-csv"),
    ("esci", "sheet-raters"),
    ("esci", "quepid-detailed"),
    ("rank-eval", "workbook"),
    ("rank-eval", "label-studio-min"),
    ("judge-csv", "sheet-semicolons"),
    ("judge-fractions", "analytics"),
    ("trec", "ubi"),
    ("trec-xml", "opensearch-import"),
)


def taken(folder: Path) -> dict[str, set[str]]:
    """What `start` takes each file for; queries come with many a file of something else."""
    found: dict[str, set[str]] = {}
    for seen in look_at(folder, {}):
        found[seen.shown] = {*seen.brings} - {QUERIES} or {*seen.brings}
    return found


def expected(folder: Path, form: Folder, within: str = "") -> dict[str, set[str]]:
    """What it should take them for, of files in a folder within."""
    kinds = {}
    for pattern, names in form.kinds.items():
        wanted = ({names} if isinstance(names, str) else {*names}) - {NOTHING}
        for path in (folder / within).glob(pattern):
            kinds[str(path.relative_to(folder))] = wanted - {QUERIES} or wanted
    return kinds


@pytest.mark.parametrize("form", FOLDERS.values(), ids=FOLDERS)
def test_each_file_is_taken_for_what_it_is(tmp_path, form):
    form.fill(tmp_path)
    kinds = expected(tmp_path, form)
    assert {file: found for file, found in taken(tmp_path).items() if file in kinds} == kinds


@pytest.mark.parametrize(("first", "second"), first_of(5, *MIXED))
def test_two_forms_are_told_apart(tmp_path, first, second):
    kinds = {}
    for name in (first, second):
        FOLDERS[name].fill(tmp_path / name)
        kinds |= expected(tmp_path, FOLDERS[name], name)
    assert {file: found for file, found in taken(tmp_path).items() if file in kinds} == kinds


@pytest.mark.parametrize("name", NONSENSE)
def test_of_nonsense_nothing_is_sure(tmp_path, name):
    NONSENSE[name](tmp_path)
    before = {*tmp_path.rglob("*")}
    done = gradelake(tmp_path, "start", "--name", "shop", code=2)
    assert "nothing in it is sure" in done.stderr
    assert {*tmp_path.rglob("*")} == before


# all are tried by `make campaigns`: each takes seconds, and a build more of them
TRIED = [*FOLDERS][::5]
COMPARED = TRIED[::3]
IN_TURN = dict.fromkeys([*TRIED, *FOLDERS])


def follow(folder: Path) -> None:
    """Run `start`, and then each command that it names."""
    said = gradelake(folder, "start", "--name", "shop").stdout
    commands = re.findall(r"^(?:next|then): (?:cd .* && )?(gradelake .*)$", said, re.MULTILINE)
    assert commands, said
    for command in commands:
        typed(folder, command.removeprefix("gradelake "))


def counts(folder: Path, tables: tuple[str, ...]) -> dict[str, int]:
    with Lake.live(Project.read(folder / CONFIG_NAME)) as lake:
        return {table: lake.value(f"select count(*) from lake.raw.{table}") for table in tables}


@pytest.mark.slow
@pytest.mark.parametrize("name", first_of(len(TRIED), *IN_TURN, mark=CAMPAIGN))
def test_what_start_prints_brings_all_of_it_in(tmp_path, name):
    form = FOLDERS[name]
    form.fill(tmp_path)
    follow(tmp_path)
    rows = form.counts()
    assert counts(tmp_path, (*rows,)) == rows
    if form.systems and (EVERY or name in COMPARED):
        gradelake(tmp_path, "build")
        one, other = form.systems
        assert one in gradelake(tmp_path, "compare", one, other).stdout
    assert words_of(tmp_path) == {word.casefold(): n for word, n in form.labels.items()}
    with Lake.live(Project.read(tmp_path / CONFIG_NAME)) as lake:
        assessors = {*lake.column("select distinct assessor from lake.raw.judgments")}
        judges = {*lake.column("select distinct name from lake.raw.graders")}
    assert not form.assessors or assessors == {*form.assessors}
    assert judges >= {*form.judges}


def words_of(folder: Path) -> dict[str, int]:
    """The words that gradelake.toml says the meaning of."""
    settings = tomllib.loads((folder / CONFIG_NAME).read_text())["collections"]["shop"]
    judged = settings.get("judgments", {})
    files = judged.values() if isinstance(judged, dict) else [judged]
    labels = [file.get("labels", {}) for file in files if isinstance(file, dict)]
    return {word.casefold(): n for each in labels for word, n in each.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), first_of(6, *MIXED, mark=CAMPAIGN))
def test_two_forms_come_in_together(tmp_path, first, second):
    forms = [FOLDERS[first], FOLDERS[second]]
    for form in forms:
        form.fill(tmp_path / form.name)
    follow(tmp_path)
    one, other = (form.counts() for form in forms)
    rows = {table: one[table] + other[table] for table in ("judgments", "systems", "run_entries")}
    assert counts(tmp_path, (*rows,)) == rows
