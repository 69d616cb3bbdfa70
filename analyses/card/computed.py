"""What of a card SQL cannot say: intervals of kappas, and errors of decisions."""

from collections.abc import Iterator
from typing import Any

from gradelake.analyses.answers.parts import rounded
from gradelake.analyses.stats.boards import measured_label_sets, read_board, read_reference
from gradelake.analyses.stats.decisions import decision_errors
from gradelake.analyses.stats.kappas import kappas
from gradelake.analyses.stats.significance import compare_pairs
from gradelake.sql.lake.opening import Lake

REPLICATES, SEED = 2000, 1  # as in the report
PERMUTATIONS, ALPHA = 10_000, 0.05
ASSESSORS = """
    select distinct reference from lake.marts.kappa
    where collection = ? and list_contains(?, label_set) and assessor is not null
    order by all
"""


def kappa_rows(lake: Lake, collection: str, judge: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Each label set's kappa with each assessor, where boards take labels as relevant."""
    for reference in assessors(lake, collection, judge):
        for label_set, found in kappas(lake, collection, reference, REPLICATES, SEED).items():
            yield {
                **{"collection": collection, "label_set": label_set, "reference": reference},
                **{name: rounded(value) for name, value in found.items()},
            }


def decision_rows(lake: Lake, collection: str, judge: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Each label set's errors of decisions, by each assessor, with the randomised Tukey HSD."""
    measured = measured_label_sets(lake, collection, judge["measure"])
    names = [
        name for place, name in judge["label_sets"] if place == collection and name in measured
    ]
    for reference in assessors(lake, collection, judge) if names else ():
        for name in names:
            ours = read_board(lake, collection, name, judge["measure"], None)
            theirs = read_reference(lake, collection, reference, None, ours)
            systems = list(ours.systems)
            by_judge, by_people = (
                compare_pairs(each.of(systems), PERMUTATIONS, SEED) for each in (ours, theirs)
            )
            for one in decision_errors(by_judge, by_people, ALPHA, ["p_tukey"], seed=SEED):
                yield {
                    **{"collection": collection, "label_set": name, "reference": reference},
                    **{"error": one.error, "n_errors": one.n_errors, "n_pairs": one.n_pairs},
                    **{"share": rounded(one.share), "low": rounded(one.spread.low)},
                    "high": rounded(one.spread.high),
                }


def assessors(lake: Lake, collection: str, judge: dict[str, Any]) -> list[str]:
    """The label sets of people who judged what the judge labelled."""
    names = [name for place, name in judge["label_sets"] if place == collection]
    return lake.column(ASSESSORS, collection, names)
