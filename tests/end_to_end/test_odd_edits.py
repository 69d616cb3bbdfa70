"""Edits and builds that are unusual and right: nothing of them is lost, refused or left old."""

import json
import shutil
from pathlib import Path

import pytest

from gradelake.sql.common.rubric_items import item_id_of
from tests.command_line import gradelake, json_of
from tests.edits import edit as edit_row
from tests.edits import write_edits
from tests.end_to_end.edited_demo import BIRDS, ask
from tests.reading import published

pytestmark = pytest.mark.slow

NASTY = ["'Tis true?", "dogs'", 'say "yes", or no?', "''", "a\nb", "null", "a;b|c"]
QUERY = "volcano-prediction"


@pytest.fixture(scope="module")
def folder(demo, tmp_path_factory) -> Path:
    """The demo collection in a folder with an apostrophe, with a bank of odd items."""
    folder = shutil.copytree(demo, tmp_path_factory.mktemp("odd") / "o'brien's")
    (folder / "bank.csv").write_text(
        "query_id,kind,text,facet_id,item_id\n"
        f"{QUERY},question,In a facet?,f1,\n"
        f"{QUERY},question,Shared one?,,X1\n"
        "hash-collisions,question,Shared two?,,X1\n"
    )
    gradelake(folder, "import", "bank", "demo", "bank.csv", "--name", "odd")
    return folder


def edit(version: int, action: str, **columns) -> dict:
    return edit_row(version, action, **{"bank": "odd"} | columns)


def rubric(folder: Path, version: int) -> set[tuple]:
    return set(
        published(folder).rows(
            "select query_id, facet_id, item_id, text from lake.marts.rubric_items_effective "
            "where rubric_version = ?",
            version,
        )
    )


@pytest.fixture(scope="module")
def edited(folder) -> Path:
    """Odd texts, an item of a facet that is edited again and again, an id that two queries have."""
    first, second = item_id_of(QUERY, "f1", "In a facet?"), item_id_of(QUERY, "f1", "Again?")
    write_edits(
        folder,
        *(edit(1, "add", query_id=QUERY, kind="question", text=text) for text in NASTY),
        edit(1, "reword", item_id=first, text="Again?"),
        edit(1, "drop", item_id="X1", query_id=QUERY),
        edit(2, "reword", item_id=second, text="And again?"),
        edit(2, "drop", item_id="X1", query_id="hash-collisions"),
        edit(3, "drop", item_id=item_id_of(QUERY, "f1", "And again?")),
        edit(3, "restore", item_id="X1"),
    )
    gradelake(folder, "build")
    return folder


def test_texts_arrive_as_they_were_written_whatever_their_quotes(edited):
    new = {row for row in rubric(edited, 1) - rubric(edited, 0) if not row[1]}
    assert new == {(QUERY, "", item_id_of(QUERY, "", text), text) for text in NASTY}


def test_an_item_of_a_facet_is_reworded_twice_and_dropped(edited):
    texts = [{row[3] for row in rubric(edited, version) if row[1] == "f1"} for version in range(4)]
    assert texts == [{"In a facet?"}, {"Again?"}, {"And again?"}, set()]
    (again,) = (row for row in rubric(edited, 1) if row[1] == "f1")
    assert again[2] == item_id_of(QUERY, "f1", "Again?")


def test_an_id_that_two_queries_have_is_edited_in_one_of_them_or_in_both(edited):
    def where(version: int) -> set[str]:
        return {row[0] for row in rubric(edited, version) if row[2] == "X1"}

    assert [where(version) for version in range(4)] == [
        {QUERY, "hash-collisions"},
        {"hash-collisions"},
        set(),
        {QUERY, "hash-collisions"},
    ]


def test_wrong_policies_are_refused_by_name(edited):
    write_edits(edited)
    policies = edited / "seeds" / "label_policies.csv"
    for wrong, problems in (
        (["twice,best,,,5:3 5:1", "huge,best,,,5:99999999999"], ["a label twice", "like 5:3 4:1"]),
        (["word,mth_best,two,,"], ["m 'two' is not a whole number"]),
    ):
        lines = ["policy,rule,m,tau,mapping", "best,best,,,", *wrong]
        policies.write_text("".join(f"{line}\n" for line in lines))
        words = gradelake(edited, "build", code=2).stderr
        assert "label_policies.csv" in words
        assert [problem for problem in problems if problem not in words] == []
    policies.unlink()


def test_a_build_of_some_models_leaves_nothing_old_to_the_next_whole_one(folder):
    write_edits(folder)
    run = (folder / "runs" / "bm25.run").read_text().replace("bm25", "newcomer")
    (folder / "runs" / "newcomer.run").write_text(run)
    gradelake(folder, "ingest", "demo")
    gradelake(folder, "build", "--select", "intermediate")
    gradelake(folder, "build", "--select", "leaderboard")
    gradelake(folder, "build")
    query = (
        "select system, score, n_answered from leaderboard where measure = 'AP' and level = 2 "
        "and label_set = 'assessor:human' and system in ('bm25', 'newcomer') order by system"
    )
    old, new = json_of(folder, "sql", "--format", "json", query)
    assert old["score"] > 0
    assert (old["score"], old["n_answered"]) == (new["score"], new["n_answered"])


def test_an_edit_that_was_saved_but_not_built_is_planned(graded_demo, tmp_path):
    """Else `grade` would grade the version before, and say that nothing is missing."""
    folder = shutil.copytree(graded_demo, tmp_path / "demo")
    write_edits(
        folder, edit_row(1, "add", query_id=BIRDS, kind="question", text="Why do birds fly?")
    )
    done = gradelake(folder, "plan", "demo", "--grader", "lexical", "--json")
    assert "bringing the lake up to date" in done.stderr
    n_passages = ask(
        folder,
        "select count(*) from lake.marts.pool "
        f"where query_id = '{BIRDS}' and text_sha256 is not null",
    )[0][0]
    assert json.loads(done.stdout)["plans"][0]["missing_pairs"] == n_passages > 0
    assert "up to date" not in gradelake(folder, "plan", "demo").stderr, "once is enough"

    write_edits(folder, edit_row(1, "drop", "nothing"))
    assert "row 1 (drop nothing)" in gradelake(folder, "plan", "demo", code=2).stderr
