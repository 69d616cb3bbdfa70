"""Rank correlation with intervals, for the report's table and picture."""

from collections.abc import Callable
from typing import Any

from gradelake.analyses.stats.boards import Board, OfficialRanks, read_official_ranks
from gradelake.analyses.stats.correlation import Agreement, agreement
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake

REPLICATES = 2000
SEED = 1
MEASURES = ("nDCG@10", "AP", "RR")
OF_ANSWERS = ("StrictVital", "Vital", "SupportP", "SupportR")  # whose systems are told apart, too


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
    the 95 % interval of `agreement`, over queries.
    """
    if official is None and reference is None:
        return [], []
    ranks = read_official_ranks(lake, collection, official) if official else None
    pairs = [(n, m) for m in MEASURES for n in label_sets if ranks or n != reference]
    theirs: dict[str, Board | OfficialRanks] = {}
    found, left_out = [], []
    for name, measure in progress("correlating", pairs, len(pairs)):
        try:
            if measure not in theirs:
                theirs[measure] = ranks or read(str(reference), measure)
            board = read(name, measure)
            one = agreement(board, theirs[measure], n_replicates=REPLICATES, seed=SEED)
        except BadInput as error:
            left_out.append(f"{name} by {measure}: {error.message}")
            continue
        found.append(_row(one))
    return found, left_out


def _row(found: Agreement) -> dict[str, Any]:
    by_name = {one.statistic: one for one in found.correlations}
    kendall = by_name["kendall"]
    return {
        "label_set": found.board.label_set,
        **found.board.completeness.as_object(),
        "measure": found.board.measure,
        "level": found.board.level,
        "n_systems": len(found.systems),
        "n_queries": found.n_queries,
        "kendall": kendall.value,
        "low": kendall.spread["queries"].low,
        "high": kendall.spread["queries"].high,
        "spearman": by_name["spearman"].value,
        "tau_ap": by_name["tau_ap"].value,
        "p_value": kendall.p_value,
    }
