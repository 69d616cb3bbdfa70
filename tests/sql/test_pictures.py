"""Pictures from their specs: every form, the same bytes each time, texts that stay texts."""

import re
from datetime import date
from functools import cache
from io import BytesIO
from itertools import product
from xml.etree import ElementTree

import pytest
from PIL import Image

from gradelake.sql.shown.pictures.picture import FORMS, Picture, draw, look, spec_of, specs
from tests.drawn import SVG, marks, texts
from tests.places import REPOSITORY

SCORES = [
    {"system": name, "score": score, "low": score - 0.1, "high": score + 0.1, "groups": groups}
    for name, score, groups in (("one", 0.8, "a"), ("two", 0.6, "ab"), ("three", 0.4, "b"))
]
PAIRS = [
    {"system": name, "reference": x, "labels": y, "far": x > 0.5, "named": name if x > 0.5 else ""}
    for name, x, y in (("one", 0.2, 0.3), ("two", 0.4, 0.5), ("three", 0.7, 0.1))
]
DIFFERENCES = [
    {"query_id": f"q{n}", "query": "why", "score": 0.5, "difference": value}
    for n, value in enumerate((0.3, 0.1, -0.2))
]
# a picture of each spec, and the kind of mark that each of its rows has one of
PICTURES = {
    "boards": (
        Picture(
            "boards",
            [
                {**row, "shown": row["system"], "board": board, "scaled": row["score"]}
                for row in SCORES
                for board in ("AP", "RR")
            ],
            {"systems": ["one", "two", "three"], "boards": ["AP", "RR"]},
        ),
        "point",
    ),
    "by_query": (Picture("by_query", DIFFERENCES), "bar"),
    "calibration": (
        Picture(
            "calibration",
            [
                {"shown": "flan", "place": 0, "n": 5, "bin": n, "mean_probability": n / 10}
                | {"relevant_share": n / 20}
                for n in (1, 4, 9)
            ],
            {"graders": ["flan"]},
        ),
        "point",
    ),
    "confusion": (
        Picture(
            "confusion",
            [
                {"label": label, "judgment": judgment, "n": 3, "share": 0.5}
                for label in (0, 1, 2)
                for judgment in (0, 1)
            ],
        ),
        "rect",
    ),
    "correlation": (
        Picture(
            "correlation",
            [
                {"label_set": row["system"], "statistic": "tau", "value": row["score"], **row}
                for row in SCORES
            ],
            {"statistics": ["tau"]},
        ),
        "point",
    ),
    "coverage": (
        Picture(
            "coverage",
            [
                {"system": row["system"], "measure": f"Cover@{k}", "cover": row["score"] * k / 20}
                for row in SCORES
                for k in (5, 20)
            ],
        ),
        "point",
    ),
    "days": (
        Picture(
            "days",
            [
                {"day": f"2026-11-0{n}", "what": what, "n": n}
                for n in (1, 2)
                for what in ("graded", "failed")
            ],
        ),
        "bar",
    ),
    "grades": (
        Picture(
            "grades",
            [
                {"shown": item, "place": grade, "grades": f"grade {grade}", "share": 1 / 3}
                for item in ("1 why", "2 how")
                for grade in range(3)
            ],
        ),
        "bar",
    ),
    "leaderboard": (Picture("leaderboard", SCORES), "point"),
    "moves": (
        Picture(
            "moves",
            [
                {"system": name, "place_a": a, "place_b": b, "far": a != b}
                | {"label_a": f"{name} {a}", "label_b": f"{b} {name}"}
                for name, a, b in (("one", 1, 2), ("two", 2, 1), ("three", 3, 3))
            ],
        ),
        "rule",
    ),
    "overview": (
        Picture(
            "overview",
            [
                row | {"shown": row["system"], "at": at, "query": f"q{at}", "value": at / 4}
                for row in SCORES
                for at in range(4)
            ],
            {"title": "one leads", "under": ["three systems"]},
        ),
        "rect",
    ),
    "scatter": (
        Picture(
            "scatter",
            PAIRS,
            {
                "named": ["", "three"],
                "shapes": ["circle", "triangle-up"],
                "legend": {"values": ["three"]},
            },
        ),
        "point",
    ),
    "topics": (Picture("topics", DIFFERENCES, {"reach": 0.3}), "bar"),
}
# names of systems as nobody should give them
HOSTILE = [
    "</text><script>alert(1)</script>",
    '"}],"mark":"bar","x":[{"',
    "{title} {rows}",
    "{title}",
    "var(--second)",
    "datum.score",
    "a.b[0]['c']",
    "\x00\x1b[31m\ud800red",
    "two\nlines",
    "<!-- & ]]> --> &amp; &#0;",
    'url(http://127.0.0.1/x.png)" onload="x',
    '\\"+width+"',
    "\\u",
]
SPOKEN = [re.sub("[\x00\x1b\ud800]", "\ufffd", name) for name in HOSTILE]


@cache
def drawn(name: str, form: str) -> bytes:
    return draw(PICTURES[name][0], form)


