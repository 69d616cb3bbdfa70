"""A probe: which passages, and what is done to them, made once and never changed."""

from typing import Any

import polars as pl
from pydantic import Field

from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan import prices
from gradelake.grading.plan.planner import ensure_views
from gradelake.grading.plan.plans import Plans
from gradelake.grading.plan.request import Totals
from gradelake.grading.plan.taken import bytes_of, taken
from gradelake.grading.probe.attacks import variants
from gradelake.grading.sentinel.rounds import Watch, missing_in_round, round_at_work, rounds_of
from gradelake.grading.sentinel.sentinel import (
    ELIGIBLE,
    KINDS,
    OF_PROBES,
    Watched,
    assessor_of,
    n_drawn,
    nothing_to_ask,
    read_watched,
    watched,
)
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake


class Probe(Watched):
    """`[probes.NAME]`, or what a command asks for. `size`: how many passages of each kind, those
    judged relevant and the others; `most_fooled`: the share of passages above which it alarms."""

    size: int = Field(default=25, ge=5, le=10_000)
    seed: int = Field(default=1, ge=0, le=2**31 - 1)
    every_days: int = Field(
        default=30, ge=0, le=366, description="0: whenever a round is asked for."
    )
    most_fooled: float = Field(default=0.1, ge=0, le=1, description="1: it never alarms.")


# judged pairs of both kinds, of as many queries as can be, in an order of chance; with each the
# best passage of another query, unless it was judged for this one
_DRAWN = """,

    numbered as (
        select
            *,
            judgment >= min_relevant as is_relevant,
            sha256(concat_ws(chr(10), $seed, query_id, passage_id)) as chance
        from eligible
        inner join (
            select min_relevant from lake.raw.collections where collection = $collection
        ) on true
    ),

    in_turn as (
        select
            *,
            row_number() over (partition by is_relevant, query_id order by chance) as nth
        from numbered
    ),

    drawn as (
        select * from in_turn
        qualify row_number() over (partition by is_relevant order by nth, chance) <= $size
    ),

    best as (
        select query_id, max_by(passage_id, (judgment, chance)) as passage_id
        from numbered
        where is_relevant
        group by query_id
    ),

    others as (
        select
            drawn.query_id,
            drawn.passage_id,
            min_by(
                best.passage_id, sha256(concat_ws(chr(10), drawn.chance, best.query_id))
            ) as other_id
        from drawn
        inner join best on drawn.query_id != best.query_id
        anti join eligible as judged
            on drawn.query_id = judged.query_id and best.passage_id = judged.passage_id
        group by all
    ),

    texts as (
        select passage_id, text from lake.raw.passages where collection = $collection
    )

    select
        drawn.query_id,
        drawn.passage_id,
        drawn.judgment,
        drawn.is_relevant,
        queries.text as query,
        texts.text as passage,
        other_texts.text as other
    from drawn
    inner join lake.raw.queries as queries using (query_id)
    inner join texts using (passage_id)
    left join others on drawn.query_id = others.query_id and drawn.passage_id = others.passage_id
    left join texts as other_texts on others.other_id = other_texts.passage_id
    where queries.collection = $collection
    order by drawn.query_id, drawn.passage_id
"""


def name_of(lake: Lake, probe: Probe, grader: Grader) -> tuple[str, int | None]:
    """What a probe is called for a grader, and whose version of the rubric it asks about."""
    name, kind = f"{OF_PROBES}{probe.size}/{probe.seed}", KINDS[grader.prompt.target]
    if kind == "passage":
        return name, None
    version = lake.value(
        "select max(rubric_version) from lake.marts.wanted_items where collection = ? and kind = ?",
        probe.collection,
        kind,
    )
    return f"{name}/{kind}/v{version or 0}", version or 0


