"""Every family of measures against ir_measures, cell by cell; measures that are not there."""

import math
import random
import shutil
from pathlib import Path

import pytest

from tests import oracle
from tests.command_line import gradelake
from tests.projects import project, write
from tests.reading import published

ALSO = ("Cover@10", "RBP(p=0.8)@3", "ERR")
N_QUERIES = 12


def write_grid(folder: Path) -> None:
    grid = ["measure", "without packaged", *oracle.OF_EVERY_FAMILY, *ALSO]
    write(folder / "seeds/evaluation_grid.csv", grid)


def write_random_collection(folder: Path) -> None:
    """Ties (also as 32-bit floats only), labels from -2 to 4, passages without one, queries that a
    run or the judgments leave out, a query without anything relevant, short and long rankings."""
    rng = random.Random(14)
    passages = [f"p{number}" for number in range(60)]
    queries = [f"q{number}" for number in range(N_QUERIES)]
    files: dict = {"odd/topics.tsv": {query: f"what is {query}?" for query in queries}}
    files["odd/people.qrels"] = {}
    for query in queries[:-1]:
        labels = [-2, -1, 0, 0] if query == "q0" else [-2, -1, 0, 0, 0, 1, 1, 2, 3, 4]
        judged = rng.sample(passages, rng.randint(3, 40))
        files["odd/people.qrels"][query] = {passage: rng.choice(labels) for passage in judged}
    for system in range(6):
        files[f"odd/s{system}.run"] = [
            f"{query} Q0 {passage} {rank} {rng.choice([1.0, 1.00000001, 2.0, rng.random()])} x"
            for query in rng.sample(queries, N_QUERIES - system % 3)
            for rank, passage in enumerate(rng.sample(passages, rng.choice([1, 4, 25, 60])), 1)
        ]
    collection = {
        "queries": "odd/topics.tsv",
        "runs": ["odd/*.run"],
        "judgments": {"people": "odd/people.qrels"},
        "min_relevant": 2,
    }
    project(folder, {"odd": collection}, files=files)


@pytest.fixture(scope="module")
def measured(new_lake, tmp_path_factory) -> Path:
    """A random collection, by every family."""
    folder = tmp_path_factory.mktemp("measures")
    write_grid(folder)
    write_random_collection(folder)
    new_lake(folder)
    gradelake(folder, "ingest", "odd")
    gradelake(folder, "build")
    return folder


@pytest.mark.slow
def test_every_family_equals_ir_measures_on_odd_rankings(measured):
    rows = published(measured).rows(
        "select level, system, query_id, measure, value from lake.marts.topic_scores "
        "where label_set = 'assessor:people'"
    )
    ours = {tuple(row[:4]): row[4] for row in rows}
    labels, compared = oracle.read_qrels(measured / "odd/people.qrels"), set()
    for system, run in oracle.read_runs(measured / "odd").items():
        for level in oracle.LEVELS:
            for cell, value in oracle.evaluate_every_family(labels, run, level):
                tolerance = oracle.TOLERANCE.get(cell[1], 1e-9)
                key = (level, system, *cell)
                assert ours[key] == pytest.approx(value, abs=tolerance), key
                compared.add(cell[1])
    assert compared == set(oracle.OF_EVERY_FAMILY)


@pytest.mark.slow
def test_cut_measures_of_one_value_are_those_of_a_cut_ranking(measured):
    """RBP at a cutoff adds what the first ranks add; ERR without one reads the whole ranking."""
    rows = published(measured).rows(
        "select cut.measure, cut.value, whole.value from lake.marts.topic_scores as cut "
        "inner join lake.marts.topic_scores as whole "
        "using (collection, label_set, level, system, query_id) "
        "where (cut.measure, whole.measure) in "
        "(('RBP(p=0.8)@3', 'RBP(p=0.8)'), ('ERR@10', 'ERR'))"
    )
    for measure, cut, whole in rows:
        assert cut <= whole + 1e-9
        if measure == "RBP(p=0.8)@3":
            assert cut <= 1 - 0.8**3 + 1e-9
    assert {measure for measure, *_ in rows} == {"RBP(p=0.8)@3", "ERR@10"}
    assert any(cut < whole for _, cut, whole in rows)


