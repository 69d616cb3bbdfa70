"""A sample is drawn, people judge it, and the leaderboard under their labels is estimated."""

import csv
import json
import os
import re
import shutil
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from gradelake.analyses.stats.estimate import estimate_board
from gradelake.analyses.stats.rates import rates
from gradelake.analyses.stats.review_sample import COLUMNS, Sample, as_csv, draw_sample
from gradelake.ingest.collections.judgments import read_sample
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake, typed
from tests.reading import published

pytestmark = pytest.mark.slow

JUDGE = "judge:overlap"
QRELS = ("export", "qrels", "demo")
DRAWS = int(os.environ.get("GRADELAKE_DRAWS", "100"))  # 400 take half a minute


def read(file) -> list[dict[str, str]]:
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def labels(folder, label_set) -> dict[tuple[str, str], int]:
    rows = published(folder).rows(
        "select query_id, passage_id, label from lake.marts.relevance_labels where label_set = ?",
        label_set,
    )
    return {tuple(row[:2]): row[2] for row in rows}


def fill(source, target, judgments, n=None) -> None:
    """Judge the first `n` rows (default: all) as in a dictionary, 0 where it says nothing."""
    rows = read(source)
    for row in rows[:n]:
        row["judgment"] = judgments.get((row["query_id"], row["passage_id"]), 0)
    with target.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module")
def judged(demo, tmp_path_factory):
    """The demo with samples that were judged as its own assessor did, built.

    ann: 5 queries; bob: 100 pairs; cid: 5 queries of which 2 are finished; dan: all pairs.
    """
    folder = shutil.copytree(demo, tmp_path_factory.mktemp("judged") / "demo")
    human = labels(folder, "assessor:human")
    samples = {
        "ann": ["--unit", "query", "--sample", "5"],
        "bob": ["--sample", "100", "--depth", "10"],
        "cid": ["--unit", "query", "--sample", "5", "--seed", "3", "--depth", "10"],
        "dan": ["--sample", str(len(labels(folder, JUDGE)))],
    }
    for assessor, options in samples.items():
        empty, filled = folder / f"{assessor}.csv", folder / f"{assessor}-filled.csv"
        gradelake(folder, *QRELS, "--label-set", JUDGE, *options, "-o", empty)
        n = None
        if assessor == "cid":
            sizes = Counter(row["query_id"] for row in read(empty))
            n = sum(list(sizes.values())[:2]) + 1
        fill(empty, filled, human, n)
        gradelake(folder, "import", "judgments", "demo", filled, "--assessor", assessor)
    gradelake(folder, "build")
    return folder


@pytest.fixture
def lake(judged):
    with Lake.published(Project.find(judged)) as lake:
        yield lake


def draw(lake, **settings):
    return draw_sample(lake, "demo", JUDGE, **({"size": 60, "seed": 1} | settings))


# --- drawing --------------------------------------------------------------------------------------


def test_the_file_has_texts_an_empty_judgment_and_no_label(judged):
    rows = read(judged / "bob.csv")
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 100
    assert {row["judgment"] for row in rows} == {""}
    assert all(row["query"] and row["passage"] for row in rows)
    assert {(row["label_set"], row["unit"], row["depth"]) for row in rows} == {
        (JUDGE, "pair", "10")
    }


def test_pairs_are_drawn_in_proportion_to_the_judges_labels_or_as_many_of_each(lake, judged):
    of = labels(judged, JUDGE)
    sample = draw(lake)
    sizes = Counter(of.values())
    drawn = Counter(of[row[0], row[2]] for row in sample.rows)
    assert len({(row[0], row[2]) for row in sample.rows}) == 60
    for label, size in sizes.items():
        assert drawn[label] == pytest.approx(60 * size / len(of), abs=2)
        assert drawn[label] >= min(2, size)
    drawn = Counter(of[row[0], row[2]] for row in draw(lake, allocation="equal").rows)
    room = [label for label in sizes if drawn[label] < sizes[label]]
    assert max(drawn[label] for label in room) - min(drawn[label] for label in room) <= 1
    assert sum(drawn.values()) == 60


