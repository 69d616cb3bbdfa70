"""`gradelake build`: what changed is made anew, in one transaction, and becomes a release."""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import duckdb

from gradelake.sql.build import changes, seeds
from gradelake.sql.build.plan import TEST, BuildPlan, plan
from gradelake.sql.build.runner import COUNTED, Runner, standing
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.project import Project, is_name
from gradelake.sql.lake import hashes
from gradelake.sql.lake.connection import ask_on_one_connection
from gradelake.sql.lake.empty_statistics import give_empty_statistics
from gradelake.sql.lake.opening import Lake
from gradelake.sql.releases import data_files, publishing
from gradelake.sql.shown.kinds import shown

_FULL = "--full-refresh"
# dbt's arguments after which a build still covers every model; any other chooses some
_WHOLE = {_FULL, "--fail-fast", "-x", "--no-partial-parse"}
# of what a lake holds, and what it says: a release with far less of one is likely a mistake
_COUNTED = ("raw.grades", "raw.judgments", "raw.run_entries", "marts.topic_scores")


@dataclass
class Built:
    """What a build did: finished nodes by kind, and the release it published (None: partial).

    Where nothing had changed, `release` is the one that was there; or, `by_dbt`, a new one of what
    dbt by itself had built.
    """

    counts: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    seconds_by_node: dict[str, float] = field(default_factory=dict)  # by model, seed and test
    release: str | None = None
    snapshot: int | None = None
    changed: bool = True
    by_dbt: bool = False
    measures_gone: list[str] = field(default_factory=list)  # that the last build computed

    def take(self, runner: Runner) -> None:
        """What a runner made, and how long each took."""
        self.counts = {kind: n for kind in COUNTED if (n := runner.counts[kind])}
        self.seconds_by_node = runner.seconds

    def as_object(self) -> dict[str, Any]:
        if not self.changed and not self.by_dbt:
            return {"changed": False, "release": self.release}
        return {
            "changed": True,
            "release": self.release,
            "snapshot": self.snapshot,
            "seconds": round(self.seconds, 3),
            **self.counts,
            "measures_gone": self.measures_gone,
            "seconds_by_node": self.seconds_by_node,
        }


@dataclass(frozen=True)
class _Choice:
    """Which models a build makes: those that dbt's `selectors` choose or that `only` names; without
    either what changed, or all if it is `everything`."""

    selectors: list[str]
    only: Sequence[str]
    everything: bool

    @property
    def is_partial(self) -> bool:
        return bool(self.selectors or self.only)

    def nodes(self, project: Project, models: BuildPlan, changed: list[str] | None) -> set[str]:
        """The ids of these models, and of their tests."""
        if self.only:
            return _with_all_they_read(models, self.only)
        if self.selectors:
            return _as_dbt_chooses(project, models, self.selectors)
        return _to_make(models, None if self.everything else changed)


def build(
    project: Project,
    dbt_arguments: Sequence[str],
    arguments: list[str],
    name: str | None = None,
    on_node: Callable[[str, str, float], None] = lambda name, status, seconds: None,
    on_total: Callable[[int], None] = lambda n: None,
    at_least: float = 0,
    of_nothing: bool = False,
    only: Sequence[str] = (),
) -> Built:
    """Make what changed, under the writer's lock; publish the result as a release.

    `on_total(n)` is called with the number of models, seeds and tests to run, and
    `on_node(name, status, seconds)` as each of them finishes. Unit tests check the models, not the
    data: `make test` runs them, a build does not. All that is made is committed together, with
    the release, or not at all. Raises `WorkFailed` when a model or a data test fails, and
    `BadInput` naming the rows when a seed is wrong.

    `dbt_arguments` choose models as dbt's do; `only` names some, which are made with all that they
    read. Either is a partial build, which is not published.

    With `at_least`, raises `WorkFailed` as well where the release would have less than this share
    of the grades, judgments, run entries or topic scores of the one that readers have, or not all
    of its measures.

    A lake without a collection is refused with `BadInput`, unless `of_nothing`. Where nothing
    changed there is nothing to do; `name` then is a further name for the newest release.
    """
    selectors = [each for each in dbt_arguments if each not in _WHOLE]
    choice = _Choice(selectors, only, _FULL in dbt_arguments)
    _require_name(name)
    _require_published(choice, name, at_least)
    built, started = Built(), time.monotonic()
    with Lake.writer(project) as lake, lake.lock("gradelake build"):
        found = changes.pending(lake)
        same = found.last if found.changed == [] and not (dbt_arguments or only) else None
        if not (same and name == same.release):
            _require_free(project, lake, name)
        if not of_nothing and (nothing := lake.nothing_ingested()):
            raise nothing
        if same:
            built = _unchanged(lake, same, name)
            if built.release:
                return built
        making = None if same else _prepared(lake, found, choice, on_node)
        with lake.transaction("build") as transaction:
            if making:
                _make(*making, built, at_least, on_total)
            transaction.say(**built.counts)
            if not choice.is_partial:
                if at_least:
                    _require_share(project, lake, at_least)
                built.release = name or publishing.next_name(project, lake.connection)
                transaction.extra |= {"release": built.release, "made_from": found.made_from}
            transaction.finish_run(arguments)
        _finish(lake, built)
    built.seconds = time.monotonic() - started
    return built