@pytest.mark.slow
def test_a_grid_adds_measures_and_takes_away_only_what_it_names(demo, tmp_path):
    folder = shutil.copytree(demo, tmp_path / "demo")
    (grid := folder / "seeds" / "evaluation_grid.csv").parent.mkdir(exist_ok=True)

    def computed() -> set[str]:
        return set(published(folder).column("select measure from lake.marts.leaderboard"))

    before = computed()
    grid.write_text("measure\nnDCG@5\nAP\n")
    gradelake(folder, "build")
    assert computed() == before | {"nDCG@5"}
    grid.write_text("measure\nnDCG@5\nwithout nDCG@20\n")
    told = gradelake(folder, "build", "--at-least", "0.1", code=1).stderr
    assert "nothing is published: nDCG@20 would be on no board any more" in " ".join(told.split())
    assert computed() == before | {"nDCG@5"}
    assert "on no board any more: nDCG@20" in gradelake(folder, "build").stderr
    assert computed() == (before | {"nDCG@5"}) - {"nDCG@20"}
    grid.write_text("measure\nwithout nDCG@21\n")
    told = gradelake(folder, "build", code=2).stderr
    assert "without nDCG@21: there is no such measure" in " ".join(told.split())


def test_a_mistyped_measure_in_a_grid_is_refused_with_the_families(demo, tmp_path):
    folder = shutil.copytree(demo, tmp_path / "demo")
    write_grid(folder)
    with (folder / "seeds" / "evaluation_grid.csv").open("a") as file:
        file.write("nDGC@10\n")
    refused = " ".join(gradelake(folder, "build", code=2).stderr.split())
    assert "nDGC@10: there is no such measure; there are: nDCG[@k], AP[@k]" in refused


def _dcg(gains: list[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def test_fractions_are_gains_of_ndcg_and_labels_of_the_others(new_lake, tmp_path):
    draw = random.Random(5)
    judged = {
        (f"q{q}", f"p{p}"): round(draw.random(), 3)
        for q in range(8)
        for p in draw.sample(range(20), 9)
    }
    ranked = {f"q{q}": [f"p{p}" for p in draw.sample(range(20), 12)] for q in range(8)}
    rows = [{"query": q, "doc": p, "rating": r} for (q, p), r in judged.items()]
    people = {"file": "people.csv", "cuts": [0.3, 0.7], "gains": True}
    shop = {"queries": "topics.tsv", "runs": ["a.run"], "judgments": {"people": people}}
    topics = dict.fromkeys(ranked, "what?")
    files = {"topics.tsv": topics, "a.run": ranked, "people.csv": rows}
    project(tmp_path, {"shop": shop | {"min_relevant": 2}}, files=files)
    new_lake(tmp_path)
    gradelake(tmp_path, "ingest", "shop")
    gradelake(tmp_path, "build")
    asked = "select measure, query_id, value from lake.marts.topic_scores where level = 2"
    found = {(m, q): v for m, q, v in published(tmp_path).rows(asked)}
    for query, passages in ranked.items():
        gains = [judged.get((query, passage), 0) for passage in passages]
        ideal = sorted((gain for (q, _), gain in judged.items() if q == query), reverse=True)
        ndcg = _dcg(gains[:10]) / _dcg(ideal[:10])
        assert found["nDCG@10", query] == pytest.approx(ndcg, abs=1e-9)
        precision = sum(gain >= 0.7 for gain in gains[:10]) / 10
        assert found["P@10", query] == pytest.approx(precision, abs=1e-9)


def test_gains_without_cuts_are_refused(tmp_path):
    rows = [{"query": "q1", "doc": "p1", "rating": 0.4}]
    shop = {"queries": "t.tsv", "judgments": {"a": {"file": "a.csv", "gains": True}}}
    project(tmp_path, {"shop": shop}, files={"t.tsv": {"q1": "what?"}, "a.csv": rows})
    told = gradelake(tmp_path, "ingest", "shop", code=2).stderr
    assert "other measures than nDCG need labels" in told
