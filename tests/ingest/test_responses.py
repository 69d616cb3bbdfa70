"""Generated responses: cut into passages with nothing lost, citations with the right passage."""

import itertools
import random

import pytest

from gradelake.ingest.collections.responses import (
    MAX_TOKENS,
    Citation,
    count_tokens,
    passage_id,
    read_responses,
)
from gradelake.ingest.collections.responses import split as spans_of
from gradelake.sql.common.rubric_items import item_id_of
from tests.ingest.conftest import said
from tests.ingest.test_readers import PLAIN, a_report
from tests.projects import write


def read(path, *objects):
    return read_responses(write(path, list(objects)), path.name)


def split(text: str, *most: int) -> list[str]:
    """The passages of a text."""
    return [text[start:end] for start, end in spans_of(text, *most)]


def words(n: int, start: int = 1) -> str:
    """n words, each a token."""
    return " ".join(f"w{number}" for number in range(start, start + n))


# --- splitting ----------------------------------------------------------------------------------


def test_whole_paragraphs_are_packed_while_400_tokens_fit():
    assert split("One. Two.\n\nThree.") == ["One. Two.\n\nThree."]
    paragraphs = [words(150), words(200, 151), words(60, 351), words(10, 411)]
    assert split("\n\n".join(paragraphs)) == [
        "\n\n".join(paragraphs[:2]),
        "\n\n".join(paragraphs[2:]),
    ]
    assert split(words(400)) == [words(400)]
    assert split(words(401)) == [words(400), "w401"]


def test_a_paragraph_that_does_not_fit_is_cut_between_sentences():
    sentences = [f"S{n} {words(97)}." for n in range(6)]  # 99 tokens each
    assert split(" ".join(sentences)) == [" ".join(sentences[:4]), " ".join(sentences[4:])]


def test_a_sentence_that_does_not_fit_is_cut_between_words():
    text = " ".join(f"it's-{n}" for n in range(100))  # 5 tokens each
    assert split(text) == [
        " ".join(f"it's-{n}" for n in range(80)),
        " ".join(f"it's-{n}" for n in range(80, 100)),
    ]


def test_a_word_longer_than_a_passage_is_cut_between_tokens():
    text = "a-" * 500
    parts = split(text)
    assert "".join(parts) == text
    assert [count_tokens(part) for part in parts] == [400, 400, 200]


def test_scripts_without_spaces_are_cut_after_a_full_stop_and_nothing_is_put_between():
    sentence = "蜜蜂用舞蹈告诉同伴花在哪里。" * 60
    parts = split(sentence)
    assert "".join(parts) == sentence
    assert all(part.endswith("。") for part in parts)
    assert all(count_tokens(part) <= MAX_TOKENS for part in parts)


def test_closing_quotes_and_brackets_stay_with_their_sentence():
    sentence = f'He said "go. (Or {words(90)}.)" '
    parts = split(sentence * 10)
    assert "".join(" ".join(parts).split()) == "".join((sentence * 10).split())
    assert all(part.endswith('.)"') for part in parts)


def test_abbreviations_and_decimals_do_not_end_a_sentence():
    text = f"{words(200)} about 3.5 percent, e.g. of rice, {words(150)}. Then {words(100)}."
    assert split(text)[1].startswith("Then ")


def test_no_passage_is_too_long_and_nothing_is_lost():
    kinds = [
        *("bee", "it's", "3.14", "Über", "(see", "x)", '"Yes."', "蜂蜜", "e.g."),
        "https://a.b/c?d=e",
    ]
    gaps = [". ", "! ", '." ', "\n", "\n\n", "\n \n", "  ", ". Then ", "。", "\r\n\r\n"]
    gaps += [" "] * 20
    for seed in range(30):
        choose = random.Random(seed)
        n = choose.randint(1, 1500)
        text = "".join(choose.choice(kinds) + choose.choice(gaps) for _ in range(n))
        for most in (MAX_TOKENS, choose.randint(1, 30)):
            parts = split(text, most)
            assert all(0 < count_tokens(part) <= most for part in parts)
            assert all(part == part.strip() for part in parts)
            assert "".join("".join(parts).split()) == "".join(text.split())
        # words that fit are never cut
        plain = " ".join(choose.choice(kinds) for _ in range(800)).replace("蜂蜜", "honey")
        assert " ".join(split(plain, 20)).split() == plain.split()


