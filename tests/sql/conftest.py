"""The small lake: made once, and a copy of it for each test."""

import shutil
from pathlib import Path

import pytest

from gradelake.sql.common.project import Project
from tests.conftest import made_once
from tests.sql.small_lake import small_lake


@pytest.fixture(scope="session")
def small(tmp_path_factory) -> Path:
    return made_once(tmp_path_factory, "small", small_lake)


@pytest.fixture
def project(small, tmp_path) -> Project:
    shutil.copytree(small, tmp_path / "lake")
    return Project.read(tmp_path / "lake" / "gradelake.toml")
