"""The words a judge may answer with, and the grade each stands for."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True)
class Scale:
    """What a judge may write, lowest grade first: `{"0": 0, ..., "5": 5}` or `{"No": 0, "Yes": 1}`.

    Several words may stand for one grade.
    """

    words: Mapping[str, int]

    @classmethod
    def parse(cls, value: Any) -> "Scale":
        """Read `0-5`, or a mapping from words to grades. Raises `ValueError` saying what is wrong.

        Grades are whole numbers of one digit.
        """
        wrong = f"{value!r} is not a scale; write it as 0-5, or as {{No: 0, Yes: 1}}"
        if isinstance(value, str):
            ends = re.fullmatch(r"([0-9])\s*-\s*([0-9])", value.strip())
            if not ends or int(ends[1]) >= int(ends[2]):
                raise ValueError(wrong)
            return cls({str(grade): grade for grade in range(int(ends[1]), int(ends[2]) + 1)})
        if not isinstance(value, Mapping) or not value:
            raise ValueError(wrong)
        for word, grade in value.items():
            if isinstance(grade, bool) or not isinstance(grade, int) or not 0 <= grade <= 9:
                raise ValueError(f"the grade of {word!r} is {grade!r}, not a whole number 0 to 9")
            if not isinstance(word, str) or not word.strip():
                raise ValueError(f"{word!r} is not a word; put it in quotes")
        if len(set(value.values())) < 2:
            raise ValueError("a scale has at least two grades")
        folded = [word.strip().casefold() for word in value]
        if len(set(folded)) < len(folded):
            raise ValueError("two words of the scale differ only in case")
        return cls({word.strip(): value[word] for word in sorted(value, key=value.__getitem__)})

    @cached_property
    def min(self) -> int:
        return min(self.words.values())

    @cached_property
    def max(self) -> int:
        return max(self.words.values())

    @cached_property
    def is_numeric(self) -> bool:
        """Whether the words are the grades themselves."""
        return all(word == str(grade) for word, grade in self.words.items())

    @cached_property
    def lookup(self) -> Mapping[str, int]:
        """Grades by word as written, and by word in lower case (`str.casefold`)."""
        folded = {word.casefold(): grade for word, grade in self.words.items()}
        return folded | dict(self.words)

    def grade_of(self, word: str) -> int | None:
        """The grade of a word, whatever its case; None when it is not on the scale."""
        return self.lookup.get(word.strip().casefold())

    def meant(self, word: str) -> int | None:
        """The grade as `grade_of` reads it; numbers also as `four` and `4.0`."""
        grade = self.grade_of(word)
        if grade is None and self.is_numeric:
            folded = word.casefold()
            if folded in NUMBERS:
                return self.lookup.get(str(NUMBERS.index(folded)))
            whole, point, rest = word.replace(",", ".").partition(".")
            if point and rest in ("0", "00"):
                return self.lookup.get(whole)
        return grade

    def word_of(self, text: str) -> str | None:
        """A word as the scale spells it, whatever its case; None when it is not on the scale."""
        folded = text.strip().casefold()
        return next((word for word in self.words if word.casefold() == folded), None)

    def __str__(self) -> str:
        if self.is_numeric:
            return f"{self.min}-{self.max}"
        return ", ".join(f"{word} = {grade}" for word, grade in self.words.items())
