"""The tools that a model is given. Each call reads one release, in a process with hard limits; what
there is to ask is what the query book declares."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Annotated, Any, Concatenate, ParamSpec
from urllib.parse import quote, urlencode

import anyio
import click
from mcp.server import MCPServer
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import Field

from gradelake.analyses.answers.asking import statistics
from gradelake.calling import name_of
from gradelake.mcp import asking
from gradelake.mcp.asking import FirstRows
from gradelake.mcp.reply import UNTRUSTED, refusal, reply, told
from gradelake.sql.ask import book
from gradelake.sql.ask.limited import AT_ONCE, SECONDS, limited
from gradelake.sql.common.errors import GradelakeError
from gradelake.sql.common.project import Project
from gradelake.statistics import computing, words

P = ParamSpec("P")
_ABOUT = f"""Gradelake is a lakehouse of evaluations of search and RAG systems: queries, passages,
runs, people's judgments, grades by language models, and what is derived of them: leaderboards,
agreement, coverage, costs. Begin with `collections`, then `list_questions`; `ask` answers a
question of the list, `statistic` what takes more than SQL, `sql` what is not in either. Everything
is read-only. {UNTRUSTED}"""
_COLLECTIONS = """
select
    collection,
    (select count(*) from raw.queries where queries.collection = all_of.collection) as n_queries,
    min_relevant,
    (
        select list(system order by system) from raw.systems
        where systems.collection = all_of.collection
    ) as systems,
    (
        select list(label_set order by label_set) from marts.usual_levels
        where usual_levels.collection = all_of.collection
    ) as label_sets
