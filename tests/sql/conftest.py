"""The small lake: made once, and a copy of it for each test; and a PostgreSQL server."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradelake.sql.common.project import Project
from tests.conftest import made_once
from tests.postgres_server import postgres_server
from tests.sql.small_lake import small_lake


@pytest.fixture(scope="session")
def small(tmp_path_factory) -> Path:
    return made_once(tmp_path_factory, "small", small_lake)


@pytest.fixture(scope="module")
def catalog() -> Iterator[str]:
    """The catalog setting of an empty database, on a server of the module's own."""
    with postgres_server() as setting:
        yield setting


@pytest.fixture
def project(small, tmp_path) -> Project:
    shutil.copytree(small, tmp_path / "lake")
    return Project.read(tmp_path / "lake" / "gradelake.toml")
