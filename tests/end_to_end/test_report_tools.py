"""What a reader does with the report: tables as CSV, rows, columns and order; pictures; links."""

import csv
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from PIL import Image

from gradelake.sql.common.spreadsheet import shown_cell
from gradelake.sql.shown.answer import Column, Table
from gradelake.sql.shown.latex import escape
from gradelake.sql.shown.markdown import table_parts
from tests.browser import Look
from tests.end_to_end.edited_demo import BIRDS
from tests.reading import published

pytestmark = pytest.mark.slow

LIGHT_ACCENT = "#0072b2"


def saved(look: Look, label: str, folder: Path) -> Path:
    """The file that a button of a section's menu gives."""
    button = look.page.locator(f"[aria-label='{label}']")
    if not button.is_visible():
        look.page.locator("details.export", has=button).locator("summary").click()
    with look.page.expect_download() as download:
        button.click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    assert [url for url in look.asked if not url.startswith("blob:")] == []
    assert look.said == []
    return file


def read(file: Path) -> list[list[str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream, strict=True))


def test_rows_are_filtered_columns_chosen_and_csv_has_what_is_shown(
    browser, demo_page, graded_demo, tmp_path
):
    look = Look(browser, demo_page, 1280)
    whole = "CSV: Leaderboard by every measure"
    file = saved(look, whole, tmp_path)
    assert file.name == "demo-leaderboard-by-every-measure.csv"
    head, *rows = read(file)
    theirs = published(graded_demo).rows(
        "select system, measure, round(score, 6) from lake.marts.leaderboard "
        "where label_set = 'assessor:human' and level = 2 order by all"
    )
    system = head.index("system")
    ours = [
        (row[system], measure, float(row[at]))
        for row in rows
        for at, measure in enumerate(head)
        if measure in {measure for _, measure, _ in theirs}
    ]
    assert sorted(ours) == theirs

    look.page.get_by_label("Filter rows: Leaderboard by every measure").fill("BM25")
    filters = "Filter rows: Leaderboard by every measure"
    tools = look.page.locator(".tools", has=look.page.get_by_label(filters))
    tools.locator("summary").click()
    tools.get_by_label("AP", exact=True).uncheck()
    matching = [row[system] for row in rows if "bm25" in " ".join(row).lower()]
    assert 0 < len(matching) < len(rows)
    assert f"{len(matching)} of {len(rows)} rows" in tools.inner_text()
    fewer_head, *fewer = read(saved(look, whole, tmp_path))
    assert [row[system] for row in fewer] == matching
    assert fewer_head == [name for name in head if name != "AP"]

    look.page.select_option("#choose-measure", "RR")  # the table's rows are new, the choices stay
    look.page.wait_for_function(
        "document.getElementById('leaderboard-says').textContent.includes('by RR')"
    )
    assert f"{len(matching)} of {len(rows)} rows" in tools.inner_text()
    look.page.get_by_label("Filter rows: Leaderboard by every measure").fill("")
    assert look.page.locator("#leaderboard-table tbody tr:visible").count() == len(rows)
    small = look.page.locator(".tools", has=look.page.get_by_label("Filter rows: Graders"))
    assert small.locator("input[type=search]").is_hidden(), "three rows need no filter"


CELLS = [
    "=1+1",
    "=0|=0",
    "=a|=0",
    "+x",
    "@sum",
    "-0.5",
    "-1e-05",
    "-a",
    "'=1",
    "with, comma",
    'a "word"',
    "0012",
    "two\nlines",
]
FIGURES = {"1,234": "1234", "\u2013": "", "0.5000": "0.5000", "0.81 to 0.95": "0.81 to 0.95"}


def test_csv_runs_nothing_and_changes_no_text(browser, demo_page, tmp_path):
    """Texts as Python's own guard of formulas has them; figures without what is for the eye."""
    look = Look(browser, demo_page, 1280)
    look.page.evaluate(
        """([cells, figures]) => {
          const row = (text, kind) => make("tr", {}, make("td", { class: kind }, text));
          const exact = make("tr", {},
            make("td", { class: "n", "data-value": "0.123456" }, "0.12"));
          const table = make("table", { class: "sortable" },
            make("thead", {}, make("tr", {}, make("th", {}, "text"))),
            make("tbody", {}, ...cells.map((text) => row(text, "")),
              ...figures.map((text) => row(text, "n")), exact));
          document.querySelector("main").append(table);
          sortable(table);
        }""",
        [CELLS, list(FIGURES)],
    )
    names = look.page.evaluate(
        "tablesOf(document.querySelector('main')).map((table) => "
        "(table.closest('.scroll') ?? table).getAttribute('aria-label') ?? 'table')"
    )
    assert len(names) == len(set(names)) > 20
    buttons = look.page.get_by_role("button", name="CSV: ", include_hidden=True)
    assert {f"CSV: {name}" for name in names} == {
        button.get_attribute("aria-label") for button in buttons.all()
    }, "every table gives CSV"
    _, *rows = read(saved(look, "CSV: table", tmp_path))
    assert [cell for (cell,) in filter(None, rows)] == [
        *map(shown_cell, CELLS),
        *filter(None, FIGURES.values()),
        "0.123456",
    ]
    cell = "make('td', {}, 'a ', make('del', {}, 'red'), make('ins', {}, 'blue'), ' crust')"
    assert look.page.evaluate(f"unrun(inFull({cell}))") == "a [-red-]{+blue+} crust"


