"""`gradelake import judgments`: what people filled into a table becomes an assessor's judgments."""

from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from gradelake.ingest.landing.imported import ImportedFile
from gradelake.ingest.landing.landing import landing
from gradelake.ingest.mapping.columns import read_judgments
from gradelake.ingest.mapping.form import settings_of
from gradelake.ingest.mapping.stated import Form, file_of_import
from gradelake.sql.common.counted import counted
from gradelake.sql.common.problems import Problems, reject
from gradelake.sql.common.spreadsheet import plain_cell
from gradelake.sql.lake.judged import (
    assessor_mark,
    forget_files,
    imported_mark,
    other_marks,
    put_judgments,
    refuse_if_from_elsewhere,
)
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.rows import frame_of
from gradelake.sql.lake.transaction import Transaction

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
_KEEP = (
    "Keep the other columns of a sample as they were exported; their order does not matter. "
    "Import each sample as a file of its own."
)

# every passage that a query can have a judgment of: in the corpus, or labelled by someone
KNOWN_PASSAGES = """
    select passage_id from lake.raw.passages where collection = $collection
    union
    select passage_id from lake.raw.judgments where collection = $collection
    union
    select passage_id from lake.raw.grades where collection = $collection
"""
# what the file says anew: filled cells, and emptied ones whose judgment came from nowhere else
STATED = """
    create or replace temp table stated as
    select pairs.collection, pairs.assessor, pairs.query_id, pairs.passage_id, pairs.relevance
    from pairs
    where
        pairs.relevance is not null
        or ($emptied_count and (pairs.query_id, pairs.passage_id) not in (
            select (query_id, passage_id)
            from lake.raw.review_samples
            where collection = $collection and assessor = $assessor
                and sample is distinct from $sample
        ))
"""
# as an ingest would: the scale goes as far as judgments do
SCALE = """
    update {lake}.raw.collections as known
    set max_relevance = judged.top
    from (
        select collection, max(relevance) as top
        from {lake}.raw.judgments
        group by collection
        having max(relevance) > 0
    ) as judged
    where
        known.collection = judged.collection
        and known.collection = ?
        and known.max_relevance != judged.top
"""
THERE_BEFORE = """
    select count(*)
    from lake.raw.judgments
    inner join stated using (collection, assessor, query_id, passage_id)
    where judgments.relevance is distinct from stated.relevance
"""


def import_judgments(
    lake: Lake,
    collection: str,
    path: Path,
    assessor: str,
    arguments: list[str],
    form: Form | None = None,
) -> ImportedFile:
    """Store a table's judgments, and how its pairs were drawn when it is an exported sample.

    Rows without a judgment are counted and left for later: the same file, filled further, takes
    the place of what it brought before, in one commit. An emptied cell takes a judgment back,
    unless another file of the assessor may have brought it. Pairs that the file does not name stay
    as they are. Raises `BadInput` for an unknown collection and for an assessor's name that cannot
    be used or belongs to judgments from another source, and `Rejected` for a file with faults, of
    which nothing lands.
    """
    done = ImportedFile(str(path), collection, "judgments", {"assessor": assessor}, empty=0)
    known_as = "Name a table with a judgment column."
    with landing(lake, done, "--assessor", arguments, known_as) as land:
        transaction = land.transaction
        refuse_if_from_elsewhere(transaction, collection, assessor)
        file = file_of_import(lake.project.folder, path, ["judgments"], form, without=["rater"])
        rows = read_sample(path, file)
        sample = rows["sample"][0]
        done.by = {"assessor": assessor, "sample": sample}
        # an exported sample is known by its name, another file by its own
        land.target = target = imported_mark(collection, assessor, sample or path.name)
        if land.is_known(settings_of(file) or None):
            return done
        rows = done.taken(rows, lake)
        _require_known_passages(lake, collection, rows, str(path))
        _warn_of_odd_values(lake, collection, rows, done)
        _write(transaction, collection, assessor, target, rows, done)
        forget_files(transaction, collection, assessor, target)
        own = (imported_mark(collection, assessor), assessor_mark(collection, assessor))
        for entry in own:
            transaction.record(entry, land.mark, done.written)
        land.commit(judgments=done.written)
    return done


