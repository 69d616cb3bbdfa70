"""The page of reproduction says what `make reproduce` prints."""

import pytest

from tests.places import REPOSITORY, missing_dl19, missing_llmjudge
from tests.published import TABLE_3_COLUMNS
from tests.tools import reproduce

pytestmark = pytest.mark.slow
# what is not the paper's, and why, stands on the page
OTHERWISE = {
    "UMBRELA's Table 1, runs",
    *(f"standard error of Table 3's cells, {name}" for name in TABLE_3_COLUMNS),
    "Success@20 by judge:Thomas: systems at 1",
    "P@20 by judge:Thomas: from, to",
    "tau of nDCG@10 by run, by topic: worst and best judge",
}


def cells(line: str) -> list[str]:
    return line.strip("| ").split(" | ")


def test_the_page_shows_what_comes_out_and_the_figures_are_the_papers(tmp_path):
    if reason := missing_dl19() or missing_llmjudge():
        pytest.skip(reason)
    printed = [line for line in reproduce.tables(tmp_path) if line.startswith("|")]
    figures = [cells(line) for line in printed if len(cells(line)) == 3][1:]
    assert {what for what, theirs, ours in figures if theirs != ours} == OTHERWISE
    assert ["defined cells of RUBRIC's appendix that are equal", "228", "228"] in figures
    assert not [line for line in printed if "(ours" in line]
    page = (REPOSITORY / reproduce.PAGE).read_text(encoding="utf-8")
    ours = page[: page.index("## Every table")] + page[page.index("## What a model") :]
    shown = [line for line in ours.splitlines() if line.startswith("| ")]
    assert len(shown) == len(printed)
    for line, one in zip(shown, printed, strict=True):  # the page has a command behind some
        assert line.startswith(one.removesuffix("|"))


@pytest.mark.fast
def test_what_is_not_at_hand_is_skipped_with_a_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(reproduce, "missing_dl19", lambda: "no TREC DL 2019")
    monkeypatch.setattr(reproduce, "missing_llmjudge", lambda: "no LLMJudge")
    lines = list(reproduce.tables(tmp_path))
    assert lines[-2:] == ["skipped: no TREC DL 2019", "skipped: no LLMJudge"]
    assert not list(tmp_path.iterdir())
