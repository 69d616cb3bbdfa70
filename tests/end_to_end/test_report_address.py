"""What is chosen over a table, and the grid's page, stand in the address: links, back, forward."""

from pathlib import Path

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests.browser import Look
from tests.end_to_end.edited_demo import BIRDS

pytestmark = pytest.mark.slow

BOARD = "Leaderboard by every measure"
ROWS = "#leaderboard-table tbody tr:visible"
FIRST_PAGE, SECOND_PAGE = "passages 1 to 40 of 42", "passages 41 to 42 of 42"


def by_head(look: Look, table: str, head: str) -> None:
    look.page.locator(f"{table} thead button").get_by_text(head, exact=True).click()


def ends(look: Look, hash_end: str) -> None:
    """Wait until the address ends so, and what it names is shown."""
    look.page.wait_for_function(
        "end => decodeURIComponent(location.href).endsWith(end)", arg=hash_end
    )
    look.page.evaluate("() => new Promise((shown) => setTimeout(shown))")


def elsewhere(browser, address: str) -> Look:
    """The address in a browser that knows nothing of the first one."""
    file, _, hash_part = address.removeprefix("file://").partition("#")
    look = Look(browser, Path(file), 1280)
    look.page.goto(f"file://{file}#{hash_part}")
    look.page.reload()
    look.page.wait_for_selector("html[data-ready=yes]")
    return look


def shown(look: Look, table: str = "#leaderboard-table") -> str:
    """Its visible cells in their order, and the order that its heads say."""
    orders = look.page.locator(f"{table} thead th").evaluate_all(
        "heads => heads.map((head) => head.getAttribute('aria-sort'))"
    )
    return f"{look.text(table)} {orders}"


def comes_to(look: Look, wanted: str, table: str = "#leaderboard-table") -> None:
    """What is drawn follows "back" and "forward" a moment later."""
    for _ in range(50):
        if shown(look, table) == wanted:
            return
        look.page.wait_for_timeout(100)
    assert shown(look, table) == wanted


