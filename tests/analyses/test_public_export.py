"""`export track --public`: boards and labels are shared, the rubric and all answers stay secret."""

import base64
import csv
import gzip
import re
from html import unescape
from pathlib import Path

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.conftest import made_once
from tests.grading.workbench_files import direct, extracted, lines, paragraph, rated
from tests.lakes import start_lake
from tests.projects import USUAL, project
from tests.report_page import Page

pytestmark = pytest.mark.slow

# words that stand nowhere else, and what they are words of
SECRET = {
    *("quorvex", "mizzlund"),  # the question
    "vontrash",  # the nugget
    "trelbane",  # a gold answer
    *("snarvelt", "plimquat", "wobsnick"),  # a reply, an extracted answer, a judge's reply
    *("drelmop", "fizzgorp", "grumblat"),  # why a pair failed, its reply, its prompt
    *("gribnok", "krenthal", "hurlwix"),  # what files brought along: of a bank, a passage, a grader
}
QUESTION = {"question_text": "Quorvex mizzlund?", "gold_answers": ["trelbane"]}
BANK = {
    "query_id": "q1",
    "query_text": "sky",
    "test_collection": "t",
    "info": {"description": "gribnok"},
    "items": [QUESTION | {"query_id": "q1", "question_id": "q1/a"}],
}
NUGGET = {"query_id": "q1", "nugget_id": "q1/n", "nugget_text": "Vontrash"}
FAILED = {"response": "fizzgorp", "prompt": "grumblat", "failure_reason": "drelmop was no grade"}
GRADED = [
    paragraph(
        "p1",
        text="The sky is blue.",
        paragraph="<p>krenthal</p>",
        exam=[
            rated({"q1/a": 5}, {"q1/a": "5 snarvelt"}, llm="flan", llm_options={"note": "hurlwix"}),
            extracted({"q1/a": "plimquat"}, ["q1/a"], llm="flan"),
        ],
        grades=[direct(1, "Yes, wobsnick")],
    ),
    paragraph(
        "p2",
        text="Bees dance.",
        # relevant and not covered, spurious elsewhere: every list of the report has a row
        exam=[rated({}, llm="flan", llm_response_errors={"q1/a": FAILED})],
        grades=[direct(0, "No")],
    ),
    paragraph(
        "p3", text="Rain falls.", exam=[rated({"q1/a": 4}, llm="flan")], grades=[direct(0, "No")]
    ),
]


def texts_of(folder: Path) -> str:
    """All that the files of a folder hold, in small letters; zipped files and packs are opened."""
    found = []
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            data = file.read_bytes()
            found.append((gzip.decompress(data) if file.suffix == ".gz" else data).decode())
            packs = re.findall(r'<script type="text/plain"[^>]*>([^<]*)</script>', found[-1])
            found += [gzip.decompress(base64.b64decode(pack)).decode() for pack in packs]
    return unescape("\n".join(found)).replace('\\"', '"').lower()  # of HTML, and of JSON


def make(folder: Path) -> None:
    """A collection with a rubric of made-up words, graded; `public`, and all that is not."""
    files = {
        "topics.tsv": {"q1": "sky"},
        "passages.tsv": {"p1": "The sky is blue.", "p2": "Bees dance.", "p3": "Rain falls."},
        "me.qrels": {"q1": {"p1": 1, "p2": 1, "p3": 0}},
        "bank.jsonl": [BANK, BANK | {"items": [NUGGET]}],
        "graded.jsonl": lines(q1=GRADED),
    }
    for name, order in (("one", "123"), ("two", "321"), ("three", "213")):
        files[f"runs/{name}.run"] = {"q1": [f"p{n}" for n in order]}
    project(folder, {"tiny": USUAL}, files=files)
    start_lake(folder)
    gradelake(folder, "ingest", "tiny")
    gradelake(folder, "import", "bank", "tiny", "bank.jsonl", "--name", "secret")
    gradelake(folder, "import", "grades", "tiny", "graded.jsonl")
    gradelake(folder, "build")
    for name in ("secret", "report", "qrels"):
        (folder / name).mkdir()
    gradelake(folder, "report", "-o", "report/report.html")
    gradelake(folder, "export", "bank", "tiny", "--name", "secret", "-o", "secret/bank.jsonl.gz")
    gradelake(folder, "export", "grades", "tiny", "--output", "secret/graded.jsonl.gz")
    gradelake(folder, "export", "qrels", "tiny", "--all", "qrels")
    said = gradelake(folder, "export", "track", "tiny", "--public", "public").stdout
    assert said.startswith("public: wrote ")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return made_once(tmp_path_factory, "public", make)


