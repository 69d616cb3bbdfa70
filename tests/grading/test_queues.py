"""Queues: who is asked for which cards, what they are chosen from, what settles a difference."""

import shutil
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradelake.grading.review.cards import Assignment
from gradelake.grading.review.queues import assign, deal_conflicts, deal_queue, queues_of
from gradelake.grading.review.revise import ReviewAnswer
from gradelake.grading.review.verdicts import Verdicts
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake, json_of
from tests.grading import reviewing
from tests.lakes import start_demo
from tests.reading import live

pytestmark = pytest.mark.slow

WITH_GUIDELINES = '[collections.demo]\nguidelines = "guide.md"'
PANEL = "collection,panel,rule,assessors\ndemo,all,majority,ann bob cy\n"
NAMES = [f"person-{n}" for n in range(8)]


@pytest.mark.fast
@given(
    n_cards=st.integers(0, 60),
    n_people=st.integers(1, 8),
    overlap=st.integers(1, 8),
    seed=st.integers(0, 99),
)
def test_each_card_goes_to_so_many_people_and_everybody_gets_as_many(
    n_cards, n_people, overlap, seed
):
    people, overlap = NAMES[:n_people], min(overlap, n_people)

    asked = assign(n_cards, people, overlap, seed)

    assert [len(set(each)) for each in asked] == [overlap] * n_cards
    counts = Counter(name for each in asked for name in each)
    assert sum(counts.values()) == n_cards * overlap
    assert max(counts.values(), default=0) - min((counts[name] for name in people), default=0) <= 1
    assert asked == assign(n_cards, people, overlap, seed)


@pytest.mark.fast
def test_everybody_meets_everybody():
    met = Counter(map(tuple, assign(600, NAMES[:4], 2, 1)))

    assert set(met) == set(combinations(NAMES[:4], 2))
    assert min(met.values()) > 60  # of 100 each


@pytest.fixture(scope="module")
def folder(graded_demo, tmp_path_factory) -> Path:
    return shutil.copytree(graded_demo, tmp_path_factory.mktemp("queues") / "demo")


def add(folder: Path, name: str, *options: str, code: int = 0):
    people = (part for who in ("ann", "bob", "cy") for part in ("--assessor", who))
    return gradelake(
        folder, "queue", "add", "demo", name, "--grader", "lexical", *people, *options, code=code
    )


def cards(folder: Path, queue: str) -> set[tuple[str, str, str]]:
    return set(
        live(folder).rows(
            "select query_id, passage_id, item_id from lake.raw.review_cards where queue = $queue",
            queue=queue,
        )
    )


def review(folder: Path, who: str, *lines: object, options: tuple[str, ...] = ()) -> str:
    return reviewing.review(folder, who, lines, "--queue", "both", *options).stdout


def test_spurious_cards_are_answers_that_non_relevant_passages_give(folder):
    add(folder, "spurious", "--from", "spurious", "--size", "2000", "--tau", "3")

    # in plain Python: grades from 3 on, of passages that somebody judged non-relevant
    ((min_relevant,),) = live(folder).rows("select min_relevant from lake.raw.collections")
    non_relevant = {
        (query_id, passage_id)
        for query_id, passage_id, relevance in live(folder).rows(
            "select query_id, passage_id, relevance from lake.raw.judgments"
        )
        if relevance < min_relevant
    }
    grades = live(folder).rows(
        "select query_id, passage_id, item_id, grade from lake.raw.grades "
        "inner join lake.raw.graders using (grader_id) where name = 'lexical'"
    )
    expected = {
        (query_id, passage_id, item_id)
        for query_id, passage_id, item_id, grade in grades
        if (grade or 0) >= 3 and (query_id, passage_id) in non_relevant
    }
    left_out = {
        one for (one,) in live(folder).rows("select passage_id from lake.raw.near_duplicates")
    }
    assert cards(folder, "spurious") == {one for one in expected if one[1] not in left_out}


@pytest.mark.parametrize("source", ["uncovered", "disagreements", "never-covered"])
def test_other_lists_give_the_grades_that_they_name(folder, source):
    add(folder, source, "--from", source, "--size", "2000", "--tau", "3")

    found = cards(folder, source)
    mart, column = {
        "uncovered": ("uncovered_passages", "best_item_id"),
        "disagreements": ("disagreements", "best_item_id"),
        "never-covered": ("never_covered_items", "item_id"),
    }[source]
    tau = "" if source == "disagreements" else "and tau = 3"
    listed = live(folder).rows(
        f"select query_id, {column} from lake.marts.{mart} where grader = 'lexical' {tau}"
    )
    assert found
    assert {(query_id, item_id) for query_id, _, item_id in found} <= set(listed)


