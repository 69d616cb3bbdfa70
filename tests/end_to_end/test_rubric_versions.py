"""Two versions of edits on the graded demo: every mart of versions 0, 1, 2 against plain Python."""

import json
import shutil
from collections import defaultdict

import pytest
from scipy import stats

from tests import oracle, rubric_oracle
from tests.command_line import gradelake
from tests.end_to_end.edited_demo import (
    ADDED,
    ADDED_LATER,
    BIRDS,
    BREAD,
    HASHES,
    KINDS,
    LEADERBOARD,
    REWORDED,
    REWORDED_AGAIN,
    Edited,
    ask,
    backlog,
)
from tests.rubric_oracle import item_id

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def edited(graded_demo, tmp_path_factory) -> Edited:
    folder = shutil.copytree(graded_demo, tmp_path_factory.mktemp("versions") / "demo")
    return Edited(folder)


def test_labels_of_every_version_stand_side_by_side(edited):
    ours = {
        tuple(row[:3]): tuple(row[3:])
        for row in ask(
            edited.folder,
            "select label_set, query_id, passage_id, label, n_items, n_missing "
            "from relevance_labels where label_set like '%/v_/%'",
        )
    }
    theirs = {
        (f"{grader}/v{version}/{policy}", *pair): values
        for (grader, version, policy), found in edited.label_sets().items()
        for pair, values in found.items()
    }
    assert ours == theirs
    assert {version for _, version, _ in edited.label_sets()} == {0, 1, 2}


def test_coverage_of_every_version_stands_side_by_side(edited):
    rows = ask(
        edited.folder,
        "select grader, rubric_version, tau, k, system, query_id, cover, cover_weighted "
        "from rubric_coverage",
    )
    assert len(rows) == 2 * 3 * 5 * 2 * 11 * 8
    rubrics = {(grader, v): edited.rubric(grader, v) for grader in KINDS for v in edited.versions}
    for grader, version, tau, k, system, query, *ours in rows:
        theirs = rubric_oracle.cover(
            rubrics[grader, version], edited.grades[grader], edited.runs[system], query, tau, k
        )
        assert ours == pytest.approx(theirs, abs=1e-9), (grader, version, tau, k, system, query)
    assert len({row[6:] for row in rows}) > 50, "coverage varies"


def expected_boards(edited: Edited) -> dict[tuple, float]:
    """(label set, level, system, measure) -> mean over the queries with labels."""
    qrels = {
        f"{grader}/v{version}/{policy}": rubric_oracle.as_qrels(found)
        for (grader, version, policy), found in edited.label_sets().items()
    }
    sums = defaultdict(float)
    for (label_set, level, system, _, measure), value in oracle.cells(qrels, edited.runs):
        sums[label_set, level, system, measure] += value
    return {key: total / len(qrels[key[0]]) for key, total in sums.items()}


def test_leaderboards_of_every_version_stand_side_by_side(edited):
    rows = ask(
        edited.folder,
        "select label_set, level, system, measure, score from leaderboard "
        "where label_set like '%/v_/%'",
    )
    ours = {tuple(row[:4]): row[4] for row in rows if row[3] in oracle.MEASURES}
    theirs = expected_boards(edited)
    assert ours.keys() == theirs.keys()
    assert ours == pytest.approx(theirs, abs=1e-9)
    boards = defaultdict(dict)
    for (label_set, *cell), score in ours.items():
        boards[label_set][tuple(cell)] = score
    versions = [boards[f"lexical/v{version}/best"] for version in (0, 1, 2)]
    assert versions[0] != versions[1] != versions[2] != versions[0]


def test_each_changed_label_is_listed_with_the_item_that_changed_it(edited):
    expected = {}
    for (grader, version, policy), after in edited.label_sets().items():
        if version == 0:
            continue
        before = edited.label_sets()[grader, version - 1, policy]
        rubrics = [edited.rubric(grader, v) for v in (version - 1, version)]
        for pair in before.keys() | after.keys():
            old, new = before.get(pair, (None,))[0], after.get(pair, (None,))[0]
            if old != new:
                has_risen = old is None or (new is not None and new > old)
                by_item = edited.grades[grader][pair]
                item = rubric_oracle.cause(*rubrics, by_item, has_risen)
                expected[grader, policy, version, *pair] = (old, new, item, by_item[item])
    ours = {
        tuple(row[:5]): tuple(row[5:])
        for row in ask(
            edited.folder,
            "select grader, policy, rubric_version, query_id, passage_id, label_before, "
            "label_after, item_id, grade from rubric_impact",
        )
    }
    assert ours == expected
    actions = ask(edited.folder, "select distinct action from rubric_impact")
    assert {action for (action,) in actions} >= {"drop", "reword", "restore"}


def test_each_shift_of_a_board_tells_both_scores_and_how_well_the_orders_agree(edited):
    rows = ask(
        edited.folder,
        "select grader, policy, rubric_version, level, measure, kendall, "
        "list(score_before order by system), list(score_after order by system), "
        "any_value(n_missing_after) from leaderboard_shift group by all",
    )
    boards = expected_boards(edited)
    compared = 0
    for grader, policy, version, level, measure, kendall, before, after, n_missing in rows:
        assert n_missing == 0
        tau = stats.kendalltau(before, after)[0]
        assert kendall == (pytest.approx(tau, abs=1e-9) if tau == tau else None)
        if measure in oracle.MEASURES:
            compared += 1
            for scores, v in ((before, version - 1), (after, version)):
                keys = [
                    (f"{grader}/v{v}/{policy}", level, system, measure)
                    for system in sorted(edited.runs)
                ]
                assert scores == pytest.approx([boards[key] for key in keys], abs=1e-9)
    assert compared == 2 * 2 * 2 * 5 * len(oracle.MEASURES)


def test_what_a_new_wording_misses_is_its_querys_pool_and_nothing_else(edited):
    birds, hashes, bread = (edited.pool(query) for query in (BIRDS, HASHES, BREAD))
    assert edited.backlogs == {
        0: {},
        1: {item_id(BIRDS, REWORDED): birds, item_id(HASHES, ADDED): hashes},
        # the dropped item is back, with the grades it had
        2: {
            item_id(BIRDS, REWORDED_AGAIN): birds,
            item_id(HASHES, ADDED): hashes,
            item_id(BREAD, ADDED_LATER): bread,
        },
    }
    assert edited.shift_missing == {
        1: len(birds) + len(hashes),
        2: len(birds) + len(hashes) + len(bread),
    }


def test_once_graded_nothing_is_missing(edited):
    assert [backlog(edited.folder, version) for version in (0, 1, 2)] == [{}, {}, {}]


def test_older_boards_are_as_they_were(edited):
    assert edited.board_before
    now = ask(edited.folder, LEADERBOARD.format(""))
    assert [row for row in now if "/v0/" in row[1] or ":" in row[1]] == edited.board_before
    assert len(now) > len(edited.board_before)
    at = f"from leaderboard at (version => {edited.version_before})"
    assert (
        ask(edited.folder, LEADERBOARD.format("").replace("from leaderboard", at))
        == edited.board_before
    )
    released = gradelake(
        edited.folder, "sql", LEADERBOARD.format(""), "--release", "r1", "--format", "json"
    )
    scores = [row["score"] for row in json.loads(released.stdout)]
    columns = ask(edited.folder, "describe leaderboard")
    score = [name for name, *_ in columns].index("score")
    assert scores == [row[score] for row in edited.board_before]
