"""The report: what the page says is what the lake says, whatever the texts are."""

import json
import shutil

import pytest
from markupsafe import escape

from gradelake.analyses.report.boards import first_board
from gradelake.analyses.report.ranks import add_ranks
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests.conftest import gradelake, made_once
from tests.edits import write_edits
from tests.end_to_end.edited_demo import BIRDS, edit
from tests.report_page import HOSTILE, MARKED, Page, make_hostile
from tests.rubric_oracle import items_of, read_bank


@pytest.fixture(scope="module")
def folder(graded_demo, tmp_path_factory):
    """The graded demo: r1, and r2 after an item of the rubric was dropped; the report of r2."""
    folder = tmp_path_factory.mktemp("report") / "a demo"
    shutil.copytree(graded_demo, folder)
    dropped = sorted(items_of(read_bank(graded_demo / "question_bank.jsonl", "question"), BIRDS))[0]
    write_edits(folder, edit(1, "drop", dropped))
    gradelake(folder, "build")
    said = gradelake(folder, "report").stdout
    assert said.startswith("reports/demo.html: 11 systems, ")
    return folder


@pytest.fixture(scope="module")
def page(folder) -> Page:
    return Page(folder / "reports" / "demo.html")


@pytest.fixture
def lake(folder):
    with Lake.published(Project.find(folder)) as lake:
        yield lake


# --- what it shows --------------------------------------------------------------------------------


def test_every_board_of_every_label_set_is_the_leaderboard(page, lake):
    theirs = {
        tuple(row[:4]): tuple(row[4:])
        for row in lake.rows(
            "select label_set, level, measure, system, score_4dp, round(stderr, 4), rank "
            "from lake.marts.leaderboard where label_set not like '%/v0/%'"
        )
    }
    ours = {}
    for label_set in page.settled["label_sets"]:
        board = page.board(label_set)
        for level, measures in board["boards"].items():
            for measure, columns in measures.items():
                for at, system in enumerate(board["systems"]):
                    if columns["score"][at] is not None:
                        ours[label_set, int(level), measure, system] = (
                            columns["score"][at],
                            columns["stderr"][at],
                            columns["rank"][at],
                        )
    assert ours == theirs
    assert len(ours) > 1000


def test_label_sets_of_the_newest_rubric_are_shown_and_no_older_ones(page):
    shown = page.settled["label_sets"]
    assert "assessor:human" in shown
    assert "lexical/v1/best" in shown
    assert not [name for name in shown if "/v0/" in name]


def test_ranks_are_compared_with_the_release_before(page, folder):
    assert page.settled["compared_with"] == "r1"
    with Lake.published(Project.find(folder), "r1") as before:
        ranks = dict(
            before.rows(
                "select system, rank from lake.marts.leaderboard where label_set = "
                "'assessor:human' and level = 2 and measure = 'AP'"
            )
        )
    board = page.board("assessor:human")
    assert dict(zip(board["systems"], board["boards"]["2"]["AP"]["before"], strict=True)) == ranks
    new = page.board("lexical/v1/best")["boards"]["2"]["AP"]["before"]
    assert set(new) == {None}, "r1 knows no version 1"


def test_the_grid_has_every_grade_answer_and_text(page, lake):
    grid, texts = page.grid("lexical", BIRDS)
    ours = {
        (passage["passage_id"], item["item_id"]): (grade, answer, texts[passage["passage_id"]])
        for passage in grid["passages"]
        for item, grade, answer in zip(
            grid["items"], passage["grades"], passage["answers"], strict=True
        )
    }
    theirs = {
        (passage, item): (grade, answer, text)
        for passage, item, grade, answer, text in lake.rows(
            "select passage_id, item_id, grade, answer, text from lake.marts.grade_grid "
            "inner join lake.raw.passages using (collection, passage_id) "
            "where grader = 'lexical' and rubric_version = 1 and query_id = ?",
            BIRDS,
        )
    }
    assert ours == theirs
    assert len(ours) > 300
    means = [passage["mean_grade"] for passage in grid["passages"]]
    assert means == sorted(means, reverse=True)


