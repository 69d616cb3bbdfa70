"""The rubric of a collection as the lake has it, with every edit of the file."""

from collections.abc import Sequence
from dataclasses import dataclass

from gradelake.ingest.rubric.items import RubricItem, Section, cleaned
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project, did_you_mean
from gradelake.sql.lake.lake import Lake

EDITS = (
    "select rubric_version, collection, bank, item_id, action, query_id, facet_id, kind, "
    "item_text, gold_answers, weight, new_item_id, editor, reason "
    "from rubric_edits"
)


@dataclass(frozen=True)
class AppliedEdit:
    """An edit as a build accepted it: what an item became. `new_item_id`: of a reword or add."""

    rubric_version: int
    collection: str
    bank: str
    item_id: str
    action: str
    query_id: str
    facet_id: str
    kind: str
    text: str
    gold_answers: tuple[str, ...]
    weight: float
    new_item_id: str | None
    editor: str
    reason: str

    @classmethod
    def of_row(cls, row: tuple) -> "AppliedEdit":
        *first, text, answers, weight, new_item_id, editor, reason = row
        last = [text or "", cleaned(answers or ()), weight, new_item_id, editor or "", reason or ""]
        return cls(*[*first, *last])


class Rubric:
    """All versions of a collection's rubric, of some queries or (None) of all."""

    def __init__(self, lake: Lake, collection: str, query_ids: Sequence[str] | None = None):
        """Raises `BadInput` when the collection has no rubric, or not these queries.

        `lake` is one of `open_up_to_date`.
        """
        self.collection = collection
        self.query_texts: dict[str, str] = dict(
            lake.rows(
                "select query_id, text from lake.raw.queries where collection = ?", collection
            )
        )
        for query_id in query_ids or ():
            if query_id not in self.query_texts:
                raise BadInput(
                    f"{collection} has no query {query_id!r}",
                    did_you_mean(query_id, self.query_texts),
                )
        known = lake.rows(
            "select distinct rubric_version, bank from lake.intermediate.int_rubric_items "
            "where collection = ?",
            collection,
        )
        if not known:
            raise BadInput(
                f"{collection} has no rubric",
                f"Bring one in: gradelake import bank {collection} FILE --name NAME",
            )
        self.banks = sorted({bank for _, bank in known})
        wanted = None if query_ids is None else list(query_ids)
        where = "where collection = $c and ($q::varchar[] is null or list_contains($q, query_id))"
        edits = lake.rows(f"{EDITS} {where} order by all", c=collection, q=wanted)
        self.edits = [AppliedEdit.of_row(row) for row in edits]
        rows = lake.rows(
            "select rubric_version, bank, query_id, facet_id, item_id, kind, item_text, "
            "gold_answers, weight, origin, origin_item_id "
            f"from rubric_items {where} "
            "order by rubric_version, query_id, bank, kind desc, facet_id, item_text, item_id",
            c=collection,
            q=wanted,
        )
        all_versions = {version for version, _ in known} | {
            version
            for (version,) in lake.rows(
                "select distinct rubric_version from lake.intermediate.int_rubric_edits "
                "where collection = ?",
                collection,
            )
        }
        self._items: dict[int, list[RubricItem]] = {version: [] for version in sorted(all_versions)}
        for version, *first, text, answers, weight, origin, origin_item_id in rows:
            last = [text or "", cleaned(answers or ()), weight, origin, origin_item_id]
            self._items[version].append(RubricItem(*[*first, *last]))

    @property
    def newest(self) -> int:
        return max(self._items)

    def check_version(self, version: int) -> None:
        """Raise `BadInput` unless there is this version."""
        if version not in self._items:
            known = ", ".join(map(str, self._items))
            raise BadInput(
                f"{self.collection} has no rubric version {version}",
                f"Known: {known}. A version is there when rubric_edits.csv has rows of it.",
            )

    def check_bank(self, bank: str) -> None:
        """Raise `BadInput` unless the rubric has this bank."""
        if bank not in self.banks:
            raise BadInput(
                f"{self.collection} has no bank {bank!r}", did_you_mean(bank, self.banks)
            )

    def items(self, version: int) -> list[RubricItem]:
        """The items in force, by query, bank, kind and text."""
        return self._items[version]

    def items_before(self, version: int) -> list[RubricItem]:
        """The items in force in the version before."""
        earlier = [number for number in self._items if number < version]
        return self._items[max(earlier)] if earlier else []

    def dropped(self, version: int) -> list[RubricItem]:
        """Items of earlier versions that are not in force, as they were when they last were."""
        here = {(i.query_id, i.bank, i.facet_id, i.item_id) for i in self._items[version]}
        last = {
            (i.query_id, i.bank, i.facet_id, i.item_id): i
            for earlier, items in self._items.items()
            if earlier < version
            for i in items
        }
        return [item for key, item in last.items() if key not in here]

    def section(self, version: int, query_id: str, bank: str) -> Section:
        """The items of a query in a bank; an id that several facets share stands there once."""

        def here(items: Sequence[RubricItem]) -> dict[str, RubricItem]:
            return {
                item.item_id: item
                for item in reversed(items)
                if (item.query_id, item.bank) == (query_id, bank)
            }

        in_force, dropped = here(self.items(version)), here(self.dropped(version))
        return Section(
            query_id,
            bank,
            tuple(reversed(in_force.values())),
            tuple(reversed([item for key, item in dropped.items() if key not in in_force])),
        )

    def sections(self, version: int, query_id: str, bank: str | None = None) -> list[Section]:
        """A query's sections: of this bank, else of each that knows it, else of all."""
        if bank is not None:
            self.check_bank(bank)
            return [self.section(version, query_id, bank)]
        every = [self.section(version, query_id, bank) for bank in self.banks]
        return [section for section in every if section.in_force or section.dropped] or every


def choose_collection(project: Project, lake: Lake, name: str | None) -> str:
    """The collection that is named, else the only one. Raises `BadInput`."""
    if name is not None:
        lake.require_collection(name)
        return name
    known = set(lake.column("select distinct collection from lake.raw.queries"))
    for candidates in (set(project.collections) & known, known):
        if len(candidates) == 1:
            return candidates.pop()
    if not known:
        raise BadInput("the lake has no collection yet", "Bring one in: gradelake ingest NAME")
    raise BadInput("which collection?", f"Add --collection, one of: {', '.join(sorted(known))}")
