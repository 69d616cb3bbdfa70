"""Going through a page, block by block."""

from contextlib import ExitStack
from pathlib import Path

from tests.documentation import folders
from tests.documentation.pages import blocks, pages
from tests.documentation.shell import Shell, go_through

# those with commands that are run
PAGES = [page for page in pages() if any(block.is_run for block in blocks(page))]


def is_on_judging(page: str) -> bool:
    """Whether it is one of those that a file of tests of their own goes through."""
    return page.startswith(("analyses/", "grading/"))


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
