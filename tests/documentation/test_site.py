"""The documentation site holds every page, the Python reference and the demo's report."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.command_line import gradelake
from tests.documentation.pages import pages
from tests.places import REPOSITORY

pytestmark = pytest.mark.slow
OF_COLUMNS = "dbt_project/models/"  # words that `gradelake docs` shows


@pytest.fixture(scope="module")
def site(graded_demo, tmp_path_factory):
    """mkdocs is strict: a link, an anchor or a page of its menu that is not there fails it."""
    folder = tmp_path_factory.mktemp("site")
    report = folder / "report.html"
    gradelake(graded_demo, "report", "demo", "-o", str(report))
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(folder / "site")],
        cwd=REPOSITORY,
        env=os.environ | {"GRADELAKE_DEMO_REPORT": str(report), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "not included in the nav" not in done.stderr
    return folder / "site"


def test_every_page_is_there_and_nothing_is_fetched_from_elsewhere(site):
    for page in pages():
        if not page.startswith((OF_COLUMNS, "docs/")):
            place = re.sub(r"(^|/)README$", r"\1index", page.removesuffix(".md"))
            text = (site / f"{place}.html").read_text()
            assert not re.search(r'<(?:script|img)[^>]* src="https?:', text), page
            assert not re.search(r'<link[^>]* rel="(?:stylesheet|preconnect)"[^>]*https?:', text)


def test_its_search_knows_pages_and_the_python_reference(site):
    found = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    texts = {each["location"].partition("#")[0]: each["text"] for each in found}
    assert "grading/BATTLES.html" in texts
    for name in ("gradelake.open", "gradelake.open_lake.OpenLake.ask"):
        assert any(each["location"] == f"api.html#{name}" for each in found), name


def test_the_demos_report_is_a_page(site):
    assert 'href="demo-report.html"' in (site / "demo.html").read_text()
    assert "lexical_direct" in (site / "demo-report.html").read_text()
