"""10,000 replies, made up by forty kinds of cut, marked, refused and off-scale texts: whatever the
parser, none gets a grade that was not said."""

import random
from functools import cache
from types import SimpleNamespace

import pytest

from gradelake.grading.engines import Response
from gradelake.grading.prompts.parsers import PARSERS
from gradelake.grading.prompts.scale import Scale
from gradelake.grading.run.attempts import read

OF_EACH = 250
SCALE = Scale.parse("0-5")
FINISHES = (
    *("length", "max_tokens", "MAX_TOKENS", "model_length", "abort", "error", "content_filter"),
    *("insufficient_system_resource", "SAFETY", "timeout", "tool_calls", "whatever comes next"),
)
REASONING = (
    *(("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<seed:think>", "</seed:think>")),
    *(("<analysis>", "</analysis>"), ("<scratchpad>", "</scratchpad>"), ("[THINK]", "[/THINK]")),
    *(("<|channel>thought\n", "<channel|>"), ("<unused94>thought\n", "<unused95>")),
    *(("<longcat_think>", "</longcat_think>"), ("<think_fast>", "</think_fast>")),
    *(("<|inner_prefix|>", "<|inner_suffix|>"), ("<ifm|think>", "</ifm|think>")),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|open|>think<|sep|>", "<|close|>think<|sep|><|open|>response<|sep|>"),
    ("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|content_thinking|>", "<|end_message|><|content_text|>"),
    ("to=self<|message|>", "<|eom|><|start|>assistant to=user<|message|>"),
    ("Here are my reasoning steps:\n", "\n[BEGIN FINAL RESPONSE]\n"),
    ("Here is my thought process:\n", "\nHere is my response:\n"),
    ("\u25c1think\u25b7", "\u25c1/think\u25b7"),
    *(("<pondering>", "</pondering>"), ("<my-notes>", "</my-notes>"), ("<plan a='b'>", "</plan>")),
)
PARTS = ("half", "quarters", "thirds", "and a half", "-fifths", "point five", "hundred")
SCALES = ("1 to 10", "0-10", "one to ten", "0 to 3", "1 to 7", "0 to 100")
ERRORS = (
    '{{"error": {{"message": "no model for score: {d}", "code": {d}}}}}',
    '{{"error": "overloaded, retry in {d} s"}}',
    '{{"detail": "Not Found {d}"}}',
    '{{"object": "error", "message": "grade: {d}", "type": "invalid"}}',
    '{{"message": "rate limit of {d}", "code": 429}}',
    "<html><head><title>502 Bad Gateway</title></head><body>Score: {d}</body></html>",
    "<!DOCTYPE html>\n<html><body>Rating: {d}</body></html>",
    "<?xml version='1.0'?><Error><Code>Slow{d}</Code></Error>",
    *("502 Bad Gateway", "HTTP/1.1 503 Service Unavailable", "Error: score: {d}"),
    *("Error code: 429 - score: {d}", "upstream connect error or reset. score: {d}"),
    *("litellm.RateLimitError: grade: {d}", "no healthy upstream", "Internal Server Error"),
    'data: {{"error": {{"message": "score: {d}"}}}}',
)
REFUSALS = (
    *("I'm sorry, but I can't assist with that.", "I cannot help with this request."),
    *("I am unable to provide a score for this.", "I\u2019m sorry, I can\u2019t comply with that."),
    *("As an AI, I cannot rate this content.", "I'm not able to help with that."),
    *("I won't judge this passage.", "Sorry, but the response was filtered by our policy."),
    "Your request was blocked by the content policy.",
)
NOTHING, DEFAULT, SAID = "nothing", "no more than the paper's default", "what was said"
# name: (text; {d} was not said, {g} was, {o} is off the scale; what may come of it)
CHOICES = ("{d} or {e}", "{d}, maybe {e}", "{d} (or {e})", "{d} and {e}", "{d}/{e}/5", "{d}; {e}")
KINDS = {
    **{
        f"cut off {n}": (text, NOTHING)
        for n, text in enumerate(
            (
                *("{f} Off topic would be ##final score: {d}. But", "Score: {d}", "{d}"),
                *("##final score: {d}", '{{"score": {d}}}', '["support"]\n{f}', "{d} as {f}"),
            )
        )
    },
    **{
        f"reasoning without an end {n}": (text, NOTHING)
        for n, text in enumerate(
            (
                *("{b}{f} Off topic would be ##final score: {d}. But", "{b}Score: {d}"),
                *("{b}{d}", '{b}{f} {{"score": {d}}}', "{b}{f}\n##final score: {d}\n{b}{f}"),
            )
        )
    },
    "reasoning and nothing": ("{b}{f} ##final score: {d}{a}", NOTHING),
    "reasoning, then the score": ("{b}{f} ##final score: {d}{a}##final score: {g}", SAID),
    "reasoning, then a word": ("{b}Score: {d}. {f}{a}\n{g}", SAID),
    "reasoning, then a tag": ("{b}Score: {d}. {f}{a}\n<answer>{g}</answer>", SAID),
    "a server's error": ("{x}", NOTHING),
    "a refusal": ("{r}", NOTHING),
    "a refusal with a supposed score": ("{r} Nothing would be a score of {d}.", NOTHING),
    "another scale": ("Score: {d} on a scale of {s}", DEFAULT),
    "another scale, before": ("On a scale of {s}, I'd give a score of {d}.", DEFAULT),
    "another scale, in brackets": ("##final score ({s}): {d}", DEFAULT),
    "out of ten": ("##final score: {d} points out of 10", DEFAULT),
    "out of ten, in words": ("Final score: {w} out of ten. {f}", DEFAULT),
    "of ten, set in bold": ("**Final score:** **{d}** of 10", DEFAULT),
    "an object of ten": ('{{"score": {d}, "max_score": 10}}', DEFAULT),
    "off the scale": ("##final score: {o}. {f}", DEFAULT),
    "a fraction in words": ("##final score: {w} {p}", DEFAULT),
    "a fraction in digits": ("Score: {d} 1/2", DEFAULT),
    "a choice": ("##final score: {c}", DEFAULT),
    "a choice in words": ("##final score: {w} or {v}", DEFAULT),
    "two keys": ('{{"score": {d}, "grade": {e}}}', DEFAULT),
    "second thoughts": ("{d}. Wait, actually {g}", SAID),
    "second thoughts of an object": ('{{"score": {d}}}\nWait, actually {g}.', SAID),
    "second thoughts of a final score": ("##final score: {d}\nNo, it should be {g}.", SAID),
    "a chat that goes on": ("##final score: {g}\n\nUser: {f}\nAssistant: ##final score: {d}", SAID),
    "a turn that is over": ("##final score: {g}<|im_end|>\n<|im_start|>user\nScore: {d}", SAID),
    "a supposed score": ("{f} Score: {d} would need {f}.", DEFAULT),
    "less than a score": ("##final score: <{d}", DEFAULT),
    "a definition": ("A score of {d} means that {f}.", DEFAULT),
}


