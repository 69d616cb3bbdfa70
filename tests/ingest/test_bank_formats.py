"""The formats of rubric banks, and every oddity that real ones have."""

import hashlib
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradelake.ingest.banks.bank_items import Findings
from gradelake.ingest.banks.banks import read_bank
from gradelake.sql.common.problems import Rejected
from gradelake.sql.common.rubric_items import item_id_of
from tests.ingest.good_files import KINDS
from tests.ingest.malformed import malformed
from tests.projects import write


def md5(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()


def item(text: str, kind="question", answers=None, weight=1.0, query="q1", facet="", own_id=""):
    """An item as it is read; its id is made of its text unless it has one."""
    made_id = "/".join(filter(None, (query, facet, md5(text))))
    return (query, facet, own_id or made_id, kind, text, answers, weight)


def questions(*texts: str, query: str = "q1", **more) -> dict:
    """A workbench bank of questions."""
    items = [
        {"query_id": query, "question_id": f"{query}/{md5(t)}", "question_text": t} for t in texts
    ]
    return {"query_id": query, "query_text": "x", "test_collection": "t", "items": items} | more


class Read:
    """A bank as read: `items` without their lines, and what was said."""

    def __init__(self, path, format_="auto"):
        self.findings = Findings(path.name)
        found = read_bank(path, path.name, format_, self.findings)
        self.items = [item[1:] for item in found]
        self.texts = [item.text for item in found]
        self.found = found
        self.left_out = list(self.findings.lines(self.findings.left_out))
        self.notes = list(self.findings.lines(self.findings.notes))


@pytest.fixture
def read(tmp_path):
    """Write a bank (lines of objects, a document, or text) and read it."""

    def _read(content, name="bank.jsonl", format_="auto") -> Read:
        if isinstance(content, list):
            lines = (c if isinstance(c, str) else json.dumps(c) for c in content)
            content = "".join(f"{line}\n" for line in lines)
        elif isinstance(content, dict):
            content = json.dumps(content, indent=1)
        return Read(write(tmp_path / name, content), format_)

    return _read


def rejected(read, *arguments, **named) -> str:
    with pytest.raises(Rejected) as caught:
        read(*arguments, **named)
    return str(caught.value)


# --- the RUBRIC workbench -----------------------------------------------------------------------


def test_a_workbench_bank_has_questions_with_their_ids_and_answers(read):
    bank = questions("What scatters light?")
    bank["items"][0]["gold_answers"] = ["air", " small molecules ", "air", ""]
    # md5 of the 20 characters, as `printf 'What scatters light?' | md5sum` prints it
    item_id = "q1/3aa87d60d75128b8a3d0b93f5fdc0cbf"
    found = read([bank], "bank.jsonl.gz")
    answers = ["air", "small molecules"]
    assert found.items == [item("What scatters light?", answers=answers, own_id=item_id)]
    assert (found.left_out, found.notes) == ([], [])


def test_a_workbench_bank_may_hold_nuggets_by_facet(read):
    nugget = {"query_id": "q1", "nugget_text": " Blue light scatters most "}
    bank = {"query_id": "q1", "facet_id": "physics", "query_text": "x", "items": [nugget]}
    assert read([bank]).items == [item("Blue light scatters most", "nugget", facet="physics")]


def test_a_line_per_facet_and_a_list_of_banks_are_both_read(read, tmp_path):
    banks = [questions("A?", facet_id="f1"), questions("A?", facet_id="f2")]
    for bank in banks:
        for item in bank["items"]:
            del item["question_id"]
    by_line = read(banks)
    listed = read(json.dumps(banks, indent=2), "bank.json")
    assert [item.facet_id for item in by_line.found] == ["f1", "f2"]
    assert listed.items == by_line.items


def test_objects_of_a_document_are_reported_on_their_own_lines(read):
    items = ['{"question_text": "A?"},', '{"question_text": ""}']
    found = read("\n".join(["{", '"query_id": "q1",', '"items": [', *items, "]", "}"]), "bank.json")
    assert found.texts == ["A?"]
    assert found.left_out == ["bank.json:5: item 2 is left out: its text is empty"]


# --- oddities -----------------------------------------------------------------------------------


def test_an_item_that_is_not_clear_is_left_out_and_said(read):
    for change, why in (
        ({"question_text": " \n"}, "its text is empty"),
        ({"question_text": None}, "its text is missing, not text"),
        ({"question_text": 7}, "its text is 7, not text"),
        ({"query_id": "q2"}, "it says query 'q2', its bank says 'q1'"),
        ({"facet_id": "g"}, "it says facet 'g', its bank says 'f'"),
        ({"weight": -1}, "weight -1 is negative"),
        ({"weight": "much"}, "weight 'much' is not a number"),
        ({"weight": float("nan")}, "weight nan is not a number"),
        ({"weight": True}, "weight True is not a number"),
        ({"question_id": ["x"]}, "item id ['x'] is not an id"),
        ({"gold_answers": {"a": 1}}, "gold answers {'a': 1} are not a list of texts"),
        ({"question_text": "B\0?"}, "it holds a null character, which no file of text may"),
        ({"nugget_text": "B"}, "both a question and a nugget"),
    ):
        bank = questions("A?", "B?", "C?", facet_id="f")
        bank["items"][1] |= change
        found = read([questions("Z?", query="q0"), bank])
        assert found.texts == ["Z?", "A?", "C?"]
        assert found.left_out == [f"bank.jsonl:2: item 2 is left out: {why}"]
        assert found.findings.n_left_out == 1


def test_items_that_are_no_objects_and_banks_without_a_list_are_left_out(read):
    found = read([questions("A?"), {"query_id": "q2", "items": "none"}, {"colour": "blue"}])
    assert found.texts == ["A?"]
    assert found.left_out == [
        "bank.jsonl:2: 'items' is not a list of items: left out",
        "bank.jsonl:3: left out: not in the workbench format",
    ]
    bank = questions("A?")
    bank["items"].append(None)
    assert read([bank]).left_out == ["bank.jsonl:1: item 2 is left out: None is not an object"]


def test_a_repeated_item_is_kept_once(read):
    found = read([questions("A?", "B?", "A?"), questions("A?")])
    assert found.texts == ["A?", "B?"]
    assert found.left_out == []
    assert found.notes == [
        f"bank.jsonl:1: 'q1/{md5('A?')}' ('A?') is listed 3 times (lines 1, 2): kept once"
    ]


def test_items_of_one_id_that_differ_are_all_left_out(read):
    bank = questions("A?", "B?", "C?")
    bank["items"][0]["question_id"] = bank["items"][1]["question_id"] = "q1/mine"
    found = read([bank])
    assert found.texts == ["C?"]
    assert found.findings.n_left_out == 2
    assert found.left_out == [
        "bank.jsonl:1: 'q1/mine' ('A?') is listed 2 times with different text: all are left out"
    ]
    again = questions("A?", "A?")
    again["items"][1]["weight"] = 2
    assert "with different weight" in read([again, questions("B?")]).left_out[0]


def test_a_stated_id_is_kept_and_reported_when_it_is_not_that_of_its_text(read):
    bank = questions("A?", "B?")
    bank["items"][0]["question_id"] = "q1/0000"
    bank["items"][1]["question_id"] = f"set1/{md5('B?')}"
    found = read([bank])
    assert [item.item_id for item in found.found] == ["q1/0000", f"set1/{md5('B?')}"]
    assert found.left_out == []
    assert found.notes == [
        "bank.jsonl:1: item 1: id 'q1/0000' is not the md5 of its text 'A?'; if the text was "
        "changed, remove the id. Kept: grades name it",
        f"bank.jsonl:1: item 2: id 'set1/{md5('B?')}' is not written as "
        f"query_id[/facet_id]/md5 ('q1/{md5('B?')}'). Kept: grades name it",
    ]


def test_what_is_odd_but_clear_is_kept_and_noted(read):
    found = read([questions("A?", facet_id=facet) for facet in ("f1", "f2")])
    same = {"own_id": f"q1/{md5('A?')}"}
    assert found.items == [item("A?", facet=facet, **same) for facet in ("f1", "f2")]
    shared = f"id 'q1/{md5('A?')}' is used 2 times (q1/f1, q1/f2): its grades count for each"
    assert f"bank.jsonl:2: {shared}" in found.notes
    numbers = questions("A?", query="19335")
    numbers["query_id"] = numbers["items"][0]["query_id"] = 19335
    found = read([numbers])
    assert found.items == [item("A?", query="19335")]
    assert found.notes == ["bank.jsonl:1: query id 19335 is a number: read as text"]
    found = read([questions("Bees are", "What is it?", "They use the", "Sun compass", "Light,")])
    assert len(found.texts) == 5
    assert found.notes == ["bank.jsonl:1: 3 texts seem broken off in query 'q1': 'Bees are', ..."]


def test_an_item_without_a_query_is_left_out(read):
    found = read(
        [
            questions("A?"),
            {"query_text": "x", "items": [{"question_text": "B?"}]},
            {"query_id": 1.5, "items": [{"question_text": "B?"}]},
        ]
    )
    assert found.texts == ["A?"]
    assert found.left_out == [
        "bank.jsonl:2: item 1 is left out: it names no query",
        "bank.jsonl:3: item 1 is left out: query id 1.5 is not an id",
    ]


def test_a_topic_with_far_more_items_than_the_others_is_pointed_out(read):
    for usual, unusual, notes in (
        (2, 10, ["bank.jsonl:4: topic q3 has 10 questions where others have 2: check it"]),
        (2, 9, []),
        (4, 11, []),
    ):
        sizes = {f"q{n}": unusual if n == 3 else usual for n in range(5)}
        banks = [questions(*(f"{n}?" for n in range(k)), query=q) for q, k in sizes.items()]
        assert read(banks).notes == notes


def test_only_the_first_of_many_like_oddities_are_shown(read):
    bank = questions(*(f"{n}?" for n in range(13)))
    for item in bank["items"][1:]:
        item["question_text"] = ""
    found = read([json.dumps(bank)])
    assert len(found.left_out) == 11
    assert found.left_out[-1] == "bank.jsonl: and 2 more like these"
    assert found.findings.n_left_out == 12


# --- nuggetizer ---------------------------------------------------------------------------------


def test_a_nuggetizer_banks_importance_becomes_a_weight(read):
    weights = {"vital": 1.0, "okay": 0.5, "failed": 0.5, "": 1.0, "crucial": 1.0}
    nuggets = [{"text": f"One {i}!", **({"importance": i} if i else {})} for i in weights]
    found = read([{"query": "why", "qid": "q1", "nuggets": nuggets}])
    assert found.items == [item(f"One {i}!", "nugget", weight=w) for i, w in weights.items()]
    assert found.notes == [
        "bank.jsonl:1: item 3: importance 'failed' is read as 'okay'",
        "bank.jsonl:1: item 5: importance 'crucial' is read as weight 1",
    ]


# --- autojudge ----------------------------------------------------------------------------------

# as autojudge-base 1.0.0 writes it
ARGUE = {
    "query_id": "q1",
    "title_query": "Machu",
    "format_version": "v3",
    "nugget_bank": {
        "Where is it?": {
            "question": "Where is it?",
            "answers": {
                "in Peru": {"answer": "in Peru", "references": [{"doc_id": "d1"}]},
                "in South America": {"answer": "in South America"},
            },
            "question_id": md5("Where is it?"),
            "query_id": "q1",
        }
    },
    "claim_bank": {
        "It is old": {"claim": "It is old", "claim_id": md5("It is old"), "query_id": "q1"}
    },
}
ARGUE_ITEMS = [
    item("Where is it?", answers=["in Peru", "in South America"]),
    item("It is old", "nugget"),
]


def test_an_argue_bank_has_questions_with_answers_and_claims(read):
    for found in (
        read([ARGUE]),
        read([ARGUE], "bank.jsonl.gz"),
        read(ARGUE, "bank.json"),
        read({"format_version": "v3", "banks": {"q1": ARGUE}}, "banks.json"),
    ):
        assert found.items == ARGUE_ITEMS
        assert (found.left_out, found.notes) == ([], [])


def test_an_argue_bank_of_lists_is_the_same_bank(read):
    question = ARGUE["nugget_bank"]["Where is it?"]
    listed = ARGUE | {
        "nugget_bank": [question | {"answers": list(question["answers"].values())}],
        "claim_bank": list(ARGUE["claim_bank"].values()),  # type: ignore[attr-defined]
    }
    assert read([listed]).items == ARGUE_ITEMS
    keyed = {"query_id": "q1", "nugget_bank": {"Where is it?": {"answers": ["in Peru"]}}}
    assert read([keyed]).items == [item("Where is it?", answers=["in Peru"])]


def test_a_ragtime_2026_bank_names_its_topic_in_the_metadata(read):
    bank = {
        "metadata": {"team_id": "t", "topic_id": "q1", "run_id": "r"},
        "nugget_bank": [
            {
                "question": "Where is it?",
                "aggregator_type": "AND",
                "importance": 3,
                "answers": [{"answer": "in Peru", "references": ["d1"]}],
            }
        ],
    }
    found = read([bank])
    assert found.items == [item("Where is it?", answers=["in Peru"], weight=3.0)]
    assert "joins its answers by AND" in found.notes[0]


def test_sub_nuggets_become_items_beside_the_one_they_belong_to(read):
    """They are questions or claims (autojudge's `sub_nuggets`), of any depth."""
    deepest = {"claim": "The Andes", "claim_id": md5("The Andes"), "query_id": "q1"}
    below = {"question": "In which country?", "answers": ["Peru"], "sub_nuggets": [deepest]}
    question = {"question": "Where?", "importance": 3, "sub_nuggets": [below, "How high?"]}
    found = read([{"query_id": "q1", "nugget_bank": [question]}])
    assert [(item.kind, item.text, item.gold_answers, item.weight) for item in found.found] == [
        ("question", "Where?", None, 3.0),
        ("question", "In which country?", ["Peru"], 1.0),
        ("nugget", "The Andes", None, 1.0),
        ("question", "How high?", None, 1.0),
    ]
    assert found.found[2].item_id == item_id_of("q1", "", "The Andes")
    assert found.left_out == []
    assert "sub-nuggets of question 1 are items of their own beside it (2)" in found.notes[0]


def test_a_sub_nugget_is_named_with_the_one_it_belongs_to(read):
    """Else those of two parents on one line would have one message, which counts once."""
    questions = [{"question": f"Where, {n}?", "sub_nuggets": [f"Why, {n}?", 2]} for n in "ab"]
    found = read([{"query_id": "q1", "nugget_bank": questions}])
    assert [line.partition(": ")[2] for line in found.left_out] == [
        f"item 2 of question {parent} is left out: 2 is not an object" for parent in (1, 2)
    ]
    nameless = {"question": ""}
    questions = [{"question": f"Where, {n}?", "sub_nuggets": [nameless]} for n in "ab"]
    found = read([{"query_id": "q1", "nugget_bank": questions}])
    assert [line.partition(": ")[2] for line in found.left_out] == [
        f"sub-question 1 of question {parent} is left out: its text is empty" for parent in (1, 2)
    ]


# --- genq, and folders --------------------------------------------------------------------------


def test_a_genq_file_has_questions_by_facet_with_the_ids_that_grades_name(read):
    """{query: {facet: {title, facet, questions}}}; the id is the md5 with the leading number."""
    facet = {"title": "Rain", "facet": "How it forms", "questions": ["1. Why?", "Where?", "2. x"]}
    found = read({"tqa2:L_1": {"T_2": facet}}, "genq.json")
    assert [item[1:6] for item in found.found] == [
        ("tqa2:L_1", "T_2", f"tqa2:L_1/T_2/{md5('1. Why?')}", "question", "Why?"),
        ("tqa2:L_1", "T_2", f"tqa2:L_1/T_2/{md5('Where?')}", "question", "Where?"),
    ]
    assert (found.left_out, len(found.notes)) == ([], 1)
    assert "'2. x' is passed over" in found.notes[0]


def test_a_folder_holds_a_bank_per_topic(tmp_path):
    folder = tmp_path / "banks"
    folder.mkdir()
    for query in ("q1", "q2"):
        bank = {"query_id": query, "nugget_bank": {"Why?": {"question": "Why?"}, "Who?": 1}}
        write(folder / f"{query}.json.gz", json.dumps(bank))
    write(folder / "README.md", "no bank")
    found = Read(folder)
    assert [item.query_id for item in found.found] == ["q1", "q2"]
    assert [line.split(":")[0] for line in found.left_out] == [
        str(folder / "q1.json.gz"),
        str(folder / "q2.json.gz"),
    ]


# --- CSV ----------------------------------------------------------------------------------------


def test_a_csv_bank_has_an_item_per_row(read):
    found = read(
        [
            "Query_ID,kind,text,gold_answer,weight,facet_id,item_id",
            'q1,question,"Why, then?",air|small molecules,2.5,,',
            "q1,Nugget,Blue scatters,,,physics,",
            "",
            "q2,nugget,Sun compass,a\\|b|c,,,q2/mine",
        ],
        "bank.csv",
    )
    assert found.items == [
        item("Why, then?", answers=["air", "small molecules"], weight=2.5),
        item("Blue scatters", "nugget", facet="physics"),
        item("Sun compass", "nugget", ["a|b", "c"], query="q2", own_id="q2/mine"),
    ]
    assert [item.line for item in found.found] == [2, 3, 5]
    assert len(found.notes) == 1
    assert found.notes[0].startswith("bank.csv:5: this row: id 'q2/mine' is not the md5")


def test_rows_of_a_csv_bank_that_are_not_clear_are_left_out(read):
    found = read(
        [
            "query_id,kind,text,colour,weight",
            'q1,nugget,"over',
            'two lines",,',
            "q1,fact,x,,",
            "q1,nugget,one, too many,cells,",
            "q1,nugget,,,",
            ",nugget,y,,",
            "q1,nugget,z,,-2",
        ],
        "bank.csv",
    )
    assert found.texts == ["over\ntwo lines"]
    assert sorted(found.left_out) == [
        "bank.csv:4: this row is left out: kind 'fact' is not question, nugget or "
        "criterion:TIER:TYPE (TIER: mandatory or optional)",
        "bank.csv:5: this row is left out: 6 cells instead of 5 "
        "(a text with a comma needs double quotes)",
        "bank.csv:6: this row is left out: its text is empty",
        "bank.csv:7: this row is left out: it names no query",
        "bank.csv:8: this row is left out: weight '-2' is negative",
    ]
    assert found.notes == ["bank.csv:1: columns that are not read: 'colour'"]


def test_a_csv_bank_may_come_from_a_spreadsheet_elsewhere(read):
    rows = [["query_id", "kind", "text"], ["q1", "nugget", "a, b"]]
    for separator, ending in ((";", "\r\n"), ("\t", "\n"), (";", "\r")):
        found = read("\ufeff" + ending.join(separator.join(row) for row in rows), "bank.csv")
        assert (found.texts, found.left_out, found.notes) == (["a, b"], [], [])
    long = read(f"query_id,kind,text\nq1,nugget,{'long ' * 50_000}\n", "bank.csv", "csv")
    assert len(long.texts[0]) == 249_999


# --- TQA ----------------------------------------------------------------------------------------


TQA_ANSWERS = {
    "Who studies rocks?": "geologists",
    "It is round.": "true",
    "It is called _____": "gravity",
}


def tqa_question(text, answer, **choices):
    return {
        "beingAsked": {"processedText": text, "rawText": f"1. {text}"},
        "correctAnswer": {"processedText": answer},
        "answerChoices": {key: {"processedText": choice} for key, choice in choices.items()},
    }


def test_a_tqa_lesson_is_a_query_and_its_answer_key_the_gold_answers(read):
    lesson = {
        "globalID": "L_0002",
        "lessonName": "earth",
        "questions": {
            "nonDiagramQuestions": {
                "NDQ_1": tqa_question("Who studies rocks?", "b", a="cooks", b="geologists"),
                "NDQ_2": tqa_question("It is round.", "true", a="true", b="false"),
                "NDQ_3": tqa_question("It is called _____", "gravity"),
                "NDQ_4": tqa_question("Broken?", "e", a="x", b="y"),
            },
            "diagramQuestions": {"DQ_1": {}},
        },
    }
    for content in ([lesson], json.dumps([lesson], indent=1), {"lessons": [lesson]}):
        found = read(content, "tqa.json")
        assert found.items == [
            item(text, answers=[answer], query="tqa2:L_0002", own_id=f"NDQ_{n}")
            for n, (text, answer) in enumerate(TQA_ANSWERS.items(), start=1)
        ]
        assert len(found.left_out) == 1
        assert "question NDQ_4 is left out: its right answer 'e'" in found.left_out[0]
        assert len(found.notes) == 1
        assert "tqa2:L_0002: questions on a picture are passed over (1)" in found.notes[0]


# --- files that are no bank ---------------------------------------------------------------------


def test_a_file_that_is_no_bank_is_rejected_whole(read):
    for name, content, why in (
        (
            "run.txt",
            "q1 Q0 p1 1 2.5 good\nq1 Q0 p2 2 1.5 good",
            "run.txt: this is not a rubric bank",
        ),
        ("x.txt", "x" * 200_000, "x.txt: this is not a rubric bank"),
        ("x.json", '{"q1": "why"}', "x.json: this is not a rubric bank"),
        ("x.json", '{"q": {"f": {"title": "x"}}}', "x.json: this is not a rubric bank"),
        ("x.json", "[]", "x.json: this is not a rubric bank"),
        ("x.json", "[1, 2]", "x.json: this is not a rubric bank"),
        ("x.json", '{\n "items": [\n', "x.json:2: not JSON"),
        ("x.jsonl", '{"query_id": "q1", "items": []}\n{"query_id": "q', "x.jsonl:2: not JSON"),
        ("x.json", '{"a":' * 100_000, "nested too deeply"),
        ("x.csv", "a,b\n1,2", "x.csv: this is not a rubric bank"),
        ("x.csv", "query_id,text\nq1,x", "x.csv: this is not a rubric bank"),
        ("x.csv", "query_id,kind,text,text\n", "column text appears twice"),
        (
            "x.csv",
            'query_id,kind,text\nq1,nugget,"b\n',
            "x.csv:2: a row that cannot be read begins",
        ),
        ("x.jsonl", "", "the file is empty"),
    ):
        assert why in rejected(read, content, name)
    shown = rejected(read, "query_id,text\nq1,x", "bank.csv", format_="csv")
    assert shown.startswith("bank.csv: this is not a rubric bank")
    shown = rejected(read, ",,\n,\n", "bank.csv", "csv")
    assert shown.startswith("bank.csv: every cell is empty\n  what to do: ")
    assert rejected(read, [questions("A?")], format_="argue").splitlines() == [
        "bank.jsonl: this is not in the argue format",
        "  what to do: It looks like --format workbench.",
    ]


@pytest.mark.slow
@settings(max_examples=300, deadline=None, database=None, derandomize=True)
@given(data=st.data())
def test_whatever_stands_in_a_bank_it_is_read_or_rejected_with_a_reason(tmp_path_factory, data):
    kind = data.draw(st.sampled_from([kind for kind in KINDS if "import bank" in kind.command]))
    name = kind.file.removesuffix(".gz")
    path = write(tmp_path_factory.getbasetemp() / name, data.draw(malformed(kind.good)))
    try:
        found = Read(path).found
    except Rejected as error:
        found, hint = [], error.hint
    else:
        hint = "none is needed"
    assert hint
    for item in found:
        assert all((item.query_id, item.item_id, item.text, 0 <= item.weight < math.inf))


# --- real banks ---------------------------------------------------------------------------------
