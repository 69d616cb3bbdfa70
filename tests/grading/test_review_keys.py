"""Answers of a review that come from a file or pipe."""

import io

import pytest

from gradelake.grading.review.keys import Lines
from gradelake.sql.common.errors import BadInput


def test_a_line_is_a_key_or_a_text_and_what_is_neither_is_named():
    shown = []
    lines = Lines(io.StringIO("A\nwhat a passage\nx\n"), shown.append)
    assert lines.key("? ", "ad") == "a"
    assert lines.line("note: ") == "what a passage"
    with pytest.raises(BadInput, match="line 3: 'x' is not one of a, d"):
        lines.key("? ", "ad")
    with pytest.raises(EOFError):
        lines.line("note: ")


def test_a_text_that_is_not_utf8_is_refused_before_it_is_kept():
    lines = Lines(io.StringIO("bad \udcff note\n"), lambda text: None)
    with pytest.raises(BadInput, match="not UTF-8"):
        lines.line("note: ")
