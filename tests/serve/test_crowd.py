"""Several people at once beside a night: nothing fails, nothing is lost."""

import shutil

import pytest

from tests.benchmarks.assessors import crowd


@pytest.mark.slow
@pytest.mark.campaign
def test_eight_people_review_beside_a_night(graded_demo, tmp_path):
    folder = shutil.copytree(graded_demo, tmp_path / "demo")
    config = folder / "gradelake.toml"  # one grader is enough
    config.write_text(config.read_text().partition("[graders.lexical_nuggets]")[0])

    found = crowd(folder, people=8, seconds=5)

    assert found.errors == []
    assert found.nights > 0
    assert len(found.said) > 8
    assert found.in_lake == found.said
    assert found.twice == 0
    assert found.files == 0
