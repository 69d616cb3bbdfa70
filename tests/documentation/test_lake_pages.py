"""The pages on asking the lake, looking after it, and nights, command by command."""

import pytest

from tests.documentation.run import LAKE_PAGES, run_page

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("page", LAKE_PAGES)
def test_every_command_of_a_page_does_what_it_shows(page, made, tmp_path):
    assert run_page(page, made, tmp_path) > 3
