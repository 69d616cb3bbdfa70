"""The command line as it is met first: help with examples that exist, hints for typos, loudness."""

import click
import pytest
from click.testing import CliRunner

from gradelake.app import app
from gradelake.sql.common.command_line import short_help
from gradelake.sql.common.errors import GradelakeError
from tests.calls import calls, check

WIDTH = 80


def _walk(command: click.Command, context: click.Context):
    """Every command below this one, with a context that knows its path."""
    yield command, context
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            child = click.Context(each, context, info_name=name, **each.context_settings)
            yield from _walk(each, child)


_ROOT = click.Context(app, info_name="gradelake", terminal_width=WIDTH, **app.context_settings)
EVERY = list(_walk(app, _ROOT))
every_command = pytest.mark.parametrize(
    ("command", "context"), EVERY, ids=[context.command_path for _, context in EVERY]
)


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


@every_command
def test_help_says_what_the_command_does_in_a_sentence(command, context):
    sentence = command.help.partition("\n\n")[0]

    assert sentence.strip().endswith(".")
    assert sentence[0].isupper()


@every_command
def test_no_listing_cuts_what_a_command_does(command, context):
    if not isinstance(command, click.Group):
        return
    wide = max(map(len, command.commands))

    for name, each in command.commands.items():
        said = short_help(each, wide)
        assert not said.endswith("..."), f"{name}: {said}"
        assert len(said) <= WIDTH - 8 - wide, f"{name}: {said}"


@every_command
def test_examples_are_commands_that_exist(command, context):
    examples = _examples(command)

    assert examples, "no Examples: block"
    assert any(_is_of(words, context) for words in examples)
    for words in examples:
        check(words)


def _is_of(words: list[str], context: click.Context) -> bool:
    """Whether an example is of the very command, or of one of its group."""
    path = context.command_path.split()[1:]
    return [word for word in words if word in path][: len(path)] == path


@every_command
def test_help_is_no_wider_than_a_terminal(command, context):
    for line in _help(command, context).splitlines():
        assert len(line) <= WIDTH, line


@every_command
def test_every_option_has_help(command, context):
    for option in command.get_params(context):
        if isinstance(option, click.Option):
            assert option.help, option.opts


@every_command
def test_no_option_is_there_twice(command, context):
    names = [name for each in command.get_params(context) for name in each.opts]

    assert len(names) == len(set(names))


def test_help_lists_every_command_once_by_what_it_is_for_and_says_where_to_begin():
    shown = CliRunner().invoke(app, ["--help"], terminal_width=WIDTH).output

    assert "gradelake init demo --demo" in shown
    for name in app.commands:
        assert sum(line.startswith(f"  {name} ") for line in shown.splitlines()) == 1, name
    listed = [name for names in app.sections.values() for name in names]
    assert sorted(listed) == sorted(app.commands)


# --- typos --------------------------------------------------------------------------------------

