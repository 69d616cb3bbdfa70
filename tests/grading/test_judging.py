"""Queues of judgments: what is drawn, what people see, and what comes into the lake."""

import csv
import shutil
from collections import Counter
from math import sqrt
from pathlib import Path

import pytest

from tests.command_line import gradelake, json_of
from tests.grading import reviewing
from tests.grading.reviewing import review
from tests.reading import live

pytestmark = pytest.mark.slow
JUDGE = "judge:lexical_direct"


@pytest.fixture(scope="module")
def folder(graded_demo, tmp_path_factory) -> Path:
    return shutil.copytree(graded_demo, tmp_path_factory.mktemp("judging") / "demo")


def add(folder: Path, name: str, *people: str, options: tuple = (), code: int = 0):
    named = (part for who in people for part in ("--assessor", who))
    options = ("--label-set", JUDGE, "--overlap", "1", *options)
    return gradelake(folder, "queue", "add", "demo", name, *options, *named, code=code)


def judge(folder: Path, queue: str, who: str, *lines: object) -> str:
    return reviewing.review(folder, who, lines, "--queue", queue).stdout


def judgments(folder: Path, who: str) -> dict[tuple[str, str], int]:
    rows = live(folder).rows(
        "select query_id, passage_id, relevance from lake.raw.judgments where assessor = ?", who
    )
    return {(query_id, passage_id): relevance for query_id, passage_id, relevance in rows}


def pairs_of(folder: Path, queue: str) -> list[tuple[str, str]]:
    return live(folder).rows(
        "select query_id, passage_id from lake.raw.review_cards where queue = ? order by position",
        queue,
    )


def labels(folder: Path) -> dict[tuple[str, str], int]:
    rows = live(folder).rows(
        "select query_id, passage_id, label from lake.marts.relevance_labels where label_set = ?",
        JUDGE,
    )
    return {(query_id, passage_id): label for query_id, passage_id, label in rows}


def test_pairs_are_drawn_where_they_narrow_the_estimate_and_never_twice(folder):
    add(folder, "first", "ann", options=("--size", "40"))

    # in plain Python: N_h sqrt(p (1 - p)), with p of what the demo's people judged of each label
    label_of, human = labels(folder), judgments(folder, "human")
    sizes = Counter(label_of.values())
    share = {}
    for label in sizes:
        said = [human[pair] >= 2 for pair in human if label_of.get(pair) == label]
        share[label] = (sum(said) + 1) / (len(said) + 2)
    weights = {label: sizes[label] * sqrt(p * (1 - p)) for label, p in share.items()}
    wanted = {label: 40 * weight / sum(weights.values()) for label, weight in weights.items()}
    drawn = Counter(label_of[pair] for pair in pairs_of(folder, "first"))
    assert {label: abs(drawn[label] - wanted[label]) < 1 for label in sizes} == dict.fromkeys(
        sizes, True
    )
    add(folder, "even", "ann", options=("--size", "40", "--from", "sample"))
    even = Counter(label_of[pair] for pair in pairs_of(folder, "even"))
    assert even == {0: 28, 1: 10, 2: 2}  # of 219, 76 and 9, with two of each at least
    assert even != drawn
    add(folder, "other", "ann", options=("--size", "40", "--seed", "2"))
    assert set(pairs_of(folder, "other")) != set(pairs_of(folder, "first"))

    lines = [  # Enter where the label is another one
        line
        for pair in pairs_of(folder, "first")[:10]
        for line in ((1,) if label_of[pair] == 1 else (1, ""))
    ]
    judge(folder, "first", "ann", *lines)
    add(folder, "second", "ann", options=("--size", "2000"))
    seen = set(judgments(folder, "ann"))
    assert seen == set(pairs_of(folder, "first")[:10])
    assert set(pairs_of(folder, "second")) == set(label_of) - seen
    strata = dict(
        live(folder).rows(
            "select stratum, any_value(stratum_size) from lake.raw.review_samples "
            "where starts_with(sample, 'second-') group by stratum"
        )
    )
    assert strata["judged"] == len(seen)
    assert sum(strata.values()) == len(label_of)


