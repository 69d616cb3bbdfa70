"""What dbt's own commands do to a rubric that was edited and not built since."""

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.upkeep.lake_copy import fingerprint
from tests.command_line import gradelake
from tests.dbt_project.plain_dbt import dbt
from tests.edits import edit, write_edits
from tests.end_to_end.edited_demo import ADDED, BIRDS, DROPPED, HASHES

pytestmark = pytest.mark.slow

DROP = edit(1, "drop", DROPPED)
ADD = edit(2, "add", query_id=HASHES, kind="question", text=ADDED)
WRONG = edit(3, "drop", "no such item", query_id=BIRDS)


class Held(NamedTuple):
    """What the working catalog has of the rubric."""

    versions: list[int]
    edits_in_force: list[tuple]  # as the history has it
    n_ended: int
    snapshot: int


def held(folder: Path) -> Held:
    history = "lake.intermediate.rubric_history"
    versions = "select distinct rubric_version from lake.marts.rubric_items_effective order by 1"
    in_force = "where dbt_valid_to is null and dbt_is_deleted = 'False'"
    with Lake.live(Project.find(folder)) as lake:
        return Held(
            [version for (version,) in lake.rows(versions)],
            lake.rows(f"select rubric_version, action from {history} {in_force} order by all"),
            lake.value(f"select count(*) from {history} where dbt_valid_to is not null"),
            lake.newest_snapshot(),
        )


def derived_tables(folder: Path) -> dict[str, object]:
    """Rows and fingerprint of every table below raw, but for times."""
    with Lake.live(Project.find(folder)) as lake:
        names = lake.column(
            "select schema_name || '.' || table_name from duckdb_tables() "
            "where database_name = 'lake' and schema_name != 'raw'"
        )
        assert len(names) > 20
        timed = ("marts.freshness", "intermediate.rubric_history")
        return {
            name: fingerprint(lake.connection, f"lake.{name}")
            for name in names
            if name not in timed
        }


@pytest.fixture(scope="module")
def folder(graded_demo, tmp_path_factory) -> Path:
    """Version 1 of the rubric is built and published, version 2 waits in seeds/."""
    folder = shutil.copytree(graded_demo, tmp_path_factory.mktemp("plain_dbt") / "lake")
    write_edits(folder, DROP)
    gradelake(folder, "build")
    write_edits(folder, DROP, ADD)
    return folder


def test_what_would_harm_the_lake_is_refused(folder):
    before = held(folder)
    for option, problem in (
        (["--empty"], "--empty would write tables without rows"),
        (["--threads", "2"], "dbt has one connection to the lake"),
    ):
        done = dbt(folder, "build", "--select", "rubric_history", *option)
        assert done.returncode == 2
        assert problem in done.stdout
        assert "dbt cannot select that" in gradelake(folder, "build", *option, code=2).stderr
    edits = folder / "seeds" / "rubric_edits.csv"
    rows = edits.read_text()
    edits.write_text(rows + "3,demo\n")
    done = dbt(folder, "build")
    edits.write_text(rows)
    assert done.returncode == 2
    assert "rubric_edits.csv:4: 2 cells instead of 13" in done.stdout
    assert "Traceback" not in done.stdout
    assert held(folder) == before


def test_every_command_of_dbt_leaves_all_versions_and_the_history_whole(folder):
    before = held(folder)
    assert before[:3] == ([0, 1], [(1, "drop")], 0)
    for looking in (
        ("show", "--select", "kappa", "int_ideal_gains"),
        ("docs", "generate", "--select", "+rubric_history", "rubric_items_effective"),
        ("test", "--select", "rubric_edits", "rubric_items_effective"),
        ("snapshot",),
    ):
        done = dbt(folder, *looking)
        assert done.returncode == 0, done.stdout
        assert held(folder) == before, looking

    write_edits(folder, DROP, ADD, WRONG)
    done = dbt(folder, "build", "--select", "int_ideal_gains", "+rubric_history")
    assert done.returncode == 1
    assert "rubric_edits.csv: nothing of it lands" in done.stdout
    assert "row 3 (drop no such item): bank questions has no item" in done.stdout
    assert "Nothing of this run is kept: the lake is as it was before." in done.stdout
    write_edits(folder, DROP, ADD)
    done = dbt(folder, "retry")
    assert done.returncode == 2
    assert "Give the command that failed again, whole." in done.stdout
    assert held(folder) == before

    done = dbt(folder, "run", "--select", "+rubric_items_effective")
    assert done.returncode == 0, done.stdout
    assert "stand in the working catalog (--live): `gradelake build` builds all" in done.stdout
    assert held(folder)[:3] == ([0, 1, 2], [(1, "drop")], 0)
    whole = ([0, 1, 2], [(1, "drop"), (2, "add")], 0)
    done = dbt(folder, "build")
    assert done.returncode == 0, done.stdout
    assert "`gradelake build` publishes what was built" in done.stdout
    assert held(folder)[:3] == whole
    by_dbt = derived_tables(folder)
    versions = "select max(rubric_version) from rubric_items_effective"
    readers_have = ("sql", versions, "--format", "csv")
    assert gradelake(folder, *readers_have).stdout.split()[-1] == "1"
    live = gradelake(folder, *readers_have, "--live").stdout.split()[-1]
    published = gradelake(folder, "build").stdout
    assert published == "published what dbt built as release r3\n"
    assert gradelake(folder, *readers_have).stdout.split()[-1] == live == "2"
    assert gradelake(folder, "build").stdout == "nothing changed since r3\n"
    gradelake(folder, "build", "--full-refresh")
    assert derived_tables(folder) == by_dbt
    assert held(folder)[:3] == whole
    gradelake(folder, "lake", "verify")
