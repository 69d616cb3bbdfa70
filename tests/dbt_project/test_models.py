"""dbt's own tests of the models: every formula on rows that can be checked by hand."""

import json
import shutil
from pathlib import Path

import pytest

from gradelake.sql.build.changes import DBT_PROJECT
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.dbt_project.plain_dbt import dbt

OF_THE_WHOLE_LAKE = {"columns", "nights", "tables"}


@pytest.fixture(scope="module")
def lake(tmp_path_factory, graded_demo) -> Path:
    folder = tmp_path_factory.mktemp("dbt") / "lake"
    shutil.copytree(graded_demo, folder)
    return folder


@pytest.mark.models
@pytest.mark.slow
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


def test_wrong_rows_of_every_seed_are_named_and_nothing_lands(lake):
    wrong = [
        ("evaluation_grid", "nDGC@10", "there is no such measure; there are: nDCG[@k]"),
        ("evaluation_grid", "RBP", "RBP(p=0.8)[@k]"),
        ("evaluation_levels", "0", "a level is 1 or more"),
        ("evaluation_completeness", "0.5", "one row is needed, a share from 0 to 1"),
    ]
    own = lake / "seeds"
    own.mkdir(exist_ok=True)
    for seed, row, _ in wrong:
        file = own / f"{seed}.csv"
        packaged = (DBT_PROJECT / "seeds" / file.name).read_text()
        file.write_text((file.read_text() if file.exists() else packaged) + row + "\n")
    with Lake.live(Project.find(lake)) as live:
        before = live.newest_snapshot()
    named = gradelake(lake, "build", code=2).stderr
    shutil.rmtree(own)
    for seed, row, problem in wrong:
        (line,) = (
            line for line in named.splitlines() if f"{seed}.csv: " in line and f"{row}: " in line
        )
        assert problem in line
    with Lake.live(Project.find(lake)) as live:
        assert live.newest_snapshot() == before
