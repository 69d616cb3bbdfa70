"""`--picture`: pictures that show the marts' numbers, and are the same from run to run."""

import json
import re

import numpy as np
import pytest
from PIL import Image
from scipy import stats

from gradelake.analyses.answers.boards_picture import scaled
from gradelake.analyses.answers.correlation_picture import by_tau
from gradelake.analyses.answers.grades import shades
from gradelake.analyses.answers.scatter import find_outliers
from gradelake.analyses.answers.scores import Scores
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.shortened import apart
from gradelake.sql.shown.pictures.picture import MOST_ROWS, Picture, draw, unfit
from tests.analyses.small import FAR, LONG
from tests.command_line import gradelake, json_of, typed
from tests.drawn import marks, texts
from tests.reading import published

pytestmark = pytest.mark.slow


def drawn(folder, tmp_path, *words: str) -> tuple[dict, list[str]]:
    """What `--json` says of a picture, and what is written in it."""
    file = tmp_path / "picture.svg"
    group = [] if words[0] == "compare" else ["stats"]
    done = gradelake(folder, *group, *words, "--picture", file, "--json")
    said = json.loads(done.stdout)
    assert said["picture"] == str(file)
    return said, texts(file.read_text())


def cells(folder, tmp_path, *words: str) -> tuple[dict, dict]:
    """(label, judgment) -> what its cell says: a count, and a share where there is one."""
    said, written = drawn(
        folder, tmp_path, "confusion", "small", "--label-set", "judge:five", *words
    )
    found: dict[tuple[int, int], list[str]] = {}
    for mark in marks((tmp_path / "picture.svg").read_text(), "text"):
        if "label" in mark and "judgment" in mark:
            at = int(mark["label"]), int(mark["judgment"])
            found.setdefault(at, []).append(mark.get("n") or mark["share"])
    assert {"small: 8 pairs", f"share of each label of {said['shares_of']}", "total"} <= {*written}
    return said, found


def test_the_confusion_picture_shows_counts_and_shares_of_what_people_judged(small, tmp_path):
    """Three passages are judged 0 or below: two have label 0, one has 1. One is judged 1."""
    said, found = cells(small, tmp_path)
    assert (said["pairs"], said["shares_of"]) == (8, "assessor:me")
    assert [found[0, judgment] for judgment in range(4)] == [
        ["2", "67%"],
        ["1", "100%"],
        ["0", "0%"],
        ["0", "0%"],
    ]
    assert found[1, 0] == ["1", "33%"]
    assert all(found[2, judgment] == ["0", "0%"] for judgment in range(4)), "nothing is labelled 2"
    totals = marks((tmp_path / "picture.svg").read_text(), "text")
    assert [one["total"] for one in totals if "total" in one] == ["3", "1", "2", "2"]


def test_the_confusion_picture_shows_shares_of_each_label_where_asked(small, tmp_path):
    """Three passages are labelled 0: one is judged 1, two are judged 0 or below."""
    said, found = cells(small, tmp_path, "--by-label")
    assert said["shares_of"] == "judge:five"
    assert [found[0, judgment] for judgment in range(4)] == [
        ["2", "67%"],
        ["1", "33%"],
        ["0", "0%"],
        ["0", "0%"],
    ]
    assert found[1, 0] == ["1", "100%"]
    assert all(found[2, judgment] == ["0"] for judgment in range(4)), "nothing is labelled 2"


def test_on_a_common_scale_the_confusion_picture_names_kappa(demo, tmp_path):
    _, written = drawn(demo, tmp_path, "confusion", "demo", "--label-set", "judge:overlap")
    kappa, n = published(demo).rows(
        "select kappa, n from lake.marts.kappa where label_set = 'judge:overlap' "
        "and reference = 'assessor:human' and kind = 'graded'"
    )[0]
    assert f"demo: {n} pairs, Cohen's κ = {kappa:.3f}" in written


