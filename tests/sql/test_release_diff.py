"""What moved between two releases, on boards small enough to check by hand."""

import pytest

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.releases.diff import compare
from tests.command_line import gradelake, json_of
from tests.sql.test_retention import project_in, publish

BOARD = "(collection, label_set, level, system, measure, score, rank)"
LABELS = "(collection, label_set, query_id, passage_id, label)"


def write(lake: Lake, labels: str, board: str) -> None:
    """Marts of one collection; values as SQL."""
    with lake.transaction("test") as transaction:
        transaction.run(
            "create or replace table {lake}.marts.relevance_labels as "
            f"select * from (values {labels}) as rows {LABELS}"
        )
        transaction.run(
            "create or replace table {lake}.marts.leaderboard as "
            f"select * replace (score::double as score) from (values {board}) as rows {BOARD}"
        )


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Project:
    project = project_in(tmp_path_factory.mktemp("diff"))
    with Lake.writer(project) as lake:
        with lake.transaction("test") as transaction:
            transaction.run(
                "insert into {lake}.raw.collections values "
                "('c', 'files', 2, 3, 20, false, now()::timestamp)"
            )
            transaction.run("create schema if not exists {lake}.intermediate")
            transaction.run(
                "create table {lake}.intermediate.int_measure_families as "
                "select 'AP' as family, 'AP' as spelling, 'AP' as pattern, 1 as place"
            )
            transaction.run(
                "create or replace table {lake}.marts.usual_levels as select * from "
                "(values ('c', 'judge:a', 2), ('c', 'judge:b', 2), ('c', 'flan/v0/best', 4)) "
                "as rows (collection, label_set, level)"
            )
        write(
            lake,
            "('c', 'judge:a', 'q1', 'p1', 3), ('c', 'judge:a', 'q1', 'p2', 0), "
            "('c', 'judge:a', 'q2', 'p1', 1), ('c', 'judge:b', 'q1', 'p1', 1)",
            "('c', 'judge:a', 2, 'one', 'AP', 0.9, 1), ('c', 'judge:a', 2, 'two', 'AP', 0.8, 2), "
            "('c', 'judge:a', 2, 'three', 'AP', 0.7, 3), ('c', 'judge:a', 2, 'old', 'AP', 0.1, 4), "
            "('c', 'judge:a', 1, 'one', 'AP', 0.9, 1), ('c', 'judge:a', 2, 'one', 'RR', 0.5, 1), "
            "('c', 'judge:b', 2, 'one', 'AP', 0.5, 1), "
            "('c', 'flan/v0/best', 2, 'one', 'AP', 0.5, 1), "
            "('c', 'flan/v0/best', 4, 'one', 'AP', 0.5, 1)",
        )
        publish(lake, "r1")
        # judge:a: q1/p1 3 -> 2, q2/p1 went, q3/p1 appeared; two overtakes one; new comes for old
        write(
            lake,
            "('c', 'judge:a', 'q1', 'p1', 2), ('c', 'judge:a', 'q1', 'p2', 0), "
            "('c', 'judge:a', 'q3', 'p1', 1), ('c', 'judge:b', 'q1', 'p1', 1)",
            "('c', 'judge:a', 2, 'one', 'AP', 0.75, 2), ('c', 'judge:a', 2, 'two', 'AP', 0.8, 1), "
            "('c', 'judge:a', 2, 'three', 'AP', 0.7, 3), ('c', 'judge:a', 2, 'new', 'AP', 0.2, 4), "
            "('c', 'judge:a', 1, 'one', 'AP', 0.4, 1), ('c', 'judge:a', 2, 'one', 'RR', 0.4, 1), "
            "('c', 'judge:b', 2, 'one', 'AP', 0.5, 1), "
            "('c', 'flan/v0/best', 2, 'one', 'AP', 0.6, 1), "
            "('c', 'flan/v0/best', 4, 'one', 'AP', 0.5, 1)",
        )
        publish(lake, "r2")
    return project


def test_labels_that_changed_appeared_and_went_are_counted_and_the_first_shown(project):
    found = compare(project, "r1", "r2")
    assert found.n_label_sets == 2
    (moves,) = found.label_sets
    assert (moves.collection, moves.label_set) == ("c", "judge:a")
    assert (moves.changed, moves.appeared, moves.went, moves.same) == (1, 1, 1, 1)
    assert [tuple(example.values()) for example in moves.examples] == [
        ("q1", "p1", 3, 2),
        ("q2", "p1", 1, None),
        ("q3", "p1", None, 1),
    ]


def test_systems_that_moved_came_and_went_are_listed_best_first_with_tau_b(project):
    found = compare(project, "r1", "r2")
    assert found.n_boards == 3, "AP at the usual level of both judges and of the rubric"
    (board,) = found.leaderboards
    assert (board.label_set, board.level, board.measure) == ("judge:a", 2, "AP")
    assert [tuple(system.values()) for system in board.systems] == [
        ("two", 0.8, 0.8, 2, 1),
        ("one", 0.9, 0.75, 1, 2),
        ("old", 0.1, None, 4, None),
        ("new", None, 0.2, None, 4),
    ]
    # one, two, three on both: of 3 pairs two are in order and one is not
    assert board.n_systems == 3
    assert board.kendall == pytest.approx(1 / 3)


def test_a_release_does_not_differ_from_itself(project):
    found = compare(project, "r1", "r1")
    assert (found.label_sets, found.leaderboards) == ([], [])
    assert (found.n_label_sets, found.n_boards) == (2, 3)


def test_another_measure_and_level_can_be_asked_for(project):
    (board,) = compare(project, "r1", "r2", measures=("RR",)).leaderboards
    assert (board.measure, board.level, board.kendall) == ("RR", 2, None)
    (board,) = compare(project, "r1", "r2", level=1).leaderboards
    assert (board.measure, board.level) == ("AP", 1)


@pytest.mark.parametrize(
    ("wrong", "words", "hint"),
    [
        ({"before": "r3"}, "there is no release 'r3'", "r1"),
        ({"collection": "d"}, "collection 'd'", "c"),
        ({"measures": ("AQ",)}, "measure 'AQ'", "AP"),
        ({"level": 7}, "level 7", "1, 2"),
    ],
)
def test_a_name_that_is_not_there_is_refused_with_those_that_are(project, wrong, words, hint):
    with pytest.raises(BadInput, match=words) as error:
        compare(project, **({"before": "r1", "after": "r2"} | wrong))
    assert hint in error.value.hint


def test_the_command_prints_it_for_people_and_for_programs(project):
    command = ("release", "diff", "r1", "r2")
    lines = gradelake(project.folder, *command).stdout.splitlines()
    assert lines[0] == "labels: 1 of 2 label sets moved"
    assert ["c", "judge:a", "1", "1", "1", "1"] in [line.split() for line in lines]
    assert ["judge:a", "q2", "p1", "1", "-"] in [line.split() for line in lines]
    assert "leaderboards: 1 of 3 moved" in lines
    assert "c judge:a AP (level 2): 4 systems moved; tau-b 0.333 over the 3 on both" in lines
    assert ["new", "-", "0.200", "-", "4"] in [line.split() for line in lines]
    read = json_of(project.folder, *command, "--json")
    assert read["leaderboards"][0]["systems"][0]["rank_after"] == 1
