"""`gradelake import grades`: the workbench's graded JSONL becomes graders and grades."""

import hashlib
import json

import pytest

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Rejected
from tests.grading.workbench_files import (
    EXPORTED,
    LLM,
    RATED,
    bring,
    brought,
    direct,
    grades,
    judgment,
    lines,
    names,
    paragraph,
    ranking,
    rated,
)
from tests.projects import rows

pytestmark = pytest.mark.slow

NAME = "flan-t5-large.QuestionSelfRated"


def test_a_rated_entry_becomes_a_grader_and_a_grade_per_item(ingested):
    done = brought(ingested, [paragraph(exam=[rated({"q1/a": 4, "q1/b": 0})])])
    assert (done.counts, done.exit_code, done.notes()) == ({"graders": 1, "grades": 2}, 0, [])
    assert ingested.rows(
        "select name, engine, model, target, prompt, scale_min, scale_max, parser "
        "from lake.raw.graders"
    ) == [(NAME, "imported", LLM, "question", "QuestionSelfRated", 0, 5, "published")]
    (settings,) = ingested.rows("select settings from lake.raw.graders")[0]
    assert json.loads(settings) == {
        "workbench": {"llm_options": {}, "prompt_info": RATED, "prompt_type": "question"}
    }
    text_hash = hashlib.sha256(b"Text of passage 1.").hexdigest()
    columns = "query_id, passage_id, item_id, grade, status, answer, response, passage_sha256"
    assert grades(ingested, columns) == [
        ("q1", "p1", "q1/a", 4, "ok", None, "4", text_hash),
        ("q1", "p1", "q1/b", 0, "ok", None, "0", text_hash),
    ]


def test_a_published_rating_is_defaulted_unless_the_reply_is_its_digit(ingested):
    replies = {  # item -> reply, rating and its status
        "a": ("3", 3, "ok"),
        "b": ('3"', 3, "ok"),  # the digit the reply holds
        "c": ("0%", 0, "ok"),
        "d": ("3: The answer has limited relevance", 0, "defaulted"),
        "e": ("6 months", 0, "defaulted"),
        "f": ("", 0, "defaulted"),
        "g": ("7", 0, "defaulted"),  # a digit, but not the rating
    }
    entry = rated(
        {item: rating for item, (_, rating, _) in replies.items()},
        {item: reply for item, (reply, *_) in replies.items()},
    )
    done = brought(ingested, [paragraph(exam=[entry])])
    assert grades(ingested) == [("p1", item, *given[1:]) for item, given in replies.items()]
    assert done.seen["replies_no_bare_digit"] == 6


def test_the_paper_rater_reads_the_replies_anew_as_a_grader_of_its_own(ingested):
    entry = rated(
        {"a": 4, "b": 0, "c": 0, "d": 3},
        {"a": "4", "b": "6 months", "c": "unanswerable"},
        llm_response_errors={"e": {"response": "", "prompt": "?", "failure_reason": "timeout"}},
    )
    brought(ingested, [paragraph(exam=[entry])], rater="paper")
    assert names(ingested) == ["flan-t5-large.QuestionSelfRated.paper"]
    assert grades(ingested, "item_id, grade, status, parser, error") == [
        ("a", 4, "ok", "paper", None),
        ("b", 1, "defaulted", "paper", None),  # the papers' default
        ("c", 0, "unanswerable", "paper", None),
        ("d", None, "failed", "paper", "the file has no reply"),
        ("e", None, "failed", "paper", "timeout"),
    ]


def test_a_direct_judge_grades_without_an_item_and_without_rating_gave_1_or_0(ingested):
    unrated = [direct(0, correctAnswered=right, self_ratings=None) for right in (True, False)]
    given = [paragraph(f"p{n}", grades=[entry]) for n, entry in enumerate(unrated, 1)]
    brought(ingested, [*given, paragraph("p3", grades=[direct(3, "very")])])
    assert grades(ingested, "name, passage_id, item_id, grade, response, scale_max") == [
        ("sun.Sun", "p1", "", 1, "", 3),
        ("sun.Sun", "p2", "", 0, "", 3),
        ("sun.Sun", "p3", "", 3, "very", 3),
    ]