def test_a_link_shows_rows_columns_and_order_as_its_sender_did(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    look.page.select_option("#choose-measure", "RR")
    look.page.wait_for_function("location.hash.includes('measure=RR')")
    by_head(look, "#leaderboard-table", "AP")
    ends(look, "&sort=descending+AP")
    look.page.get_by_label(f"Filter rows: {BOARD}").fill("bm25")
    tools = look.page.locator(".tools", has=look.page.get_by_label(f"CSV: {BOARD}"))
    tools.locator("summary").click()
    for head in ("P@10", "nDCG@10"):
        tools.get_by_label(head, exact=True).uncheck()
    ends(look, "&sort=descending+AP&filter=bm25&without=P@10|nDCG@10")
    ours = shown(look)
    assert "3 of 11 rows" in tools.inner_text()
    second = elsewhere(browser, look.page.url)
    assert shown(second) == ours
    assert "P@10" not in ours
    assert not second.page.get_by_label("P@10", exact=True).is_checked()
    assert second.page.get_by_label(f"Filter rows: {BOARD}").input_value() == "bm25"
    assert look.said == second.said == []


def test_back_and_forward_go_from_choice_to_choice(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    seen = [shown(look)]
    by_head(look, "#leaderboard-table", "AP")
    ends(look, "#board?sort=descending+AP")
    seen.append(shown(look))
    look.page.get_by_label(f"Filter rows: {BOARD}").press_sequentially("bm25")
    ends(look, "&filter=bm25")
    seen.append(shown(look))
    by_head(look, "#leaderboard-table", "AP")
    ends(look, "#board?sort=ascending+AP&filter=bm25")
    seen.append(shown(look))
    assert len(set(seen)) == 4
    places = [".html", "sort=descending+AP", "filter=bm25", "sort=ascending+AP&filter=bm25"]
    for at in (2, 1, 0):  # four letters are one step
        look.page.go_back()
        ends(look, places[at])
        comes_to(look, seen[at])
    for at in (1, 2, 3):
        look.page.go_forward()
        ends(look, places[at])
        comes_to(look, seen[at])
    assert look.said == []


def test_back_undoes_what_was_chosen_in_another_section(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    first = shown(look), shown(look, "#correlation-table")
    by_head(look, "#leaderboard-table", "AP")
    ends(look, "sort=descending+AP")
    by_head(look, "#correlation-table", "tau-AP")
    ends(look, "#correlation?sort=descending+tau-AP")
    both = shown(look), shown(look, "#correlation-table")
    look.page.go_back()
    ends(look, "#board?sort=descending+AP")
    sorted_before = "table => ![...table.tHead.rows[0].cells].some((head) => head.ariaSort)"
    look.page.wait_for_function(f"({sorted_before})(document.getElementById('correlation-table'))")
    assert (shown(look), shown(look, "#correlation-table")) == (both[0], first[1])
    look.page.go_forward()
    ends(look, "#correlation?sort=descending+tau-AP")
    comes_to(look, both[0])
    comes_to(look, both[1], "#correlation-table")


def test_choices_over_the_tables_of_a_view_make_no_row_anew(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    look.page.evaluate("location.hash = '#passage/bird-navigation/bird-navigation-01'")
    look.page.evaluate(f"location.hash = '#query/{BIRDS}?system=bm25'")
    ranking, systems = (
        f"#view .scroll[aria-label='{name}'] table"
        for name in (f"Ranking of bm25 on {BIRDS}", f"Systems by nDCG@10 on {BIRDS}")
    )
    look.page.wait_for_selector(systems)
    look.page.locator(systems).evaluate("table => { table.isTheSame = true }")
    look.page.get_by_label(f"Filter rows: Ranking of bm25 on {BIRDS}").press_sequentially("star s")
    by_head(look, systems, "system")
    ends(look, f"#query/{BIRDS}?system=bm25&filter=star+s&sort-2=ascending+system")
    assert look.page.locator(systems).evaluate("table => table.isTheSame")
    assert 0 < look.page.locator(f"{ranking} tbody tr:visible").count() < 20
    names = look.column(systems, 1)
    assert names == sorted(names)
    ours = look.text("#view")
    assert elsewhere(browser, look.page.url).text("#view") == ours
    look.page.select_option("#view-measure", "AP")  # other rows, the same choices
    again = f"#view .scroll[aria-label='Systems by AP on {BIRDS}'] table"
    look.page.wait_for_selector(again)
    assert look.column(again, 1) == names
    assert "filter=star+s" in look.page.url
    assert look.said == []


def test_a_link_to_rows_of_a_closed_list_opens_it(browser, demo_page):
    address = f"{demo_page.as_uri()}#rubric?filter-3=tern&sort-3=descending+passage"
    look = elsewhere(browser, address)
    table = "#rubric .scroll[aria-label^='lexical, Uncovered passages'] table"
    assert look.page.locator(table).is_visible()
    passages = look.page.locator(f"{table} tbody tr:visible > :nth-child(2)").all_inner_texts()
    assert passages == sorted(passages, reverse=True)
    assert look.page.locator(f"{table} tbody tr").count() == 15 > len(passages)


def test_an_address_with_what_is_not_there_shows_the_rest(browser, demo_page):
    hash_part = "#board?sort=descending+nothing&without=none|AP&filter-9=x&sort-2=up"
    look = elsewhere(browser, demo_page.as_uri() + hash_part)
    assert look.page.locator(ROWS).count() == 11
    assert "AP" not in look.page.locator("#leaderboard-table thead th:visible").all_inner_texts()
    assert look.said == []


def test_the_grids_page_is_in_the_address(browser, demo_page, graded_demo):
    with Lake.published(Project.find(graded_demo)) as lake:
        query = lake.value(
            "select query_id from lake.marts.grade_grid where grader = 'lexical' "
            "group by all having count(distinct passage_id) = 42"
        )
    look = Look(browser, demo_page, 1280)
    look.page.select_option("#grid-query", query)
    look.page.get_by_text(FIRST_PAGE).wait_for()
    look.page.click("#grid-on")
    look.page.get_by_text(SECOND_PAGE).wait_for()
    ends(look, f"#grid?grader=lexical&query={query}&page=2")
    second = elsewhere(browser, look.page.url)
    assert second.text("#grid") == look.text("#grid")
    look.page.go_back()
    look.page.get_by_text(FIRST_PAGE).wait_for()
    look.page.go_forward()
    look.page.get_by_text(SECOND_PAGE).wait_for()
    look.page.select_option("#grid-query", BIRDS)  # which begins at its own first page
    look.page.get_by_text("passages 1 to").wait_for()
    for page, says in (("9", SECOND_PAGE), ("-1", FIRST_PAGE), ("x", FIRST_PAGE)):
        look.page.evaluate(f"location.hash = '#grid?grader=lexical&query={query}&page={page}'")
        look.page.get_by_text(says).wait_for()
    assert look.said == []


@pytest.mark.parametrize("width", [1280, 390])
def test_an_address_of_choices_fits_the_window(browser, demo_page, width):
    look = Look(browser, demo_page, width)
    look.page.evaluate("location.hash = '#board?filter=bm25&without=AP&sort=ascending+system'")
    look.page.wait_for_function("document.querySelector('#leaderboard-table tr[hidden]')")
    assert not look.wider_than_the_window
