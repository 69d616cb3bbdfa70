"""Whether B is better than A: the difference, how surely, what decides it, and what labels miss."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradelake.analyses import choosing
from gradelake.analyses.compare.bounds import BOUNDED, Head, Scale, least_and_most
from gradelake.analyses.report.shown import (
    chosen_reference,
    judged_shares,
    opens_on,
    shown_label_sets,
)
from gradelake.analyses.stats.boards import UNIT, Board, default_level, measures_of, read_board
from gradelake.analyses.stats.significance import Pairs, compare_pairs
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput, NotThere
from gradelake.sql.common.project import did_you_mean
from gradelake.sql.lake.opening import Lake

FIRST = 10  # passages that are looked at for a measure that knows no cutoff
LISTED = 10  # queries that are shown of each kind

BOTH_IN = """
    select collection from lake.raw.systems
    where system = $a or system = $b
    group by collection having count(distinct system) = $n
    order by collection
"""
WITH_BOARDS = """
    select label_set from lake.marts.leaderboard
    where
        collection = $collection
        and (system = $a or system = $b)
        and measure = coalesce($measure, measure)
    group by label_set having count(distinct system) = 2
"""
HEADS = """
    with

    labels as (
        select query_id, passage_id, label
        from lake.marts.relevance_labels
        where collection = $collection and label_set = $label_set
    ),

    heads as (
        select
            query_id,
            passage_id,
            min(rank) filter (where system = $b) as first_rank,
            min(rank) filter (where system = $a) as second_rank
        from lake.intermediate.int_ranked_entries
        where collection = $collection and (system = $a or system = $b) and rank <= $k
        group by all
    ),

    passages as (
        select
            heads.query_id,
            list((heads.first_rank, heads.second_rank, labels.label)) as passages
        from heads
        left join labels using (query_id, passage_id)
        group by all
    )

    select labels.query_id, coalesce(any_value(passages.passages), []), list(labels.label)
    from labels
    left join passages using (query_id)
    group by all
