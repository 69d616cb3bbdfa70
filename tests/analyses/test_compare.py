"""`gradelake compare`: figures of scipy, bounds of all labels that there could be, words."""

from itertools import product
from math import inf

import numpy as np
import pytest
import pytrec_eval
from scipy import stats

from gradelake.analyses.compare.bounds import BOUNDED, FirstPassages, least_and_most
from gradelake.analyses.compare.comparison import sentence
from gradelake.analyses.stats.better import Decided
from tests.command_line import gradelake, json_of
from tests.reading import published
from tests.report_page import Page

DEPTH, TOP = 3, 2
TREC = {"nDCG": "ndcg_cut", "P": "P", "R": "recall", "Success": "success"}


def value(family: str, ranked: list[str], labels: dict[str, int], level: int) -> float:
    """trec_eval's; 0 where it knows of nothing relevant."""
    measure = f"{TREC[family]}.{DEPTH}" if family in TREC else "recip_rank"
    if family not in TREC:
        ranked = ranked[:DEPTH]
    run = {"q": {passage: -float(rank) for rank, passage in enumerate(ranked)}}
    scorer = pytrec_eval.RelevanceEvaluator({"q": labels}, {measure}, relevance_level=level)
    return scorer.evaluate(run)["q"][measure.replace(".", "_")]


@pytest.mark.parametrize("family", BOUNDED)
def test_bounds_are_the_least_and_the_most_of_all_labels_that_there_could_be(family):
    generator = np.random.default_rng(7)
    names = [*"abcdef"]
    moved = 0
    for _ in range(60):
        first, second = (list(generator.permutation(names)[:DEPTH]) for _ in range(2))
        level = int(generator.integers(1, TOP + 1))
        known = {
            one: int(generator.integers(-1, TOP + 1)) for one in names if generator.random() < 0.5
        }
        known |= {"elsewhere": int(generator.integers(0, TOP + 1))}
        unknown = [one for one in names if one in {*first, *second} - known.keys()]
        least, most = inf, -inf
        for labels in product(range(TOP + 1), repeat=len(unknown)):
            every = known | dict(zip(unknown, labels, strict=True))
            gained = value(family, first, every, level) - value(family, second, every, level)
            least, most = min(least, gained), max(most, gained)
        ranks = [{one: rank for rank, one in enumerate(of, 1)} for of in (first, second)]
        passages = [(*(of.get(one) for of in ranks), known.get(one)) for one in {*first, *second}]
        found = least_and_most(
            family, FirstPassages(passages, [*known.values()], DEPTH, level, TOP)
        )
        assert found == pytest.approx((least, most), abs=1e-9), (first, second, known, level)
        moved += most > least
    assert moved > 30


def asked(folder, *words: str) -> dict:
    return json_of(folder, "compare", *words, "--json")


def not_rejected(differences: np.ndarray) -> tuple[float, float]:
    """The least and the greatest shift that leave the randomisation test a p above 0.05: of each
    part of the queries and the rest, the shifts between their means are those of no lesser sum."""
    flips = np.array(list(product((-1, 1), repeat=len(differences))))

    def p(shift: float) -> float:
        sums = abs(flips @ (differences - shift))
        return (sums >= abs((differences - shift).sum()) - 1e-9).mean()

    parts = [differences[row] for row in flips > 0 if 0 < row.sum() < len(row)]
    shifts = sorted({round(float(part.mean()), 12) for part in parts})
    kept = [shift for shift in shifts if p(shift) > 0.05]
    return min(kept), max(kept)


@pytest.mark.slow
def test_the_figures_are_those_of_scipy_and_of_counting(demo):
    """On the demo's files: P@10 of two systems, and what of their first ten nobody judged."""
    a, b, measure = "lsa", "bm25", "P@10"
    found = asked(demo, a, b, "--measure", measure)
    assert (found["collection"], found["label_set"], found["level"]) == (
        "demo",
        "assessor:human",
        2,
    )
    lake = published(demo)
    labels: dict[str, dict[str, int]] = {}
    for query, passage, label in lake.rows(
        "select query_id, passage_id, label from lake.marts.relevance_labels "
        "where label_set = 'assessor:human'"
    ):
        labels.setdefault(query, {})[passage] = label
    tops: dict[tuple[str, str], set[str]] = {}
    for system, query, passage in lake.rows(
        "select system, query_id, passage_id from lake.intermediate.int_rankings where rank <= 10"
    ):
        tops.setdefault((system, query), set()).add(passage)
    values, least, most, n_judged, n_all = {a: [], b: []}, 0, 0, 0, 0
    for query, known in labels.items():
        ours, theirs = (tops.get((system, query), set()) for system in (b, a))
        for system, top in ((b, ours), (a, theirs)):
            values[system].append(sum(known.get(one, 0) >= 2 for one in top) / 10)
        most += len(ours - theirs - known.keys()) / 10
        least -= len(theirs - ours - known.keys()) / 10
        n_judged, n_all = n_judged + len((ours | theirs) & known.keys()), n_all + len(ours | theirs)
    differences = np.subtract(values[b], values[a])
    n = len(differences)
    tenths = [np.rint(10 * np.array(values[system])) for system in (b, a)]
    exact = stats.permutation_test(tenths, lambda x, y: (x - y).sum(), permutation_type="samples")
    low, high = not_rejected(differences)
    expected = {
        "n_queries": n,
        "mean_a": np.mean(values[a]),
        "mean_b": np.mean(values[b]),
        "difference": differences.mean(),
        "low": low,
        "high": high,
        "p": exact.pvalue,
        "wins": (differences > 1e-9).sum(),
        "losses": (differences < -1e-9).sum(),
        "ties": (abs(differences) < 1e-9).sum(),
        "least": differences.mean() + least / n,
        "most": differences.mean() + most / n,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-9)
    assert found["judged"]["either"] == pytest.approx(n_judged / n_all)
    assert least < 0 < most
    texts = dict(lake.rows("select query_id, text from lake.raw.queries"))
    by_query = dict(zip(labels, differences, strict=True))
    for rows, sign in ((found["best"], 1), (found["worst"], -1)):
        shown = {row["query_id"]: row["difference"] for row in rows}
        assert shown == pytest.approx({q: d for q, d in by_query.items() if sign * d > 1e-9})
        assert [*shown.values()] == sorted(shown.values(), reverse=sign > 0)
        assert all(row["text"] == texts[row["query_id"]] for row in rows)


