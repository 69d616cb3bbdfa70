"""`gradelake import grades` of grades per criterion: each criterion becomes a direct judge."""

import ast
import gzip
import hashlib
import json
import re
from collections import Counter
from contextlib import closing

import pytest

from gradelake.ingest.banks.banks import import_bank
from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.labels import import_labels
from gradelake.ingest.collections.pipeline import ingest
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Rejected
from tests.grading.workbench_files import bring, brought, grades
from tests.ingest.conftest import new_tiny
from tests.places import DL19, missing_dl19

PAIRS = {
    "('q1', 'p1')": {"Exactness": 1, "Contextual Fit": 3},
    "('q1', 'p2')": {"Exactness": None, "Contextual Fit": 0},
    "('q2', 'p9')": {},
}


def test_each_criterion_is_a_direct_judge(ingested):
    done = brought(ingested, json.dumps(PAIRS, indent=4), "scores.json", name="llama")
    columns = "name, model, target, prompt, scale_min, scale_max"
    assert ingested.rows(f"select {columns} from lake.raw.graders order by name") == [
        ("llama.Contextual-Fit", "llama", "direct", "Contextual Fit", 0, 3),
        ("llama.Exactness", "llama", "direct", "Exactness", 0, 3),
    ]
    assert grades(ingested, "name, passage_id, item_id, grade, status, error, passage_sha256") == [
        ("llama.Contextual-Fit", "p1", "", 3, "ok", None, None),
        ("llama.Contextual-Fit", "p2", "", 0, "ok", None, None),
        ("llama.Exactness", "p1", "", 1, "ok", None, None),
        ("llama.Exactness", "p2", "", None, "failed", "the file has no grade (null)", None),
    ]
    assert done.notes() == ["1 pair has no criterion"]


def test_numbers_as_ids_are_taken_as_text_and_unknown_queries_left_out(ingested):
    ingested.write("topics.tsv", ["q1\tsky", "q2\tbees", "19335\tsea"])
    ingested.ingest()
    text = '{"(19335, \'7\')": {"A": 5}, "(7, 7)": {"A": 1}, "(\'19335\', 7)": {"A": 2}}'
    done = brought(ingested, text, "scores.json", name="m")
    assert (done.exit_code, done.unknown_queries) == (3, ["7"])
    assert grades(ingested, "query_id, passage_id, grade, scale_max") == [("19335", "7", 5, 5)]
    assert "1 grade is there twice; the first was kept" in done.notes()


FAULTY = [
    (
        '{\n"(\'q1\', \'p1\')": {"A": 1},\n"q1 p1": {"A": 1}}',
        ":3: 'q1 p1' is no pair (QUERY, PASSAGE)",
    ),
    ("{\"('q1', '')\": {\"A\": 1}}", ":1: \"('q1', '')\" has an empty id"),
    ('{\n"(\'q1\', \'p1\')": {"A": "x"}}', ":2: A of ('q1', 'p1') is \"x\", not a whole number"),
    ("{\n\"('q1', 'p1')\": 3}", ":2: what ('q1', 'p1') has is 3, not an object"),
    ("{\n\"('q1', 'p1')\": }", ":2: not JSON: Expecting value at column 17"),
    ("{}", ":1: not a JSON object with pairs"),
    ("{\"('q8', 'p1')\": {\"A\": 1}}", ": none of its queries is in the collection (q8 ...)"),
]


def test_a_faulty_file_is_rejected_whole(ingested):
    before = ingested.snapshot()
    for text, wrong in FAULTY:
        with pytest.raises(Rejected) as caught:
            brought(ingested, text, "scores.json", name="m")
        assert caught.value.lines()[0].startswith(f"{ingested.folder}/scores.json{wrong}")
    assert ingested.snapshot() == before


def items(project, columns="bank, query_id, item_id, kind, text"):
    return project.rows(f"select {columns} from lake.raw.rubric_items order by all")


def md5(text):
    return hashlib.md5(text.encode()).hexdigest()


def test_of_one_grader_the_criteria_are_the_rubric_of_every_query_of_the_file(ingested):
    brought(ingested, json.dumps(PAIRS), "scores.json", grader="llama", model="Llama-3-8B")
    columns = "name, model, target, scale_min, scale_max"
    assert ingested.rows(f"select {columns} from lake.raw.graders") == [
        ("llama", "Llama-3-8B", "question", 0, 3)
    ]
    assert items(ingested) == [
        ("llama", query, f"{query}/{md5(name)}", "question", name)
        for query in ("q1", "q2")
        for name in sorted(("Exactness", "Contextual Fit"), key=md5)
    ]
    assert grades(ingested, "passage_id, item_id, grade, status, error") == sorted(
        [
            ("p1", f"q1/{md5('Contextual Fit')}", 3, "ok", None),
            ("p1", f"q1/{md5('Exactness')}", 1, "ok", None),
            ("p2", f"q1/{md5('Contextual Fit')}", 0, "ok", None),
            ("p2", f"q1/{md5('Exactness')}", None, "failed", "the file has no grade (null)"),
        ]
    )


def test_a_changed_file_replaces_the_graders_grades_and_rubric(ingested):
    brought(ingested, json.dumps(PAIRS), "scores.json", grader="llama")
    assert bring(ingested, "scores.json", grader="llama").snapshot is None
    brought(
        ingested,
        "{\"('q1', 'p1')\": {\"Coverage\": 2}}",
        "scores.json",
        grader="llama",
        model="other",
    )
    assert grades(ingested, "name, model, grade") == [("llama", "other", 2)]
    assert ingested.rows("select name, model from lake.raw.graders") == [("llama", "other")]
    assert items(ingested, "bank, query_id, text") == [("llama", "q1", "Coverage")]
    bring(ingested, "scores.json", name="llama")
    assert items(ingested) == [], "a judge per criterion has no rubric"
    assert grades(ingested, "name, target, grade") == [("llama.Coverage", "direct", 2)]


