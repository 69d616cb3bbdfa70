"""Commands and nights that break: nothing is lost, nothing doubled, the next one makes it good."""

import os

import pytest

from tests.end_to_end.faults.whole import LAKES, campaign

pytestmark = pytest.mark.slow

# on each catalog: the first kill ingest, build and grade, and in a night a Ray actor, an engine's
# process and the driver; 500 take some hours
FAULTS = int(os.environ.get("GRADELAKE_FAULTS", "6"))
SEED = int(os.environ.get("GRADELAKE_FAULTS_SEED", "2019"))


@pytest.mark.parametrize("lake", LAKES)
def test_whatever_breaks_nothing_acknowledged_is_lost_or_doubled(tmp_path, lake):
    few = FAULTS < 50
    in_nights = (0.5 if lake == LAKES[0] else 0) if few else 0.05
    tally = campaign(tmp_path, FAULTS, SEED, print, 5 if few else 30, lake, in_nights=in_nights)
    assert tally.problems == []
    assert tally.total >= FAULTS
    assert tally.reads > 0  # readers were served while commands and nights broke