def test_packing_is_greedy_so_no_two_neighbours_would_fit_together():
    choose = random.Random(3)
    text = "\n\n".join(
        f"P{n} {words(choose.randint(1, 300))}." for n in range(60)
    )  # paragraphs that fit
    parts = split(text)
    for one, next_one in itertools.pairwise(parts):
        assert count_tokens(f"{one}\n\n{next_one.split(chr(10))[0]}") > MAX_TOKENS


# --- reading ------------------------------------------------------------------------------------


def test_the_plain_shape_is_system_query_and_text(tmp_path):
    (found,) = read(
        tmp_path / "a.jsonl", {"system": "s", "query_id": 1, "text": " Words. ", "metadata": {}}
    )
    assert (found.system, found.query_id, found.text, found.line) == ("s", "1", "Words.", 1)
    assert found.citations == []
    assert found.passages() == [(passage_id("Words."), "Words.")]


def test_a_passage_is_named_by_the_md5_of_its_text():
    assert passage_id("Words.") == passage_id("  Words.\n") == "9c69e80bf1e25dccb74cc9716b5519f5"


def test_a_report_cites_in_one_of_three_ways_and_names_its_parts_as_any_track_does(tmp_path):
    for citations, expected in (
        (["d7", "d8"], [Citation(1, 1, "d7"), Citation(1, 2, "d8")]),
        ({"d7": 0.75, "d8": None}, [Citation(1, 1, "d7", 0.75), Citation(1, 2, "d8")]),
        ([1, 0], [Citation(1, 1, "d8"), Citation(1, 2, "d7")]),
        ([], []),
        (None, []),
    ):
        row = a_report(("Bees dance.", citations), references=["d7", "d8"])
        (found,) = read(tmp_path / "a.jsonl", row)
        assert (found.system, found.query_id, found.text) == ("writer", "q1", "Bees dance.")
        assert found.citations == expected
    for key in ("topic_id", "narrative_id", "request_id"):
        for part in ("responses", "answer"):
            for others in ({}, {"topic_id": None, "narrative_id": None}):
                metadata = {"run_id": "r"} | others | {key: 7}
                sentences = {"responses": None, part: [{"text": "One."}, {"text": " Two. "}]}
                (found,) = read(tmp_path / "a.jsonl", {"metadata": metadata} | sentences)
                assert (found.system, found.query_id, found.text) == ("r", "7", "One. Two.")


def test_reports_are_read_in_the_form_of_each_track(tmp_path):
    """As the tracks' guidelines show them, with texts of our own."""
    said = {"text": "Bees dance."}
    of_2025 = {"team_id": "t", "run_id": "r", "narrative_id": 7, "narrative": "n", "type": "auto"}
    ragtime = {"team_id": "t", "run_id": "r", "topic_id": "7", "collection_ids": ["eng"]}
    dragun = {"team_id": "t", "run_id": "r", "topic_id": "7", "use_starter_kit": 0}
    for report, cited in (
        (  # RAG 2024: all of it at the top
            {
                **{"run_id": "r", "topic_id": "7", "topic": "bees", "references": ["d7", "d8"]},
                **{"response_length": 2, "answer": [said | {"citations": [1]}]},
            },
            [("d8", None)],
        ),
        (
            {"metadata": of_2025, "references": ["d7"], "answer": [said | {"citations": [0]}]},
            [("d7", None)],
        ),
        (  # RAG 2026: by document, too
            {"metadata": of_2025, "references": ["d7"], "answer": [said | {"citations": ["d7"]}]},
            [("d7", None)],
        ),
        (
            {"metadata": ragtime, "responses": [said | {"citations": {"d7": 0.9, "d8": 0.1}}]},
            [("d7", 0.9), ("d8", 0.1)],
        ),
        (
            {"metadata": dragun, "responses": [said | {"citations": ["d7", "d8"]}]},
            [("d7", None), ("d8", None)],
        ),
    ):
        (found,) = read(tmp_path / "a.jsonl", report)
        assert (found.system, found.query_id, found.text) == ("r", "7", "Bees dance.")
        assert [(each.cited_passage_id, each.confidence) for each in found.citations] == cited


def test_a_citation_belongs_to_the_passage_in_which_its_sentence_begins(tmp_path):
    sentences = [(f"Sentence {n} {words(50)}.", [f"d{n}"]) for n in range(30)]
    (found,) = read(tmp_path / "a.jsonl", a_report(*sentences))
    texts = dict(found.passages())
    assert len(texts) > 3
    for citation in found.citations:
        assert (
            f"Sentence {citation.sentence - 1} " in texts[found.citing_passage(citation.sentence)]
        )


