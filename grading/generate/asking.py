"""Asks an engine for texts: a reply that cannot be read is asked for again, in another way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradelake.grading.ask.recorder import Asking
from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader import Grader
from gradelake.grading.prompts.written_reply import Unreadable, reader_of
from gradelake.grading.run.attempts import TRIES, score_with_retries

RETRY_TEMPERATURE = 0.7  # at least: greedy decoding would give the same reply again


@dataclass(frozen=True)
class Generated:
    """What became of one query: what was read in its reply, or the `error` of its last try.

    `items` is what the prompt's reader makes of a reply (`written_reply`): rubric items, an
    explanation, a rubric. `tries` counts the replies; `decoding` is that of the last one.
    """

    query_id: str
    items: Any
    error: str | None
    tries: int
    decoding: Mapping[str, float | int]
    cut_characters: int = 0  # of the prompt's long text, which did not fit
    is_recalled: bool = False  # its last reply came in an earlier run


def decoding_of(grader: Grader, attempt: int) -> dict[str, float | int]:
    """The decoding of a try, 0 the first: later ones are drawn, each with another seed."""
    decoding = dict(grader.decoding)
    if attempt:
        known = engine_finder.engine_of(grader).decoding
        changed = {
            "temperature": max(decoding["temperature"], RETRY_TEMPERATURE),
            "seed": decoding.get("seed", 0) + attempt,
        }
        decoding |= {key: value for key, value in changed.items() if not known or key in known}
    return decoding


def ask(
    grader: Grader, engine: Asking, queries: Sequence[tuple[str, Mapping[str, str]]]
) -> list[Generated]:
    """What is read for every query, in order. A reply that cannot be read is asked for again, three
    tries in all; an engine's own errors have three tries each time (`score_with_retries`)."""
    read = reader_of(grader.prompt)
    found: dict[int, Generated] = {}
    pending = list(range(len(queries)))
    for attempt in range(TRIES):
        decoding = decoding_of(grader, attempt)
        engine.set_decoding(decoding)
        prompts = [grader.prompt.render(queries[n][1]) for n in pending]
        unread = []
        responses = score_with_retries(engine.score, prompts)
        for n, prompt, response in zip(pending, prompts, responses, strict=True):
            items, error = None, response.error
            if error is None:
                try:
                    if why := response.why_not_whole:
                        raise Unreadable(why)
                    items = read(response.text)
                except Unreadable as unreadable:
                    error = str(unreadable)
                    unread.append(n)
                    engine.discard_reply(prompt)
            found[n] = Generated(
                queries[n][0],
                items,
                error,
                tries=attempt + 1,
                decoding=decoding,
                cut_characters=response.cut_characters,
                is_recalled=response.is_recalled,
            )
        pending = unread  # a prompt that the engine could not answer has had its tries
        if not pending:
            break
    return [found[n] for n in range(len(queries))]
