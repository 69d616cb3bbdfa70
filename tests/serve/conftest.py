"""A server of the demo's lake for the tests of pages."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import made_once
from tests.serve import hostile
from tests.serve.server import Server


@pytest.fixture(scope="module")
def demo_lake(graded_demo, tmp_path_factory) -> Path:
    """A copy of the graded demo, to be changed by a module's tests."""
    return shutil.copytree(graded_demo, tmp_path_factory.mktemp("served") / "demo")


@pytest.fixture(scope="module")
def server(demo_lake) -> Iterator[Server]:
    with Server(demo_lake) as running:
        yield running


@pytest.fixture(scope="session")
def odd_lake(tmp_path_factory) -> Path:
    """The lake of tests/serve/hostile.py; tests only read it, but for who may enter: other names in
    each file, for processes share it."""
    return made_once(tmp_path_factory, "odd", hostile.make)


@pytest.fixture(scope="module")
def odd(odd_lake) -> Iterator[Server]:
    """A server of it."""
    with Server(odd_lake) as running:
        yield running
