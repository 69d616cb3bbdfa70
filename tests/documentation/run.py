"""Going through a page, block by block."""

from contextlib import ExitStack
from pathlib import Path

from tests.documentation import folders
from tests.documentation.pages import blocks
from tests.documentation.shell import Shell, go_through

LAKE_PAGES = (
    "sql/ask/README.md",
    "sql/operations/upkeep/README.md",
    "sql/operations/nightly/README.md",
)
INGEST_PAGES = ("ingest/README.md", "ingest/rubric/README.md")
JUDGING_PAGES = (
    "analyses/README.md",
    "analyses/gate/README.md",
    "analyses/report/README.md",
    "grading/README.md",
    "grading/ANSWERS.md",
    "grading/BATCHES.md",
    "grading/review/README.md",
    "grading/sentinel/README.md",
)


def run_page(page: str, made: Path, place: Path) -> int:
    """Run every block of a page that is for these tests; returns how many commands that were.

    `made` is a clone with the demo's lake, `place` an empty folder. The blocks of a page share one
    shell for each folder that they name.
    """
    n, shells, shell = 0, {}, None
    with ExitStack() as stack:
        for block in blocks(page):
            if not block.is_run:
                continue
            for name in block.noted("in"):
                if name not in shells:
                    folder = stack.enter_context(folders.MAKERS[name](made, place / name))
                    shells[name] = stack.enter_context(Shell(folder))
                shell = shells[name]
            assert shell, f"{block.place}: no comment above says in which folder"
            go_through(block, shell)
            n += len(block.steps())
    return n
