"""Whether an extracted answer is the gold answer (EXAM++, section 4.2.1).

EXAM++ is Farzi & Dietz, "EXAM++: LLM-based Answerability Metrics for IR Evaluation", LLM4Eval 2024.
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from rapidfuzz.distance import Levenshtein

# signs of a number, kept: 1.5 is not 15, -40 not 40, 3/4 not 34, 10:30 not 1030; nor is m/s ms
_NUMBERS = r"(?<=\d)[.:-](?=\d)|(?<!\w)[-.](?=\d)|(?<!\w)-(?=\.\d)|(?<=\w)/(?=\w)"
_PUNCTUATION = re.compile(rf"(?P<kept>{_NUMBERS})|[^\w\s]|_")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)(?!\d{3}(?!\d))")  # 1,5; but 1,000 is 1000
# an option's letter or number instead of an answer: "a.", "b)", "(iii)", "[D]"; a bare one may
# be an answer, such as a vitamin or a king's number
_LETTER = r"(?:[a-d]|i{1,3}|iv)"
_OPTION = re.compile(rf"[(\[]{_LETTER}[)\].:]?\.?|{_LETTER}[)\].:]\.?", re.IGNORECASE)
# what a sole gold answer of true or false accepts besides itself
_TRUE_FALSE = {
    "true": frozenset({"true", "yes", "correct"}),
    "false": frozenset({"false", "no", "incorrect", "wrong"}),
}


@cache
def stopwords() -> frozenset[str]:
    """English stopwords, in lower case and without punctuation ("don't" is "dont")."""
    text = (Path(__file__).parent / "stopwords.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The Porter stem of a lower-case word."""
    return _stemmer().stemWord(word)


@cache
def _stemmer() -> Any:
    import snowballstemmer  # most workers need none

    return snowballstemmer.stemmer("porter")


def bare(answer: str) -> str:
    """A text in lower case, without punctuation but the signs of numbers, with single spaces."""
    text = _DECIMAL_COMMA.sub(".", answer.lower().replace("\u2212", "-"))
    return " ".join(_PUNCTUATION.sub(lambda sign: sign["kept"] or "", text).split())


def normalise(answer: str) -> str:
    """A text as `bare` has it, without stopwords, each word stemmed. Empty if all words are
    stopwords."""
    words = (word for word in bare(answer).split() if word not in stopwords())
    return " ".join(stem(word) if word.isalpha() else word for word in words)


def matches(answer: str, gold_answers: Iterable[str]) -> bool:
    """Whether the answer is one of the gold answers.

    It is when the Levenshtein distance of the two normalised strings is less than 20% of the
    longer one. Where either consists of stopwords only ("The Who"), they are compared without
    punctuation but otherwise as they are. A sole gold answer "true" also accepts yes and correct;
    "false" accepts no, incorrect and wrong.
    """
    gold_answers = [gold for gold in gold_answers if gold.strip()]
    if not answer.strip():
        return False
    if len(gold_answers) == 1 and (accepted := _TRUE_FALSE.get(bare(gold_answers[0]))):
        return bare(answer) in accepted
    return any(_alike(answer, gold) for gold in gold_answers)


def _alike(answer: str, gold: str) -> bool:
    for view in (normalise, bare):
        first, second = view(answer), view(gold)
        if first and second:
            longer = max(len(first), len(second))
            # distance < longer / 5, in whole numbers
            limit = (longer - 1) // 5
            return Levenshtein.distance(first, second, score_cutoff=limit) <= limit
    return answer.strip() == gold.strip()


def is_ill_formed(answer: str) -> bool:
    """Whether this is not an answer: empty, only punctuation, or an option's letter ("(iii)")."""
    return not bare(answer) or bool(_OPTION.fullmatch(answer.strip()))
