"""Boards made by hand or at random, without a lake."""

import numpy as np

from gradelake.analyses.stats.boards import UNIT, Board


def board(values, label_set: str = "judge:x", queries=None) -> Board:
    """A board of (queries, systems) values between 0 and 1; systems are s1, s2, ..."""
    values = np.asarray(values, dtype=float)
    means = np.floor(values.mean(axis=0) * 1e4 + 0.5)
    return Board(
        label_set,
        1,
        "P@10",
        tuple(queries or (f"q{n}" for n in range(1, values.shape[0] + 1))),
        tuple(f"s{n}" for n in range(1, values.shape[1] + 1)),
        np.rint(values * UNIT),
        means,
    )


def random_board(n_queries: int, n_systems: int, seed: int, label_set: str = "judge:x") -> Board:
    """Values in tenths, as P@10 has them, with ties; later systems are better on average."""
    generator = np.random.default_rng(seed)
    skill = np.linspace(0.3, 0.6, n_systems)
    noise = generator.normal(0, 0.2, size=(n_queries, n_systems))
    return board(np.round(np.clip(skill + noise, 0, 1), 1), label_set)
