"""What raw tables' contracts let through without pandera is what pandera lets through."""

import polars as pl
import pytest

from gradelake.sql.common.problems import BadRows
from gradelake.sql.lake.raw_tables import raw_tables
from gradelake.sql.lake.rows import contract
from tests.projects import rows
from tests.tiers import CAMPAIGN, first_of

ODD: dict = {
    pl.String: ["", "odd"],
    pl.Int64: [-1, 0, 2],
    pl.Float64: [-1, 0, 1.5, float("nan"), float("inf"), 1e300],
}


@pytest.mark.parametrize("table", first_of(4, *raw_tables(), mark=CAMPAIGN))
def test_both_agree_on_each_value_of_each_column(table, monkeypatch):
    good = rows(table)
    frames = [good, good.cast({pl.Int64: pl.Int16}), good.drop(*contract(table).optional)]
    frames += [pl.concat([frame, frame]) for frame in frames]
    frames += [
        good.with_columns(pl.Series(name, [value], type_))
        for name, type_ in (*good.schema.items(), ("other", pl.Int64))
        for value in (None, *ODD.get(type_, ()))
    ]
    at_once = [outcome(table, frame) for frame in frames]
    monkeypatch.setattr(type(contract(table)), "_at_once", lambda *_: None)
    assert at_once == [outcome(table, frame) for frame in frames]
    assert {found[0] for found in at_once} == {True, False}


def outcome(table: str, frame: pl.DataFrame) -> tuple[bool, str]:
    """Whether rows are let through, and those that come out, or what is wrong."""
    try:
        found = contract(table).validate(frame)
    except BadRows as error:
        return False, str(error)
    return True, repr((found.schema, found.rows()))
