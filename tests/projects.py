"""Projects for tests, gradelake.toml and small files from Python literals; rows of raw tables."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import polars as pl

from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.project import Project
from gradelake.sql.common.quoting import toml_key, toml_value
from gradelake.sql.lake.raw_tables import raw_tables
from gradelake.sql.lake.rows import contract

Tables = dict[str, dict[str, Any]]

# a collection whose files have the names that most tests give them
USUAL = {
    "queries": "topics.tsv",
    "passages": "passages.tsv",
    "judgments": {"me": "me.qrels"},
    "runs": ["runs/*"],
}
LEXICAL = {"engine": "lexical", "prompt": "question_self_rating", "parser": "strict"}


def project(
    folder: Path,
    collections: Tables | None = None,
    graders: Tables | None = None,
    files: dict[str, Any] | None = None,
    **settings: dict[str, Any],
) -> Project:
    """Write gradelake.toml and `files` (see `write`) into a folder, which is made if need be.

    `project(folder, {"c": USUAL}, {"g": LEXICAL}, {"topics.tsv": {"q1": "sky"}}, lake=...)`
    """
    for name, content in (files or {}).items():
        write(folder / name, content)
    tables = dict(settings)
    tables |= {
        f"collections.{toml_key(name)}": table for name, table in (collections or {}).items()
    }
    tables |= {f"graders.{toml_key(name)}": table for name, table in (graders or {}).items()}
    return Project.read(write(folder / "gradelake.toml", toml(tables)))


def toml(tables: Tables) -> str:
    """TOML text of tables by their headings; a setting that is None is left out."""
    lines = []
    for heading, table in tables.items():
        lines += [f"[{heading}]"]
        lines += [f"{toml_key(k)} = {toml_value(v)}" for k, v in table.items() if v is not None]
    return "".join(f"{line}\n" for line in lines)


def write(path: Path, content: Any) -> Path:
    """Write a file, and the folders above it; it is zipped where its name ends in .gz.

    Text and bytes are written as they are, a list of texts as lines, a list of dicts as CSV or JSON
    lines. A dict is, by the file's name: `.qrels` {query: {passage: judgment}}, `.run` {query:
    passages, best first}, `.tsv` {id: text}, `.json` itself.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content if isinstance(content, bytes) else _text(path, content).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def _text(path: Path, content: Any) -> str:
    if isinstance(content, str):
        return content
    form = Path(path.name.removesuffix(".gz")).suffix
    if form == ".json":
        return json.dumps(content)
    if isinstance(content, dict):
        content = _FORMS[form](content, path.name.split(".")[0])
    elif content and isinstance(content[0], dict):
        if form == ".csv":
            return _csv(content)
        content = [json.dumps(row) for row in content]
    return "".join(f"{line}\n" for line in content)


_FORMS = {
    ".tsv": lambda texts, _: [f"{key}\t{text}" for key, text in texts.items()],
    ".qrels": lambda judged, _: [
        f"{query} 0 {passage} {judgment}"
        for query, judgments in judged.items()
        for passage, judgment in judgments.items()
    ],
    ".run": lambda ranked, name: [
        f"{query} Q0 {passage} {rank} {len(passages) + 1 - rank} {name}"
        for query, passages in ranked.items()
        for rank, passage in enumerate(passages, start=1)
    ],
}


def _csv(rows: list[dict[str, Any]]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, dict.fromkeys(key for row in rows for key in row))
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def rows(table: str, **columns: Any) -> pl.DataFrame:
    """Rows of a raw table that its contract takes: `rows("grades", query_id=["a", "b"], grade=3)`.

    A column is a list, or one value for all rows. One that is not named is null where it may be;
    else it holds its own name, the first of its values, 1, or the present time.
    """
    n = max([len(v) for v in columns.values() if isinstance(v, list)], default=1)
    frame = {}
    for name, kind in contract(table).types.items():
        rules = raw_tables()[table].rules[name]
        value = columns.pop(name) if name in columns else _usual(name, kind, rules)
        values = value if isinstance(value, list) else [value] * n
        frame[name] = pl.Series(name, values, kind)
    assert not columns, f"raw.{table} has no {', '.join(columns)}"
    return contract(table).validate(pl.DataFrame(frame))


def _usual(name: str, kind: pl.DataType, rules: dict[str, Any]) -> Any:
    if rules.get("optional"):
        return None
    if "values" in rules:
        return rules["values"][0]
    if rules.get("check") in ("kind", "kind_of_passages", "target"):
        return "question"
    if kind == pl.Datetime:
        return utc_now()
    return name if kind == pl.String else kind == pl.Boolean or 1
