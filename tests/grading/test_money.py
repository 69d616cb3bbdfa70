"""What grading costs: planned, kept below a limit, and counted."""

import itertools
import random
from contextlib import closing

import polars as pl
import pytest

from gradelake.grading.ask.entry import LogEntry
from gradelake.grading.ask.recorder import Replies
from gradelake.grading.engines import Response
from gradelake.grading.plan.prices import Cost, Price
from gradelake.grading.plan.request import Chunk
from gradelake.grading.run import grader_run
from gradelake.grading.run.run_text import print_runs, run_as_object
from gradelake.grading.run.spending import UNASKED, Spending
from gradelake.grading.run.worker import Graded
from gradelake.sql.common.errors import BadInput
from gradelake.sql.shown.units import amount
from tests.grading.misbehaving import answer, refuse
from tests.grading.project import PASSAGES, PRICES, copy_of

QUICK = {"pause": 0.01, "timeout": 20.0, "concurrency": 4}


@pytest.fixture
def hosted(priced_lake, tmp_path, server, monkeypatch):
    """A collection with 12 pairs in 10 prompts, and a grader `gpt` that asks the server: 10 tokens
    a prompt, 4 of them cached, and 1 a reply."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with closing(copy_of(priced_lake, tmp_path / "project")) as judged:
        judged.write("seeds/prices.csv", PRICES)
        ask = {"engine": "openai", "base_url": server.url, "parser": "strict", **QUICK}
        judged.grader("gpt", model="m", prompt="question_self_rating", chunk_pairs=2, **ask)
        yield judged


A_PROMPT = (6 * 100 + 4 * 10 + 1 * 1000) / 1e6


def grade(judged, **options):
    request = grader_run.requested(judged.project, judged.name, "gpt")
    return grader_run.grade(judged.project, request, lambda line: None, **options)


# --- what it cost ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_says_what_its_tokens_came_to(hosted):
    run = grade(hosted)
    assert run.counts["pairs"] == 12
    assert run.cost == pytest.approx(10 * A_PROMPT)


@pytest.mark.slow
def test_an_error_with_half_a_character_ends_no_worker(hosted, server):
    server.on("Cars", refuse(400, "half \ud800 of it"))
    run = grade(hosted)
    assert (run.counts["pairs"], run.counts["ok"] + run.counts["failed"]) == (12, 12)
    errors = {error for (error,) in hosted.grades("gpt", "error").values()} - {None}
    assert errors
    assert all("half \ufffd of it" in error for error in errors)


@pytest.mark.slow
def test_a_reply_that_is_empty_three_times_is_paid_three_times(hosted, server):
    server.on("", answer(None))
    run = grade(hosted)
    assert run.counts["failed"] == 12
    assert run.cost == pytest.approx(3 * 10 * A_PROMPT)


@pytest.mark.slow
def test_replies_without_their_tokens_cost_what_is_not_known_and_never_nothing(
    hosted, server, capsys
):
    server.on("", answer(usage={}))
    limited = grade(hosted, max_cost=0.05)
    assert 0 < limited.counts["pairs"] < 12
    assert limited.out_of_money
    assert limited.cost is None
    assert 0 < limited.cost_at_most <= 0.05
    run = grade(hosted)
    assert (run.left, run.cost, run.cost_at_most) == (0, None, None)
    request = grader_run.requested(hosted.project, hosted.name, "gpt")
    for each, words in (
        (limited, f"cost: unknown, at most {amount(limited.cost_at_most)} EUR"),
        (run, "cost: unknown"),
    ):
        print_runs([(request, each)])
        said = capsys.readouterr()
        assert f"{words}\n" in said.out
        assert "note: no account of tokens came with" in said.err
        assert run_as_object(request, each)["cost"] is None


# --- a limit --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_run_costs_more_than_its_limit_and_the_next_one_goes_on(hosted):
    spent, pairs = 0.0, 0
    # before anything is measured, a prompt is taken to have a token for every other byte
    for _ in range(20):
        run = grade(hosted, max_cost=0.05)
        assert run.cost <= 0.05
        spent, pairs = spent + run.cost, pairs + run.counts["pairs"]
        assert run.out_of_money == (run.left > 0)
        if not run.left:
            break
    assert (pairs, spent) == (12, pytest.approx(10 * A_PROMPT))


@pytest.mark.slow
def test_where_not_even_one_pair_is_sure_to_fit_nothing_is_asked(hosted, server):
    run = grade(hosted, max_cost=0.001)
    assert (run.counts["pairs"], run.left, run.out_of_money) == (0, 12, True)
    assert not server.about("Context")


def test_a_limit_needs_a_price(hosted):
    hosted.grader("gpt", model="another")
    with pytest.raises(BadInput, match="gpt: no price of another"):
        grade(hosted, max_cost=5)
    request = grader_run.requested(hosted.project, hosted.name, "lexical")
    with pytest.raises(BadInput, match="lexical calls no model: it costs nothing"):
        grader_run.grade(hosted.project, request, lambda line: None, max_cost=5)


def _graded(chunk: Chunk, prompt_tokens: int, completion_tokens: int) -> Graded:
    """The account of a chunk whose requests took so much together."""
    n = len(chunk)
    said = [completion_tokens // n + (place < completion_tokens % n) for place in range(n)]
    asked = [prompt_tokens, *[0] * (n - 1)]
    entries = [
        LogEntry(None, chunk.id, 1, 0.1, Response(prompt_tokens=m, completion_tokens=k))
        for m, k in zip(asked, said, strict=True)
    ]
    replies = Replies(chunk.id, entries)
    return Graded(chunk.id, {"pairs": n}, pl.DataFrame(), replies=replies)


def test_whatever_replies_take_a_limit_is_kept_and_nearly_used(hosted):
    """Chunks come back in any order, up to four at work, with replies of 1 to 60 tokens."""
    (chunk, *_) = hosted.plan("gpt").chunks()
    grader = hosted.grader("gpt", decoding={"max_tokens": 60})
    for seed in range(10):
        chance = random.Random(seed)
        limit, usual = chance.uniform(0.05, 0.5), chance.uniform(1, 40)
        many = (_big(chunk, n, 100) for n in range(200))
        spending = Spending(Price("EUR", 2e-6, 1e-6, 8e-6), limit, grader, many)
        at_work: list[Chunk] = []
        while True:
            while len(at_work) < 4 and (given := next(spending, None)):
                at_work.append(given)
            if not at_work:
                break
            back = at_work.pop(chance.randrange(len(at_work)))
            size = sum(len(values["passage"]) for values in back.prompts)
            replies = sum(min(60, round(chance.expovariate(1 / usual)) + 1) for _ in back.prompts)
            spending.settle(_graded(back, size // 4, replies))
            assert spending.spent <= limit, seed
        assert spending.is_over
        assert spending.spent > 0.9 * limit, seed


def test_a_limit_is_kept_where_a_server_heeds_no_length_of_replies(hosted):
    """A token is asked for and 500 come: all that is at work is paid at that price."""
    (chunk, *_) = hosted.plan("gpt").chunks()
    many = (_big(chunk, n, 10) for n in range(200))
    price = Price("EUR", 2e-6, 1e-6, 8e-6)
    spending = Spending(price, 8.0, hosted.grader("gpt"), many, asks_server=True)
    at_work: list[Chunk] = []
    most = 0
    while True:
        while len(at_work) < 16 and (given := next(spending, None)):
            at_work.append(given)
        if not at_work:
            break
        most = max(most, len(at_work))
        back = at_work.pop(0)
        spending.settle(_graded(back, 130 * len(back), 500 * len(back)))
    assert most == 16
    assert 7.2 < spending.spent <= 8


def test_a_limit_is_passed_by_one_reply_at_most_where_a_server_becomes_talkative(hosted):
    """A token is asked for and comes, until so many did; all that come later have 4,096. Chunks are
    as large as a server's, and sixteen may be at work."""
    (chunk, *_) = hosted.plan("gpt").chunks()
    price, limit = Price("EUR", 2e-6, 1e-6, 8e-6), 5.0
    short, long = 130 * 2e-6 + 8e-6, 130 * 2e-6 + UNASKED * 8e-6
    for n_short in (1, 1000, 17000):
        many = (_big(chunk, n, 160) for n in range(200))
        spending = Spending(price, limit, hosted.grader("gpt"), many, asks_server=True)
        at_work: list[Chunk] = []
        n_asked = most = 0
        while True:
            while len(at_work) < 16 and (given := next(spending, None)):
                at_work.append(given)
            if not at_work:
                break
            most = max(most, sum(map(len, at_work)))
            back = at_work.pop(0)
            n_long = min(len(back), max(0, n_asked + len(back) - n_short))
            n_asked += len(back)
            tokens = len(back) - n_long + UNASKED * n_long
            spending.settle(_graded(back, 130 * len(back), tokens))
            assert spending.spent <= limit + long, n_short
        assert spending.is_over
        assert spending.spent > limit - long, n_short
        assert most <= limit / (UNASKED * 8e-6), n_short
        assert n_asked >= min(n_short, limit / long), n_short
    assert n_short * short < limit


