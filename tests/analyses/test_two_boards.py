"""What a report says of two boards: who changes rank, who is far away, and where axes end."""

import numpy as np
import pytest

from gradelake.analyses.report.two_boards import TwoBoards, within_fences


def board(**scores: float) -> tuple[dict, int]:
    """A board of the level 2, as the report has it."""
    ranks = [1 + sum(other > one for other in scores.values()) for one in scores.values()]
    columns = {"score": [*scores.values()], "rank": ranks}
    return {"systems": [*scores], "boards": {2: {"AP": columns}}}, 2


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([0.1, 0.5, 0.52, 0.54, 0.56, 0.58, 0.6], [0.5, 0.6]),  # quartiles 0.52, 0.58: from 0.43
        ([0.5, 0.52, 0.54, 0.56, 0.58, 0.6], [0.5, 0.6]),
        ([0.5, 0.5, 0.5, 0.5, 0.9], [0.5, 0.9]),  # no spread: nothing is an outlier
        ([0.3], [0.3, 0.3]),
    ],
)
def test_an_outlier_does_not_squash_the_rest(values, ends):
    inside = within_fences(np.array(values))
    assert [inside.min(), inside.max()] == ends


def test_who_changes_rank_is_said_there_and_back():
    two = TwoBoards.of("AP", board(a=0.4, b=0.3, c=0.2, d=0.1), board(a=0.1, b=0.3, c=0.2, d=0.4))
    assert two.says({"tau": -0.3333}) == (
        "4 systems by AP: Kendall's tau-b -0.333. "
        "2 change rank, most of all a (1 \u2192 4), d (4 \u2192 1)."
    )
    assert two.turned.says({}).endswith("most of all d (1 \u2192 4), a (4 \u2192 1).")
    assert two.far == ["a", "d"]
    assert two.differently() == (
        " Ranked differently: a (rank 1 by people, 4 by these labels); "
        "d (rank 4 by people, 1 by these labels)."
    )


def test_where_nothing_moves_or_nobody_is_on_both_there_is_little_to_say():
    same = TwoBoards.of("AP", board(a=0.4, b=0.3), board(b=0.1, a=0.2))
    assert same.says({"tau": None}) == (
        "2 systems by AP: Kendall's tau-b undefined. No system changes rank."
    )
    assert (same.far, same.differently()) == ([], "")
    assert TwoBoards.of("AP", board(a=0.4), board(b=0.3)).systems == []
    assert TwoBoards.of("RR", board(a=0.4), board(a=0.3)).systems == []
