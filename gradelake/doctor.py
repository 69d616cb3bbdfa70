"""`gradelake doctor`: what each room finds."""

from dataclasses import dataclass
from typing import Any

import click

from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering

_MARKS = {"good": "ok  ", "note": "note", "bad": "BAD "}


@dataclass(frozen=True)
class Examined:
    """Findings of all rooms, in the order in which they would stop a person."""

    findings: list[Any]

    @property
    def exit_code(self) -> int:
        return int(any(finding.state == "bad" for finding in self.findings))

    def as_object(self) -> dict[str, Any]:
        """What `--json` prints: ok, findings."""
        return {"ok": not self.exit_code, "findings": [vars(each) for each in self.findings]}


def _show(examined: Examined) -> None:
    for finding in examined.findings:
        console.say(f"{_MARKS[finding.state]} {finding.what}")
        if finding.hint:
            console.say(f"       {finding.hint}")


@click.command(short_help="Check installation, configuration, lake and graders.")
@answering(_show)
@click.pass_obj
def doctor(project):
    """Check the installation, the configuration, the lake and the graders; say what to do about
    each finding. No model is asked anything.

    \b
    Examples:
      gradelake doctor
      gradelake --config team.toml doctor --json
    """
    with console.working("looking"):
        from gradelake.grading.graders.doctor import graders
        from gradelake.ingest.collections.doctor import collections
        from gradelake.sql.operations.doctor import examine

        return Examined(examine(project, collections, graders))
