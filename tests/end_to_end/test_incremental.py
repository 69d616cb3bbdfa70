"""A build computes anew only what changed, and the lake is what a full rebuild makes of it."""

import json
import shutil
from pathlib import Path

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests.conftest import gradelake
from tests.edits import write_edits

pytestmark = pytest.mark.slow

# kept part by part (dbt_project/macros/parts.sql), and what is made of them
TABLES = (
    "intermediate.int_ideal_gains",
    "intermediate.int_rubric_scores",
    "intermediate.int_label_scores",
    "intermediate.int_board_scores",
    "marts.rubric_coverage",
    "marts.alpha_ndcg",
    "marts.topic_scores",
    "marts.leaderboard",
    "marts.relevance_labels",
)


@pytest.fixture(scope="module")
def folder(graded_demo, tmp_path_factory) -> Path:
    """A graded demo collection of this module's own."""
    folder = tmp_path_factory.mktemp("incremental") / "demo"
    shutil.copytree(graded_demo, folder)
    return folder


def contents(folder: Path) -> dict[str, list]:
    """Every row of every table, whatever order it is stored in."""
    with Lake.live(Project.find(folder)) as lake:
        return {table: lake.rows(f"select * from lake.{table} order by all") for table in TABLES}


def edit(version: int, item_id: str, action: str, **columns) -> dict:
    return {
        "rubric_version": version,
        "collection": "demo",
        "bank": "questions",
        "item_id": item_id,
        "action": action,
        **columns,
    }


def items(folder: Path) -> list[str]:
    with Lake.live(Project.find(folder)) as lake:
        rows = lake.rows(
            "select item_id from lake.raw.rubric_items where bank = 'questions' order by 1"
        )
    return [item_id for (item_id,) in rows]


def drop_an_item(folder: Path) -> None:
    write_edits(folder, edit(1, items(folder)[0], "drop"))


def drop_and_weigh_items(folder: Path) -> None:
    first, second, *_ = items(folder)
    write_edits(folder, edit(1, first, "drop"), edit(2, second, "reweight", weight=3))


def take_the_edits_back(folder: Path) -> None:
    write_edits(folder)


def change_a_run(folder: Path) -> None:
    run = folder / "runs" / "bm25.run"
    run.write_text("\n".join(run.read_text().splitlines()[:-40]) + "\n")
    gradelake(folder, "ingest", "demo")


def swap_two_passages(folder: Path) -> None:
    """The best passage of a ranking and the third: the same passages and ranks as before."""
    run = folder / "runs" / "bm25.run"
    lines = [line.split() for line in run.read_text().splitlines()]
    assert lines[0][0] == lines[2][0]
    lines[0][2], lines[2][2] = lines[2][2], lines[0][2]
    run.write_text("".join(" ".join(line) + "\n" for line in lines))
    gradelake(folder, "ingest", "demo")


def compute_something_else(folder: Path) -> None:
    (folder / "seeds" / "label_policies.csv").write_text(
        "policy,rule,m,tau,mapping\nbest,best,,,\ncount4,count_at_least,,4,\n"
    )
    (folder / "seeds" / "evaluation_grid.csv").write_text(
        "measure\nnDCG@5\nCover@5\nalpha-nDCG@5\n"
    )


@pytest.mark.parametrize(
    "changes",
    [
        (drop_and_weigh_items, change_a_run, swap_two_passages),
        (take_the_edits_back, compute_something_else),
    ],
)
def test_after_changes_the_lake_is_what_a_full_rebuild_makes_of_it(folder, tmp_path, changes):
    for change in changes:
        before = contents(folder)
        change(folder)
        built = set(json.loads(gradelake(folder, "build", "--json").stdout)["seconds_by_node"])
        after = contents(folder)
        assert after != before
        if change in (change_a_run, swap_two_passages):  # only what is made of runs is made anew
            assert {"int_ranked_entries", "int_label_scores", "int_board_scores"} <= built
            assert not {"int_labels", "rubric_history", "rubric_edits", "int_grader_items"} & built
    anew = tmp_path / "anew"
    shutil.copytree(folder, anew)
    gradelake(anew, "build", "--full-refresh")
    rebuilt = contents(anew)
    for table in TABLES:
        assert after[table] == rebuilt[table], table


def test_an_edit_computes_its_query_alone_and_a_new_run_its_system(graded_demo, tmp_path):
    """Rows that stayed keep their place in the files; those written anew get new row ids."""
    copy = tmp_path / "copy"
    shutil.copytree(graded_demo, copy)

    def row_ids() -> set[tuple[int, str, str]]:
        with Lake.live(Project.find(copy)) as lake:
            return set(
                lake.rows(
                    """
                    select scores.rowid, scores.system, variants.query_id
                    from lake.intermediate.int_label_scores as scores
                    inner join lake.intermediate.int_label_variants as variants using (variant)
                    """
                )
            )

    def ranked() -> set[tuple[int, str]]:
        with Lake.live(Project.find(copy)) as lake:
            return set(lake.rows("select rowid, system from lake.intermediate.int_ranked_entries"))

    before, ranked_before = row_ids(), ranked()
    drop_an_item(copy)
    gradelake(copy, "build")
    edited = row_ids()
    assert before <= edited, "version 0 stays"
    assert len({query_id for _, _, query_id in edited - before}) == 1
    shutil.copy(copy / "runs" / "bm25.run", copy / "runs" / "again.run")
    gradelake(copy, "ingest", "demo")
    gradelake(copy, "build")
    assert edited <= row_ids()
    assert {system for _, system, _ in row_ids() - edited} == {"again"}
    assert ranked_before <= ranked()
    assert {system for _, system in ranked() - ranked_before} == {"again"}
