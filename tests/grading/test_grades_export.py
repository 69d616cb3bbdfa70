"""`gradelake export grades`: the lake's grades as the workbench's graded JSONL, and back."""

import gzip
import hashlib
import json
from contextlib import closing
from datetime import datetime
from types import SimpleNamespace

import pytest

from gradelake.grading.exchange import grades_export, grades_import
from gradelake.grading.exchange.choices import Choices
from gradelake.grading.exchange.grades_export import export_grades
from gradelake.sql.common.errors import BadInput
from tests import workbench_schema
from tests.grading.workbench_files import (
    RATED,
    bring,
    brought,
    direct,
    extracted,
    grades,
    judgment,
    lines,
    paragraph,
    ranking,
    rated,
)
from tests.ingest.conftest import new_tiny
from tests.projects import rows
from tests.sql.small_lake import graders

pytestmark = pytest.mark.slow

ALL_GRADES = "select * exclude (run_id) from lake.raw.grades order by all"
ALL_GRADERS = "select * from lake.raw.graders order by grader_id"
ERROR = {"response": "{", "prompt": "", "failure_reason": "not JSON"}


@pytest.fixture
def topics_only(tmp_path, empty_lake):
    """A lake with one topic alone."""
    with closing(new_tiny(tmp_path / "topics", empty_lake)) as project:
        project.settings = {"queries": "topics.tsv"}
        project.write("topics.tsv", {"q1": "why is the sky blue"})
        project.ingest()
        yield project


@pytest.fixture
def another(tmp_path, tiny_lake):
    """A second lake with the same collection, without grades."""
    with closing(new_tiny(tmp_path / "another", tiny_lake)) as project:
        yield project


def exported(tiny, *graders, name="out.jsonl"):
    """The lines that an export writes."""
    export_grades(tiny.lake, tiny.name, tiny.folder / name, graders)
    return (tiny.folder / name).read_text(encoding="utf-8").splitlines()


def moved(tiny, another, **choices):
    """Export from one lake and import into the other, which is one's own too."""
    another.write("out.jsonl", exported(tiny))
    return bring(another, "out.jsonl", **{"trust": True} | choices)


def without_times(rows):
    """Imported grades and graders have the time of their import."""
    return [[value for value in row if not isinstance(value, datetime)] for row in rows]


def normal(line, absent=(None,)):
    """A line with its lists in one order, without values that readers take for absent, and without
    what the lake says beside: the assessor of a judgment."""
    query, paragraphs = json.loads(line)

    def sort(value):
        if isinstance(value, dict):
            return {key: sort(item) for key, item in value.items() if item not in absent}
        if isinstance(value, list):
            return sorted(map(sort, value), key=lambda item: json.dumps(item, sort_keys=True))
        return value

    for given in paragraphs:
        for judged in given["paragraph_data"]["judgments"]:
            judged.pop("assessor", None)
    return [query, sort(paragraphs)]


# every thing that the format holds
FULL = [
    paragraph(
        "p1",
        exam=[
            rated({"q1/a": 4, "q1/b": 0}, {"q1/a": "4", "q1/b": "6 months"}, relevance_label=3),
            rated(
                {"n1": 1, "n2": 5},
                prompt_info=RATED | {"prompt_class": "Nugget"},
                self_ratings=[
                    {"nugget_id": "n1", "self_rating": 1},
                    {"nugget_id": "n2", "self_rating": 5},
                ],
                prompt_type="nugget",
            ),
            extracted({"q1/a": "blue light", "q1/b": "No"}, ["q1/a"]),
            rated(
                {"q1/a": 2},
                llm="other/model",
                llm_options={"temperature": 0.5},
                llm_response_errors={"q1/b": ERROR},
            ),
        ],
        grades=[direct(2, "rather"), direct(1, "Yes", llm="b", relevance_label=1)],
        judgments=[judgment("p1", 2)],
        rankings=[ranking("good", "p1", 1, 2.5)],
    ),
    paragraph(
        "p2",
        exam=[rated({"q1/a": 0})],
        grades=[direct(0, "{", llm_response_error="not JSON")],
        judgments=[judgment("p2", 0)],
        rankings=[ranking("good", "p2", 2, 1.5)],
    ),
]


def test_a_file_comes_out_of_the_lake_as_it_went_in(ingested):
    given = lines(
        q1=FULL,
        q2=[
            paragraph(
                "p3",
                exam=[rated({"q2/x": 3})],
                judgments=[judgment("p3", 1, "q2", "how do bees find home")],
            )
        ],
    )
    brought(ingested, given)
    absent = (None, "", [])
    out = exported(ingested)
    assert [normal(line, absent) for line in out] == [normal(line, absent) for line in given]


