"""dbt's own tests of the models: every formula on rows that can be checked by hand."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from gradelake.sql.build.changes import DBT_PROJECT
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.dbt_project.plain_dbt import dbt

MODELS = DBT_PROJECT / "models"
OF_THE_WHOLE_LAKE = {"columns", "graders", "measures", "nights", "tables"}


@pytest.fixture(scope="module")
def lake(tmp_path_factory, graded_demo) -> Path:
    return shutil.copytree(graded_demo, tmp_path_factory.mktemp("dbt") / "lake")


@pytest.mark.models
@pytest.mark.slow
def test_unit_tests_and_data_tests_pass(lake):
    """A build leaves some data tests out; here all run."""
    done = dbt(lake, "test", "--selector", "everything")
    assert done.returncode == 0, done.stdout[-6000:]
    results = json.loads((lake / "dbt" / "run_results.json").read_text())["results"]
    results = [each for each in results if not each["unique_id"].startswith("operation.")]
    assert len(results) >= 100
    assert {result["status"] for result in results} == {"pass"}


def test_every_model_and_column_is_described_and_every_mart_is_tested():
    described = {
        model["name"]: model
        for file in MODELS.rglob("*.yml")
        for model in yaml.safe_load(file.read_text()).get("models", ())
    }
    files = {re.sub(r"_v[0-9]+$", "", file.stem): file for file in MODELS.rglob("*.sql")}
    assert described.keys() == files.keys()
    for name, model in described.items():
        assert model["description"].strip(), name
        # a comma in a text without quotes ends it, and begins a key without a value
        assert not [each for each in model.get("columns", ()) if None in each.values()], name
        if MODELS / "marts" in files[name].parents:
            first, *_ = columns = model["columns"]
            assert first["name"] == "collection" or name in OF_THE_WHOLE_LAKE
            for column in columns:
                assert column["description"].strip(), f"{name}.{column['name']}"
            assert model["data_tests"], name
    settings = yaml.safe_load((DBT_PROJECT / "dbt_project.yml").read_text())
    assert settings["models"]["gradelake"]["marts"]["+contract"] == {"enforced": True}


def written(node: yaml.Node, seen: set[int]) -> Iterator[yaml.MappingNode]:
    """What a file describes, once, where it is written: what an alias repeats is not."""
    if id(node) in seen or isinstance(node, yaml.ScalarNode):
        return
    seen.add(id(node))
    parts = node.value
    if isinstance(node, yaml.MappingNode):
        if {"name", "description"} <= {key.value for key, _ in node.value}:
            yield node
        parts = [value for _, value in node.value]
    for part in parts:
        yield from written(part, seen)


def test_what_a_column_means_is_written_once():
    own: list[tuple[str, str]] = []
    taken = set[str]()
    for file in DBT_PROJECT.rglob("*.yml"):
        described = [*written(yaml.compose(file.read_text()), set())]
        entries = [yaml.serialize(node) for node in described]
        twice = {entry for entry in entries if entries.count(entry) > 1}
        assert not twice, f"{file.name}: an anchor writes once what several tables have"
        for node in described:
            about = {key.value: value.value for key, value in node.value}
            if doc := re.fullmatch(r"{{ doc\('(\w+)'\) }}", about["description"]):
                taken.add(doc[1])
            else:
                own.append((about["name"], " ".join(about["description"].split())))
    assert {each for each in own if own.count(each) > 1} == set(), "a block of models/columns"
    blocks = re.compile(r"{% docs (\w+) %}\n(.+?)\n{% enddocs %}", re.DOTALL)
    words = [found for file in MODELS.rglob("*.md") for found in blocks.findall(file.read_text())]
    texts = [text for _, text in words]
    assert {text for text in texts if texts.count(text) > 1} == set()
    assert {name for name, _ in words} - {"__overview__"} == taken
    assert {(name, text) for name, text in words} & set(own) == set(), "its block says so"


def test_wrong_rows_of_every_seed_are_named_and_nothing_lands(lake):
    wrong = [
        ("evaluation_grid", "nDGC@10", "there is no such measure; there are: nDCG[@k]"),
        ("evaluation_grid", "RBP", "RBP(p=0.8)[@k]"),
        ("evaluation_levels", "0", "a level is 1 or more"),
        ("click_bins", "-1,0,2", "a ratio of 0 or more"),
        ("model_families", "mine,(", "a family, listed once, and a regular expression"),
        ("evaluation_completeness", "0.5", "one row is needed, a share from 0 to 1"),
        ("evaluation_battles", "3,1,x", "one row is needed, with a seed"),
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
