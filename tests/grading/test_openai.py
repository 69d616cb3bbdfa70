"""The engine `openai`, against a server that misbehaves in every way its replies could."""

import base64
import gzip
import json
import math
import re
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from importlib.metadata import version
from urllib.parse import quote

import pytest

from gradelake.grading.engines import EngineUnusable
from gradelake.grading.engines._chat import is_of_account
from gradelake.grading.engines._client import is_same_model
from gradelake.grading.engines.openai import Engine
from gradelake.grading.run.attempts import expectation, read, score_with_retries
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.servers import retry_after
from tests.grading.misbehaving import Reply, answer, refuse, sent
from tests.grading.project import Judged
from tests.grading.subjects import end

# probabilities of 0 to 5: their mean is 0.1 x (0 + 1 + 2 + 4 + 5) + 0.5 x 3 = 2.7
LOGPROBS = [(str(grade), math.log(0.5 if grade == 3 else 0.1)) for grade in range(6)]
PROBES = "and nothing else."  # in what the endpoint is asked before a prompt is blamed
QUICK = {"pause": 0.01, "timeout": 20.0}


@pytest.fixture
def engine(tmp_path, server):
    """Makes an engine that asks the server."""
    project = Judged(tmp_path / "project")

    def make(prompt: str = "question_self_rating", **settings) -> Engine:
        settings = {"model": "m", "base_url": server.url, "parser": "strict", **QUICK, **settings}
        if prompt == "question_answer":
            settings["parser"] = "answer"
        grader = project.grader(
            "gpt", engine="openai", prompt=prompt, **({"model": "m"} | settings)
        )
        made.append(Engine(grader))
        return made[-1]

    made: list[Engine] = []
    yield make
    for one in made:
        end(one)


def ask(engine: Engine, *passages: str, tries: int = 1):
    """Responses to a prompt on each passage, tried once or as often as a worker would."""
    values = [
        {"item": "What?", "query": "what", "passage": passage, "gold_answer": ""}
        for passage in passages
    ]
    prompts = [engine.grader.prompt.render(value) for value in values]
    responses = engine.score(prompts) if tries == 1 else score_with_retries(engine.score, prompts)
    return responses if len(passages) > 1 else responses[0]


def test_replies_stay_with_their_prompts(server, engine):
    for n in range(6):  # the first is the last to be answered
        server.on(f"passage {n}", answer(str(n), delay=0.3 - n * 0.05))
    responses = ask(engine(), *(f"passage {n}" for n in range(6)))
    assert [response.text for response in responses] == ["0", "1", "2", "3", "4", "5"]


# --- the plain case -------------------------------------------------------------------------------


def test_no_more_prompts_are_on_their_way_than_allowed(server, engine):
    server.on("", answer(delay=0.05))
    ask(engine(concurrency=3), *(f"passage {n}" for n in range(15)))
    assert (server.most_open, len(server.asked)) == (3, 15)


@pytest.mark.parametrize(
    "reply",
    [
        refuse(400, "it is flagged"),
        refuse(429, "insufficient_quota", code="insufficient_quota"),
        refuse(500, "it broke"),
        refuse(307, Location="http://elsewhere.example/"),
        Reply(b"{", status=200),
        Reply(hang_up=True),
    ],
    ids=lambda reply: f"{reply.status} {reply.body[:20]!r}",
)
def test_what_goes_wrong_is_told_alike_of_the_first_request_and_of_later_ones(
    server, engine, reply
):
    """Later requests are copies of the first, which OpenAI's library put together."""

    def told(of: Engine) -> tuple[str, str | None]:
        try:
            return ask(of, "steel").error, None
        except EngineUnusable as error:
            return error.message, error.hint

    server.on("steel", reply)
    first, later = engine(), engine()
    assert ask(later, "wood").text == "3"
    assert told(later) == told(first) != (None, None)
    first, later = (asked.headers for asked in server.about("steel"))
    assert later.keys() == first.keys()
    assert {name for name in first if first[name] != later[name]} == set()


