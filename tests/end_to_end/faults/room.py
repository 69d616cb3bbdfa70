"""A small project for nights in which things break, and what must be in its lake whatever breaks.

Grades are a function of what is graded, so every one that the lake should have is known. The
engine asks a process of its own, slowly enough to be killed at work.
"""

import json
import os
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.upkeep.verify import line, verify
from tests.command_line import gradelake

QUERIES, ITEMS = ("q001", "q002"), ("i001", "i002")
UNANSWERED = "q003"  # a query of the rubric that no system answers
PASSAGES = 1000  # of the collection
STAGES = (
    "ingest tiny",
    "plan tiny",
    "grade tiny direct",
    "grade tiny asked",
    "build",
    "release diff",
    "report",
    "lake tidy",
)

SETTINGS = """
[grading]
engines = "engines"

[graders.direct]
engine = "slow"
prompt = "thomas"
actors = 1
chunk_pairs = 5

[graders.asked]
engine = "slow"
prompt = "question_self_rating"
actors = 1
chunk_pairs = 5

[collections.tiny]
queries = "topics.tsv"
passages = "passages.tsv"
judgments = { nist = "nist.qrels" }
inbox = "inbox"
"""
ENGINE = """
import pathlib, subprocess, sys
from gradelake.grading.engines import Engine as Base, Response

READER = pathlib.Path(__file__).parent.parent / "reader.py"

class Engine(Base):
    needs_model = False

    def __init__(self, grader):
        super().__init__(grader)
        pipe = subprocess.PIPE
        self.reader = subprocess.Popen(
            [sys.executable, str(READER)], stdin=pipe, stdout=pipe, text=True
        )

    def score(self, prompts):
        return [Response(self.ask(" ".join(map(str, p.values.values())))) for p in prompts]

    def ask(self, text):
        print(text, file=self.reader.stdin, flush=True)
        grade = self.reader.stdout.readline().strip()
        if not grade:
            raise RuntimeError("the engine's process is gone")
        return grade
"""
READER = """
import re, sys, time, zlib

for line in sys.stdin:
    time.sleep(0.1)
    marks = sorted(set(re.findall("[qpi][0-9]{3}", line)))
    print(zlib.crc32("/".join(marks).encode()) % 3, flush=True)
"""


def grade_of(*marks: str) -> int:
    """What the engine says of a query, a passage and perhaps an item."""
    return zlib.crc32("/".join(sorted(marks)).encode()) % 3


