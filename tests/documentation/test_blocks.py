"""Every block of every page is tested, or says why not; every command that is shown exists."""

import itertools
import json
import shlex
import tomllib

import click
import pytest
import yaml

from gradelake import app
from sql import book
from tests.documentation.pages import Block, blocks, commands_in_prose, pages
from tests.documentation.run import JUDGING_PAGES, LAKE_PAGES
from tests.places import REPOSITORY

BLOCKS = [block for page in pages() for block in blocks(page)]
COMMANDS = [block for block in BLOCKS if block.language in ("bash", "console")]
# run by a test that reads them from their page, each kind in its own way
OTHERS = {"text", "toml", "sql", "python", "csv", "mermaid", "r", "json", "yaml", "ini"}


def places(found: list[Block]) -> list[str]:
    return [block.place for block in found]


def test_there_are_pages_and_blocks():
    assert len(pages()) > 10
    assert len(COMMANDS) > 40


def test_every_block_names_its_language():
    assert [b.place for b in BLOCKS if b.language not in {"bash", "console"} | OTHERS] == []


def test_every_page_with_commands_is_gone_through():
    assert {b.page for b in BLOCKS if b.is_run} == {"README.md", *LAKE_PAGES, *JUDGING_PAGES}


def test_what_no_test_here_runs_says_who_does_or_why_nobody():
    for block in BLOCKS:
        for reason in block.noted("elsewhere"):
            file, _, why = reason.partition(", ")
            assert (REPOSITORY / file).is_file(), f"{block.place}: no {file}"
            assert why, f"{block.place}: why there?"
        for reason in block.noted("never"):
            assert len(reason) > 10, f"{block.place}: why is it never run?"
        known = {"in", "first", "printed", "exits", "elsewhere", "never"}
        assert {word for word, _ in block.notes} <= known, block.place


@pytest.mark.parametrize("block", COMMANDS, ids=places(COMMANDS))
def test_every_command_of_ours_exists_with_its_options(block):
    for step in block.steps():
        for words in gradelake_words(step.command):
            check(words, block.place)


PROSE = [(page, command) for page in pages() for command in commands_in_prose(page)]


@pytest.mark.parametrize(("page", "command"), PROSE)
def test_commands_in_prose_exist_with_their_options(page, command):
    _, *words = shlex.split(command)
    for chosen in itertools.product(*(word.split("|") for word in words)):  # `release keep|drop`
        check(list(chosen), page, whole=False)


def gradelake_words(command: str) -> list[list[str]]:
    """The arguments of each call of gradelake in a line of shell."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, "#"
    calls, current = [], None
    for word in lexer:
        if word == "gradelake" or word.endswith("bin/gradelake"):
            current = []
            calls.append(current)
        elif word and set(word) <= set("();<>|&"):
            current = None
        elif current is not None:
            current.append(word)
    return calls


def check(words: list[str], place: str, whole: bool = True) -> None:
    """Raise where click would refuse the words, without doing what they say."""
    command: click.Command = app
    context = None
    try:
        while True:
            context = click.Context(command, parent=context, **command.context_settings)
            given, rest, _ = command.make_parser(context).parse_args(list(words))
            if "help" in given or "version" in given:
                return
            if not isinstance(command, click.Group):
                break
            if not rest and not whole:
                return  # a group is spoken of
            assert rest, f"{place}: a command is missing"
            _, command, words = command.resolve_command(context, rest)
    except click.ClickException as error:
        raise AssertionError(f"{place}: {words}: {error.format_message()}") from error
    question = given["query"] if isinstance(given.get("query"), str) else ""
    if command.name == "sql" and question[:1] == "@" and question != "@":
        assert set(book.parameters(rest)) <= set(book.entry(question[1:]).parameters), place


@pytest.mark.parametrize("language", ["toml", "json", "yaml"])
def test_files_that_are_shown_can_be_read(language):
    read = {"toml": tomllib.loads, "json": json.loads, "yaml": yaml.safe_load}[language]
    found = [block for block in BLOCKS if block.language == language]
    assert found
    for block in found:
        assert read(block.text), block.place
