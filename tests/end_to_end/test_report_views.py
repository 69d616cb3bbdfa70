"""The report's views in a real browser: from a number to its cause; two of a kind; what moved."""

import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.browser import Look
from tests.command_line import gradelake
from tests.moved_demo import HOSTILE
from tests.reading import published
from tests.report_page import ODD_ITEM, ODD_PASSAGE, ODD_QUERY

pytestmark = pytest.mark.slow

HUMAN, NEWEST = "assessor:human", "lexical/v2/best"
LEVELS = {HUMAN: 2, NEWEST: 4}  # from which boards count, unless another is asked for
TABS = 600  # presses of Tab after which a link counts as out of reach


def by_mouse(look: Look, place: str, words: str) -> None:
    look.page.locator(place).get_by_role("link", name=words, exact=True).first.click()


def by_keyboard(look: Look, place: str, words: str) -> None:
    """Tab from where the focus is to a link, and Enter."""
    at_link = (
        "([place, words]) => document.activeElement.matches(`${place} a`) "
        "&& document.activeElement.innerText.trim() === words"
    )
    for _ in range(TABS):
        look.page.keyboard.press("Tab")
        if look.page.evaluate(at_link, [place, words]):
            return look.page.keyboard.press("Enter")
    raise AssertionError(f"no Tab leads to {words!r}")


def arrived(look: Look, title: str) -> None:
    """The view has this heading, which has the focus, so that Tab goes on from there."""
    look.page.wait_for_function(
        "title => document.activeElement.tagName === 'H1' "
        "&& document.activeElement.innerText === title",
        arg=title,
    )


def test_every_number_leads_to_its_cause_by_keyboard(browser, demo_page, graded_demo):
    with Lake.published(Project.find(graded_demo)) as lake:
        ((system, query, text, score),) = lake.rows(
            "select system, query_id, text, value from lake.marts.topic_scores "
            "inner join lake.raw.queries using (collection, query_id) "
            "where label_set like 'assessor:%' and level = 2 and measure = 'nDCG@10' and system in "
            "(select system from lake.raw.systems where kind = 'ranking') "
            "order by value desc, system, query_id limit 1"
        )
        ((passage, passage_text),) = lake.rows(
            "select passage_id, text from lake.marts.rankings "
            "inner join lake.raw.passages using (collection, passage_id) "
            "where system = ? and query_id = ? and rank = 1",
            system,
            query,
        )
        retrievers = dict(
            lake.rows(
                "select system, rank from lake.marts.rankings "
                "inner join lake.raw.systems using (collection, system) where query_id = ? "
                "and passage_id = ? and (rank <= 20 or kind = 'generation')",
                query,
                passage,
            )
        )
        ((item, item_text, answering),) = lake.rows(
            "select item_id, any_value(item_text), count(*) filter (where grade >= 4) as n "
            "from lake.marts.grade_grid where grader = 'lexical' and query_id = ? "
            "group by item_id order by n desc, item_id limit 1",
            query,
        )
    look = Look(browser, demo_page, 1280)
    by_keyboard(look, "#leaderboard-table", system)
    arrived(look, f"System {system}")
    assert look.page.locator("#view-chart svg").count() == 1
    assert system in look.page.locator("#view-chart").get_attribute("aria-label")
    row = look.page.locator("#view tbody tr").filter(
        has=look.page.get_by_role("link", name=query, exact=True)
    )
    assert f"{score:.3f}" in row.inner_text()
    by_keyboard(look, "#view", query)
    arrived(look, f"Query {query}: {text}")
    assert f"The ranking of {system}" in look.text("#view")
    by_keyboard(look, "#view", passage)
    arrived(look, f"Passage {passage}")
    assert passage_text in look.text("#view")
    found = look.page.locator("#view .scroll").last.locator("tbody tr").all_inner_texts()
    assert {tuple(line.split("\t")[:2]) for line in found} == {
        (system, str(rank)) for system, rank in retrievers.items()
    }
    at_passage = look.page.url
    by_keyboard(look, "#view", system)
    arrived(look, f"System {system}")
    look.page.go_back()
    arrived(look, f"Passage {passage}")
    assert look.page.url == at_passage
    by_keyboard(look, "#view", item_text)
    arrived(look, f"Rubric item {item}")
    assert item_text in look.text("#view")
    assert f"{answering} of " in look.text("#view")
    assert look.said == []
    assert [url for url in look.asked if not url.startswith("blob:")] == []


