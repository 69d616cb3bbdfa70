"""A sample that people judge: what was drawn, how, and what they said so far."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import did_you_mean
from gradelake.sql.lake.opening import Lake

Pair = tuple[str, str]

SAMPLES = """
    select distinct sample, label_set, unit, depth
    from lake.raw.review_samples
    where collection = ? and assessor in (select unnest(?))
    order by sample
"""
# of several people's judgments the one in the middle, of two the lower
ROWS = """
    select
        drawn.stratum,
        drawn.stratum_size,
        drawn.query_id,
        drawn.passage_id,
        quantile_disc(judgments.relevance, 0.5) as relevance
    from lake.raw.review_samples as drawn
    left join lake.raw.judgments using (collection, assessor, query_id, passage_id)
    where
        drawn.collection = ?
        and drawn.assessor in (select unnest(?))
        and drawn.sample = ?
    group by all
    order by drawn.stratum, drawn.query_id, drawn.passage_id
"""


@dataclass(frozen=True)
class JudgedSample:
    """`strata`: code -> units it was drawn from; `rows`: (stratum, pair, relevance or None)."""

    name: str
    assessors: tuple[str, ...]
    label_set: str
    unit: str
    depth: int | None
    strata: dict[str, int]
    rows: list[tuple[str, Pair, int | None]]

    @property
    def assessor(self) -> str:
        """Who judged it, in words."""
        return ", ".join(self.assessors)

    @property
    def population(self) -> int:
        """Units that the sample was drawn from."""
        return sum(self.strata.values())

    @property
    def n_missing(self) -> int:
        """Drawn pairs that are not judged yet."""
        return sum(relevance is None for *_, relevance in self.rows)

    def judgments_of(self, stratum: str) -> dict[Pair, int]:
        return {
            pair: relevance
            for code, pair, relevance in self.rows
            if code == stratum and relevance is not None
        }

    def complete_queries(self) -> set[str]:
        """Queries of which all drawn passages are judged."""
        judged: dict[str, bool] = defaultdict(lambda: True)
        for _, (query_id, _), relevance in self.rows:
            judged[query_id] &= relevance is not None
        return {query_id for query_id, is_complete in judged.items() if is_complete}

    def notes(self) -> list[str]:
        if not self.n_missing:
            return []
        note = f"{self.n_missing:,} of {len(self.rows):,} drawn pairs are not judged yet"
        if self.unit == "query":
            drawn = len({pair[0] for _, pair, _ in self.rows})
            whole = len(self.complete_queries())
            return [f"{note}: {whole} of {drawn} queries count, as if drawn at random"]
        return [f"{note}: those that are count as if drawn at random"]


def read_judged_sample(
    lake: Lake, collection: str, assessors: Sequence[str], name: str | None = None
) -> JudgedSample:
    """A sample that these people judged, together where they are several; without a name the only
    one. Raises `BadInput` when it is not there."""
    assessor = ", ".join(assessors)
    samples = {name: about for name, *about in lake.rows(SAMPLES, collection, list(assessors))}
    if not samples:
        known = lake.column(
            "select distinct assessor from lake.raw.judgments where collection = ?", collection
        )
        if known and (unknown := [each for each in assessors if each not in known]):
            raise BadInput(
                f"no judgments of {unknown[0]!r} in {collection}", did_you_mean(unknown[0], known)
            )
        raise BadInput(
            f"assessor {assessor!r} has judged no sample of {collection!r} in this lake",
            "Draw one with `gradelake export qrels --sample`, have it judged, import it with "
            "`gradelake import judgments`, and run `gradelake build`; or `gradelake queue add`.",
        )
    names = ", ".join(samples)
    if name is None and len(samples) > 1:
        raise BadInput(
            f"assessor {assessor!r} has judged {counted(len(samples), 'samples')}",
            f"Choose one with --sample: {names}.",
        )
    name = name or next(iter(samples))
    if name not in samples:
        raise BadInput(f"assessor {assessor!r} has no sample {name!r}", f"Known: {names}.")
    rows = lake.rows(ROWS, collection, list(assessors), name)
    label_set, unit, depth = samples[name]
    strata = {stratum: size for stratum, size, *_ in rows}
    pairs = [
        (stratum, (query, passage), relevance) for stratum, _, query, passage, relevance in rows
    ]
    return JudgedSample(name, tuple(assessors), label_set, unit, depth, strata, pairs)
