"""A mean under human labels, from all of a judge's labels and a sample of the humans'.

Everything here is for many systems at once: arrays have a column per system. Intervals use
Student's t with the sample's degrees of freedom, because samples that people judge are small; the
papers use the normal distribution.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradelake.analyses.stats.resample import student_reach


@dataclass(frozen=True)
class Estimate:
    """Shapes (systems,). `tuning` is how much the judge's labels were trusted, 0 to 1."""

    value: np.ndarray
    standard_error: np.ndarray
    degrees: np.ndarray
    tuning: np.ndarray

    def times(self, factor: float) -> "Estimate":
        """The estimate of a figure `factor` times as large."""
        return replace(self, value=self.value * factor, standard_error=self.standard_error * factor)

    def only_where(self, is_enough: np.ndarray) -> "Estimate":
        """Without the intervals (NaN) of the other systems."""
        return replace(self, standard_error=np.where(is_enough, self.standard_error, np.nan))

    def interval(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        half = student_reach(self.degrees + 1, confidence) * self.standard_error
        return self.value - half, self.value + half


def classical(human: np.ndarray) -> Estimate:
    """The mean of the sampled units alone; `human`: (sampled, systems)."""
    n, n_systems = human.shape
    error = human.std(axis=0, ddof=1) / np.sqrt(n)
    return Estimate(human.mean(axis=0), error, np.full(n_systems, n - 1), np.zeros(n_systems))


def prediction_powered(
    human: np.ndarray, judge: np.ndarray, judge_elsewhere: np.ndarray
) -> Estimate:
    """PPI with power tuning, for the mean over units like these.

    `human`, `judge`: (sampled, systems), both kinds of values of the sampled units;
    `judge_elsewhere`: (others, systems), those of units that no human saw. Sources: Angelopoulos
    et al., Prediction-powered inference (Science 2023), for the estimate tuning * mean(elsewhere) +
    mean(human - tuning * judge) and its standard error; Angelopoulos, Duchi and Zrnic, PPI++
    (arXiv:2311.01453), section 6, for the tuning that makes the error least, kept within 0 and 1.
    The tuning, a slope, takes one degree of freedom (Cochran, Sampling Techniques, 1977, section
    7.4): without that, 92 % of the intervals of 10 queries held.
    """
    n, n_others = len(human), len(judge_elsewhere)
    centred = judge - judge.mean(axis=0)
    covariance = (centred * (human - human.mean(axis=0))).sum(axis=0) / (n - 1)
    variance = np.concatenate([judge, judge_elsewhere]).var(axis=0, ddof=1)
    tuning = _tuning(covariance, (1 + n / n_others) * variance)
    corrected = human - tuning * judge
    degrees = max(n - 2, 1)
    error = np.sqrt(
        tuning**2 * judge_elsewhere.var(axis=0, ddof=1 if n_others > 1 else 0) / n_others
        + corrected.var(axis=0) / degrees
    )
    value = tuning * judge_elsewhere.mean(axis=0) + corrected.mean(axis=0)
    return Estimate(value, error, np.full(human.shape[1], degrees), tuning)


@dataclass(frozen=True)
class Stratum:
    """A simple random sample of a part of the population.

    `size`: units in this part; `human`, `judge`: (sampled, systems), what each sampled unit adds
    to the total.
    """

    size: int
    human: np.ndarray
    judge: np.ndarray


def _weight(size: int, n: int) -> float:
    """What a stratum's variance counts for in that of the total; 0 where all units are judged."""
    return size**2 * (1 - n / size) / n


def stratified(strata: Sequence[Stratum], judge_total: np.ndarray | None) -> Estimate:
    """A total over a finite population, from a stratified sample without replacement.

    `judge_total`: (systems,), the judge's total over the population; None for the estimate from
    the sample alone (Horvitz and Thompson 1952). With it, the difference estimator: the judge's
    total, corrected by the sample's mean difference in each stratum, times its size. Source:
    Särndal, Swensson and Wretman, Model Assisted Survey Sampling (1992), sections 3.7 and 6.3; the
    tuning is the slope that makes the variance least (PPI++, as above), and takes a degree of
    freedom. A stratum of which all units are judged adds no variance. Raises `ValueError` for one
    with a single judged unit of several: its variance cannot be told.
    """
    n_systems = strata[0].human.shape[1]
    sampled = [stratum for stratum in strata if len(stratum.human) < stratum.size]
    covariance, variance = np.zeros((2, n_systems))
    for stratum in sampled:
        n = len(stratum.human)
        if n < 2:
            raise ValueError(f"a stratum of {stratum.size} units has {n} judged")
        weight = _weight(stratum.size, n) / (n - 1)
        centred = stratum.judge - stratum.judge.mean(axis=0)
        human = stratum.human - stratum.human.mean(axis=0)
        covariance += weight * (centred * human).sum(axis=0)
        variance += weight * (centred**2).sum(axis=0)
    if judge_total is None:
        tuning, value = np.zeros((2, n_systems))
    else:
        tuning = _tuning(covariance, variance)
        value = tuning * judge_total
    for stratum in strata:
        value = value + stratum.size * (stratum.human - tuning * stratum.judge).mean(axis=0)
    total_variance = np.zeros(n_systems)
    for stratum in sampled:
        corrected = stratum.human - tuning * stratum.judge
        weight = _weight(stratum.size, len(corrected))
        total_variance += weight * corrected.var(axis=0, ddof=1)
    within = max(sum(len(stratum.human) - 1 for stratum in strata), 1)
    degrees = within if judge_total is None else max(within - 1, 1)
    error = np.sqrt(total_variance * within / degrees)
    return Estimate(value, error, np.full(n_systems, degrees), tuning)


@dataclass(frozen=True)
class PairStratum:
    """A simple random sample of the pairs with one label.

    `size`: pairs with that label; `human`, `judge`: (sampled,), whether each holds a sampled pair
    relevant; `ranked`: (sampled, systems), whether it is in a system's top k; `n_ranked`,
    `n_judge`: (systems,), the pairs of the whole stratum that are, and how many of these the judge
    holds relevant.
    """

    size: int
    human: np.ndarray
    judge: np.ndarray
    ranked: np.ndarray
    n_ranked: np.ndarray
    n_judge: np.ndarray

    @property
    def is_whole(self) -> bool:
        return len(self.human) == self.size

    def expected(self) -> np.ndarray:
        """How many of a system's top k such a sample holds on average: (systems,)."""
        return self.n_ranked * len(self.human) / self.size

    def variance(self, tuning: np.ndarray) -> np.ndarray:
        """The variance that the stratum adds to the corrected total: (systems,).

        Of a system's top k a sample holds few pairs, and where none of these tells judge and
        people apart, their variance is 0 by chance. So two are added that people hold relevant,
        and two that they do not (Agresti and Coull, The American Statistician 52, 1998); and how
        many pairs are in the top k is known of the whole stratum, not taken from the sample.
        """
        judge_share = self.n_judge / np.maximum(self.n_ranked, 1)
        corrected = self.ranked * (self.human[:, None] - tuning * self.judge[:, None])
        n = self.ranked.sum(axis=0) + 2 * ADDED
        added = 1 - tuning * judge_share, -tuning * judge_share
        mean = (corrected.sum(axis=0) + ADDED * (added[0] + added[1])) / n
        square = ((corrected**2).sum(axis=0) + ADDED * (added[0] ** 2 + added[1] ** 2)) / n
        share = self.n_ranked / self.size
        return _weight(self.size, len(self.human)) * (share * square - (share * mean) ** 2)


ADDED = 2  # pairs of each kind
LEAST_EXPECTED = 5  # pairs of a system's top k, on average, for an interval


def expected_pairs(strata: Sequence[PairStratum]) -> np.ndarray:
    """How many pairs of each system's top k such samples hold on average; infinitely many where
    people judged all of it: (systems,)."""
    sampled = [stratum for stratum in strata if not stratum.is_whole]
    left = sum((stratum.n_ranked for stratum in sampled), np.zeros_like(strata[0].n_ranked))
    expected = sum((stratum.expected() for stratum in sampled), np.zeros(len(left)))
    return np.where(left > 0, expected, np.inf)


def relevant_pairs(strata: Sequence[PairStratum], judge_total: np.ndarray | None) -> Estimate:
    """How many pairs of each system's top k people hold relevant, from a stratified sample.

    `judge_total`: (systems,), how many the judge does; None for the estimate from the sample
    alone. The estimate is that of `stratified`; its error comes from `PairStratum.variance`, and
    its degrees of freedom from those of the strata (Satterthwaite, Biometrics Bulletin 2, 1946;
    Cochran, Sampling Techniques, 1977, section 5.4), which are one less than the sampled pairs
    among a system's top k: a stratum that has most of the variance and few of them decides. The
    error is NaN where a sample so drawn holds fewer than `LEAST_EXPECTED` of them on average: that
    is known before anybody judges, so that no lucky samples are chosen.
    """
    values = [
        Stratum(each.size, each.ranked * each.human[:, None], each.ranked * each.judge[:, None])
        for each in strata
    ]
    found = stratified(values, judge_total)
    variance, spread = np.zeros((2, len(found.value)))
    for stratum in strata:
        of_stratum = stratum.variance(found.tuning)
        variance += of_stratum
        spread += of_stratum**2 / np.maximum(stratum.ranked.sum(axis=0) - 1, 1)
    degrees = np.divide(variance**2, spread, out=np.ones_like(variance), where=spread > 0)
    found = replace(found, standard_error=np.sqrt(variance), degrees=degrees)
    return found.only_where(expected_pairs(strata) >= LEAST_EXPECTED)


SAME = 1e-9  # scores that differ by less are equal
LEAST_CARRYING = 8  # judged queries that carry a system's score, on average, for an interval
LEAST_TELLING = 5  # and those that differ from the others in what they say of the judge


def carrying_queries(judge: np.ndarray) -> np.ndarray:
    """How many queries of equal scores would have a mean as uncertain: (sum)^2 / sum of squares.

    `judge`: (queries, systems), scores of all queries by the judge's labels. Where a system scores
    on few queries, a sample of queries that has none of these looks certain. 0 where all are 0.
    """
    squares = (judge**2).sum(axis=0)
    return np.divide(judge.sum(axis=0) ** 2, squares, out=np.zeros_like(squares), where=squares > 0)


def telling_queries(human: np.ndarray, judge: np.ndarray, tuning: np.ndarray) -> np.ndarray:
    """How many judged queries have a corrected score that differs from the middle one:
    (systems,)."""
    corrected = human - tuning * judge
    return (np.abs(corrected - np.median(corrected, axis=0)) > SAME).sum(axis=0)


def _tuning(covariance: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Their ratio, within 0 and 1; 0 where the judge's values do not vary."""
    slope = np.divide(covariance, variance, out=np.zeros_like(variance), where=variance > 0)
    return np.clip(slope, 0, 1)
