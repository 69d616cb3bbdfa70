"""A mean under human labels, from all of a judge's labels and a sample of the humans'.

Everything here is for many systems at once: arrays have a column per system. Intervals use
Student's t with the sample's degrees of freedom, because samples that people judge are small; the
papers use the normal distribution.
"""

from dataclasses import dataclass

import numpy as np

from gradelake.analyses.stats.resample import student_reach


@dataclass(frozen=True)
class Estimate:
    """Shapes (systems,). `tuning` is how much the judge's labels were trusted, 0 to 1."""

    value: np.ndarray
    standard_error: np.ndarray
    degrees: np.ndarray
    tuning: np.ndarray

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
    """
    n, n_others = len(human), len(judge_elsewhere)
    centred = judge - judge.mean(axis=0)
    covariance = (centred * (human - human.mean(axis=0))).sum(axis=0) / (n - 1)
    variance = np.concatenate([judge, judge_elsewhere]).var(axis=0, ddof=1)
    tuning = _tuning(covariance, (1 + n / n_others) * variance)
    corrected = human - tuning * judge
    error = np.sqrt(
        tuning**2 * judge_elsewhere.var(axis=0, ddof=1 if n_others > 1 else 0) / n_others
        + corrected.var(axis=0, ddof=1) / n
    )
    value = tuning * judge_elsewhere.mean(axis=0) + corrected.mean(axis=0)
    return Estimate(value, error, np.full(human.shape[1], n - 1), tuning)


@dataclass(frozen=True)
class Stratum:
    """A simple random sample of a part of the population.

    `size`: units in this part; `human`, `judge`: (sampled, systems), what each sampled unit adds
    to the total.
    """

    size: int
    human: np.ndarray
    judge: np.ndarray


def stratified(strata: list[Stratum], judge_total: np.ndarray | None) -> Estimate:
    """A total over a finite population, from a stratified sample without replacement.

    `judge_total`: (systems,), the judge's total over the population; None for the estimate from
    the sample alone (Horvitz and Thompson 1952). With it, the difference estimator: the judge's
    total, corrected by the sample's mean difference in each stratum, times its size. Source:
    Särndal, Swensson and Wretman, Model Assisted Survey Sampling (1992), sections 3.7 and 6.3; the
    tuning is the slope that makes the variance least (PPI++, as above). A stratum of which all
    units are judged adds no variance. Raises `ValueError` for one with a single judged unit of
    several: its variance cannot be told.
    """
    n_systems = strata[0].human.shape[1]
    weights, covariance, variance = [], np.zeros(n_systems), np.zeros(n_systems)
    for stratum in strata:
        n = len(stratum.human)
        if n == stratum.size:
            weights.append(0.0)
            continue
        if n < 2:
            raise ValueError(f"a stratum of {stratum.size} units has {n} judged")
        weights.append(stratum.size**2 * (1 - n / stratum.size) / n)
        centred = stratum.judge - stratum.judge.mean(axis=0)
        human = stratum.human - stratum.human.mean(axis=0)
        covariance += weights[-1] * (centred * human).sum(axis=0) / (n - 1)
        variance += weights[-1] * (centred**2).sum(axis=0) / (n - 1)
    if judge_total is None:
        tuning, value = np.zeros(n_systems), np.zeros(n_systems)
    else:
        tuning = _tuning(covariance, variance)
        value = tuning * judge_total
    total_variance = np.zeros(n_systems)
    for stratum, weight in zip(strata, weights, strict=True):
        corrected = stratum.human - tuning * stratum.judge
        value = value + stratum.size * corrected.mean(axis=0)
        if weight:
            total_variance += weight * corrected.var(axis=0, ddof=1)
    degrees = sum(len(stratum.human) for stratum in strata) - len(strata)
    return Estimate(value, np.sqrt(total_variance), np.full(n_systems, max(degrees, 1)), tuning)


def _tuning(covariance: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Their ratio, within 0 and 1; 0 where the judge's values do not vary."""
    slope = np.divide(covariance, variance, out=np.zeros_like(variance), where=variance > 0)
    return np.clip(slope, 0, 1)
