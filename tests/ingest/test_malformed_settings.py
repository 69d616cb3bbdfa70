"""Malformed gradelake.toml files: refused, or they mean what they say (see test_malformed.py)."""

import contextlib
import shutil
import tomllib
from contextlib import closing

import pytest
from hypothesis import assume, given

from gradelake.grading.graders.grader_reader import read_grader
from gradelake.ingest.collections.collection import Collection
from gradelake.sql.common.errors import GradelakeError
from gradelake.sql.common.project import Project
from tests.ingest.conftest import new_tiny
from tests.ingest.malformed import mutated_toml
from tests.ingest.malformed_kinds import KINDS
from tests.ingest.malformed_room import EXAMPLES, OF_EACH, TRACE, Room, tried

pytestmark = pytest.mark.slow

TOML = b"""\
[lake]
path = "lake"
keep_releases = 5
keep_days = 1.5

[grading]
prompts = "prompts"

[collections.tiny]
queries = "topics.tsv"
passages = "passages.tsv"
passages_for = "all"
judgments = { nist = "nist.qrels" }
runs = ["runs/*"]
official_ranks = { ranks = "ranks.tsv" }
near_duplicates = "clusters.tsv"
leave_out_near_duplicates = true
assessor = "nist"
min_relevant = 1
max_relevance = 3
default_pool_depth = 20
inbox = "inbox"

[collections.tiny.groups.family]
fine = ["g*"]

[graders.lexical]
engine = "lexical"
prompt = "question_self_rating"
parser = "paper"
"""


@pytest.fixture
def configured(tmp_path, tiny_lake):
    """A project whose gradelake.toml names every kind of input, before they are read."""
    with closing(new_tiny(tmp_path / "project", tiny_lake)) as tiny:
        (tiny.folder / "prompts").mkdir()
        tiny.write("ranks.tsv", ["good\t1"])
        tiny.write("clusters.tsv", ["p1 p2"])
        yield Room(tiny)


def leads_outside(data: bytes) -> bool:
    """Whether [lake] names a folder elsewhere, which is allowed, and not to be tried here."""
    with contextlib.suppress(ValueError, RecursionError):
        lake = tomllib.loads(data.decode()).get("lake")
        if isinstance(lake, dict):
            places = [str(lake.get(key, "")) for key in ("path", "data")]
            return any(place.startswith(("/", "~")) or ".." in place for place in places)
    return False


def test_a_malformed_gradelake_toml_is_refused_or_means_what_it_says(configured, tmp_path):
    project = configured.tiny.folder
    there = [path for path in project.rglob("*") if path.is_file()]
    shutil.copytree(project / "lake", tmp_path / "good")

    @tried(OF_EACH)
    @given(mutated_toml(TOML))
    def campaign(data: bytes) -> None:
        assume(not leads_outside(data))
        (project / "gradelake.toml").write_bytes(data)
        before = configured.snapshot()
        code, out, err = configured.gradelake("ingest", "tiny")
        assert code in (0, 1, 2, 3), err
        assert not TRACE.search(out + err)
        if code in (1, 2):
            assert "\n  " in err or " must " in err
        landed = configured.snapshot() - before
        assert landed in ((0, 1) if code in (0, 3) else (0,))
        # nobody's file was moved, whatever the settings say
        assert all(path.is_file() for path in there if "-" not in path.name)
        if landed:
            shutil.rmtree(project / "lake")
            shutil.copytree(tmp_path / "good", project / "lake")

    campaign()


@tried(max(EXAMPLES - OF_EACH * (len(KINDS) + 6), 1))  # what the other campaigns leave
@given(mutated_toml(TOML))
def test_every_setting_is_read_or_refused(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp()
    (folder / "prompts").mkdir(exist_ok=True)
    file = folder / "gradelake.toml"
    file.write_bytes(data)
    said = ""
    try:
        project = Project.read(file)
        Collection.named(project, "tiny")
        read_grader(project, "lexical")
    except GradelakeError as error:
        said = str(error)
    assert not TRACE.search(said)
