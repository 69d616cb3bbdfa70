"""Answers as people read them: how each kind of figure looks, in every form, whatever the names."""

import ast
import csv
import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import gradelake
from gradelake.analyses import answers
from gradelake.analyses.answers.asking import _known, stats
from gradelake.analyses.report.html import environment
from gradelake.nightly import night_text
from gradelake.sql.common.errors import BadInput
from gradelake.sql.shown import text
from gradelake.sql.shown.answer import (
    BEST,
    BOLD,
    BOXED,
    EMPTY,
    GREY,
    RULED,
    Answer,
    Cell,
    Column,
    Table,
    with_best_bold,
)
from gradelake.sql.shown.forms import ENDINGS, FORMS, written
from gradelake.sql.shown.kinds import KINDS, Interval, said_p, shown
from gradelake.sql.shown.pictures.picture import Picture, spec_of, specs
from gradelake.sql.shown.rows import table_of
from gradelake.sql.shown.text import show_table
from tests.command_line import typed

READ = ("table", "latex", "markdown", "html")  # those that people read
COLUMNS = [
    Column("judge", is_key=True),
    Column("kappa", kind="kappa"),
    Column("kappa_interval", kind="interval", ends="kappa", is_beside=True),
    Column("n", "pairs", "count"),
]
ROWS = [
    ["one", 0.45678, Interval(0.40123, 0.5), 12345],
    ["two", None, Interval(None, None, "too few queries"), 0],
]
KAPPAS = Answer({"collection": "c"}, "One agrees best.", tables=[Table("kappas", COLUMNS, ROWS)])


def alone(column: Column, *values) -> Answer:
    """An answer that has one column."""
    return Answer({}, tables=[Table("only", [column], [[value] for value in values])])


def cells(answer: Answer) -> list[str]:
    """What a reader of Markdown sees of the first column, the rows alone."""
    return [line.strip("| ") for line in written(answer, "markdown").splitlines()[2:]]


@pytest.mark.parametrize("form", FORMS)
def test_how_many_digits_a_kind_has_is_said_once_for_all_that_people_read(form, monkeypatch):
    before = written(KAPPAS, form)
    monkeypatch.setitem(KINDS, "kappa", replace(KINDS["kappa"], digits=2))
    after = written(KAPPAS, form)
    if form not in READ:
        assert after == before
        assert "0.45678" in before
        return
    for text_before, text_after in (("0.457", "0.46"), ("0.401 to 0.500", "0.40 to 0.50")):
        assert text_before in before
        assert text_after in after
        assert text_before not in after


def test_pictures_pages_nights_and_the_book_take_their_digits_from_the_kind(monkeypatch, capsys):
    gate = {"gate": "g", "system": "s", "measures": [
        {"verdict": "passed", "label_set": "l", "segment": "all", "measure": "AP"}
        | {"baseline": 0.45678, "system": 0.45678, "difference": 0.0}
    ]}  # fmt: skip
    picture = Picture("leaderboard", [], {"title": [], "x": [], "name": "shown"})

    def all_of_them() -> list[str]:
        specs.cache_clear()
        show_table(night_text._gates([gate]).tables[0])
        show_table(table_of(["score"], [[0.45678]], {}))
        script = environment("gradelake.analyses.report", "page").filters["figure"](
            0.45678, "score"
        )
        return [
            *capsys.readouterr().out.split(),
            script,
            *re.findall(r"\.\df", str(spec_of(picture))),
        ]

    before = all_of_them()
    monkeypatch.setitem(KINDS, "score", replace(KINDS["score"], digits=1))
    after = all_of_them()
    specs.cache_clear()
    assert before.count("0.457") == after.count("0.5") == 4
    assert (before.count(".3f"), after.count(".1f")) == (3, 3)


def test_an_interval_without_a_width_is_none_and_one_that_is_not_known_says_why():
    assert shown("kappa", Interval(0.298, 0.4551)) == "0.298 to 0.455"
    assert shown("kappa", Interval(0.298, 0.298)) == "none"
    assert shown("kappa", Interval(0.298, 0.298, "all alike")) == "none: all alike"
    assert shown("share", Interval(0.1, 0.25)) == "10.0% to 25.0%"
    assert "none: too few queries" in written(KAPPAS, "table")
    one, two = json.loads(written(KAPPAS, "json"))["kappas"]
    ends = [f"kappa_{end}" for end in ("low", "high", "no_interval")]
    assert [one[end] for end in ends] == [0.40123, 0.5, None]
    assert [two[end] for end in ends] == [None, None, "too few queries"]


