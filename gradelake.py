"""The front door: one command line that mounts each room's commands."""

import sys

import click

import grading.commands
import grading.exchange.commands
import grading.prompt_commands
import ingest.bank_export
import ingest.commands
import sql.commands
from sql import console
from sql.errors import GradelakeError
from sql.project import Project


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--config", metavar="FILE", help="The gradelake.toml to use.")
@click.option("--debug", is_flag=True, help="Show a stack trace when something fails.")
@click.version_option(package_name="gradelake")
@click.pass_context
def app(context, config, debug):
    """Evaluate retrieval and generation systems with LLM grades, in SQL."""
    context.obj = lambda: Project.find(config)


for command in (
    ingest.commands.init,
    ingest.commands.ingest,
    ingest.commands.import_,
    grading.commands.plan,
    grading.commands.grade,
    grading.exchange.commands.export,
    grading.prompt_commands.prompts,
    sql.commands.build,
    sql.commands.sql,
    sql.commands.log,
    sql.commands.doctor,
):
    app.add_command(command)
ingest.commands.import_.add_command(grading.exchange.commands.import_grades)
grading.exchange.commands.export.add_command(ingest.bank_export.export_bank)


def main() -> None:
    """Run a command; errors meant for people are printed without a stack trace."""
    debug = "--debug" in sys.argv
    try:
        app(standalone_mode=False)
    except (GradelakeError, click.ClickException) as error:
        if debug:
            raise
        console.warn(f"error: {error if isinstance(error, GradelakeError) else _usage(error)}")
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        console.warn("interrupted; nothing half-done is in the lake")
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
    except Exception as error:
        if debug:
            raise
        console.warn(f"error: {type(error).__name__}: {error}\n  Run again with --debug for more.")
        sys.exit(1)


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    hint = f"\n  Try: {context.command_path} --help" if context else ""
    return f"{error.format_message()}{hint}"


if __name__ == "__main__":
    main()
