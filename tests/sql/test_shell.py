"""`gradelake sql` without a query: a shell on a terminal, the same words from a pipe."""

import json
import re
import shutil
import stat
import time
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from rich.cells import cell_len

from gradelake.sql.ask.book import entries
from tests.command_line import gradelake, json_of
from tests.sql.small_lake import file_of, small_lake
from tests.sql.terminal import CTRL_C, ENTER, UP, Terminal
from tests.tiers import first_of

COLOUR = re.compile(r"\x1b\[(?:[\d;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]")
FOREVER = "select sum(a.range * b.range) from range(10000000) a, range(10000000) b;"
BOARD = (
    "select system from leaderboard where label_set = 'assessor:human' and measure = 'AP' "
    "and level = 2 and rank = 1"
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    """Where the shells of these tests keep their history."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def shell(demo, cache):
    """A shell on the demo that several tests use one after the other."""
    with Terminal(demo, XDG_CACHE_HOME=str(cache)) as terminal:
        yield terminal
        assert terminal.leave() == 0, "Ctrl-D leaves"


def best_system(folder: Path) -> str:
    return json_of(folder, "sql", BOARD, "--format", "json")[0]["system"]


def piped(folder: Path, text: str | bytes, *arguments: str, code: int = 0) -> CompletedProcess:
    """Statements are piped in."""
    return gradelake(folder, "sql", *arguments, code=code, given=text)


# --- on a terminal ------------------------------------------------------------------------------


def test_a_statement_goes_on_until_its_semicolon(shell):
    shell.type("select 40" + ENTER)
    shell.wait_for("...>")
    shell.type("-- no end; yet" + ENTER)
    shell.wait_for("...>")
    assert "42;x" in shell.ask("+ 2 || ';x' as answer;", "42;x")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "completed", "rest", "answer"),
    first_of(
        3,
        ("select count(*) + 1000 as n from topic_sc", "topic_scores", " where false;", "1000"),
        ("select count(*) + 2000 as n from raw.run_e", "raw.run_entries", " where false;", "2000"),
        ("select 'x' from leaderboard as b where b.n_unl", "b.n_unlabelled_at_k", " < 0;", "(no r"),
        ("select 4000 + 1 as n from leaderboard inters", "intersect", " select 4001;", "4001"),
        ("@hardest_queries --meas", "--measure", " AP", "query_id"),
        ("@leaderboard --label_set judge:ov", "judge:overlap", "", "label_set judge:overlap"),
        (".sch", ".schema", " leaderboard", "n_unlabelled_at_k"),
        ("\\d official_r", "raw.official_ranks", "", "leaderboard"),
    ),
)
def test_tab_completes(shell, typed, completed, rest, answer):
    shell.complete(typed)
    assert f"{completed}{rest}" in shell.enter(rest)
    shell.wait_for(answer)
    shell.wait_for("lake>")


@pytest.mark.slow
def test_tab_offers_tables_of_marts_without_a_prefix_and_questions_with_their_words(shell):
    shell.complete("select * from rubric_")
    offered = shell.wait_for("rubric_versions")
    assert "rubric_progress" in offered
    assert "marts." not in offered
    shell.type(CTRL_C)
    shell.wait_for("lake>")
    shell.complete("@leaderboard")
    shell.wait_for("How did editing the rubric change the systems' ranks?")
    shell.type(CTRL_C)
    shell.wait_for("lake>")


def test_an_error_says_what_to_do_and_does_not_end_the_shell(shell):
    for typed, message in {
        "selec 1;": 'syntax error at or near "selec"',
        "delete from raw.queries;": "read-only",
        "@leaderbord": "Did you mean 'leaderboard'?",
        "@leaderboard --label_set 'judge": "no closing quotation",
        ".shema leaderboard": "Did you mean '.schema'?",
        ".schema queries": "Did you mean 'raw.queries'?",
        ".schema": ".schema needs TABLE",
        ".format tabel": "Did you mean 'table'?",
        ".format parquet": "a Parquet file holds one answer",
        ".output /nonexistent/x.csv": "cannot be written",
        ".quit now": ".quit takes nothing after it",
    }.items():
        assert "Traceback" not in shell.ask(typed, message)
    assert "42" in shell.ask("select 6 * 7 as answer;", "42")


def test_words_of_other_shells_help_and_leave_at_the_beginning_of_a_statement(demo, cache):
    with Terminal(demo, XDG_CACHE_HOME=str(cache)) as shell:
        assert ".schema" in shell.ask("help", "Ctrl-D leaves")
        shell.type("select 6 * 7 as" + ENTER)
        shell.wait_for("...>")
        assert "42" in shell.ask("exit;", "42"), "here it is a name"
        shell.type("\\q" + ENTER)
        assert shell.end() == 0


def test_ctrl_c_drops_what_was_typed_and_stops_a_query(shell):
    shell.type("select 'never ended" + ENTER)
    shell.wait_for("...>")
    shell.type(CTRL_C)
    shell.wait_for("lake>")
    shell.ask("select 6 * 7 as answer;", "42")
    shell.enter(FOREVER)
    shell.wait_until_ctrl_c_is_a_signal()
    time.sleep(0.5)  # DuckDB is at it
    shell.type(CTRL_C)
    shell.wait_for("interrupted")
    shell.wait_for("lake>")
    shell.ask("select 6 * 7 as answer;", "42")


def test_dot_commands_list_tables_and_choose_where_answers_go(shell, demo, tmp_path):
    everything = shell.ask(".tables", "intermediate.int_")
    assert everything.index("topic_scores") < everything.index("raw.queries")
    shell.do(".format csv")
    file = tmp_path / "an answer.csv"
    shell.do(f".output {file}")
    shell.do(BOARD + ";")
    shell.do(".output stdout")
    assert file.read_text().splitlines() == ["system", best_system(demo)]
    shell.do(".format table")
    shown = shell.ask(".help", "Ctrl-D leaves")
    assert all(command in shown for command in (".tables", ".schema", ".output", ".quit"))


def test_several_statements_may_be_pasted_at_once(shell):
    shell.type("\x1b[200~create temp table mine as select 5000 as n;\nfrom mine;\n@nights\x1b[201~")
    shell.wait_for("@nights")
    shell.type(ENTER)
    shell.wait_for("5000")
    shell.wait_for("(no rows)")
    shell.wait_for("lake>")


def test_rows_fit_a_narrow_terminal_and_a_pager_shows_all_of_them(demo, cache):
    options = {"width": 60, "XDG_CACHE_HOME": str(cache), "PAGER": "cat"}
    query = "select passage_id, text, text_sha256 from raw.passages where passage_id like 'p00%';"
    with Terminal(demo, **options) as narrow:
        shown = narrow.ask(query, "p009 ").splitlines()
        assert "…" in shown[3]
        assert max(map(cell_len, shown)) <= 60
        narrow.do(".pager on")
        shown = narrow.ask(query, "p009 ").splitlines()
        assert min(map(cell_len, shown[3:6])) > 120
        narrow.ask("select 1 as n;", "(1 row)")
        assert narrow.leave() == 0


@pytest.mark.slow
def test_history_is_kept_for_the_next_session_and_only_for_its_user(demo, tmp_path):
    with Terminal(demo, XDG_CACHE_HOME=str(tmp_path)) as first:
        first.type("select 6 *" + ENTER)
        first.wait_for("...>")
        first.ask("7 as answer;", "42")
        first.type(".quit" + ENTER)
        assert first.end() == 0
    file = tmp_path / "gradelake" / "sql_history"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with Terminal(demo, XDG_CACHE_HOME=str(tmp_path)) as second:
        second.type(UP + UP)
        second.wait_for("7 as answer;")
        second.ask("", "42")


def test_without_a_place_for_the_history_the_session_has_its_own(demo, tmp_path):
    (tmp_path / "file").touch()
    with Terminal(demo, XDG_CACHE_HOME=str(tmp_path / "file")) as shell:
        shown = shell.ask("select 6 * 7 as answer;", "42")
        shell.type(UP)
        shown += shell.wait_for("as answer;")
        shown += shell.ask("", "42")
        assert "rror" not in shown
        assert shell.leave() == 0


@pytest.mark.slow
def test_no_colour_where_none_is_wanted(demo, cache):
    for environment in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}):
        with Terminal(demo, XDG_CACHE_HOME=str(cache), **environment) as shell:
            shell.ask("select 'text' as t, 42 as n;", "42")
            shell.ask("@leaderbord", "Did you mean")
            shell.type(".quit" + ENTER)  # a dumb terminal loses a Ctrl-D that comes early
            assert shell.end() == 0
            assert bool(COLOUR.search(shell.raw)) == (not environment)


# --- from a pipe --------------------------------------------------------------------------------


def test_statements_questions_and_dot_commands_can_be_piped_in(demo):
    text = f"""
    -- a comment; it ends nothing
    select 'a;b' as one; select 2 as two;
    create temp table mine as
    select 3 as three;
    from mine;
    .format json
    @leaderboard --label_set assessor:human --measure AP --level 2
    /* a longer
       comment; */
    .format csv
    {BOARD} -- without its end
    """
    lines = piped(demo, text, "--format", "csv").stdout.splitlines()
    assert lines[:6] == ["one", "a;b", "two", "2", "three", "3"]
    assert json.loads(lines[6])[0]["system"] == best_system(demo)
    assert lines[7:] == ["system", best_system(demo)]


@pytest.mark.slow
def test_the_first_error_in_a_pipe_ends_it_and_is_told_with_its_line(demo):
    for wrong, line, message in (
        ("selec 1;", 2, "syntax error"),
        ("\n-- two\nselect\n  wrong;", 4, "wrong"),
        ("/* a\n comment; */ select wrong;", 3, "wrong"),
        ("\n@leaderbord", 3, "Did you mean 'leaderboard'?"),
        (".shema x", 2, "Did you mean '.schema'?"),
        ("\n  select 'no end\n\n", 3, "unterminated"),
        ("select 'a\n;b' as two;\n\nfrom nowhere;", 5, "nowhere"),
        ("exit", 2, ""),  # a word of the terminal's
    ):
        done = piped(demo, f"select 1 as one;\n{wrong}\nselect 2 as three;\n", code=2)
        assert done.stdout.split()[:2] == ["one", "1"]
        assert "three" not in done.stdout
        assert done.stderr.startswith(f"error: statement at line {line}: "), wrong
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_a_pipe_can_leave_early_and_write_to_a_file(demo, tmp_path):
    words = ("--format", "csv", "--output", str(tmp_path / "one.csv"))
    assert piped(demo, "select 1 as one;\n.quit\nselect 2 as two;\n", *words).stdout == ""
    assert (tmp_path / "one.csv").read_text() == "one\n1\n"
    assert "is not UTF-8" in piped(demo, b"select '\xff';\n", code=2).stderr
    assert "one answer" in piped(demo, "select 1;", "--format", "parquet", code=2).stderr


@pytest.mark.slow
def test_psqls_words_can_be_piped_in(demo):
    text = (
        "\\d leaderboard\n\\dt board\nselect 6 * 7 as answer;\n\\?\n\\q\nselect 1 as never_asked;\n"
    )
    printed = piped(demo, text).stdout
    described = piped(demo, ".schema leaderboard\n.tables board\n").stdout
    assert printed.startswith(f"{described}answer\n    42\n")
    assert ".schema TABLE" in printed
    assert "never_asked" not in printed
    said = piped(demo, "select 1;\n\\copy x\n", code=2).stderr
    assert said.startswith("error: statement at line 2: no command \\copy")
    plus = piped(demo, "\\d+ leaderboard\n\\dt+ board\n").stdout
    assert plus == described
    for word, instead in (("\\x", ".format line"), ("\\l", "raw.collections")):
        assert instead in piped(demo, f"{word}\n", code=2).stderr


def test_a_pivot_is_one_statement(demo):
    pivot = "pivot leaderboard on level using count(*) group by measure"
    done = gradelake(demo, "sql", pivot, "--format", "csv")
    assert done.stdout.splitlines()[0] == "measure,1,2,3,4,5"
    assert piped(demo, f"{pivot};", "--format", "csv").stdout.splitlines()[0] == "measure,1,2,3,4,5"


def test_a_wrong_query_leaves_the_output_file_as_it_was(demo, tmp_path):
    (tmp_path / "board.csv").write_text("kept")
    gradelake(demo, "sql", "selec 1", "--output", str(tmp_path / "board.csv"), code=2)
    assert (tmp_path / "board.csv").read_text() == "kept"


# --- the query book, and what was lost ----------------------------------------------------------


def test_help_of_a_question_names_its_parameters_and_an_example_that_runs(demo):
    done = gradelake(demo, "sql", "@leaderboard", "--help")
    assert "Which system is best, under which labels?" in done.stdout
    for name, (default, what) in entries()["leaderboard"].parameters.items():
        assert re.search(rf"--{name} +{re.escape(default)} +{re.escape(what)}", done.stdout)
    (example,) = re.findall("Example: gradelake (.+)", done.stdout)
    assert best_system(demo) in gradelake(demo, *example.split()).stdout
    wrong = gradelake(demo, "sql", "@leaderbord", "--help", code=2)
    assert "Did you mean 'leaderboard'?" in wrong.stderr
    assert "--release" in gradelake(demo, "sql", "--help").stdout


def test_every_question_has_an_example_of_parameters_it_has():
    for entry in entries().values():
        given = dict(re.findall(r"--(\w+) (\S+)", entry.example))
        assert entry.values(given).keys() == entry.parameters.keys(), entry.name
        assert bool(given) == bool(entry.parameters), entry.name
        assert entry.question in entry.help("gradelake sql ")


@pytest.mark.slow
def test_schema_says_what_columns_mean_and_a_terminal_wraps_it(demo, tmp_path):
    shown = piped(demo, ".schema leaderboard\n.schema intermediate.int_labels\n").stdout
    score = re.search(r"\nscore +DOUBLE +(Mean over all queries of .*)\n", shown)[1]
    assert len(score) > 100
    assert shown.count("meaning") == 1, "nobody is to ask int_labels"
    with Terminal(demo, XDG_CACHE_HOME=str(tmp_path)) as shell:
        lines = shell.ask(".schema leaderboard", "without a cutoff").splitlines()
        begin = next(n for n, line in enumerate(lines) if line.startswith("score "))
        words = [line.split("DOUBLE")[-1].strip() for line in lines[begin : begin + 3]]
        assert score.startswith(" ".join(words)[:100])
        assert max(map(cell_len, lines)) <= 100
        shell.complete("select 1 as x from kappa where obser")
        shell.wait_for("observed")


@pytest.mark.slow
def test_a_lost_or_damaged_data_file_is_told_with_what_to_do(tmp_path):
    project = small_lake(tmp_path)
    shutil.copy(file := file_of(project, "grades"), tmp_path / "kept.parquet")
    query = "select sum(grade) as total from raw.grades"
    assert "20" in gradelake(tmp_path, "sql", query, "--live").stdout
    file.write_bytes(file.read_bytes()[:-100])
    done = gradelake(tmp_path, "sql", query, "--live", code=1)
    assert f"{file}: this data file is damaged" in done.stderr.replace("\n", "")
    file.unlink()
    for done in (
        gradelake(tmp_path, "sql", query, "--live", code=1),
        piped(tmp_path, f"{query};\nselect 1 as one;", "--live", code=1),
    ):
        assert f"{file}: this data file of the lake is gone" in done.stderr
        assert "gradelake lake verify" in done.stderr
        assert done.stdout == ""
    with Terminal(tmp_path, "--live", XDG_CACHE_HOME=str(tmp_path)) as shell:
        shell.ask(f"{query};", "gradelake lake verify")
        shutil.copy(tmp_path / "kept.parquet", file)
        shell.ask(f"{query};", "20")