def test_a_p_that_would_be_0_is_less_than_what_is_shown():
    column = Column("p", kind="p")
    values = (0.00049, 0.0005, 0.0123, 0.0, 1.0, None)
    assert cells(alone(column, *values)) == [
        "&#60; 0.001",
        "0.001",
        "0.012",
        "&#60; 0.001",
        "1.000",
        "--",
    ]
    assert [said_p(value) for value in (0.0002, 0.021, None)] == [
        "p < 0.001",
        "p = 0.021",
        "no test",
    ]


def test_thousands_have_commas_and_labels_none():
    assert shown("count", 1234567) == "1,234,567"
    assert shown("label", 1234) == "1234"
    assert shown("rank", 1234.0) == "1234"
    assert shown("score", -0.0001) == "0.000", "nobody reads a negative 0"


def test_what_is_undefined_is_said_and_null_where_programs_read():
    answer = alone(Column("kappa", kind="kappa"), None, float("nan"), 0.5)
    assert cells(answer) == ["--", "--", "0.500"]
    assert [row["kappa"] for row in json.loads(written(answer, "json"))["only"]] == [
        None,
        None,
        0.5,
    ]
    rows = csv.reader(io.StringIO(written(answer, "csv")))
    assert [*rows] == [["kappa"], [""], [""], ["0.5"]]


def test_a_figure_has_its_value_in_full_beside_its_text_in_html():
    page = written(KAPPAS, "html")
    assert '<td class="kappa n" data-value="0.45678">0.457</td>' in page
    assert '<td class="count n" data-value="12345.0">12,345</td>' in page


HOSTILE = (
    "a|b",
    "<script>alert(1)</script>",
    r"$\input{x}$ % \end{tabular}",
    "=cmd()",
    "@user",
    "[a](http://b.c)",
    "two\nlines\r\nand\ttabs",
    "\x1b[31mred\x9b0m",
    "**bold** _it_ `code` # 1. www.a.b",
    "a & b \\\\ ~^{}",
    "`````\n</pre><b>x</b>",
)


TAGS = {
    "pre",
    "section",
    "div",
    "p",
    "ul",
    "li",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
}


class Seen(HTMLParser):
    """The tags of a page, and its texts."""

    def __init__(self, page: str):
        super().__init__()
        self.tags, self.texts = set(), []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags |= {tag, *(name for name, _ in attrs if name.startswith("on"))}

    def handle_data(self, data):
        self.texts.append(data)


def named_everywhere(name: str) -> Answer:
    """An answer with the name wherever one can stand."""
    columns = [
        Column("title", is_title=True),
        Column("system", is_key=True),
        Column(name, name, "score", group=name),
        Column("other", kind="score"),
    ]
    rows = [[name, name, 0.5, -0.25], [name, Cell(None, shown=name), 0.25, 0.5]]
    table = Table("board", columns, rows, name)
    said = {"facts": [(name, name), ("", name)], "notes": [name], "next": [name]}
    return Answer({"name": name}, name, tables=[table], **said)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_means_anything_in_any_form(name, capsys):
    answer = named_everywhere(name)
    page = Seen(written(answer, "html"))
    assert page.tags <= TAGS
    assert name in "".join(page.texts)
    assert json.loads(written(answer, "json"))["board"][0]["system"] == name
    header, first, _ = csv.reader(io.StringIO(written(answer, "csv"), newline=""))
    for cell in (header[2], first[0], first[1]):
        assert cell.removeprefix("'") == name
        assert not re.match(r"[=+\-@\t\r]", cell), "no formula"
    assert first[3] == "-0.25", "a number is no formula"
    assert_plain_markdown(written(answer, "markdown"), name)
    assert_holds(written(answer, "latex"))
    text.show(answer)
    printed, warned = capsys.readouterr()
    for seen in (printed, warned, written(answer, "table")):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", seen), "nothing steers a terminal"


