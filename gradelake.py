"""The front door: one command line that mounts each room's commands."""

import sys
import traceback
from typing import NoReturn

import click

import analyses.commands
import analyses.plots.commands
import analyses.report.commands
import analyses.stats.commands
import analyses.stats.sample_commands
import analyses.tables.commands
import grading.commands
import grading.distil_command
import grading.exchange.commands
import grading.generate_command
import grading.prompt_commands
import grading.review.commands
import ingest.bank_export
import ingest.commands
import ingest.rubric.commands
import sql.commands
import sql.docs_command
import sql.nightly.commands
import sql.release_commands
import sql.upkeep.commands
import sql.upkeep.tidy_command
from sql import console
from sql.command_line import Sections, whatever_the_locale
from sql.errors import NOT_BUILT_YET, GradelakeError, masked
from sql.interrupts import heed_ctrl_c, is_interruption
from sql.plain_words import in_plain_words
from sql.project import Project
from sql.storage import bucket_error


@click.group(
    cls=Sections,
    context_settings={"help_option_names": ["-h", "--help"]},
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
@click.option("--config", metavar="FILE", help="The gradelake.toml to use.")
@click.version_option(package_name="gradelake")
@click.pass_context
def app(context, config):
    """Evaluate retrieval and generation systems with LLM grades, in SQL."""
    context.obj = lambda: Project.find(config)


ingest.commands.import_.add_command(grading.exchange.commands.import_grades)
grading.exchange.commands.export.add_command(ingest.bank_export.export_bank)
grading.exchange.commands.export.add_command(analyses.commands.export_qrels)
grading.exchange.commands.export.add_command(analyses.tables.commands.export_latex)
grading.exchange.commands.export.add_command(analyses.stats.sample_commands.export_sample)
sql.upkeep.commands.lake.add_command(sql.upkeep.tidy_command.tidy)
analyses.stats.commands.stats.add_command(analyses.stats.sample_commands.estimate)

SECTIONS = {
    "Bring in": (
        ingest.commands.init,
        ingest.commands.ingest,
        ingest.commands.import_,
    ),
    "Grade": (
        grading.commands.plan,
        grading.commands.grade,
        grading.generate_command.generate,
        grading.distil_command.distil,
        grading.prompt_commands.prompts,
    ),
    "Derive and ask": (
        sql.commands.build,
        sql.commands.sql,
        sql.docs_command.docs,
        analyses.report.commands.report,
        analyses.stats.commands.stats,
        analyses.plots.commands.plot,
        grading.exchange.commands.export,
    ),
    "People": (
        ingest.rubric.commands.rubric,
        grading.review.commands.review,
    ),
    "Look after": (
        sql.nightly.commands.nightly,
        sql.nightly.commands.schedule,
        sql.release_commands.release,
        sql.commands.log,
        sql.upkeep.commands.lake,
        sql.commands.doctor,
    ),
}
for section, commands in SECTIONS.items():
    for command in commands:
        app.add_command(command, section=section)


def main() -> None:
    """Run a command; errors meant for people are printed without a stack trace."""
    whatever_the_locale()
    heed_ctrl_c()
    try:
        app(standalone_mode=False)
    except (GradelakeError, click.ClickException) as error:
        _trace()
        shown = str(error) if isinstance(error, GradelakeError) else _usage(error)
        console.warn(f"error: {masked(shown)}")
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _interrupted()
    except BrokenPipeError:
        sys.exit(141)
    except Exception as error:
        if is_interruption(error):
            _interrupted()
        _trace()
        if type(error).__name__ == "CatalogException":  # DuckDB's
            console.warn(f"error: {str(error).partition(chr(10))[0]}\n  {NOT_BUILT_YET}")
            sys.exit(1)
        if refused := bucket_error(error) or in_plain_words(error):
            console.warn(f"error: {masked(str(refused))}")
            sys.exit(refused.exit_code)
        shown = masked(f"{type(error).__name__}: {error}")
        console.warn(f"error: {shown}\n  Run again with --debug for more.")
        sys.exit(1)


def _interrupted() -> NoReturn:
    console.warn("interrupted; nothing half-done is in the lake")
    sys.exit(130)


def _trace() -> None:
    """With --debug, where it happened; a driver's words may hold a password."""
    if console.wishes.debug:
        console.warn(masked(traceback.format_exc()))


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    hint = f"\n  Try: {context.command_path} --help" if context else ""
    return f"{error.format_message()}{hint}"


if __name__ == "__main__":
    main()
