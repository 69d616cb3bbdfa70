"""From a number to its cause in a real browser: board, system, topic, passage, and on."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests.browser import Look, chromium
from tests.conftest import gradelake, made_once
from tests.report_page import HOSTILE, ODD_ITEM, ODD_PASSAGE, ODD_QUERY, make_odd

pytestmark = pytest.mark.slow

TABS = 600  # presses of Tab after which a link counts as out of reach


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


def reported(folder: Path, collection: str, tmp_path_factory) -> tuple[Path, Path]:
    """(the project's folder, the report)."""
    file = tmp_path_factory.mktemp("walk") / f"{collection}.html"
    gradelake(folder, "report", collection, "-o", str(file))
    return folder, file


@pytest.fixture(scope="module")
def demo_report(graded_demo, tmp_path_factory) -> tuple[Path, Path]:
    return reported(graded_demo, "demo", tmp_path_factory)


@pytest.fixture(scope="module")
def dl19_report(dl19_graded, tmp_path_factory) -> tuple[Path, Path]:
    return reported(dl19_graded, "dl19", tmp_path_factory)


@pytest.fixture(params=["demo", "dl19"])
def report(request) -> tuple[Path, Path]:
    return request.getfixturevalue(f"{request.param}_report")


@pytest.fixture(scope="module")
def odd_page(tmp_path_factory) -> Path:
    return made_once(tmp_path_factory, "odd-report", make_odd) / "reports" / "odd.html"


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
        "title => document.activeElement.tagName === 'H2' "
        "&& document.activeElement.innerText === title",
        arg=title,
    )


@pytest.mark.parametrize("go", [by_mouse, by_keyboard])
def test_every_number_leads_to_its_cause(browser, report, go: Callable):
    folder, file = report
    with Lake.published(Project.find(folder)) as lake:
        ((system, query, text, score),) = lake.rows(
            "select system, query_id, text, value from lake.marts.topic_scores "
            "inner join lake.raw.queries using (collection, query_id) "
            "where label_set like 'assessor:%' and level = 2 and measure = 'nDCG@10' and system in "
            "(select system from lake.raw.systems where kind = 'ranking') "
            "order by value desc, system, query_id limit 1"
        )
        ((passage, passage_text),) = lake.rows(
            "select passage_id, text from lake.intermediate.int_ranked_entries "
            "inner join lake.raw.passages using (collection, passage_id) "
            "where system = ? and query_id = ? and rank = 1",
            system,
            query,
        )
        retrievers = dict(
            lake.rows(
                "select system, rank from lake.intermediate.int_ranked_entries "
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
    look = Look(browser, file, 1280)
    go(look, "#leaderboard-table", system)
    arrived(look, f"System {system}")
    assert look.page.locator("#view-chart svg").count() == 1
    assert system in look.page.locator("#view-chart").get_attribute("aria-label")
    row = look.page.locator("#view tbody tr").filter(
        has=look.page.get_by_role("link", name=query, exact=True)
    )
    assert f"{score:.4f}" in row.inner_text()
    go(look, "#view", query)
    arrived(look, f"Query {query}: {text}")
    assert f"The ranking of {system}" in look.text("#view")
    go(look, "#view", passage)
    arrived(look, f"Passage {passage}")
    assert passage_text in look.text("#view")
    found = look.page.locator("#view .scroll").last.locator("tbody tr").all_inner_texts()
    assert {tuple(line.split("\t")[:2]) for line in found} == {
        (system, str(rank)) for system, rank in retrievers.items()
    }
    at_passage = look.page.url
    go(look, "#view", system)
    arrived(look, f"System {system}")
    look.page.go_back()
    arrived(look, f"Passage {passage}")
    assert look.page.url == at_passage
    go(look, "#view", item_text)
    arrived(look, f"Rubric item {item}")
    assert item_text in look.text("#view")
    assert f"{answering} of " in look.text("#view")
    assert look.said == []
    assert [url for url in look.asked if not url.startswith("blob:")] == []


def test_a_link_shows_the_same_in_another_browser(browser, report):
    folder, file = report
    with Lake.published(Project.find(folder)) as lake:
        system, query, passage = lake.rows(
            "select system, query_id, passage_id from lake.intermediate.int_ranked_entries "
            "where rank = 1 order by all limit 1"
        )[0]
    look = Look(browser, file, 1280)
    by_mouse(look, "#leaderboard-table", system)
    arrived(look, f"System {system}")
    look.page.select_option("#view-measure", "AP")
    look.page.select_option("#view-level", "1")
    (other,) = look.page.locator("#view-than").select_option(index=1)
    look.page.get_by_role("button", name=f"to {other}", exact=True).wait_for()
    shown = {look.page.url: look.text("#view")}
    by_mouse(look, "#view", query)
    look.page.wait_for_selector("#view-system")
    shown[look.page.url] = look.text("#view")
    by_mouse(look, "#view", passage)
    arrived(look, f"Passage {passage}")
    shown[look.page.url] = look.text("#view")
    for address, text in shown.items():
        assert "measure=AP&level=1" in address
        second = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        second.goto(address)
        second.wait_for_selector("html[data-ready=yes]")
        assert second.inner_text("#view") == text
        second.context.close()


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("system/nobody", "No system “nobody” here"),
        ("query/none", "No query “none” here"),
        ("passage/bird-navigation/p%2F9", "No passage “p/9” here"),
        ("item/bird-navigation/what", "No rubric item “what” here"),
        ("item/what", "No rubric item “what” here"),
        ("query/100%", "No query “100%” here"),
    ],
)
def test_an_address_of_what_is_not_there_says_so(browser, demo_report, address, title):
    look = Look(browser, demo_report[1], 1280)
    look.page.evaluate("address => { location.hash = address; }", address)
    arrived(look, title)
    assert "Was the link made in the report of another release" in look.text("#view")
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


def test_the_detail_of_a_cell_leads_to_passage_and_item(browser, demo_report):
    look = Look(browser, demo_report[1], 1280)
    look.page.locator("#grid-table td.grade").first.focus()
    passage = look.page.locator("#grid-table tbody th").first.inner_text()
    by_keyboard(look, "#grid-detail", "Item 1")
    look.page.wait_for_function("location.hash.startsWith('#item/')")
    look.page.go_back()
    look.page.locator("#grid-table td.grade").first.focus()
    by_keyboard(look, "#grid-detail", passage)
    arrived(look, f"Passage {passage}")


def test_where_people_and_labels_disagree_it_says_so(browser, odd_page):
    look = Look(browser, odd_page, 1280)
    by_mouse(look, "#leaderboard-table", "odd")
    by_mouse(look, "#view", ODD_QUERY)
    by_mouse(look, "#view", ODD_PASSAGE)
    arrived(look, f"Passage {ODD_PASSAGE}")
    says = look.text("#view-says")
    assert says.startswith("People disagree: it is relevant for assessor:ann (3)")
    assert "not relevant for assessor:ben (0)" in says


@pytest.mark.parametrize("width", [1280, 390])
def test_odd_ids_are_found_and_hostile_texts_stay_texts(browser, odd_page, width):
    look = Look(browser, odd_page, width)
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
    assert "2 of 120 entries, down to the pool depth (2); 118 are left out." in views[1]
    look.page.reload()
    arrived(look, f"Passage {ODD_PASSAGE}")
    assert look.page.evaluate("window.broken === undefined")
    assert look.said == []
