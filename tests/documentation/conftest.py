"""A clone in which `make demo` was run; tests take copies of it."""

from pathlib import Path

import pytest

from tests.conftest import made_once
from tests.documentation import folders
from tests.places import REPOSITORY


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    if not (REPOSITORY / ".venv" / ".core").is_file():
        pytest.skip("the pages are tested with the .venv that `make demo` sets up")
    return made_once(tmp_path_factory, "clone", folders.clone)
