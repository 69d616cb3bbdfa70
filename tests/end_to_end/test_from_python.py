"""`gradelake.open`: the lake from Python, and what commands do, as functions."""

import inspect
import json
import shutil
import subprocess
import sys
from html import escape
from pathlib import Path
from typing import Any

import duckdb
import pytest

import gradelake
from tests.command_line import gradelake as run
from tests.projects import write

HEAVY = {"click", "dbt", "duckdb", "pandera", "polars", "ray", "rich"}


@pytest.fixture(scope="module")
def folder(graded_demo, tmp_path_factory) -> Path:
    return shutil.copytree(graded_demo, tmp_path_factory.mktemp("python") / "demo")


@pytest.fixture
def lake(folder):
    with gradelake.open(folder) as lake:
        yield lake


def printed(folder: Path, *words: str) -> dict:
    """What a command prints with --json."""
    return json.loads(run(folder, *words, "--json").stdout)


def without(found: dict, *names: str) -> dict:
    return {name: value for name, value in found.items() if name not in names}


def test_importing_it_imports_nothing_heavy():
    code = "import gradelake, sys; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "gradelake" in done.stdout.split()
    assert not HEAVY & set(done.stdout.split())


def test_rooms_and_what_commands_do_have_the_same_names(folder):
    code = (
        "from gradelake import ingest, sql, open as see; lake = see('.')\n"
        "import types, gradelake, gradelake.ingest.commands, gradelake.grading\n"
        "assert all(isinstance(getattr(gradelake, room), types.ModuleType)"
        " for room in ('ingest', 'grading', 'sql'))\n"
        "print(lake.ingest('demo')['written'], lake.sql('select 1').fetchall())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("{} [(1,)]\n", "")  # quiet, too


@pytest.mark.slow
def test_systems_are_listed_removed_and_renamed_as_by_the_command(folder, tmp_path):
    with gradelake.open(shutil.copytree(folder, tmp_path / "demo")) as lake:
        removed = lake.remove_systems("demo", "bm25_rm3", "lsa")
        assert removed["removed"] == ["bm25_rm3", "lsa"]
        assert lake.rename_system("demo", "bm25", "system-a")["renamed"] == "system-a"
        names = {one["system"] for one in lake.systems("demo")["systems"]}
        assert "system-a" in names
        assert not names & {"bm25", "bm25_rm3", "lsa"}
        with pytest.raises(gradelake.GradelakeError, match="has no system 'bm26'"):
            lake.remove_systems("demo", "bm26")


def test_a_folder_a_file_or_what_the_command_line_finds(folder, monkeypatch):
    monkeypatch.chdir(folder / "lake")
    monkeypatch.delenv("GRADELAKE_CONFIG", raising=False)
    for place in (folder, str(folder), folder / "gradelake.toml", None):
        with gradelake.open(place) as lake:
            assert lake.release == "r1"
    with pytest.raises(gradelake.GradelakeError, match="no such file"):
        gradelake.open(folder / "nowhere")


def test_a_query_gives_a_relation_and_takes_parameters(lake):
    board = lake.sql(
        "select system, score from leaderboard "
        "where label_set = $labels and measure = 'AP' and level = 2 order by rank, system",
        labels="assessor:human",
    )
    assert isinstance(board, duckdb.DuckDBPyRelation)
    assert board.pl().rows() == board.fetchall() == list(board.df().itertuples(index=False))
    assert board.arrow().read_all().to_pylist()[0]["system"] == "bm25_rm3"
    assert board.filter("score > 0.47").fetchall() == board.fetchall()[:2]


def test_a_question_has_the_commands_defaults_and_answer(folder, lake):
    shown = json.loads(run(folder, "sql", "--format", "json", "@spurious_items").stdout)
    asked = lake.ask("spurious_items")
    assert asked.fetchall() == [tuple(row.values()) for row in shown]
    three = lake.ask("spurious_items", tau=3, grader=None)
    assert len(three) > len(asked) > 0
    assert asked.columns == three.columns == list(shown[0])


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("leaderbord", {}),
        ("leaderboard", {"mesure": "AP"}),
        ("leaderboard", {"measure": "Ap"}),
        ("spurious_items", {"tau": "many"}),
    ],
)
def test_a_question_has_the_commands_errors(folder, lake, name, given):
    words = [f"@{name}", *(word for key, value in given.items() for word in (f"--{key}", value))]
    told = run(folder, "sql", *words, code=2).stderr
    with pytest.raises(gradelake.GradelakeError) as error:
        lake.ask(name, **given)
    # the command also knows options of its own, such as --format
    assert told.splitlines()[0] == f"error: {error.value}".splitlines()[0]


