"""The README's tutorial, command by command, on the lake that it is about."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import REPOSITORY

OLD, NEW = "give the bread its taste", "make sourdough bread taste sour"


def steps() -> list[tuple[str, list[str]]]:
    """(command, the lines that the README shows below it), in the order of the page."""
    page = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    section = page.split("## The loop\n")[1].split("\n## ")[0]
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```\n(.*?)^```", section, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:].split("  #")[0].strip(), []))
            else:
                found[-1][1].append(line)
    return found


@pytest.fixture(scope="module")
def folder(graded_demo, tmp_path_factory) -> Path:
    """A lake such as `make demo` leaves."""
    folder = tmp_path_factory.mktemp("tutorial") / "demo"
    shutil.copytree(graded_demo, folder)
    return folder


def run(folder: Path, command: str) -> str:
    """What a command prints; the editor makes the change that the page asks for."""
    words = shlex.split(command)
    if words[0] == "gradelake":
        words[:1] = [sys.executable, "-m", "gradelake"]
    output = None
    if ">" in words:
        output = folder / words[-1]
        words = words[: words.index(">")]
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=600, check=False,
        env=os.environ | {"EDITOR": f"sed -i 's/{OLD}/{NEW}/'", "VISUAL": ""},
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    if output:
        output.write_text(done.stdout, encoding="utf-8")
    return done.stdout + done.stderr


def cells(line: str) -> list[str]:
    """The cells of a printed table's line; `...` stands for what the page leaves out."""
    line = re.sub(r" in \d+ s \(\d+ pairs/s\)", "", line)
    return [cell for cell in re.split(r"\s{2,}|\.\.\.", line.strip()) if cell.strip()]


def is_there(line: str, printed: str) -> bool:
    """Whether one printed line holds the cells of the page's line, in their order."""
    wanted = [cell.strip() for cell in cells(line)]
    for printed_line in printed.splitlines():
        rest = iter(cells(printed_line))
        if all(any(cell.strip() == want for cell in rest) for want in wanted):
            return True
    return False


def test_every_command_of_the_tutorial_does_what_the_page_shows(folder):
    commands = [step for step in steps() if not step[0].startswith("cd ")]
    assert len(commands) >= 12
    assert sum(len(shown) for _, shown in commands) >= 12
    for command, shown in commands:
        printed = run(folder, command)
        for line in shown:
            assert is_there(line, printed), f"{command}\n{line}\nis not in\n{printed}"


def test_the_page_and_make_demo_name_the_same_query():
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    assert "rubric edit sourdough-sour-rise" in makefile
    assert any("rubric edit sourdough-sour-rise" in command for command, _ in steps())
