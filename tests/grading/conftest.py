"""The tiny collection of the ingest tests, with a rubric and graders."""

import shutil
from contextlib import closing
from functools import partial

import pytest

from tests import shared_ray
from tests.conftest import made_once
from tests.grading.misbehaving import Server
from tests.grading.project import copy_of, make_priced, make_template
from tests.ingest.conftest import empty_lake, ingested, tiny_lake  # noqa: F401


@pytest.fixture(scope="session")
def judged_lake(tmp_path_factory):
    """The lake of `Judged`, made once."""
    return made_once(tmp_path_factory, "tiny-judged", make_template) / "lake"


@pytest.fixture(scope="session")
def priced_lake(judged_lake, tmp_path_factory):
    """The lake of `Judged` with `PRICES`."""
    make = partial(make_priced, judged_lake)
    return made_once(tmp_path_factory, "tiny-priced", make) / "lake"


@pytest.fixture
def judged(tmp_path, judged_lake):
    """A collection with a rubric, nothing graded yet."""
    with closing(copy_of(judged_lake, tmp_path / "project")) as project:
        yield project


@pytest.fixture
def new_workers():
    """Workers that end with their run."""
    with shared_ray.new_workers():
        yield


@pytest.fixture
def folder(graded_demo, tmp_path):
    """A copy of the graded demo."""
    return shutil.copytree(graded_demo, tmp_path / "demo")


@pytest.fixture
def server():
    """Speaks OpenAI's chat API, and misbehaves as it is told."""
    with Server() as server:
        yield server