def test_a_pair_is_judged_blind_on_the_collections_scale(folder):
    names = "not relevant,related,answers it,perfect"
    add(folder, "blind", "bob", options=("--size", "6", "--label-names", names))
    (first, second, *_), label_of = pairs_of(folder, "blind"), labels(folder)
    low, high = (next(n for n in (0, 3) if n != label_of[pair]) for pair in (first, second))

    shown = judge(folder, "blind", "bob", "n", "why", low, 2, high, "", "q")

    before, _, after = shown.partition(f"your judgment, 0 to 3; [s]kip [n]ote [u]ndo [q]uit: {low}")
    assert "Label" not in before
    assert "Question" not in shown
    assert "0 not relevant, 1 related, 2 answers it, 3 perfect, relevant from 2 on" in before
    assert f"Label     {label_of[first]}  (by {JUDGE})" in after
    assert judgments(folder, "bob") == {first: 2, second: high}
    kept = live(folder).rows(
        "select blind_grade, note, grade from lake.raw.grade_reviews where assessor = 'bob' "
        "order by reviewed_at"
    )
    assert kept == [(low, "why", label_of[first]), (high, None, label_of[second])]
    (queue,) = [
        one for one in json_of(folder, "queue", "list", "demo", "--json") if one["queue"] == "blind"
    ]
    assert queue["grader"] == JUDGE
    assert queue["assessors"] == [{"assessor": "bob", "n_assigned": 6, "n_answered": 2}]
    # they are no opinion about a grade
    assert not live(folder).rows("from lake.intermediate.int_grade_reviews where assessor = 'bob'")
    gradelake(folder, "queue", "remove", "demo", "blind")
    assert len(judgments(folder, "bob")) == 2


def test_judgments_of_queues_and_of_files_are_one_persons(folder, tmp_path):
    add(folder, "mixed", "cy", options=("--size", "6"))
    first, second, *_ = pairs_of(folder, "mixed")
    file = tmp_path / "cy.csv"
    with file.open("w", newline="") as stream:
        csv.writer(stream).writerows([("query_id", "passage_id", "judgment"), (*first, 0)])
    command = ("import", "judgments", "demo", str(file), "--assessor", "cy")

    gradelake(folder, *command)
    assert "5 left" in judge(folder, "mixed", "cy", "q")  # the file has the other
    judge(folder, "mixed", "cy", 3, "", "q")
    assert judgments(folder, "cy") == {first: 0, second: 3}
    gradelake(folder, *command)  # may come again
    gradelake(folder, "ingest", "demo")
    assert judgments(folder, "cy") == {first: 0, second: 3}
    refused = add(folder, "not-theirs", "human", code=2).stderr
    assert "judgments of assessor 'human' from another source" in refused
    assert pairs_of(folder, "not-theirs") == []


def test_wishes_that_cannot_be_are_refused(folder):
    for options, message in (
        (("--from", "spurious"), "cards of a label set cannot be chosen from 'spurious'"),
        (("--grader", "lexical"), "either a grader (--grader) or a label set"),
        (("--tau", "3"), "tau means nothing for cards of a label set"),
        (("--label-names", "no,yes"), "2 labels are named, and demo has those from 0 to 3"),
        (("--size", "3"), "3 pairs are too few"),
        (("--label-set", "judge:nobody"), "demo has no label set 'judge:nobody'"),
    ):
        assert message in add(folder, "wrong", "ann", options=options, code=2).stderr
    assert pairs_of(folder, "wrong") == []


def test_two_share_all_pairs(graded_demo, tmp_path):
    folder = shutil.copytree(graded_demo, tmp_path / "demo")
    add(folder, "all", "dan", "eve", options=("--size", "2000"))
    human, shown = judgments(folder, "human"), labels(folder)
    for who in ("dan", "eve"):
        pairs = live(folder).rows(
            "select query_id, passage_id from lake.raw.review_cards "
            "where queue = 'all' and assessor = ? order by position",
            who,
        )
        lines = []
        for pair in pairs:
            label = human.get(pair, 0)
            lines += [label] if label == shown[pair] else [label, ""]  # Enter: stay with it
        review(folder, who, tuple(lines), "--queue", "all")
    theirs = judgments(folder, "dan") | judgments(folder, "eve")
    assert theirs == {pair: human.get(pair, 0) for pair in shown}
