"""`gradelake import rag`: logs of RAG systems, under every name and in every form they come in."""

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest

from gradelake.ingest.collections import doctor
from gradelake.ingest.collections.texts import query_id_of
from gradelake.ingest.rag.brought import sentences_of
from gradelake.ingest.rag.rag_import import Options, import_rag
from gradelake.sql.common.errors import BadInput
from tests.command_line import gradelake
from tests.ingest.conftest import said
from tests.projects import write

WHY, BEES = "Why is the sky blue?", "How do bees\nfind home?"
AIR, SUN, WAX = "Air scatters blue light.", "The sun is a star.", "Bees see polarised light."
ROWS = [
    {
        "user_input": WHY,
        "response": "Air scatters. It is blue.",
        "retrieved_contexts": [AIR, SUN],
        "reference": "Air does it. Blue most.",
    },
    {"user_input": BEES, "response": "", "retrieved_contexts": [WAX], "reference": None},
]
NAMES = {
    "ragas 0.1": ("question", "answer", "contexts", "ground_truth"),
    "ragas": ("user_input", "response", "retrieved_contexts", "reference"),
    "DeepEval": ("input", "actual_output", "retrieval_context", "expected_output"),
}


def md5(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()


def named(names, rows=ROWS) -> list[dict]:
    return [dict(zip(names, row.values(), strict=True)) for row in rows]


Q1, Q2 = query_id_of(WHY), query_id_of("How do bees find home?")


@pytest.fixture
def rag(tiny):
    """A collection without topics of its own."""
    tiny.settings = {}
    return tiny


def bring(rag, content=None, name="v1.jsonl", system=None, marks=True, references=None):
    """Import a log; without content the one that is there."""
    file = rag.write(name, content) if content else rag.folder / name
    rag.close()
    rag._lake = None
    return import_rag(rag.project, rag.name, file, Options(system, marks, references), [])


def refused(rag, rows, message, **how):
    """An import must fail with this message; nothing of it lands."""
    before = rag.snapshot()
    with pytest.raises(BadInput) as caught:
        bring(rag, rows, **how)
    assert message in str(caught.value)
    assert rag.snapshot() == before


def in_the_lake(rag) -> dict[str, list[tuple]]:
    """Everything a log brings, by its texts."""
    texts = dict(rag.rows("select passage_id, text from lake.raw.passages"))
    return {
        "topics": rag.rows("select query_id, text from lake.raw.queries order by all"),
        "ranked": [
            (query, rank, texts[own_id])
            for query, rank, own_id in rag.rows(
                "select query_id, rank, passage_id from lake.raw.run_entries order by all"
            )
        ],
        "answers": rag.rows("select system, query_id, passage_id from lake.raw.answers order by 1"),
        "cited": [
            (query, number, sentence, texts.get(own_id, own_id))
            for query, number, sentence, own_id in rag.rows(
                "select query_id, sentence, text, cited_passage_id from lake.raw.sentences "
                "left join lake.raw.citations using (collection, system, query_id, sentence) "
                "order by query_id, sentence, citation"
            )
        ],
        "nuggets": rag.rows("select query_id, text, kind from lake.raw.rubric_items order by all"),
    }


WANTED = {
    "topics": sorted([(Q1, WHY), (Q2, BEES)]),
    "ranked": sorted([(Q1, 1, AIR), (Q1, 2, SUN), (Q2, 1, WAX)]),
    "answers": [("v1", Q1, md5("Air scatters. It is blue."))],
    # all that was retrieved, together: one request shows it to a judge
    "cited": [
        (Q1, 1, "Air scatters.", f"{AIR}\n\n{SUN}"),
        (Q1, 2, "It is blue.", f"{AIR}\n\n{SUN}"),
    ],
    "nuggets": [(Q1, "Air does it.", "nugget"), (Q1, "Blue most.", "nugget")],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "form"),
    [
        *((names, "jsonl") for names in NAMES.values()),
        *((NAMES["ragas"], form) for form in ("json", "csv", "repr.csv", "columns.csv", "parquet")),
    ],
)
def test_a_log_of_any_tool_in_any_form_is_topics_a_ranking_answers_and_nuggets(rag, names, form):
    rows, contexts = named(names), names[2]
    if form == "parquet":
        pl.DataFrame(rows).write_parquet(rag.folder / "v1.parquet")
        rows = None
    elif form.endswith("csv"):
        for row in rows:
            found = row.pop(contexts)
            if form == "columns.csv":
                row |= {f"{contexts}_{n}": text for n, text in enumerate(found)}
            else:
                row[contexts] = json.dumps(found) if form == "csv" else str(found)
    done = bring(rag, rows, f"v1.{form}", system="v1")
    assert done.written == 2
    assert in_the_lake(rag) == WANTED
    assert "1 question has an empty answer, which scores 0" in done.warnings
    assert done.warnings[0].startswith(f"{rag.folder}/v1.{form}: read {names[0]}, {names[1]}, ")


