"""The command line: it mounts each room's commands."""

import atexit
import gc
import sys
import traceback
from typing import NoReturn

import click

from gradelake.completion import complete_names, install
from gradelake.sql.common import console
from gradelake.sql.common.command_line import Sections, imported, whatever_the_locale
from gradelake.sql.common.errors import GradelakeError
from gradelake.sql.common.interrupts import heed_ctrl_c, is_interruption
from gradelake.sql.common.plain_words import in_plain_words
from gradelake.sql.common.project import Project


@click.group(
    cls=Sections,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog="""\b
Begin with the demo collection, which needs no model and no network:
  gradelake init demo --demo
  cd demo
  gradelake ingest demo
  gradelake build
  gradelake sql @leaderboard
README.md goes on from there; gradelake COMMAND --help has examples.
-q, -v and --debug may also stand after a command.""",
)
@click.option("--config", metavar="FILE", help="The gradelake.toml to use, whoever owns it.")
@click.option(
    "--install-completion",
    metavar="[SHELL]",
    is_flag=False,
    flag_value="",
    is_eager=True,
    expose_value=False,
    callback=install,
    help="Let bash, zsh or fish (default: yours) complete commands and names with Tab; exit.",
)
@click.version_option(package_name="gradelake")
@click.pass_context
def app(context, config):
    """Evaluate retrieval and generation systems with LLM grades, in SQL."""
    context.obj = lambda: Project.find(config)


SECTIONS = {
    "Bring in": {
        "init": "ingest.commands:init",
        "start": "ingest.commands:start",
        "check": "ingest.commands:check",
        "search": "ingest.engines.commands:search",
        "ingest": "ingest.commands:ingest",
        "import": "ingest.commands:import_",
        "system": "ingest.system_commands:system",
    },
    "Grade": {
        "plan": "grading.commands:plan",
        "grade": "grading.commands:grade",
        "sentinel": "grading.sentinel.commands:sentinel",
        "probe": "grading.probe.commands:probe",
        "generate": "generating:generate",
        "distil": "grading.distil.distil_command:distil",
        "prompts": "grading.prompts.prompt_commands:prompts",
    },
    "Derive and ask": {
        "build": "sql.build.commands:build",
        "sql": "sql.ask.commands:sql",
        "docs": "sql.build.commands:docs",
        "mcp": "mcp.commands:mcp",
        "compare": "analyses.compare.commands:compare",
        "report": "analyses.report.commands:report",
        "stats": "analyses.answers.asking:stats",
        "gate": "analyses.gate.commands:gate",
        "export": "grading.exchange.commands:export",
    },
    "People": {
        "rubric": "ingest.rubric.commands:rubric",
        "review": "grading.review.commands:review",
        "queue": "grading.review.queue_commands:queue",
        "serve": "serve.commands:serve",
        "assessor": "serve.commands:assessor",
    },
    "Look after": {
        "nightly": "nightly.commands:nightly",
        "schedule": "nightly.commands:schedule",
        "release": "sql.releases.commands:release",
        "log": "sql.operations.commands:log",
        "lake": "sql.operations.upkeep.commands:lake",
        "doctor": "doctor:doctor",
    },
}
# of a group in one room, the commands of others
OF_OTHER_ROOMS = {
    "import": ("grading.exchange.commands:import_grades",),
    "export": (
        "ingest.banks.bank_export:export_bank",
        "analyses.commands:export_qrels",
        "analyses.scores_export:export_scores",
        "analyses.commands:export_workbench",
        "track:export_track",
    ),
}


def _make_ready(command: click.Command) -> None:
    if isinstance(command, click.Group):
        for place in OF_OTHER_ROOMS.get(str(command.name), ()):
            command.add_command(imported(place))
    complete_names(command)


app.mount(SECTIONS, _make_ready)


def main() -> None:
    """Run a command; errors meant for people are printed without a stack trace."""
    whatever_the_locale()
    heed_ctrl_c()
    gc.set_threshold(100_000)  # at 700, Python's own, it takes most of a long JSON line's time
    atexit.register(gc.freeze)  # or Python looks for garbage in all modules at its end: 0.05 s
    try:
        app(standalone_mode=False)
    except (GradelakeError, click.ClickException) as error:
        _trace()
        shown = str(error) if isinstance(error, GradelakeError) else _usage(error)
        console.warn(f"error: {shown}")
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _interrupted()
    except BrokenPipeError:
        sys.exit(141)
    except Exception as error:
        if is_interruption(error):
            _interrupted()
        _trace()
        if refused := in_plain_words(error, ours=True):
            console.warn(f"error: {refused}")
            sys.exit(refused.exit_code)
        console.warn(f"error: {type(error).__name__}: {error}\n  Run again with --debug for more.")
        sys.exit(1)


def _interrupted() -> NoReturn:
    console.warn("interrupted; nothing half-done is in the lake")
    sys.exit(130)


def _trace() -> None:
    """Where it happened, if --debug was given."""
    if console.loudness.debug:
        console.warn(traceback.format_exc())


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    hint = f"\n  Try: {context.command_path} --help" if context else ""
    return f"{error.format_message()}{hint}"
