"""The report in a real browser: what a person sees at a desk and on a phone, by day and by night.

Screenshots are kept in the folder that $GRADELAKE_SCREENSHOTS names, where it is set.
"""

import json
import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from gradelake.sql.shown.kinds import shown
from tests.browser import Look, look_twice
from tests.command_line import gradelake, json_of, typed
from tests.end_to_end.edited_demo import BIRDS
from tests.reading import published

pytestmark = pytest.mark.slow
# each with its tab
PICTURES = {
    "overview": "overview",
    "leaderboard": "overview",
    "coverage": "systems",
    "scatter": "judges",
    "correlation": "judges",
}
TABS = ["Overview", "Systems", "Queries", "Judges", "Rubric"]


@pytest.mark.parametrize(
    ("device", "width", "scheme"),
    [pytest.param("desk", 1280, "light", marks=pytest.mark.fast), ("phone", 390, "dark")],
)
def test_every_section_is_drawn_without_a_word_or_a_request(
    browser, demo_page, device, width, scheme
):
    look = Look(browser, demo_page, width, scheme)
    if folder := os.environ.get("GRADELAKE_SCREENSHOTS"):
        look.page.screenshot(path=str(Path(folder) / f"demo-{device}.png"), full_page=True)
    assert look.said == []
    assert [url for url in look.asked if not url.startswith("blob:")] == []
    assert not look.wider_than_the_window
    for picture, tab in PICTURES.items():
        look.go(f"#{tab}")
        drawn = look.page.locator(f"#{picture}-chart svg")
        assert drawn.count() == 1, picture
        assert drawn.bounding_box()["width"] > 0.6 * min(width, 800), picture
        words = look.page.locator(f"#{picture}-chart[role=graphics-document]")
        assert len(words.get_attribute("aria-label")) > 20, "a picture says what it shows"
        assert not look.wider_than_the_window
    assert look.page.locator("figure.card").count() >= 1
    look.go("#queries")
    assert look.page.locator("#grid-table td.grade").count() >= 100
    ground = look.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")


# what text that became part of the page might do: each is true where it came about
INTRUSIONS = {
    "a script": "document.body.append(Object.assign(document.createElement('script'), "
    "{ textContent: 'window.broken = true' })) ?? window.broken",
    "a handler": "document.body.appendChild(Object.assign(document.createElement('p'), "
    "{ innerHTML: '<a onclick=\"window.broken = true\">' })).firstChild.click() ?? window.broken",
    "an eval": "eval('1 === 1')",
    "a function": "new Function('return true')()",
    "a style": "getComputedStyle(document.body.appendChild(Object.assign("
    "document.createElement('p'), { innerHTML: '<b style=\"float: right\">' })).firstChild).float "
    "=== 'right'",
    "a base": "document.head.insertAdjacentHTML('beforeend', '<base href=\"https://a.org/\">') ?? "
    "document.baseURI.startsWith('https:')",
}


