"""What tables, pictures and the report are of: label sets, references, levels, official ranks."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gradelake.analyses.qrels_export import label_sets, require_label_set
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import did_you_mean
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.kinds import shown

_PERSON = "assessor:"
LEVELLED = "binary", "rubric"  # kinds of measures whose scores differ by relevance level
LONG = 12  # a scale of as many labels, or more, shows those that occur


@dataclass(frozen=True)
class Completeness:
    """How much of what people judged a label set labels; None where nobody judged. Of one that
    scores answers, by their nuggets or citations: how much of what is asked has a grade. `panel`:
    of an assessor beside whom others judged, the row of seeds/panels.csv that makes them one."""

    labelled_share: float | None = None
    is_incomplete: bool | None = None
    is_of_answers: bool = False
    panel: str = ""

    @property
    def mark(self) -> str:
        """What stands behind the name of an incomplete label set."""
        return " (incomplete)" if self.is_incomplete else ""

    @property
    def says(self) -> str:
        """How complete the labels are, as the end of a sentence."""
        if not self.is_incomplete or self.labelled_share is None:
            return ""
        share = shown("percent", self.labelled_share)
        if self.is_of_answers:
            return f"incomplete: {share} of what is asked about answers has a grade"
        said = f"incomplete: it labels {share} of the pairs that people judged"
        return f"{said} ({self.panel} in seeds/panels.csv makes them one)" if self.panel else said

    def as_object(self) -> dict[str, Any]:
        return {"labelled_share": self.labelled_share, "is_incomplete": self.is_incomplete}


def completeness(lake: Lake, collection: str) -> dict[str, Completeness]:
    """label set -> how complete it is, from the mart `label_completeness`."""
    found: dict[str, Completeness] = defaultdict(Completeness)
    rows = lake.rows(
        "select label_set, reference, labelled_share, is_incomplete "
        "from lake.marts.label_completeness where collection = ?",
        collection,
    )
    names = [name for name, *_ in rows]
    people = sorted(name[len(_PERSON) :] for name in names if name.startswith(_PERSON))
    are_one = any(name.startswith("panel:") for name in names)
    for label_set, reference, share, is_incomplete in rows:
        # where nobody judged there is neither
        of_answers = reference is None and share is not None
        in_part = is_incomplete and label_set.startswith(_PERSON) and not are_one
        row = f"{collection},people,majority,{' '.join(people)}"
        panel = row if in_part and len(people) > 1 else ""
        found[label_set] = Completeness(share, is_incomplete, of_answers, panel)
    return found


def cut_systems(lake: Lake, collection: str) -> list[str]:
    """Systems whose rankings came with graded passages, and hold no others."""
    return lake.column(
        "select system from lake.raw.systems "
        "where collection = ? and cut_at is not null order by system",
        collection,
    )


def min_relevant(lake: Lake, collection: str) -> int:
    """Judgments at or above it count as relevant."""
    return lake.value(
        "select min_relevant from lake.raw.collections where collection = ?", collection
    )


def measures(lake: Lake) -> dict[str, str]:
    """measure -> its family's kind (see int_measure_families), in the order of tables."""
    return dict(lake.rows("select measure, kind from lake.marts.measures order by place"))


def at_level(lake: Lake, measure: str, level: int) -> str:
    """What stands behind a measure, or whose labels it is by; labels are gains, whatever the level,
    in measures of other kinds."""
    return f" (\u2265 {level})" if measures(lake)[measure] in LEVELLED else ""


def highest_labels(lake: Lake, collection: str) -> dict[str, int]:
    """label set -> end of its scale, or its highest label where that is higher."""
    query = """
        select labels.label_set, greatest(max(labels.label), any_value(sets.max_label), 1)
        from lake.marts.relevance_labels as labels
        inner join lake.marts.label_sets as sets using (collection, label_set)
        where collection = ?
        group by all
    """
    return dict(lake.rows(query, collection))


