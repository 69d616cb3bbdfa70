"""The check of a queue that somebody asks for, before its cards are chosen."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradelake.grading.plan.planner import check_queries
from gradelake.grading.review.cards import Reviewable, choose_tau, find_grader
from gradelake.grading.review.queue_sources import MOST, OF_GRADES, OF_PAIRS, POOL, QueueRequest
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import TO_LABEL, check_name, require_known
from gradelake.sql.lake.opening import Lake

_USUAL, _ALL = 60, 1 << 31  # cards, unless somebody says how many


def request_for(
    lake: Lake, collection: str, queue: str, size: int | None, seed: int, **options: Any
) -> QueueRequest:
    """A checked request. The default source is a sample of grades, or of a label set the pairs that
    narrow the estimate most. Raises the first `BadInput` of `faults_of`, which takes the options.
    """
    for _, error in faults_of(lake, collection, queue, size=size, **options):
        raise error
    tau: int | None
    if options["source"] == POOL:
        options["label_set"] = POOL
    if options["label_set"]:
        reviewable = labels_of(lake, collection, options["label_set"], options["label_names"])
        tau = reviewable.relevant_from
    else:
        reviewable = find_grader(lake, options["grader"])
        tau = choose_tau(lake, reviewable, options["tau"])
    assert tau is not None
    source = options["source"] or _sources(options["label_set"])[0]
    size = size or (_ALL if source == POOL else _USUAL)
    about = (options["overlap"], options["assessors"], seed, options["depth"], options["queries"])
    return QueueRequest(collection, queue, reviewable, source, tau, size, *about)


def faults_of(
    lake: Lake,
    collection: str,
    queue: str,
    *,
    grader: str | None = None,
    label_set: str | None = None,
    source: str | None = None,
    size: int | None = None,
    tau: int | None = None,
    depth: int | None = None,
    label_names: Sequence[str] | None = None,
    queries: Sequence[str] | None = None,
    overlap: int | None,
    assessors: Sequence[str],
) -> Iterator[tuple[str, BadInput]]:
    """Everything that is wrong with a request, after the option that it is about: not either a
    grader or a label set, one that the lake does not have, a source or an option of the other kind,
    fewer people than each card wants."""
    of_pool = source == POOL
    what = "the pool" if of_pool else "a label set" if label_set else "a grader"
    if of_pool and (grader or label_set):
        message = "a queue of the pool is of no grader and no label set"
        yield "grader", BadInput(message, "Leave it out, or choose from something else.")
    elif not of_pool and bool(grader) == bool(label_set):
        message = "a queue is of a grader's grades, or of a label set's pairs to be judged"
        hint = "Name either a grader (--grader) or a label set (--label-set)."
        yield "grader", BadInput(message, hint)
    if not of_pool and size and size > MOST:
        yield "size", BadInput(f"{size:,} cards are too many", f"Ask for {MOST:,} at most.")
    if not of_pool and source and source not in (sources := _sources(label_set)):
        message = f"cards of {what} cannot be chosen from {source!r}"
        yield "source", BadInput(message, f"From: {', '.join(sources)}.")
    stated = {"tau": tau, "depth": depth, "label_names": label_names, "queries": queries}
    for option in _UNFIT[what]:
        if stated[option]:
            name = "names of labels" if option == "label_names" else option
            yield option, BadInput(f"{name} means nothing for cards of {what}", "Leave it out.")
    yield from _caught("queue", check_name, queue, "the queue's name")
    for name in assessors:
        yield from _caught("assessors", check_name, name, "--assessor")
    if grader:
        yield from _caught("grader", find_grader, lake, grader)
        if tau:
            yield from _caught("tau", lambda: choose_tau(lake, find_grader(lake, grader), tau))
    elif named := label_set or (POOL if of_pool else None):
        yield from _caught("label_set", labels_of, lake, collection, named)
        if label_names:
            yield from _caught("label_names", labels_of, lake, collection, named, label_names)
    if queries:
        yield from _caught("queries", check_queries, lake, collection, tuple(queries))
    yield from _faults_of_people(assessors, overlap)


# of what -> the options that are for other queues
_UNFIT = {
    "the pool": ("tau",),
    "a label set": ("tau", "queries"),
    "a grader": ("depth", "label_names", "queries"),
}


def _caught(
    option: str, check: Callable[..., Any], *arguments: Any
) -> Iterator[tuple[str, BadInput]]:
    try:
        check(*arguments)
    except BadInput as error:
        yield option, error


def _faults_of_people(
    assessors: Sequence[str], overlap: int | None
) -> Iterator[tuple[str, BadInput]]:
    if len(set(assessors)) != len(assessors):
        yield "assessors", BadInput("an assessor is named twice", "Name each once.")
    if overlap is not None and len(assessors) < overlap:
        message = f"You asked for {overlap} reviewers per card but selected {len(assessors)}"
        hint = "Select more of them, or ask for fewer reviewers per card."
        yield "assessors", BadInput(message, hint)


def _sources(label_set: str | None) -> tuple[str, ...]:
    return OF_PAIRS if label_set else OF_GRADES


def labels_of(
    lake: Lake, collection: str, label_set: str, names: Sequence[str] | None = None
) -> Reviewable:
    """A label set, or the pool, as what judgments are beside, on the collection's scale, from 0 on.
    Raises `BadInput` for one that there is not, and for more or fewer names than the scale has."""
    known = lake.column(
        "select label_set from lake.marts.label_sets where collection = ?", collection
    )
    if label_set != POOL:
        missing = f"{collection} has no label set {label_set!r}"
        require_known(label_set, known, missing, none_yet=TO_LABEL)
    lowest, top = lake.relevance(collection)
    if names and len(names) != top + 1:
        raise BadInput(
            f"{len(names)} labels are named, and {collection} has those from 0 to {top}",
            "Name each of them, the lowest first.",
        )
    return Reviewable(label_set, "", "pair", False, 0, top, tuple(names or ()), lowest)
