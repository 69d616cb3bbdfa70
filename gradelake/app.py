"""The command line: it mounts each room's commands."""

import gc
import sys
import traceback
from typing import NoReturn

import click

from gradelake.analyses.card.commands import export_card
from gradelake.analyses.commands import export_public, export_qrels, export_workbench
from gradelake.analyses.compare.commands import compare
from gradelake.analyses.gate.commands import gate
from gradelake.analyses.plots.commands import plot
from gradelake.analyses.report.commands import report
from gradelake.analyses.scores_export import export_scores
from gradelake.analyses.stats.commands import stats
from gradelake.analyses.stats.label_commands import alpha, ceiling, kappa, rates
from gradelake.analyses.stats.sample_commands import estimate, export_sample
from gradelake.analyses.tables.commands import export_latex
from gradelake.completion import complete_names, install
from gradelake.doctor import doctor
from gradelake.grading.commands import grade, plan
from gradelake.grading.distil.distil_command import distil
from gradelake.grading.exchange.commands import export, import_grades
from gradelake.grading.generate.generate_command import generate
from gradelake.grading.probe.commands import probe
from gradelake.grading.prompts.prompt_commands import prompts
from gradelake.grading.review.commands import export_review, import_reviews, review
from gradelake.grading.review.queue_commands import queue
from gradelake.grading.sentinel.commands import sentinel
from gradelake.ingest.banks.bank_export import export_bank
from gradelake.ingest.commands import import_, ingest, init, start
from gradelake.ingest.engines.commands import search
from gradelake.ingest.rubric.commands import rubric
from gradelake.ingest.system_commands import system
from gradelake.nightly.commands import nightly, schedule
from gradelake.serve.commands import assessor, serve
from gradelake.sql.ask.commands import sql
from gradelake.sql.build.commands import build, docs
from gradelake.sql.common import console
from gradelake.sql.common.command_line import Sections, whatever_the_locale
from gradelake.sql.common.errors import GradelakeError
from gradelake.sql.common.interrupts import heed_ctrl_c, is_interruption
from gradelake.sql.common.plain_words import in_plain_words
from gradelake.sql.common.project import Project
from gradelake.sql.operations.commands import log
from gradelake.sql.operations.upkeep.commands import lake
from gradelake.sql.releases.commands import release


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


for command in (import_grades, import_reviews):
    import_.add_command(command)
for command in (
    *(export_bank, export_qrels, export_public, export_latex, export_sample, export_scores),
    *(export_card, export_review, export_workbench),
):
    export.add_command(command)
for command in (kappa, ceiling, rates, alpha, estimate):
    stats.add_command(command)

SECTIONS = {
    "Bring in": (init, start, search, ingest, import_, system),
    "Grade": (plan, grade, sentinel, probe, generate, distil, prompts),
    "Derive and ask": (build, sql, docs, compare, report, stats, gate, plot, export),
    "People": (rubric, review, queue, serve, assessor),
    "Look after": (nightly, schedule, release, log, lake, doctor),
}
for section, commands in SECTIONS.items():
    for command in commands:
        app.add_command(command, section=section)
complete_names(app)


def main() -> None:
    """Run a command; errors meant for people are printed without a stack trace."""
    whatever_the_locale()
    heed_ctrl_c()
    gc.set_threshold(100_000)  # at 700, Python's own, it takes most of a long JSON line's time
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
    """With --debug, where it happened."""
    if console.loudness.debug:
        console.warn(traceback.format_exc())


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    hint = f"\n  Try: {context.command_path} --help" if context else ""
    return f"{error.format_message()}{hint}"
