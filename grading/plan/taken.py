"""How long prompts are, and how many tokens such prompts took before."""

from dataclasses import dataclass

import polars as pl

from gradelake.grading.graders.grader import Grader
from gradelake.sql.lake.opening import Lake

ENOUGH = 30  # grades that tell what others will take
_SAMPLE = 2000  # grades that are looked at, at most
_BYTES_PER_TOKEN = 4  # of a prompt, before anything is measured. Letters of all scripts vary more
_ANY_LENGTH = 2**31 - 1

# how long a prompt is, without the item
_PROMPT_BYTES = """
    create or replace temp macro prompt_bytes(
        prompt, query, description, narrative, passage_bytes, answer
    ) as
    strlen(prompt)
    + if(contains(prompt, '{query}'), strlen(query), 0)
    + if(contains(prompt, '{description}'), coalesce(strlen(description), 0), 0)
    + if(contains(prompt, '{narrative}'), coalesce(strlen(narrative), 0), 0)
    + if(contains(prompt, '{passage}'), passage_bytes, 0)
    + if(contains(prompt, '{answer}'), coalesce(strlen(answer), 0), 0);

    -- of the item; where the prompt shows a rubric, it stands in the place of gold answers
    create or replace temp macro item_bytes(prompt, item, gold_answers) as
    strlen(item)
    + if(contains(prompt, '{rubric}'), coalesce(strlen(array_to_string(gold_answers, '')), 0), 0)
"""
# pairs to ask about, their prompts, and the bytes of these; `plan.sql` says of what
_SIZE = """
    with

    texts as (
        select
            plan_passages.text_no,
            any_value(strlen(left(passages.text, $longest_passage))) as n_bytes
        from plan_passages
        inner join lake.raw.passages using (passage_id, text_sha256)
        where
            passages.collection = getvariable('collection')
            and plan_passages.passage_no in (select passage_no from plan_work)
        group by all
    ),

    asked as (
        select
            plan_work.chunk_no,
            if(getvariable('window_pairs') > 1, passage_no, null) as window_no,
            case
                when not $verifies then 1
                when plan_work.answer = '' then 0
                else len(plan_items.gold_answers)
            end as n_prompts,
            prompt_bytes(
                $prompt, queries.text, queries.description, queries.narrative,
                texts.n_bytes, plan_work.answer
            ) as n_shared,
            item_bytes($prompt, plan_items.item_text, plan_items.gold_answers) as n_item
        from plan_work
        inner join plan_passages using (passage_no)
        inner join plan_items using (item_no)
        inner join texts using (text_no)
        inner join lake.raw.queries
            on
                queries.collection = getvariable('collection')
                and queries.query_id = plan_passages.query_id
        where plan_work.work_no = plan_work.leader_no and plan_work.reply is null
    ),

    windows as (
        select
            count(*) as n_pairs,
            if(window_no is null, sum(n_prompts), ceil(count(*) / getvariable('window_pairs')))
                as n_prompts,
            if(
                window_no is null,
                sum(n_prompts * (n_shared + n_item)),
                ceil(count(*) / getvariable('window_pairs')) * any_value(n_shared) + sum(n_item)
            ) as n_bytes
        from asked
        group by chunk_no, window_no
    )

    select
        coalesce(sum(n_pairs), 0)::bigint,
        coalesce(sum(n_prompts), 0)::bigint,
        coalesce(sum(n_bytes), 0)::bigint
    from windows
"""
# what grades of the model took: those of this grader first, and of those the ones of this
# collection; else in an order of chance. A window's tokens are divided among its pairs
_TAKEN = """
    with

    sampled as (
        select grades.*
        from lake.raw.grades
        inner join lake.raw.graders as graders using (grader_id)
        where
            grades.prompt_tokens > 0
            and graders.engine = $engine
            and graders.model = $model
            and graders.prompt_text is not null
            and (not contains(graders.prompt_text, '{items}') or grader_id = $grader_id)
        order by
            grader_id != $grader_id,
            grades.collection != $collection,
            hash(grades.query_id, grades.passage_id, grades.item_id)
        limit $most
    ),

    n_together as (
        select
            grader_id,
            collection,
            query_id,
            passage_id,
            count(*) as n_pairs
        from lake.raw.grades
        where grader_id = $grader_id and $window > 1
        group by all
    ),

    items as (
        select distinct on (collection, query_id, item_id) *
        from lake.marts.wanted_items
        semi join sampled using (collection, query_id, item_id)
    )

    select
        sampled.grader_id = $grader_id as is_own,
        sampled.collection = $collection as is_here,
        sampled.prompt_tokens,
        coalesce(sampled.cached_tokens, 0) as cached_tokens,  -- not every endpoint tells them
        coalesce(sampled.completion_tokens, 0) as completion_tokens,
        if(graders.target = 'verify', len(items.gold_answers), 1) * (
            prompt_bytes(
                graders.prompt_text,
                queries.text,
                queries.description,
                queries.narrative,
                strlen(left(passages.text, $longest_passage)),
                answer
            )
            * coalesce(ceil(n_together.n_pairs / $window) / n_together.n_pairs, 1)
            + item_bytes(graders.prompt_text, items.text, items.gold_answers)
        ) as n_bytes
    from sampled
    inner join lake.raw.graders as graders using (grader_id)
    inner join lake.raw.queries using (collection, query_id)
    inner join lake.raw.passages using (collection, passage_id)
    inner join items using (collection, query_id, item_id)
    left join n_together using (grader_id, collection, query_id, passage_id)
    where
        passages.text_sha256 = coalesce(sampled.passage_sha256, passages.text_sha256)
        and n_bytes > 0
"""
_WAS_ASKED = """
    select exists (
        from lake.raw.grades
        semi join (from lake.raw.graders where engine = ? and model = ?) using (grader_id)
        where prompt_tokens > 0
    )
"""


