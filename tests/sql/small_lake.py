"""A small lake of a few commits and a release, made in a second and without dbt."""

import hashlib
from pathlib import Path
from typing import Any

import polars as pl

from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.releases import publishing
from tests.projects import rows

N_PASSAGES, N_GRADES = 30, 20


def passages(first: int, n: int) -> pl.DataFrame:
    ids = [f"p{i:03d}" for i in range(first, first + n)]
    texts = [f"the text of {i} has the mark {mark(i)}" for i in ids]
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    return rows(
        "passages", collection="c", passage_id=ids, text=texts, text_sha256=hashes, origin="corpus"
    )


def mark(passage_id: str) -> str:
    """What no other text has, so that it stands in the Parquet file as it is."""
    return hashlib.sha256(passage_id.encode()).hexdigest()[:20]


def graders(grader_id: str = "g") -> pl.DataFrame:
    return rows(
        "graders",
        grader_id=grader_id,
        name="judge",
        engine="lexical",
        model="",
        model_revision="",
        target="direct",
        prompt="thomas",
        scale_min=0,
        scale_max=2,
        settings="{}",
        parser="strict",
    )


def grades(passage_ids: list[str]) -> pl.DataFrame:
    pairs = {"collection": "c", "query_id": "q", "passage_id": passage_ids, "item_id": ""}
    return rows("grades", grader_id="g", **pairs, grade=1, status="ok", run_id="b")


def batches(ok: int = N_GRADES) -> pl.DataFrame:
    counts = dict.fromkeys(("unanswerable", "defaulted", "failed", "reused"), 0)
    counts |= {"planned": ok, "ok": ok, "tokens": 0, "cached_tokens": 0}
    key = {"run_id": "b", "grader_id": "g", "collection": "c"}
    return rows("grading_runs", **key, **counts, state="done", finished_at=utc_now())


def small_lake(folder: Path) -> Project:
    """30 passages and 20 grades of one batch, published as release r1; then 5 passages go.

    Three Parquet files: passages, grades, and the rows of passages that are gone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "gradelake.toml"
    if not file.exists():
        file.write_text("# a small lake\n", encoding="utf-8")
    project = Project.read(file)
    with Lake.create(project) as lake:
        with lake.transaction("ingest", "c") as transaction:
            n = transaction.insert("passages", passages(0, N_PASSAGES))
            transaction.record("c/passages", "0", n)
            transaction.say(passages=N_PASSAGES)
        with lake.transaction("grade", "c judge") as transaction:
            transaction.insert("graders", graders())
            transaction.insert("grades", grades([f"p{i:03d}" for i in range(N_GRADES)]))
            transaction.insert("grading_runs", batches())
            transaction.record_chunk("chunk-1/0", "0", N_GRADES)
            transaction.say(grades=N_GRADES)
        publish(lake, "r1")
        with lake.transaction("ingest", "c") as transaction:
            transaction.run("delete from {lake}.raw.passages where passage_id >= 'p010'")
            transaction.say(passages_gone=20)
    return project


def publish(lake: Lake, name: str, **extra: Any) -> None:
    """Make the lake as it is a release, as a build does at its end."""
    with lake.transaction("build") as transaction:
        transaction.extra |= {"release": name, **extra}
        transaction.finish_run([])
    publishing.publish(lake, name)


def file_of(project: Project, table: str) -> Path:
    """The one Parquet file of a table, deleted rows aside."""
    folder = project.lake_path / "data" / "raw" / table
    (found,) = (file for file in folder.glob("*.parquet") if "delete" not in file.name)
    return found


def overwritten(file: Path, position: int, content: bytes) -> None:
    """Change bytes of a file without changing its size."""
    before = file.read_bytes()
    file.write_bytes(before[:position] + content + before[position + len(content) :])
    assert file.stat().st_size == len(before)
