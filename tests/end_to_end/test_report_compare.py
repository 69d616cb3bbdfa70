"""Two systems and two label sets side by side, and what moved, in a real browser."""

import re
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests.browser import Look, chromium
from tests.conftest import gradelake, made_once
from tests.moved_demo import make_moved

HUMAN, NEWEST = "assessor:human", "lexical/v2/best"


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def folder(graded_demo, tmp_path_factory) -> Path:
    return made_once(tmp_path_factory, "moved", partial(make_moved, graded_demo))


def look_at(browser, folder: Path, address: str, width: int = 1280, name: str = "demo") -> Look:
    look = Look(browser, folder / "reports" / f"{name}.html", width)
    look.page.evaluate("hash => { location.hash = hash }", address)
    look.page.wait_for_selector("#view h2")
    return look


def shown(look: Look, words: str) -> None:
    """Wait until the view's heading says these words."""
    look.page.wait_for_function(
        "words => document.querySelector('#view h2')?.textContent === words", arg=words
    )


def choose(look: Look, name: str, value: str) -> None:
    look.page.select_option(f"#view-{name}", value)
    look.page.wait_for_function(
        "([name, value]) => new URLSearchParams(location.hash.split('?')[1]).get(name) === value "
        "&& document.getElementById(`view-${name}`)?.value === value",
        arg=[name, value],
    )


def differences(folder, a, b, labels, measure, level, collection="demo") -> dict[str, float]:
    """topic -> score of a less that of b, of scores with 4 decimals: in SQL."""
    with Lake.published(Project.find(folder)) as lake:
        return dict(
            lake.rows(
                "with topics as (select distinct query_id from lake.marts.relevance_labels "
                "where collection = $collection and label_set = $labels), "
                "scores as (select query_id, system, round(value, 4) as value "
                "from lake.marts.topic_scores where collection = $collection "
                "and label_set = $labels and measure = $measure and level = $level) "
                "select query_id, coalesce(sum(value) filter (system = $a), 0) "
                "- coalesce(sum(value) filter (system = $b), 0) "
                "from topics left join scores using (query_id) group by query_id",
                a=a,
                b=b,
                labels=labels,
                measure=measure,
                level=level,
                collection=collection,
            )
        )


def comes_to(text: str, values: np.ndarray) -> bool:
    """Whether a view shows the differences' mean and Student's interval as scipy has them.

    Within 0.0006: a mean of -3.1 in 8 topics is as near to -0.387 as to -0.388.
    """
    number = r"([+\u2212]?[\d.]+)"
    figures = re.search(f"{number}; 95 % interval {number} to {number}", text).groups()
    told = [float(figure.replace("\u2212", "-")) for figure in figures]
    interval = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    return told == pytest.approx([values.mean(), *interval], abs=6e-4)


@pytest.mark.parametrize(
    ("a", "b", "labels", "measure", "level"),
    [
        ("bm25", "lsa", HUMAN, "nDCG@10", 2),
        ("bm25", "answer_writer", NEWEST, "AP", 3),
        ("rarest_word", "fusion", HUMAN, "P@10", 1),
    ],
)
def test_two_systems_differ_by_what_sql_and_scipy_say(
    browser, folder, a, b, labels, measure, level
):
    address = f"#compare?a={a}&b={b}&labels={labels}&measure={measure}&level={level}"
    look = look_at(browser, folder, address)
    of = differences(folder, a, b, labels, measure, level)
    values = np.array(list(of.values()))
    text = look.text("#view")
    assert comes_to(text, values)
    signs = Counter(np.sign(values.round(4)))
    assert f"{signs[1]}, {signs[0]}, {signs[-1]} (scores of 4 decimals)" in text
    topics = look.column("#view table", 1)
    assert len(topics) == len(of)
    sizes = [abs(of[topic]) for topic in topics]
    assert sizes == pytest.approx(sorted(sizes, reverse=True)), "those that decide come first"
    look.page.wait_for_selector("#view-chart svg")
    assert look.page.locator("#view-chart svg .mark-rect path").count() == len(of)
    first = look.page.locator("#view table tbody a").first
    assert first.get_attribute("href").startswith(f"#query/{topics[0]}?labels=")
    assert look.said == []


def test_no_winner_is_named_where_chance_may_have_done_it(browser, folder):
    look = look_at(browser, folder, f"#compare?a=bm25&b=lsa&labels={HUMAN}&measure=nDCG@10")
    assert look.text("#compare-says").startswith("No difference can be told (p = 0.")
    choose(look, "b", "rarest_word")
    assert look.text("#compare-says").startswith("bm25 is ahead by more than chance")


