"""Lakes of more than one file of these tests."""

from pathlib import Path

import pytest

from tests.browser import chromium
from tests.command_line import gradelake
from tests.conftest import made_once
from tests.end_to_end import strange_lake
from tests.lakes import start_demo
from tests.report_page import demo_page as demo_page
from tests.report_page import moved as moved
from tests.report_page import odd_page as odd_page


@pytest.fixture(scope="session")
def strange(tmp_path_factory) -> Path:
    """Assessors and judges who agree by chance, say one thing only, or label hardly anything."""
    return made_once(tmp_path_factory, "strange", strange_lake.make)


@pytest.fixture(scope="session")
def demo_answers(tmp_path_factory) -> Path:
    """The demo's collection `answers`, graded, with a person's labels; and of `demo` the judgments,
    and nuggets assigned to its one system that writes answers. Published."""

    def make(folder: Path) -> None:
        start_demo(folder)
        gradelake(folder, "ingest", "answers")
        for collection, bank in (("demo", "nugget_bank"), ("answers", "answers/nugget_bank")):
            gradelake(folder, "import", "bank", collection, f"{bank}.jsonl", "--name", "nuggets")
        for collection, grader in (
            ("demo", "assigns"),
            ("answers", "assigns"),
            ("answers", "supports"),
        ):
            gradelake(folder, "grade", collection, "--grader", grader)
        labels = ("answers", "answers/support.csv", "--assessor", "human")
        gradelake(folder, "import", "support", *labels)
        gradelake(folder, "build")

    return made_once(tmp_path_factory, "demo-answers", make)


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser
