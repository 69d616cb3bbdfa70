"""The page of reproduction says what `make reproduce` prints."""

import re

import pytest

from tests.places import REPOSITORY, missing_dl19, missing_llmjudge
from tests.tools import reproduce

pytestmark = pytest.mark.slow
ROWS = re.compile(r"\| (Spearman|Kendall|kappa|`\w+` \| [\d,]+ )")


def cells(line: str) -> list[str]:
    return line.strip("| ").split(" | ")


def test_the_page_shows_what_comes_out_and_the_figures_are_the_papers(tmp_path):
    if reason := missing_dl19() or missing_llmjudge():
        pytest.skip(reason)
    printed = [cells(line) for line in reproduce.tables(tmp_path) if ROWS.match(line)]
    figures = [each for each in printed if len(each) == 3]
    assert len(figures) == 12
    assert [ours for _, _, ours in figures] == [theirs for _, theirs, _ in figures]
    page = (REPOSITORY / reproduce.PAGE).read_text(encoding="utf-8").splitlines()
    shown = [cells(line)[:-1] for line in page if ROWS.match(line)]  # without the command
    assert shown == printed


@pytest.mark.fast
def test_what_is_not_at_hand_is_skipped_with_a_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(reproduce, "missing_dl19", lambda: "no TREC DL 2019")
    monkeypatch.setattr(reproduce, "missing_llmjudge", lambda: "no LLMJudge")
    lines = list(reproduce.tables(tmp_path))
    assert lines[-2:] == ["skipped: no TREC DL 2019", "skipped: no LLMJudge"]
    assert not list(tmp_path.iterdir())