def made(lake: Lake, probe: Probe, grader: Grader) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of a probe's `probe_variants` and `sentinel_pairs`. Raises `BadInput` where there is
    nothing to make them of."""
    name, version = name_of(lake, probe, grader)
    collection = probe.collection
    assessor = assessor_of(lake, collection)
    values: dict[str, Any] = {"collection": collection, "assessor": assessor}
    values["kinds"] = [KINDS[grader.prompt.target]]
    seed = str(probe.seed)
    drawn = lake.frame(ELIGIBLE + _DRAWN, **values, seed=seed, size=probe.size)
    if drawn.is_empty():
        raise nothing_to_ask(collection, assessor, [grader])
    asked = "select query_id, kind, item_id, text as item from items"
    items = lake.frame(f"{ELIGIBLE} {asked}", **values)
    rows = [
        {
            **{key: row[key] for key in ("query_id", "judgment", "is_relevant", "query")},
            "original_id": row["passage_id"],
            "passage_id": f"{row['passage_id']}/{attack}",
            "attack": attack,
            "passage": text,
        }
        for row in drawn.to_dicts()
        for attack, text in variants(
            row["query"], row["passage"], row["is_relevant"], row["other"], seed
        ).items()
    ]
    found = pl.DataFrame(rows).with_columns(
        collection=pl.lit(collection),
        sentinel=pl.lit(name),
        rubric_version=pl.lit(version, pl.Int32),
    )
    pairs = found.drop("attack", "original_id", "is_relevant", "rubric_version")
    about = found.drop("judgment", "query", "passage")
    return about, pairs.join(items, on="query_id", how="inner", maintain_order="left")


def _store(lake: Lake, probe: Probe, grader: Grader) -> str:
    """Make a probe, unless it was made; returns its name."""
    name, _ = name_of(lake, probe, grader)
    if not n_drawn(lake, probe.collection, name)[0]:
        about, pairs = made(lake, probe, grader)
        with lake.transaction("grade", f"{probe.collection} {name}") as transaction:
            transaction.insert("probe_variants", about)
            transaction.insert("sentinel_pairs", pairs)
            transaction.say(variants=about.height)
        console.tell(
            f"made {counted(about.height, 'variants')} of judged passages; they never change"
        )
    return name


def plan(project: Project, probe: Probe) -> Plans:
    """What its graders have still to be asked in the round at work, and what that may cost."""
    plans = []
    with console.working("planning"), Lake.writer(project) as lake:
        ensure_views(lake)
        for grader in _graders(project, lake, probe, "--grader"):
            name, _ = name_of(lake, probe, grader)
            graded = 0
            if n_drawn(lake, probe.collection, name)[0]:
                number, graded, _ = round_at_work(lake, name, probe, grader, now=False)
                key = (probe.collection, name, grader.grader_id, number)
                missing = missing_in_round(lake, grader, key)
            else:
                missing = made(lake, probe, grader)[1]
            n, n_bytes = missing.height, bytes_of(grader, missing)
            before = taken(lake, grader, probe.collection)
            totals = Totals(
                graded,
                missing=n,
                asked=n,
                prompts=n,
                prompt_tokens=round(n_bytes * before.tokens_per_byte),
                tokens_measured=before.is_measured,
                cost=prices.estimated_cost(lake, grader, n, n_bytes, before),
            )
            plans.append((grader, totals))
    return Plans(probe.collection, plans)


def watch(project: Project, probe: Probe | str, *how: Any, **stated: Any) -> Watch:
    """Grade the rounds of a probe (or of `[probes.NAME]`) as `rounds_of` is told. Raises `BadInput`
    for a probe that is wrong."""
    where = "--grader"
    if isinstance(probe, str):
        where = f"{project.file}: [probes.{probe}] graders"
        probe = read_watched(Probe, project, "probes", probe)
    with Lake.writer(project) as lake:
        ensure_views(lake)
        graders = _graders(project, lake, probe, where)
        asked = [("probe", _store(lake, probe, each), probe, each) for each in graders]
    return rounds_of(project, asked, *how, **stated)


def _graders(project: Project, lake: Lake, probe: Probe, where: str) -> list[Grader]:
    lake.require_collection(probe.collection)
    return [watched(project, lake, where, grader) for grader in probe.graders]
