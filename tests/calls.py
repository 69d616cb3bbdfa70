"""Calls of gradelake that a text shows, held against the command line without being run."""

import shlex
from enum import Enum

import click

from gradelake.app import app
from gradelake.sql.ask import book


def calls(line: str) -> list[list[str]]:
    """The arguments of each call of gradelake in a line of shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, "#"
    found, current = [], None
    for word in lexer:
        if word == "gradelake" or word.endswith("bin/gradelake"):
            current = []
            found.append(current)
        elif word and set(word) <= set("();<>|&"):
            current = None
        elif current is not None:
            current.append(word)
    return found


def within(group: click.Group, context: click.Context | None = None) -> dict[str, click.Command]:
    """A group's commands by their names, also those that it reads when it is asked."""
    context = context or click.Context(group)
    return {name: group.get_command(context, name) for name in group.list_commands(context)}


def check(words: list[str], whole: bool = True) -> None:
    """Follow the words down the tree of commands, and fail where click would; run nothing.

    Not `whole`: prose, which may speak of a group or a command alone, and has placeholders.
    """
    try:
        _follow(
            app, click.Context(app, info_name="gradelake", **app.context_settings), words, whole
        )
    except click.ClickException as error:
        raise AssertionError(f"{' '.join(words)}: {error.format_message()}") from error


def _follow(command: click.Command, context: click.Context, words: list[str], whole: bool) -> None:
    values, rest, _ = command.make_parser(context).parse_args(list(words))
    if "help" in values or "version" in values:
        return
    if whole:
        _check_values(command, context, values)
    if isinstance(command, click.Group):
        if not rest and not whole:
            return  # a group is spoken of
        assert rest, f"{context.command_path}: a command is missing"
        name, found, rest = command.resolve_command(context, rest)
        child = click.Context(found, context, name, **found.context_settings)
        _follow(found, child, rest, whole)
    elif isinstance(query := values.get("query"), str) and query[:1] == "@" and query != "@":
        if "--help" not in rest:
            book.entry(query[1:]).values(book.parameters(rest))
    else:
        assert not rest, f"unexpected: {rest}"


def _check_values(command: click.Command, context: click.Context, values: dict) -> None:
    for option in command.get_params(context):
        if option.required:  # click has a sentinel, an Enum, for an argument that is not given
            given = values.get(option.name)
            assert not isinstance(given, Enum | None), f"{option.name} is missing"
        if isinstance(option.type, click.Choice | click.IntRange | click.FloatRange):
            for value in [values[option.name]] if values.get(option.name) else []:
                for each in value if isinstance(value, list) else [value]:
                    option.type.convert(each, option, context)
