"""Commands and nights that break: nothing is lost, nothing doubled, the next run makes it good."""

import os

import pytest

from tests.end_to_end.faults.whole import campaign

pytestmark = pytest.mark.slow

# on each kind of lake; the first kill ingest, build, grade, a Ray actor of it, and then an engine's
# process in a night
FEW = {"sqlite": 5, "postgres": 2, "s3": 2}
AT_MOST = 50  # on one lake: it grows with every round
SEED = int(os.environ.get("GRADELAKE_FAULTS_SEED", "2019"))
PARTS = [
    pytest.param(lake, seed, min(AT_MOST, n - done), id=f"{lake}-{seed}")
    for lake, few in FEW.items()
    for n in [int(os.environ.get("GRADELAKE_FAULTS", few))]
    for seed, done in enumerate(range(0, n, AT_MOST), SEED)
]


@pytest.mark.parametrize(("lake", "seed", "n_faults"), PARTS)
def test_whatever_breaks_nothing_acknowledged_is_lost_or_doubled(tmp_path, lake, seed, n_faults):
    tally = campaign(tmp_path, n_faults, seed, print, lake, turn=2 * (seed - SEED))
    tally.keep(lake, seed)
    assert tally.problems == []
    assert tally.total == n_faults
    assert tally.reads > 0  # readers were served while commands and nights broke
