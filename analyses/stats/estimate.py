"""The leaderboard under human labels, from a judge's labels and what people said of a sample."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from gradelake.analyses.choosing import min_relevant
from gradelake.analyses.qrels_export import require_label_set
from gradelake.analyses.stats.boards import UNIT, default_level, read_board, require_even
from gradelake.analyses.stats.judged_sample import JudgedSample, read_judged_sample
from gradelake.analyses.stats.prediction_powered import (
    Estimate,
    Stratum,
    classical,
    prediction_powered,
    stratified,
)
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.sampling import PAIRS

# judged pairs in a system's top k, and those of them that show a variance, for an interval
LEAST_RANKED, LEAST_TELLING = 20, 5
TOP = """
    select system, query_id, passage_id
    from lake.intermediate.int_ranked_entries
    where
        collection = $collection
        and rank <= $k
        and query_id in (
            select query_id from lake.marts.relevance_labels
            where collection = $collection and label_set = $label_set
        )
"""


@dataclass(frozen=True)
class HumanBoard:
    """Estimates of each system's mean under human labels; arrays have shape (systems,).

    `judge`: the mean under the judge's labels alone; `powered`: from both; `sample_only`: from the
    judged sample alone. `notes` are what a reader of the figures should know.
    """

    sample: JudgedSample
    level: int
    assessor_level: int
    systems: tuple[str, ...]
    judge: np.ndarray
    powered: Estimate
    sample_only: Estimate
    n_judged: int
    n_population: int
    notes: list[str] = field(default_factory=list)

    def width_ratio(self) -> np.ndarray:
        """Width of the interval from both, over that from the sample alone; NaN for 0 / 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.powered.standard_error / self.sample_only.standard_error


class _Asked(NamedTuple):
    """Whose board, from which sample, at which levels."""

    lake: Lake
    collection: str
    label_set: str
    judged: JudgedSample
    level: int
    assessor_level: int


def estimate_board(
    lake: Lake,
    collection: str,
    label_set: str,
    assessors: Sequence[str],
    measure: str,
    *,
    level: int | None = None,
    assessor_level: int | None = None,
    sample: str | None = None,
    these_queries: bool = False,
) -> HumanBoard:
    """Estimate a leaderboard under the assessors' labels from a sample that they judged.

    A sample of whole queries serves any measure; its intervals are for queries like these, or,
    with `these_queries`, for the mean over exactly the label set's queries. A sample of pairs
    serves measures that are sums over labels, P@k, over exactly the label set's queries. Raises
    `BadInput` for names that are not there, a sample that does not serve the measure, and too few
    judgments.
    """
    require_label_set(lake, collection, label_set)
    if label_set.startswith("hybrid:"):
        raise BadInput(
            f"{label_set} holds people's own judgments: on the sample it makes no errors",
            "Name the judge's label set, whose errors elsewhere the sample tells.",
        )
    require_even(lake, collection, "an estimate from a sample")
    judged = read_judged_sample(lake, collection, assessors, sample)
    level = default_level(lake, collection, label_set) if level is None else level
    if assessor_level is None:
        assessor_level = min_relevant(lake, collection)
    asked = _Asked(lake, collection, label_set, judged, level, assessor_level)
    cutoff = int(found[1]) if (found := re.search(r"@(\d+)$", measure)) else None
    if judged.depth and cutoff and cutoff > judged.depth:
        raise BadInput(
            f"{measure} looks at {cutoff} ranks; the sample holds passages ranked "
            f"{judged.depth} or higher",
            "Choose a shallower measure, or draw a deeper sample.",
        )
    if judged.unit == "pair":
        if not (found := re.fullmatch(r"P@(\d+)", measure)):
            raise BadInput(
                f"{measure} is not a sum over labels; single pairs estimate P@k only",
                "Draw whole queries for it: gradelake export sample --unit query.",
            )
        return _from_pairs(asked, int(found[1]))
    if len(assessors) > 1:
        raise BadInput(
            "whole queries are of one assessor's leaderboard, and several are named",
            "Name one --assessor; several may share a sample of pairs.",
        )
    return _from_queries(asked, measure, these_queries)


def _from_queries(asked: _Asked, measure: str, these_queries: bool) -> HumanBoard:
    lake, collection, label_set, judged, level, assessor_level = asked
    judge = read_board(lake, collection, label_set, measure, level)
    human = read_board(lake, collection, f"assessor:{judged.assessor}", measure, assessor_level)
    human = human.of(list(judge.systems))
    complete = sorted(judged.complete_queries())
    notes = judged.notes()
    if unbuilt := [query for query in complete if query not in human.queries]:
        raise BadInput(
            f"{len(unbuilt)} judged queries are not on the assessor's leaderboard yet",
            "Run `gradelake build`.",
        )
    if without := [query for query in complete if query not in judge.queries]:
        notes.append(f"{len(without)} judged queries have no labels of {label_set}; left out")
        complete = [query for query in complete if query in judge.queries]
    if len(complete) < 2:
        raise BadInput(
            f"{len(complete)} queries are completely judged; an interval needs at least two",
            "Judge all passages of more queries and import the file again.",
        )
    if judged.population != len(judge.queries):
        notes.append(
            f"the sample was drawn from {judged.population:,} queries; {label_set} has "
            f"{len(judge.queries):,} now"
        )
    if judged.depth and "@" not in measure:
        notes.append(f"passages below rank {judged.depth} were not judged: {measure} sees them")
    others = [query for query in judge.queries if query not in set(complete)]
    y, f = human.on(complete)[0] / UNIT, judge.on(complete)[0] / UNIT
    elsewhere = judge.on(others)[0] / UNIT
    if not others and not these_queries:  # the judge has nothing to add
        sample_only = powered = classical(y)
    elif these_queries:
        n = len(judge.queries)
        strata = [Stratum(n, y / n, f / n)]
        sample_only = stratified(strata, None)
        powered = stratified(strata, judge.values.sum(axis=0) / (n * UNIT))
    else:
        sample_only, powered = classical(y), prediction_powered(y, f, elsewhere)
    return HumanBoard(
        judged,
        level,
        assessor_level,
        judge.systems,
        judge.values.mean(axis=0) / UNIT,
        powered,
        sample_only,
        len(complete),
        len(judge.queries),
        notes,
    )