def test_a_sentence_said_twice_is_cited_in_both_places(tmp_path):
    filler = [(f"Filler {n} {words(95)}.", []) for n in range(8)]
    row = a_report(("Yes.", ["d1"]), *filler, ("Yes.", ["d2"]))
    (found,) = read(tmp_path / "a.jsonl", row)
    first, *_, last = found.passages()
    assert found.citing_passage(1) == first[0]
    assert found.citing_passage(10) == last[0] != first[0]


def test_a_sentence_longer_than_a_passage_is_cited_where_it_begins(tmp_path):
    row = a_report((f"{words(390)}.", []), (f"Long\n\n{words(900)}.", ["d1"]), ("", ["d2"]))
    (found,) = read(tmp_path / "a.jsonl", row)
    texts = dict(found.passages())
    assert texts[found.citing_passage(2)].splitlines()[-1].endswith("Long")
    assert texts[found.citing_passage(3)].endswith("w900.")


# --- into the lake ------------------------------------------------------------------------------


@pytest.fixture
def tiny(ingested):
    """Responses come to a collection that is in the lake already."""
    return ingested


def respond(tiny, *rows, name="responses.jsonl"):
    tiny.write(name, list(rows))
    tiny.configure(responses=["responses*.jsonl"])


def test_a_response_is_a_ranking_of_its_passages_by_position(tiny):
    text = "\n\n".join(f"P{n} {words(300)}" for n in range(3))
    respond(tiny, {"system": "writer", "query_id": "q1", "text": text})
    outcome = tiny.ingest()
    assert not outcome.rejected
    passages = [passage_id(f"P{n} {words(300)}") for n in range(3)]
    assert tiny.run_of("writer") == [("q1", p, -float(n)) for n, p in enumerate(passages, 1)]
    assert tiny.rows(
        "select passage_id, position, origin, text_sha256 = sha256(text), doc_id "
        "from lake.raw.passages where origin = 'response' order by position"
    ) == [(p, n, "response", True, None) for n, p in enumerate(passages, 1)]
    assert tiny.rows(
        "select kind, source_file, n_rows from lake.raw.systems where system = 'writer'"
    ) == [("generation", "responses.jsonl", 3)]


def test_a_passage_said_twice_is_kept_at_its_first_place(tiny):
    one, two = f"One {words(300)}", f"Two {words(300)}"
    respond(tiny, {"system": "writer", "query_id": "q1", "text": f"{one}\n\n{two}\n\n{one}"})
    tiny.ingest()
    assert tiny.run_of("writer") == [("q1", passage_id(one), -1.0), ("q1", passage_id(two), -2.0)]


def test_equal_text_of_two_systems_is_one_passage(tiny):
    same = {"query_id": "q1", "text": "Bees dance."}
    respond(tiny, {"system": "a"} | same, {"system": "b"} | same)
    respond(
        tiny, {"system": "c", "query_id": "q2", "text": "Bees dance. "}, name="responses2.jsonl"
    )
    tiny.ingest()
    assert {"a", "b", "c"} <= tiny.systems()
    assert tiny.rows("select passage_id from lake.raw.passages where origin = 'response'") == [
        (passage_id("Bees dance."),)
    ]


def test_citations_land_with_the_passage_that_makes_them(tiny):
    filler = [(f"Filler {n} {words(95)}.", None) for n in range(8)]
    respond(tiny, a_report(("Yes.", {"p1": 0.5}), *filler, ("Yes.", ["p2", "p2"])))
    tiny.ingest()
    first, *_, last = (passage for _, passage, _ in tiny.run_of("writer"))
    assert tiny.rows(
        "select passage_id, sentence, cited_passage_id, confidence from lake.raw.citations "
        "order by sentence"
    ) == [(first, 1, "p1", 0.5), (last, 10, "p2", None), (last, 10, "p2", None)]


def test_a_whole_answer_is_a_passage_of_its_own_where_it_was_cut(tiny):
    long = f"P0 {words(300)}\n\nP1 {words(300)}"
    respond(tiny, PLAIN | {"system": "a", "text": long}, PLAIN | {"system": "b", "query_id": "q2"})
    tiny.ingest()
    assert tiny.rows(
        "select system, query_id, text, origin, position from lake.raw.answers "
        "inner join lake.raw.passages using (collection, passage_id) order by system"
    ) == [("a", "q1", long, "answer", None), ("b", "q2", "Words.", "response", 1)]
    assert len(tiny.run_of("a")) == 2
    assert passage_id(long) not in {passage for _, passage, _ in tiny.run_of("a")}
    respond(tiny, PLAIN | {"system": "b"})
    tiny.ingest()
    assert tiny.rows("select system, query_id from lake.raw.answers") == [("b", "q1")]


