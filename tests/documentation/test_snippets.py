"""SQL, Python and settings that pages show: they run, and the settings are accepted."""

import os
import shutil
import subprocess
import sys

import pytest

from gradelake.grading.graders.grader_reader import read_grader
from gradelake.ingest.collections.collection import Collection
from gradelake.sql.common.project import Project
from gradelake.sql.lake import extensions
from tests.command_line import gradelake
from tests.documentation.pages import Block, blocks, pages
from tests.grading.tiny_models import lora_adapter

pytestmark = pytest.mark.slow

RUN_SQL = """
import sys, duckdb
connection = duckdb.connect()
for statement in duckdb.extract_statements(sys.stdin.read()):
    print(connection.execute(statement).fetchall())
"""


def shown(language: str) -> list[Block]:
    found = [b for page in pages() for b in blocks(page) if b.language == language and b.is_for_us]
    assert found
    return found


@pytest.fixture(scope="module")
def lake(graded_demo, tmp_path_factory):
    """The demo's lake with two releases."""
    folder = shutil.copytree(graded_demo, tmp_path_factory.mktemp("snippets") / "demo")
    gradelake(folder, "build", "--name", "r2")
    return folder


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> dict[str, str]:
    """The environment of somebody who has DuckDB and its two extensions, as `install` leaves it."""
    import duckdb

    home = tmp_path_factory.mktemp("home")
    connection = duckdb.connect(config={"extension_directory": str(home / ".duckdb/extensions")})
    for name in ("ducklake", "sqlite_scanner"):
        connection.execute(f"install '{extensions.extension_file(name)}'")
    return os.environ | {"HOME": str(home)}


def run(words: list[str], text: str, environment: dict[str, str], folder) -> str:
    """What a program prints that reads a block, with the paths of a lake that is there."""
    text = text.replace("/path/to/gradelake.toml", f"{folder}/gradelake.toml")
    text = text.replace("/path/to/lake", f"{folder}/lake")
    done = subprocess.run(
        [sys.executable, *words],
        input=text,
        env=environment,
        cwd=folder.parent,
        text=True,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("block", shown("sql"), ids=lambda block: block.place)
def test_statements_for_any_duckdb_run(block, lake, plain):
    printed = run(["-c", RUN_SQL], block.text, plain, lake)
    if "select" in block.text and "!=" not in block.text:  # the releases do not differ
        assert "demo" in printed


@pytest.mark.parametrize("block", shown("python"), ids=lambda block: block.place)
def test_programs_run_and_print_what_is_shown_below_them(block, lake, plain):
    below = {b.line: b for b in blocks(block.page)}
    after = below.get(min((line for line in below if line > block.line), default=0))
    printed = run(["-"], block.text, plain, lake)
    if after and after.language == "text":
        assert printed.strip() == after.text.strip()


@pytest.mark.fast
@pytest.mark.parametrize("block", shown("toml"), ids=lambda block: block.place)
def test_settings_that_are_shown_are_accepted(block, tmp_path):
    """Collections with all their keys; graders with their engine, prompt and every setting."""
    (tmp_path / "gradelake.toml").write_text(block.text, encoding="utf-8")
    (tmp_path / "engines").mkdir()
    (engine,) = (b.text for b in blocks("grading/engines/README.md") if b.language == "python")
    (tmp_path / "engines" / "length.py").write_text(engine, encoding="utf-8")
    few = tmp_path / "few.jsonl"
    few.write_text('{"query": "q", "passage": "p", "label": 1}\n', encoding="utf-8")
    project = Project.find(tmp_path)
    for name, settings in project.graders.items():
        if settings.get("model"):
            settings["revision"] = "main"  # no hub is asked for it
        if adapter := settings.get("lora"):
            lora_adapter(tmp_path / adapter, base_model_name_or_path=settings["model"])
        if settings.pop("label_rubrics", None):  # looked up in a lake
            settings["prompt"] = "thomas"
        read_grader(project, name)
    for name, settings in project.collections.items():
        settings.setdefault("queries", "topics.tsv")
        Collection.named(project, name)