def _from_pairs(asked: _Asked, k: int) -> HumanBoard:
    lake, collection, label_set, judged, level, assessor_level = asked
    drawn_from = {"collection": collection, "label_set": judged.label_set, "depth": judged.depth}
    population = set(lake.rows(f"select query_id, passage_id from ({PAIRS})", **drawn_from))
    n_queries = lake.value(
        "select count(distinct query_id) from lake.marts.relevance_labels "
        "where collection = ? and label_set = ?",
        collection,
        judged.label_set,
    )
    labelled_relevant = set(
        lake.rows(
            "select query_id, passage_id from lake.marts.relevance_labels "
            "where collection = ? and label_set = ? and label >= ?",
            collection,
            label_set,
            level,
        )
    )
    systems = tuple(
        lake.column(
            "select system from lake.raw.systems where collection = ? order by system", collection
        )
    )
    column = {system: number for number, system in enumerate(systems)}
    # what a relevant passage adds to each system's mean
    share = 1 / (k * n_queries)
    ranked_by: dict[tuple[str, str], np.ndarray] = {}
    outside = 0
    for system, *pair in lake.rows(TOP, collection=collection, label_set=judged.label_set, k=k):
        if tuple(pair) not in population:
            outside += 1
            continue
        shares = ranked_by.setdefault(tuple(pair), np.zeros(len(systems)))
        shares[column[system]] = share
    nothing = np.zeros(len(systems))
    judge_total = sum(
        (shares for pair, shares in ranked_by.items() if pair in labelled_relevant), nothing
    )
    notes = judged.notes()
    if outside:
        notes.append(
            f"{outside:,} of the systems' top {k} passages are not among the pairs that the "
            "sample was drawn from; they count as not relevant"
        )
    if judged.population != len(population):
        notes.append(
            f"the sample was drawn from {judged.population:,} pairs; {judged.label_set} has "
            f"{len(population):,} of them now"
        )
    strata, ranked = [], []
    for stratum, size in judged.strata.items():
        pairs = judged.judgments_of(stratum)
        if len(pairs) < min(2, size):
            raise BadInput(
                f"of the {size:,} pairs of stratum {stratum}, {len(pairs)} are judged; an "
                "interval needs two of each",
                "Judge more of the sample and import the file again.",
            )
        shares = np.array([ranked_by.get(pair, nothing) for pair in pairs])
        human = np.array([relevance >= assessor_level for relevance in pairs.values()])
        judge = np.array([pair in labelled_relevant for pair in pairs])
        strata.append(Stratum(size, shares * human[:, None], shares * judge[:, None]))
        ranked.append(shares > 0)
    powered, sample_only = (
        _where_enough(stratified(strata, total), strata, ranked) for total in (judge_total, None)
    )
    if n_few := int(np.isnan(powered.standard_error).sum()):
        notes.append(
            f"{counted(n_few, 'systems', 'have')} no interval: too few judged pairs are among "
            f"their top {k}, or too few of those tell judge and people apart; draw the sample "
            f"with --depth {k}, or a larger one"
        )
    return HumanBoard(
        judged,
        level,
        assessor_level,
        systems,
        judge_total,
        powered,
        sample_only,
        sum(len(s.human) for s in strata),
        judged.population,
        notes,
    )


def _where_enough(estimate: Estimate, strata: list[Stratum], ranked: list[np.ndarray]) -> Estimate:
    """An estimate without the intervals (NaN) of which nobody knows how wide they should be.

    Of a system's top k a sample holds some pairs, and only those that tell judge and people apart
    show any variance: without a few of both, it is 0 or close to it by chance. The degrees of
    freedom are those of the pairs in its top k; `ranked` says which these are, as
    `Stratum.human` has them.
    """
    n_ranked, n_telling = np.zeros((2, len(estimate.value)), dtype=int)
    for stratum, inside in zip(strata, ranked, strict=True):
        if len(stratum.human) < stratum.size:  # one that is judged whole adds no variance
            n_ranked += inside.sum(axis=0)
            n_telling += (stratum.human != estimate.tuning * stratum.judge).sum(axis=0)
    is_exact = all(len(stratum.human) == stratum.size for stratum in strata)
    few = ((n_ranked < LEAST_RANKED) | (n_telling < LEAST_TELLING)) & (not is_exact)
    error = np.where(few, np.nan, estimate.standard_error)
    return replace(estimate, standard_error=error, degrees=np.maximum(n_ranked - 1, 1))