def test_tables_have_the_counts_that_the_query_book_gives(page, folder):
    def ask(*arguments):
        return json.loads(gradelake(folder, "sql", "--format", "json", *arguments).stdout)

    text = page.text()
    for question, title in (
        ("uncovered_passages", "Uncovered passages: relevant, and they answer nothing"),
        ("never_covered_items", "Never covered items: no passage answers them"),
        ("spurious_items", "Spurious items: passages that are not relevant answer them"),
    ):
        rows = ask(f"@{question}", "--grader", "lexical", "--tau", "4")
        assert f"{title} ({len(rows)})" in text
        assert f"sql @{question} --collection demo --grader lexical --tau 4" in text
    best = max(
        row["kappa"]
        for row in ask(
            "@kappa", "--label_set", "judge:lexical_direct", "--reference", "assessor:human"
        )
        if row["cut"].endswith("|>=2")
    )
    card = text[text.index("judge:lexical_direct 193 pairs") :][:80]
    assert f"κ = {best:.3f}" in card
    assert "No pair failed." in text
    assert "gradelake report demo --release r2 --compare-with r1" in text
    assert "version 0: 114 items; version 1 (newest): 113 items, 1 edit" in text


def test_correlations_are_those_of_the_mart_and_lie_in_their_intervals(page, lake):
    theirs = {
        (label_set, measure, level): round(kendall, 10)
        for label_set, measure, level, kendall in lake.rows(
            "select label_set, measure, level, kendall from lake.marts.leaderboard_correlation "
            "where kendall is not null"
        )
    }
    rows = page.unpack("correlated")
    assert {row["measure"] for row in rows} == {"nDCG@10", "AP", "RR"}
    for row in rows:
        if row["kendall"] is not None:
            key = row["label_set"], row["measure"], row["level"]
            assert round(row["kendall"], 10) == theirs[key]
            assert row["low"] - 1e-9 <= row["kendall"] <= row["high"] + 1e-9


@pytest.mark.slow
def test_the_same_release_gives_the_same_bytes(folder, tmp_path):
    gradelake(folder, "report", "demo", "--release", "r2", "-o", str(tmp_path / "again.html"))
    assert (tmp_path / "again.html").read_bytes() == (folder / "reports/demo.html").read_bytes()


@pytest.mark.slow
def test_an_earlier_release_is_compared_with_none_and_a_small_grid_keeps_the_best(folder, tmp_path):
    output = tmp_path / "first.html"
    done = gradelake(
        folder,
        "report",
        "demo",
        "--release",
        "r1",
        "--grid-passages",
        "3",
        "-o",
        str(output),
        "--json",
    )
    (told,) = json.loads(done.stdout)["reports"]
    page = Page(output)
    assert (told["release"], told["bytes"]) == ("r1", output.stat().st_size)
    assert page.settled["compared_with"] is None
    assert len(page.grid("lexical", BIRDS)[0]["passages"]) == 3
    assert len(page.grid("lexical", BIRDS)[1]) >= 3


def test_a_board_that_lacks_its_usual_level_opens_on_its_lowest_and_has_no_rank_ranges():
    columns = {"score": [0.5, None], "stderr": [None, None], "rank": [1, None]}
    board = {"systems": ["one", "two"], "measures": ["AP"], "boards": {1: {"AP": columns}, 3: {}}}
    assert first_board("judge:a", board, 2) == {
        "label_set": "judge:a",
        "measure": "AP",
        "rows": [{"system": "one", "score": 0.5, "stderr": None, "rank": 1}],
    }

    def read(label_set: str, measure: str):
        raise BadInput("there is no relevance level 2")

    add_ranks({"judge:a": board}, read, ["AP"], iter)
    assert columns.keys() == {"score", "stderr", "rank"}


# --- what it does not do --------------------------------------------------------------------------


def test_it_asks_no_network(page):
    own = page.html[: page.html.index("<script>")]  # Vega's code names addresses of standards
    assert "http://" not in own
    assert "https://" not in own
    assert "default-src 'none'" in own


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return made_once(tmp_path_factory, "hostile-report", make_hostile)


@pytest.mark.slow
def test_texts_of_people_stay_texts(hostile):
    page = Page(hostile / "reports" / "tiny.html")
    assert HOSTILE not in page.html
    assert MARKED not in page.html
    assert str(escape(MARKED)) in page.html, "in the table of uncovered passages"
    grid, texts = page.grid("lexical", "q1")
    assert HOSTILE in texts["p1"]
    assert HOSTILE in grid["items"][0]["item_text"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("demos",), "has no collection 'demos'\n  Did you mean 'demo'?"),
        (("--reference", "assessor:humn"), "Did you mean 'assessor:human'?"),
        (("--reference", "judge:lexical_direct"), "the reference must be an assessor"),
        (("--compare-with", "r9"), "there is no release 'r9'"),
        (("-o", "nowhere/page.html"), "there is no folder nowhere"),
    ],
)
def test_wrong_names_are_told(folder, arguments, words):
    assert words in gradelake(folder, "report", *arguments, code=2).stderr


