"""A project folder with one tiny collection, and a real lake for it to go into."""

import shutil
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.pipeline import ingest
from gradelake.ingest.collections.targets import Ingested
from gradelake.sql.common.problems import Rejected
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests import command_line
from tests.projects import USUAL, project, write


def report(read, path: Path, *arguments) -> str:
    """What a reader says about a file it must reject."""
    with pytest.raises(Rejected) as caught:
        list(read(path, path.name, *arguments))
    return "\n".join(caught.value.lines())


class Tiny:
    """The project: write files, change settings, ingest, look into the lake."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.name = "tiny"
        self.settings = USUAL | {"judgments": {"nist": "nist.qrels"}}
        self.write("topics.tsv", ["q1\twhy is the sky blue", "q2\thow do bees find home"])
        self.write("passages.tsv", [f"p{n}\tText of passage {n}." for n in range(1, 6)])
        self.write("nist.qrels", ["q1 0 p1 2", "q1 0 p2 0", "q2 0 p3 1"])
        self.write("runs/good.run", ["q1 Q0 p1 1 2.5 good", "q1 Q0 p2 2 1.5 good"])
        self._lake: Lake | None = None

    def write(self, name: str, content: Any) -> Path:
        return write(self.folder / name, content)

    def configure(self, **settings) -> None:
        """Change settings of the collection; None takes one out."""
        merged = self.settings | settings
        self.settings = {key: value for key, value in merged.items() if value is not None}

    @property
    def project(self) -> Project:
        return project(self.folder, {self.name: self.settings})

    @property
    def collection(self) -> Collection:
        return Collection.named(self.project, self.name)

    @property
    def lake(self) -> Lake:
        if not self._lake:
            self._lake = Lake.writer(self.project)
        return self._lake

    def ingest(self) -> Ingested:
        return ingest(self.lake, self.collection, [])

    def gradelake(self, *arguments: str, **how) -> subprocess.CompletedProcess:
        """The command line, in the project's folder."""
        assert self.project  # writes its gradelake.toml
        return command_line.gradelake(self.folder, *arguments, **how)

    def rows(self, query: str) -> list[tuple]:
        return self.lake.rows(query)

    def systems(self) -> set[str]:
        return {name for (name,) in self.rows("select system from lake.raw.systems")}

    def run_of(self, system: str) -> list[tuple]:
        """(query, passage, score) as the lake has them, best first."""
        return self.lake.rows(
            "select query_id, passage_id, score from lake.raw.run_entries where system = ? "
            "order by query_id, score desc, passage_id desc",
            system,
        )

    def snapshot(self) -> int:
        return self.lake.value("select max(snapshot_id) from lake.snapshots()")

    def close(self) -> None:
        if self._lake:
            self._lake.close()
            self._lake = None


def said(outcome: Ingested) -> str:
    """Everything an ingest reports about what it refused."""
    return "\n".join(line for rejected in outcome.rejected for line in rejected.lines())


@pytest.fixture(scope="session")
def empty_lake(tmp_path_factory) -> Path:
    """An empty lake, made once and copied for each test."""
    made = project(tmp_path_factory.mktemp("empty"))
    Lake.create(made).close()
    return made.lake_path


@pytest.fixture(scope="session")
def tiny_lake(tmp_path_factory, empty_lake) -> Path:
    """A lake that holds the tiny collection, made once and copied for each test."""
    folder = tmp_path_factory.mktemp("ingested") / "project"
    with closing(new_tiny(folder, empty_lake)) as project:
        assert project.ingest().exit_code == 0
    return folder / "lake"


def new_tiny(folder: Path, lake: Path) -> Tiny:
    """A project with a copy of a lake."""
    shutil.copytree(lake, folder / "lake")
    return Tiny(folder)


@pytest.fixture
def tiny(tmp_path, empty_lake):
    """The project before its first ingest."""
    with closing(new_tiny(tmp_path / "project", empty_lake)) as project:
        yield project


@pytest.fixture
def ingested(tmp_path, tiny_lake):
    """The project after its first ingest."""
    with closing(new_tiny(tmp_path / "project", tiny_lake)) as project:
        yield project