def test_every_spec_has_a_picture_here():
    assert PICTURES.keys() == specs().keys()


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_is_drawn_in_every_form_with_a_mark_for_each_row(name):
    picture, kind = PICTURES[name]
    files = {form: drawn(name, form) for form in FORMS}
    assert len(marks(files["svg"], kind)) == len(picture.rows)
    assert files["pdf"].startswith(b"%PDF")
    image = Image.open(BytesIO(files["png"])).convert("RGB")
    assert len(image.getcolors(1 << 24)) > 5, "something is drawn"
    width, height = re.search(rb'width="([\d.]+)pt" height="([\d.]+)pt"', files["svg"]).groups()
    inches = (float(width) / 72, float(height) / 72)
    assert image.size == pytest.approx([side * 200 for side in inches], abs=1)
    page = re.search(rb"MediaBox \[0 0 ([\d.]+) ([\d.]+)", files["pdf"]).groups()
    assert [float(side) / 72 for side in page] == pytest.approx(inches, abs=0.01)


def test_marks_say_what_rows_say():
    points = marks(draw(PICTURES["leaderboard"][0], "svg"), "point")
    assert [(one["system"], float(one["score"])) for one in points] == [
        (row["system"], row["score"]) for row in SCORES
    ]


def test_the_same_rows_give_the_same_bytes_whatever_was_drawn_before():
    for name, form in [*product(PICTURES, FORMS)][::-1]:
        assert draw(PICTURES[name][0], form) == drawn(name, form), (name, form)
        for when in (date.today().isoformat(), "CreationDate"):
            assert when.encode() not in drawn(name, form), "no date"


def test_systems_that_share_a_group_have_one_line_beside_them():
    """`a` has two systems and `b` two, each a line of its own; nobody has the third."""
    svg = ElementTree.fromstring(draw(PICTURES["leaderboard"][0], "svg"))
    soft = look()["colours"]["soft"]
    lines = [each for each in svg.iter(f"{SVG}line") if each.get("stroke-linecap") == "square"]
    assert {each.get("stroke") for each in lines} == {soft}
    places = [each.get("transform")[10:-1].split(",") for each in lines]
    (a, first), (same, second), (b, third), (other, last) = places
    assert (a, b) == (same, other)
    assert float(a) < float(b)
    assert (second, float(last) - float(third)) == (third, float(second) - float(first))


@pytest.mark.parametrize("name", ["leaderboard", "scatter", "coverage"])
def test_a_hostile_name_stays_text(name):
    picture, _ = PICTURES[name]

    def renamed(names: list[str]) -> Picture:
        some = [row | {"system": each} for each in names for row in picture.rows[:1]]
        slots = {"title": names, "x": names}
        if name == "scatter":
            some = [row | {"named": row["system"], "far": True} for row in some]
            values = dict.fromkeys(names)
            slots |= {"named": [*values], "shapes": ["circle"] * len(values)}
            slots |= {"legend": {"values": [*values]}}
        if name == "coverage":
            slots["chosen"] = names[0]
        return Picture(name, some, slots)

    svg = draw(renamed(HOSTILE), "svg")
    harmless = draw(renamed([f"system {n}" for n in range(len(HOSTILE))]), "svg")
    tags = [
        {(each.tag, *sorted(each.keys())) for each in ElementTree.fromstring(one).iter()}
        for one in (svg, harmless)
    ]
    assert tags[0] == tags[1]
    lines = [line for each in SPOKEN for line in each.split("\n")]
    assert set(lines) <= set(texts(svg))
    for form in FORMS[1:]:
        assert draw(renamed(HOSTILE), form)


def test_a_slot_that_a_spec_does_not_have_is_refused():
    with pytest.raises(ValueError, match="no slots \\['titel'\\]"):
        spec_of(Picture("leaderboard", SCORES, {"titel": "x"}))


@pytest.mark.parametrize("name", PICTURES)
def test_no_picture_overflows_a_column_of_a_paper(name):
    """Every edge is white, and shapes of equal axes are square."""
    picture, _ = PICTURES[name]
    image = Image.open(BytesIO(draw(picture, "png", width=3.3, font_size=7))).convert("RGB")
    assert image.width == 660
    for box in ((0, 0, 660, 3), (0, 0, 3, image.height), (657, 0, 660, image.height)):
        assert image.crop(box).getextrema() == ((255, 255),) * 3
    svg = draw(picture, "svg", width=3.3, height=5, font_size=7).decode()
    assert 'width="237.6pt" height="360pt"' in svg
    if name == "scatter":
        across, down = re.search(r'class="background"[^>]*h([\d.]+)v([\d.]+)', svg).groups()
        assert across == down


def test_type_is_as_large_as_asked_for():
    sizes = {}
    for size in (9, 12):
        svg = draw(PICTURES["leaderboard"][0], "svg", font_size=size).decode()
        sizes[size] = [float(x) for x in re.findall(r'font-size="([0-9.]+)px"', svg)]
    assert min(sizes[9]) == 9 * 96 / 72, "of the axes, in pixels"
    assert sizes[12] == pytest.approx([size * 12 / 9 for size in sizes[9]])


def test_files_and_the_page_by_day_have_the_same_colours():
    css = (REPOSITORY / "analyses/report/page/report.css").read_text()
    of_the_page = dict(re.findall(r"--([\w-]+): (#\w+);", css.split("}")[0]))
    assert look()["colours"].items() <= of_the_page.items()
