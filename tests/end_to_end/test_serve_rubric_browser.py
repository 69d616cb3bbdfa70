"""An editor rewords a question in Chromium and sees the board move: the loop, in the browser."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, ConsoleMessage, Page

from tests.serve.server import Server, own_server

pytestmark = pytest.mark.slow
OLD = "Which two acids give the bread its taste?"
NEW = "Which two acids make sourdough bread taste sour?"


@pytest.fixture
def server(graded_demo, tmp_path):
    with own_server(graded_demo, tmp_path) as server:
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


def look(page: Page) -> None:
    """Accessible, and no wider than the window."""
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")


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
    item = page.locator("fieldset", has=page.locator("textarea", has_text=OLD))
    item.get_by_label("Text").fill(NEW)
    page.click("text=One more item")
    page.get_by_label("Why (kept").fill("sour candy answers it")

    page.click("button:text-is('Preview')")

    page.wait_for_selector("#preview", timeout=60_000)
    assert page.evaluate("document.activeElement.id") == "preview"
    assert "38 of 65" in page.inner_text(".preview")
    assert "give" in page.inner_text(".preview del >> nth=0")
    assert page.locator("textarea", has_text=NEW).count() == 1
    begin(page, "Save and build")
    assert "Saved as version 1" in page.inner_text("main")
    page.click("text=Grade what is missing")
    begin(page, "Grade with lexical")
    assert "29 pairs were graded" in page.inner_text("main")
    begin(page, "Build, to see what moved")
    moved = page.inner_text("main")
    assert re.search(r"tfidf_cosine\s+lexical/v1/best\s+0.6746\s+0.6747\s+8\s+7", moved)
    page.click("text=Look at the board")
    page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
    assert "lexical/v1/best" in page.content()
    assert said == []


def test_what_nobody_saved_is_not_left_without_a_question(server, browser):
    page = signed_in(server, browser.new_context(), "ed", "editor")
    page.goto(f"{server.url}/c/demo/rubric/bird-navigation")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))  # type: ignore[attr-defined]
    page.get_by_label("Text").first.fill("Another text")
    page.click("text=Board")
    page.wait_for_url("**/board")
    assert asked == ["beforeunload"]


def test_it_works_without_scripts(server, browser):
    name = "ann"
    scripted = browser.new_context()
    signed_in(server, scripted, name, "editor")
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies(scripted.cookies())
    page = context.new_page()
    page.goto(f"{server.url}/c/demo/rubric/bird-navigation")
    page.get_by_label("Weight").first.fill("2")
    page.click("text=Save and build")
    page.wait_for_selector("text=Look at the board", timeout=120_000)
    assert "weight 2" in page.inner_text("main")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(server, browser, width, scheme):
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
    )
    page = signed_in(server, context, "ed", "operator")
    page.goto(f"{server.url}/c/demo/rubric/")
    look(page)
    page.goto(f"{server.url}/c/demo/rubric/bird-navigation")
    look(page)
    page.get_by_label("Text").first.fill("")
    page.click("button:text-is('Preview')")
    page.wait_for_selector("#messages")
    look(page)
    page.get_by_label("Text").first.fill("How do wings help at night?")
    page.click("button:text-is('Preview')")
    page.wait_for_selector("#preview", timeout=60_000)
    look(page)
    begin(page, "Save and build")
    look(page)
    page.goto(f"{server.url}/c/demo/grading/bird-navigation")
    look(page)