# --- 429 ------------------------------------------------------------------------------------------


def test_the_time_that_a_server_names_is_a_number_or_a_date_in_the_future():
    for stated in (None, "", "soon", "-5", "nan", "inf", "9" * 400, _date(-60)):
        assert retry_after({"retry-after": stated}) is None, stated
    assert retry_after({"retry-after": "0.25"}) == 0.25
    assert 55 < retry_after({"retry-after": _date(60)}) <= 60


def _date(seconds: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


def test_without_such_a_time_the_next_wait_is_twice_as_long(server, engine):
    server.on("steel", *[refuse(429, Retry_After="soon")] * 3, answer("4"))
    assert ask(engine(pause=0.05), "steel").text == "4"
    for gap, at_least in zip(server.gaps(), (0.1, 0.2, 0.4), strict=True):
        assert at_least <= gap < at_least + 4


def test_nothing_but_429_stops_the_run_and_blames_no_prompt(server, engine):
    server.on("", refuse(429, "slow down", Retry_After="0.2"))
    with pytest.raises(EngineUnusable, match=r"still busy after 1 s of patience: .*slow down") as e:
        ask(engine(patience=1.0), "steel", tries=3)
    assert "raise patience" in e.value.hint
    assert 2 <= len(server.asked) <= 6


def test_a_wait_beyond_all_patience_is_not_waited(server, engine):
    server.on("", refuse(429, Retry_After="86400"))
    started = time.monotonic()
    with pytest.raises(EngineUnusable, match="still busy after 60 s"):
        ask(engine(patience=60), "steel")
    assert time.monotonic() - started < 20


@pytest.mark.slow
def test_patience_is_for_the_endpoint_and_not_for_one_prompt(server, engine):
    """One prompt is refused for 4 s; as others are answered meanwhile, that is no end."""
    server.on("steel", *[refuse(429, Retry_After="0.25")] * 16, answer("4"))
    server.on("", answer(delay=0.5))
    responses = ask(engine(patience=3.0, concurrency=2), "steel", *(f"{n}" for n in range(10)))
    assert [response.text for response in responses] == ["4", *["3"] * 10]


@pytest.mark.parametrize(
    ("status", "words", "code"),
    [
        (429, "You exceeded your current quota", "insufficient_quota"),
        (402, "Insufficient Balance", ""),
        (400, "Your credit balance is too low to access the API", "invalid_request_error"),
        (400, "Access denied, please make sure your account is in good standing.", "Arrearage"),
        (400, "Billing hard limit has been reached", "billing_hard_limit_reached"),
        (403, "This account has been suspended", ""),
        (403, "This method requires billing: your billing account is closed", ""),
    ],
)
def test_an_account_that_cannot_pay_stops_the_run_at_once(server, engine, status, words, code):
    server.on("", refuse(status, words, code))
    with pytest.raises(EngineUnusable, match=words) as caught:
        ask(engine(), "steel", tries=3)
    assert "quota is used up" in caught.value.hint
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "words", "prompt"),
    [
        (400, "flagged: 'credit balance'", "What is a credit balance?"),
        (400, "unknown field billing", ""),
        (403, "flagged as violence", ""),
        (429, "You exceeded your current quota, please check your plan and billing details", ""),
        (500, "insufficient balance of workers", ""),
    ],
)
def test_what_one_prompt_or_a_pause_can_mend_is_not_the_account_s(status, words, prompt):
    assert not is_of_account(status, words, prompt)


def test_what_replies_took_has_their_reasoning_and_0_is_not_known(server, engine):
    """Reasoning is in `completion_tokens`, or beside them."""
    beside = {"completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 90}}
    for usage, taken in (
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}, (10, 5)),
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 105}, (10, 95)),
        ({"prompt_tokens": 10, **beside}, (10, 95)),
        ({"prompt_tokens": 10, **beside, "completion_tokens": 95}, (10, 95)),
        ({"prompt_tokens": 10, "completion_tokens": 5, "reasoning_tokens": 90}, (10, 95)),
        ({"prompt_tokens": 10, "completion_tokens": 0, "total_tokens": 70}, (10, 60)),
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 0}, (10, 5)),
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, (None, None)),
        ({"prompt_tokens": None, "completion_tokens": None}, (None, None)),
        ({}, (None, None)),
    ):
        server.on("", answer(usage=usage))
        response = ask(engine(), "steel")
        assert (response.prompt_tokens, response.completion_tokens) == taken, usage