def test_sentences_are_kept_by_their_number_where_the_file_gives_them(tiny):
    respond(
        tiny,
        a_report((" Bees dance. ", ["p1"]), (" ", None), ("Air.", None)),
        PLAIN | {"system": "b"},
    )
    tiny.ingest()
    assert tiny.rows("from lake.raw.sentences order by sentence") == [
        ("tiny", "writer", "q1", number, item_id_of("q1", "", text), text)
        for number, text in ((1, "Bees dance."), (2, ""), (3, "Air."))
    ]
    assert tiny.rows("select system, passage_id from lake.raw.answers order by all") == [
        ("b", passage_id("Words.")),
        ("writer", passage_id("Bees dance.  Air.")),
    ]
    respond(tiny, PLAIN)
    tiny.ingest()
    assert tiny.rows("select * from lake.raw.sentences") == []


def test_responses_that_name_unknown_queries_or_unusable_systems_are_rejected_by_line(tiny):
    rows = [PLAIN | {"query_id": "q9"}, PLAIN | {"system": "../x"}, PLAIN | {"system": "good"}]
    respond(tiny, *rows)
    outcome = tiny.ingest()
    assert outcome.exit_code == 3
    assert said(outcome).splitlines() == [
        "responses.jsonl:1: unknown query 'q9'",
        "responses.jsonl:2: '../x' cannot be used as a system's name",
        "responses.jsonl:3: system 'good' is also in runs/good.run",
        "  what to do: Fix these lines and ingest again.",
    ]
    assert tiny.systems() == {"good"}  # the run


def test_an_answer_that_abstains_is_an_answer_without_passages(tiny):
    at_q2 = {"run_id": "writer", "topic_id": "q2"}
    respond(
        tiny,
        *(PLAIN | {"system": "a"}, PLAIN | {"system": "a", "query_id": "q2", "text": " "}),
        *(a_report(("Air.", ["p1"])), a_report(metadata=at_q2)),
        *(a_report((" ", ["p1"]), metadata={"run_id": "silent", "topic_id": "q1"}),),
    )
    outcome = tiny.ingest()
    assert not outcome.rejected
    assert "responses.jsonl: 3 answers are empty; they score 0" in outcome.warnings
    assert tiny.systems() == {"good", "a", "writer", "silent"}
    assert tiny.rows("select system, query_id from lake.raw.answers order by all") == [
        ("a", "q1"),
        ("writer", "q1"),
    ]
    assert tiny.run_of("silent") == []
    assert tiny.rows("select count(*) from lake.raw.passages where text = ''") == [(0,)]
    assert tiny.rows("select system from lake.raw.citations") == [("writer",)]


def test_queries_without_a_topic_are_left_out_where_the_setting_says_so(tiny):
    tiny.write("runs/wide.run", ["q1 Q0 p1 1 2.5 t", "q8 Q0 p1 1 2 t", "q9 Q0 p1 1 2 t"])
    tiny.write("runs/other.run", ["q8 Q0 p1 1 2.5 t"])
    tiny.write("wide.qrels", ["q1 0 p1 1", "q9 0 p1 1"])
    respond(tiny, PLAIN | {"system": "a"}, PLAIN | {"system": "a", "query_id": "q9"})
    tiny.configure(unknown_queries="leave out", judgments={"wide": "wide.qrels"})
    outcome = tiny.ingest()
    assert said(outcome).splitlines()[0] == (
        "runs/other.run: none of its queries is a topic of tiny: q8"
    )
    assert len(said(outcome).splitlines()) == 2
    left_out = [warning for warning in outcome.warnings if "left out" in warning]
    assert left_out == [
        "wide.qrels: 1 line left out, of 1 query without a topic: q9",
        "runs/wide.run: 2 lines left out, of 2 queries without a topic: q8, q9",
        "responses.jsonl: 1 line left out, of 1 query without a topic: q9",
    ]
    assert tiny.run_of("wide") == [("q1", "p1", 2.5)]
    assert tiny.rows("select query_id from lake.raw.judgments where assessor = 'wide'") == [("q1",)]
    assert tiny.rows("select query_id from lake.raw.answers where system = 'a'") == [("q1",)]


