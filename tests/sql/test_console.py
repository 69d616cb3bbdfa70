"""Tables as people read them."""

import csv
import io
import json
import os
import pty
import re
import sys
import termios

from rich.cells import cell_len

from gradelake.sql.common import console
from gradelake.sql.common.console import (
    print_csv,
    print_json,
    print_line,
    print_records,
    print_table,
    say,
    warn,
)

# what a passage may hold to recolour, overwrite or rename the terminal it is shown on
HOSTILE = "\x1b[31mred\x1b[0m\rover\x08\x08\x7f\x9b31m\x1b]0;title\x07"
STEERING = {chr(n) for n in (*range(9), *range(11, 32), *range(127, 160))}
PROSE = "Long summer days in the north offer insects and few competitors for nesting places"


def shown(capsys) -> list[list[str]]:
    return [line.split() for line in capsys.readouterr().out.splitlines()]


def test_the_numbers_of_a_column_have_the_same_decimals(capsys):
    print_table(["score", "n"], [(0.5672, 8), (0.456, 7), (1.0, None)])
    assert shown(capsys) == [["score", "n"], ["0.5672", "8"], ["0.4560", "7"], ["1.0000"]]


def test_strange_numbers_and_texts_are_shown_as_they_are(capsys):
    print_table(
        ["tiny", "huge", "nan", "text", "list"],
        [(1e-12, 1e300, float("nan"), "[bold]a[/bold]", ["x", "y"])],
    )
    assert shown(capsys)[1] == ["1e-12", "1e+300", "nan", "[bold]a[/bold]", "x,", "y"]


def test_a_table_in_a_pipe_is_never_folded(capsys):
    print_table(["wide"] * 12, [["x" * 40] * 12])
    assert [len(line) for line in shown(capsys)] == [12, 12]


def test_what_steers_a_terminal_is_shown_and_not_sent(capsys):
    say("\x1b[31mred\x07\tname.run\nnext")
    warn("bytes \udcff of a name")
    captured = capsys.readouterr()
    assert captured.out.splitlines()[0].split() == ["\\x1b[31mred\\x07", "name.run"]
    assert captured.err == "bytes \\udcff of a name\n"


def test_a_name_that_is_not_utf_8_is_json_all_the_same(capsys):
    print_json({"file": "\udcff.run"})
    assert json.loads(capsys.readouterr().out) == {"file": "\udcff.run"}


def test_every_line_fits_the_terminal_and_numbers_stay_whole(capsys):
    rows = [
        (f"query-{n}", PROSE + str(n), f"doc/{n}/{'0123456789abcdef' * 3}", n / 7, n * 1000)
        for n in range(3)
    ]
    for width in (200, 100, 80, 40, 20):
        print_table(["query_id", "text", "passage_id", "score", "n"], rows, width)
        lines = capsys.readouterr().out.splitlines()
        assert max(map(cell_len, lines)) <= width
        for n, line in enumerate(lines[1:4]):
            assert line.endswith(str(n * 1000) if width > 40 else f"{n / 7:.10f}")
        assert (PROSE + "0" in lines[1]) == (width == 200)


def test_prose_loses_its_end_and_a_name_its_middle(capsys):
    print_table(["text", "id"], [(PROSE, "lexical/v0/second_best")] * 2, 40)
    text, name = shown(capsys)[1][:-1], "lexical/v0/second_best"
    assert " ".join(text).startswith("Long summer days")
    assert text[-1].endswith("…")
    print_table(["id"], [(name,)], 12)
    assert shown(capsys)[1] == ["lexica…_best"]


def test_different_names_never_become_the_same(capsys):
    columns = ["label_set", "score", "rank"]
    for names in (
        ("lexical/v0/best", "lexical/v1/best", "lexical/v0/second_best"),
        ("judge:a-long-name-of-1-model", "judge:a-long-name-of-2-model", "judge:b"),
        ("a-long-name-1-of-two-parts-1", "a-long-name-2-of-two-parts-1", "a-long-name-1-of-two-2"),
        ("検索評価システム一号機", "検索評価システム二号機", "検索評価"),
    ):
        for width in (50, 44, 40, 36, 30):
            print_table(columns, [(name, i / 7, i) for i, name in enumerate(names)], width)
            header, *lines = capsys.readouterr().out.splitlines()
            assert header.split()[0].startswith("label")
            first = [line.split()[0] for line in lines[: len(names)]]
            assert len(set(first)) == len(names), first
            assert max(map(cell_len, [header, *lines])) <= width


