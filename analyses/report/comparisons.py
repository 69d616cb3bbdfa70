"""Rank correlations, two systems, two label sets: what the page cannot compute by itself."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from gradelake.analyses.stats.boards import Board, read_official_ranks
from gradelake.analyses.stats.correlation import agreement, shared_systems, units_of
from gradelake.analyses.stats.decisions import DecisionError, decision_errors
from gradelake.analyses.stats.ranks import rank_uncertainty
from gradelake.analyses.stats.resample import or_none, student_reach
from gradelake.analyses.stats.significance import Pairs, compare_pairs, randomisation_test
from gradelake.analyses.stats.top import Top, TopAgreement, top_agreement
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.rank_correlation import correlations, signs
from gradelake.sql.lake.opening import Lake

REPLICATES = 2000
SEED = 1
MEASURES = ("nDCG@10", "AP", "RR")
OF_ANSWERS = (
    "StrictVital",
    "Vital",
    "Criteria",
    "SupportP",
    "SupportR",
    "WinRate",
)  # whose systems are told apart, too
ALPHA = 0.05
TOPS = (5, 10)  # people's first systems
TOLD_BY = {"p": "each pair alone", "p_tukey": "randomised Tukey HSD"}


@dataclass(frozen=True)
class Decided:
    """What a label set's board decides where people's would: `kendall` is by k of `TOPS`, `errors`
    by correction of `TOLD_BY`, then by name; none where official ranks stand for people's board."""

    at_top: TopAgreement
    kendall: dict[int, Top]
    errors: dict[str, dict[str, DecisionError]]


def decide(
    lake: Lake,
    collection: str,
    label_sets: list[str],
    reference: str | None,
    official: str | None,
    measure: str,
    read: Callable[[str, str], Board],
    told: Callable[[Board], Pairs],
    progress: Callable,
) -> list[Decided]:
    """Of each label set that has a board of the measure, against the reference's, or else against
    the official ranks. `told` is of `telling`."""
    board, group = None, None
    if reference:
        with suppress(BadInput):  # people's labels have no board of this measure
            board = read(reference, measure)
            p_tukey = told(board).p_tukey if len(board.systems) > 1 else None
            group = rank_uncertainty(board, n_replicates=REPLICATES, seed=SEED, p_tukey=p_tukey).top
    theirs = board or (read_official_ranks(lake, collection, official) if official else None)
    found: list[Decided] = []
    if theirs is None:
        return found
    for name in progress("deciding", label_sets, len(label_sets)):
        try:
            ours = read(name, measure)
            top = top_agreement(ours, theirs, TOPS, group, n_replicates=REPLICATES, seed=SEED)
        except BadInput:  # `correlate` says why
            continue
        errors: dict[str, dict[str, DecisionError]] = {}
        if board:
            shared = shared_systems([ours], board)
            pairs, reference_pairs = told(ours.of(shared)), told(board.of(shared))
            for one in decision_errors(pairs, reference_pairs, ALPHA, tuple(TOLD_BY), seed=SEED):
                errors.setdefault(TOLD_BY[one.correction], {})[one.error] = one
        kendall = {one.k: one for one in top.tops if one.statistic == "kendall"}
        found.append(Decided(top, kendall, errors))
    return found


