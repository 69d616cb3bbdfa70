"""What a mart promises stays: a changed column is a new version beside the old one."""

import shutil
from pathlib import Path

import pytest

from gradelake.sql.build import changes, plan
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.dbt_project import plain_dbt
from tests.dbt_project.test_plain_dbt import derived_tables
from tests.tools import contracts

CONFUSION = "  - name: confusion\n    "  # what its entry begins with
VERSIONS = """\
versions:
      - {v: 2}
      - v: 1
        columns:
          - include: all
            exclude: [n_pairs]
          - {name: n, data_type: bigint, description: Pairs that have both.}
"""
V1 = "select * rename (n_pairs as n) from {{ ref('confusion', v=2) }}\n"


def test_no_mart_breaks_what_it_promised_without_a_new_version():
    now, promised = contracts.current(), contracts.recorded()
    assert contracts.broken(promised, now) == [], "dbt_project/README.md: A changed column"
    assert contracts.RECORD.read_text() == contracts.written(now), "run `make contracts`"


def test_what_breaks_a_promise_is_named_and_what_is_new_does_not():
    promised = {"a v1": {"x": "bigint", "y": "varchar"}, "b v1": {"x": "date"}}
    now = {"a v1": {"y": "integer", "z": "date"}, "c v1": {"x": "date"}}
    assert contracts.broken(promised, now) == [
        "a v1 has no column x any more",
        "a v1: y is integer, and was varchar",
        "b v1 is gone",
    ]
    more = {"a v1": promised["a v1"] | {"z": "date"}, "a v2": {}, "b v1": promised["b v1"]}
    assert contracts.broken(promised, more) == []


@pytest.fixture
def models(tmp_path, monkeypatch) -> Path:
    """A copy of the models, which builds and dbt then read."""
    copy = shutil.copytree(changes.DBT_PROJECT, tmp_path / "dbt_project")
    monkeypatch.setattr(changes, "DBT_PROJECT", copy)
    monkeypatch.setattr(plain_dbt, "DBT_PROJECT", copy)
    monkeypatch.setattr(plan, "PACKAGED", copy / "plan.json")
    return copy


def rename_a_column_of_confusion(models: Path) -> Path:
    """`n` of `confusion` becomes `n_pairs`; the file that describes it."""
    file = models / "models/marts/agreement/confusion.sql"
    file.write_text(file.read_text().replace(" as n\n", " as n_pairs\n"))
    about = file.with_name("_agreement__models.yml")
    before, start, entries = about.read_text().partition(CONFUSION)
    entries = entries.replace("- name: n\n", "- name: n_pairs\n", 1)
    about.write_text(before + start + entries)
    return about


@pytest.mark.slow
def test_who_reads_the_first_version_of_a_mart_reads_it_beside_the_second(
    models, graded_demo, tmp_path
):
    folder = shutil.copytree(graded_demo, tmp_path / "lake")

    def rows(column: str, table: str, **release: str) -> list[tuple]:
        with Lake.reading(Project.find(folder), release.get("release"), live=False) as lake:
            asked = f"select * rename ({column} as n) from lake.marts.{table} order by all"
            return lake.rows(asked)

    before = rows("n", "confusion")
    about = rename_a_column_of_confusion(models)
    assert contracts.broken(contracts.recorded(), contracts.current()) == [
        "confusion v1 has no column n any more"
    ]
    one = f"{CONFUSION}versions: [{{v: 1}}]\n"
    about.write_text(about.read_text().replace(one, CONFUSION + VERSIONS))
    about.with_name("confusion_v1.sql").write_text(V1)
    now = contracts.current()
    assert contracts.broken(contracts.recorded(), now) == []
    assert [*now["confusion v2"]][-1] == "n_pairs"

    gradelake(folder, "build")
    assert rows("n_pairs", "confusion") == rows("n", "confusion_v1") == before != []
    assert rows("n", "confusion", release="r1") == before, "a release is as it was"
    described = "select column_name from columns where table_name = '{}' and position = 8"
    for table, column in (("confusion", "n_pairs"), ("confusion_v1", "n")):
        assert column in gradelake(folder, "sql", described.format(table)).stdout.split()
    old = gradelake(folder, "sql", "--release", "r1", "from confusion_v1", code=2)
    assert "confusion_v1" in old.stderr

    built = derived_tables(folder)
    done = plain_dbt.dbt(folder, "run", "--select", "confusion")
    assert done.returncode == 0, done.stdout
    assert derived_tables(folder) == built
