"""A server of the demo's lake for the tests of pages."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.server import Server


@pytest.fixture(scope="module")
def demo_lake(graded_demo, tmp_path_factory) -> Path:
    """A copy of the graded demo, to be changed by a module's tests."""
    folder = tmp_path_factory.mktemp("served") / "demo"
    shutil.copytree(graded_demo, folder)
    return folder


@pytest.fixture(scope="module")
def server(demo_lake) -> Iterator[Server]:
    running = Server(demo_lake)
    try:
        yield running
    finally:
        running.end()
