"""Meta-evaluation as TREC AutoJudge does it: how well judges' boards agree with the truth's, by the
statistics of autojudge-evaluate, over scores as they are stored; and how well their labels do.

`stats correlation` has intervals, and works with scores as they are printed; so has `stats kappa`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradelake.analyses.choosing import highest_labels
from gradelake.analyses.stats.boards import UNIT, Board
from gradelake.analyses.stats.kappas import apart, kappa
from gradelake.analyses.stats.krippendorff_alpha import alpha
from gradelake.analyses.stats.resample import or_none
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.rank_correlation import correlations, signs, tied
from gradelake.sql.lake.opening import Lake

LEAST = 3  # systems
# how often which label meets which of the truth's; what one of both did not label has 0 there
LABELS = """
    with labels as (
        select label_set, query_id, passage_id, greatest(label, 0) as label
        from lake.marts.relevance_labels
        where collection = $collection
    ),

    truth as (from labels where label_set = $reference),

    ours as (from labels where label_set = $label_set)

    select query_id, coalesce(truth.label, 0), coalesce(ours.label, 0), count(*)
    from truth
    full join ours using (query_id, passage_id)
    where not $only_shared
        or query_id in (select query_id from truth intersect select query_id from ours)
    group by all
    order by all
"""


@dataclass(frozen=True)
class MetaEvaluation:
    """One board against the truth's; a statistic is None where all systems tie."""

    board: Board
    n_systems: int
    n_queries: int
    statistics: dict[str, float | None]


def meta_evaluation(
    board: Board, truth: Board, ks: Sequence[int] = (), only_shared: bool = False
) -> MetaEvaluation:
    """kendall (tau-b), spearman, pearson, tauap_b (tau-AP for ties) and tau_gap of the systems that
    both boards have, and kendall@k of the truth's first k, with whom ties with the k-th.

    `only_shared`: of the queries that both have; else each board is over its own. tau_gap weighs a
    pair by its difference in the truth (Gao and Oard, A head-weighted gap-sensitive correlation
    coefficient, SIGIR 2015). Raises `BadInput` for fewer than three systems, and for no query.
    """
    systems = sorted(set(board.systems) & set(truth.systems))
    if len(systems) < LEAST:
        raise BadInput(
            f"{board.label_set} and {truth.label_set} share {len(systems)} systems",
            f"A correlation is of at least {LEAST}.",
        )
    shared = sorted(set(board.queries) & set(truth.queries))
    if only_shared and not shared:
        raise BadInput(f"{board.label_set} and {truth.label_set} share no query")
    ours, theirs = (
        _means(one.of(systems), shared if only_shared else list(one.queries))
        for one in (board, truth)
    )
    found = _statistics(ours, theirs)
    for k in ks:
        top = theirs >= np.sort(theirs)[-min(k, len(systems))]
        found[f"kendall@{k}"] = _statistics(ours[top], theirs[top])["kendall"]
    n_queries = len(shared if only_shared else board.queries)
    return MetaEvaluation(board, len(systems), n_queries, found)


def _means(board: Board, queries: list[str]) -> np.ndarray:
    values, weights = board.on(queries)
    return tied(values.sum(axis=0) / weights.sum() / UNIT)


def _statistics(ours: np.ndarray, theirs: np.ndarray) -> dict[str, float | None]:
    of_ranks = correlations(signs(ours), signs(theirs))
    n_flat = [np.ptp(ours), np.ptp(theirs)].count(0)
    # of a board on which all tie: -1 where the other is the truth, 0 where it is itself
    tau_ap = [float(of_ranks["tau_ap"]), -0.5, 0.0][n_flat]
    return {
        "kendall": or_none(float(of_ranks["kendall"])),
        "spearman": or_none(float(of_ranks["spearman"])),
        "pearson": None if n_flat else float(np.corrcoef(ours, theirs)[0, 1]),
        "tauap_b": tau_ap,
        "tau_gap": _tau_gap(ours, theirs),
    }