def assert_plain_markdown(document: str, name: str) -> None:
    """No markup but that of the form: tables of three columns, a heading, lists, a bold title."""
    document, n_fenced = re.subn(r"(?ms)^(`{4,})text$.*?^\1$", "", document)
    assert n_fenced == 2 * ("\n" in name), "a fact of several lines stands as it is"
    for line in document.splitlines():
        bare = re.sub("</?code>", "", line.removeprefix("- ").removeprefix("### "))
        if bare.startswith("| "):
            assert bare.count("|") == 4, bare
            bare = re.sub("[| ]|---:?", "", bare)
        bare = bare.removeprefix("**").removesuffix("**")
        assert not re.search(r"[<>\[\]*_`@|$\\\x1b]|www\.|\w://", bare), bare


def assert_holds(document: str) -> None:
    """LaTeX whose groups and environments close, and in which no name is a command."""
    bare = re.sub(r"\\[{}&%$#_]", "", re.sub(r"(?m)^%.*$", "", document))
    assert bare.count("{") == bare.count("}")
    assert bare.count(r"\begin{") == bare.count(r"\end{") >= 3  # table, adjustbox, tabular
    assert r"\input" not in bare
    assert "%" not in bare
    assert "\x1b" not in bare
    for alignment, inside in re.findall(
        r"(?s)\\begin\{tabular\}\{(.*?)\}\n.*?\\midrule\n(.*?)\\bottomrule", bare
    ):
        title, *rows = inside.splitlines()
        assert title.startswith(rf"\multicolumn{{{len(alignment)}}}{{l}}{{\textit{{")
        assert [row.count("&") for row in rows] == [len(alignment) - 1] * 2


@pytest.mark.parametrize("form", READ)
def test_rows_that_belong_together_stand_under_their_title(form):
    columns = [
        Column("label_set", is_title=True),
        Column("label", is_key=True),
        Column("n", kind="count"),
    ]
    rows = [["judge:a", "1", 3], ["judge:a", "0", 4], ["judge:b", "1", 5]]
    answer = Answer({}, tables=[Table("counts", columns, rows)])
    document = written(answer, form).replace("&#58;", ":")
    assert document.count("judge:a") == document.count("judge:b") == 1
    assert document.index("judge:a") < document.index("4") < document.index("judge:b")
    assert [row["label_set"] for row in json.loads(written(answer, "json"))["counts"]] == [
        row[0] for row in rows
    ]


def test_what_stands_out_is_marked_in_print_and_not_where_programs_read():
    marks = [{BOLD}, {BOLD, BEST}, {BOXED}, {GREY}, {BOLD, BOXED}, {RULED}]
    values = [Cell(0.5, frozenset(each)) for each in marks]
    answer = alone(Column("kappa", kind="kappa"), *values)
    latex = written(answer, "latex")
    (inside,) = re.findall(r"(?s)\\midrule\n(.*)\\bottomrule", latex)
    assert inside.splitlines() == [
        r"\textbf{0.500} \\",
        r"\textbf{\textit{0.500}} \\",
        r"\fbox{0.500} \\",
        r"\textcolor{gray}{0.500} \\",
        r"\fbox{\textbf{0.500}} \\",
        r"\midrule",
        r"0.500 \\",
    ]
    assert ",xcolor}" in latex
    assert ",xcolor}" not in written(KAPPAS, "latex")
    bold = [cell.startswith("**") for cell in cells(answer)]
    assert bold == [BOLD in each for each in marks]
    classes = re.findall('<td class="kappa n ?(.*?)"', written(answer, "html"))
    assert [set(each.split()) for each in classes] == marks
    assert written(answer, "csv").split() == ["kappa", *["0.5"] * len(marks)]


def test_the_best_is_bold_as_printed_and_ties_are_too():
    def bold(*values, kind="kappa", **how) -> list[bool]:
        table = Table("", [Column("x", kind=kind)], [[value] for value in values])
        marked = with_best_bold(table, ["x"], **how)
        return [BOLD in row[0].marks if isinstance(row[0], Cell) else False for row in marked.rows]

    assert bold(0.50004, 0.49996, None, -0.0001) == [True, True, False, False]
    assert bold(0.50004, 0.4994, EMPTY) == [True, False, False]
    assert bold(0.9, 0.86, 0.84, within=0.05) == [True, True, False]
    assert bold(Cell(0.9, error=0.02), Cell(0.85, error=0.03), Cell(0.8)) == [True, True, False]
    assert bold(12345, 2345, kind="count") == [True, False], "commas are no part of a number"
    table = Table("", [Column("x", kind="kappa")], [[0.9], [0.88]])
    (best,), (as_good,) = with_best_bold(table, ["x"], 0.05, marks_best=True).rows
    assert (best.marks, as_good.marks) == ({BOLD, BEST}, {BOLD})


