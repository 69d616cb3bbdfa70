"""What a row of a raw table must be, checked on the way in.

A check's text is what a person reads when a row breaks it. Keys are checked here within a frame;
importers replace whole targets, so nothing else can hold the key.

pandera says which rows break what. It takes most of a second to import, so the same expressions
first ask whether any row does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import polars as pl

from gradelake.sql.common.problems import BrokenContract
from gradelake.sql.lake.raw_tables import raw_tables

Check = Callable[[pl.Expr], pl.Expr]

_TYPES: dict[str, Any] = {
    "varchar": pl.String,
    "varchar[]": pl.List(pl.String),
    "integer": pl.Int64,
    "bigint": pl.Int64,
    "double": pl.Float64,
    "boolean": pl.Boolean,
    "timestamp": pl.Datetime("us"),
}
# what a column's `check` names
_CHECKS: dict[str, tuple[str, Check]] = {
    "finite": ("must be a finite number", pl.Expr.is_finite),
    # trec_eval compares scores as 32-bit floats
    "finite_float32": (
        "must be finite as a 32-bit float",
        lambda column: column.cast(pl.Float32).is_finite(),
    ),
    "probability": ("must be in (0, 1]", lambda column: column.is_between(0, 1, closed="right")),
}


@dataclass(frozen=True)
class Contract:
    """What each row of a raw table must be. A frame may lack a column that may be null."""

    table: str
    key: list[str]
    types: dict[str, Any]
    optional: set[str]
    checks: dict[str, dict[str, Check]]  # column -> text -> check

    def validate(self, rows: pl.DataFrame, unique: bool = True) -> pl.DataFrame:
        """The rows, with whole numbers of 64 bits. `unique`: whether the key is looked at, too.

        Raises `BrokenContract` with all that is wrong.
        """
        found = self._in_types(rows)
        if found is not None and not self._is_broken(found, self.key if unique else []):
            return found
        from pandera.errors import SchemaErrors

        try:
            return self._schema(self.key if unique else []).validate(rows, lazy=True)
        except SchemaErrors as error:
            raise BrokenContract(error) from error

    def _in_types(self, rows: pl.DataFrame) -> pl.DataFrame | None:
        """The rows as the columns' types; None where that takes more than wider whole numbers."""
        wider = {
            name: pl.Int64
            for name, type_ in rows.schema.items()
            if type_.is_integer() and type_ != pl.UInt64
        }
        rows = rows.cast(wider)  # type: ignore[arg-type]
        missing = self.types.keys() - rows.schema.keys() - self.optional
        other = any(self.types.get(name) != type_ for name, type_ in rows.schema.items())
        return None if missing or other else rows

    def _is_broken(self, rows: pl.DataFrame, key: list[str]) -> bool:
        """Whether a row may break a check, has a null or NaN, or the hash of another's key."""
        broken = [pl.col(name).is_null().any() for name in self.types.keys() - self.optional]
        broken += [pl.col(pl.Float64).is_nan().any()]
        broken += [
            check(pl.col(name)).not_().any()
            for name in rows.columns
            for check in self.checks[name].values()
        ]
        if rows.select(pl.any_horizontal(broken)).item():
            return True
        there = [name for name in key if name in rows.columns]
        return bool(there) and rows.select(there).hash_rows().n_unique() < rows.height

    def _schema(self, key: list[str]) -> Any:
        import pandera.polars as pa

        columns = {
            name: pa.Column(
                type_,
                [pa.Check(partial(_of, check), error=text) for text, check in checks.items()],
                nullable=name in self.optional,
                required=name not in self.optional,
                coerce=type_ == pl.Int64,
            )
            for (name, type_), checks in zip(self.types.items(), self.checks.values(), strict=True)
        }
        return pa.DataFrameSchema(columns, unique=key or None, strict=True, name=self.table)


def _of(check: Check, data: Any) -> pl.LazyFrame:
    return data.lazyframe.select(check(pl.col(data.key)))


@cache
def contract_of(table: str) -> Contract:
    """The contract of a raw table."""
    declared = raw_tables()[table]
    return Contract(
        table,
        declared.key,
        {name: _TYPES[type_] for name, type_ in declared.types.items()},
        {name for name, rules in declared.rules.items() if rules.get("optional")},
        {name: _checks(type_, declared.rules[name]) for name, type_ in declared.types.items()},
    )


def _checks(type_: str, rules: dict[str, Any]) -> dict[str, Check]:
    if values := rules.get("values"):
        text = f"must be one of {', '.join(map(str, values))}"
        return {text: lambda column: column.is_in(values)}
    checks = dict([_CHECKS[rules["check"]]] if "check" in rules else [])
    if (minimum := rules.get("minimum")) is not None:
        low = f"must be at least {minimum}" if minimum else "must not be negative"
        checks[low] = lambda column: column >= minimum
    if type_ == "varchar" and not rules.keys() & {"optional", "may_be_empty"}:
        checks["must not be empty"] = lambda column: column != ""
    return checks
