"""`gradelake rubric edit`: from the editor to rows of the file, at version 0."""

import csv
import json
import re

import pytest

from gradelake.ingest.csv_tables import split_answers, written
from gradelake.ingest.rubric import edits_file
from gradelake.sql.common.rubric_items import item_id_of
from tests.ingest.rubric.conftest import BEES, BLUE, LIGHT, SKY, line_of, without
from tests.ingest.rubric.editing import edit, rows

# --- each kind of edit --------------------------------------------------------------------------


def test_a_changed_text_becomes_a_reword_row(tiny):
    said = edit(tiny, f"text = text.replace({SKY!r}, 'Why is it \"blue\", #1?')").stdout
    assert rows(tiny) == [("1", "mine", SKY, "reword", "q1", "", 'Why is it "blue", #1?', "", "")]
    assert 'reworded    Why is [-the-]{+it+} [-sky-]{+"blue",+} [-blue?-]{+#1?+}' in said
    assert "saved as version 1 of tiny's rubric" in said
    assert "next: gradelake build" in said
    assert "gradelake grade tiny --grader NAME --rubric-version 1" in said


def test_a_removed_line_becomes_a_drop_row_and_needs_no_grading(tiny):
    said = edit(
        tiny, f"text = ''.join(l for l in text.splitlines(True) if {BLUE!r} not in l)"
    ).stdout
    assert rows(tiny) == [("1", "mine", BLUE, "drop", "q1", "", "", "", "")]
    assert "1 dropped" in said
    assert "gradelake grade" not in said


def test_a_changed_weight_becomes_a_reweight_row(tiny):
    said = edit(tiny, "text = text.replace('  2  ', '  0.25  ')").stdout
    assert rows(tiny) == [("1", "mine", LIGHT, "reweight", "q1", "", "", "", "0.25")]
    assert f"reweighted  {LIGHT} (weight 2 -> 0.25)" in said


def test_a_new_line_becomes_an_add_row(tiny):
    edit(tiny, "text += '+ 2 nugget Air is thin [answers: a\\\\|b|c]\\n'")
    assert rows(tiny) == [("1", "mine", "", "add", "q1", "nugget", "Air is thin", "a\\|b|c", "2")]
    assert split_answers(rows(tiny)[0][7]) == ["a|b", "c"]


def test_a_text_and_weight_changed_together_are_one_row(tiny):
    edit(tiny, f"text = text.replace('2  question  {LIGHT}', '3  question  What is light?')")
    assert rows(tiny) == [("1", "mine", LIGHT, "reword", "q1", "", "What is light?", "", "3")]


def test_several_queries_and_banks_are_edited_in_one_sheet_and_one_version(tiny):
    sheet = tiny.sheet("q2", "q1")
    assert re.findall("@query .* @base", sheet) == [
        "@query q2 @bank mine @base",
        "@query q1 @bank facets @base",
        "@query q1 @bank mine @base",
    ]
    tiny.use(without(sheet, BEES) + "+ question New?\n")
    assert [row[:5] for row in rows(tiny)] == [
        ("1", "mine", BEES, "drop", "q2"),
        ("1", "mine", "", "add", "q1"),
    ]


def test_items_that_differ_only_in_their_facet_are_told_apart(tiny):
    sheet = tiny.sheet("q1")
    other = item_id_of("q1", "f2", "Same words?")
    tiny.use(sheet.replace(line_of(sheet, other)[1], f"{other}  9  question  Same words?"))
    assert rows(tiny) == [("1", "facets", other, "reweight", "q1", "", "", "", "9")]


def added(tiny) -> list[tuple]:
    """(facet, item) of what was added, as a build has it."""
    shown = json.loads(tiny.rubric("show", "q1", "--json").stdout)
    (query,) = shown if isinstance(shown, list) else [shown]
    return [
        (item["facet_id"], item["item_id"])
        for item in query["items"]
        if item["in_this_version"] == "added"
    ]


@pytest.mark.slow
def test_a_new_line_may_name_a_facet_and_a_file_without_the_column_gets_it(tiny):
    of_before = edits_file.COLUMNS[:-1]
    values = ("1", "tiny", "mine", "", "add", "q1", "nugget", 'Of "before",\nor so', "", "", "", "")
    tiny.edits.parent.mkdir()
    tiny.edits.write_text(written([of_before, values]))
    assert added(tiny) == [("", item_id_of("q1", "", values[7]))]
    sheet = tiny.sheet("q1")
    assert "\n# facet f1\n# facet f2\n@query q1 @bank facets" in sheet
    heading = line_of(sheet, "@bank facets")[1]
    without_facet = sheet.replace(heading, f"{heading}\n+ question Plain?")
    tiny.use(without_facet)
    assert tiny.edits.read_text().startswith(written([of_before, values]))
    sheet = tiny.sheet("q1")
    heading = line_of(sheet, "@bank facets")[1]
    tiny.use(sheet.replace(heading, f"{heading}\n+ @facet f2 3 question New?"))
    (first, second, third) = csv.DictReader(tiny.edits.open(newline=""))
    assert tuple(first.values()) == (*values, "")
    assert (second["text"], second["facet_id"]) == ("Plain?", "")
    assert (third["text"], third["weight"], third["facet_id"]) == ("New?", "3", "f2")
    assert added(tiny) == [("f2", item_id_of("q1", "f2", "New?"))]


