"""Nights in which things break: no grade lost, none doubled, and the next night makes it good."""

import os

import pytest

from tests.end_to_end.faults.whole import campaign

pytestmark = pytest.mark.slow

FAULTS = int(os.environ.get("GRADELAKE_FAULTS", "4"))  # 100 take an hour
SEED = int(os.environ.get("GRADELAKE_FAULTS_SEED", "2019"))


def test_whatever_breaks_in_a_night_no_grade_is_lost_or_doubled(tmp_path):
    tally = campaign(tmp_path, FAULTS, SEED, print, lock_seconds=30 if FAULTS > 50 else 5)
    assert tally.problems == []
    assert tally.total >= FAULTS
    assert tally.reads > 0  # readers were served while nights broke
