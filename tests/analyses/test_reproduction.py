"""The page of reproduction says what `make reproduce` prints."""

import pytest

from tests.command_line import gradelake, json_of
from tests.places import REPOSITORY, missing_dl19, missing_llmjudge
from tests.tools import reproduce

pytestmark = pytest.mark.slow
# what is not the paper's, and why, stands on the page
OTHERWISE = {
    "UMBRELA's Table 1, runs",
    "RUBRIC's section 6, systems of DL 2019",
    "Table 6 of RUBRIC, Question 4-5: kappa",
}


def cells(line: str) -> list[str]:
    return line.strip("| ").split(" | ")


def test_the_page_shows_what_comes_out_and_the_figures_are_the_papers(tmp_path):
    if reason := missing_dl19() or missing_llmjudge():
        pytest.skip(reason)
    printed = [line for line in reproduce.tables(tmp_path) if line.startswith("|")]
    rows = [cells(line) for line in printed if len(cells(line)) == 3]
    others = rows.index(["figure that no paper prints", "by others", "ours"])
    figures, checks = rows[1:others], rows[others + 1 :]
    assert {what for what, theirs, ours in figures if theirs != ours} == OTHERWISE
    assert len([what for what, *_ in figures if "Table 3, wins of" in what]) == 14
    assert ["defined cells of RUBRIC's appendix that are equal", "-", "228 of 228"] in checks
    assert ["cells of RUBRIC's Table 3 that are equal", "-", "56 of 56"] in checks
    assert not [what for what, theirs, ours in checks if theirs not in ("-", ours)]
    assert not [line for line in printed if "(ours" in line]
    page = (REPOSITORY / reproduce.PAGE).read_text(encoding="utf-8")
    ours = page[: page.index("## Every table")] + page[page.index("## What a model") :]
    shown = [line for line in ours.splitlines() if line.startswith("| ")]
    assert len(shown) == len(printed)
    for line, one in zip(shown, printed, strict=True):  # the page has a command behind some
        assert line.startswith(one.removesuffix("|"))


def test_what_is_not_at_hand_is_skipped_with_a_reason_and_the_rest_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(reproduce, "missing_dl19", lambda: "no TREC DL 2019")
    monkeypatch.setattr(reproduce, "missing_llmjudge", lambda: "no LLMJudge")
    lines = list(reproduce.tables(tmp_path))
    assert lines[-2:] == ["skipped: no TREC DL 2019", "skipped: no LLMJudge"]
    assert [folder.name for folder in tmp_path.iterdir()] == ["counted"], "of printed figures"
    assert "| Table 5 of RUBRIC or the Workbench, Nugget 4-5: kappa | 0.16 | 0.16 |" in lines
    of_cuts(tmp_path / "counted")


def of_cuts(folder):
    """RUBRIC's Table 6: a cut where no label is counts those above it. Of 4 or more all are 5."""
    asked = ("stats", "agreement", "car", "--cut", "4", "--format", "latex")
    written = gradelake(folder, *asked).stdout
    assert r"4--5 & \fbox{\textbf{1,910}} & 1,117 & 3,027 & 0.368 \\" in written
    assert r"0--3 & 880 & \fbox{\textbf{2,445}} & 3,325 & 0.368 \\" in written
    words = ("sql", "--format", "json", "@kappa", "--collection", "car")
    kappas = {row["cut"]: row["kappa"] for row in json_of(folder, *words)}
    assert kappas.keys() == {f">={cut}|>=1" for cut in range(1, 6)}
    assert [*kappas.values()] == pytest.approx([0.368] * 5, abs=5e-4)
