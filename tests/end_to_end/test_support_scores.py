"""Support of what answers cite: a page-long example by hand, and six systems counted in Python."""

import json
import random
import shutil
from collections import defaultdict
from pathlib import Path
from statistics import mean

import pytest
from sklearn.metrics import cohen_kappa_score

from tests.command_line import gradelake, json_of
from tests.grading.project import engine_code
from tests.projects import project
from tests.reading import live, published

pytestmark = pytest.mark.slow

SYSTEMS, QUERIES, PASSAGES = 6, 5, 12
WORDS = ("No Support", "Partial Support", "Full Support")
WEIGHTS = dict(zip(WORDS, (0, 0.5, 1), strict=True))
# An engine that looks up what a file says of a sentence and a passage
READS = """
def __init__(self, grader):
    super().__init__(grader)
    file = HERE.parent / "support.json"
    self.known = {(s, p): word for s, p, word in json.loads(file.read_text())}

def score(self, prompts):
    return [
        Response(self.known[prompt.values["item"], prompt.values["passage"]])
        for prompt in prompts
    ]
"""
COLLECTION = {
    "queries": "topics.tsv",
    "passages": "passages.jsonl",
    "responses": ["responses.jsonl"],
}
SUPPORTS = {"engine": "reads", "prompt": "support", "actors": 1}

# system -> sentences of (text, cited passages), as a person wrote them
BY_HAND = {
    "careful": [
        ("Bees see ultraviolet light.", ["bees"]),  # fully supported
        ("They dance to show the way.", ["dance", "bees"]),  # fully; the second not at all
        ("The dance was decoded by Karl von Frisch in 1944.", ["dance"]),  # in part: no year
    ],
    "careless": [
        ("Bees see ultraviolet light.", ["dance"]),  # the wrong passage
        ("Honey never spoils.", ["nowhere"]),  # a passage that there is not
        ("They dance to show the way.", []),  # uncited
        ("Bees see red.", ["bees", "dance"]),  # contradicted by both
    ],
    "silent": [("Bees are insects.", [])],
}
OF_HAND = {
    ("Bees see ultraviolet light.", "bees"): "Full Support",
    ("Bees see ultraviolet light.", "dance"): "No Support",
    ("They dance to show the way.", "dance"): "Full Support",
    ("They dance to show the way.", "bees"): "No Support",
    ("The dance was decoded by Karl von Frisch in 1944.", "dance"): "Partial Support",
    ("Bees see red.", "bees"): "No Support",
    ("Bees see red.", "dance"): "No Support",
}


def make(
    folder: Path,
    answers: dict[tuple[str, str], list[tuple[str, list[str]]]],
    passages: list[str],
    known: dict[tuple[str, str], str],
    rules: str,
) -> None:
    """A project whose systems answered so, ingested; a passage's text is `on ` and its id."""
    queries = sorted({query_id for _, query_id in answers})
    files = {
        "topics.tsv": {query_id: f"what about {query_id}" for query_id in queries},
        "passages.jsonl": [{"passage_id": p, "text": f"on {p}"} for p in passages],
        "responses.jsonl": [
            {
                "metadata": {"run_id": system, "topic_id": query_id},
                "responses": [{"text": text, "citations": cited} for text, cited in sentences],
            }
            for (system, query_id), sentences in answers.items()
        ],
        "support.json": [[sentence, f"on {p}", word] for (sentence, p), word in known.items()],
        "engines/reads.py": engine_code(READS),
        "seeds/evaluation_citations.csv": f"citations,missing\n{rules}",
    }
    settings = {"grading": {"engines": "engines"}}
    project(folder, {"rag": COLLECTION}, {"supports": SUPPORTS}, files, **settings)
    gradelake(folder, "ingest", "rag")


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory, new_lake) -> Path:
    folder = tmp_path_factory.mktemp("by_hand")
    new_lake(folder)
    answers = {(system, "bees"): sentences for system, sentences in BY_HAND.items()}
    make(folder, answers, ["bees", "dance"], OF_HAND, "first,no_support\nevery,no_support\n")
    return folder


