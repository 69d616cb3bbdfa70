"""Krippendorff's alpha against the package `krippendorff`."""

import duckdb
import jinja2
import krippendorff
import numpy as np
import pytest

from gradelake.analyses.stats.krippendorff_alpha import alpha, bootstrap_alpha, coincidences
from gradelake.analyses.stats.resample import resampled
from tests.places import REPOSITORY

METRICS = ("ordinal", "nominal", "interval")


def counted(matrix, queries=None):
    """Coincidences of a (labellers, units) matrix with NaN where a label is missing."""
    labeller, unit = np.nonzero(~np.isnan(matrix))
    queries = np.array(queries or ["q1"] * matrix.shape[1])
    return coincidences(queries[unit], unit, matrix[labeller, unit])


def ours(matrix, metric):
    found = counted(matrix)
    return float(alpha(found.counts.sum(axis=0), found.scale, metric))


def theirs(matrix, metric):
    return krippendorff.alpha(matrix, level_of_measurement=metric)


def random_labels(seed, n_labellers=4, n_units=60, missing=0.3):
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 4, n_units)
    labels = np.clip(truth + generator.integers(-1, 2, (n_labellers, n_units)), 0, 3).astype(float)
    labels[generator.random(labels.shape) < missing] = np.nan
    return labels


@pytest.mark.parametrize("metric", METRICS)
def test_alpha_is_that_of_the_package(metric):
    gaps = np.array([[0, 0, 3, 9, 9], [0, 3, 3, 9, 3]], dtype=float)  # between the labels
    for seed in range(6):
        for labels in (random_labels(seed), random_labels(seed, 2, 10, 0), gaps):
            assert ours(labels, metric) == pytest.approx(theirs(labels, metric), abs=1e-12)


@pytest.mark.parametrize(("metric", "highest"), [("interval", 3), ("nominal", 1)])
def test_the_macro_of_dbt_gives_the_same_value(metric, highest):
    macro = (REPOSITORY / "dbt_project/macros/alpha.sql").read_text()
    call = "{{ krippendorff_alpha('n', 'total', 'total_squares') }}"
    derived = jinja2.Environment().from_string(macro + call).render()
    labels = np.minimum(random_labels(1), highest)
    rows = [unit[~np.isnan(unit)] for unit in labels.T if (~np.isnan(unit)).sum() > 1]
    values = ", ".join(f"({len(v)}, {v.sum()}, {(v**2).sum()})" for v in rows)
    of = f"(values {values}) as units(n, total, total_squares)"
    assert ours(labels, metric) == pytest.approx(
        duckdb.sql(f"select {derived} from {of}").fetchall()[0][0]
    )


def test_krippendorffs_own_example():
    """Krippendorff (2011), section C: four observers, 12 units; nominal 0.743, ordinal 0.815."""
    n = np.nan
    labels = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, n, n, n],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, n, 3],
            [n, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, n],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, n],
        ]
    )
    figures = {metric: round(ours(labels, metric), 3) for metric in METRICS}
    assert figures == {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849}


@pytest.mark.parametrize("metric", METRICS)
def test_alpha_is_undefined_where_all_labels_are_equal_or_no_unit_has_two(metric):
    assert np.isnan(ours(np.array([[1.0, 1.0], [1.0, 1.0]]), metric))
    assert np.isnan(ours(np.array([[1.0, np.nan], [np.nan, 2.0]]), metric))


@pytest.mark.parametrize("metric", METRICS)
def test_a_replicate_is_the_alpha_of_copied_queries(metric):
    labels = random_labels(3)
    queries = [f"q{n % 6}" for n in range(labels.shape[1])]
    found = counted(labels, queries)
    (sequence,) = np.random.SeedSequence(9).spawn(1)
    draws = resampled(np.random.Generator(np.random.PCG64(sequence)), 40, 6).astype(int)
    expected = []
    for times in draws:
        copies = [labels[:, np.array(queries) == f"q{n}"] for n in np.repeat(range(6), times)]
        expected.append(theirs(np.concatenate(copies, axis=1), metric))
    assert bootstrap_alpha(found, metric, 40, seed=9) == pytest.approx(expected, abs=1e-12)


def test_each_query_has_its_own_alpha_and_count():
    labels = np.array([[0, 1, 2, 1, 1], [0, 1, 1, 1, np.nan]], dtype=float)
    found = counted(labels, ["a", "a", "a", "b", "b"])
    assert (found.queries, found.n_pairs.tolist()) == (("a", "b"), [3, 1])
    first, second = alpha(found.counts, found.scale, "nominal")
    assert first == pytest.approx(theirs(labels[:, :3], "nominal"))
    assert np.isnan(second)
