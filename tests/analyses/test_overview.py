"""The overview's sentences: figures of plain computations, and what is said of little."""

import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import count

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from gradelake.analyses.report.overview import more_queries, verdict
from gradelake.analyses.stats.ceiling import together
from gradelake.analyses.stats.correlation import agreement
from gradelake.analyses.stats.kappas import Met, apart, kappas_of
from gradelake.analyses.stats.resample import ON_ONE, UNMOVED
from tests.agreement_oracle import WEIGHTS, classes, kappa
from tests.analyses.boards import board
from tests.command_line import gradelake, json_of
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


def people_and_judges(seed=5, queries=15):
    """(query, label of a judge, of another, of people) of 15 queries; labels 0 to 3."""
    generator = np.random.default_rng(seed)
    found = []
    for query in range(queries):
        people = generator.integers(0, 4, 12)
        one, other = (np.clip(people + generator.integers(-n, n + 1, 12), 0, 3) for n in (1, 2))
        found += [(f"q{query}", *map(int, each)) for each in zip(one, other, people, strict=True)]
    return found


def counted(rows) -> Met:
    return Met.of([(*labels, n) for labels, n in Counter(rows).items()], {})


def plain(kind: str, ours, theirs) -> float:
    """Of labels from 2 on, or of all."""
    if kind == "binary":
        ours, theirs = (classes(kind, each, 2) for each in (ours, theirs))
    return kappa(list(ours), list(theirs), WEIGHTS.get(kind))


def drawn(rows, times: int) -> Iterator[list]:
    by_query = [[row for row in rows if row[0] == query] for query in sorted({r[0] for r in rows})]
    draw = random.Random(1)
    for _ in range(times):
        yield [row for of in draw.choices(by_query, k=len(by_query)) for row in of]


def test_a_kappa_is_scikit_learns_and_its_interval_that_of_drawing_queries_one_by_one():
    rows = people_and_judges()
    met = counted([(query, one, people) for query, one, _, people in rows])
    for kind in ("graded", "linear", "quadratic", "binary"):
        ((value, spread),) = kappas_of(met, [apart(kind, met.scales, 2, 2)], 4000, 1, 0.95)
        _, ours, _, theirs = zip(*rows, strict=True)
        assert value == pytest.approx(plain(kind, ours, theirs), abs=1e-12)
    each = [plain(kind, *list(zip(*some, strict=True))[1::2]) for some in drawn(rows, 250)]
    reach = np.arccos(each).std(ddof=1) * np.sqrt(15 / 14) * stats.t.ppf(0.975, 14)
    expected = np.cos([np.arccos(value) + reach, np.arccos(value) - reach])
    assert (spread.low, spread.high) == pytest.approx(expected, abs=0.02)
    alike = counted([("q0", 1, 1), ("q1", 1, 1)])
    ((value, spread),) = kappas_of(alike, [apart("graded", alike.scales, None, None)], 9, 1, 0.95)
    assert np.isnan(value)
    assert (spread.low, spread.high, spread.undefined) == (None, None, 9)


def test_two_judges_are_told_apart_as_by_drawing_the_queries_of_both_one_by_one():
    rows = people_and_judges()
    asked = ("quadratic", [(0, 2), (1, 2)], (1, -1), 4000, 1, 0.95)
    found = together((counted(rows), (2, 2, 2)), *asked)

    def difference(some) -> float:
        _, one, other, people = zip(*some, strict=True)
        return plain("quadratic", one, people) - plain("quadratic", other, people)

    assert found.difference == pytest.approx(difference(rows), abs=1e-12)
    error = np.std([difference(some) for some in drawn(rows, 250)], ddof=1) * np.sqrt(15 / 14)
    reach = error * stats.t.ppf(0.975, 14)
    assert (found.spread.low, found.spread.high) == pytest.approx(
        (found.difference - reach, found.difference + reach), rel=0.15
    )
    assert np.log(found.p) == pytest.approx(
        np.log(2 * stats.t.sf(found.difference / error, 14)), rel=0.3
    )
    equal = [(query, one, one, people) for query, one, _, people in rows]
    assert together((counted(equal), (2, 2, 2)), *asked).p is None


