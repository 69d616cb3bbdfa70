"""Which ranks are sure, and who cannot be told apart, for the report's leaderboard."""

from collections.abc import Callable, Iterable
from typing import Any

from gradelake.analyses.report.correlations import MEASURES, OF_ANSWERS, REPLICATES, SEED
from gradelake.analyses.stats.boards import Board
from gradelake.analyses.stats.ranks import rank_uncertainty
from gradelake.sql.common.errors import BadInput


def add_ranks(
    boards: dict[str, dict[str, Any]],
    read: Callable[[str, str], Board],
    has_levels: list[str],
    progress: Callable[[list], Iterable],
) -> None:
    """Put ranges of ranks and groups into the boards that `read_boards` read, one per system.

    For each of `MEASURES` and `OF_ANSWERS`, at a label set's usual level (as `read` of label set
    and measure takes it); that of a measure that knows no level at every one. `best` and `worst`
    bound the rank, `groups` are letters (see `rank_uncertainty`). Where `read` raises `BadInput`,
    there are none.
    """
    wanted = (*MEASURES, *OF_ANSWERS)
    known = [(name, m) for name, one in boards.items() for m in wanted if m in one["measures"]]
    for name, measure in progress(known):
        try:
            board = read(name, measure)
        except BadInput:  # not at its usual level
            continue
        found = rank_uncertainty(board, n_replicates=REPLICATES, seed=SEED)
        of = {one.system: one for one in found.systems}
        systems = [of.get(system) for system in boards[name]["systems"]]
        for level, by_measure in boards[name]["boards"].items():
            if measure in by_measure and (level == board.level or measure not in has_levels):
                by_measure[measure] |= {
                    "best": [one and one.best_rank for one in systems],
                    "worst": [one and one.worst_rank for one in systems],
                    "groups": [one and one.groups for one in systems],
                }
