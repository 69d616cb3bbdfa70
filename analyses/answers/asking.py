"""How a question becomes a command, a function of Python, a page of the server, a tool for models,
and, where it has a title for one, a section of the report: `gradelake stats NAME`.

A file beside this one declares one question of its name: a function of a lake and a collection with
its options, which returns an `Answer`. Nothing else is written for it. A list of commands imports
all of them, so each imports what it computes with where it computes.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import click

from gradelake.analyses import answers
from gradelake.analyses.stats import options
from gradelake.sql.common import console
from gradelake.sql.common.command_line import Growing, answering, refuse_beside
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.whole_file import whole_file
from gradelake.sql.common.words import has_words
from gradelake.sql.lake.dictionary import words_of
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown import text
from gradelake.sql.shown.answer import Answer
from gradelake.sql.shown.forms import ENDINGS, FORMS, written

PICTURE = "picture"  # the form of an answer that is drawn


class Questions(Growing):
    """A group whose commands are the questions of the files beside this one, each by its name."""

    def list_commands(self, context: click.Context) -> list[str]:
        statistics()
        return super().list_commands(context)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        module = f"{answers.__name__}.{name.replace('-', '_')}"
        if module in _modules():
            import_module(module)
        return super().get_command(context, name)


def _modules() -> set[str]:
    return {f"{answers.__name__}.{module.name}" for module in iter_modules(answers.__path__)}


@click.group("stats", cls=Questions, short_help="Ask about boards, labels and agreement.")
def stats():
    """Ask what SQL alone does not answer: intervals, significance, agreement, estimates; and have
    every answer as a table, CSV, JSON, LaTeX, Markdown, HTML or a picture.

    \b
    Examples:
      gradelake stats correlation dl19 --measure nDCG@10
      gradelake stats kappa dl19 --label-set judge:Sun
      gradelake stats leaderboard dl19 --label-set judge:Sun -o board.tex
      gradelake stats ranks dl19 --label-set judge:Sun --measure AP \\
          --picture board.pdf
    """


@dataclass(frozen=True)
class WrittenAnswer:
    """An answer that stands in a file, or is on standard output already, as one of the forms or
    as a picture."""

    answer: Answer
    output: Path
    form: str

    @property
    def exit_code(self) -> int:
        return self.answer.exit_code

    def as_object(self) -> dict[str, Any]:
        return self.answer.as_object()

    def show(self) -> None:
        if str(self.output) == "-":
            return
        if self.form == PICTURE:
            console.say(f"{self.output}: drawn")
            if self.answer.sentence:
                console.say(self.answer.sentence)
        else:
            self._count()
        for note in self.answer.notes:
            console.warn(f"note: {note}")

    def _count(self) -> None:
        tables = self.answer.tables[: 1 if self.form == "csv" else None]
        n_rows = sum(len(table.rows) for table in tables)
        console.say(f"{self.output}: wrote {counted(n_rows, 'rows')}")


@dataclass(frozen=True)
class Statistic:
    """A question with its options, as whoever asks it finds it; `short` says in a line what it
    is, `marts` have the words for its columns, the first that has a column of their name."""

    name: str
    short: str
    section: str
    options: Sequence[click.Parameter]
    function: Callable[..., Answer]
    marts: Sequence[str]

    @property
    def about(self) -> str:
        """What it says, in paragraphs."""
        return cleandoc((self.function.__doc__ or "").partition("\b")[0])

    def has(self, words: str) -> bool:
        """Whether each of these words is in its name, or in what it is."""
        return has_words(f"{self.name} {self.short}", words)

    def answer(self, lake: Lake, collection: str, words: Sequence[str] = ()) -> Answer:
        """Ask it with options as people type them. Raises `BadInput` for what it does not take."""
        command = click.Command(self.name, params=[*self.options])
        try:
            asked = command.make_context(self.name, [*words]).params
        except click.ClickException as error:
            raise BadInput(error.format_message()) from None
        return self.explained(lake, self.function(lake, collection, **asked))

    def explained(self, lake: Lake, answer: Answer) -> Answer:
        """Its answer with what the columns mean."""
        return answer.explained(words_of(lake, self.marts))


_known: dict[str, Statistic] = {}


def statistics() -> dict[str, Statistic]:
    """All questions of these files, by name."""
    for module in _modules():
        import_module(module)
    return dict(sorted(_known.items()))


def sections() -> list[Statistic]:
    """The questions that have a section of the report. Of the files only those are imported in
    which one is named: the report is not to wait for the others."""
    for folder in answers.__path__:
        for file in sorted(Path(folder).glob("*.py")):
            if "section=" in file.read_text(encoding="utf-8"):
                import_module(f"{answers.__name__}.{file.stem}")
    return [one for _, one in sorted(_known.items()) if one.section]


def question(
    name: str, short: str, *, draws: bool = False, section: str = "", marts: Sequence[str] = ()
) -> Callable[[Callable[..., Answer]], Callable]:
    """Make a command of `stats` of a function of a lake, a collection and its options.

    The command's help is the function's docstring; `short` stands in the list of commands. What it
    `draws` can be had as a picture, too. `section`: the title of a section of the report, which has
    the answer by its defaults. `marts`: whose words its columns have, before `leaderboard`.
    """

    def decorate(function: Callable[..., Answer]) -> Callable:
        parameters = [*reversed(getattr(function, "__click_params__", []))]
        statistic = Statistic(name, short, section, parameters, function, [*marts, "leaderboard"])
        _known[name] = statistic

        @stats.command(name, short_help=short)
        @options.on_collection
        @formed
        @click.option("--explain", is_flag=True, help="Also say what the columns mean.")
        @(drawn if draws else lambda command: command)
        @wraps(function)
        def command(read, collection, explain, **asked):
            with console.working(f"asking for {name}"), read() as lake:
                found = function(lake, collection, **asked)
                return statistic.explained(lake, found) if explain else found

        return function

    return decorate


def formed(command: Callable | None = None, *, also: tuple[str, ...] = ()) -> Any:
    """Options of how an answer is had, and `--json`, for a command that returns one; `also` are
    forms that its answers alone can have."""
    if command is None:
        return partial(formed, also=also)

    @click.option(
        "--format",
        "form",
        type=click.Choice([*FORMS, *also]),
        help=(
            "Default: by the ending of --output (.csv, .json, .tex, .md, .html), otherwise a table."
        ),
    )
    @options.to_output()
    @options.named("--table", "Only this table of the answer; CSV has the first by default.")
    @click.option(
        "--standalone", is_flag=True, help="With LaTeX: a whole document, ready to compile."
    )
    @wraps(command)
    def answer(*arguments, form, output, table, standalone, **asked):
        asked_form = form
        form = form or ENDINGS.get(Path(str(output).removesuffix(".gz")).suffix, "table")
        _refuse(form, standalone)
        found = command(*arguments, **asked)
        if table:
            found = found.of(table)
        if form == "table" and str(output) == "-":
            picture = found.details.get(PICTURE)
            return (
                WrittenAnswer(found, Path(picture), PICTURE)
                if picture and not asked_form
                else found
            )
        put(written(found, form, standalone), output)
        return WrittenAnswer(found, output, form)

    return answering(_show)(answer)


def put(content: str, output: Path) -> None:
    """Write a text to a file, or (-) to standard output; a terminal is not steered by it."""
    if str(output) == "-":
        shown = console.printable(content) if sys.stdout.isatty() else content
        sys.stdout.buffer.write(shown.encode(errors="backslashreplace"))
        return
    with whole_file(output) as stream:
        stream.write(content.encode(errors="backslashreplace"))


def drawn(command: Callable[..., Answer]) -> Callable[..., Answer]:
    """Options of its picture for a command whose answer has one; the file is among the answer's
    `details`."""

    @click.option(
        "--picture",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Draw the answer to this file: .svg, .png or .pdf.",
    )
    @_sized("--width", "INCHES", "Width of the picture. Default: what its content needs.")
    @_sized("--height", "INCHES", "Height of the picture. Default: what its content needs.")
    @_sized(
        "--font-size",
        "POINTS",
        "Size of the picture's text; all else is in proportion. Default: 9.",
    )
    @wraps(command)
    def draw_it(*arguments, picture, width, height, font_size, **asked):
        sizes = {"--width": width, "--height": height, "--font-size": font_size}
        if picture is None:
            if sized := [name for name, size in sizes.items() if size is not None]:
                raise BadInput(f"{sized[0]} is of a picture", "Add --picture FILE.")
            return command(*arguments, **asked)
        refuse_beside("--picture", {"--explain": "has no columns"})
        from gradelake.sql.shown.pictures.picture import draw, form_of

        form = form_of(picture)  # before any work
        found = command(*arguments, **asked)
        if found.picture is None:
            raise BadInput("there is no picture of this answer")
        content = draw(found.picture, form, width, height, font_size)
        with whole_file(picture) as stream:
            stream.write(content)
        return replace(found, details={**found.details, PICTURE: str(picture)})

    return draw_it


def _sized(name: str, unit: str, what: str) -> Callable[[Callable], Callable]:
    return click.option(name, type=click.FloatRange(0, 100, True), metavar=unit, help=what)


def _refuse(form: str, standalone: bool) -> None:
    if standalone and form != "latex":
        raise BadInput(f"--standalone is for LaTeX, not for --format {form}")
    if form in ("csv", "latex"):
        refuse_beside(f"--format {form}", {"--explain": "has tables alone"})
    parameters = click.get_current_context().params
    if parameters["form"] and parameters["as_json"]:
        raise BadInput(f"--json and --format {form} cannot be used together")


def _show(found: Answer | WrittenAnswer) -> None:
    if isinstance(found, WrittenAnswer):
        found.show()
    else:
        text.show(found)