@pytest.mark.slow
def test_a_run_keeps_its_limit_where_replies_are_longer_than_asked_for(hosted, server):
    usage = {"prompt_tokens": 10, "completion_tokens": 200, "total_tokens": 210}
    server.on("", answer(usage=usage))  # 0.2 EUR each
    run = grade(hosted, max_cost=0.95)
    assert run.out_of_money
    assert 0 < run.counts["pairs"] < 12
    assert run.cost <= 0.95
    asked = len(server.asked)
    run = grade(hosted, max_cost=0.15)  # what they cost is known from the first one on
    assert (run.counts["pairs"], len(server.asked)) == (0, asked)


@pytest.mark.slow
def test_a_run_passes_its_limit_by_one_reply_at_most_where_a_server_becomes_talkative(
    hosted, server
):
    usage = {"prompt_tokens": 10, "completion_tokens": 200, "total_tokens": 210}
    counted = itertools.count()
    server.on("", lambda asked: answer() if next(counted) < 3 else answer(usage=usage))
    run = grade(hosted, max_cost=0.25)
    a_reply = (10 * 100 + 200 * 1000) / 1e6
    assert run.out_of_money
    assert len(server.asked) == 4
    assert run.cost == pytest.approx(3 * A_PROMPT + a_reply)
    assert run.cost <= 0.25 + a_reply


