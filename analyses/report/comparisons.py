"""Rank correlations, two systems, two label sets: what the page cannot compute by itself."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from gradelake.analyses.report.two_boards import TwoBoards
from gradelake.analyses.stats import better
from gradelake.analyses.stats.boards import Board, read_official_ranks
from gradelake.analyses.stats.correlation import agreement, shared_systems
from gradelake.analyses.stats.decisions import DecisionError, decision_errors
from gradelake.analyses.stats.ranks import rank_uncertainty
from gradelake.analyses.stats.resample import or_none
from gradelake.analyses.stats.significance import Pairs, compare_pairs
from gradelake.analyses.stats.top import Top, TopAgreement, top_agreement
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.rank_correlation import correlations, signs
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.kinds import said_p

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
MOST_SAID = 2000  # pairs of a board: of more, the file would be mostly sentences
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
    pairs_of: Callable[[Board], Pairs],
    progress: Callable,
) -> list[Decided]:
    """What is decided about each label set that has a board of the measure, against the
    reference's, or else against the official ranks. `pairs_of` is what `telling` returns."""
    board, group = None, None
    if reference:
        with suppress(BadInput):  # people's labels have no board of this measure
            board = read(reference, measure)
            pairs = pairs_of(board) if len(board.systems) > 1 else None
            group = rank_uncertainty(board, n_replicates=REPLICATES, seed=SEED, pairs=pairs).top
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
            pairs, reference_pairs = pairs_of(ours.of(shared)), pairs_of(board.of(shared))
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
    the 95% interval of `agreement`, over queries; `no_interval` says why there is none. `low_among`
    and `high_among` bound that which holds for all `n_compared` label sets at once.
    """
    if official is None and reference is None:
        return [], []
    ranks = read_official_ranks(lake, collection, official) if official else None
    pairs = [(n, m) for m in MEASURES for n in label_sets if ranks or n != reference]
    n_compared = len({name for name, _ in pairs})
    found: list[dict[str, Any]] = []
    left_out = []
    for name, measure in progress("correlating", pairs, len(pairs)):
        try:
            theirs = ranks or read(str(reference), measure)
            one = agreement(
                read(name, measure),
                theirs,
                n_replicates=REPLICATES,
                seed=SEED,
                n_compared=n_compared,
            )
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
                "no_interval": kendall.spread["queries"].no_interval,
                "n_compared": n_compared,
                "low_among": kendall.among.low,
                "high_among": kendall.among.high,
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
            known[key] = compare_pairs(board)
        return known[key]

    return told


def compare_systems(
    boards: dict[str, dict[str, Any]],
    read: Callable[[str, str], Board],
    pairs_of: Callable[[Board], Pairs],
    has_levels: list[str],
    progress: Callable,
) -> dict[str, dict[str, dict[str, Any]]]:
    """label set -> measure of `MEASURES` and `OF_ANSWERS` -> what `compare_pairs` finds at its
    usual level; and into `boards`, as `read_boards` read them, how sure the ranks there are.

    `read` gives the board of a label set and measure, or raises `BadInput` where there is none;
    `pairs_of` is what `telling` returns.

    `says` has a sentence for each pair, in the order of the pairs: (0, 1), (0, 2), ..., (1, 2),
    ...; None of more than `MOST_SAID`. In a board,
    `best` and `worst` bound each system's rank, `groups` are letters (see `rank_uncertainty`),
    `leads` says whether the best is one of several; a
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
        pairs = pairs_of(board) if len(board.systems) > 1 else None
        ranked = rank_uncertainty(board, n_replicates=REPLICATES, seed=SEED, pairs=pairs)
        by_name = {one.system: one for one in ranked.systems}
        systems = [by_name.get(system) for system in boards[name]["systems"]]
        for level, by_measure in boards[name]["boards"].items():
            if measure in by_measure and (level == board.level or measure not in has_levels):
                by_measure[measure] |= {
                    "best": [one and one.best_rank for one in systems],
                    "worst": [one and one.worst_rank for one in systems],
                    "groups": [one and one.groups for one in systems],
                    "leads": ranked.leads,
                }
        if pairs:
            found[name][measure] = {
                "level": board.level,
                "systems": board.systems,
                "says": _said(pairs) if len(pairs.first) <= MOST_SAID else None,
            }
    return found


