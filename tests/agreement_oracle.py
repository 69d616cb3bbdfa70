"""Independent figures of agreement: scikit-learn, scipy, and plain Python."""

import warnings

import numpy as np
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import cohen_kappa_score, confusion_matrix, precision_score, recall_score

WEIGHTS = {"graded": None, "linear": "linear", "quadratic": "quadratic"}


def kappa(one: list[int], other: list[int], weights: str | None = None) -> float | None:
    """scikit-learn's, over every label from 0 to the highest; None where it is undefined."""
    with warnings.catch_warnings(action="ignore"):
        value = cohen_kappa_score(
            one, other, weights=weights, labels=range(max(*one, *other, 1) + 1)
        )
    return None if np.isnan(value) else float(value)


def classes(kind: str, labels: list[int], cut: int) -> list[int]:
    """Upper class 1, lower class 0."""
    return [int(label == cut if kind == "boxed" else label >= cut) for label in labels]


def two_by_two(one: list[int], other: list[int]) -> dict[str, float | None]:
    """What the kappa marts say of two classes beside kappa."""
    (neither, other_only), (one_only, both) = confusion_matrix(one, other, labels=[0, 1])
    with warnings.catch_warnings(action="ignore", category=UndefinedMetricWarning):
        precision = precision_score(other, one, zero_division=np.nan)
        recall = recall_score(other, one, zero_division=np.nan)
        specificity = recall_score(other, one, pos_label=0, zero_division=np.nan)
    return {
        "n_both": both,
        "n_label_only": one_only,
        "n_reference_only": other_only,
        "n_neither": neither,
        "precision": None if np.isnan(precision) else precision,
        "recall": None if np.isnan(recall) else recall,
        "specificity": None if np.isnan(specificity) else specificity,
        "prevalence_index": (both - neither) / len(one),
        "bias_index": np.mean(one) - np.mean(other),
    }


def correlations(one: list[float], other: list[float]) -> dict[str, float | None]:
    """Spearman, tau-b, tau-AP and RBO of the scores of the same systems, None where undefined."""
    if len(one) < 2 or len(set(one)) == 1 or len(set(other)) == 1:
        return dict.fromkeys(("spearman", "kendall", "tau_ap", "rbo"))
    return {
        "spearman": stats.spearmanr(one, other)[0],
        "kendall": stats.kendalltau(one, other)[0],
        "tau_ap": (tau_ap(one, other) + tau_ap(other, one)) / 2,
        "rbo": overlap(one, other),
    }


def tau_ap(one: list[float], other: list[float]) -> float:
    """tau-AP of `one` against the order of `other` (Yilmaz et al. 2008, equation 2).

    With ties as in Urbano and Marrero 2017: a system is compared with those truly above it.
    """
    shares = []
    for i, score in enumerate(other):
        above = [j for j, rival in enumerate(other) if rival > score]
        if above:
            shares.append(sum(one[j] > one[i] for j in above) / len(above))
    return 2 * float(np.mean(shares)) - 1


def overlap(one: list[float], other: list[float], p: float = 0.9) -> float:
    """RBO extrapolated (Webber et al. 2010, equation 32), walking down both lists."""
    n = len(one)
    total = p**n
    for depth in range(1, n + 1):
        tops = [
            {i for i in range(n) if sum(score > scores[i] for score in scores) < depth}
            for scores in (one, other)
        ]
        agreement = 2 * len(tops[0] & tops[1]) / (len(tops[0]) + len(tops[1]))
        total += (1 - p) * p ** (depth - 1) * agreement
    return total
