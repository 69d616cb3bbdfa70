"""`export scores`: a board as tools of tracks read it, every mean that of its lines."""

import json
from collections import defaultdict
from pathlib import Path

import pytest
import yaml

from tests.command_line import gradelake
from tests.reading import published

BOARD = ("export", "scores", "demo", "--label-set", "assessor:human")


def test_lines_are_topic_scores_and_all_is_their_mean(graded_demo):
    done = gradelake(graded_demo, *BOARD, "--measure", "nDCG@10", "--measure", "AP")
    values, means = defaultdict(dict), {}
    for line in done.stdout.splitlines():
        run, topic, measure, value = line.split("\t")
        if topic == "all":
            means[run, measure] = float(value)
        else:
            values[run, measure][topic] = float(value)
    (n_queries,) = set(
        published(graded_demo).column(
            "select n_queries from lake.marts.leaderboard where label_set = $label_set",
            label_set="assessor:human",
        )
    )
    systems = published(graded_demo).column("select system from lake.raw.systems")
    assert set(means) == {(s, measure) for s in systems for measure in ("nDCG@10", "AP")}
    for key, mean in means.items():  # a query without an answer counts 0
        assert mean == pytest.approx(sum(values[key].values()) / n_queries, abs=1e-9)


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
