"""Two systems, or two label sets, side by side: what the page cannot compute by itself."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gradelake.analyses.report.correlations import MEASURES, REPLICATES, SEED
from gradelake.analyses.report.report_queries import ask_if_there
from gradelake.analyses.stats.boards import Board, default_level
from gradelake.analyses.stats.resample import student_reach
from gradelake.analyses.stats.significance import compare_pairs
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.lake import Lake

ALPHA = 0.05


def compare_systems(
    label_sets: list[str], read: Callable[[str, str], Board], progress: Callable[[list], Iterable]
) -> dict[str, dict[str, dict[str, Any]]]:
    """label set -> measure of `MEASURES` -> what `compare_pairs` finds at its usual level.

    `read` gives the board of a label set and measure, or raises `BadInput` where there is none.
    The p of each pair stand in the order of the pairs: (0, 1), (0, 2), ..., (1, 2), ...; `holm` is
    None where no p could be small enough for Holm's correction to find anything.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in label_sets}
    for name, measure in progress([(name, m) for name in label_sets for m in MEASURES]):
        try:
            board = read(name, measure)
            pairs = compare_pairs(board, REPLICATES, SEED)
        except BadInput:  # one system, or no such measure
            continue
        found[name][measure] = {
            "level": board.level,
            "systems": board.systems,
            "is_exact": pairs.is_exact,
            "p": pairs.p.round(4).tolist(),
            "tukey": pairs.p_tukey.round(4).tolist(),
            "holm": pairs.p_holm.round(4).tolist()
            if pairs.least_p * len(pairs.p) < ALPHA
            else None,
        }
    return found


def compare_label_sets(lake: Lake, collection: str, label_sets: list[str]) -> dict[str, Any]:
    """Kendall's tau-b between boards at their usual levels, by `MEASURES`, and topic by topic.

    `levels`: label set -> usual level; `boards`: label set -> other -> measure -> tau; `topics`:
    label set -> assessor's label set -> measure -> query -> tau. What the marts do not have is
    left out.
    """
    levels = {name: default_level(lake, collection, name) for name in label_sets}
    found: dict[str, Any] = {"levels": levels, "boards": {}, "topics": {}}
    of = {"collection": collection, "label_sets": label_sets, "measures": list(MEASURES)}
    for kind, name in (("boards", "label_set_agreement"), ("topics", "topic_agreement")):
        for row in ask_if_there(lake, name, **of):
            others = found[kind].setdefault(row["label_set"], {})
            others.setdefault(row["reference"], {})[row["measure"]] = row["kendall"]
    return found


def t_quantiles(most: int) -> list[float]:
    """Student's t for a two-sided 95 % interval over 2, 3, ... `most` topics."""
    return student_reach(np.arange(2, most + 1), 1 - ALPHA).round(6).tolist()