def test_names_that_tell_rows_apart_stay_before_the_fourth_number(capsys):
    columns = ["label_set", "system", *(f"figure_{n}" for n in range(8))]
    rows = [
        (f"judge:{judge}", f"system_{system}", *[n / 7 for n in range(8)])
        for judge in ("overlap", "other")
        for system in range(3)
    ]
    print_table(columns, rows, 80)
    header = capsys.readouterr().out.splitlines()[0].split()
    assert header[:2] == ["label_set", "system"]
    assert len(header) < len(columns)


def test_where_room_is_scarce_what_is_the_same_in_all_rows_goes_below(capsys):
    columns = ["collection", "query_id", "query", "item_id", "item", "n"]
    rows = [
        ("demo", f"q{i // 2}" * 6, f"{PROSE} {i // 2}", f"i{i}" * 6, f"item {PROSE} {i}", i)
        for i in range(4)
    ]
    print_table(columns, rows, 70)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["query_id", "item_id", "item", "n"]
    assert [rows[1][1], rows[1][3]] == lines[2].split()[:2], "whole: the next question needs them"
    assert len(lines[2].split("  ")[2]) >= 24, "the item's text has the room"
    assert "(the same in every row: collection demo)" in lines
    assert "(no room for: query)" in lines


SPURIOUS = [
    "grader",
    "rubric_version",
    "query_id",
    "query",
    "item_id",
    "item",
    "n_hits",
    "n_non_relevant",
    "rate",
    "n_relevant_hits",
    "n_relevant",
]


def test_an_items_id_is_how_its_hash_begins_and_figures_stay(capsys):
    hashes = [
        "79d1ecceed8fa847ccc372f1f0204186",
        "d1dd90576f6d0c3b8f0e2c5f8d4f7a11",
        "0e861dae6f6d0c3b8f0e2c5f8d4f7a11",
    ]
    rows = [
        (
            ("lexical", "lexical_nuggets")[n % 2],
            0,
            "sourdough-rise",
            f"{PROSE}?",
            f"sourdough-rise/{each}",
            f"Which {n} acids give the bread its taste, and why?",
            5 - n,
            17,
            0.294 - n / 100,
            n + 1,
            7,
        )
        for n, each in enumerate(hashes)
    ]
    for width in (80, 120):
        print_table(SPURIOUS, rows, width)
        header, *lines = capsys.readouterr().out.splitlines()
        assert max(map(cell_len, [header, *lines])) <= width
        assert {"n_hits", "rate"} <= set(header.split())
        for each, line in zip(hashes, lines, strict=False):
            assert f" {each[:8]}  Which " in f" {line}"
        assert "(cut to how the hash begins: item_id)" in lines


def test_texts_that_are_the_same_leave_at_once_and_numbers_no_further_than_there_is_need(capsys):
    columns = ["label_set", "level", "system", "score", "stderr", "rank", "n_queries", "cover"]
    rows = [
        (f"assessor:{PROSE[:9]}", 2, f"system-{n}", 0.25, 0.0125, 1, 43, None) for n in range(3)
    ]
    for width, level in ((56, ""), (44, "level 2, ")):
        print_table(columns, rows, width)
        header, *lines = capsys.readouterr().out.splitlines()
        kept = ["system", "score", "stderr", "rank", "n_queries"]
        assert header.split() == (kept if level else ["level", *kept])
        same = f"(the same in every row: label_set assessor:Long summ, {level}cover (null))"
        assert " ".join(lines[3:]) == same


def test_repeated_texts_go_before_figures(capsys):
    columns = ["grader", "assessor", "policy", *(f"figure_{n}" for n in range(5))]
    rows = [
        (f"grader-{n % 2}-of-two", f"assessor-{n}", f"policy-{n % 3}", *[n / 7] * 5)
        for n in range(4)
    ]
    print_table(columns, rows, 84)
    header, *_, note = capsys.readouterr().out.splitlines()
    assert header.split()[0] == "assessor", "it tells the rows apart"
    assert len(header.split()) == 6
    assert note == "(no room for: grader, policy)"


