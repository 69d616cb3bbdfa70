"""What edits will do once they are built: to labels, to boards, and to what is left to grade."""

from dataclasses import dataclass
from typing import Any

from gradelake.ingest.rubric import edits_file
from gradelake.ingest.rubric.differences import ItemDifference, differences
from gradelake.ingest.rubric.rubric import Rubric, choose_collection
from gradelake.ingest.rubric.save import Proposal, Saved, Session, numbered, tried
from gradelake.ingest.rubric.up_to_date import fetch
from gradelake.sql.build.preview import BUILT, Preview, previewed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake

_RUBRIC = ("int_rubric_states", "int_rubric_edits")
_READ = (
    *_RUBRIC,
    "rubric_impact",
    "leaderboard_shift",
    "usual_levels",
    "grading_backlog",
    "grading_cost",
    "grading_runs",
)
_EDITS = "select * exclude (editor, reason) from {catalog}.intermediate.int_numbered_edits"
# of a collection's versions, the first that the last build did not have as it is now, and all after
_VERSIONS = """
    with

    edits as ({now}),

    former as ({before}),

    changed as (
        (from edits except all from former)
        union all
        (from former except all from edits)
    )

    select
        collection,
        rubric_version,
        previous_version
    from lake.intermediate.int_rubric_versions as versions
    where rubric_version >= (
        select min(changed.rubric_version) from changed
        where changed.collection = versions.collection
    )
    order by collection, rubric_version
"""
_IMPACT = """
    from rubric_impact
    where collection = $collection and rubric_version = $version
    order by grader, policy, query_id, passage_id
"""
_SHIFT = """
    from leaderboard_shift
    where collection = $collection and rubric_version = $version
    order by grader, policy, level, measure, rank_after, system
"""
_LABEL_SETS = f"""
    with

    impact as ({_IMPACT}),

    shift as ({_SHIFT}),

    labels as (
        select
            grader,
            policy,
            count(*) filter (where label_after > label_before) as n_up,
            count(*) filter (where label_after < label_before) as n_down,
            count(*) filter (where label_before is null) as n_new,
            count(*) filter (where label_after is null) as n_gone
        from impact
        group by all
    ),

    boards as (
        select
            grader,
            policy,
            count(distinct (level, measure)) as n_boards,
            count(distinct (level, measure)) filter (where score_before != score_after) as n_moved
        from shift
        group by all
    ),

    -- one board of each label set, for the table
    shown_measure as (
        select measure from shift
        order by measure = 'nDCG@10' desc, measure asc
        limit 1
    ),

    shown as (
        select
            shift.grader,
            shift.policy,
            shift.measure,
            shift.level,
            any_value(shift.kendall) as kendall,
            count(*) filter (where rank_before != rank_after) as n_ranks_changed,
            arg_max(system, (abs(score_after - score_before), system)) as moved_most,
            round(arg_max(
                score_after - score_before, (abs(score_after - score_before), system)
            ), 10) as moved_by
        from shift
        inner join shown_measure using (measure)
        inner join lake.marts.usual_levels as levels
            on
                levels.collection = shift.collection
                and levels.label_set
                = concat(shift.grader, '/v', shift.rubric_version, '/', shift.policy)
                and levels.level = shift.level
        group by all
    )

    select
        concat(grader, '/v', $version, '/', policy) as label_set,
        coalesce(n_up, 0) as n_labels_up,
        coalesce(n_down, 0) as n_labels_down,
        coalesce(n_new, 0) as n_labels_new,
        coalesce(n_gone, 0) as n_labels_gone,
        coalesce(n_boards, 0) as n_boards,
        coalesce(n_moved, 0) as n_boards_moved,
        shown.* exclude (grader, policy)
    from boards
    full join labels using (grader, policy)
    left join shown using (grader, policy)
    order by label_set
"""
# what a grader misses of this version and did not of the one before; what past runs took tells
# what it will cost
_GRADES = """
    with

    costs as (
        select
            grader,
            sum(prompt_tokens) / sum(n_pairs) as prompt_tokens,
            sum(completion_tokens) / sum(n_pairs) as completion_tokens,
            if(bool_and(cost is not null), sum(cost) / sum(n_pairs), null) as cost,
            any_value(currency) as currency
        from lake.marts.grading_cost
        group by grader
    ),

    rates as (
        select
            grader,
            sum(wall_seconds) / nullif(sum(ok + unanswerable + defaulted + failed), 0) as seconds
        from lake.marts.grading_runs
        group by grader
    ),

    missing as (
        select
            grader,
            query_id,
            passage_id,
            item_id,
            bool_and(rubric_version = $version) as is_new
        from lake.marts.grading_backlog
        where collection = $collection and rubric_version in ($version, $previous)
        group by all
        having bool_or(rubric_version = $version)
    ),

    counts as (
        select
            grader,
            count(distinct (query_id, item_id)) filter (where is_new) as n_items,
            count(distinct (query_id, passage_id)) filter (where is_new) as n_passages,
            count(*) filter (where is_new) as n_wanted,
            count(*) as n_missing
        from missing
        group by all
    )

    select
        grader,
        n_items,
        n_passages,
        n_wanted,
        n_missing,
        cast(round(n_wanted * costs.prompt_tokens) as bigint) as prompt_tokens,
        cast(round(n_wanted * costs.completion_tokens) as bigint) as completion_tokens,
        round(n_wanted * costs.cost, 6) as cost,
        costs.currency,
        round(n_wanted * rates.seconds, 3) as seconds
    from counts
    left join costs using (grader)
    left join rates using (grader)
    where n_wanted > 0
    order by grader
"""