L = ["--label-set", "judge:lexical_direct"]
TYPOS = [
    (["biuld"], "build"),
    (["lake", "veryfi"], "verify"),
    (["export", "latex", "leaderbord"], "leaderboard"),
    (["stats", "corelation"], "correlation"),
    (["lake", "verify", "--dep"], "--deep"),
    (["--quite", "log"], "--quiet"),
    (["plan", "demo", "--gradr", "lexical"], "--grader"),
    (["sql", "select 1", "--fromat", "csv"], "--format"),
    (["sql", "@leaderboard", "--fromat", "csv"], "format"),
    (["ingest", "demmo"], "demo"),
    (["plan", "demmo"], "demo"),
    (["report", "demmo"], "demo"),
    (["stats", "correlation", "demmo", "--measure", "AP"], "demo"),
    (["export", "qrels", "demmo", *L], "demo"),
    (["export", "grades", "demmo", "--output", "x.jsonl"], "demo"),
    (["export", "bank", "demmo", "--name", "questions", "-o", "x"], "demo"),
    (["export", "bank", "demo", "--name", "question", "-o", "x"], "questions"),
    (["review", "demmo", "--grader", "lexical", "--assessor", "ann"], "demo"),
    (["release", "diff", "r1", "r1", "--collection", "demmo"], "demo"),
    (["rubric", "show", "volcano-prediction", "--collection", "demmo"], "demo"),
    (["rubric", "show", "volcano-predictoin"], "volcano-prediction"),
    (["plan", "demo", "--queries", "volcano-predictoin"], "volcano-prediction"),
    (["plan", "demo", "--grader", "lexcal"], "lexical"),
    (["grade", "demo", "--grader", "lexcal"], "lexical"),
    (["review", "demo", "--grader", "lexcal", "--assessor", "ann"], "lexical"),
    (["export", "grades", "demo", "--grader", "lexcal", "--output", "x.jsonl"], "lexical"),
    (["stats", "correlation", "demo", "--measure", "nDCG@1O"], "nDCG@10"),
    (["stats", "significance", "demo", "--measure", "ndcg@10", *L], "nDCG@10"),
    (["plot", "scatter", "demo", "--measure", "nDCG@1O", *L, "-o", "x.svg"], "nDCG@10"),
    (["export", "latex", "leaderboard", "demo", "--measure", "nDCG@1O", *L], "nDCG@10"),
    (["export", "latex", "correlation", "demo", "--measure", "nDCG@1O"], "nDCG@10"),
    (["release", "diff", "r1", "r1", "--measure", "nDCG@1O"], "nDCG@10"),
    (["sql", "@leaderboard", "--measure", "nDCG@1O"], "nDCG@10"),
    (["sql", "@leaderboard", "--label_set", "judge:lexical_dirct"], "judge:lexical_direct"),
    (["sql", "@leaderboard", "--label_sett", "judge:lexical_direct"], "label_set"),
    (["sql", "@leaderbord"], "leaderboard"),
    (["sql", "select * from leaderbord"], "leaderboard"),
    (["export", "qrels", "demo", "--label-set", "judge:lexical_dirct"], "judge:lexical_direct"),
    (["stats", "alpha", "demo", "--label-set", "judge:lexical_dirct"], "judge:lexical_direct"),
    (
        ["stats", "correlation", "demo", "--measure", "AP", "--label-set", "lexical/v0/bst"],
        "lexical/v0/best",
    ),
    (
        ["plot", "confusion", "demo", "--label-set", "lexical/v0/bst", "-o", "x.svg"],
        "lexical/v0/best",
    ),
    (
        ["export", "sample", "demo", "--label-set", "lexical/v0/bst", "--size", "3", "-o", "x.csv"],
        "lexical/v0/best",
    ),
    (["report", "demo", "--reference", "assessor:humn"], "assessor:human"),
    (["stats", "estimate", "demo", "--measure", "P@10", *L, "--assessor", "humn"], "human"),
    (["sql", "--release", "r11", "@leaderboard"], "r1"),
    (["report", "demo", "--compare-with", "r11"], "r1"),
    (["release", "diff", "r1", "r11"], "r1"),
    (["release", "keep", "r11"], "r1"),
    (["prompts", "show", "question_selfrating"], "question_self_rating"),
]


@pytest.mark.parametrize(("words", "meant"), TYPOS, ids=[" ".join(words) for words, _ in TYPOS])
def test_a_typo_gets_the_name_that_was_meant(graded_demo, words, meant, monkeypatch):
    monkeypatch.chdir(graded_demo)
    done = CliRunner().invoke(app, words, standalone_mode=False)
    error = done.exception

    assert isinstance(error, click.ClickException | GradelakeError), done.output
    shown = error.format_message() if isinstance(error, click.ClickException) else str(error)
    assert "Did you mean" in shown
    assert meant in shown.partition("Did you mean")[2]
    assert error.exit_code == 2
