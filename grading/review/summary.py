"""What came of a review: this sitting, and how far the assessor agrees with the grader by now."""

from typing import Any

from gradelake.grading.review.session import Session
from gradelake.sql.common import console


def summary(session: Session) -> dict[str, Any]:
    """This sitting's counts, and the assessor's row of `review_agreement`, as of now."""
    wish, deck = session.verdicts.wish, session.deck
    found = session.verdicts.lake.objects(
        "select * from lake.marts.review_agreement "
        "where collection = ? and grader = ? and assessor = ? and tau = ? order by reveal",
        wish.collection,
        wish.grader.name,
        wish.assessor,
        wish.tau,
    )
    first_verdicts = sum(
        1 for at, said in session.said.items() if said and not deck.cards[at].before
    )
    return {
        "collection": wish.collection,
        "grader": wish.grader.name,
        "assessor": wish.assessor,
        "tau": wish.tau,
        "agreed_now": session.count("agree"),
        "disagreed_now": session.count("disagree"),
        "skipped_now": session.count(None),
        "not_reviewed": deck.n_left - first_verdicts,
        "agreement": found[0] if found else None,
        "agreement_blind": found[1] if len(found) > 1 else None,
    }


def print_summary(made: dict[str, Any]) -> None:
    """The same for people."""
    agreed, disagreed = made["agreed_now"], made["disagreed_now"]
    skipped = f", {made['skipped_now']:,} skipped" if made["skipped_now"] else ""
    console.say(
        f"reviewed {agreed + disagreed:,} now: {agreed:,} agreed with, {disagreed:,} not{skipped}; "
        f"{made['not_reviewed']:,} left"
    )
    found = made["agreement"]
    if found is None:
        return
    console.say(
        f"{made['assessor']} on {made['grader']}, {made['collection']}: "
        f"{found['n_reviewed']:,} reviewed, {found['n_agreed']:,} agreed with "
        f"({found['share_agreed']:.0%})"
    )
    for when, found in (("before", made["agreement_blind"]), ("after", made["agreement"])):
        if found:
            console.say(_answered(made, found, when if made["agreement_blind"] else None))


def _answered(made: dict[str, Any], found: dict[str, Any], when: str | None) -> str:
    shown = [
        f"{name} {found[name]:.3f}"
        for name in ("kappa", "precision", "recall")
        if found[name] is not None
    ]
    if found["kappa"] is None:
        shown.insert(0, "kappa undefined (one of two answers only)")
    seen = f", {when} the grader's was shown" if when else ""
    return (
        f"answered from grade {made['tau']} on, over {found['n_graded']:,} with a grade of both"
        f"{seen}: {', '.join(shown)}"
    )