def test_failed_prompts_have_no_grade_but_a_reason(ingested):
    error = {"response": "{", "prompt": "Rate", "failure_reason": "not JSON"}
    brought(
        ingested,
        [
            paragraph(exam=[rated({"a": 2}, llm_response_errors={"b": error})]),
            paragraph("p2", grades=[direct(0, llm_response_error=error)]),
            paragraph("p3", exam=[rated({}, llm_response_errors=[error | {"question_id": "c"}])]),
            paragraph("p4", exam=[rated({"a": 0}, llm_response_errors={"a": error})]),
            paragraph(
                "p5",
                exam=[rated({}, llm_response_errors=[["c", "not JSON"]])],
                grades=[direct(0, "{", llm_response_error="not JSON")],
            ),
        ],
    )
    assert grades(ingested, "passage_id, item_id, grade, status, response, error") == [
        ("p1", "a", 2, "ok", "2", None),
        ("p1", "b", None, "failed", "{", "not JSON"),
        ("p2", "", None, "failed", "{", "not JSON"),
        ("p3", "c", None, "failed", "{", "not JSON"),
        ("p4", "a", None, "failed", "{", "not JSON"),
        ("p5", "", None, "failed", "{", "not JSON"),
        ("p5", "c", None, "failed", None, "not JSON"),
    ]


def test_an_item_without_rating_failed_and_an_error_without_item_is_counted(ingested):
    done = brought(
        ingested,
        [
            paragraph(
                exam=[
                    rated(
                        {"a": 2},
                        {"a": "2", "b": "so"},
                        llm_response_errors=[{"failure_reason": "x"}],
                    )
                ]
            )
        ],
    )
    assert grades(ingested, "item_id, grade, status, response, error") == [
        ("a", 2, "ok", "2", None),
        ("b", None, "failed", "so", "the file has no rating"),
    ]
    assert done.notes() == ["1 error names no item; left out"]


def test_old_files_without_prompt_type_tell_the_target_by_their_ratings(ingested):
    nugget = rated({}, self_ratings=[{"nugget_id": "n", "self_rating": 1}])
    old = [rated({"a": 1}), nugget]
    for entry in old:
        for key in ("prompt_type", "prompt_info", "llm_options", "exam_ratio"):
            del entry[key]
    brought(ingested, [{"paragraph_id": "p1", "text": "Text of passage 1.", "exam_grades": old}])
    assert grades(ingested, "target, item_id, grade") == [("nugget", "n", 1), ("question", "a", 1)]
    first, second = names(ingested)  # one name, two graders
    assert first == "flan-t5-large.unknown"
    assert second.startswith("flan-t5-large.unknown-")


def test_graders_differ_by_model_prompt_and_options(ingested):
    options = {"temperature": 1, "prompt_template": "Rate {question}"}
    entries = [
        rated({"a": 1}),
        rated({"a": 2}, llm="llama"),
        rated({"a": 3}, llm_options=options),
        rated({"a": 4}, prompt_info=RATED | {"prompt_class": "Other Class"}),
    ]
    brought(ingested, [paragraph(exam=entries)])
    same, other, third, last = grades(ingested, "grade, name, prompt_text")
    assert same == (1, NAME, None)
    assert other == (2, "llama.QuestionSelfRated", None)
    assert third[1].startswith(f"{NAME}-")
    assert third[2] == "Rate {question}"
    assert last == (4, "flan-t5-large.Other-Class", None)


def test_of_what_is_there_twice_the_first_counts(ingested):
    done = brought(
        ingested,
        [
            paragraph(exam=[rated({"a": 1, "b": 2}), rated({"a": 5, "c": 3})]),
            paragraph(exam=[rated({"b": 4})]),
        ],
    )
    assert grades(ingested) == [("p1", "a", 1, "ok"), ("p1", "b", 2, "ok"), ("p1", "c", 3, "ok")]
    assert done.notes() == ["2 grades are there twice; the first was kept"]


def test_marks_that_contradict_the_ratings_are_counted(ingested):
    entry = rated({"a": 1, "b": 0}) | {"correctAnswered": ["b"], "wrongAnswered": ["a"]}
    done = brought(ingested, [paragraph(exam=[entry])])
    assert done.seen["marked_unlike_rated"] == 2
    assert grades(ingested, "item_id, grade") == [("a", 1), ("b", 0)]


