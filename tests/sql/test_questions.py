"""Questions of the book as people meet them: levels, what is not built yet, names that are not."""

import csv
import io
import re
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import gradelake as package
from gradelake.open_lake import OpenLake
from gradelake.sql.ask.book import asked, declared, entries, known
from gradelake.sql.ask.not_in_release import not_built_yet
from gradelake.sql.build.seeds import PACKAGED
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.measures import measure_hint
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import published_file, release_file
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.transaction import NO_DATA
from gradelake.sql.operations.doctor import examine
from gradelake.sql.releases import publishing
from tests.command_line import gradelake, json_of
from tests.serve.server import Server
from tests.sql.small_lake import graders, publish, small_lake


def rows(folder: Path, *words: str) -> list[dict[str, str]]:
    done = gradelake(folder, "sql", *words, "--format", "csv")
    return list(csv.DictReader(io.StringIO(done.stdout)))


@pytest.fixture(scope="module")
def later_folder(demo, tmp_path_factory) -> Path:
    """The demo with the labels of another judge, imported after its release."""
    folder = shutil.copytree(demo, tmp_path_factory.mktemp("questions") / "demo")
    gradelake(folder, "import", "labels", "demo", "labels/overlap.qrels", "--judge", "Sun")
    return folder


@pytest.fixture(scope="module")
def graded_lake(graded_demo) -> Iterator[Lake]:
    with Lake.published(Project.find(graded_demo)) as lake:
        yield lake


# --- levels --------------------------------------------------------------------------------------


def test_a_board_is_at_the_collections_level_unless_another_is_asked_for(demo):
    query = (
        "select system, score from leaderboard where label_set = 'judge:overlap' "
        "and measure = 'AP' and level = {} order by rank, system"
    )
    question = ("@leaderboard", "--label_set", "judge:overlap", "--measure", "AP")
    for level, *words in ((2,), (2, "--level", "usual"), (3, "--level", "3")):
        board = rows(demo, *question, *words)
        assert {row["level"] for row in board} == {str(level)}
        expected = [tuple(row.values()) for row in rows(demo, query.format(level))]
        assert [(row["system"], row["score"]) for row in board] == expected


def test_questions_with_a_level_ask_for_that_of_the_report():
    levels = {e.parameters["level"][0] for e in entries().values() if "level" in e.parameters}
    assert levels == {"usual"}


def test_correlations_are_of_one_measure_unless_all_are_asked_for(demo):
    def measures(*words: str) -> set[tuple[str, str]]:
        found = rows(demo, "@correlation", "--label_set", "judge:overlap", *words)
        return {(row["measure"], row["label_set"]) for row in found}

    assert measures() == {("nDCG@10", "judge:overlap")}
    assert measures("--measure", "AP") == {("AP", "judge:overlap")}
    assert len(measures("--measure", "any")) > 2
    said = gradelake(demo, "sql", "@correlation", "--help").stdout
    assert re.search(r"--measure +nDCG@10 .* or any", said)


# --- names ---------------------------------------------------------------------------------------


def test_a_measure_that_is_not_there_is_mistyped_or_not_computed(graded_lake):
    for measure, hint in {
        "ndcg@10": r"Did you mean 'nDCG@10'\?",
        "ap": r"Did you mean 'AP'\?",
        "nDCG@1O": r"Did you mean 'nDCG@10'\?",
        "ndcg@5": r"nDCG@5 is not computed\. Add the line nDCG@5 .*_grid\.csv .*: measure",
        "quality": r"There are: nDCG\[@k\], AP\[@k\], .*SetF, .*Judged@k\.",
    }.items():
        with pytest.raises(BadInput) as error:
            asked(graded_lake, "leaderboard", {"measure": measure})
        assert re.fullmatch(hint, error.value.hint), measure


