"""Every system on every query: as an answer, and as a picture."""

import numpy as np
import pytest

from tests.command_line import gradelake, json_of
from tests.reading import published

pytestmark = pytest.mark.slow
BOARD = ("--label-set", "assessor:human", "--measure", "AP", "--level", "2")
VALUES = """
    select system, query_id, value from lake.marts.topic_scores
    where label_set = 'assessor:human' and measure = 'AP' and level = 2
"""


def test_it_has_the_board_and_the_queries_from_hard_to_easy(graded_demo):
    found = json_of(graded_demo, "stats", "overview", "demo", *BOARD, "--json")
    board = published(graded_demo).rows(
        "select rank, system, score from lake.marts.leaderboard where label_set = 'assessor:human' "
        "and measure = 'AP' and level = 2 order by rank, system"
    )
    ours = [(row["rank"], row["system"]) for row in found["systems"]]
    assert ours == [(rank, system) for rank, system, _ in board]
    scores = [row["score"] for row in found["systems"]]
    assert scores == pytest.approx([score for *_, score in board], abs=1e-9)
    by_query: dict[str, dict[str, float]] = {}
    for system, query, value in published(graded_demo).rows(VALUES):
        by_query.setdefault(query, {})[system] = value
    means = {query: sum(of.values()) / len(board) for query, of in by_query.items()}
    got = {row["query_id"]: row["mean"] for row in found["queries"]}
    assert {query: got[query] for query in means} == pytest.approx(means, abs=1e-9)
    assert [*got.values()] == sorted(got.values())
    for row in found["queries"]:
        assert row["best"] == pytest.approx(max(by_query.get(row["query_id"], {"": 0}).values()))


def test_who_could_be_the_best_is_who_shares_the_first_letter(graded_demo):
    found = json_of(graded_demo, "stats", "overview", "demo", *BOARD, "--json")
    ranks = json_of(graded_demo, "stats", "ranks", "demo", *BOARD, "--json")
    near = {row["system"] for row in ranks["systems"] if "a" in row["groups"]}
    assert {row["system"] for row in found["systems"] if row["could_be_best"]} == near
    n_others = len(near) - 1
    said = (
        f"but {n_others} others could" if n_others > 1 else "could" if n_others else "every other"
    )
    assert said in found["sentence"]


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_it_is_drawn(graded_demo, tmp_path, form):
    file = tmp_path / f"overview.{form}"
    words = ("--width", "12.5", "--height", "6.5625")
    gradelake(graded_demo, "stats", "overview", "demo", *BOARD, "--picture", str(file), *words)
    assert file.stat().st_size > 5_000
    if form == "svg":
        drawn = file.read_text()
        n_queries = published(graded_demo).value(f"select count(distinct query_id) from ({VALUES})")
        n_systems = published(graded_demo).value(f"select count(distinct system) from ({VALUES})")
        assert drawn.count("<path") >= n_queries * n_systems
        assert "leads demo" in drawn


def test_a_row_of_many_queries_has_cells_of_several():
    from gradelake.analyses.answers.overview import MOST_COLUMNS, named_column

    queries = [{"text": f"query {n}", "query_id": f"q{n}"} for n in range(2000)]
    columns = np.array_split(np.arange(2000), MOST_COLUMNS)
    assert sum(map(len, columns)) == 2000
    assert named_column(queries, columns[0]) == f"query 0 and {len(columns[0]) - 1} more"
    assert named_column(queries, columns[0][:1]) == "query 0"
