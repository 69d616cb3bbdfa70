"""What the commands of statistics print, and the same as objects."""

import csv
import io
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gradelake.analyses.stats.boards import Board
from gradelake.analyses.stats.correlation import Agreement
from gradelake.analyses.stats.estimate import HumanBoard
from gradelake.analyses.stats.labels import LabelAgreement
from gradelake.analyses.stats.ranks import RankUncertainty
from gradelake.analyses.stats.resample import Spread
from gradelake.analyses.stats.significance import CORRECTIONS, OUTCOMES, Pairs, agreement_on_pairs
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.whole_file import whole_file

_NAMES = {
    "p": "uncorrected",
    "p_holm": "Holm",
    "p_bh": "Benjamini-Hochberg",
    "p_tukey": "randomised Tukey HSD",
}


def _interval(spread: Spread) -> str:
    if spread.low is None:
        return "undefined"
    return f"{spread.low:.3f} to {spread.high:.3f}"


def _rounded(value: float | None, decimals: int = 4) -> float | None:
    return None if value is None or np.isnan(value) else round(float(value), decimals)


# --- ranks ----------------------------------------------------------------------------------------


def ranks_as_object(found: RankUncertainty) -> dict[str, Any]:
    """A board's systems, the best first."""
    return {
        "label_set": found.board.label_set,
        "level": found.board.level,
        "n_queries": len(found.board.queries),
        **found.board.completeness.as_object(),
        "top": found.top,
        "systems": [
            {
                name: _rounded(value, 10) if isinstance(value, float) else value
                for name, value in asdict(one).items()
            }
            for one in found.systems
        ],
    }


def print_ranks(found: RankUncertainty) -> None:
    """Systems with their intervals and groups, and who cannot be told from the best."""
    board = found.board
    console.say(
        f"{board.label_set}, {board.measure}, level {board.level}: "
        f"{counted(len(board.systems), 'systems')} over "
        f"{counted(len(board.queries), 'queries')}; {found.confidence:.0%} intervals"
    )
    console.print_table(
        ["rank", "system", "score", "interval", "ranks", "groups"],
        [
            [
                one.rank,
                one.system,
                one.score,
                "undefined" if one.low is None else f"{one.low:.4f} to {one.high:.4f}",
                "undefined" if one.best_rank is None else f"{one.best_rank} to {one.worst_rank}",
                one.groups,
            ]
            for one in found.systems
        ],
    )
    console.say(
        "Systems that share a letter are not shown to differ by the randomised Tukey HSD "
        f"(alpha {found.alpha:g})."
    )


# --- correlation ----------------------------------------------------------------------------------


def as_object(found: Agreement) -> dict[str, Any]:
    """One label set's agreement."""
    return {
        "label_set": found.board.label_set,
        "level": found.board.level,
        "n_queries": found.n_queries,
        "n_systems": len(found.systems),
        **found.board.completeness.as_object(),
        "correlations": [asdict(one) for one in found.correlations],
        "better": [asdict(one) for one in found.better],
    }


def print_agreements(found: list[Agreement], against: str | None) -> None:
    """Tables of correlations and comparisons; what is undefined is said beneath."""
    console.print_table(
        [
            "label set",
            "level",
            "statistic",
            "value",
            "over queries",
            "over systems",
            "over both",
            "p",
            "systems",
            "queries",
        ],
        [
            [
                one.board.label_set + one.board.completeness.mark,
                one.board.level,
                each.statistic,
                _rounded(each.value),
                *map(_interval, each.spread.values()),
                _rounded(each.p_value),
                len(one.systems),
                one.n_queries,
            ]
            for one in found
            for each in one.correlations
        ],
    )
    better = [(one.board.label_set, each) for one in found for each in one.better]
    if better:
        console.say()
        console.say(f"Agrees better than {against}?")
        console.print_table(
            ["label set", "statistic", "resampled", "difference", "interval", "probability"],
            [
                [
                    name,
                    each.statistic,
                    each.resampled,
                    _rounded(each.difference),
                    _interval(each.spread),
                    _rounded(each.probability),
                ]
                for name, each in better
            ],
        )
    tell_incomplete(one.board for one in found)
    for one in found:
        for each in one.correlations:
            for kind, spread in each.spread.items():
                if spread.undefined:
                    console.warn(
                        f"note: {one.board.label_set}, {each.statistic}, over {kind}: undefined in "
                        f"{spread.undefined:,} replicates; the interval is computed from the others"
                    )


def tell_incomplete(boards: Iterable[Board]) -> None:
    """Name the label sets that label too little of what people judged to be compared."""
    for board in boards:
        if says := board.completeness.says:
            console.warn(f"note: {board.label_set} is {says}")


# --- significance ---------------------------------------------------------------------------------


def _count(pairs: Pairs, theirs: Pairs | None, alpha: float) -> list[dict[str, Any]]:
    return [
        {
            "correction": _NAMES[correction],
            "significant": int((pairs.significant(correction, alpha) != 0).sum()),
            **(agreement_on_pairs(pairs, theirs, correction, alpha) if theirs else {}),
        }
        for correction in CORRECTIONS
    ]


_PAIR_COLUMNS = ("first", "second", "mean_first", "mean_second", "difference", *CORRECTIONS)


def _pair_rows(pairs: Pairs) -> list[tuple]:
    means = pairs.board.values.mean(axis=0) / 1e10
    names = pairs.board.systems
    columns = zip(
        pairs.first,
        pairs.second,
        pairs.difference,
        *(getattr(pairs, c) for c in CORRECTIONS),
        strict=True,
    )
    return [
        (names[a], names[b], *(round(float(v), 10) for v in (means[a], means[b], *values)))
        for a, b, *values in columns
    ]