def test_new_passages_are_added_and_known_ones_keep_the_lakes_text(ingested):
    done = brought(
        ingested,
        [
            paragraph("p9", exam=[rated({"a": 1})], text="New."),
            paragraph("p1", exam=[rated({"a": 1})], text="Another text."),
            paragraph("p8", exam=[rated({"a": 1})], text=" "),
        ],
    )
    assert done.counts["passages"] == 1
    assert ingested.rows(
        "select passage_id, text, origin from lake.raw.passages "
        "where passage_id in ('p1', 'p8', 'p9') order by all"
    ) == [("p1", "Text of passage 1.", "corpus"), ("p9", "New.", "corpus")]
    assert done.notes() == [
        "1 paragraph has no text",
        "1 passage has another text in the lake; that one was kept",
    ]
    hashes = dict(grades(ingested, "passage_id, passage_sha256"))
    assert hashes["p1"] == hashlib.sha256(b"Another text.").hexdigest()
    assert hashes["p8"] is None


def test_ids_with_slashes_and_colons_and_extra_keys_are_taken(ingested):
    ingested.write("topics.tsv", ["q1\tsky", "q2\tbees", "tqa2:L_1/T:2\tsea"])
    ingested.ingest()
    given = paragraph("enwiki:Sea%20x/1", exam=[rated({"tqa2:L_1/T:2/ab": 1}, extra=[1])], more={})
    brought(ingested, [json.dumps(["tqa2:L_1/T:2", [given]])])
    assert grades(ingested, "query_id, passage_id, item_id") == [
        ("tqa2:L_1/T:2", "enwiki:Sea%20x/1", "tqa2:L_1/T:2/ab")
    ]


def test_unknown_queries_are_left_out_until_the_topics_come(ingested):
    given = lines(q1=[paragraph(exam=[rated({"a": 1})])], q3=[paragraph(exam=[rated({"b": 1})])])
    done = brought(ingested, given)
    assert (done.exit_code, done.unknown_queries) == (3, ["q3"])
    assert done.notes() == [f"{done.file}: 1 query is not in the collection; left out: q3"]
    assert grades(ingested, "query_id") == [("q1",)]
    ingested.write("topics.tsv", ["q1\tsky", "q2\tbees", "q3\tsea"])
    ingested.ingest()
    assert bring(ingested).exit_code == 0
    assert grades(ingested, "query_id") == [("q1",), ("q3",)]


def test_a_changed_file_replaces_what_it_brought_in_one_commit(ingested):
    brought(ingested, [paragraph(exam=[rated({"a": 1})], grades=[direct(1)])])
    old = ingested.snapshot()
    done = brought(ingested, [paragraph("p2", exam=[rated({"a": 7})])])
    assert done.snapshot == old + 1
    assert grades(ingested) == [("p2", "a", 7, "ok")]
    assert names(ingested) == [NAME]  # the direct judge is gone
    assert ingested.rows("select scale_max from lake.raw.graders") == [(7,)]
    brought(ingested, [paragraph("p2", exam=[rated({"a": 7})])], rater="paper")
    assert names(ingested) == ["flan-t5-large.QuestionSelfRated.paper"]


def test_two_files_of_one_grader_add_up_and_the_lakes_grades_stay(ingested):
    brought(ingested, [paragraph(exam=[rated({"a": 1})])])
    done = brought(ingested, [paragraph(exam=[rated({"a": 5, "b": 2})])], "more.jsonl")
    assert done.notes() == ["1 grade is in the lake from elsewhere; not replaced"]
    assert grades(ingested) == [("p1", "a", 1, "ok"), ("p1", "b", 2, "ok")]
    brought(ingested, [paragraph(exam=[rated({"c": 2})])], "more.jsonl")
    assert grades(ingested) == [("p1", "a", 1, "ok"), ("p1", "c", 2, "ok")]


def test_grades_of_items_that_no_bank_has_are_counted(ingested):
    bank = rows("rubric_items", collection="tiny", item_id="a", query_id="q1", kind="question")
    with ingested.lake.transaction("import", "bank") as transaction:
        transaction.insert("rubric_items", bank)
    done = brought(
        ingested, [paragraph(exam=[rated({"a": 1, "b": 2, "c": 0})], grades=[direct(1)])]
    )
    assert done.notes() == [
        "2 grades are of items that no bank of the collection has; coverage leaves them out until "
        "one does"
    ]


def test_a_grade_of_an_unknown_text_counts_for_any_text(ingested):
    brought(ingested, [paragraph(exam=[rated({"a": 1})], text="")])
    done = brought(ingested, [paragraph(exam=[rated({"a": 2})])], "more.jsonl")
    assert done.seen["grades_in_lake_already"] == 1
    assert grades(ingested, "grade, passage_sha256") == [(1, None)]


