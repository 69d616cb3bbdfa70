"""What a model gets over MCP: questions of the book and SQL, of a release and nothing else."""

import os
import shlex
import signal
import subprocess
import sys

import anyio
import psutil
import pytest
from mcp import ClientSession, MCPError

from gradelake.mcp.reply import UNTRUSTED
from gradelake.sql.ask import book
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import json_of
from tests.mcp.client import called, records, refusal, table, talk, text
from tests.serve.server import Server
from tests.sql.escapes import REFUSED, STATEMENTS, filled_in, state
from tests.sql.small_lake import N_GRADES, small_lake

# every test starts a server, which imports the protocol first: two of them are in `make test`
pytestmark = pytest.mark.slow
LONG = "select count(*) from range(1000000) a, range(1000000) b where a.range * b.range % 7 = 8"


def test_a_client_finds_what_there_is_to_ask_and_how(graded_demo):
    async def work(session):
        return await session.initialize(), (await session.list_tools()).tools

    about, tools = talk(graded_demo, work)
    assert UNTRUSTED in about.instructions
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)
    schemas = {tool.name: tool.input_schema["properties"] for tool in tools}
    assert schemas.keys() == {
        "collections", "list_questions", "describe_question", "ask", "sql", "describe_table",
        "list_statistics", "statistic",
    }  # fmt: skip
    assert schemas["ask"]["question"]["enum"] == [*book.entries()]
    typed = schemas["ask"]["parameters"]["properties"]
    assert typed["k"]["type"] == ["integer", "string"]
    assert typed["kind"]["enum"][:2] == ["graded", "linear"]
    assert typed.keys() == {name for each in book.entries().values() for name in each.parameters}


def test_what_there_is_can_be_looked_up(graded_demo):
    collections, listed, some, asked, tables, columns = called(
        graded_demo,
        ("collections", {}),
        ("list_questions", {}),
        ("list_questions", {"words": "best system"}),
        ("describe_question", {"question": "kappa", "collection": "demo"}),
        ("describe_table", {}),
        ("describe_table", {"table": "marts.usual_levels"}),
    )
    (demo,) = records(collections)
    assert demo["collection"] == "demo"
    assert {"bm25", "fusion"} <= set(demo["systems"])
    assert {"assessor:human", "lexical/v0/best"} <= set(demo["label_sets"])
    assert {row["question"]: row["asks"] for row in records(listed)} == {
        name: entry.question for name, entry in book.entries().items()
    }
    assert [row["question"] for row in records(some)] == ["leaderboard", "segments"]
    parameters = {row["parameter"]: row for row in records(asked)}
    assert parameters.keys() == book.entry("kappa").parameters.keys()
    assert parameters["kind"]["default"] == "binary"
    assert "lexical/v0/best" in parameters["label_set"]["values"]
    assert {"leaderboard", "kappa"} <= {row["table_name"] for row in records(tables)}
    assert [row["column_name"] for row in records(columns)] == ["collection", "label_set", "level"]


@pytest.mark.fast
def test_an_answer_is_what_its_command_line_prints(graded_demo):
    board = {"label-set": "lexical/v0/best", "measure": "AP", "level": 3}
    answers = called(
        graded_demo,
        ("ask", {"question": "leaderboard", "parameters": board}),
        ("ask", {"question": "kappa", "parameters": {"kind": None}, "rows": 1000}),
        ("ask", {"question": "freshness"}),
        ("ask", {"question": "verify_grades", "parameters": {"tau": 4}, "rows": 1000}),
        ("sql", {"query": "select system, score, stderr from leaderboard order by all limit 9"}),
        ("describe_table", {"table": "raw.queries"}),
        options=("--release", "r1"),
    )
    for answer in answers:
        seen_at = answer.structured_content["seen_at"]
        program, *words = shlex.split(seen_at["command"])
        assert program == "gradelake"
        printed = json_of(graded_demo, *words, "--format", "json")
        assert records(answer) == printed != []
        assert seen_at["command"] in text(answer)
    assert text(answers[0]).startswith(
        "Which system is best, under which labels? "
        "With label_set lexical/v0/best, measure AP, level 3. 11 rows.\n"
    )
    assert answers[0].structured_content["release"] == "r1"


