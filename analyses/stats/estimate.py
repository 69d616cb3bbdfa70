"""The leaderboard under human labels, from a judge's labels and what people said of a sample."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gradelake.analyses.choosing import min_relevant
from gradelake.analyses.qrels_export import require_label_set
from gradelake.analyses.stats.boards import UNIT, default_level, read_board, require_even
from gradelake.analyses.stats.judged_sample import JudgedSample, Pair, read_judged_sample
from gradelake.analyses.stats.prediction_powered import (
    LEAST_CARRYING,
    LEAST_EXPECTED,
    LEAST_TELLING,
    Estimate,
    PairStratum,
    Stratum,
    carrying_queries,
    classical,
    expected_pairs,
    prediction_powered,
    relevant_pairs,
    stratified,
    telling_queries,
)
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.sampling import PAIRS
from gradelake.sql.shown.kinds import shown

TOP = """
    select system, query_id, passage_id
    from lake.marts.rankings
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
    """What is asked for: whose board, from which sample, at which levels."""

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
                "Draw whole queries for it: gradelake export qrels --sample N --unit query.",
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
    if others or not these_queries:  # else nothing is left to doubt
        every = judge.values / UNIT
        notes += _about_queries(powered, y, f, every)
        powered, sample_only = (
            estimate.only_where(_enough_queries(estimate, y, f, every))
            for estimate in (powered, sample_only)
        )
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


def _enough_queries(
    estimate: Estimate, human: np.ndarray, judge: np.ndarray, every: np.ndarray
) -> np.ndarray:
    """Whether judged queries suffice for an interval: (systems,). `every`: (queries, systems), the
    judge's scores of all queries, judged by people or not."""
    carrying = carrying_queries(every) * len(human) / len(every)
    telling = telling_queries(human, judge, estimate.tuning)
    return (carrying >= LEAST_CARRYING) & (telling >= LEAST_TELLING)


def _about_queries(
    estimate: Estimate, human: np.ndarray, judge: np.ndarray, every: np.ndarray
) -> list[str]:
    """Why systems have no interval, and how many queries would give them one."""
    notes, n_judged = [], len(human)
    carrying = carrying_queries(every) * n_judged / len(every)
    few, unscored = carrying < LEAST_CARRYING, carrying == 0
    if n_unscored := int(unscored.sum()):
        notes.append(
            f"{counted(n_unscored, 'systems', 'have')} no interval: the judge's labels give 0 on "
            "every query, so nothing shows on how few queries the score lies"
        )
    scored = few & ~unscored
    if n_few := int(scored.sum()):
        least = carrying[scored].min()
        needed = math.ceil(n_judged * LEAST_CARRYING / least)
        takes = f"{needed:,}" if needed <= len(every) else f"more than the {len(every):,} there are"
        notes.append(
            f"{counted(n_few, 'systems', 'have')} no interval: of {n_judged} judged "
            f"queries fewer than {LEAST_CARRYING} carry the score by the judge's labels (as few "
            f"as {shown('ratio', least)}); judge more whole queries: it takes {takes}"
        )
    enough = _enough_queries(estimate, human, judge, every)
    if n_alike := int((~enough & ~few).sum()):
        notes.append(
            f"{counted(n_alike, 'systems', 'have')} no interval: only on fewer than "
            f"{LEAST_TELLING} judged queries do they score otherwise than on the rest, so nobody "
            "knows how far other queries are off; judge more whole queries, or choose a measure "
            "that tells more"
        )
    return notes


@dataclass(frozen=True)
class _Tops:
    """Which pairs are in each system's top k.

    `labels`: of all pairs that the sample was drawn from, those that it was stratified by;
    `ranked`: pair -> (systems,), whether it is; `relevant`: pairs that the judge holds relevant;
    `n_outside`: entries of top k that are no such pair.
    """

    systems: tuple[str, ...]
    labels: dict[Pair, int]
    ranked: dict[Pair, np.ndarray]
    relevant: set[Pair]
    n_outside: int

    def judge_total(self) -> np.ndarray:
        found = [ranked for pair, ranked in self.ranked.items() if pair in self.relevant]
        return np.sum(found, axis=0) if found else self.nothing()

    def nothing(self) -> np.ndarray:
        return np.zeros(len(self.systems))


