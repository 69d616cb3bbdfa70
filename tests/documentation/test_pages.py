"""The README, and the pages on bringing data in and on the lake, command by command."""

import pytest

from tests.documentation.run import PAGES, is_on_judging, run_page

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("page", [page for page in PAGES if not is_on_judging(page)])
def test_every_command_of_a_page_does_what_it_shows(page, made, tmp_path):
    assert run_page(page, made, tmp_path) > 3