def compare_label_sets(
    pairs: Iterable[tuple[str, str]],
    levels: dict[str, int],
    boards: dict[str, dict[str, Any]],
    scores_of: dict[str, dict[str, dict[str, Any]]],
    tau: Callable[[TwoBoards, str, str], dict[str, float | None]],
) -> dict[str, dict[str, dict[str, dict[str, Any]]]]:
    """label set -> other -> measure -> how the two boards of their usual `levels` differ.

    `tau` as `tau` finds it; `says`: who changes rank, from the one to the other and back; `far`:
    the systems that are far from their place; and what `by_query` has. `boards` are of
    `read_boards`, `scores_of` has `at_level` of each label set.
    """
    found: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
    for ours, theirs in pairs:
        for measure in sorted(scores_of[ours].keys() & scores_of[theirs].keys()):
            names = ours, theirs
            two = TwoBoards.of(measure, *((boards[name], levels[name]) for name in names))
            if not two.systems:
                continue
            known = tau(two, ours, theirs)
            says = [one.says(known) for one in (two, two.turned)]
            with_people = any(name.startswith("assessor:") for name in names)
            pair = (scores_of[name][measure] for name in names)
            by_queries = by_query(two.systems, *pair, with_tau=with_people and measure in MEASURES)
            of_other = found.setdefault(ours, {}).setdefault(theirs, {})
            of_other[measure] = known | {"says": says, "far": two.far} | by_queries
    return found


def by_query(
    systems: list[str], *boards: dict[str, Any], with_tau: bool
) -> dict[str, list[float | None]]:
    """How two boards, as `read_query_scores` has them, differ on each query by what they say of
    these systems; None where the query does not count for both.

    `uneven`: the mean distance of a system's change from the mean change: what lifts all alike
    moves nobody. `a` and `b`: the means of the systems, where a board has others, too. `taus`:
    Kendall's tau-b over the systems that answered, as in the mart `topic_agreement`.
    """
    scores = [
        np.array([board["systems"][system] for system in systems], dtype=float) for board in boards
    ]
    known = [np.maximum(values, 0) / 10_000 for values in scores]  # NaN: the query does not count
    change = known[1] - known[0]
    found = {"uneven": np.abs(change - change.mean(axis=0)).mean(axis=0)}
    if any(len(board["systems"]) > len(systems) for board in boards):
        found |= {"a": known[0].mean(axis=0), "b": known[1].mean(axis=0)}
    shown = {name: [or_none(one) for one in values.round(5)] for name, values in found.items()}
    if with_tau and len(systems) > 1:
        shown["taus"] = [
            _tau(ours[both], theirs[both]) if both.sum() > 1 else None
            for ours, theirs in zip(*(values.T for values in scores), strict=True)
            for both in [(ours >= 0) & (theirs >= 0)]
        ]
    return shown


def which_is_higher(
    label_sets: list[str], read: Callable[[str, str], Board]
) -> dict[str, dict[str, dict[str, str]]]:
    """label set -> other -> measure -> whether one scores the systems higher than the other, in a
    sentence: by the means over the systems of both boards, paired by query. There is none where
    they have no system, or no query, in common.
    """
    found: dict[str, dict[str, dict[str, str]]] = {}
    for measure in MEASURES:
        boards = {}
        for name in label_sets:
            with suppress(BadInput):  # no such measure
                boards[name] = read(name, measure)
        for one, other in combinations(boards, 2):
            if both := _means_over_systems(boards[one], boards[other]):
                (decided,) = better.decide(compare_pairs(both), ALPHA)
                said = replace(decided, is_better="scores the systems higher than").sentence
                found.setdefault(one, {}).setdefault(other, {})[measure] = f"{said}."
    return found


def _means_over_systems(ours: Board, theirs: Board) -> Board | None:
    """A board on which both label sets are systems."""
    systems = sorted(set(ours.systems) & set(theirs.systems))
    queries = [query for query in ours.queries if query in set(theirs.queries)]
    if not systems or not queries:
        return None
    rows = [[one.queries.index(query) for query in queries] for one in (ours, theirs)]
    means = [
        np.rint(one.of(systems).values[own].mean(axis=1))
        for one, own in zip((ours, theirs), rows, strict=True)
    ]
    return replace(
        ours,
        queries=tuple(queries),
        systems=(ours.label_set, theirs.label_set),
        values=np.stack(means, axis=1),
        counting=ours.counting and ours.counting.of(np.array(rows[0])),
    )


def _said(pairs: Pairs) -> list[str]:
    """What is said of each pair: who is better, also among all systems, and how much hangs on few
    queries."""
    n_systems = len(pairs.board.systems)
    told = []
    for at, decided in enumerate(better.decide(pairs, ALPHA)):
        said = f"{decided.sentence}."
        if decided.verdict == better.BETTER and n_systems > 2:
            p = pairs.p_tukey[at]
            holds = "it holds" if p <= ALPHA else "it is not shown"
            said += f" Among all {n_systems} systems {holds} ({pairs.correction}, "
            said += f"{said_p(p)})."
        if n := better.queries_of_half(pairs.units.totals[:, at]):
            said += f" {counted(n, 'queries', 'carry')} half of the difference."
        told.append(said)
    return told


def tau_of(ours: Board, theirs: Board) -> float | None:
    """Kendall's tau-b of two boards of the same systems, as in the mart `leaderboard_agreement`;
    None where it is undefined."""
    return _tau(ours.printed, theirs.printed)


def _tau(ours: np.ndarray, theirs: np.ndarray) -> float | None:
    tau = or_none(correlations(signs(ours), signs(theirs))["kendall"])
    return None if tau is None else round(tau, 3)