def _unchanged(lake: Lake, last: changes.LastBuild, name: str | None) -> Built:
    """What there is to say where nothing changed: its release is that of the last build, seen to
    be published, unless there is none, or another name is wanted."""
    listed = {release.name: release for release in publishing.listed(lake.connection)}
    release = listed.get(last.release or "")
    if release is None or name not in (None, release.name):
        return Built(changed=False, by_dbt=release is None)
    if not publishing.is_published(lake.project, release):  # the build died before it did
        publishing.publish(lake, release.name)
    return Built(changed=False, release=release.name)


def _prepared(
    lake: Lake, found: changes.Pending, choice: _Choice, on_node: Callable[[str, str, float], None]
) -> tuple[Runner, set[str]]:
    """What makes models, and the ids of those to make: before any transaction, for dbt may have to
    compile them."""
    models = plan(found.made_from["definitions"])
    chosen = choice.nodes(lake.project, models, found.changed)
    whole = choice.everything or choice.is_partial or found.changed is None
    return Runner(lake, models, standing(lake, lake.newest_snapshot()), whole, on_node), chosen


def _make(
    runner: Runner, chosen: set[str], built: Built, at_least: float, on_total: Callable[[int], None]
) -> None:
    """Make what was chosen, in the open transaction."""
    lake = runner.lake
    ask_on_one_connection(lake.connection, lake.project)
    on_total(len(chosen))
    built.measures_gone = seeds.measures_gone(lake)
    if at_least:
        _require_measures(built.measures_gone)
    runner.run(chosen, seeds.gather(lake.project))
    built.take(runner)


def _finish(lake: Lake, built: Built) -> None:
    """What follows the commit: statistics, hashes of files, and the release for readers."""
    give_empty_statistics(lake)
    hashes.record_missing(lake, data_files.known(lake.connection))
    built.snapshot = lake.newest_snapshot()
    if built.release:
        publishing.publish(lake, built.release)


def _require_name(name: str | None) -> None:
    """Raise `BadInput` for what no release can be called."""
    if name is not None and not is_name(name):
        raise BadInput(
            f"{name!r} cannot be a release's name", "Use letters, digits and . _ + = @ -"
        )


def _require_published(choice: _Choice, name: str | None, at_least: float) -> None:
    """Raise `BadInput` for options of a release where none is made."""
    if choice.selectors and (name is not None or at_least):
        raise BadInput(
            f"a build of {' '.join(choice.selectors)} publishes nothing",
            "Leave --name and --at-least out, or build everything.",
        )


def _require_free(project: Project, lake: Lake, name: str | None) -> None:
    """Raise `BadInput` for the name of a release that there is."""
    if name in publishing.names(project, lake.connection):
        raise BadInput(f"there is already a release {name!r}", "Choose another --name.")


def _require_measures(gone: list[str]) -> None:
    """Raise `WorkFailed` where measures would be on no board any more."""
    if gone:
        raise WorkFailed(
            f"nothing is published: {', '.join(gone)} would be on no board any more",
            "seeds/evaluation_grid.csv takes them away. If that is meant, run `gradelake build`.",
        )


def _to_make(models: BuildPlan, changed: list[str] | None) -> set[str]:
    """What is downstream of what changed (None: all), and the data tests of that. Views are as
    they were, while the definitions are."""
    if changed is None:
        return {*models.nodes}
    made = models.below(source_or_seed(models, changed))
    return {each for each in made if models.nodes[each].kind != "view"}


def source_or_seed(models: BuildPlan, changed: list[str]) -> list[str]:
    """The ids of what `changes.since` names."""
    raw = "source:raw."
    tables = [each for each in changed if each.startswith(raw)]
    named = models.ids([each for each in changed if each not in tables])
    return named + [f"source.gradelake.raw.{each.removeprefix(raw)}" for each in tables]


def _with_all_they_read(models: BuildPlan, names: Sequence[str]) -> set[str]:
    """Some models and what they are made of, with the tests of these alone; none of columns."""
    made = models.above(models.ids(names))
    tests = (node for node in models.nodes.values() if node.kind == TEST and not node.generic)
    return made | {test.id for test in tests if made.issuperset(test.reads)}


def _as_dbt_chooses(project: Project, models: BuildPlan, selectors: list[str]) -> set[str]:
    """What dbt's own selection finds. Raises `BadInput` with dbt's words where it finds nothing."""
    from gradelake.sql.build import dbt

    command = ["ls", "--quiet", "--output", "json", "--output-keys", "unique_id"]
    try:
        listed = dbt.run(project, [*command, *selectors])
    except dbt.Failed as error:
        raise BadInput(f"dbt cannot select that: {error}") from None
    found = {json.loads(each)["unique_id"] for each in listed} & models.nodes.keys()
    if not found:
        raise BadInput(f"dbt finds nothing to build for {' '.join(selectors)}")
    return found


def _require_share(project: Project, lake: Lake, at_least: float) -> None:
    """Raise `WorkFailed` where too little is left of what the published release has."""
    try:
        published = Lake.published(project)
    except BadInput:  # nothing is published yet
        return
    gone = []
    with published:
        for table in _COUNTED:
            count = f"select count(*) from lake.{table}"
            with suppress(duckdb.CatalogException):  # an older release may lack the table
                before, now = published.value(count), lake.value(count)
                if now < at_least * before:
                    gone.append(f"{counted(now, 'rows')} of {table} instead of {before:,}")
    if gone:
        raise WorkFailed(
            f"nothing is published: there would be {', '.join(gone)} in release "
            f"{published.release} (less than {shown('percent', at_least)})",
            "`gradelake log` and `gradelake lake verify` may say what went. If it is meant to go, "
            "`gradelake build` publishes the rest; `least_share` of [lake] sets the share.",
        )