def test_a_queue_is_made_once_and_the_same_for_the_same_seed(folder):
    add(folder, "one", "--size", "10", "--seed", "7")
    add(folder, "two", "--size", "10", "--seed", "7")
    add(folder, "three", "--size", "10", "--seed", "8")

    assert cards(folder, "one") == cards(folder, "two") != cards(folder, "three")
    assert "has a queue 'one'" in add(folder, "one", code=2).stderr
    refused = add(folder, "four", "--overlap", "4", code=2).stderr
    assert "You asked for 4 reviewers per card but selected 3" in refused
    assert cards(folder, "four") == set()
    gradelake(folder, "queue", "remove", "demo", "three")
    assert cards(folder, "three") == set()


def test_people_differ_and_a_third_settles(folder):
    who = ("--assessor", "ann", "--assessor", "bob")
    gradelake(folder, "queue", "add", "demo", "both", "--grader", "lexical", "--size", "2", *who)
    with Lake.live(Project.read(folder / "gradelake.toml")) as lake:
        _, deck = deal_queue(lake, "demo", "both", "ann")
        with pytest.raises(BadInput, match="asks nothing of 'dora'"):
            deal_queue(lake, "demo", "both", "dora")
    first, second = deck.cards
    low = next(grade for grade in range(6) if grade not in (first.grade, second.grade))
    high = next(g for g in range(5, -1, -1) if g not in (first.grade, second.grade, low))

    shown = review(folder, "ann", low, "", low, "")
    assert "Grade " in shown.partition("your grade")[2]  # after the answer only
    assert "Grade " not in shown.partition("your grade")[0]
    review(folder, "bob", high, "", low, "")
    (queue,) = [
        one for one in json_of(folder, "queue", "list", "demo", "--json") if one["queue"] == "both"
    ]
    assert (queue["n_done"], queue["n_conflicts"]) == (2, 1)
    shown = review(folder, "dora", "d", high, options=("--settle",))
    assert f"ann: {low}, bob: {high}" in shown
    ((said, settled_by, settled_grade),) = live(folder).rows(
        "select said, settled_by, settled_grade from lake.marts.review_conflicts"
    )
    assert said == f"ann: {low}; bob: {high}"
    assert (settled_by, settled_grade) == ("dora", high)
    counts = "n_cards, n_done, n_conflicts from lake.marts.review_queues where queue = 'both'"
    assert set(live(folder).rows(f"select {counts}")) == {(2, 2, 0)}
    # nothing is left to settle, but who did may think again
    assert "Grade " not in review(folder, "dora", options=("--settle",))
    low_again = ("d", low) if low != first.grade else ("a",)
    again = review(folder, "dora", *low_again, options=("--settle", "--again"))
    assert again.count("Grade ") == 1
    settled = "select settled_by, settled_grade from lake.marts.review_conflicts"
    assert live(folder).rows(settled) == [("dora", low)]
    # who said something of it, wherever, is one of those who differ
    with Lake.live(Project.read(folder / "gradelake.toml")) as lake:
        for who in ("ann", "bob"):
            assert deal_conflicts(lake, "demo", "both", who, again=True)[1].cards == []
    # who settles is not one of those who agree with each other
    names = live(folder).rows("select distinct assessor from lake.marts.assessor_agreement")
    assert ("dora",) not in names


def test_who_only_settled_has_not_answered_and_who_answered_elsewhere_does_not_settle(folder):
    grader = ("--grader", "lexical", "--size", "1", "--seed", "5")
    who = ("--assessor", "kim", "--assessor", "lou")
    gradelake(folder, "queue", "add", "demo", "settled", *grader, *who)
    project = Project.read(folder / "gradelake.toml")
    with Lake.writer(project) as lake:
        reviewable, deck = deal_queue(lake, "demo", "settled", "kim")
        (card,) = deck.cards

        def say(who: str, own: int, **more: object) -> None:
            answer = ReviewAnswer(card.grade, own, **more)
            Verdicts(lake, Assignment("demo", reviewable, who, 4)).put(card, answer)

        say("kim", card.grade + 10, is_blind=True)
        say("lou", card.grade + 11, is_blind=True)
        say("eve", card.grade + 12)  # in a review of her own
        for name, n in (("pia", 1), ("eve", 0), ("kim", 0)):
            assert len(deal_conflicts(lake, "demo", "settled", name)[1].cards) == n, name
        say("pia", card.grade + 10, settles=True)
    pia = ("--overlap", "1", "--assessor", "pia")
    gradelake(folder, "queue", "add", "demo", "later", *grader, *pia)
    with Lake.live(project) as lake:
        (queue,) = (one for one in queues_of(lake, "demo") if one["queue"] == "later")
        assert queue["assessors"] == [{"assessor": "pia", "n_assigned": 1, "n_answered": 0}]
        assert deal_queue(lake, "demo", "later", "pia")[1].cards == [card]