def correlate(
    lake: Lake,
    collection: str,
    label_sets: list[str],
    reference: str | None,
    official: str | None,
    read: Callable[[str, str], Board],
    progress: Callable,
) -> tuple[list[dict[str, Any]], list[str]]:
    """(correlations of each label set by each of `MEASURES`, what could not be compared and why).

    `read` gives the board of a label set and measure. Compared with the official ranks when their
    leaderboard is named, else with the reference's board. `low` and `high` bound Kendall's tau-b:
    the 95% interval of `agreement`, over queries.
    """
    if official is None and reference is None:
        return [], []
    ranks = read_official_ranks(lake, collection, official) if official else None
    pairs = [(n, m) for m in MEASURES for n in label_sets if ranks or n != reference]
    found: list[dict[str, Any]] = []
    left_out = []
    for name, measure in progress("correlating", pairs, len(pairs)):
        try:
            theirs = ranks or read(str(reference), measure)
            one = agreement(read(name, measure), theirs, n_replicates=REPLICATES, seed=SEED)
        except BadInput as error:
            left_out.append(f"{name} by {measure}: {error.message}")
            continue
        by_name = {each.statistic: each for each in one.correlations}
        kendall = by_name["kendall"]
        found.append(
            {
                "label_set": name,
                **one.board.completeness.as_object(),
                "measure": measure,
                "level": one.board.level,
                "n_systems": len(one.systems),
                "n_queries": one.n_queries,
                "kendall": kendall.value,
                "low": kendall.spread["queries"].low,
                "high": kendall.spread["queries"].high,
                "spearman": by_name["spearman"].value,
                "tau_ap": by_name["tau_ap"].value,
                "p_value": kendall.p_value,
            }
        )
    return found, left_out


def telling() -> Callable[[Board], Pairs]:
    """`compare_pairs` of a report's boards, each compared once."""
    known: dict[tuple[Any, ...], Pairs] = {}

    def told(board: Board) -> Pairs:
        key = board.label_set, board.measure, board.level, board.systems
        if key not in known:
            known[key] = compare_pairs(board, REPLICATES, SEED)
        return known[key]

    return told