def test_strata_have_codes_in_an_order_that_says_nothing_and_true_sizes(lake, judged):
    of = labels(judged, JUDGE)
    orders = set()
    for seed in range(8):
        sample = draw(lake, seed=seed)
        codes = {row[8]: of[row[0], row[2]] for row in sample.rows}
        sizes = {row[8]: row[9] for row in sample.rows}
        assert sizes == {code: Counter(of.values())[label] for code, label in codes.items()}
        orders.add(tuple(codes[code] for code in sorted(codes)))
        for row in sample.rows:
            n_drawn = sum(other[8] == row[8] for other in sample.rows)
            assert row[10] == pytest.approx(n_drawn / row[9])
    assert len(orders) > 1


def test_the_same_seed_draws_the_same_and_another_does_not(lake):
    first, again, other = draw(lake), draw(lake), draw(lake, seed=2)
    assert first == again
    assert first.name != other.name
    assert {row[:4] for row in first.rows} != {row[:4] for row in other.rows}


def test_every_pair_of_a_stratum_is_drawn_as_often_as_any_other(lake, judged):
    of = labels(judged, JUDGE)
    counts = Counter()
    for seed in range(DRAWS):
        counts.update((row[0], row[2]) for row in draw(lake, seed=seed).rows)
    sample = draw(lake)
    share = {row[8]: row[10] for row in sample.rows}
    expected = {of[row[0], row[2]]: share[row[8]] for row in sample.rows}
    for label, probability in expected.items():
        found = np.array([counts[pair] for pair in of if of[pair] == label]) / DRAWS
        assert found.mean() == pytest.approx(probability)
        assert np.abs(found - probability).max() < 5 * np.sqrt(probability / DRAWS)


def test_whole_queries_come_with_all_passages_the_judge_labelled(judged):
    rows, of = read(judged / "ann.csv"), labels(judged, JUDGE)
    queries = {row["query_id"] for row in rows}
    assert len(queries) == 5
    assert {(row["query_id"], row["passage_id"]) for row in rows} == {
        pair for pair in of if pair[0] in queries
    }
    assert {(row["stratum_size"], row["probability"]) for row in rows} == {("8", "0.625")}


def test_depth_keeps_what_some_system_ranked_so_high(lake):
    rows = draw(lake, unit="query", size=8, depth=3).rows
    top = lake.rows(
        "select distinct entries.query_id, entries.passage_id "
        "from lake.marts.rankings as entries "
        "semi join (from lake.marts.relevance_labels where label_set = ?) as labels "
        "on entries.query_id = labels.query_id and entries.passage_id = labels.passage_id "
        "where entries.rank <= 3",
        JUDGE,
    )
    assert {(row[0], row[2]) for row in rows} == set(top)


def test_a_querys_passages_are_together(judged):
    for assessor in ("ann", "bob"):
        queries = [row["query_id"] for row in read(judged / f"{assessor}.csv")]
        changes = sum(a != b for a, b in pairwise(queries))
        assert changes == len(set(queries)) - 1


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"size": 3}, "3 pairs are too few: the label set has 4 different labels"),
        ({"size": 100_000}, "'judge:overlap' has .* pairs to draw from, fewer than 100,000"),
        ({"size": 9, "unit": "query"}, "'judge:overlap' has 8 queries to draw from, fewer than 9"),
    ],
)
def test_more_or_less_than_can_be_drawn_is_refused(lake, settings, wrong):
    with pytest.raises(BadInput, match=wrong):
        draw(lake, **settings)


# --- estimating -----------------------------------------------------------------------------------


def estimate(lake, assessor, measure="nDCG@10", **settings):
    return estimate_board(lake, "demo", JUDGE, [assessor], measure, **settings)