AHEAD = {"difference": 0.45, "low": 0.265, "high": 0.635, "p": 0.031, "verdict": "better"}
BEHIND = AHEAD | {"difference": -0.45, "low": -0.635, "high": -0.265}
UNSURE = {"difference": 0.05, "low": -0.186, "high": 0.196, "p": 0.25, "verdict": "not shown"}
EQUAL = {"difference": 0.0, "low": 0.0, "high": 0.0, "p": 1.0, "verdict": "same"}
BY = "by 0.450 of P@10 on 6 queries (0.265 to 0.635, p = 0.031)"
UNTOLD = (
    "No significant difference between B and A: B is ahead by 0.050 of P@10 on 6 queries "
    "(-0.186 to 0.196, p = 0.250)"
)
UNJUDGED = "; 18% of what they rank in the first 10 is unjudged, and"


@pytest.mark.parametrize(
    ("figures", "ends", "share", "words"),
    [
        (AHEAD, (-0.1, 0.6), 0.82, f"B is better than A {BY}{UNJUDGED} that could put A ahead."),
        (AHEAD, (0.0, 0.6), 0.82, f"B is better than A {BY}{UNJUDGED} that could make them equal."),
        (BEHIND, (-0.6, -0.2), 0.82,
         f"A is better than B {BY}{UNJUDGED} that could not put B ahead."),
        (BEHIND, (-0.6, 0.1), 0.82, f"A is better than B {BY}{UNJUDGED} that could put B ahead."),
        (UNSURE, (-0.1, 0.1), 0.82, f"{UNTOLD}{UNJUDGED} that could put A ahead."),
        (UNSURE, (0.0, 0.1), 0.82, f"{UNTOLD}{UNJUDGED} that could not put A ahead."),
        (UNSURE, (None, None), 0.82,
         f"{UNTOLD}{UNJUDGED} how much that could change is unknown for P@10."),
        (UNSURE, (None, None), None, f"{UNTOLD}."),
        (EQUAL, (0.0, 0.0), 1.0,
         "B and A have the same P@10 on each of 6 queries; everything in their first 10 is "
         "judged."),
    ],
)  # fmt: skip
def test_one_sentence_says_who_is_better_how_surely_and_whether_labels_matter(
    figures, ends, share, words
):
    decided = Decided(
        a="A",
        b="B",
        measure="P@10",
        n_queries=6,
        n_clusters=None,
        segment=None,
        is_weighted=False,
        confidence=0.95,
        alpha=0.05,
        n_differ=6,
        least_p=0.03125,
        greatest_share=1 / 6,
        **figures,
    )
    least, most = ends
    missing = {"judged": {"either": share}, "k": 10, "least": least, "most": most}
    assert sentence(decided, missing) == words


@pytest.mark.slow
def test_what_is_not_there_is_said(demo):
    for words, message in (
        (("bm25", "bm26"), "there is no system 'bm26'"),
        (("bm25", "bm25"), "'bm25' is the same system twice"),
        (("demo", "bm25", "lsa", "--measure", "nDCG@11"), "has no measure 'nDCG@11'"),
        (("bm25",), "compare takes two systems"),
        (("dem", "bm25", "lsa"), "there is no collection or system 'dem'"),
        (("bm25", "lsa", "bm25"), "'bm25' is named twice"),
    ):
        done = gradelake(demo, "compare", *words, code=2)
        assert message in done.stderr


@pytest.mark.slow
def test_a_report_of_two_systems_begins_with_them_and_has_no_empty_section(demo, tmp_path):
    file = tmp_path / "two.html"
    gradelake(demo, "report", "demo", "--compare", "lsa", "bm25", "-o", str(file))
    page = Page(file)
    said = asked(demo, "lsa", "bm25")
    text = page.text()
    first = [said["sentence"], said["best"][0]["text"], "Points are means"]
    assert [*map(text.index, first)] == sorted(map(text.index, first))
    assert '<section id="scatter"' in page.html
    for empty in ("grid", "coverage", "rubric", "cost"):  # nothing was graded
        assert f'<section id="{empty}"' not in page.html
        assert f'<section id="{empty}"' not in page.html
    assert page.settled["label_sets"][0] == said["label_set"]
    assert page.settled["compared"]["sentence"] == said["sentence"]
    assert "gradelake report demo --release r1 --compare lsa bm25" in text
