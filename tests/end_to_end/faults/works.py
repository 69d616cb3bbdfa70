"""What people do to a lake, command after command, and all that must then be in it.

Each piece of work knows the rows it brings, so that after any fault every row of the lake is one
that was acknowledged, or one of the command that was hit; and those land whole or not at all.
"""

import csv
import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import catalog_file
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.upkeep.manifest import read_manifest, require_whole
from gradelake.sql.releases import publishing
from tests.end_to_end.faults.small_project import QUERIES, UNANSWERED, WRITTEN, SmallProject
from tests.end_to_end.faults.starter import Job, Starter
from tests.grading.misbehaving import Asked, Reply, Server, answer
from tests.grading.test_distil import scripted
from tests.grading.workbench_files import direct, lines, paragraph
from tests.postgres_server import new_database
from tests.s3_server import S3

TIMEOUT = 240.0  # seconds of a command
Row = tuple[str, ...]  # what it is, and four columns
Rows = frozenset[Row]
CONTENT = """
    select 'run entry', system, query_id, passage_id, score::int::varchar from lake.raw.run_entries
    union all
    select 'judgment', assessor, query_id, passage_id, relevance::varchar from lake.raw.judgments
    union all
    select 'rubric item', bank, query_id, text, '' from lake.raw.rubric_items
    union all
    select 'review', assessor, query_id, passage_id, item_id from lake.raw.grade_reviews
    union all
    select 'label rubric', name, label::varchar, iteration::varchar, text
    from lake.raw.label_rubrics
    union all
    select
        'grade', name, query_id, passage_id,
        concat(coalesce(nullif(regexp_extract(text, 'i[0-9]{3}'), ''), item_id), ':', grade)
    from lake.raw.grades
    left join lake.raw.graders using (grader_id)
    left join lake.raw.rubric_items using (collection, query_id, item_id)
"""


@dataclass
class Work:
    """A command, and what it changes. `units` land whole or not at all, each; `edition` makes the
    file that it reads, and what comes of that."""

    kind: str
    words: list[str]
    units: list[Rows] = field(default_factory=list)
    goes: Rows = frozenset()  # what may go
    free: str = ""  # a kind of row that may come and go as it likes
    due: int | None = None  # units that it brings at least; None: all
    given: str = ""
    file: Path | None = None
    edition: Callable[[int], tuple[str, Rows]] | None = None
    is_done: Callable[[], bool] = lambda: False  # nothing is left to do: it would be refused
    wrong: Callable[[str], list[str]] = lambda said: []  # whatever happened to it
    unfinished: Callable[[], list[str]] = list  # once it went well
    before: Counter[Row] | None = None  # what the lake had, if it cannot be looked at now


