"""An ingest lands whole or not at all, and writes only what is new or changed."""

import json
import random

import pytest

from gradelake.sql.common import console
from tests.command_line import run_apart
from tests.ingest.conftest import said
from tests.projects import write

TABLES = (
    *("collections", "queries", "facets", "passages", "near_duplicates", "systems", "run_entries"),
    *("answers", "sentences", "citations", "judgments", "official_ranks"),
    *("pipeline_runs", "ledger"),
)


def everything(tiny) -> dict[str, list[tuple]]:
    """All rows of all tables that an ingest writes."""
    return {table: tiny.rows(f"from lake.raw.{table} order by all") for table in TABLES}


def all_inputs(tiny) -> None:
    """One input of every kind."""
    tiny.write("responses.jsonl", ['{"system": "writer", "query_id": "q1", "text": "Words."}'])
    tiny.write("ranks.json", '{"good": 1, "other": 2}')
    tiny.write("clusters.tsv", ["p1 p2"])
    tiny.configure(
        responses=["responses.jsonl"],
        official_ranks={"trec": "ranks.json"},
        near_duplicates="clusters.tsv",
    )


# --- what lands ---------------------------------------------------------------------------------


def test_every_kind_of_input_lands_in_its_table(tiny):
    all_inputs(tiny)
    tiny.configure(min_relevant=2, default_pool_depth=7, leave_out_near_duplicates=True)
    outcome = tiny.ingest()
    assert (outcome.exit_code, outcome.rejected, outcome.unchanged) == (0, [], 0)
    assert outcome.counts == {
        "queries": 2,
        "judgments": 3,
        "near_duplicates": 1,
        "systems": 2,
        "run_entries": 3,
        "responses": 1,
        "official_ranks": 2,
        "passages": 5,
    }
    found = everything(tiny)
    assert found["collections"][0][:-1] == ("tiny", "files", 2, 2, 7, True)
    assert found["queries"] == [
        ("tiny", "q1", "why is the sky blue", None, None),
        ("tiny", "q2", "how do bees find home", None, None),
    ]
    corpus = [row[1] for row in found["passages"] if row[-1] == "corpus"]
    assert corpus == ["p1", "p2", "p3", "p4", "p5"]
    assert found["near_duplicates"] == [("tiny", "p2", "p1")]
    assert [row[1:4] for row in found["systems"]] == [
        ("good", "ranking", "runs/good.run"),
        ("writer", "generation", "responses.jsonl"),
    ]
    assert tiny.run_of("good") == [("q1", "p1", 2.5), ("q1", "p2", 1.5)]
    judged = [("q1", "p1", 2), ("q1", "p2", 0), ("q2", "p3", 1)]
    assert [row[1:] for row in found["judgments"]] == [("nist", *row, None) for row in judged]
    ranks = [("trec", "good", 1.0, None), ("trec", "other", 2.0, None)]
    assert [row[1:] for row in found["official_ranks"]] == ranks