# of a version: whether its edits are new wordings and no more; and whether each label that they
# change now misses a grade, so that nothing else moves it
_ABSENCE = f"""
    select
        bool_and(action = 'reword') as is_wording,
        bool_and(action = 'add' or (action in ('reword', 'reanswer') and weight is null))
        and (select bool_and(n_missing_after > n_missing_before) from ({_IMPACT})) as is_all
    from lake.intermediate.int_numbered_edits
    where collection = $collection and rubric_version = $version
"""


@dataclass(frozen=True)
class Version:
    """What the next build will say of a version of a rubric.

    `impact` and `shift` are its rows of `rubric_impact` and `leaderboard_shift`, a dictionary each.
    """

    rubric: Rubric
    number: int
    previous: int
    edits: list[ItemDifference]
    label_sets: list[dict[str, Any]]
    grades: list[dict[str, Any]]
    impact: list[dict[str, Any]]
    shift: list[dict[str, Any]]
    absence: dict[str, Any]  # whether missing grades alone do it: see `_ABSENCE`

    def as_object(self) -> dict[str, Any]:
        return {
            "collection": self.rubric.collection,
            "rubric_version": self.number,
            "previous_version": self.previous,
            "edits": [edit.as_object() for edit in self.edits],
            "label_sets": self.label_sets,
            "grades": self.grades,
            "rubric_impact": self.impact,
            "leaderboard_shift": self.shift,
        }


@dataclass(frozen=True)
class Previewed:
    """What edits will do, by version; `nothing` says why there is none."""

    versions: list[Version]
    nothing: str

    def as_object(self) -> dict[str, Any]:
        return {"versions": [version.as_object() for version in self.versions]}


def session(project: Project, collection: str | None) -> Session:
    """A session to propose edits on the rubric with all that was saved. Nothing is written."""
    rows = edits_file.read(project)
    with previewed(project, _RUBRIC) as preview:
        fetch(preview.lake)
        collection = choose_collection(project, preview.lake, collection)
        return Session(project, Rubric(preview.lake, collection), rows)


def of_saved(project: Project, collection: str | None = None) -> Previewed:
    """The versions that edits make or change which were saved since the newest build."""
    with previewed(project, _READ) as preview:
        if collection is not None:
            preview.lake.require_collection(collection)
        release = preview.release
        nothing = f"no edits since {release}" if release else "no edits"
        return Previewed(_versions(preview, collection), nothing)


def of_proposal(proposal: Proposal) -> Previewed:
    """The version that edits would make which were not saved. Raises what `save` raises."""
    versions = of_proposed(proposal.session.project, proposal.collection, numbered(proposal))
    return Previewed(versions, "nothing is changed in this sheet")


def of_proposed(project: Project, collection: str, proposed: Saved) -> list[Version]:
    """The version that these edits go into; none where nothing was changed.

    Raises `Rejected` with the lines of edits that cannot be applied.
    """
    if proposed.version is None:
        return []
    with tried(project, proposed, _READ) as preview:
        versions = _versions(preview, collection)
        return [version for version in versions if version.number == proposed.version]


def _versions(preview: Preview, collection: str | None) -> list[Version]:
    lake = preview.lake
    fetch(lake)
    for mart in ("rubric_impact", "leaderboard_shift"):
        lake.connection.execute(f"create temp table {mart} as from lake.marts.{mart}")
    now = _EDITS.format(catalog="lake")
    before = _EDITS.format(catalog=BUILT) if preview.release else f"{now} limit 0"
    return [
        _version(lake, *version)
        for version in lake.rows(_VERSIONS.format(now=now, before=before))
        if collection in (None, version[0])
    ]


def _version(lake: Lake, collection: str, number: int, previous: int) -> Version:
    queries = lake.column(
        "select distinct query_id from rubric_edits where collection = ? and rubric_version = ?",
        collection,
        number,
    )
    rubric = Rubric(lake, collection, queries)
    of_version = {"collection": collection, "version": number}
    return Version(
        rubric,
        number,
        previous,
        differences(rubric, previous, number),
        lake.objects(_LABEL_SETS, **of_version),
        lake.objects(_GRADES, **of_version, previous=previous),
        lake.objects(_IMPACT, **of_version),
        lake.objects(_SHIFT, **of_version),
        *lake.objects(_ABSENCE, **of_version),
    )


def moved(lake: Lake, collection: str, version: int) -> dict[str, Any]:
    """What a version moved against the one before it, in a release, as a `Version` has it."""
    of = {"collection": collection, "version": version}
    previous = lake.value(
        "select previous_version from lake.intermediate.int_rubric_versions "
        "where collection = $collection and rubric_version = $version",
        **of,
    )
    return {
        "label_sets": lake.objects(_LABEL_SETS, **of),
        "grades": lake.objects(_GRADES, **of, previous=previous),
        "absence": lake.objects(_ABSENCE, **of)[0],
    }