def _read_tops(asked: _Asked, k: int) -> _Tops:
    lake, collection, judged = asked.lake, asked.collection, asked.judged
    drawn_from = {"collection": collection, "label_set": judged.label_set, "depth": judged.depth}
    pairs = lake.rows(f"select query_id, passage_id, label from ({PAIRS})", **drawn_from)
    labels = {(query_id, passage_id): label for query_id, passage_id, label in pairs}
    relevant = lake.rows(
        "select query_id, passage_id from lake.marts.relevance_labels "
        "where collection = ? and label_set = ? and label >= ?",
        collection,
        asked.label_set,
        asked.level,
    )
    systems = tuple(
        lake.column(
            "select system from lake.raw.systems where collection = ? order by system", collection
        )
    )
    column = {system: number for number, system in enumerate(systems)}
    ranked: dict[Pair, np.ndarray] = {}
    n_outside = 0
    entries = lake.rows(TOP, collection=collection, label_set=judged.label_set, k=k)
    for system, query_id, passage_id in entries:
        if (query_id, passage_id) in labels:
            by = ranked.setdefault((query_id, passage_id), np.zeros(len(systems), dtype=bool))
            by[column[system]] = True
        else:
            n_outside += 1
    return _Tops(systems, labels, ranked, set(relevant), n_outside)


def _strata(judged: JudgedSample, tops: _Tops, assessor_level: int) -> list[PairStratum]:
    """The judged sample by strata, each with what is known of all of its pairs.

    Which pairs a stratum was drawn from is told by their labels, whose pairs it is, less those
    that people had judged before; where labels changed since, in proportion to those of its drawn
    pairs. Raises `BadInput` for a stratum of which fewer than two pairs are judged.
    """
    said = {stratum: judged.judgments_of(stratum) for stratum in judged.strata}
    whole = {
        pair
        for stratum, size in judged.strata.items()
        if len(said[stratum]) == size
        for pair in said[stratum]
    }
    left = Counter(label for pair, label in tops.labels.items() if pair not in whole)
    n_ranked = {label: np.zeros((2, len(tops.systems))) for label in left}
    for pair, ranked in tops.ranked.items():
        if pair not in whole:
            n_ranked[tops.labels[pair]] += [ranked, ranked & (pair in tops.relevant)]
    nothing = tops.nothing().astype(bool)
    strata = []
    for stratum, size in judged.strata.items():
        pairs = said[stratum]
        if len(pairs) < min(2, size):
            raise BadInput(
                f"of the {size:,} pairs of stratum {stratum}, {len(pairs)} are judged; an "
                "interval needs two of each",
                "Judge more of the sample and import the file again.",
            )
        known = Counter(tops.labels[pair] for pair in pairs if pair in tops.labels)
        of_stratum = sum(
            (
                size * n / len(pairs) / left[label] * n_ranked[label]
                for label, n in known.items()
                if left[label]
            ),
            np.zeros((2, len(tops.systems))),
        )
        strata.append(
            PairStratum(
                size,
                np.array([relevance >= assessor_level for relevance in pairs.values()]),
                np.array([pair in tops.relevant for pair in pairs]),
                np.array([tops.ranked.get(pair, nothing) for pair in pairs]),
                *of_stratum,
            )
        )
    return strata


def _from_pairs(asked: _Asked, k: int) -> HumanBoard:
    judged = asked.judged
    tops = _read_tops(asked, k)
    n_queries = asked.lake.value(
        "select count(distinct query_id) from lake.marts.relevance_labels "
        "where collection = ? and label_set = ?",
        asked.collection,
        judged.label_set,
    )
    notes = judged.notes()
    if tops.n_outside:
        notes.append(
            f"{tops.n_outside:,} of the systems' top {k} passages are not among the pairs that the "
            "sample was drawn from; they count as not relevant"
        )
    if judged.population != len(tops.labels):
        notes.append(
            f"the sample was drawn from {judged.population:,} pairs; {judged.label_set} has "
            f"{len(tops.labels):,} of them now"
        )
    strata = _strata(judged, tops, asked.assessor_level)
    n_judged = sum(len(stratum.human) for stratum in strata)
    notes += _about_pairs(expected_pairs(strata), judged, n_judged, k)
    judge_total = tops.judge_total()
    share = 1 / (k * n_queries)  # what a relevant passage adds to a system's mean
    return HumanBoard(
        judged,
        asked.level,
        asked.assessor_level,
        tops.systems,
        judge_total * share,
        relevant_pairs(strata, judge_total).times(share),
        relevant_pairs(strata, None).times(share),
        n_judged,
        judged.population,
        notes,
    )


def _about_pairs(expected: np.ndarray, judged: JudgedSample, n_judged: int, k: int) -> list[str]:
    """Why systems have no interval, and what sample would give them one."""
    few = expected[expected < LEAST_EXPECTED]
    if not len(few):
        return []
    least = few.min()
    needed = min(math.ceil(n_judged * LEAST_EXPECTED / least / 10) * 10, judged.population)
    deeper = "" if judged.depth == k else f"with --depth {k}, or "
    return [
        f"{counted(len(few), 'systems', 'have')} no interval: {n_judged:,} pairs so drawn hold on "
        f"average fewer than {LEAST_EXPECTED} of their top {k} (as few as "
        f"{shown('ratio', least)}); draw the sample {deeper}of about {needed:,} pairs"
    ]
