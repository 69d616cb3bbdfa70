"""What an engine is asked about a chunk, how often and about how many items at once, and what is
read in its replies."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

from gradelake.grading.engines import MOST_MASS, TOKENS, EngineUnusable, Response
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan.request import Chunk
from gradelake.grading.prompts.label_list import as_list, read_labels
from gradelake.grading.prompts.parsers import PARSERS, plain, sole_word
from gradelake.grading.prompts.prompt import Rendered
from gradelake.grading.prompts.reasoning import UNFINISHED, final_output
from gradelake.grading.prompts.reply import Reading, failed
from gradelake.sql.common.halves import without_halves

Score = Callable[[Sequence[Rendered]], list[Response]]
TRIES = 3  # of a pair, before it is recorded as failed


class EngineBroken(Exception):
    """The engine raises whatever it is asked; its process should make room for another."""


def ask(grader: Grader, score: Score, chunk: Chunk) -> list[tuple[Reading, Response]]:
    """Reading and response of every prompt of the chunk, in order; `score` is not called for those
    whose reply is known."""
    if grader.prompt.target == "verify":
        return _verify(grader, score, chunk)
    if grader.prompt.window is not None:
        return ask_windows(grader, partial(score_with_retries, score), chunk.prompts)
    responses = {
        n: Response(reply, prompt_tokens=0, cached_tokens=0, completion_tokens=0)
        for n, reply in enumerate(chunk.replies)
        if reply is not None
    }
    asked = {n: values for n, values in enumerate(chunk.prompts) if n not in responses}
    answered = score_with_retries(score, [grader.prompt.render(v) for v in asked.values()])
    responses |= dict(zip(asked, answered, strict=True))
    return [
        (read(grader, responses[n], gold), responses[n])
        for n, gold in enumerate(chunk.gold_answers)
    ]


def _verify(grader: Grader, score: Score, chunk: Chunk) -> list[tuple[Reading, Response]]:
    """An answer is right when it equals any of the gold answers: one prompt for each.

    Where nothing was answered there is nothing to ask: that is the lowest grade (EXAM++ 4.2.1).
    """
    owners, rendered = [], []
    best: dict[int, tuple[Reading, Response]] = {}
    for number, (values, gold) in enumerate(zip(chunk.prompts, chunk.gold_answers, strict=True)):
        if not values["answer"]:
            nothing = Response(prompt_tokens=0, cached_tokens=0, completion_tokens=0)
            best[number] = (Reading(grader.prompt.grade_scale.min, "unanswerable"), nothing)
            continue
        for answer in gold or []:
            owners.append(number)
            rendered.append(grader.prompt.render({**values, "gold_answer": answer}))
    for owner, response in zip(owners, score_with_retries(score, rendered), strict=True):
        reading = read(grader, response, None)
        if known := best.get(owner):
            better = max(known, (reading, response), key=lambda one: _how_right(grader, *one))
            reading, response = better[0], replace(better[1], **tokens_of(known[1], response))
        best[owner] = (reading, response)
    return [
        (replace(best[n][0], answer=values["answer"] or None), best[n][1])
        for n, values in enumerate(chunk.prompts)
    ]


def _how_right(grader: Grader, reading: Reading, response: Response) -> tuple[float, float]:
    """Right, then not known because the engine failed, then less right."""
    scale = grader.prompt.grade_scale
    if reading.grade is None:
        return scale.max - 0.5, 0
    expected, _ = expectation(response.probabilities, list(scale.words.values()))
    return reading.grade, expected or 0


def read(grader: Grader, response: Response, gold: list[str] | None) -> Reading:
    """What a response says; `gold`: the answers that it is compared with."""
    if response.error is not None:
        return failed(response.error)
    if response.cut_characters and grader.prompt.compares_two:
        return failed("the two answers are longer than the model allows, and cut they are no match")
    scale, is_held = grader.prompt.grade_scale, grader.prompt.output == "scale"
    if why := response.why_not_whole:
        # nothing can follow a word of the scale where replies are held to it
        is_word = is_held and response.is_cut_off and sole_word(response.text, scale) is not None
        if not is_word:
            return failed(why)
    return PARSERS[grader.parser].read(response.text, scale, gold, is_held)


def score_with_retries(score: Score, prompts: Sequence[Rendered]) -> list[Response]:
    """Responses to all prompts; those with an error are asked three times in all.

    When an engine raises, the prompts are asked one by one from then on, so that the one at fault
    fails alone. Raises `EngineBroken` when it then raises for all of them, or for a lone one three
    times: perhaps no prompt is to blame. `EngineUnusable` goes through.
    """
    responses: dict[int, Response] = {}
    pending, one_by_one = list(range(len(prompts))), False
    for attempt in range(TRIES):
        groups = [[n] for n in pending] if one_by_one else [pending]
        n_raised = 0
        for group in filter(None, groups):
            try:
                answers = score([prompts[n] for n in group])
                if len(answers) != len(group):
                    raise ValueError(f"{len(answers)} responses to {len(group)} prompts")
                for answer in answers:
                    _require_probabilities(answer.probabilities)
                    answer.mend()
            except EngineUnusable:
                raise
            except Exception as error:
                n_raised += 1
                reason = without_halves(f"{type(error).__name__}: {error}")
                answers = [Response(error=reason)] * len(group)
            for n, answer in zip(group, answers, strict=True):
                before = [responses[n]] if n in responses else []  # each time is paid for
                responses[n] = replace(answer, **tokens_of(*before, answer))
        is_everything = n_raised == len(groups) and len(pending) == len(prompts)
        if one_by_one and is_everything and (len(prompts) > 1 or attempt == TRIES - 1):
            raise EngineBroken(responses[0].error)
        one_by_one = one_by_one or n_raised > 0
        pending = [
            n for n in pending if responses[n].error is not None and not responses[n].is_final
        ]
        if not pending:
            break
    return [responses[n] for n in range(len(prompts))]


def _require_probabilities(probabilities: Sequence[float] | None) -> None:
    """Raise `ValueError` for what the words of a scale cannot have."""
    if probabilities is None:
        return
    mass = sum(probabilities)
    if min(probabilities) < 0 or not mass <= MOST_MASS:  # NaN is not
        raise ValueError(f"probabilities must be 0 or more, and sum to 1 at most: {mass:g}")


def expectation(
    probabilities: Sequence[float] | None, grades: Sequence[int]
) -> tuple[float | None, float | None]:
    """(mean grade under the probabilities of the scale's words, sum of those probabilities)."""
    if probabilities is None:
        return None, None
    mass = sum(probabilities)
    if not mass:
        return None, 0.0
    return sum(p * g for p, g in zip(probabilities, grades, strict=True)) / mass, mass


def distribution(
    probabilities: Sequence[float] | None, grades: Sequence[int]
) -> list[float] | None:
    """The probability of each grade of the scale, the lowest first, given that it is on it."""
    mass = sum(probabilities or ())
    if not probabilities or not mass:
        return None
    found = dict.fromkeys(range(min(grades), max(grades) + 1), 0.0)
    for grade, probability in zip(grades, probabilities, strict=True):
        found[grade] += probability / mass
    return [*found.values()]


# --- several items at once ------------------------------------------------------------------------


def ask_windows(
    grader: Grader, score: Score, prompts: list[dict[str, str]]
) -> list[tuple[Reading, Response]]:
    """Reading and response of every prompt, in order; each is of one item.

    A label is never guessed: items whose label a reply does not tell are asked about again, in
    windows of half as many or of what is left, down to one. What is then not told is `failed`. The
    tokens of a request are divided among its items, so that their sums are what was used.
    """
    found: dict[int, tuple[Reading, Response]] = {}
    pending = list(_windows(prompts, grader.prompt.window or 1))
    while pending:
        rendered = [_rendered(grader, [prompts[n] for n in window]) for window in pending]
        again = []
        for window, response in zip(pending, score(rendered), strict=True):
            readings = _read(grader, response, len(window))
            for n, reading, part in zip(
                window, readings, _divided(response, len(window)), strict=True
            ):
                if n in found:
                    part = replace(part, **tokens_of(found[n][1], part))
                found[n] = reading, part
            unread = [n for n in window if found[n][0].status == "failed"]
            if response.error is None and len(window) > 1 and unread:
                half = len(window) // 2 if unread == window else len(unread)
                again += [part for part in (unread[:half], unread[half:]) if part]
        pending = again
    return [found[n] for n in range(len(prompts))]


def _windows(prompts: Sequence[dict[str, str]], size: int) -> Iterator[list[int]]:
    """Numbers of prompts that one request asks about: neighbours of one query and passage."""
    about = [(values["query"], values["passage"]) for values in prompts]
    for _, same in groupby(range(len(prompts)), about.__getitem__):
        numbers = list(same)
        yield from (numbers[start : start + size] for start in range(0, len(numbers), size))


def _rendered(grader: Grader, window: list[dict[str, str]]) -> Rendered:
    """The prompt of a window; of one item the values have its text as others do."""
    values = dict(window[0])
    if len(window) > 1:
        del values["item"]
    items = as_list(each["item"] for each in window)
    return grader.prompt.render({**values, "items": items, "n_items": str(len(window))})


def _read(grader: Grader, response: Response, n: int) -> list[Reading]:
    if why := response.error or response.why_not_whole:
        return [failed(why)] * n
    final = final_output(response.text)
    if final is None:
        return [failed(UNFINISHED)] * n
    return read_labels(plain(final), grader.prompt.grade_scale, n)


def _divided(response: Response, n: int) -> list[Response]:
    """The response once for each of n items, with its share of the tokens."""
    parts = []
    for place in range(n):
        share: dict[str, Any] = {
            name: None if count is None else count // n + (place < count % n)
            for name, count in ((name, getattr(response, name)) for name in TOKENS)
        }
        parts.append(replace(response, **share))
    return parts


def tokens_of(*responses: Response) -> dict[str, Any]:
    """The sums of responses' tokens; None where none of them was counted."""
    counts = {name: [getattr(one, name) for one in responses] for name in TOKENS}
    return {
        name: None if all(n is None for n in each) else sum(n or 0 for n in each)
        for name, each in counts.items()
    }
