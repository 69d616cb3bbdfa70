"""`gradelake docs`: every table and column described, on one page; and the README's picture."""

import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from gradelake.sql.build import changes, dbt, docs
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.browser import Look, chromium
from tests.command_line import gradelake
from tests.sql.small_lake import publish

pytestmark = pytest.mark.slow

OF_NO_MODEL = {("raw", "schema_migrations")}  # what models do not read


def state(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file with its size and time."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file): (file.stat().st_size, file.stat().st_mtime_ns) for file in files}


@pytest.fixture(scope="module")
def folder(graded_demo, tmp_path_factory) -> Path:
    return shutil.copytree(graded_demo, tmp_path_factory.mktemp("docs") / "demo")


@pytest.fixture(scope="module")
def manifest(folder, tmp_path_factory):
    command, target = ["parse", "--no-write-json"], tmp_path_factory.mktemp("dbt")
    return dbt.run(Project.find(folder), command, target).writable_manifest()


@pytest.fixture(scope="module")
def written(folder, tmp_path_factory) -> SimpleNamespace:
    """The page of a release that lacks a mart, what the command said in a folder below the
    configuration's, and which files it changed."""
    copy = shutil.copytree(folder, tmp_path_factory.mktemp("unbuilt") / "demo")
    with Lake.writer(Project.find(copy)) as lake:
        lake.connection.execute("drop table lake.marts.judge_drift")
        publish(lake, "r2")
    before = state(copy)
    said = gradelake(copy / "runs", "docs")
    file = copy / "docs.html"
    changed = dict(before.items() ^ state(copy).items())
    return SimpleNamespace(file=file, stdout=said.stdout, stderr=said.stderr, changed=changed)


def test_the_page_tells_of_every_model_and_nothing_in_the_lake_is_touched(written, manifest):
    told = re.fullmatch(
        r"\.\./docs\.html: (\d+) models, ([\d,]+) columns of release r2, .*\n", written.stdout
    )
    assert told, written.stdout
    models = [each for each in manifest.nodes.values() if each.resource_type == "model"]
    assert int(told[1]) == len(models) > 80
    assert int(told[2].replace(",", "")) > 1000
    assert "not in this release yet: judge_drift; `gradelake build`" in written.stderr
    assert written.file.stat().st_size < 6_000_000
    assert written.changed.keys() == {str(written.file)}


# --- descriptions ---------------------------------------------------------------------------------


def test_every_column_of_the_lake_is_described(folder, manifest):
    by_name = {}
    for unique_id, node in (manifest.nodes | manifest.sources).items():
        if node.resource_type in ("model", "snapshot", "source"):
            assert node.description.strip(), unique_id
            name = node.identifier if node.resource_type == "source" else node.alias
            by_name[node.schema, name] = unique_id
    for exposure in manifest.exposures.values():
        assert exposure.description.strip(), exposure.name
    with Lake.published(Project.find(folder)) as lake:
        rows = lake.rows(
            "select schema_name, table_name, list(column_name) from duckdb_columns() "
            "where database_name = 'lake' and schema_name in "
            "('raw', 'intermediate', 'marts') group by all"
        )
    assert {(schema, table) for schema, table, _ in rows} - set(by_name) <= OF_NO_MODEL
    columns = {by_name[row[:2]]: row[2] for row in rows if row[:2] in by_name}
    plain = manifest.to_dict()
    silent = [
        (unique_id, column)
        for unique_id, names in columns.items()
        for column in names
        if not docs.meaning(plain, columns, unique_id, column)
    ]
    assert silent == []


@pytest.mark.fast
def test_a_column_means_what_it_means_where_it_comes_from():
    """`board` describes rank itself and passes on system, which `runs` describes; its own note
    comes from nowhere: `notes` has a column of that name, but `board` does not read it."""
    plain = {
        "nodes": {
            "board": {
                "columns": {"rank": {"description": "1 is best."}},
                "depends_on": {"nodes": ["scores", "runs"]},
            },
            "scores": {"columns": {}, "depends_on": {"nodes": []}},
        },
        "sources": {
            "runs": {"columns": {"system": {"description": "The system.\n"}, "rank": {}}},
            "notes": {"columns": {"note": {"description": "A note."}}},
        },
    }
    columns = {
        "board": ["rank", "system", "note"],
        "scores": ["system"],
        "runs": ["system", "rank"],
        "notes": ["note"],
    }
    meanings = [docs.meaning(plain, columns, "board", column) for column in columns["board"]]
    assert meanings == ["1 is best.", "The system.", ""]


def test_the_lake_itself_says_what_its_tables_and_columns_mean(folder, manifest):
    """`marts.tables` and `marts.columns` against the catalog and against dbt's manifest."""
    with Lake.published(Project.find(folder)) as lake:
        said = lake.rows("select * from lake.marts.columns")
        tables = lake.rows("select * from lake.marts.tables")
        there = lake.rows(
            "select schema_name, table_name, column_name, column_index, data_type "
            "from duckdb_columns() where database_name = 'lake' "
            "and schema_name in ('raw', 'marts', 'intermediate')"
        )
    assert len(set(said)) == len(said)
    public = {each for each in there if each[0] != "intermediate"}
    public = {each for each in public if each[0] == "marts" or each[:2] not in OF_NO_MODEL}
    assert {each[:5] for each in said if each[0] != "intermediate"} == public
    seeds = {
        node.name for node in manifest.nodes.values() if node.config.materialized == "seed_file"
    }
    assert {each[:5] for each in said if each[0] == "intermediate"} == {
        each for each in there if each[0] == "intermediate" and each[1] in seeds
    }
    kappa = manifest.nodes["model.gradelake.kappa.v1"]
    assert {column: text for _, table, column, *_, text in said if table == "kappa"} == {
        name: column.description.strip() for name, column in kappa.columns.items()
    }
    assert {each[:2] for each in tables} == {each[:2] for each in said}
    grades = manifest.sources["source.gradelake.raw.grades"].description.strip()
    assert ("raw", "grades", grades) in tables
    assert all(each[-1] for each in said + tables)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.fast
def test_without_a_lake_or_a_build_it_says_what_to_do_first(tmp_path):
    (tmp_path / "gradelake.toml").touch()
    done = gradelake(tmp_path, "docs", code=2)
    assert "no lake here yet" in done.stderr
    assert "gradelake ingest" in done.stderr
    with Lake.create(Project.find(tmp_path)):
        pass
    done = gradelake(tmp_path, "docs", code=2)
    assert "nothing is published yet\n  Run `gradelake build` first." in done.stderr
    assert not (tmp_path / "docs.html").exists()


@pytest.mark.parametrize(
    ("file", "words"),
    [("nowhere/docs.html", "there is no folder nowhere"), ("/proc/docs.html", "cannot be written")],
)
def test_a_file_that_cannot_be_written_is_told_before_dbt_runs(folder, file, words):
    assert words in gradelake(folder, "docs", "-o", file, code=2).stderr


def test_models_that_dbt_cannot_read_are_told_in_its_words(folder, tmp_path, monkeypatch):
    project = tmp_path / "dbt_project"
    shutil.copytree(changes.DBT_PROJECT, project, ignore=shutil.ignore_patterns("target"))
    (project / "models" / "broken.sql").write_text("select * from {{ ref('nothing_so_called') }}")
    monkeypatch.setattr(changes, "DBT_PROJECT", project)
    with pytest.raises(WorkFailed, match="nothing_so_called"):
        docs.write_docs(Project.find(folder), tmp_path / "docs.html")


# --- in a browser ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


def opened(browser, written, place: str = "") -> Look:
    """The page from its first sight, then at a place in it."""
    look = Look(browser, written.file, 1280, ready='h1:has-text("Gradelake\'s tables")')
    if place:
        look.page.goto(f"{written.file.as_uri()}#!/{place}")
    return look


def test_a_mart_is_shown_with_its_columns_and_the_page_asks_for_nothing(browser, written, manifest):
    look = opened(browser, written, "model/model.gradelake.kappa.v1")
    look.page.wait_for_selector("h1:has-text('kappa')")
    mart = manifest.nodes["model.gradelake.kappa.v1"]
    assert " ".join(mart.description.split()) in " ".join(look.text("body").split())
    table = look.page.locator("table:has(th:text-is('Column'))").first
    rows = [row.split() for row in table.locator("tr:has(td)").all_inner_texts()]
    shown = [words[:2] for words in rows if words]
    for name, column in mart.columns.items():
        assert [name, column.data_type.upper()] in shown
    table.locator("tr", has_text="is_sampled").first.click()
    whole = mart.columns["is_sampled"].description.strip()
    look.page.locator(f"text={whole}").last.wait_for(state="visible")
    assert look.said == []
    assert look.asked == []


def test_the_lineage_opens_and_shows_what_a_mart_is_made_of_and_who_reads_it(browser, written):
    look = opened(browser, written, "model/model.gradelake.kappa.v1")
    look.page.wait_for_selector("h1:has-text('kappa')")
    look.page.click("a[ng-click='onLauncherClick()']")
    shown = look.page.wait_for_function(
        "() => { const held = document.querySelector('.__________cytoscape_container')?._cyreg;"
        " const nodes = held?.cy.nodes(':visible').map(node => node.id()) ?? [];"
        " return nodes.length > 3 && nodes; }"
    ).json_value()
    assert {
        "model.gradelake.int_confusions",
        "model.gradelake.kappa.v1",
        "exposure.gradelake.report",
    } <= set(shown)
    assert not [name for name in shown if name.startswith(("unit_test.", "test."))]
    assert look.page.locator("text=Lineage Graph").first.is_visible()
    assert look.said == []
    assert look.asked == []


def test_it_could_not_ask_the_network_or_run_what_is_not_its_own_if_it_wanted_to(browser, written):
    look = opened(browser, written)
    assert not look.runs("eval('1 === 1')")
    assert not look.runs(
        "document.body.append(Object.assign(document.createElement('script'), "
        "{ textContent: 'window.broken = true' })) ?? window.broken"
    )
    assert len([line for line in look.said if "Content Security Policy" in line]) >= 2
    answer = "fetch('https://example.org').then(() => 'came', () => 'refused')"
    assert look.page.evaluate(answer) == "refused"
    assert any("Content Security Policy" in line for line in look.said)
    assert look.asked == []
