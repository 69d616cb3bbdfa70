"""`gradelake export qrels --sample`: pairs of a label set for people to judge."""

import csv
import hashlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gradelake.analyses.qrels_export import require_label_set
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import TO_JUDGE, require_known
from gradelake.sql.common.quoting import shell_word
from gradelake.sql.common.spreadsheet import shown_cell
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.sampling import PAIRS, allocate

# what people read and fill in, then what the estimate needs; read by
# ingest/collections/judgments.py
COLUMNS = (
    "query_id",
    "query",
    "passage_id",
    "passage",
    "judgment",
    "sample",
    "label_set",
    "unit",
    "stratum",
    "stratum_size",
    "probability",
    "depth",
)
UNITS = {"query": "queries", "pair": "pairs"}

WITH_TEXTS = f"""
    select pairs.query_id, pairs.passage_id, pairs.label, queries.text, passages.text
    from ({PAIRS}) as pairs
    inner join lake.raw.queries as queries using (collection, query_id)
    left join lake.raw.passages as passages using (collection, passage_id)
    order by pairs.query_id, pairs.passage_id
"""


@dataclass(frozen=True)
class Sample:
    """What was drawn; `rows` have the `COLUMNS`. `n_units` of `population` units were drawn, beside
    `n_before` that had been judged."""

    name: str
    unit: str
    rows: list[tuple]
    n_units: int
    population: int
    n_without_text: int
    n_before: int = 0


@dataclass(frozen=True)
class WrittenSample:
    """A sample, and the file that people fill in."""

    sample: Sample
    collection: str
    file: Path

    def as_object(self) -> dict[str, Any]:
        return {
            "sample": self.sample.name,
            "file": str(self.file),
            "unit": self.sample.unit,
            "drawn": self.sample.n_units,
            "of": self.sample.population,
            "rows": len(self.sample.rows),
            "judged_before": self.sample.n_before,
            "without_text": self.sample.n_without_text,
        }

    def show(self) -> None:
        sample = self.sample
        console.say(
            f"{self.file}: sample {sample.name}, "
            f"{sample.n_units:,} of {sample.population:,} {UNITS[sample.unit]}, "
            f"{counted(len(sample.rows) - sample.n_before, 'passages')} to judge"
            + (f" beside {sample.n_before:,} that were" if sample.n_before else "")
        )
        if sample.n_without_text:
            console.warn(
                f"note: the lake has no text of {sample.n_without_text:,} of these passages"
            )
        back = (
            f"gradelake import judgments {self.collection} {shell_word(self.file)} --assessor NAME"
        )
        console.hint(f"next: {back}")


def draw_sample(
    lake: Lake,
    collection: str,
    label_set: str,
    *,
    size: int,
    seed: int,
    unit: str = "pair",
    allocation: str = "proportional",
    depth: int | None = None,
    judged_by: str | None = None,
) -> Sample:
    """Draw `size` pairs, or whole queries, of a label set, without replacement.

    Pairs are stratified by label (Cochran, Sampling Techniques, 1977, chapter 5): in proportion to
    the strata, or equally from each, and two from each where `size` allows, because a stratum's
    variance needs two. Strata go by random codes and rows in random order (passages of a query
    together): nothing tells a label. `depth` keeps passages that some system ranked at least so
    high. What `judged_by` judged before is a stratum of its own, of which all is drawn, with its
    judgments: the rest is a sample of the others. The same lake and seed give the same sample.

    Raises `BadInput` when there is no such label set or assessor, or fewer units than asked for.
    """
    require_label_set(lake, collection, label_set)
    frame = lake.rows(WITH_TEXTS, collection=collection, label_set=label_set, depth=depth)
    before = _judged_before(lake, collection, judged_by, unit) if judged_by else {}
    before = {row[:2]: before[row[:2]] for row in frame if row[:2] in before}
    settings = (collection, label_set, unit, size, seed, allocation, depth)
    judged = [judged_by, before] if before else None
    name = f"{unit}-{_code(settings, [row[:3] for row in frame], judged)}"
    generator = np.random.Generator(np.random.PCG64(seed))
    keys = [row[0] for row in frame] if unit == "query" else [row[:2] for row in frame]
    units = [key for key in dict.fromkeys(keys) if key not in before]
    if size > len(units):
        raise BadInput(
            f"{label_set!r} has {len(units):,} {UNITS[unit]} to draw from, fewer than {size:,}",
            "Ask for fewer with --sample.",
        )
    labels = {key: 0 if unit == "query" else row[2] for key, row in zip(keys, frame, strict=True)}
    drawn = dict.fromkeys(before, ("s0", len(before), 1.0))
    drawn |= _drawn(_strata(units, labels, generator), size, allocation, generator)
    rows = [
        (
            query_id,
            query,
            passage_id,
            passage or "",
            before.get((query_id, passage_id), ""),
            name,
            label_set,
            unit,
            *drawn[key],
            "" if depth is None else depth,
        )
        for key, (query_id, passage_id, _, query, passage) in zip(keys, frame, strict=True)
        if key in drawn
    ]
    n_without_text = sum(not row[3] for row in rows)
    rows = _shuffled(rows, generator)
    return Sample(name, unit, rows, size, len(units), n_without_text, len(before))


