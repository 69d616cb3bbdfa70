"""Label sets that score answers, in the report: their boards are there, of no passage."""

import json
from pathlib import Path

import pytest

from tests.browser import Look
from tests.conftest import gradelake

pytestmark = pytest.mark.slow

NUGGETS, SUPPORT = "assigns/v0/nuggets", "supports/first_citation"


@pytest.fixture(scope="module")
def pages(demo_answers, tmp_path_factory) -> dict[str, Path]:
    """The report of each of the demo's collections."""
    place = tmp_path_factory.mktemp("reports")
    files = {name: place / f"{name}.html" for name in ("answers", "demo")}
    for name, file in files.items():
        gradelake(demo_answers, "report", name, "-o", str(file))
    return files


def scores(folder: Path, label_set: str, measure: str) -> dict[tuple[str, str], str]:
    """(system, query) -> its score, as the page writes it."""
    sql = (
        "select system, query_id, value from topic_scores where collection = 'answers' "
        f"and label_set = '{label_set}' and measure = '{measure}' and level = 1"
    )
    rows = json.loads(gradelake(folder, "sql", sql, "--format", "json").stdout)
    return {(row["system"], row["query_id"]): f"{row['value']:.4f}" for row in rows}


def options(look: Look, select: str) -> list[str]:
    return look.page.locator(f"{select} option").all_inner_texts()


def choose(look: Look, select: str, value: str, shown: str) -> None:
    look.page.select_option(select, value)
    look.page.wait_for_function(
        "words => document.getElementById('leaderboard-says').textContent.includes(words)",
        arg=shown,
    )


def go(look: Look, address: str, heading: str) -> None:
    look.page.evaluate(f"location.hash = '{address}'")
    look.page.wait_for_selector(f"#view h2:has-text('{heading}')")


def test_where_there_are_answers_only_the_page_opens_on_their_board(browser, pages):
    assert f"2 systems by StrictVital of the labels {NUGGETS}." in pages["answers"].read_text()
    look = Look(browser, pages["answers"], 1280)
    assert options(look, "#choose-labels") == [NUGGETS, SUPPORT]
    assert options(look, "#choose-measure") == ["StrictVital", "StrictAll", "Vital", "All"]
    assert look.page.is_disabled("#choose-level"), "a score of an answer knows no level"
    assert look.text("#leaderboard-table caption").startswith(
        "Whole answers are scored, by the nug"
    )
    choose(look, "#choose-measure", "Vital", "by Vital")
    assert look.column("#leaderboard-table", 2) == ["careful_writer", "careless_writer"]
    heads = look.page.locator("#leaderboard-table thead th").all_inner_texts()
    assert look.column("#leaderboard-table", heads.index("Vital") + 1) == ["0.9167", "0.3750"]
    choose(look, "#choose-labels", SUPPORT, "by SupportP")
    assert "0.9021" in look.text("#leaderboard-table")
    assert "how far what they cite" in look.text("#leaderboard-table caption")
    assert look.said == []


@pytest.mark.parametrize(("labels", "measure"), [(NUGGETS, "Vital"), (SUPPORT, "SupportR")])
def test_views_have_the_scores_of_each_topic(browser, pages, demo_answers, labels, measure):
    expected = scores(demo_answers, labels, measure)
    assert len(expected) == 8
    look = Look(browser, pages["answers"], 1280)
    chosen = f"labels={labels}&measure={measure}"
    for system in ("careful_writer", "careless_writer"):
        go(look, f"#system/{system}?{chosen}", f"System {system}")
        topics = look.column("#view table", 1)
        assert dict(zip(topics, look.column("#view table", 3), strict=True)) == {
            query: score for (of, query), score in expected.items() if of == system
        }
    go(look, f"#query/volcanoes?{chosen}", "Query volcanoes")
    ranking = look.page.locator("#view table").first.locator("thead th").all_inner_texts()
    assert labels not in ranking, "it labels no passage"
    go(look, f"#compare?{chosen}", "careful_writer and careless_writer")
    if measure == "Vital":  # all four differences have one sign: 2 of 16 patterns are as extreme
        assert "p = 0.1250" in look.text("#compare-says")
    assert look.said == []


def test_beside_labels_of_passages_the_page_opens_on_those_and_compares_like_with_like(
    browser, pages
):
    look = Look(browser, pages["demo"], 1280)
    assert options(look, "#choose-labels") == ["assessor:human", NUGGETS]
    assert "nDCG@10 of the labels assessor:human" in look.text("#leaderboard-says")
    assert "Not correlated" not in look.text("#correlation")
    choose(look, "#choose-labels", NUGGETS, "by StrictVital")
    assert look.column("#leaderboard-table", 2) == ["answer_writer"]
    assert "no leaderboard by StrictVital to compare with" in look.text("#scatter-says")
    look.page.evaluate(f"location.hash = '#labels?a=assessor:human&b={NUGGETS}'")
    look.page.wait_for_selector("#view h2:has-text('Two label sets')")
    assert "There are no two." in look.text("#view")
    assert look.said == []