def test_it_shows_its_tables(folder, lake):
    tables = dict(lake.tables().fetchall())
    assert {"leaderboard", "raw.passages", "intermediate.label_policies"} <= set(tables)
    for name, description in tables.items():
        assert description
        lake.sql(f"from {name} limit 0")
    html = lake._repr_html_()
    assert f"<code>{folder}/gradelake.toml</code>, release r1" in html
    assert f"<td>{escape(tables['leaderboard'])}</td>" in html
    assert "<td>raw.passages</td>" not in html  # the marts are enough at a glance


def test_without_a_release_it_opens_and_says_so(folder, tmp_path):
    run(tmp_path, "init", ".")
    with gradelake.open(tmp_path) as lake:
        assert "nothing is published yet" in repr(lake)
        assert "nothing is published yet" in lake._repr_html_()
        with pytest.raises(gradelake.GradelakeError, match="nothing is published yet"):
            lake.sql("select 1")
    with (
        gradelake.open(folder, release="r77") as lake,
        pytest.raises(gradelake.GradelakeError, match="r77"),
    ):
        lake.sql("select 1")


@pytest.mark.slow
def test_functions_return_what_the_commands_print(folder, lake):
    same = without(lake.ingest("demo"), "seconds")
    assert same == without(printed(folder, "ingest", "demo"), "seconds")
    nothing_missing = lake.grade("demo", "lexical")
    assert (nothing_missing["missing"], nothing_missing["pairs"]) == (0, 0)
    assert lake.systems("demo")["systems"] == printed(folder, "system", "list", "demo")["systems"]
    (report,) = lake.report("demo")["reports"]
    assert report["bytes"] == (folder / "reports" / "demo.html").stat().st_size
    assert lake.plan("demo", "lexical_direct") == printed(
        folder, "plan", "demo", "--grader", "lexical_direct"
    )
    asked = {"system": "bm25", "baseline": "bm25_rm3", "measures": ["AP", "nDCG@10"]}
    judged = lake.gate("demo", label_set="assessor:human", **asked)
    code = {"passed": 0, "fell": 4, "cannot tell": 5}[judged["verdict"]]
    words = "--system bm25 --baseline bm25_rm3 --measure AP --measure nDCG@10"
    gate = ("gate", "demo", "--label-set", "assessor:human", *words.split(), "--json")
    assert judged == json.loads(run(folder, *gate, code=code).stdout)
    compared = lake.compare("bm25", "lsa", measure="AP")
    assert compared == printed(folder, "compare", "demo", "bm25", "lsa", "--measure", "AP")
    with (folder / "gradelake.toml").open("a") as config:
        config.write(
            '[sentinels.daily]\ncollection = "demo"\ngraders = ["lexical_direct"]\n'
            "pairs = 20\nevery_days = 0\n"
        )
    with gradelake.open(folder) as watching:
        first = watching.sentinel()["rounds"][0]
    assert (first["round"], first["pairs"]) == (1, 20)
    with pytest.raises(gradelake.GradelakeError, match="there is no"):
        lake.ingest("demos")
    with pytest.raises(gradelake.GradelakeError, match="lexical"):
        lake.grade("demo", "lexica")
    with pytest.raises(gradelake.GradelakeError, match="--output"):
        lake.report("demo", "demo2", output="x.html")


