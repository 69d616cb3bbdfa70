"""What of a card SQL cannot say: intervals of kappas, and errors of decisions."""

from collections.abc import Iterator
from typing import Any

from gradelake.analyses.stats.kappas import kappas
from gradelake.sql.lake.opening import Lake

REPLICATES, SEED = 2000, 1  # as in the report
ASSESSORS = """
    select distinct reference from lake.marts.kappa
    where collection = ? and list_contains(?, label_set) and assessor is not null
    order by all
"""


def kappa_rows(lake: Lake, collection: str, judge: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Each label set's kappa with each assessor, where boards take labels as relevant."""
    for reference in assessors(lake, collection, judge):
        for label_set, found in kappas(lake, collection, reference, REPLICATES, SEED).items():
            rounded = {
                name: round(value, 3) if isinstance(value, float) else value
                for name, value in found.items()
            }
            yield {
                "collection": collection,
                "label_set": label_set,
                "reference": reference,
                **rounded,
            }


def assessors(lake: Lake, collection: str, judge: dict[str, Any]) -> list[str]:
    """The label sets of people who judged what the judge labelled."""
    names = [name for of, name in judge["label_sets"] if of == collection]
    return lake.column(ASSESSORS, collection, names)
