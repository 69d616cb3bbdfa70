"""Malformed inputs of every kind: nothing of a refused file lands, and people are told why.

Good files of every kind are in a lake; Hypothesis makes variants of each (malformed.py beside this
file) and the command line is given them. GRADELAKE_MALFORMED=5000 tries that many, other ones each
time; without it 160 are tried, always the same, because each takes a fifth of a second.
"""

import contextlib
import csv
import gzip
import io
import json
import os
import re
import shutil
import sqlite3
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from gradelake.grading.graders.grader_reader import read_grader
from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.rubric import edits_file
from gradelake.sql.build import seeds
from gradelake.sql.common.errors import GradelakeError
from gradelake.sql.common.problems import Rejected
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests import command_line, projects
from tests.ingest.conftest import Tiny, new_tiny
from tests.ingest.good_files import INGEST, KINDS, SEEDS, TOML, Kind
from tests.ingest.malformed import malformed, malformed_toml

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("GRADELAKE_MALFORMED", "160"))  # of all kinds together
OF_EACH = max(EXAMPLES // (len(KINDS) + 10), 1)
TABLES = (
    *("collections", "queries", "passages", "near_duplicates", "systems", "run_entries", "answers"),
    *("sentences", "citations", "judgments", "review_samples", "official_ranks", "system_groups"),
    *("rubric_items", "graders", "grades"),
)
# when and by which run something came is no content; scales are only ever widened, and passages
# that nothing names any more stay
PASSING = ["ingested_at", "created_at", "graded_at", "run_id", "file_sha256"]
STAY = {"graders", "passages"}
# what no person should have to read
TRACE = re.compile(
    r"Traceback|Internal|--debug|\b(?!TREC)[A-Z]\w*(Error|Exception|Exit|Iteration)\b", re.ASCII
)
# the ledger's counts that are not what the lake has
WRONG_LEDGER = """
    with landed as (
        select 'tiny/judgments/' || assessor as target, count(*) as n
        from lake.raw.judgments group by all
        union all
        select 'tiny/systems/' || system, count(*) from lake.raw.run_entries group by all
        union all
        select 'tiny/bank/' || bank, count(*) from lake.raw.rubric_items group by all
        union all
        select 'tiny/official_ranks/' || leaderboard, count(*)
        from lake.raw.official_ranks group by all
        union all
        select 'tiny/queries', count(*) from lake.raw.queries
        union all
        select 'tiny/near_duplicates', count(*) from lake.raw.near_duplicates
    )
    select target, n, n_rows from landed left join lake.raw.ledger using (target)
    where n_rows is distinct from n and not (n = 0 and n_rows is null)
        and target not in ('tiny/judgments/ann', 'tiny/judgments/bo')
"""


def tried(n: int):
    return settings(
        max_examples=n,
        deadline=None,
        database=None,
        derandomize="GRADELAKE_MALFORMED" not in os.environ,
        phases=[Phase.explicit, Phase.generate],  # what was changed shows without shrinking
        suppress_health_check=list(HealthCheck),
    )


def snapshot(tiny: Tiny) -> int:
    with closing(sqlite3.connect(tiny.folder / "lake" / "catalog.sqlite")) as connection:
        (found,) = connection.execute("select max(snapshot_id) from ducklake_snapshot")
    return found[0]


def content(lake: Lake) -> dict[str, tuple]:
    """table -> how many rows, and a hash of all of them."""
    columns = lake.rows(
        "select table_name, string_agg(column_name, ', ') from duckdb_columns() "
        "where database_name = 'lake' and schema_name = 'raw' "
        "and not list_contains($passing, column_name) group by table_name",
        passing=PASSING,
    )
    each = [
        f"select '{table}', count(*), bit_xor(hash({names})) from lake.raw.{table}"
        for table, names in columns
        if table in TABLES
    ]
    return {table: (n, of_rows) for table, n, of_rows in lake.rows(" union all ".join(each))}


@contextlib.contextmanager
def held_open(lake: Lake) -> Iterator[None]:
    """Commands share one lake that is open: to open it takes longer than most of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lake, "create", lambda project: lake)
        patch.setattr(Lake, "writer", lambda project: lake)
        patch.setattr(Lake, "__exit__", lambda self, *_: None)
        yield


@pytest.fixture(scope="module")
def filled(tmp_path_factory, empty_lake):
    """A project in whose lake every good file has landed."""
    with closing(new_tiny(tmp_path_factory.mktemp("malformed") / "project", empty_lake)) as tiny:
        tiny.configure(groups={"family": {"bm": ["x*"], "gen": ["a?"]}})
        for kind in KINDS:
            tiny.configure(**kind.settings)
            tiny.write(kind.file, kind.good)
        with held_open(tiny.lake):
            for command in dict.fromkeys(kind.command for kind in KINDS):
                done = command_line.run(tiny.folder, *command.split())
                assert done.returncode == 0, (command, done.stdout, done.stderr)
        yield tiny


def check_what_was_said(file: str, code: int, out: str, err: str) -> None:
    """A person can act on it."""
    assert code in (0, 1, 2, 3)
    assert not TRACE.search(out + err)
    if code:
        assert file in out + err
        assert len(err) < 10_000
    if code in (1, 2):
        assert "\n  " in err or "what_to_do" in out


def check_what_landed(lake: Lake, kind: Kind, before: dict, data: bytes, out: dict | None) -> None:
    after = content(lake)
    changed = {name for name in TABLES if after[name] != before[name]}
    assert changed <= {*kind.tables, "collections", "system_groups"}
    assert not lake.rows(WRONG_LEDGER)
    if kind.rows:
        n = lake.value(kind.rows)
        assert kind.counted is None or n == kind.counted(data)
        if out is not None and kind.command != INGEST:
            # what people judged before stays when a file no longer has it
            stays = kind.command.startswith("import judgments") and n > out["written"]
            assert stays or n == out["written"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.file)
def test_a_malformed_file_lands_whole_or_not_at_all(filled, kind):
    path = filled.folder / kind.file
    with held_open(filled.lake):  # the good file of the kind before, which was refused last
        command_line.run(filled.folder, *INGEST.split())
    base = content(filled.lake)

    @tried(OF_EACH)
    @given(malformed(kind.good, kind.file.endswith(".gz")), st.booleans())
    def campaign(data: bytes, as_json: bool) -> None:
        nonlocal base
        path.write_bytes(data)
        before = snapshot(filled)
        done = command_line.run(filled.folder, *kind.command.split(), *["--json"] * as_json)
        landed = snapshot(filled) - before
        try:
            check_what_was_said(kind.file, done.returncode, done.stdout, done.stderr)
            out = json.loads(done.stdout) if as_json and done.stdout else None
            assert landed in ((0, 1) if done.returncode in (0, 3) else (0,))
            if landed:
                unzipped = gzip.decompress(data) if kind.file.endswith(".gz") else data
                check_what_landed(filled.lake, kind, base, unzipped, out)
        finally:
            path.write_bytes(kind.packed(kind.good))
            again = command_line.run(filled.folder, *kind.command.split()) if landed else None
        if again:
            assert again.returncode == 0, (again.stdout, again.stderr)
            now = content(filled.lake)
            assert {n: now[n] for n in TABLES if n not in STAY} == {
                n: base[n] for n in TABLES if n not in STAY
            }
            base = now

    with held_open(filled.lake):
        campaign()


def refusal(step: Callable[[], object], of: type[GradelakeError] = Rejected) -> Any:
    """What a step refuses; anything else that it raises is a fault of ours."""
    try:
        step()
    except of as refused:
        return refused
    return None


@pytest.mark.fast
@pytest.mark.parametrize("name", SEEDS)
def test_a_malformed_seed_is_refused_by_file_and_line_or_every_row_of_it_counts(tmp_path, name):
    project = projects.project(tmp_path)
    (tmp_path / "seeds").mkdir()
    file = tmp_path / "seeds" / f"{name}.csv"

    @tried(OF_EACH)
    @given(malformed(SEEDS[name]))
    def campaign(data: bytes) -> None:
        file.write_bytes(data)
        if name == "rubric_edits":
            refusal(lambda: edits_file.read(project))
        if refused := refusal(lambda: seeds.gather(project)):
            assert refused.file.endswith(file.name)
            assert refused.hint
            return
        text = data.decode().lstrip("\ufeff")
        stated = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
        if name == "evaluation_grid":  # it adds to the packaged one
            packaged = list(csv.reader((seeds.PACKAGED / file.name).open(encoding="utf-8")))
            stated = packaged + [row for row in stated[1:] if row not in packaged[1:]]
        gathered = project.lake_path / "dbt" / "seeds" / file.name
        with gathered.open(newline="", encoding="utf-8") as stream:
            assert list(csv.reader(stream, strict=True)) == stated

    campaign()
    (tmp_path / "seeds" / "evaluation_levels.csv").write_text("level\n\uff11\n", encoding="utf-8")
    if name == "evaluation_levels":
        with pytest.raises(Rejected, match="csv:2: level '\uff11' is not a whole number"):
            seeds.gather(project)


# --- settings -----------------------------------------------------------------------------------


def leads_outside(data: bytes) -> bool:
    """Whether [lake] names a folder elsewhere, which is allowed, and not to be tried here."""
    with contextlib.suppress(ValueError, RecursionError):
        lake = tomllib.loads(data.decode()).get("lake")
        if isinstance(lake, dict):
            places = [str(lake.get(key, "")) for key in ("path", "data")]
            return any(place.startswith(("/", "~")) or ".." in place for place in places)
    return False


def test_a_malformed_gradelake_toml_is_refused_or_means_what_it_says(ingested, tmp_path):
    project = ingested.folder
    ingested.write("ranks.tsv", ["good\t1"])
    ingested.write("clusters.tsv", ["p1 p2"])
    (project / "prompts").mkdir()
    there = [path for path in project.rglob("*") if path.is_file()]
    shutil.copytree(project / "lake", tmp_path / "good")

    @tried(OF_EACH)
    @given(malformed_toml(TOML))
    def campaign(data: bytes) -> None:
        assume(not leads_outside(data))
        (project / "gradelake.toml").write_bytes(data)
        before = snapshot(ingested)
        done = command_line.run(project, "ingest", "tiny")
        assert done.returncode in (0, 1, 2, 3), done.stderr
        assert not TRACE.search(done.stdout + done.stderr)
        if done.returncode in (1, 2):
            assert "\n  " in done.stderr or " must " in done.stderr
        landed = snapshot(ingested) - before
        assert landed in ((0, 1) if done.returncode in (0, 3) else (0,))
        # nobody's file was moved, whatever the settings say
        assert all(path.is_file() for path in there if "-" not in path.name)
        if landed:
            shutil.rmtree(project / "lake")
            shutil.copytree(tmp_path / "good", project / "lake")

    campaign()


@pytest.mark.fast
@tried(max(EXAMPLES - OF_EACH * (len(KINDS) + 6), 1))  # what the other campaigns leave
@given(malformed_toml(TOML))
def test_every_setting_is_read_or_refused(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp()
    (folder / "prompts").mkdir(exist_ok=True)
    file = folder / "gradelake.toml"
    file.write_bytes(data)

    def read() -> None:
        project = Project.read(file)
        Collection.named(project, "tiny")
        read_grader(project, "lexical")

    assert not TRACE.search(str(refusal(read, GradelakeError)))
