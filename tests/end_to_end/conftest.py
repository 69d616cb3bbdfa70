"""Lakes of more than one file of these tests."""

from pathlib import Path

import pytest

from tests.browser import chromium
from tests.conftest import gradelake, made_once
from tests.end_to_end import llmjudge, strange_lake
from tests.lakes import start_demo, start_lake
from tests.places import missing_llmjudge


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


@pytest.fixture(scope="session")
def demo_page(graded_demo, tmp_path_factory) -> Path:
    """The report of the graded demo; the two below are those of its likes."""
    return _reported(graded_demo, "demo", tmp_path_factory)


@pytest.fixture(scope="session")
def dl19_page(dl19_graded, tmp_path_factory) -> Path:
    return _reported(dl19_graded, "dl19", tmp_path_factory)


@pytest.fixture(scope="session")
def llmjudge_page(tmp_path_factory) -> Path:
    if reason := missing_llmjudge():
        pytest.skip(reason)

    def make(folder: Path) -> None:
        start_lake(folder)
        llmjudge.make_lake(folder, llmjudge.Published())

    return _reported(made_once(tmp_path_factory, "llmjudge", make), "llmjudge", tmp_path_factory)


def _reported(folder: Path, collection: str, tmp_path_factory) -> Path:
    name = f"{collection}.html"

    def make(reports: Path) -> None:
        reports.mkdir()
        gradelake(folder, "report", collection, "-o", str(reports / name))

    return made_once(tmp_path_factory, f"{collection}-page", make) / name