# --- errors of the server, and replies that are none ----------------------------------------------


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (refuse(500, "out of cheese"), "InternalServerError: .*out of cheese"),
        (Reply(b"<h1>Bad gateway</h1>", 502, kind="text/html"), "Bad gateway"),
        (refuse(422, "cannot process"), "cannot process"),
        (refuse(400, "invalid prompt"), "BadRequestError: .*invalid prompt"),
        (refuse(403, "flagged as violence"), "flagged as violence"),
        (
            Reply(b'{"choices": [{"mess', stated_length=400),
            "no connection: .*received 19 of 400 bytes",
        ),
        (Reply(b'{"choices": [{"mess'), "the reply is not JSON"),
        (Reply(b"<html>Welcome to our hotel!</html>", kind="text/html"), "a chat API"),
        (sent({"choices": []}), "has no choices"),
        (answer(5), "content is not text: 5"),
        (Reply(b"[" * 200_000 + b"]" * 200_000), "nested too deep"),
        (Reply(hang_up=True), "no connection: Server disconnected"),
        (answer(None), "the reply is empty"),
    ],
)
def test_a_prompt_at_fault_is_tried_three_times_and_fails_alone(server, engine, reply, why):
    server.on("steel", reply)
    steel, bees = ask(engine(), "steel", "bees", tries=3)
    assert (steel.text, bees.text) == ("", "3")
    assert re.search(why, steel.error), steel.error
    assert (len(server.about("steel")), len(server.about("bees"))) == (3, 1)


def test_what_came_of_the_reasoning_is_kept_where_asked_for(server, engine):
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]
    server.on("apart", answer("3", reasoning_content="Hm.", reasoning="Hm."))
    server.on("in parts", answer([*parts, {"type": "text", "text": "3"}]))
    server.on("alone", answer(None, reasoning="Hm."))
    server.on("nothing", answer("3"))
    server.on("before", answer('<think>Hm.</think>{"grade": "3"}'))
    keeps = engine(keep_reasoning=True)
    kept = ask(keeps, "apart", "in parts", "alone", "nothing")
    assert [one.reasoning for one in kept] == ["Hm.", "Hm.", "Hm.", None]
    assert [one.text for one in kept] == ["3", "3", "", "3"]
    in_json = ask(engine(keep_reasoning=True, constrain="json_schema"), "before")
    assert (in_json.text, in_json.reasoning) == ("3", '<think>Hm.</think>{"grade": "3"}')
    assert ask(engine(keep_reasoning=False), "apart").reasoning is None


def test_which_model_answered_and_its_fingerprints_are_part_of_what_ran_it(server, engine):
    for passage, name, print_ in (("steel", "m", "fp_1"), ("bees", "m-2024-08-06", "fp_2")):
        said = {"model": name, "system_fingerprint": print_}
        server.on(passage, sent(json.loads(answer().body) | said))
    one = engine()
    assert one.stack().keys() == {"gradelake", "openai", "python"}
    ask(one, "steel")
    ask(one, "bees")
    assert one.stack()["model"] == ["m", "m-2024-08-06"]
    assert one.stack()["system_fingerprint"] == ["fp_1", "fp_2"]
    assert one.stack()["openai"] == version("openai")


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (answer(None, finish_reason="length"), "max_tokens were used up before it began"),
        (answer(None, reasoning_content="Hm."), "max_tokens were used up before it began"),
        (answer(None, reasoning="Hm."), "max_tokens were used up before it began"),
        (answer(None, refusal="I cannot judge this."), "the model refused: I cannot judge this"),
        (answer(None, finish_reason="content_filter"), "content filter refused this prompt"),
    ],
)
def test_what_would_come_again_is_told_as_what_it_is_and_not_paid_three_times(
    server, engine, reply, why
):
    server.on("steel", reply)
    steel, bees = ask(engine(), "steel", "bees", tries=3)
    assert (steel.text, bees.text) == ("", "3")
    assert why in steel.error
    assert len(server.about("steel")) == 1


