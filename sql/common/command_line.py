"""The shape of the command line: commands by what they are for, options that all of them have."""

import os
import sys
from collections import UserDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from gradelake.sql.common import console
from gradelake.sql.common.results import as_object

_LOCALE = "terminal_encoding"  # how a terminal shows text, for the restarted process
_OF_FORM = "form_"  # options that say what a file looks like
_called: ContextVar[list[str] | None] = ContextVar("called", default=None)


def _keep(context: click.Context, option: click.Option, value: bool) -> None:
    """Keep the option in `console.loudness`; what is said after a command adds to it."""
    if value or context.parent is None:
        setattr(console.loudness, option.name, value)
    if console.loudness.quiet and console.loudness.verbose:
        raise click.UsageError("--quiet and --verbose cannot be used together.", context)


def whatever_the_locale() -> None:
    """Paths, pipes and files are UTF-8; a terminal gets what its locale can show, ? for the rest.

    Python reads paths in the locale's encoding, and DuckDB wants UTF-8: where the locale's is
    another, this process restarts in Python's UTF-8 mode, which its workers inherit.
    """
    if sys.getfilesystemencoding() != "utf-8" and _LOCALE not in sys._xoptions:  # but once
        os.environ["PYTHONUTF8"] = "1"
        option = f"{_LOCALE}={getattr(sys.stdout, 'encoding', 'utf-8')}"
        os.execv(sys.executable, [sys.executable, "-X", option, *sys.orig_argv[1:]])
    encoding = sys._xoptions.get(_LOCALE)
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None: closed by who started us
        stream.reconfigure(encoding=encoding if stream.isatty() else None, errors="replace")


@contextmanager
def called_from_python(words: list[str]) -> Iterator[None]:
    """Inside, a command returns its result instead of printing it, and was typed as `words`."""
    before = _called.set(words)
    try:
        yield
    finally:
        _called.reset(before)


def typed() -> list[str]:
    """What was typed after `gradelake`, for the record of a run."""
    return sys.argv[1:] if (words := _called.get()) is None else words


def with_options(*options: Callable) -> Callable:
    """A decorator that gives a command these options, in this order."""

    def decorate(command: Callable) -> Callable:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def to_file(what: str, **attributes: Any) -> Callable[[Callable], Callable]:
    """The option of which file a result goes to; `what` is its help."""
    kind = click.Path(dir_okay=False, path_type=Path)
    return click.option("--output", "-o", metavar="FILE", type=kind, help=what, **attributes)


def answering(
    show: Callable[[Any], object], json_help: str = "Print one JSON object."
) -> Callable[[Callable], Callable]:
    """Make a command's function, which returns its result, print that and set the exit code.

    Adds `--json`, which prints the result as one object (`results.as_object`); without it
    `show(result)` prints it for people. A result's `exit_code`, where it has one, is the command's.
    """

    def decorate(function: Callable) -> Callable:
        @click.option("--json", "as_json", is_flag=True, help=json_help)
        @wraps(function)
        def command(*arguments: Any, as_json: bool, **options: Any) -> Any:
            result = function(*arguments, **options)
            if _called.get() is not None:
                return result
            if as_json:
                console.print_json(as_object(result))
            else:
                show(result)
            if code := getattr(result, "exit_code", 0):
                sys.exit(code)
            return None

        return command

    return decorate


def bringing_in(
    place: str, *options: Callable, show: Callable[[Any], object] = lambda done: done.print()
) -> Callable[[Callable], Callable]:
    """Make a command that brings a FILE into a COLLECTION, with these options, by the function at
    `place` (as `imported` takes it); what is decorated only says in its docstring what it does.
    Options called `form_...` say what FILE looks like: the function gets them as `form`."""

    def decorate(said: Callable) -> Callable:
        @wraps(said)
        def command(project: Callable, collection: str, file: Path, **stated: Any) -> Any:
            from gradelake.sql.lake.opening import Lake

            if form := form_of(stated):
                stated = {name: stated[name] for name in stated if not name.startswith(_OF_FORM)}
                stated["form"] = form
            with console.working(f"reading {file}"), Lake.writer(project()) as lake:
                return imported(place)(lake, collection, file, arguments=typed(), **stated)

        path = click.argument("file", type=click.Path(path_type=Path))
        given = with_options(click.argument("collection"), path, *options)
        return given(answering(show)(click.pass_obj(command)))

    return decorate


def form_of(stated: Mapping[str, Any]) -> dict[str, Any]:
    """What options called `form_...` say, by the rest of their names."""
    return {
        name.removeprefix(_OF_FORM): value
        for name, value in stated.items()
        if name.startswith(_OF_FORM)
    }


def reading(function: Callable) -> Callable:
    """Add `--release` and `--live`; the command gets `read`, a function that opens the lake so."""

    @click.option("--release", metavar="NAME", help="Read this release instead of the newest.")
    @click.option("--live", is_flag=True, help="Read the working catalog: the newest commit.")
    @wraps(function)
    @click.pass_obj
    def command(project: Callable, release: str | None, live: bool, **options: Any) -> Any:
        from gradelake.sql.lake.opening import Lake

        return function(read=lambda: Lake.reading(project(), release, live), **options)

    return command


