"""A build computes only what changed, and the lake is what a full rebuild makes of it."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake, json_of
from tests.dbt_project.plain_dbt import dbt
from tests.edits import edit, write_edits
from tests.projects import write
from tests.reading import live

pytestmark = pytest.mark.slow

CHANGES = int(os.environ.get("GRADELAKE_CHANGES", "0"))
# what changes between two builds, each kind of input once; `make campaigns` adds changes at random,
# kills the first build of each, and has plain dbt build the lake anew, too
FIRST = (
    ("drop", "weight"),
    ("swapped_passages", "replaced_run", "copied_run"),
    ("labels", "edits_taken_back", "grid"),
)
# what tells of commands, and so of the builds themselves
OF_COMMANDS = {"marts.freshness", "marts.nights"}


class Person:
    """Changes a demo collection at random; the lake gets what a build makes of each change."""

    def __init__(self, folder: Path, seed: int):
        self.folder = folder
        self.random = random.Random(seed)
        self.edits: list[dict] = []
        self.items = live(folder).rows(
            "select bank, query_id, item_id from lake.raw.rubric_items order by all"
        )

    def change(self, what: str | None = None) -> str:
        """Change something; returns what."""
        what = what or self.random.choice([name for name in dir(self) if name.startswith("some_")])
        getattr(self, what)()
        return what

    # --- the rubric ---

    def _edit(self, action: str, **columns: object) -> None:
        edited = {each["item_id"] for each in self.edits}
        bank, query_id, item_id = self.random.choice(
            [item for item in self.items if item[2] not in edited]
        )
        of_item = {"bank": bank, "query_id": query_id, **columns}
        self.edits.append(edit(len(self.edits) + 1, action, item_id, **of_item))
        write_edits(self.folder, *self.edits)

    def some_drop(self) -> None:
        self._edit("drop")

    def some_weight(self) -> None:
        self._edit("reweight", weight=self.random.choice([0.5, 2, 3]))

    def some_wording(self) -> None:
        self._edit("reword", text=f"What is the {self.random.random()} of it?")

    def some_edits_taken_back(self) -> None:
        self.edits = self.edits[: self.random.randrange(len(self.edits) + 1)]
        write_edits(self.folder, *self.edits)

    # --- grades, labels, judgments ---

    def some_grades(self) -> None:
        grader = self.random.choice(["lexical", "lexical_nuggets", "lexical_direct"])
        gradelake(self.folder, "grade", "demo", "--grader", grader)

    def some_labels(self) -> None:
        lines = (self.folder / "labels" / "overlap.qrels").read_text().splitlines()
        file = self.folder / "labels" / "random.qrels"
        file.write_text("".join(f"{line}\n" for line in lines if self.random.random() < 0.9))
        judge = f"judge{self.random.randrange(3)}"
        gradelake(self.folder, "import", "labels", "demo", str(file), "--judge", judge)

    def some_judgments(self) -> None:
        file = self.folder / "judgments.qrels"
        lines = [line.split() for line in file.read_text().splitlines()]
        for line in self.random.sample(lines, 5):
            line[3] = str(self.random.randrange(4))
        write(file, [" ".join(line) for line in lines])
        gradelake(self.folder, "ingest", "demo")

    # --- runs ---

    def some_replaced_run(self) -> None:
        files = sorted((self.folder / "runs").glob("*.run"))
        file = self.random.choice([file for file in files if file.stem != "bm25"])
        self.replaced = file.stem
        lines = [line.split() for line in file.read_text().splitlines()]
        for line in lines:
            line[4] = str(float(line[4]) + self.random.random())
        write(file, [" ".join(line) for line in lines])
        gradelake(self.folder, "ingest", "demo")

    def some_swapped_passages(self) -> None:
        """The best passage of a ranking and the third: the same passages and ranks as before."""
        file = self.folder / "runs" / "bm25.run"
        lines = [line.split() for line in file.read_text().splitlines()]
        assert lines[0][0] == lines[2][0]
        lines[0][2], lines[2][2] = lines[2][2], lines[0][2]
        write(file, [" ".join(line) for line in lines])
        gradelake(self.folder, "ingest", "demo")

    def some_copied_run(self) -> None:
        shutil.copy(self.folder / "runs" / "bm25.run", self.folder / "runs" / "again.run")
        gradelake(self.folder, "ingest", "demo")

    def some_new_run(self) -> None:
        name = f"new{self.random.randrange(1000)}"
        lines = [line.split() for line in (self.folder / "runs/bm25.run").read_text().splitlines()]
        kept = [line for line in lines if self.random.random() < 0.8]
        write(self.folder / f"runs/{name}.run", [" ".join([*line[:5], name]) for line in kept])
        gradelake(self.folder, "ingest", "demo")

    # --- what is computed ---

    def some_policies(self) -> None:
        policies = ["second_best,mth_best,2,,", "third,mth_best,3,,", "count4,count_at_least,,4,"]
        chosen = self.random.sample(policies, self.random.randrange(3))
        lines = ["policy,rule,m,tau,mapping", "best,best,,,", *chosen]
        write(self.folder / "seeds/label_policies.csv", lines)

    def some_grid(self) -> None:
        measures = ["nDCG@5", "RR@10", "P@5", "Cover@5", "Cover@20", "alpha-nDCG@5", "bpref"]
        chosen = self.random.sample(measures, 3)
        write(
            self.folder / "seeds/evaluation_grid.csv",
            ["measure", "without packaged", "nDCG@10", *chosen],
        )


def contents(folder: Path) -> dict[str, list]:
    """Every row of every table that dbt makes, whatever order it is stored in, and the text of its
    views. In `make campaigns` the rows of these, too, which take twenty seconds."""
    with Lake.live(Project.find(folder)) as lake:
        names = lake.column(
            "select table_schema || '.' || table_name from information_schema.tables "
            "where table_catalog = 'lake' and table_schema in ('intermediate', 'marts')"
        )
        views = lake.rows(
            "select schema_name || '.' || view_name, sql from duckdb_views() "
            "where database_name = 'lake' and schema_name != 'raw'"
        )
        texts = {} if CHANGES else {name: [text] for name, text in views}
        assert len(texts) > 80 or CHANGES
        return texts | {
            name: sorted(map(repr, lake.rows(f"select * from lake.{name}")))
            for name in names
            if name not in texts and name not in OF_COMMANDS
        }


def row_ids(folder: Path) -> tuple[set[tuple], set[tuple]]:
    """(row id, system, query_id) of scores, and (row id, system) of ranked entries.

    Rows that stayed keep their place in the files; those written anew get new row ids.
    """
    scores = live(folder).rows(
        """
        select scores.rowid, scores.system, variants.query_id
        from lake.intermediate.int_label_scores as scores
        inner join lake.intermediate.int_label_variants as variants using (variant)
        """
    )
    return set(scores), set(
        live(folder).rows("select rowid, system from lake.intermediate.int_ranked_entries")
    )


def killed_build(folder: Path, chance: random.Random) -> None:
    """A build of which nobody knows how far it came."""
    command = [sys.executable, "-m", "gradelake", "build", "--quiet"]
    with subprocess.Popen(command, cwd=folder) as process:
        try:
            process.wait(chance.uniform(0.2, 2))
        except subprocess.TimeoutExpired:
            process.kill()


def test_built_change_by_change_it_is_what_is_built_of_all_of_them(graded_demo, tmp_path):
    """An edit computes its query alone, and a run its system."""
    folder, anew = tmp_path / "demo", tmp_path / "anew"
    shutil.copytree(graded_demo, folder)
    seed = int(os.environ.get("GRADELAKE_SEED", random.randrange(10**6)))
    person, done = Person(folder, seed), []
    scores, ranked = row_ids(folder)
    for n in range(len(FIRST) + CHANGES):
        changes = FIRST[n] if n < len(FIRST) else [None]
        done += [person.change(each and f"some_{each}") for each in changes]
        if n >= len(FIRST):
            killed_build(folder, person.random)
        build = json_of(folder, "build", "--json")
        nodes = set(build.get("seconds_by_node", ()))  # none where all edits were kept
        if n == 0:
            edited, _ = row_ids(folder)
            assert scores <= edited, "version 0 stays"
            queries = {query_id for _, _, query_id in edited - scores}
            assert queries <= {edit["query_id"] for edit in person.edits}
        if n == 1:
            # only what is made of runs is made anew
            assert {"int_ranked_entries", "int_label_scores", "int_board_scores"} <= nodes
            assert not {"int_labels", "rubric_history", "rubric_edits", "grader_items"} & nodes
            touched = {"again", "bm25", person.replaced}
            for before, after in zip((edited, ranked), row_ids(folder), strict=True):
                assert {row for row in before if row[1] not in touched} <= after
                assert {"again"} <= {row[1] for row in after - before} <= touched
        if n % 5 != 4 and n != len(FIRST) + CHANGES - 1:
            continue
        shutil.rmtree(anew, ignore_errors=True)
        shutil.copytree(folder, anew)
        gradelake(anew, "build", "--full-refresh")
        by_and_by, at_once = contents(folder), [contents(anew)]
        if CHANGES:
            by_dbt = dbt(anew, "build", "--full-refresh", "--exclude-resource-type", "unit_test")
            assert by_dbt.returncode == 0, by_dbt.stdout
            at_once.append(contents(anew))
        for built in at_once:
            assert by_and_by.keys() == built.keys()
            for table, rows in built.items():
                assert by_and_by[table] == rows, f"{table} after {done}, GRADELAKE_SEED={seed}"