OFF_TOPIC = "Off topic would be ##final score: 0. But"
BROKEN = {"code": 502, "message": "the model went away"}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        *(({"finish_reason": word}, None) for word in ("stop", "eos", "EOS", "end_turn", "", None)),
        *(
            ({"finish_reason": word}, f"cut off ({word})")
            for word in ("length", "max_tokens", "MAX_TOKENS", "model_length")
        ),
        *(
            ({"finish_reason": word}, f"ended with '{word}'")
            for word in ("abort", "insufficient_system_resource", "tool_calls", "SAFETY", "7")
        ),
        ({"finish_reason": "content_filter"}, "content filter"),
        ({"finish_reason": "error"}, "the server broke off: it does not say why"),
        ({"error": BROKEN}, "the server broke off: 502: the model went away"),
    ],
)
def test_a_reply_counts_only_where_the_server_says_that_it_is_whole(server, engine, said, why):
    whole = json.loads(answer(OFF_TOPIC).body)
    whole["choices"][0] |= said
    server.on("steel", sent(whole))
    free = engine("umbrela", parser="final_score")
    reading = read(free.grader, ask(free, "steel"), None)
    assert reading.grade == (None if why else 0)
    assert why in reading.error if why else reading.error is None


@pytest.mark.parametrize(
    "reply",
    [
        *(refuse(status, "half \ud800 of it") for status in (400, 401, 403, 404, 422, 500, 503)),
        refuse(429, "half \ud800 of it", code="insufficient_quota"),
        sent({"error": {"message": "\udfff"}}),
        sent({"half": "\ud800"}, status=400),
        answer(None, refusal="half \ud800"),
        answer("3", model="half-\ud800"),
        answer("3", finish_reason="half \ud800"),
    ],
)
def test_half_a_character_goes_nowhere_whatever_part_of_a_reply_has_it(server, engine, reply):
    """Ray's worker died of one in an error, and the next one, and the next."""
    server.on("", reply)
    try:
        one = ask(engine(patience=0.01), "steel", tries=3)
    except EngineUnusable as error:
        told = str(error)
    else:
        told = str(one.error or one.finish)
    assert told.encode()
    assert "\ud800" not in repr(told)


THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "0"}]}


@pytest.mark.parametrize(
    ("content", "finished", "text"),
    [
        ("2", "length", "2"),
        ([{"type": "text", "text": "2"}], "stop", "2"),
        ([THOUGHT, {"type": "text", "text": "2"}], "stop", "2"),
        ("2 \ud800", "stop", "2 \ufffd"),
    ],
)
def test_a_reply_is_its_text_however_it_comes(server, engine, content, finished, text):
    server.on("steel", answer(content, finish_reason=finished))
    steel, bees, ships = ask(engine(), "steel", "bees", "ships", tries=3)
    assert (steel.text, steel.error) == (text, None)
    assert (bees.text, ships.text) == ("3", "3")
    assert len(server.asked) == 3
    assert steel.is_cut_off == (finished == "length")


@pytest.mark.parametrize(
    ("settings", "content"),
    [
        ({}, "I would grade this passage 4 of 5."),
        ({"constrain": "json_schema"}, '{"score": 4}'),
        ({"constrain": "json_schema"}, "[]"),
        ({"constrain": "json_schema"}, "null"),
        ({"constrain": "json_schema"}, '{"grade": "7"}'),
    ],
)
def test_a_server_that_does_not_hold_replies_to_the_scale_stops_the_run(
    server, engine, settings, content
):
    server.on("", answer(content))
    with pytest.raises(EngineUnusable, match="does not hold replies to the scale 0-5: ") as caught:
        ask(engine(**settings), "steel", "bees")
    assert "constrained = false" in caught.value.hint