def scores(folder: Path, columns: str) -> dict[tuple[str, str], tuple]:
    rows = published(folder).rows(
        f"select citations, system, {columns} from lake.marts.support_scores"
    )
    return {(citations, system): tuple(values) for citations, system, *values in rows}


def test_only_what_a_sentence_cites_is_planned(by_hand):
    shown = gradelake(by_hand, "plan", "rag", "--grader", "supports", "--json").stdout
    (plan,) = json.loads(shown)["plans"]
    assert plan["missing_pairs"] == len(OF_HAND)


def test_a_page_long_example_scores_as_by_hand(by_hand):
    gradelake(by_hand, "grade", "rag", "--grader", "supports", "--limit", "3")
    gradelake(by_hand, "grade", "rag", "--grader", "supports")  # goes on where that was
    gradelake(by_hand, "build")
    precision_and_recall = scores(by_hand, "support_precision, support_recall, hard_recall")
    assert precision_and_recall == {
        # 1, 1 and 0.5
        ("first", "careful"): (round(2.5 / 3, 10), round(2.5 / 3, 10), round(2 / 3, 10)),
        # the second sentence's other citation brings precision down, not recall
        ("every", "careful"): (2.5 / 4, round(2.5 / 3, 10), round(2 / 3, 10)),
        ("first", "careless"): (0, 0, 0),
        ("every", "careless"): (0, 0, 0),
        ("first", "silent"): (0, 0, 0),
        ("every", "silent"): (0, 0, 0),
    }
    assert scores(by_hand, "cited_share, missing_share")["every", "careless"] == (0.75, 0.25)
    assert scores(by_hand, "cited_share, missing_share")["first", "silent"] == (0, None)


HEADER = "system,query_id,sentence,cited_passage_id,support\n"
OF_ANN = """careful,bees,1,bees,full
careful,bees,2,dance,partial
careful,bees,3,dance,partial
careless,bees,1,dance,none
careless,bees,4,bees,partial
careless,bees,4,dance,
"""


def test_peoples_labels_are_compared_with_the_graders(by_hand):
    (by_hand / "ann.csv").write_text(HEADER + OF_ANN)
    bert = {"system": "careful", "query_id": "bees", "cited_passage_id": "bees"}
    (by_hand / "bert.jsonl").write_text(
        json.dumps(bert | {"sentence": 1, "support": "Full Support"})
        + "\n"
        + json.dumps(bert | {"sentence": 2, "support": 0})
    )
    done = gradelake(by_hand, "import", "support", "rag", "ann.csv", "--assessor", "ann").stdout
    assert "wrote 5 support labels for rag" in done
    assert "1 row has no label yet" in done
    gradelake(by_hand, "import", "support", "rag", "bert.jsonl", "--assessor", "bert")
    found = {
        tuple(row[:3]): tuple(row[3:])
        for row in live(by_hand).rows(
            "select judge, reference, cut, n, observed, kappa from lake.marts.support_agreement"
        )
    }
    theirs, ours = [2, 1, 1, 0, 1], [2, 2, 1, 0, 0]
    assert found["supports", "assessor:ann", "all"] == (
        5,
        0.6,
        round(cohen_kappa_score(ours, theirs), 10),
    )
    for cut, least in (("partial", 1), ("full", 2)):
        one, other = ([label >= least for label in labels] for labels in (ours, theirs))
        expected = round(cohen_kappa_score(one, other), 10)
        assert found["supports", "assessor:ann", cut][2] == expected
    assert found["assessor:ann", "assessor:bert", "all"] == (1, 1, None)
    assert found["supports", "assessor:bert", "all"] == (2, 1, 1)


