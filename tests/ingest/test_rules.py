"""A track's rules: what an answer breaks is told by line, at home as by who runs the track."""

import json

import pytest

from tests import command_line
from tests.projects import write

NARRATIVES = {"rag2026-1": "Why is the sky blue at noon?", "rag2026-2": "How do bees find home?"}


def answer(query_id: str, *sentences, **more) -> dict:
    """A line of RAG 2026: sentences of (text, citations)."""
    metadata = {
        "team_id": "blue",
        "narrative_id": query_id,
        "narrative": NARRATIVES.get(query_id),
        "run_id": "r1",
        "run_desc": "first try",
        "generator": "none",
    }
    return {
        "metadata": metadata | more,
        "references": ["p1", "p2", "p3", "p4"],
        "answer": [{"text": text, "citations": cited} for text, cited in sentences],
    }


GOOD = ("Light scatters.", [0, 2]), ("| a | table |", []), ("More of it.", ["p4"])


@pytest.fixture
def track(tiny):
    tiny.write("topics.tsv", NARRATIVES)
    tiny.write("passages.tsv", {f"p{n}": f"Passage {n}." for n in range(1, 5)})
    tiny.configure(judgments=None, runs=None, responses=["subs/*.jsonl"])
    return tiny


def held(track, rules: dict, *answers: dict) -> tuple[list, list]:
    """(what `check` finds, what `ingest` tells) of one file: (line, rule, message)."""
    write(track.folder / "subs/a.jsonl", list(answers))
    track.configure(rules=rules)
    assert track.project  # writes gradelake.toml
    done = command_line.run(track.folder, "check", "tiny", "subs/a.jsonl", "--json")
    verdict = json.loads(done.stdout)
    assert done.returncode == bool(verdict["broken"])
    found = [(each["line"], each["rule"], each["message"]) for each in verdict["broken"]]
    outcome = track.ingest()
    assert not outcome.rejected
    return found, [(each.line, each.rule, each.message) for each in outcome.broken]


def test_an_answer_of_rag_2026_that_keeps_the_rules_lands_and_breaks_none(track):
    rules = {"preset": "trec-rag-2026", "known_ids": True, "max_references": 4}
    exactly = ("w " * 1023, [0, 1, 2]), ("last", [])  # 1,024 words by `str.split`
    both = answer("rag2026-1", *GOOD), answer("rag2026-2", *exactly)
    assert held(track, rules, *both) == ([], [])
    cited = track.rows(
        "select query_id, sentence, cited_passage_id from lake.raw.citations order by all"
    )
    assert cited == [  # positions in the references, or ids
        *(("rag2026-1", n, p) for n, p in ((1, "p1"), (1, "p3"), (3, "p4"))),
        *(("rag2026-2", 1, p) for p in ("p1", "p2", "p3")),
    ]


def test_each_broken_rule_is_told_by_line_alike_to_participant_and_organiser(track):
    rules = {"preset": "trec-rag-2026", "known_ids": True, "max_references": 3}
    long = ("w " * 1024, []), ("one more", [0, 1, 2, 3])
    broken = answer("rag2026-1", *long, narrative="Why is the sky  blue at noon?", run_desc="")
    broken["references"][3] = "nowhere"
    found, told = held(track, rules, broken)
    assert found == told
    assert found == [
        (1, "max_words", "1,026 words; 1,024 are allowed"),
        (1, "max_citations", "sentence 2 cites 4; 3 are allowed"),
        (1, "max_references", "4 references; 3 are allowed"),
        (1, "known_ids", "names 1 document that the passages lack: nowhere"),
        (1, "metadata", "its metadata lack run_desc"),
        (
            *(1, "exact_narratives"),
            "its narrative is not that of rag2026-1, copied exactly: "
            "'Why is the sky  blue at noon?'",
        ),
        (None, "all_topics", "system 'r1' leaves out 1 of 2 topics: rag2026-2"),
    ]
    shown = track.gradelake("check", "tiny", code=1)  # no file: all that the settings name
    assert "subs/a.jsonl:1: 1,026 words; 1,024 are allowed\n" in shown.stderr
    assert shown.stdout == "1 file with 1 answer: 1 file breaks a rule\n"


