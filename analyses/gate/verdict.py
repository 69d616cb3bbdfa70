"""Whether a system fell behind a baseline: the statistics of the gate."""

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from gradelake.analyses.gate.sample import TYPICAL, Difference
from gradelake.analyses.stats.boards import UNIT, Board
from gradelake.analyses.stats.resample import student_reach
from gradelake.analyses.stats.significance import holm

PASSED, FELL, CANNOT_TELL = "passed", "fell", "cannot tell"
POWER = 0.8  # how often an equal system is to pass, for the number of queries that it takes
MOST = 1_000_000  # queries: who needs more is not told how many


@dataclass(frozen=True)
class Judged:
    """One measure of a gate, on the board of the system and its baseline. `p_fell` is corrected by
    Holm for how many measures there are, of all label sets and segments.

    `queries_as_seen`: of how many queries the interval would not hold the tolerance, if mean,
    spread and skewness stayed; `queries_if_equal`: of how many an equal system passes in four of
    five cases. None: the verdict stands, or more than a million would not do.
    """

    pair: Board
    difference: Difference
    p_fell: float
    verdict: str
    queries_as_seen: int | None = None
    queries_if_equal: int | None = None


def worst(measures: Sequence[Judged]) -> str:
    """The verdict of several: all must pass."""
    found = [one.verdict for one in measures]
    return next((verdict for verdict in (FELL, CANNOT_TELL) if verdict in found), PASSED)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a system against a baseline, measure by measure."""

    measures: list[Judged]
    tolerance: float
    alpha: float
    sure: str = TYPICAL

    @property
    def verdict(self) -> str:
        return worst(self.measures)

    def deciders(self, n: int, judged: Sequence[Judged] | None = None) -> list[dict[str, Any]]:
        """The `n` queries that differ most for each measure, or for those that were `judged`, with
        scores in points, and what the verdict would be without them."""
        found = []
        for place, one in enumerate(self.measures):
            if judged is not None and not any(one is each for each in judged):
                continue
            pair, differences, counting = one.pair, one.pair.differences, one.pair.counting
            weights = counting.weights if counting else 1
            for row in np.argsort(-np.abs(weights * differences), kind="stable")[:n]:
                if differences[row] == 0:
                    break
                without = CANNOT_TELL
                if len(differences) > 1:
                    left = np.delete(np.arange(len(differences)), row)
                    rest = counting and counting.of(left)
                    others = [each.difference for each in self.measures]
                    others[place] = Difference.of(
                        differences[left], self.tolerance, self.alpha, counting=rest, sure=self.sure
                    )
                    without = _verdicts(others, self.alpha)[place][1]
                scores = (*pair.values[row, ::-1], differences[row])
                names = ("baseline", "system", "difference")
                found.append(
                    {"measure": pair.measure, "query_id": pair.queries[row]}
                    | {name: float(x) / UNIT for name, x in zip(names, scores, strict=True)}
                    | {"verdict_without": without}
                )
        return found


def judge(
    pairs: Sequence[Board],
    tolerance: float,
    alpha: float,
    same: Collection[int] = (),
    sure: str = TYPICAL,
) -> Verdict:
    """The gate's verdict on boards of a system and its baseline; `tolerance` is in points of a
    measure, `alpha` below 0.5. `same`: places of boards for which both rank the same passages in
    the same order, for every query. `sure`: as `Difference.of` has it.

    Non-inferiority by the inclusion of an interval (Wellek, Testing Statistical Hypotheses of
    Equivalence and Noninferiority, 2nd edition 2010; over topics as in Sakai, Laboratory
    Experiments in Information Retrieval, 2018), and the same test the other way round; `Difference`
    has the tests.
    With mu the mean difference, system less baseline, of all queries of this kind, a measure

    - passed, where mu <= -tolerance is rejected at alpha: the lower bound is above -tolerance;
    - fell, where mu >= -tolerance is: the upper bound is below -tolerance. A drop that is certain,
      and may be smaller than the tolerance, is none;
    - else it cannot be told; nor where one query has most of the weight. A system that ranks the
      same passages in the same order passes; one that is equal on these queries, though its
      rankings are others, may lose on queries like none of these.

    Of these queries and no others (`sure` is `FIXED`) the mean is known: what is lower by the
    tolerance or more fell, all else passed.

    The gate passed where every measure did, by every label set and on every segment: each at alpha,
    for what needs all of several tests needs no correction (Berger, Multiparameter hypothesis
    testing and acceptance sampling, Technometrics 1982). It fell where any measure did, and that
    any did by chance has several chances: these p are corrected by Holm (1979) for all of them. So
    the probability of passing a system of which a measure is lower by the tolerance or more, and of
    having any measure fall that is not, is alpha at most each: however differences are distributed
    where `sure` is `ANY`, else as far as the tests hold (tests/benchmarks/README.md has where not).
    Measures, label sets and segments need not be independent.
    """
    differences = [
        Difference.of(pair.differences, tolerance, alpha, place in same, pair.counting, sure)
        for place, pair in enumerate(pairs)
    ]
    judged = []
    for pair, found, (p_fell, verdict) in zip(
        pairs, differences, _verdicts(differences, alpha), strict=True
    ):
        needed: tuple[int | None, ...] = (None, None)
        if verdict == CANNOT_TELL:
            # where queries do not count alike, as many more as these tell less than equal ones
            more = len(pair.queries) / found.n
            needed = tuple(
                n and ceil(n * more) for n in queries_needed(found, tolerance, alpha, len(pairs))
            )
        judged.append(Judged(pair, found, p_fell, verdict, *needed))
    return Verdict(judged, tolerance, alpha, sure)


def _verdicts(differences: Sequence[Difference], alpha: float) -> list[tuple[float, str]]:
    """(p of having fallen, corrected; verdict) of each measure."""
    corrected = holm(np.array([one.p_fell for one in differences]))
    return [
        (
            float(p_fell),
            PASSED if one.p_passed <= alpha else FELL if p_fell <= alpha else CANNOT_TELL,
        )
        for one, p_fell in zip(differences, corrected, strict=True)
    ]


def queries_needed(
    found: Difference, tolerance: float, alpha: float, n_measures: int
) -> tuple[int | None, int | None]:
    """(as seen, if equal) of `Judged`, by the differences observed.

    The first is where the bound meets the tolerance; for a drop beyond it at Holm's strictest
    level. The second is where it does so still for the mean that one in five equal systems is
    below, as in the usual formula for a sample's size (Sakai 2018, chapter 6). No number of queries
    is known where one query has most of the weight.
    """
    if found.is_one:
        return None, None
    above = found.mean + tolerance

    def is_clear(n: int) -> bool:
        p_passed, p_fell = found.of_size(n).p_values(above)
        return p_passed <= alpha if above > 0 else p_fell <= alpha / n_measures

    def has_power(n: int) -> bool:
        unlucky = student_reach(n, 2 * POWER - 1) * found.spread / np.sqrt(n)
        p_passed, _ = found.of_size(n, mean=0).p_values(float(tolerance - unlucky))
        return p_passed <= alpha

    as_seen, if_equal = (
        2 + bisect_left(range(2, MOST + 1), True, key=enough) for enough in (is_clear, has_power)
    )
    return as_seen if as_seen <= MOST else None, if_equal if if_equal <= MOST else None
