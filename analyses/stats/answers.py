"""What the commands of statistics answer: an object for `--json`, tables for people.

`about` of an answer is what was asked.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gradelake.analyses.stats.better import BETTER, decide
from gradelake.analyses.stats.boards import UNIT, Board
from gradelake.analyses.stats.correlation import Agreement
from gradelake.analyses.stats.decisions import DecisionError
from gradelake.analyses.stats.estimate import HumanBoard
from gradelake.analyses.stats.labels import LabelAgreement
from gradelake.analyses.stats.ranks import RankUncertainty
from gradelake.analyses.stats.resample import Spread
from gradelake.analyses.stats.significance import CORRECTIONS, Pairs, agreement_on_pairs
from gradelake.analyses.stats.top import TopAgreement
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.spreadsheet import shown_row
from gradelake.sql.common.whole_file import whole_file

_NAMES = {
    "p": "uncorrected",
    "p_holm": "Holm",
    "p_bh": "Benjamini-Hochberg",
    "p_tukey": "randomised Tukey HSD",
}
_PAIR_COLUMNS = (
    *("first", "second", "mean_first", "mean_second", "difference", "low", "high"),
    *CORRECTIONS,
)
_YES_NO = {True: "yes", False: "no", None: ""}
_FEW = 10  # pairs that are shown one by one


def tell_incomplete(boards: Iterable[Board]) -> None:
    """Name the label sets that label too little of what people judged to be compared."""
    for board in boards:
        if says := board.completeness.says:
            console.warn(f"note: {board.label_set} is {says}")


def interval(spread: Spread) -> str:
    """As people read it."""
    if spread.low is None:
        return f"none: {spread.no_interval}"
    return f"{spread.low:z.3f} to {spread.high:z.3f}"


def rounded(value: Any, decimals: int = 4) -> Any:
    """A figure as people read it, None where it is undefined; what is none as it is."""
    if not isinstance(value, float):
        return value
    return None if np.isnan(value) else round(float(value), decimals)


def _from_to(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"{low:.3f} to {high:.3f}"


def _heading(board: Board) -> str:
    segment = "" if board.segment is None else f", segment {board.segment}"
    counts = "" if board.counting is None else ", by weight and cluster"
    return f"{board.label_set}, {board.measure}, level {board.level}{segment}{counts}:"


@dataclass(frozen=True)
class Ranks:
    """A board's systems, the best first."""

    about: dict[str, Any]
    found: RankUncertainty

    def as_object(self) -> dict[str, Any]:
        board = self.found.board
        return self.about | {
            "label_set": board.label_set,
            "level": board.level,
            "n_queries": len(board.queries),
            **board.completeness.as_object(),
            "top": self.found.top,
            "systems": [
                {name: rounded(value, 10) for name, value in asdict(one).items()}
                for one in self.found.systems
            ],
        }

    def show(self) -> None:
        board = self.found.board
        console.say(
            f"{_heading(board)} {counted(len(board.systems), 'systems')} over "
            f"{counted(len(board.queries), 'queries')}; {self.found.confidence:.0%} intervals"
        )
        rows = []
        for one in self.found.systems:
            interval = ranks = "undefined"
            if one.low is not None:
                interval = f"{one.low:.4f} to {one.high:.4f}"
                ranks = f"{one.best_rank} to {one.worst_rank}"
            rows.append([one.rank, one.system, one.score, interval, ranks, one.groups])
        console.print_table(["rank", "system", "score", "interval", "ranks", "groups"], rows)
        console.say(
            "Systems that share a letter do not differ significantly among all of them "
            f"({self.found.correction}, alpha {self.found.alpha:g})."
        )
        if self.found.too_few:
            console.warn(f"note: {self.found.too_few}")