@pytest.mark.parametrize(
    ("kendall", "ends", "p_value", "n_compared", "says"),
    [
        (0.9, (0.82, 0.95), 0.001, 1, "orders systems as people do"),
        (0.82, (0.46, 0.95), 0.001, 1, "orders systems at least partly as people do"),
        (0.6, (0.4, 0.75), 0.001, 1, "orders systems only partly as people do"),
        (0.9, (0.82, 0.95), 0.03, 14, "is not shown to order systems as people do"),
        (0.9, (-0.1, 1.0), 0.001, 1, "is not shown to order systems as people do"),
        (1.0, (None, None), 0.001, 1, "orders systems at least partly as people do"),
        (None, (None, None), None, 1, "how it orders systems is not known"),
    ],
)
def test_a_judge_is_trusted_by_the_ends_of_its_interval_for_all_judges_at_once(
    kendall, ends, p_value, n_compared, says
):
    row = {"kendall": kendall, "p_value": p_value, "n_compared": n_compared}
    row |= dict(zip(("low_among", "high_among"), ends, strict=True))
    assert verdict(row, "assessor:me")[1] == says


def test_of_many_judges_who_guess_few_seem_to_order_systems_as_people_do():
    generator = np.random.default_rng(4)
    of_all, of_one = [], []
    for _ in range(140):
        # each orders systems in its own way, on all queries
        people, judge = (
            board(generator.uniform(0, 0.7, 6) + generator.uniform(0, 0.3, (10, 6)))
            for _ in range(2)
        )
        one = agreement(judge, people, n_replicates=400, n_compared=14).correlations[0]
        row = {"kendall": one.value, "p_value": one.p_value}
        for says, n, spread in ((of_all, 14, one.among), (of_one, 1, one.spread["queries"])):
            ends = {"low_among": spread.low, "high_among": spread.high}
            says.append(verdict(row | ends | {"n_compared": n}, "assessor:me")[0])
    shown, uncorrected = (len(says) - says.count("worse") for says in (of_all, of_one))
    assert shown <= 1 < 3 <= uncorrected  # of ten times the best of fourteen


def test_a_kappa_of_errors_in_few_queries_reaches_far_and_of_none_or_one_has_no_interval():
    scale = (np.arange(2),) * 2
    agreed = np.tile([[10.0, 0], [0, 10]], (12, 1, 1))

    def found(*n_wrong: int):
        counts = agreed.copy()
        for query, n in enumerate(n_wrong):
            counts[query] += [[0, n], [0, -n]]
        return kappas_of(Met(scale, counts), [apart("binary", scale, 1, 1)], 500, 1, 0.95)[0][1]

    assert found().no_interval == UNMOVED
    assert found(5).no_interval == ON_ONE
    assert found(5, 5).low < 0.5 < found(*[1] * 10).low
    never_relevant = np.tile([[2.0, 3], [0, 0]], (2, 1, 1))  # the judge says 0 of all: kappa 0
    ((value, spread),) = kappas_of(
        Met(scale, never_relevant), [apart("binary", scale, 1, 1)], 100, 1, 0.95
    )
    assert (value, spread.low, spread.no_interval) == (0, None, UNMOVED)


QUERIES = [f"q{n}" for n in range(12)]
JUDGED = {query: {f"p{n}": int(n < 2) for n in range(6)} for query in QUERIES}
SECOND = {query: {"p0": 1, "p1": int(n % 3 > 0), "p5": 0} for n, query in enumerate(QUERIES)}
FINE = JUDGED | {"q0": {"p0": 1, "p1": 1, "p2": 1, "p3": 0}, "q1": JUDGED["q1"] | {"p5": 1}}
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
        "fine.qrels": FINE,
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
    (found,) = json_of(folder, "report", collection, "--json")["reports"]
    page = Page(folder / "reports" / f"{collection}.html").text()
    assert all(one["text"] in page for one in found["sentences"])
    return [one["text"] for one in found["sentences"]]