@cache
def replies():
    """(kind, reply, what it says, what may come of it), the same ones each time."""
    return [*_made_up()]


def _made_up():
    drawn = random.Random(47)
    words = ("the", "passage", "names", "steel", "bees", "a", "bridge", "in", "part", "of", "why")
    for kind, (text, may_be) in KINDS.items():
        for _ in range(OF_EACH):
            said, other, another = drawn.sample(range(2, 6), 3)
            begin, end = drawn.choice(REASONING)
            numbers = ("zero", "one", "two", "three", "four", "five")
            values = {
                **{"g": said, "d": other, "e": another, "o": drawn.choice((6, 7, 10, 42, -3, 2.5))},
                **{"w": numbers[other], "v": numbers[another], "p": drawn.choice(PARTS)},
                **{"s": drawn.choice(SCALES), "r": drawn.choice(REFUSALS), "b": begin, "a": end},
                "f": " ".join(drawn.choices(words, k=drawn.randint(1, 12))),
            }
            values["x"] = drawn.choice(ERRORS).format(**values)
            values["c"] = drawn.choice(CHOICES).format(**values)
            finish = drawn.choice(FINISHES) if kind.startswith("cut off") else "stop"
            yield kind, Response(text.format(**values), finish=finish), said, may_be


def test_there_are_ten_thousand_of_forty_kinds():
    assert (len(KINDS), len(replies())) == (40, 10_000)


@pytest.mark.parametrize("name", PARSERS)
def test_no_grade_that_was_not_said(name):
    parser = PARSERS[name]
    labels = Scale.parse({"no_support": 0, "support": 1})
    scale = labels if name == "labels" else SCALE if parser.reads_words else Scale.parse("0-1")
    prompt = SimpleNamespace(grade_scale=scale, output="text", target="question")
    grader = SimpleNamespace(prompt=prompt, parser=name)
    wrong, n_read = [], 0
    for kind, reply, said, may_be in replies():
        if not parser.reads_words and may_be != NOTHING:
            continue  # such a text is an answer, in words
        reading = read(grader, reply, ["the answer"])
        n_read += reading.status == "ok"
        is_default = (reading.status, name, may_be) == ("defaulted", "paper", DEFAULT)
        is_default |= (reading.status, name, may_be) == ("defaulted", "paper", SAID)
        is_said = may_be == SAID and reading.grade == said
        if reading.grade is not None and not (is_default or is_said):
            wrong.append((kind, reply.text, reading.grade, reading.status))
    assert wrong[:20] == []
    assert n_read >= (2 * OF_EACH if parser.reads_words and name != "labels" else 0)