def reference_of(lake: Lake, collection: str, reference: str | None) -> str:
    """The reference that was asked for, or the collection's only assessor. Raises `BadInput`."""
    known = label_sets(lake, collection)
    if reference is None:
        assessors = [name for name in known if name.startswith("assessor:")]
        if len(assessors) != 1:
            raise BadInput(
                f"{collection} has {len(assessors) or 'no'} assessors; compare with which labels?",
                f"Say --reference NAME: {', '.join(assessors or known)}.",
            )
        return assessors[0]
    require_label_set(lake, collection, reference)
    return reference


def require_board(lake: Lake, collection: str, label_set: str) -> None:
    """Raise `BadInput` for what neither labels passages nor scores answers or systems."""
    if not lake.value(
        "select count(*) from lake.marts.leaderboard where collection = ? and label_set = ?",
        collection,
        label_set,
    ):
        require_scored(lake, collection, label_set)


def is_imported(label_set: str) -> bool:
    """Whether its scores were computed elsewhere: they know no level."""
    return label_set.startswith("scores:")


def require_scored(lake: Lake, collection: str, label_set: str) -> None:
    """Raise `BadInput` for what is neither a label set nor a board that was computed elsewhere."""
    if is_imported(label_set):
        known = lake.column(
            "select distinct label_set from lake.marts.imported_scores where collection = $1 "
            "union select label_set from lake.marts.label_sets "
            "where collection = $1 and kind = 'scores'",
            collection,
        )
        if label_set not in known:
            raise BadInput(
                f"{collection!r} has no board {label_set!r}",
                did_you_mean(label_set, known) if known else "See `gradelake import scores`.",
            )
    else:
        require_label_set(lake, collection, label_set)


def only_label_set(lake: Lake, collection: str) -> str:
    """The collection's only label set. Raises `BadInput` where there are others."""
    label_set, *others = known = label_sets(lake, collection)
    if others:
        raise BadInput(
            f"{collection} has {len(known)} label sets; which one?",
            f"Say --label-set NAME: {', '.join(known)}.",
        )
    return label_set


def compared_with(
    lake: Lake, collection: str, reference: str, wanted: tuple[str, ...]
) -> list[str]:
    """The label sets asked for, or all, that share labelled pairs with the reference.

    Raises `BadInput` for an unknown one, and when there is no such pair.
    """
    for name in wanted:
        require_label_set(lake, collection, name)
    compared = lake.column(
        "select distinct label_set from lake.marts.confusion where collection = ? "
        "and reference = ? and not is_sampled order by all",
        collection,
        reference,
    )
    for name in wanted:
        if name not in compared:
            raise BadInput(
                f"{name!r} is not compared with {reference!r}",
                "Label sets are compared on passages that have both labels; those of older rubric "
                "versions only with assessors. "
                + (f"Compared are: {', '.join(compared)}." if compared else ""),
            )
    if not compared:
        raise BadInput(f"nothing is compared with {reference!r}", "No passage has a label of both.")
    return list(dict.fromkeys(wanted)) or compared


def read_confusions(
    lake: Lake, collection: str, reference: str
) -> dict[str, dict[tuple[int, int], int]]:
    """label set -> (label, judgment) -> pairs that have both, from the mart `confusion`; below 0
    counts as 0."""
    found: dict[str, dict[tuple[int, int], int]] = {}
    for label_set, label, judgment, n in lake.rows(
        """
        select label_set, greatest(label, 0), greatest(judgment, 0), sum(n)::bigint
        from lake.marts.confusion
        where collection = ? and reference = ? and not is_sampled
        group by all
        """,
        collection,
        reference,
    ):
        found.setdefault(label_set, {})[label, judgment] = n
    return found


def shown_labels(highest: int, occurring: Iterable[int]) -> list[int]:
    """The labels of a scale that tables and pictures show, in ascending order."""
    return list(range(highest + 1)) if highest + 1 < LONG else sorted(set(occurring))


def official_ranks(lake: Lake, collection: str) -> dict[str, dict[str, float]]:
    """official leaderboard -> system -> rank, both in order of their names."""
    found: dict[str, dict[str, float]] = {}
    for leaderboard, system, rank in lake.rows(
        "select leaderboard, system, rank from lake.raw.official_ranks where collection = ? "
        "order by all",
        collection,
    ):
        found.setdefault(leaderboard, {})[system] = rank
    return found
