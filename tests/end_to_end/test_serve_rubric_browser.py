"""An editor rewords a question in Chromium and sees the board move: the loop, in the browser."""

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, expect

from tests.browser import look_twice
from tests.serve.server import Server, own_server

pytestmark = pytest.mark.slow
OLD = "Which two acids give the bread its taste?"
NEW = "Which two acids make sourdough bread taste sour?"


@pytest.fixture(scope="module")
def server(graded_demo, tmp_path_factory):
    with own_server(graded_demo, tmp_path_factory.mktemp("served")) as server:
        yield server


def signed_in(
    server: Server, context: BrowserContext, name: str, role: str, said: list[str] | None = None
) -> Page:
    """A tab in which somebody is signed in; `said` is told its errors."""
    page = context.new_page()
    said = [] if said is None else said

    def heard(line: ConsoleMessage) -> None:
        if line.type == "error" and not line.location["url"].endswith("/favicon.ico"):
            said.append(f"{line.text} {line.location['url']}")

    page.on("console", heard)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"{server.url}/enter#{server.people.add(name, role)}")
    page.wait_for_url(f"{server.url}/")
    return page


def words(page: Page) -> str:
    return " ".join(page.inner_text("main").split())


def begin(page: Page, button: str) -> None:
    """Press a button that begins work; its page loads itself again when that has ended."""
    with page.expect_navigation(url="**/jobs/*", timeout=60_000):
        page.click(f"button:text-is('{button}')")
    page.wait_for_selector("#progress", state="detached", timeout=120_000)


def test_an_editor_rewords_a_question_and_sees_the_board_move(server, browser):
    context = browser.new_context()
    said: list[str] = []
    page = signed_in(server, context, "ed", "operator", said)
    page.click("a:text-is('rubric')")
    page.select_option("select[name=tau]", "3")
    page.click("text=Show")
    page.click("text=sourdough-sour-rise")
    item = page.locator(".lines > li").first  # the worst
    item.get_by_text("5 of 17 non-relevant").click()
    assert item.locator(".passages li").count() == 5
    assert "grade 4, judged 1" in item.locator(".passages li").first.inner_text()
    item.get_by_text(OLD).first.click()
    look_twice(page)
    item.get_by_label("Text").fill(NEW)
    assert page.inner_text("#changes") == "1 change"
    page.click("text=Add an item to questions")
    page.click("text=Add another item >> visible=true")
    page.get_by_label("Why (kept").fill("sour candy answers it")

    page.click("button:text-is('Preview')")

    page.wait_for_selector("#preview", timeout=60_000)
    expect(page.locator("#preview")).to_be_focused()
    page.set_viewport_size({"width": 390, "height": 800})
    expect(page.get_by_role("button", name="Save")).to_be_in_viewport()  # the foot of a long page
    first, then = "29 grades of the new wording would be missing", "9 down; scores on 44 of 70"
    shown = " ".join(page.inner_text(".preview").split())
    assert shown.index(first) < shown.index("only their absence") < shown.index(then)
    assert "give" in page.inner_text(".preview del >> nth=0")
    for text, told in ((OLD, "No changes"), (NEW, "1 change")):
        item.get_by_label("Text").fill(text)
        assert page.inner_text("#changes") == told
    look_twice(page)
    begin(page, "Save")
    told = words(page)
    assert "Saved as version 1" in told
    assert told.index("29 grades of the new wording are missing; the movement below") < told.index(
        "9 down; scores on 44 of 70 leaderboards"
    )
    page.click("text=All figures")
    assert "lexical/v1/best 0 7 0 0 38 of 70" in words(page)
    look_twice(page)
    page.click("a:text-is('Grade')")
    grading = page.url
    assert "lexical 29 29 none" in words(page)
    look_twice(page)
    begin(page, "Grade with lexical")
    assert "29 grades were added" in words(page)
    begin(page, "Build to see what changed")
    assert "missing" not in words(page)
    for moved in ("tfidf_cosine {} 0.675 0.675 8 7", "ql_dirichlet {} 0.678 0.674 7 8"):
        assert moved.format("lexical/v1/best") in words(page)
    page.click("text=See the leaderboard")
    page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
    assert "lexical/v1/best" in page.content()
    page.goto(grading)
    assert "No grades of this query are missing" in words(page)
    assert said == []


def test_what_nobody_saved_is_not_left_without_a_question(server, browser):
    page = signed_in(server, browser.new_context(), "ed", "editor")
    page.goto(f"{server.url}/c/demo/rubric/bird-navigation")
    page.locator(".line summary").first.click()
    page.get_by_label("Text").first.fill("")
    page.click("button:text-is('Preview')")
    page.wait_for_selector("#messages")
    look_twice(page)
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))  # type: ignore[attr-defined]
    page.get_by_label("Text").first.fill("Another text")
    page.click("text=Overview")
    page.wait_for_url("**/c/demo/")
    assert asked == ["beforeunload"]


def test_it_works_without_scripts(server, browser):
    scripted = browser.new_context()
    signed_in(server, scripted, "ann", "editor")
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies(scripted.cookies())
    page = context.new_page()
    page.goto(f"{server.url}/c/demo/rubric/bird-navigation")
    page.locator(".line summary").first.click()
    page.get_by_label("Weight").first.fill("2")
    page.click("button:text-is('Save')")
    page.wait_for_selector("text=See the leaderboard", timeout=120_000)
    assert "weight 2" in page.inner_text("main")
