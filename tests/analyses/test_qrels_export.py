"""`gradelake export qrels`: what leaves is what relevance_labels holds, as other tools read it."""

import gzip
import json
import shutil

import polars as pl
import pytest
import pytrec_eval

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests import oracle
from tests.command_line import gradelake, typed
from tests.projects import LEXICAL, project
from tests.reading import live, published

pytestmark = pytest.mark.slow

JUDGED = {  # in the order of bytes
    ("q1", "10"): 3,
    ("q1", "9"): 0,
    ("q1", "Z"): 1,
    ("q1", "a"): -2,
    ("q1", "é"): 2,
    ("q10", "a"): 1,
    ("q2", "a"): 0,
}


ME = "small --label-set assessor:me"
PASSAGES = {p: f"Why the sky is blue, part {p}." for p in ("10", "9", "Z", "a", "é")}


@pytest.fixture(scope="module")
def graded(tmp_path_factory, new_lake):
    """`small`: judged, graded on two questions by words. `holes`: three passages of a query judged
    by me, others by an eager judge and by a coarse one."""
    folder = tmp_path_factory.mktemp("qrels") / "project"
    small = {"queries": "topics.tsv", "passages": "passages.tsv", "judgments": {"me": "me.qrels"}}
    holes = small | {"judgments": {"me": "few.qrels"}}
    judges = {
        "eager": {"q1": {"10": 0, "9": 3, "a": 2}, "q2": {"10": 1, "Z": 3}},
        "coarse": {"q1": {"10": 0, "a": 1}, "q2": {"9": 1, "Z": 0}},
    }
    files = {
        "topics.tsv": {"q1": "blue sky", "q2": "honey bees", "q10": "red wine"},
        "passages.tsv": PASSAGES,
        "me.qrels": [f"{query} 0 {passage} {label}" for (query, passage), label in JUDGED.items()],
        "few.qrels": {"q1": {"10": 3, "9": -1, "Z": 0}},
        "bank.csv": [
            "query_id,kind,text",
            "q1,question,Why is the sky blue?",
            "q10,question,Is wine red?",
        ],
    } | {f"{judge}.qrels": labels for judge, labels in judges.items()}
    project(folder, {"small": small, "holes": holes}, {"words": LEXICAL}, files)
    new_lake(folder)
    gradelake(folder, "ingest", "small")
    gradelake(folder, "ingest", "holes")
    gradelake(folder, "import", "bank", "small", "bank.csv", "--name", "questions")
    gradelake(folder, "grade", "small", "--grader", "words")
    for judge in judges:
        gradelake(folder, "import", "labels", "holes", f"{judge}.qrels", "--judge", judge)
    gradelake(folder, "build")
    return folder


def exported(folder, label_set: str, *options: str) -> list[list[str]]:
    """The columns of every line on standard output."""
    done = gradelake(folder, "export", "qrels", "small", "--label-set", label_set, *options)
    return [line.split(" ") for line in done.stdout.splitlines()]


def test_lines_are_those_of_the_judgments_sorted_bytewise(graded):
    lines = [[query, "0", passage, str(label)] for (query, passage), label in JUDGED.items()]
    assert exported(graded, "assessor:me") == lines


def test_every_label_set_goes_out_as_relevance_labels_has_it_without_duplicates(graded):
    gradelake(graded, "export", "qrels", "small", "--all", "all")
    rows = published(graded).rows(
        "select label_set, query_id, passage_id, label from lake.marts.relevance_labels "
        "where collection = 'small'"
    )
    assert {row[0] for row in rows} == {"assessor:me", "words/v0/best", "words/v0/second_best"}
    files = {path.name: path.read_bytes() for path in (graded / "all").iterdir()}
    assert files.keys() == {
        "assessor.me.qrels",
        "words.v0.best.qrels",
        "words.v0.second_best.qrels",
    }
    for label_set in {row[0] for row in rows}:
        lines = files[label_set.replace("/", ".").replace(":", ".") + ".qrels"].splitlines()
        expected = [
            f"{query} 0 {passage} {label}".encode()
            for of, query, passage, label in rows
            if of == label_set
        ]
        assert sorted(lines) == sorted(expected)
        keys = [tuple(line.split()[:3]) for line in lines]
        assert keys == sorted(set(keys))