def test_a_row_or_two_without_room_are_lines_and_lose_nothing(capsys):
    columns = ["collection", "label_set", "reference", "cut", "kappa", "n", "observed", "bias"]
    row = ("demo", "judge:rubric_overlap", "assessor:human", ">=3|>=2", 0.779, 193, 0.902, 0.078)
    for n in (1, 2):
        print_table(columns, [row] * n, 70)
        lines = capsys.readouterr().out.splitlines()
        assert lines.count("     kappa = 0.779") == n
        assert len(lines) == 9 * n - 1
    print_table(columns, [row] * 3, 70)
    assert "kappa" in capsys.readouterr().out.splitlines()[0].split(), "a table"
    print_table(columns, [row], 100)
    assert "kappa" in capsys.readouterr().out.splitlines()[0].split(), "it has room"


def test_columns_without_room_are_named(capsys):
    columns = [f"measure_{n}" for n in range(30)]
    print_table(columns, [list(range(n, n + 30)) for n in range(3)], 60)
    header, row, *_, note = capsys.readouterr().out.splitlines()
    assert header.split()[0].startswith("m")
    assert row.split()[:3] == ["0", "1", "2"], "what stands first matters most"
    assert note.endswith("more)")
    print_table([f"{n}-{PROSE}" for n in range(30)], [["0123456789ab"] * 15 + ["b"] * 15] * 3, 40)
    assert max(map(cell_len, capsys.readouterr().out.splitlines())) <= 40


def test_a_cell_is_one_line(capsys):
    print_table(["a", "b"], [("x\r\ny\tz\nw", 1)])
    assert capsys.readouterr().out.splitlines()[1] == "x y z w  1"


def test_no_text_of_a_passage_steers_the_terminal(capsys):
    for width in (None, 30):
        print_table([HOSTILE, "b"], [(HOSTILE, HOSTILE)], width)
        assert not STEERING & set(capsys.readouterr().out)
    print_line(["text"], [(HOSTILE + "\nnext",)])
    assert not STEERING & set(capsys.readouterr().out)
    print_table(["text"], [(HOSTILE,)])
    assert "\\x1b[31mred" in capsys.readouterr().out, "shown, not sent"


def test_json_holds_every_character_and_sends_none_that_steers(capsys):
    print_records(["text"], [(HOSTILE,)])
    out = capsys.readouterr().out
    assert json.loads(out) == [{"text": HOSTILE}]
    assert not STEERING & set(out)


def test_csv_is_exact_in_a_pipe_and_harmless_on_a_terminal(capsys, monkeypatch):
    print_csv(["text"], [(HOSTILE,)])
    out = capsys.readouterr().out
    assert list(csv.reader(io.StringIO(out, newline=""))) == [["text"], [HOSTILE]]
    master, slave = pty.openpty()
    attributes = termios.tcgetattr(slave)
    attributes[1] &= ~termios.OPOST  # the terminal adds no carriage returns of its own
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    with os.fdopen(slave, "w") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        print_csv(["text"], [(HOSTILE,)])
        terminal.flush()
        sent = ""
        while sent.count("\n") < 2:  # a terminal hands over what it has, be it half a line
            sent += os.read(master, 4096).decode()
    os.close(master)
    assert sent.startswith("text\n\\x1b[31mred")
    assert not STEERING & set(sent)


def test_one_column_a_line_cuts_nothing(capsys):
    print_line(["id", "text"], [("a", PROSE * 9), ("b", None)])
    assert capsys.readouterr().out.splitlines() == [
        "  id = a",
        f"text = {PROSE * 9}",
        "",
        "  id = b",
        "text = ",
    ]


def test_progress_tells_how_far_how_fast_and_how_long_still(monkeypatch, capsys):
    clock = iter(range(0, 1000, 20))  # 20 seconds pass at each look
    monkeypatch.setattr(console.time, "monotonic", lambda: next(clock))  # type: ignore[attr-defined]
    assert list(console.progress("reading runs", iter("abc"), 3)) == ["a", "b", "c"]
    first, second, third = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"reading runs: 1 of 3, 0\.0/s, .* left", first)
    assert second.startswith("reading runs: 2 of 3, ")
    assert third.startswith("reading runs: 3 of 3, ")
    read = iter([10_000_000, 40_000_000])
    list(console.progress("reading a.run", iter("ab"), 80_000_000, at=lambda: next(read)))
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("reading a.run: 10")
    assert "MB" in first
    assert second.endswith(" left")
    with console.quietly(True):
        list(console.progress("reading runs", iter("abc"), 3))
    assert capsys.readouterr().err == ""