def test_one_reply_off_the_scale_fails_alone(server, engine):
    server.on("steel", answer("I would grade this passage 4 of 5."))
    one = engine(parser="paper")
    readings = [read(one.grader, each, None) for each in ask(one, "steel", "bees", "ships")]
    assert [reading.grade for reading in readings] == [None, 3, 3]
    assert "not on the scale 0-5" in readings[0].error


@pytest.mark.parametrize(
    ("address", "constrain"),
    [
        ("https://api.openai.com/v1", "json_schema"),
        ("https://mine.openai.azure.com/openai/v1", "json_schema"),
        ("https://openai.com.example.org/v1", "choice"),
        ("http://127.0.0.1:8000/v1", "choice"),
    ],
)
def test_the_address_says_how_replies_are_held_to_the_scale(tmp_path, address, constrain):
    project = Judged(tmp_path / "project")
    of = {"engine": "openai", "model": "m", "base_url": address, "prompt": "question_self_rating"}
    assert project.grader("gpt", **of).settings["constrain"] == constrain
    assert project.grader("free", **of, constrain="none").settings["constrain"] == "none"


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 800}}, (100, 100)),
        ({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": -8}}, (100, None)),
        ({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": "8"}}, (100, None)),
        ({"prompt_tokens": "100", "prompt_tokens_details": {"cached_tokens": 8}}, (None, None)),
        ({"prompt_tokens": -1}, (None, None)),
        ({"prompt_tokens": 2**40, "prompt_tokens_details": [3]}, (None, None)),
        ({"prompt_tokens": 1.5, "prompt_tokens_details": "x"}, (None, None)),
        ("none", (None, None)),
    ],
)
def test_tokens_are_counted_where_they_can_be_and_cost_no_grade(server, engine, usage, counts):
    server.on("steel", answer(usage=usage))
    response = ask(engine(), "steel")
    assert (response.text, response.error) == ("3", None)
    assert (response.prompt_tokens, response.cached_tokens) == counts


def test_even_the_last_prompts_may_be_at_fault_together(server, engine):
    """With nothing else to grade, a plain prompt tells bad prompts from a bad endpoint."""
    server.on("steel", refuse(500))
    both = ask(engine(), "steel 1", "steel 2", tries=3)
    assert all("InternalServerError" in response.error for response in both)
    assert (len(server.about("steel")), len(server.about(PROBES))) == (6, 3)


@pytest.mark.slow
@pytest.mark.parametrize("slow", [{"delay": 8.0}, {"drip": 0.1}])
def test_a_reply_that_takes_too_long_is_not_waited_for(server, engine, slow):
    server.on("steel", Reply(answer().body, **slow))
    started = time.monotonic()
    response = ask(engine(timeout=0.5), "steel", tries=3)
    assert response.error == "no reply within 0.5 seconds"
    # on a busy machine the time may be up before the server has read a request
    assert len(server.about("steel")) <= 3
    assert time.monotonic() - started < 8


LONG = answer("3" * 10_000_000).body


@pytest.mark.parametrize(
    "reply",
    [
        Reply(LONG),
        Reply(b" " * 65536, endless=True),
        Reply(b"no" * 65536, status=500, endless=True),
        Reply(gzip.compress(LONG), headers={"Content-Encoding": "gzip"}),
    ],
)
def test_a_reply_without_end_is_not_read_to_its_end(server, engine, reply):
    server.on("steel", reply)
    started = time.monotonic()
    response = ask(engine(), "steel")
    assert response.error == "the reply is longer than 4 MiB"
    assert time.monotonic() - started < 10


def test_an_error_as_long_as_a_page_is_cut(server, engine):
    server.on("steel", refuse(500, "very " * 1000))
    assert 400 < len(ask(engine(), "steel").error) < 600


# --- passages that are too long -------------------------------------------------------------------


def room_for(characters: int):
    """As vLLM refuses a prompt that its model has no room for."""
    message = "This model's maximum context length is 2048 tokens. However, your prompt contains"
    return lambda asked: (
        answer("3") if passage_length(asked) <= characters else refuse(400, f"{message} more")
    )


def passage_length(asked) -> int:
    return len(asked.text.partition("Context: ")[2])


def test_a_passage_is_halved_until_the_model_has_room(server, engine):
    server.on("", room_for(700))
    response = ask(engine(), "x" * 3000)
    assert [passage_length(asked) for asked in server.asked] == [3000, 1500, 750, 375]
    assert (response.text, response.cut_characters) == ("3", 3000 - 375)


def test_nothing_is_left_to_cut_below_200_characters(server, engine):
    server.on("x", room_for(50))
    response = ask(engine(), "x" * 700)
    assert "maximum context length" in response.error
    assert [passage_length(asked) for asked in server.about("Context: x")] == [700, 350, 200]


def test_passages_are_cut_to_the_most_characters_allowed(server, engine):
    response = ask(engine(max_passage_characters=10), "0123456789abc")
    assert server.asked[0].text.endswith("Context: 0123456789")
    assert response.cut_characters == 3


# --- endpoints that cannot work -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "what", "hint"),
    [
        (refuse(401, "Incorrect API key"), "Incorrect API key", "OPENAI_API_KEY holds no key"),
        (refuse(404, "The model `m` does not exist"), "does not exist", "base_url and model"),
    ],
)
def test_a_wrong_key_or_model_stops_the_run_at_once(server, engine, monkeypatch, reply, what, hint):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    server.on("", reply)
    with pytest.raises(EngineUnusable, match=what) as caught:
        ask(engine(concurrency=1), *(f"passage {n}" for n in range(8)), tries=3)
    assert hint in caught.value.hint
    assert server.url in caught.value.message
    assert len(server.asked) <= 2  # the next may be on its way already


@pytest.mark.parametrize(
    ("reply", "what", "hint"),
    [
        (refuse(400, "unknown field structured_outputs"), "unknown field", "constrain"),
        (refuse(403, "not in your country"), "not in your country", "OPENAI_API_KEY"),
        (refuse(500), "InternalServerError", "Is it running?"),
        (answer(delay=1.0), "no reply within 0.2 seconds", "Raise timeout"),
        (Reply(b"<html>Sign in</html>", kind="text/html"), "a chat API", "Is it running?"),
    ],
)
def test_an_endpoint_that_answers_not_even_a_plain_prompt_stops_the_run(
    server, engine, reply, what, hint
):
    server.on("", reply)
    with pytest.raises(EngineUnusable, match=what) as caught:
        ask(engine(timeout=0.2 if reply.delay else 20), "steel", "bees", tries=3)
    assert hint in caught.value.hint
    assert (len(server.about("Context: ")), len(server.about(PROBES))) == (2, 3)


def test_nobody_there_stops_the_run_with_the_system_s_reason(server, engine):
    gpt = engine()
    server.stop()
    with pytest.raises(EngineUnusable, match=r"does not answer: no connection: .*") as caught:
        ask(gpt, "steel", "bees", tries=3)
    hint = "Is it running? What was graded is kept; the same command continues."
    assert caught.value.hint == hint
    server.start()
    assert [response.text for response in ask(gpt, "steel", "bees")] == ["3", "3"]


# --- who answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "answering", "is_it"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022", True),
        ("gpt-4", "gpt-4-0613", True),
        ("gemini-1.5-flash", "models/gemini-1.5-flash-002", True),
        ("openai/gpt-4o", "gpt-4o", True),
        ("Qwen/Qwen2.5-7B-Instruct", "qwen/qwen2.5-7b-instruct", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("gpt-4o", "gpt-4o-mini-2024-07-18", False),
        ("gpt-4o-2024-08-06", "gpt-4o-2024-11-20", False),
        ("gpt-4o-2024-08-06", "gpt-4o", False),
        ("meta-llama/Llama-3.1-8B", "somebody/Llama-3.1-8B", False),
    ],
)
def test_a_date_after_its_name_makes_no_other_model(asked, answering, is_it):
    assert is_same_model(asked, answering) is is_it


