"""The report in a real browser: what a person sees at a desk and on a phone, by day and by night.

Screenshots are kept in the folder that $GRADELAKE_SCREENSHOTS names, where it is set.
"""

import os
from pathlib import Path

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests.browser import Look
from tests.conftest import made_once
from tests.end_to_end.edited_demo import BIRDS
from tests.report_page import HOSTILE, make_hostile


@pytest.fixture(params=["demo", pytest.param("dl19", marks=pytest.mark.slow)])
def page(request) -> tuple[str, Path]:
    return request.param, request.getfixturevalue(f"{request.param}_page")


def keep(look: Look, name: str) -> None:
    folder = os.environ.get("GRADELAKE_SCREENSHOTS")
    if folder:
        look.page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


@pytest.mark.parametrize(
    ("device", "width", "scheme"), [("desk", 1280, "light"), ("phone", 390, "dark")]
)
def test_every_section_is_drawn_without_a_word_or_a_request(browser, page, device, width, scheme):
    name, file = page
    look = Look(browser, file, width, scheme)
    keep(look, f"{name}-{device}")
    assert look.said == []
    assert [url for url in look.asked if not url.startswith("blob:")] == []
    assert not look.wider_than_the_window
    for picture in ("leaderboard", "scatter", "correlation", "coverage"):
        drawn = look.page.locator(f"#{picture}-chart svg")
        assert drawn.count() == 1, picture
        assert drawn.bounding_box()["width"] > 0.6 * min(width, 800), picture
        words = look.page.locator(f"#{picture}-chart[role=graphics-document]")
        assert len(words.get_attribute("aria-label")) > 20, "a picture says what it shows"
    assert look.page.locator("#grid-table td.grade").count() >= 100
    assert look.page.locator("figure.card").count() >= 1
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


@pytest.mark.parametrize("intrusion", INTRUSIONS)
def test_its_policy_refuses_whatever_is_not_its_own(browser, demo_page, intrusion):
    look = Look(browser, demo_page, 1280)
    assert not look.runs(INTRUSIONS[intrusion])
    assert any("Content Security Policy" in line for line in look.said), look.said


