"""What a reader takes out of the report: tables as CSV, their rows and columns; pictures."""

import csv
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from PIL import Image

from gradelake.sql.common.project import Project
from gradelake.sql.common.spreadsheet import shown_cell
from gradelake.sql.lake.lake import Lake
from tests.browser import Look
from tests.tiers import first_of

LIGHT_ACCENT = "#0072b2"


def saved(look: Look, label: str, folder: Path) -> Path:
    """The file that a button gives."""
    with look.page.expect_download() as download:
        look.page.get_by_label(label).click()
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
    with Lake.published(Project.find(graded_demo)) as lake:
        theirs = lake.rows(
            "select system, measure, printf('%.4f', score_4dp) from lake.marts.leaderboard "
            "where label_set = 'assessor:human' and level = 2 order by all"
        )
    system = head.index("system")
    ours = [
        (row[system], measure, row[at])
        for row in rows
        for at, measure in enumerate(head)
        if measure in {measure for _, measure, _ in theirs}
    ]
    assert sorted(ours) == theirs

    look.page.get_by_label("Filter rows: Leaderboard by every measure").fill("BM25")
    tools = look.page.locator(".tools", has=look.page.get_by_label(whole))
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


def test_a_small_table_has_no_filter_and_no_choice_of_columns(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    tools = look.page.locator(".tools", has=look.page.get_by_label("CSV: Graders"))
    assert tools.locator("input[type=search]").is_hidden()


CELLS = ["=1+1", "+x", "@sum", "-0.5", "-a", "'=1", "with, comma", 'a "word"', "0012", "two\nlines"]
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
    _, *rows = read(saved(look, "CSV: table", tmp_path))
    guarded = [text if text == "-0.5" else shown_cell(text) for text in CELLS]
    assert [cell for (cell,) in filter(None, rows)] == [
        *guarded,
        *filter(None, FIGURES.values()),
        "0.123456",
    ]


def test_every_table_gives_csv(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    names = look.page.evaluate(
        "tablesOf(document.querySelector('main')).map((table) => "
        "(table.closest('.scroll') ?? table).getAttribute('aria-label'))"
    )
    assert len(names) == len(set(names)) > 20
    buttons = look.page.get_by_role("button", name="CSV: ", include_hidden=True)
    assert {f"CSV: {name}" for name in names} == {
        button.get_attribute("aria-label") for button in buttons.all()
    }


def test_csv_of_the_grid_has_every_page_and_of_agreement_every_count(
    browser, demo_page, graded_demo, tmp_path
):
    with Lake.published(Project.find(graded_demo)) as lake:
        query = lake.value(
            "select query_id from lake.marts.grade_grid where grader = 'lexical' "
            "group by all having count(distinct passage_id) = 42"
        )
        grades = lake.rows(
            "select passage_id, item_text, grade from lake.marts.grade_grid "
            "where grader = 'lexical' and query_id = ? and grade is not null",
            query,
        )
        counts = lake.rows(
            "select label, judgment, n from lake.marts.confusion where label_set = "
            "'lexical/v0/best' and reference = 'assessor:human' and n > 0"
        )
    look = Look(browser, demo_page, 1280)
    look.page.select_option("#grid-query", query)
    look.page.get_by_text("passages 1 to 40 of 42").wait_for()
    button = look.page.get_by_label("CSV: Passages by items").bounding_box()
    table = look.page.get_by_label("Passages by items", exact=True).bounding_box()
    assert button["y"] + button["height"] <= table["y"] < button["y"] + 60, "over the table"
    assert table["x"] < 60 < table["width"]
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
    (corner, *judgments), *rows = read(saved(look, "CSV: Counts of lexical/v0/best", tmp_path))
    ours = [
        (int(label), int(judgment), int(n))
        for label, *cells in rows
        for judgment, n in zip(judgments, cells, strict=True)
        if n != "0"
    ]
    assert corner == "label"
    assert sorted(ours) == sorted(counts)


def test_csv_writes_words_that_are_gone_and_new_as_the_command_line_does(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    cell = "make('td', {}, 'a ', make('del', {}, 'red'), make('ins', {}, 'blue'), ' crust')"
    assert look.page.evaluate(f"field({cell})") == "a [-red-]{+blue+} crust"


@pytest.mark.parametrize("picture", first_of(1, ["leaderboard"], ["scatter"], ["coverage"]))
def test_a_picture_is_a_file_in_light_colours(browser, demo_page, tmp_path, picture):
    written = []
    for scheme in ("light", "dark"):
        look = Look(browser, demo_page, 1280, scheme)
        tools = look.page.locator(f"#{picture}-chart + .tools")
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
    expected = {
        "leaderboard": "bm25",
        "scatter": "nDCG@10 by assessor:human",
        "correlation": "Kendall's tau-b",
        "coverage": "share of the rubric covered",
    }[picture]
    assert any(text and text.startswith(expected) for text in texts), texts


def test_axes_of_the_scatter_are_equal_and_a_system_is_highlighted_by_address(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    ticks = [
        look.page.locator(f"#scatter-chart {axis} .role-axis-label text").all_text_contents()
        for axis in (".role-axis[aria-label^='X-axis']", ".role-axis[aria-label^='Y-axis']")
    ]
    assert ticks[0] == ticks[1] != []
    look.page.evaluate("location.hash = '#coverage?system=bm25'")
    look.page.wait_for_function("document.getElementById('coverage-system').value === 'bm25'")
    bold = look.page.locator("#coverage-chart text[font-weight=bold]")
    bold.wait_for()
    assert bold.all_text_contents() == ["bm25"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([0.1, 0.5, 0.52, 0.54, 0.56, 0.58, 0.6], [0.5, 0.6]),  # quartiles 0.52, 0.58: down to 0.43
        ([0.5, 0.52, 0.54, 0.56, 0.58, 0.6], [0.5, 0.6]),
        ([0.5, 0.5, 0.5, 0.5, 0.9], [0.5, 0.9]),  # no spread: nothing is an outlier
        ([0.3], [0.3, 0.3]),
    ],
)
def test_an_outlier_does_not_squash_the_rest(browser, demo_page, values, ends):
    assert Look(browser, demo_page, 1280).page.evaluate("fenced", values) == ends