# --- judgments and rankings ------------------------------------------------------------------


def test_judgments_are_left_out_unless_an_assessor_is_named(ingested):
    given = [paragraph(judgments=[judgment("p1", 3), judgment("p1", 1)])]
    done = brought(ingested, given)
    assert done.notes() == ["2 judgments were left out; --assessor NAME takes them in"]
    done = bring(ingested, assessor="ann")
    assert done.counts == {"judgments": 1}
    assert done.notes() == ["1 judgment repeats a pair; the highest was kept"]
    assert ingested.rows(
        "select query_id, passage_id, relevance from lake.raw.judgments where assessor = 'ann'"
    ) == [("q1", "p1", 3)]


def test_a_changed_file_replaces_its_judgments_but_nobody_elses(ingested):
    brought(ingested, [paragraph(judgments=[judgment("p1", 3)])], assessor="ann")
    brought(ingested, [paragraph("p2", judgments=[judgment("p2", 1)])], assessor="ann")
    assert ingested.rows(
        "select passage_id, relevance from lake.raw.judgments where assessor = 'ann'"
    ) == [("p2", 1)]
    before = ingested.snapshot()
    with pytest.raises(BadInput, match="has judgments of assessor 'nist' from another source"):
        bring(ingested, assessor="nist")
    with pytest.raises(BadInput, match="'ann' from another source"):
        brought(ingested, [paragraph(judgments=[judgment("p1", 0)])], "b.jsonl", assessor="ann")
    assert ingested.snapshot() == before


def test_rankings_become_systems_that_the_lake_lacks_when_asked(ingested):
    given = [
        paragraph("p1", rankings=[ranking("good", "p1", 1, 9), ranking("new", "p1", 7, 0.5)]),
        paragraph("p2", rankings=[ranking("new", "p2", 2, 1.5), ranking("a b", "p2", 1, 1.0)]),
    ]
    done = brought(ingested, given)
    assert done.notes() == ["4 ranking entries were left out; --systems takes them in"]
    done = bring(ingested, systems=True)
    assert done.counts == {"systems": 1, "run_entries": 2}
    assert done.notes() == [
        "1 system has the file's passages alone: measures that look deeper, such as AP and R@100, "
        "are cut there",
        "1 system of the file is in the lake; not replaced",
        "1 system has a name that cannot be used; left out",
    ]
    cut = "select system, cut_at from lake.raw.systems order by system"
    assert ingested.rows(cut) == [("good", None), ("new", 2)]
    assert ingested.systems() == {"good", "new"}
    assert ingested.run_of("new") == [("q1", "p2", 1.5), ("q1", "p1", 0.5)]
    assert ingested.run_of("good") == [("q1", "p1", 2.5), ("q1", "p2", 1.5)]
    brought(ingested, given[1:], systems=True)
    assert ingested.run_of("new") == [("q1", "p2", 1.5)]


# --- faults ----------------------------------------------------------------------------------

GOOD = json.dumps(["q1", [paragraph(exam=[rated({"a": 1})])]])


def faulty(exam=None, **changes):
    return json.dumps(["q2", [paragraph(exam=[rated({"a": 1}) | exam] if exam else (), **changes)]])


MALFORMED = [
    ("[", "not JSON: Expecting value"),
    ('{"a": 1}', "not [query_id, [paragraph, ...]]"),
    ('["q2", {}]', "not [query_id, [paragraph, ...]]"),
    ("[null, []]", "query_id is missing, not a string"),
    ('["q2", [1]]', "paragraph 1: this is 1, not an object"),
    (faulty(paragraph_id=""), "paragraph 1: paragraph_id is empty"),
    (faulty(text=None), "paragraph 1: text is missing, not a string"),
    (faulty(exam_grades={"a": 1}), 'paragraph 1: exam_grades is {"a": 1}, not a list'),
    (faulty({"llm": None}), "paragraph 1: exam_grades 1, llm is missing, not a string"),
    (
        faulty({"answers": [["a"]]}),
        'paragraph 1: exam_grades 1, answers 1 is ["a"], not [item id, text]',
    ),
    (faulty({"self_ratings": [{"self_rating": 1}]}), "question_id or nugget_id is missing"),
    (
        faulty({"self_ratings": [{"question_id": "a", "self_rating": "high"}]}),
        'self_ratings 1, self_rating is "high", not a whole number',
    ),
    (
        faulty({"self_ratings": [{"question_id": "a", "self_rating": 3e9}]}),
        "self_rating is 3000000000.0, which is out of range",
    ),
    (faulty(grades=[direct(1, answer=5)]), "answer is 5, not a string"),
    (faulty(grades=[direct(1, correctAnswered=None)]), "correctAnswered is missing"),
    (faulty(judgments=[{"relevance": None}]), "paragraph_data, judgments 1, relevance is missing"),
    (faulty(rankings=[ranking("m", "p", 1, "x")]), 'score is "x", not a finite number'),
    (
        faulty({"llm_options": {"gradelake": {"name": "x"}}}),
        "llm_options, gradelake, grader_id is missing",
    ),
]


