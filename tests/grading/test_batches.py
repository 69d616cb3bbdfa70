"""`batch = true`: submitted, collected and billed once, whatever happens in between."""

import json
import os
import random
import re
from contextlib import closing

import pytest

from gradelake.grading.engines import EngineUnusable
from gradelake.grading.graders import doctor
from gradelake.grading.plan.prices import Price
from gradelake.grading.plan.request import FAILURES
from gradelake.grading.run import batches as batch_runs
from gradelake.grading.run import grader_run
from gradelake.sql.common.errors import BadInput
from tests.grading.batch_server import STEPS, BatchServer, by_length
from tests.grading.misbehaving import Asked, answer, echo, refuse
from tests.grading.project import PASSAGES, PRICES, copy_of
from tests.tiers import CAMPAIGN, first_of

pytestmark = pytest.mark.slow

# what PRICES says of m, for a token
ONLINE = Price("EUR", 100e-6, 10e-6, 1000e-6)
QUICK = {"pause": 0.01, "timeout": 20.0, "batch_poll": 0.01}
KILLS = int(os.environ.get("GRADELAKE_BATCH_KILLS", "3"))


@pytest.fixture
def server():
    with BatchServer() as server:
        yield server


@pytest.fixture
def hosted(priced_lake, tmp_path, server, monkeypatch):
    """A collection with 12 pairs in 10 prompts, and a grader `gpt` in batches."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-long-key")
    yield from project(priced_lake, tmp_path / "project", server)


def project(lake, folder, server, **settings):
    with closing(copy_of(lake, folder)) as judged:
        judged.write("seeds/prices.csv", PRICES)
        stated = {"engine": "openai", "model": "m", "prompt": "question_self_rating"}
        stated |= {"base_url": server.url, "parser": "strict", "batch": True, **QUICK, **settings}
        judged.grader("gpt", **stated)
        yield judged


def grade(judged, **options):
    of_request = {name: options.pop(name) for name in ("limit", "retry") if name in options}
    request = judged.request("gpt", **of_request)
    judged.told = []
    return grader_run.grade(judged.project, request, judged.told.append, **options)


def logged(judged) -> int:
    """Prompts of batches that the log has."""
    ((n,),) = judged.rows("select count(*) from lake.raw.replies where in_batch and is_read")
    return n


def unread(judged) -> int:
    """Prompts of batches that are under way, or are asked again."""
    ((n,),) = judged.rows("select count(*) from lake.raw.replies where not is_read")
    return n


def to_its_end(judged, **options):
    return grade(judged, wait=True, **options)


def state_of(judged) -> list[tuple]:
    return judged.rows("select state, n_pairs, n_prompts from lake.raw.batches order by 1, 2")


def cost_of(judged) -> float:
    return judged.rows("select coalesce(sum(cost), 0) from lake.marts.grading_cost")[0][0]


def half(*tokens: int) -> float:
    return ONLINE.of(*tokens) / 2


# --- the account ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("refusal", "hint"),
    [
        (refuse(429, "You exceeded your quota", "insufficient_quota"), "quota is used up"),
        (refuse(402, "Insufficient Balance"), "quota is used up"),
        (refuse(401, "Incorrect API key"), "Check the key and model"),
    ],
)
def test_a_batch_whose_prompts_all_fail_for_the_account_says_so_and_sends_no_more(
    hosted, server, refusal, hint
):
    server.on("", refusal)
    server.on("Ores", refuse(refusal.status, "insufficient_quota of another kind"))
    with pytest.raises(EngineUnusable, match=r"batch .{8}: \d+ of 10 prompts were refused: ") as e:
        to_its_end(hosted)
    assert hint in e.value.hint
    assert len(server.batches) == 1
    assert hosted.rows("select count(*) from lake.raw.grades") == [(0,)]
    server.on("", by_length)
    server.on("Ores", by_length)
    assert to_its_end(hosted).counts["pairs"] == 12


# --- submit and collect ---------------------------------------------------------------------------


def test_a_run_submits_what_is_missing_and_a_later_one_collects_it(hosted, server):
    server.looks = 2
    first = grade(hosted)
    assert (first.batched.submitted, first.batched.under_way, first.left) == (12, 12, 0)
    assert hosted.grades("gpt") == {}
    second = grade(hosted)  # it is not over yet
    assert (second.batched.submitted, second.batched.under_way) == (0, 12)
    third = grade(hosted)
    assert (third.batched.collected, third.batched.under_way) == (12, 0)
    assert third.counts["ok"] == len(hosted.grades("gpt")) == 12
    assert state_of(hosted) == [("collected", 12, 10)]
    fourth = grade(hosted)
    assert (fourth.batched.collected, fourth.batched.submitted) == (0, 0)
    assert set(server.times_billed().values()) == {1}
    assert len(server.batches) == 1
    assert logged(hosted) == server.times_billed().total()


def test_prompts_and_grades_are_those_of_the_same_grader_online(hosted, server):
    to_its_end(hosted)
    in_batches = hosted.grades("gpt", "grade, status, response, prompt_tokens")
    sent = sorted(
        json.dumps(line["body"], sort_keys=True)
        for made in server.batches.values()
        for line in made.lines
    )
    with hosted.lake.transaction("grade") as transaction:
        transaction.run("delete from {lake}.raw.grades")
    asked_before = len(server.asked)
    hosted.grader("gpt", batch=False)
    grade(hosted)
    online = sorted(json.dumps(one.body, sort_keys=True) for one in server.asked[asked_before:])
    assert online == sent
    assert hosted.grades("gpt", "grade, status, response, prompt_tokens") == in_batches


def test_what_is_under_way_is_in_no_plan_and_no_backlog(hosted):
    grade(hosted, limit=5)
    totals = hosted.plan("gpt").totals
    assert (totals.wanted, totals.graded) == (12, 0)
    assert totals.under_way >= 5
    assert totals.missing == 12 - totals.under_way
    backlog = "select count(*) from lake.marts.grading_backlog where grader = 'gpt'"
    assert hosted.rows(backlog) == [(totals.missing,)]
    status = "select status, count(*) from lake.intermediate.int_ungraded_pairs group by 1"
    assert dict(hosted.rows(status)) == {"missing": totals.missing, "under way": totals.under_way}


@pytest.mark.campaign
def test_no_batch_is_larger_than_it_may_be(hosted, server, monkeypatch):
    hosted.grader("gpt", batch_prompts=4, chunk_pairs=3)
    grade(hosted)
    sizes = [len(made.lines) for made in server.batches.values()]
    assert (max(sizes), sum(sizes)) == (4, 10)
    server.batches.clear()
    monkeypatch.setattr(batch_runs, "MOST_BYTES", 2500)
    hosted.grader("gpt", decoding={"seed": 1})  # another grader
    grade(hosted)
    made = [made.lines for made in server.batches.values()]
    assert max(sum(len(json.dumps(line)) for line in lines) for lines in made) <= 2500
    assert sum(map(len, made)) == 10
    monkeypatch.setattr(batch_runs, "MOST_BYTES", 100)
    hosted.grader("gpt", decoding={"seed": 2})
    with pytest.raises(EngineUnusable, match="one prompt is larger than a batch may be"):
        grade(hosted)


# --- prompts that get no answer -------------------------------------------------------------------


def test_after_three_tries_a_pair_has_failed_each_is_paid_for_and_no_key_is_told(hosted, server):
    usage = {"prompt_tokens": 50, "completion_tokens": 2}
    server.on("landmarks", answer(None, usage=usage))
    server.on("steel", refuse(500, "you sent sk-a-long-key"))
    run = to_its_end(hosted)
    assert (run.counts["ok"], run.counts["failed"], run.exit_code) == (7, 5, 3)
    whole, *again = (made.lines for made in server.batches.values())
    failing = [line for line in whole if re.search("steel|landmarks", json.dumps(line))]
    assert [len(lines) for lines in (whole, *again)] == [10, 5, 5]
    assert len(failing) == 5
    assert cost_of(hosted) == run.cost == pytest.approx(server.bill(half))
    errors = "select distinct error from lake.raw.grades where passage_id = 'p4'"
    assert hosted.rows(errors) == [("500: you sent ***",)]
    assert unread(hosted) == 0

    asked = Asked(0.0, "", {"authorization": "Bearer sk-a-long-key"}, {})
    server.refusals["upload"] = [echo(400)(asked)]
    with pytest.raises(EngineUnusable) as error:
        grade(hosted, retry=FAILURES)
    assert "sk-a-long-key" not in str(error.value)
    for table in ("batches", "replies", "grades", "grading_runs"):
        assert "sk-a-long-key" not in repr(hosted.rows(f"select * from lake.raw.{table}"))
    server.on("landmarks", answer("4"))
    server.on("steel", answer("4"))
    assert to_its_end(hosted).counts["ok"] == 5
    assert len(hosted.grades("gpt")) == 12


def test_a_passage_that_is_too_long_is_cut_and_sent_again(hosted, server):
    def short_ones(asked):
        if asked.text.count("blue") > 100:
            return refuse(400, "maximum context length exceeded", code="context_length_exceeded")
        return by_length(asked)

    texts = PASSAGES | {"p4": "blue " * 300}
    hosted.write("passages.tsv", [f"{key}\t{text}" for key, text in texts.items()])
    hosted.ingest()
    server.on("", short_ones)
    run = to_its_end(hosted)
    cuts = hosted.grades("gpt", "cut_characters, status")
    assert {cut for (_, passage, _), (cut, _) in cuts.items() if passage == "p4"} == {
        1499 - 374
    }  # to a half, twice
    assert run.counts["failed"] == 0


@pytest.mark.campaign
def test_a_prompt_that_comes_back_without_a_line_is_asked_again(hosted, server):
    server.changes = lambda lines: lines[1:] if len(server.batches) == 1 else lines
    to_its_end(hosted)
    assert [len(made.lines) for made in server.batches.values()] == [10, 1]
    assert len(hosted.grades("gpt")) == 12


# --- batches that do not end well -----------------------------------------------------------------


@pytest.mark.campaign
def test_of_a_batch_that_expires_what_was_answered_stays_and_the_rest_is_planned_again(
    hosted, server
):
    server.expires_after = 4
    grade(hosted)
    server.expires_after = None
    run = to_its_end(hosted)
    assert [len(made.lines) for made in server.batches.values()] == [10, 6]
    assert run.counts["ok"] == len(hosted.grades("gpt")) == 12
    assert [state for state, *_ in state_of(hosted)] == ["collected", "expired"]
    assert set(server.times_billed().values()) == {1}
    assert logged(hosted) == server.times_billed().total()


@pytest.mark.campaign
def test_a_batch_that_is_refused_as_a_whole_tells_why_and_blames_no_pair(hosted, server):
    server.fails = "Enqueued token limit reached"
    grade(hosted)
    with pytest.raises(EngineUnusable, match="refused: bad: Enqueued token limit reached"):
        grade(hosted)
    assert len(server.batches) == 1  # nothing was submitted beside the message
    assert hosted.plan("gpt").totals.missing == 12
    server.fails = None
    assert to_its_end(hosted).counts["ok"] == 12


def test_a_server_without_batches_says_so(hosted, server):
    server.refusals["upload"] = [refuse(404, "not found")]
    with pytest.raises(EngineUnusable, match="refuses a batch") as error:
        grade(hosted)
    assert "Does it have a batch API?" in error.value.hint
    assert hosted.plan("gpt").totals.missing == 12


# --- a server is not trusted ----------------------------------------------------------------------


def test_lines_of_other_prompts_and_repeated_ones_are_not_read(hosted, server):
    def changed(lines):
        foreign = json.loads(json.dumps(lines[0]))
        foreign["custom_id"] = f"{'0' * 32}-0"
        beyond = json.loads(json.dumps(lines[0]))
        beyond["custom_id"] = beyond["custom_id"].rpartition("-")[0] + "-99"
        twice = json.loads(json.dumps(lines[1]))
        twice["response"]["body"]["choices"][0]["message"]["content"] = "5"
        return [foreign, beyond, *lines, twice, ["nonsense"], {"custom_id": 7}]

    server.on("", answer("2", model="m-2024-08-06"))
    server.changes = changed
    run = to_its_end(hosted)
    ((stack,),) = hosted.rows("select stack from lake.raw.grading_runs")
    assert json.loads(stack)["model"] == ["m-2024-08-06"]
    *_, told = doctor.graders(hosted.project)
    assert "prompt question_self_rating (last answered: model m-2024-08-06): its" in told.what
    assert {grade for grade, _ in hosted.grades("gpt").values()} == {2}
    foreign = "5 lines of the batch's files answer none of its prompts"
    assert run.notes == ["'m-2024-08-06' answers for 'm'", foreign]
    assert hosted.rows("select notes from lake.raw.grading_runs") == [(run.notes,)]


@pytest.mark.parametrize("n_own", [0, 4])
def test_a_batch_that_answers_other_prompts_is_not_paid_for_again_unasked(hosted, server, n_own):
    def changed(lines):
        for line in lines[n_own:]:
            line["custom_id"] = f"{'0' * 32}-{line['custom_id'].rpartition('-')[2]}"
        return lines

    server.changes = lambda lines: changed(json.loads(json.dumps(lines)))
    if n_own:
        run = to_its_end(hosted)
        assert run.counts["failed"] == 12 - run.counts["ok"] > 0
        assert run.notes == ["6 lines of the batch's files answer none of its prompts"]
    else:
        with pytest.raises(
            EngineUnusable, match="10 lines of the batch's files answer none"
        ) as told:
            to_its_end(hosted)
        assert "--retry-failed asks about its pairs again" in told.value.hint
        assert hosted.grades("gpt") == {}
    assert set(server.times_billed().values()) == {1}
    server.changes = lambda lines: lines
    to_its_end(hosted, retry=FAILURES)
    assert hosted.plan("gpt").totals.graded == 12
    assert set(server.times_billed().values()) == ({1, 2} if n_own else {2})


def test_a_reply_with_half_a_character_is_read_and_costs_no_other_pair(hosted, server):
    def changed(lines):  # JSON may hold it; no file and no table could
        lines[0]["response"]["body"]["choices"][0]["message"]["content"] = "2 \ud800"
        return lines

    server.on("", answer("2"))
    server.changes = changed
    run = to_its_end(hosted)
    assert (run.batched.collected, run.batched.under_way) == (12, 0)
    assert set(server.times_billed().values()) == {1}
    found = set(hosted.grades("gpt", "response, status").values())
    assert found == {("2", "ok"), ("2 \ufffd", "failed")}


@pytest.mark.campaign
def test_another_model_stops_it_and_nothing_is_paid_for_again_until_asked(hosted, server):
    server.on("", answer("2", model="other"))
    grade(hosted)
    for _ in range(2):
        with pytest.raises(EngineUnusable, match="'other' answers, not 'm'"):
            grade(hosted)
    assert len(server.batches) == 1
    assert hosted.plan("gpt").totals.under_way == 12
    server.on("", answer("2"))
    assert to_its_end(hosted, retry=FAILURES).counts["ok"] == 12
    assert len(server.batches) == 2


@pytest.mark.campaign
def test_a_batch_is_looked_for_only_where_it_was_sent(hosted, server):
    grade(hosted)
    with BatchServer() as other:
        hosted.grader("gpt", base_url=other.url)
        with pytest.raises(EngineUnusable, match=f"is at {server.url}, not at base_url"):
            grade(hosted)
    assert not other.steps


@pytest.mark.campaign
def test_a_batch_or_file_that_is_gone_is_told_of_and_can_be_given_up(hosted, server):
    grade(hosted)
    server.batches.clear()
    with pytest.raises(EngineUnusable, match="no such batch") as error:
        grade(hosted)
    assert "--retry-failed" in error.value.hint
    assert to_its_end(hosted, retry=FAILURES).counts["ok"] == 12


@pytest.mark.campaign
def test_a_busy_server_is_asked_again_politely(hosted, server):
    for step in STEPS:
        server.refusals[step] = [refuse(429, Retry_After="0.01"), refuse(429)]
        if step != "create":
            server.refusals[step].append(refuse(503))
    assert to_its_end(hosted).counts["ok"] == 12
    assert len(server.batches) == 1


# --- a reply that is lost -------------------------------------------------------------------------


def test_a_batch_whose_making_was_not_confirmed_is_found(hosted, server):
    made = server._make
    server._make = lambda wanted: lost(made(wanted))

    def lost(batch):
        server._make = made
        server.refusals["create"] = []
        raise ConnectionAbortedError

    run = to_its_end(hosted)
    assert (run.counts["ok"], len(server.batches)) == (12, 1)


@pytest.mark.campaign
def test_before_an_intent_is_dropped_its_file_is_removed(hosted, server):
    server.refusals["create"] = [refuse(500)]
    with pytest.raises(EngineUnusable, match="no batch was made"):
        grade(hosted)
    assert server.files == {}  # a late request to make a batch of it comes to nothing
    assert state_of(hosted) == [("withdrawn", 12, 10)]
    assert to_its_end(hosted).counts["ok"] == 12


# --- money ----------------------------------------------------------------------------------------


def test_a_limit_counts_what_is_under_way_at_the_batch_price(hosted, server):
    hosted.grader("gpt", chunk_pairs=2)
    server.hold = True
    while (run := grade(hosted, max_cost=0.12)).batched.submitted:
        assert run.out_of_money
        assert 0 < run.batched.reserved <= 0.12
    assert 0 < run.batched.under_way < 12
    server.hold, spent = False, 0.0
    for _ in range(20):
        run = to_its_end(hosted, max_cost=0.12)
        assert run.cost <= 0.12
        spent += run.cost
        if not run.left:
            break
    assert len(hosted.grades("gpt")) == 12
    assert spent == pytest.approx(server.bill(half))


@pytest.mark.campaign
def test_without_a_price_of_its_own_a_batch_costs_what_is_paid_online(hosted, server):
    hosted.write("seeds/prices.csv", [PRICES[0], PRICES[1].removesuffix("0.5")])
    assert to_its_end(hosted).cost == pytest.approx(server.bill(ONLINE.of))
    assert cost_of(hosted) == pytest.approx(server.bill(ONLINE.of))


# --- kill -9 --------------------------------------------------------------------------------------


def run_until_killed(judged, server, *kill) -> bool:
    """Whether `gradelake grade` was killed at this step, before it left by itself."""
    process = judged.spawn("grade", judged.name, "--grader", "gpt")
    server.victim, server.kill = process.pid, kill or None
    output = process.communicate(timeout=120)
    server.kill = None
    assert process.returncode in (0, -9), output
    return process.returncode == -9


def n_graded(judged) -> int:
    return judged.rows("select count(*) from lake.raw.grades")[0][0]


def let_battle(judged, server):
    """`gpt` judges six pairs of answers in both orders."""
    texts = {f"s{n}": f"Air scatters blue light, says {'so ' * n}s{n}." for n in range(4)}
    rows = [{"system": s, "query_id": "q1", "text": text} for s, text in texts.items()]
    judged.write("responses.jsonl", rows)
    judged.configure(responses=["responses.jsonl"])
    judged.ingest()
    judged.grader("gpt", prompt="battle")
    used = {"prompt_tokens": 100, "completion_tokens": 1}
    server.on("", lambda asked: answer("AB"[len(asked.text) % 2], usage=used))


def require_once(judged, server, n_prompts):
    """Each pair has its grade, each prompt was billed once, and the lake counts what was billed."""
    ids = "query_id, passage_id, item_id, passage_sha256"
    graded = f"select count(*), count(distinct ({ids})) from lake.raw.grades where status = 'ok'"
    assert judged.rows(graded) == [(12, 12)]
    assert set(server.times_billed().values()) == {1}
    assert len(server.replies) == n_prompts
    ledger = judged.rows("select count(*) from lake.raw.batches where state = 'collected'")
    assert ledger == [(len(server.batches),)]
    assert cost_of(judged) == pytest.approx(server.bill(half))
    assert unread(judged) == 0


@pytest.mark.parametrize("what", first_of(1, "questions", "battles", mark=CAMPAIGN))
def test_kills_through_submit_and_collect(priced_lake, tmp_path, monkeypatch, what):
    """At every step, before it is done, right after, and a moment later: while the lake commits."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-long-key")
    chance, kills, round_ = random.Random(19), 0, 0
    hit: dict[str, int] = {}
    while kills < KILLS:
        server = BatchServer()
        folder = tmp_path / f"round-{round_}"
        round_ += 1
        for judged in project(priced_lake, folder, server, batch_prompts=4, chunk_pairs=2):
            if what == "battles":
                let_battle(judged, server)
            for _ in range(40):
                request, after = chance.randint(1, 8), chance.random() < 0.7
                later = chance.choice((0.0, chance.uniform(0, 0.4))) if after else 0.0
                if run_until_killed(judged, server, request, after, later):
                    kills += 1
                    hit[server.killed_at[-1]] = hit.get(server.killed_at[-1], 0) + 1
                if kills >= KILLS or n_graded(judged) == 12:
                    break
            to_its_end(judged)
            require_once(judged, server, 12 if what == "battles" else 10)
        server.stop()
    print(f"{what}: {kills} kills in {round_} rounds: {hit}")
    assert KILLS < 30 or {"upload", "create", "look", "download"} <= hit.keys()


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.fast
@pytest.mark.parametrize("prompt", ["verify_answer", "generate_questions_dl", "nuggetizer_assign"])
def test_a_prompt_that_needs_replies_in_turn_is_refused(hosted, prompt):
    with pytest.raises(BadInput, match="needs several replies in turn"):
        hosted.grader("other", engine="openai", model="m", prompt=prompt, batch=True)


@pytest.mark.fast
def test_batch_is_no_part_of_the_graders_id(hosted):
    before = hosted.grader("gpt").grader_id
    assert hosted.grader("gpt", batch=False, batch_prompts=7).grader_id == before


@pytest.mark.fast
def test_wait_is_for_graders_in_batches(hosted):
    request = grader_run.requested(hosted.project, hosted.name, "lexical")
    with pytest.raises(BadInput, match="lexical does not grade in batches"):
        grader_run.grade(hosted.project, request, lambda line: None, wait=True)