def test_an_address_of_what_is_not_there_says_so(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    for address, title in (
        ("system/nobody", "No system “nobody” here"),
        ("query/none", "No query “none” here"),
        ("passage/bird-navigation/p%2F9", "No passage “p/9” here"),
        ("item/bird-navigation/what", "No rubric item “what” here"),
        ("item/which", "No rubric item “which” here"),
        ("query/100%", "No query “100%” here"),
    ):
        look.page.evaluate("address => { location.hash = address; }", address)
        arrived(look, title)
        assert "The link may be of another release" in look.text("#view")
    by_mouse(look, "#view", "the leaderboard")
    look.page.wait_for_selector("#leaderboard-table", state="visible")
    assert look.said == []


def test_an_item_is_left_out_where_the_rubric_is_not_shared(browser, odd_page, tmp_path):
    shared = tmp_path / "shared.html"
    gradelake(odd_page.parents[1], "report", "--without-rubric", "-o", str(shared))
    look = Look(browser, shared, 1280)
    look.page.evaluate("location.hash = 'item/unanswered/what'")
    arrived(look, "No rubric item \u201cwhat\u201d here")
    assert "Left out: the rubric is not shared." in look.text("#view")
    assert look.said == []


def test_the_detail_of_a_cell_leads_to_passage_and_item(browser, demo_page):
    look = Look(browser, demo_page, 1280, at="#grid")
    look.page.locator("#grid-table td.grade").first.focus()
    passage = look.page.locator("#grid-table tbody th").first.inner_text()
    by_keyboard(look, "#grid-detail", "Item 1")
    look.page.wait_for_function("location.hash.startsWith('#item/')")
    look.page.go_back()
    look.page.locator("#grid-table td.grade").first.focus()
    by_keyboard(look, "#grid-detail", passage)
    arrived(look, f"Passage {passage}")


def test_odd_ids_are_found_and_hostile_texts_stay_texts(browser, odd_page):
    look = Look(browser, odd_page, 390, at="#grid")
    look.page.locator("#grid-table td.grade").first.focus()
    assert HOSTILE in look.text("#grid-detail")
    look.go("#board")
    by_mouse(look, "#leaderboard-table", "long")
    arrived(look, "System long")
    views = [look.text("#view")]
    for words, title in (
        (ODD_QUERY, f"Query {ODD_QUERY}: what is {HOSTILE}"),
        (f"[the hue of it] Is it blue? {HOSTILE}", f"Rubric item {ODD_ITEM}"),
        (ODD_PASSAGE, f"Passage {ODD_PASSAGE}"),
    ):
        by_mouse(look, "#view", words)
        arrived(look, title)
        views.append(look.text("#view"))
        assert not look.wider_than_the_window
    assert all(HOSTILE in view for view in views)
    says = look.text("#view-says")
    assert says.startswith("People disagree: it is relevant for assessor:ann (3)")
    assert "not relevant for assessor:ben (0)" in says
    assert "2 of 120 entries, down to the pool depth (2); 118 are left out." in views[1]
    look.page.reload()
    arrived(look, f"Passage {ODD_PASSAGE}")
    assert look.page.evaluate("window.broken === undefined")
    assert look.said == []


# --- two of a kind ------------------------------------------------------------------------------


def look_at(browser, folder: Path, address: str) -> Look:
    look = Look(browser, folder / "reports" / "demo.html", 1280)
    look.page.evaluate("hash => { location.hash = hash }", address)
    look.page.wait_for_selector("#view h1")
    return look


def shown(look: Look, words: str) -> None:
    """Wait until the view's heading says these words."""
    look.page.wait_for_function(
        "words => document.querySelector('#view h1')?.textContent === words", arg=words
    )


def choose(look: Look, name: str, value: str) -> None:
    look.page.select_option(f"#view-{name}", value)
    look.page.wait_for_function(
        "([name, value]) => new URLSearchParams(location.hash.split('?')[1]).get(name) === value "
        "&& document.getElementById(`view-${name}`)?.value === value",
        arg=[name, value],
    )


def test_two_systems_differ_by_what_sql_and_scipy_say(browser, moved):
    a, b, measure, level = "bm25", "answer_writer", "AP", 3
    address = f"#compare?a={a}&b={b}&labels={NEWEST}&measure={measure}&level={level}"
    look = look_at(browser, moved, address)
    of = dict(
        published(moved).rows(
            "with topics as (select distinct query_id from lake.marts.relevance_labels "
            "where label_set = $labels), "
            "scores as (select query_id, system, round(value, 4) as value "
            "from lake.marts.topic_scores "
            "where label_set = $labels and measure = $measure and level = $level) "
            "select query_id, coalesce(sum(value) filter (system = $a), 0) "
            "- coalesce(sum(value) filter (system = $b), 0) "
            "from topics left join scores using (query_id) group by query_id",
            a=a,
            b=b,
            labels=NEWEST,
            measure=measure,
            level=level,
        )
    )
    topics = look.column("#view table", 1)
    ties = {topic for topic, value in of.items() if abs(value) < 5e-5}
    assert {*topics} == of.keys() - ties
    assert look.page.locator("#view .ties a").count() == len(ties), "one line for all"
    sizes = [abs(of[topic]) for topic in topics]
    assert sizes == pytest.approx(sorted(sizes, reverse=True)), "those that decide come first"
    look.page.wait_for_selector("#view-chart svg")
    assert look.page.locator("#view-chart svg .mark-rect path").count() == len(topics)
    first = look.page.locator("#view table tbody a").first
    assert first.get_attribute("href").startswith(f"#query/{topics[0]}?labels=")
    assert look.said == []


def test_two_rankings_stand_side_by_side_two_clicks_from_the_board(browser, demo_page, graded_demo):
    look = Look(browser, demo_page, 1440)
    look.page.click("#compare-systems")
    look.page.locator("#view [aria-label='Queries that decide'] tbody a").first.click()
    look.page.wait_for_selector("#side-by-side")
    at = urlsplit(look.page.url).fragment
    query, two = at.partition("?")[0].removeprefix("query/"), dict(parse_qsl(at.partition("?")[2]))
    other = Look(browser, demo_page, 390, at=f"#{at}")
    assert not other.wider_than_the_window
    lake = published(graded_demo)
    ranks = [
        dict(
            lake.rows(
                "select passage_id, rank from lake.marts.rankings "
                "where query_id = ? and system = ? and rank <= 20 order by rank",
                query,
                two[side],
            )
        )
        for side in "ab"
    ]
    labels = dict(
        lake.rows(
            "select passage_id, label from lake.marts.relevance_labels "
            "where label_set = ? and query_id = ?",
            HUMAN,
            query,
        )
    )

    def told(passage: str, rank: int, there: int | None) -> str:
        by = (there or 0) - rank
        moved = f"{'▲' if by > 0 else '▼'}{abs(by)} from {there}" if by else "same rank"
        label = labels.get(passage)
        judged = "not judged" if label is None else f"human: {label}{' ✓' if label >= 2 else ''}"
        return f"{rank} {passage} {moved if there else 'only here'} {judged}"

    for page in (look.page, other.page):
        entries = page.locator("#side-by-side > div:has(p)")
        shown = [
            re.sub(r"\s+", " ", e).strip()
            for e in entries.locator("p:first-child").all_inner_texts()
        ]
        for side, (ours, theirs) in enumerate((ranks, ranks[::-1])):
            name = f"{two['ab'[side]]} " if page is other.page else ""
            expected = [told(p, rank, theirs.get(p)) for p, rank in ours.items()]
            assert {line.replace(" ", f" {name}", 1) for line in expected} <= {*shown}
        assert len(shown) == len(ranks[0]) + len(ranks[1])
        words = {*re.findall(r"\w+", page.inner_text("#view h1").lower())}
        marks = [mark.lower() for mark in page.locator("#side-by-side mark").all_inner_texts()]
        assert marks, "the query's words are marked"
        assert all(words & {mark, mark.removesuffix("s"), f"{mark}s"} for mark in marks)

    adds = [
        {p: labels.get(p, 0) / np.log2(rank + 1) for p, rank in of.items() if rank <= 10}
        for of in ranks
    ]
    decide = {p: adds[0].get(p, 0) - adds[1].get(p, 0) for p in {**adds[0], **adds[1]}}
    most = sorted((abs(value) for value in decide.values() if value), reverse=True)[:5]
    table = "#view [aria-label='Passages that decide'] table"
    rows = dict(zip(look.column(table, 1), map(float, look.column(table, 5)), strict=True))
    assert rows == pytest.approx({p: decide[p] for p in rows}, abs=6e-4)
    assert sorted(map(abs, rows.values()), reverse=True) == pytest.approx(most, abs=6e-4)
    for each in (look, other):
        assert each.said == []
    look.page.select_option("#view-b", "")
    look.page.get_by_role("heading", name=f"The ranking of {two['a']}").wait_for()


def test_no_winner_is_named_where_chance_may_have_done_it(browser, moved):
    look = look_at(browser, moved, f"#compare?a=bm25&b=lsa&labels={HUMAN}&measure=nDCG@10")
    assert look.text("#compare-says").startswith("No significant difference between ")
    choose(look, "b", "rarest_word")
    assert look.text("#compare-says").startswith("bm25 is better than rarest_word")


def test_elsewhere_the_command_that_tests_is_named_and_works(browser, moved):
    look = look_at(browser, moved, f"#compare?a=bm25&b=lsa&labels={HUMAN}&measure=AP&level=3")
    (command,) = look.page.locator("#view code").all_inner_texts()
    assert command == (
        "gradelake compare demo lsa bm25 --measure AP --label-set assessor:human --level 3 "
        "--release r2"
    )
    assert look.page.locator("#view-level").is_enabled()
    choose(look, "measure", "nDCG@10")
    assert look.page.locator("#view-level").is_disabled(), "nDCG knows no level"


def test_from_the_board_to_two_systems_by_keyboard_and_back(browser, moved):
    look = Look(browser, moved / "reports" / "demo.html", 1280)
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


def test_two_label_sets_show_ranks_and_scores_of_both(browser, moved):
    measure = "P@10"
    look = look_at(browser, moved, f"#labels?a={HUMAN}&b={NEWEST}&measure={measure}")
    ours, theirs = (
        {
            system: (rank, score)
            for system, rank, score in published(moved).rows(
                "select system, rank, round(score, 6) from lake.marts.leaderboard "
                "where label_set = ? and measure = ? and level = ?",
                labels,
                measure,
                level,
            )
        }
        for labels, level in LEVELS.items()
    )
    table = "#view [aria-label='Systems under both label sets'] table"
    systems = look.column(table, 1)
    assert sorted(systems) == sorted(ours)
    assert [int(rank) for rank in look.column(table, 2)] == [ours[one][0] for one in systems]
    assert [int(rank) for rank in look.column(table, 3)] == [theirs[one][0] for one in systems]
    found = [float(score) for score in look.column(table, 6)]
    assert found == pytest.approx([theirs[one][1] for one in systems], abs=6e-4)
    n_moved = sum(ours[one][0] != theirs[one][0] for one in systems)
    tau = stats.kendalltau(*zip(*((ours[s][1], theirs[s][1]) for s in systems), strict=True))
    assert f"Kendall's tau-b {tau.statistic:.3f}. {n_moved} change rank" in look.text(
        "#label-sets-says"
    )
    look.page.wait_for_selector("#view-chart svg")
    assert look.page.locator("#view-chart svg .mark-rule line").count() == len(systems)
    assert "It was computed for nDCG@10, AP, RR alone" in look.text("#higher-says")
    assert look.said == []


def test_two_label_sets_differ_by_what_sql_and_scipy_say(browser, moved):
    look = look_at(browser, moved, f"#labels?a={HUMAN}&b={NEWEST}&measure=nDCG@10")
    of = dict(
        published(moved).rows(
            "select query_id, (coalesce(sum(round(value, 4)) filter (label_set = $a), 0) "
            "- coalesce(sum(round(value, 4)) filter (label_set = $b), 0)) / 11 "
            "from lake.marts.topic_scores "
            "where measure = 'nDCG@10' and level = 2 and label_set in ($a, $b) group by all",
            a=HUMAN,
            b=NEWEST,
        )
    )
    values = np.array(list(of.values()))
    assert len(values) == 8
    p = stats.permutation_test(
        (np.rint(1e8 * values), np.zeros(8)), lambda a, b: (a - b).sum(), permutation_type="samples"
    ).pvalue
    says, higher = look.text("#higher-says"), NEWEST if values.mean() < 0 else HUMAN
    verdict = "No significant difference" if p > 0.05 else f"{higher} scores the systems higher"
    assert says.startswith(verdict)
    assert f"by {abs(values.mean()):.3f} of nDCG@10 on 8 queries" in says
    assert f"p = {p:.3f})" in says
    look.page.wait_for_selector("#view-differences svg")
    assert look.page.locator("#view-differences svg .mark-rect path").count() == 8
    table = "#view [aria-label='Queries that decide'] table"
    told = dict(zip(look.column(table, 1), look.column(table, 5), strict=True))
    assert {topic: float(one) for topic, one in told.items()} == pytest.approx(of, abs=6e-4)
    assert look.said == []


def test_from_the_scatter_to_two_label_sets_by_mouse(browser, moved):
    look = Look(browser, moved / "reports" / "demo.html", 1280, at="#judges")
    first = look.column("#trust table", 1)[0]
    look.page.click("#compare-labels")
    shown(look, f"{HUMAN} and {first}")
    choose(look, "b", NEWEST)
    shown(look, f"{HUMAN} and {NEWEST}")
    assert look.said == []


def test_what_moved_is_read_and_opened_by_keyboard(browser, moved):
    look = Look(browser, moved / "reports" / "demo.html", 1280)
    assert look.page.locator("#days-pairs svg").count() == 1
    assert look.page.evaluate("window.broken === undefined"), "texts of edits stay texts"
    assert "retinal" in look.page.locator("#moved del").first.inner_text()
    older = look.page.locator("#moved summary", has_text="Version 1, after 0")
    assert not look.page.get_by_label("Edits of version 1", exact=True).is_visible()
    older.focus()
    look.page.keyboard.press("Enter")
    assert look.page.get_by_label("Edits of version 1", exact=True).is_visible()
    assert look.said == []


def test_a_judges_row_says_whether_to_trust_it_and_a_count_opens_its_passages(
    browser, demo_page, graded_demo
):
    lake = published(graded_demo)
    look = Look(browser, demo_page, 1440, at="#judges")
    table = "#trust table"
    judges = [name.removesuffix(" (incomplete)") for name in look.column(table, 1)]
    both = lake.rows(
        "select ours.label_set, ours.label >= levels.level, theirs.label >= 2 "
        "from lake.marts.relevance_labels as ours "
        "inner join lake.marts.usual_levels as levels using (collection, label_set) "
        "inner join lake.marts.relevance_labels as theirs using (collection, query_id, passage_id) "
        "where theirs.label_set = ?",
        HUMAN,
    )
    favours = lake.rows(
        "select label_set, system, favour, stderr, n_queries from lake.marts.system_bias "
        "where measure = 'nDCG@10' and level = 2 and assessor = 'human' order by favour desc"
    )
    cells = zip(judges, *(look.column(table, n) for n in (3, 7, 8)), strict=True)
    for judge, kappa, generosity, favourite in cells:
        ours, theirs = zip(*(pair for name, *pair in both if name == judge), strict=True)
        assert float(kappa) == pytest.approx(cohen_kappa_score(ours, theirs), abs=6e-4)
        assert float(generosity) == pytest.approx(np.mean(ours) - np.mean(theirs), abs=6e-4)
        own = [row[1:] for row in favours if row[0] == judge]
        system, favour, stderr, n = own[0]
        is_shown = 2 * len(own) * stats.t.sf(favour / stderr, n - 1) < 0.05
        assert favourite == (f"{system} ({favour:+.3f})" if is_shown else "none shown")
    taus = [float(tau) for tau in look.column(table, 5)]
    whole = [t for t, name in zip(taus, look.column(table, 1), strict=True) if "(inc" not in name]
    assert whole == sorted(whole, reverse=True), "the most trustworthy comes first"
    assert f"between {judges[0]} and {HUMAN}" in look.text("#scatter-says")

    label_set, label, judgment, n = lake.rows(
        "select label_set, label, judgment, n from lake.marts.confusion "
        "where reference = ? and label_set like 'judge:%' order by n, label_set, label limit 1",
        HUMAN,
    )[0]
    address = f"label={label}&judgment={judgment}"
    by_mouse(look, f"[aria-label='Counts of {label_set}'] td:has(a[href$='{address}'])", f"{n:,}")
    shown(look, f"Passages that {label_set} labels {label} and {HUMAN} judges {judgment}")
    expected = lake.rows(
        "select query_id, passage_id from lake.marts.relevance_labels as ours "
        "inner join lake.marts.relevance_labels as theirs using (collection, query_id, passage_id) "
        "where ours.label_set = ? and ours.label = ? and theirs.label_set = ? and theirs.label = ?",
        label_set,
        label,
        HUMAN,
        judgment,
    )
    found = zip(look.column("#view table", 1), look.column("#view table", 3), strict=True)
    assert sorted(found) == sorted(expected)
    assert len(expected) == n
    assert look.said == []
