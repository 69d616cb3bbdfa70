"""Sentinels: a fixed set graded anew, kept apart, and the alarm that names when a judge changed."""

import itertools
import json
import shutil
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest
from scipy.special import betaln, logsumexp
from sklearn.metrics import cohen_kappa_score

from gradelake.grading.plan.planner import ensure_views
from gradelake.grading.sentinel.rounds import RoundLimits, grade_round, prepare
from gradelake.grading.sentinel.sentinel import read_sentinel
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.benchmarks.drift import REFERENCE, Judge, counts, evidence_sql
from tests.command_line import a_night, gradelake, json_of
from tests.conftest import made_once
from tests.grading.project import Judged, wait_for
from tests.projects import toml

# says what people say, or one less where `mood.txt` beside it has the passage's letter
MOODY = """
chunk_pairs = 10

def score(self, prompts):
    letters, _, seconds = (HERE / "mood.txt").read_text().partition(" ")
    time.sleep(float(seconds or 0))
    said = []
    for prompt in prompts:
        letter, label = prompt.values["passage"].split()[-2:]
        label = max(0, int(label) - 1) if letter in letters else int(label)
        said.append(Response(f"##final score: {label}", prompt_tokens=9, completion_tokens=1))
    return said
"""
DAILY = {"collection": "tiny", "graders": ["moody"], "every_days": 0, "pairs": 40}
NO_LIMITS = RoundLimits()
LETTERS = "abcdefghij"


class Watched(Judged):
    """Two queries with 30 judged passages each, ten of each label of 0, 1 and 3; three letters in
    ten lose agreement where the judge is in a mood for them, those with a label above 0."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        labels = [(f"p{n}", (0, 1, 3)[n % 3], LETTERS[n // 3 % 10]) for n in range(60)]
        self.write("passages.tsv", [f"{p}\tText {letter} {label}" for p, label, letter in labels])
        judged = [f"q{1 + n // 30} 0 {p} {label}" for n, (p, label, _) in enumerate(labels)]
        self.write("nist.qrels", judged)
        self.write("runs/good.run", ["q1 Q0 p1 1 2.5 good", "q2 Q0 p31 2 1.5 good"])
        self.configure(max_relevance=3, min_relevant=1)
        self.engine("moody", MOODY)
        self.graders = {"moody": {"engine": "moody", "prompt": "umbrela", "actors": 1}}
        self.sentinels: dict[str, dict] = {"daily": DAILY}
        self.mood("")

    def mood(self, letters: str, seconds: float = 0) -> None:
        self.write("engines/mood.txt", f"{letters} {seconds}")

    @property
    def project(self) -> Project:
        file = super().project.file
        with file.open("a") as settings:
            settings.write(toml({f"sentinels.{name}": t for name, t in self.sentinels.items()}))
        return Project.read(file)

    def round(self, limits: RoundLimits = NO_LIMITS) -> list[dict]:
        """A round of each grader, in this process."""
        project = self.project
        sentinel = read_sentinel(project, "daily")
        return [
            grade_round(project, "daily", sentinel, grader, limits=limits)
            for grader in prepare(project, "daily", sentinel)
        ]

    def counted(self) -> list[tuple]:
        """(round, grades, pairs) of the sentinel."""
        return self.rows(
            "select round, count(*), count(distinct (grader_id, query_id, passage_id, item_id)) "
            "from lake.raw.sentinel_grades group by round order by round"
        )


@pytest.fixture(scope="module")
def watched_lake(tmp_path_factory) -> Path:
    """Its lake, with dbt's views, and no sentinel yet."""

    def make(folder: Path) -> None:
        with closing(Watched(folder)) as project:
            Lake.create(project.project).close()
            assert project.ingest().exit_code == 0
            ensure_views(project.lake)

    return made_once(tmp_path_factory, "watched", make) / "lake"


@pytest.fixture
def watching(tmp_path, watched_lake):
    shutil.copytree(watched_lake, tmp_path / "project" / "lake")
    with closing(Watched(tmp_path / "project")) as project:
        yield project


# --- the set --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_pairs_are_drawn_by_label_once_keep_their_texts_and_their_grades_are_kept_apart(watching):
    missing = watching.plan("moody").totals.missing
    assert [each["pairs"] for each in watching.round()] == [40]
    # and apart from all other grades
    assert watching.plan("moody").totals.missing == missing == 60
    for table in ("grades", "grading_runs"):
        assert watching.rows(f"select count(*) from lake.raw.{table}") == [(0,)]
    drawn = "select * from lake.raw.sentinel_pairs order by all"
    before = watching.rows(drawn)
    labels = watching.rows(
        "select judgment, count(*) from lake.raw.sentinel_pairs group by all order by all"
    )
    assert [label for label, _ in labels] == [0, 1, 3]
    assert sorted(n for _, n in labels) == [13, 13, 14]

    watching.write("passages.tsv", [f"p{n}\tAnother text a 0" for n in range(60)])
    watching.write("nist.qrels", ["q1 0 p0 3"])
    assert watching.ingest().exit_code == 0
    watching.round()
    assert watching.rows(drawn) == before
    says = "select distinct grade = judgment from lake.raw.sentinel_grades inner join "
    says += "lake.raw.sentinel_pairs using (query_id, passage_id)"
    assert watching.rows(says) == [(True,)]