OWN = "00c0ffee00c0ffee"  # the id of a grader of our own
TEXT = hashlib.sha256(b"Text of passage 1.").hexdigest()


def insert(tiny, table, **columns):
    with tiny.lake.transaction("grade") as transaction:
        transaction.insert(table, rows(table, **columns))


def own_grader(tiny, target="question", **changes):
    about = {"grader_id": OWN, "name": "tiny-judge", "engine": "vllm", "model": "org/model"}
    prompt = {"prompt": "question_self_rating", "prompt_text": "Rate {item} on {passage}"}
    settings = json.dumps({"decoding": {"temperature": 0.0}, "context_first": True})
    reads = {"target": target, "parser": "lenient", "scale_min": 0, "scale_max": 5}
    insert(tiny, "graders", **about | prompt | reads | {"settings": settings} | changes)


def own_grades(tiny, **columns):
    usual = {"grader_id": OWN, "collection": tiny.name, "query_id": "q1", "passage_id": "p1"}
    insert(tiny, "grades", **usual | {"passage_sha256": TEXT} | columns)


FIVE = {
    "item_id": ["a", "b", "c", "d", "a"],
    "grade": [4, 0, 1, None, 2],
    "status": ["ok", "unanswerable", "defaulted", "failed", "ok"],
    "response": ["4", "it does not say", 'w\x1f\x7f\te/l\\l "ü😀"', None, None],
    "answer": [None, "nothing", None, None, None],
    "error": [None, None, None, "three times no answer", None],
    "expected_grade": [3.7, None, None, None, None],
    "scale_mass": [0.99, 1e-07, 1.0, None, None],
    "probabilities": [[0.0, 0.0, 0.1, 0.2, 0.6, 0.1], None, None, None, None],
    "reasoning": ["It says so.", None, None, "It does", None],
    "prompt_tokens": [80, None, None, None, None],
    "cached_tokens": [64, None, None, None, None],
    "completion_tokens": [1, None, None, None, None],
    "cut_characters": [0, None, 12, None, None],
    "passage_sha256": [TEXT] * 4 + ["0" * 64],  # the last is of an earlier text
    "graded_at": [datetime(2026, 1, 2, 3, 4, 5, n) for n in (0, 10, 123456, 0, 500000)],
}


def test_grades_and_graders_are_restored_with_all_that_the_lake_knows(ingested, another):
    """Also grades that were read anew, came under a prefix, or are of another text."""
    entry = rated({"a": 0, "b": 3}, {"a": "before", "b": "3"}, relevance_label=1)
    brought(ingested, FULL, rater="both")
    brought(ingested, [paragraph("p2", exam=[entry])], "two.jsonl", name="rerun")
    brought(ingested, [paragraph("p3", exam=[entry], text="Another text.")], "three.jsonl")
    brought(ingested, [paragraph("p3", exam=[entry])], "four.jsonl")
    own_grader(ingested)
    own_grades(ingested, **FIVE)
    own_grader(ingested, "direct", name="direct", scale_max=3, grader_id="d" * 16)
    pairs = {"passage_id": ["p1", "p2"], "grade": [3, None], "status": ["ok", "failed"]}
    own_grades(ingested, grader_id="d" * 16, item_id="", error=[None, "x"], **pairs)
    done = moved(ingested, another)
    assert done.exit_code == 0
    assert done.seen["grades_on_its_word"] == 7
    assert any("grades are of graders that a lake ran itself" in note for note in done.notes())
    for query in (ALL_GRADES, ALL_GRADERS):
        theirs, ours = another.rows(query), ingested.rows(query)
        assert without_times(theirs) == without_times(ours)
        own = [row for row in ours if row[0] in (OWN, "d" * 16)]
        assert all(row in theirs for row in own), "with their times"
        assert len(own) == (7 if query == ALL_GRADES else 2)


def test_a_file_that_claims_grades_of_a_grader_of_yours_is_refused_until_you_say_what_it_is(
    ingested, another
):
    own_grader(ingested)
    own_grades(ingested, **FIVE)
    claimed = "out.jsonl: only the file says that 5 grades are of graders that a lake runs itself"
    with pytest.raises(BadInput, match=claimed) as caught:
        moved(ingested, another, trust=False)
    assert "--trust; else with --name PREFIX" in caught.value.hint
    assert another.rows("select count(*) from lake.raw.grades") == [(0,)]
    assert moved(ingested, ingested, trust=False).counts == {}, "it has them: nothing is claimed"
    theirs = moved(ingested, another, trust=False, name="theirs")
    assert [one["name"] for one in theirs.graders] == ["theirs.question_self_rating"]
    assert another.rows("select engine from lake.raw.graders") == [("imported",)]
    assert not another.rows(f"from lake.raw.grades where grader_id = '{OWN}'")


