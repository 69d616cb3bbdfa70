"""How much a night may grade, shared over the graders that have something to do."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Share:
    """What one grader may use now, as `grade` takes it; None: there is no limit."""

    limit: int | None  # pairs
    max_minutes: float | None
    max_cost: float | None = None


class Budget:
    """Pairs, minutes and money of a night.

    Whoever comes gets an equal share of what is left for those to come, so what one does not need
    goes to the others: let them come with the least work first. Minutes count from the first.
    """

    def __init__(
        self,
        max_pairs: int | None = None,
        max_minutes: float | None = None,
        max_cost: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._pairs = max_pairs
        self._seconds = None if max_minutes is None else 60 * max_minutes
        self._cost = max_cost
        self._clock = clock
        self._began: float | None = None

    def share(self, n_to_come: int, n_paid: int = 0) -> Share | None:
        """The share of the first of `n_to_come` graders; None when nothing is left.

        `n_paid` of them cost something, the first among them; 0 where the first costs nothing.
        """
        self._began = self._clock() if self._began is None else self._began
        pairs = minutes = cost = None
        if self._pairs is not None:
            if self._pairs <= 0:
                return None
            pairs = max(1, self._pairs // n_to_come)
        if self._seconds is not None:
            left = self._seconds - (self._clock() - self._began)
            if left <= 0:
                return None
            minutes = max(left / n_to_come / 60, 0.001)
        if self._cost is not None and n_paid:
            if self._cost <= 0:
                return None
            cost = self._cost / n_paid
        return Share(pairs, minutes, cost)

    def spend(self, pairs: int, cost: float = 0) -> None:
        """Take what was graded off. Pairs that reused an answer cost nothing."""
        if self._pairs is not None:
            self._pairs -= pairs
        if self._cost is not None:
            self._cost -= cost