@pytest.mark.parametrize("answering", ["ours", 7, ["m"]])
def test_another_model_stops_the_run_unless_the_grader_allows_its_name(server, engine, answering):
    server.on("", answer(model=answering))
    told = re.escape(f"{str(answering)!r} answers, not 'm'")
    with pytest.raises(EngineUnusable, match=told) as caught:
        ask(engine(), "steel", tries=3)
    assert f'served_as = ["{answering}"]' in caught.value.hint
    assert len(server.asked) == 1
    allowing = engine(served_as=[str(answering)])
    assert ask(allowing, "steel").text == "3"
    assert allowing.notes == [f"{str(answering)!r} answers for 'm'"]
    assert allowing.grader.grader_id != engine(served_as=[]).grader.grader_id


@pytest.mark.parametrize("answering", [None, ""])
def test_some_servers_do_not_say_which_model_answers(server, engine, answering):
    server.on("", answer(model=answering))
    assert ask(engine(), "steel").text == "3"


# --- what is asked --------------------------------------------------------------------------------

HELD = {"structured_outputs", "response_format", "logprobs", "top_logprobs"}


@pytest.mark.parametrize(
    ("settings", "held", "sent"),
    [
        ({}, HELD - {"response_format"}, {"max_tokens": 1, "temperature": 0.0, "model": "m"}),
        ({"constrain": "json_schema"}, {"response_format"}, {"temperature": 0.0}),
        ({"constrain": "none"}, set(), {"max_tokens": 1}),
        (
            {"prompt": "umbrela", "parser": "final_score"},
            set(),
            {"frequency_penalty": 0.5, "presence_penalty": 0, "top_p": 1, "max_tokens": 100},
        ),
        ({"constrained": False}, set(), {"max_tokens": 512}),
        ({"prompt": "question_answer"}, set(), {}),
        # one token, the default, is no room to think
        ({"reasoning": True, "constrain": "none"}, set(), {"max_completion_tokens": 4096}),
        (
            # its first token is a thought, whose probabilities say nothing about grades
            {"reasoning": True, "decoding": {"max_tokens": 900}},
            {"structured_outputs"},
            {"max_completion_tokens": 900, "temperature": None, "top_p": None, "max_tokens": None},
        ),
    ],
)
def test_what_goes_with_a_prompt(server, engine, settings, held, sent):
    ask(engine(**settings), "steel")
    body = server.asked[0].body
    assert HELD & set(body) == held
    assert {key: body.get(key) for key in sent} == sent