def in_markdown(text: str) -> str:
    """As our own tables have a text in a cell."""
    (table,) = table_parts(Table("t", [Column("x")], [[text]]))
    return table.splitlines()[2][2:-2]


def test_every_table_can_be_had_as_json_latex_and_markdown(browser, demo_page, tmp_path):
    look = Look(browser, demo_page, 1280)
    name = "Leaderboard by every measure"
    head, *rows = read(saved(look, f"CSV: {name}", tmp_path))
    records = json.loads(saved(look, f"JSON: {name}", tmp_path).read_text())
    assert [[str(one[key] or "") for key in head] for one in records[:1]] == [rows[0]]
    assert len(records) == len(rows)
    shown = look.page.locator("#leaderboard-table tbody tr").first.locator("> *").all_inner_texts()
    tex = saved(look, f"LaTeX: {name}", tmp_path).read_text().splitlines()
    assert tex[1].startswith(r"\begin{tabular}{rlr")
    assert tex[-1] == r"\end{tabular}"
    assert tex[5].split(" & ")[:4] == [escape(text) for text in shown[:4]]
    lines = saved(look, f"Markdown: {name}", tmp_path).read_text().splitlines()
    assert lines[2] == f"| {' | '.join(map(in_markdown, shown))} |"
    hostile = [*CELLS, "a_b & 50% {x} $y #z ~^<>|\\ \u2020", "[l](http://x.y) www.x.y @me <b>*_`"]
    for made, expected in (("inLatex", escape), ("inMarkdown", in_markdown)):
        written = look.page.evaluate(f"(all) => all.map({made})", hostile)
        assert written == [expected(text) for text in hostile]


def test_csv_of_the_grid_has_every_page_and_of_agreement_every_count(
    browser, demo_page, graded_demo, tmp_path
):
    query = published(graded_demo).value(
        "select query_id from lake.marts.grade_grid where grader = 'lexical' "
        "group by all having count(distinct passage_id) = 42"
    )
    grades = published(graded_demo).rows(
        "select passage_id, item_text, grade from lake.marts.grade_grid "
        "where grader = 'lexical' and query_id = ? and grade is not null",
        query,
    )
    counts = published(graded_demo).rows(
        "select label, judgment, n from lake.marts.confusion where label_set = "
        "'lexical/v0/best' and reference = 'assessor:human' and n > 0"
    )
    look = Look(browser, demo_page, 1280, at="#grid")
    look.page.select_option("#grid-query", query)
    look.page.get_by_text("passages 1 to 40 of 42").wait_for()
    assert look.page.locator("#grid details.export").count() == 1, "one menu of a section"
    head, *rows = read(saved(look, "CSV: Passages by items", tmp_path))
    assert head[:3] == ["passage", "mean", "human"]
    assert len(rows) == 42
    ours = [
        (row[0], item, int(grade))
        for row in rows
        for item, grade in zip(head[3:], row[3:], strict=True)
        if grade
    ]
    assert sorted(ours) == sorted(grades)
    look.go("#judges")
    (corner, *judgments), *rows = read(saved(look, "CSV: Counts of lexical/v0/best", tmp_path))
    ours = [
        (int(label), int(judgment), int(n))
        for label, *cells in rows
        for judgment, n in zip(judgments, cells, strict=True)
        if n != "0"
    ]
    assert corner == "label"
    assert sorted(ours) == sorted(counts)