@dataclass(frozen=True)
class Correlations:
    """How each label set's board agrees with the reference, perhaps compared with another's;
    `tops`: at the top, where that was asked for."""

    about: dict[str, Any]
    found: list[Agreement]
    tops: Sequence[TopAgreement] = ()

    def as_object(self) -> dict[str, Any]:
        at_top = [
            {"top": [asdict(each) for each in one.tops], "choice": asdict(one.choice)}
            for one in self.tops
        ] or [{} for _ in self.found]
        return self.about | {
            "label_sets": [
                {
                    "label_set": one.board.label_set,
                    "level": one.board.level,
                    "n_queries": one.n_queries,
                    "n_systems": len(one.systems),
                    **one.board.completeness.as_object(),
                    "correlations": [asdict(each) for each in one.correlations],
                    "better": [asdict(each) for each in one.better],
                    **top,
                }
                for one, top in zip(self.found, at_top, strict=True)
            ]
        }

    def show(self) -> None:
        heads = "label set,level,statistic,value,over queries,over systems,over both,p"
        console.print_table(
            [*heads.split(","), "systems", "queries"],
            [
                [
                    one.board.label_set + one.board.completeness.mark,
                    one.board.level,
                    each.statistic,
                    rounded(each.value),
                    *map(interval, each.spread.values()),
                    rounded(each.p_value),
                    len(one.systems),
                    one.n_queries,
                ]
                for one in self.found
                for each in one.correlations
            ],
        )
        if any(one.better for one in self.found):
            console.say(f"\nAgrees better than {self.about['against']}?")
            console.print_table(
                ["label set", "statistic", "resampled", "difference", "interval", "probability"],
                [
                    [
                        one.board.label_set,
                        each.statistic,
                        each.resampled,
                        rounded(each.difference),
                        interval(each.spread),
                        rounded(each.probability),
                    ]
                    for one in self.found
                    for each in one.better
                ],
            )
        if self.tops:
            self._show_tops()
        tell_incomplete(one.board for one in self.found)
        for one in self.found:
            for each in one.correlations:
                for kind, spread in each.spread.items():
                    if spread.undefined:
                        console.warn(
                            f"note: {one.board.label_set}, {each.statistic}, over {kind}: "
                            f"undefined in {spread.undefined:,} replicates; the interval is "
                            "computed from the others"
                        )

    def _show_tops(self) -> None:
        rows, choices = [], []
        for one in self.tops:
            name = one.board.label_set + one.board.completeness.mark
            for at in range(0, len(one.tops), 3):
                three = one.tops[at : at + 3]
                figures = [
                    f"{each.value:.3f} ({interval(each.spread)})" if each.value is not None else ""
                    for each in three
                ]
                rows.append([name, three[0].k, three[0].n_systems, *figures])
            loss = (
                rounded(one.choice.loss),
                _from_to(one.choice.spread.low, one.choice.spread.high),
            )
            choices.append(
                [name, ", ".join(one.choice.systems), *loss, _YES_NO[one.choice.in_best_group]]
            )
        console.say("\nAmong the first by the reference (intervals over queries):")
        console.print_table(["label set", "first", "systems", "kendall", "tau_ap", "rbo"], rows)
        console.say("\nTaking the label set's best system for the reference's:")
        heads = ["label set", "its best", "loss", "interval", "in the best group"]
        console.print_table(heads, choices)