CALLS: dict[str, dict[str, Any]] = {
    "stats ranks": {"measure": "AP", "label_set": "assessor:human", "replicates": 50},
    "stats correlation": {
        **{"measure": "AP", "label_set": ["judge:lexical_direct", "lexical/v0/best"]},
        **{"replicates": 50, "reference": "assessor:human"},
    },
    "stats significance": {"measure": "AP", "label_set": "assessor:human", "replicates": 50},
    "stats alpha": {"per_query": True, "replicates": 50},
    "stats confusion": {"label_set": "judge:lexical_direct", "picture": "x.svg", "width": 4},
    "stats leaderboard": {"board": [("assessor:human", "AP", 2)], "picture": "x.png"},
    "export scores": {"label_set": "assessor:human", "measure": ["AP", "RR"], "output": "x.txt"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_any_command_of_a_group_is_a_function_that_returns_what_it_prints(
    folder, lake, monkeypatch, name
):
    monkeypatch.chdir(folder)
    group, command = name.split()
    words = []
    for option, value in CALLS[name].items():
        several = value if isinstance(value, list) else [value]
        for each in several:
            of_it = [] if each is True else each if isinstance(each, tuple) else [each]
            words += [f"--{option.replace('_', '-')}", *map(str, of_it)]
    found = getattr(getattr(lake, group), command)("demo", **CALLS[name])
    assert found == printed(folder, *name.split(), "demo", *words)


@pytest.mark.slow
def test_what_commands_return_has_its_rows_as_relations(folder, lake):
    asked = {"measure": "AP", "label_set": "judge:lexical_direct", "replicates": 50}
    ranks = lake.stats.ranks("demo", **asked)
    assert ranks.rows().pl().to_dicts() == ranks["systems"]
    found = lake.stats.correlation("demo", **asked)
    statistics = found.rows().project("label_set, statistic, value").fetchall()
    assert statistics == [
        ("judge:lexical_direct", each["statistic"], each["value"]) for each in found["correlations"]
    ]
    pairs = lake.stats.significance("demo", **asked)
    with pytest.raises(gradelake.GradelakeError, match="It has pairs, counts"):
        pairs.rows()
    assert len(pairs.rows("pairs")) == pairs["n_pairs"]
    qrels = lake.export.qrels("demo", label_set="assessor:human")
    words = ("export", "qrels", "demo", "--label-set", "assessor:human")
    assert qrels["text"] == run(folder, *words).stdout
    board = lake.stats.leaderboard("demo", label_set="assessor:human", format="csv")
    assert board["text"].count("\n") == 1 + len(board.rows())


def test_functions_of_commands_have_their_help_and_errors(lake):
    for group in (lake.stats, lake.export, lake.import_):
        assert dir(group)
        for name in dir(group):
            function = getattr(group, name)
            assert callable(function)
            assert (function.__doc__ or "").strip()
    assert "the p-value of a permutation test" in lake.stats.correlation.__doc__
    assert "label_set: " in lake.stats.correlation.__doc__
    signature = inspect.signature(lake.stats.ranks)
    assert next(iter(signature.parameters)) == "collection"
    assert signature.parameters["replicates"].default == 10_000
    with pytest.raises(AttributeError, match="gradelake stats rank"):
        lake.stats.rank("demo")
    with pytest.raises(TypeError, match="measure"):
        lake.stats.ranks("demo", label_set="assessor:human")
    with pytest.raises(gradelake.GradelakeError, match=r"'--alpha': 2\.0 is not in"):
        lake.stats.ranks("demo", label_set="assessor:human", measure="AP", alpha=2)
    with pytest.raises(TypeError, match="mesure"):
        lake.stats.ranks("demo", measure="AP", label_set="assessor:human", mesure="AP")
    with pytest.raises(gradelake.GradelakeError, match="Did you mean 'assessor:human'"):
        lake.stats.ranks("demo", measure="AP", label_set="assessor:humans")


@pytest.mark.slow
def test_frames_are_imported_as_files_are(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "demo")
    bank = [{"query_id": "bird-navigation", "kind": "question", "text": "What do birds see?"}]
    with gradelake.open(copy) as lake:
        labels = lake.sql(
            "select query_id, passage_id, relevance as label from raw.judgments "
            "order by all limit 2"
        ).pl()
        labels.write_csv(tmp_path / "labels.csv")
        of_frame = lake.import_.labels("demo", labels, judge="frame")
        of_file = lake.import_.labels("demo", tmp_path / "labels.csv", judge="file")
        own = ("judge", "snapshot", "file")
        assert without(of_frame, *own) == without(of_file, *own)
        assert "file" not in of_frame
        assert lake.import_.bank("demo", bank, name="mine")["written"] == 1
    with gradelake.open(copy) as lake:
        run(copy, "build")
        grades = "select query_id, passage_id, label from relevance_labels where label_set = $name"
        rows = [
            sorted(lake.sql(grades, name=f"judge:{name}").fetchall()) for name in ("frame", "file")
        ]
        assert rows[0] == rows[1]
        assert len(rows[0]) == 2
        runs = lake.sql("select arguments from raw.pipeline_runs order by started_at").fetchall()
        assert any('"import", "labels", "demo", "/' in typed for (typed,) in runs)


def test_refused_input_is_in_the_object_and_nobody_exits(folder, tmp_path, capfd):
    copy = shutil.copytree(
        folder, tmp_path / "demo", ignore=shutil.ignore_patterns("lake", "reports")
    )
    (copy / "judgments.qrels").write_text("what is this\n")
    with gradelake.open(copy) as lake:
        done = lake.ingest("demo")
    assert [each["file"] for each in done["rejected"]] == ["judgments.qrels"]
    assert done["written"]["queries"] == 8
    assert "Traceback" not in "".join(capfd.readouterr())


@pytest.mark.slow
def test_after_a_build_the_new_release_is_read(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "demo")
    write(copy / "seeds/evaluation_citations.csv", ["citations,missing", "every,left_out"])
    with gradelake.open(copy) as lake, gradelake.open(copy, release="r1") as other:
        before = lake.sql("select count(*) from leaderboard")
        made = lake.build(name="after")
        assert lake.release == "after"
        assert (made["changed"], made["release"]) == (True, "after")
        assert {"snapshot", "seconds", "models", "data_tests", "seconds_by_node"} < set(made)
        assert lake.build() == printed(copy, "build") == {"changed": False, "release": "after"}
        assert other.release == "r1"
        assert before.fetchall() == lake.sql("select count(*) from leaderboard").fetchall()
        arguments = lake.sql("select arguments from raw.pipeline_runs where command = 'build'")
        assert '["build", "--name", "after"]' in [row[0] for row in arguments.fetchall()]
