"""A small project in which things break, and what must be in its lake whatever breaks.

Grades are a function of what is graded, so every one that the lake should have is known. The
engine asks a process of its own, slowly enough to be killed at work.
"""

import json
import os
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from gradelake.sql.common.project import Project
from gradelake.sql.operations.upkeep.verify import line, verify
from tests.command_line import gradelake
from tests.lakes import start_lake

QUERIES, ITEMS = ("q001", "q002"), ("i001", "i002")
PER_RUN = 2  # passages of a run, new to the pool
UNANSWERED = "q003"  # a query of the rubric that no system answers
WRITTEN = tuple(f"q{n:03d}" for n in range(4, 24))  # those whose questions a model writes
PASSAGES = 1000  # of the collection

SETTINGS = """
[grading]
engines = "engines"

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
    time.sleep(0.25)
    marks = sorted(set(re.findall("[qpi][0-9]{3}", line)))
    print(zlib.crc32("/".join(marks).encode()) % 3, flush=True)
"""


def grade_of(*marks: str) -> int:
    """What the engine says of a query, a passage and an item."""
    return zlib.crc32("/".join(sorted(marks)).encode()) % 3


@dataclass
class SmallProject:
    """The project's folder and what was put into its inbox.

    `usual` is how many seconds a command takes, the shortest that was seen.
    """

    folder: Path
    runs: dict[str, set[tuple]] = field(default_factory=dict)  # system: (query, passage, score)
    usual: dict[str, float] = field(default_factory=dict)

    @classmethod
    def made(cls, folder: Path, settings: str = "") -> Self:
        """A new project with its rubric; `settings` are lines for `[lake]` and tables after it."""
        project = cls(folder)
        kept = "[lake]\nkeep_releases = 3\nkeep_days = 0.001\n"
        project.write("gradelake.toml", f"{kept}{settings}\n{SETTINGS}")
        project.write("engines/slow.py", ENGINE)
        project.write("reader.py", READER)
        topics = (f"{query}\twhat is {query} about" for query in (*QUERIES, UNANSWERED, *WRITTEN))
        project.write("topics.tsv", *topics)
        passages = (f"p{n:03d}\tthe text of p{n:03d}" for n in range(PASSAGES))
        project.write("passages.tsv", *passages)
        banks = []
        project.write("nist.qrels", "q001 0 p000 2", "q001 0 p001 0", "q002 0 p000 1")
        for query in (*QUERIES, UNANSWERED):
            items = [{"question_text": f"What does {query} say of {item}?"} for item in ITEMS]
            banks.append(json.dumps({"query_id": query, "items": items}))
        project.write("bank.jsonl", *banks)
        project.drop()
        if not (project.project.on_postgres or project.project.data):
            start_lake(folder)
        gradelake(folder, "ingest", "tiny")
        gradelake(folder, "import", "bank", "tiny", "bank.jsonl", "--name", "questions")
        return project

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
        first = number * PER_RUN
        assert first + PER_RUN <= PASSAGES, "there are no new passages any more"
        system = f"system{number:03d}"
        rows = {
            (query, f"p{first + n:03d}", float(PER_RUN - n))
            for query in QUERIES
            for n in range(PER_RUN)
        }
        lines = (f"{query} Q0 {passage} 1 {score} {system}" for query, passage, score in rows)
        self.write(f"inbox/{system}.run", *lines)
        self.runs[system] = rows
        return system

    def expected_grades(self) -> list[tuple]:
        """All grades of the pool: every run is no longer than the pool's depth."""
        pool = {(query, passage) for rows in self.runs.values() for query, passage, _ in rows}
        return sorted((q, p, item, grade_of(q, p, item)) for q, p in pool for item in ITEMS)

    def faults(self) -> list[str]:
        """What `verify` finds wrong with the whole lake."""
        return [f"verify: {line(fault)}" for fault in verify(self.project).faults]
