"""What `gradelake export latex` writes, compiled by LaTeX: no error, no warning, no overfull box.

Skipped where there is no pdflatex (Debian: texlive-latex-recommended and texlive-latex-extra).
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gradelake.analyses.tables.latex import render
from gradelake.analyses.tables.table import Block, Cell, Column, Table, number
from tests.command_line import gradelake

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex"),
]
WRONG = re.compile(r"^(?:!|Overfull|Underfull|Missing character|.*Warning).*", re.MULTILINE)
TWICE = 2  # longtable learns its widths in the first pass
ALL = ("assessor:human", "judge:lexical_direct", "lexical/v0/best", "lexical/v0/second_best")


def assert_compiles(document: str, folder: Path) -> None:
    (folder / "table.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    for _ in range(TWICE):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    log = (folder / "table.log").read_text(encoding="latin-1")
    assert WRONG.findall(log) == []


@pytest.mark.parametrize(
    "arguments",
    [
        "agreement demo --label-set lexical/v0/best --label-set judge:lexical_direct",
        "leaderboard demo --label-set judge:lexical_direct --measure nDCG@10 --measure AP --ranks",
        "leaderboard demo --label-set lexical/v0/best --measure Cover@20 --stderr --level 4",
        "leaderboard demo --label-set assessor:human --measure AP --interval --groups",
        "correlation demo --measure nDCG@10 --measure AP --within 0.05",
        "leaderboard demo --interval --measure nDCG@10 --measure AP --measure RR --measure P@10 "
        + " ".join(f"--label-set {name}" for name in ALL),
    ],
    ids=lambda arguments: arguments[:40],
)
def test_each_kind_of_table_compiles(graded_demo, tmp_path, arguments):
    words = arguments.split()
    done = gradelake(graded_demo, "export", "latex", *words, "--standalone")
    assert_compiles(done.stdout, tmp_path)


@pytest.mark.parametrize("name", ["long-name/" * 9, r"~^\%$#_{}&<>|'"], ids=["long", "odd"])
def test_many_rows_and_columns_long_names_and_odd_signs_compile(tmp_path, name):
    columns = [Column("system", "System", is_number=False, is_key=True)]
    columns += [Column(f"P@{n}", f"P_{n} & 50%") for n in range(24)]
    names = [f"{name}{n}" for n in range(120)]
    rows = [[Cell(one, one), *[number(0.5, 4)] * 24] for one in names]
    table = Table("leaderboard", "x", columns, [Block({}, rows)])
    assert_compiles(render(table, standalone=True), tmp_path)
