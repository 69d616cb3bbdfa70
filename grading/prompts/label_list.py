"""Reads lists out of replies: of labels, one for each item that was asked about, and of texts."""

import ast
import json
import re
from collections.abc import Iterable
from typing import Any

from gradelake.grading.prompts.reply import Reading, failed, graded, lone_word
from gradelake.grading.prompts.scale import Scale

_LONGEST = 20_000  # characters of a reply that are looked at
_BEGINNINGS = 50  # brackets that a list of texts is looked for behind
_FENCE = re.compile(r"```[a-z]*\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_BLANKS = re.compile(r"[\s-]+")
_LINE = re.compile(r"^[\s*#>-]{0,6}(\d{1,3})[*_]{0,2}[.):=]\s*(.+)$", re.MULTILINE)
_REMARK = re.compile(r"\s+-+\s|[:;,.(\u2013\u2014]")
_BRACKETS = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}")


def as_list(texts: Iterable[str]) -> str:
    """Items as a prompt shows them: a list in Python's notation, as nuggetizer writes it."""
    return repr(list(texts))


def numbered(texts: Iterable[str]) -> str:
    """Passages as a prompt shows them, as nuggetizer writes them."""
    return "\n".join(f"[{number}] {text}" for number, text in enumerate(texts, 1))


def read_labels(text: str, scale: Scale, n: int) -> list[Reading]:
    """A reading for each of `n` items.

    The reply holds a list in Python's or JSON's notation, an object with nothing but one, one
    whose keys are 1 to n (or 0 to n - 1), or a numbered line for each item; for one item the label
    alone will do. Of several lists of labels, as in a reply that shows its drafts, the last counts;
    remarks may follow it. Where labels are numbers, lists of another length are not among them:
    remarks cite as [2]. Where it has another length than n, nothing tells which label is whose:
    all n are `failed`. So is an item whose label is not on the scale.
    """
    if n == 1 and scale.is_numeric and len(set(_BRACKETS.findall(text))) > 1:
        return [failed("several lists in it: is one a citation?")]
    labels = _labels(text, scale, n)
    if labels is None and n == 1 and (alone := _reading(text, scale)).grade is not None:
        return [alone]
    if labels is None:
        why = "no list of labels in it" if text else "the reply is empty"
        return [failed(why)] * n
    if len(labels) != n:
        return [failed(f"{len(labels)} labels for {n} items")] * n
    return [_reading(label, scale) for label in labels]


def read_list(text: str) -> list[Any] | None:
    """The list in a reply, in Python's or JSON's notation, alone, in a fence or after words; None
    where there is none, or it breaks off."""
    text = text[-_LONGEST:]
    for part in [*reversed(_FENCE.findall(text)), text]:
        end = part.rfind("]") + 1
        starts = [place for place in range(end) if part[place] == "["]
        for start in starts[:_BEGINNINGS]:
            if isinstance(value := _value(part[start:end]), list):
                return value
    return None


def _reading(label: Any, scale: Scale) -> Reading:
    grade = None
    if scale.is_numeric and isinstance(label, int | float):
        grade = scale.meant(str(label))  # True is not on it
    if isinstance(label, str):  # "partial support" is meant
        grade = lone_word(_BLANKS.sub("_", label.strip()), scale)
    if grade is None:
        return failed(f"{label!r:.80} is not on the scale {scale}")
    return graded(grade)


def _labels(text: str, scale: Scale, n: int) -> list[Any] | None:
    """The last list with a label in it; without one, numbered lines, or the last list."""
    text, last = text[-_LONGEST:], None
    for part in [*reversed(_FENCE.findall(text)), text]:
        for written in reversed(_BRACKETS.findall(part)):
            value = _value(written)
            labels = _in_order(value) if isinstance(value, dict) else value
            if not isinstance(labels, list):
                continue
            may_cite = scale.is_numeric and len(labels) != n
            if not may_cite and any(_reading(each, scale).grade is not None for each in labels):
                return labels
            last = labels if last is None else last
    return _numbered_lines(text, scale) or last


def _numbered_lines(text: str, scale: Scale) -> list[str] | None:
    """The label of each line, where lines are numbered from 1 without a gap and have one."""
    lines = _LINE.findall(text)
    if [int(number) for number, _ in lines] != list(range(1, len(lines) + 1)):
        return None
    found = []
    for _, line in lines:
        said = (line, _REMARK.split(line, 1)[0], line.rpartition(":")[2])
        found.append(next((each for each in said if _reading(each, scale).grade is not None), line))
    return found or None


def _value(written: str) -> Any:
    """What a list or an object says; None where it is neither Python nor JSON."""
    for read in (ast.literal_eval, json.loads):
        try:
            return read(written)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def _in_order(labels: dict[Any, Any]) -> list[Any] | None:
    """The values of an object that numbers them without a gap, in that order; or its one list."""
    if [list] == [type(value) for value in labels.values()]:
        (only,) = labels.values()
        return only
    try:
        numbered = {int(number): label for number, label in labels.items()}
    except (TypeError, ValueError, OverflowError):
        return None
    first = min(numbered, default=0)
    wanted = range(first, first + len(labels))
    if first not in (0, 1) or sorted(numbered) != list(wanted):
        return None
    return [numbered[number] for number in wanted]
