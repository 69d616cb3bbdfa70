"""`gradelake plot`: pictures that show the marts' numbers, and are the same from run to run."""

import json
import re

import numpy as np
import pytest
from matplotlib.image import imread
from scipy import stats

from gradelake.analyses.plots.boards import scaled
from gradelake.analyses.plots.scatter import find_outliers
from gradelake.analyses.plots.style import shortened
from gradelake.analyses.tables.leaderboard import Scores
from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests.conftest import gradelake

pytestmark = pytest.mark.slow


def texts(svg: str) -> list[str]:
    """What is written in the picture, in order; matplotlib notes each text beside its outlines."""
    return re.findall(r"<!-- (.*?) -->", svg, re.DOTALL)


def test_the_confusion_picture_shows_counts_and_shares_of_rows(small):
    """Three passages are labelled 0: one is judged 1, two are judged 0 or below."""
    gradelake(small, "plot", "confusion", "small", "--label-set", "judge:five", "-o", "c.svg")
    written = texts((small / "c.svg").read_text())
    assert {"assessor:me", "judge:five", "share of the row", "total", "small: 8 pairs"} <= {
        *written
    }
    cells = written[written.index("judge:five") + 1 : written.index("total")]
    assert cells[:8] == ["2", "67%", "1", "33%", "0", "0%", "0", "0%"], "the row of 0"
    assert cells[8:16] == ["1", "100%", "0", "0%", "0", "0%", "0", "0%"]
    assert cells[16:20] == ["0", "0", "0", "0"], "no passage is labelled 2"


def test_on_a_common_scale_the_confusion_picture_names_kappa(demo, tmp_path):
    file = tmp_path / "c.svg"
    gradelake(demo, "plot", "confusion", "demo", "--label-set", "judge:overlap", "-o", str(file))
    with Lake.published(Project.find(demo)) as lake:
        kappa, n = lake.rows(
            "select kappa, n from lake.marts.kappa where label_set = 'judge:overlap' "
            "and reference = 'assessor:human' and kind = 'graded'"
        )[0]
    assert f"demo: {n} pairs, Cohen's κ = {kappa:.2f}" in texts(file.read_text())


def test_the_scatter_picture_names_the_tau_of_the_leaderboards_and_the_outliers(demo, tmp_path):
    file = tmp_path / "s.svg"
    done = gradelake(
        demo,
        "plot",
        "scatter",
        "demo",
        "--label-set",
        "judge:overlap",
        "--measure",
        "AP",
        "--level",
        "1",
        "-o",
        str(file),
        "--json",
    )
    with Lake.published(Project.find(demo)) as lake:
        boards = [
            dict(
                lake.rows(
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
    written = texts(file.read_text())
    assert f"demo: {len(systems)} systems, τ-b = {tau:.3f}" in written
    assert "AP by judge:overlap (≥ 1)" in written
    assert "AP by assessor:human (≥ 2)" in written
    moved = np.abs(stats.rankdata(x) - stats.rankdata(y))
    far = {system for system, by in zip(systems, moved, strict=True) if by > 1.1}
    outliers = json.loads(done.stdout)["outliers"]
    assert len(systems) == 11
    assert set(outliers) == far
    assert far <= set(written)


def test_outliers_are_those_whose_rank_moved_by_more_than_a_tenth_of_the_systems():
    x = np.arange(20) / 20
    y = x.copy()
    y[[3, 9]] = y[[9, 3]]  # six places each
    y[[15, 17]] = y[[17, 15]]  # two places: a tenth
    assert find_outliers(x, y).tolist() == [3, 9]
    assert find_outliers(x, x * 0).tolist() == [0, 19, 1, 18, 2, 17, 3, 16]
    assert find_outliers(x[:2], x[:2]).tolist() == []


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
@pytest.mark.parametrize(
    "command", [("confusion",), ("scatter", "--measure", "nDCG@10")], ids=["confusion", "scatter"]
)
def test_the_same_lake_gives_the_same_bytes(demo, tmp_path, command, ending):
    files = [tmp_path / f"{name}.{ending}" for name in ("one", "two")]
    for file in files:
        gradelake(demo, "plot", *command, "demo", "--label-set", "judge:overlap", "-o", str(file))
    one, two = (file.read_bytes() for file in files)
    assert one == two
    assert not re.search(rb"20[2-9]\d-\d\d-\d\d|CreationDate", one), "no date"
    if ending == "png":
        pixels = imread(files[0])
        assert pixels.shape[1] > 800, "readable in print"
        assert pixels[..., :3].std() > 0.01, "not blank"


def test_a_long_name_loses_its_middle():
    assert shortened("short") == "short"
    assert shortened("abcdefghijk", 7) == "abc…ijk"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("confusion", "--label-set", "judge:five", "-o", "x.jpg"), "written as svg, png, pdf"),
        (("confusion", "--label-set", "judge:fve", "-o", "x.svg"), "Did you mean 'judge:five'?"),
        (("confusion", "--label-set", "judge:elsewhere", "-o", "x.svg"), "is not compared with"),
        (
            ("confusion", "--label-set", "judge:five", "--reference", "me", "-o", "x.svg"),
            "has no label set 'me' here",
        ),
        (
            ("scatter", "--label-set", "judge:five", "--measure", "AP", "-o", "x.svg"),
            "has no systems",
        ),
        (("confusion", "--label-set", "judge:five", "-o", "no/x.svg"), "there is no folder no"),
    ],
)
def test_what_cannot_be_drawn_is_said_and_nothing_written(small, arguments, said):
    command, *options = arguments
    done = gradelake(small, "plot", command, "small", *options, code=2)
    assert said in done.stderr
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
    done = gradelake(demo, "plot", "boards", "demo", *judges, *words, "-o", str(file))
    assert done.stdout == f"{file}: drew 11 systems\n"
    written = texts(file.read_text())
    names = [f"{name}, AP ({n})" for name in judges[1::2] for n in (1, 2)]
    assert {*names, "judge:overlap, nDCG@10", "demo: 11 systems, standard errors"} <= {*written}
    official = json.loads((demo / "official_ranks.json").read_text())
    shown = [text for text in written if text in official]
    assert shown == sorted(official, key=official.get), "in the order of the official ranks"
    many = (*words, "--level", "3", "--measure", "P@10", "--measure", "RR")
    said = gradelake(demo, "plot", "boards", "demo", *judges, *many, "-o", str(file), code=2)
    assert "boards are more than a picture can tell apart (8)" in said.stderr
