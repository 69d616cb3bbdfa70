"""What was typed or piped in, taken apart: statements, questions and dot commands."""

import pytest

from gradelake.sql.ask import question
from gradelake.sql.ask.shell.input_lines import Reader, needs_more, units
from gradelake.sql.common.errors import BadInput

HALF = "select '\udce9"  # a byte that is not UTF-8, as Python reads it


def test_units():
    for text, *found in (
        ("select 1; select 2;", "select 1", " select 2"),
        ("select 1", "select 1\n"),
        ("select ';' -- not ; here\n;", "select ';' -- not ; here\n"),
        ("@kappa --level 2;\n.tables\nselect\n1;", "@kappa --level 2", ".tables", "select\n1"),
        ("/* a; */ -- b;\n",),
        ("select 'a\u2028b\x0bc';", "select 'a\u2028b\x0bc'"),  # lines end at \n alone
    ):
        assert [unit.lstrip("\n") for unit in units(text)[0]] == found


def test_many_comments_are_told_from_a_statement_at_once():
    comments = "/* a * b **/ -- c\n" * 2000

    assert question.is_nothing(comments)
    assert not question.is_nothing(f"{comments}select")


def test_a_byte_that_is_not_utf8_ends_no_prompt_and_is_told_at_enter():
    assert not needs_more(f"{HALF};")
    with pytest.raises(BadInput, match="not UTF-8"):
        question.split(f"{HALF};")


def test_psqls_words_act_between_the_lines_of_a_statement_but_not_in_a_text():
    lines = ["select 6 *", "\\d leaderboard", "7 as answer, '", "\\d '", ";", "select 1", "\\q"]
    reader, found = Reader(), []
    for line in lines:
        found += [(reader.line, unit) for unit in reader.feed(line)]
    statement = "select 6 *\n\n7 as answer, '\n\\d '\n"
    assert found == [(2, "\\d leaderboard"), (1, statement), (7, "\\q")]