def _big(chunk, number: int, n: int):
    """A chunk of n pairs that looks like the first one of another."""
    pairs = pl.concat([chunk.pairs.head(1)] * n).with_columns(
        pl.int_range(n, dtype=pl.UInt32).alias("prompt_no")
    )
    asks = pl.concat([chunk.asks.head(1)] * n).with_columns(passage=pl.lit("word " * 100))
    return Chunk(f"{number:032d}", pairs, asks)


# --- what it will cost ----------------------------------------------------------------------------


def test_a_plan_says_between_what_and_what(hosted):
    cost = hosted.plan("gpt").totals.cost
    assert (cost.currency, cost.measured) == ("EUR", False)
    tokens = hosted.plan("gpt").totals.prompt_tokens
    assert cost.low == pytest.approx((0.7 * tokens * 100 + 10 * 1000) / 1e6, rel=1e-3)
    assert cost.high > cost.low


def by_length(asked):
    """A token for three letters, half of them cached; then one word of a grade."""
    n = len(asked.text) // 3
    usage = {"prompt_tokens": n, "completion_tokens": 1}
    return answer("3", usage=usage | {"prompt_tokens_details": {"cached_tokens": n // 2}})


@pytest.mark.slow
def test_what_was_graded_says_what_the_rest_will_cost_there_and_in_a_collection_of_longer_texts(
    hosted, server, monkeypatch
):
    server.on("", by_length)
    monkeypatch.setattr("gradelake.grading.plan.taken.ENOUGH", 3)
    request = grader_run.requested(hosted.project, hosted.name, "gpt", limit=6)
    grader_run.grade(hosted.project, request, lambda line: None)
    told = hosted.plan("gpt").totals.cost
    assert told.measured
    assert told.low <= grade(hosted).cost <= told.high < 1.1 * told.low

    hosted.name = "longer"
    hosted.write("passages.tsv", {name: f"{text} " * 30 for name, text in PASSAGES.items()})
    assert hosted.ingest().exit_code == 0
    hosted.bank()
    told = hosted.plan("gpt").totals.cost
    assert not told.measured
    paid = grade(hosted).cost
    assert told.low <= paid <= told.high < 3 * paid
    hosted.grader("another", **hosted.graders["gpt"] | {"prompt": "thomas"})
    assert hosted.plan("another").totals.tokens_measured  # by those of the same model


@pytest.mark.slow
def test_a_grader_without_a_model_costs_nothing_and_one_without_a_price_is_not_0(hosted):
    assert hosted.plan("lexical").totals.cost == Cost(None, 0.0, 0.0, True)
    hosted.grader("gpt", model="another")
    assert hosted.plan("gpt").totals.cost is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0.00"), (0.0123, "0.012"), (0.00004, "4e-05"), (0.996, "1.00"), (1234.5, "1,234.50")],
)
def test_money_is_told_in_cents_and_two_digits_where_it_is_little(value, text):
    assert amount(value) == text