@pytest.mark.slow
def test_the_sentences_say_who_leads_what_would_tell_and_how_far_judges_are_trusted(lake):
    best, settling, trust = said(lake, "both")
    assert (
        best == "a is ahead by nDCG@10 with the labels of assessor:me; not significantly worse: b."
    )
    compared = json_of(lake, "compare", "both", "b", "a", "--json")
    assert compared["p"] > 0.05
    assert (
        re.sub(
            r"^About \d+ more queries would tell the first from the second four times in five, "
            "if the difference stayed as large. ",
            "",
            settling,
        )
        == compared["sentence"]
        != settling
    )
    # four systems stand in one order in one case of 24, and two label sets are compared
    assert trust.startswith("judge:fine is not shown to order systems as people do: tau 1.000 (")
    me, other, people = (f"{each:.3f}" for each in with_each_other())
    assert f"; people agree with each other by kappa {people} (" in trust
    assert f", judge:fine with them by {me} and {other} on the same 35 passages." in trust
    found = json_of(lake, "sql", "--format", "json", "@kappa", "--label_set", "judge:fine")
    (mart,) = (
        row["kappa"]
        for row in found
        if (row["cut"], row["reference"]) == (">=1|>=1", "assessor:me")
    )
    assert f"on passages kappa {mart:.3f} (" in trust


def with_each_other() -> list[float]:
    """Kappas of the judge with both people, and of these, where all three labelled."""
    of = [
        (FINE[query][passage], JUDGED[query][passage], label)
        for query, own in SECOND.items()
        for passage, label in own.items()
        if passage in FINE[query]
    ]
    fine, me, other = zip(*of, strict=True)
    return [cohen_kappa_score(*two) for two in ((fine, me), (fine, other), (me, other))]


@pytest.mark.slow
def test_a_judge_stands_beside_two_people_on_the_same_passages(lake):
    words = ("stats", "ceiling", "both", "--kind", "binary", "--replicates", "500")
    (row,) = json_of(lake, *words, "--json")["ceilings"]
    names = ("kappa_assessor", "kappa_other", "kappa_people")
    expected = with_each_other()
    assert [row[name] for name in names] == pytest.approx(expected, abs=1e-9)
    one, other, people = expected
    assert row["shortfall"] == pytest.approx(people - (one + other) / 2, abs=1e-9)
    for name in names:  # either an interval, or why there is none
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        assert (low is None) == bool(row[f"{name}_no_interval"])
        assert low is None or low < row[name] < high
    assert (row["assessor"], row["other_assessor"], row["n"]) == (
        "assessor:me",
        "assessor:other",
        35,
    )
    shown = gradelake(lake, *words).stdout
    assert "assessor:me, assessor:other\n" in shown
    assert f" {people:.3f}  " in shown
    against = ("stats", "kappa", "both", "--reference", "assessor:me", "--replicates", "500")
    found = json_of(lake, *against, "--against", "assessor:other", "--json")["better"]
    (row,) = (row for row in found if (row["label_set"], row["kind"]) == ("judge:fine", "binary"))
    figures = [row[name] for name in ("kappa", "against", "difference")]
    assert figures == pytest.approx([one, people, one - people], abs=1e-9)


@pytest.mark.slow
def test_where_there_is_little_the_sentences_say_what_is_missing(lake):
    assert said(lake, "alone") == [
        "a is the only system with a score: nothing to compare it with.",
        "How many queries it takes to tell two systems apart is known once there are two.",
        "No judge has labelled passages yet.",
    ]
    best, _, trust = said(lake, "judged")
    assert best.startswith("a is ahead by nDCG@10 with the labels of judge:fine; not significantly")
    assert trust.startswith("judge:fine: nothing to compare with, no person judged")
    assert said(lake, "bare") == [
        "No system has a score yet.",
        "How many queries it takes to tell systems apart is known once they have scores.",
        "No judge has labelled passages yet.",
    ]
