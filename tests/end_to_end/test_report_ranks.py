"""The report's leaderboard in a real browser: what is sure of a rank stands beside it."""

import json
import re
from pathlib import Path

import pytest

from tests.browser import Look, chromium
from tests.conftest import gradelake

pytestmark = pytest.mark.slow

LABELS, MEASURE = "judge:overlap", "AP"
OTHER = "P@10"  # not one of the measures that the page has groups of
ADDRESS = f"board?labels={LABELS}&measure={MEASURE}"


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def page(demo, tmp_path_factory) -> Path:
    output = tmp_path_factory.mktemp("report") / "demo.html"
    gradelake(demo, "report", "demo", "-o", str(output))
    return output


@pytest.fixture(scope="module")
def known(demo) -> list[dict]:
    """The same systems as the command has them."""
    words = ("stats", "ranks", "demo", "--measure", MEASURE, "--label-set", LABELS)
    done = gradelake(demo, *words, "--replicates", "2000", "--json")
    return json.loads(done.stdout)["systems"]


def opened(browser, page: Path, address: str, width: int = 1280) -> Look:
    look = Look(browser, page, width)
    look.page.evaluate("to => { location.hash = to }", address)
    head = look.page.locator("#leaderboard-says")
    head.filter(has_text=re.search("measure=([^&]+)", address)[1]).wait_for()
    return look


def rows(look: Look) -> list[dict[str, str]]:
    heads = look.page.locator("#leaderboard-table thead th").all_inner_texts()
    heads = [head.strip(" ↑↓") for head in heads]
    lines = look.page.locator("#leaderboard-table tbody tr").all()
    return [
        dict(zip(heads, line.locator("th, td").all_inner_texts(), strict=True)) for line in lines
    ]


def test_the_table_has_intervals_ranges_of_ranks_and_letters_as_the_command_has(
    browser, page, known
):
    shown = rows(opened(browser, page, ADDRESS))
    assert [row["system"] for row in shown] == [one["system"] for one in known]
    for row, one in zip(shown, known, strict=True):
        assert row["95 % of ranks"] == f"{one['best_rank']} to {one['worst_rank']}"
        assert row["groups"] == one["groups"]
        low, high = map(float, row["95 % interval"].split(" to "))
        # the page's standard errors have four decimals
        assert (low, high) == pytest.approx((one["low"], one["high"]), abs=8e-4)


@pytest.mark.parametrize("width", [1280, 390])
def test_lines_beside_the_picture_join_those_that_share_a_letter(browser, page, known, width):
    look = opened(browser, page, ADDRESS, width)
    marks = look.page.locator("#leaderboard-chart svg .mark-rect path, #leaderboard-chart svg rect")
    boxes = [box for box in (mark.bounding_box() for mark in marks.all()) if box["width"] < 5]
    assert len(boxes) == sum(len(one["groups"]) for one in known)
    places = sorted({round(box["y"]) for box in boxes})
    assert len(places) == len(known)
    lines: dict[int, set[str]] = {}
    for box in boxes:
        system = known[places.index(round(box["y"]))]["system"]
        lines.setdefault(round(box["x"]), set()).add(system)
    letters = {letter for one in known for letter in one["groups"]}
    groups = [{one["system"] for one in known if letter in one["groups"]} for letter in letters]
    for group in groups:
        assert any(group <= line for line in lines.values())
    svg = look.page.locator("#leaderboard-chart svg").bounding_box()
    assert max(lines) + 5 <= svg["x"] + svg["width"]
    assert not look.wider_than_the_window
    assert look.said == []


def test_nobody_is_called_best_within_noise(browser, page, known):
    says = opened(browser, page, ADDRESS).page.locator("#leaderboard-says").inner_text()
    top = [one["system"] for one in known if "a" in one["groups"]]
    assert 1 < len(top) < len(known)
    assert f"The first {len(top)}, {top[0]} to {top[-1]}, cannot be told apart." in says
    assert "est:" not in says


def test_where_the_page_has_no_groups_it_gives_the_command_that_has(browser, page, demo):
    look = opened(browser, page, f"board?labels={LABELS}&measure={OTHER}&level=1")
    command = f"gradelake stats ranks demo --measure {OTHER} --label-set {LABELS} --level 1"
    assert command in look.page.locator("#leaderboard-says").inner_text()
    assert "groups" not in rows(look)[0]
    assert re.fullmatch(r"-?\d\.\d{3} to \d\.\d{3}", rows(look)[0]["95 % interval"])
    assert gradelake(demo, *command.split()[1:]).stdout.startswith(f"{LABELS}, {OTHER}, level 1:")
