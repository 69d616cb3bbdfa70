"""`gradelake import scores`: a board whose scores somebody else computed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gradelake.ingest.landing.imported import Imported
from gradelake.ingest.landing.landing import landing
from gradelake.ingest.mapping.columns import roles_of
from gradelake.ingest.mapping.form import said_of
from gradelake.ingest.mapping.said import Form, file_of_import
from gradelake.ingest.reading.csv_tables import finite_number
from gradelake.sql.common import files
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Problems
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.rows import frame_of

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
) -> Imported:
    """Store a board of mean scores, made elsewhere, as `scores:NAME`, in one commit.

    `form`: what the file looks like (mapping/said.py), where that is not as usual.

    A table has a row for each system, and measure where it has a column for that; `measure` names
    that of a file without. Standard errors may stand beside. A file replaces the board of its name.
    Raises `BadInput` for an unknown collection, a name that cannot be used, or a measure that is
    named nowhere, or twice; `Rejected` for a file with faults.
    """
    done = Imported(str(path), collection, "scores", {"board": name})
    with landing(lake, done, "--name", arguments, _HINT) as land:
        file = file_of_import(lake.project.folder, path, ["scores"], form)
        if land.is_known([measure, said_of(file)]):
            return done
        rows = _read(path, file, measure)
        frame = frame_of("imported_scores", ("measure", "system", "score", "stderr"), rows)
        board = {"collection": collection, "board": name}
        land.transaction.delete("imported_scores", **board)
        done.written = land.transaction.insert("imported_scores", frame, **board)
        land.commit(scores=done.written)
    ranked = set(
        lake.column("select system from lake.raw.systems where collection = ?", collection)
    )
    if unknown := sorted({system for _, system, *_ in rows} - ranked):
        done.warnings.append(
            f"{path}: {len(unknown)} of its systems are not in {collection}, such as {unknown[0]!r}"
        )
    return done


def _read(path: Path, shown: str, measure: str | None) -> list[tuple]:
    """(measure, system, score, standard error?) of a file's rows."""
    problems = Problems(shown, _FIX)
    found: dict[tuple[str, str], tuple[float, float | None]] = {}
    for line, row in _rows(path, shown, problems):
        of, system = row.get("measure") or measure, str(row.get("system") or "")
        if not of:
            raise BadInput(
                f"{shown}: which measure are these scores?",
                "Say --measure NAME, as in the tables that the board is to stand in: Cover@20.",
            )
        if measure and row.get("measure"):
            raise BadInput(f"{shown}: has a column of measures; leave out --measure")
        score, error = finite_number(row.get("score")), finite_number(row.get("stderr") or None)
        if not system:
            problems.add(line, "a system without a name")
        elif score is None:
            problems.add(line, f"system {system!r}: score {row.get('score')!r} is not a number")
        elif row.get("stderr") and (error is None or error < 0):
            problems.add(line, f"system {system!r}: standard error {row['stderr']!r} is none")
        elif (of, system) in found:
            problems.add(line, f"system {system!r} is listed twice")
        else:
            found[of, system] = (score, error)
    problems.raise_if_any()
    if not found:
        raise BadInput(f"{shown}: there is no score in it", _HINT)
    return [(*key, *values) for key, values in found.items()]


def _rows(path: Path, shown: str, problems: Problems) -> Iterator[tuple[int | None, dict]]:
    """(line, {role: value}); of JSON {system: score} there are no lines."""
    if path.name.removesuffix(".gz").endswith(".json") and not said_of(shown):
        content: Any = files.json_of(files.read(path, shown), shown, _HINT, object_pairs_hook=tuple)
        if isinstance(content, tuple):  # pairs: a system may be there twice
            for system, score in content:
                yield None, {"system": system, "score": score}
            return
    yield from roles_of("scores", path, shown, ("system", "score"), problems)