@pytest.mark.slow
def test_an_answer_cites_what_it_says_it_cites(rag):
    text = "Air does. [1] So do both [1, 3]! A range [1-2].\nNobody saw it [7]. Nothing"
    rows = [{"question": WHY, "answer": text, "contexts": [AIR, SUN, WAX]}]
    done = bring(rag, rows)
    assert "1 question has an answer that cites by marks such as [1]" in done.warnings
    assert in_the_lake(rag)["cited"] == [
        (Q1, 1, "Air does. [1]", AIR),
        (Q1, 2, "So do both [1, 3]!", AIR),
        (Q1, 2, "So do both [1, 3]!", WAX),
        (Q1, 3, "A range [1-2].", AIR),
        (Q1, 3, "A range [1-2].", SUN),
        (Q1, 4, "Nobody saw it [7].", "[7]"),
        (Q1, 5, "Nothing", None),
    ]
    bring(rag, None, marks=False)
    assert {cited for *_, cited in in_the_lake(rag)["cited"]} == {f"{AIR}\n\n{SUN}\n\n{WAX}"}
    parts = [{"text": "Air.", "citations": [1]}, {"text": "Sun.", "citations": ["a"]}]
    contexts = [{"id": "a", "text": AIR}, {"id": "b", "page_content": SUN}]
    bring(rag, [{"question": WHY, "answer": parts, "contexts": contexts}])
    assert in_the_lake(rag)["cited"] == [(Q1, 1, "Air.", SUN), (Q1, 2, "Sun.", AIR)]


def test_sentences_are_of_an_answers_words_and_none_is_lost():
    text = 'He said "go." Then [2] he left.[3] Lists:\n- one\n- two\n\n蜜蜂。 Bye'
    assert sentences_of(text) == [
        *('He said "go."', "Then [2] he left.[3]", "Lists:", "- one", "- two", "蜜蜂。", "Bye")
    ]


def test_the_same_file_changes_nothing_and_a_changed_one_replaces_the_system(rag):
    bring(rag, ROWS)
    before = rag.snapshot()
    assert bring(rag).snapshot is None
    assert rag.snapshot() == before
    other = ROWS[1] | {"response": "By the sun.", "reference": "The sun."}
    bring(rag, [other], "v2.jsonl")
    done = bring(rag, [ROWS[0] | {"response": "Rayleigh.", "reference": "Rayleigh."}])
    assert "1 question had another reference before" in done.warnings
    found = in_the_lake(rag)
    assert found["answers"] == [("v1", Q1, md5("Rayleigh.")), ("v2", Q2, md5("By the sun."))]
    assert found["nuggets"] == sorted([(Q1, "Rayleigh.", "nugget"), (Q2, "The sun.", "nugget")])
    assert found["topics"] == WANTED["topics"]
    rag.close()
    rag.gradelake("system", "rename", "tiny", "v1", "old")
    rag._lake = None
    assert bring(rag, None, system="old").snapshot is None


