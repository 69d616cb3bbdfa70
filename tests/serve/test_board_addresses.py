"""The board in Chromium: each thing has its path in the bar; others open it; "back" goes back."""

import re
from collections.abc import Iterator
from urllib.parse import quote, unquote, urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import WIDE, chromium, look_twice
from tests.command_line import json_of
from tests.serve.hostile import ITEM, PASSAGES, QUERIES, SYSTEM, XSS
from tests.serve.server import Server
from tests.tiers import EVERY

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def rita(odd: Server, browser) -> Iterator[Page]:
    """A tab of a reader; nothing is said on its console."""
    page = browser.new_context().new_page()
    said: list[str] = []
    page.goto(f"{odd.url}/enter#{odd.people.add('adda', 'reader')}")
    page.wait_for_url(f"{odd.url}/")
    page.on("console", lambda line: said.append(line.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    assert said == []
    page.context.close()


def encoded(part: str) -> str:
    """As browsers and the page's script write it."""
    return quote(part, safe="!'()*")


def at(page: Page, path: str) -> None:
    """Open an address below /c/odd/, and wait until all of the board is drawn."""
    root = page.evaluate("location.origin")
    page.goto(f"{root}/c/odd/{path}")
    page.wait_for_selector("html[data-ready=yes]", timeout=120_000)


def shows(page: Page, path: str, title: str) -> None:
    """Wait for the address and what it shows, here and in a tab that opens it anew."""
    expect(page.locator("#view h1")).to_have_text(title)
    assert page.evaluate("location.pathname + location.search") == f"/c/odd/{path}"
    assert not page.evaluate("location.hash")
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("#view h1")).to_have_text(title, timeout=60_000)
    assert other.url == page.url
    other.close()


def test_an_id_of_any_letters_is_found_by_its_path(rita):
    for query_id in QUERIES[1:]:
        at(rita, f"queries/{encoded(query_id)}")
        expect(rita.locator("#view h1")).to_contain_text(f"Query {query_id}: ")
        rita.locator("#view a", has_text=SYSTEM).first.click()
        expect(rita.locator("#view h1")).to_have_text(f"System {SYSTEM}")
        rita.go_back()
        expect(rita.locator("#view h1")).to_contain_text(f"Query {query_id}: ")


def test_from_the_board_to_a_system_its_query_a_passage_and_an_item(rita):
    query, passage = QUERIES[0], PASSAGES[0]
    at(rita, "board?release=r1")
    assert rita.evaluate("scrollY") == 0
    rita.locator("#leaderboard-table").get_by_text(SYSTEM).click()
    expect(rita.locator("#view h1")).to_have_text(f"System {SYSTEM}")
    along = rita.evaluate("location.search")
    assert along.endswith("&release=r1")
    shows(rita, f"systems/{encoded(SYSTEM)}{along}", f"System {SYSTEM}")

    rita.locator("#view").get_by_text(query, exact=True).click()
    expect(rita.locator("#view h1")).to_contain_text(f"Query {query}: ")
    rita.locator("#view a", has_text=passage).first.click()
    expect(rita.locator("#view h1")).to_have_text(f"Passage {passage}")
    asked = rita.evaluate("Object.fromEntries(new URLSearchParams(location.search))")
    assert (asked["query"], asked["system"], asked["release"]) == (query, SYSTEM, "r1")
    shows(
        rita, f"passages/{encoded(passage)}{rita.evaluate('location.search')}", f"Passage {passage}"
    )

    rita.locator("#view a", has_text="Is it blue?").first.click()
    expect(rita.locator("#view h1")).to_have_text(f"Rubric item {ITEM}")
    shows(rita, f"items/{encoded(ITEM)}{rita.evaluate('location.search')}", f"Rubric item {ITEM}")
    for title in (f"Passage {passage}", f"Query {query}: ", f"System {SYSTEM}"):
        rita.go_back()
        expect(rita.locator("#view h1")).to_contain_text(title)
    rita.go_back()
    expect(rita.locator("#leaderboard-table")).to_be_visible()
    assert rita.url.endswith("/c/odd/board?release=r1")
    rita.go_forward()
    rita.reload()
    expect(rita.locator("#view h1")).to_have_text(f"System {SYSTEM}")


def test_what_is_chosen_stands_in_the_path_and_back_undoes_it(rita):
    at(rita, "board?release=r1")
    rita.select_option("#choose-measure", "AP")
    rita.wait_for_url("**/c/odd/board?labels=assessor%3Ame&measure=AP&level=*&release=r1")
    rita.locator("#leaderboard-table thead button").get_by_text("system", exact=True).click()
    rita.wait_for_url("**&sort=ascending+system&release=r1")
    rita.reload()
    rita.wait_for_selector("html[data-ready=yes]")
    assert rita.input_value("#choose-measure") == "AP"
    assert rita.locator("#leaderboard-table th[aria-sort=ascending]").inner_text() == "system"
    rita.go_back()
    rita.wait_for_function("!location.search.includes('sort')")
    assert rita.input_value("#choose-measure") == "AP"
    rita.go_back()
    expect(rita.locator("#choose-measure")).to_have_value("nDCG@10")
    assert rita.url.endswith("/c/odd/board?release=r1")


def test_sections_have_paths_and_their_links_lead_on_by_keyboard(rita):
    at(rita, "compare?a=plain&b=" + encoded(SYSTEM))
    expect(rita.locator("#view h1")).to_have_text(f"plain and {SYSTEM}")
    rita.get_by_role("link", name="Queries", exact=True).focus()
    rita.keyboard.press("Enter")
    expect(rita.locator("#grid-grader")).to_be_visible()
    assert rita.url.endswith("/c/odd/queries")
    rita.wait_for_function("document.activeElement.id === 'queries-title'")
    rita.select_option("#grid-query", QUERIES[1])
    rita.wait_for_url(f"**/board/grid?grader=lexical&query={quote(QUERIES[1], safe='')}")
    rita.reload()
    rita.wait_for_selector("html[data-ready=yes]")
    assert rita.input_value("#grid-query") == QUERIES[1]
    rita.wait_for_function(
        "document.getElementById('grid').getBoundingClientRect().top < innerHeight / 2"
    )


def test_two_systems_are_told_apart_as_the_command_does(rita, odd):
    asked = "--measure", "P@10", "--label-set", "assessor:me", "--level", "1"
    said = json_of(odd.folder, "compare", "plain", SYSTEM, *asked, "--json")
    at(rita, f"compare?a=plain&b={encoded(SYSTEM)}&measure=P%4010&level=1")
    expect(rita.locator("#compare-says")).to_have_text(said["sentence"])
    shown = [*said["says"].values()]
    assert rita.locator("#view .facts dd").all_inner_texts()[: len(shown)] == shown
    rita.select_option("#view-measure", "AP")
    expect(rita.locator("#compare-says")).to_contain_text("the same AP")


def test_two_rankings_have_a_path_which_shows_texts_as_texts(rita):
    query = QUERIES[0]
    at(rita, "systems")
    rita.select_option("#compare-query", query)
    rita.click("#compare-systems")
    expect(rita.locator("#side-by-side mark").first).to_have_text("blue")
    assert rita.evaluate("location.pathname") == f"/c/odd/queries/{encoded(query)}"
    two = rita.evaluate("['a', 'b'].map((n) => new URLSearchParams(location.search).get(n))")
    assert {*two} == {SYSTEM, "plain"}
    title = rita.inner_text("#view h1")
    shows(rita, rita.url.partition("/c/odd/")[2], title)
    assert XSS in rita.inner_text("#side-by-side")
    assert rita.locator("#side-by-side [xss], #side-by-side img").count() == 0


def test_a_link_of_a_file_and_the_skip_link_become_paths(rita):
    at(rita, f"board?release=r1#query/{encoded(QUERIES[0])}?measure=AP")
    expect(rita.locator("#view h1")).to_contain_text(f"Query {QUERIES[0]}: ")
    assert rita.url.endswith(f"/c/odd/queries/{encoded(QUERIES[0])}?measure=AP&release=r1")
    rita.locator(".skip").focus()
    rita.keyboard.press("Enter")
    expect(rita.locator("#leaderboard-table")).to_be_visible()
    assert rita.url.endswith("/c/odd/board?release=r1")


def test_links_to_other_pages_and_other_tabs_are_the_browsers(rita):
    at(rita, "systems/plain")
    with rita.context.expect_page() as opened:
        rita.get_by_role("link", name="The leaderboard", exact=True).click(modifiers=["Control"])
    expect(opened.value.locator("#leaderboard-table")).to_be_visible(timeout=60_000)
    assert rita.url.endswith("/c/odd/systems/plain")
    rita.get_by_role("link", name="Rubric", exact=True).first.click()
    rita.wait_for_url("**/c/odd/rubric/")


# pages of each kind, and the tab that each is of
PAGES = {
    "": "Overview",
    "board": "Overview",
    "systems": "Systems",
    "systems/plain": "Systems",
    "queries": "Queries",
    f"queries/{quote(QUERIES[0], safe='')}": "Queries",
    "judges": "Judges",
    "rubric/": "Rubric",
    f"rubric/{quote(QUERIES[0], safe='')}": "Rubric",
    "review/": "Review (12)",
    "review/first/": "Review (12)",
    "ask/": "Ask",
    "ask/leaderboard": "Ask",
    "systems/nobody": None,
}
TABS = ["Overview", "Systems", "Queries", "Judges", "Rubric", "Review (12)", "Ask"]
BAR = """[...document.querySelectorAll('.tabs a')].map((tab) => tab.textContent)"""


def test_the_bar_is_the_same_on_every_page_and_width_and_axe_finds_nothing(odd, browser):
    page = browser.new_context().new_page()
    page.goto(f"{odd.url}/enter#{odd.people.add('bob', 'operator')}")
    page.wait_for_url(f"{odd.url}/")
    at(page, "board")
    pair = f"?{urlencode({'a': 'plain', 'b': SYSTEM})}"
    more = (f"queries/{quote(QUERIES[0], safe='')}{pair}", f"compare{pair}", "grading/")
    for path in ("/", "/people", "/sql", *(f"/c/odd/{path}" for path in more)):
        page.goto(odd.url + path)
        page.wait_for_load_state("networkidle")
        look_twice(page)
    looked_at = set()
    for path, tab in PAGES.items():
        page.goto(f"{odd.url}/c/odd/{path}")
        page.locator(".tabs").get_by_text("Review (12)").wait_for(timeout=120_000)
        crumbs = page.locator(".crumbs a")
        assert crumbs.nth(1).inner_text() == "odd", path
        current = page.locator(".tabs [aria-current=page]")
        assert current.all_text_contents() == ([tab] if tab else []), path
        expect(page.locator(".who > a")).to_have_text("People")
        assert page.locator(".who > span").text_content() == "bob"
        for width, height in ((1440, 48), (1024, 48), (390, 92)):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(BAR) == TABS, path
            assert page.locator(".bar").bounding_box()["height"] == height, (path, width)
            assert not page.evaluate(WIDE), (path, width)
            inside = "[...document.querySelectorAll('.bar > *')].every((one) => "
            inside += "one.getBoundingClientRect().right <= innerWidth)"
            assert page.evaluate(inside), (path, width)
        if EVERY or tab not in looked_at:
            look_twice(page)
            looked_at.add(tab)
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{odd.url}/enter")


def test_a_slash_opens_the_search_which_finds_each_kind_of_thing(rita):
    rita.goto(rita.url + "c/odd/ask/")
    for words, kind, path in (
        ("run@1", "system", f"systems/{encoded(SYSTEM)}"),
        ("why 0", "query", f"queries/{encoded(QUERIES[0])}"),
        ("sea blue", "passage", f"passages/{encoded(PASSAGES[1])}"),
        ("item/1", "item", f"items/{encoded(ITEM)}"),
        ("how far", "question", "ask/"),
    ):
        rita.keyboard.press("/")
        rita.keyboard.type(words)
        first = rita.locator("#found a").first
        expect(first).to_contain_text(kind)
        rita.keyboard.press("ArrowDown")
        rita.keyboard.press("Enter")
        rita.wait_for_url(lambda url, path=path: unquote(path) in unquote(url))
        # the next is typed while the page draws


def test_a_question_is_found_opened_as_sql_changed_and_run_by_the_keyboard(odd, browser):
    page = browser.new_context().new_page()
    page.goto(f"{odd.url}/enter#{odd.people.add('edda', 'editor')}")
    page.goto(f"{odd.url}/c/odd/ask/")
    page.get_by_label("Filter questions").press_sequentially("hardest")
    expect(page.locator(".book li:visible")).to_have_text(
        "Which queries do systems find hardest? hardest_queries"
    )
    page.locator(".book li:visible a").click()
    page.get_by_label("measure").select_option("AP")
    page.get_by_role("button", name="Ask").click()
    expect(page).to_have_url(f"{odd.url}/c/odd/ask/hardest_queries?label_set=&measure=AP&level=")
    page.get_by_role("link", name="Open as SQL").click()
    page.get_by_label("One statement").fill("select 6 * 7 as found")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("cell")).to_have_text("42")
    look_twice(page)
    assert "sql=select+6+*+7+as+found" in page.url
    page.go_back()
    expect(page.get_by_label("One statement")).to_have_value(re.compile("'AP'"))
    page.context.close()
