"""No model: how many of the item's words, weighted by their rarity, does the passage hold?

It runs anywhere and takes no time. It is the floor that every judge with a model must beat.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import version
from typing import Any, ClassVar

from gradelake.grading.engines import Engine as Base
from gradelake.grading.engines import Response
from gradelake.grading.prompts.answers import stem
from gradelake.grading.prompts.prompt import Rendered
from gradelake.sql.common.judgment_kinds import judgment_kinds

# Zipf frequency (log10 of occurrences per billion words) of the most frequent words; a word's
# weight is how far it lies below, so that "the" weighs nothing and a word never seen weighs 8
MOST_FREQUENT = 8.0
# changes whenever the same texts would get other grades
FORMULA = "1"
MARGIN = 0.05  # of overlap, up to which two answers are equally good


class Engine(Base):
    """Grades by idf-weighted overlap.

    overlap = sum of the weights of the item's words that the passage holds / sum of the weights
    of all the item's words, in 0..1, over distinct lower-cased, Porter-stemmed words. The weight
    of a word is an inverse document frequency taken from `wordfreq`'s tables of English, not from
    the collection: a grade must not change because other passages came in.

    expected grade = scale.min + overlap * (scale.max - scale.min); the grade is the nearest whole
    one, half up.

    A battle is won by the answer that holds more of the query, and of the rubric where the prompt
    shows it, by more than `MARGIN`; where neither holds any of it, both are bad.
    """

    needs_model = False
    chunk_pairs = 4000
    targets: ClassVar[frozenset[str]] = frozenset(each.target for each in judgment_kinds().values())
    takes_windows = False
    asks_model = False

    def __init__(self, grader):
        super().__init__(grader)
        self._words = re.compile(r"\w+").findall
        self._weights = lru_cache(maxsize=20_000)(self._weigh)
        self._holds = lru_cache(maxsize=20_000)(self._stems)
        kind = grader.prompt.judgment_kind
        reads = "passage" if "passage" in grader.prompt.slots else "item"
        asks_query = kind.items == "queries" or reads == "item"
        self._asks = "query" if asks_query else "item"
        self._reads = [reads] if kind.only_with is None else [kind.only_with, reads]
        words = grader.prompt.grade_scale.words
        self._replies = list(words)
        self._word_of = {grade: word for word, grade in reversed(words.items())}
        self._grades = sorted(self._word_of)

    def _stems(self, text: str) -> frozenset[str]:
        return frozenset(map(stem, self._words(text.lower())))

    def _weigh(self, text: str) -> tuple[dict[str, float], float]:
        from wordfreq import zipf_frequency

        weights: dict[str, float] = {}
        for word in self._words(text.lower()):
            weight = max(0.0, MOST_FREQUENT - zipf_frequency(word, "en"))
            root = stem(word)
            weights[root] = max(weight, weights.get(root, 0.0))
        return weights, sum(weights.values())

    def overlap(self, asked: str, passage: str) -> float:
        """Share of the asked text's word weights that the passage holds, 0 to 1."""
        weights, total = self._weights(asked)
        if not total:
            return 0.0
        held = self._holds(passage)
        return sum(weight for root, weight in weights.items() if root in held) / total

    def score(self, prompts: Sequence[Rendered]) -> list[Response]:
        if self.grader.prompt.compares_two:
            return [Response(self._word_of[self._verdict(prompt.values)]) for prompt in prompts]
        return [
            self._answer(
                self.overlap(
                    prompt.values[self._asks],
                    "\n".join(prompt.values[slot] for slot in self._reads),
                )
            )
            for prompt in prompts
        ]

    def _verdict(self, values: Mapping[str, str]) -> int:
        """3 where the first answer wins, 0 where the second does, 2 a tie, 1 where both are bad, or
        the next that the scale has."""
        asked = f"{values['query']} {values.get('rubric', '')}"
        first, second = (self.overlap(asked, values[slot]) for slot in ("passage", "item"))
        if abs(first - second) > MARGIN:
            return 3 if first > second else 0
        even = (1, 2, 3) if first == second == 0 else (2, 1, 3)
        return next(grade for grade in even if grade in self._word_of)

    def _answer(self, overlap: float) -> Response:
        """The grade nearest to the expected one, and the expected one as two probabilities."""
        expected = self._grades[0] + overlap * (self._grades[-1] - self._grades[0])
        above = min(bisect_right(self._grades, expected), len(self._grades) - 1)
        lower, upper = self._grades[above - 1], self._grades[above]
        share = (expected - lower) / (upper - lower)
        probability = {self._word_of[lower]: 1 - share, self._word_of[upper]: share}
        return Response(
            self._word_of[upper if share >= 0.5 else lower],
            probabilities=[probability.get(word, 0.0) for word in self._replies],
        )

    @classmethod
    def revision(cls, model: str, settings: Mapping[str, Any]) -> str:
        return f"{FORMULA}, wordfreq {version('wordfreq')}"