def test_numbers_have_all_their_digits_and_other_values_are_json(graded_demo):
    query = (
        "select 1 / 3 as a, 1.5::decimal(9, 3) as b, 'nan'::double as c, [date '2026-01-02'] as d"
    )
    (answer,) = called(graded_demo, ("sql", {"query": query}))
    assert records(answer) == [{"a": 1 / 3, "b": "1.500", "c": None, "d": ["2026-01-02"]}]


def test_rows_that_are_left_out_are_counted(graded_demo):
    some, none, long, wide = called(
        graded_demo,
        ("sql", {"query": "select i from range(1234) as t(i)", "rows": 3}),
        ("ask", {"question": "drift"}),
        ("sql", {"query": "select repeat('x', 50000) as a, 7 as b"}),
        ("sql", {"query": "select repeat('x', 9000) as a from range(100)", "rows": 100}),
    )
    assert table(some) == {
        "columns": ["i"], "rows": [[0], [1], [2]], "n_rows": 1234, "n_rows_left_out": 1231,
    }  # fmt: skip
    assert "Note: 1,231 more rows are not shown" in text(some)
    assert UNTRUSTED not in text(some), "numbers alone"
    assert "(no rows)" in text(none)
    assert "nothing in this lake answers it yet" in text(none)
    assert "An alarm names the round" in text(none)
    (row,) = table(long)["rows"]
    assert row == ["x" * 20_000 + " … (50,000 letters)", 7]
    assert 0 < table(wide)["n_rows_left_out"] == 100 - len(table(wide)["rows"])
    assert max(map(len, text(wide).splitlines())) < 1_000


def test_texts_of_others_are_called_so(graded_demo):
    wrong, passages, scores, names = called(
        graded_demo,
        ("sql", {"query": "select text::int from raw.passages"}),
        ("sql", {"query": "select text from raw.passages limit 1"}),
        ("ask", {"question": "leaderboard", "rows": 1}),
        ("list_questions", {}),
    )
    for answer in (passages, scores):
        assert answer.structured_content["notes"][0] == UNTRUSTED
        assert UNTRUSTED in text(answer)
    assert "Could not convert string" in refusal(wrong)
    assert UNTRUSTED in text(wrong), "it quotes a passage"
    assert UNTRUSTED not in text(names)


def test_what_is_wrong_is_said_in_words(graded_demo):
    wrong = {
        "Did you mean 'leaderboard'?": ("ask", {"question": "leaderbord"}),
        "Did you mean 'measure'?": (
            "ask", {"question": "leaderboard", "parameters": {"measur": "AP"}},
        ),
        "Did you mean 'nDCG@10'?": (
            "ask", {"question": "leaderboard", "parameters": {"measure": "ndcg@10"}},
        ),
        "--tau 'x': a whole number is needed": (
            "ask", {"question": "verify_grades", "parameters": {"tau": "x"}},
        ),
        "the lake has no collection": (
            "describe_question", {"question": "kappa", "collection": "dem"},
        ),
        "Did you mean 'kappa'?": ("describe_table", {"table": "kapa"}),
        "LINE 1: selec 1\n        ^": ("sql", {"query": "selec 1"}),
        "LINE 2: from leaderbord\n             ^": ("sql", {"query": "select 1\nfrom leaderbord"}),
        "LINE 1: select scor from leaderboard\n               ^": (
            "sql", {"query": "select scor from leaderboard"},
        ),
        "one statement at a time": ("sql", {"query": "select 1; select 2"}),
        "less than or equal to 1000": ("sql", {"query": "select 1", "rows": 1001}),
    }  # fmt: skip
    answers = called(graded_demo, *wrong.values())
    for words, answer in zip(wrong, answers, strict=True):
        assert words in refusal(answer)
        assert "Traceback" not in text(answer)
    (nothing,) = called(graded_demo, ("sql", {"query": "select 1"}), options=("--release", "r9"))
    assert "there is no release 'r9'" in refusal(nothing)


@pytest.fixture
def project(tmp_path) -> Project:
    """A small lake, with somebody's file beside it."""
    (tmp_path / "file.csv").write_text("a,b\n1,secret\n")
    return small_lake(tmp_path)