def test_whose_grades_are_new_is_found_in_less_memory_than_they_take(another):
    """Many with their grader in one transaction, which DuckDB takes for empty tables."""
    with another.lake.transaction("import") as transaction:
        transaction.insert("graders", graders("g" * 64))
        transaction.insert_from(
            "grades",
            """
            select
                ? as grader_id, 'tiny' as collection, 'q' || i // 50000 as query_id,
                'p' || i as passage_id, '' as item_id, 1 as grade, 'ok' as status,
                ? as run_id, now()::timestamp as graded_at
            from range(400_000) as r(i)
            """,
            "g" * 64,
            transaction.run_id,
        )
        another.lake.connection.execute("set memory_limit = '30MB'")
        into = SimpleNamespace(
            lake=another.lake, transaction=transaction, choices=Choices(), shown="out.jsonl"
        )
        with pytest.raises(BadInput, match="only the file says that 400,000 grades are of"):
            grades_import._require_trust(into)
        another.rows("delete from lake.raw.grades")


def test_grades_with_other_gold_answers_or_another_query_text_are_restored(ingested, another):
    """The workbench sees the newest of an item's grades, an import gets them all."""
    times = [datetime(2026, 1, day) for day in (1, 2, 3)]
    own_grader(ingested, "extract", parser="answer_key")
    own_grades(
        ingested,
        item_id=["a", "a", "b", "b"],
        grade=[0, 1, 1, 0],
        gold_sha256=["old", "new", None, None],
        query_sha256=[None, None, "old", "new"],
        graded_at=times[:2] * 2,
    )
    moved(ingested, another)
    assert another.rows(ALL_GRADES) == ingested.rows(ALL_GRADES)
    (entry,) = json.loads(exported(another)[0])[1][0]["exam_grades"]
    assert (entry["correctAnswered"], entry["wrongAnswered"]) == (["a"], ["b"])
    # beside those that the other lake has
    own_grades(ingested, item_id="a", grade=0, gold_sha256="newest", graded_at=times[2])
    another.write("more.jsonl", exported(ingested))
    assert bring(another, "more.jsonl", trust=True).counts["grades"] == 1
    assert another.rows(ALL_GRADES) == ingested.rows(ALL_GRADES)


def test_the_workbench_can_read_a_grader_of_our_own(ingested):
    own_grader(ingested)
    own_grades(ingested, **FIVE)
    line, _ = exported(ingested, "tiny-judge")
    _, paragraphs = json.loads(line)
    assert [given["paragraph_id"] for given in paragraphs] == ["p1", "p2"]  # p2 is in the pool
    (entry,) = paragraphs[0]["exam_grades"]
    assert entry["llm_options"]["gradelake"]["prompt_text"] == "Rate {item} on {passage}"
    answers, ratings = dict(zip("abc", FIVE["response"], strict=False)), {"a": 4, "b": 0, "c": 1}
    read = rated(ratings, answers, llm="org/model", exam_ratio=0.5)
    read["prompt_info"] = {"prompt_class": "question_self_rating", "is_self_rated": True}
    read["prompt_info"]["context_first"] = True
    failed = {"response": "", "prompt": "", "failure_reason": "three times no answer"}
    read["llm_response_errors"] = {"d": failed | {"caught_exception": None}}
    for ours in (entry, read):
        del ours["llm_options"]
    assert entry.pop("gradelake")
    assert entry == read
    workbench_schema.Line.model_validate(json.loads(line))


def test_without_the_extra_keys_the_ratings_still_come_back_under_their_grader(ingested, another):
    own_grader(ingested)
    own_grades(ingested, **FIVE)
    line, _ = exported(ingested)
    query, paragraphs = json.loads(line)
    del paragraphs[0]["exam_grades"][0]["gradelake"]  # as the workbench would drop it
    brought(another, [json.dumps([query, paragraphs])], trust=True)
    assert grades(another, "grader_id, item_id, grade") == [
        ("00c0ffee00c0ffee", "a", 4),
        ("00c0ffee00c0ffee", "b", 0),
        ("00c0ffee00c0ffee", "c", 1),
        ("00c0ffee00c0ffee", "d", None),
    ]


def test_importing_an_export_into_its_own_lake_adds_nothing(ingested):
    own_grader(ingested)
    own_grades(ingested, **FIVE)
    brought(ingested, FULL)
    before = ingested.rows(ALL_GRADES), ingested.rows(ALL_GRADERS)
    done = moved(ingested, ingested)
    assert done.counts == {}
    assert (ingested.rows(ALL_GRADES), ingested.rows(ALL_GRADERS)) == before


