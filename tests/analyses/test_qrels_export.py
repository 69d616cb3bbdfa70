"""`gradelake export qrels`: what leaves is what relevance_labels holds, as other tools read it."""

import gzip
import json
import shutil

import polars as pl
import pytest
import pytrec_eval

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.analyses.typed import typed
from tests.command_line import gradelake

pytestmark = pytest.mark.slow

JUDGED = {
    ("q1", "10"): 3,
    ("q1", "9"): 0,
    ("q1", "Z"): 1,
    ("q1", "a"): -2,
    ("q1", "é"): 2,
    ("q10", "a"): 1,
    ("q2", "a"): 0,
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory, new_lake):
    """A small collection: judged, graded on two questions by words, built."""
    folder = tmp_path_factory.mktemp("qrels") / "project"
    folder.mkdir()
    (folder / "gradelake.toml").write_text(
        '[collections.small]\nqueries = "topics.tsv"\npassages = "passages.tsv"\n'
        'judgments = { me = "me.qrels" }\n\n'
        '[graders.words]\nengine = "lexical"\nprompt = "question_self_rating"\nparser = "strict"\n'
    )
    (folder / "topics.tsv").write_text("q1\tblue sky\nq2\thoney bees\nq10\tred wine\n")
    (folder / "passages.tsv").write_text(
        "".join(
            f"{passage}\tWhy the sky is blue, part {passage}.\n"
            for passage in ("10", "9", "Z", "a", "é")
        )
    )
    (folder / "me.qrels").write_text(
        "".join(f"{query} 0 {passage} {label}\n" for (query, passage), label in JUDGED.items())
    )
    (folder / "bank.csv").write_text(
        "query_id,kind,text\nq1,question,Why is the sky blue?\nq10,question,Is wine red?\n"
    )
    new_lake(folder)
    gradelake(folder, "ingest", "small")
    gradelake(folder, "import", "bank", "small", "bank.csv", "--name", "questions")
    gradelake(folder, "grade", "small", "--grader", "words")
    gradelake(folder, "build")
    return folder


def exported(folder, label_set: str, *options: str) -> list[list[str]]:
    """The columns of every line on standard output."""
    done = gradelake(folder, "export", "qrels", "small", "--label-set", label_set, *options)
    return [line.split(" ") for line in done.stdout.splitlines()]


def test_lines_are_those_of_the_judgments_sorted_bytewise(graded):
    assert exported(graded, "assessor:me") == [
        ["q1", "0", "10", "3"],
        ["q1", "0", "9", "0"],
        ["q1", "0", "Z", "1"],
        ["q1", "0", "a", "-2"],
        ["q1", "0", "é", "2"],
        ["q10", "0", "a", "1"],
        ["q2", "0", "a", "0"],
    ]


def test_every_label_set_goes_out_as_relevance_labels_has_it_without_duplicates(graded):
    gradelake(graded, "export", "qrels", "small", "--all", "all")
    with Lake.published(Project.find(graded)) as lake:
        rows = lake.rows(
            "select label_set, query_id, passage_id, label from lake.marts.relevance_labels"
        )
    assert {row[0] for row in rows} == {"assessor:me", "words/v0/best", "words/v0/second_best"}
    files = {path.name: path.read_bytes() for path in (graded / "all").iterdir()}
    assert files.keys() == {
        "assessor:me.qrels",
        "words.v0.best.qrels",
        "words.v0.second_best.qrels",
    }
    for label_set in {row[0] for row in rows}:
        lines = files[label_set.replace("/", ".") + ".qrels"].splitlines()
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
    with Lake.published(Project.find(demo)) as lake:
        ours = lake.rows(
            "select query_id, value from lake.marts.topic_scores where system = 'bm25' "
            "and label_set = 'assessor:human' and measure = 'nDCG@10' and level = 1"
        )
    assert len(ours) == 8
    assert {query: cells["ndcg_cut_10"] for query, cells in theirs.items()} == pytest.approx(
        dict(ours), abs=1e-9
    )


def test_imported_again_as_a_judge_it_is_the_same_label_set(demo, tmp_path):
    folder = tmp_path / "demo"
    shutil.copytree(demo, folder)
    gradelake(folder, "export", "qrels", "demo", "--label-set", "judge:overlap", "-o", "out.gz")
    assert gzip.decompress((folder / "out.gz").read_bytes()).count(b"\n") == 304
    gradelake(folder, "import", "labels", "demo", "out.gz", "--judge", "twin")
    with Lake.live(Project.find(folder)) as lake:
        different = lake.rows(
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


def test_equal_labels_are_equal_bytes_zipped_too(graded):
    for name in ("one.qrels.gz", "two.qrels.gz"):
        gradelake(graded, "export", "qrels", "small", "--label-set", "assessor:me", "-o", name)
    one, two = (graded / name for name in ("one.qrels.gz", "two.qrels.gz"))
    assert one.read_bytes() == two.read_bytes()
    assert len(gzip.decompress(one.read_bytes()).splitlines()) == len(JUDGED)


def test_one_json_object_says_what_was_written_where(graded):
    done = typed(graded, "export qrels small --label-set words/v0/best --output best.qrels --json")
    assert json.loads(done.stdout) == {
        "collection": "small",
        "written": [{"label_set": "words/v0/best", "file": "best.qrels", "labels": 6}],
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("small", "--label-set", "words/v0/bst"), "Did you mean 'words/v0/best'?"),
        (("small", "--label-set", "?"), "assessor:me, words/v0/best, words/v0/second_best"),
        (("smal", "--label-set", "assessor:me"), "Did you mean 'small'?"),
        (("small",), "either --label-set NAME or --all DIR"),
        (("small", "--label-set", "assessor:me", "--all", "x"), "either --label-set NAME or --all"),
        (("small", "--all", "x", "--output", "y"), "--all DIR and --output FILE cannot"),
        (("small", "--label-set", "assessor:me", "--json"), "Add --output FILE."),
        (("small", "--label-set", "assessor:me", "--output", "no/x"), "there is no folder no"),
        (
            ("small", "--label-set", "assessor:me", "--live", "--release", "r1"),
            "cannot be used together",
        ),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_written(graded, arguments, said):
    before = sorted(path.name for path in graded.iterdir())
    done = gradelake(graded, "export", "qrels", *arguments, code=2)
    assert said in done.stderr
    assert done.stdout == ""
    assert sorted(path.name for path in graded.iterdir()) == before


def test_an_id_that_cannot_stand_in_a_column_is_refused_and_the_old_file_stays(graded, tmp_path):
    folder = tmp_path / "project"
    shutil.copytree(graded, folder)
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
    gradelake(folder, "build", "--select", "int_labels")
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
