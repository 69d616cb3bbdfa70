"""The report: what the page says is what the lake says, whatever the texts are."""

import json
import re
import statistics
from functools import cache

import numpy as np
import pytest
import scipy.stats
from markupsafe import escape

from gradelake.analyses.report import html
from gradelake.analyses.report.boards import first_board
from gradelake.analyses.report.comparisons import compare_systems, telling
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests import oracle
from tests.command_line import gradelake, json_of, typed
from tests.conftest import made_once
from tests.end_to_end.edited_demo import BIRDS
from tests.moved_demo import HOSTILE
from tests.projects import project
from tests.report_page import (
    FACET,
    MARKED,
    MORE_QUERIES,
    ODD_ITEM,
    ODD_PASSAGE,
    ODD_QUERY,
    RESPONSE,
    UNANSWERED,
    Page,
    make_hostile,
)
from tests.rubric_oracle import read_bank, top

POOL_DEPTH = 20


@pytest.fixture(scope="module")
def page(demo_page) -> Page:
    return Page(demo_page)


@pytest.fixture
def lake(graded_demo):
    with Lake.published(Project.find(graded_demo)) as lake:
        yield lake


# --- what it shows --------------------------------------------------------------------------------


def test_every_board_of_every_label_set_is_the_leaderboard(page, lake):
    """The intervals are Student's, within what a measure can be."""
    theirs = {}
    for *key, score, error, n, rank in lake.rows(
        "select label_set, level, measure, system, round(score, 6), round(stderr, 4), n_queries, "
        "rank from lake.marts.leaderboard"
    ):
        ends = (None, None)
        if error:
            far = error * scipy.stats.t.ppf(0.975, n - 1)
            lowest = -np.inf if key[2].startswith("Criteria") else 0
            ends = tuple(np.round([max(lowest, score - far), min(1, score + far)], 4).tolist())
        theirs[tuple(key)] = (score, ends, rank)
    ours = {}
    for label_set in page.settled["label_sets"]:
        board = page.board(label_set)
        for level, measures in board["boards"].items():
            for measure, columns in measures.items():
                for at, system in enumerate(board["systems"]):
                    if columns["score"][at] is not None:
                        ours[label_set, int(level), measure, system] = (
                            columns["score"][at],
                            (columns["low"][at], columns["high"][at]),
                            columns["rank"][at],
                        )
    assert ours == theirs
    assert len(ours) > 1000


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
            "where grader = 'lexical' and query_id = ?",
            BIRDS,
        )
    }
    assert ours == theirs
    assert len(ours) > 300
    means = [passage["mean_grade"] for passage in grid["passages"]]
    assert means == sorted(means, reverse=True)