@dataclass(frozen=True)
class Significance:
    """All pairs of a board's systems, perhaps beside a reference's; `output`: their CSV, `errors`:
    what goes wrong where the board decides for the reference."""

    about: dict[str, Any]
    pairs: Pairs
    theirs: Pairs | None
    alpha: float
    output: Path | None
    errors: Sequence[DecisionError] = ()

    def as_object(self) -> dict[str, Any]:
        board, theirs = self.pairs.board, self.theirs.board if self.theirs else None
        return self.about | {
            "alpha": self.alpha,
            "label_set": board.label_set,
            "level": board.level,
            "reference": theirs and theirs.label_set,
            "reference_level": theirs and theirs.level,
            "n_queries": len(board.queries),
            "is_exact": self.pairs.is_exact,
            "n_pairs": len(self.pairs.p),
            "counts": self._counts(),
            "decision_errors": [
                asdict(one) | {"correction": _NAMES[one.correction]} for one in self.errors
            ],
            "pairs": [dict(zip(_PAIR_COLUMNS, row, strict=True)) for row in self._rows()],
        }

    def show(self) -> None:
        board, n_pairs = self.pairs.board, len(self.pairs.p)
        how = "all sign patterns" if self.pairs.is_exact else "random sign patterns"
        console.say(
            f"{_heading(board)} {counted(n_pairs, 'pairs')} of "
            f"{counted(len(board.systems), 'systems')} over "
            f"{counted(len(board.queries), 'queries')} ({how})"
        )
        headings = ["correction", f"p <= {self.alpha:g}"]
        if self.theirs:
            reference = self.theirs.board
            console.say(f"reference: {reference.label_set}, level {reference.level}")
            headings += [
                *("both, same way", "both, opposite", "only here", "only reference", "neither")
            ]
        if n_pairs <= _FEW:
            self._show_pairs()
        if n_pairs > 1 or self.theirs:
            console.print_table(headings, [[*row.values()] for row in self._counts()])
        if self.theirs:
            self._show_errors(self.theirs.board.label_set)
        least_p = self.pairs.least_p
        if least_p * n_pairs > self.alpha:
            could = f"; --replicates {n_pairs * 10 / self.alpha:.0f} could"
            console.warn(
                f"note: no p can be below {least_p:.2g} here, so with {counted(n_pairs, 'pairs')} "
                f"Holm's correction finds none{'' if self.pairs.is_exact else could}"
            )
        if self.output:
            console.say(f"{self.output}: wrote {counted(n_pairs, 'pairs')}")

    def _show_errors(self, reference: str) -> None:
        rows: dict[str, list[Any]] = {}
        for one in self.errors:
            share = "none"
            if one.share is not None:
                low, high = (100 * (end or 0) for end in (one.spread.low, one.spread.high))
                known = "" if one.spread.low is None else f" ({low:.1f} to {high:.1f})"
                share = f"{100 * one.share:.1f}{known}"
            row = rows.setdefault(one.correction, [_NAMES[one.correction]])
            row.append(share)
        here = self.pairs.board.label_set
        console.say(
            f"\nDecision errors, % (95% intervals over queries). Of pairs that {here} calls "
            f"different, {reference} calls the other way (reversed), scores the other way "
            "(other sign), cannot tell apart (untold); of pairs that it calls different, "
            f"{here} cannot tell apart (missed), calls the other way (contradicted):"
        )
        heads = ["correction", "reversed", "other sign", "untold", "missed", "contradicted"]
        console.print_table(heads, [*rows.values()])

    def _show_pairs(self) -> None:
        """Each pair by itself, the better system first."""
        shown = []
        means = dict(
            zip(self.pairs.board.systems, self.pairs.board.units.means / UNIT, strict=True)
        )
        for one, p_holm in zip(decide(self.pairs, self.alpha), self.pairs.p_holm, strict=True):
            scores = (float(means[one.better]), float(means[one.worse]), abs(one.difference))
            holds = one.verdict
            if holds == BETTER and not p_holm <= self.alpha:
                holds = "better, but not of all pairs"
            interval = one.doubt or "none"
            shown.append((one.better, one.worse, *map(rounded, scores), interval, holds))
        interval = f"{100 * self.pairs.confidence(self.alpha):.3g}% interval, p"
        console.print_table(
            ("first", "second", "first", "second", "difference", interval, "the first is"), shown
        )

    def write(self) -> None:
        """All pairs as CSV. Raises `BadInput` when the file cannot be written."""
        assert self.output
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(
            map(shown_row, [_PAIR_COLUMNS, *self._rows()])
        )
        with whole_file(self.output) as stream:
            stream.write(text.getvalue().encode())

    def _counts(self) -> list[dict[str, Any]]:
        rows = []
        for correction in CORRECTIONS:
            n_found = np.count_nonzero(self.pairs.significant(correction, self.alpha))
            row = {"correction": _NAMES[correction], "significant": int(n_found)}
            if self.theirs:
                row |= agreement_on_pairs(self.pairs, self.theirs, correction, self.alpha)
            rows.append(row)
        return rows

    def _rows(self) -> list[tuple]:
        pairs, names = self.pairs, self.pairs.board.systems
        means = pairs.board.units.means / UNIT
        ends = pairs.intervals(self.alpha)
        figures = (pairs.difference, *ends, *(getattr(pairs, name) for name in CORRECTIONS))
        return [
            (names[a], names[b], *(rounded(float(v), 10) for v in (means[a], means[b], *values)))
            for a, b, *values in zip(pairs.first, pairs.second, *figures, strict=True)
        ]


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha of some label sets."""

    about: dict[str, Any]
    found: LabelAgreement
    per_query: bool

    def as_object(self) -> dict[str, Any]:
        found = self.found
        queries = [
            {"query_id": query, "alpha": value, "n_pairs": n} for query, value, n in found.by_query
        ]
        return self.about | {
            "label_sets": found.label_sets,
            "left_out": found.left_out,
            "metric": found.metric,
            "alpha": found.value,
            "undefined_reason": found.undefined_reason,
            "n_pairs": found.n_pairs,
            **vars(found.spread),
            **({"by_query": queries} if self.per_query else {}),
        }

    def show(self) -> None:
        found = self.found
        console.say(f"label sets: {', '.join(found.label_sets)}")
        figures = (rounded(found.value), interval(found.spread), found.n_pairs)
        console.print_table(
            ["metric", "alpha", "interval", "pairs", "queries"],
            [[found.metric, *figures, len(found.by_query)]],
        )
        if found.left_out:
            console.warn(
                f"note: left out, as their labels come from the same raters: "
                f"{', '.join(found.left_out)}"
            )
        if found.undefined_reason:
            console.warn(f"note: alpha is undefined: {found.undefined_reason}")
        elif found.spread.undefined:
            console.warn(f"note: undefined in {found.spread.undefined:,} replicates")
        if len(set(found.highest.values())) > 1:
            tops = ", ".join(f"{name} {top}" for name, top in sorted(found.highest.items()))
            console.warn(
                f"note: the label sets' highest labels differ ({tops}); equal labels agree"
            )
        if self.per_query:
            console.say()
            console.print_table(
                ["query_id", "alpha", "pairs"],
                [[query, rounded(value), n] for query, value, n in found.by_query],
            )


@dataclass(frozen=True)
class Estimates:
    """The leaderboard under human labels, the best system first."""

    about: dict[str, Any]
    found: HumanBoard
    confidence: float

    def as_object(self) -> dict[str, Any]:
        found = self.found
        return self.about | {
            "confidence": self.confidence,
            "assessor": found.sample.assessor,
            "sample": found.sample.name,
            "unit": found.sample.unit,
            "level": found.level,
            "assessor_level": found.assessor_level,
            "n_judged": found.n_judged,
            "n_population": found.n_population,
            "notes": found.notes,
            "systems": self._systems(),
        }

    def show(self) -> None:
        found = self.found
        units = "queries" if found.sample.unit == "query" else "pairs"
        console.say(
            f"sample {found.sample.name}: {found.n_judged:,} of {found.n_population:,} {units} "
            f"judged by {found.sample.assessor}; {self.confidence:.0%} intervals"
        )
        heads = "system,judge alone,estimate,interval,sample alone,interval,width ratio,tuning"
        console.print_table(
            heads.split(","),
            [
                [
                    row["system"],
                    rounded(row["judge"]),
                    rounded(row["estimate"]),
                    _from_to(row["low"], row["high"]),
                    rounded(row["sample_only"]),
                    _from_to(row["sample_low"], row["sample_high"]),
                    rounded(row["width_ratio"], 2),
                    rounded(row["tuning"], 2),
                ]
                for row in self._systems()
            ],
        )
        for note in found.notes:
            console.warn(f"note: {note}")

    def _systems(self) -> list[dict[str, Any]]:
        found = self.found
        low, high = found.powered.interval(self.confidence)
        sample_low, sample_high = found.sample_only.interval(self.confidence)
        columns = {
            "judge": found.judge,
            "estimate": found.powered.value,
            "low": low,
            "high": high,
            "sample_only": found.sample_only.value,
            "sample_low": sample_low,
            "sample_high": sample_high,
            "width_ratio": found.width_ratio(),
            "tuning": found.powered.tuning,
        }
        return [
            {"system": found.systems[i]}
            | {name: rounded(values[i], 10) for name, values in columns.items()}
            for i in np.argsort(-found.powered.value, kind="stable")
        ]
