"""What `gradelake sql` does with answers longer than the screen, and how it counts rows."""

import shutil

import pytest
from rich.cells import cell_len
from rich.console import Console

from gradelake.sql.common import pager
from tests.command_line import gradelake, json_of
from tests.sql.terminal import Terminal

LONG = "select range as n from range(100)"
SHORT = "select range as n from range(37)"  # with header, count and prompt: the screen's 40 lines
LONGER = "select range as n from range(38)"


def shown(folder, *words: str, **environment: str) -> str:
    """What a command shows on a terminal of 40 lines and 100 columns."""
    terminal = Terminal(folder, *words, **environment)
    code = terminal.end()
    terminal.__exit__()
    assert code == 0, terminal.shown
    return terminal.shown.replace("\r", "")


@pytest.fixture
def noted(tmp_path) -> dict[str, str]:
    """A pager that notes that it was called."""
    return {"PAGER": f"tee '{tmp_path}/paged by'"}


@pytest.mark.slow
def test_what_is_longer_than_the_screen_goes_through_the_pager_as_the_terminal_would_show_it(
    demo, noted, tmp_path
):
    query = "from leaderboard order by all"
    on_screen = shown(demo, query, "--no-pager", **noted)
    assert not (tmp_path / "paged by").exists()
    shown(demo, query, **noted)
    paged = (tmp_path / "paged by").read_text().splitlines()
    assert paged == on_screen[on_screen.index("label_set") :].splitlines()
    n = json_of(demo, "sql", "select count(*) as n from leaderboard", "--format=json")
    assert paged[-1] == f"({n[0]['n']:,} rows)"
    assert max(map(cell_len, paged)) <= 100


@pytest.mark.slow
def test_only_rows_for_people_that_do_not_fit_are_paged_and_a_table_ends_with_their_number(
    demo, noted, tmp_path
):
    by_measure = "(3 rows by nDCG@10; --measure NAME has another, any has all)"
    for is_paged, last, *words in (
        (True, "(38 rows)", LONGER),
        (False, "(37 rows)", SHORT),
        (True, "n = 37", LONGER, "--format", "line"),
        (False, "99", LONG, "--format", "csv"),
        (False, "(the first 5 rows)", LONG, "-n", "5"),
        (False, "(the first 2 rows)", "@hardest_queries", "-n", "2", "--measure", "AP"),
        (False, by_measure, "@correlation"),
        (False, "", LONG, "--output", "/dev/null", "--format", "table", "--quiet"),
    ):
        lines = shown(demo, *words, **noted).splitlines()
        assert (lines or [""])[-1] == last
        assert (tmp_path / "paged by").exists() == is_paged, words
        (tmp_path / "paged by").unlink(missing_ok=True)


def test_a_pipe_has_no_pager_and_no_count(demo, monkeypatch):
    monkeypatch.setenv("PAGER", "/nonexistent")
    assert gradelake(demo, "sql", LONG).stdout.split() == ["n", *map(str, range(100))]


def test_an_empty_pager_is_none(demo):
    assert "(100 rows)" in shown(demo, LONG, PAGER="")


def test_an_answer_is_not_lost_to_a_pager_that_no_shell_could_read(demo):
    lines = shown(demo, LONG, PAGER="less '")
    assert "(100 rows)" in lines
    assert "No closing quotation; the answer is printed without it" in lines


def test_colours_take_no_room_on_the_screen(monkeypatch):
    monkeypatch.setattr(pager.console, "out", Console(width=10, height=3))  # type: ignore[attr-defined]
    assert not pager._is_long("\x1b[1m1234567890\x1b[0m\nx\n")
    assert pager._is_long("12345678901\nx\n")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("less"), reason="there is no less")
def test_less_shows_a_screen_and_q_leaves_it(demo, tmp_path):
    """Without $PAGER it is less."""
    terminal = Terminal(demo, LONG, LESS="", PAGER=" ")
    terminal.wait_for("35")
    terminal.type("q")
    assert terminal.end() == 0
    assert "99" not in terminal.shown
    with Terminal(demo, PAGER=" ", XDG_CACHE_HOME=str(tmp_path)) as shell:
        shell.enter(f"{LONG};")
        shell.wait_for("35")
        shell.type("q")
        shell.wait_for("lake>")
        shell.do(".pager off")
        assert "(100 rows)" in shell.ask(f"{LONG};", "(100 rows)")
        assert shell.leave() == 0


def test_a_pager_that_ends_early_is_no_error(demo):
    lines = shown(demo, "from topic_scores", PAGER="head -2").splitlines()
    assert len([line for line in lines if "assessor:" in line or "judge:" in line]) == 1
    assert "rror" not in "".join(lines)


@pytest.mark.slow
def test_n_rows_are_written_to_a_file_a_pipe_and_in_a_session(demo, tmp_path):
    for name in ("rows.csv", "rows.json", "rows.parquet"):
        done = gradelake(demo, "sql", LONG, "-n", "7", "--output", tmp_path / name)
        assert done.stderr.splitlines()[-1] == f"wrote 7 rows to {tmp_path / name}"
    lines = (tmp_path / "rows.csv").read_text().split()
    assert lines == ["n", *map(str, range(7))]
    assert gradelake(demo, "sql", LONG, "-n", "7", "--format=csv").stdout.split() == lines
    with Terminal(demo, "-n", "7", XDG_CACHE_HOME=str(tmp_path)) as shell:
        assert "(the first 7 rows)" in shell.ask(f"{LONG};", "rows)")
        assert shell.leave() == 0
    assert "is not in the range" in gradelake(demo, "sql", LONG, "-n", "0", code=2).stderr