def test_the_scatter_picture_names_the_tau_of_the_leaderboards_and_the_outliers(demo, tmp_path):
    words = ("demo", "--label-set", "judge:overlap", "--measure", "AP", "--level", "1")
    said, written = drawn(demo, tmp_path, "scatter", *words)
    boards = [
        dict(
            published(demo).rows(
                "select system, score_4dp from lake.marts.leaderboard "
                "where measure = 'AP' and label_set = ? and level = ?",
                name,
                level,
            )
        )
        for name, level in (("assessor:human", 2), ("judge:overlap", 1))
    ]
    systems = sorted(boards[0])
    x, y = ([board[system] for system in systems] for board in boards)
    tau = stats.kendalltau(x, y).statistic
    assert f"demo: {len(systems)} systems, τ-b = {tau:.3f}" in written
    assert "AP by judge:overlap (≥ 1)" in written
    assert "AP by assessor:human (≥ 2)" in written
    moved = np.abs(stats.rankdata(x) - stats.rankdata(y))
    far = {system for system, by in zip(systems, moved, strict=True) if by > 1.1}
    assert len(systems) == 11
    assert set(said["outliers"]) == far
    assert far <= set(written)


@pytest.mark.fast
def test_outliers_are_those_whose_rank_moved_by_more_than_a_tenth_of_the_systems():
    x = np.arange(20) / 20
    y = x.copy()
    y[[3, 9]] = y[[9, 3]]  # six places each
    y[[15, 17]] = y[[17, 15]]  # two places: a tenth
    assert find_outliers(x, y).tolist() == [3, 9]
    assert find_outliers(x, x * 0).tolist()[:8] == [0, 19, 1, 18, 2, 17, 3, 16]
    assert len(find_outliers(x, x * 0)) == 16
    assert find_outliers(x[:2], x[:2]).tolist() == []


def test_every_system_that_is_announced_is_drawn(far, tmp_path):
    """Ten are far and eight named; two and two stand at the same place, and two differ in the
    middle of a long name."""
    words = ("scatter", "far", "--label-set", "judge:other", "--measure", "RR")
    said, written = drawn(far, tmp_path, *words)
    assert len(said["outliers"]) == 8
    assert {"leads", "leads-too", LONG.format(1), LONG.format(2)} <= {*said["outliers"]}
    names = [name for name in written if name in apart(said["outliers"]).values()]
    assert len(set(names)) == 8
    assert {"leads", "leads-too"} <= {*names}
    assert len({*said["outliers"], *said["more_outliers"]}) == 10
    assert "and 2 more" in written
    told = gradelake(far, "stats", *words, "--picture", tmp_path / "x.svg").stdout
    assert all(name in told for name in said["outliers"])
    assert told.endswith(", and 2 more\n")


OF_JUDGE = "--label-set", "judge:other"
PICTURES = {
    "confusion": ("stats", "confusion", "far", *OF_JUDGE),
    "scatter": ("stats", "scatter", "far", *OF_JUDGE, "--measure", "RR"),
    "leaderboard": [
        "stats",
        "leaderboard",
        "far",
        "--label-set",
        "judge:other",
        "--label-set",
        "assessor:me",
        "--measure",
        "RR",
    ],
    "ranks": ("stats", "ranks", "far", *OF_JUDGE, "--measure", "RR"),
    "correlation": [
        "stats",
        "correlation",
        "far",
        "--measure",
        "RR",
        "--reference",
        "assessor:me",
        "--replicates",
        "50",
    ],
    "topics": ("compare", "far", FAR[0], FAR[-1], *OF_JUDGE, "--measure", "RR"),
}


@pytest.mark.parametrize("picture", PICTURES)
def test_nothing_touches_the_edge_of_a_picture_however_long_names_are(far, tmp_path, picture):
    file = tmp_path / "x.png"
    gradelake(far, *PICTURES[picture], "--picture", file)
    pixels = np.asarray(Image.open(file).convert("RGB"))
    for edge in (pixels[:3], pixels[-3:], pixels[:, :3], pixels[:, -3:]):
        assert edge.min() == 255, "all white"


@pytest.mark.fast
def test_long_names_are_drawn_so_that_they_differ():
    names = apart([LONG.format(1), LONG.format(2), "short"])
    assert len(set(names.values())) == 3
    assert names["short"] == "short"
    assert apart([LONG.format(1), LONG.format(2), "short"] * 2) == names, "a name may repeat"
    assert max(map(len, names.values())) < 50
    assert apart(["lexical/v0/best", "lexical/v1/best"], 12) == {
        "lexical/v0/best": "lexic\u20260/best",
        "lexical/v1/best": "lexic\u20261/best",
    }


