"""What the report's views of systems, queries, passages and items are made of."""

import json

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests import oracle
from tests.conftest import gradelake, made_once
from tests.report_page import (
    FACET,
    HOSTILE,
    MORE_QUERIES,
    ODD_ITEM,
    ODD_PASSAGE,
    ODD_QUERY,
    RESPONSE,
    UNANSWERED,
    Page,
    make_odd,
)
from tests.rubric_oracle import read_bank, top

pytestmark = pytest.mark.slow

POOL_DEPTH = 20


@pytest.fixture(scope="module")
def page(graded_demo, tmp_path_factory) -> Page:
    file = tmp_path_factory.mktemp("walk") / "demo.html"
    gradelake(graded_demo, "report", "demo", "-o", str(file))
    return Page(file)


@pytest.fixture(scope="module")
def lake(graded_demo):
    with Lake.published(Project.find(graded_demo)) as lake:
        yield lake


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


# --- a pool of depth 2, odd ids -------------------------------------------------------------------


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    return made_once(tmp_path_factory, "odd-report", make_odd)


@pytest.fixture(scope="module")
def odd_page(odd) -> Page:
    return Page(odd / "reports" / "odd.html")


def test_a_ranking_ends_at_the_pool_depth_and_a_response_is_whole(odd_page):
    pack = odd_page.of_query(ODD_QUERY)
    ranked = {
        system: [pack["passages"][place] for place in ranking["passages"]]
        for system, ranking in pack["rankings"].items()
    }
    assert ranked["long"] == ["p000", "p001"], "the judged p110 stands deeper"
    assert ranked["odd"] == [ODD_PASSAGE]
    texts = odd_page.unpack(f"texts-{odd_page.number(ODD_QUERY)}")
    assert [texts[passage] for passage in ranked["writer"]] == RESPONSE
    assert {s: ranking["n_retrieved"] for s, ranking in pack["rankings"].items()} == {
        "long": 120,
        "odd": 1,
        "writer": 3,
    }


def test_a_judged_passage_that_nobody_ranks_high_is_there_with_its_text(odd_page):
    pack = odd_page.of_query(ODD_QUERY)
    at = pack["passages"].index("p110")
    assert pack["labels"]["assessor:ann"][at] == 2
    assert pack["labels"]["assessor:ben"][at] is None
    assert odd_page.unpack(f"texts-{odd_page.number(ODD_QUERY)}")["p110"] == "Text p110."


def test_every_item_names_its_facet(odd_page):
    assert odd_page.of_query(ODD_QUERY)["items"] == [
        {"item_id": ODD_ITEM, "item_text": f"Is it blue? {HOSTILE}", "facet_id": FACET}
    ]


def test_packs_have_the_numbers_of_their_queries_however_many_are_read_at_once(odd_page):
    for n in range(MORE_QUERIES):
        assert odd_page.of_query(f"q{n:03}")["passages"] == [f"p{n:03}"]


def test_topics_are_as_many_as_the_leaderboard_counts_and_their_mean_is_its_score(odd_page):
    """UNANSWERED has an item of the rubric, and no system answers it: it counts 0."""
    at = odd_page.number(UNANSWERED)
    for number, label_set in enumerate(odd_page.settled["label_sets"]):
        board, topics = odd_page.board(label_set), odd_page.unpack(f"topics-{number}")
        for level, measures in topics.items():
            for measure, systems in measures.items():
                assert set(systems) == set(board["systems"])
                assert {scores[at] for scores in systems.values()} == (
                    {-1} if measure in odd_page.settled["of_rubric"] else {None}
                )
                for system, score in zip(
                    board["systems"], board["boards"][level][measure]["score"], strict=True
                ):
                    counted = [max(0, one) for one in systems[system] if one is not None]
                    assert len(counted) == board["queries"][measure]
                    assert sum(counted) / len(counted) == pytest.approx(10_000 * score, abs=1)
    assert odd_page.board("lexical/v0/best")["queries"]["Cover@20"] == 2


def test_lists_lead_to_the_views_of_what_they_name(odd_page):
    """ann calls both passages relevant, and p110 answers nothing."""
    address = "a%2Fq%2520%23%3F%261"
    assert f'href="#query/{address}"' in odd_page.html
    assert f'href="#passage/{address}/p110"' in odd_page.html


def test_without_the_rubric_rankings_and_labels_are_there_and_no_item_and_no_text(odd, odd_page):
    gradelake(odd, "report", "--without-rubric", "-o", str(odd / "shared.html"))
    shared = Page(odd / "shared.html")
    whole = odd_page.of_query(ODD_QUERY)
    assert shared.of_query(ODD_QUERY) == whole | {"items": []}
    assert not [name for name in shared.packs if name.startswith(("texts-", "grid-"))]
    everything = shared.html + json.dumps([shared.unpack(name) for name in shared.packs])
    for secret in ("Is it blue?", "It is blue", ODD_ITEM, FACET):
        assert secret not in everything
    assert f"#passage/{ODD_QUERY}" not in everything


def test_a_bound_on_grids_leaves_out_texts_but_theirs_and_those_of_rankings_heads(odd):
    gradelake(odd, "report", "--grid-passages", "1", "-o", str(odd / "small.html"))
    page = Page(odd / "small.html")
    texts = page.unpack(f"texts-{page.number(ODD_QUERY)}")
    pack = page.of_query(ODD_QUERY)
    assert {texts.pop(passage) for passage in ("p000", ODD_PASSAGE)}, "first of long and of odd"
    assert list(texts.values()) == RESPONSE[:1]
    assert {"p001", "p110"} <= set(pack["passages"])