def test_an_empty_answer_of_the_book_says_what_leaves_nothing(graded_demo, demo):
    told = gradelake(graded_demo, "sql", "@kappa", "--label-set", "assessor:human").stderr
    (n_rows,) = re.fullmatch(
        r"without --label-set assessor:human there would be (\d+) rows\n", told
    ).groups()
    assert len(rows(graded_demo, "@kappa")) == int(n_rows)
    told = gradelake(demo, "sql", "@failed_grades").stderr
    assert told == (
        "nothing in this lake answers it yet, whatever is asked for\n"
        "it has no rubric: `gradelake import bank` or `gradelake generate`, "
        "then `gradelake build`\n"
    )
    both = ("@kappa", "--label-set", "assessor:human", "--kind", "boxed")
    told = gradelake(graded_demo, "sql", *both).stderr
    assert "without --label-set assessor:human there would be" in told
    assert "--kind" not in told


LACKS = re.compile(
    r"(release r1|what is read) has no column \w+\n  What is read may have been built before there "
    r"was such a one: `gradelake build` makes a release that has it, .*"
)


@pytest.fixture(scope="module")
def old_lake(graded_demo, tmp_path_factory) -> Iterator[OpenLake]:
    """The graded demo, of whose release each mart lacks a column, as if an older version had built
    it."""
    folder = shutil.copytree(graded_demo, tmp_path_factory.mktemp("old") / "demo")
    project = Project.find(folder)
    with Lake.published(project) as lake:
        columns = lake.rows(
            "select table_name, list(column_name order by column_index) from duckdb_columns() "
            # `failed_grades` looks into it, and a release is of one version
            "where database_name = 'lake' and schema_name = 'marts' "
            "and table_name != 'wanted_items' group by table_name"
        )
    file = release_file(project, "r1")
    with closing(sqlite3.connect(file)) as catalog, catalog:
        for mart, names in columns:
            gone = names[len(names) // 2]
            fewer = "select * exclude (" + gone + ") from (' || rtrim(sql, '; ') || ')"
            catalog.execute(
                f"update ducklake_view set sql = '{fewer}', column_aliases = '' "
                "where view_name = ? and end_snapshot is null",
                [mart],
            )
            catalog.execute(
                "delete from ducklake_column where column_name = ? and table_id = (select table_id "
                "from ducklake_table where table_name = ? and end_snapshot is null)",
                [gone, mart],
            )
    shutil.copyfile(file, published_file(project))
    with package.open(folder) as lake:
        yield lake


@pytest.mark.slow
def test_a_release_of_an_older_version_answers_or_says_which_column_it_lacks(old_lake):
    lacking = []
    for name in entries():
        try:
            old_lake.ask(name).fetchall()
        except WorkFailed as error:
            lacking.append(str(error))
    assert len(lacking) > 20
    assert [each for each in lacking if not LACKS.fullmatch(each)] == []
    asked = {"system": "bm25", "baseline": "fusion", "label_set": "judge:lexical_direct"}
    with pytest.raises(WorkFailed, match="has no column"):
        old_lake.report("demo")
    with pytest.raises(WorkFailed, match="has no column"):
        old_lake.gate("demo", measures="AP", **asked)
    folder, of = old_lake.project.folder, ("demo", "--measure", "AP")
    for words in (
        ("sql", "@leaderboard"),
        ("report",),
        ("stats", "significance", *of, "--label-set", "judge:lexical_direct"),
        ("stats", "ranks", *of, "--label-set", "judge:lexical_direct", "--picture", "board.png"),
        ("stats", "leaderboard", *of, "--label-set", "judge:lexical_direct"),
        ("release", "diff", "r1", "r1"),
    ):
        told = gradelake(folder, *words, code=1).stderr
        assert LACKS.search(" ".join(told.split()).replace(" What", "\n  What")), words
    with Server(folder) as server:
        reader = server.browser("rita", "reader")
        for page in ("/c/demo/", "/c/demo/ask/leaderboard"):
            while (answer := reader.get(page)).status_code == 202:  # being made
                time.sleep(0.2)
            assert answer.status_code == 503, page
            assert "has no column" in answer.text
            assert "makes a release that has it" in answer.text


def test_a_build_gives_readers_a_release_again_that_was_emptied(demo, tmp_path):
    folder = shutil.copytree(demo, tmp_path / "demo")
    file = published_file(Project.find(folder))
    file.write_bytes(b"")
    assert gradelake(folder, "build").stdout.startswith("nothing changed since r1")
    assert rows(folder, "select 1 as one") == [{"one": "1"}]
    for each in (file, release_file(Project.find(folder), "r1")):
        each.write_bytes(b"")
    told = gradelake(folder, "build", code=1).stderr
    assert "r1.sqlite: this is not a release's catalog" in " ".join(told.split())


def test_a_measure_of_other_label_sets_is_told_with_them():
    boards = [("AP", "assessor:nist"), ("StrictAll", "assigns/v0/nuggets")]
    hint = measure_hint("strictall", {"AP"}, lambda query: boards)
    assert hint == "It belongs to assigns/v0/nuggets."


@pytest.mark.slow
def test_no_question_answers_a_value_that_names_nothing_without_rows(graded_lake):
    questions = {each: name for name, entry in entries().items() for each in entry.parameters}
    for parameter, question in questions.items():
        with pytest.raises(BadInput, match=f"--{parameter} '98765': there is none"):
            asked(graded_lake, question, {parameter: "98765"})
        for name in sorted(known(graded_lake, parameter))[:1]:
            asked(graded_lake, question, {parameter: name})


def test_values_that_are_words_are_named_and_are_those_of_the_marts(graded_demo, graded_lake):
    wrong = gradelake(graded_demo, "sql", "@kappa", "--kind", "nonsense", code=2).stderr
    assert "Known: binary, boxed, collapsed, graded, linear, quadratic." in wrong
    for parameter, mart in (
        ("kind", "kappa"),
        ("property", "label_bias"),
        ("status", "missing_grades"),
    ):
        there = set(graded_lake.column(f"select distinct {parameter} from lake.marts.{mart}"))
        assert there <= known(graded_lake, parameter)
        for entry in entries().values():
            if parameter in entry.parameters:
                words = set(re.findall(r"\w+", entry.parameters[parameter][1])) - {"or"}
                assert words == known(graded_lake, parameter)


def test_the_beginning_of_an_items_hash_names_it(graded_demo):
    (first, *_) = rows(graded_demo, "select item_id from rubric_items_effective order by all")
    beginning = first["item_id"].rpartition("/")[2][:6]
    assert rows(graded_demo, "@verify_grades", "--item_id", beginning)


@pytest.mark.slow
def test_lists_of_grades_can_be_of_passages_with_several_high_answers_only(graded_demo):
    words = ("--grader", "lexical", "--tau", "4")
    answers = rows(graded_demo, "@verify_grades", *words)
    items = {}
    for row in answers:
        items.setdefault((row["query_id"], row["passage_id"]), set()).add(row["item"])
    for m in (1, 2, 3):
        found = rows(graded_demo, "@verify_grades", *words, "--m", str(m))
        several = {passage for passage, high in items.items() if len(high) >= m}
        assert {(row["query_id"], row["passage_id"]) for row in found} == several
        assert all(int(row["grade"]) >= 4 for row in found)
        grid = rows(graded_demo, "@grade_grid", *words, "--m", str(m))
        assert {(row["query_id"], row["id"]) for row in grid if row["label"]} == several
    assert 0 < len(several) < len(items)


def test_means_and_distributions_are_those_of_the_marts(graded_demo):
    for question, mart, key, value in (
        ("@item_grades", "grade_grid", ("grader", "query_id", "item_id"), "grade"),
        ("@labels", "relevance_labels", ("label_set",), "label"),
    ):
        values = {}
        for row in rows(graded_demo, f"select * from {mart} where {value} is not null"):
            values.setdefault(tuple(row[column] for column in key), []).append(int(row[value]))
        found = rows(graded_demo, question)
        assert {tuple(row[column] for column in key) for row in found} == set(values)
        for row in found:
            own = values[tuple(row[column] for column in key)]
            counts = sorted(Counter(own).items(), reverse=True)
            assert row["distribution"] == " ".join(f"{each}:{n}" for each, n in counts)
            assert float(row[f"mean_{value}"]) == pytest.approx(sum(own) / len(own), abs=6e-4)


def test_the_book_is_a_line_per_question(demo):
    *lines, last = gradelake(demo, "sql", "@").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [f"@{name}" for name in entries()]
    questions = [entry.question for entry in entries().values()]
    assert len({line.index(q) for line, q in zip(lines, questions, strict=True)}) == 1, "aligned"
    assert "@NAME --help" in last


def test_the_columns_of_an_answer_have_the_words_of_the_marts(demo):
    said = gradelake(demo, "sql", "@kappa", "--explain").stdout
    for column in ("kappa", "observed"):
        words = "select description from columns where table_name = 'kappa' and column_name = '{}'"
        ((meaning,),) = [row.values() for row in rows(demo, words.format(column))]
        assert re.search(rf"^{column} +{re.escape(meaning)}$", said, re.MULTILINE)
    with Lake.published(Project.find(demo)) as lake:
        for name, of in declared("questions").items():
            entry = entries()[name]
            means = entry.meanings(lake, entry.columns)
            silent = {column for column, words in means.items() if not words}
            own = {*of.get("made", {}), *re.findall(r"\w+\.(\w+)", of["columns"])}
            assert {entry.columns[column] for column in silent} <= own, name
    wrong = gradelake(demo, "sql", "select 1", "--explain", code=2)
    assert "--explain is about a question" in wrong.stderr


@pytest.mark.slow
def test_one_word_that_is_a_question_or_a_table_says_how_it_is_asked(demo):
    for word, hint in {
        "leaderboard": "`@leaderboard` asks the question of this name; `from leaderboard` reads",
        "kappa;": "`@kappa` asks",
        "raw.queries": "`from raw.queries` reads the table",
        "hardest_queries": "`@hardest_queries` asks the question of this name.",
    }.items():
        assert hint in gradelake(demo, "sql", word, code=2).stderr


# --- what no build knows yet ---------------------------------------------------------------------


@pytest.mark.slow
def test_a_forgotten_build_is_told_where_something_is_not_found(later_folder, demo):
    told = "commits that are not in release r1: `gradelake build` brings them in"
    wrong = gradelake(later_folder, "sql", "@kappa", "--label_set", "judge:Sun", code=2)
    assert told in wrong.stderr
    empty = ("sql", "select system from leaderboard where label_set = 'judge:Sun'")
    done = gradelake(later_folder, *empty)
    assert done.stdout.splitlines() == ["system", "(no rows)"]
    assert told in done.stderr
    piped = gradelake(later_folder, "sql", given="from leaderboard where false;\n@freshness")
    assert told in piped.stderr
    assert re.search(r"\d +yes +r1 ", piped.stdout), "it needs a build"
    assert gradelake(later_folder, *empty, "--quiet").stderr == ""
    assert gradelake(later_folder, *empty, "--live").stderr == "", "it is what there is"
    assert gradelake(demo, *empty).stderr == "", "nothing came after its release"


def test_an_edit_of_a_seed_that_was_not_built_is_told(demo, tmp_path):
    folder, nothing = tmp_path / "demo", ("sql", "select 1 as one where false")
    shutil.copytree(demo, folder)
    (folder / "seeds").mkdir()
    for name in ("rubric_edits.csv", "label_policies.csv"):
        shutil.copy(PACKAGED / name, folder / "seeds")
    assert gradelake(folder, *nothing).stderr == "", "these rows are built"
    with (folder / "seeds" / "label_policies.csv").open("a") as file:
        file.write("a row of one cell\n")  # wrong, which the build will say
    told = gradelake(folder, *nothing).stderr
    assert "seeds/label_policies.csv has edits that are not in release r1: `gradelake" in told
    assert "rubric_edits" not in told


@pytest.mark.slow
def test_only_data_after_the_newest_release_waits_for_a_build(tmp_path):
    project = small_lake(tmp_path)
    with Lake.published(project) as lake:
        assert "not in release r1" in not_built_yet(lake)
    with Lake.writer(project) as lake:
        with lake.transaction("build") as transaction:
            transaction.extra |= {"release": "r2"}
            transaction.finish_run([])
        unpublished = "release r2 was committed but not published"  # as after a kill in between
        assert unpublished in {found.what for found in examine(lambda: project)}
        publishing.publish(lake, "r2")
        for kind in NO_DATA:
            with lake.transaction(kind) as transaction:
                transaction.insert("graders", graders(f"by {kind}"))
    with Lake.published(project) as lake:
        assert lake.release == "r2"
        assert "release r2" not in not_built_yet(lake), "none of these brings data"
    assert "release r2 is up to date" in {found.what for found in examine(lambda: project)}
    with Lake.writer(project) as lake, lake.transaction("import", "labels") as transaction:
        transaction.insert("graders", graders("a third"))
    with Lake.published(project) as lake:
        assert "not in release r2" in not_built_yet(lake)
    told = "The lake has commits that are not in release r2"
    assert told in {found.what for found in examine(lambda: project)}


def test_who_cannot_read_the_working_catalog_is_told_nothing_wrong(tmp_path):
    project = small_lake(tmp_path)
    (tmp_path / "lake" / "catalog.sqlite").write_bytes(b"not a catalog" * 999)
    with Lake.published(project) as lake:
        assert not_built_yet(lake) is None
    done = gradelake(tmp_path, "sql", "select 1 as one where false")
    assert done.stderr == ""


def test_a_lake_without_a_collection_is_not_built_and_says_what_to_do(tmp_path):
    gradelake(tmp_path, "init")
    for words in (("build",), ("build", "--full-refresh"), ("build", "--select", "kappa")):
        refused = gradelake(tmp_path, *words, code=2).stderr
        assert "the lake has no collection yet\n  Bring one in: gradelake ingest mine" in refused
    assert "after `gradelake ingest`" in gradelake(tmp_path, "sql", "@kappa", code=2).stderr
    commits = json_of(tmp_path, "log", "--json")["commits"]
    assert not [commit for commit in commits if commit["release"]]
    missing = gradelake(tmp_path, "sql", "from leaderboard", "--live", code=2).stderr
    assert missing.splitlines() == [
        "error: Catalog Error: Table with name leaderboard does not exist!",
        "  Nothing is built yet: run `gradelake build`.",
    ]
    mistyped = gradelake(tmp_path, "sql", "from raw.querys", "--live", code=2).stderr
    assert 'Did you mean "queries"?' in mistyped
    with Lake.writer(Project.find(tmp_path)) as lake:
        publish(lake, "r1")
    for words in (("select 1 as one where false",), ("select 1 as one where false", "--live")):
        told = gradelake(tmp_path, "sql", *words)
        assert told.stdout.splitlines() == ["one", "(no rows)"]
        assert (
            "the lake has no collection yet\n  Bring one in: gradelake ingest mine" in told.stderr
        )


@pytest.mark.slow
def test_freshness_is_as_of_now_and_of_a_release_when_one_is_named(later_folder, tmp_path):
    def needs_build(*words: str) -> str:
        (row,) = rows(later_folder, "@freshness", *words)
        return row["needs_build"]

    assert needs_build() == needs_build("--live") == "True"
    assert needs_build("--release", "r1") == "False"
    assert "working catalog" in gradelake(later_folder, "sql", "@freshness", "--help").stdout
    copy = shutil.copytree(later_folder, tmp_path / "copy")
    (copy / "lake" / "catalog.sqlite").write_bytes(b"not a catalog" * 999)
    done = gradelake(copy, "sql", "@freshness", "--format", "csv")
    assert "False" in done.stdout
    assert "as of release r1: " in done.stderr