def of_mart(lake, columns: str, mart: str, *where) -> list[tuple]:
    """Columns of a mart's rows of a label set and a measure, at level 2."""
    chosen = "where label_set = ? and measure = ? and level = 2"
    return lake.rows(f"select {columns} from lake.marts.{mart} {chosen}", *where)


def scores(lake, label_set, measure) -> dict[str, float]:
    return dict(of_mart(lake, "system, score", "leaderboard", label_set, measure))


def topic_scores(lake, label_set, measure) -> dict[tuple[str, str], float]:
    rows = of_mart(lake, "system, query_id, value", "topic_scores", label_set, measure)
    return {tuple(row[:2]): row[2] for row in rows}


def test_judged_queries_correct_the_judges_board_as_the_formula_says(lake, judged):
    found = estimate(lake, "ann")
    queries = {row["query_id"] for row in read(judged / "ann.csv")}
    human = topic_scores(lake, "assessor:ann", "nDCG@10")
    judge = topic_scores(lake, JUDGE, "nDCG@10")
    every = {query for _, query in judge}
    board = scores(lake, JUDGE, "nDCG@10")
    assert (found.n_judged, found.n_population) == (5, 8)
    for column, system in enumerate(found.systems):
        tuning = found.powered.tuning[column]
        elsewhere = [judge.get((system, query), 0) for query in every - queries]
        y, f = ([of.get((system, q), 0) for q in queries] for of in (human, judge))
        expected = tuning * np.mean(elsewhere) + np.mean(y) - tuning * np.mean(f)
        assert found.powered.value[column] == pytest.approx(expected)
        assert found.sample_only.value[column] == pytest.approx(np.mean(y))
        assert found.judge[column] == pytest.approx(board[system])


def test_all_pairs_judged_give_the_human_board_without_an_interval(lake):
    found = estimate(lake, "dan", "P@10")
    human = scores(lake, "assessor:dan", "P@10")
    judge = scores(lake, JUDGE, "P@10")
    for column, system in enumerate(found.systems):
        for of in (found.powered, found.sample_only):
            assert of.value[column] == pytest.approx(human[system])
            assert of.standard_error[column] == 0
        assert found.judge[column] == pytest.approx(judge[system])


def test_a_sample_of_pairs_estimates_the_human_board_within_its_intervals(lake):
    found = estimate(lake, "bob", "P@10")
    human = scores(lake, "assessor:dan", "P@10")
    truth = np.array([human[system] for system in found.systems])
    low, high = found.powered.interval(0.999)
    given = ~np.isnan(low)
    assert ((low <= truth) & (truth <= high))[given].all()
    assert given.all()
    assert not [note for note in found.notes if "interval" in note]
    errors = [of.standard_error[given] for of in (found.powered, found.sample_only)]
    assert (errors[0] <= errors[1] + 1e-12).all()
    assert found.n_judged == 100


