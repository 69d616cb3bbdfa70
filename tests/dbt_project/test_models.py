"""dbt's own tests of the models: every formula on rows that can be checked by hand."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gradelake.sql.build.build import DBT_PROJECT

OF_THE_WHOLE_LAKE = {"columns", "nights", "tables"}
DBT = [sys.executable, "-c", "from dbt.cli.main import cli; cli()"]


def dbt(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """The dbt command as a developer of models runs it, on a lake of their own."""
    target = folder / "dbt"
    return subprocess.run(
        [
            *DBT,
            *arguments,
            "--project-dir",
            str(DBT_PROJECT),
            "--profiles-dir",
            str(DBT_PROJECT),
            "--target-path",
            str(target),
        ],
        env=os.environ
        | {"GRADELAKE_CONFIG": str(folder / "gradelake.toml"), "DBT_LOG_PATH": str(target)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def lake(tmp_path_factory, graded_demo) -> Path:
    folder = tmp_path_factory.mktemp("dbt") / "lake"
    shutil.copytree(graded_demo, folder)
    return folder


def test_unit_tests_and_data_tests_pass(lake):
    """A build leaves some data tests out; here all run."""
    done = dbt(lake, "test")
    assert done.returncode == 0, done.stdout[-6000:]
    results = json.loads((lake / "dbt" / "run_results.json").read_text())["results"]
    results = [each for each in results if not each["unique_id"].startswith("operation.")]
    assert len(results) >= 100
    assert {result["status"] for result in results} == {"pass"}


def test_every_model_and_column_is_described_and_every_mart_is_tested(lake):
    done = dbt(lake, "parse")
    assert done.returncode == 0, done.stdout
    manifest = json.loads((lake / "dbt" / "manifest.json").read_text())
    models = [node for node in manifest["nodes"].values() if node["resource_type"] == "model"]
    assert len(models) >= 19
    undescribed = [m["unique_id"] for m in models if not m["description"].strip()]
    assert not undescribed
    marts = [m for m in models if m["config"]["schema"] == "marts"]
    for mart in marts:
        assert mart["contract"]["enforced"], mart["name"]
        assert next(iter(mart["columns"])) == "collection" or mart["name"] in OF_THE_WHOLE_LAKE
        for name, column in mart["columns"].items():
            assert column["description"].strip(), f"{mart['name']}.{name}"
    tested = {
        unique_id
        for node in manifest["nodes"].values()
        if node["resource_type"] == "test"
        for unique_id in node["depends_on"]["nodes"]
    }
    assert {mart["unique_id"] for mart in marts} <= tested


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "row", "problem"),
    [
        ("evaluation_grid.csv", "nDGC@10", "there is no such measure; there are: nDCG[@k]"),
        ("evaluation_grid.csv", "RBP", "RBP(p=0.8)[@k]"),
        ("evaluation_levels.csv", "0", "a level is 1 or more"),
    ],
)
def test_a_wrong_row_in_a_seed_fails_the_build_and_names_it(lake, tmp_path, seed, row, problem):
    project = tmp_path / "dbt_project"
    shutil.copytree(DBT_PROJECT, project)
    with (project / "seeds" / seed).open("a") as file:
        file.write(row + "\n")
    target = tmp_path / "target"
    done = subprocess.run(
        [
            *DBT,
            "build",
            "--select",
            "evaluation_grid",
            "evaluation_levels",
            "evaluation_grid_is_valid",
            "--store-failures",
            "--project-dir",
            str(project),
            "--profiles-dir",
            str(project),
            "--target-path",
            str(target),
        ],
        env=os.environ
        | {"GRADELAKE_CONFIG": str(lake / "gradelake.toml"), "DBT_LOG_PATH": str(target)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1
    from gradelake.sql.common.project import Project
    from gradelake.sql.lake.lake import Lake

    with Lake.live(Project.find(lake)) as live:
        tables = live.rows(
            "select schema_name from duckdb_tables() where table_name = 'evaluation_grid_is_valid'"
        )
        rows = live.rows(f"select * from lake.{tables[0][0]}.evaluation_grid_is_valid")
    assert [(file, bad) for file, bad, _ in rows] == [(seed, row.split(",")[0])]
    assert problem in rows[0][2]