def test_rankings_are_whole_unless_a_depth_cuts_them(ingested):
    """What lies below the pool's depth, or has no text, is part of a ranking, too."""
    ingested.configure(default_pool_depth=2, judgments={"nist": "nist.qrels", "ann": "ann.qrels"})
    ingested.write("ann.qrels", ["q1 0 p1 3"])
    ingested.write(
        "runs/tied.run", ["q1 Q0 p3 1 1 t", "q1 Q0 p4 2 1 t", "q1 Q0 p5 3 0.5 t", "q1 Q0 p9 4 7 t"]
    )
    ingested.ingest()
    brought(ingested, [paragraph("p2", exam=[rated({"a": 1})])])

    def ranked(**options):
        counts = export_grades(ingested.lake, "tiny", ingested.folder / "out.jsonl", **options)
        line = json.loads((ingested.folder / "out.jsonl").read_text().splitlines()[0])
        by_rank = {
            row["rank"]: (given["paragraph_id"], row["score"])
            for given in line[1]
            for row in given["paragraph_data"]["rankings"]
            if row["method"] == "tied"
        }
        return {given["paragraph_id"]: given for given in line[1]}, by_rank, counts

    # p9 has no text; of equal scores the greater id comes first
    found, by_rank, counts = ranked()
    assert by_rank == {1: ("p9", 7.0), 2: ("p4", 1.0), 3: ("p3", 1.0), 4: ("p5", 0.5)}
    assert sorted(found) == ["p1", "p2", "p3", "p4", "p5", "p9"]
    assert (found["p9"]["text"], counts["passages_without_text"]) == ("", 1)
    judged = found["p1"]["paragraph_data"]["judgments"]
    assert [(j["assessor"], j["relevance"]) for j in judged] == [("ann", 3), ("nist", 2)]
    assert found["p4"]["paragraph_data"]["rankings"] == [
        {"method": "tied", "paragraphId": "p4", "queryId": "q1", "rank": 2, "score": 1.0}
    ]

    (n_entries,) = ingested.rows("select count(*) from lake.raw.run_entries")[0]
    assert counts["rankings"] == n_entries
    assert "rankings_left_out" not in counts
    _, by_rank, counts = ranked(depth=2)
    assert by_rank == {1: ("p9", 7.0), 2: ("p4", 1.0)}
    assert counts["rankings_left_out"] == n_entries - counts["rankings"] == 2
    arguments = ("--output", "out.jsonl", "--live", "--depth", "2")
    process = ingested.gradelake("export", "grades", "tiny", *arguments)
    assert process.stderr == "left out: 2 places in rankings below depth 2\n"


SUBTOPIC = {"titleQuery": "Sky", "query": "q1/day", "by": "ann"}
RICH = [
    paragraph(
        "p1",
        exam=[
            rated(
                {"q1/a": 4},
                llm_response_errors={
                    "q1/b": ERROR | {"prompt": "Rate q1/b.", "caught_exception": "KeyError"}
                },
                embedding_key=[1, 2],
                exam_ratio=0.25,
            )
        ],
        grades=[
            direct(
                0, llm_response_error={"response": "", "prompt": "Judge.", "failure_reason": "why"}
            ),
            {k: v for k, v in direct(1, "Yes", llm="b").items() if k != "self_ratings"},
        ],
        # of a passage judged for two subtopics the higher counts; both are given back
        judgments=[judgment("p1", 2) | SUBTOPIC, judgment("p1", 1) | SUBTOPIC | {"query": "q1/n"}],
        rankings=[ranking("new", "p1", 3, 2.5) | {"queryId": "q1/day", "run_file": "new.run"}],
        paragraph={"para_body": [{"Text": "Text of passage 1."}]},
        url="https://example.org/1",
    ),
    paragraph("p2", judgments=[judgment("p2", 0)], rankings=[ranking("new", "p2", 4, 1.5)]),
]
del RICH[1]["exam_grades"], RICH[1]["grades"]
RICH[1]["paragraph_data"]["version"] = 2


def test_markup_unknown_keys_prompts_of_failed_pairs_and_subtopics_survive(topics_only):
    given = lines(q1=RICH)
    brought(topics_only, given, assessor="nist", systems=True)
    out = exported(topics_only)
    assert [normal(line) for line in out] == [normal(line) for line in given]
    workbench_schema.Line.model_validate(json.loads(out[0]))
    brought(topics_only, FULL, "graded.jsonl")  # a changed file: what it brought along goes with it
    assert topics_only.rows(
        "select count(*) from lake.raw.brought_along where contains(content, 'example.org')"
    ) == [(0,)]