def test_a_pool_is_judged_before_anything_has_graded_it(tmp_path):
    start_demo(tmp_path)
    (tmp_path / "guide.md").write_text("# Off topic is 0")
    toml = tmp_path / "gradelake.toml"
    toml.write_text(toml.read_text().replace("[collections.demo]", WITH_GUIDELINES))
    gradelake(tmp_path, "ingest", "demo")
    order = "volcano-prediction,bird-navigation,hash-collisions"
    people = ("--assessor", "ann", "--assessor", "bob", "--assessor", "cy")
    pool = ("queue", "add", "demo", "pool", "--from", "pool", "--depth", "2", "--queries", order)
    made = json_of(tmp_path, *pool, *people, "--json")
    tops = set()
    for file in (tmp_path / "runs").iterdir():
        entries = [line.split() for line in file.read_text().splitlines()]
        for query in order.split(","):
            ranked = sorted(
                ((float(score), passage) for q, _, passage, _, score, _ in entries if q == query),
                reverse=True,
            )
            tops |= {(query, passage) for _, passage in ranked[:2]}
    generated = live(tmp_path).column("select passage_id from lake.raw.answers")
    cards = live(tmp_path).rows(
        "select query_id, passage_id, list(assessor order by assessor) from lake.raw.review_cards "
        "group by all order by any_value(position)"
    )
    assert {(query, passage) for query, passage, _ in cards if passage not in generated} == tops
    assert made["n_cards"] == len(cards)
    assert list(dict.fromkeys(query for query, _, _ in cards)) == order.split(",")
    assert len({(query, *asked) for query, _, asked in cards}) == 3, "a query goes to two people"

    said = {}
    for who in ("ann", "bob", "cy"):
        own = [(query, passage) for query, passage, asked in cards if who in asked]
        said[who] = {pair: (n * len(who) + len(pair[1])) % 4 for n, pair in enumerate(own)}
        first, *others = said[who].values()
        typed = (3 - first, "u", first, *others)
        told = reviewing.review(tmp_path, who, typed, "--queue", "pool").output
        assert "# Off topic is 0" in told
        assert "Label" not in told
    judged = live(tmp_path).rows(
        "select assessor, query_id, passage_id, relevance from lake.raw.judgments "
        "where assessor != 'human'"
    )
    assert {row[:3]: row[3] for row in judged} == {
        (who, *pair): label for who, pairs in said.items() for pair, label in pairs.items()
    }
    (listed,) = json_of(tmp_path, "queue", "list", "--json")
    assert listed["n_done"] == listed["n_cards"]
    (tmp_path / "seeds").mkdir(exist_ok=True)
    (tmp_path / "seeds" / "panels.csv").write_text(PANEL)
    gradelake(tmp_path, "build")
    with Lake.published(Project.find(tmp_path)) as lake:
        boards = lake.column("select distinct label_set from lake.marts.leaderboard")
        compared = "select distinct label_set from lake.marts.kappa where reference = ?"
        with_ann = lake.column(compared, "assessor:ann")
    assert {"panel:all", "assessor:ann", "assessor:bob", "assessor:cy"} <= set(boards)
    assert {"assessor:bob", "assessor:cy"} <= set(with_ann)


def test_of_a_pool_of_more_cards_than_are_dealt_at_once_those_around_the_first_open_one_are(folder):
    people = ("--assessor", "ida", "--overlap", "1")
    gradelake(folder, "queue", "add", "demo", "large", "--from", "pool", "--depth", "1", *people)
    of_ida = "collection = 'demo' and queue = 'large'"
    with Lake.writer(Project.read(folder / "gradelake.toml")) as lake:
        with lake.transaction("review", "a large pool") as transaction:
            transaction.run(
                "insert into {lake}.raw.review_cards by name select cards.* replace "
                "(passage_id || '/' || n as passage_id, 1000 + n as position) from range(2100) "
                f"as more(n), (from {{lake}}.raw.review_cards where {of_ida} limit 1) as cards"
            )
            transaction.run(
                f"delete from {{lake}}.raw.review_cards where {of_ida} and position < 1000"
            )
        _, deck = deal_queue(lake, "demo", "large", "ida")
        places = [int(card.passage_id.rpartition("/")[2]) for card in deck.cards]
        assert (places, deck.n_cards) == ([*range(2000)], 2100)
        with lake.transaction("review", "most of it") as transaction:
            transaction.run(
                "insert into {lake}.raw.judgments by name select collection, query_id, passage_id, "
                f"assessor, 1 as relevance from {{lake}}.raw.review_cards where {of_ida} "
                "and position < 1000 + 2060"
            )
        for again, first in ((False, 2060), (True, 2010)):
            _, deck = deal_queue(lake, "demo", "large", "ida", again)
            places = [int(card.passage_id.rpartition("/")[2]) for card in deck.cards]
            assert (places, deck.n_left) == ([*range(first, 2100)], 40)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--from", "pool", "--grader", "lexical"), "of no grader and no label set"),
        (("--from", "pool", "--tau", "3"), "tau means nothing for cards of the pool"),
        (("--from", "pool", "--queries", "nope"), "nope"),
        (("--grader", "lexical", "--queries", "bird-navigation"), "queries means nothing"),
        (("--grader", "lexical", "--size", "2001"), "2,001 cards are too many"),
    ],
)
def test_what_a_pool_has_not_is_refused(folder, options, told):
    asked = ("queue", "add", "demo", "no", *options, "--assessor", "ann", "--overlap", "1")
    assert told in gradelake(folder, *asked, code=2).stderr
