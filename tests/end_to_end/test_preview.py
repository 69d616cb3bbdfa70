"""`gradelake rubric preview` says what the next build will say, and writes nothing."""

import os
import random
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from gradelake.ingest.rubric import edits_file, preview
from gradelake.ingest.rubric.preview import Version
from gradelake.ingest.rubric.save import Saved
from gradelake.sql.build.building import build
from gradelake.sql.common.project import Project
from tests.command_line import gradelake, json_of
from tests.edits import COLUMNS, edit, write_edits
from tests.end_to_end.edited_demo import BREAD, ask

ROUNDS = int(os.environ.get("GRADELAKE_PREVIEWS", "1"))
PART = 20  # rounds in one lake: each leaves a release, and what comes after costs more
KEPT = 3  # versions; then the file begins anew, and the former ones are gone
MARTS = ("rubric_impact", "leaderboard_shift")
BOOKKEEPING = ("-shm", ".lock")


@pytest.fixture
def folder(graded_demo, tmp_path) -> Path:
    return shutil.copytree(graded_demo, tmp_path / "demo")


def contents(folder: Path) -> dict[Path, bytes]:
    """Every file of a project and its lake."""
    return {
        file: file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and not file.name.endswith(BOOKKEEPING)
    }


def marts(folder: Path) -> dict[str, dict[int, set[tuple]]]:
    """The rows of the two marts by version of the rubric, each a tuple of (column, value)."""
    found: dict[str, dict[int, set[tuple]]] = {}
    for mart in MARTS:
        columns = [name for name, *_ in ask(folder, f"describe {mart}")]
        found[mart] = defaultdict(set)
        for row in ask(folder, f"from {mart}"):
            values = dict(zip(columns, row, strict=True))
            found[mart][values["rubric_version"]].add(tuple(values.items()))
    return found


def wanted(folder: Path, version: Version) -> dict[str, tuple[int, int]]:
    """By grader: pairs that are missing in this version and not in the one before, and all."""
    missing: dict[tuple, set[tuple]] = defaultdict(set)
    for grader, number, *pair in ask(
        folder, "select grader, rubric_version, query_id, passage_id, item_id from grading_backlog"
    ):
        missing[grader, number].add(tuple(pair))
    counts = {
        grader: (len(pairs - missing[grader, version.previous]), len(pairs))
        for (grader, number), pairs in list(missing.items())
        if number == version.number
    }
    return {grader: (new, every) for grader, (new, every) in counts.items() if new}


def some_edits(chance: random.Random, folder: Path, version: int, nth: int) -> list[dict]:
    """One to six edits, of all kinds, of the version before."""
    items = ask(
        folder,
        "select bank, query_id, item_id, kind, item_text, is_in_force "
        f"from lake.intermediate.int_rubric_states where rubric_version = {version - 1} "
        "order by all",
    )
    rows = []
    for bank, query_id, item_id, kind, text, is_in_force in chance.sample(
        items, chance.choice((1, 1, 1, 2, 3, 6))
    ):
        action = chance.choice(("drop", "drop", "reword", "reweight", "add"))
        if not is_in_force and action != "add":
            action = "restore"
        columns = {
            "add": {"kind": kind, "text": f"Is this new, {nth}.{len(rows)}?"},
            "reword": {"text": f"{text} ({nth}.{len(rows)})"},
            "reweight": {"weight": chance.choice("035")},
        }.get(action, {})
        of_item = {"bank": bank, "query_id": query_id, **columns}
        row = edit(str(version), action, "" if action == "add" else item_id, **of_item)
        rows.append(dict.fromkeys(COLUMNS, "") | row)
    return rows


@pytest.mark.slow
def test_a_sheet_is_tried_out_before_it_is_saved_and_nothing_is_written(folder):
    sheet = gradelake(folder, "rubric", "edit", BREAD, "--bank", "questions", "--print").stdout
    changed = sheet.replace("give the bread its taste", "make sourdough bread taste sour")
    (folder / "sheet.txt").write_text(changed)
    (folder / "wrong.txt").write_text(sheet.replace("Which gas makes the dough rise?", ""))
    files = contents(folder)
    asked = ("rubric", "preview", "--from", "sheet.txt")
    said = json_of(folder, *asked, "--json")
    shown = gradelake(folder, *asked).stdout
    refused = gradelake(folder, "rubric", "preview", "--from", "wrong.txt", code=2)
    assert contents(folder) == files
    (version,) = said["versions"]
    assert [edit["change"] for edit in version["edits"]] == ["reworded"]
    (grades,) = version["grades"]
    of_query = f"kind = 'passage' and query_id = '{BREAD}'"
    n_pooled = len(ask(folder, f"from wanted_grades where {of_query}"))
    assert (grades["grader"], grades["n_items"], grades["n_wanted"]) == ("lexical", 1, n_pooled)
    assert grades["seconds"] > 0
    assert "make+}" in shown
    assert "nothing was written" in shown
    assert "wrong.txt:" in refused.stderr
    gradelake(folder, "rubric", "edit", "--from", "sheet.txt")
    assert json_of(folder, "rubric", "preview", "demo", "--json") == said
    gradelake(folder, "build")
    assert gradelake(folder, "rubric", "preview").stdout == "no edits since r2\n"


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, ROUNDS, PART))
def test_the_preview_of_random_edits_equals_what_the_build_says(folder, first):
    project, chance = Project.find(folder), random.Random(15 + first)
    rows: list[dict] = []
    for nth in range(first, min(first + PART, ROUNDS)):
        starts_anew = bool(rows) and int(rows[-1]["rubric_version"]) == KEPT
        rows = [] if starts_anew else rows
        number = int(rows[-1]["rubric_version"]) + 1 if rows else 1
        new = some_edits(chance, folder, number, nth)
        is_saved = starts_anew or chance.random() < 0.5
        if is_saved:
            write_edits(folder, *rows, *new)
            if chance.random() < 0.3:  # the working catalog has them, the last build does not
                gradelake(folder, "rubric", "show", BREAD)
        before, files = marts(folder), contents(folder)
        if is_saved:
            versions = preview.of_saved(project).versions
        else:
            content = edits_file.appended(project, new)
            proposed = Saved("demo", "", [], "", version=number, content=content)
            versions = preview.of_proposed(project, "demo", proposed)
        assert contents(folder) == files
        rows += new
        write_edits(folder, *rows)
        build(project, [], [])
        after = marts(folder)
        previewed = {version.number: version for version in versions}
        assert number in previewed, (nth, new)
        for version in versions:
            said = dict(zip(MARTS, (version.impact, version.shift), strict=True))
            for mart in MARTS:
                assert {tuple(row.items()) for row in said[mart]} == after[mart][version.number]
                assert len(said[mart]) == len(after[mart][version.number]), (nth, mart)
            assert {
                row["grader"]: (row["n_wanted"], row["n_missing"]) for row in version.grades
            } == wanted(folder, version), (nth, new)
        for mart in MARTS:
            for untouched in set(range(1, number)) - set(previewed):
                assert before[mart][untouched] == after[mart][untouched], (nth, mart)
