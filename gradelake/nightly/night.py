"""What a night does, in which order, and what goes on when a step fails."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import duckdb

from gradelake.grading.plan.plans import identities, plan
from gradelake.grading.probe import probe
from gradelake.grading.run.grading import grade
from gradelake.grading.sentinel.rounds import watch
from gradelake.ingest.collections.pipeline import ingest_collection
from gradelake.nightly import record, step
from gradelake.nightly.budget import Budget
from gradelake.nightly.record import Night
from gradelake.nightly.step import Step, Stop
from gradelake.sql.build import building, changes, seeds
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput, Busy, GradelakeError
from gradelake.sql.common.interrupts import after_imports, handled
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import night_lock
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.transaction import NIGHT
from gradelake.sql.operations.upkeep.retention import maintain
from gradelake.sql.releases.diff import compare

FELL, CANNOT_TELL = 4, 5  # exit codes of `gradelake gate`
NO_BASELINE = "no earlier release"
# what a night asks of the rubric before it plans
_FOR_PLANS = ("wanted_items", "wanted_grades")


class NightBusy(Busy):
    """Another night is at work (exit code 75: try again later)."""

    exit_code = 75


@dataclass(frozen=True)
class NightLimits:
    """What the night may grade. `retry_failed`: also pairs that failed before."""

    max_pairs: int | None = None
    max_minutes: float | None = None
    max_cost: float | None = None
    retry_failed: bool = False


@dataclass
class Job:
    """What a grader has to do on a collection, as planned, and what came of it.

    `step` is None when it was not begun: nothing was missing, or the budget was used up. `came_to`
    counts its pairs and tokens: by the grader's result or, where it died, by what the lake has.
    """

    collection: str
    grader: str
    missing: int
    failed_before: int
    left: int
    under_way: int = 0  # pairs that a provider's batch is to answer
    cost: dict[str, Any] | None = None  # as planned; None: its model has no price
    step: Step | None = None
    came_to: dict[str, int] = field(default_factory=dict)
    out_of_budget: bool = False


@dataclass
class Work:
    """All that was done, for the summary to tell."""

    night: Night
    steps: list[Step] = field(default_factory=list)
    ingested: dict[str, Step] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    left_out: list[dict[str, Any]] = field(default_factory=list)  # graders that have no work there
    release: str | None = None  # that it published
    unchanged: str | None = None  # the release since which nothing changed, where nothing did
    idle: dict[str, Any] | None = None  # what was planned, where nothing is left to do
    stopped: bool = False  # it was asked to stop
    moved: dict[str, Any] | None = None
    gates: list[dict[str, Any]] = field(default_factory=list)  # what came of each
    sentinels: list[dict[str, Any]] = field(default_factory=list)  # rounds that were graded
    drifts: list[dict[str, Any]] = field(default_factory=list)  # judges that do not judge as before
    probes: list[dict[str, Any]] = field(default_factory=list)  # rounds that were graded
    fooled: list[dict[str, Any]] = field(default_factory=list)  # judges, by the worst attack
    tidied: dict[str, Any] | None = None


@contextmanager
def work(project: Project, limits: NightLimits, arguments: list[str]) -> Iterator[Work]:
    """Do a night's work under its lock, which is held until what came of it was told.

    Raises `NightBusy` while another night is at work, `BadInput` when there is nothing to do, and
    what opening the lake raises. Whatever happens later is in the steps.
    """
    if not project.collections:
        raise BadInput(
            f"{project.file}: there are no collections", "Describe one: [collections.NAME] ..."
        )
    project.lake_path.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        stop = Stop(stack.enter_context(step.forker()))
        try:
            stack.enter_context(night_lock(project))
        except Busy as error:
            raise NightBusy(error.message, "It goes on; this one did nothing.") from None
        night = record.begin(project, arguments)
        stack.enter_context(handled(after_imports(stop)))
        doing = _Doing(project, limits, night, stop)
        os.environ[NIGHT] = night.run_id  # for the commits of its steps
        try:
            doing.all_steps()
        except Exception as error:  # the night's row is closed whatever happens
            doing.add_failed("the night itself", error)
        finally:
            del os.environ[NIGHT]
        doing.work.stopped = bool(stop.times)
        yield doing.work


class _Doing:
    """The steps in order. A step is left out only when one that it needs has failed."""

    def __init__(self, project: Project, limits: NightLimits, night: Night, stop: Stop):
        self.project = project
        self.limits = limits
        self.work = Work(night)
        self.stop = stop
        self.budget = Budget(limits.max_pairs, limits.max_minutes, limits.max_cost)

    def all_steps(self) -> None:
        for collection in self.project.collections:
            words = ["ingest", collection]
            done = self._run(" ".join(words), ingest_collection, collection, words, apart=True)
            self.work.ingested[collection] = done
        self._go_through("rubric", self._check_edits)
        for sentinel in self.project.sentinels:
            self.work.sentinels += self._watch(f"sentinel {sentinel}", watch, (sentinel,))
        for name in self.project.probes:
            self.work.probes += self._watch(f"probe {name}", probe.watch, name)
        self._look_for_changes()
        if self.project.graders:
            self._go_through("plan", self._plan)
            self._go_through("grade", self._grade)
            if self.stop.times or any(job.step for job in self.work.jobs):
                self._look_for_changes()
        if self.work.unchanged:
            return
        night = self.work.night
        arguments, share = ["build", "--name", night.name], self.project.least_share
        built = self._run("build", building.build, [], arguments, night.name, at_least=share)
        if built.landed and built.result:
            self.work.release = built.result["release"]
            if night.compare_with:
                self.work.moved = self._run(
                    "release diff", compare, night.compare_with, night.name
                ).result
            self._go_through("gates", self._gates)
            self._go_through("drift", self._drift)
            self._run("report", _report)
            self.work.tidied = self._run("lake tidy", maintain).result
        else:
            self._leave_out("lake tidy", "nothing was built")

    def _look_for_changes(self) -> None:
        self.work.unchanged = None
        if not self.stop.times:
            with suppress(GradelakeError, duckdb.Error):  # the build says what is wrong
                self.work.unchanged = changes.unchanged_release(self.project)

    def _gates(self) -> None:
        """Judge each system that gradelake.toml has a gate for, by what was just published; where
        the rule names no baseline, against itself in the release of the last night."""
        night = self.work.night
        for name, rule in self.project.gates.items():
            since = None
            if not rule.keys() & {"baseline", "baseline_release"}:
                if not night.compare_with:
                    self.work.gates.append({"gate": name, "verdict": NO_BASELINE})
                    continue
                since = night.compare_with
            passed = self._run(f"gate {name}", _gate, name, night.name, since)
            if passed.result and passed.exit_code in (FELL, CANNOT_TELL):
                passed.state = step.PARTLY if passed.exit_code == FELL else step.DONE
                passed.reason = None  # its verdict has it
            elif passed.exit_code == BadInput.exit_code:  # a wrong rule stops nothing
                passed.state = step.PARTLY
            if passed.landed and passed.result:
                self.work.gates.append({"gate": name} | passed.result)

    def _watch(self, name: str, work: Callable[..., Any], what: Any) -> list[dict[str, Any]]:
        """Grade a sentinel or probe anew where it is due: before all else, because a judge that has
        changed is not worth the rest. What it may use is the whole budget. Returns its rounds."""
        share = self.budget.share(1, 1)
        if share is None:
            self._leave_out(name, "the night's budget is used up")
            return []
        result = self._run(name, work, what, **asdict(share), apart=True).result
        if result is None:
            self.budget.spend(share.limit or 0, share.max_cost or 0)
            return []
        cost = sum(each["cost"] or 0.0 for each in result["rounds"])
        self.budget.spend(result["pairs"], cost)
        return result["rounds"]

    def _drift(self) -> None:
        """Which judges have changed, or are fooled, by the rounds that this night graded."""
        since = self.work.night.started_at
        if self.work.sentinels:
            self.work.drifts = record.drifts(self.project, since)
        if self.work.probes:
            self.work.fooled = record.fooled(self.project, since)

    def _run(
        self,
        name: str,
        work: Callable[..., Any],
        *arguments: Any,
        apart: bool = False,
        **options: Any,
    ) -> Step:
        """Call a capability of this project as a step; `apart`, where it may die."""
        called = partial(work, self.project, *arguments, **options)
        done = step.run(name, called, self.stop, apart)
        self.work.steps.append(done)
        return done

    def add_failed(self, name: str, error: Exception) -> None:
        """Note that something between the steps failed."""
        reason = step.shortened(step.known(error))
        self.work.steps.append(Step(name, step.FAILED, reason=reason))

    def _go_through(self, name: str, steps: Callable[[], None]) -> None:
        """Take steps that read the lake in between: where that fails, what comes after goes on."""
        try:
            steps()
        except Exception as error:
            self.add_failed(name, error)

    def _leave_out(self, name: str, reason: str) -> None:
        self.work.steps.append(Step(name, step.SKIPPED, reason=reason))

    def _check_edits(self) -> None:
        """Bring in what people edited in the rubric; where rows of theirs are wrong, the edits that
        the lake has are those of the night."""
        written = seeds.seeds_folder(self.project) / "rubric_edits.csv"
        if self.stop.times or not written.is_file() or not record.collections_in(self.project):
            return
        with Lake.live(self.project) as lake:
            with suppress(BadInput):  # the step says what is wrong
                if seeds.edits_are_in(lake):
                    return
            last = seeds.edits_of(lake)
        brought = self._run("rubric", building.build, [], ["(rubric edits)"], only=_FOR_PLANS)
        if brought.state == step.FAILED and brought.exit_code == BadInput.exit_code:
            brought.state = step.PARTLY
            self.project = replace(self.project, rubric_edits=last)

    def _plan(self) -> None:
        """Fill `work.jobs` with what is missing; what is in the lake is graded even though its
        files could not be read tonight. Where the last night planned the same graders on the same
        data, and found nothing to do, that is not found out again."""
        if self.stop.times:
            return
        with Lake.live(self.project) as lake:
            there = set(lake.column("select collection from lake.raw.collections"))
            able = [name for name in self.project.collections if name in there]
            graders = identities(self.project, lake, able) if self.work.unchanged else []
        idle, n_before = self.work.night.idle or {}, len(self.work.steps)
        state = [self.work.unchanged, list(self.project.collections), graders]
        if self.work.unchanged and idle.get("state") == state:
            self.work.jobs = [Job(**job) for job in idle["jobs"]]
            if not any(map(self._to_do, self.work.jobs)):
                self.work.left_out, self.work.idle = idle["left_out"], idle
                return
            self.work.jobs = []
        for collection in self.project.collections:
            if collection not in there:
                self._leave_out(f"plan {collection}", "the lake does not have it")
                continue
            planned = self._run(f"plan {collection}", plan, collection)
            if not (planned.landed and planned.result):
                continue
            for one in planned.result["plans"]:
                missing, failed = one["missing_pairs"], one["failed_pairs"]
                under_way, cost = one["under_way_pairs"], one["cost"]
                job = Job(collection, one["grader"], missing, failed, missing, under_way, cost)
                self.work.jobs.append(job)
            for refused in planned.result["refused"]:
                grader, reason = refused["grader"], refused["reason"]
                if refused["nothing_to_grade"]:
                    self.work.left_out.append(
                        {"collection": collection, "grader": grader, "reason": reason}
                    )
                else:
                    named = f"plan {collection} {grader}"
                    self.work.steps.append(Step(named, step.FAILED, reason=reason))
        steps, jobs = self.work.steps[n_before:], self.work.jobs
        waits = any(self._to_do(job) + job.under_way for job in jobs)
        if self.work.unchanged and not waits and all(each.state == step.DONE for each in steps):
            left_out = self.work.left_out
            self.work.idle = {"state": state, "jobs": [*map(vars, jobs)], "left_out": left_out}

    def _grade(self) -> None:
        """Grade, those with the least to do first, so that the budget is shared out evenly; those
        that are shown what others say after them."""
        limits, budget, jobs = self.limits, self.budget, self.work.jobs
        jobs.sort(key=lambda job: (len(self._sources(job)) > 0, self._to_do(job)))
        for index, job in enumerate(jobs):
            if not self._has_work(job):
                continue
            name = f"grade {job.collection} {job.grader}"
            if limits.max_cost is not None and job.cost is None:
                reason = "seeds/prices.csv has no price of its model, which --max-cost needs"
                self._leave_out(name, reason)
                continue
            to_come = [one for one in jobs[index:] if self._has_work(one)]
            n_paid = sum(map(_is_paid, to_come)) if _is_paid(job) else 0
            share = budget.share(len(to_come), n_paid)
            if share is None:
                job.out_of_budget = True
                continue
            began = utc_now()
            options = asdict(share) | {"retry_failed": limits.retry_failed}
            job.step = self._run(name, grade, job.collection, [job.grader], **options, apart=True)
            result = job.step.result
            if result is None:
                # what it asked may be more than what was committed
                budget.spend(share.limit or 0, share.max_cost or 0)
                job.came_to = record.committed(self.project, job.collection, job.grader, began)
                job.left = max(0, self._to_do(job) - job.came_to["pairs"])
                continue
            # in batches, what is under way may still cost so much
            cost = (result["cost"] or 0) + (result.get("reserved") or 0)
            budget.spend(result.get("submitted", result["pairs"] - result["reused"]), cost)
            job.came_to = {name: result[name] for name in record.COUNTED if name in result}
            job.came_to["tokens"] = result["prompt_tokens"] + result["completion_tokens"]
            now = result["pairs"] - result.get("collected", 0) + result.get("submitted", 0)
            job.left = max(0, result["missing"] - now)
            job.under_way = result.get("under_way", 0)

    def _to_do(self, job: Job) -> int:
        return job.missing + (job.failed_before if self.limits.retry_failed else 0)

    def _sources(self, job: Job) -> set[str]:
        """The graders whose answers or scores a job's grader is shown."""
        stated = self.project.graders.get(job.grader, {})
        answers = {stated["answers_from"]} if "answers_from" in stated else set()
        return answers | set(stated.get("scores_from", {}).values())

    def _has_work(self, job: Job) -> bool:
        """Whether anything is to be done, as far as can be known: a grader that is shown what
        others say has more to do once they said more."""
        sources = self._sources(job)
        return self._to_do(job) + job.under_way > 0 or any(
            other.collection == job.collection and other.grader in sources and self._to_do(other)
            for other in self.work.jobs
        )


def _is_paid(job: Job) -> bool:
    """Whether its grader asks a model whose price is known."""
    return job.cost is not None and job.cost["currency"] is not None


# What these steps call is imported where they run.


def _gate(project: Project, rule: str, release: str, baseline_release: str | None) -> Any:
    from gradelake.analyses.gate.forms import answer
    from gradelake.analyses.gate.gate import run_gate

    asked = {"baseline_release": baseline_release} if baseline_release else {}
    found = run_gate(project, lambda: Lake.published(project, release), rule, asked)
    return answer(found, n_queries=5)


def _report(project: Project) -> Any:
    from gradelake.analyses.report.files import write_reports
    from gradelake.analyses.report.page import ReportRequest

    with Lake.published(project) as lake:
        return write_reports(project, lake, ReportRequest())