@pytest.mark.slow
def test_graders_of_a_rubric_are_asked_all_items_of_a_query(watching):
    watching.bank()
    watching.graders["asks"] = {"engine": "lexical", "prompt": "question_self_rating"}
    watching.sentinels["daily"] = DAILY | {"graders": ["asks"]}
    (done,) = watching.round()
    items = {"q1": 2, "q2": 3}
    per_query = watching.rows(
        "select query_id, count(*), count(distinct passage_id) from lake.raw.sentinel_grades "
        "group by all"
    )
    assert all(n == items[query] * passages for query, n, passages in per_query)
    assert sum(passages for *_, passages in per_query) == 40
    assert done["left"] == 0

    watching.sentinels["daily"] = DAILY | {"graders": ["asks", "moody"]}
    with pytest.raises(BadInput, match="drawn without passages, and never changes"):
        watching.round()


@pytest.mark.slow
def test_what_cannot_be_watched_is_refused(watching):
    watching.graders["assigns"] = {"engine": "lexical", "prompt": "nuggetizer_assign"}
    several = {"prompt": "question_self_rating_together", "engine": "openai", "model": "m"}
    watching.graders["several"] = several
    watching.prompt("told", "{query}: {narrative} {passage}")
    watching.graders["told"] = {"engine": "lexical", "prompt": "told"}
    for settings, message in (
        ({"graders": ["assigns"]}, "'assigns' is shown more than a query, a passage"),
        ({"graders": ["several"]}, "'several' asks about several items at once"),
        ({"graders": ["told"]}, "'told' is shown more than a query, a passage"),
        ({"graders": ["nobody"]}, r"no \[graders.nobody\]"),
        ({"graders": []}, "graders"),
        ({"assessor": "nits"}, "no judgments by 'nits'"),
        ({"alpha": 0.1}, "unknown setting 'alpha'"),
        ({"pairs": 3}, "pairs must be at least 20"),
    ):
        watching.sentinels["daily"] = DAILY | settings
        with pytest.raises(BadInput, match=message):
            watching.round()
    assert watching.counted() == []


# --- rounds ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_round_is_due_when_its_days_are_over(watching):
    watching.sentinels["weekly"] = DAILY | {"every_days": 7, "pairs": 20}

    def rounds(*options: str) -> list[tuple]:
        done = watching.gradelake("sentinel", "weekly", "--json", *options)
        return [(e["round"], e["pairs"], e["due_on"]) for e in json.loads(done.stdout)["rounds"]]

    assert rounds() == [(1, 20, None)]
    due_on = (utc_now().date() + timedelta(days=7)).isoformat()
    assert rounds() == [(1, 0, due_on)]
    assert rounds("--now") == [(2, 20, None)]
    with watching.lake.transaction("grade") as transaction:
        transaction.run(
            "update {lake}.raw.sentinel_grades set graded_at = graded_at - interval 7 day"
        )
    assert rounds() == [(3, 20, None)]


@pytest.mark.slow
def test_what_a_limit_cuts_off_is_done_by_the_next_call(watching):
    assert [each["left"] for each in watching.round(limits=RoundLimits(requests=15))] == [25]
    assert watching.counted() == [(1, 15, 15)]
    assert [(e["round"], e["pairs"], e["left"]) for e in watching.round()] == [(1, 25, 0)]
    assert watching.counted() == [(1, 40, 40)]


@pytest.mark.slow
def test_killed_in_a_round_it_grades_each_pair_once(watching):
    watching.engine("moody", MOODY.replace("chunk_pairs = 10", "chunk_pairs = 2"))
    watching.round()
    watching.mood("", seconds=0.5)
    for _ in range(2):
        seen = watching.waiting()
        process = watching.spawn("sentinel", "daily")
        wait_for(lambda seen=seen: watching.waiting() - seen, process)
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()
    watching.mood("")
    done = json_of(watching.folder, "sentinel", "daily", "--json")
    assert [(each["round"], each["left"]) for each in done["rounds"]] == [(2, 0)]
    assert done["rounds"][0]["recovered"] > 0
    assert watching.counted() == [(1, 40, 40), (2, 40, 40)]


# --- what it tells --------------------------------------------------------------------------------


