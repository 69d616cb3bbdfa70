"""The lake that tables and pictures are made of."""

from pathlib import Path

import pytest

from tests.analyses.small import make_small
from tests.conftest import made_once


@pytest.fixture(scope="session")
def small(tmp_path_factory) -> Path:
    """The collection `small`, built once."""
    return made_once(tmp_path_factory, "small-collection", make_small)
