"""The pages on grading, rubrics, agreement and the report, command by command."""

import pytest

from tests.documentation.run import JUDGING_PAGES, run_page

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("page", JUDGING_PAGES)
def test_every_command_of_a_page_does_what_it_shows(page, made, tmp_path):
    assert run_page(page, made, tmp_path) > 0
