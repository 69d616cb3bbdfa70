"""The notebooks: each runs on the demo, or on TREC DL 2019, shows again what is in it, and what its
text claims."""

import os
import shutil
import sys
from pathlib import Path

import nbformat
import polars as pl
import pytest
from nbclient import NotebookClient

import gradelake
from tests.places import REPOSITORY
from tests.tiers import CAMPAIGN, first_of

NOTEBOOKS = sorted((REPOSITORY / "analyses" / "notebooks").glob("*.ipynb"))


def shown(notebook: nbformat.NotebookNode) -> list[str]:
    """What the cells of code show: what is printed, objects as texts, pictures by their kind."""
    found = []
    for cell in notebook.cells:
        outputs = cell.get("outputs", [])
        # it comes in pieces; Ray and tqdm write to stderr that they lack packages for bars
        found.append("".join(each.text for each in outputs if each.get("name") == "stdout"))
        for data in (each.data for each in outputs if "data" in each):
            is_picture = any(kind.startswith("image/") for kind in data)
            found.append("picture" if is_picture else data["text/plain"])
    return found


@pytest.fixture
def folder(request, file, tmp_path, monkeypatch) -> Path:
    made = request.getfixturevalue("dl19" if file.stem == "paper" else "graded_demo")
    copy = shutil.copytree(made, tmp_path / made.name)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.delenv("GRADELAKE_CONFIG", raising=False)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    return copy


@pytest.mark.slow
@pytest.mark.parametrize("file", first_of(1, *NOTEBOOKS, mark=CAMPAIGN))
def test_a_notebook_shows_again_what_is_in_it(file, folder):
    notebook = nbformat.read(file, 4)
    before = shown(notebook)
    place = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=600, resources=place).execute()  # raises where a cell fails
    assert shown(notebook) == before
    assert "picture" in before
    assert file.stat().st_size < 150_000
    CLAIMS[file.stem](folder)


def judge(folder: Path) -> None:
    """The rubric's judge agrees more with people, but is generous to short passages."""
    with gradelake.open(folder) as lake:

        def of(question: str, judge: str) -> pl.DataFrame:
            found = lake.ask(question, label_set=judge, reference="assessor:human")
            return found.pl()

        rubric, direct = "lexical/v0/best", "judge:lexical_direct"
        for question, measure in (("agreement", "kendall"), ("kappa", "kappa")):
            assert of(question, rubric)[measure].max() > of(question, direct)[measure].max()
        best = of("kappa", rubric).sort("kappa")["cut"][-1]
        assert best == ">=3|>=2"
        bias = lake.ask("label_bias", label_set=rubric, property="length").pl()
        shortest, longest = bias.sort("bucket")[[0, -1]].iter_rows(named=True)
        assert shortest["residual"] > 2 * shortest["stderr"]
        assert longest["residual"] < -2 * longest["stderr"]


def rubric_edit(folder: Path) -> None:
    """Labels fell and scores with them; the order stayed."""
    with gradelake.open(folder) as lake:
        impact = lake.ask("rubric_impact", grader="lexical").pl()
        dropped = impact.filter(action="drop")
        assert (dropped["label_after"] < dropped["label_before"]).all()
        assert len(dropped)
        shift = lake.ask("leaderboard_shift", grader="lexical").pl()
        assert (shift["rank_after"] == shift["rank_before"]).all()
        assert (shift["score_after"] < shift["score_before"]).mean() > 0.5


def paper(folder: Path) -> None:
    """Each figure is a PDF as wide as a column, and the table has the mart's correlations."""
    written = {file.name for file in (folder / "figures").glob("*.pdf")}
    assert written == {"confusion.pdf", "correlation.pdf", "scatter.pdf"}
    for name in written:
        assert b"/MediaBox [0 0 241.2 " in (folder / "figures" / name).read_bytes(), "3.35 inches"
    table = (folder / "figures" / "judges.tex").read_text()
    with gradelake.open(folder) as lake:
        board = lake.ask("agreement", reference="assessor:nist").pl()
        for row in board.filter(pl.col("label_set").str.starts_with("judge:")).to_dicts():
            assert f"{row['kendall']:.3f}" in table


CLAIMS = {"judge": judge, "paper": paper, "rubric_edit": rubric_edit}


def test_every_notebook_has_its_claims():
    assert {file.stem for file in NOTEBOOKS} == set(CLAIMS)