def test_lists_for_people_name_sentences(by_hand):
    def asked(*question: str) -> list[dict]:
        shown = gradelake(by_hand, "sql", *question, "--format", "json").stdout
        return json.loads(shown)

    gradelake(by_hand, "build")
    unsupported = [
        (row["system"], row["sentence"], row["support"], row["cited"])
        for row in asked("@unsupported_sentences", "--grader", "supports")
    ]
    # of the second sentence of `careful` the first citation is enough; one row for each other
    assert unsupported == [
        ("careless", 2, "not in the lake", "nowhere not in the lake"),
        ("careless", 1, "none", "dance none"),
        ("careless", 4, "none", "bees none, dance none"),
        ("careful", 3, "partial", "dance partial"),
    ]
    uncited = [(row["system"], row["sentence"]) for row in asked("@uncited_sentences")]
    assert uncited == [("careless", 3), ("silent", 1)]
    differing = {
        (row["assessor"], row["sentence_text"], row["support"], row["judgment"])
        for row in asked("@support_disagreements")
    }
    assert differing == {
        ("ann", "They dance to show the way.", "full", "partial"),
        ("ann", "Bees see red.", "none", "partial"),
    }


def test_a_queue_of_support_has_a_card_for_each_sentence_and_what_it_cites(by_hand, tmp_path):
    folder = shutil.copytree(by_hand, tmp_path / "rag")
    gradelake(folder, "grade", "rag", "--grader", "supports")
    of_ann = ("queue", "add", "rag", "first", "--grader", "supports", "--assessor", "ann")
    made = json_of(folder, *of_ann, "--overlap", "1", "--json")
    cards = live(folder).rows(
        "select item_text, passage_id, grade from lake.intermediate.int_review_cards"
    )
    assert {(text, passage): WORDS[grade] for text, passage, grade in cards} == OF_HAND
    assert len(cards) == made["n_cards"] == len(OF_HAND)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (
            "careful,bees,1,bees,perhaps",
            "bad.csv:2: support 'perhaps' is not full, partial or none",
        ),
        (
            "careful,bees,9,bees,full",
            "sentence '9' of 'careful' on query 'bees' does not cite 'bees'",
        ),
        ("careful,bees,1,nowhere,full", "does not cite 'nowhere'"),
        ("careful,bees,1,bees", "4 cells instead of 5"),
        ("", "holds no rows, only a header"),
    ],
)
def test_of_a_wrong_file_nothing_lands(by_hand, rows, problem):
    (by_hand / "bad.csv").write_text(HEADER + rows)
    refused = gradelake(
        by_hand, "import", "support", "rag", "bad.csv", "--assessor", "cy", code=2
    ).stderr
    assert problem in refused
    assert not live(by_hand).rows("from lake.raw.support_judgments where assessor = 'cy'")


def test_rows_that_contradict_each_other_are_left_out_and_the_rest_lands(by_hand):
    rows = "careful,bees,1,bees,full\ncareful,bees,3,dance,partial\ncareful,bees,1,bees,none\n"
    (by_hand / "two.csv").write_text(HEADER + rows + "careful,bees,3,dance,partial\n")
    words = ("import", "support", "rag", "two.csv", "--assessor", "dee")
    done = gradelake(by_hand, *words, code=3)
    assert "two.csv:2, 4: different labels of the same sentence of query 'bees'" in done.stderr
    assert "wrote 1 support label for rag" in done.stdout
    taken = (
        "select cited_passage_id, support from lake.raw.support_judgments where assessor = 'dee'"
    )
    assert live(by_hand).rows(taken) == [("dance", 1)]