def test_a_grade_off_the_scale_is_refused_naming_its_key(ingested):
    before = ingested.snapshot()
    for grade, scale, wrong in (
        (-1, None, "A of ('q1', 'p1') is -1, off the scale 0-3"),
        (0, "1-5", "A of ('q1', 'p1') is 0, off the scale 1-5"),
        (1.5, None, "A of ('q1', 'p1') is 1.5, not a whole number"),
        (True, None, "A of ('q1', 'p1') is true, not a whole number"),
        (4, None, "A of ('q1', 'p1') is 4, off the scale 0-3"),
    ):
        text = json.dumps({"('q1', 'p2')": {"A": 2}, "('q1', 'p1')": {"A": grade}}, indent=0)
        with pytest.raises(Rejected) as caught:
            brought(ingested, text, "scores.json", grader="m", scale=scale)
        assert caught.value.lines()[0] == f"{ingested.folder}/scores.json:5: {wrong}"
    assert ingested.snapshot() == before
    brought(ingested, text, "scores.json", grader="m", scale="0-5")
    assert grades(ingested, "grade, scale_max") == [(2, 5), (4, 5)]


def test_choices_that_a_file_of_criteria_does_not_have_are_refused(ingested):
    for choices, wrong in (
        ({}, "does not say which model graded"),
        ({"name": "m", "rater": "paper"}, "no replies, judgments or rankings"),
        ({"name": "m", "assessor": "ann"}, "no replies, judgments or rankings"),
        ({"grader": "m", "name": "m"}, "--grader and --name cannot be used together"),
        ({"name": "m", "kind": "nugget"}, "--kind and --scale are of a grader with a rubric"),
        ({"grader": "m", "scale": "3"}, "--scale 3: not a scale"),
        ({"grader": "m", "scale": "3-0"}, "--scale 3-0: not a scale"),
        ({"grader": "a b"}, "--grader: 'a b' cannot be used as a name"),
        ({"grader": "m", "format": "workbench"}, "says itself who graded what"),
    ):
        with pytest.raises(BadInput, match=re.escape(wrong)):
            brought(ingested, json.dumps(PAIRS), "scores.json", **choices)


def test_criteria_never_mix_into_a_rubric_that_others_are_graded_by(ingested):
    ingested.write("bank.csv", ["query_id,kind,text", "q1,question,Why is the sky blue?"])
    import_bank(ingested.lake, "tiny", ingested.folder / "bank.csv", "exam", "auto", [])
    with pytest.raises(BadInput, match=r"has a rubric of questions already: the bank 'exam'"):
        brought(ingested, json.dumps(PAIRS), "scores.json", grader="llama")
    brought(ingested, json.dumps(PAIRS), "scores.json", grader="llama", kind="nugget")
    assert items(ingested, "distinct bank, kind") == [("exam", "question"), ("llama", "nugget")]


def test_the_names_of_other_graders_and_banks_are_taken(ingested):
    ingested.write("bank.csv", ["query_id,kind,text", "q1,nugget,The sky scatters light."])
    import_bank(ingested.lake, "tiny", ingested.folder / "bank.csv", "exam", "auto", [])
    with pytest.raises(BadInput, match="has a bank 'exam' from another source"):
        brought(ingested, json.dumps(PAIRS), "scores.json", grader="exam")
    import_labels(ingested.lake, "tiny", ingested.write("l.qrels", ["q1 0 p1 1"]), "sun", [])
    with pytest.raises(BadInput, match="the lake has another grader 'sun'"):
        brought(ingested, json.dumps(PAIRS), "scores.json", grader="sun")


@pytest.fixture
def dl19_topics(tmp_path, empty_lake):
    """A lake with the topics of TREC DL 2019."""
    if reason := missing_dl19():
        pytest.skip(reason)
    with closing(new_tiny(tmp_path / "dl19", empty_lake)) as project:
        project.settings = {"queries": str(DL19 / "topics.tsv")}
        ingest(project.lake, Collection.named(project.project, "tiny"), [])
        yield project


@pytest.mark.slow
@pytest.mark.parametrize(
    "file",
    [
        "4_prompts_dl2019.json.gz",
        "dl2019_test_4prompts_llama70b.json.gz",
        "dl2019_sun_then_decomposed_relavance_qrel.json.gz",
    ],
)
def test_published_grades_per_criterion_land_with_the_counts_of_the_file(dl19_topics, file):
    path = DL19 / "grades" / file
    content = json.loads(gzip.decompress(path.read_bytes()))
    expected = Counter(
        (f"llama.{name.replace(' ', '-')}", "failed" if grade is None else "ok", grade)
        for criteria in content.values()
        for name, grade in criteria.items()
    )
    done = bring(dl19_topics, str(path), name="llama")
    counted = dl19_topics.rows(
        "select name, status, grade, count(*) from lake.raw.grades "
        "inner join lake.raw.graders using (grader_id) group by all"
    )
    assert {(name, status, grade): n for name, status, grade, n in counted} == expected
    assert done.seen["pairs"] == len(content) == 9260
    assert done.seen["pairs_without_criterion"] == sum(not c for c in content.values())
    pairs = {tuple(map(str, ast.literal_eval(key))) for key, given in content.items() if given}
    found = dl19_topics.rows("select distinct query_id, passage_id from lake.raw.grades")
    assert set(found) == pairs
