"""The demo's collection `answers`: what `make demo` shows of it, counted in plain Python."""

import csv
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean

import pytest
from sklearn.metrics import cohen_kappa_score
from snowballstemmer import stemmer
from wordfreq import zipf_frequency

from tests.conftest import gradelake

pytestmark = pytest.mark.slow

STEM = stemmer("porter").stemWord
PEOPLE = "answers/support.csv"
VITAL, SUPPORT = "assigns/v0/nuggets", "supports/first_citation"


@pytest.fixture(scope="module")
def folder(demo_answers) -> Path:
    return demo_answers


def asked(folder: Path, *words: str) -> list[dict]:
    return json.loads(gradelake(folder, "sql", *words, "--format", "json").stdout)


def lines(folder: Path, name: str) -> list[dict]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def label(said: str, text: str) -> float:
    """0, 0.5 or 1: the share of `said` that is in `text`, in words that weigh as they are rare."""
    weights: dict[str, float] = {}
    for word in re.findall(r"\w+", said.lower()):
        weight = max(0, 8 - zipf_frequency(word, "en"))
        weights[STEM(word)] = max(weight, weights.get(STEM(word), 0))
    held = {STEM(word) for word in re.findall(r"\w+", text.lower())}
    share = sum(weight for stem, weight in weights.items() if stem in held) / sum(weights.values())
    return 1 if share >= 0.75 else 0.5 if share >= 0.25 else 0


@pytest.fixture(scope="module")
def reports(folder) -> dict[tuple[str, str], list[dict]]:
    """(system, query) -> its sentences."""
    return {
        (row["metadata"]["run_id"], row["metadata"]["topic_id"]): row["responses"]
        for row in lines(folder, "answers/responses.jsonl")
    }


@pytest.fixture(scope="module")
def texts(folder) -> dict[str, str]:
    return {row["passage_id"]: row["text"] for row in lines(folder, "passages.jsonl")}


def board(folder: Path, label_set: str, measure: str) -> dict[str, float]:
    of = ("--collection", "answers", "--label_set", label_set)
    rows = asked(folder, "@leaderboard", *of, "--measure", measure)
    return {row["system"]: row["score"] for row in rows}


def test_the_boards_of_nuggets_are_as_counted(folder, reports):
    bank = {row["qid"]: row["nuggets"] for row in lines(folder, "answers/nugget_bank.jsonl")}
    scores = defaultdict(list)
    for (system, query), sentences in reports.items():
        text = " ".join(sentence["text"] for sentence in sentences)
        held = [label(one["text"], text) for one in bank[query] if one["importance"] == "vital"]
        scores[system, "Vital"].append(mean(held))
        scores[system, "StrictVital"].append(mean(each == 1 for each in held))
    for measure in ("Vital", "StrictVital"):
        assert board(folder, VITAL, measure) == {
            system: pytest.approx(mean(found), abs=1e-4)
            for (system, of), found in scores.items()
            if of == measure
        }
    assert board(folder, VITAL, "Vital") == {"careful_writer": 0.9167, "careless_writer": 0.375}


def test_the_boards_of_support_are_as_counted(folder, reports, texts):
    scores = defaultdict(list)
    for (system, _), sentences in reports.items():
        cited = [(one["text"], one["citations"][0]) for one in sentences if one["citations"]]
        weights = [label(said, texts[p]) if p in texts else 0 for said, p in cited]
        scores[system, "SupportP"].append(mean(weights))
        scores[system, "SupportR"].append(sum(weights) / len(sentences))
    for measure in ("SupportP", "SupportR"):
        assert board(folder, SUPPORT, measure) == {
            system: pytest.approx(mean(found), abs=1e-4)
            for (system, of), found in scores.items()
            if of == measure
        }
    assert board(folder, SUPPORT, "SupportP") == {
        "careful_writer": 0.9021,
        "careless_writer": 0.6125,
    }


def test_a_careless_answer_is_careless_in_each_way(folder, texts):
    """What the demo's page says of the two systems."""
    uncited = Counter(row["system"] for row in asked(folder, "@uncited_sentences"))
    assert uncited == {"careful_writer": 1, "careless_writer": 4}
    gone = [row for row in asked(folder, "@unsupported_sentences") if row["cited_text"] is None]
    assert {row["cited_passage_id"] for row in gone} == {"p901", "p902", "p903"}
    assert not {"p901", "p902", "p903"} & texts.keys()
    assert {row["system"] for row in gone} == {"careless_writer"}


def test_people_see_what_matching_words_does_not(folder, reports, texts):
    with (folder / PEOPLE).open() as file:
        judged = list(csv.DictReader(file))
    ours, theirs = [], []
    for row in judged:
        sentence = reports[row["system"], row["query_id"]][int(row["sentence"]) - 1]
        assert row["cited_passage_id"] in sentence["citations"]
        if row["cited_passage_id"] == sentence["citations"][0]:
            ours.append(2 * label(sentence["text"], texts[row["cited_passage_id"]]))
            theirs.append(["none", "partial", "full"].index(row["support"]))
    (found,) = asked(folder, "select n, kappa from support_agreement where cut = 'all'")
    kappa = cohen_kappa_score(list(map(int, ours)), theirs)
    assert found == {"n": len(ours), "kappa": pytest.approx(kappa)}
    assert 0.2 < kappa < 0.5


def test_each_collection_is_planned_for_its_own_graders(folder):
    for collection, graders in {
        "demo": ["lexical_nuggets", "lexical_direct"],  # `lexical` has no questions here
        "answers": ["assigns", "supports"],
    }.items():
        planned = json.loads(gradelake(folder, "plan", collection, "--json").stdout)
        assert [plan["grader"] for plan in planned["plans"]] == graders
        assert {each["grader"] for each in planned["refused"]} <= {"lexical"}
    # named, a grader does what it is asked to: this is how `demo` has some
    named = gradelake(folder, "plan", "demo", "--grader", "assigns", "--json").stdout
    assert json.loads(named)["plans"][0]["graded_pairs"] == 40


def test_a_query_of_one_collection_names_it(folder):
    def shown(*words: str) -> str:
        return json.loads(gradelake(folder, "rubric", "show", *words, "--json").stdout)[
            "collection"
        ]

    assert shown("volcanoes") == "answers"
    assert shown("volcano-prediction") == "demo"
    refused = gradelake(folder, "rubric", "show", "volcanos", code=2).stderr
    assert "no collection has the query 'volcanos'\n  Did you mean 'volcanoes'?" in refused
    refused = gradelake(folder, "rubric", "diff", "0", "0", code=2).stderr
    assert "Add --collection, one of: answers, demo" in refused
