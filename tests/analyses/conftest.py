"""The lake that tables and pictures are made of."""

from pathlib import Path

import pytest

from tests.analyses.small import make_far, make_small
from tests.conftest import made_once
from tests.report_page import demo_page as demo_page
from tests.report_page import moved as moved
from tests.report_page import odd_page as odd_page


@pytest.fixture(scope="session")
def small(tmp_path_factory) -> Path:
    """The collection `small`, built once."""
    return made_once(tmp_path_factory, "small-collection", make_small)


@pytest.fixture(scope="session")
def far(tmp_path_factory) -> Path:
    """The collection `far`, in which a judge turns the people's order of systems round."""
    return made_once(tmp_path_factory, "far-collection", make_far)