def test_pytrec_eval_reads_them_and_scores_as_the_leaderboard_does(demo, tmp_path):
    file = tmp_path / "human.qrels"
    gradelake(demo, "export", "qrels", "demo", "--label-set", "assessor:human", "-o", str(file))
    with file.open() as stream:
        qrels = pytrec_eval.parse_qrel(stream)
    with (demo / "runs" / "bm25.run").open() as stream:
        run = pytrec_eval.parse_run(stream)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(run)
    ours = published(demo).rows(
        "select query_id, value from lake.marts.topic_scores where system = 'bm25' "
        "and label_set = 'assessor:human' and measure = 'nDCG@10' and level = 1"
    )
    assert len(ours) == 8
    assert {query: cells["ndcg_cut_10"] for query, cells in theirs.items()} == pytest.approx(
        dict(ours), abs=1e-9
    )


def test_imported_again_as_a_judge_it_is_the_same_label_set(demo, tmp_path):
    folder = shutil.copytree(demo, tmp_path / "demo")
    gradelake(folder, "export", "qrels", "demo", "--label-set", "judge:overlap", "-o", "out.gz")
    assert gzip.decompress((folder / "out.gz").read_bytes()).count(b"\n") == 304
    gradelake(folder, "import", "labels", "demo", "out.gz", "--judge", "twin")
    different = live(folder).rows(
        """
        with grades as (
            select name, query_id, passage_id, grade
            from lake.raw.grades inner join lake.raw.graders using (grader_id)
            where name in ('overlap', 'twin')
        )
        select query_id, passage_id, grade, count(*) from grades
        group by all having count(*) != 2
        """
    )
    assert different == []