def test_tables_have_the_counts_that_the_query_book_gives(page, graded_demo):
    def ask(*arguments):
        return json_of(graded_demo, "sql", "--format", "json", *arguments)

    text = page.text()
    for question, title in (
        ("uncovered_passages", "Uncovered passages: relevant, but answer no item"),
        ("never_covered_items", "Never covered items: answered by no passage"),
        ("spurious_items", "Spurious items: answered by non-relevant passages"),
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
    assert "gradelake report demo --release r1" in text
    assert "version 0 (newest): 114 items" in text
    for sentence in (
        "The rubric has not been edited.",
        "There is no earlier release.",
        "No night has run.",
    ):
        assert sentence in text


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


def cells(page: Page, label: str) -> list[list[str]]:
    """The rows of the table of this name."""
    table = page.html[page.html.index(f'aria-label="{label}"') :].partition("</table>")[0]
    rows = re.findall("<tr>(.*?)</tr>", table.partition("<tbody>")[2], flags=re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>([^<]*)<", row) for row in rows]


@pytest.mark.slow
def test_the_top_is_that_of_the_mart_and_errors_those_of_significance(page, lake, graded_demo):
    rows = cells(page, "At the top")
    assert len(rows) > 3
    for label_set, five, _, ten, _, best, loss, _, in_group in rows:
        theirs = lake.rows(
            "select kendall, best_system, loss from lake.marts.top_agreement "
            "join lake.marts.usual_levels using (collection, label_set, level) "
            "where collection = 'demo' and label_set = ? "
            "and reference = 'assessor:human' and measure = 'nDCG@10' and k < 15 order by k",
            label_set,
        )
        kendalls, bests, losses = zip(*theirs, strict=True)
        assert [five, ten] == [f"{tau:.3f}" for tau in kendalls]
        assert (best, loss) == (bests[0], f"{losses[0]:.3f}")
        assert in_group in {"yes", "no"}
    command = (
        "stats significance demo --measure nDCG@10 --label-set judge:lexical_direct --reference"
    )
    command += " assessor:human --replicates 2000 --json"
    found = json_of(graded_demo, *command.split())["decision_errors"]
    shown = [row for row in cells(page, "Decision errors") if row[0] == "judge:lexical_direct"]
    assert len(shown) == 2
    for _, told_by, called, *shares, known, missed, _ in shown:
        correction = {"each pair alone": "uncorrected"}.get(told_by, told_by)
        errors = {one["error"]: one for one in found if one["correction"] == correction}
        expected = [
            errors[name]["share"] for name in ("reversed", "wrong_sign", "untold", "missed")
        ]
        assert [*shares[::2], missed] == ["\u2013" if n is None else f"{n:.1%}" for n in expected]
        assert int(called) == errors["reversed"]["n_pairs"]
        assert int(known) == errors["missed"]["n_pairs"]


def test_a_board_that_lacks_its_usual_level_opens_on_its_lowest_and_has_no_rank_ranges():
    nothing = [None, None]
    columns = {"score": [0.5, None], "low": nothing, "high": nothing, "rank": [1, None]}
    board = {"systems": ["one", "two"], "measures": ["AP"], "boards": {1: {"AP": columns}, 3: {}}}
    assert first_board("judge:a", board, 2) == {
        "label_set": "judge:a",
        "measure": "AP",
        "level": 1,
        "rows": [
            {"system": "one", "score": 0.5, "low": None, "high": None, "rank": 1, "groups": None}
        ],
    }

    def read(label_set: str, measure: str):
        raise BadInput("there is no relevance level 2")

    assert compare_systems({"judge:a": board}, read, telling(), ["AP"], console.unseen) == {
        "judge:a": {}
    }
    assert columns.keys() == {"score", "low", "high", "rank"}


# --- what its views are made of ------------------------------------------------------------------


def test_rankings_are_those_of_the_run_files_down_to_the_pool_depth(page, graded_demo):
    runs = oracle.read_runs(graded_demo / "runs")
    runs |= oracle.read_answers(graded_demo / "responses.jsonl")
    assert page.settled["pool_depth"] == POOL_DEPTH
    cut = 0
    for query in (row["query_id"] for row in page.settled["queries"]):
        pack = page.of_query(query)
        assert set(pack["rankings"]) == {name for name, run in runs.items() if query in run}
        for system, ranking in pack["rankings"].items():
            ranked = [pack["passages"][place] for place in ranking["passages"]]
            assert ranked == top(runs[system], query, POOL_DEPTH)
            assert ranking["n_retrieved"] == len(runs[system][query])
            cut += ranking["n_retrieved"] > POOL_DEPTH
    assert cut > 10


def test_labels_are_those_of_every_label_set(page, lake):
    ours = {
        (query["query_id"], passage, label_set, label)
        for query in page.settled["queries"]
        for pack in [page.of_query(query["query_id"])]
        for label_set, labels in pack["labels"].items()
        for passage, label in zip(pack["passages"], labels, strict=True)
        if label is not None
    }
    theirs = "select query_id, passage_id, label_set, label from lake.marts.relevance_labels"
    assert ours == set(lake.rows(theirs))
    assert {label_set for _, _, label_set, _ in ours} >= {"assessor:human", "lexical/v0/best"}


def test_items_and_texts_are_those_of_the_files(page, graded_demo):
    bank = {}
    for kind in ("question", "nugget"):
        bank |= read_bank(graded_demo / f"{kind}_bank.jsonl", kind)
    rows = map(json.loads, (graded_demo / "passages.jsonl").read_text().splitlines())
    texts = {row["passage_id"]: row["text"] for row in rows}
    (answers,) = oracle.read_answers(graded_demo / "responses.jsonl").values()
    for query in (row["query_id"] for row in page.settled["queries"]):
        pack = page.of_query(query)
        ours = {item["item_id"]: item["item_text"] for item in pack["items"]}
        assert ours == {id_: item.text for id_, item in bank.items() if item.query == query}
        shown = page.unpack(f"texts-{page.number(query)}")
        assert sorted(shown) == pack["passages"]
        generated = answers.get(query, {})
        assert {p: text for p, text in shown.items() if p not in generated}.items() <= texts.items()


# --- a pool of depth 2, odd ids ------------------------------------------------------------------


@pytest.fixture(scope="module")
def odd_report(odd_page) -> Page:
    return Page(odd_page)


@pytest.mark.slow
def test_a_ranking_ends_at_the_pool_depth_and_a_response_is_whole(odd_report):
    pack = odd_report.of_query(ODD_QUERY)
    ranked = {
        system: [pack["passages"][place] for place in ranking["passages"]]
        for system, ranking in pack["rankings"].items()
    }
    assert ranked["long"] == ["p000", "p001"], "the judged p110 stands deeper"
    assert ranked["odd"] == [ODD_PASSAGE]
    texts = odd_report.unpack(f"texts-{odd_report.number(ODD_QUERY)}")
    assert [texts[passage] for passage in ranked["writer"]] == RESPONSE
    assert {s: ranking["n_retrieved"] for s, ranking in pack["rankings"].items()} == {
        "long": 120,
        "odd": 1,
        "writer": 3,
    }


@pytest.mark.slow
def test_a_judged_passage_that_nobody_ranks_high_is_there_with_its_text(odd_report):
    pack = odd_report.of_query(ODD_QUERY)
    at = pack["passages"].index("p110")
    assert pack["labels"]["assessor:ann"][at] == 2
    assert pack["labels"]["assessor:ben"][at] is None
    assert odd_report.unpack(f"texts-{odd_report.number(ODD_QUERY)}")["p110"] == "Text p110."


@pytest.mark.slow
def test_every_item_names_its_facet(odd_report):
    assert odd_report.of_query(ODD_QUERY)["items"] == [
        {"item_id": ODD_ITEM, "item_text": f"Is it blue? {HOSTILE}", "facet_id": FACET}
    ]


@pytest.mark.slow
def test_packs_have_the_numbers_of_their_queries_however_many_are_read_at_once(odd_report):
    for n in range(MORE_QUERIES):
        assert odd_report.of_query(f"q{n:03}")["passages"] == [f"p{n:03}"]


@pytest.mark.slow
def test_topics_are_as_many_as_the_leaderboard_counts_and_their_mean_is_its_score(odd_report):
    """UNANSWERED has an item of the rubric, and no system answers it: it counts 0."""
    at = odd_report.number(UNANSWERED)
    for number, label_set in enumerate(odd_report.settled["label_sets"]):
        board, topics = odd_report.board(label_set), odd_report.unpack(f"query-scores-{number}")
        for level, measures in topics.items():
            for measure, of_measure in measures.items():
                systems = of_measure["systems"]
                assert set(systems) == set(board["systems"])
                assert {scores[at] for scores in systems.values()} == (
                    {-(10**9)} if measure in odd_report.settled["of_rubric"] else {None}
                )
                for system, score in zip(
                    board["systems"], board["boards"][level][measure]["score"], strict=True
                ):
                    counted = [max(0, one) for one in systems[system] if one is not None]
                    assert len(counted) == board["queries"][measure]
                    assert sum(counted) / len(counted) == pytest.approx(10_000 * score, abs=1)
                for at_query, of_query in enumerate(zip(*systems.values(), strict=True)):
                    for name in ("mean", "median"):
                        figure = of_measure[name][at_query]
                        if None in of_query:
                            assert figure is None
                            continue
                        expected = getattr(statistics, name)(max(0, one) for one in of_query)
                        assert figure == pytest.approx(expected / 10_000, abs=1e-5)
    assert odd_report.board("lexical/v0/best")["queries"]["Cover@20"] == 2


@pytest.mark.slow
def test_lists_lead_to_the_views_of_what_they_name(odd_report):
    """ann calls both passages relevant, and p110 answers nothing."""
    address = "a%2Fq%2520%23%3F%261"
    assert f'href="#query/{address}"' in odd_report.html
    assert f'href="#passage/{address}/p110"' in odd_report.html


@pytest.mark.slow
def test_a_bound_on_grids_leaves_out_texts_but_theirs_and_those_of_rankings_heads(
    odd_page, tmp_path
):
    asked = ("--grid-passages", "1", "--compare-with", "r1", "-o", tmp_path / "small.html")
    gradelake(odd_page.parents[1], "report", *asked)
    page = Page(tmp_path / "small.html")
    assert page.settled["compared_with"] == "r1"
    texts = page.unpack(f"texts-{page.number(ODD_QUERY)}")
    pack = page.of_query(ODD_QUERY)
    assert {texts.pop(passage) for passage in ("p000", ODD_PASSAGE)}, "first of long and of odd"
    assert list(texts.values()) == RESPONSE[:1]
    assert {"p001", "p110"} <= set(pack["passages"])


# --- what it does not do --------------------------------------------------------------------------


def test_it_asks_no_network(page):
    own = page.html[: page.html.index("<script>")]  # Vega's code names addresses of standards,
    own = own.replace("http://www.w3.org/2000/svg", "")  # as the icon does
    assert "http://" not in own
    assert "https://" not in own
    assert "default-src 'none'" in own


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return made_once(tmp_path_factory, "hostile-report", make_hostile)


def test_a_text_that_is_put_into_the_page_stays_a_text():
    line = html.environment("gradelake.serve", "templates").from_string("{{ text }}")
    assert line.render(text="<b>") == "&lt;b&gt;"


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
def test_the_same_release_is_the_same_bytes_and_json_says_where(hostile, tmp_path):
    again = tmp_path / "again.html"
    done = gradelake(hostile, "report", "--release", "r1", "-o", again, "--json")
    assert again.read_bytes() == (hostile / "reports" / "tiny.html").read_bytes()
    (told,) = json.loads(done.stdout)["reports"]
    assert (told["release"], told["bytes"]) == ("r1", again.stat().st_size)


@pytest.mark.slow
def test_wrong_names_are_told(graded_demo):
    for line, words in (
        ("--reference judge:lexical_direct", "the reference must be an assessor"),
        ("--compare-with r9", "there is no release 'r9'"),
    ):
        assert words in typed(graded_demo, f"report {line}", code=2).stderr


TOPICS = {"q1": "sky", "q2": "bees"}
TINY_QRELS = {"q1": {"p1": 3, "p3": 0}, "q2": {"p2": 3, "p3": 0}}
SMALL = {"queries": "topics.tsv", "passages": "passages.tsv", "min_relevant": 2}
RANKED = SMALL | {"runs": ["*.run"], "judgments": {"me": "me.qrels"}}
LITTLE = {
    "bare": SMALL,
    "kappa": RANKED,
    "judged": RANKED | {"judgments": {name: f"{name}.qrels" for name in ("aaa", "zzz", "me")}},
    "ranked": RANKED | {"official_ranks": {"board": "ranks.json"}},
    "kin": RANKED | {"groups": {"generator": {"gpt-4o": ["one"], "llama-3": ["two"]}}},
}
JUDGES = {"kin": "gpt-4"}
LITTLE_FILES = {
    "topics.tsv": TOPICS,
    "passages.tsv": {"p1": "The sky is blue.", "p2": "Bees dance.", "p3": "Nothing."},
    "me.qrels": TINY_QRELS,
    "zzz.qrels": TINY_QRELS,
    "aaa.qrels": {"q1": {"p1": 0, "p2": 1}},
    "one.run": {"q1": ["p1"], "q2": ["p2"]},
    "two.run": {"q1": ["p3"], "q2": ["p2"]},
    "ranks.json": {"somebody": 1, "else": 2},
    "of kappa.qrels": {"q1": {"p1": 2, "p3": 0}, "q2": {"p2": 0, "p3": 0}},
    "of ranked.qrels": {"q1": {"p3": 1}},
    "of kin.qrels": TINY_QRELS,
}


@pytest.fixture(scope="module")
def little(tmp_path_factory, new_lake):
    """Collections of two systems and two queries, judged with 0 and 3 only; `bare` has neither."""
    folder = tmp_path_factory.mktemp("little")
    project(folder, LITTLE, files=LITTLE_FILES)
    new_lake(folder)
    for collection in LITTLE:
        gradelake(folder, "ingest", collection)
        if (labels := f"of {collection}.qrels") in LITTLE_FILES:
            gradelake(
                folder,
                "import",
                "labels",
                collection,
                labels,
                "--judge",
                JUDGES.get(collection, "other"),
            )
    assert "gradelake build" in gradelake(folder, "report", code=2).stderr
    gradelake(folder, "build")
    return folder


@cache
def page_of(folder, collection: str, *options: str) -> Page:
    gradelake(folder, "report", collection, *options)
    return Page(folder / "reports" / f"{collection}.html")


@pytest.mark.slow
def test_a_collection_with_little_in_it_says_what_is_missing(little):
    page = page_of(little, "bare")
    text = page.text()
    assert "○ Judgments by people: gradelake ingest bare" in text
    assert "○ Grades or labels by a judge: gradelake grade bare --grader NAME" in text
    assert "No system has a score yet." in text
    assert "Rank correlation needs judgments, or official ranks." in text
    empty = re.findall(r'<section id="(\w+)" class="empty"', page.html)
    assert {"scatter", "correlation", "confusion", "grid", "coverage", "rubric"} <= {*empty}
    assert "What these leaderboards lack" not in page_of(little, "kappa").text()


@pytest.mark.slow
def test_kappa_is_there_though_nobody_gave_the_relevance_level_itself(little):
    text = page_of(little, "kappa").text()
    assert "judge:other 4 pairs; κ = 0.500 at cut" in text  # 3 of 4 agree, 1/2 by chance


@pytest.mark.slow
def test_a_board_names_systems_whose_generator_is_of_the_judges_family(little):
    assert page_of(little, "kin").settled["circles"] == {"judge:gpt-4": ["one"]}


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
        assert f"each judgment (columns) of assessor:{reference}" in page.text()
        said = "judgments from 2 count as relevant; leaderboards of assessor:aaa begin at level 1"
        assert said in page.text()


@pytest.mark.slow
def test_official_ranks_of_other_systems_are_left_for_the_assessors_board(little):
    page = page_of(little, "ranked")
    assert {row["label_set"] for row in page.unpack("correlated")} == {"judge:other"}
    assert "leaderboard agrees with that of assessor:me" in page.text()
