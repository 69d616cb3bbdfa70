"""Two boards of a report: who stands elsewhere on the other, and how far their scores reach."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gradelake.analyses.answers.scatter import find_outliers
from gradelake.sql.common.counted import counted
from gradelake.sql.shown.kinds import shown

NAMED = 3  # of those that change rank
FENCES = 1.5  # times the width of the middle half, from it: beyond lie outliers (Tukey)


@dataclass(frozen=True)
class TwoBoards:
    """The systems of both, as the first has them; `ranks` and `scores`: a row for each board."""

    measure: str
    systems: list[str]
    ranks: np.ndarray
    scores: np.ndarray

    @classmethod
    def of(cls, measure: str, *boards: tuple[dict[str, Any] | None, int]) -> "TwoBoards":
        """Two of `read_boards`, each with its level."""
        ours, theirs = (_placed(board, level, measure) for board, level in boards)
        systems = sorted(ours.keys() & theirs.keys(), key=lambda one: (ours[one][0], one))
        both = np.array([[of[one] for one in systems] for of in (ours, theirs)]).reshape(2, -1, 2)
        return cls(measure, systems, both[:, :, 0].astype(int), both[:, :, 1])

    @property
    def turned(self) -> "TwoBoards":
        """The comparison turned around, from the second to the first."""
        return replace(self, ranks=self.ranks[::-1], scores=self.scores[::-1])

    @cached_property
    def far(self) -> list[str]:
        """The systems that are far from where they stand on the other, the farthest first."""
        return [self.systems[at] for at in find_outliers(*self.scores.round(4))]

    def says(self, tau: dict[str, float | None]) -> str:
        """How many systems there are, how their orders agree, and who changes rank."""
        agree = "".join(f"Kendall's tau-b {shown('tau', one)}. " for one in tau.values())
        return f"{counted(len(self.systems), 'systems')} by {self.measure}: {agree}{self._moved()}"

    def differently(self) -> str:
        """The systems that are far from their place, where the first board is people's."""
        ranks = dict(zip(self.systems, self.ranks.T.tolist(), strict=True))
        said = "{} (rank {} by people, {} by these labels)".format
        far = "; ".join(said(system, *ranks[system]) for system in self.far)
        return f" Ranked differently: {far}." if far else ""

    def _moved(self) -> str:
        by = np.abs(np.subtract(*self.ranks))
        n, places = np.count_nonzero(by), np.lexsort((self.ranks[0], -by))[:NAMED]
        if not n:
            return "No system changes rank."
        most = (
            f"{self.systems[at]} ({self.ranks[0, at]} \u2192 {self.ranks[1, at]})"
            for at in places[:n]
        )
        return f"{n} change rank, most of all {', '.join(most)}."

    def reach(self) -> dict[str, float]:
        """Where axes that both boards share begin and end: what lies beyond Tukey's fences would
        squash the rest."""
        inside = np.concatenate([within_fences(own) for own in self.scores])
        return {"low": float(inside.min()), "high": float(inside.max())}


def within_fences(values: np.ndarray) -> np.ndarray:
    """The values within Tukey's fences; all where the middle half has no width."""
    low, high = np.quantile(values, (0.25, 0.75), method="nearest")
    far = FENCES * (high - low) or np.inf
    return values[(values >= low - far) & (values <= high + far)]


def _placed(board: dict[str, Any] | None, level: int, measure: str) -> dict[str, tuple[int, float]]:
    """system -> (rank, score) on a board; nothing where it has none of the measure."""
    at = board and board["boards"].get(level, {}).get(measure)
    if not board or not at:
        return {}
    rows = zip(board["systems"], at["rank"], at["score"], strict=True)
    return {system: (rank, score) for system, rank, score in rows if score is not None}