def test_an_answer_of_rag_2024_says_all_of_it_at_the_top(track):
    of_2024 = {
        "run_id": "r1",
        "topic_id": "rag2026-1",
        "topic": NARRATIVES["rag2026-1"],
        "references": ["p1"],
        "response_length": 401,
        "answer": [{"text": "w " * 401, "citations": [0]}],
    }
    found, told = held(track, {"preset": "trec-rag-2024"}, of_2024)
    assert found == told == [(1, "max_words", "401 words; 400 are allowed")]
    assert held(track, {"preset": "trec-rag-2024", "max_words": 401}, of_2024)[0] == []


def test_ragtime_limits_each_topic_in_characters_as_nfkc_has_them(track):
    topics = [{"request_id": name, "title": text, "limit": 10} for name, text in NARRATIVES.items()]
    track.write("topics.jsonl", topics)
    track.configure(queries="topics.jsonl")
    ligatures = [("\ufb01 " * 3 + "x", [])]  # 7 characters, 10 as NFKC has them
    answers = (
        answer("rag2026-1", *ligatures, topic_id="rag2026-1"),
        answer("rag2026-2", ("12345678901", []), topic_id="rag2026-2"),
    )
    found, _ = held(track, {"preset": "ragtime"}, *answers)
    assert found == [(2, "topic_limit", "11 characters; 10 are allowed")]


def test_only_where_it_is_asked_for_does_a_rule_refuse_a_file(track):
    few, many = answer("rag2026-1", ("Short.", [0])), answer("rag2026-1", ("Long " * 9, [0]))
    write(track.folder / "subs/few.jsonl", [few])
    many["metadata"]["run_id"] = "r2"
    write(track.folder / "subs/many.jsonl", [many])
    track.configure(rules={"max_words": 5, "enforce": True})
    outcome = track.ingest()
    assert [str(problem) for each in outcome.rejected for problem in each.problems] == [
        "subs/many.jsonl:1: 9 words; 5 are allowed"
    ]
    assert track.systems() == {"r1"}
    track.configure(rules={"max_words": 5})
    assert [each.system for each in track.ingest().broken] == ["r2"]
    assert track.systems() == {"r1", "r2"}


@pytest.mark.parametrize("enforce", [False, True])
def test_where_passages_cannot_be_read_answers_land_unless_rules_are_enforced(track, enforce):
    write(track.folder / "subs/a.jsonl", [answer("rag2026-1", *GOOD)])
    track.write("passages.tsv", ["no tab"])
    track.configure(rules={"known_ids": True, "enforce": enforce})
    assert [rejected.file for rejected in track.ingest().rejected] == ["passages.tsv"]
    assert track.systems() == (set() if enforce else {"r1"})


def test_what_ingest_refuses_check_refuses_too(track):
    write(track.folder / "a.jsonl", [answer("rag2026-9", *GOOD), answer("rag2026-1", *GOOD)])
    write(track.folder / "b.jsonl", [answer("rag2026-1", *GOOD)])
    (track.folder / "c.jsonl").write_text("no JSON\n")
    said = track.gradelake("check", "tiny", "a.jsonl", "b.jsonl", "c.jsonl", code=1).stderr
    assert "a.jsonl:1: unknown query 'rag2026-9'" in said
    assert "b.jsonl: system 'r1' is also in a.jsonl" in said
    assert "c.jsonl:1: not JSON" in said


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ({"preset": "trec-rag-2023"}, "rules.preset: unknown value 'trec-rag-2023'"),
        ({"max_word": 5}, "unknown setting 'max_word'"),
        ({"metadata": "team_id"}, "rules.metadata must be a list of strings"),
        ({"topic_limit": True}, "topic_limit needs JSON topics with limit or word_limit"),
    ],
)
def test_rules_that_cannot_be_are_named(track, rules, problem):
    write(track.folder / "subs/a.jsonl", [answer("rag2026-1", *GOOD)])
    track.configure(rules=rules)
    assert problem in track.gradelake("check", "tiny", code=2).stderr
