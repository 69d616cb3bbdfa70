"""The command line as it is met first: help with examples that exist, hints for typos, loudness."""

from collections.abc import Callable

import click
import pytest
from click.testing import CliRunner

from gradelake.app import app
from gradelake.sql.common.command_line import short_help
from gradelake.sql.common.errors import GradelakeError
from tests.calls import calls, check, within

WIDTH = 80


def _walk(command: click.Command, context: click.Context):
    """Every command below this one, with a context that knows its path."""
    yield command, context
    if isinstance(command, click.Group):
        for name, each in within(command, context).items():
            child = click.Context(each, context, info_name=name, **each.context_settings)
            yield from _walk(each, child)


_ROOT = click.Context(app, info_name="gradelake", terminal_width=WIDTH, **app.context_settings)
EVERY = list(_walk(app, _ROOT))


def _help(command: click.Command, context: click.Context) -> str:
    formatter = click.HelpFormatter(max_width=WIDTH, width=WIDTH - 2)
    command.format_help(context, formatter)
    return formatter.getvalue()


def _examples(command: click.Command) -> list[list[str]]:
    """The words of each example's commands that are Gradelake's, continued lines joined."""
    text = (command.help or "").partition("Examples:\n")[2].partition("\n\n")[0]
    text += "\n" + (command.epilog or "")
    lines = (line.strip() for line in text.replace("\\\n", " ").splitlines())
    return [words for line in lines if line.startswith("gradelake ") for words in calls(line)]


def test_help_says_what_each_command_does_in_a_sentence_and_with_examples_that_exist():
    for command, context in EVERY:
        sentence = command.help.partition("\n\n")[0].strip()
        assert sentence.endswith("."), context.command_path
        assert sentence[0].isupper(), context.command_path
        examples = _examples(command)
        assert any(_is_of(words, context) for words in examples), context.command_path
        for words in examples:
            check(words)


def _is_of(words: list[str], context: click.Context) -> bool:
    """Whether an example is of the very command, or of one of its group."""
    path = context.command_path.split()[1:]
    return [word for word in words if word in path][: len(path)] == path


def test_help_is_no_wider_than_a_terminal_and_cuts_nothing():
    for command, context in EVERY:
        for line in _help(command, context).splitlines():
            assert len(line) <= WIDTH, f"{context.command_path}: {line}"
        if isinstance(command, click.Group):
            wide = max(map(len, within(command)))
            for name, each in within(command).items():
                listed = short_help(each, wide)
                assert not listed.endswith("..."), f"{name}: {listed}"
                assert len(listed) <= WIDTH - 8 - wide, f"{name}: {listed}"


def test_every_option_has_help_and_is_there_once():
    for command, context in EVERY:
        options = command.get_params(context)
        names = [name for each in options for name in each.opts]
        assert len(names) == len(set(names)), context.command_path
        for option in options:
            assert not isinstance(option, click.Option) or option.help, option.opts


def test_json_is_what_the_function_of_a_command_returns():
    def answers(function: Callable | None) -> bool:
        """Whether `answering` is among what wraps it."""
        if function is None:
            return False
        made_by = function.__code__.co_qualname
        return made_by.startswith("answering.") or answers(getattr(function, "__wrapped__", None))

    own = {
        context.command_path
        for command, context in EVERY
        if any("--json" in option.opts for option in command.params)
        and not answers(command.callback)
    }
    # a line for each build with --watch; a night has an object when it fails, too
    assert own == {"gradelake build", "gradelake nightly"}


def test_help_lists_every_command_once_by_what_it_is_for_and_says_where_to_begin():
    shown = CliRunner().invoke(app, ["--help"], terminal_width=WIDTH).output

    assert "gradelake init demo --demo" in shown
    for name in app.commands:
        assert sum(line.startswith(f"  {name} ") for line in shown.splitlines()) == 1, name
    listed = [name for names in app.sections.values() for name in names]
    assert sorted(listed) == sorted(app.commands)


# --- typos --------------------------------------------------------------------------------------