def test_the_picture_of_ranks_has_the_marts_order_and_a_bar_for_each_group(demo, tmp_path):
    words = ("demo", "--label-set", "assessor:human", "--measure", "AP")
    said, written = drawn(demo, tmp_path, "ranks", *words)
    board = published(demo).column(
        "select system from lake.marts.leaderboard where label_set = 'assessor:human' "
        "and measure = 'AP' and level = 2 order by score desc, system"
    )
    assert [one["system"] for one in said["systems"]] == board
    assert [text for text in written if text in board] == board, "the best on top"
    assert "demo: 11 systems, 8 queries" in "\n".join(written)


def test_the_picture_of_correlations_has_every_label_set_by_its_tau(demo, tmp_path):
    words = ("demo", "--measure", "nDCG@10", "--replicates", "100")
    said, written = drawn(demo, tmp_path, "correlation", *words)
    taus = dict(
        published(demo).rows(
            "select label_set, kendall from lake.marts.leaderboard_correlation "
            "inner join lake.marts.usual_levels using (collection, label_set, level) "
            "where measure = 'nDCG@10'"
        )
    )
    assert label_sets(said) == set(taus)
    in_order = sorted(taus, key=lambda name: -taus[name])
    assert [text for text in written if text in taus] == in_order
    assert {"Kendall's \u03c4-b", "Spearman's \u03c1"} <= {*written}
    others, _ = drawn(demo, tmp_path, "correlation", *words, "--reference", "judge:overlap")
    assert label_sets(others) == set(taus) - {"judge:overlap"}
    at_level = ("demo", "--measure", "AP", "--level", "2", "--replicates", "50")
    one = ("--label-set", "assessor:human")
    said, written = drawn(demo, tmp_path, "correlation", *at_level, *one)
    assert label_sets(said) == {"assessor:human"}
    assert "assessor:human (\u2265 2)" in written


def label_sets(said: dict) -> set[str]:
    return {one["label_set"] for one in said["correlations"]}


@pytest.mark.fast
def test_a_tau_of_zero_stands_above_negative_ones_and_an_undefined_one_last():
    assert sorted([-0.5, None, 0.0, 0.3], key=by_tau) == [0.3, 0.0, -0.5, None]


@pytest.mark.fast
def test_a_picture_has_rows_for_what_a_page_has_room_for():
    assert unfit(MOST_ROWS, "systems", "") is None
    too_many = Picture("topics", [], unfit=unfit(MOST_ROWS + 1, "systems", "Ask SQL."))
    with pytest.raises(BadInput, match="201 systems are more than") as refused:
        draw(too_many, "svg")
    assert refused.value.hint == "Ask SQL."


@pytest.mark.fast
def test_grades_below_0_have_a_shade_and_those_of_a_long_scale_share_some():
    assert [list(each) for each in shades({-1, 0, 3})] == [[-1], [0], [3]]
    hundred = shades(set(range(101)))
    assert hundred[:2] == [range(0, 9), range(9, 18)]
    assert (len(hundred), hundred[-1]) == (12, range(99, 101))


def test_the_picture_of_topics_counts_what_sql_counts(demo, tmp_path):
    words = ("demo", "bm25", "lsa", "--label-set", "assessor:human", "--measure", "AP")
    said, written = drawn(demo, tmp_path, "compare", *words)
    differences = dict(
        published(demo).rows(
            "select query_id, a.value - b.value from lake.marts.topic_scores as a "
            "inner join lake.marts.topic_scores as b "
            "using (collection, label_set, measure, level, query_id) "
            "where label_set = 'assessor:human' and measure = 'AP' and level = 2 "
            "and a.system = 'lsa' and b.system = 'bm25'"
        )
    )
    found = list(differences.values())
    assert (said["wins"], said["losses"]) == (sum(d > 0 for d in found), sum(d < 0 for d in found))
    assert said["difference"] == pytest.approx(np.mean(found))
    assert said["p"] == pytest.approx(
        stats.permutation_test(
            (found,), np.mean, permutation_type="samples", n_resamples=np.inf
        ).pvalue
    )
    shown = [text for text in written if text in differences]
    assert shown == sorted(differences, key=lambda query: -differences[query])
    assert "difference in AP by assessor:human (\u2265 2)" in written
    assert "lsa minus bm25" in "\n".join(written)
    three = gradelake(demo, "compare", *words[:3], "tfidf_cosine", "--picture", "x.svg", code=2)
    assert "no picture of this answer" in three.stderr