def test_a_malformed_line_is_reported_and_nothing_lands(ingested):
    before = ingested.snapshot()
    for line, wrong in MALFORMED:
        with pytest.raises(Rejected) as caught:
            brought(ingested, [GOOD, line])
        first = caught.value.lines()[0]
        assert first.startswith(f"{ingested.folder}/graded.jsonl:2: ")
        assert wrong in first
    assert ingested.snapshot() == before


def test_a_file_of_another_collection_is_bad_input(ingested):
    with pytest.raises(Rejected, match="none of its queries is in the collection"):
        brought(ingested, lines(q8=[paragraph()]))
    with pytest.raises(BadInput, match="no such file"):
        bring(ingested, "gone.jsonl")
    ingested.name = "tinny"
    with pytest.raises(BadInput, match="no collection 'tinny'\n  Did you mean 'tiny'"):
        bring(ingested)
    ingested.name = "tiny"
    with pytest.raises(BadInput, match="--name: 'a/b' cannot be used as a name"):
        brought(ingested, [GOOD], name="a/b")


# --- the command -----------------------------------------------------------------------------


def test_the_command_prints_a_line_per_grader_and_leaves_with_3_for_unknown_queries(ingested):
    ingested.write("graded.jsonl", [GOOD, json.dumps(["q9", []])])
    words = ("import", "grades", "tiny", "graded.jsonl", "--rater", "both")
    process = ingested.gradelake(*words, code=3)
    assert process.stderr == "note: graded.jsonl: 1 query is not in the collection; left out: q9\n"
    assert [line.split() for line in process.stdout.splitlines()[1:3]] == [
        [NAME, "question", "1", "1", "0", "0", "0"],
        [f"{NAME}.paper", "question", "1", "1", "0", "0", "0"],
    ]
    assert process.stdout.endswith("tiny: wrote 2 graders, 2 grades\n")
    assert ingested.rows(
        "select commit_message from lake.snapshots() order by snapshot_id desc limit 1"
    ) == [("import grades tiny graded.jsonl: 2 graders, 2 grades",)]


# --- what another lake exported, and somebody changed ---------------------------------------------


def exported(grade=(), grader=()):
    """An entry with a grader and a grade as `gradelake export grades` writes them."""
    given = json.loads(json.dumps(EXPORTED))
    given["llm_options"]["gradelake"] |= dict(grader)
    given["gradelake"]["grades"][0] |= dict(grade)
    return [paragraph(exam=[rated({"q1/c": 3}, **given)])]


def test_times_with_a_zone_are_taken_to_utc(ingested):
    brought(ingested, exported({"graded_at": "2026-01-01T01:00:00+02:00"}), trust=True)
    assert str(ingested.rows("select graded_at from lake.raw.grades")[0][0]) == (
        "2025-12-31 23:00:00"
    )


def test_values_that_no_lake_exports_are_refused(ingested):
    for grade, grader, wrong in (
        ({"expected_grade": 10**400}, {}, "expected_grade is 1000"),
        ({"expected_grade": float("nan")}, {}, "expected_grade is NaN, not a finite number"),
        ({"scale_mass": True}, {}, "scale_mass is true, not a finite number"),
        ({"probabilities": [0.5, None]}, {}, "probabilities 2 is missing, not a finite number"),
        ({"graded_at": "0001-01-01T00:00:00+14:00"}, {}, "not a time"),
        ({}, {"settings": "{"}, "settings is no JSON object"),
        ({}, {"settings": "[]"}, "settings is no JSON object"),
    ):
        with pytest.raises(Rejected) as caught:
            brought(ingested, exported(grade, grader))
        assert wrong in str(caught.value)
