"""The report for everybody: axe-core, keyboard, phone, paper, and a browser without scripts."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests.browser import Look

pytestmark = pytest.mark.slow

WIDTHS = (1440, 1024, 390)
A4 = 718  # pixels between margins of 10 mm
# an address of each kind of view, of what a page has: one that is missing here fails a test below
ADDRESSES = """(async () => {
  const { queries, label_sets: sets } = board.settled;
  const query = queries[Math.floor(queries.length / 2)].query_id;
  const { passages, rankings, items } = await passagesOf(query);
  const [a, b] = Object.keys(rankings);
  const best = Object.values(rankings)[0]?.passages[0] ?? 0;
  return ['#board', addressOf('query', [query], { system: a }),
    addressOf('passage', [query, passages[best]]), addressOf('item', [query, items[0].item_id]),
    ...(a ? [addressOf('system', [a]), addressOf('compare', [], { a, b }),
      addressOf('labels', [], { a: sets[0], b: sets[1] })] : [])];
})()"""
PICTURES = ("leaderboard", "scatter", "correlation", "coverage")


@pytest.fixture(params=["demo", "dl19", "llmjudge"])
def page(request) -> tuple[str, Path]:
    return request.param, request.getfixturevalue(f"{request.param}_page")


def open_at(look: Look, address: str) -> None:
    """Follow an address to its end, and open whatever is closed there."""
    look.page.evaluate("address => { location.hash = address; return follow(); }", address)
    look.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(browser, page, scheme):
    name, file = page
    look = Look(browser, file, WIDTHS[0], scheme)
    for address in look.page.evaluate(ADDRESSES):
        open_at(look, address)
        for width in WIDTHS if scheme == "light" else WIDTHS[:1]:  # dark is another palette only
            look.page.set_viewport_size({"width": width, "height": 900})
            found = Axe().run(look.page)
            where = f"{name}{address}, {width} pixels, {scheme}"
            assert found.violations_count == 0, f"{where}: {found.generate_report()}"
            assert not look.wider_than_the_window, where
    assert look.said == []


def test_every_kind_of_view_is_looked_at(browser, demo_page):
    look = Look(browser, demo_page, 1440)
    kinds = look.page.evaluate("[...views.keys()]")
    shown = {address[1:].split("/")[0].split("?")[0] for address in look.page.evaluate(ADDRESSES)}
    assert set(kinds) <= shown, "ADDRESSES lacks a view"


# elements whose content is wider than they are and is not shown beside them
CLIPPED = """[...document.querySelectorAll('body *')].filter((one) => one.checkVisibility()
  && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline'
  && (getComputedStyle(one).overflowX !== 'visible' || one.matches('.scroll'))
).map((one) => `${one.tagName} ${one.className}: ${one.textContent.slice(0, 60)}`)"""
INKS = """[getComputedStyle(document.body).color, ...[...document.querySelectorAll(
  '.chart svg text')].map((one) => getComputedStyle(one).fill)]"""
CONTROLS = "[...document.querySelectorAll('button:not(th button), input, nav, summary details')]"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_paper_nothing_is_clipped_no_control_is_there_and_ink_is_black(browser, page, scheme):
    _, file = page
    look = Look(browser, file, A4, scheme)
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


def board(folder: Path, label_set: str, measure: str, level: int):
    with Lake.published(Project.find(folder)) as lake:
        return lake.rows(
            "select rank, system, printf('%.4f', score_4dp) from lake.marts.leaderboard "
            "where label_set = ? and measure = ? and level = ? order by rank, system",
            label_set,
            measure,
            level,
        )


def test_the_first_board_is_there_before_any_script(browser, demo_page, graded_demo):
    page = browser.new_page(java_script_enabled=False)
    page.goto(demo_page.as_uri())
    rows = page.locator("#leaderboard-table tbody tr").all()
    shown = [tuple(row.locator("> *").all_inner_texts()[:3]) for row in rows]
    theirs = board(graded_demo, "assessor:human", "nDCG@10", 2)
    assert shown == [(str(rank), system, score) for rank, system, score in theirs]
    assert "11 systems by nDCG@10 of the labels assessor:human" in page.inner_text("#board")


def test_the_leaderboard_is_drawn_before_other_sections(browser, demo_page):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(
        "new MutationObserver(() => { if (document.documentElement.dataset.ready === 'first') "
        "window.first ??= [...document.querySelectorAll('.chart svg')].map((one) => "
        "one.closest('.chart').id); }).observe(document, { subtree: true, attributes: true })"
    )
    page.goto(demo_page.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    assert page.evaluate("window.first") == ["leaderboard-chart"]
    assert page.locator(".chart svg").count() == page.locator(".chart").count() >= len(PICTURES)


def test_a_pictures_points_are_walked_by_keyboard(browser, demo_page, graded_demo):
    look = Look(browser, demo_page, 1280)
    theirs = board(graded_demo, "assessor:human", "nDCG@10", 2)
    slider = look.page.get_by_label("Points: Leaderboard by nDCG@10")
    slider.focus()
    for rank, system, score in theirs:
        look.page.keyboard.press("ArrowRight")
        words = slider.get_attribute("aria-valuetext")
        assert f"system {system}, score {score}" in words
        assert look.page.locator("#leaderboard-chart .at").count() == 1
        assert system in look.page.locator("#vg-tooltip-element.visible").inner_text(), rank
    look.page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == words, "it stays at the last"
    look.page.keyboard.press("Tab")
    assert look.page.locator("#leaderboard-chart .at").count() == 0
    assert look.page.locator("#vg-tooltip-element.visible").count() == 0
    for picture in PICTURES:
        points = look.page.locator(f"#{picture}-chart + .tools input[type=range]")
        assert int(points.get_attribute("max")) >= len(theirs) / 3, picture
    assert look.said == []


def test_a_control_that_would_change_nothing_is_off(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    assert look.page.locator("#choose-level").is_disabled(), "nDCG takes every label as it is"
    look.page.select_option("#choose-measure", "AP")
    look.page.wait_for_function("!document.getElementById('choose-level').disabled")


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
