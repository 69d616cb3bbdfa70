"""What the file of rubric edits held, and when: as builds saw it, also when they were killed."""

import shutil
from pathlib import Path

import pytest

from tests.command_line import gradelake
from tests.edits import edit, write_edits
from tests.end_to_end.edited_demo import BIRDS, ask
from tests.rubric_oracle import items_of, read_bank

pytestmark = pytest.mark.slow

BUILD = ("build", "-s", "+rubric_history")
ADD = edit(1, "add", query_id=BIRDS, kind="question", text="Why do birds migrate?")


@pytest.fixture
def folder(demo, tmp_path) -> Path:
    folder = shutil.copytree(demo, tmp_path / "demo")
    gradelake(folder, "import", "bank", "demo", "question_bank.jsonl", "--name", "questions")
    return folder


def drop(folder: Path, reason: str) -> dict:
    bank = read_bank(folder / "question_bank.jsonl", "question")
    return edit(1, "drop", min(items_of(bank, BIRDS)), reason=reason)


def history(folder: Path, columns: str = "*") -> list[tuple]:
    return ask(folder, f"select {columns} from lake.intermediate.rubric_history order by all")


def test_the_history_keeps_what_was_changed_and_what_was_taken_out(folder):
    write_edits(folder, drop(folder, "first thoughts"), ADD)
    gradelake(folder, *BUILD)
    first = history(folder)
    assert len(first) == 2

    gradelake(folder, *BUILD)
    assert history(folder) == first, "an unchanged file adds nothing"

    write_edits(folder, edit(1, "drop", "no such item"))
    gradelake(folder, *BUILD, code=2)
    assert history(folder) == first, "nor does one that is refused"

    write_edits(folder, drop(folder, "second thoughts"))
    gradelake(folder, *BUILD)
    spells = "action, reason, dbt_valid_to is null, dbt_is_deleted"
    assert sorted(history(folder, spells), key=str) == [
        ("add", None, False, "False"),
        ("add", None, True, "True"),
        ("drop", "first thoughts", False, "False"),
        ("drop", "second thoughts", True, "False"),
    ]
    ended, begun = (
        ask(folder, f"select {column} from lake.intermediate.rubric_history where reason = '{why}'")
        for column, why in (
            ("dbt_valid_to", "first thoughts"),
            ("dbt_valid_from", "second thoughts"),
        )
    )
    assert ended == begun