def test_a_changed_file_replaces_its_systems_and_drops_those_it_no_longer_has(tiny):
    respond(tiny, PLAIN | {"system": "a"}, PLAIN | {"system": "b"}, a_report(("Old.", ["p1"])))
    tiny.ingest()
    assert tiny.systems() == {"good", "a", "b", "writer"}
    respond(tiny, PLAIN | {"system": "a", "text": "New."})
    outcome = tiny.ingest()
    assert tiny.systems() == {"good", "a"}
    assert tiny.run_of("a") == [("q1", passage_id("New."), -1.0)]
    assert tiny.run_of("b") == tiny.run_of("writer") == []
    assert tiny.rows("select * from lake.raw.citations") == []
    assert outcome.counts == {"systems": 1, "run_entries": 1, "responses": 1}


def test_a_system_may_move_to_another_file(tiny):
    respond(tiny, PLAIN | {"system": "a"}, PLAIN | {"system": "b"}, name="responses2.jsonl")
    tiny.ingest()
    respond(tiny, PLAIN | {"system": "b"}, name="responses1.jsonl")
    respond(tiny, PLAIN | {"system": "a"}, name="responses2.jsonl")
    outcome = tiny.ingest()
    assert not outcome.rejected
    assert tiny.rows(
        "select system, source_file from lake.raw.systems where kind = 'generation' order by all"
    ) == [("a", "responses2.jsonl"), ("b", "responses1.jsonl")]


def test_a_file_cannot_take_a_system_from_another_whether_that_changed_or_not(tiny):
    respond(tiny, PLAIN | {"system": "a"}, name="responses2.jsonl")
    tiny.ingest()
    respond(tiny, PLAIN | {"system": "a", "text": "Other."}, name="responses1.jsonl")
    assert said(tiny.ingest()).startswith(
        "responses1.jsonl:1: system 'a' is also in responses2.jsonl"
    )
    assert tiny.run_of("a") == [("q1", passage_id("Words."), -1.0)]
    respond(tiny, PLAIN | {"system": "b"}, PLAIN | {"system": "a"}, name="responses2.jsonl")
    outcome = tiny.ingest()
    assert said(outcome).startswith("responses2.jsonl:2: system 'a' is also in responses1.jsonl")
    assert outcome.exit_code == 3


def test_a_run_cannot_take_the_name_of_a_generated_system(tiny):
    respond(tiny, PLAIN | {"system": "a"})
    tiny.ingest()
    tiny.write("runs/a.run", ["q1 Q0 p1 1 1.0 a"])
    outcome = tiny.ingest()
    assert said(outcome).startswith("runs/a.run: the lake has a generation system named 'a'")
    assert tiny.run_of("a") == [("q1", passage_id("Words."), -1.0)]


# --- systems that move between files ------------------------------------------------------------


def generated(tiny) -> dict[str, str]:
    """system -> the text of its only passage."""
    return dict(
        tiny.rows(
            "select system, text from lake.raw.run_entries "
            "inner join lake.raw.passages using (collection, passage_id) "
            "where origin = 'response' order by all"
        )
    )


@pytest.mark.slow
def test_going_back_to_an_earlier_file_brings_its_answers_back(tiny):
    respond(tiny, PLAIN | {"text": "Version one."}, name="responses1.jsonl")
    tiny.ingest()
    first = (tiny.folder / "responses1.jsonl").rename(tiny.folder / "kept.jsonl")
    respond(tiny, PLAIN | {"text": "Version two."}, name="responses2.jsonl")
    tiny.ingest()
    assert generated(tiny) == {"s": "Version two."}
    (tiny.folder / "responses2.jsonl").unlink()
    first.rename(tiny.folder / "responses1.jsonl")
    tiny.ingest()
    assert generated(tiny) == {"s": "Version one."}


@pytest.mark.slow
def test_a_system_that_moved_to_a_faulty_file_is_kept_until_that_is_mended(tiny):
    of_s, of_t = PLAIN | {"text": "From s."}, PLAIN | {"system": "t", "text": "From t."}
    respond(tiny, of_s, of_t, name="responses1.jsonl")
    tiny.ingest()
    respond(tiny, of_t, name="responses1.jsonl")
    respond(tiny, PLAIN | {"text": "New from s."}, {"not": "one"}, name="responses2.jsonl")
    outcome = tiny.ingest()
    assert outcome.exit_code == 3
    assert generated(tiny) == {"s": "From s.", "t": "From t."}
    assert any("no longer has s; kept" in warning for warning in outcome.warnings)
    respond(tiny, PLAIN | {"text": "New from s."}, name="responses2.jsonl")
    tiny.ingest()
    assert generated(tiny) == {"s": "New from s.", "t": "From t."}
