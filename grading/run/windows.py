"""Asks about several items of a passage at once, and about fewer where a reply does not say which
label is whose."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from gradelake.grading.engines import Response
from gradelake.grading.graders.grader import Grader
from gradelake.grading.prompts.label_list import as_list, read_labels
from gradelake.grading.prompts.parsers import final_output
from gradelake.grading.prompts.prompt import Rendered
from gradelake.grading.prompts.reply import Reading, failed

Score = Callable[[Sequence[Rendered]], list[Response]]
TOKENS = ("prompt_tokens", "cached_tokens", "completion_tokens")


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
    window: list[int] = []
    for n, values in enumerate(prompts):
        if window and (len(window) == size or _about(values) != _about(prompts[window[0]])):
            yield window
            window = []
        window.append(n)
    if window:
        yield window


def _about(values: dict[str, str]) -> tuple[str, str]:
    return values["query"], values["passage"]


def _rendered(grader: Grader, window: list[dict[str, str]]) -> Rendered:
    """The prompt of a window; of one item the values have its text as others do."""
    values = dict(window[0])
    if len(window) > 1:
        del values["item"]
    items = as_list(each["item"] for each in window)
    return grader.prompt.render({**values, "items": items, "n_items": str(len(window))})


def _read(grader: Grader, response: Response, n: int) -> list[Reading]:
    if response.error is not None:
        return [failed(response.error)] * n
    final = final_output(response.text)
    if final is None:
        return [failed("the reply ends inside its reasoning; allow more tokens")] * n
    return read_labels(final, grader.prompt.grade_scale, n)


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
