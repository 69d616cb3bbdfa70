"""Groups of systems from gradelake.toml."""

import pytest

from gradelake.sql.common.errors import BadInput
from tests.ingest.conftest import said


def groups(tiny):
    return tiny.rows("select grouping, group_name, system from lake.raw.system_groups order by all")


def test_patterns_put_systems_into_groups_and_follow_the_settings(ingested):
    ingested.configure(groups={"family": {"mine": ["go*"]}, "year": {"old": "good"}})
    assert ingested.ingest().counts == {"system_groups": 2}
    assert groups(ingested) == [("family", "mine", "good"), ("year", "old", "good")]
    assert ingested.ingest().counts == {}

    ingested.write("runs/gold.run", ["q1 Q0 p1 1 2.5 gold"])
    ingested.ingest()
    assert ("family", "mine", "gold") in groups(ingested), "a new system finds its group"

    ingested.configure(groups=None)
    ingested.ingest()
    assert groups(ingested) == []


def test_a_pattern_that_fits_nothing_is_said(ingested):
    ingested.configure(groups={"family": {"mine": ["bm25*"]}})
    (warning,) = ingested.ingest().warnings
    assert warning == "[collections.tiny.groups] family, mine: no system is called 'bm25*'"


def test_a_system_in_two_groups_is_refused_and_the_old_groups_stay(ingested):
    ingested.configure(groups={"family": {"mine": ["good"]}})
    ingested.ingest()
    ingested.configure(groups={"family": {"mine": ["good"], "yours": ["g*"]}})
    outcome = ingested.ingest()
    assert "family: 'good' is in 'mine' and 'yours'" in said(outcome)
    assert groups(ingested) == [("family", "mine", "good")]


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (["good"], r"\[collections.tiny\]: groups must be a table\n  For example: "),
        ({"family": ["good"]}, r"groups\.family must be a table"),
        ({"family": {"mine": 3}}, r"groups\.family\.mine must be a list of strings"),
        ({'"a/b"': {"mine": ["good"]}}, "a/b"),
    ],
)
def test_settings_that_are_no_groups_are_named(ingested, setting, words):
    ingested.configure(groups=setting)
    with pytest.raises(BadInput, match=words):
        ingested.ingest()
