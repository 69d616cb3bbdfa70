"""Counts for people: one is one."""

from gradelake.sql.common.counted import counted


def test_one_is_told_as_one():
    for expected, n, *words in (
        ("0 systems", 0, "systems"),
        ("1 system", 1, "systems"),
        ("2 systems", 2, "systems"),
        ("1 query", 1, "queries"),
        ("1,234 run entries", 1234, "run entries"),
        ("1 system of two files", 1, "systems of two files"),
        ("1 pair is", 1, "pairs", "are"),
        ("2 pairs are", 2, "pairs", "are"),
        ("1 passage has", 1, "passages", "have"),
        ("1 failed", 1, "failed"),
    ):
        assert counted(n, *words) == expected
