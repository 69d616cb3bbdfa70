"""`gradelake import scores`: what somebody else computed, of systems or of each query."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from gradelake.ingest.landing.imported import ImportedFile
from gradelake.ingest.landing.landing import landing
from gradelake.ingest.mapping.columns import roles_of
from gradelake.ingest.mapping.form import settings_of
from gradelake.ingest.mapping.scores import LARGEST, named_scores
from gradelake.ingest.mapping.stated import Form, file_of_import
from gradelake.ingest.reading.csv_tables import finite_number
from gradelake.sql.common import files
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Problems
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.rows import frame_of

COLUMNS = ("measure", "system", "query_id", "score", "stderr")
_FIX = "Fix these rows and import again; nothing of the file was taken."
_HINT = 'Give a table with columns system and score, or JSON {"system": score, ...}.'


def import_scores(
    lake: Lake,
    collection: str,
    path: Path,
    name: str,
    arguments: list[str],
    measure: str | None = None,
    form: Form | None = None,
) -> ImportedFile:
    """Store scores that were made elsewhere as the board `scores:NAME`, in one commit.

    `form`: what the file looks like (mapping/stated.py), where that is not as usual.

    A table has a row for each system, or with a column for the query one for each system and query.
    It may have a column for the measure; `measure` names that of a file without, and a score that
    means several columns has theirs. Standard errors of means may stand beside. A file replaces the
    board of its name. Raises `BadInput` for an unknown collection, a name that cannot be used, or a
    measure that is named nowhere, or twice; `Rejected` for a file with faults.
    """
    done = ImportedFile(str(path), collection, "scores", {"board": name})
    with landing(lake, done, "--name", arguments, _HINT) as land:
        file = file_of_import(lake.project.folder, path, ["scores"], form)
        if land.is_known([measure, settings_of(file)]):
            return done
        frame = _read(path, file, measure)
        if is_by_query := frame["query_id"].null_count() == 0:
            frame = done.of_topics(frame, lake)
        frame = frame_of("imported_scores", COLUMNS, frame.select(COLUMNS).rows())
        board = {"collection": collection, "board": name}
        land.transaction.delete("imported_scores", **board)
        done.written = land.transaction.insert("imported_scores", frame, **board)
        land.commit(scores=done.written)
    known = lake.column("select system from lake.raw.systems where collection = ?", collection)
    if unknown := sorted({*frame["system"]} - {*known}):
        done.warnings.append(
            f"{path}: {len(unknown)} of its systems are not in {collection}, such as {unknown[0]!r}"
        )
    if is_by_query:
        done.warnings += notes_of_missing(frame, str(path))
    return done


def notes_of_missing(frame: pl.DataFrame, shown: str, n_asked: int | None = None) -> Iterator[str]:
    """A note of each measure that some answers have no score of. `n_asked`: how many there are;
    else each system has one on all queries that have a score."""
    for (measure,), scores in frame.group_by("measure", maintain_order=True):
        n_wanted = n_asked or scores["query_id"].n_unique() * scores["system"].n_unique()
        if n_missing := n_wanted - scores.height:
            what = f"{measure} has no score of {n_missing} of {counted(n_wanted, 'answers')}"
            yield f"{shown}: {what}; boards leave these queries out, of all systems"


def _read(path: Path, shown: str, measure: str | None) -> pl.DataFrame:
    """Rows of `COLUMNS` and line; the query is null in a table of means."""
    problems = Problems(shown, _FIX)
    found: dict[tuple[str, str, str | None], tuple[float, float | None, int | None]] = {}
    for line, row in _rows(path, shown, problems):
        system, query = str(row.get("system") or ""), row.get("query") or None
        error = finite_number(row.get("stderr") or None)
        if not system:
            problems.add(line, "a system without a name")
        elif "query" in row and not query:
            problems.add(line, f"system {system!r}: no query")
        elif row.get("stderr") and (error is None or error < 0):
            problems.add(line, f"system {system!r}: standard error {row['stderr']!r} is none")
        else:
            for of, score in _scores(row, shown, measure).items():
                if isinstance(score, float) and abs(score) <= LARGEST:
                    if (of, system, query) in found:
                        problems.add(line, _twice(system, query))
                    found[of, system, query] = (score, error, line)
                else:
                    size = f"{LARGEST:,} at most" if isinstance(score, float) else "a number"
                    problems.add(line, f"system {system!r}: score {score!r} is not {size}")
    problems.raise_if_any()
    if not found:
        raise BadInput(f"{shown}: there is no score in it", _HINT)
    rows = [(*key, *values) for key, values in found.items()]
    types = {**dict.fromkeys(COLUMNS, pl.String), "score": pl.Float64, "stderr": pl.Float64}
    return pl.DataFrame(rows, schema={**types, "line": pl.Int64}, orient="row")


def _twice(system: str, query: str | None) -> str:
    if query:
        return f"system {system!r} has query {query!r} twice"
    return f"system {system!r} is listed twice; does a column say of which query? --column query="


def _scores(row: dict[str, Any], shown: str, measure: str | None) -> dict[str, Any]:
    """The scores of a row by their measures: of a query, it may lack them. Raises `BadInput` for a
    measure that is named nowhere, or twice."""
    stated = row.get("score")
    is_named = bool(row.get("measure")) or isinstance(stated, dict)
    if measure and is_named:
        what = "several columns of scores" if isinstance(stated, dict) else "a column of measures"
        raise BadInput(f"{shown}: has {what}; leave out --measure")
    if isinstance(stated, dict):
        return named_scores(stated)
    of = row.get("measure") or measure
    if not of:
        raise BadInput(
            f"{shown}: which measure are these scores?",
            "Say --measure NAME, as in the tables that the board is to stand in: Cover@20.",
        )
    return {of: stated} if stated == "" and "query" not in row else named_scores({of: stated})


def _rows(path: Path, shown: str, problems: Problems) -> Iterator[tuple[int | None, dict]]:
    """(line, {role: value}); of JSON {system: score} there are no lines."""
    if path.name.removesuffix(".gz").endswith(".json") and not settings_of(shown):
        content: Any = files.json_of(files.read(path, shown), shown, _HINT, object_pairs_hook=tuple)
        if isinstance(content, tuple):  # pairs: a system may be there twice
            for system, score in content:
                yield None, {"system": system, "score": score}
            return
    yield from roles_of("scores", path, shown, ("system", "score"), problems)
