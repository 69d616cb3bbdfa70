"""Judgments as people write them, as whole numbers: 3, `3.0`, words by a map, fractions by cuts.

Nothing is rounded: what is neither a whole number nor settled by what settings say is refused.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from gradelake.ingest.mapping.numbers import decimal_mark, number_of
from gradelake.ingest.reading.csv_tables import finite_number
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.quoting import shell_word, toml_key

_FEW = 8  # words that advice names
_MOST = 12  # different words that a map is proposed of
_LEVELS = (  # words that people grade with, from bad to good
    "no|false|none|bad|poor|irrelevant|not relevant|non-relevant|nonrelevant|off-topic"
    "|nein|falsch|schlecht|nicht relevant|non|faux|pas pertinent|non pertinent",
    "fair|partial|partly|partly relevant|partially relevant|somewhat relevant|slightly relevant"
    "|marginal|marginally relevant|related|complement"
    "|teilweise relevant|etwas relevant|partiellement pertinent|peu pertinent",
    "yes|true|good|relevant|substitute|ja|wahr|gut|oui|vrai|bon|pertinent",
    "highly relevant|very relevant|very good|sehr relevant|hoch relevant|sehr gut|très pertinent",
    "perfect|perfectly relevant|excellent|exact|ideal|perfekt|parfait",
)
_LEVEL = {word: level for level, words in enumerate(_LEVELS) for word in words.split("|")}
_NUMBERED = re.compile(r"\d\s*[-:=.)(].*")  # 2 - relevant
# what people write where they did not judge
_NOT_JUDGED = frozenset(
    [
        "n/a",
        "na",
        "n.a.",
        "k.a.",
        "-",
        "\N{EN DASH}",
        "\N{EM DASH}",
        "?",
        "nan",
        "null",
        "tbd",
        "unrated",
        "unjudged",
        "skipped",
        "not rated",
        "not judged",
        "nicht bewertet",
    ]
)
_QUARTERS = (0.25, 0.5, 0.75)


def whole(value: Any) -> int | None:
    """A whole number, perhaps written as 3.0; None for what is none, or longer than nine digits."""
    number = finite_number(value)
    return int(number) if number is not None and number.is_integer() and abs(number) < 1e9 else None


def is_open(value: Any) -> bool:
    """Whether a cell says that nothing was judged."""
    return value in (None, "", []) or str(value).strip().casefold() in _NOT_JUDGED


class Scale:
    """What settings say of judgments: `labels`, a map of words; `cuts`, from where on a fraction is
    1, 2, and so on; `gains`, whether nDCG gains the fraction itself. Raises `BadInput` for
    gains without cuts."""

    def __init__(self, settings: Mapping[str, Any]):
        self.has_gains = settings.get("gains", False)
        if self.has_gains and not settings.get("cuts"):
            what = "gains = true: other measures than nDCG need labels"
            raise BadInput(what, "Say from where on a fraction is 1, 2, ...: cuts = [0.5].")
        self._labels = {
            _word(word): label for word, label in (settings.get("labels") or {}).items()
        }
        self._cuts = sorted(settings.get("cuts") or ())
        self._words: dict[str, None] = {}  # that nothing is said of
        self._fractions = False

    def label_of(self, value: Any) -> int | None:
        """The label of a cell; None of an empty one. Raises `ValueError` for what is none."""
        if value is None or value == "":
            return None
        if self._labels:
            label = self._labels.get(_word(value))
            if label is None and is_open(value):
                return None
            if label is None:
                self._words[str(value)] = None
                raise ValueError(f"judgment {value!r} is not in labels")
            return label
        if is_open(value):
            return None
        number = finite_number(value)
        if self._cuts and number is not None:
            return sum(number >= cut for cut in self._cuts)
        label = whole(value)
        if label is None:
            self._fractions = self._fractions or number is not None
            if number is None:
                self._words[str(value)] = None
            raise ValueError(f"judgment {value!r} is not a whole number")
        return label

    def gain_of(self, value: Any) -> float | None:
        """What nDCG gains of a cell, where that is not its label. Raises `ValueError` below 0."""
        gain = None if not self.has_gains or is_open(value) else finite_number(value)
        if gain is not None and gain < 0:
            raise ValueError(f"judgment {value!r} is below 0, and no gain")
        return gain

    def advice(self) -> str | None:
        """What to say of the words and fractions that nothing was said of."""
        if self._words and not self._cuts:
            few = [*self._words][:_FEW]
            named = ", ".join(f"{toml_key(word)} = ..." for word in few)
            option = f"--label {shell_word(f'{few[0]}=...')}"
            return f"Say what words mean: labels = {{ {named} }}, or to an import: {option}."
        if self._fractions:
            return (
                "Nothing is rounded. Say from where on a fraction is 1, 2, ...: cuts = [0.5], or "
                "to an import: --cut 0.5. With gains = true beside it nDCG gains the fraction."
            )
        return None


def _word(value: Any) -> str:
    """A word as it is compared; 3.0 is 3."""
    number = whole(value) if not isinstance(value, bool) else None
    return str(value if number is None else number).strip().casefold()


def proposed(held: Iterable[Any]) -> dict[str, Any] | None:
    """What settings would say of judgments such as these: nothing of whole numbers, a map of words,
    cuts of fractions. None where nobody can tell."""
    values = [value for value in held if not is_open(value)]
    texts = [str(value).strip() for value in values]
    try:
        mark = decimal_mark(texts)
    except ValueError:
        return None
    truths = any(isinstance(value, bool) for value in values)
    numbers = [None if truths else number_of(text, mark) for text in texts]
    found = [number for number in numbers if number is not None]
    if found and len(found) < len(texts):
        return None
    if all(number.is_integer() and abs(number) < 1e9 for number in found) and not truths:
        return {} if found else _map_of(texts)
    if found:
        return {"cuts": [*_QUARTERS]} if all(0 <= number <= 1 for number in found) else None
    return _map_of(texts)


def _map_of(texts: Iterable[str]) -> dict[str, Any] | None:
    """A map of words: those that begin with a number are that, others are counted from bad to good;
    the worst is 0 where it is one of those that mean it."""
    words = {text.casefold(): text for text in texts}
    if not words or len(words) > _MOST:
        return None
    if all(map(_NUMBERED.fullmatch, words)):
        labels = {text: int(text[0]) for text in words.values()}
    elif words.keys() <= _LEVEL.keys():
        levels = sorted({_LEVEL[word] for word in words})
        first = min(levels[0], 1)
        labels = {text: levels.index(_LEVEL[word]) + first for word, text in words.items()}
    else:
        return None
    return {"labels": dict(sorted(labels.items(), key=lambda each: -each[1]))}