@pytest.mark.parametrize(
    "content",
    [
        *('{"grade": "4"}', '{"grade": 4}', "4", '```json\n{"grade": "4"}\n```'),
        *('Here it is: {"grade": "4"}.', '<think>{"grade": "0"}</think>{"grade": "4"}'),
    ],
)
def test_a_grade_is_read_out_of_its_object(server, engine, content):
    server.on("", answer(content))
    response = ask(engine(constrain="json_schema"), "steel")
    assert response.text == "4"
    schema = server.asked[0].body["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert schema["schema"]["properties"]["grade"]["enum"] == ["0", "1", "2", "3", "4", "5"]


# --- probabilities --------------------------------------------------------------------------------


def test_the_expected_grade_is_the_mean_over_the_scale(server, engine):
    server.on("", answer("3", logprobs=[*LOGPROBS, ("<pad>", -9999.0)]))
    response = ask(engine(), "steel")
    assert response.probabilities == pytest.approx([0.1, 0.1, 0.1, 0.5, 0.1, 0.1])
    expected, mass = expectation(response.probabilities, range(6))
    assert (expected, mass) == (pytest.approx(2.7), pytest.approx(1.0))
    assert response.constrained_probabilities


def test_every_way_to_begin_a_word_counts(server, engine):
    """Y + Yes = 0.5 + 0.2, N + No = 0.2 + 0.1."""
    tokens = [("Y", 0.5), (" Yes", 0.2), ("N", 0.2), ("No", 0.1), ("Maybe", 1e-9), (" ", 1e-9)]
    server.on("", answer("Yes", logprobs=[(token, math.log(p)) for token, p in tokens]))
    response = ask(engine("faggioli_b"), "steel")
    assert response.probabilities == pytest.approx([0.3, 0.7])  # No, Yes


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        LOGPROBS[:5],  # one grade is missing
        [*LOGPROBS[:5], ("5", 900.0)],
        [*LOGPROBS[:5], ("5", "high")],
        [*LOGPROBS[:5], ("5", math.nan)],
        [(str(grade), 0.0) for grade in range(6)],  # 1 each
        [*LOGPROBS[:5], (None, -1.0)],
        {"content": []},
        {"content": [{"token": "3"}]},
        "no",
    ],
)
def test_probabilities_that_cannot_be_cost_no_grade(server, engine, logprobs):
    server.on("", answer("3", logprobs=logprobs))
    response = ask(engine(), "steel")
    assert (response.text, response.error, response.probabilities) == ("3", None, None)