def test_elsewhere_the_command_that_tests_is_named_and_works(browser, folder):
    look = look_at(browser, folder, f"#compare?a=bm25&b=lsa&labels={HUMAN}&measure=AP&level=3")
    (command,) = look.page.locator("#view code").all_inner_texts()
    assert command == (
        "gradelake stats significance demo --measure AP --label-set assessor:human --level 3 "
        "--release r2"
    )
    assert "55 pairs of 11 systems" in gradelake(folder, *command.split()[1:]).stdout
    assert look.page.locator("#view-level").is_enabled()
    choose(look, "measure", "nDCG@10")
    assert look.page.locator("#view-level").is_disabled(), "nDCG knows no level"


def test_from_the_board_to_two_systems_by_keyboard_and_back(browser, folder):
    look = Look(browser, folder / "reports" / "demo.html", 1280)
    look.page.locator("#compare-systems").focus()
    best = look.column("#leaderboard-table", 2)[:2]
    look.page.keyboard.press("Enter")
    shown(look, " and ".join(best))
    look.page.locator("#view-a").focus()
    look.page.keyboard.press("t")
    shown(look, f"tfidf_cosine and {best[1]}")
    assert look.page.evaluate("document.activeElement.id") == "view-a", "the hand stays"
    look.page.go_back()
    shown(look, " and ".join(best))
    look.page.go_back()
    look.page.wait_for_selector("#board:visible")
    assert look.said == []


def test_an_address_opened_elsewhere_shows_the_same(browser, folder):
    look = look_at(browser, folder, f"#compare?a=bm25&b=lsa&labels={NEWEST}&measure=AP&level=3")
    again = Look(browser, folder / "reports" / "demo.html", 1280)
    again.page.goto(look.page.url)
    again.page.reload()
    again.page.wait_for_selector("#view-chart svg")
    assert again.text("#view") == look.text("#view")


@pytest.mark.parametrize("measure", ["nDCG@10", "P@10"])
def test_two_label_sets_show_ranks_and_scores_of_both(browser, folder, measure):
    look = look_at(browser, folder, f"#labels?a={HUMAN}&b={NEWEST}&measure={measure}")
    with Lake.published(Project.find(folder)) as lake:
        ours, theirs = (
            {
                system: (rank, score)
                for system, rank, score in lake.rows(
                    "select system, rank, score_4dp from lake.marts.leaderboard "
                    "where label_set = ? and measure = ? and level = 2",
                    labels,
                    measure,
                )
            }
            for labels in (HUMAN, NEWEST)
        )
    table = "#view [aria-label='Systems under both label sets'] table"
    systems = look.column(table, 1)
    assert sorted(systems) == sorted(ours)
    assert [int(rank) for rank in look.column(table, 2)] == [ours[one][0] for one in systems]
    assert [int(rank) for rank in look.column(table, 3)] == [theirs[one][0] for one in systems]
    assert [float(score) for score in look.column(table, 6)] == [theirs[one][1] for one in systems]
    moved = sum(ours[one][0] != theirs[one][0] for one in systems)
    tau = stats.kendalltau(*zip(*((ours[s][1], theirs[s][1]) for s in systems), strict=True))
    assert f"Kendall's tau-b {tau.statistic:.3f}. {moved} change rank" in look.text(
        "#label-sets-says"
    )
    look.page.wait_for_selector("#view-chart svg")
    assert look.page.locator("#view-chart svg .mark-rule line").count() == len(systems)
    assert look.said == []


def test_topics_that_decide_move_systems_unevenly(browser, folder):
    look = look_at(browser, folder, f"#labels?a={HUMAN}&b={NEWEST}&measure=AP")
    with Lake.published(Project.find(folder)) as lake:
        expected = dict(
            lake.rows(
                "with scores as (from lake.marts.topic_scores where measure = 'AP' and level = 2), "
                "places as (from (select distinct query_id from scores) "
                "cross join (select distinct system from scores)), "
                "changes as (select query_id, system, "
                "coalesce(sum(round(value, 4)) filter (label_set = $b), 0) "
                "- coalesce(sum(round(value, 4)) filter (label_set = $a), 0) as change "
                "from places left join scores using (query_id, system) group by all), "
                "middle as (select query_id, avg(change) as middle from changes group by all) "
                "select query_id, avg(abs(change - middle)) from changes "
                "inner join middle using (query_id) group by all",
                a=HUMAN,
                b=NEWEST,
            )
        )
    table = "#view [aria-label='Topics that decide'] table"
    topics, uneven = look.column(table, 1), [float(n) for n in look.column(table, 6)]
    assert uneven == sorted(uneven, reverse=True)
    assert uneven == pytest.approx([expected[topic] for topic in topics], abs=6e-5)


