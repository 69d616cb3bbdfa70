"""Which passages nuggets are made out of: those that people, or a label set, find relevant."""

from collections.abc import Iterable
from dataclasses import dataclass

from gradelake.sql.common.project import TO_LABEL, require_known
from gradelake.sql.lake.opening import Lake

_LABELS = """
    select query_id, passage_id, label from lake.marts.relevance_labels
    where collection = $1 and label_set = $2
"""
_JUDGMENTS = """
    select query_id, passage_id, max(relevance) as label from lake.raw.judgments
    where collection = $1 and $2::varchar is null
    group by all
"""


@dataclass(frozen=True)
class Relevant:
    """Passages of a collection with a judgment (the best of all assessors), or with a label of the
    label set, of at least `level`."""

    collection: str
    label_set: str | None
    level: int

    def __str__(self) -> str:
        """What a bank says that it was made out of."""
        how = f"that {self.label_set} labels" if self.label_set else "judged"
        return f"{how} {self.level} or more"

    def ids(self, lake: Lake, most: int) -> dict[str, list[str]]:
        """query -> its passages, the best first, at most so many, each text once.

        Passages without a text, near-duplicates that the collection leaves out, and passages of
        generated answers, which nuggets are to judge, are not among them.
        """
        query = f"""
        with labels as ({_LABELS if self.label_set else _JUDGMENTS}),
        passages as (
            select passage_id, text_sha256
            from lake.raw.passages
            where collection = $1 and origin = 'corpus' and trim(text) <> ''
        ),
        found as (
            select query_id, passage_id, label
            from labels
            inner join passages using (passage_id)
            anti join (
                select passage_id
                from lake.raw.near_duplicates
                inner join lake.raw.collections using (collection)
                where collection = $1 and leave_out_near_duplicates
            ) as left_out using (passage_id)
            where label >= $3
            qualify row_number() over (
                partition by query_id, text_sha256 order by label desc, passage_id
            ) = 1
        )
        select query_id, list_slice(list(passage_id order by label desc, passage_id), 1, $4)
        from found
        group by query_id
        """
        return dict(lake.rows(query, self.collection, self.label_set, self.level, most))

    def texts(self, lake: Lake, passage_ids: Iterable[str]) -> dict[str, str]:
        """passage -> its text."""
        return dict(
            lake.rows(
                "select passage_id, text from lake.raw.passages "
                "where collection = ? and passage_id in (select unnest(?))",
                self.collection,
                list(passage_ids),
            )
        )


def relevant(lake: Lake, collection: str, label_set: str | None, level: int | None) -> Relevant:
    """What was asked for; without a level that of the collection, or of the label set the highest
    one below it. Raises `BadInput` for a label set that there is not."""
    lake.require_collection(collection)
    highest, _ = lake.relevance(collection)
    if label_set:
        labels = "select label_set, max(label) from lake.marts.relevance_labels"
        known = dict(lake.rows(f"{labels} where collection = ? group by all", collection))
        missing = f"{collection} has no label set {label_set!r}"
        require_known(label_set, known, missing, none_yet=TO_LABEL)
        highest = min(highest, known[label_set])
    return Relevant(collection, label_set, max(1, highest) if level is None else level)
