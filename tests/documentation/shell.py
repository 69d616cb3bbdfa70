"""A shell that goes through a page as a reader does, and what its answers are compared by."""

import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from gradelake.sql.common.cache import cache_folder
from tests import command_line
from tests.documentation.pages import Block, Step
from tests.places import REPOSITORY

_PATIENCE = 600  # seconds for a command; the longest takes some two minutes on two cores
_DONE = re.compile(r"@@done (\d+)@@\n$")
# a command of ours of which a shell does nothing but split it into words, perhaps what is piped
# into it, and the file that it writes
_PLAIN = re.compile(
    r"""(?P<given>printf [^|;]* \| )?"""
    r"""(?P<words>gradelake(?: +(?:[\w.,/:=@%+-]|'[^']*'|"[^"$`\\]*")+)*)"""
    r"""(?: > (?P<file>[\w.]+))?(?: +#.*)?\s*"""
)

# What differs from one run to the next, or with every model that is added: (what, its place).
_VOLATILE = [
    (r"(?<![\w.:/])/(?:[^\s/:,;]+/)+", ""),  # the folders of an absolute path
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)?", "TIME"),
    (r"\d{4}-\d\d-\d\d", "DATE"),
    (r"ducklake-[0-9a-f-]{36}", "ducklake-ID"),
    (r"(?:\d+ h )?(?:\d+ min )?\b[\d.]+ s\b", "SECONDS"),
    (r"[\d.,]+ (pairs|prompts|passages|rows)/s", r"RATE \1/s"),
    (r"[\d.,]+ (?:B|kB|MB|GB)\b", "SIZE"),
    (r"\d+ ((?:small |new )?files|compared with|of them new|older versions)", r"N \1"),
    (r"\d+ (models|data tests|tables|checks)", r"N \1"),
    (r"(version) \d\d+", r"\1 N"),
    (r"TIME +[\d.]+ ", "TIME SECONDS "),  # of a night
    (r" (done|partly) +[\d.]+$", r" \1 SECONDS"),  # of its steps
    (r"^(\S+) +\d\d+ +TIME", r"\1 N TIME"),  # a release or a commit
]

# whole lines that depend on how quickly grades came: progress, and whether files were merged
_SOMETIMES = re.compile(
    r"grading: [\d,]+ of [\d,]+ pairs, .*|left [\d,]+ files? that only releases read"
    r"|resampling \w+: [\d,]+ of .*"
)


class Shell:
    """One bash; it keeps its folder and variables from command to command. A context manager.

    Plain commands of ours run in the tests' own process: in bash's folder, with its variables.
    """

    def __init__(self, folder: Path, **environment: str):
        self._script = folder / ".step.sh"
        without = {"NO_COLOR", "FORCE_COLOR", "GRADELAKE_CONFIG", "VIRTUAL_ENV"}
        kept = {name: value for name, value in os.environ.items() if name not in without}
        kept |= {"HOME": str(folder.parent), "XDG_CACHE_HOME": str(cache_folder().parent)}
        kept["PATH"] = f"{Path(sys.executable).parent}:{kept['PATH']}"
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=kept | environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=1,
            start_new_session=True,
        )
        self._code = 0

    def __enter__(self) -> "Shell":
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self._bash.pid, signal.SIGKILL)  # what it still runs, too
        self._bash.wait()

    def run(self, command: str) -> tuple[str, int]:
        """What a command prints, errors included, and its exit code."""
        if plain := _PLAIN.fullmatch(command):
            variables = dict(each.split("=", 1) for each in self._asked("env -0").split("\0")[:-1])
            place, words = Path(variables["PWD"]), shlex.split(plain["words"])[1:]
            given = self._asked(plain["given"].removesuffix("| ")) if plain["given"] else ""
            file = plain["file"]
            done = command_line.run(place, *words, given=given, together=not file, **variables)
            self._code = done.returncode
            if file:
                (place / file).write_text(done.stdout, encoding="utf-8")
            return done.stderr if file else done.stdout, self._code
        return self._asked(command), self._code

    def _asked(self, command: str) -> str:
        """What bash prints."""
        self._script.write_text(command + "\n", encoding="utf-8")
        self._bash.stdin.write(
            f"(exit {self._code}); . '{self._script}' < /dev/null; code=$?; "
            "printf '@@done %s@@\\n' $code\n"
        )
        self._bash.stdin.flush()
        printed, until = "", time.monotonic() + _PATIENCE
        while not (done := _DONE.search(printed)):
            comes = select.select([self._bash.stdout], [], [], until - time.monotonic())[0]
            assert comes, f"{command}: no end\n{printed}"
            some = os.read(self._bash.stdout.fileno(), 65536)
            assert some, f"{command}: the shell has ended\n{printed}"
            printed += some.decode(errors="replace")
        self._code = int(done[1])
        return printed[: done.start()]