TINY_QRELS = "q1 0 p1 3\nq1 0 p3 0\nq2 0 p2 3\nq2 0 p3 0\n"
MORE_FILES = {
    "bare": {},
    "kappa": {"labels.qrels": "q1 0 p1 2\nq1 0 p3 0\nq2 0 p2 0\nq2 0 p3 0\n"},
    "judged": {"aaa.qrels": "q1 0 p1 0\nq1 0 p2 1\n", "zzz.qrels": TINY_QRELS},
    "ranked": {"labels.qrels": "q1 0 p3 1\n", "ranks.json": '{"somebody": 1, "else": 2}'},
}
MORE_SETTINGS = {
    "judged": 'judgments = { aaa = "judged/aaa.qrels", zzz = "judged/zzz.qrels", me = "me.qrels" }',
    "ranked": 'official_ranks = { board = "ranked/ranks.json" }\njudgments = { me = "me.qrels" }',
    "kappa": 'judgments = { me = "me.qrels" }',
}


@pytest.fixture(scope="module")
def little(tmp_path_factory, new_lake):
    """Collections of two systems and two queries, judged with 0 and 3 only; `bare` has neither."""
    folder = tmp_path_factory.mktemp("little")
    for name, text in {
        "topics.tsv": "q1\tsky\nq2\tbees\n",
        "passages.tsv": "p1\tThe sky is blue.\np2\tBees dance.\np3\tNothing.\n",
        "me.qrels": TINY_QRELS,
        "one.run": "q1 Q0 p1 1 2 one\nq2 Q0 p2 1 2 one\n",
        "two.run": "q1 Q0 p3 1 2 two\nq2 Q0 p2 1 2 two\n",
    }.items():
        (folder / name).write_text(text)
    settings = ""
    for collection, files in MORE_FILES.items():
        (folder / collection).mkdir()
        for name, text in files.items():
            (folder / collection / name).write_text(text)
        settings += f'[collections.{collection}]\nqueries = "topics.tsv"\n'
        settings += 'passages = "passages.tsv"\nmin_relevant = 2\n'
        if collection in MORE_SETTINGS:
            settings += f'runs = ["*.run"]\n{MORE_SETTINGS[collection]}\n'
    (folder / "gradelake.toml").write_text(settings)
    new_lake(folder)
    for collection, files in MORE_FILES.items():
        gradelake(folder, "ingest", collection)
        if "labels.qrels" in files:
            labels = f"{collection}/labels.qrels"
            gradelake(folder, "import", "labels", collection, labels, "--judge", "other")
    assert "gradelake build" in gradelake(folder, "report", code=2).stderr
    gradelake(folder, "build")
    return folder


def page_of(folder, collection: str, *options: str) -> Page:
    gradelake(folder, "report", collection, *options)
    return Page(folder / "reports" / f"{collection}.html")


@pytest.mark.slow
def test_a_collection_with_little_in_it_says_what_is_missing(little):
    text = page_of(little, "bare").text()
    assert "No system has a score yet." in text
    assert "There are no official ranks and no judgments to correlate with." in text
    assert "gradelake grade bare --grader NAME" in text
    assert "Nothing was graded here" in text


@pytest.mark.slow
def test_kappa_is_there_though_nobody_gave_the_relevance_level_itself(little):
    text = page_of(little, "kappa").text()
    assert "judge:other 4 pairs; κ = 0.500 at cut" in text  # 3 of 4 agree, 1/2 by chance


@pytest.mark.slow
def test_the_reference_is_who_judged_the_most_unless_another_is_named(little):
    for named, reference, judged in (
        ((), "me", 4),  # as many as zzz, and first by name
        (("--reference", "assessor:aaa"), "aaa", 2),
    ):
        page = page_of(little, "judged", *named)
        assert page.settled["reference"] == f"assessor:{reference}"
        words = f"assessor:{reference} , {judged} judgments; choose another of the 3 assessors"
        assert f"Reference: {words}" in page.text()
        assert f"each judgment of assessor:{reference} (columns)" in page.text()
        binary = "judgments from 2 count as relevant; leaderboards of assessor:aaa use level 1"
        assert (binary in page.text()) == (reference == "aaa")


@pytest.mark.slow
def test_official_ranks_of_other_systems_are_left_for_the_assessors_board(little):
    page = page_of(little, "ranked")
    assert {row["label_set"] for row in page.unpack("correlated")} == {"judge:other"}
    assert "leaderboard agrees with that of assessor:me" in page.text()
