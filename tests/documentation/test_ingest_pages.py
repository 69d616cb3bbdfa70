"""The pages on bringing data in and on editing a rubric, command by command."""

import pytest

from tests.documentation.run import INGEST_PAGES, run_page

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("page", INGEST_PAGES)
def test_every_command_of_a_page_does_what_it_shows(page, made, tmp_path):
    assert run_page(page, made, tmp_path) > 3
