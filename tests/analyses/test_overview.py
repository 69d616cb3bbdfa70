"""The overview's sentences: figures of plain computations, and what is said of little."""

import json
import random
import re
from itertools import count

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from gradelake.analyses.report.overview import more_queries
from gradelake.analyses.stats.kappas import kappa_of
from tests.analyses.boards import board
from tests.command_line import gradelake
from tests.projects import project
from tests.report_page import Page


@pytest.mark.parametrize(("mean", "spread"), [(0.05, 0.1), (0.02, 0.2), (0.004, 0.1)])
def test_more_queries_are_those_of_a_paired_t_test_with_a_power_of_four_in_five(mean, spread):
    half = np.random.default_rng(3).uniform(0, 1, 10)
    off = np.concatenate([half, -half])
    differences = mean + off * spread / off.std(ddof=1)
    more = more_queries(board(np.stack([0.5 + differences, np.full(20, 0.5)], axis=1)))

    def power(n: int) -> float:
        t = stats.t.ppf(0.975, n - 1)
        return stats.nct.sf(t, n - 1, mean / spread * np.sqrt(n))

    expected = next(n for n in count(21) if power(n) >= 0.8) - 20
    digit = 5 * 10 ** (len(str(expected)) - 2)
    assert expected - 2 <= more <= expected * 1.03 + max(2, digit)


def test_no_number_of_queries_tells_equal_systems_apart():
    assert more_queries(board([[0.5, 0.4], [0.4, 0.5]])) is None
    assert more_queries(board([[0.5, 0.5], [0.4, 0.4]])) is None


def test_a_kappa_is_scikit_learns_and_its_interval_that_of_drawing_queries_one_by_one():
    generator = np.random.default_rng(5)
    labels = [(np.array([1, 0]), np.array([1, 1]))]
    for _ in range(14):
        theirs = generator.integers(0, 2, 12)
        labels.append((np.where(generator.random(12) < 0.25, 1 - theirs, theirs), theirs))
    counts = [[ours @ theirs, ours.sum(), theirs.sum(), len(ours)] for ours, theirs in labels]
    found = kappa_of(np.array(counts, dtype=float), 4000, 1)

    def kappa(chosen) -> float:
        return cohen_kappa_score(*(np.concatenate(of) for of in zip(*chosen, strict=True)))

    assert found["kappa"] == pytest.approx(kappa(labels), abs=1e-12)
    assert found["n"] == 14 * 12 + 2
    draw = random.Random(1)
    angles = np.arccos([kappa(draw.choices(labels, k=15)) for _ in range(1000)])
    reach = angles.std(ddof=1) * np.sqrt(15 / 14) * stats.t.ppf(0.975, 14)
    at = np.arccos(found["kappa"])
    assert (found["high"], found["low"]) == pytest.approx(
        np.cos([at - reach, at + reach]), abs=0.02
    )
    alike = kappa_of(np.array([[1.0, 1, 1, 1], [2, 2, 2, 2]]), 100, 1)
    assert alike == {"kappa": None, "low": None, "high": None, "n": 3, "generosity": 0}


QUERIES = [f"q{n}" for n in range(12)]
JUDGED = {query: {f"p{n}": int(n < 2) for n in range(6)} for query in QUERIES}
SECOND = {query: {"p0": 1, "p1": int(n % 3 > 0), "p5": 0} for n, query in enumerate(QUERIES)}
RUNS = {
    "a": {query: ["p0", "p1", "p2", "p3"] for query in QUERIES},
    "b": {query: ["p0", "p2", "p1"] if n < 3 else ["p0", "p1"] for n, query in enumerate(QUERIES)},
    "c": {query: ["p5", "p4", "p3", "p0"] for query in QUERIES},
    "d": {query: ["p5", "p4", "p3", "p2", "p0"] for query in QUERIES},
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory, new_lake):
    """`both` has two assessors, a judge and four systems; `alone` one system and no judge; `judged`
    a judge and no people; `bare` nothing but queries."""
    folder = tmp_path_factory.mktemp("overview")
    usual = {"queries": "topics.tsv", "runs": ["runs/*.run"], "min_relevant": 1}
    collections = {
        "both": usual | {"judgments": {"me": "me.qrels", "other": "other.qrels"}},
        "alone": usual | {"runs": ["runs/a.run"], "judgments": {"me": "me.qrels"}},
        "judged": usual,
        "bare": {"queries": "topics.tsv"},
    }
    files = {
        "topics.tsv": dict.fromkeys(QUERIES, "why"),
        "me.qrels": JUDGED,
        "other.qrels": SECOND,
        "fine.qrels": JUDGED | {"q0": {"p0": 1, "p1": 1, "p2": 1, "p3": 0}},
    } | {f"runs/{name}.run": run for name, run in RUNS.items()}
    project(folder, collections, files=files)
    new_lake(folder)
    for name in collections:
        gradelake(folder, "ingest", name)
    for name in ("both", "judged"):
        gradelake(folder, "import", "labels", name, "fine.qrels", "--judge", "fine")
    gradelake(folder, "build")
    return folder


def said(folder, collection: str) -> list[str]:
    (found,) = json.loads(gradelake(folder, "report", collection, "--json").stdout)["reports"]
    page = Page(folder / "reports" / f"{collection}.html").text()
    assert all(one["text"] in page for one in found["sentences"])
    return [one["text"] for one in found["sentences"]]


@pytest.mark.slow
def test_the_sentences_say_who_leads_what_would_tell_and_how_far_judges_are_trusted(lake):
    best, settling, trust = said(lake, "both")
    assert (
        best == "a is ahead by nDCG@10 with the labels of assessor:me; not significantly worse: b."
    )
    compared = json.loads(gradelake(lake, "compare", "both", "b", "a", "--json").stdout)
    assert compared["p"] > 0.05
    assert (
        re.sub(
            r"^About \d+ more queries would tell the first from the second, if the "
            "difference stayed as large. ",
            "",
            settling,
        )
        == compared["sentence"]
        != settling
    )
    labels = [(JUDGED[q][p], one) for q, own in SECOND.items() for p, one in own.items()]
    kappa = cohen_kappa_score(*zip(*labels, strict=True))
    assert trust.startswith("judge:fine orders systems as people do: tau 1.00 (")
    assert f"; people agree with each other by kappa {kappa:.2f} (" in trust
    found = json.loads(
        gradelake(lake, "sql", "--format", "json", "@kappa", "--label_set", "judge:fine").stdout
    )
    (mart,) = (
        row["kappa"]
        for row in found
        if (row["cut"], row["reference"]) == (">=1|>=1", "assessor:me")
    )
    assert f"on passages kappa {mart:.2f} (" in trust


@pytest.mark.slow
def test_where_there_is_little_the_sentences_say_what_is_missing(lake):
    assert said(lake, "alone") == [
        "a is the only system with a score: nothing to compare it with.",
        "How many queries tell two systems apart is known once there are two.",
        "No judge has labelled passages: there is none to trust or not.",
    ]
    best, _, trust = said(lake, "judged")
    assert best.startswith("a is ahead by nDCG@10 with the labels of judge:fine; not significantly")
    assert trust.startswith("judge:fine: nothing to compare with, no person judged")
    assert said(lake, "bare") == [
        "No system has a score yet.",
        "How many queries tell systems apart is known once systems have scores.",
        "No judge has labelled passages: there is none to trust or not.",
    ]
