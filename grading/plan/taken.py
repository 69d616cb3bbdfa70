"""How long prompts are, and how many tokens such prompts took before."""

from dataclasses import dataclass

import polars as pl

from gradelake.grading.graders.grader import Grader
from gradelake.sql.lake.opening import Lake

ENOUGH = 30  # replies that tell what others will take
_SAMPLE = 2000  # replies that are looked at, at most
_BYTES_PER_TOKEN = 4  # of a prompt, before anything is measured. Letters of all scripts vary more
_ANY_LENGTH = 2**31 - 1

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
            $n_bytes
            + if(contains($prompt, '{query}'), strlen(queries.text), 0)
            + if(contains($prompt, '{description}'), coalesce(strlen(queries.description), 0), 0)
            + if(contains($prompt, '{narrative}'), coalesce(strlen(queries.narrative), 0), 0)
            + if(contains($prompt, '{passage}'), texts.n_bytes, 0)
            + if(contains($prompt, '{answer}'), coalesce(strlen(plan_work.answer), 0), 0)
                as n_shared,
            -- where the prompt shows a rubric, it stands in the place of gold answers
            strlen(plan_items.item_text)
            + if(
                contains($prompt, '{rubric}'),
                coalesce(strlen(array_to_string(plan_items.gold_answers, '')), 0),
                0
            ) as n_item
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
# what replies of the model took: those of this grader first, and of those the ones of this
# collection; else in an order of chance
_TAKEN = """
    select
        grader_id = $grader_id as is_own,
        replies.collection = $collection as is_here,
        replies.prompt_tokens,
        coalesce(replies.cached_tokens, 0) as cached_tokens,  -- not every endpoint tells them
        coalesce(replies.completion_tokens, 0) as completion_tokens,
        replies.prompt_bytes - replies.cut_characters as n_bytes
    from lake.raw.replies as replies
    inner join lake.raw.graders as graders using (grader_id)
    where
        graders.engine = $engine
        and graders.model = $model
        and replies.prompt_tokens > 0
        and n_bytes > 0
    order by not is_own, not is_here, hash(replies.reply_id)
    limit $most
"""


@dataclass(frozen=True)
class Taken:
    """What prompts took. `replies` has prompt_tokens, cached_tokens, completion_tokens and n_bytes,
    of those that tell most; none where the model was never asked.

    `is_own`: they are this grader's, and enough of them; `is_here`: and of this collection.
    """

    replies: pl.DataFrame
    is_own: bool = False
    is_here: bool = False

    @property
    def is_measured(self) -> bool:
        return not self.replies.is_empty()

    @property
    def tokens_per_byte(self) -> float:
        if not self.is_measured:
            return 1 / _BYTES_PER_TOKEN
        return float(self.replies["prompt_tokens"].sum()) / float(self.replies["n_bytes"].sum())


def size(lake: Lake, grader: Grader) -> tuple[int, int, int]:
    """Pairs that a planned grader is to be asked about, prompts for them, and bytes of these."""
    prompt = grader.prompt
    ((pairs, prompts, n_bytes),) = lake.rows(
        _SIZE,
        prompt=prompt.text,
        n_bytes=prompt.n_bytes,
        verifies=prompt.target == "verify",
        longest_passage=_longest_passage(grader),
    )
    return pairs, prompts, n_bytes


def bytes_of(grader: Grader, asks: pl.DataFrame) -> int:
    """How long the prompts are together that show these texts: query, passage, item."""
    prompt = grader.prompt
    asks = asks.with_columns(pl.col("passage").str.head(_longest_passage(grader)))
    texts = (asks[slot] for slot in ("query", "passage", "item") if slot in prompt.slots)
    return asks.height * prompt.n_bytes + sum(int(text.str.len_bytes().sum()) for text in texts)


def taken(lake: Lake, grader: Grader, collection: str) -> Taken:
    """What replies of this grader took, or others of its model."""
    found = lake.frame(
        _TAKEN,
        grader_id=grader.grader_id,
        engine=grader.engine,
        model=grader.model,
        collection=collection,
        most=_SAMPLE,
    )
    own = found.filter("is_own")
    here = own.filter("is_here")
    is_own, is_here = own.height >= ENOUGH, here.height >= ENOUGH
    return Taken(here if is_here else own if is_own else found, is_own, is_here)


def _longest_passage(grader: Grader) -> int:
    """Characters of a passage that are sent."""
    return grader.settings.get("max_passage_characters", _ANY_LENGTH)
