"""`gradelake export qrels --fill-holes`: the assessor's labels; a judge's where there is none."""

import gzip
import json

import pytest
import pytrec_eval

from tests import oracle
from tests.analyses.typed import typed
from tests.command_line import gradelake

pytestmark = pytest.mark.slow

SCORES = {"ndcg_cut.10", "map", "recip_rank"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, new_lake):
    """Three passages of each query judged by me, others by an eager judge and by a coarse one."""
    folder = tmp_path_factory.mktemp("filled") / "project"
    folder.mkdir()
    (folder / "gradelake.toml").write_text(
        '[collections.small]\nqueries = "topics.tsv"\npassages = "passages.tsv"\n'
        'judgments = { me = "me.qrels" }\n'
    )
    (folder / "topics.tsv").write_text("q1\tblue sky\nq2\thoney bees\n")
    (folder / "passages.tsv").write_text("".join(f"{p}\tPassage {p}.\n" for p in "abcd"))
    (folder / "me.qrels").write_text("q1 0 a 3\nq1 0 b -1\nq1 0 c 0\n")
    (folder / "eager.qrels").write_text("q1 0 a 0\nq1 0 b 3\nq1 0 d 2\nq2 0 a 1\nq2 0 c 3\n")
    (folder / "coarse.qrels").write_text("q1 0 a 0\nq1 0 d 1\nq2 0 b 1\nq2 0 c 0\n")
    new_lake(folder)
    gradelake(folder, "ingest", "small")
    for judge in ("eager", "coarse"):
        gradelake(folder, "import", "labels", "small", f"{judge}.qrels", "--judge", judge)
    gradelake(folder, "build")
    return folder


def filled(folder, judge, *options, code=0):
    of = ["export", "qrels", "small", "--label-set", "assessor:me", "--fill-holes"]
    return gradelake(folder, *of, f"judge:{judge}", *options, code=code)


def test_the_judge_speaks_only_where_the_assessor_does_not_and_is_named_there(folder):
    done = filled(folder, "eager")
    assert done.stdout.splitlines() == [
        "q1 0 a 3",
        "q1 0 b -1",
        "q1 0 c 0",
        "q1 judge:eager d 2",
        "q2 judge:eager a 1",
        "q2 judge:eager c 3",
    ]
    assert "wrote 3 labels of assessor:me and 3 of judge:eager" in done.stderr
    assert "note: 1 query has labels of judge:eager only" in done.stderr


def test_labels_of_another_scale_are_refused_unless_mapped(folder):
    done = filled(folder, "coarse", code=2)
    assert "the scales differ: assessor:me is 0-3, judge:coarse is 0-1" in done.stderr
    assert "--map 1:3" in done.stderr
    assert "label policy" not in done.stderr, "a direct judge has none"
    assert done.stdout == ""
    lines = filled(folder, "coarse", "--map", "1:2").stdout.splitlines()
    assert lines[3:] == ["q1 judge:coarse d 2", "q2 judge:coarse b 2", "q2 judge:coarse c 0"]


def test_a_label_that_the_mapping_does_not_name_is_0(folder):
    lines = filled(folder, "eager", "--map", "3:1, 2:3").stdout.splitlines()
    assert lines[3:] == ["q1 judge:eager d 3", "q2 judge:eager a 0", "q2 judge:eager c 1"]


def test_counts_and_the_file_are_in_the_json_object(folder):
    done = filled(folder, "eager", "-o", "filled.qrels.gz", "--json")
    assert json.loads(done.stdout) == {
        "collection": "small",
        "written": [
            {
                "label_set": "assessor:me",
                "fill_holes": "judge:eager",
                "file": "filled.qrels.gz",
                "labels": 3,
                "filled": 3,
                "queries_of_fill_only": 1,
            }
        ],
    }
    lines = gzip.decompress((folder / "filled.qrels.gz").read_bytes()).decode()
    assert lines == filled(folder, "eager").stdout


def test_trec_eval_scores_a_run_as_with_a_plain_merge_of_both_files(demo, tmp_path):
    """The demo's answers are not judged by its people; the judge's 0-3 labels are of all."""
    human = oracle.read_qrels(demo / "judgments.qrels")
    judge = oracle.read_qrels(demo / "labels/overlap.qrels")
    merged = {
        query: judge.get(query, {}) | human.get(query, {}) for query in human.keys() | judge.keys()
    }
    holes = sum(map(len, merged.values())) - sum(map(len, human.values()))
    assert holes > 0
    file = tmp_path / "filled.qrels"
    done = typed(
        demo, f"export qrels demo --label-set assessor:human --fill-holes judge:overlap -o {file}"
    )
    assert f"and {holes} of judge:overlap" in done.stdout
    with file.open() as stream:
        qrels = pytrec_eval.parse_qrel(stream)
    assert qrels == merged
    for run in oracle.read_runs(demo / "runs").values():
        theirs = pytrec_eval.RelevanceEvaluator(merged, SCORES).evaluate(run)
        assert pytrec_eval.RelevanceEvaluator(qrels, SCORES).evaluate(run) == theirs


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--label-set", "assessor:me", "--fill-holes", "assessor:me"), "is the label set itself"),
        (("--label-set", "assessor:me", "--fill-holes", "judge:eagr"), "Did you mean"),
        (("--all", "x", "--fill-holes", "judge:eager"), "--all DIR and --fill-holes NAME cannot"),
        (("--label-set", "assessor:me", "--map", "1:3"), "--map is for the labels of --fill-holes"),
        (
            ("--label-set", "assessor:me", "--fill-holes", "judge:coarse", "--map", "1:4"),
            "4 is off the scale of assessor:me, 0-3",
        ),
        (
            ("--label-set", "assessor:me", "--fill-holes", "judge:coarse", "--map", "2:3"),
            "2 is off the scale of judge:coarse, 0-1",
        ),
        (
            ("--label-set", "assessor:me", "--fill-holes", "judge:coarse", "--map", "1-3"),
            "'1-3' is not a new LABEL:LABEL",
        ),
        (
            ("--label-set", "assessor:me", "--fill-holes", "judge:coarse", "--map", "1:3,1:2"),
            "'1:2' is not a new LABEL:LABEL",
        ),
        (
            ("--label-set", "assessor:me", "--fill-holes", "judge:coarse", "--map", ""),
            "it names no label",
        ),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_written(folder, options, said):
    done = gradelake(folder, "export", "qrels", "small", *options, code=2)
    assert said in done.stderr
    assert done.stdout == ""