def without_project(function: Callable) -> Callable:
    """A command that reads no gradelake.toml: one that is named beside it is refused."""

    @wraps(function)
    def command(**options: Any) -> Any:
        context = click.get_current_context()
        if context.find_root().params.get("config"):
            raise click.UsageError(f"--config is not for {context.info_name}, which reads none.")
        return function(**options)

    return command


def refuse_others(*allowed: str) -> None:
    """Raise `UsageError` where another parameter than these was given, besides how to answer."""
    context = click.get_current_context()
    known = {str(each.name): each for each in context.command.params}
    for name, parameter in known.items():
        is_given = context.get_parameter_source(name) == ParameterSource.COMMANDLINE
        if is_given and name not in (*allowed, "as_json"):
            what = parameter.get_error_hint(context).strip("'")
            beside = " and ".join(known[each].opts[0] for each in allowed)
            raise click.UsageError(f"{what} cannot be used with {beside}.")


def refuse_beside(option: str, pointless: Mapping[str, str]) -> None:
    """Raise `UsageError` where an option was given that another one leaves nothing to do.

    `option` was given; `pointless` has the options that may not stand beside it, and why.
    """
    for other, why in pointless.items():
        if is_given(other):
            raise click.UsageError(f"{other} cannot be used with {option}, which {why}.")


def refuse_without(option: str, value: object, *others: str) -> None:
    """Raise `UsageError` where one of the `others`, which are about `option`, was given, and the
    option has no `value`."""
    if value:
        return
    for other in filter(is_given, others):
        raise click.UsageError(f"{other} is about {option}: give that too, or leave {other} out.")


def is_given(option: str) -> bool:
    """Whether somebody gave an option of the command that runs, be it with the default's value; of
    one that it has not, nobody did."""
    context = click.get_current_context(silent=True)
    if context is None:  # a function of Python was called, and no command
        return False
    names = [str(each.name) for each in context.command.params if option in each.opts]
    return any(context.get_parameter_source(n) == ParameterSource.COMMANDLINE for n in names)


# options of every command, and before it
LOUDNESS = [
    click.Option(names, is_flag=True, expose_value=False, callback=_keep, help=what)
    for names, what in (
        (("-q", "--quiet"), "Print results, warnings and errors only."),
        (("-v", "--verbose"), "Also print each step and how long it took."),
        (("--debug",), "Show a stack trace when something fails."),
    )
]


def imported(place: str) -> Any:
    """The command, or another function, at MODULE:FUNCTION, a module of the package."""
    module, _, function = place.partition(":")
    return getattr(import_module(f"gradelake.{module}"), function)


class Later(UserDict[str, Any]):
    """Commands by name. Each is imported, and made ready, when it is first asked for: to import all
    takes longer than many a command."""

    def __init__(self, places: Mapping[str, str], make_ready: Callable[[click.Command], None]):
        super().__init__(places)
        self._make_ready = make_ready

    def __getitem__(self, name: str) -> click.Command:
        found = self.data[name]
        if isinstance(found, str):
            found = self.data[name] = imported(found)
            self._make_ready(found)
        return found


class Growing(click.Group):
    """A group that gets commands later, too; each is made ready as those were that it had."""

    def __init__(self, *arguments: Any, **settings: Any):
        super().__init__(*arguments, **settings)
        self.make_ready: list[Callable[[click.Command], None]] = []

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        for ready in self.make_ready:
            ready(cmd)
        super().add_command(cmd, name)


def each_within(command: click.Command, make_ready: Callable[[click.Command], None]) -> None:
    """Make the commands of a group ready, also those that come later."""
    if isinstance(command, click.Group):
        for each in command.commands.values():
            make_ready(each)
    if isinstance(command, Growing):
        command.make_ready.append(make_ready)


class Sections(click.Group):
    """A group whose help lists its commands in sections, and whose commands all have `LOUDNESS`."""

    def __init__(self, *arguments: Any, **settings: Any):
        super().__init__(*arguments, **settings)
        self.params += LOUDNESS
        self.sections: Mapping[str, Mapping[str, str]] = {}

    def mount(
        self, sections: Mapping[str, Mapping[str, str]], make_ready: Callable[[click.Command], None]
    ) -> None:
        """Give it its commands: section -> name -> place, as `imported` takes it."""

        def ready(command: click.Command) -> None:
            make_ready(command)
            _add_loudness(command)

        self.sections = sections
        places = {name: place for each in sections.values() for name, place in each.items()}
        self.commands = Later(places, ready)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        wide = max(map(len, self.commands))  # the same column in every section
        for title, names in self.sections.items():
            rows = [(f"{name:<{wide}}", short_help(self.commands[name], wide)) for name in names]
            with formatter.section(title):
                formatter.write_dl(rows)


def short_help(command: click.Command, wide: int, width: int = 78) -> str:
    """What a listing says of a command, beside names of which the longest is `wide` characters."""
    return command.get_short_help_str(width - 6 - wide)


def _add_loudness(command: click.Command) -> None:
    command.params += LOUDNESS
    each_within(command, _add_loudness)
