"""What Tab offers at the prompt of `gradelake sql`."""

import re
import shlex
from collections.abc import Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from gradelake.sql.ask import book, question
from gradelake.sql.ask.shell.dot_commands import COMMANDS
from gradelake.sql.ask.shell.tables import SCHEMAS, shown_name, tables
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.dictionary import meanings
from gradelake.sql.lake.opening import Lake

_WORD = re.compile(r"[\w.]*\Z")
_BEFORE_TABLE = re.compile(r"\b(?:from|join|describe|summarize|table)\s+(?:[\w.\s]+,\s*)*\Z", re.I)
_NAMED = re.compile(r"[\w.]+")
_ALIAS = re.compile(r"\s+(?:as\s+)?(\w+)", re.I)
_TEXT = re.compile(r"'[^']*'")


class ShellCompleter(Completer):
    """Completes keywords, tables and columns; questions, their parameters and values; dot
    commands. Tables are looked up each time: a session can make temporary ones."""

    def __init__(self, lake: Lake):
        self._lake = lake
        self._meanings = meanings(lake)
        words = lake.rows("select keyword_name, keyword_category from duckdb_keywords()")
        self._reserved = {word for word, kind in words if kind == "reserved"}
        # words with a meaning in SQL before the many that could also be names
        self._keywords = sorted(
            (word for word, _ in words), key=lambda w: (w not in self._reserved, w)
        )

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
        text = document.text_before_cursor
        if text.lstrip().startswith("@"):
            yield from self._of_question(text.lstrip())
        elif text.lstrip().startswith((".", "\\")):
            yield from self._of_command(text.lstrip())
        else:
            try:
                begun = question.split(text)[1]
            except BadInput:  # Enter shows the error
                return
            if begun.count("'") % 2 == 0:  # not within a text
                yield from self._of_statement(begun, begun + document.text_after_cursor)

    # --- statements ---------------------------------------------------------------------------

    def _of_statement(self, begun: str, statement: str) -> Iterator[Completion]:
        last = _WORD.search(begun)
        word = last[0] if last else ""
        known = tables(self._lake)
        named = _tables_in(statement, known)
        qualifier, dot, part = word.rpartition(".")
        if dot and qualifier.lower() in named:
            table = named[qualifier.lower()]
            for column in known[table]:
                yield from _starting(part, [self._quoted(column)], self._meaning(table, column))
            return
        found = list(_tables(word, known))
        if _BEFORE_TABLE.search(begun.removesuffix(word)) or dot:
            yield from found
            if found or dot:
                return
        columns = {
            self._quoted(column): f"{table}: {self._meaning(table, column)}"
            for table in dict.fromkeys(named.values())
            for column in known[table]
        }
        for column, meaning in columns.items():
            yield from _starting(word, [column], meaning)
        if word:
            keywords = [w.upper() for w in self._keywords] if word.isupper() else self._keywords
            yield from _starting(word, (w for w in keywords if w.lower() not in columns), "")
            yield from found

    def _meaning(self, table: str, column: str) -> str:
        return self._meanings.get(table, {}).get(column, "column")

    def _quoted(self, name: str) -> str:
        plain = re.fullmatch(r"[a-z_][a-z0-9_]*", name) and name not in self._reserved
        return name if plain else '"' + name.replace('"', '""') + '"'

    # --- questions and dot commands -------------------------------------------------------------

    def _of_question(self, line: str) -> Iterator[Completion]:
        name, *words = line.split(" ")
        entries = book.entries()
        if not words:
            for entry in entries.values():
                yield from _starting(name, [f"@{entry.name}"], entry.question)
            return
        if name[1:] not in entries:
            return
        parameters = entries[name[1:]].parameters
        *before, word = words
        asked_for = before[-1].removeprefix("--") if before and before[-1][:2] == "--" else ""
        if asked_for in parameters:
            values = book.known(self._lake, asked_for) or set()
            yield from _starting(word, map(shlex.quote, sorted(values)), "")
            return
        for parameter, (default, what) in parameters.items():
            if f"--{parameter}" not in before:
                yield from _starting(word, [f"--{parameter}"], f"{what} ({default})")
        if not before:
            yield from _starting(word, ["--help"], "what it asks, and its parameters")

    def _of_command(self, line: str) -> Iterator[Completion]:
        name, space, word = line.partition(" ")
        if not space:
            for command, what in COMMANDS.items():
                yield from _starting(name, [command], what.what)
        elif name in (".schema", "\\d"):
            yield from _tables(word, tables(self._lake))
        elif name in COMMANDS:
            yield from _starting(word, COMMANDS[name].choices, "")


def _starting(word: str, names: Iterable[str], meta: str) -> Iterator[Completion]:
    for name in names:
        if name.lower().startswith(word.lower()):
            yield Completion(name, start_position=-len(word), display_meta=meta)


def _tables(word: str, known: Iterable[str]) -> Iterator[Completion]:
    """Tables whose names begin so, with or without their schema."""
    sought = shown_name(word)
    for name in known:
        schema, _, bare = name.rpartition(".")
        if name.startswith(sought) or (sought and bare.startswith(sought)):
            meta = f"table of {schema}" if schema in SCHEMAS else "table"
            yield Completion(name, start_position=-len(word), display_meta=meta)


def _tables_in(statement: str, known: Iterable[str]) -> dict[str, str]:
    """The tables that a statement names, by their names and by their aliases in it."""
    found: dict[str, str] = {}
    statement = _TEXT.sub("''", statement)
    for each in _NAMED.finditer(statement):
        table = shown_name(each[0])
        if table not in known:
            continue
        found[table] = table
        found[table.rpartition(".")[2]] = table
        if alias := _ALIAS.match(statement, each.end()):
            found[alias[1].lower()] = table
    return found
