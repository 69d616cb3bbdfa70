"""Nobody's family is favoured, and `group_bias` says so."""

import numpy as np
import pytest
from scipy import stats

from tests.benchmarks import biases


@pytest.mark.parametrize("sizes", [(5, 5, 5), (1, 4, 25)])
@pytest.mark.parametrize("world", [biases.SHARED, biases.SKEWED])
def test_a_family_whose_systems_err_alike_is_called_favoured_in_5_percent(world, sizes):
    p, holm = biases.found_favoured(world, sizes, n_queries=25, n_boards=300)
    assert p.mean() < 0.08  # systems taken as independent: more than half
    assert holm < 0.08


def test_p_is_that_of_scipy():
    families = np.repeat([0, 1], [2, 3])
    of = biases.residuals(np.random.default_rng(0), biases.SHARED, 5, 12, families)
    differences = of[..., :2].mean(axis=2) - of[..., 2:].mean(axis=2)
    found = biases.tested(of, families).filter(group_name=0)
    assert found["p"].to_list() == pytest.approx(
        stats.ttest_1samp(differences, 0, axis=1).pvalue, abs=2e-6
    )