def compare_systems(
    boards: dict[str, dict[str, Any]],
    read: Callable[[str, str], Board],
    told: Callable[[Board], Pairs],
    has_levels: list[str],
    progress: Callable,
) -> dict[str, dict[str, dict[str, Any]]]:
    """label set -> measure of `MEASURES` and `OF_ANSWERS` -> what `compare_pairs` finds at its
    usual level; and into `boards`, as `read_boards` read them, how sure the ranks there are.

    `read` gives the board of a label set and measure, or raises `BadInput` where there is none;
    `told` is of `telling`.

    The p of each pair stand in the order of the pairs: (0, 1), (0, 2), ..., (1, 2), ...; `holm` is
    None where no p could be small enough for Holm's correction to find anything. In a board,
    `best` and `worst` bound each system's rank, `groups` are letters (see `rank_uncertainty`); a
    measure that knows no level has the same at every one.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in boards}
    wanted = (*MEASURES, *OF_ANSWERS)
    known = [(name, m) for name, one in boards.items() for m in wanted if m in one["measures"]]
    for name, measure in progress("comparing systems", known, len(known)):
        try:
            board = read(name, measure)
        except BadInput:  # not at its usual level
            continue
        pairs = told(board) if len(board.systems) > 1 else None
        ranked = rank_uncertainty(
            board, n_replicates=REPLICATES, seed=SEED, p_tukey=pairs.p_tukey if pairs else None
        )
        of = {one.system: one for one in ranked.systems}
        systems = [of.get(system) for system in boards[name]["systems"]]
        for level, by_measure in boards[name]["boards"].items():
            if measure in by_measure and (level == board.level or measure not in has_levels):
                by_measure[measure] |= {
                    "best": [one and one.best_rank for one in systems],
                    "worst": [one and one.worst_rank for one in systems],
                    "groups": [one and one.groups for one in systems],
                }
        if pairs:
            has_holm = pairs.least_p * len(pairs.p) < ALPHA
            found[name][measure] = {
                "level": board.level,
                "systems": board.systems,
                "is_exact": pairs.is_exact,
                "p": pairs.p.round(4).tolist(),
                "tukey": pairs.p_tukey.round(4).tolist(),
                "holm": pairs.p_holm.round(4).tolist() if has_holm else None,
            }
    return found


def compare_label_sets(
    levels: dict[str, int],
    read: Callable[[str, str], Board],
    scores_of: dict[str, dict[str, dict[str, list[int | None]]]],
) -> dict[str, Any]:
    """Kendall's tau-b of every two label sets' boards, and, with people's, query by query.

    `levels`: label set -> its usual level, at which `read` gives its board of a measure, and
    `scores_of` (label set -> measure -> system) scores, as `at_level` has them. Returns `levels`;
    `boards`: label set -> other -> measure -> tau; `queries`: the same -> one tau per query, over
    the systems that answered it; `p` and `is_exact` of `differ_by_chance`. Tau is as in the marts
    `leaderboard_agreement` and `topic_agreement`, which compute every level and measure when they
    are asked for one; None where it is undefined.
    """
    found: dict[str, Any] = {"levels": levels, "boards": {}, "queries": {}}
    found["p"], found["is_exact"] = differ_by_chance(list(levels), read)
    for (ours, theirs), measure in product(combinations(levels, 2), MEASURES):
        try:
            boards = [read(name, measure) for name in (ours, theirs)]
        except BadInput:  # no such measure
            continue
        systems = sorted(set(boards[0].systems) & set(boards[1].systems))
        if len(systems) < 2:
            continue
        tau = _tau(*(board.of(systems).printed for board in boards))
        found["boards"].setdefault(ours, {}).setdefault(theirs, {})[measure] = tau
        if not any(name.startswith("assessor:") for name in (ours, theirs)):
            continue
        scores = [
            np.array([scores_of[name][measure][system] for system in systems], dtype=float).T
            for name in (ours, theirs)
        ]
        known = [
            _tau(*(of[answered] for of in pair)) if answered.sum() > 1 else None
            for pair in zip(*scores, strict=True)
            for answered in [(pair[0] >= 0) & (pair[1] >= 0)]  # NaN: the query does not count
        ]
        found["queries"].setdefault(ours, {}).setdefault(theirs, {})[measure] = known
    return found


def differ_by_chance(
    label_sets: list[str], read: Callable[[str, str], Board]
) -> tuple[dict[str, dict[str, dict[str, float]]], dict[str, bool]]:
    """(label set -> other -> measure -> p, measure -> whether all sign patterns were tried).

    p is of `randomisation_test`: that the means over the systems of both boards, paired by query,
    differ so by chance. There is none where they have no system or query in common.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    tried: dict[str, bool] = {}
    for measure in MEASURES:
        boards = {}
        for name in label_sets:
            with suppress(BadInput):  # no such measure
                boards[name] = read(name, measure)
        queries = sorted({query for board in boards.values() for query in board.queries})
        columns = {}
        for pair in combinations(boards, 2):
            ours, theirs = (boards[name] for name in pair)
            systems = sorted(set(ours.systems) & set(theirs.systems))
            (one, has_one), (other, has_other) = (
                board.of(systems).on(queries) for board in (ours, theirs)
            )
            if systems and (has_one * has_other).any():
                # a query that one of them leaves out is 0: no sign of it changes a sum; the weights
                # of each board are 1 on average
                both = (has_one > 0) & (has_other > 0)
                alike = (has_one[both] / has_other[both])[0]
                columns[pair] = np.rint(one.sum(axis=1) - alike * other.sum(axis=1)) * both
        if not columns:
            continue
        units = units_of(boards.values(), queries)
        differences = np.zeros((units.max() + 1, len(columns)))
        np.add.at(differences, units, np.array(list(columns.values())).T)
        slack = len(queries) if any(board.counting for board in boards.values()) else 0
        p, tried[measure] = randomisation_test(differences, REPLICATES, SEED, slack)
        for (one_name, other_name), value in zip(columns, p.round(4).tolist(), strict=True):
            found.setdefault(one_name, {}).setdefault(other_name, {})[measure] = value
    return found, tried


def _tau(ours: np.ndarray, theirs: np.ndarray) -> float | None:
    tau = or_none(correlations(signs(ours), signs(theirs))["kendall"])
    return None if tau is None else round(tau, 3)


def t_quantiles(most: int) -> list[float]:
    """Student's t for a two-sided 95% interval over 2, 3, ... `most` queries."""
    return student_reach(np.arange(2, most + 1), 1 - ALPHA).round(6).tolist()