def test_questions_of_a_collection_with_topics_are_found_by_text_or_id(ingested):
    log = [
        {"question": " why is the  sky blue", "contexts": ["Text of passage 2."], "answer": "Air"},
        {"query_id": "q2", "question": "bees?", "contexts": [{"doc_id": "p3"}], "answer": "Sun"},
    ]
    bring(ingested, log)
    assert ingested.run_of("v1") == [("q1", "p2", -1.0), ("q2", "p3", -1.0)]  # judged already
    log[1] |= {"query_id": "q7"}
    refused(ingested, log, "v1.jsonl:2: no topic of tiny is 'q7'")
    refused(ingested, log, "has a system 'good' from runs/good.run", system="good")
    ingested.write("runs/v1.run", ["q1 Q0 p1 1 2.5 t"])
    outcome = ingested.ingest()
    assert "the lake has a system of a RAG log named 'v1'" in said(outcome)
    assert not any("kept in the lake" in warning for warning in outcome.warnings)


def test_contexts_that_are_ids_alone_are_cited_each_by_itself(ingested):
    found = [{"id": "p2"}, {"id": "p3"}]
    bring(ingested, [{"query_id": "q1", "question": "why?", "contexts": found, "answer": "Air."}])
    cited = "select cited_passage_id from lake.raw.citations where system = 'v1' order by 1"
    assert ingested.rows(cited) == [("p2",), ("p3",)]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"answer": "x", "contexts": ["y"]}], "v1.jsonl:1: no question: question or user_input"),
        ([{"question": [{"role": "user"}]}], "v1.jsonl:1: the question is no text, but a list"),
        ([{"question": "x", "contexts": [{"a": 1}]}], ":1: context 1 has neither a text"),
        ([{"question": "x", "contexts": [{"id": "z"}]}], ":1: context 'z' has no text, and is no"),
        ([{"question": "x", "answer": "See [0]. [1]", "contexts": ["y"]}], "the answer cites [0]"),
        (
            [{"question": "x", "contexts": ["y"], "answer": a} for a in "ab"],
            "v1.jsonl:2: the question is asked twice (first on 1), with other results: does a "
            "column say whose? --column system=COLUMN",
        ),
        ([{"question": "x"}], "v1.jsonl: no question has contexts or an answer"),
        (
            [{"system": s, "question": "x", "answer": "y"} for s in ("a b", "a-b")],
            "v1.jsonl: systems would have one name: a b, a-b",
        ),
        ("a,b\n1,2\n", "v1.jsonl:1: not JSON: Expecting value"),
        ('{"question": "x"\n', "v1.jsonl:1: not JSON"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_and_nothing_lands(rag, rows, message):
    refused(rag, rows, message)
    assert doctor.collections(rag.project)[0].state == "note"
    assert "has no topics" in said(rag.ingest())


@pytest.mark.slow
def test_references_join_a_rubric_only_where_that_is_asked_for(rag):
    bring(rag, ROWS)
    rag.close()
    rag.write("bank.csv", [{"query_id": Q1, "kind": "nugget", "text": "scattering"}])
    rag.gradelake("import", "bank", "tiny", "bank.csv", "--name", "people")
    rag._lake = None
    done = bring(rag, [ROWS[0] | {"reference": "New."}])
    assert any("the rubric of tiny has people; --references" in each for each in done.warnings)
    assert ("New.",) not in rag.rows("select text from lake.raw.rubric_items")
    bring(rag, None, references=True)
    assert ("New.",) in rag.rows("select text from lake.raw.rubric_items")


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_of_a_conversation_the_last_turn_is_the_question_and_the_rest_is_kept(rag, form):
    def log(answers):
        said = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": answers[0]},
            {"role": "user", "content": [{"type": "text", "text": WHY}]},
            {"role": "assistant", "content": answers[1]},
        ]
        messages = json.dumps(said) if form == "csv" else said
        return [{"messages": messages}]

    first = bring(rag, log(["Hi!", "Air scatters."]), f"v1.{form}")
    assert "1 question has turns before them, kept as their narrative" in first.warnings
    done = bring(rag, log(["Welcome.", "Rayleigh."]), f"v2.{form}")
    assert "1 question has other answers before; those of the first log are kept" in done.warnings
    bring(rag, [{"question": WHY, "answer": "Air."}], "v3.jsonl")
    assert rag.rows("select text, narrative from lake.raw.queries order by narrative") == [
        (WHY, "Said before:\nuser: Hello\nassistant: Hi!"),
        (WHY, None),
    ]
    both = "select system, count(distinct query_id) from lake.raw.answers group by 1 order by 1"
    assert rag.rows(both) == [("v1", 1), ("v2", 1), ("v3", 1)]
    together = "select count(distinct query_id) from lake.raw.answers where system in ('v1', 'v2')"
    assert rag.rows(together) == [(1,)]


