"""Commands and nights that break: nothing is lost, nothing doubled, the next run makes it good."""

import os
from pathlib import Path

import pytest

from tests.end_to_end.faults.whole import campaign

pytestmark = pytest.mark.slow

# on each catalog; the first kill ingest, build, grade, a Ray actor of it, and then an engine's
# process in a night; of 500 each, the first and the last go side by side
FEW = {"sqlite": 5, "s3": 2, "postgres": 2}
TABLES = Path(__file__).parents[2] / "build" / "campaigns"
SEED = int(os.environ.get("GRADELAKE_FAULTS_SEED", "2019"))


@pytest.mark.parametrize("lake", FEW)
def test_whatever_breaks_nothing_acknowledged_is_lost_or_doubled(tmp_path, lake):
    n_faults = int(os.environ.get("GRADELAKE_FAULTS", FEW[lake]))
    tally = campaign(tmp_path, n_faults, SEED, print, lake)
    TABLES.mkdir(parents=True, exist_ok=True)
    (TABLES / f"faults-{lake}.txt").write_text(tally.text())
    assert tally.problems == []
    assert tally.total == n_faults
    assert tally.reads > 0  # readers were served while commands and nights broke
