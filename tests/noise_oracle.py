"""The interval of a system's score over queries and trials, in numpy and scipy: what the mart
`leaderboard_noise` is checked against."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t


@dataclass(frozen=True)
class Noise:
    """Arrays of one value per matrix of scores."""

    score: np.ndarray
    error: np.ndarray  # standard, for other queries and other trials
    df: np.ndarray

    def interval(self) -> tuple[np.ndarray, np.ndarray]:
        """Of 95 %, for other queries and other trials."""
        half = t.ppf(0.975, np.maximum(1, np.floor(self.df))) * self.error
        return self.score - half, self.score + half


def noise(scores: np.ndarray) -> Noise:
    """`scores` are (..., queries, trials), two or more of each: Brennan, Generalizability Theory
    (2001), chapter 2; degrees of freedom by Satterthwaite, Biometrics Bulletin 2 (1946)."""
    n_queries, n_trials = scores.shape[-2:]
    mean = scores.mean((-2, -1))
    of_queries = n_trials * scores.mean(-1).var(-1, ddof=1)
    of_trials = n_queries * scores.mean(-2).var(-1, ddof=1)
    rest = scores - scores.mean(-1, keepdims=True) - scores.mean(-2, keepdims=True)
    of_rest = ((rest + mean[..., None, None]) ** 2).sum((-2, -1))
    of_rest /= (n_queries - 1) * (n_trials - 1)
    adds = of_trials > of_rest
    mean_square = np.where(adds, of_queries + of_trials - of_rest, of_queries)
    squares = of_queries**2 / (n_queries - 1) + of_trials**2 / (n_trials - 1)
    squares += of_rest**2 / ((n_queries - 1) * (n_trials - 1))
    df = np.where(adds, mean_square**2 / np.where(squares > 0, squares, 1), n_queries - 1)
    return Noise(mean, np.sqrt(mean_square / (n_queries * n_trials)), df)