from raw.collections as all_of
order by collection"""


def _typed(name: str, means: str) -> dict[str, Any]:
    """A parameter of the book in JSON Schema."""
    declared = book.declared("parameters")[name]
    kind: Any = ["integer", "string"] if "numbers" in declared else "string"
    known = {"enum": [*declared["words"].split(), "any"]} if "words" in declared else {}
    return {"type": kind, "description": means, **known}


_PARAMETERS = {
    name: _typed(name, means)
    for entry in book.entries().values()
    for name, (_, means) in entry.parameters.items()
}
Question = Annotated[
    str,
    Field(
        description="A question's name, as `list_questions` gives it.",
        json_schema_extra={"enum": [*book.entries()]},
    ),
]
Parameters = Annotated[
    dict[str, Any],
    Field(
        description="Its parameters by name; those left out have their defaults, any is no "
        "restriction. `describe_question` says which a question has, and what each may be.",
        default_factory=dict,
        json_schema_extra={"properties": _PARAMETERS, "additionalProperties": False},
    ),
]
StatisticName = Annotated[
    str,
    Field(
        description="As `list_statistics` gives it.", json_schema_extra={"enum": [*statistics()]}
    ),
]
Options = Annotated[
    dict[str, Any],
    Field(description="Its options by name, as `list_statistics` has them.", default_factory=dict),
]
Rows = Annotated[int, Field(ge=1, le=1000, description="How many rows to show, at most.")]


def _with_refusals(
    tool: Callable[Concatenate["Tools", P], Awaitable[CallToolResult]],
) -> Callable[Concatenate["Tools", P], Awaitable[CallToolResult]]:
    """What cannot be done is told in words."""

    @wraps(tool)
    async def told(self: "Tools", *given: P.args, **named: P.kwargs) -> CallToolResult:
        try:
            return await tool(self, *given, **named)
        except GradelakeError as error:
            return refusal(error)

    return told


class Tools:
    """What a model may do with the lake of a project. `release`: its name, or None for the newest
    at each call; `url`: where `gradelake serve` is."""

    def __init__(self, project: Project, release: str | None, url: str | None):
        self._project, self._release, self._url = project, release, url
        self._at_once = anyio.CapacityLimiter(AT_ONCE)

    async def _found(self, work: Callable[..., FirstRows], *arguments: Any) -> FirstRows:
        """What a process of its own finds; one that nobody waits for any more is ended."""
        async with self._at_once:
            with limited(SECONDS, work, self._project, self._release, *arguments) as result:
                return await anyio.to_thread.run_sync(result, abandon_on_cancel=True)

    @_with_refusals
    async def collections(self) -> CallToolResult:
        """The collections of the lake: how many queries each has, the label from which a passage
        counts as relevant to people, its systems, and its label sets (what made the labels of a
        leaderboard: `assessor:NAME` people, `judge:NAME` a judge, `GRADER/vN/POLICY` a grader's
        grades under version N of a rubric)."""
        return await self._of_sql("The collections of the lake.", _COLLECTIONS.strip(), 1000)

    @_with_refusals
    async def list_questions(
        self,
        words: Annotated[str, Field(description="Only questions with each of these words.")] = "",
    ) -> CallToolResult:
        """The questions that the query book answers, by what they are about, with their parameters
        and defaults."""
        about = {
            name: title
            for title, names in book.declared("groups").items()
            for name in names.split()
        }
        every = book.entries()
        rows = [
            [about.get(name, "Others"), name, every[name].question, _defaults(every[name])]
            for name in dict.fromkeys([*about, *every])
            if every[name].has(words)
        ]
        columns = ["about", "question", "asks", "parameters"]
        found = FirstRows(columns, rows, len(rows), is_ours=True)
        return reply("Questions of the query book.", found, ["sql", "@"], None)

    @_with_refusals
    async def describe_question(
        self,
        question: Question,
        collection: Annotated[str, Field(description="Values of this collection only.")] = "",
    ) -> CallToolResult:
        """The parameters of a question: what each means, its default, and which values there are in
        this lake."""
        entry = book.entry(question)
        found = await self._found(asking.parameters, question, collection or None)
        return reply(entry.question, found, ["sql", f"@{question}", "--help"], None)

    @_with_refusals
    async def ask(
        self, question: Question, parameters: Parameters, rows: Rows = 50
    ) -> CallToolResult:
        """Answer a question of the query book, such as `leaderboard`. Prefer this to `sql` where a
        question fits."""
        entry = book.entry(question)
        given = {
            name.replace("-", "_"): "any" if value is None else str(value)
            for name, value in parameters.items()
        }
        found = await self._found(asking.answer, question, given, rows)
        with_ = [f"{name} {value}" for name, value in found.values.items() if value is not None]
        sentence = f"{entry.question} With {', '.join(with_)}." if with_ else entry.question
        options = [word for name, value in given.items() for word in (f"--{name}", value)]
        command = ["sql", f"@{question}", *options]
        collection, asked = given.pop("collection", "any"), given | self._named()
        page = f"/c/{quote(collection, safe='')}/ask/{question}?{urlencode(asked)}"
        shown = self._url if collection != "any" else None
        return reply(sentence, found, command + self._option(), shown and shown + page)

    @_with_refusals
    async def sql(
        self,
        query: Annotated[str, Field(description="One SELECT of DuckDB's SQL.")],
        rows: Rows = 50,
    ) -> CallToolResult:
        """Answer a query in DuckDB's SQL. Tables of the schema `marts` need no prefix, those of
        `raw` and `intermediate` do; `describe_table` names them and their columns. It reads the
        lake and nothing else."""
        return await self._of_sql("The rows of a query.", query, rows)

    @_with_refusals
    async def describe_table(
        self, table: Annotated[str, Field(description="Its name; none: all tables.")] = ""
    ) -> CallToolResult:
        """The columns of a table, their types and what they mean; without a name the tables and
        what they hold."""
        sentence = f"The columns of {table}." if table else "The tables of the lake, marts first."
        found = await self._found(asking.described, table)
        return self._of_query(sentence, found.values.pop("query") or "", found)

    @_with_refusals
    async def list_statistics(self) -> CallToolResult:
        """What is computed beyond SQL: intervals, significance, agreement, estimates; with the
        options of each."""
        columns = ["statistic", "says", "options"]
        rows = [
            [name, one.about, [_option(each) for each in one.options]]
            for name, one in statistics().items()
        ]
        found = FirstRows(columns, rows, len(rows), is_ours=True)
        return reply("Statistics.", found, ["stats", "--help"], None)

    @_with_refusals
    async def statistic(
        self, name: StatisticName, collection: str, options: Options
    ) -> CallToolResult:
        """Compute a statistic of a collection, such as `ranks` or `kappa`."""
        typed = words(name, options)
        async with self._at_once:
            asked = (self._project, self._release, name, collection, typed)
            with computing(*asked) as result:
                found = await anyio.to_thread.run_sync(result, abandon_on_cancel=True)
        there = f"/c/{quote(collection, safe='')}/stats/{name}"
        given = urlencode(options | self._named(), doseq=True)
        address = self._url and f"{self._url}{there}?{given}"
        return told(found, ["stats", name, collection, *typed, *self._option()], address)

    async def _of_sql(self, sentence: str, query: str, rows: int) -> CallToolResult:
        return self._of_query(sentence, query, await self._found(asking.selected, query, rows))

    def _of_query(self, sentence: str, query: str, found: FirstRows) -> CallToolResult:
        page = f"/sql?{urlencode({'sql': query} | self._named())}"
        command = ["sql", query, *self._option()]
        return reply(sentence, found, command, self._url and self._url + page)

    def _named(self) -> dict[str, str]:
        return {"release": self._release} if self._release else {}

    def _option(self) -> list[str]:
        return ["--release", self._release] if self._release else []


def serve(project: Project, release: str | None, url: str | None) -> None:
    """Answer on standard input and output until the client is gone."""
    tools = Tools(project, release, url)
    server = MCPServer("gradelake", instructions=_ABOUT, log_level="ERROR")
    only_reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    for tool in (
        tools.collections,
        tools.list_questions,
        tools.describe_question,
        tools.ask,
        tools.sql,
        tools.describe_table,
        tools.list_statistics,
        tools.statistic,
    ):
        server.add_tool(tool, annotations=only_reads)
    server.run("stdio")


def _option(option: click.Parameter) -> str:
    needed = "; needed" if option.required else ""
    return f"{name_of(option)}: {getattr(option, 'help', None) or ''}{needed}"


def _defaults(entry: book.BookEntry) -> str:
    return ", ".join(f"{name}={default}" for name, (default, _) in entry.parameters.items())
