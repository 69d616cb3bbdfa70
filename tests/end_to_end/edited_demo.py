"""The graded demo with two versions of edits, and what plain Python makes of it."""

from collections import defaultdict
from pathlib import Path

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests import oracle, rubric_oracle
from tests.command_line import gradelake
from tests.edits import edit, write_edits
from tests.rubric_oracle import item_id

KINDS = {"lexical": "question", "lexical_nuggets": "nugget"}
POLICIES = {"best": 1, "second_best": 2}
BIRDS, HASHES, BREAD = "bird-navigation", "hash-collisions", "sourdough-sour-rise"
DROPPED = item_id(BIRDS, "What shows that the direction of the first migration is inherited?")
WORDED = item_id(BIRDS, "Which protein in the retina is thought to sense the magnetic field?")
REWORDED = "Which retinal protein may sense the Earth's magnetic field?"
REWORDED_AGAIN = "Which protein lets robins, and others, see the magnetic field?"
ADDED = "What is a collision of two keys?"
ADDED_LATER = "Why does a starter smell of vinegar?"
LEADERBOARD = "select * from {}leaderboard where measure != 'Judged@10' order by all"


def some_item(bank: rubric_oracle.Rubric, query: str, nth: int = 0) -> str:
    return sorted(rubric_oracle.items_of(bank, query))[nth]


def edits(questions: rubric_oracle.Rubric, nuggets: rubric_oracle.Rubric) -> list[dict]:
    """Each kind of edit in version 1 (but restoring: nothing is dropped yet) and in version 2."""
    return [
        edit(1, "drop", DROPPED, reason="says the same as another"),
        edit(1, "reword", WORDED, text=REWORDED),
        edit(1, "reweight", some_item(questions, HASHES), weight=3),
        edit(1, "add", query_id=HASHES, kind="question", text=ADDED, weight=2),
        edit(1, "drop", some_item(nuggets, BREAD), bank="nuggets"),
        edit(2, "restore", DROPPED, weight=0.5),
        edit(2, "reword", item_id(BIRDS, REWORDED), text=REWORDED_AGAIN, weight=4),
        edit(2, "drop", some_item(questions, HASHES, 1)),
        edit(2, "reweight", item_id(HASHES, ADDED), weight=0),
        edit(2, "add", query_id=BREAD, kind="question", text=ADDED_LATER),
    ]


def ask(folder: Path, query: str) -> list[tuple]:
    with Lake.live(Project.find(folder)) as lake:
        lake.connection.execute("use lake.marts")
        return lake.rows(query)


def backlog(folder: Path, version: int) -> dict[str, set]:
    """Item -> pairs of query and passage that the question grader misses."""
    missing = defaultdict(set)
    for query, passage, item in ask(
        folder,
        "select query_id, passage_id, item_id from grading_backlog where grader = 'lexical' "
        f"and rubric_version = {version}",
    ):
        missing[item].add((query, passage))
    return dict(missing)


class Edited:
    """The demo before its edits, after them, and after the new items were graded."""

    def __init__(self, folder: Path):
        self.folder = folder
        banks = [
            rubric_oracle.read_bank(folder / f"{kind}_bank.jsonl", kind) for kind in KINDS.values()
        ]
        self.runs = oracle.read_runs(folder / "runs")
        self.runs |= oracle.read_answers(folder / "responses.jsonl")
        self.version_before = ask(folder, "select max(snapshot_id) from lake.snapshots()")[0][0]
        self.board_before = ask(folder, LEADERBOARD.format(""))
        write_edits(folder, *edits(*banks))
        gradelake(folder, "build")
        self.backlogs = {version: backlog(folder, version) for version in (0, 1, 2)}
        self.shift_missing = dict(
            ask(
                folder,
                "select distinct rubric_version, n_missing_after from leaderboard_shift "
                "where grader = 'lexical'",
            )
        )
        for version in (1, 2):
            gradelake(
                folder, "grade", "demo", "--grader", "lexical", "--rubric-version", str(version)
            )
        gradelake(folder, "build")
        self.versions = rubric_oracle.versions(
            banks[0] | banks[1], folder / "seeds" / "rubric_edits.csv"
        )
        self.grades = self._grades()

    def _grades(self) -> dict[str, rubric_oracle.Grades]:
        grades = {grader: defaultdict(dict) for grader in KINDS}
        for grader, query, passage, item, grade in ask(
            self.folder,
            "select name, query_id, passage_id, item_id, grade from lake.raw.grades "
            "inner join lake.raw.graders using (grader_id) where item_id != ''",
        ):
            grades[grader][query, passage][item] = grade
        return grades

    def rubric(self, grader: str, version: int) -> rubric_oracle.Rubric:
        return rubric_oracle.of_kind(self.versions[version], KINDS[grader])

    def label_sets(self):
        """(grader, version, policy) -> what each passage's grades come to."""
        return {
            (grader, version, policy): rubric_oracle.labels(
                self.rubric(grader, version), self.grades[grader], nth_best
            )
            for grader in KINDS
            for version in self.versions
            for policy, nth_best in POLICIES.items()
        }

    def pool(self, query: str) -> set[tuple]:
        judged = oracle.read_qrels(self.folder / "judgments.qrels")[query]
        retrieved = {p for run in self.runs.values() for p in rubric_oracle.top(run, query, 20)}
        return {(query, passage) for passage in retrieved | set(judged)}
