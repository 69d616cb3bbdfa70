"""The farthest user: another locale, no home, a narrow terminal or none, a folder with any name.

Real processes, but where a pipe is a pipe like any other. One lake, graded elsewhere and copied to
a folder with spaces and letters of two scripts, serves most of it; another is made from nothing
where everything is missing at once.
"""

import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from functools import cache
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.command_line import gradelake
from tests.lakes import start_lake

pytestmark = pytest.mark.slow

FOLDER = "Größe und Straße 検索"
_OF_THE_TESTER = {
    "HOME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "PYTHONUTF8",
    "PYTHONIOENCODING",
    "NO_COLOR",
    "FORCE_COLOR",
    "TERM",
    "COLUMNS",
    "LINES",
    "MPLCONFIGDIR",
}
PLAIN = {"LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "PAGER": ""}
ASCII = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"}
LATIN_1 = {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "latin-1"}
NOWHERE = ASCII | {"HOME": "/dev/null/home"}
TRACES = ("Traceback", "Exception ignored", "UnicodeEncodeError", "surrogates", "Warning:")


def _environment(**settings: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _OF_THE_TESTER}
    return kept | {"HOME": str(Path.home())} | PLAIN | settings


def run(folder: Path, *words: str, code: int = 0, given: str = "", **settings: str):
    """A command with its output in pipes; fails unless it leaves `code` without a trace."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gradelake", *words],
        cwd=folder,
        input=given.encode(),
        capture_output=True,
        timeout=300,
        check=False,
        env=_environment(**settings),
    )
    shown = (done.stdout + done.stderr).decode(errors="replace")
    assert done.returncode == code, f"{words}: {done.returncode}\n{shown}"
    for trace in TRACES:
        assert trace not in shown, f"{words}\n{shown}"
    return done


@cache
def terminal(
    folder: Path, *words: str, stderr: int | None = None, width: int = 80, **settings: str
) -> str:
    """All that a terminal was sent by a command, its raw text; each command runs once."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "gradelake", *words],
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs if stderr is None else stderr,
        env=_environment(**settings),
        start_new_session=True,
    )
    os.close(theirs)
    sent = b""
    while True:
        assert select.select([ours], [], [], 120)[0], f"it waits:\n{sent.decode(errors='replace')}"
        try:
            new = os.read(ours, 65536)
        except OSError:  # Linux's word for the end of a terminal
            break
        sent += new
    os.close(ours)
    assert process.wait(timeout=10) == 0, sent.decode(errors="replace")
    return sent.decode(errors="replace")


_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-Z\\^_=>])")


@pytest.fixture(scope="module")
def lake(graded_demo, tmp_path_factory) -> Path:
    return shutil.copytree(graded_demo, tmp_path_factory.mktemp("far") / FOLDER / "graded")


# --- a narrow terminal --------------------------------------------------------------------------


def test_a_terminal_of_80_columns_has_no_longer_line(lake):
    for words in ("sql @leaderboard", "plan demo --grader lexical", "lake verify", "log", "--help"):
        shown = _ESCAPE.sub("", terminal(lake, *words.split()))
        assert shown.strip(), words
        for line in re.split(r"[\r\n]+", shown):
            assert cell_len(line) <= 80, line


def test_a_terminal_that_understands_nothing_or_wants_no_color_gets_text_alone(lake):
    for words in ("sql @leaderboard", "lake verify"):
        assert "\x1b" not in terminal(lake, *words.split(), TERM="dumb"), words
    assert "\x1b" not in terminal(
        lake, "sql", "@leaderboard", stderr=subprocess.DEVNULL, NO_COLOR="1"
    )


WORK = ["plan demo --grader lexical", "lake verify"]


def test_what_takes_its_time_says_so_on_a_terminal_and_takes_it_back_unless_it_is_quiet(lake):
    for words in WORK:
        raw = terminal(lake, *words.split())
        assert "\x1b[?25l" in raw, words  # a spinner hides the cursor
        assert raw.rindex("\x1b[?25h") > raw.rindex("\x1b[?25l")  # and shows it again
        assert "\x1b[2K" in raw  # its line is erased
    assert "\x1b[?25l" not in terminal(lake, "lake", "verify", "--quiet")


# --- pipes --------------------------------------------------------------------------------------


def test_a_pipe_gets_no_escapes_and_no_progress(lake):
    for words in (*WORK, "sql @leaderboard", "log"):
        done = gradelake(lake, *words.split())
        assert "\x1b" not in done.stdout + done.stderr, words
        assert " ...\n" not in done.stderr, words


def test_a_reader_that_leaves_early_is_nothing_to_talk_about(lake):
    all_rows = "sql --format csv 'select * from topic_scores'"
    for words in ("--help", all_rows, "sql @leaderboard"):
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -P -m gradelake {words} | head -1"],
            cwd=lake,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
            env=_environment(),
        )
        assert (done.stdout.count("\n"), done.stderr) == (1, ""), words


# --- locales ------------------------------------------------------------------------------------

SHEET = "rubric edit volcano-prediction --print"


def test_commands_work_in_the_c_locale_and_in_latin_1(lake):
    assert run(lake, "doctor", **ASCII).stdout
    assert run(lake, *SHEET.split(), **LATIN_1).stdout