def test_an_unknown_facet_is_refused_with_its_line_and_with_its_row(tiny):
    sheet = tiny.sheet("q1")
    heading = line_of(sheet, "@bank facets")[1]
    error = tiny.use(sheet.replace(heading, f"{heading}\n+ @facet f3 question New?"), code=2).error
    number = line_of(sheet, "@bank facets")[0] + 1
    assert f"sheet.txt:{number}: the query has no facet 'f3' (known: f1, f2)" in error
    tiny.edits.parent.mkdir()
    for action, facet, wrong in (
        ("add", "f3", "query q1 has no facet 'f3'"),
        ("drop", "f1", "facet_id belongs to add, not to drop"),
    ):
        item = item_id_of("q1", "f1", "Same words?") if action == "drop" else ""
        kind, text = ("", "") if item else ("question", "New?")
        values = ("1", "tiny", "facets", item, action, "q1", kind, text, "", "", "", "", facet)
        tiny.edits.write_text(written([edits_file.COLUMNS, values]))
        error = tiny.rubric("show", "q1", code=2).error
        assert "row 1" in error
        assert wrong in error


@pytest.mark.parametrize(
    ("code", "options", "reason"),
    [
        ("", ["--reason", "too, easy"], "too, easy"),
        ("text = text.replace('@reason', '@reason in the sheet')", [], "in the sheet"),
        ("text = text.replace('@reason was', '@reason is')", ["--reason", "was 1"], "is 1"),
    ],
)
def test_the_reason_comes_from_the_option_or_the_sheet(tiny, code, options, reason):
    edit(tiny, f"{code}\ntext = text.replace({SKY!r}, 'One?')", *options)
    assert [row["reason"] for row in csv.DictReader(tiny.edits.open(newline=""))] == [reason]


# --- sheets as files ----------------------------------------------------------------------------


def test_a_printed_sheet_used_as_it_is_changes_nothing(tiny):
    assert tiny.use(tiny.sheet("q1", "q2")).stdout == "nothing was changed\n"
    assert not tiny.edits.exists()


def test_a_sheet_may_come_from_standard_input(tiny):
    sheet = without(tiny.sheet("q2"), BEES)
    tiny.rubric("edit", "q2", "--from", "-", stdin=sheet)
    assert [row[2:4] for row in rows(tiny)] == [(BEES, "drop")]


def test_json_says_what_was_saved(tiny):
    sheet = tiny.sheet("q2")
    unchanged = json.loads(tiny.use(sheet, "--json").stdout)
    assert (unchanged["version"], unchanged["edits"]) == (None, [])
    done = json.loads(tiny.use(without(sheet, BEES), "--json").stdout)
    assert (done["collection"], done["version"]) == ("tiny", 1)
    assert [(e["action"], e["old_text"], e["text"]) for e in done["edits"]] == [
        ("drop", BEES, None)
    ]


def test_a_wrong_sheet_names_file_and_line_and_writes_nothing(tiny):
    sheet = tiny.sheet("q1")
    number, line = line_of(sheet, SKY)
    error = tiny.use(sheet.replace(line, f"deadbeef {line[8:]}"), code=2).error
    assert f"sheet.txt:{number}: there is no item 'deadbeef' here" in error
    assert not tiny.edits.exists()


def test_a_sheet_of_other_queries_than_those_named_is_refused(tiny):
    error = tiny.use(tiny.sheet("q1"), "--bank", "facets", code=2).error
    assert "no query 'q1' with a bank 'mine' to edit here" in error


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["edit"], "name the queries to edit"),
        (["edit", "q3", "--print"], "tiny has no query 'q3'\n  Known: q1, q2."),
        (["edit", "q1", "--print", "--bank", "mines"], "no bank 'mines'\n  Did you mean 'mine'?"),
        (["edit", "q1", "--print", "--collection", "tinny"], "Did you mean 'tiny'?"),
        (["edit", "q1", "--print", "--from", "x"], "--from and --print cannot be used together"),
        (["edit", "--from", "nowhere.txt"], "nowhere.txt: cannot be read"),
        (["show", "q3"], "tiny has no query 'q3'"),
        (["show", "q1", "--version", "1"], "no rubric version 1\n  Known: 0."),
        (["diff", "0", "4"], "no rubric version 4"),
    ],
)
def test_unknown_names_are_refused(tiny, arguments, problem, monkeypatch):
    monkeypatch.setenv("EDITOR", "true")
    assert problem in tiny.rubric(*arguments, code=2).error
