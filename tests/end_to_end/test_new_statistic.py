"""A statistic of one's own is one file: all who ask for statistics find it."""

import os
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from tests.mcp.client import called, text
from tests.serve.server import Server

pytestmark = pytest.mark.slow

MINE = '''
"""How many passages there are."""

from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.shown.answer import Answer, Column, Table


@question("mine", "Count passages.", section="How many passages")
@options.numbered("--least", "No fewer.", default=0)
def mine(lake, collection, least):
    """Say how many passages a collection has."""
    n = lake.value("select count(*) from lake.raw.passages where collection = ?", collection)
    columns = [Column("collection", is_key=True), Column("n", "passages", "count")]
    rows = [[collection, 1000 + n]] * (n >= least)
    sentence = f"{collection} has {n} passages."
    return Answer({"collection": collection}, sentence, tables=[Table("passages", columns, rows)])
'''
# it lies beside the other files for every process that Python starts here
BESIDE = """
from gradelake.analyses import answers
answers.__path__.append({folder!r})
"""


@pytest.fixture(scope="module")
def folder(graded_demo, tmp_path_factory):
    """A copy of the demo, and Python with a further file of questions."""
    place = tmp_path_factory.mktemp("mine")
    (place / "questions").mkdir()
    (place / "questions" / "mine.py").write_text(MINE)
    (place / "sitecustomize.py").write_text(BESIDE.format(folder=str(place / "questions")))
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(place), before]))
    yield shutil.copytree(graded_demo, place / "demo")
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


def run(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "gradelake", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def passages(folder: Path) -> int:
    said = run(folder, "stats", "mine", "demo", "--format", "csv")
    return int(said.splitlines()[1].split(",")[1])


def test_a_new_statistic_is_a_section_of_the_report(folder):
    run(folder, "report", "demo", "-o", "r.html")
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert '<h2 id="stats-mine-title">How many passages</h2>' in page
    n = passages(folder)
    assert f"demo has {n - 1000} passages." in page
    assert f'data-value="{n}.0">{n:,}</td>' in page


def test_a_new_statistic_is_a_page_and_files_of_the_server(folder):
    n = passages(folder)
    with Server(folder) as server:
        reader = server.browser("rae", "reader")
        listed = reader.get("/c/demo/ask/").text
        assert '<a href="/c/demo/stats/mine">Count passages.</a>' in listed
        page = reader.get("/c/demo/stats/mine").text
        assert "Say how many passages a collection has." in page
        assert f"{n:,}</td>" in page
        assert f"{n:,}</td>" not in reader.get("/c/demo/stats/mine?least=999999").text
        assert reader.get("/c/demo/stats/mine.csv").text == f"collection,n\ndemo,{n}\n"
        tex = reader.get("/c/demo/stats/mine.tex")
        assert f"demo & {n:,} " in tex.text
        wrong = reader.get("/c/demo/stats/mine?least=many")
        assert (wrong.status_code, "is not a valid int" in wrong.text) == (400, True)
        wrong = reader.get("/c/demo/stats/mine?lest=3")
        assert (wrong.status_code, "no option" in wrong.text) == (400, True)
        assert reader.get("/c/demo/stats/yours").status_code == 404
        needs = reader.get("/c/demo/stats/ranks").text
        assert "Choose measure and label set first." in needs
        assert "<option>judge:lexical_direct</option>" in needs, "names to choose from"
        asked = "measure=AP&label_set=judge:lexical_direct&replicates=100"
        assert "11 systems over 8 queries" in reader.get(f"/c/demo/stats/ranks?{asked}").text
        picture = reader.get(f"/c/demo/stats/ranks.svg?{asked}")
        assert picture.headers["content-type"] == "image/svg+xml"
        assert picture.text.startswith("<svg")
        shared = reader.get("/c/demo/stats/overview.png?label_set=assessor:human")
        width, height = Image.open(BytesIO(shared.content)).size
        assert width / height == pytest.approx(1200 / 630, abs=0.01)
        assert width >= 1200


def test_a_new_statistic_is_a_tool_for_models(folder):
    n = passages(folder)
    ranks = {"measure": "AP", "label_set": "judge:lexical_direct", "replicates": 100}
    listed, mine, fewer, board, wrong = called(
        folder,
        ("list_statistics", {}),
        ("statistic", {"name": "mine", "collection": "demo"}),
        ("statistic", {"name": "mine", "collection": "demo", "options": {"least": 9999}}),
        ("statistic", {"name": "ranks", "collection": "demo", "options": ranks}),
        ("statistic", {"name": "mine", "collection": "nothing"}),
    )
    assert "Say how many passages a collection has." in text(listed)
    assert mine.structured_content["passages"] == [{"collection": "demo", "n": n}]
    assert f"{n:,}" in text(mine)
    assert "command: gradelake stats mine demo" in text(mine)
    assert fewer.structured_content["passages"] == []
    assert len(board.structured_content["systems"]) == 11
    assert wrong.is_error
