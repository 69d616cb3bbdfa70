"""A CSV whose judgment column people filled in: a sample that was exported, or a file of theirs."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from gradelake.ingest.csv_tables import Table
from gradelake.sql.common import files
from gradelake.sql.common.problems import Problems, reject
from gradelake.sql.common.spreadsheet import plain_cell
from gradelake.sql.lake.rows import types_of

REQUIRED = ("query_id", "passage_id", "judgment")
_Filled = Annotated[str, Field(min_length=1)]
_Size = Annotated[int, Field(ge=1, lt=1 << 31)]


class _Design(BaseModel):
    """How a pair was drawn: all of these columns, or none (analyses/stats/review_sample.py)."""

    sample: _Filled
    label_set: _Filled
    unit: Literal["query", "pair"]
    stratum: _Filled
    stratum_size: _Size
    # with a comma, as spreadsheets in some languages write it
    probability: Annotated[
        float, Field(gt=0, le=1), BeforeValidator(lambda text: text.replace(",", "."))
    ]
    depth: Annotated[_Size | None, BeforeValidator(lambda text: text or None)]


DESIGN = tuple(_Design.model_fields)
_SAME_IN_SAMPLE = ("sample", "label_set", "unit", "depth")
_SAME_IN_STRATUM = ("stratum_size", "probability")
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
_FILL = "Fill the judgment column with whole numbers; leave what is not judged yet empty."
_KEEP = "Keep the other columns of a sample as they were exported; their order does not matter."


def read_judgments(path: Path, shown: str) -> pl.DataFrame:
    """The rows of a CSV: query_id, passage_id, relevance (null where none is given), the columns of
    `DESIGN`, line.

    Cells may be separated by commas, semicolons or tabs; other columns are not read. Without the
    `DESIGN` columns, these are null. Raises `Rejected` for a header or quoting that cannot be
    read, cells that do not hold what they must, a pair listed twice, and a sample whose rows
    contradict each other.
    """
    table = Table(files.read(path, shown), shown, REQUIRED)
    table.require([*REQUIRED, *(DESIGN if set(DESIGN) & set(table.names) else ())], _KEEP)
    problems, found = Problems(shown, _FILL), []
    for line, cells in table.rows(problems.add):
        row = {name: plain_cell(cell) for name, cell in cells.items()}
        found.append((*_judgment(row, line, problems), *_design(row, line, problems), line))
    problems.raise_if_any()
    if not found:
        raise reject(shown, None, "no rows below the header", _FILL)
    types = {
        **types_of("judgments", "query_id", "passage_id", "relevance"),
        **types_of("review_samples", *DESIGN),
        "line": pl.Int64(),
    }
    frame = pl.DataFrame(found, schema=types, orient="row")
    _require_once(frame, shown)
    _require_one_design(frame, shown)
    return frame


def _judgment(row: dict[str, str], line: int, problems: Problems) -> tuple[str, str, int | None]:
    for name in ("query_id", "passage_id"):
        if not row[name]:
            problems.add(line, f"no {name}")
    judgment = row["judgment"]
    if judgment and not _WHOLE.fullmatch(judgment):
        problems.add(line, f"judgment {judgment!r} is not a whole number")
        judgment = ""
    return row["query_id"], row["passage_id"], int(judgment) if judgment else None


def _design(row: dict[str, str], line: int, problems: Problems) -> list[Any]:
    if DESIGN[0] in row:
        try:
            return list(_Design.model_validate(row).model_dump().values())
        except ValidationError as error:
            for name in (str(each["loc"][0]) for each in error.errors()):
                problems.add(line, f"{name} {row[name]!r} is not what was exported")
    return [None] * len(DESIGN)


def _require_once(frame: pl.DataFrame, shown: str) -> None:
    problems = Problems(shown, "Keep one row for each query and passage.")
    first = pl.col("line").min().over("query_id", "passage_id").alias("first")
    for row in frame.with_columns(first).filter(pl.col("line") > pl.col("first")).to_dicts():
        problems.add(
            row["line"],
            f"query {row['query_id']!r}, passage {row['passage_id']!r} is listed twice "
            f"(first on line {row['first']})",
        )
    problems.raise_if_any()


def _require_one_design(frame: pl.DataFrame, shown: str) -> None:
    """A file holds one sample, and a stratum's rows say the same of it."""
    problems = Problems(shown, f"{_KEEP} Import each sample as a file of its own.")
    expected: dict[tuple, Any] = {}
    for row in frame.iter_rows(named=True):
        keys: list[tuple[tuple, str]] = [((name,), "") for name in _SAME_IN_SAMPLE]
        keys += [((name, row["stratum"]), " of its stratum") for name in _SAME_IN_STRATUM]
        for key, of in keys:
            value, name = row[key[0]], key[0]
            if value != expected.setdefault(key, value):
                problems.add(
                    row["line"], f"{name} {value!r} differs from the first{of}, {expected[key]!r}"
                )
    problems.raise_if_any()