def read_sample(path: Path, shown: str) -> pl.DataFrame:
    """The rows of a table: query_id, passage_id, relevance (null where none is given), line, and
    the columns of `DESIGN`, which are null where there are none.

    Raises `Rejected` for cells that do not hold what they must, and a sample whose rows contradict
    each other.
    """
    rows = read_judgments(path, shown, also=DESIGN)
    # what was exported so that spreadsheets do not take it for a formula
    rows = rows.with_columns(pl.col(pl.String).map_elements(plain_cell, return_dtype=pl.String))
    there = [name for name in DESIGN if rows[name].count()]
    if missing := [name for name in DESIGN[:-1] if there and name not in there]:
        raise reject(shown, None, f"no row has a {' or a '.join(missing)}", _KEEP)
    problems = Problems(shown, _KEEP)
    drawn = [
        _design(row, problems) if there else [None] * len(DESIGN)
        for row in rows.iter_rows(named=True)
    ]
    problems.raise_if_any()
    frame = rows.drop(DESIGN).hstack(frame_of("review_samples", DESIGN, drawn))
    _require_one_design(frame, problems)
    return frame


def _design(row: dict[str, Any], problems: Problems) -> list[Any]:
    stated = {name: row[name] or "" for name in DESIGN}
    try:
        return list(_Design.model_validate(stated).model_dump().values())
    except ValidationError as error:
        for name in (str(each["loc"][0]) for each in error.errors()):
            problems.add(row["line"], f"{name} {stated[name]!r} is not what was exported")
    return []


def _require_one_design(frame: pl.DataFrame, problems: Problems) -> None:
    """A file holds one sample, and a stratum's rows say the same of it."""
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


def _require_known_passages(lake: Lake, collection: str, rows: pl.DataFrame, shown: str) -> None:
    passages = set(lake.column(KNOWN_PASSAGES, collection=collection))
    problems = Problems(
        shown, "Fix these ids. A spreadsheet may have shortened them: read the column as text."
    )
    for line, passage_id in rows.select("line", "passage_id").iter_rows():
        if passage_id not in passages:
            problems.add(line, f"unknown passage {passage_id!r}")
    problems.raise_if_any()


def _warn_of_odd_values(
    lake: Lake, collection: str, rows: pl.DataFrame, done: ImportedFile
) -> None:
    """Note judgments above the scale, which is a setting or goes as far as judgments have gone."""
    top = _stated_top(lake, collection) or lake.value(
        "select max(relevance) from lake.raw.judgments where collection = ?", collection
    )
    if top is None:  # nobody judged before
        return
    above = rows.filter(pl.col("relevance") > top)
    if above.height:
        line, relevance = above.select("line", "relevance").row(0)
        done.warnings.append(
            f"{counted(above.height, 'judgments', 'are')} above {top}, the top of the collection's "
            f"scale (first: {relevance} on line {line})"
        )


def _stated_top(lake: Lake, collection: str) -> int | None:
    return lake.project.collections.get(collection, {}).get("max_relevance")


def _files_without_a_sample(
    transaction: Transaction, collection: str, assessor: str, target: str
) -> bool:
    """Whether another file, of which nobody knows the rows any more, brought judgments."""
    samples = transaction.lake.column(
        "select distinct sample from lake.raw.review_samples where collection = ? and assessor = ?",
        collection,
        assessor,
    )
    marks = {imported_mark(collection, assessor, sample) for sample in samples}
    return not marks.issuperset(other_marks(transaction, collection, assessor, target))


def _write(
    transaction: Transaction,
    collection: str,
    assessor: str,
    target: str,
    rows: pl.DataFrame,
    done: ImportedFile,
) -> None:
    lake = transaction.lake
    rows = rows.with_columns(collection=pl.lit(collection), assessor=pl.lit(assessor))
    key = {"collection": collection, "assessor": assessor}
    files_of_others = _files_without_a_sample(transaction, collection, assessor, target)
    with lake.registered("pairs", rows):
        lake.rows(STATED, **key, sample=done.by["sample"], emptied_count=not files_of_others)
        done.changed = lake.value(THERE_BEFORE)
        put_judgments(transaction, lake.frame("from stated"))
        if _stated_top(lake, collection) is None:
            transaction.run(SCALE, collection)
        if done.by["sample"]:
            transaction.delete_keys_of("pairs", "review_samples")
    judged = rows.filter(pl.col("relevance").is_not_null())
    done.written, done.empty = judged.height, rows.height - judged.height
    if done.by["sample"]:
        transaction.insert("review_samples", rows.select(*key, "query_id", "passage_id", *DESIGN))
