"""Meta-evaluation as TREC AutoJudge does it: how well judges' boards agree with the truth's, by the
statistics of autojudge-evaluate, over scores as they are stored.

`stats correlation` has intervals, and works with scores as they are printed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradelake.analyses.stats.answers import rounded
from gradelake.analyses.stats.boards import UNIT, Board
from gradelake.analyses.stats.resample import or_none
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.rank_correlation import correlations, signs

LEAST = 3  # systems


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
    return values.sum(axis=0) / weights.sum() / UNIT


def _statistics(ours: np.ndarray, theirs: np.ndarray) -> dict[str, float | None]:
    of_ranks = correlations(signs(ours), signs(theirs))
    is_flat = min(np.ptp(ours), np.ptp(theirs)) == 0
    return {
        "kendall": or_none(float(of_ranks["kendall"])),
        "spearman": or_none(float(of_ranks["spearman"])),
        "pearson": None if is_flat else float(np.corrcoef(ours, theirs)[0, 1]),
        "tauap_b": or_none(float(of_ranks["tau_ap"])),
        "tau_gap": _tau_gap(ours, theirs),
    }


def _tau_gap(ours: np.ndarray, theirs: np.ndarray) -> float | None:
    """Systems that tie in `ours` are ranked in their own order, which is that of their names."""
    order = np.argsort(-ours, kind="stable")
    gaps = np.triu(theirs[order][:, None] - theirs[order][None, :], 1)  # above less below
    masses = np.abs(gaps).sum(axis=0)
    shares = np.maximum(gaps, 0).sum(axis=0)[masses > 0] / masses[masses > 0]
    return float(2 * shares.mean() - 1) if shares.size else None


@dataclass(frozen=True)
class MetaEvaluations:
    """What `stats meta` answers."""

    about: dict[str, Any]
    found: list[MetaEvaluation]

    def as_object(self) -> dict[str, Any]:
        rows = [
            {
                "label_set": one.board.label_set,
                "measure": one.board.measure,
                "level": one.board.level,
                "n_systems": one.n_systems,
                "n_queries": one.n_queries,
                **one.board.completeness.as_object(),
                **one.statistics,
            }
            for one in self.found
        ]
        return self.about | {"rows": rows}

    def show(self) -> None:
        heads = ["label set", "measure", "level", "systems", "queries", *self.found[0].statistics]
        console.print_table(
            heads,
            [
                [
                    one.board.label_set + one.board.completeness.mark,
                    one.board.measure,
                    one.board.level,
                    one.n_systems,
                    one.n_queries,
                    *map(rounded, one.statistics.values()),
                ]
                for one in self.found
            ],
        )
