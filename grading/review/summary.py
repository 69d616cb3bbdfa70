"""What came of a review: this sitting, and how far the assessor agrees with the grader by now."""

from dataclasses import dataclass
from typing import Any

from gradelake.grading.review.session import Session
from gradelake.sql.common import console


@dataclass(frozen=True)
class Summary:
    """This sitting's counts, and the assessor's rows of `review_agreement`, as of now."""

    collection: str
    grader: str
    assessor: str
    tau: int
    agreed_now: int
    disagreed_now: int
    skipped_now: int
    not_reviewed: int
    agreement: dict[str, Any] | None
    agreement_blind: dict[str, Any] | None


def summarize(session: Session) -> Summary:
    """The summary of a session that has ended."""
    assignment, deck = session.verdicts.assignment, session.deck
    found = session.verdicts.lake.objects(
        "select * from lake.marts.review_agreement "
        "where collection = ? and grader = ? and assessor = ? and tau = ? order by reveal",
        assignment.collection,
        assignment.grader.name,
        assignment.assessor,
        assignment.tau,
    )
    n_first = sum(
        1 for at, review in session.reviews.items() if review and not deck.cards[at].before
    )
    return Summary(
        assignment.collection,
        assignment.grader.name,
        assignment.assessor,
        assignment.tau,
        agreed_now=session.count("agree"),
        disagreed_now=session.count("disagree"),
        skipped_now=session.count(None),
        not_reviewed=deck.n_left - n_first,
        agreement=found[0] if found else None,
        agreement_blind=found[1] if len(found) > 1 else None,
    )


def print_summary(made: Summary) -> None:
    """Print a summary for people."""
    skipped = f", {made.skipped_now:,} skipped" if made.skipped_now else ""
    console.say(
        f"reviewed {made.agreed_now + made.disagreed_now:,} now: {made.agreed_now:,} agreed with, "
        f"{made.disagreed_now:,} not{skipped}; {made.not_reviewed:,} left"
    )
    found = made.agreement
    if found is None:
        return
    console.say(
        f"{made.assessor} on {made.grader}, {made.collection}: "
        f"{found['n_reviewed']:,} reviewed, {found['n_agreed']:,} agreed with "
        f"({found['share_agreed']:.0%})"
    )
    for when, found in (("before", made.agreement_blind), ("after", made.agreement)):
        if found:
            console.say(_answered(made.tau, found, when if made.agreement_blind else None))


def _answered(tau: int, found: dict[str, Any], when: str | None) -> str:
    shown = [
        f"{name} {found[name]:.3f}"
        for name in ("kappa", "precision", "recall")
        if found[name] is not None
    ]
    if found["kappa"] is None:
        shown.insert(0, "kappa undefined (one of two answers only)")
    seen = f", {when} the grader's was shown" if when else ""
    return (
        f"answered from grade {tau} on, over {found['n_graded']:,} with a grade of both"
        f"{seen}: {', '.join(shown)}"
    )
