"""`gradelake doctor`: what each room finds."""

import sys

import click

from gradelake.sql.common import console


@click.command(short_help="Check installation, configuration, lake and graders.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def doctor(project, as_json):
    """Check the installation, the configuration, the lake and the graders; say what to do about
    each finding. No model is asked anything.

    \b
    Examples:
      gradelake doctor
      gradelake --config team.toml doctor --json
    """
    with console.working("looking"):
        from gradelake.grading.graders.doctor import graders
        from gradelake.sql.operations.doctor import examine

        findings = examine(project, graders)
    failed = any(finding.state == "bad" for finding in findings)
    if as_json:
        console.print_json({"ok": not failed, "findings": [vars(finding) for finding in findings]})
    else:
        for finding in findings:
            mark = {"good": "ok  ", "note": "note", "bad": "BAD "}[finding.state]
            console.say(f"{mark} {finding.what}")
            if finding.hint:
                console.say(f"       {finding.hint}")
    if failed:
        sys.exit(1)