def _tau_gap(ours: np.ndarray, theirs: np.ndarray) -> float | None:
    """Systems that tie in `ours` are ranked in their own order, which is that of their names."""
    order = np.argsort(-ours, kind="stable")
    gaps = np.triu(theirs[order][:, None] - theirs[order][None, :], 1)  # above less below
    masses = np.abs(gaps).sum(axis=0)
    shares = np.maximum(gaps, 0).sum(axis=0)[masses > 0] / masses[masses > 0]
    return float(2 * shares.mean() - 1) if shares.size else None


def label_evaluation(
    lake: Lake, collection: str, board: Board, truth: Board, only_shared: bool = False
) -> list[dict[str, Any]]:
    """How the labels behind a board agree with the truth's: a row for each query, one of the means.

    precision, recall, f1, their counts, jaccard, kappa and ari (Hubert and Arabie, Comparing
    partitions, 1985) of what is relevant at each one's level; kappa_linear and alpha (ordinal) of
    all labels where both have one scale. None where a figure is undefined, which is in no mean. No
    rows where one of them has no labels. `only_shared`: of the queries that both label.
    """
    asked = {"reference": truth.label_set, "label_set": board.label_set}
    highest = highest_labels(lake, collection)
    rows = lake.rows(LABELS, collection=collection, only_shared=only_shared, **asked)
    if not rows or not highest.keys() >= set(asked.values()):
        return []
    queries, *labels, n = zip(*rows, strict=True)
    names, place = np.unique(queries, return_inverse=True)
    scale = np.arange(1 + np.max(labels))
    counts = np.zeros((len(names), len(scale), len(scale)))
    np.add.at(counts, (place, *map(np.asarray, labels)), n)
    figures = _of_labels(counts, (truth.level, board.level), only_shared)
    if len({highest[name] for name in asked.values()}) > 1:
        figures["kappa_linear"] = figures["alpha"] = np.full(len(names), np.nan)
    table = np.array([*figures.values()]).T
    with np.errstate(invalid="ignore"):
        means = np.nansum(table, axis=0) / (~np.isnan(table)).sum(axis=0)
    about = {"label_set": board.label_set, "level": board.level, "reference_level": truth.level}
    return [
        {**about, "query_id": query}
        | {name: or_none(value) for name, value in zip(figures, values, strict=True)}
        for query, values in zip([*names.tolist(), "all"], [*table, means], strict=True)
    ]


def _of_labels(counts: np.ndarray, cuts: tuple[int, int], only_shared: bool) -> dict[str, Any]:
    """`counts`: (queries, labels of the truth, labels); `cuts`: from which on they are relevant."""
    scale = np.arange(counts.shape[-1])
    of_truth, of_ours = (np.stack([scale < cut, scale >= cut]) * 1.0 for cut in cuts)
    two = of_truth @ counts @ of_ours.T
    (_, fp), (fn, tp) = np.moveaxis(two, 0, -1)
    found, sought = tp + fp, tp + fn
    is_asked = (found > 0) & (sought > 0) if only_shared else found + sought > 0

    def pairs(n: np.ndarray) -> np.ndarray:
        return (n * (n - 1)).sum(axis=tuple(range(1, n.ndim))) / 2

    def varying(kind: str, counts: np.ndarray) -> np.ndarray:
        """Kappa, where the labels of one side at least differ."""
        distance = apart(kind, [np.arange(counts.shape[-1])] * 2, 1, 1)
        return np.where((counts > 0).sum(axis=(1, 2)) > 1, kappa(counts, distance), np.nan)

    together, of_one, of_other = pairs(two), pairs(two.sum(axis=2)), pairs(two.sum(axis=1))
    is_same = (together == of_one) & (together == of_other)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_chance = of_one * of_other / pairs(two.sum(axis=(1, 2))[:, None])
        ari = (together - by_chance) / ((of_one + of_other) / 2 - by_chance)
        return {
            "precision": np.where(is_asked, tp / np.maximum(found, 1), np.nan),
            "recall": np.where(is_asked, tp / np.maximum(sought, 1), np.nan),
            "f1": np.where(is_asked, 2 * tp / (found + sought), np.nan),
            **{"tp": tp, "fp": fp, "fn": fn},
            "jaccard": tp / (tp + fp + fn),
            "kappa": varying("graded", two),
            "kappa_linear": varying("linear", counts),
            "alpha": alpha(counts + counts.swapaxes(1, 2), scale),
            "ari": np.where(is_same, 1, ari),
        }