def test_a_picture_is_a_file_in_light_colours(browser, demo_page, tmp_path):
    written = []
    for scheme in ("light", "dark"):
        look = Look(browser, demo_page, 1280, scheme)
        tools = look.page.locator("#leaderboard-chart + .tools")
        label = tools.get_by_text("SVG").get_attribute("aria-label")
        file = saved(look, label, tmp_path)
        written.append(file.read_text(encoding="utf-8"))
        image = Image.open(saved(look, label.replace("SVG", "PNG"), tmp_path)).convert("RGB")
        assert image.width >= 900
        assert image.getpixel((2, 2)) == (255, 255, 255)
        assert len(image.getcolors(1 << 24)) > 20, "something is drawn"
    assert written[0] == written[1]
    assert "var(" not in written[0]
    assert LIGHT_ACCENT in written[0]
    svg = ElementTree.fromstring(written[0])
    texts = {one.text for one in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert "bm25" in texts


def test_axes_of_the_scatter_are_equal_and_a_system_is_highlighted_by_address(browser, demo_page):
    look = Look(browser, demo_page, 1280, at="#judges")
    ticks = [
        look.page.locator(f"#scatter-chart {axis} .role-axis-label text").all_text_contents()
        for axis in (".role-axis[aria-label^='X-axis']", ".role-axis[aria-label^='Y-axis']")
    ]
    assert ticks[0] == ticks[1] != []
    look.go("#coverage?system=bm25")
    assert look.page.input_value("#coverage-system") == "bm25"
    bold = look.page.locator("#coverage-chart text[font-weight=bold]")
    bold.wait_for()
    assert bold.all_text_contents() == ["bm25"]


# --- what is chosen over a table, and the grid's page, stand in the address -----------------------

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
    return Look(browser, Path(file), 1280, at=f"#{hash_part}")


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
    look = Look(browser, demo_page, 1280, at="#systems")
    look.page.select_option("#choose-measure", "RR")
    look.page.wait_for_function("location.hash.includes('measure=RR')")
    by_head(look, "#leaderboard-table", "AP")
    ends(look, "&sort=descending+AP")
    look.page.get_by_label(f"Filter rows: {BOARD}").fill("bm25")
    tools = look.page.locator(".tools", has=look.page.get_by_label(f"Filter rows: {BOARD}"))
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
    look = Look(browser, demo_page, 1280, at="#systems")
    seen = [shown(look)]
    by_head(look, "#leaderboard-table", "AP")
    ends(look, "#systems?sort=descending+AP")
    seen.append(shown(look))
    look.page.get_by_label(f"Filter rows: {BOARD}").press_sequentially("bm25")
    ends(look, "&filter=bm25")
    seen.append(shown(look))
    by_head(look, "#leaderboard-table", "AP")
    ends(look, "#systems?sort=ascending+AP&filter=bm25")
    seen.append(shown(look))
    assert len(set(seen)) == 4
    places = ["#systems", "sort=descending+AP", "filter=bm25", "sort=ascending+AP&filter=bm25"]
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
    look = Look(browser, demo_page, 1280, at="#systems")
    first = shown(look), shown(look, "#coverage-table")
    by_head(look, "#leaderboard-table", "AP")
    ends(look, "sort=descending+AP")
    by_head(look, "#coverage-table", "Cover@20")
    ends(look, "#coverage?sort=descending+Cover@20")
    both = shown(look), shown(look, "#coverage-table")
    look.page.go_back()
    ends(look, "#systems?sort=descending+AP")
    sorted_before = "table => ![...table.tHead.rows[0].cells].some((head) => head.ariaSort)"
    look.page.wait_for_function(f"({sorted_before})(document.getElementById('coverage-table'))")
    assert (shown(look), shown(look, "#coverage-table")) == (both[0], first[1])
    look.page.go_forward()
    ends(look, "#coverage?sort=descending+Cover@20")
    comes_to(look, both[0])
    comes_to(look, both[1], "#coverage-table")


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
    shown = look.page.locator("#rubric .rows", has_text=" of 15 rows").all_inner_texts()
    assert shown == [f"{len(passages)} of 15 rows"]


def test_an_address_with_what_is_not_there_shows_the_rest(browser, demo_page):
    hash_part = "#board?sort=descending+nothing&without=none|AP&filter-9=x&sort-2=up"
    look = elsewhere(browser, demo_page.as_uri() + hash_part)
    assert look.page.locator(ROWS).count() == 11
    assert "AP" not in look.page.locator("#leaderboard-table thead th:visible").all_inner_texts()
    assert look.said == []


def test_the_grids_page_is_in_the_address(browser, demo_page, graded_demo):
    query = published(graded_demo).value(
        "select query_id from lake.marts.grade_grid where grader = 'lexical' "
        "group by all having count(distinct passage_id) = 42"
    )
    look = Look(browser, demo_page, 1280, at="#grid")
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


def test_a_slash_searches_the_file_itself(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    for words, kind, title in (
        ("rm3", "system", "System bm25_rm3"),
        ("migrating find", "query", f"Query {BIRDS}: how migrating birds find their way"),
        ("shearwaters", "item", "Rubric item bird-navigation/568aaf3ebbcdbe463eb1e548956a396a"),
        ("p043", "passage", "Passage p043"),
    ):
        look.page.keyboard.press("/")
        look.page.keyboard.type(words)
        look.page.locator("#found a", has_text=kind).first.wait_for()
        look.page.keyboard.press("Enter")
        look.page.get_by_role("heading", name=title, level=1).wait_for()
    assert look.asked == []
    assert look.said == []


# --- many rows, many lines ------------------------------------------------------------------------

MANY = "Systems by nDCG@10 and their numbers"
MAKE_MANY = """label => {
  const rows = Array.from({ length: 450 }, (_, n) => [`s${n}`, scoreCell(450 - n)]);
  const shown = viewTable(label, ["system", "number"], rows);
  views.set("many", () => [make("h1", {}, "Many"), shown]);
  location.hash = "#many";
}"""


def test_a_long_table_is_in_pages_and_all_its_rows_are_sorted_filtered_and_given(
    browser, demo_page, tmp_path
):
    look = Look(browser, demo_page, 1280)
    look.page.evaluate(MAKE_MANY, MANY)
    table = f"#view .scroll[aria-label='{MANY}'] table"
    look.page.wait_for_selector(table)
    tools = look.page.locator("#view .tools", has=look.page.get_by_label(f"Filter rows: {MANY}"))
    assert len(look.column(table, 1)) == 200
    assert "1 to 200 of 450 rows" in tools.inner_text()
    assert look.page.get_by_label(f"Previous rows: {MANY}").is_disabled()
    for first in (201, 401):
        look.page.get_by_label(f"Next rows: {MANY}").click()
        ends(look, f"#many?rows={first}")
        assert look.column(table, 1)[0] == f"s{first - 1}"
    assert len(look.column(table, 1)) == 50
    assert look.page.get_by_label(f"Next rows: {MANY}").is_disabled()
    by_head(look, table, "number")
    by_head(look, table, "number")  # the least first, which was on the last page
    ends(look, "#many?sort=ascending+number")
    assert look.column(table, 1)[:2] == ["s449", "s448"]
    look.page.get_by_label(f"Filter rows: {MANY}").fill("s3")
    ends(look, "&filter=s3")
    found = [f"s{n}" for n in (*range(399, 299, -1), *range(39, 29, -1), 3)]
    assert look.column(table, 1) == found
    assert f"{len(found)} of 450 rows" in tools.inner_text()
    _, *rows = read(saved(look, f"CSV: {MANY}", tmp_path))
    assert [row[0] for row in rows] == found
    look.page.get_by_label(f"Filter rows: {MANY}").fill("")
    _, *rows = read(saved(look, f"CSV: {MANY}", tmp_path))
    assert [row[0] for row in rows] == [f"s{n}" for n in range(449, -1, -1)]
    for rows, first in (("9999", "s49"), ("-5", "s449"), ("x", "s449")):
        look.go(f"#many?sort=ascending+number&rows={rows}")
        assert look.column(table, 1)[0] == first
    assert look.said == []


def test_a_picture_of_many_systems_has_the_first_thirty_until_all_are_asked_for(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    look.page.evaluate(
        """() => {
          const rows = Array.from({ length: 35 }, (_, n) => (
            { system: `s${n}`, score: 1 - n / 50, low: 0.1, high: 1, lanes: [], groups: "" }));
          views.set("many", () => [
            make("h1", {}, "Many"), place("view-chart", "leaderboard", rows, "Many systems: 35")]);
          location.hash = "#many";
        }"""
    )
    names = look.page.locator("#view-chart .role-axis[aria-label^='Y-axis'] .role-axis-label text")
    for button, shown, address in (
        ("All 35", 30, "#many"),
        ("First 30", 35, "#many?lines=all"),
        ("All 35", 30, "#many"),
    ):
        look.page.get_by_role("button", name=f"{button}: Many systems").wait_for()
        assert look.page.url.endswith(address)
        assert names.all_text_contents() == [f"s{n}" for n in range(shown)]
        look.page.get_by_role("button", name=f"{button}: Many systems").click()
    assert look.said == []


def test_nothing_of_a_tab_moves_while_it_is_drawn(browser, demo_page):
    """Layout shift, as Chromium has it; up to 0.1 counts as good."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(
        "window.moved = 0; new PerformanceObserver((seen) => seen.getEntries().forEach((one) => {"
        " moved += one.value; })).observe({ type: 'layout-shift', buffered: true });"
    )
    for tab in ("overview", "systems", "queries", "judges", "grid", "system/bm25"):
        page.goto("about:blank")
        page.goto(f"{demo_page.as_uri()}#{tab}")
        page.wait_for_selector("html[data-ready=yes]")
        page.evaluate("() => new Promise((seen) => setTimeout(seen, 200))")
        assert page.evaluate("moved") < 0.1, tab
