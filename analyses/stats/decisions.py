"""Decision errors: what would go wrong where a judge says which of two systems is better.

There is no mart of them: whether a pair differs is a randomisation test, or the randomised Tukey
HSD, which SQL cannot draw, and a t-test in SQL would be another answer to the same question.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradelake.analyses.stats.boards import Board
from gradelake.analyses.stats.correlation import in_units, settled, units_of
from gradelake.analyses.stats.counting import Units
from gradelake.analyses.stats.resample import Spread, in_blocks, or_none, resampled
from gradelake.analyses.stats.significance import (
    CORRECTIONS,
    Pairs,
    benjamini_hochberg,
    differences_of,
    holm,
    shuffled_ranges,
)

REPLICATES = 1000  # enough for a standard error
LEAST = 10  # pairs: a share of fewer has no interval that holds what it says
ERRORS = {  # what is counted -> of which pairs
    "reversed": "judge",
    "wrong_sign": "judge",
    "untold": "judge",
    "missed": "people",
    "contradicted": "people",
}
_ADJUSTED = {"p_holm": holm, "p_bh": benjamini_hochberg}
Calls = dict[str, np.ndarray]


@dataclass(frozen=True)
class DecisionError:
    """A share of the pairs that the judge, or people, call different; None where there are none.

    - reversed: of the judge's, those that people call different the other way round
    - wrong_sign: of the judge's, those of which people score the other system higher, surely or not
    - untold: of the judge's, those that people cannot tell apart
    - missed: of people's, those that the judge cannot tell apart
    - contradicted: of people's, those that the judge calls different the other way round
    """

    correction: str
    error: str
    n_errors: int
    n_pairs: int
    share: float | None
    spread: Spread


def decision_errors(
    pairs: Pairs,
    reference: Pairs,
    alpha: float,
    corrections: Sequence[str] = CORRECTIONS,
    *,
    n_replicates: int = REPLICATES,
    seed: int = 1,
    confidence: float = 0.95,
) -> list[DecisionError]:
    """Each of `ERRORS` by each of the corrections, with intervals over queries: pairs that share a
    system are not independent. Both must be over the same systems in the same order.

    An interval is for the mean share of boards of as many queries (see `agreement`): Student's,
    around the point, on the scale of the share's angle, with the standard error of resampled
    queries of boards that are `settled`. Each replicate is tested anew, but without permutations,
    which would take hours: pairs by Student's t, and Tukey's by the least significant range of the
    board, scaled as the spread within queries is. There is none of fewer than `LEAST` pairs, nor
    where all replicates have the same share, such as 0: what is that rare no resampling shows.
    """
    boards = pairs.board, reference.board
    queries = sorted({query for board in boards for query in board.queries})
    units = units_of(boards, queries)
    n_units = int(units.max()) + 1
    summed = settled([in_units(board, queries, units) for board in boards])
    retests = [
        _retest(one, board, pairs, alpha, corrections, seed)
        for one, board in zip(summed, boards, strict=True)
    ]

    def replicates(generator: np.random.Generator, n: int) -> dict:
        times = resampled(generator, n, n_units)
        ours, theirs = (retest(times) for retest in retests)
        return {key: share for key, (_, _, share) in _shares(ours, theirs).items()}

    found = _shares(*(_calls(one, alpha, corrections) for one in (pairs, reference)))
    drawn = in_blocks(replicates, n_replicates, seed, max(n_units, len(pairs.first) * 8))
    n_drawn = min([n_units, *(board.units.n_effective for board in boards if board.counting)])
    errors = []
    for (correction, error), (n_errors, n_pairs, share) in found.items():
        # twice the angle of a share is that of 1 - 2 share
        spread = Spread.around(
            1 - 2 * float(share),
            1 - 2 * drawn[correction, error],
            n_drawn,
            confidence,
            is_correlation=True,
        )
        if spread.low is not None and n_pairs < LEAST:
            spread = spread.without(f"fewer than {LEAST} pairs")
        if spread.low is not None and spread.high is not None:
            spread = replace(spread, low=(1 - spread.high) / 2, high=(1 - spread.low) / 2)
        if spread.standard_error is not None:
            spread = replace(spread, standard_error=spread.standard_error / 2)
        counts = int(n_errors), int(n_pairs)
        errors.append(DecisionError(correction, error, *counts, or_none(share), spread))
    return errors


def _calls(pairs: Pairs, alpha: float, corrections: Sequence[str]) -> Calls:
    """correction -> who is called better of each pair, as `significant` says it, and who is."""
    calls = {correction: pairs.significant(correction, alpha) for correction in corrections}
    return calls | {"sign": np.sign(pairs.difference)}


def _retest(
    units: Units, board: Board, pairs: Pairs, alpha: float, corrections: Sequence[str], seed: int
) -> Callable[[np.ndarray], Calls]:
    """How often each unit counts, (replicates, units) -> what `_calls` would say of such boards."""
    from scipy.special import stdtr, stdtrit

    differences = differences_of(units, pairs.first, pairs.second)
    totals, sizes = differences.totals, units.sizes
    squares, crossed = totals**2, totals * sizes[:, None]
    freedom = max(board.units.n_effective - 1, 1)
    least_t = stdtrit(freedom, 1 - alpha / 2)
    spread = units.totals.var(axis=1)
    ranges = shuffled_ranges(board.units.totals, REPLICATES, seed)
    least = np.quantile(ranges, 1 - alpha) / np.sqrt(board.units.totals.var(axis=1).sum() or 1)

    adjusted = {name: adjust for name, adjust in _ADJUSTED.items() if name in corrections}

    def retest(times: np.ndarray) -> Calls:
        sums, size = times @ totals, (times @ sizes)[:, None]
        mean = sums / np.where(size > 0, size, 1)
        n = (times @ (sizes > 0))[:, None]
        # of each unit's residual, its total less its size times the mean
        residual = times @ squares - 2 * mean * (times @ crossed)
        residual += mean**2 * (times @ sizes**2)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(sums) / np.sqrt(np.maximum(residual, 0) * n / (n - 1))
        sign = np.sign(sums)
        reached = np.abs(sums) >= least * np.sqrt(times @ spread)[:, None]
        calls = {"sign": sign, "p": sign * (t >= least_t), "p_tukey": sign * reached}
        if adjusted:  # what takes longest
            # of one unit nothing is known
            p = np.where((sums == 0) | np.isnan(t), 1, 2 * stdtr(freedom, -t))
            calls |= {name: sign * (adjust(p) <= alpha) for name, adjust in adjusted.items()}
        return calls

    return retest


def _shares(ours: Calls, theirs: Calls) -> dict[tuple[str, str], tuple[np.ndarray, ...]]:
    """(correction, error) -> (errors, pairs, their share, NaN where there are no pairs)."""
    found: dict[tuple[str, str], tuple[np.ndarray, ...]] = {}
    for correction in [name for name in ours if name != "sign"]:
        called, known = ours[correction], theirs[correction]
        counted = {
            "reversed": called * known < 0,
            "wrong_sign": called * theirs["sign"] < 0,
            "untold": (called != 0) & (known == 0),
            "missed": (called == 0) & (known != 0),
            "contradicted": called * known < 0,
        }
        counts = {"judge": (called != 0).sum(axis=-1), "people": (known != 0).sum(axis=-1)}
        for error, whose in ERRORS.items():
            n_errors, n_pairs = counted[error].sum(axis=-1), counts[whose]
            share = np.where(n_pairs > 0, n_errors / np.maximum(n_pairs, 1), np.nan)
            found[correction, error] = n_errors, n_pairs, share
    return found