def test_pointing_at_a_system_shows_its_figures(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    look.page.locator("#leaderboard-chart svg .mark-symbol path").first.hover()
    tip = look.page.locator("#vg-tooltip-element")
    tip.wait_for()
    assert "standard error" in tip.inner_text()
    assert tip.evaluate("tip => getComputedStyle(tip).position") == "fixed"
    assert look.said == []


def leaderboard(folder: Path, collection: str, label_set: str, measure: str, level: int):
    with Lake.published(Project.find(folder)) as lake:
        return lake.rows(
            "select rank, system, score_4dp from lake.marts.leaderboard where collection = ? and "
            "label_set = ? and measure = ? and level = ? order by rank, system",
            collection,
            label_set,
            measure,
            level,
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
        look.page.select_option("#choose-level", str(level))
        look.page.wait_for_function(
            "words => document.getElementById('leaderboard-says').textContent.includes(words)",
            arg=f"by {measure} of the labels {label_set}",
        )
        theirs = leaderboard(graded_demo, "demo", label_set, measure, level)
        assert look.column("#leaderboard-table", 2) == [system for _, system, _ in theirs]
        assert look.column("#leaderboard-table", 4) == [f"{score:.4f}" for *_, score in theirs]
    assert look.said == []


def test_it_opens_on_the_peoples_own_board_and_compares_the_next_labels_with_it(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    assert look.page.locator("#choose-labels").input_value() == "assessor:human"
    assert "nDCG@10 of the labels assessor:human" in look.text("#leaderboard-says")
    assert "Reference: assessor:human, 193 judgments" in look.text("header")
    says = look.text("#scatter-says")
    assert "between judge:lexical_direct and assessor:human." in says
    assert "The leaderboard above is assessor:human's own" in says
    look.page.select_option("#choose-labels", "lexical/v0/best")
    look.page.wait_for_function(
        "document.getElementById('scatter-says').textContent.includes('lexical/v0/best and')"
    )
    assert "own" not in look.text("#scatter-says")
    assert look.said == []


def test_a_press_on_a_head_sorts_and_another_turns_the_order(browser, demo_page):
    look = Look(browser, demo_page, 1280)
    heads = look.page.locator("#leaderboard-table thead th").all_inner_texts()
    column = heads.index("RR") + 1
    button = look.page.locator(f"#leaderboard-table thead th:nth-child({column}) button")
    button.focus()
    look.page.keyboard.press("Enter")
    falling = [float(score) for score in look.column("#leaderboard-table", column)]
    assert falling == sorted(falling, reverse=True)
    head = look.page.locator(f"#leaderboard-table thead th:nth-child({column})")
    assert head.get_attribute("aria-sort") == "descending"
    button.click()
    rising = [float(score) for score in look.column("#leaderboard-table", column)]
    assert rising == sorted(rising)
    assert rising != falling


def test_the_grid_is_walked_with_keys_and_tells_answer_and_passage(browser, demo_page, graded_demo):
    look = Look(browser, demo_page, 1280)
    look.page.select_option("#grid-grader", "lexical")
    look.page.select_option("#grid-query", BIRDS)
    assert "how migrating birds find their way: 49 passages" in look.text("#grid-says")
    look.page.locator("#grid-table td.grade").first.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowUp"):
        look.page.keyboard.press(key)
    cell = look.page.locator("#grid-table td.grade:focus")
    assert (cell.get_attribute("data-row"), cell.get_attribute("data-column")) == ("0", "1")
    with Lake.published(Project.find(graded_demo)) as lake:
        ((passage, text),) = lake.rows(
            "select passage_id, any_value(text) from lake.marts.grade_grid "
            "inner join lake.raw.passages using (collection, passage_id) "
            "where grader = 'lexical' and query_id = ? group by passage_id, mean_grade "
            "order by mean_grade desc, passage_id limit 1",
            BIRDS,
        )
        ((item, grade),) = lake.rows(
            "select item_text, grade from lake.marts.grade_grid where grader = 'lexical' "
            "and query_id = ? and passage_id = ? order by item_id limit 1 offset 1",
            BIRDS,
            passage,
        )
    detail = look.text("#grid-detail")
    for words in (f"Grade {grade}", item, passage, text):
        assert words in detail
    look.page.click("#grid-on")
    look.page.get_by_text("passages 41 to 49 of 49", exact=True).wait_for()
    assert look.page.locator("#grid-on").is_disabled()


@pytest.mark.slow
def test_dl19_with_its_whole_grid_is_one_small_file(browser, dl19_page, dl19_graded):
    with Lake.published(Project.find(dl19_graded)) as lake:
        cells = lake.value("select count(*) from lake.marts.grade_grid where grade is not null")
    assert cells > 15_000
    assert dl19_page.stat().st_size < 5_000_000
    look = Look(browser, dl19_page, 1280)
    milliseconds = look.page.evaluate("performance.now()")
    print(
        f"{cells:,} cells, {dl19_page.stat().st_size / 1e6:.1f} MB, open in {milliseconds:.0f} ms"
    )


def test_it_prints_what_is_on_the_page(browser, demo_page, tmp_path):
    look = Look(browser, demo_page, 1280)
    printed = look.page.pdf(path=str(tmp_path / "printed.pdf"), format="A4")
    assert printed.startswith(b"%PDF")
    look.page.emulate_media(media="print")
    assert look.page.locator("nav").is_hidden()
    assert look.page.locator("#leaderboard-table").is_visible()


@pytest.mark.slow
def test_names_and_texts_that_are_html_stay_texts(browser, tmp_path_factory):
    folder = made_once(tmp_path_factory, "hostile-report", make_hostile)
    look = Look(browser, folder / "reports" / "tiny.html", 1280)
    look.page.locator("#grid-table td.grade").first.focus()
    assert HOSTILE in look.text("#grid-detail")
    assert look.page.evaluate("window.broken === undefined")
    assert look.said == []
