"""Spearman's rho, Kendall's tau-b, tau-AP and RBO of many pairs of rankings at once.

The same figures as leaderboard_correlation has (dbt_project/macros/rank_correlations.sql). All but
RBO are sums over pairs of systems, so each needs only the sign of every difference. A system that a
bootstrap drew m times counts as m systems that tie with each other.
"""

import numpy as np

STATISTICS = ("spearman", "kendall", "tau_ap")
PERSISTENCE = 0.9  # of RBO
TIE = 1e-9  # means that are no further apart tie: what they are of is stored with 10 decimals


def tied(means: np.ndarray) -> np.ndarray:
    """Means of stored values, (systems,), with those that tie made equal: three thirds, rounded,
    are a little less than 1. Of a chain of ties all get the lowest."""
    order = np.argsort(means)
    begins = np.diff(means[order], prepend=-np.inf) > TIE
    settled = np.empty_like(means)
    settled[order] = means[order][begins][np.cumsum(begins) - 1]
    return settled


def signs(scores: np.ndarray) -> np.ndarray:
    """Who beats whom: 1 where the row's score is higher than the column's, -1 lower, 0 equal.

    (..., systems) -> (..., systems, systems), float32.
    """
    return np.sign(scores[..., :, None] - scores[..., None, :]).astype(np.float32)


def correlations(
    predicted: np.ndarray, official: np.ndarray, times: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """The correlations of two rankings given as `signs`; NaN where one is undefined.

    `predicted` and `official`: (systems, systems) or (replicates, systems, systems). `times`:
    (replicates, systems), how often each system counts. Returns statistic -> (replicates,), or a
    number each when there are no replicates.

    - spearman: Pearson's correlation of ranks, tied systems sharing the average rank. A rank less
      the mean rank is half the sum of the system's signs.
    - kendall: tau-b, Kendall, The treatment of ties in ranking problems (Biometrika 1945).
    - tau_ap: Yilmaz, Aslam and Robertson, A new rank correlation coefficient for information
      retrieval (SIGIR 2008): how many of those above a system in one ranking are above it in the
      other too; in the symmetric form that allows for ties, tau-AP,b of Urbano and Marrero, The
      treatment of ties in AP correlation (ICTIR 2017).
    """
    if times is None:
        times = np.ones(predicted.shape[-1])
    predicted_won, official_won = _weighted(predicted, times), _weighted(official, times)
    predicted_untied = _weighted(np.abs(predicted), times)
    official_untied = _weighted(np.abs(official), times)
    concordance = _weighted(predicted * official, times)
    above_in_both = _weighted(((predicted < 0) & (official < 0)).astype(np.float32), times)

    def total(values: np.ndarray) -> np.ndarray:
        return (times * values).sum(axis=-1)

    def mean_share(won: np.ndarray, untied: np.ndarray) -> np.ndarray:
        above = (untied - won) / 2
        share = np.divide(
            above_in_both, above, out=np.zeros_like(above_in_both + above), where=above > 0
        )
        return total(share) / total(above > 0)

    with np.errstate(divide="ignore", invalid="ignore"):
        spearman = total(predicted_won * official_won) / np.sqrt(
            total(predicted_won**2) * total(official_won**2)
        )
        kendall = total(concordance) / np.sqrt(total(predicted_untied) * total(official_untied))
        tau_ap = (
            mean_share(predicted_won, predicted_untied)
            + mean_share(official_won, official_untied)
            - 1
        )
    return {"spearman": spearman, "kendall": kendall, "tau_ap": tau_ap}


def overlap(predicted: np.ndarray, official: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Rank-biased overlap, extrapolated, of two rankings given as `signs`: (replicates,), or a
    number. `among`: (..., systems), 1 for those that are ranked, 0 for others.

    Webber, Moffat and Zobel, A similarity measure for indefinite rankings (TOIS 2010), equation 32;
    tied systems enter at the same depth (section 5.4).
    """
    ranks = [
        np.where(among > 0, 1 + _weighted((of < 0).astype(np.float32), among), np.inf)
        for of in (predicted, official)
    ]
    n = among.sum(axis=-1)
    total = PERSISTENCE**n
    for depth in range(1, int(n.max()) + 1):
        one, other = (rank <= depth for rank in ranks)
        shared = 2 * (one & other).sum(axis=-1) / (one.sum(axis=-1) + other.sum(axis=-1))
        total = total + np.where(
            depth <= n, (1 - PERSISTENCE) * PERSISTENCE ** (depth - 1) * shared, 0
        )
    return total


def _weighted(matrices: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Row sums, each column counted `times`; whole numbers, exact in float32 up to 16 million."""
    summed = np.matmul(matrices, times.astype(np.float32)[..., None])[..., 0]
    return summed.astype(np.float64)