def test_what_a_locale_cannot_show_is_replaced_on_a_terminal(lake):
    for locale, expected in (
        (ASCII, "Gr??e ??"),
        (LATIN_1, "Gr\ufffd\ufffde ??"),  # latin-1's letters, read as UTF-8 by the test
        (PLAIN, "Größe 検索"),
    ):
        assert expected in terminal(lake, "sql", "select 'Größe 検索' as word", **locale)


def test_json_loses_nothing_in_any_locale(lake):
    words = ("sql", "--format", "json", "select 'Größe 検索' as word")
    for locale in (ASCII, LATIN_1):
        assert json.loads(run(lake, *words, **locale).stdout) == [{"word": "Größe 検索"}]


def test_files_are_utf8_whatever_the_locale(lake):
    word = "select 'Größe 検索' as word"
    run(lake, "sql", "--format", "csv", "--output", "ü検索.csv", word, **ASCII)
    written = (lake / "ü検索.csv").read_text(encoding="utf-8")
    assert written.splitlines() == ["word", "Größe 検索"]


def test_the_shell_reads_a_pipe_in_any_locale(lake):
    done = run(lake, "sql", given="select 'Größe' as word;\n@leaderboard --help\n", **ASCII)
    assert "Größe" in done.stdout.decode()


# --- no home ------------------------------------------------------------------------------------


def test_nothing_needs_a_home(lake):
    for home, words in (
        (f"{lake}/nowhere", "sql @leaderboard"),
        ("/dev/null/home", "stats confusion demo --label-set lexical/v0/best --picture c.pdf"),
    ):
        done = run(lake, *words.split(), **ASCII, HOME=home)
        assert done.stdout
        assert not done.stderr


# --- everything at once -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def new(tmp_path_factory) -> Path:
    """A lake made from nothing, without a home, in the C locale."""
    folder = tmp_path_factory.mktemp("new") / FOLDER
    folder.mkdir()
    made = folder / "Prüfung"
    run(folder, "init", "Prüfung", "--demo", **NOWHERE)
    settings = made / "gradelake.toml"  # of one collection and one grader
    first, *tables = settings.read_text(encoding="utf-8").split("\n[")
    kept = [each for each in tables if each.startswith(("collections.demo]", "graders.lexical]"))]
    settings.write_text("\n[".join([first, *kept]), encoding="utf-8")
    shutil.rmtree(made / "lake")
    start_lake(made)  # the build is shorter
    run(made, "ingest", "demo", **NOWHERE)
    run(made, "import", "bank", "demo", "question_bank.jsonl", "--name", "questions", **NOWHERE)
    done = run(made, "nightly", "--quiet", "--max-pairs", "60", "--json", **NOWHERE)
    assert not done.stderr  # nothing of Ray, of dbt or of what is being done
    assert json.loads(done.stdout)["counts"]["pairs"] == 60
    return made


def test_a_lake_can_be_made_where_everything_is_missing_at_once_and_a_night_goes_by_there(new):
    boards = json.loads(run(new, "sql", "--format", "json", "@leaderboard").stdout)

    assert {board["label_set"] for board in boards} >= {"assessor:human", "lexical/v0/best"}
    report = (new / "reports" / "demo.html").read_text(encoding="utf-8")
    assert '<meta charset="utf-8"' in report.lower()


def test_people_edit_and_review_there(new):
    sheet = run(new, *SHEET.split(), **ASCII).stdout.decode()
    run(new, "rubric", "edit", "--from", "-", given=sheet + "\n+ question Größe?\n", **ASCII)
    reviewed = run(
        new, "review", "demo", "--grader", "lexical", "--assessor", "ann", given="a\nq\n", **ASCII
    )

    assert "Größe?" in (new / "seeds" / "rubric_edits.csv").read_text(encoding="utf-8")
    assert "1 reviewed" in reviewed.stdout.decode()


def test_verbose_says_how_long_each_step_took_before_and_after_the_command(lake):
    drawn = "stats scatter demo --label-set lexical/v0/best --measure AP --picture ap.svg"
    for words in (f"{drawn} -v", f"--verbose {WORK[0]}"):
        done = gradelake(lake, *words.split())
        assert re.search(r"\w: [\d.]+ (s|min)", done.stderr), words
        assert "\x1b" not in done.stdout + done.stderr, words


def test_quiet_leaves_out_what_could_be_done_next(lake, tmp_path):
    assert "next: " in gradelake(tmp_path, "init", "one").stdout
    for words in (("-q", "init", "two"), ("init", "three", "--quiet")):
        done = gradelake(tmp_path, *words)
        assert "next: " not in done.stdout
        assert "wrote " in done.stdout


def test_a_stack_trace_comes_with_debug_alone_before_and_after_the_command(lake):
    plain = gradelake(lake, "plan", "nowhere", code=2).stderr
    assert "error: " in plain
    assert "Traceback" not in plain
    for words in (("--debug", "plan", "nowhere"), ("plan", "nowhere", "--debug")):
        assert "Traceback" in gradelake(lake, *words, code=2).stderr
