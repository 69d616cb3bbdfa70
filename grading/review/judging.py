"""Queues of judgments: pairs of a label set, drawn so that `stats estimate` can carry what people
say of them over to all of its pairs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from gradelake.grading.review.cards import Card
from gradelake.grading.review.queue_sources import QueueRequest
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.sampling import PAIRS, allocate, neyman

_TAKEN = "judged"  # the stratum of what the queue's people judged before
# in a random order; with what people say of each, and who of the queue's people do
_FRAME = f"""
    with

    pairs as ({PAIRS}),

    opinions as (
        select
            query_id,
            passage_id,
            quantile_disc(relevance, 0.5) as relevance,
            list(assessor order by assessor) filter (where assessor in (select unnest($people)))
                as people
        from lake.raw.judgments
        where collection = $collection
        group by all
    )

    select
        pairs.query_id,
        pairs.passage_id,
        pairs.label,
        queries.text,
        opinions.relevance,
        coalesce(opinions.people, []) as people
    from pairs
    inner join lake.raw.queries as queries using (collection, query_id)
    left join opinions using (query_id, passage_id)
    left join lake.raw.passages as passages using (collection, passage_id)
    where passages.passage_id is not null or opinions.people is not null
    order by md5(concat_ws('/', 'draw', $seed, pairs.query_id, pairs.passage_id))
"""


@dataclass(frozen=True)
class Drawn:
    """The cards of a queue in random order, each with its stratum and the size of that. `taken`:
    (query_id, passage_id) -> who of the queue's people judged the pair before."""

    strata: dict[Card, tuple[str, int]]
    taken: dict[tuple[str, str], list[str]]


def draw(lake: Lake, request: QueueRequest) -> Drawn:
    """Draw at most `request.size` pairs of a label set, at random within strata of equal labels.

    From `estimate` in Neyman's allocation (`sampling.neyman`): n_h in proportion to N_h * S_h,
    with N_h the pairs of a stratum that nobody of the queue's people judged, and S_h from all that
    people judged of it, whoever they are (of several, the one in the middle counts). From
    `sample` in proportion to N_h. Pairs without a text in the lake are left out. What the queue's
    people judged before is a stratum of its own, all of it taken: so the estimate is unbiased
    however it was chosen. Raises `BadInput` where there is nothing to draw, or too little asked.
    """
    rows = lake.rows(
        _FRAME,
        collection=request.collection,
        label_set=request.grader.name,
        depth=request.depth,
        people=list(request.assessors),
        seed=str(request.seed),
    )
    left = [row for row in rows if not row[5]]
    if not left:
        raise BadInput(
            f"{', '.join(request.assessors)} judged all pairs of {request.grader.name} that have a "
            "text",
            "Name other people, another --label-set, or a greater --depth.",
        )
    codes = {label: f"s{n}" for n, label in enumerate(sorted({row[2] for row in rows}), start=1)}
    sizes = dict(Counter(codes[row[2]] for row in left))
    judged = {
        code: (len(known), sum(relevance >= request.tau for relevance in known))
        for label, code in codes.items()
        if (known := [row[4] for row in rows if row[2] == label and row[4] is not None])
    }
    weights = neyman(sizes, judged) if request.source == "estimate" else sizes
    wanted = allocate(sizes, min(request.size, len(left)), weights)
    strata = {}
    for query_id, passage_id, label, query, *_ in left:
        code = codes[label]
        if wanted[code]:
            wanted[code] -= 1
            card = Card(query_id, passage_id, "", None, None, query, grade=label)
            strata[card] = code, sizes[code]
    return Drawn(strata, {(row[0], row[1]): row[5] for row in rows if row[5]})


def sample_rows(
    request: QueueRequest, drawn: Drawn, asked: Sequence[tuple[Card, list[str]]]
) -> list[dict]:
    """Rows of raw.review_samples: a sample for each person, of one name; of whom each card asks."""
    n_of = Counter((who, drawn.strata[card][0]) for card, people in asked for who in people)
    pairs = sorted((card.query_id, card.passage_id) for card in drawn.strata)
    about = {
        "collection": request.collection,
        "sample": f"{request.queue}-{sha256(repr(pairs).encode()).hexdigest()[:8]}",
        "label_set": request.grader.name,
        "unit": "pair",
        "depth": request.depth,
    }
    rows = [
        (who, card.query_id, card.passage_id, code, size, n_of[who, code] / size)
        for card, people in asked
        for code, size in [drawn.strata[card]]
        for who in people
    ]
    taken = drawn.taken
    rows += [(who, *pair, _TAKEN, len(taken), 1.0) for pair in taken for who in taken[pair]]
    names = ("assessor", "query_id", "passage_id", "stratum", "stratum_size", "probability")
    return [about | dict(zip(names, row, strict=True)) for row in rows]