def test_good_inputs_take_no_import_of_what_says_what_is_wrong(tiny):
    project = tiny.project
    done = run_apart(project.file.parent, "ingest", "tiny", PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "polars" in imported
    assert not {"ir_datasets", "pandas.core", "pandera", "pyarrow"} & imported


def test_the_commit_says_what_was_written_and_the_run_is_recorded(tiny):
    outcome = tiny.ingest()
    ((message, extra),) = tiny.rows(
        "select commit_message, commit_extra_info from lake.snapshots() "
        f"where snapshot_id = {outcome.snapshot}"
    )
    assert message == ("ingest tiny: 2 queries, 3 judgments, 1 system, 2 run entries, 5 passages")
    ((run_id, command, state, counts, error),) = tiny.rows(
        "select run_id, command, state, counts, error from lake.raw.pipeline_runs"
    )
    assert json.loads(extra) == {"kind": "ingest", "run_id": run_id}
    assert (command, state, error) == ("ingest tiny", "done", None)
    assert json.loads(counts) == outcome.counts


def test_scores_are_kept_to_the_last_bit(tiny):
    numbers = random.Random(5)
    scores = [0.1, 1e-3, 5e-324, 1.0000000596046448, -3.4e38]
    scores += [numbers.gauss(0, 1) * 10 ** numbers.randint(-300, 30) for _ in range(500)]
    for name, some in (("few.run", scores[:5]), ("many.run", scores)):
        tiny.write(f"runs/{name}", [f"q1 Q0 d{n} 1 {x!r} t" for n, x in enumerate(some)])
    tiny.ingest()
    for system, some in (("few", scores[:5]), ("many", scores)):
        kept = {passage: score for _, passage, score in tiny.run_of(system)}
        assert [kept[f"d{n}"] for n in range(len(some))] == some


def test_texts_are_kept_as_they_are_written(tiny):
    texts = [
        *('quote\'s "x" \\ back', "tab\tline\nend", "a\rb", "bee \U0001f41d\u2028\u0085 end"),
        *("null\0byte", "NULL", "{'a': 1}", "\\x00", "-- drop table", "e\u0301 is not \u00e9"),
    ]
    lines = [json.dumps({"id": f"p{n}", "text": text}) for n, text in enumerate(texts)]
    tiny.write("passages.jsonl", lines)
    tiny.configure(passages="passages.jsonl")
    tiny.ingest()
    kept = dict(tiny.rows("select passage_id, text from lake.raw.passages"))
    assert [kept[f"p{n}"] for n in range(len(texts))] == texts


def test_the_top_of_the_judgment_scale_is_what_was_judged_unless_it_is_set(ingested):
    assert ingested.rows("select max_relevance from lake.raw.collections") == [(2,)]
    ingested.configure(max_relevance=3)
    ingested.ingest()
    assert ingested.rows("select max_relevance from lake.raw.collections") == [(3,)]


def test_two_collections_share_a_lake_and_nothing_else(ingested):
    ingested.name = "two"
    assert ingested.ingest().unchanged == 0
    ingested.name = "tiny"
    ingested.write("runs/good.run", ["q1 Q0 p5 1 9 t"])
    ingested.ingest()
    assert ingested.rows(
        "select collection, count(*) from lake.raw.run_entries group by all order by all"
    ) == [("tiny", 1), ("two", 2)]


# --- what is written again ----------------------------------------------------------------------


def test_unchanged_inputs_write_nothing(tiny):
    all_inputs(tiny)
    tiny.ingest()
    before, rows = tiny.snapshot(), everything(tiny)
    outcome = tiny.ingest()
    assert (outcome.exit_code, outcome.counts, outcome.unchanged) == (0, {}, 7)
    assert outcome.snapshot is None
    assert tiny.snapshot() == before
    assert everything(tiny) == rows


def test_a_touched_or_renamed_folder_of_files_is_not_a_change(ingested):
    content = (ingested.folder / "runs/good.run").read_bytes()
    ingested.write("moved/good.txt", content)
    ingested.configure(runs=["moved/*"])
    assert ingested.ingest().counts == {}


def test_a_changed_run_replaces_that_system_in_one_commit_and_the_old_one_can_be_read(tiny):
    tiny.write("runs/other.run", ["q1 Q0 p1 1 1 t"])
    old = tiny.ingest().snapshot
    tiny.write("runs/good.run", ["q2 Q0 p5 1 9 good"])
    outcome = tiny.ingest()
    assert outcome.snapshot == old + 1
    assert outcome.counts == {"systems": 1, "run_entries": 1}
    assert tiny.run_of("good") == [("q2", "p5", 9.0)]
    assert tiny.run_of("other") == [("q1", "p1", 1.0)]
    assert tiny.rows(
        f"select query_id, passage_id, score from lake.raw.run_entries at (version => {old}) "
        "where system = 'good' order by all"
    ) == [("q1", "p1", 2.5), ("q1", "p2", 1.5)]
    assert tiny.rows("select n_rows from lake.raw.systems where system = 'good'") == [(1,)]


def test_changed_inputs_of_other_kinds_replace_the_old_ones(tiny):
    all_inputs(tiny)
    tiny.ingest()
    tiny.write("nist.qrels", ["q1 0 p9 3"])
    tiny.write("ranks.json", '{"new": 1}')
    tiny.write("clusters.tsv", ["p3 p4"])
    assert set(tiny.ingest().counts) == {"judgments", "official_ranks", "near_duplicates"}
    found = everything(tiny)
    assert found["judgments"] == [("tiny", "nist", "q1", "p9", 3, None)]
    assert found["official_ranks"] == [("tiny", "trec", "new", 1.0, None)]
    assert found["near_duplicates"] == [("tiny", "p4", "p3")]


def test_changed_subtopics_are_changed_topics(tiny):
    def with_facets(*facets):
        query = {"query_id": "q1", "text": "bees", "subtopics": facets}
        tiny.write("topics.jsonl", [query, {"query_id": "q2", "text": "sky"}])

    with_facets("dance", {"id": "s", "text": "sun"})
    tiny.configure(queries="topics.jsonl")
    assert (tiny.ingest().counts["queries"], tiny.ingest().counts) == (2, {})
    facets = "from lake.raw.facets order by all"
    assert tiny.rows(facets) == [("tiny", "q1", "dance", "dance"), ("tiny", "q1", "s", "sun")]
    with_facets({"id": "s", "text": "the sun"})
    assert tiny.ingest().counts == {"queries": 2, "facets": 1}
    assert tiny.rows(facets) == [("tiny", "q1", "s", "the sun")]
    with_facets({"id": "s"})
    assert "topics.jsonl:1: subtopic 1 is without an id" in said(tiny.ingest())
    assert tiny.rows(facets) == [("tiny", "q1", "s", "the sun")]
    with_facets()
    tiny.ingest()
    assert tiny.rows(facets) == []


def test_queries_weigh_what_their_topics_say_and_a_file_of_its_own_says_it_better(tiny):
    one, other = {"query_id": "q1", "text": "sky"}, {"query_id": "q2", "text": "bees"}
    of_one = {"weight": 3, "segments": {"language": "de", "user": None}}
    of_other = {"weight": "0.5", "cluster": 7, "segments": ["tail", "x"]}
    tiny.write("topics.jsonl", [one | of_one, other | of_other])
    tiny.configure(queries="topics.jsonl")
    assert tiny.ingest().counts["query_weights"] == 2
    weights = "from lake.raw.query_weights order by all"
    assert tiny.rows(weights) == [
        ("tiny", "q1", 3.0, None, ["language=de"]),
        ("tiny", "q2", 0.5, "7", ["tail", "x"]),
    ]
    tiny.write("traffic.csv", "query_id;weight;segments\nq2;10;head| x|\nq1;0;\n")
    tiny.configure(query_weights="traffic.csv")
    assert (tiny.ingest().counts, tiny.ingest().counts) == ({"query_weights": 2}, {})
    assert tiny.rows(weights) == [
        ("tiny", "q1", 0.0, None, None),
        ("tiny", "q2", 10.0, "7", ["head", "x"]),
    ]
    for content, told in (
        ("query_id,weight\nq2,1\n", "traffic.csv: query 'q1' has no weight, and others have one"),
        ("query_id,weight\nq1,0\nq2,0\n", "traffic.csv: every weight is 0"),
        ("query_id,weight\nq1,1\nq2,1\nq3,1\n", "traffic.csv:4: unknown query 'q3' (1 line)"),
    ):
        tiny.write("traffic.csv", content)
        assert told in said(tiny.ingest())
    assert len(tiny.rows(weights)) == 2
    tiny.configure(query_weights=None)
    for segments, told in (
        ([5], "segments are not a list of texts, one text"),
        ("x|all", "no segm"),
    ):
        tiny.write("topics.jsonl", [one, other | {"segments": segments}])
        assert f"topics.jsonl:2: {told}" in said(tiny.ingest())
    tiny.write("topics.jsonl", [one, other])
    tiny.ingest()
    assert tiny.rows(weights) == []


def test_changed_passages_replace_those_with_their_ids_and_others_stay(ingested):
    ingested.write("passages.tsv", ["p2\tNew text.", "p6\tMore."])
    assert ingested.ingest().counts == {"passages": 2}
    texts = dict(ingested.rows("select passage_id, text from lake.raw.passages"))
    assert len(texts) == 6
    assert (texts["p1"], texts["p2"], texts["p6"]) == ("Text of passage 1.", "New text.", "More.")


def test_changed_settings_are_stored_and_announced(ingested):
    ingested.configure(min_relevant=2, leave_out_near_duplicates=True)
    outcome = ingested.ingest()
    assert outcome.counts == {"settings": 1}
    assert ingested.rows(
        "select min_relevant, leave_out_near_duplicates from lake.raw.collections"
    ) == [(2, True)]
    assert ingested.rows(
        f"select commit_message from lake.snapshots() where snapshot_id = {outcome.snapshot}"
    ) == [("ingest tiny: 1 setting",)]


def test_a_file_that_became_faulty_does_not_replace_its_system(ingested):
    before, rows = ingested.snapshot(), everything(ingested)
    ingested.write("runs/good.run", ["q1 Q0 p9 1 9 good", "q1 Q0 p8 2"])
    ingested.write("nist.qrels", ["q1 0 p1 high"])
    outcome = ingested.ingest()
    assert "runs/good.run:2: " in said(outcome)
    assert outcome.exit_code == 3
    stays = "what an earlier ingest brought of it stays in the lake as it was"
    assert outcome.warnings == [f"{file}: {stays}" for file in ("nist.qrels", "runs/good.run")]
    assert ingested.snapshot() == before
    assert everything(ingested) == rows
    ingested.write("runs/good.run", ["q1 Q0 p9 1 9 good"])  # fixed
    ingested.ingest()
    assert ingested.run_of("good") == [("q1", "p9", 9.0)]


def test_a_run_refused_for_its_queries_lands_once_the_topics_have_them(tiny):
    tiny.write("runs/more.run", ["q3 Q0 p1 1 1 t"])
    refused = tiny.ingest()
    assert (refused.exit_code, refused.warnings) == (3, []), "the lake has nothing of it"
    tiny.write("topics.tsv", ["q1\tsky", "q2\tbees", "q3\tsea"])
    outcome = tiny.ingest()
    assert outcome.exit_code == 0
    assert tiny.systems() == {"good", "more"}


def stop_after(n: int, error: BaseException):
    """A `console.progress` that raises once n runs were read."""

    def progress(what, items, total, **_):
        for number, item in enumerate(items):
            if number == n:
                raise error
            yield item

    return progress


def test_an_interrupted_change_leaves_the_lake_exactly_as_it_was(tiny, monkeypatch):
    tiny.write("runs/other.run", ["q1 Q0 p1 1 1 t"])
    all_inputs(tiny)
    tiny.ingest()
    before, rows = tiny.snapshot(), everything(tiny)
    tiny.write("topics.tsv", ["q1\tchanged", "q2\tbees"])
    tiny.write("nist.qrels", ["q1 0 p1 1"])
    tiny.write("runs/good.run", ["q1 Q0 p9 1 9 t"])
    tiny.write("runs/other.run", ["q1 Q0 p9 1 9 t"])
    monkeypatch.setattr(console, "progress", stop_after(1, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        tiny.ingest()
    assert tiny.snapshot() == before
    assert everything(tiny) == rows


# --- batches ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows_at_a_time", [1, 5])
def test_many_runs_land_whatever_the_size_of_a_batch(tiny, monkeypatch, rows_at_a_time):
    monkeypatch.setattr("gradelake.sql.lake.staged.ROWS", rows_at_a_time)
    monkeypatch.setattr("gradelake.sql.common.files._CHUNK", 7)
    monkeypatch.setattr("gradelake.sql.common.files._BLOCK", 20 * rows_at_a_time)
    for n in range(1, 10):
        tiny.write(f"runs/s{n}.run", [f"q1 Q0 p{k} {k} {n - k / 10} t" for k in range(1, n + 1)])
    twice = ["q1 Q0 p1 1 1 t", *(f"q2 Q0 p{k} 1 1 t" for k in range(20)), "q1 Q0 p1 1 1 t"]
    tiny.write("runs/s3.run", twice)
    outcome = tiny.ingest()
    assert [rejected.file for rejected in outcome.rejected] == ["runs/s3.run"]
    wrong = "query_id 'q1', passage_id 'p1' is listed twice (first on line 1)"
    assert outcome.rejected[0].lines()[0] == f"runs/s3.run:22: {wrong}"
    for n in (1, 2, 4, 5, 6, 7, 8, 9):
        expected = [("q1", f"p{k}", n - k / 10) for k in range(1, n + 1)]
        assert tiny.run_of(f"s{n}") == expected
    assert outcome.counts["systems"] == len(tiny.systems()) == 9
    assert outcome.counts["run_entries"] == 2 + sum(range(1, 10)) - 3


def test_many_passages_land_whatever_the_size_of_a_batch(tiny, monkeypatch):
    monkeypatch.setattr("gradelake.sql.lake.staged.ROWS", 4)
    monkeypatch.setattr("gradelake.sql.common.files._CHUNK", 11)
    monkeypatch.setattr("gradelake.sql.common.files._BLOCK", 30)
    monkeypatch.setattr("gradelake.ingest.collections.passages.BATCH", 3)
    monkeypatch.setattr("gradelake.ingest.collections.texts._IDS", 2)
    texts = {f"p{n}": f"Größe {n}" for n in range(40)}
    lines = [f"{passage_id}\t{text}" for passage_id, text in texts.items()]
    tiny.write("passages.tsv", [*lines, "p7\tagain", "no tab"])
    (rejected,) = tiny.ingest().rejected
    assert [str(problem) for problem in rejected.problems] == [
        "passages.tsv:41: passage 'p7' is listed twice (first on line 8), with another text",
        "passages.tsv:42: no TAB between the passage's id and its text",
    ]
    assert tiny.rows("select count(*) from lake.raw.passages") == [(0,)]
    tiny.write("passages.tsv", [*lines, lines[7], lines[7]])
    done = tiny.ingest()
    assert done.rejected == []
    assert done.counts == {"passages": 40}
    assert dict(tiny.rows("select passage_id, text from lake.raw.passages")) == texts


# --- notes --------------------------------------------------------------------------------------


def test_notes_tell_of_what_landed_but_deserves_a_look(tiny):
    tiny.write("runs/odd.run", ["q1 Q0 p1 first 2 t", "q1 Q0 p77 2 1 t"])
    tiny.write("nist.qrels", ["q1 0 p1 1", "q1 0 p1 1", "q2 0 p88 1"])
    outcome = tiny.ingest()
    assert outcome.exit_code == 0
    assert outcome.warnings == [
        "nist.qrels: 1 repeated line, kept once",
        "runs/odd.run: ranks that are no whole numbers are left empty: 1 (ranking is by score)",
        "2 pooled passages have no text here (they can be ranked, not graded)",
    ]


def test_passages_outside_the_pool_need_no_text(tiny):
    tiny.write("passages.tsv", ["p1\tx", "p2\ty", "p3\tz", "a\tlast of the pool"])
    tiny.write("runs/good.run", ["q1 Q0 b 1 0.5 t", "q1 Q0 a 2 0.75 t", "q1 Q0 c 3 0.5 t"])
    tiny.configure(default_pool_depth=1)
    assert tiny.ingest().warnings == []


# --- passages of the pool -----------------------------------------------------------------------


def test_a_pooled_collection_takes_only_what_was_judged_or_ranked_high(tiny):
    tiny.write("passages.tsv", [f"d{n:02}\tText {n}." for n in range(50)])
    tiny.write("nist.qrels", ["q1 0 d49 0"])
    tiny.write("runs/good.run", [f"q1 Q0 d{n:02} 1 {20 - n} t" for n in range(20)])
    tiny.write("runs/tied.run", [f"q2 Q0 d{n:02} 1 1.0 t" for n in range(30, 40)])
    tiny.configure(passages_for="pool", default_pool_depth=3)
    outcome = tiny.ingest()
    pooled = ["d00", "d01", "d02", "d37", "d38", "d39", "d49"]  # ties: the last id first
    assert outcome.counts["passages"] == 7
    assert tiny.rows("select passage_id from lake.raw.passages order by all") == [
        (passage_id,) for passage_id in pooled
    ]
    tiny.write("runs/good.run", ["q1 Q0 d20 1 1 t"])
    assert tiny.ingest().counts["passages"] == 1  # only what is new in the pool is looked up
    before = tiny.snapshot()
    assert tiny.ingest().counts == {}
    assert tiny.snapshot() == before


def test_passages_of_the_pool_are_looked_up_anew_when_their_file_changed(tiny):
    tiny.configure(passages_for="pool")
    tiny.ingest()
    tiny.write("passages.tsv", ["p1\tNew text.", "p2\tText of passage 2.", "p5\tNot pooled."])
    assert tiny.ingest().counts == {"passages": 2}
    assert tiny.rows("select passage_id, text from lake.raw.passages order by all") == [
        ("p1", "New text."),
        ("p2", "Text of passage 2."),
        ("p3", "Text of passage 3."),
    ]
    assert tiny.ingest().counts == {}


def test_a_collection_may_have_no_passages_at_all(tiny):
    tiny.configure(passages=None)
    outcome = tiny.ingest()
    assert (outcome.exit_code, outcome.warnings) == (0, [])
    assert tiny.rows("select count(*) from lake.raw.passages") == [(0,)]


# --- where files are ----------------------------------------------------------------------------


def test_files_may_lie_outside_the_project_and_below_folders_with_odd_names(tmp_path, tiny):
    write(tmp_path / "else [where]" / "far.run.gz", ["q1 Q0 p1 1 1 t"])
    tiny.write("runs/2024 (b)/deep/near.run", ["q1 Q0 p1 1 1 t"])
    tiny.configure(runs=["runs/**/*.run", "../else*/*.gz", f"{tiny.folder}/runs/good.run"])
    assert tiny.ingest().exit_code == 0
    assert tiny.rows("select system, source_file from lake.raw.systems order by all") == [
        ("far", "../else [where]/far.run.gz"),
        ("good", "runs/good.run"),
        ("near", "runs/2024 (b)/deep/near.run"),
    ]


def test_the_project_itself_may_lie_in_a_folder_whose_name_looks_like_a_pattern(tmp_path, tiny):
    folder = tmp_path / "proj[ab]*"
    tiny.folder.rename(folder)
    tiny.folder = folder
    assert tiny.ingest().exit_code == 0
    assert tiny.systems() == {"good"}


# --- settings that were taken out -----------------------------------------------------------------


def test_what_the_settings_no_longer_name_is_kept_and_told(tiny):
    tiny.write("king.qrels", ["q1 0 p1 1"])
    tiny.configure(judgments={"nist": "nist.qrels", "king": "king.qrels"})
    assert tiny.ingest().warnings == []
    tiny.configure(judgments={"nist": "nist.qrels"}, runs=None)
    (warning,) = tiny.ingest().warnings
    assert "judgments king; systems good" in warning
    tiny.configure(official_ranks={"trec": "none.json"})
    outcome = tiny.ingest()
    assert outcome.exit_code == 3
    assert warning in outcome.warnings, "also where another input is refused"
    assert tiny.rows("select distinct assessor from lake.raw.judgments order by 1") == [
        ("king",),
        ("nist",),
    ]


def test_the_systems_of_a_refused_file_are_not_told_as_named_no_more(tiny):
    tiny.write("responses.jsonl", ['{"system": "writer", "query_id": "q1", "text": "Words."}'])
    tiny.configure(responses=["responses.jsonl"])
    tiny.ingest()
    tiny.write("responses.jsonl", ["not JSON"])
    tiny.write("runs/good.run", ["not a run"])
    outcome = tiny.ingest()
    assert len(outcome.rejected) == 2
    assert not any("nothing in gradelake.toml names" in warning for warning in outcome.warnings)
    assert tiny.systems() == {"good", "writer"}


def test_judgments_without_a_name_are_told_under_which_they_landed_once(tiny):
    tiny.configure(judgments="nist.qrels")
    (note,) = tiny.ingest().warnings
    assert note == (
        "the judgments are known as assessor:official; name them in gradelake.toml: "
        'judgments = { NAME = "nist.qrels" }'
    )
    tiny.write("nist.qrels", ["q1 0 p1 1"])
    assert tiny.ingest().warnings == []


def test_near_duplicates_go_with_their_setting(tiny):
    tiny.write("clusters.tsv", ["p1\tp2"])
    tiny.configure(near_duplicates="clusters.tsv")
    tiny.ingest()
    assert tiny.rows("select count(*) from lake.raw.near_duplicates") == [(1,)]
    tiny.configure(near_duplicates=None)
    tiny.ingest()
    assert tiny.rows("select count(*) from lake.raw.near_duplicates") == [(0,)]
    tiny.configure(near_duplicates="clusters.tsv")
    tiny.ingest()
    assert tiny.rows("select count(*) from lake.raw.near_duplicates") == [(1,)]


@pytest.mark.parametrize(
    ("name", "lines", "ties"),
    [
        ("flat.run", ["q1 Q0 p1 1 1 x", "q1 Q0 p2 2 1 x", "q2 Q0 p3 1 7 x"], True),
        ("flat.csv", ["query,passage,rank", "q1,p1,1", "q1,p2,1"], True),
        ("float.run", ["q1 Q0 p1 1 1.00000001 x", "q1 Q0 p2 2 1.00000002 x"], True),  # 32 bits
        (
            "some.run",
            ["q1 Q0 p1 1 1 x", "q1 Q0 p2 2 1 x", "q2 Q0 p3 1 7 x", "q2 Q0 p1 2 6 x"],
            False,
        ),
        ("single.run", ["q1 Q0 p1 1 1 x", "q2 Q0 p3 1 1 x"], False),
        ("ranked.csv", ["query,passage,rank", "q1,p1,1", "q1,p2,2"], False),
    ],
)
def test_a_run_whose_every_passage_ties_is_told_of(tiny, name, lines, ties):
    tiny.write(f"runs/{name}", lines)
    tiny.configure(runs=["runs/*"])
    warned = [line for line in tiny.ingest().warnings if "they tie" in line]
    assert [line.split(":")[0] for line in warned] == ([f"runs/{name}"] if ties else [])


def test_two_runs_that_are_byte_for_byte_the_same_are_told_of(tiny):
    same = "byte for byte the same: the systems"
    tiny.write("runs/table.csv", ["query,passage,rank,system", "q1,p1,1,a", "q1,p1,1,b"])
    tiny.configure(runs=["runs/*"])
    assert [line for line in tiny.ingest().warnings if same in line] == []
    tiny.write("runs/again.run", ["q1 Q0 p1 1 2.5 good", "q1 Q0 p2 2 1.5 good"])
    (line,) = [line for line in tiny.ingest().warnings if same in line]
    assert line == (
        "runs/again.run, runs/good.run are byte for byte the same: the systems again, good are one"
    )
    assert [line for line in tiny.ingest().warnings if same in line] == []  # said when it came