def _judged_before(
    lake: Lake, collection: str, assessor: str, unit: str
) -> dict[tuple[str, str], int]:
    """(query, passage) -> what the assessor said."""
    if unit == "query":
        raise BadInput(
            "judgments made before are of single pairs", "Leave --judged-by or --unit query out."
        )
    require_known(
        assessor,
        lake.column(
            "select distinct assessor from lake.raw.judgments where collection = ?", collection
        ),
        f"no judgments of {assessor!r} in {collection}",
        none_yet=TO_JUDGE,
    )
    judged = "select query_id, passage_id, relevance from lake.raw.judgments"
    found = lake.rows(f"{judged} where collection = ? and assessor = ?", collection, assessor)
    return {(query_id, passage_id): relevance for query_id, passage_id, relevance in found}


def _code(settings: tuple, pairs: list[tuple], judged: list | None) -> str:
    """What tells a sample from all that are drawn otherwise, or from other pairs."""
    content = repr(settings) + repr(pairs) + (repr(judged) if judged else "")
    return hashlib.sha256(content.encode()).hexdigest()[:8]


def as_csv(sample: Sample) -> bytes:
    """A sample as CSV, UTF-8, whose texts no spreadsheet takes for formulas."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(COLUMNS)
    writer.writerows(map(shown_cell, map(str, row)) for row in sample.rows)
    return text.getvalue().encode()


def _strata(units: list, labels: dict, generator: np.random.Generator) -> dict[str, list]:
    """code -> its units. Codes are numbers in random order, as long as they need to be."""
    by_label: dict[int, list] = {}
    for unit in units:
        by_label.setdefault(labels[unit], []).append(unit)
    codes = generator.permutation(len(by_label)) + 1
    return {
        f"s{code}": by_label[label] for code, label in zip(codes, sorted(by_label), strict=True)
    }


def _drawn(
    strata: dict[str, list], size: int, allocation: str, generator: np.random.Generator
) -> dict[Any, tuple[str, int, float]]:
    """unit -> (its stratum, how many are in that, how likely each of them was drawn)."""
    sizes = {code: len(units) for code, units in strata.items()}
    weights = sizes if allocation == "proportional" else dict.fromkeys(sizes, 1)
    n_drawn = allocate(sizes, size, weights)
    return {
        units[index]: (code, len(units), n_drawn[code] / len(units))
        for code, units in strata.items()
        for index in generator.choice(len(units), n_drawn[code], replace=False)
    }


def _shuffled(rows: list[tuple], generator: np.random.Generator) -> list[tuple]:
    """Queries in random order, and each query's passages."""
    queries = sorted({row[0] for row in rows})
    place = dict(zip(queries, generator.permutation(len(queries)), strict=True))
    rows = [rows[index] for index in generator.permutation(len(rows))]
    return sorted(rows, key=lambda row: place[row[0]])
