"""`gradelake export track --participants`: to each their own scores beside all others' best,
median and worst, and what was flagged; of the others nothing, not even how they are called."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.files import sha256_of
from gradelake.sql.common.project import HOW_TO_NAME, Project, is_name
from gradelake.sql.common.spreadsheet import shown_row
from gradelake.sql.common.whole_file import whole_folder
from gradelake.sql.lake.opening import Lake

# at each label set's usual level; a query that a system has no result for counts 0, as in its mean
SCORES = """
    with

    board as (
        select system, collection, label_set, level, measure, averaged_over, score
        from lake.marts.leaderboard
        inner join lake.marts.measures using (measure)
        semi join (from lake.marts.usual_levels where collection = $collection)
            using (label_set, level)
        where
            collection = $collection
            and ($label_sets is null or list_contains($label_sets, label_set))
            and ($measures is null or list_contains($measures, measure))
    ),

    queries as (
        select label_set, averaged_over, query_id
        from lake.marts.board_queries
        where collection = $collection
    ),

    cells as (
        select board.*, queries.query_id, coalesce(scores.value, 0) as value
        from board
        inner join queries using (label_set, averaged_over)
        left join lake.marts.topic_scores as scores
            using (collection, label_set, level, measure, system, query_id)
        union all
        select *, 'all', score from board
    )

    select
        * exclude (collection, averaged_over, score),
        max(value) over of_all as best,
        round(median(value) over of_all, 10) as median,
        min(value) over of_all as worst,
        count(*) over of_all as n_systems
    from cells
    window of_all as (partition by label_set, measure, query_id)
    order by system, label_set, measure, query_id = 'all', query_id
"""
FLAGGED = """
    select distinct system, query_id, sentence, 'not in the lake' as what, cited_passage_id
    from lake.marts.support_labels
    where collection = $collection and not is_in_lake
    union all
    select system, query_id, sentence, 'not supported', grader || ': ' || sentence_text
    from lake.marts.support_labels
    where collection = $collection
    group by all
    having max(weight) = 0
    order by all
"""
GROUPS = """
    select system, group_name from lake.raw.system_groups where collection = ? and grouping = ?
"""
SOURCES = """
    select system, source_file, file_sha256
    from lake.raw.systems
    where
        collection = $1
        and $1 || '/responses/' || source_file in (select target from lake.raw.ledger)
    order by all
"""
HEADER = (
    "system",
    "label_set",
    "level",
    "measure",
    "query_id",
    "value",
    "best",
    "median",
    "worst",
    "n_systems",
)
OF_FLAGGED = ("system", "query_id", "sentence", "what", "detail")
README = """\
{collection}: {systems}

scores.csv   your score of each query (`all`: the mean) beside the best, the median and the worst
             of all systems; a query without a result counts 0
flagged.csv  rules that an answer breaks, citations of what is not in the lake, sentences that
             nothing which they cite supports
"""


def write_folders(
    project: Project,
    lake: Lake,
    collection: str,
    folder: Path,
    by: str | None = None,
    label_sets: Sequence[str] = (),
    measures: Sequence[str] = (),
) -> dict[str, Any]:
    """Write `folder`, whole or not at all; returns whose folders are in it. Raises `BadInput`."""
    chosen = {"label_sets": [*label_sets] or None, "measures": [*measures] or None}
    scores = lake.rows(SCORES, collection=collection, **chosen)
    if not scores:
        hint = "`gradelake sql @leaderboard` shows which there are."
        raise BadInput(f"there are no such scores of {collection!r} here", hint)
    flagged, metadata = _of_files(project, lake, collection)
    flagged += lake.rows(FLAGGED, collection=collection)
    groups = dict(lake.rows(GROUPS, collection, by)) if by else {}
    owners: dict[str, list[str]] = {}
    for system in dict.fromkeys(row[0] for row in scores):
        group = groups.get(system) or (metadata.get(system, {}).get(by) if by else system)
        if not is_name(str(group or "")):
            raise BadInput(f"system {system!r}: {by} {group!r} cannot name a folder", HOW_TO_NAME)
        owners.setdefault(str(group), []).append(system)
    with whole_folder(folder.absolute()) as unfinished:
        for name, systems in owners.items():
            own = unfinished / name
            own.mkdir()
            readme = README.format(collection=collection, systems=", ".join(systems))
            (own / "README.txt").write_text(readme, encoding="utf-8")
            for file, header, rows in (
                ("scores.csv", HEADER, scores),
                ("flagged.csv", OF_FLAGGED, flagged),
            ):
                with (own / file).open("w", encoding="utf-8", newline="") as stream:
                    writer = csv.writer(stream, lineterminator="\n")
                    writer.writerow(header)
                    writer.writerows(shown_row(row) for row in rows if row[0] in systems)
    n_systems = max(row[-1] for row in scores)
    about = {"collection": collection, "folder": str(folder)}
    return about | {"participants": [*owners], "n_systems": n_systems}


def _of_files(
    project: Project, lake: Lake, collection: str
) -> tuple[list[tuple[Any, ...]], dict[str, dict[str, Any]]]:
    """(flags, metadata by system) of what answers' files say; that a file is gone, or not as it
    came in, or knows a system by another name, is a flag."""
    from gradelake.ingest.collections.check import check
    from gradelake.ingest.collections.collection import ACCEPTED, Collection

    settings = Collection.named(project, collection)
    whole: dict[str, str] = {}  # shown -> where it is
    sources = lake.rows(SOURCES, collection)
    for _, shown, sha256 in sources:
        places = [settings.path(shown)]
        if settings.inbox:
            places.append(settings.path(settings.inbox) / ACCEPTED / Path(shown).name)
        same = [path for path in places if path.exists() and sha256_of(path) == sha256]
        whole |= {shown: str(same[0])} if same else {}
    flags: list[tuple[Any, ...]] = []
    metadata: dict[str, dict[str, Any]] = {}
    if whole:
        verdict = check(project, collection, whole.values())
        flags += [(b.system, b.query_id, None, b.rule, b.message) for b in verdict.broken]
        answers = (answer for found in verdict.files.values() for answer in found)
        metadata = {answer.system: answer.metadata for answer in answers}
    for system, shown, _ in sources:
        if system not in metadata:
            what = "is not there as it came in" if shown not in whole else "does not name it"
            flags.append((system, None, None, "file", f"{shown} {what}: rules were not checked"))
    return flags, metadata
