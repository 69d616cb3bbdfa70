"""Which pairs of systems differ by more than chance."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradelake.analyses.answers import parts
from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.common.command_line import refuse_without
from gradelake.sql.common.counted import counted
from gradelake.sql.shown.answer import Answer, Column, Table
from gradelake.sql.shown.kinds import Interval, shown

FEW = 10  # pairs that a terminal shows
NAMES = {
    "p": "uncorrected",
    "p_holm": "Holm",
    "p_bh": "Benjamini-Hochberg",
    "p_tukey": "randomised Tukey HSD",
}
AMONG_ALL = [*NAMES][1:]
PAIRS = [
    Column("first", is_key=True, means="The better of the two systems."),
    Column("second", is_key=True, means="The other."),
    Column("mean_first", "its score", "score", means="The mean score of the first."),
    Column("mean_second", "the second's", "score", means="The mean score of the second."),
    Column("difference", kind="score", means="The first mean less the second."),
    Column("interval", kind="interval", is_beside=True, means=parts.OVER_QUERIES),
    Column("p", "p", "p", means=parts.P_VALUE),
    *(
        Column(
            key,
            f"p, {NAMES[key]}",
            "p",
            means=f"p corrected for all pairs that are tested: {NAMES[key]}.",
        )
        for key in AMONG_ALL
    ),
    Column("verdict", "the first is", means="Whether the first is better."),
]
CORRECTION = Column(
    "correction", is_key=True, means="How p is corrected for all pairs that are tested."
)
COUNTS = [
    CORRECTION,
    Column("significant", "different", "count", means="Pairs that differ significantly."),
]
BOTH = [
    Column(
        "both", "both, same way", "count", means="Pairs that both find different, the same way."
    ),
    Column(
        "opposite",
        "both, opposite",
        "count",
        means="Pairs that both find different, the opposite way.",
    ),
    Column("only", "only here", "count", means="Pairs that the label set alone finds different."),
    Column(
        "only_reference",
        "only reference",
        "count",
        means="Pairs that the reference alone finds different.",
    ),
    Column("neither", kind="count", means="Pairs that neither finds different."),
]
ERRORS = [
    CORRECTION,
    Column("error", is_key=True, means="The error, where the label set decides."),
    Column("n_errors", "pairs", "count", means="Pairs with that error."),
    Column("n_pairs", "of", "count", means="Pairs that could have it."),
    *parts.figure("share", "share", "share", "The share of those that have it."),
]


@question("significance", "Test which systems differ by more than chance.")
@options.measured
@options.named("--label-set", "The label set whose scores to test.", required=True)
@options.named(
    "--reference",
    "Count on which pairs this label set agrees, and what goes wrong where --label-set decides in "
    "its place.",
)
@options.in_segment
@options.at_level
@options.at_reference_level
@options.at_alpha("A pair is significant if its p is at or below this.")
@options.replicated("Permutations; with up to 14 queries all sign patterns are tried.")
def significance(
    lake, collection, measure, label_set, reference, segment, level, reference_level, **settings
):
    """Test which pairs of systems differ by more than chance.

    Paired randomisation tests over queries, two-sided: uncorrected, corrected by Holm and by
    Benjamini and Hochberg, and the randomised Tukey HSD, which looks at all systems at once. With
    --reference, also decision errors: shares of the pairs that one of the two calls different, with
    intervals from resampling queries. Of pairs that the label set calls different, the reference
    calls the other way (reversed), scores the other way (other sign), cannot tell apart (untold);
    of pairs that the reference calls different, the label set cannot tell apart (missed), calls the
    other way (contradicted).

    \b
    Examples:
      gradelake stats significance dl19 --measure nDCG@10 \\
          --label-set judge:Sun -o pairs.csv
      gradelake stats significance dl19 --measure AP \\
          --label-set judge:Sun --level 1 --reference assessor:nist
    """
    from gradelake.analyses.stats.boards import read_board, read_reference
    from gradelake.analyses.stats.significance import compare_pairs

    refuse_without("--reference", reference, "--reference-level")
    alpha, seed, replicates = settings["alpha"], settings["seed"], settings["replicates"]
    boards = [read_board(lake, collection, label_set, measure, level, segment)]
    if reference:
        boards.append(read_reference(lake, collection, reference, reference_level, boards[0]))
    systems = list(boards[0].systems)
    pairs, *others = (compare_pairs(each.of(systems), replicates, seed) for each in boards)
    theirs = others[0] if others else None
    tables = [Table.of("pairs", PAIRS, rows_of_pairs(pairs, alpha), most=FEW)]
    counts = Table.of("counts", COUNTS + BOTH * bool(theirs), _counts(pairs, theirs, alpha))
    tables.append(counts)
    if theirs:
        caption = f"Decision errors, where {label_set} decides for {reference}"
        errors = _decision_errors(pairs, theirs, alpha, seed)
        tables.append(Table.of("decision_errors", ERRORS, errors, caption=caption))
    how = "all sign patterns" if pairs.is_exact else "random sign patterns"
    board, n_pairs = pairs.board, len(pairs.p)
    against = f"; reference: {reference}, level {theirs.board.level}" if theirs else ""
    return Answer(
        {"collection": collection, "measure": measure} | settings,
        f"{parts.heading(board)}: {counted(n_pairs, 'pairs')} of {parts.sized(board)} ({how}; "
        f"{shown('percent', pairs.confidence(alpha))} intervals){against}",
        tables=tables,
        notes=[*parts.incomplete(boards), *_least_p(pairs, alpha)],
        details={
            "label_set": board.label_set,
            "level": board.level,
            "reference": reference,
            "reference_level": theirs and theirs.board.level,
            "n_queries": len(board.queries),
            "is_exact": pairs.is_exact,
            "n_pairs": n_pairs,
        },
    )


def rows_of_pairs(pairs, alpha: float) -> Iterator[dict[str, Any]]:
    """Each pair, the better system first."""
    from gradelake.analyses.stats.better import BETTER, decide
    from gradelake.analyses.stats.boards import UNIT

    means = dict(zip(pairs.board.systems, pairs.board.units.means / UNIT, strict=True))
    for at, one in enumerate(decide(pairs, alpha)):
        low, high = one.low, one.high
        if one.difference < 0 and low is not None and high is not None:
            low, high = -high, -low
        verdict = one.verdict
        if verdict == BETTER and not pairs.p_holm[at] <= alpha:
            verdict = "better, but not of all pairs"
        yield {
            "first": one.better,
            "second": one.worse,
            "mean_first": parts.rounded(means[one.better]),
            "mean_second": parts.rounded(means[one.worse]),
            "difference": abs(one.difference),
            "interval": Interval(low, high),
            "verdict": verdict,
            **{key: parts.rounded(getattr(pairs, key)[at]) for key in NAMES},
        }


def _counts(pairs, theirs, alpha: float) -> Iterator[dict[str, Any]]:
    """How many pairs each correction finds different, and how often the reference does."""
    from gradelake.analyses.stats.significance import agreement_on_pairs

    for key, name in NAMES.items():
        n_found = int(np.count_nonzero(pairs.significant(key, alpha)))
        beside = agreement_on_pairs(pairs, theirs, key, alpha) if theirs else {}
        yield {"correction": name, "significant": n_found} | beside


def _decision_errors(pairs, theirs, alpha: float, seed: int) -> Iterator[dict[str, Any]]:
    """How often each correction goes wrong where these pairs decide for the reference's."""
    from gradelake.analyses.stats.decisions import decision_errors

    for error in decision_errors(pairs, theirs, alpha, seed=seed):
        share = parts.spread("share", error.share, error.spread)
        yield vars(error) | {"correction": NAMES[error.correction]} | share


def _least_p(pairs, alpha: float) -> list[str]:
    """What is said where Holm's correction can find nothing."""
    n_pairs = len(pairs.p)
    if pairs.least_p * n_pairs <= alpha:
        return []
    could = "" if pairs.is_exact else f"; --replicates {round(n_pairs * 10 / alpha)} could"
    return [
        f"no p can be below {shown('p', pairs.least_p)} here, so with {counted(n_pairs, 'pairs')} "
        f"Holm's correction finds none{could}"
    ]
