"""TREC runs and qrels, read strictly: what trec_eval would misread is reported by line."""

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from gradelake.ingest.mapping.form import settings_of
from gradelake.sql.common import files
from gradelake.sql.common.problems import Problems, reject
from gradelake.sql.common.project import HOW_TO_NAME, is_name

RUN_COLUMNS = ["query_id", "Q0", "passage_id", "rank", "score", "tag"]
_NUMBERS = pl.Schema({"rank": pl.Int32, "score": pl.Float64})
_PLAIN_RUN = {name: _NUMBERS.get(name, pl.String) for name in RUN_COLUMNS}
QRELS_COLUMNS = ["query_id", "iteration", "passage_id", "relevance"]
# by their number: BEIR's three, and the six of tracks that judged two more aspects, such as
# Health Misinformation; only the relevance of those is read
_QRELS = {
    3: ["query_id", "passage_id", "relevance"],
    6: [*QRELS_COLUMNS, "second aspect", "third aspect"],
}
_BEIR = [b"query-id", b"corpus-id", b"score"]  # its header
_ENDINGS = "run|txt|trec|res|tsv|jsonl|json|ndjson|csv|parquet|xlsx|duckdb|db|sqlite3?"
_WHOLE_NUMBER = r"^[+-]?[0-9]{1,9}$"


def system_name(path: Path, shown: str = "") -> str:
    """A run's system: what settings call it, or its file name without endings (`bm25.run.gz` is
    `bm25`)."""
    return settings_of(shown).get("name") or re.sub(rf"(\.({_ENDINGS}))?(\.gz)?$", "", path.name)


def read_run(path: Path, shown: str) -> Iterator[pl.DataFrame]:
    """One TREC run, some MiB at a time: query_id, passage_id, rank, score, line. `rank` is null
    where it is no integer.

    Scores are parsed as doubles, as trec_eval reads them; it rounds to float32 to compare.
    Nothing is made of its tags: a system has its file's name. Raises `Rejected`, at the end, for
    lines without 6 columns and scores that are no finite number.
    """
    problems = Problems(shown, "Fix these lines, or leave the run out, and ingest again.")
    for first, block in files.blocks(path, shown, files.MAX_TREC_LINE):
        parsed = files.regular_columns(block, _PLAIN_RUN, first)
        if parsed is None or not _comparable(parsed["score"]).all():
            frame = files.columns(block, RUN_COLUMNS, "TREC run", problems, first)
            parsed = frame.cast(_NUMBERS, strict=False)
            bad = ~_comparable(parsed["score"])
            texts, numbers = frame["score"].filter(bad), parsed["score"].filter(bad)
            for line, text, number in zip(frame["line"].filter(bad), texts, numbers, strict=True):
                finite = number is None or not math.isfinite(number)
                what = "finite" if finite else "finite 32-bit"
                problems.add(line, f"score {text!r} is not a {what} number")
        if not problems.found:
            yield parsed.select("query_id", "passage_id", "rank", "score", "line")
    problems.raise_if_any()


def _comparable(scores: pl.Series) -> pl.Series:
    return scores.cast(pl.Float32).is_finite().fill_null(False)


def read_qrels(path: Path, shown: str) -> pl.DataFrame:
    """TREC qrels: query_id, passage_id, relevance, line. Raises `Rejected` for a relevance that is
    no integer."""
    problems = Problems(shown, "A judgment is a whole number, the last of 4 columns (BEIR: of 3).")
    number = pl.col("relevance").cast(pl.Int64, strict=False)
    frames: list[pl.DataFrame] = []
    names, has_header = None, False
    for first, block in files.blocks(path, shown, files.MAX_TREC_LINE):
        if names is None:
            head = block.lstrip().partition(b"\n")[0].split()
            names = _QRELS.get(len(head), QRELS_COLUMNS)
            has_header = [cell.lower() for cell in head] == _BEIR
        frame = files.columns(block, names, "qrels", problems, first)
        frame = frame.slice(1) if has_header and not frames else frame
        for name in names[names.index("relevance") :]:  # what follows tells qrels from a run
            is_whole = pl.col(name).str.contains(_WHOLE_NUMBER)
            for line, text in frame.filter(~is_whole).select("line", name).iter_rows():
                problems.add(line, f"{name} {text!r} is not a whole number")
        frames.append(frame.select("query_id", "passage_id", number, "line"))
    problems.raise_if_any()
    return pl.concat(frames)


def once_per_pair(frame: pl.DataFrame, shown: str) -> tuple[pl.DataFrame, int]:
    """(judgments with each query and passage once; number of repeated rows).

    Raises `Rejected` when a pair is judged twice with different relevance.
    """
    problems = Problems(shown, "Keep one relevance for each query and passage.")
    pairs = frame.with_columns(
        first_line=pl.col("line").min().over("query_id", "passage_id"),
        first=pl.col("relevance").first().over("query_id", "passage_id"),
    )
    differ = pl.col("relevance").ne_missing(pl.col("first"))
    if "gain" in frame.columns:
        differ |= pl.col("gain").n_unique().over("query_id", "passage_id") > 1
    for row in pairs.filter(differ).iter_rows(named=True):
        problems.add(
            row["line"],
            f"query {row['query_id']!r}, passage {row['passage_id']!r} is judged "
            f"{row['relevance']} here and {row['first']} on line {row['first_line']}",
        )
    problems.raise_if_any()
    kept = pairs.filter(pl.col("line") == pl.col("first_line")).select(frame.columns)
    return kept, frame.height - kept.height


def check_system_name(name: str, shown: str) -> None:
    """Raise `Rejected` for a system name that could not be used as a label, path or table entry."""
    if not is_name(name):
        raise reject(
            shown,
            None,
            f"{name!r} cannot be used as a system's name",
            "Rename the file, or name its system in gradelake.toml: "
            f'{{ file = "FILE", name = "NAME" }}. {HOW_TO_NAME}',
        )


def refuse_two_names(shown: str, systems: Iterable[str]) -> None:
    """Raise `Rejected` for a file whose rows name systems, where settings name its one."""
    name = settings_of(shown).get("name")
    if name and (others := sorted({*systems} - {name})):
        what = f"its rows are of system {others[0]!r}, and gradelake.toml calls it {name!r}"
        raise reject(shown, None, what, "Leave `name` out, or the rows' systems.")