@pytest.mark.parametrize(("measure", "has_p"), [("nDCG@10", True), ("P@10", False)])
def test_two_label_sets_differ_by_what_sql_and_scipy_say(browser, folder, measure, has_p):
    look = look_at(browser, folder, f"#labels?a={HUMAN}&b={NEWEST}&measure={measure}")
    with Lake.published(Project.find(folder)) as lake:
        of = dict(
            lake.rows(
                "select query_id, (coalesce(sum(round(value, 4)) filter (label_set = $a), 0) "
                "- coalesce(sum(round(value, 4)) filter (label_set = $b), 0)) / 11 "
                "from lake.marts.topic_scores "
                "where measure = $measure and level = 2 and label_set in ($a, $b) group by all",
                a=HUMAN,
                b=NEWEST,
                measure=measure,
            )
        )
    values = np.array(list(of.values()))
    assert len(values) == 8
    text = look.text("#view")
    assert comes_to(text, values)
    signs = Counter(np.sign(values.round(4)))
    assert f"{signs[1]}, {signs[0]}, {signs[-1]} (scores of 4 decimals)" in text
    p = stats.permutation_test(
        (np.rint(1e8 * values), np.zeros(8)), lambda a, b: (a - b).sum(), permutation_type="samples"
    ).pvalue
    if has_p:
        assert f"{p:.4f}: paired randomisation test, all sign patterns" in text
        verdict = (
            "No difference" if p >= 0.05 else f"{NEWEST if values.mean() < 0 else HUMAN} score"
        )
        assert look.text("#higher-says").startswith(verdict)
    else:
        assert "in the report for nDCG@10, AP, RR" in text
    look.page.wait_for_selector("#view-differences svg")
    assert look.page.locator("#view-differences svg .mark-rect path").count() == 8
    table = "#view [aria-label='Topics that decide'] table"
    told = dict(zip(look.column(table, 1), look.column(table, 5), strict=True))
    assert {topic: float(one) for topic, one in told.items()} == pytest.approx(of, abs=6e-5)
    assert look.said == []


def test_from_the_scatter_to_two_label_sets_by_mouse(browser, folder):
    look = Look(browser, folder / "reports" / "demo.html", 1280)
    look.page.click("#compare-labels")
    shown(look, f"{HUMAN} and judge:lexical_direct")
    choose(look, "b", NEWEST)
    shown(look, f"{HUMAN} and {NEWEST}")
    assert look.said == []


@pytest.mark.parametrize("kind", ["compare", "labels"])
def test_views_fit_a_phone(browser, folder, kind):
    look = look_at(browser, folder, f"#{kind}", width=390)
    look.page.wait_for_selector("#view .chart svg")
    assert not look.wider_than_the_window
    assert look.said == []


def test_what_moved_is_read_and_opened_by_keyboard(browser, folder):
    look = Look(browser, folder / "reports" / "demo.html", 1280)
    assert look.page.locator("#days-pairs svg").count() == 1
    assert look.page.evaluate("window.broken === undefined"), "texts of edits stay texts"
    assert "retinal" in look.page.locator("#moved del").first.inner_text()
    older = look.page.locator("#moved > details > summary").nth(1)
    assert not look.page.get_by_label("Edits of version 1", exact=True).is_visible()
    older.focus()
    look.page.keyboard.press("Enter")
    assert look.page.get_by_label("Edits of version 1", exact=True).is_visible()
    assert look.said == []


def test_two_systems_of_dl19_differ_by_what_sql_and_scipy_say(browser, dl19_graded):
    gradelake(dl19_graded, "report", "dl19")
    a, b, labels = "idst_bert_p1", "UNH_bm25", "assessor:nist"
    address = f"#compare?a={a}&b={b}&labels={labels}&measure=AP&level=2"
    look = look_at(browser, dl19_graded, address, name="dl19")
    values = np.array(list(differences(dl19_graded, a, b, labels, "AP", 2, "dl19").values()))
    assert len(values) == 43
    assert comes_to(look.text("#view"), values)
    assert look.text("#compare-says").startswith(f"{a} is ahead by more than chance, also as one")
    assert "2,000 random sign patterns" in look.text("#view")
    assert look.said == []
