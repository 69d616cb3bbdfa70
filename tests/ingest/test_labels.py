"""`gradelake import labels`: a qrels-style file becomes a direct judge's grades."""

import pytest

from gradelake.ingest.collections.judgments import import_judgments
from gradelake.ingest.collections.labels import import_labels, judge_id
from gradelake.ingest.mapping.labels import proposed
from gradelake.sql.common import files
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.files import sha256_of
from gradelake.sql.common.problems import Rejected

GRADES = (
    "select query_id, passage_id, item_id, grade, status from lake.raw.grades "
    "where grader_id = ? and collection = ? order by all"
)


LABELS = ["q1 0 p1 3", "q1 0 p2 0", "q2 0 p9 1"]


@pytest.fixture
def judged(ingested):
    ingested.write("Sun.qrels", LABELS)
    return ingested


def bring(tiny, name="Sun.qrels", judge="Sun", collection="tiny", max_label=None):
    arguments = ["import", "labels"]
    return import_labels(
        tiny.lake, collection, tiny.folder / name, judge, arguments, max_label=max_label
    )


def test_labels_may_be_a_table_whose_columns_are_named(ingested):
    ingested.write("gpt.csv", ["term,passage_id,verdict", "why is the sky blue,p1,3.0", "q2,p3,"])
    done = import_labels(
        ingested.lake,
        "tiny",
        ingested.folder / "gpt.csv",
        "gpt",
        [],
        form={"columns": {"query": "term", "judgment": "verdict"}},
    )
    assert done.written == 1
    assert grades(ingested, "gpt") == [("q1", "p1", "", 3, "ok")]
    with pytest.raises(BadInput, match="--column: there is no role 'label'"):
        import_labels(
            ingested.lake,
            "tiny",
            ingested.folder / "gpt.csv",
            "gpt2",
            [],
            form={"columns": {"label": "x"}},
        )


def grades(tiny, judge="Sun", collection="tiny"):
    return tiny.lake.rows(GRADES, judge_id(judge), collection)


def graders(tiny):
    return tiny.rows(
        "select name, engine, scale_min, scale_max, parser, settings from lake.raw.graders "
        "order by name"
    )


def test_labels_become_one_grader_and_its_grades_without_an_item(judged):
    done = bring(judged)
    assert (done.written, done.snapshot, done.warnings) == (3, judged.snapshot(), [])
    assert graders(judged) == [("Sun", "imported", 0, 3, "qrels", '{"file": "Sun.qrels"}')]
    assert grades(judged) == [
        ("q1", "p1", "", 3, "ok"),
        ("q1", "p2", "", 0, "ok"),
        ("q2", "p9", "", 1, "ok"),
    ]
    assert judged.rows(
        "select distinct answer, response, expected_grade, prompt_tokens, "
        "grades.run_id = pipeline_runs.run_id "
        "from lake.raw.grades, lake.raw.pipeline_runs where command like 'import%'"
    ) == [(None, None, None, None, True)]


def test_queries_without_a_topic_are_left_out_of_labels_and_judgments_where_the_settings_say_so(
    tiny,
):
    tiny.configure(unknown_queries="leave out")
    tiny.ingest()
    tiny.write("Sun.qrels", [*LABELS, "q8 0 p1 1", "q9 0 p1 1", "q9 0 p2 1"])
    left_out = "3 lines left out, of 2 queries without a topic: q8, q9"
    done = bring(tiny)
    assert (done.written, done.warnings) == (3, [f"{tiny.folder}/Sun.qrels: {left_out}"])
    judged = ["query_id,passage_id,judgment", "q1,p1,2", "q9,p1,1"]
    tiny.write("done.csv", judged)
    csv = tiny.folder / "done.csv"
    done = import_judgments(tiny.lake, "tiny", csv, "ann", ["import"])
    assert (done.written, "1 line left out" in done.warnings[0]) == (1, True)
    tiny.write("done.csv", [judged[0], judged[2]])
    with pytest.raises(Rejected, match="none of its queries is a topic of tiny: q9"):
        import_judgments(tiny.lake, "tiny", csv, "ann", ["import"])