def test_a_log_may_name_its_systems(rag):
    rows = [
        {"system": system, "question": WHY, "answer": system, "contexts": [AIR] * n}
        for n, system in enumerate(["plain", "openai:gpt 4.1"])
    ]
    done = bring(rag, rows)
    assert done.by == {"systems": "plain, openai-gpt-4.1"}
    kinds = "select system, kind, n_rows from lake.raw.systems order by system"
    assert rag.rows(kinds) == [("openai-gpt-4.1", "ranking", 1), ("plain", "generation", 1)]
    assert bring(rag).snapshot is None
    refused(rag, rows, "v1.jsonl has 2 systems, and --system names one", system="v1")
    done = bring(rag, [rows[1], rows[1] | {"system": "new"}])
    assert any("has no system plain any more, which stays" in each for each in done.warnings)
    prompts = [row | {"system": "You are helpful. " * 9} for row in rows[1:]]
    assert bring(rag, prompts, "prompts.jsonl").by == {"system": "prompts"}


def test_without_a_project_this_folder_becomes_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "v1.jsonl", "".join(f"{json.dumps(row)}\n" for row in ROWS))
    write(tmp_path / "bad.jsonl", '{"contexts": []}\n')
    with pytest.raises(BadInput, match="no question"):
        import_rag(None, "support", Path("bad.jsonl"), Options(), [])
    assert not (tmp_path / "gradelake.toml").exists()
    done = import_rag(None, "support", Path("v1.jsonl"), Options(), [])
    assert done.written == 2
    assert done.warnings[0].startswith(f"made {tmp_path}/gradelake.toml, with the collection supp")
    again = gradelake(tmp_path, "import", "rag", "support", "v1.jsonl")
    assert "unchanged" in again.stdout
    gradelake(tmp_path, "plan", "support")


def span(trace: str, start: int, form: str, **attributes) -> dict:
    """A span as an SDK writes it, or in OTLP JSON with texts or with structure."""
    attributes = {f"gen_ai.{key.replace('__', '.')}": value for key, value in attributes.items()}
    if form == "sdk":
        texts = {key: v if isinstance(v, str) else json.dumps(v) for key, v in attributes.items()}
        return {"context": {"trace_id": trace}, "start_time": f"{start}", "attributes": texts}
    listed = [{"key": key, "value": otlp(value)} for key, value in attributes.items()]
    spans = [{"traceId": trace, "startTimeUnixNano": str(start), "attributes": listed}]
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def otlp(value) -> dict:
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp(each) for each in value]}}
    if isinstance(value, dict):
        held = [{"key": key, "value": otlp(each)} for key, each in value.items()]
        return {"kvlistValue": {"values": held}}
    return {"stringValue": value}


def says(role: str, text: str) -> dict:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


@pytest.mark.parametrize("form", ["sdk", "otlp"])
def test_a_trace_of_opentelemetry_is_a_row(rag, form):
    documents = [{"id": "a", "content": AIR}, {"id": "b", "content": SUN}]
    before = [says("system", "Be brief."), says("user", WHY)]
    answer = [says("assistant", "Air scatters. It is blue.")]
    bring(
        rag,
        [  # as they end, not as they begin
            span("1", 12, form, output__messages=answer, input__messages=before),
            span("1", 11, form, retrieval__documents=documents),
            span(
                "2",
                21,
                form,
                retrieval__documents=[{"id": "c", "content": WAX}],
                retrieval__query__text=BEES,
            ),
            span(
                "2", 22, form, input__messages=[says("user", "Context: ... " + BEES)]
            ),  # it failed
            span("3", 31, form, usage__input_tokens="7"),
        ],
    )
    assert in_the_lake(rag) == WANTED | {"nuggets": []}
    refused(rag, [span("1", 1, form, input__messages=before)], "content was not captured")
