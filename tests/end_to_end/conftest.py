"""Lakes of more than one file of these tests."""

from pathlib import Path

import pytest

from tests.conftest import made_once
from tests.end_to_end import strange_lake


@pytest.fixture(scope="session")
def strange(tmp_path_factory) -> Path:
    """Assessors and judges who agree by chance, say one thing only, or label hardly anything."""
    return made_once(tmp_path_factory, "strange", strange_lake.make)