def days_ago(watching: Watched) -> None:
    """Each round was a day before the next, the newest yesterday."""
    with watching.lake.transaction("grade") as transaction:
        transaction.run(
            "update {lake}.raw.sentinel_grades set graded_at = graded_at - "
            "to_days(1 + (select max(round) from {lake}.raw.sentinel_grades) - round)"
        )


@pytest.mark.slow
def test_a_night_names_the_night_in_which_a_judge_changed(watching):
    watching.round()
    with watching.lake.transaction("grade") as transaction:  # four more rounds that are like it
        transaction.run(
            "insert into {lake}.raw.sentinel_grades by name "
            "select grades.* replace (later.n as round) "
            "from {lake}.raw.sentinel_grades as grades, (select unnest([2, 3, 4, 5]) as n) as later"
        )
    watching.mood("abcdef")
    watching.round()
    days_ago(watching)
    watching.close()
    began = (utc_now().date() - timedelta(days=1)).isoformat()
    done = a_night(watching.folder, "--on-failure", "cat > alert.json", code=3)
    assert (done["state"], done["failed"], done["refused"]) == ("done", [], [])
    assert [(each["round"], each["pairs"]) for each in done["sentinels"]] == [(7, 40)]
    (drift,) = done["drifts"]
    assert (drift["drift_round"], drift["round"], drift["drift_began_on"]) == (6, 7, began)
    assert drift["agreement_before"] == 1
    said = f"sentinel daily: moody has not judged tiny as before since {began} (round 6 of 7): "
    said += f"agreement 1.000 to {drift['agreement_since']:.3f}"
    assert said in done["text"]
    assert json.loads((watching.folder / "alert.json").read_text())["text"] == done["text"]

    with Lake.published(Project.find(watching.folder)) as lake:
        rounds = lake.rows(
            "select round, agreement, kappa, kappa_quadratic, n_flips, is_alarm "
            "from lake.marts.judge_drift order by round"
        )
        pairs = lake.rows(
            "select round, grade, judgment from lake.raw.sentinel_grades inner join "
            "lake.raw.sentinel_pairs using (query_id, passage_id, item_id) order by round"
        )
    assert [each[-1] for each in rounds] == [False] * 5 + [True, True]
    for (number, agreement, *kappas, flips, _), (_, group) in zip(
        rounds, itertools.groupby(pairs, lambda row: row[0]), strict=True
    ):
        _, grades, judgments = np.array(list(group)).T
        assert agreement == pytest.approx((grades == judgments).mean())
        for found, weights in zip(kappas, (None, "quadratic"), strict=True):
            assert found == pytest.approx(cohen_kappa_score(grades, judgments, weights=weights))
        assert flips == (0 if number < 6 else (grades != judgments).sum())
    shown = gradelake(watching.folder, "sql", "@drift", "--format", "json").stdout
    assert [each["since_round"] for each in json.loads(shown)] == [6, 6] + [None] * 5


def oracle(counted: pl.DataFrame) -> list[tuple[float, float]]:
    """log10 of both statistics, each round after the first of those that are tested, by scipy."""
    rows = counted.filter(pl.col("round") > REFERENCE).to_dicts()

    def rate(part: list[dict], k: str, n: str) -> float:
        hits, of = sum(row[k] for row in part), sum(row[n] for row in part)
        return betaln(hits + 0.5, of - hits + 0.5) - betaln(0.5, 0.5)

    def change(before: list[dict], after: list[dict], k: str, n: str) -> float:
        return rate(before, k, n) + rate(after, k, n) - rate(before + after, k, n)

    found = []
    for now in range(2, len(rows) + 1):
        splits = [(rows[:last], rows[last:now]) for last in range(1, now)]
        flips = [change(*split, "n_flips", "n_pairs") for split in splits]
        agreement = [
            change(*split, "n_lost", "n_agreed_before")
            + change(*split, "n_gained", "n_not_agreed_before")
            for split in splits
        ]
        found.append((logsumexp(flips) / np.log(10), logsumexp(agreement) / np.log(10)))
    return found


@pytest.mark.parametrize(("noise", "drop"), [(0.0, 0.05), (0.2, 0.0), (0.2, 0.1)])
def test_evidence_is_what_scipy_makes_of_the_counts(noise, drop):
    judge = Judge(300, noise, drop, seed=7)
    labels = np.concatenate([judge.rounds(12, False), judge.rounds(12, True)])
    counted = counts(labels, judge.judgments, 1)
    connection = duckdb.connect()
    connection.register("counted", counted)
    rows = connection.execute(
        f"select flips_evidence, agreement_evidence from ({evidence_sql('counted')}) order by round"
    ).fetchall()
    assert len(rows) == 20
    assert np.array(rows) == pytest.approx(np.array(oracle(counted)), abs=2e-6)
