"""How many pairs of each stratum are drawn: by hand, and what Neyman's allocation is good for."""

import numpy as np
import pytest

from gradelake.analyses.stats.prediction_powered import Stratum, stratified
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.sampling import allocate, neyman

SIZES = {"low": 200, "middle": 100, "high": 40}


def test_neyman_draws_where_there_are_many_and_people_are_of_two_minds():
    judged = {"low": (8, 0), "middle": (8, 4)}

    weights = neyman(SIZES, judged)

    # p: 1/10, 5/10, 1/2 without a judgment; sqrt(p (1 - p)): 0.3, 0.5, 0.5
    assert weights == pytest.approx({"low": 60, "middle": 50, "high": 20})
    # of 26: 26/130 of each weight
    assert allocate(SIZES, 26, weights) == {"low": 12, "middle": 10, "high": 4}
    assert allocate(SIZES, 17, SIZES) == {"low": 10, "middle": 5, "high": 2}


def test_each_stratum_gives_two_and_none_more_than_it_has():
    sizes = {"a": 1, "b": 3, "c": 100}

    assert allocate(sizes, 6, {"a": 0, "b": 0, "c": 9}) == {"a": 1, "b": 2, "c": 3}
    assert allocate(sizes, 10, {"a": 9, "b": 9, "c": 1}) == {"a": 1, "b": 3, "c": 6}
    assert allocate(sizes, 104, sizes) == sizes
    with pytest.raises(BadInput, match="4 pairs are too few"):
        allocate(sizes, 4, sizes)
    with pytest.raises(BadInput, match="104 pairs to draw from, fewer than 105"):
        allocate(sizes, 105, sizes)


def test_intervals_are_narrower_than_of_a_proportional_sample_and_hold():
    """1,300 pairs, 300 times: 10 of each stratum were judged before, 100 are drawn."""
    random = np.random.default_rng(4)
    shares = {"low": (900, 0.02), "middle": (300, 0.3), "high": (100, 0.8)}
    sizes = {code: size for code, (size, _) in shares.items()}
    errors: dict[str, list[float]] = {"neyman": [], "proportional": []}
    misses = dict.fromkeys(errors, 0)

    def drawn(of: np.ndarray, n: int) -> np.ndarray:
        return random.choice(of, n, replace=False)[:, None].astype(float)

    for _ in range(300):
        people = {code: random.random(size) < share for code, (size, share) in shares.items()}
        pilot = {code: (10, int(random.choice(of, 10, False).sum())) for code, of in people.items()}
        truth = sum(of.sum() for of in people.values())
        for name, weights in (("neyman", neyman(sizes, pilot)), ("proportional", sizes)):
            n = allocate(sizes, 100, weights)
            strata = [
                Stratum(sizes[code], drawn(of, n[code]), np.zeros((n[code], 1)))
                for code, of in people.items()
            ]
            found = stratified(strata, None)
            low, high = found.interval(0.95)
            errors[name].append(float(found.standard_error[0]))
            misses[name] += not low[0] <= truth <= high[0]

    assert np.mean(errors["neyman"]) < 0.92 * np.mean(errors["proportional"])
    assert misses["neyman"] / 300 < 0.1