def test_the_picture_of_coverage_has_a_dot_of_each_k_for_each_system(graded_demo, tmp_path):
    words = ("demo", "--label-set", "lexical/v0/best", "--level", "4")
    said, written = drawn(graded_demo, tmp_path, "coverage", *words)
    board = published(graded_demo).column(
        "select system from lake.marts.leaderboard where label_set = 'lexical/v0/best' "
        "and measure = 'Cover@20' and level = 4 order by score_4dp desc, system"
    )
    assert [one["system"] for one in said["systems"]] == board
    assert [text for text in written if text in board] == board
    assert {"Cover@10", "Cover@20"} <= {*written}
    wrong = ("stats", "coverage", "demo", "--label-set", "judge:lexical_direct")
    assert "has no rubric to cover" in gradelake(graded_demo, *wrong, code=2).stderr


def test_the_picture_of_grades_has_the_items_of_the_query_book(graded_demo, tmp_path):
    query = ("--grader", "lexical", "--query", "bird-navigation")
    said, written = drawn(graded_demo, tmp_path, "grades", "demo", *query)
    asked = ("sql", "@item_grades", "--grader", "lexical", "--query_id", "bird-navigation")
    items = json_of(graded_demo, *asked, "--format", "json")
    assert [each["item_id"] for each in said["items"]] == [each["item_id"] for each in items]
    shown = [text for text in written if re.match(r"\d+\u2002", text)]
    assert [text[2:19] for text in shown] == [each["item"][:17] for each in items]
    best = max(each["best_grade"] for each in items)
    assert {f"grade {n}" for n in range(best + 1)} <= {*written}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("confusion small --label-set judge:five --picture x.jpg", "written as svg, png, pdf"),
        ("confusion small --label-set judge:five --width 3", "--width is of a picture"),
        (
            "confusion small --label-set judge:five --reference me --picture x.svg",
            "no label set 'me'",
        ),
        ("scatter small --label-set judge:five --measure AP --picture x.svg", "has no systems"),
    ],
)
def test_what_cannot_be_drawn_is_said_and_nothing_written(small, line, said):
    assert said in typed(small, f"stats {line}", code=2).stderr
    assert not list(small.glob("x.*"))


def test_several_boards_are_drawn_from_their_lowest_to_their_highest_score(demo, tmp_path):
    """Of scores 0.2, 0.5 and 0.8 the middle one lies at 0.5, and bars are scaled alike."""
    board = Scores(
        "judge:x",
        1,
        "AP",
        "binary",
        9,
        {"a": (0.2, 0.03, 3), "b": (0.5, 0.06, 2), "c": (0.8, None, 1)},
    )
    y, errors = scaled(board)
    assert y == pytest.approx({"a": 0, "b": 0.5, "c": 1})
    assert errors == pytest.approx({"a": 0.05, "b": 0.1, "c": 0})
    assert scaled(board._replace(systems={"a": (0.4, 0.1, 1)}))[0] == {"a": 0}
    file = tmp_path / "boards.svg"
    words = ("--measure", "AP", "--measure", "nDCG@10", "--level", "1", "--level", "2")
    judges = ("--label-set", "judge:overlap", "--label-set", "assessor:human")
    asked = ("stats", "leaderboard", "demo")
    done = gradelake(demo, *asked, *judges, *words, "--picture", str(file))
    assert done.stdout == f"{file}: drawn\n"
    written = texts(file.read_text())
    names = [f"{name}, AP ({n})" for name in judges[1::2] for n in (1, 2)]
    assert {*names, "judge:overlap, nDCG@10", "demo: 11 systems, standard errors"} <= {*written}
    official = json.loads((demo / "official_ranks.json").read_text())
    shown = [text for text in written if text in official]
    assert shown == sorted(official, key=official.get), "in the order of the official ranks"
    single = ("--board", "judge:overlap", "P@10", "1", "--board", "assessor:human", "AP", "2")
    said = gradelake(demo, *asked, *single, *words, "--picture", str(file), code=2)
    assert "--measure cannot be used with --board" in said.stderr
    many = (*words, "--level", "3", "--measure", "P@10", "--measure", "RR")
    said = gradelake(demo, *asked, *judges, *many, "--picture", str(file), code=2)
    assert "boards are more than a picture has room for (8)" in said.stderr