def test_judgments_made_before_count_whole_beside_a_sample_of_the_others(judged, tmp_path):
    """The first queries were judged, by no chance; the estimate is of the human board."""
    folder = shutil.copytree(judged, tmp_path / "demo")
    truth = labels(folder, "assessor:dan")
    pairs = sorted(labels(folder, JUDGE))
    before = pairs[: len(pairs) // 3]
    old = tmp_path / "old.csv"
    lines = ["query_id,passage_id,judgment", *(f"{q},{p},{truth[q, p]}" for q, p in before)]
    old.write_text("\n".join(lines))
    gradelake(folder, "import", "judgments", "demo", old, "--assessor", "fay")
    gradelake(folder, "build")
    with Lake.published(Project.find(folder)) as lake:
        sample = draw(lake, judged_by="fay", size=80)
        human = scores(lake, "assessor:dan", "P@10")
        with pytest.raises(BadInput, match="no judgments of 'guy' in demo"):
            draw(lake, judged_by="guy")
        with pytest.raises(BadInput, match="judgments made before are of single pairs"):
            draw(lake, judged_by="fay", unit="query", size=2)
    filled = {row[0::2][:2]: row[4] for row in sample.rows if row[4] != ""}
    assert filled == {pair: truth[pair] for pair in before}
    assert (sample.n_before, sample.n_units) == (len(before), 80)
    assert sample.population == len(pairs) - len(before)
    file, back = tmp_path / "fay.csv", tmp_path / "fay-filled.csv"
    file.write_bytes(as_csv(sample))
    fill(file, back, truth)
    gradelake(folder, "import", "judgments", "demo", back, "--assessor", "fay")
    gradelake(folder, "build")
    with Lake.published(Project.find(folder)) as lake:
        found = estimate(lake, "fay", "P@10")
    assert found.n_judged == len(before) + 80
    # by hand: what was judged before, and of each other stratum its mean times its size
    with Lake.published(Project.find(folder)) as lake:
        rows = lake.rows(
            "select query_id, passage_id, stratum, probability from lake.raw.review_samples "
            "where assessor = 'fay'"
        )
        tops = lake.rows(
            "select system, query_id, passage_id from lake.marts.rankings where rank <= 10"
        )
    weight = {(q, p): 1 / share for q, p, _, share in rows}
    n_queries = len({query for query, _ in pairs})
    for column, system in enumerate(found.systems):
        ranked = {(q, p) for name, q, p in tops if name == system} & weight.keys()
        by_hand = sum(weight[pair] for pair in ranked if truth[pair] >= 2) / 10 / n_queries
        assert found.sample_only.value[column] == pytest.approx(by_hand)
    low, high = found.powered.interval(0.999)
    board = np.array([human[system] for system in found.systems])
    given = ~np.isnan(low)
    assert given.any()
    assert ((low <= board) & (board <= high))[given].all()


def test_a_judge_whose_labels_were_not_sampled_is_corrected_by_the_same_sample(lake):
    other = estimate_board(lake, "demo", "judge:rubric_overlap", ["bob"], "P@10")
    assert other.sample_only.value == pytest.approx(estimate(lake, "bob", "P@10").sample_only.value)


def test_a_rate_counts_a_judged_pair_as_often_as_one_was_drawn_for_it(lake, judged):
    ours = labels(judged, JUDGE)
    for assessor in ("bob", "dan"):
        human = labels(judged, f"assessor:{assessor}")
        (found,) = (
            one
            for one in rates(lake, "demo", JUDGE, f"assessor:{assessor}", 200)
            if one.label_cut == 2
        )
        drawn = {
            (row["query_id"], row["passage_id"]): 1 / float(row["probability"])
            for row in read(judged / f"{assessor}.csv")
        }
        assert (found.n, found.n_judged) == (len(ours), len(drawn))
        powered = 0.0
        for side in (True, False):
            among = [pair for pair in drawn if (ours[pair] >= 2) == side]
            held = sum(drawn[pair] for pair in among if human[pair] >= 2)
            share = np.mean([(label >= 2) == side for label in ours.values()])
            powered += share * held / sum(drawn[pair] for pair in among)
        assert found.figures["powered"] == pytest.approx(powered)
    # dan judged all: nothing is estimated, and the errors are those of the mart
    assert found.figures["corrected"] == pytest.approx(powered)
    assert powered == pytest.approx(np.mean([label >= 2 for label in human.values()]))
    mart = lake.rows(
        "select recall, specificity from lake.marts.kappa where label_set = ? "
        "and reference = 'assessor:dan' and kind = 'binary' and cut = '>=2|>=2'",
        JUDGE,
    )
    assert mart == [pytest.approx([found.figures["sensitivity"], found.figures["specificity"]])]


def test_queries_that_are_not_finished_do_not_count(lake):
    found = estimate(lake, "cid")
    assert found.n_judged == 2
    assert (
        "drawn pairs are not judged yet: 2 of 5 queries count, as if drawn at random"
        in (found.notes[0])
    )


def test_few_queries_give_estimates_without_intervals_and_say_how_many_it_takes(lake):
    """Those of all judged queries are exact; 5 of 8 are too few in both meanings of a mean."""
    for these in (False, True):
        found = estimate(lake, "ann", these_queries=these)
        assert np.isnan(found.powered.standard_error).all()
        assert np.isnan(found.sample_only.standard_error).all()
        assert not np.isnan(found.powered.value).any()
        assert re.fullmatch(
            r"\d+ systems have no interval: of 5 judged queries fewer than 8 carry the score by "
            r"the judge's labels \(as few as [0-4]\.\d\d\); judge more whole queries: it takes "
            r"more than the 8 there are",
            found.notes[0],
        )


@pytest.mark.parametrize(
    ("assessor", "measure", "settings", "wrong"),
    [
        ("bob", "nDCG@10", {}, "nDCG@10 is not a sum over labels; single pairs estimate P@k only"),
        ("bob", "P@20", {}, "P@20 looks at 20 ranks; the sample holds passages ranked 10 or high"),
        ("cid", "nDCG@20", {}, "nDCG@20 looks at 20 ranks"),
        ("eve", "P@10", {}, "no judgments of 'eve' in demo"),
        ("human", "P@10", {}, "assessor 'human' has judged no sample of 'demo' in this lake"),
        ("ann", "nDCG@10", {"sample": "pair-0"}, "assessor 'ann' has no sample 'pair-0'"),
        ("ann", "nDCG@11", {}, "has no measure 'nDCG@11'"),
        ("ann", "nDCG@10", {"level": 9}, "has no relevance level 9"),
    ],
)
def test_what_a_sample_cannot_tell_is_refused(lake, assessor, measure, settings, wrong):
    with pytest.raises(BadInput, match=wrong):
        estimate(lake, assessor, measure, **settings)


def test_a_measure_without_a_cutoff_notes_what_was_not_judged(lake):
    assert (
        "passages below rank 10 were not judged: AP sees them" in estimate(lake, "cid", "AP").notes
    )


def test_the_command_prints_estimates_best_first(judged):
    command = f"stats estimate demo --measure nDCG@10 --label-set {JUDGE} --assessor ann"
    found = json.loads(typed(judged, f"{command} --json").stdout)
    estimates = [system["estimate"] for system in found["systems"]]
    assert estimates == sorted(estimates, reverse=True)
    assert {"low", "high", "sample_only", "width_ratio"} <= found["systems"][0].keys()
    lines = typed(judged, command).stdout.splitlines()
    assert "5 of 8 queries judged by ann; 95% intervals" in lines[0]
    assert [line.split()[0] for line in lines[2:]] == [s["system"] for s in found["systems"]]


@pytest.mark.fast
def test_any_text_comes_back_as_it_was_and_none_is_a_formula_to_a_spreadsheet(tmp_path):
    def written(text: str, *design: str):
        row = (text, text, text, text, "2", *(design or (text, text)), "pair", text, 6, 0.5, 10)
        file = tmp_path / "sample.csv"
        file.write_bytes(as_csv(Sample(row[5], "pair", [row], 1, 6, 0)))
        return file

    for text in ("=cmd()", "+1+1", "-1+1", "@SUM(A1)", "'=cmd()", "''+1", "\t=1"):
        header, cells = csv.reader(written(text).read_text().splitlines())
        assert tuple(header) == COLUMNS
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
        if text.strip() == text:  # white space around a cell is not read
            read = read_sample(written(text), "sample.csv")
            columns = ("query_id", "passage_id", "sample", "label_set", "stratum")
            assert set(read.select(columns).row(0)) == {text}
    lines = 'one\rtwo\nthree\r\nfour, "five"'
    read = read_sample(written(lines, "pair-1", "judge:Sun"), "sample.csv")
    assert read.select("query_id", "passage_id", "relevance").rows() == [(lines, lines, 2)]
