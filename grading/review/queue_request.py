"""The check of a queue that somebody asks for, before its cards are chosen."""

from collections.abc import Sequence

from gradelake.grading.review.cards import Reviewable, choose_tau, find_grader
from gradelake.grading.review.queue_sources import OF_GRADES, OF_PAIRS, QueueRequest
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import check_name, require_known
from gradelake.sql.lake.opening import Lake


def request_for(
    lake: Lake,
    collection: str,
    queue: str,
    *,
    grader: str | None = None,
    label_set: str | None = None,
    source: str | None = None,
    tau: int | None = None,
    depth: int | None = None,
    label_names: Sequence[str] | None = None,
    size: int,
    overlap: int,
    assessors: Sequence[str],
    seed: int,
) -> QueueRequest:
    """A checked request. The default source is a sample of grades, or of a label set the pairs that
    narrow the estimate most.

    Raises `BadInput` unless either a grader or a label set is named, for one that the lake does not
    have, for a source or an option of the other kind, and for fewer people than each card wants.
    """
    if bool(grader) == bool(label_set):
        raise BadInput(
            "a queue is of a grader's grades, or of a label set's pairs to be judged",
            "Name either a grader (--grader) or a label set (--label-set).",
        )
    source = source or (OF_PAIRS[0] if label_set else OF_GRADES[0])
    what, sources = ("a label set", OF_PAIRS) if label_set else ("a grader", OF_GRADES)
    if source not in sources:
        raise BadInput(
            f"cards of {what} cannot be chosen from {source!r}", f"From: {', '.join(sources)}."
        )
    other: dict[str, object] = (
        {"tau": tau} if label_set else {"depth": depth, "names of labels": label_names}
    )
    if useless := [name for name, value in other.items() if value]:
        raise BadInput(f"{useless[0]} means nothing for cards of {what}", "Leave it out.")
    check_name(queue, "the queue's name")
    for name in assessors:
        check_name(name, "--assessor")
    if len(set(assessors)) != len(assessors):
        raise BadInput("an assessor is named twice", "Name each once.")
    if len(assessors) < overlap:
        raise BadInput(
            f"{overlap} people are to answer each card, and {len(assessors)} are named",
            "Name more of them, or ask for fewer people for each card.",
        )
    if label_set:
        reviewable = labels_of(lake, collection, label_set, label_names)
        tau = reviewable.relevant_from
        assert tau is not None
    else:
        assert grader
        reviewable = find_grader(lake, grader)
        tau = choose_tau(lake, reviewable, tau)
    return QueueRequest(
        collection, queue, reviewable, source, tau, size, overlap, assessors, seed, depth
    )


def labels_of(
    lake: Lake, collection: str, label_set: str, names: Sequence[str] | None = None
) -> Reviewable:
    """A label set as what judgments are compared with, on the collection's scale, from 0 on.
    Raises `BadInput` for one that there is not, and for more or fewer names than the scale has."""
    known = lake.column(
        "select label_set from lake.intermediate.int_label_sets where collection = ?", collection
    )
    require_known(label_set, known, f"{collection} has no label set {label_set!r}")
    ((lowest, top),) = lake.rows(
        "select min_relevant, max_relevance from lake.raw.collections where collection = ?",
        collection,
    )
    if names and len(names) != top + 1:
        raise BadInput(
            f"{len(names)} labels are named, and {collection} has those from 0 to {top}",
            "Name each of them, the lowest first.",
        )
    return Reviewable(label_set, "", "pair", False, 0, top, tuple(names or ()), lowest)