def test_peoples_labels_score_as_a_graders_do(tmp_path, new_lake):
    """Of a passage that the lake has no text of, too, which a person may have read elsewhere; what
    they did not label is not scored."""
    new_lake(tmp_path)
    rules = "first,no_support\nevery,no_support\ntrack_every,left_out\n"
    answers = {(system, "bees"): sentences for system, sentences in BY_HAND.items()}
    make(tmp_path, answers, ["bees", "dance"], {}, rules)
    (tmp_path / "ann.csv").write_text(HEADER + OF_ANN + "careless,bees,2,nowhere,full\n")
    gradelake(tmp_path, "import", "support", "rag", "ann.csv", "--assessor", "ann")
    gradelake(tmp_path, "build")
    found = published(tmp_path).rows(
        "select citations, system, support_precision, support_recall, n_judged, n_missing "
        "from lake.marts.support_scores where grader = 'assessor:ann'"
    )
    found = {tuple(row[:2]): tuple(row[2:]) for row in found}
    assert found["first", "careful"] == (round(2 / 3, 10), round(2 / 3, 10), 3, 0)
    # none of `dance`, the passage that the lake lacks, and partial for `bees`; one cites nothing
    assert found["first", "careless"] == (0.5, 0.375, 3, 0)
    assert found["every", "careless"] == (0.5, 0.375, 3, 0)
    assert found["track_every", "careless"] == (0.5, 0.375, 3, 0)
    assert found["every", "silent"] == (0, 0, 0, 0)
    board = published(tmp_path).rows(
        "select system, score from lake.marts.leaderboard where measure = 'SupportP' "
        "and label_set = 'assessor:ann/first_citation' and level = 1 order by rank"
    )
    assert board == [("careful", 0.6666666667), ("careless", 0.5), ("silent", 0)]
    shown = gradelake(tmp_path, "sql", "@leaderboard", "--measure", "SupportF1").stdout
    assert "assessor:ann/every_citation" in shown
    gradelake(tmp_path, "compare", "rag", "careless", "careful", "--label-set",
              "assessor:ann/first_citation", "--measure", "SupportR")  # fmt: skip


def test_where_nothing_cited_is_in_the_lake_answers_score_0(tmp_path, new_lake):
    new_lake(tmp_path)
    answers = {("s", "q"): [("Alone.", ["gone"])], ("t", "q"): [("Well.", [])]}
    make(tmp_path, answers, ["p"], {}, "first,no_support\ntrack_every,no_support\n")
    for _ in range(2):
        gradelake(tmp_path, "grade", "rag", "--grader", "supports")
    assert len(live(tmp_path).rows("from lake.raw.grading_runs")) == 1
    gradelake(tmp_path, "build")
    rows = published(tmp_path).rows(
        "select distinct label_set, system, measure, score from lake.marts.leaderboard"
    )
    assert len(rows) == 2 * 2 * 3
    assert {score for *_, score in rows} == {0}


def test_without_citations_there_is_nothing_to_grade(tmp_path, new_lake):
    new_lake(tmp_path)
    answers = {("s", "q"): [("Alone.", [])]}
    make(tmp_path, answers, ["p"], {}, "first,no_support\n")
    refused = gradelake(tmp_path, "grade", "rag", "--grader", "supports", code=2)
    assert "rag has no generated answers with citations" in refused.stderr


def random_track(seed: int, systems: int = SYSTEMS, queries: int = QUERIES):
    """Answers of one to eight sentences, each citing up to three passages, or some that are
    not there; sentences and passages that systems share are labelled once."""
    rng = random.Random(seed)
    passages = [f"p{n:02}" for n in range(PASSAGES)]
    answers, known = {}, {}
    for query in range(queries):
        for system in range(systems):
            sentences = []
            for _ in range(rng.randint(1, 8)):
                cited = rng.choices([*passages, "gone1", "gone2"], k=rng.randint(0, 3))
                if sentences and rng.random() < 0.1:  # an object without a text
                    sentences.append((" ", []))
                    continue
                sentences.append((f"fact {rng.randint(1, 60)} of {query}", cited))
                for p in cited:
                    if p in passages:
                        known.setdefault((sentences[-1][0], p), rng.choice(WORDS))
            answers[f"s{system:02}", f"q{query:02}"] = sentences
    return answers, passages, known