def pairs_as_object(pairs: Pairs, theirs: Pairs | None, alpha: float) -> dict[str, Any]:
    """Counts, and every pair."""
    return {
        "label_set": pairs.board.label_set,
        "level": pairs.board.level,
        "reference": theirs.board.label_set if theirs else None,
        "reference_level": theirs.board.level if theirs else None,
        "n_queries": len(pairs.board.queries),
        "is_exact": pairs.is_exact,
        "n_pairs": len(pairs.p),
        "counts": _count(pairs, theirs, alpha),
        "pairs": [dict(zip(_PAIR_COLUMNS, row, strict=True)) for row in _pair_rows(pairs)],
    }


def print_pairs(pairs: Pairs, theirs: Pairs | None, alpha: float) -> None:
    """How many pairs are significant, by correction."""
    board = pairs.board
    how = "all sign patterns" if pairs.is_exact else "random sign patterns"
    console.say(
        f"{board.label_set}, {board.measure}, level {board.level}: "
        f"{counted(len(pairs.p), 'pairs')} of "
        f"{counted(len(board.systems), 'systems')} over "
        f"{counted(len(board.queries), 'queries')} ({how})"
    )
    columns, headings = ["correction", "significant"], ["correction", f"p <= {alpha:g}"]
    if theirs:
        console.say(f"reference: {theirs.board.label_set}, level {theirs.board.level}")
        columns += OUTCOMES
        headings += ["both, same way", "both, opposite", "only here", "only reference", "neither"]
    console.print_table(
        headings, [[row[name] for name in columns] for row in _count(pairs, theirs, alpha)]
    )
    if pairs.least_p * len(pairs.p) > alpha:
        console.warn(
            f"note: no p can be below {pairs.least_p:.2g} here, so with "
            f"{counted(len(pairs.p), 'pairs')} Holm's correction finds none"
            + ("" if pairs.is_exact else f"; --replicates {len(pairs.p) * 10 / alpha:.0f} could")
        )


def write_pairs(pairs: Pairs, output: Path) -> None:
    """All pairs as CSV. Raises `BadInput` when the file cannot be written."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_PAIR_COLUMNS)
    writer.writerows(_pair_rows(pairs))
    with whole_file(output) as stream:
        stream.write(text.getvalue().encode())


# --- alpha ----------------------------------------------------------------------------------------


def print_alpha(found: LabelAgreement, per_query: bool) -> None:
    """Alpha, its interval, and each query's where asked for."""
    console.say(f"label sets: {', '.join(found.label_sets)}")
    console.print_table(
        ["metric", "alpha", "interval", "pairs", "queries"],
        [
            [
                found.metric,
                _rounded(found.value),
                _interval(found.spread),
                found.n_pairs,
                len(found.by_query),
            ]
        ],
    )
    if found.undefined_reason:
        console.warn(f"note: alpha is undefined: {found.undefined_reason}")
    elif found.spread.undefined:
        console.warn(f"note: undefined in {found.spread.undefined:,} replicates")
    if len(set(found.highest.values())) > 1:
        tops = ", ".join(f"{name} {top}" for name, top in sorted(found.highest.items()))
        console.warn(f"note: the label sets' highest labels differ ({tops}); equal labels agree")
    if per_query:
        console.say()
        console.print_table(
            ["query_id", "alpha", "pairs"],
            [[query, _rounded(value), n] for query, value, n in found.by_query],
        )


# --- estimate -------------------------------------------------------------------------------------


def _estimates(found: HumanBoard, confidence: float) -> list[dict[str, Any]]:
    low, high = found.powered.interval(confidence)
    sample_low, sample_high = found.sample_only.interval(confidence)
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
    order = np.lexsort((np.arange(len(low)), -found.powered.value))
    return [
        {"system": found.systems[i]}
        | {name: _rounded(values[i], 10) for name, values in columns.items()}
        for i in order
    ]


def estimate_as_object(found: HumanBoard, confidence: float) -> dict[str, Any]:
    """Settings, notes and every system's estimates, best first."""
    return {
        "assessor": found.sample.assessor,
        "sample": found.sample.name,
        "unit": found.sample.unit,
        "level": found.level,
        "assessor_level": found.assessor_level,
        "n_judged": found.n_judged,
        "n_population": found.n_population,
        "notes": found.notes,
        "systems": _estimates(found, confidence),
    }


def print_estimate(found: HumanBoard, confidence: float) -> None:
    """Every system's estimates, best first; what a reader should know is on standard error."""
    units = "queries" if found.sample.unit == "query" else "pairs"
    console.say(
        f"sample {found.sample.name}: {found.n_judged:,} of {found.n_population:,} {units} judged "
        f"by {found.sample.assessor}; {confidence:.0%} intervals"
    )
    console.print_table(
        [
            "system",
            "judge alone",
            "estimate",
            "interval",
            "sample alone",
            "interval",
            "width ratio",
            "tuning",
        ],
        [
            [
                row["system"],
                _rounded(row["judge"]),
                _rounded(row["estimate"]),
                f"{row['low']:.3f} to {row['high']:.3f}",
                _rounded(row["sample_only"]),
                f"{row['sample_low']:.3f} to {row['sample_high']:.3f}",
                _rounded(row["width_ratio"], 2),
                _rounded(row["tuning"], 2),
            ]
            for row in _estimates(found, confidence)
        ],
    )
    for note in found.notes:
        console.warn(f"note: {note}")