def found_in(folder: Path) -> set[str]:
    text = texts_of(folder)
    return {word for word in SECRET if word in text}


def test_no_word_of_the_rubric_and_no_answer_is_in_what_is_shared(folder):
    in_report = found_in(folder / "report")
    assert in_report >= {"quorvex", "mizzlund", "plimquat", "drelmop", "hurlwix"}
    assert found_in(folder / "secret") | in_report == SECRET  # the search finds each
    assert found_in(folder / "public") == set()


def test_boards_labels_and_correlations_are_all_there(folder):
    public = folder / "public"
    assert {file.name for file in public.iterdir()} == {
        *("leaderboard.csv", "leaderboard_correlation.csv", "qrels", "report.html", "README.md")
    }
    qrels = {file.name: file.read_bytes() for file in (folder / "qrels").iterdir()}
    assert {file.name: file.read_bytes() for file in (public / "qrels").iterdir()} == qrels
    assert {"assessor.me.qrels", "flan.QuestionSelfRated.v0.best.qrels"} <= qrels.keys()
    with Lake.published(Project.find(folder)) as lake:
        for table in ("leaderboard", "leaderboard_correlation"):
            n_rows = lake.value(f"select count(*) from lake.marts.{table}")
            with (public / f"{table}.csv").open(newline="") as file:
                assert len(list(csv.DictReader(file))) == n_rows
        assert lake.value("select count(*) from lake.marts.leaderboard") > 0
    whole, shared = Page(folder / "report" / "report.html"), Page(public / "report.html")
    assert shared.settled["label_sets"] == whole.settled["label_sets"]
    assert "flan.QuestionSelfRated/v0/best" in shared.settled["label_sets"]
    for label_set in whole.settled["label_sets"]:
        assert shared.board(label_set) == whole.board(label_set)
    assert shared.of_query("q1") == whole.of_query("q1") | {"items": []}
    assert not [name for name in shared.packs if name.startswith(("texts-", "grid-"))]
    assert "--without-rubric" in shared.text()
    assert "Left out: the rubric is not shared." in shared.text()


def board_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "leaderboard.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_anonymous_systems_keep_their_other_names_and_nothing_tells_them(folder):
    systems = {row["system"] for row in board_of(folder / "public")}
    options = ("--anonymous", "names.csv", "--layout", "trec_eval")
    for name in ("first", "second"):
        gradelake(folder, "export", "track", "tiny", "--public", name, *options)
    with (folder / "names.csv").open(newline="") as file:
        names = {row["system"]: row["name"] for row in csv.DictReader(file)}
    assert names.keys() == systems
    assert {*names.values()} == {f"system{n:03}" for n in range(1, len(systems) + 1)}
    assert board_of(folder / "first") == board_of(folder / "second")
    called = {"nDCG@10": "ndcg_cut_10", "AP": "map", "RR": "recip_rank", "P@5": "P_5"}
    key = ("system", "label_set", "level", "measure", "score")
    expected = {
        tuple({**names, **called}.get(row[column], row[column]) for column in key)
        for row in board_of(folder / "public")
    }
    found = {tuple(row[column] for column in key) for row in board_of(folder / "first")}
    assert {row for row in found if row[3] in called.values()} == {
        row for row in expected if row[3] in called.values()
    }
    words = set(re.findall(r"\w+", texts_of(folder / "first")))
    assert {"one", "two", "three"} <= set(re.findall(r"\w+", texts_of(folder / "public")))
    assert not {"one", "two", "three"} & words


def test_a_folder_that_holds_something_is_left_alone(folder, tmp_path):
    (tmp_path / "questions.txt").write_text("secret")
    said = gradelake(folder, "export", "track", "tiny", "--public", str(tmp_path), code=2).stderr
    assert "Name a new or an empty folder" in said
    assert [file.name for file in tmp_path.iterdir()] == ["questions.txt"]
    gradelake(folder, "export", "track", "none", "--public", str(tmp_path / "new"), code=2)
    assert [file.name for file in tmp_path.iterdir()] == ["questions.txt"]
