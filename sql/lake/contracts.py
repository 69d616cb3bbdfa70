"""What a row of a raw table must be, checked on the way in.

A check's text is what a person reads when a row breaks it. Keys are checked here within a frame;
importers replace whole targets, so nothing else can hold the key.

pandera says which rows break what. It takes most of a second to import, so the same expressions
first ask whether any row does.
"""

from collections.abc import Callable
from typing import Any

import polars as pl
from polars import selectors as cs

from gradelake.sql.common.judgment_kinds import judgment_kinds, targets
from gradelake.sql.common.problems import BadRows
from gradelake.sql.common.rubric_items import KIND, KINDS
from gradelake.sql.lake.raw_tables import RawTable, raw_tables

_TYPES: dict[str, Any] = {
    "varchar": pl.String,
    "varchar[]": pl.List(pl.String),
    "double[]": pl.List(pl.Float64),
    "integer": pl.Int64,
    "bigint": pl.Int64,
    "double": pl.Float64,
    "boolean": pl.Boolean,
    "timestamp": pl.Datetime("us"),
}
# what a column's `check` names
_CHECKS: dict[str, tuple[str, Callable[[pl.Expr], pl.Expr]]] = {
    "finite": ("must be a finite number", pl.Expr.is_finite),
    # trec_eval compares scores as 32-bit floats
    "finite_float32": (
        "must be finite as a 32-bit float",
        lambda column: column.cast(pl.Float32).is_finite(),
    ),
    "kind": (f"must be {KINDS}", lambda column: column.str.contains(f"^({KIND})$")),
    "kind_of_passages": (
        "must be a kind of judgment of passages",
        lambda column: column.is_in(
            [each.kind for each in judgment_kinds().values() if each.is_of_passages]
        ),
    ),
    "target": ("must be the target of a prompt", lambda column: column.is_in(targets())),
    "probability": ("must be in (0, 1]", lambda column: column.is_between(0, 1, closed="right")),
}


class Contract:
    """What each row of a raw table must be. A frame may lack a column that may be null."""

    def __init__(self, table: str):
        declared = raw_tables()[table]
        self.table, self.key = table, declared.key
        self.types = {name: _TYPES[type_] for name, type_ in declared.types.items()}
        self.optional = {name for name, rules in declared.rules.items() if rules.get("optional")}
        # column -> text -> what must hold
        self.checks = {name: _checks(name, declared) for name in declared.types}

    def validate(self, rows: pl.DataFrame, unique: bool = True) -> pl.DataFrame:
        """The rows, with whole numbers of 64 bits. `unique`: whether the key is looked at, too.

        Raises `BadRows` with all that is wrong.
        """
        key = self.key if unique else []
        if (kept := self._at_once(rows, key)) is not None:
            return kept
        import pandera.polars as pa
        from pandera.errors import SchemaErrors

        def check(good: pl.Expr, text: str) -> pa.Check:
            return pa.Check(lambda data: data.lazyframe.select(good), error=text)

        columns = {
            name: pa.Column(
                type_,
                [check(good, text) for text, good in self.checks[name].items()],
                nullable=name in self.optional,
                required=name not in self.optional,
                coerce=type_ == pl.Int64,
            )
            for name, type_ in self.types.items()
        }
        schema = pa.DataFrameSchema(columns, unique=key or None, strict=True, name=self.table)
        try:
            return schema.validate(rows, lazy=True)
        except SchemaErrors as error:
            raise BadRows(error) from error

    def _at_once(self, rows: pl.DataFrame, key: list[str]) -> pl.DataFrame | None:
        """The rows, where they plainly keep the contract: None for other types (but narrower whole
        numbers), what breaks a check, nulls, and what may be right: NaN, equal hashes of keys."""
        rows = rows.cast({cs.integer() - cs.by_dtype(pl.UInt64): pl.Int64})
        needed, schema = self.types.keys() - self.optional, rows.schema
        if needed - schema.keys() or schema != {name: self.types.get(name) for name in schema}:
            return None
        doubts = [pl.col(name).is_null().any() for name in needed]
        doubts += [good.not_().any() for name in schema for good in self.checks[name].values()]
        if rows.select(pl.any_horizontal(*doubts, cs.float().is_nan().any())).item():
            return None
        there = [name for name in key if name in schema]
        return None if there and rows.select(there).hash_rows().n_unique() < rows.height else rows


def _checks(name: str, table: RawTable) -> dict[str, pl.Expr]:
    column, rules = pl.col(name), table.rules[name]
    if values := rules.get("values"):
        return {f"must be one of {', '.join(map(str, values))}": column.is_in(values)}
    checks = {}
    if "check" in rules:
        text, check = _CHECKS[rules["check"]]
        checks[text] = check(column)
    if (minimum := rules.get("minimum")) is not None:
        low = f"must be at least {minimum}" if minimum else "must not be negative"
        checks[low] = column >= minimum
    if table.types[name] == "varchar" and not rules.keys() & {"optional", "may_be_empty"}:
        checks["must not be empty"] = column != ""
    return checks