def test_replies_read_anew_bring_along_what_their_entry_holds(topics_only):
    brought(topics_only, lines(q1=RICH), rater="paper")
    (entry,) = json.loads(exported(topics_only)[0])[1][0]["exam_grades"]
    assert entry["llm_options"]["gradelake"]["parser"] == "paper"
    assert entry["embedding_key"] == [1, 2]
    assert entry["llm_response_errors"]["q1/b"]["prompt"] == "Rate q1/b."
    assert entry["exam_ratio"] == 0.5  # of the grades read anew, not of the file's


def test_a_passage_on_two_lines_brings_along_what_either_holds(topics_only):
    """Two graders' files, one behind the other."""
    first, second = json.loads(json.dumps([RICH, RICH]))
    del first[0]["grades"], second[0]["exam_grades"]
    second[0]["found_by"] = "ann"
    brought(topics_only, [*lines(q1=first), *lines(q1=second)], assessor="nist", systems=True)
    (found,) = exported(topics_only)
    given = [RICH[0] | {"found_by": "ann"}, RICH[1]]
    assert normal(found) == normal(*lines(q1=given))


def test_judgments_that_came_in_the_place_of_a_files_are_written_as_they_are(ingested):
    rich = [judgment("p1", 2) | SUBTOPIC, judgment("p1", 1) | SUBTOPIC]
    brought(ingested, [paragraph(exam=[rated({"a": 1})], judgments=rich)], assessor="ann")
    ingested.configure(judgments={"nist": "nist.qrels", "ann": "ann.qrels"})
    ingested.write("ann.qrels", ["q1 0 p1 0"])
    ingested.ingest()
    judged = json.loads(exported(ingested)[0])[1][0]["paragraph_data"]["judgments"]
    assert [(j["assessor"], j["relevance"]) for j in judged] == [("ann", 0), ("nist", 2)]


def test_graders_are_chosen_by_name_or_id(ingested):
    brought(ingested, FULL)
    own_grader(ingested)
    own_grades(ingested, item_id="a", grade=4)

    def graders(*chosen):
        return {
            (entry["llm"], entry["prompt_info"]["prompt_class"])
            for given in json.loads(exported(ingested, *chosen)[0])[1]
            for entry in given.get("exam_grades", []) + given.get("grades", [])
        }

    assert graders("tiny-judge") == {("org/model", "question_self_rating")}
    assert graders("00c0ffee00c0ffee", "sun.Sun") == {
        ("org/model", "question_self_rating"),
        ("gpt/sun", "Sun"),
    }
    with pytest.raises(BadInput, match=r"no grader 'tiny-juge' graded tiny\n.*'tiny-judge'"):
        graders("tiny-juge")


def test_the_file_is_there_whole_or_not_at_all(ingested):
    out = ingested.folder / "out.jsonl.gz"
    with pytest.raises(BadInput, match="'tiny' has no grades here"):
        export_grades(ingested.lake, "tiny", out)
    brought(ingested, FULL)

    def interrupted(what, items, total):
        yield next(items)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gradelake.sql.common.console.progress", interrupted)
        with pytest.raises(KeyboardInterrupt):
            export_grades(ingested.lake, "tiny", out)
    assert [path.name for path in ingested.folder.glob("*out*")] == []
    export_grades(ingested.lake, "tiny", out)
    first = out.read_bytes()
    assert gzip.decompress(first).count(b"\n") == 2  # q2 has a judged passage
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grades_export, "_AT_ONCE", 1)  # each query by itself
        export_grades(ingested.lake, "tiny", out)
    assert out.read_bytes() == first
    with pytest.raises(BadInput, match="there is no folder"):
        export_grades(ingested.lake, "tiny", ingested.folder / "no" / "out.jsonl")
    with pytest.raises(BadInput, match="no collection 'x'"):
        export_grades(ingested.lake, "x", out)


def test_the_command_reads_the_working_catalog_with_live(ingested):
    brought(ingested, FULL)
    arguments = ("export", "grades", "tiny", "--output", "out.jsonl")
    ingested.gradelake(*arguments, code=2)  # nothing is published yet
    process = ingested.gradelake(*arguments, "--live", "--json", "--grader", "sun.Sun")
    assert process.stderr == ""
    written = json.loads(process.stdout)["written"]
    assert (written["graders"], written["grades"], written["passages"]) == (1, 2, 3)
    ingested.gradelake(*arguments, "--live", "--release", "r1", code=2)
