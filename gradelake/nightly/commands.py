"""`gradelake nightly` and `gradelake schedule`."""

import sys
import time
from pathlib import Path

import click

from gradelake.nightly import WEBHOOK
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput, GradelakeError


@click.command(short_help="Do all that is due: ingest, grade, build, compare, tidy.")
@click.option(
    "--max-pairs",
    type=click.IntRange(min=0),
    help="How many pairs at most are graded, by all graders together.",
)
@click.option(
    "--max-minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="Begin nothing new to grade after so many minutes of grading.",
)
@click.option(
    "--max-cost",
    type=click.FloatRange(min=0, min_open=True),
    help="Grading may cost no more than this, by seeds/prices.csv.",
)
@click.option("--retry-failed", is_flag=True, help="Grade pairs that failed before once more.")
@click.option(
    "--on-failure",
    metavar="COMMAND",
    help="A command for the shell, with the summary on its standard input, unless all went well.",
)
@click.option(
    "--webhook",
    metavar="URL",
    envvar=WEBHOOK,
    help=f"Post the summary there unless all went well; better set in ${WEBHOOK}.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def nightly(project, max_pairs, max_minutes, max_cost, retry_failed, on_failure, webhook, as_json):
    """Do all that is due: ingest, grade what is missing, build, compare, tidy.

    Meant to run every night without anybody there. Each step does what a command does; one that
    fails stops only those that need it. A night that was killed is finished by the next.

    \b
    Exit codes: 0 all done, 3 done but some input or grade was refused, a gate
    fell, a judge changed or is fooled, 1 something failed, 2 wrong usage, 75
    another night is at work, 130 stopped (SIGINT, SIGTERM).

    \b
    Examples:
      gradelake nightly
      gradelake nightly --max-minutes 240 \\
          --on-failure 'mail -s "gradelake" me@example.org'
    """
    from gradelake.nightly import night_text
    from gradelake.nightly.alert import Alerts
    from gradelake.nightly.night import NightLimits, work
    from gradelake.nightly.step import known

    alerts = Alerts(on_failure, webhook)
    started = time.monotonic()
    limits = NightLimits(max_pairs, max_minutes, max_cost, retry_failed)
    arguments = _without_secrets(limits, on_failure, webhook)
    done = None
    try:
        project = project()
        with work(project, limits, arguments) as done:
            summary = _close(project, done, alerts, time.monotonic() - started)
    except Exception as error:
        reason = str(known(error))
        summary = {
            "text": f"nightly: {'failed part-way' if done else 'nothing was done'}: {reason}",
            "night": None,
            "state": "failed",
            "exit_code": known(error).exit_code,
            "error": reason,
        }
        sent = alerts.send(summary)
        if as_json:
            console.print_json(summary | {"alerts": sent})
        night_text.show_alerts(sent)
        raise
    if as_json:
        console.print_json(summary)
    else:
        night_text.show(summary, summary["seconds"])
    night_text.show_alerts(summary["alerts"])
    sys.exit(summary["exit_code"])


def _without_secrets(limits, on_failure: str | None, webhook: str | None) -> list[str]:
    """The arguments as the night's row keeps them. A command may hold a password, too."""
    words = ["nightly"]
    for name, value in vars(limits).items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words += [option, str(value)]
    return words + ["--on-failure ***"] * bool(on_failure) + ["--webhook ***"] * bool(webhook)


def _close(project, done, alerts, seconds: float) -> dict:
    """Write the night's row, send the alerts, keep the summary."""
    from gradelake.nightly import record
    from gradelake.nightly.step import FAILED, Step, known
    from gradelake.nightly.summary import error_of, summarize, write

    summary = summarize(done)
    kept = {"release": done.release, "idle": done.idle}
    counts = summary["counts"] | {name: each for name, each in kept.items() if each}
    try:
        record.end(project, done.night, summary["state"], counts, error_of(summary))
    except Exception as error:
        # the next night finds the row as of a killed one
        reason = str(known(error))
        done.steps.append(Step("closing the night's row", FAILED, reason=reason))
        summary = summarize(done)
    summary["seconds"] = round(seconds, 1)
    summary["alerts"] = alerts.send(summary) if summary["exit_code"] else []
    try:
        write(project, summary)
    except (OSError, GradelakeError) as error:
        console.warn(f"the summary could not be kept: {known(error)}")
    return summary


@click.command(
    context_settings={"ignore_unknown_options": True},
    short_help="Print what makes systemd or cron run `gradelake nightly`.",
)
@click.option("--systemd", is_flag=True, help="A service and a timer of systemd.")
@click.option("--cron", is_flag=True, help="A line for crontab.")
@click.option("--at", default="02:30", metavar="HH:MM", help="When, by the machine's clock.")
@click.option(
    "--into",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write systemd's two files there instead of printing them.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- NIGHTLY'S OPTIONS]")
@click.pass_obj
def schedule(project, systemd, cron, at, into, arguments):
    """Print what makes systemd or cron run `gradelake nightly` on this project, every night.

    Nothing is installed. What comes after -- are options of `gradelake nightly`.

    \b
    Examples:
      gradelake schedule --cron --at 03:15
      gradelake schedule --systemd --into ~/.config/systemd/user \\
          -- --max-minutes 240
    """
    from gradelake.nightly.schedule import Schedule
    from gradelake.sql.common.whole_file import whole_file

    if systemd == cron:
        raise BadInput("for systemd or for cron?", "Give --systemd or --cron, one of them.")
    # wherever they were given, click took them for this command's own
    loudness = [f"--{name}" for name in ("quiet", "verbose") if getattr(console.loudness, name)]
    planned = Schedule.at(project(), at, (*arguments, *loudness))
    if cron:
        if into:
            raise BadInput("--into is for --systemd", "A crontab is changed with `crontab -e`.")
        console.say("# into the table that `crontab -e` opens:")
        console.say(planned.crontab().rstrip("\n"))
        return
    units = {f"{planned.name}.service": planned.service(), f"{planned.name}.timer": planned.timer()}
    for name, unit in units.items():
        if into:
            into.mkdir(parents=True, exist_ok=True)
            with whole_file(into / name) as stream:
                stream.write(unit.encode())
            console.say(f"wrote {into / name}")
        else:
            console.say(f"# ~/.config/systemd/user/{name}\n{unit}")
    console.tell(
        f"next: systemctl --user daemon-reload && systemctl --user enable --now "
        f"{planned.name}.timer\nand once, so that it runs without you: loginctl "
        "enable-linger"
    )