class Desk(SmallProject):
    """A project in which commands are given by hand."""

    starter: Starter
    bucket: S3  # where its files are in one
    number = 0
    backed_up: Counter[Row] | None = None
    backup: Path | None = None
    touched = False  # by a command that nobody disturbed

    def run(self, *words: str, given: str = "") -> tuple[int, str]:
        """(exit code, what it said) of a command that nobody disturbs."""
        return Job(self.starter, self.folder, list(words), given=given).end(TIMEOUT)

    def must(self, *words: str) -> None:
        code, said = self.run(*words)
        self.touched = True
        assert code == 0, said

    def content(self, project: Project | None = None) -> Counter[Row]:
        """Every row that somebody would miss, and the releases."""
        project = project or self.project
        with Lake.live(project) as lake:
            rows = Counter(map(tuple, lake.rows(CONTENT)))
            kept = lake.column("select release from lake.raw.kept_releases")
            found = publishing.available(project, lake.connection)
        rows.update(("kept", name, "", "", "") for name in kept)
        rows.update(("release", release.name, "", "", "") for release in found)
        edits = project.file.parent / "seeds" / "rubric_edits.csv"
        if edits.exists():
            with edits.open(newline="") as file:
                rows.update(("edit", row["text"], "", "", "") for row in csv.DictReader(file))
        return rows

    def is_published(self) -> bool:
        """Whether the newest release has all that the working catalog has."""
        with Lake.published(self.project) as lake:
            return Counter(map(tuple, lake.rows(CONTENT))) == tables(self.content())

    def works(self) -> dict[str, Callable[[], Work | None]]:
        """Each kind of work; None where there is nothing for it to do now."""
        made = {
            "ingest": self._ingest,
            "build": self._build,
            "grade": self._grade,
            "nightly": self._night,
            "import labels": partial(self._import, "labels", self._labels),
            "import judgments": partial(self._import, "judgments", self._judgments),
            "import bank": partial(self._import, "bank", self._bank),
            "import grades": partial(self._import, "grades", self._grades),
            "rubric edit": self._edit,
            "review": self._review,
            "release keep": self._keep,
            "release drop": self._drop,
            "lake tidy": self._tidy,
            "lake copy": self._copy,
            "lake backup": self._backup,
            "lake restore": self._restore,
            "generate": self._generate,
            "distil": self._distil,
        }
        return made if self.project.on_postgres else made | {"lake recover": self._recover}

    def work(self, kind: str) -> Work | None:
        self.number += 1
        return self.works()[kind]()

    # --- what comes in ------------------------------------------------------------------------

    def _ingest(self) -> Work:
        system, rows = self._new_run()
        judged = ("judgment", "nist", "q001", min(rows)[3], "1")  # what is judged is in the pool
        with (self.folder / "nist.qrels").open("a") as file:
            file.write(f"q001 0 {judged[3]} 1\n")
        file = self.folder / "inbox" / f"{system}.run"
        text = file.read_text()  # type: ignore[attr-defined]

        def edition(number: int) -> tuple[str, Rows]:
            if not number:
                return text, rows
            other = frozenset((*row[:4], str(int(row[4]) + 50)) for row in rows)
            return "".join(f"{r[2]} Q0 {r[3]} 1 {r[4]} {r[1]}\n" for r in sorted(other)), other

        return Work(
            "ingest", ["ingest", "tiny"], [rows, frozenset([judged])], file=file, edition=edition
        )

    def _new_run(self) -> tuple[str, Rows]:
        """(the system of a run that is new in the inbox, its rows)."""
        system = self.drop()
        return system, frozenset(
            ("run entry", system, query, passage, str(int(score)))
            for query, passage, score in self.runs[system]
        )

    def _import(self, what: str, make: Callable[[str, int], tuple[str, Rows, list[str]]]) -> Work:
        name = f"{what}{self.number}"
        file = self.folder / f"{name}.file"
        text, rows, words = make(name, 0)
        file.write_text(text)
        return Work(
            f"import {what}",
            ["import", what, "tiny", file.name, *words],
            [rows],
            file=file,
            edition=lambda number: make(name, number)[:2],
        )

    @staticmethod
    def _labels(name: str, edition: int) -> tuple[str, Rows, list[str]]:
        pairs = [(query, f"p{n:03d}") for query in QUERIES for n in range(3)]
        rows = frozenset(("grade", name, q, p, f":{edition + 1}") for q, p in pairs)
        text = "".join(f"{query} 0 {passage} {edition + 1}\n" for query, passage in pairs)
        return text, rows, ["--judge", name]

    @staticmethod
    def _judgments(name: str, edition: int) -> tuple[str, Rows, list[str]]:
        pairs = [(query, f"p{n:03d}") for query in QUERIES for n in range(3)]
        rows = frozenset(("judgment", name, q, p, str(edition)) for q, p in pairs)
        text = "".join(f"{query},{passage},{edition}\n" for query, passage in pairs)
        return f"query_id,passage_id,judgment\n{text}", rows, ["--assessor", name]

    @staticmethod
    def _bank(name: str, edition: int) -> tuple[str, Rows, list[str]]:
        texts = [f"What is {n} of {name}, edition {edition}?" for n in range(4)]
        rows = frozenset(("rubric item", name, UNANSWERED, text, "") for text in texts)
        items = [{"question_text": text} for text in texts]
        return json.dumps({"query_id": UNANSWERED, "items": items}), rows, ["--name", name]

    @staticmethod
    def _grades(name: str, edition: int) -> tuple[str, Rows, list[str]]:
        passages = [f"p{n:03d}" for n in range(3)]
        rated = [direct(edition + 1)]
        found = [paragraph(p, grades=rated, text=f"the text of {p}") for p in passages]
        rows = frozenset(("grade", f"{name}.Sun", "q001", p, f":{edition + 1}") for p in passages)
        return lines(q001=found)[0], rows, ["--name", name]

    # --- people, and models -------------------------------------------------------------------

    def _edit(self) -> Work:
        text = f"What else, asked {self.number}?"
        code, sheet = self.run("rubric", "edit", UNANSWERED, "--print")
        assert code == 0, sheet
        file = self.folder / "sheet.txt"
        file.write_text(f"{sheet[sheet.index('@rubric') :].rstrip()}\n+ question {text}\n")
        row = ("edit", text, "", "", "")
        return Work(
            "rubric edit",
            ["rubric", "edit", "--from", file.name],
            [frozenset([row])],
            is_done=lambda: row in self.content(),
        )

    def _review(self) -> Work:
        name = f"ann{self.number}"
        cells = self._graded()
        if not cells:
            self.must("grade", "tiny", "--grader", "asked")
            cells = self._graded()
        units = [frozenset([("review", name, *cell)]) for cell in cells]

        def wrong(said: str) -> list[str]:
            shown = {int(number) for number in re.findall(r"^(\d+) of ", said, re.MULTILINE)}
            there = sum(row[:2] == ("review", name) for row in self.content())
            lost = there < len(shown) - 1
            return [f"{there} reviews are there, card {len(shown)} was shown"] if lost else []

        words = ["review", "tiny", "--grader", "asked", "--assessor", name]
        return Work("review", words, units, due=3, given="a\na\na\n", wrong=wrong)

    def _graded(self) -> list[tuple]:
        with Lake.live(self.project) as lake:
            return lake.rows(
                "select query_id, passage_id, item_id from lake.raw.grades "
                "inner join lake.raw.graders using (grader_id) where name = 'asked'"
            )

    def _grade(self) -> Work:
        self.drop()
        self.must("ingest", "tiny")
        return Work("grade", ["grade", "tiny", "--grader", "asked"], self._missing())

    def _generate(self) -> Work:
        name = f"written{self.number}"
        units = [frozenset([("rubric item", name, q, f"Why {q}?", "")]) for q in WRITTEN]
        words = ["generate", "tiny", "--grader", "writer", "--bank", name, "--queries"]
        return Work("generate", [*words, ",".join(WRITTEN)], units)

    def _distil(self) -> Work:
        name = f"distilled{self.number}"
        rows = frozenset(
            ("label rubric", name, str(label), str(iteration), f"version {iteration} of {label}")
            for label in range(3)
            for iteration in (1, 2)
        )
        words = ["distil", "tiny", "--assessor", "nist", "--grader", "explainer", "--name", name]
        return Work("distil", [*words, "--per-label", "2", "--iterations", "2"], [rows])

    def _missing(self) -> list[Rows]:
        """Each grade that the lake should have of the grader, and has not."""
        due = (
            ("grade", "asked", query, passage, f"{item}:{grade}")
            for query, passage, item, grade in self.expected_grades()
        )
        there = self.content()
        return [frozenset([row]) for row in due if row not in there]

    def _night(self) -> Work:
        """A run that is new comes in, what is missing is graded, a release is published, and old
        ones go."""
        _, run = self._new_run()

        def unfinished() -> list[str]:
            return [] if self.is_published() else ["the release is not what the night made"]

        units = [run, *self._missing()]
        return Work("nightly", ["nightly"], units, free="release", unfinished=unfinished)

    # --- releases -----------------------------------------------------------------------------

    def _build(self) -> Work:
        name = f"b{self.number}"

        def unfinished() -> list[str]:
            return [] if self.is_published() else ["the release is not what was built"]

        row = ("release", name, "", "", "")
        # once readers get it, it is not made again
        return Work(
            "build",
            ["build", "--name", name],
            [frozenset([row])],
            is_done=lambda: row in self.content() and self.is_published(),
            unfinished=unfinished,
        )

    def _old_releases(self) -> list[str]:
        """Those that may be dropped, oldest first."""
        with Lake.live(self.project) as lake:
            found = [each.name for each in publishing.available(self.project, lake.connection)]
            ours = [each.name for each in publishing.listed(lake.connection) if each.name in found]
            kept = lake.column("select release from lake.raw.kept_releases")
            read = publishing.read_by_default(self.project, lake.connection)
        # where a catalog was recovered, or a build killed, readers may get another than the last
        return [name for name in found[:-1] if name not in (*kept, *ours[-1:], read)]

    def _keep(self) -> Work | None:
        if not (names := self._old_releases()):
            return None
        row = ("kept", names[-1], "", "", "")
        return Work("release keep", ["release", "keep", names[-1]], [frozenset([row])])

    def _drop(self) -> Work | None:
        if not (names := self._old_releases()):
            return None
        row = ("release", names[0], "", "", "")
        return Work(
            "release drop",
            ["release", "drop", names[0]],
            goes=frozenset([row]),
            is_done=lambda: row not in self.content(),
            unfinished=lambda: ["it is still there"] if row in self.content() else [],
        )

    # --- upkeep -------------------------------------------------------------------------------

    def _tidy(self) -> Work:
        goes = frozenset(("release", name, "", "", "") for name in self._old_releases()[:-2])
        return Work("lake tidy", ["lake", "tidy"], goes=goes)

    def _copy(self) -> Work:
        settings = (self.folder / "gradelake.toml").read_text()
        place = self.folder / f"copy{self.number}"
        place.mkdir()
        lake = ""
        if self.project.data and self.number % 2:
            lake = f'data = "{self.project.data}-{place.name}"\n'
        elif self.project.on_postgres and self.number % 2:
            server = self.project.catalog.replace("dbname=desk", "dbname=postgres")
            lake = f'catalog = "{new_database(server, place.name)}"\n'
        elsewhere = ("catalog", "data")
        kept = "\n".join(line for line in settings.splitlines() if not line.startswith(elsewhere))
        file = place / "gradelake.toml"
        file.write_text(kept.replace("[lake]\n", f"[lake]\n{lake}"))

        def unfinished() -> list[str]:
            same = tables(self.content(Project.find(place))) == tables(self.content())
            shutil.rmtree(place)
            return [] if same else ["the copy has other rows"]

        words = ["lake", "copy", f"{place.name}/gradelake.toml"]
        return Work("lake copy", words, unfinished=unfinished)

    def _backup(self) -> Work:
        place = self.backup if self.backup and self.number % 5 else self.folder / f"bk{self.number}"
        there = self.content()

        def wrong(said: str) -> list[str]:
            if place == self.backup:  # the former one holds
                require_whole(place, read_manifest(place))
            return []

        def unfinished() -> list[str]:
            require_whole(place, read_manifest(place))
            if self.backup and self.backup != place:
                shutil.rmtree(self.backup)
            self.backup, self.backed_up = place, there
            return []

        words = ["lake", "backup", place.name]
        return Work("lake backup", words, wrong=wrong, unfinished=unfinished)

    def _restore(self) -> Work:
        if not self.backup:
            work = self._backup()
            self.must(*work.words)
            work.unfinished()
        place = self.folder / f"restored{self.number}"

        def wrong(said: str) -> list[str]:
            whole = not place.exists() or self.content(Project.find(place)) == self.backed_up
            return [] if whole else ["half a backup was restored"]

        def unfinished() -> list[str]:
            found = wrong("")
            shutil.rmtree(place, ignore_errors=True)  # where it was refused there is none
            return found

        return Work(
            "lake restore",
            ["lake", "restore", self.backup.name, place.name],
            is_done=place.exists,
            wrong=wrong,
            unfinished=unfinished,
        )

    def _recover(self) -> Work:
        if not self.is_published():
            self.must("build", "--name", f"u{self.number}")
        else:
            self.must("build")  # publishes a release whose build was killed before that
        catalog = catalog_file(self.project)
        for file in catalog.parent.glob("catalog-before-*"):
            file.unlink()
        for ending in ("-wal", "-shm"):
            catalog.with_name(catalog.name + ending).unlink(missing_ok=True)
        with Lake.published(self.project) as lake:  # marks made after it go with the catalog
            marked = lake.column("select release from lake.raw.kept_releases")
        there = self.content()
        goes = {row for row in there if row[0] == "kept" and row[1] not in marked}
        before = there - Counter(goes)
        damage = random.Random(self.number).choice(("missing", "empty", "cut"))
        data = catalog.read_bytes()
        catalog.unlink()
        if damage != "missing":
            catalog.write_bytes(b"" if damage == "empty" else data[: len(data) // 3])

        def is_done() -> bool:
            try:
                return self.content() == before
            except Exception:
                return False

        return Work(
            "lake recover",
            ["lake", "recover", "--from", "published"],
            goes=frozenset(goes),
            is_done=is_done,
            before=before,
        )


def model() -> Server:
    """What stands in for a model that writes questions, explanations and rubrics of labels."""

    def writes(asked: Asked) -> Reply:
        query = re.search("q[0-9]{3}", asked.text)[0]
        return answer(json.dumps({"questions": [f"Why {query}?"]}), delay=0.2)

    server = scripted()
    server.on("Break the query", writes)
    return server


def writers(server: Server) -> str:
    """The graders that ask it, for a gradelake.toml."""
    kinds = {"writer": "generate_questions_dl", "explainer": "true_explain"}
    return "".join(
        f'[graders.{name}]\nengine = "openai"\nmodel = "m"\nbase_url = "{server.url}"\n'
        f'prompt = "{prompt}"\n'
        for name, prompt in kinds.items()
    )


def tables(rows: Counter[Row]) -> Counter[Row]:
    """What is in raw tables that every copy of a lake has."""
    return Counter({row: n for row, n in rows.items() if row[0] not in ("release", "kept", "edit")})
