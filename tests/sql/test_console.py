"""Tables as people read them."""

import json

from sql.console import print_csv, print_json, print_table, say, warn


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


def test_null_is_an_empty_cell_in_csv(capsys):
    print_csv(["a", "b"], [(None, 0), ("x,y", 1.5)])
    assert capsys.readouterr().out == 'a,b\n,0\n"x,y",1.5\n'


def test_a_table_without_rows_says_so(capsys):
    print_table(["system", "score"], [])
    assert shown(capsys) == [["system", "score"], ["(no", "rows)"]]


def test_what_steers_a_terminal_is_shown_and_not_sent(capsys):
    say("\x1b[31mred\x07\tname.run\nnext")
    warn("bytes \udcff of a name")
    captured = capsys.readouterr()
    assert captured.out.splitlines()[0].split() == ["\\x1b[31mred\\x07", "name.run"]
    assert captured.err == "bytes \\udcff of a name\n"


def test_a_name_that_is_not_utf_8_is_json_all_the_same(capsys):
    print_json({"file": "\udcff.run"})
    assert json.loads(capsys.readouterr().out) == {"file": "\udcff.run"}