def test_a_terminal_shows_the_first_rows_of_many_and_says_where_the_others_are(capsys):
    table = Table("pairs", [Column("n", kind="count")], [[n] for n in range(25)], most=10)
    text.show(Answer({}, tables=[table]))
    printed = capsys.readouterr().out
    assert printed.splitlines()[-1] == "(15 rows more: --table pairs --format csv)"
    assert len(printed.splitlines()) == 12
    for form in FORMS:
        assert "24" in written(Answer({}, tables=[table]), form), "a file has all"


def test_one_table_of_several_can_be_chosen():
    others = Table("pairs", [Column("n", kind="count")], [[7]])
    answer = replace(KAPPAS, tables=[*KAPPAS.tables, others])
    assert written(answer, "csv").startswith("judge,")
    assert written(answer.of("pairs"), "csv") == "n\n7\n"
    with pytest.raises(BadInput, match="there is no table 'pair'") as wrong:
        answer.of("pair")
    assert "pairs" in wrong.value.hint


def test_a_table_without_rows_has_its_head_in_every_form():
    answer = alone(Column("kappa_interval", "interval", "interval", ends="kappa"))
    assert written(answer, "csv") == "kappa_low,kappa_high,kappa_no_interval\n"
    assert json.loads(written(answer, "json"))["only"] == []
    for form in READ:
        assert "interval" in written(answer, form)


def test_python_finds_the_questions_though_no_command_was_run(small):
    code = f"import gradelake; print(dir(gradelake.open({str(small)!r}).stats))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"ranks", "correlation_table", "agreement"} <= {*ast.literal_eval(done.stdout)}


MINE = '''
"""How many passages there are."""

from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.shown.answer import Answer, Column, Table


@question("mine", "Count passages.")
@options.numbered("--least", "No fewer.", default=0)
def mine(lake, collection, least):
    """Say how many passages a collection has."""
    n = lake.value("select count(*) from lake.raw.passages where collection = ?", collection)
    columns = [Column("collection", is_key=True), Column("n", "passages", "count")]
    rows = [[collection, 1000 + n]] * (n >= least)
    return Answer({"collection": collection}, tables=[Table("passages", columns, rows)])
'''


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A file beside those of the questions."""
    folder = tmp_path / "questions"
    folder.mkdir()
    (folder / "mine.py").write_text(MINE)
    monkeypatch.setattr(answers, "__path__", [*answers.__path__, str(folder)])
    yield
    for every in (stats.commands, _known):
        every.pop("mine", None)


def test_a_file_with_a_question_is_a_command_in_every_form_and_a_function(mine, small, tmp_path):
    assert "Count passages." in typed(small, "stats --help").stdout
    assert "Say how many passages" in typed(small, "stats mine --help").stdout
    assert typed(small, "stats mine c").stdout.split() == ["collection", "passages", "c", "1,030"]
    assert json.loads(typed(small, "stats mine c --json").stdout)["passages"] == [
        {"collection": "c", "n": 1030}
    ]
    for ending, form in ENDINGS.items():
        file = tmp_path / f"mine{ending}"
        said = typed(small, f"stats mine c -o {file}").stdout
        assert said == f"{file}: wrote 1 row\n"
        assert file.read_text() == typed(small, f"stats mine c --format {form}").stdout
        assert ("1,030" if form in READ else "1030") in file.read_text()
    with gradelake.open(small) as lake:
        assert "mine" in dir(lake.stats)
        found = lake.stats.mine("c", least=5)
        assert found.rows().fetchall() == [("c", 1030)]
        assert lake.stats.mine("c", least=50)["passages"] == []
    assert "No such command 'min'" in typed(small, "stats min c", code=2).stderr