@dataclass
class Room:
    """The project's folder and what was put into its inbox.

    `usual` is how many seconds a step or a command takes, the shortest that was seen.
    """

    per_run: ClassVar[int] = 10  # passages of a run, new to the pool

    folder: Path
    runs: dict[str, set[tuple]] = field(default_factory=dict)  # system: (query, passage, score)
    refused: dict[str, str] = field(default_factory=dict)  # bad file: system it would have been
    usual: dict[str, float] = field(default_factory=dict)

    @classmethod
    def made(cls, folder: Path, lake: str = "") -> Self:
        """A new project with its rubric; `lake` are lines for `[lake]`."""
        room = cls(folder)
        topics = (*QUERIES, UNANSWERED)
        settings = f"[lake]\nkeep_releases = 3\nkeep_days = 0.001\n{lake}\n{SETTINGS}"
        room.write("gradelake.toml", settings)
        room.write("engines/slow.py", ENGINE)
        room.write("reader.py", READER)
        room.write("topics.tsv", *(f"{query}\twhat is {query} about" for query in topics))
        passages = (f"p{n:03d}\tthe text of p{n:03d}" for n in range(PASSAGES))
        room.write("passages.tsv", *passages)
        banks = []
        room.write("nist.qrels", "q001 0 p000 2", "q001 0 p001 0", "q002 0 p000 1")
        for query in topics:
            items = [{"question_text": f"What does {query} say of {item}?"} for item in ITEMS]
            banks.append(json.dumps({"query_id": query, "items": items}))
        room.write("bank.jsonl", *banks)
        room.drop()
        gradelake(folder, "ingest", "tiny")
        gradelake(folder, "import", "bank", "tiny", "bank.jsonl", "--name", "questions")
        return room

    @property
    def project(self) -> Project:
        return Project.find(self.folder)

    def write(self, name: str, *lines: str) -> Path:
        """A file that was last changed an hour ago."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{line}\n" for line in lines))
        os.utime(file, (time.time() - 3600,) * 2)
        return file

    def drop(self) -> str:
        """Put a run with passages that nobody graded yet into the inbox; returns its system."""
        number = len(self.runs)
        first = number * self.per_run
        assert first + self.per_run <= PASSAGES, "there are no new passages any more"
        system = f"system{number:03d}"
        rows = {
            (query, f"p{first + n:03d}", float(self.per_run - n))
            for query in QUERIES
            for n in range(self.per_run)
        }
        lines = (f"{query} Q0 {passage} 1 {score} {system}" for query, passage, score in rows)
        self.write(f"inbox/{system}.run", *lines)
        self.runs[system] = rows
        return system

    # --- what the lake has ----------------------------------------------------------------------

    def grades(self) -> list[tuple]:
        """(grader, query, passage, mark of the item or '', grade) of every row."""
        with Lake.live(self.project) as lake:
            return lake.rows(
                """
                select
                    graders.name, query_id, passage_id,
                    coalesce(regexp_extract(items.text, 'i[0-9]+'), ''), grade
                from lake.raw.grades
                left join lake.raw.graders using (grader_id)
                left join lake.raw.rubric_items as items using (collection, query_id, item_id)
                order by all
                """
            )

    def expected_grades(self) -> list[tuple]:
        """All grades of the pool: every run is no longer than the pool's depth."""
        pool = {(query, passage) for rows in self.runs.values() for query, passage, _ in rows}
        direct = [("direct", q, p, "", grade_of(q, p)) for q, p in pool]
        asked = [("asked", q, p, item, grade_of(q, p, item)) for q, p in pool for item in ITEMS]
        return sorted(direct + asked)

    def harm(self, before: list[tuple]) -> tuple[int, int]:
        """How many grades of before are gone or others now, and how many are there twice."""
        now = self.grades()
        return len(set(before) - set(now)), len(now) - len({row[:4] for row in now})

    def faults(self) -> list[str]:
        """What `verify` finds wrong with the whole lake."""
        return [f"verify: {line(fault)}" for fault in verify(self.project).faults]

    def unfinished(self) -> list[str]:
        """What a finished night should have done and did not."""
        missing = []
        if (there := self.grades()) != (due := self.expected_grades()):
            missing.append(
                f"grades are not those of the pool: {len(there)} there, {len(due)} due, "
                f"first {sorted(set(there) ^ set(due))[:3]}"
            )
        with Lake.live(self.project) as lake:
            found: dict[str, list] = {}
            entries = "select system, query_id, passage_id, score from lake.raw.run_entries"
            for system, *row in lake.rows(entries):
                found.setdefault(system, []).append(tuple(row))
            announced = dict(lake.rows("select system, n_rows from lake.raw.systems"))
        whole = {system: sorted(rows) for system, rows in self.runs.items()}
        if {system: sorted(rows) for system, rows in found.items()} != whole:
            missing.append("runs in the lake are not those of the inbox")
        if announced != {system: len(rows) for system, rows in self.runs.items()}:
            missing.append(f"systems announce other rows than they have: {announced}")
        if (read := self.release()) != (set(self.runs),) * 2:
            missing.append(f"readers get a release of others than all systems: {read}")
        for name in self.refused:
            reason = self.folder / "inbox" / "quarantine" / f"{name}.reason.txt"
            if not reason.is_file() or len(reason.read_text()) < 20:
                missing.append(f"{name} was refused without a reason")
        left = [
            entry.name
            for entry in (self.folder / "inbox").iterdir()
            if entry.name not in ("accepted", "quarantine") and any_file(entry)
        ]
        return missing + [f"still in the inbox: {name}" for name in left]

    def release(self) -> tuple[set[str], set[str]]:
        """Systems of the release that readers get, and those that its leaderboard ranks."""
        with Lake.published(self.project) as lake:
            lake.connection.execute("begin read only")  # else each query may read another release
            of_runs = lake.rows("select system from lake.raw.systems")
            ranked = lake.rows("select distinct system from lake.marts.leaderboard")
        return {system for (system,) in of_runs}, {system for (system,) in ranked}


def any_file(path: Path) -> bool:
    """Whether a path is a file, or a folder with one."""
    return not path.is_dir() or any(map(any_file, path.iterdir()))
