"""Units for systemd and a line for cron that start `gradelake nightly` at this installation."""

import os
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from gradelake.nightly.step import GRACE
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project

_LONGEST = "20h"  # a night that takes longer is stopped, gently, before the next is due


@dataclass(frozen=True)
class Schedule:
    """When and how the night of a project is started. Times are the machine's."""

    project: Project
    hour: int
    minute: int
    arguments: tuple[str, ...] = ()

    @classmethod
    def at(cls, project: Project, time: str, arguments: tuple[str, ...]) -> "Schedule":
        """`time` is HH:MM. Raises `BadInput` for another, for a secret among the arguments, and
        for a path that neither systemd nor cron can name."""
        found = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", time)
        if not found:
            raise BadInput(f"--at {time!r} is not a time of day", "Write it as 02:30.")
        if any(argument.startswith("--webhook") for argument in arguments):
            raise BadInput(
                "the webhook's address is a secret, and units and crontabs are no place for one",
                "Put GRADELAKE_WEBHOOK=URL into the file of secrets that they name.",
            )
        schedule = cls(project, int(found[1]), int(found[2]), arguments)
        for word in (*schedule.command(), str(project.folder)):
            if not word.isprintable() or word != word.strip() or word.endswith("\\"):
                raise BadInput(
                    f"{word!r} cannot be written into a unit or a crontab", "Rename that folder."
                )
        return schedule

    @property
    def name(self) -> str:
        """Name of the units: the project's folder, in letters that a unit may have."""
        folder = re.sub(r"[^A-Za-z0-9_.-]+", "-", self.project.folder.name).strip("-.") or "lake"
        return folder if folder.startswith("gradelake") else f"gradelake-{folder}"

    @property
    def secrets(self) -> Path:
        """The file for PGPASSWORD, AWS_*, GRADELAKE_WEBHOOK and the keys of graders."""
        return Path.home() / ".config" / "gradelake" / f"{self.name}.env"

    def command(self) -> list[str]:
        """The night's command line, by absolute paths."""
        script = Path(sys.executable).with_name("gradelake")
        if os.access(script, os.X_OK):
            program = [str(script)]
        else:
            program = [sys.executable, "-P", "-m", "gradelake"]
        return [*program, "--config", str(self.project.file), "nightly", *self.arguments]

    def service(self) -> str:
        """The service unit."""
        command = self.command()
        if "$" in command[0]:  # systemd replaces variables everywhere but in the program's path
            command = ["/usr/bin/env", *command]
        return f"""[Unit]
Description=Gradelake: the night of {_unit_text(self.project.folder.name)}

[Service]
Type=oneshot
WorkingDirectory={_unit_text(str(self.project.folder))}
# secrets, one NAME=VALUE a line, chmod 600; the file may be missing
EnvironmentFile=-{_unit_text(str(self.secrets))}
ExecStart={" ".join(map(unit_word, command))}
Nice=10
TimeoutStartSec={_LONGEST}
# asked to stop, a night lets its step finish its work, then closes its row
KillMode=mixed
TimeoutStopSec={round(GRACE + 180)}
"""

    def timer(self) -> str:
        """The timer unit."""
        return f"""[Unit]
Description=Gradelake: every night, for {_unit_text(self.project.folder.name)}

[Timer]
OnCalendar=*-*-* {self.hour:02d}:{self.minute:02d}:00
RandomizedDelaySec=5min
# a night that was missed, because the machine was off, is made up for
Persistent=true

[Install]
WantedBy=timers.target
"""

    def crontab(self) -> str:
        """A line for `crontab -e`."""
        folder, secrets = shlex.quote(str(self.project.folder)), shlex.quote(str(self.secrets))
        log = shlex.quote(str(self.project.folder / "nightly.log"))
        command = (
            f"cd {folder} && {{ set -a; [ ! -r {secrets} ] || . {secrets}; set +a; "
            f"exec nice -n 10 {shlex.join(self.command())} >> {log} 2>&1; }}"
        )
        # cron makes a line's end of every % that has no backslash, quoted or not
        escaped = command.replace("%", r"\%")
        return f"{self.minute} {self.hour} * * * {escaped}\n"


def unit_word(word: str) -> str:
    """A word of ExecStart: quoted where systemd would split or read it otherwise."""
    text = word.replace("%", "%%").replace("$", "$$")
    if re.fullmatch(r"[A-Za-z0-9_./:=@%$+,-]+", text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _unit_text(text: str) -> str:
    """A whole value: nothing splits it, and only % has a meaning."""
    return text.replace("%", "%%")
