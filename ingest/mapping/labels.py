"""Judgments as people write them, as whole numbers: 3, `3.0`, words by a map, fractions by cuts.

Nothing is rounded: what is neither a whole number nor settled by what settings say is refused.
"""

from collections.abc import Mapping
from typing import Any

from gradelake.ingest.reading.csv_tables import finite_number
from gradelake.sql.common.quoting import shell_word, toml_key

_FEW = 8  # words that advice names


def whole(value: Any) -> int | None:
    """A whole number, perhaps written as 3.0; None for what is none, or longer than nine digits."""
    number = finite_number(value)
    return int(number) if number is not None and number.is_integer() and abs(number) < 1e9 else None


class Scale:
    """What settings say of judgments: `labels`, a map of words; `cuts`, from where on a fraction is
    1, 2, and so on."""

    def __init__(self, said: Mapping[str, Any]):
        self._labels = {_word(word): label for word, label in (said.get("labels") or {}).items()}
        self._cuts = sorted(said.get("cuts") or ())
        self._words: dict[str, None] = {}  # that nothing is said of
        self._fractions = False

    def label_of(self, value: Any) -> int | None:
        """The label of a cell; None of an empty one. Raises `ValueError` for what is none."""
        if value is None or value == "":
            return None
        if self._labels:
            label = self._labels.get(_word(value))
            if label is None:
                self._words[str(value)] = None
                raise ValueError(f"judgment {value!r} is not in labels")
            return label
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
                "to an import: --cut 0.5."
            )
        return None


def _word(value: Any) -> str:
    """A word as it is compared; 3.0 is 3."""
    number = whole(value) if not isinstance(value, bool) else None
    return str(value if number is None else number).strip().casefold()
