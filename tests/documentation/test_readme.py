"""The README, command by command, in a clone in which `make demo` was run."""

import pytest

from tests.documentation.run import run_page
from tests.places import REPOSITORY


@pytest.mark.slow
def test_every_command_of_the_readme_does_what_it_shows(made, tmp_path):
    assert run_page("README.md", made, tmp_path) > 15


def test_the_page_and_make_demo_name_the_same_query():
    for file in ("Makefile", "ingest/rubric/README.md"):
        text = (REPOSITORY / file).read_text(encoding="utf-8")
        assert "rubric edit sourdough-sour-rise" in text