L = ["--label-set", "judge:lexical_direct"]
TYPOS_OF_COMMANDS = [
    (["biuld"], "build"),
    (["lake", "veryfi"], "verify"),
    (["stats", "leaderbord"], "leaderboard"),
    (["stats", "corelation"], "correlation"),
    (["lake", "verify", "--dep"], "--deep"),
    (["--quite", "log"], "--quiet"),
    (["plan", "demo", "--gradr", "lexical"], "--grader"),
    (["sql", "select 1", "--fromat", "csv"], "--format"),
    (["sql", "@leaderboard", "--fromat", "csv"], "format"),
]
TYPOS_OF_NAMES = [
    (["ingest", "demmo"], "demo"),
    (["plan", "demmo"], "demo"),
    (["stats", "correlation", "demmo", "--measure", "AP"], "demo"),
    (["export", "qrels", "demmo", *L], "demo"),
    (["export", "bank", "demmo", "--name", "questions", "-o", "x"], "demo"),
    (["export", "bank", "demo", "--name", "question", "-o", "x"], "questions"),
    (["review", "demmo", "--grader", "lexical", "--assessor", "ann"], "demo"),
    (["release", "diff", "r1", "r1", "--collection", "demmo"], "demo"),
    (["rubric", "show", "volcano-predictoin"], "volcano-prediction"),
    (["plan", "demo", "--queries", "volcano-predictoin"], "volcano-prediction"),
    (["plan", "demo", "--grader", "lexcal"], "lexical"),
    (["review", "demo", "--grader", "lexcal", "--assessor", "ann"], "lexical"),
    (["export", "grades", "demo", "--grader", "lexcal", "--output", "x.jsonl"], "lexical"),
    (["stats", "correlation", "demo", "--measure", "nDCG@1O"], "nDCG@10"),
    (["stats", "scatter", "demo", "--measure", "nDCG@1O", *L], "nDCG@10"),
    (["stats", "leaderboard", "demo", "--measure", "nDCG@1O", *L], "nDCG@10"),
    (["stats", "judges", "demo", "--table", "judgs"], "judges"),
    (["release", "diff", "r1", "r1", "--measure", "nDCG@1O"], "nDCG@10"),
    (["sql", "@leaderboard", "--measure", "nDCG@1O"], "nDCG@10"),
    (["sql", "@leaderboard", "--label_set", "judge:lexical_dirct"], "judge:lexical_direct"),
    (["sql", "@leaderboard", "--label_sett", "judge:lexical_direct"], "label_set"),
    (["sql", "@leaderbord"], "leaderboard"),
    (["sql", "select * from leaderbord"], "leaderboard"),
    (["export", "qrels", "demo", "--label-set", "judge:lexical_dirct"], "judge:lexical_direct"),
    (["stats", "alpha", "demo", "--label-set", "judge:lexical_dirct"], "judge:lexical_direct"),
    (["stats", "confusion", "demo", "--label-set", "lexical/v0/bst"], "lexical/v0/best"),
    (
        ["export", "qrels", "demo", "--label-set", "lexical/v0/bst", "--sample", "3", "-o", "x"],
        "lexical/v0/best",
    ),
    (["report", "demo", "--reference", "assessor:humn"], "assessor:human"),
    (["stats", "estimate", "demo", "--measure", "P@10", *L, "--assessor", "humn"], "human"),
    (["sql", "--release", "r11", "@leaderboard"], "r1"),
    (["report", "demo", "--compare-with", "r11"], "r1"),
    (["release", "keep", "r11"], "r1"),
    (["prompts", "show", "question_selfrating"], "question_self_rating"),
]


def assert_meant(typos: list[tuple[list[str], str]]) -> None:
    for words, meant in typos:
        done = CliRunner().invoke(app, words, standalone_mode=False)
        error = done.exception
        assert isinstance(error, click.ClickException | GradelakeError), f"{words}: {done.output}"
        shown = error.format_message() if isinstance(error, click.ClickException) else str(error)
        assert meant in shown.partition("Did you mean")[2], f"{words}: {shown}"
        assert error.exit_code == 2, words


def test_a_mistyped_command_or_option_gets_the_one_that_was_meant(monkeypatch, demo):
    monkeypatch.chdir(demo)
    assert_meant(TYPOS_OF_COMMANDS)


@pytest.mark.slow
def test_a_mistyped_name_gets_the_one_that_was_meant(monkeypatch, graded_demo):
    monkeypatch.chdir(graded_demo)
    assert_meant(TYPOS_OF_NAMES)