def go_through(block: Block, shell: Shell) -> None:
    """Run a block's commands; fail where one does not do what the page shows."""
    for command in block.noted("first"):
        printed, code = shell.run(command)
        assert code == 0, f"{block.place}: before the block, {command!r} failed:\n{printed}"
    may_exit, exits = {0, *map(int, block.noted("exits"))}, {0}
    if kept := block.noted("printed"):
        (step,) = block.steps()
        printed, _ = shell.run(f"cat {kept[0]}")
        assert not (why := difference(step, printed)), f"{block.place}: {why}\n{printed}"
        return
    for step in block.steps():
        printed, code = shell.run(step.command)
        exits.add(code)
        says_error = step.shown is not None and any(s.startswith("error:") for s in step.shown)
        assert code in may_exit or (says_error and code), (
            f"{block.place}: {step.command!r} left with {code}:\n{printed}"
        )
        if (why := difference(step, printed)) and not renewed(block, step, printed):
            raise AssertionError(f"{block.place}: $ {step.command}\n{why}\nIt printed:\n{printed}")
    assert may_exit <= exits, f"{block.place}: nothing left with {may_exit - exits}"


def renewed(block: Block, step: Step, printed: str) -> bool:
    """With GRADELAKE_RENEW=1: put what was printed into the page, in the place of what it shows.

    Lines before the first line of `...` and behind the last are renewed, and those that say the
    same stay as they are.
    """
    if not os.environ.get("GRADELAKE_RENEW") or not step.shown:
        return False
    shown, now = list(step.shown), [line.rstrip() for line in printed.splitlines()]
    gaps = [n for n, line in enumerate(shown) if line.strip() == "..."]
    said = [line for line in shown if line.strip() != "..."]
    head, tail = (gaps[0], len(shown) - gaps[-1] - 1) if gaps else (len(now), 0)
    new = now[:head] + (shown[gaps[0] : gaps[-1] + 1] if gaps else []) + now[len(now) - tail :]
    new = [
        next((one for one in said if re.fullmatch(_pattern(one), f"{alike(line)}\n")), line)
        for line in new
        if not _SOMETIMES.fullmatch(line)
    ]
    file = REPOSITORY / block.page
    text = file.read_text(encoding="utf-8")
    old = "\n".join([step.command, *shown])
    assert text.count(old) == 1, f"{block.place}: {step.command!r} stands there more than once"
    file.write_text(text.replace(old, "\n".join([step.command, *new])), encoding="utf-8")
    return True


def difference(step: Step, printed: str) -> str:
    """What a transcript shows that was not printed, or the other way round; '' for nothing.

    `...` stands for any text within a line, and alone for any lines; what differs from run to run
    (times, sizes, rates, folders) is not compared, nor is how columns are padded.
    """
    if step.shown is None:
        return ""
    printed = "".join(
        f"{alike(line)}\n"
        for line in printed.splitlines()
        if line.strip() and not _SOMETIMES.fullmatch(line)
    )
    shown = [line for line in step.shown if line.strip()]
    parts = [_pattern(line) for line in shown]
    if re.fullmatch("".join(parts), printed):
        return ""
    n = next((n for n in range(1, len(parts) + 1) if not re.match("".join(parts[:n]), printed)), 0)
    return f"the page shows {shown[n - 1]!r}" if n else "more is printed than the page shows"


def _pattern(line: str) -> str:
    """What matches a line of a page."""
    if line.strip() == "...":
        return r"(?:.*\n)*?"
    return ".*?".join(map(re.escape, alike(line).split("..."))) + r"\n"


def alike(line: str) -> str:
    """A line without what differs from one run to the next."""
    for pattern, place in _VOLATILE:
        line = re.sub(pattern, place, line)
    return " ".join(line.split())