def counted(sentences, known, passages, *, first: bool, left_out: bool):
    """Precision and recall of one answer, from the definition."""
    of_citations, of_sentences = [], []
    for text, cited in sentences:
        if not text.strip():
            continue
        cited = list(dict.fromkeys(cited))[: 1 if first else None]
        weights = [
            WEIGHTS[known[text, p]] if p in passages else None if left_out else 0 for p in cited
        ]
        weights = [weight for weight in weights if weight is not None]
        of_citations += weights
        of_sentences.append(max(weights, default=0))
    return mean(of_citations) if of_citations else 0, mean(of_sentences)


def test_a_random_track_scores_as_counted_in_python(tmp_path, new_lake):
    new_lake(tmp_path)
    answers, passages, known = random_track(7)
    make(tmp_path, answers, passages, known, "first,no_support\nevery,left_out\n")
    gradelake(tmp_path, "grade", "rag", "--grader", "supports")
    gradelake(tmp_path, "build")
    rows = published(tmp_path).rows(
        "select citations, system, query_id, support_precision, support_recall, support_f1 "
        "from lake.marts.support_scores"
    )
    board = {
        (label_set, system, measure): score
        for label_set, system, measure, score in published(tmp_path).rows(
            "select distinct label_set, system, measure, score from lake.marts.leaderboard"
        )
    }
    assert len(rows) == 2 * SYSTEMS * QUERIES
    sums = defaultdict(float)
    for citations, system, query_id, *found in rows:
        first = citations == "first"
        precision, recall = counted(
            answers[system, query_id], known, passages, first=first, left_out=not first
        )
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0
        assert found == pytest.approx([precision, recall, f1], abs=1e-9)
        for measure, value in zip(("SupportP", "SupportR", "SupportF1"), found, strict=True):
            sums[f"supports/{citations}_citation", system, measure] += value / QUERIES
    assert board == pytest.approx(dict(sums), abs=1e-9)
    chosen = ("--label-set", "supports/first_citation", "--measure", "SupportP")
    ranks = gradelake(tmp_path, "stats", "ranks", "rag", *chosen).stdout
    assert f"{SYSTEMS} systems over {QUERIES} queries" in ranks


def as_the_track(sentences, known, passages, *, first: bool, hard: bool) -> tuple[float, float]:
    """Weighted (or hard) precision and recall as the tool of TREC RAG 2026 has them, from their
    definition, sentence by sentence; a passage that is not there was not judged."""
    total, n_judged, n_not_judged = 0.0, 0, 0
    for text, cited in sentences:
        if not cited:
            continue
        weights = [
            WEIGHTS[known[text, p]] for p in (cited[:1] if first else cited) if p in passages
        ]
        if not weights:
            n_not_judged += 1
            continue
        n_judged += 1
        total += mean(float(weight == 1) if hard else weight for weight in weights)
    divided_by = len(sentences) - n_not_judged
    return total / n_judged if n_judged else 0, total / divided_by if divided_by else 0


def test_a_thousand_answers_score_as_the_tracks_own_tool_scores_them(tmp_path, new_lake):
    new_lake(tmp_path)
    answers, passages, known = random_track(11, systems=20, queries=50)
    make(tmp_path, answers, passages, known, "track_first,left_out\ntrack_every,left_out\n")
    gradelake(tmp_path, "grade", "rag", "--grader", "supports")
    gradelake(tmp_path, "build")
    columns = "query_id, support_precision, support_recall, hard_precision, hard_recall"
    rows = published(tmp_path).rows(
        f"select citations, system, {columns} from lake.marts.support_scores"
    )
    assert len(rows) == 2 * 1000
    for citations, system, query_id, *found in rows:
        expected = [
            each
            for hard in (False, True)
            for each in as_the_track(
                *(answers[system, query_id], known, passages),
                first=citations == "track_first",
                hard=hard,
            )
        ]
        assert found == pytest.approx(expected, abs=1e-9)
    # several citations, a mean of which some are not judged, and nothing to divide by are in it
    assert len({found[-1] for found in rows}) > 50
    assert any(found[3:] == (0, 0, 0, 0) for found in map(tuple, rows))
