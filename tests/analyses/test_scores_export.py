"""`export scores`: a board as tools of tracks read it, every mean that of its lines."""

import json
from collections import defaultdict
from pathlib import Path

import pytest
import yaml

from tests.command_line import gradelake
from tests.reading import published
from tests.tiers import first_of

BOARD = ("export", "scores", "demo", "--label-set", "assessor:human")


@pytest.mark.parametrize("label_set", first_of(1, "assessor:human", "lexical/v0/best"))
def test_every_system_has_a_line_of_every_topic_and_all_is_their_mean(graded_demo, label_set):
    """Also of a topic that it did not answer, which counts 0: autojudge-evaluate refuses a board
    with holes."""
    options = ("--label-set", label_set, "--measure", "nDCG@10", "--measure", "AP")
    done = gradelake(graded_demo, "export", "scores", "demo", *options)
    values, means = defaultdict(dict), {}
    for line in done.stdout.splitlines():
        run, topic, measure, value = line.split("\t")
        if topic == "all":
            means[run, measure] = float(value)
        else:
            values[run, measure][topic] = float(value)
    ((queries, n_queries),) = published(graded_demo).rows(
        "select list(distinct query_id), any_value(n_queries) from lake.marts.leaderboard "
        "inner join lake.marts.relevance_labels using (collection, label_set) "
        "where collection = 'demo' and label_set = $label_set",
        label_set=label_set,
    )
    stored = {
        (system, query, measure): value
        for system, query, measure, value in published(graded_demo).rows(
            "select system, query_id, measure, value from lake.marts.topic_scores "
            "inner join lake.marts.usual_levels using (collection, label_set, level) "
            "where collection = 'demo' and label_set = $label_set",
            label_set=label_set,
        )
    }
    systems = published(graded_demo).column("select system from lake.raw.systems")
    assert set(means) == {(s, measure) for s in systems for measure in ("nDCG@10", "AP")}
    for (system, measure), mean in means.items():
        of_system = values[system, measure]
        assert of_system == {q: stored.get((system, q, measure), 0) for q in queries}
        assert mean == pytest.approx(sum(of_system.values()) / n_queries, abs=1e-9)
    skipped = {key for key in values if any((key[0], q, key[1]) not in stored for q in queries)}
    assert skipped  # coordination_match answered 7 of 8


@pytest.mark.slow
def test_each_layout_has_its_columns(graded_demo, tmp_path):
    of_one = ("--measure", "AP", "--level", "1")
    plain = gradelake(graded_demo, *BOARD, *of_one).stdout.splitlines()
    run, topic, measure, value = plain[0].split("\t")
    first = {
        layout: gradelake(graded_demo, *BOARD, *of_one, "--layout", layout).stdout.splitlines()[0]
        for layout in ("tot", "rag4reports", "jsonl")
    }
    assert first["tot"].split("\t") == [run, measure, topic, value]
    assert first["rag4reports"].split("\t") == [topic, run, measure, value]
    assert json.loads(first["jsonl"]) == {
        "run_id": run,
        "topic_id": topic,
        "measure": measure,
        "value": float(value),
    }
    file = tmp_path / "board.txt"
    done = gradelake(graded_demo, *BOARD, *of_one, "-o", file, "--json")
    assert json.loads(done.stdout)["written"][0]["scores"] == len(plain)
    assert file.read_text().splitlines() == plain


def by_autojudge(folder: Path) -> set[tuple]:
    """(run, topic, measure, value), as `Leaderboard.load` of autojudge-base 1.0.0 reads a folder in
    the layout trec_eval: every file that is not hidden, its whole name the run's."""
    return {
        (file.name, topic, measure, value)
        for file in folder.iterdir()
        if file.is_file() and not file.name.startswith(".")
        for measure, topic, value in map(str.split, file.read_text().strip().split("\n"))
    }


@pytest.mark.slow
def test_the_layout_of_trec_eval_is_a_file_for_each_run(graded_demo, tmp_path):
    of_two = ("--measure", "AP", "--measure", "nDCG@10", "--layout")
    plain = gradelake(graded_demo, *BOARD, *of_two, "ir_measures").stdout.splitlines()
    folder = tmp_path / "runs"
    gradelake(graded_demo, *BOARD, *of_two, "trec_eval", "-o", folder, "--measures-yml")
    called = {"AP": "map", "nDCG@10": "ndcg_cut_10"}
    assert by_autojudge(folder) == {
        (run, topic, called[measure], value)
        for run, topic, measure, value in (line.split("\t") for line in plain)
    }
    assert sum(len(file.read_text().splitlines()) for file in folder.iterdir()) == len(plain)
    # as LeaderboardSpec.write_measures_yaml has it
    assert yaml.safe_load((tmp_path / "runs.measures.yml").read_text()) == {
        "measures": [{"name": name, "dtype": "float"} for name in called.values()]
    }
    gradelake(graded_demo, *BOARD, *of_two, "trec_eval", "-o", folder, code=2)  # it is there


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--measure", "nDGC@10"), "has no measure 'nDGC@10'"),
        (("--level", "9"), "has no relevance level 9"),
        (("--json",), "would both go to standard output"),
        (("--layout", "trec_eval"), "--layout trec_eval writes several files"),
        (("--measures-yml",), "--measures-yml writes several files"),
        (("--layout", "trec_eval", "-o", "no/folder"), "no/folder: cannot be written"),
    ],
)
def test_what_there_is_not_is_refused(graded_demo, options, problem):
    assert problem in gradelake(graded_demo, *BOARD, *options, code=2).stderr
