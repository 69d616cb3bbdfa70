"""The blocks of the project's pages, and what the pages themselves say about testing them.

A fenced block has a language. `console` is a transcript: commands behind `$ ` and what they print.
`bash` has commands only. A comment that readers do not see, on lines right above a block, says how
it is tested:

    <!-- test: in NAME -->       in which folder (tests/documentation/folders.py); the blocks of a
                                 page go on where the one before ended, until another is named
    <!-- test: first COMMAND --> what is done before, and not shown
    <!-- test: printed FILE -->  its only command was run before and left its answer in that file
    <!-- test: exits 3 -->       the exit code of one of its commands that is not 0
    <!-- test: elsewhere FILE, REASON -->   a test of its own runs it
    <!-- test: never, REASON -->            nothing runs it

GRADELAKE_RENEW=1 puts what is printed now into transcripts that show something else.
"""

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.places import REPOSITORY

_FENCE = re.compile(r"^( *)```(\w*)\s*$")
_NOTE = re.compile(r"^ *<!-- test: (\w+),? ?(.*?) -->\s*$")
_COMMAND = re.compile(r"^(?:[\w.]+ )?\$ ")
_IDLE = re.compile(r"^\s*(?:#.*)?$")  # an empty line or a comment


@dataclass(frozen=True)
class Step:
    """A command and the lines a transcript shows below it; None where nothing is shown at all."""

    command: str
    shown: tuple[str, ...] | None


@dataclass(frozen=True)
class Block:
    page: str  # path below the repository
    line: int  # of its fence
    language: str
    text: str
    notes: tuple[tuple[str, str], ...] = field(default=())

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    def noted(self, word: str) -> list[str]:
        """What the comments above say under a word."""
        return [rest for key, rest in self.notes if key == word]

    @property
    def is_for_us(self) -> bool:
        """Whether the documentation's own tests try it."""
        return not (self.noted("never") or self.noted("elsewhere"))

    @property
    def is_run(self) -> bool:
        """Whether they run it as commands."""
        return self.is_for_us and self.language in ("bash", "console")

    def steps(self) -> list[Step]:
        """Its commands, in order; one goes on while a quote is open or a line ends in `\\`."""
        found: list[tuple[str, list[str]]] = []
        unfinished = False
        for line in self.text.splitlines():
            begins = _COMMAND.match(line) if self.language == "console" else not _IDLE.match(line)
            if unfinished:
                found[-1] = (f"{found[-1][0]}\n{line}", [])
            elif begins:
                found.append((_COMMAND.sub("", line), []))
            elif self.language == "console":
                assert found, f"{self.place}: a transcript begins with a command"
                found[-1][1].append(line)
            unfinished = bool(found) and not found[-1][1] and not _is_whole(found[-1][0])
        if self.language == "bash":
            return [Step(command, None) for command, _ in found]
        return [Step(command, tuple(shown)) for command, shown in found]


@cache
def pages() -> tuple[str, ...]:
    """Every page of the repository, by its path; none of what `make demo` made."""
    found = []
    for folder, inside, files in os.walk(REPOSITORY):
        inside[:] = [name for name in inside if not _is_made(Path(folder), name)]
        found += [Path(folder, name) for name in files if name.endswith(".md")]
    return tuple(sorted(str(page.relative_to(REPOSITORY)) for page in found))


def _is_made(folder: Path, name: str) -> bool:
    """Whether a folder is an environment, a build, or what `make demo` made."""
    return name in {".venv", ".git", "build", "node_modules"} or (
        folder == REPOSITORY and name.startswith("demo")
    )


@cache
def blocks(page: str) -> tuple[Block, ...]:
    """The fenced blocks of a page, in order."""
    return tuple(_blocks(page))


def _blocks(page: str) -> Iterator[Block]:
    lines = (REPOSITORY / page).read_text(encoding="utf-8").splitlines()
    notes: list[tuple[str, str]] = []
    inside: tuple[int, str, str, tuple[tuple[str, str], ...]] | None = None
    text: list[str] = []
    for number, line in enumerate(lines, 1):
        fence = _FENCE.match(line)
        if inside and fence and not fence[2]:
            start, indent, language, noted = inside
            body = "\n".join(each.removeprefix(indent) for each in text)
            yield Block(page, start, language, body, noted)
            inside = None
        elif inside:
            text.append(line)
        elif fence:
            inside, text = (number, fence[1], fence[2], tuple(notes)), []
            notes = []
        elif note := _NOTE.match(line):
            notes.append((note[1], note[2]))
        elif line.strip():
            assert not notes, f"{page}:{number}: a comment for a test stands right above its block"
    assert not inside, f"{page}: a block has no end"


def commands_in_prose(page: str) -> list[str]:
    """What is said of `gradelake ...` outside of blocks, each once."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"`(gradelake [^`]+)`", prose)
    return sorted({" ".join(command.split()) for command in found})


def _is_whole(command: str) -> bool:
    """Whether a shell would run it, and not wait for more."""
    try:
        shlex.split(command, comments=True)
    except ValueError:  # a quote is open, or a backslash has nothing behind it
        return False
    return not command.endswith("\\")