# --- keys and settings ----------------------------------------------------------------------------


def test_the_key_comes_from_the_variable_that_is_named(server, engine, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-mine\n")  # as a file ends
    ask(engine(api_key_env="MY_KEY"), "steel")
    assert server.asked[0].headers["authorization"] == "Bearer sk-mine"


@pytest.mark.parametrize(
    "other",
    [
        *(
            lambda key, before=before: base64.b64encode(f"{before}{key}>".encode()).decode()
            for before in ("", "x", "Bearer ")
        ),
        lambda key: base64.urlsafe_b64encode(key.encode()).decode().replace("h", "h\n"),
        lambda key: f"{key[:7]}\n  {key[7:]}",
        lambda key: quote(key, safe=""),
        lambda key: "".join(f"%{ord(letter):02X}" for letter in key),
        lambda key: "".join(f"&#{ord(letter)};" for letter in key),
        lambda key: key.encode().hex(),
    ],
)
def test_a_key_that_a_server_repeats_in_another_form_is_masked(server, engine, monkeypatch, other):
    key = "sk-proj/7f3a9c+Qz~d41d8c"
    monkeypatch.setenv("MY_KEY", key)
    told = f"you sent: {other(key)}"
    server.on("steel", answer(f"3. {told}"))
    server.on("bees", refuse(400, told), answer())
    one = engine(api_key_env="MY_KEY", constrained=False)
    for text in (ask(one, "steel").text, ask(one, "bees").error):
        _, shown = text.split("you sent: ")
        assert "***" in shown
        assert len(shown) < 20  # of base64 a few letters hold what stands around the key, too


@pytest.mark.parametrize("key", ["sk-\u2026cut", "sk-one\nsk-two"])
def test_a_key_that_cannot_be_sent_is_named_by_its_variable_only(engine, monkeypatch, key):
    monkeypatch.setenv("MY_KEY", key)
    with pytest.raises(EngineUnusable, match="the key in MY_KEY has characters") as caught:
        engine(api_key_env="MY_KEY")
    assert "sk-" not in str(caught.value.args)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (
            {"constrain": "regex"},
            "constrain: unknown value 'regex'\n  Known: by address, choice, json_schema, none",
        ),
        ({"base_url": "localhost:8000"}, "base_url is not an address"),
        ({"base_url": "https://me:secret@there/v1"}, "base_url holds more than an address"),
        ({"base_url": "https://there/v1?key=secret"}, "base_url holds more than an address"),
        ({"concurrency": 0}, "concurrency must be at least 1"),
        ({"timeout": 0.0}, "timeout must be above 0"),
        ({"patience": -1.0}, "patience must be above 0"),
        ({"pause": -1.0}, "pause must be at least 0"),
    ],
)
def test_settings_that_cannot_work_are_refused(engine, settings, why):
    with pytest.raises(BadInput, match=why) as caught:
        engine(**settings)
    assert "secret" not in str(caught.value)
