"""Counts for people: one is one."""

import pytest

from gradelake.sql.common.counted import counted


@pytest.mark.parametrize(
    ("n", "words", "said"),
    [
        (0, ("systems",), "0 systems"),
        (1, ("systems",), "1 system"),
        (2, ("systems",), "2 systems"),
        (1, ("queries",), "1 query"),
        (1, ("run entries",), "1 run entry"),
        (1234, ("run entries",), "1,234 run entries"),
        (1, ("systems of two files",), "1 system of two files"),
        (1, ("pairs", "are"), "1 pair is"),
        (2, ("pairs", "are"), "2 pairs are"),
        (1, ("passages", "have"), "1 passage has"),
        (1, ("failed",), "1 failed"),
    ],
)
def test_one_is_told_as_one(n, words, said):
    assert counted(n, *words) == said