def test_the_top_of_the_scale_may_be_stated_and_no_label_is_above_it(judged):
    bring(judged)
    assert bring(judged, max_label=4).written == 3
    assert graders(judged)[0][2:4] == (0, 4)
    before = judged.snapshot()
    assert bring(judged, max_label=4).snapshot is None
    with pytest.raises(BadInput, match="--max-label 2: the judge has the label 3"):
        bring(judged, max_label=2)
    assert judged.snapshot() == before
    judged.write("Sun.qrels", ["q1 0 p1 1"])
    bring(judged)
    assert graders(judged)[0][2:4] == (0, 4)


def test_a_changed_file_replaces_the_judges_labels_in_one_commit(judged):
    old = bring(judged).snapshot
    judged.write("Sun.qrels", ["q2 0 p1 2"])
    done = bring(judged)
    assert (done.written, done.snapshot) == (1, old + 1)
    assert grades(judged) == [("q2", "p1", "", 2, "ok")]
    assert len(graders(judged)) == 1
    assert judged.rows(f"select count(*) from lake.raw.grades at (version => {old})") == [(3,)]


def test_a_file_that_changes_between_its_hash_and_its_reading_is_refused(judged, monkeypatch):
    def hashed(path):
        sha256 = sha256_of(path)
        judged.write("Sun.qrels", ["q1 0 p1 2"])  # once it was hashed
        return sha256

    monkeypatch.setattr(files, "sha256_of", hashed)
    with pytest.raises(Rejected, match="was changed while it was read"):
        bring(judged)
    monkeypatch.undo()
    judged.write("Sun.qrels", LABELS)
    assert bring(judged).written == len(LABELS)


def test_two_judges_stand_side_by_side(judged):
    judged.write("Thomas.qrels.gz", ["q1 0 p1 -1", "q1 0 p2 4"])
    bring(judged)
    bring(judged, "Thomas.qrels.gz", "Thomas")
    assert [row[:4] for row in graders(judged)] == [
        ("Sun", "imported", 0, 3),
        ("Thomas", "imported", -1, 4),
    ]
    assert len(grades(judged)) == 3
    assert grades(judged, "Thomas") == [("q1", "p1", "", -1, "ok"), ("q1", "p2", "", 4, "ok")]
    judged.write("Sun.qrels", ["q1 0 p1 0"])
    bring(judged)
    assert len(grades(judged, "Thomas")) == 2


def test_a_judge_of_two_collections_is_one_grader_with_the_scale_of_both(judged):
    bring(judged)
    judged.name = "two"
    judged.ingest()
    judged.write("more.qrels", ["q1 0 p1 -2", "q1 0 p2 1"])
    bring(judged, "more.qrels", collection="two")
    assert [row[:4] for row in graders(judged)] == [("Sun", "imported", -2, 3)]
    assert len(grades(judged)) == 3
    assert len(grades(judged, collection="two")) == 2


PROPOSED = [
    ([3, "2", "1.0", None, ""], {}),
    (["3,0", "0,0"], {}),
    (["Relevant", "Perfect", "irrelevant"], {"Perfect": 2, "Relevant": 1, "irrelevant": 0}),
    (["Highly relevant", "Relevant"], {"Highly relevant": 2, "Relevant": 1}),
    ([True, False], {"True": 1, "False": 0}),
    (["2 - good", "0: bad"], {"2 - good": 2, "0: bad": 0}),
    (["0.5", "0", "1"], [0.25, 0.5, 0.75]),
    (["0.5", "7"], None),
    (["3", "good"], None),
    (["tent", "lamp"], None),
    (["1,500"], None),
    ([], None),
]


@pytest.mark.parametrize(("held", "expected"), PROPOSED)
def test_what_is_proposed_of_judgments(held, expected):
    key = "labels" if isinstance(expected, dict) else "cuts"
    assert proposed(held) == ({key: expected} if expected else expected)