def test_equal_labels_are_equal_bytes_zipped_too_and_json_says_where(graded):
    for name in ("one.qrels.gz", "two.qrels.gz"):
        done = typed(graded, f"export qrels {ME} -o {name} --json")
        written = {"label_set": "assessor:me", "file": name, "labels": len(JUDGED)}
        assert json.loads(done.stdout) == {"collection": "small", "written": [written]}
    one, two = (graded / name for name in ("one.qrels.gz", "two.qrels.gz"))
    assert one.read_bytes() == two.read_bytes()
    assert len(gzip.decompress(one.read_bytes()).splitlines()) == len(JUDGED)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("small --label-set ?", "assessor:me, words/v0/best, words/v0/second_best"),
        ("small", "either --label-set NAME or --all DIR"),
        (f"{ME} --all x", "either --label-set NAME or --all"),
        ("small --all x --output y", "--all DIR and --output FILE cannot"),
        ("small --all x --fill-holes judge:eager", "--all DIR and --fill-holes NAME"),
        (f"{ME} --json", "Add --output FILE."),
        (f"{ME} --output no/x", "there is no folder no"),
        (f"{ME} --live --release r1", "cannot be used together"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_written(graded, line, said):
    before = sorted(path.name for path in graded.iterdir())
    done = typed(graded, f"export qrels {line}", code=2)
    assert said in done.stderr
    assert done.stdout == ""
    assert sorted(path.name for path in graded.iterdir()) == before


def test_an_id_that_cannot_stand_in_a_column_is_refused_and_the_old_file_stays(graded, tmp_path):
    folder = shutil.copytree(graded, tmp_path / "project")
    bad = {"space": "two words", "tab": "a\ttab", "thin": "thin\u2009space", "empty": ""}
    judged = [
        {
            "collection": "small",
            "assessor": assessor,
            "query_id": "q1",
            "passage_id": passage,
            "relevance": 1,
        }
        for assessor, passage in bad.items()
    ]
    with Lake.writer(Project.find(folder)) as lake:
        lake.connection.register("judged", pl.DataFrame(judged))
        with lake.transaction("test") as transaction:
            transaction.run("insert into {lake}.raw.judgments by name select * from judged")
    gradelake(folder, "build")
    (folder / "old.qrels").write_text("old")
    for assessor, passage in bad.items():
        done = typed(
            folder,
            f"export qrels small --live --label-set assessor:{assessor} --output old.qrels",
            code=2,
        )
        assert f"passage id {passage!r} cannot stand in TREC qrels" in done.stderr
    assert (folder / "old.qrels").read_text() == "old"
    gradelake(folder, "export", "qrels", "small", "--live", "--all", "all_of_it", code=2)
    assert not (folder / "all_of_it").exists(), "all of them or none"


# --- with a judge's labels where the assessor has none -------------------------------------------


def filled(folder, judge, *options, code=0):
    of = ["export", "qrels", "holes", "--label-set", "assessor:me", "--fill-holes"]
    return gradelake(folder, *of, f"judge:{judge}", *options, code=code)


def test_the_judge_speaks_only_where_the_assessor_does_not_and_is_named_there(graded):
    done = filled(graded, "eager")
    assert done.stdout.splitlines() == [
        "q1 0 10 3",
        "q1 0 9 -1",
        "q1 0 Z 0",
        "q1 judge:eager a 2",
        "q2 judge:eager 10 1",
        "q2 judge:eager Z 3",
    ]
    assert "wrote 3 labels of assessor:me and 3 of judge:eager" in done.stderr
    assert "note: 1 query has labels of judge:eager only" in done.stderr


def test_labels_of_another_scale_are_refused_unless_mapped(graded):
    done = filled(graded, "coarse", code=2)
    assert "the scales differ: assessor:me is 0-3, judge:coarse is 0-1" in done.stderr
    assert "--map 1:3" in done.stderr
    assert "label policy" not in done.stderr, "a direct judge has none"
    assert done.stdout == ""
    lines = filled(graded, "coarse", "--map", "1:2").stdout.splitlines()
    assert lines[3:] == ["q1 judge:coarse a 2", "q2 judge:coarse 9 2", "q2 judge:coarse Z 0"]


def test_a_label_that_the_mapping_does_not_name_is_0(graded):
    lines = filled(graded, "eager", "--map", "3:1, 2:3").stdout.splitlines()
    assert lines[3:] == ["q1 judge:eager a 3", "q2 judge:eager 10 0", "q2 judge:eager Z 1"]


def test_counts_and_the_file_are_in_the_json_object(graded):
    done = filled(graded, "eager", "-o", "filled.qrels.gz", "--json")
    written = {"label_set": "assessor:me", "fill_holes": "judge:eager", "file": "filled.qrels.gz"}
    counts = {"labels": 3, "filled": 3, "queries_of_fill_only": 1}
    assert json.loads(done.stdout) == {"collection": "holes", "written": [written | counts]}
    lines = gzip.decompress((graded / "filled.qrels.gz").read_bytes()).decode()
    assert lines == filled(graded, "eager").stdout


def test_trec_eval_reads_a_plain_merge_of_both_files(demo, tmp_path):
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
        assert pytrec_eval.parse_qrel(stream) == merged


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--fill-holes assessor:me", "is the label set itself"),
        ("--map 1:3", "--map is for the labels of --fill-holes"),
        ("--fill-holes judge:coarse --map 1:4", "4 is off the scale of assessor:me, 0-3"),
        ("--fill-holes judge:coarse --map 2:3", "2 is off the scale of judge:coarse, 0-1"),
        ("--fill-holes judge:coarse --map 1-3", "'1-3' is not a new LABEL:LABEL"),
        ("--fill-holes judge:coarse --map ''", "it names no label"),
    ],
)
def test_what_cannot_be_filled_is_said_and_nothing_written(graded, options, said):
    done = typed(graded, f"export qrels holes --label-set assessor:me {options}", code=2)
    assert said in done.stderr
    assert done.stdout == ""