@dataclass(frozen=True)
class Taken:
    """What prompts took. `grades` has prompt_tokens, cached_tokens, completion_tokens and n_bytes,
    of the grades that tell most; none where the model was never asked.

    `is_own`: they are this grader's, and enough of them; `is_here`: and of this collection.
    """

    grades: pl.DataFrame
    is_own: bool = False
    is_here: bool = False

    @property
    def is_measured(self) -> bool:
        return not self.grades.is_empty()

    @property
    def tokens_per_byte(self) -> float:
        if not self.is_measured:
            return 1 / _BYTES_PER_TOKEN
        return float(self.grades["prompt_tokens"].sum()) / float(self.grades["n_bytes"].sum())


def size(lake: Lake, grader: Grader) -> tuple[int, int, int]:
    """Pairs that a planned grader is to be asked about, prompts for them, and bytes of these."""
    prompt = grader.prompt
    lake.connection.execute(_PROMPT_BYTES)
    ((pairs, prompts, n_bytes),) = lake.rows(
        _SIZE,
        prompt=prompt.text,
        verifies=prompt.target == "verify",
        longest_passage=_longest_passage(grader),
    )
    return pairs, prompts, n_bytes


def bytes_of(lake: Lake, grader: Grader, asks: pl.DataFrame) -> int:
    """How long the prompts are together that show these texts: query, passage, item."""
    lake.connection.execute(_PROMPT_BYTES)
    with lake.registered("asks", asks):
        return lake.value(
            "select coalesce(sum(prompt_bytes($prompt, query, '', '', "
            "strlen(left(passage, $longest)), '') + strlen(item)), 0)::bigint from asks",
            prompt=grader.prompt.text,
            longest=_longest_passage(grader),
        )


def taken(lake: Lake, grader: Grader, collection: str) -> Taken:
    """What grades of this grader took, or others of its model.

    The lake must have the view `marts.wanted_items`.
    """
    if not lake.value(_WAS_ASKED, grader.engine, grader.model):  # a fifth of the rest
        tokens = [f"{name}_tokens" for name in ("prompt", "cached", "completion")]
        return Taken(pl.DataFrame(schema=[*tokens, "n_bytes"]))
    lake.connection.execute(_PROMPT_BYTES)
    found = lake.frame(
        _TAKEN,
        grader_id=grader.grader_id,
        engine=grader.engine,
        model=grader.model,
        collection=collection,
        window=grader.prompt.window or 1,
        longest_passage=_longest_passage(grader),
        most=_SAMPLE,
    )
    own = found.filter("is_own")
    here = own.filter("is_here")
    is_own, is_here = own.height >= ENOUGH, here.height >= ENOUGH
    return Taken(here if is_here else own if is_own else found, is_own, is_here)


def _longest_passage(grader: Grader) -> int:
    """Characters of a passage that are sent."""
    return grader.settings.get("max_passage_characters", _ANY_LENGTH)
