"""A project with one tiny collection, a rubric and graders, on a real lake."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from textwrap import indent

from gradelake.grading.graders.configured import configured
from gradelake.grading.graders.grader import Grader
from gradelake.grading.graders.grader_reader import read_grader
from gradelake.grading.plan.planner import VIEWS, GradingPlan, ensure_views
from gradelake.grading.plan.request import FAILURES, GradingRequest
from gradelake.grading.run import grader_run
from gradelake.ingest.banks.banks import import_bank
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import REPLIES
from gradelake.sql.lake.opening import Lake
from tests import command_line, projects
from tests.ingest.conftest import Tiny

QUESTIONS = {
    "q1": ["Why is the sky blue?", "What scatters light?"],
    "q2": ["How do bees find home?", "What do bees remember?", "Do bees see the sun?"],
}
PASSAGES = {
    "p1": "The sky is blue because air scatters blue light more than red.",
    "p2": "Bees remember landmarks and see the sun.",
    "p3": "Bees find their way home by the sun.",
    "p4": "Cars are made of steel.",
    "p5": "The sky is blue because air scatters blue light more than red.",  # p1's text again
}


# a million tokens of m cost 100 euros, cached ones 10, those of replies 1,000; in batches half
PRICES = ["model,from_date,currency,input,cached,output,batch", "m,2026-01-01,EUR,100,10,1000,0.5"]


# what an engine of a test's own begins with
ENGINE = """
import ast, json, os, pathlib, random, re, time
from gradelake.grading.engines import Engine as Base, EngineUnusable, Response, Setting, Workers

HERE = pathlib.Path(__file__).parent

def note(*lines):
    with (HERE / "asked").open("a") as asked:
        asked.writelines(f"{line}\\n" for line in lines)

class Engine(Base):
    needs_model = False
"""


def engine_code(methods: str) -> str:
    """An engine of a test's own, from its methods alone."""
    return ENGINE + indent(methods, "    ")


class Judged(Tiny):
    """q1 has p1, p2, p5 in its pool and two questions; q2 has p3, p4 and three: 12 pairs."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.grading: dict[str, str] = {}
        self.place: dict[str, str] = {}  # its [lake]
        self.graders: dict[str, dict] = {"lexical": dict(projects.LEXICAL)}
        files = {
            "passages.tsv": PASSAGES,
            "nist.qrels": {"q1": {"p1": 2, "p2": 0, "p5": 2}, "q2": {"p3": 1, "p4": 0}},
            "runs/good.run": ["q1 Q0 p1 1 2.5 good", "q2 Q0 p3 2 1.5 good"],
            "bank.csv": [
                {"query_id": query_id, "kind": "question", "text": text}
                for query_id, texts in QUESTIONS.items()
                for text in texts
            ],
        }
        for name, content in files.items():
            projects.write(folder / name, content)

    @property
    def project(self) -> Project:
        collections = {self.name: self.settings}
        tables = {"grading": self.grading} | ({"lake": self.place} if self.place else {})
        return projects.project(self.folder, collections, self.graders, **tables)

    def engine(self, name: str, code: str) -> None:
        """An engine of the project's own, in the folder `engines`; its methods alone will do."""
        self.grading["engines"] = "engines"
        self.write(f"engines/{name}.py", code if "class Engine" in code else engine_code(code))

    def asked(self) -> list[str]:
        """What its engines noted of what they were asked."""
        file = self.folder / "engines" / "asked"
        return file.read_text().splitlines() if file.exists() else []

    def waiting(self) -> set[str]:
        """The replies that are kept in files, until they are committed."""
        found = set()
        for file in (self.folder / "lake" / "grading").glob(f"*/*{REPLIES}"):
            with suppress(FileNotFoundError):  # it was, just now
                found |= {line for line in file.read_text().splitlines() if '"asked"' in line}
        return found

    def prompt(self, name: str, template: str, **keys) -> None:
        """A prompt of the project's own, in the folder `prompts`."""
        self.grading["prompts"] = "prompts"
        about = {"name": name, "version": 1, "source": "ours", "description": "d"}
        asks = {"target": "direct", "output": "scale", "scale": "0-5", "parser": "strict"}
        content = json.dumps({**about, **asks, "template": template, **keys})  # JSON is YAML
        self.write(f"prompts/{name}.yaml", content)

    def bank(self, file: str = "bank.csv", name: str = "questions") -> None:
        import_bank(self.lake, self.name, self.folder / file, name, "auto", [])

    def grader(self, name: str = "lexical", **changes) -> Grader:
        self.graders[name] = self.graders.get(name, {}) | changes
        return read_grader(self.project, name)

    def request(self, name: str = "lexical", **options) -> GradingRequest:
        return GradingRequest(self.name, self.grader(name), **options)

    def spawn(self, *arguments: str, **environment: str) -> subprocess.Popen:
        """The command line in a process, and a process group, of its own."""
        assert self.project  # writes its gradelake.toml
        return command_line.start(self.folder, *arguments, **environment)

    def plan(self, name: str = "lexical", **options) -> GradingPlan:
        return GradingPlan(self.lake, self.request(name, **options))

    def grade(
        self,
        name: str = "lexical",
        retry_failed: bool = False,
        max_seconds: float | None = None,
        **options,
    ) -> grader_run.Run:
        """Grade in this process's Ray; what is told is kept in `told`."""
        self.told: list[str] = []
        if retry_failed:
            options["retry"] = FAILURES
        return grader_run.grade(
            self.project, self.request(name, **options), self.told.append, max_seconds=max_seconds
        )

    def grade_as_told(self, name: str) -> grader_run.Run:
        """Grade as the command does, which knows whose answers or scores a grader reads."""
        request = GradingRequest(self.name, configured(self.project, self.lake, name))
        return grader_run.grade(self.project, request, lambda line: None)

    def grades(self, name: str = "lexical", columns: str = "grade, status") -> dict[tuple, tuple]:
        """(query, passage, item's text) -> columns of its grade, of the newest grader so named."""
        rows = self.lake.rows(
            f"""
            select query_id, passage_id, coalesce(item_text, ''), {columns}
            from lake.raw.grades
            left join lake.intermediate.int_rubric_items using (collection, query_id, item_id)
            where grader_id = (
                select arg_max(grader_id, created_at) from lake.raw.graders where name = ?
            )
            """,
            name,
        )
        found = {tuple(row[:3]): tuple(row[3:]) for row in rows}
        assert len(found) == len(rows), "a pair was graded twice"
        return found


def wait_for(condition: Callable[[], object], process: subprocess.Popen, most: float = 90) -> None:
    """Wait until something is so, while a process is at work."""
    deadline = time.monotonic() + most
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def copy_of(template: Path, folder: Path) -> Judged:
    """A project with a copy of the template's lake."""
    shutil.copytree(template, folder / "lake")
    return Judged(folder)


def make_priced(template: Path, folder: Path) -> None:
    """Give a copy of the template prices, and the views that plans of costs and backlogs read."""
    with closing(copy_of(template, folder)) as judged:
        judged.write("seeds/prices.csv", PRICES)
        views = (*VIEWS, "marts.grading_cost", "marts.grading_backlog")
        ensure_views(judged.lake, views)


def make_template(folder: Path, **place: str) -> Path:
    """A lake that holds the collection, its rubric, and dbt's views; made once and copied."""
    project = Judged(folder)
    project.place |= place
    Lake.create(project.project).close()
    assert project.ingest().exit_code == 0
    project.bank()
    ensure_views(project.lake)
    project.close()
    return folder / "lake"