@pytest.mark.fast
def test_its_policy_refuses_whatever_is_not_its_own(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    for name, intrusion in INTRUSIONS.items():
        look.said.clear()
        assert not look.runs(intrusion), name
        assert any("Content Security Policy" in line for line in look.said), (name, look.said)


def leaderboard(folder: Path, label_set: str, measure: str, level: int):
    return published(folder).rows(
        "select rank, system, round(score, 6) from lake.marts.leaderboard "
        "where collection = 'demo' and label_set = ? and measure = ? and level = ? "
        "order by rank, system",
        label_set,
        measure,
        level,
    )


def choose(look: Look, select: str, value: str, shown: str) -> None:
    look.page.select_option(select, value)
    look.page.wait_for_function(
        "words => document.getElementById('leaderboard-says').textContent.includes(words)",
        arg=shown,
    )


def test_labels_measure_and_level_are_chosen_and_the_table_follows(browser, demo_page, graded_demo):
    look = Look(browser, demo_page, 1280)
    for label_set, measure, level in (
        ("assessor:human", "AP", 2),
        ("lexical/v0/best", "RR", 4),
        ("lexical/v0/best", "Cover@20", 3),
    ):
        look.page.select_option("#choose-labels", label_set)
        look.page.select_option("#choose-measure", measure)
        choose(look, "#choose-level", str(level), f"by {measure} with the labels of {label_set}")
        theirs = leaderboard(graded_demo, label_set, measure, level)
        assert look.column("#leaderboard-table", 2) == [system for _, system, _ in theirs]
        assert look.column("#leaderboard-table", 4) == [f"{score:.3f}" for *_, score in theirs]
        assert look.page.locator("#choose-level").is_enabled()
    assert look.said == []


def test_it_opens_on_the_peoples_own_board_and_compares_the_first_judge_with_it(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    assert look.page.locator("#choose-labels").input_value() == "assessor:human"
    assert look.page.locator("#choose-level").is_disabled(), "nDCG takes every label as it is"
    assert "nDCG@10 with the labels of assessor:human" in look.text("#leaderboard-says")
    assert "Reference: assessor:human, 193 judgments" in look.text("#overview")
    look.go("#judges")
    says = look.text("#scatter-says")
    assert "between lexical_nuggets/v0/best and assessor:human." in says
    assert "The labels chosen are assessor:human's own" in says
    look.page.select_option("#choose-labels", "lexical/v0/best")
    look.page.locator("#scatter-says").filter(has_text="lexical/v0/best and").wait_for()
    assert "own" not in look.text("#scatter-says")
    assert look.said == []


def test_the_grid_is_walked_with_keys_and_tells_answer_and_passage(browser, demo_page, graded_demo):
    look = Look(browser, demo_page, 1280)
    look.go("#grid")
    look.page.select_option("#grid-grader", "lexical")
    look.page.select_option("#grid-query", BIRDS)
    assert "how migrating birds find their way: 49 passages" in look.text("#grid-says")
    look.page.locator("#grid-table td.grade").first.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowUp"):
        look.page.keyboard.press(key)
    cell = look.page.locator("#grid-table td.grade:focus")
    assert (cell.get_attribute("data-row"), cell.get_attribute("data-column")) == ("0", "1")
    ((passage, text),) = published(graded_demo).rows(
        "select passage_id, any_value(text) from lake.marts.grade_grid "
        "inner join lake.raw.passages using (collection, passage_id) "
        "where grader = 'lexical' and query_id = ? group by passage_id, mean_grade "
        "order by mean_grade desc, passage_id limit 1",
        BIRDS,
    )
    ((item, grade),) = published(graded_demo).rows(
        "select item_text, grade from lake.marts.grade_grid where grader = 'lexical' "
        "and query_id = ? and passage_id = ? order by place limit 1 offset 1",
        BIRDS,
        passage,
    )
    detail = look.text("#grid-detail")
    for words in (f"Grade {grade}", item, passage, text):
        assert words in detail
    look.page.click("#grid-on")
    look.page.get_by_text("passages 41 to 49 of 49", exact=True).wait_for()
    assert look.page.locator("#grid-on").is_disabled()


# --- for everybody: axe, keyboard, phone, paper, no scripts ---------------------------------------

A4 = 718  # pixels between margins of 10 mm
# an address of each kind of view, of what a page has: one that is missing here fails a test below
ADDRESSES = """(async () => {
  const { queries, label_sets: sets } = board.settled;
  const query = queries[Math.floor(queries.length / 2)].query_id;
  const { passages, rankings, items } = await passagesOf(query);
  const [a, b] = Object.keys(rankings);
  const best = Object.values(rankings)[0]?.passages[0] ?? 0;
  return ['#overview', '#systems', '#queries', '#judges', '#rubric',
    addressOf('query', [query], { system: a }),
    addressOf('passage', [query, passages[best]]), addressOf('item', [query, items[0].item_id]),
    ...(a ? [addressOf('system', [a]), addressOf('compare', [], { a, b }),
      addressOf('labels', [], { a: sets[0], b: sets[1] })] : [])];
})()"""


def open_at(look: Look, address: str) -> None:
    """Follow an address to its end, and open whatever is closed there."""
    look.go(address)
    look.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")


def test_axe_finds_nothing_and_nothing_scrolls_sideways(browser, demo_page):
    look = Look(browser, demo_page, 1440)
    addresses = look.page.evaluate(ADDRESSES)
    shown = {address[1:].split("/")[0].split("?")[0] for address in addresses}
    assert set(look.page.evaluate("[...views.keys()]")) <= shown, "ADDRESSES lacks a view"
    for address in addresses:
        open_at(look, address)
        look_twice(look.page)
        assert look.page.locator(".tabs a").all_inner_texts() == TABS
        assert look.page.locator("h1:visible").count() == 1, "it says where one is"
    assert look.said == []


# elements whose content is wider than they are and is not shown beside them
CLIPPED = """[...document.querySelectorAll('body *')].filter((one) => one.checkVisibility()
  && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline'
  && (getComputedStyle(one).overflowX !== 'visible' || one.matches('.scroll'))
).map((one) => `${one.tagName} ${one.className}: ${one.textContent.slice(0, 60)}`)"""
INKS = """[getComputedStyle(document.body).color, ...[...document.querySelectorAll(
  '.chart svg text')].map((one) => getComputedStyle(one).fill)]"""
CONTROLS = "[...document.querySelectorAll('button:not(th button), input, nav, summary details')]"


def test_on_paper_nothing_is_clipped_no_control_is_there_and_ink_is_black(browser, demo_page):
    look = Look(browser, demo_page, A4, "dark")
    for address in look.page.evaluate(ADDRESSES):
        open_at(look, address)
        look.page.emulate_media(media="print")
        assert look.page.evaluate(CLIPPED) == []
        assert not look.wider_than_the_window
        visible = look.page.evaluate(f"{CONTROLS}.filter((one) => one.checkVisibility()).length")
        assert visible == 0
        frames = look.page.evaluate(
            "[...document.querySelectorAll('select')].map((one) => getComputedStyle(one).border)"
        )
        assert all(frame.startswith("0px") for frame in frames), "a choice is read, not made"
        inks = look.page.evaluate(INKS)
        assert set(inks) <= {"rgb(0, 0, 0)", "rgb(68, 68, 68)"}
        look.page.emulate_media(media="screen")


def test_what_is_closed_on_the_screen_is_open_on_paper(browser, demo_page, tmp_path):
    look = Look(browser, demo_page, 1280)
    closed = "document.querySelectorAll('main details:not([open], .tools *)').length"
    before = look.page.evaluate(closed)
    assert before > 3
    look.page.evaluate(
        f"addEventListener('beforeprint', () => {{ window.stillClosed = {closed}; }})"
    )
    printed = look.page.pdf(path=str(tmp_path / "printed.pdf"), format="A4")
    assert printed.startswith(b"%PDF")
    assert look.page.evaluate("window.stillClosed") == 0
    assert look.page.evaluate(closed) == before


def test_all_tabs_are_printed_each_section_under_its_heading(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    look.page.evaluate(
        "() => { window.print = () => { document.documentElement.dataset.printed = 'yes'; }; }"
    )
    look.page.click("#print-all")
    look.page.wait_for_selector("html[data-printed]")
    heads = look.page.locator("main > section > h2").all_inner_texts()
    assert len(heads) > 10
    charts = look.page.locator("main .chart")
    assert charts.count() == look.page.locator("main .chart svg.marks").count() > 3
    printed = look.page.pdf(format="A4", tagged=True, outline=True)
    titles = {title.decode() for title in re.findall(rb"/Title \((.*?)\)", printed)}
    assert set(heads) <= titles
    assert 9 <= len(re.findall(rb"/Type /Page\b", printed)) <= 15
    assert look.page.inner_text("#here") == "Overview of demo"  # as before


def test_the_first_board_is_there_before_any_script(browser, demo_page, graded_demo):
    page = browser.new_page(java_script_enabled=False)
    page.goto(demo_page.as_uri())
    rows = page.locator("#leaderboard-table tbody tr").all()
    shown = [tuple(row.locator("> *").all_inner_texts()[:3]) for row in rows]
    theirs = leaderboard(graded_demo, "assessor:human", "nDCG@10", 2)
    assert shown == [(str(rank), system, f"{score:.3f}") for rank, system, score in theirs]
    assert "11 systems by nDCG@10 with the labels of assessor:human" in page.inner_text("#board")


def test_a_page_shows_a_figure_as_everything_else_does(browser, demo_page):
    page = browser.new_page()
    page.goto(demo_page.as_uri())
    values = [0, 0.5, 0.0004, -0.0004, 0.00004, -0.6666666, 0.12345, 0.9996, 1, -1, 2.345]
    kinds = ["score", "difference", "change", "kappa", "tau", "share", "percent", "ratio"]
    for kind in kinds:
        written = page.evaluate(
            "([kind, all]) => all.map((one) => figure(one, kind))", [kind, values]
        )
        assert written == [shown(kind, value) for value in values], kind


def test_the_leaderboard_is_drawn_before_other_sections(browser, demo_page):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(
        "new MutationObserver(() => { if (document.documentElement.dataset.ready === 'first') "
        "window.first ??= [...document.querySelectorAll('.vega-embed svg')].map((one) => "
        "one.closest('.chart').id); }).observe(document, { subtree: true, attributes: true })"
    )
    page.goto(demo_page.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    assert page.evaluate("window.first") == ["overview-chart", "leaderboard-chart"]
    assert page.locator(".chart:visible svg").count() == page.locator(".chart:visible").count() > 0


def test_a_pictures_points_are_walked_by_keyboard(browser, demo_page, graded_demo):
    look = Look(browser, demo_page, 1280)
    theirs = leaderboard(graded_demo, "assessor:human", "nDCG@10", 2)
    slider = look.page.get_by_label("Points: Leaderboard by nDCG@10")
    slider.focus()
    for rank, system, score in theirs:
        look.page.keyboard.press("ArrowRight")
        words = slider.get_attribute("aria-valuetext")
        assert f"system {system}, score {score:.3f}" in words
        assert look.page.locator("#leaderboard-chart .at").count() == 1
        tip = look.page.locator("#vg-tooltip-element.visible")
        assert system in tip.inner_text(), rank
        assert tip.evaluate("tip => getComputedStyle(tip).position") == "fixed"
    look.page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == words, "it stays at the last"
    look.page.keyboard.press("Tab")
    assert look.page.locator("#leaderboard-chart .at").count() == 0
    assert look.page.locator("#vg-tooltip-element.visible").count() == 0
    for picture, tab in PICTURES.items():
        look.go(f"#{tab}")
        points = look.page.locator(f"#{picture}-chart + .tools input[type=range]")
        assert int(points.get_attribute("max")) >= len(theirs) / 3, picture
    assert look.said == []


def test_pictures_keep_their_width_behind_a_view(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    look.page.evaluate("views.set('aside', () => [make('h2', {}, 'Aside')])")
    open_at(look, "#aside")
    assert look.page.locator("#leaderboard-chart").is_hidden()
    look.page.set_viewport_size({"width": 700, "height": 900})
    open_at(look, "#board")
    look.page.wait_for_function(
        "document.querySelector('#leaderboard-chart svg').clientWidth > 400"
    )
    assert not look.wider_than_the_window


# --- what is sure of a rank ----------------------------------------------------------------------

LABELS, MEASURE = "judge:lexical_direct", "nDCG@10"
OTHER = "P@10"  # not one of the measures that the page has groups of


@pytest.fixture(scope="module")
def known(graded_demo) -> list[dict]:
    """The systems as `stats ranks` has them."""
    line = f"stats ranks demo --measure {MEASURE} --label-set {LABELS} --replicates 2000 --json"
    return json.loads(typed(graded_demo, line).stdout)["systems"]


def at_board(browser, page: Path, measure: str, width: int = 1280) -> Look:
    look = Look(browser, page, width)
    address = f"board?labels={LABELS}&measure={measure}&level=2"
    look.page.evaluate("to => { location.hash = to }", address)
    look.page.locator("#leaderboard-says").filter(has_text=measure).wait_for()
    return look


def rows(look: Look) -> list[dict[str, str]]:
    heads = look.page.locator("#leaderboard-table thead th").all_inner_texts()
    lines = look.page.locator("#leaderboard-table tbody tr").all()
    heads = [head.strip(" ↑↓") for head in heads]
    return [
        dict(zip(heads, line.locator("th, td").all_inner_texts(), strict=True)) for line in lines
    ]


def test_ranks_have_intervals_ranges_and_letters_as_the_command_has(browser, demo_page, known):
    look = at_board(browser, demo_page, MEASURE)
    shown = rows(look)
    assert [row["system"] for row in shown] == [one["system"] for one in known]
    for row, one in zip(shown, known, strict=True):
        assert row["95% interval of ranks"] == f"{one['best_rank']} to {one['worst_rank']}"
        assert row["groups"] == one["groups"]
        low, high = map(float, row["95% interval"].split(" to "))
        # the page's standard errors have four decimals
        assert (low, high) == pytest.approx((max(0, one["low"]), min(1, one["high"])), abs=8e-4)
    top = [one["system"] for one in known if "a" in one["groups"]]
    assert 1 < len(top) < len(known), "nobody is called best within noise"
    says = look.text("#leaderboard-says")
    assert f"The first {len(top)}, {top[0]} to {top[-1]}, do not differ significantly." in says
    look = at_board(browser, demo_page, OTHER)
    command = f"gradelake stats ranks demo --measure {OTHER} --label-set {LABELS} --level 2"
    assert command in look.text("#leaderboard-says")
    assert "groups" not in rows(look)[0]
    ends = [each for row in rows(look) for each in row["95% interval"].split(" to ")]
    assert all(0 <= float(each) <= 1 for each in ends), "as the measure is"


# --- label sets that score answers ----------------------------------------------------------------

NUGGETS, SUPPORT = "assigns/v0/nuggets", "supports/first_citation"


@pytest.fixture(scope="module")
def pages(demo_answers, tmp_path_factory) -> dict[str, Path]:
    """The report of each of the demo's collections."""
    place = tmp_path_factory.mktemp("reports")
    files = {name: place / f"{name}.html" for name in ("answers", "demo")}
    for name, file in files.items():
        gradelake(demo_answers, "report", name, "-o", str(file))
    return files


def options(look: Look, select: str) -> list[str]:
    return look.page.locator(f"{select} option").all_inner_texts()


def go(look: Look, address: str, heading: str) -> None:
    look.page.evaluate(f"location.hash = '{address}'")
    look.page.wait_for_selector(f"#view h1:has-text('{heading}')")


def test_where_there_are_answers_only_the_page_opens_on_their_board(browser, pages):
    assert f"3 systems by StrictVital with the labels of {NUGGETS}." in pages["answers"].read_text()
    look = Look(browser, pages["answers"], 1280)
    assert options(look, "#choose-labels") == [NUGGETS, "assessor:human/first_citation", SUPPORT]
    assert options(look, "#choose-measure") == ["StrictVital", "StrictAll", "Vital", "All"]
    assert look.page.is_disabled("#choose-level"), "a score of an answer knows no level"
    assert look.text("#leaderboard-table caption").startswith(
        "Scores are of whole answers: how many nug"
    )
    choose(look, "#choose-measure", "Vital", "by Vital")
    writers = [f"{how}_writer" for how in ("careful", "brief", "careless")]
    assert look.column("#leaderboard-table", 2) == writers
    heads = look.page.locator("#leaderboard-table thead th").all_inner_texts()
    scores = look.column("#leaderboard-table", heads.index("Vital") + 1)
    assert scores == ["0.917", "0.542", "0.375"]
    choose(look, "#choose-labels", SUPPORT, "by SupportP")
    assert "0.902" in look.text("#leaderboard-table")
    assert "how well their citations support" in look.text("#leaderboard-table caption")
    assert look.said == []


def test_views_have_the_scores_of_each_topic(browser, pages, demo_answers):
    sql = (
        "select system, query_id, value from topic_scores where collection = 'answers' "
        f"and label_set = '{NUGGETS}' and measure = 'Vital' and level = 1"
    )
    rows = json_of(demo_answers, "sql", sql, "--format", "json")
    expected = {(row["system"], row["query_id"]): f"{row['value']:.3f}" for row in rows}
    assert len(expected) == 12
    look = Look(browser, pages["answers"], 1280)
    chosen = f"labels={NUGGETS}&measure=Vital"
    for system in ("careful_writer", "careless_writer"):
        go(look, f"#system/{system}?{chosen}", f"System {system}")
        topics = look.column("#view table", 1)
        assert dict(zip(topics, look.column("#view table", 3), strict=True)) == {
            query: score for (of, query), score in expected.items() if of == system
        }
    go(look, f"#query/volcanoes?{chosen}", "Query volcanoes")
    ranking = look.page.locator("#view table").first.locator("thead th").all_inner_texts()
    assert NUGGETS not in ranking, "it labels no passage"
    pair = "a=careful_writer&b=careless_writer"
    go(look, f"#compare?{pair}&{chosen}", "careful_writer and careless_writer")
    # all four differences have one sign: 2 of 16 patterns are as extreme
    assert "4 queries cannot show a difference" in look.text("#compare-says")
    assert "the least p is 0.125" in look.text("#compare-says")
    assert look.said == []


def test_beside_labels_of_passages_the_page_opens_on_those_and_compares_like_with_like(
    browser, pages
):
    look = Look(browser, pages["demo"], 1280)
    assert options(look, "#choose-labels") == ["assessor:human", NUGGETS]
    assert "nDCG@10 with the labels of assessor:human" in look.text("#leaderboard-says")
    assert "Not correlated" not in look.text("#correlation")
    choose(look, "#choose-labels", NUGGETS, "by StrictVital")
    assert look.column("#leaderboard-table", 2) == ["answer_writer"]
    look.go(f"#judges?labels={NUGGETS}")
    assert "no leaderboard by StrictVital to compare with" in look.text("#scatter-says")
    look.page.evaluate(f"location.hash = '#labels?a=assessor:human&b={NUGGETS}'")
    look.page.wait_for_selector("#view h1:has-text('Two label sets')")
    assert "It takes two" in look.text("#view")
    assert look.said == []


def test_a_manager_has_three_answers_without_a_scroll_and_on_a_phone_the_first(browser, demo_page):
    for width, height, n in ((1440, 900, 3), (390, 844, 1)):
        look = Look(browser, demo_page, width)
        look.page.set_viewport_size({"width": width, "height": height})
        answers = [one.bounding_box() for one in look.page.locator(".verdict").all()]
        assert len(answers) == 3
        assert answers[n - 1]["y"] + answers[n - 1]["height"] < height
        assert look.page.evaluate("scrollY") == 0
        assert not look.wider_than_the_window
    look = Look(browser, demo_page, 1440)
    table, picture = (
        look.page.locator(each).bounding_box()
        for each in ("#leaderboard-table", "#leaderboard-chart")
    )
    assert table["x"] < picture["x"]
    assert table["y"] < picture["y"] + picture["height"]
    look.page.locator(".verdict a").nth(1).click()
    expect(look.page.locator("#view h1")).to_contain_text("bm25_rm3")
    look.page.go_back()
    look.page.locator(".verdict a").nth(2).click()
    expect(look.page.locator("#here")).to_have_text("Judges of demo")
    assert look.said == []


def test_in_the_report_a_cell_leads_to_its_query(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    cells = look.page.locator("#overview-chart .mark-rect.role-mark path")
    assert cells.count() >= 2 * look.page.locator("#leaderboard-table tbody tr").count()
    fills = {cells.nth(at).get_attribute("fill") for at in range(cells.count())}
    assert len(fills) > 3, "cells differ as scores do"
    box = cells.last.bounding_box()
    look.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    look.page.wait_for_url("**#query/**")
    assert look.said == []
