"""What a row of a raw table must be, checked with pandera on the way in.

A check's `error` text is what a person reads when a row breaks it. Keys are checked here within a
frame; importers replace whole targets, so nothing else can hold the key.
"""

from functools import cache
from typing import Any

import pandera.polars as pa
import polars as pl

from gradelake.sql.lake.raw_tables import raw_tables

_TYPES: dict[str, Any] = {
    "varchar": pl.String,
    "varchar[]": pl.List(pl.String),
    "integer": pl.Int64,
    "bigint": pl.Int64,
    "double": pl.Float64,
    "boolean": pl.Boolean,
    "timestamp": pl.Datetime("us"),
}
_FILLED = pa.Check.str_length(min_value=1, error="must not be empty")
# what a column's `check` names
_CHECKS = {
    "finite": pa.Check(
        lambda data: data.lazyframe.select(pl.col(data.key).is_finite()),
        error="must be a finite number",
    ),
    # trec_eval compares scores as 32-bit floats
    "finite_float32": pa.Check(
        lambda data: data.lazyframe.select(pl.col(data.key).cast(pl.Float32).is_finite()),
        error="must be finite as a 32-bit float",
    ),
    "probability": pa.Check.in_range(0, 1, include_min=False, error="must be in (0, 1]"),
}


@cache
def contract_of(table: str) -> pa.DataFrameSchema:
    """The contract of a raw table. A column that may be null may be left out of a frame."""
    declared = raw_tables()[table]
    columns = {
        name: pa.Column(
            _TYPES[type_],
            _checks(type_, declared.rules[name]),
            nullable=declared.rules[name].get("optional", False),
            required=not declared.rules[name].get("optional", False),
            coerce=_TYPES[type_] == pl.Int64,
        )
        for name, type_ in declared.types.items()
    }
    return pa.DataFrameSchema(columns, unique=declared.key or None, strict=True, name=table)


def _checks(type_: str, rules: dict[str, Any]) -> list[pa.Check]:
    if values := rules.get("values"):
        shown = ", ".join(map(str, values))
        return [pa.Check.isin(values, error=f"must be one of {shown}")]
    checks = [_CHECKS[rules["check"]]] if "check" in rules else []
    if (minimum := rules.get("minimum")) is not None:
        low = f"must be at least {minimum}" if minimum else "must not be negative"
        checks.append(pa.Check.ge(minimum, error=low))
    if type_ == "varchar" and not rules.keys() & {"optional", "may_be_empty"}:
        checks.append(_FILLED)
    return checks