"""


@dataclass(frozen=True)
class Missing:
    """How much of the first k of two systems has a label, and what the rest could change.

    `judged`: shares of what B, A and either has there; None where they have nothing. `ends`: the
    least and the greatest difference; None for a measure without such bounds.
    """

    k: int
    judged: dict[str, float | None]
    ends: tuple[float, float] | None


@dataclass(frozen=True)
class Comparison:
    """Of B and A, the first and the second system of `pairs`; all differences are B less A.

    `missing`: None for label sets that label no passages.
    """

    collection: str
    release: str | None
    pairs: Pairs
    alpha: float
    has_levels: bool
    texts: dict[str, str]
    missing: Missing | None

    @property
    def board(self) -> Board:
        return self.pairs.board

    @property
    def differences(self) -> np.ndarray:
        """One for each query, in units of 1e-10."""
        return self.board.values[:, 0] - self.board.values[:, 1]

    @property
    def _figures(self) -> tuple[float, float, float]:
        """(difference, how far its interval reaches to each side, p)."""
        pairs = self.pairs
        return float(pairs.difference[0]), float(pairs.reach(self.alpha)[0]), float(pairs.p[0])

    def queries(self, sign: int) -> list[dict[str, Any]]:
        """Those where B is better (1) or worse (-1), the most first."""
        board, differences = self.board, self.differences
        return [
            {
                "query_id": board.queries[row],
                "text": self.texts.get(board.queries[row]),
                "a": round(float(board.values[row, 1] / UNIT), 10),
                "b": round(float(board.values[row, 0] / UNIT), 10),
                "difference": round(float(differences[row] / UNIT), 10),
            }
            for row in np.argsort(-sign * differences, kind="stable")[:LISTED]
            if sign * differences[row] > 0
        ]

    @property
    def sentence(self) -> str:
        """What somebody wants to know who reads one sentence."""
        board, (difference, reach, p) = self.board, self._figures
        (b, a), n = board.systems, counted(len(board.queries), "queries")
        better, worse = (b, a) if difference > 0 else (a, b)
        least, most = sorted((abs(difference) - reach, abs(difference) + reach))
        sure = f"p {'< 0.001' if p < 0.0005 else f'= {p:.3f}'}"
        if not np.isnan(reach):
            sure = f"{least:.3f} to {most:.3f}, {sure}"
        by = f"{abs(difference):.3f} of {board.measure} on {n} ({sure})"
        if not self.differences.any():
            said = f"{b} and {a} have the same {board.measure} on each of {n}"
        elif difference == 0:
            said = f"{b} and {a} have the same mean {board.measure} on {n} ({sure})"
        elif p <= self.alpha:
            said = f"{better} is better than {worse} by {by}"
        else:
            said = f"It cannot be told whether {b} is better than {a}: {better} is ahead by {by}"
        return f"{said}{self._what_is_unjudged(worse)}."

    def _what_is_unjudged(self, worse: str) -> str:
        missing = self.missing
        if missing is None or missing.judged["either"] is None:
            return ""
        share = 1 - missing.judged["either"]
        if share == 0:
            return f"; all that they rank in the first {missing.k} is judged"
        shown = f"{100 * share:.0f}" if share >= 0.005 else "less than 1"
        said = f"; {shown} % of what they rank in the first {missing.k} is unjudged, and"
        if missing.ends is None:
            return f"{said} how much that could change is not known of {self.board.measure}"
        (difference, _, p), (least, most) = self._figures, missing.ends
        if worse == self.board.systems[0]:
            least, most = -most, -least
        if difference == 0:
            could = "could not" if least == most == 0 else "could"
            return f"{said} that {could} make one of them better"
        if p > self.alpha:
            return f"{said} that {'could' if least < 0 else 'could not'} put {worse} ahead"
        could = "turn it around" if least < 0 else "make them equal"
        return f"{said} that could {could if least <= 0 else 'not turn it around'}"

    def says(self) -> dict[str, str]:
        """Every figure in words, by what it is."""
        board, (difference, reach, p) = self.board, self._figures
        (b, a), differences = board.systems, self.differences
        n = counted(len(board.queries), "queries")
        means = board.values.mean(axis=0) / UNIT
        interval = ""
        if not np.isnan(reach):
            ends = difference - reach, difference + reach
            interval = f", {100 * (1 - self.alpha):g} % interval {_from_to(*ends)}"
        patterns = "all" if self.pairs.is_exact else f"{self.pairs.n_replicates:,} random"
        complete = board.completeness.says
        counts = [int(found.sum()) for found in (differences > 0, differences < 0)]
        said = {
            "labels": f"{board.label_set}"
            + f", relevant from {board.level}" * self.has_levels
            + f"; {complete}" * bool(complete),
            board.measure: f"{b} {means[0]:.4f}, {a} {means[1]:.4f}",
            f"{b} less {a}": f"{difference:z.4f}{interval} ({n})",
            "p": f"{p:.4f} (paired randomisation test, {patterns} sign patterns)",
            f"{b} is": f"better on {counts[0]}, worse on {counts[1]}, equal on "
            f"{len(differences) - sum(counts)}",
        }
        if missing := self.missing:
            shares = [
                f"{who} {share:.0%}"
                for who, share in zip((b, a, "both together"), missing.judged.values(), strict=True)
                if share is not None
            ]
            said[f"judged of the first {missing.k}"] = ", ".join(shares) or "nothing is ranked"
            known = f"not known of {board.measure}; it is of {', '.join(f'{m}@k' for m in BOUNDED)}"
            said[f"{b} less {a}, if all of it were judged"] = (
                _from_to(*missing.ends) if missing.ends else known
            )
        return said

    def show(self) -> None:
        """The sentence, the figures, and the queries by their words."""
        console.say(f"{self.sentence}\n", wrap=True)
        for name, words in self.says().items():
            console.say(f"{name}: {words}", wrap=True)
        b, a = self.board.systems
        for better, rows in ((b, self.queries(1)), (a, self.queries(-1))):
            if rows:
                console.say(f"\nqueries where {better} is better, the most first")
                shown = [
                    (
                        row["text"] or row["query_id"],
                        *(round(row[k], 4) for k in ("a", "b")),
                        round(row["difference"], 4),
                    )
                    for row in rows
                ]
                console.print_table(("query", a, b, "difference"), shown)

    def as_object(self) -> dict[str, Any]:
        """All of it; figures have 10 decimals, differences are of B less A."""
        board, (difference, reach, p), missing = self.board, self._figures, self.missing
        differences = self.differences
        low, high = (None, None) if np.isnan(reach) else (difference - reach, difference + reach)
        (b, a), means = board.systems, board.values.mean(axis=0) / UNIT
        least, most = missing.ends if missing and missing.ends else (None, None)
        return {
            "sentence": self.sentence,
            "collection": self.collection,
            "release": self.release,
            "a": a,
            "b": b,
            "label_set": board.label_set,
            **board.completeness.as_object(),
            "measure": board.measure,
            "level": board.level,
            "n_queries": len(board.queries),
            "mean_a": _rounded(means[1]),
            "mean_b": _rounded(means[0]),
            "difference": _rounded(difference),
            "low": _rounded(low),
            "high": _rounded(high),
            "alpha": self.alpha,
            "p": p,
            "is_exact": self.pairs.is_exact,
            "wins": int((differences > 0).sum()),
            "losses": int((differences < 0).sum()),
            "ties": int((differences == 0).sum()),
            "k": missing and missing.k,
            "judged": missing and {who: _rounded(one) for who, one in missing.judged.items()},
            "least": _rounded(least),
            "most": _rounded(most),
            "best": self.queries(1),
            "worst": self.queries(-1),
            "says": self.says(),
        }


def compare(
    lake: Lake,
    names: Sequence[str],
    measure: str | None = None,
    label_set: str | None = None,
    level: int | None = None,
    alpha: float = 0.05,
    replicates: int = 100_000,
    seed: int = 1,
) -> Comparison:
    """Compare B with A, paired over the queries of a label set.

    `names`: A and B, perhaps after their collection. By default the labels are those that a report
    opens on, of those with boards of both; the measure is nDCG@10, or else the first of the board;
    the level is the usual one. Raises `BadInput` for what is not there, and the same system twice.
    """
    collection, a, b = _named(lake, names)
    if label_set is None:
        label_set = _usual_label_set(lake, collection, a, b, measure)
    choosing.require_board(lake, collection, label_set)
    level = default_level(lake, collection, label_set) if level is None else level
    kinds = choosing.measures(lake)
    if measure is None:
        known = {name for name, at in measures_of(lake, collection, label_set) if at == level}
        measure = next((one for one in ("nDCG@10", *kinds) if one in known), "nDCG@10")
    board = read_board(lake, collection, label_set, measure, level)
    pairs = compare_pairs(board.pair(b, a), replicates, seed)
    texts = dict(
        lake.rows("select query_id, text from lake.raw.queries where collection = ?", collection)
    )
    missing = _missing(lake, collection, pairs.board)
    has_levels = kinds[measure] in choosing.LEVELLED
    return Comparison(collection, lake.release, pairs, alpha, has_levels, texts, missing)


def _named(lake: Lake, names: Sequence[str]) -> tuple[str, str, str]:
    """(collection, A, B): the collection is the only one that has both, unless it is named."""
    if len(names) not in (2, 3):
        raise BadInput("compare takes two systems, perhaps after their collection")
    *named, a, b = names
    if named:
        lake.require_collection(named[0])
        return named[0], a, b
    known = lake.column("select distinct system from lake.raw.systems order by all")
    for system in (a, b):
        if system not in known:
            raise NotThere(f"there is no system {system!r}", did_you_mean(system, known))
    collections = lake.column(BOTH_IN, a=a, b=b, n=len({a, b}))
    if len(collections) != 1:
        raise BadInput(
            f"{counted(len(collections), 'collections', 'have')} both {a!r} and {b!r}",
            f"Name one before them: {', '.join(collections)}." if collections else None,
        )
    return collections[0], a, b


def _usual_label_set(lake: Lake, collection: str, a: str, b: str, measure: str | None) -> str:
    wanted = {"collection": collection, "a": a, "b": b, "measure": measure}
    usable = set(lake.column(WITH_BOARDS, **wanted))
    shown, shares = shown_label_sets(lake, collection), judged_shares(lake, collection)
    judged = {row["label_set"]: shares.get(row["label_set"], 0.0) for row in shown}
    own = {name: share for name, share in judged.items() if name in usable}
    # where no board has them, reading one says why
    found = opens_on(chosen_reference(None, shown), own or judged)
    if found is None:
        raise BadInput(
            f"{collection} has no labels yet",
            "Ingest judgments, `gradelake import labels` or `gradelake grade`; then build.",
        )
    return found


def _missing(lake: Lake, collection: str, board: Board) -> Missing | None:
    """What of both systems' heads has no label, and the mean of each query's bounds."""
    b, a = board.systems
    family, cutoff = lake.rows(
        "select family, cutoff from lake.intermediate.int_measures where measure = ?", board.measure
    )[0]
    k = cutoff or FIRST
    of = {"collection": collection, "label_set": board.label_set, "a": a, "b": b, "k": k}
    heads = {query: Head(*found) for query, *found in lake.rows(HEADS, **of)}
    if not heads:
        return None
    passages = [one for head in heads.values() for one in head.passages]
    judged = {
        who: np.mean([one[2] is not None for one in of]).item() if of else None
        for who, of in (
            ("b", [one for one in passages if one[0]]),
            ("a", [one for one in passages if one[1]]),
            ("either", passages),
        )
    }
    ends = None
    if family in BOUNDED and cutoff:
        top = choosing.highest_labels(lake, collection)[board.label_set]
        scale = Scale(k, board.level, top)
        bounds = np.array([least_and_most(family, scale, heads[each]) for each in board.queries])
        least, most = bounds.mean(axis=0)
        ends = float(least), float(most)
    return Missing(k, judged, ends)


def _from_to(low: float, high: float) -> str:
    return f"{low:z.4f} to {high:z.4f}"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 10) + 0.0  # no -0