@pytest.mark.parametrize(
    "statements",
    [STATEMENTS[::12], pytest.param(STATEMENTS, marks=pytest.mark.slow)],
    ids=["some", "all"],
)
def test_what_does_more_than_read_the_lake_is_refused(project, statements):
    """As on the server's page and in the shell: tests/sql/test_confined.py."""
    with Lake.live(project) as live:
        before = state(live)
        queries = [filled_in(each, project) for each in statements]
        *answers, count = called(
            project.folder,
            *[("sql", {"query": each}) for each in queries],
            ("sql", {"query": "select count(*) from raw.grades"}),
        )
        ran = [
            statement
            for statement, answer in zip(statements, answers, strict=True)
            if REFUSED not in refusal(answer)
            and not (";" in statement and "one statement" in text(answer))
        ]
        assert ran == []
        assert table(count)["rows"] == [[N_GRADES]]
        assert state(live) == before


def running(of: int) -> list[psutil.Process]:
    """What a server runs statements in, and what it started beside."""
    return psutil.Process(of).children(recursive=True)


def servers() -> set[int]:
    mine = psutil.Process().children()
    return {each.pid for each in mine if "mcp" in each.cmdline()}


async def busy(server: int) -> psutil.Process:
    """The process in which a statement of a server computes."""
    while True:
        for each in running(server):
            if each.cpu_times().user > 1 and not each.children():
                return each
        await anyio.sleep(0.1)


async def until_closed(session: ClientSession) -> None:
    """Ask what takes long, and wait until nobody is there to answer."""
    with pytest.raises(MCPError, match="closed"):
        await session.call_tool("sql", {"query": LONG})


def test_two_are_asked_at_once_and_one_that_nobody_waits_for_ends(graded_demo):
    async def work(session):
        (server,) = servers()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.call_tool, "sql", {"query": LONG})
            at_work = await busy(server)
            answer = await session.call_tool("ask", {"question": "leaderboard"})
            assert at_work.is_running(), "it is not waited for"
            tasks.cancel_scope.cancel()
        _, left = psutil.wait_procs([at_work], timeout=20)
        assert left == []
        return answer, await session.call_tool("sql", {"query": "select 1 as one"})

    for answer in talk(graded_demo, work):
        assert table(answer)["rows"]


def test_a_killed_server_leaves_nothing(project):
    async def work(session):
        (server,) = servers()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(until_closed, session)
            at_work = await busy(server)
            started = {*running(server), at_work}
            os.kill(server, signal.SIGKILL)
            _, left = await anyio.to_thread.run_sync(lambda: psutil.wait_procs(started, timeout=20))
        return left

    assert talk(project.folder, work) == []


def test_the_page_of_an_answer_shows_the_same(graded_demo):
    given = {"collection": "demo", "measure": "AP", "label_set": "assessor:human"}
    query = "select system, score from leaderboard order by all limit 3"
    with Server(graded_demo) as server:
        answers = called(
            graded_demo,
            ("ask", {"question": "leaderboard", "parameters": given}),
            ("sql", {"query": query}),
            ("ask", {"question": "leaderboard"}),
            options=("--url", f"{server.url}/"),
        )
        seen_at = [answer.structured_content["seen_at"] for answer in answers]
        assert "address" not in seen_at[2], "a page is about one collection"
        editor = server.browser("ed", "editor")
        path, _, parameters = seen_at[0]["address"].removeprefix(server.url).partition("?")
        assert editor.get(f"{path}?{parameters}").status_code == 200
        assert editor.get(f"{path}.json?{parameters}").json() == records(answers[0])
        page = editor.get(seen_at[1]["address"].removeprefix(server.url))
        assert page.status_code == 200
        assert all(row["system"] in page.text for row in records(answers[1]))


@pytest.mark.fast
def test_nothing_imports_the_protocol_until_it_is_spoken(tmp_path):
    code = """
import sys
from gradelake.app import app
app(["--help"], standalone_mode=False)
app(["mcp", "--help"], standalone_mode=False)
print({"mcp", "anyio"} & sys.modules.keys())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


def test_without_the_package_it_says_how_to_install_it(graded_demo):
    code = "import sys; sys.modules['mcp'] = None; from gradelake.app import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "mcp"], cwd=graded_demo, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "pip install 'gradelake[mcp]'" in done.stderr
