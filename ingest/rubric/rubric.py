"""The rubric of a collection as the lake has it, with every edit of the file."""

from collections.abc import Sequence
from typing import NamedTuple

from gradelake.ingest.rubric.items import RubricItem, Section, cleaned
from gradelake.sql.common.errors import BadInput, NotThere
from gradelake.sql.common.project import TO_BANK, Project, did_you_mean, require_known
from gradelake.sql.lake.opening import Lake

STATES = """
    select
        rubric_version, bank, query_id, facet_id, item_id, kind, item_text, gold_answers, weight,
        origin, origin_item_id, is_in_force, action, previous_item_id
    from rubric_states
    where collection = ?
    order by
        rubric_version, query_id, bank, kind desc, facet_id, place nulls last, item_text, item_id
"""
# those of topics, and those that banks alone name
FACETS = """
    select query_id, facet_id, max(text) as text
    from (
        select query_id, facet_id, text from lake.raw.facets where collection = ?
        union all
        select query_id, facet_id, '' from lake.raw.rubric_items
        where collection = ? and facet_id <> ''
    )
    group by all
    order by all
"""
REMOVALS = """
    select rubric_version, bank, item_id, action, coalesce(editor, ''), coalesce(reason, '')
    from rubric_edits
    where collection = ? and action in ('drop', 'reword')
    order by rubric_version, action
"""


class Removal(NamedTuple):
    """An edit that took an item out of the rubric."""

    rubric_version: int
    bank: str
    item_id: str
    action: str
    editor: str
    reason: str


class Rubric:
    """All versions of a collection's rubric, of some queries or (None) of all."""

    def __init__(self, lake: Lake, collection: str, query_ids: Sequence[str] | None = None):
        """Raises `BadInput` when the collection has no rubric, or not these queries.

        `lake` is one of `open_up_to_date`.
        """
        self.collection = collection
        self.query_texts = lake.query_texts(collection)
        for query_id in query_ids or ():
            missing = f"{collection} has no query {query_id!r}"
            require_known(query_id, self.query_texts, missing, NotThere)
        self.facets: dict[str, dict[str, str]] = {}  # query -> facet id -> text
        for query_id, facet_id, text in lake.rows(FACETS, collection, collection):
            self.facets.setdefault(query_id, {})[facet_id] = text
        states = lake.rows(STATES, collection)
        if not states:
            raise BadInput(
                f"{collection} has no rubric",
                f"Bring one in: gradelake import bank {collection} FILE --name NAME",
            )
        self.banks = sorted({bank for _, bank, *_ in states})
        self.removals = [Removal(*row) for row in lake.rows(REMOVALS, collection)]
        self._states: dict[int, list[RubricItem]] = {}
        for version, bank, query_id, facet_id, item_id, kind, text, answers, *rest in states:
            here = self._states.setdefault(version, [])
            if query_ids is None or query_id in query_ids:
                own = (text or "", cleaned(answers or ()))
                here.append(RubricItem(bank, query_id, facet_id, item_id, kind, *own, *rest))

    @property
    def newest(self) -> int:
        return max(self._states)

    def check_version(self, version: int) -> None:
        """Raise `BadInput` unless there is this version."""
        if version not in self._states:
            known = ", ".join(map(str, self._states))
            raise BadInput(
                f"{self.collection} has no rubric version {version}",
                f"Known: {known}. A version is there when rubric_edits.csv has rows of it.",
            )

    def items(self, version: int) -> list[RubricItem]:
        """The items in force, by query, bank, kind and text."""
        return [item for item in self._states[version] if item.is_in_force]

    def dropped(self, version: int) -> list[RubricItem]:
        """Items of earlier versions that are not in force, as they were when they last were."""
        return [item for item in self._states[version] if not item.is_in_force]

    def before(self, item: RubricItem, version: int) -> RubricItem | None:
        """What an item was in the version before, perhaps with another text."""
        earlier = max((number for number in self._states if number < version), default=version)
        item_id = item.previous_item_id or item.item_id
        same = (item.query_id, item.bank, item.facet_id, item_id)
        return next((i for i in self._states[earlier] if i.key == same), None)

    def section(self, version: int, query_id: str, bank: str) -> Section:
        """The items of a query in a bank; an id that several facets share is there once."""

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
            self.facets.get(query_id, {}),
        )

    def sections(self, version: int, query_id: str, bank: str | None = None) -> list[Section]:
        """A query's sections: of this bank, else of each that knows it, else of all.

        Raises `BadInput` for a bank that the rubric does not have.
        """
        if bank is not None:
            require_known(
                bank, self.banks, f"{self.collection} has no bank {bank!r}", none_yet=TO_BANK
            )
            return [self.section(version, query_id, bank)]
        every = [self.section(version, query_id, bank) for bank in self.banks]
        return [section for section in every if section.in_force or section.dropped] or every


def choose_collection(
    project: Project, lake: Lake, name: str | None, query_ids: Sequence[str] | None = None
) -> str:
    """The collection that is named, else the only one, or the only one that has such queries.

    Raises `BadInput`.
    """
    if name is not None:
        lake.require_collection(name)
        return name
    known = set(lake.column("select distinct collection from lake.raw.queries"))
    having = "select distinct collection from lake.raw.queries where list_contains(?, query_id)"
    asked = set(lake.column(having, list(query_ids or ())))
    described = set(project.collections)
    for candidates in (known & described, known, asked & described, asked):
        if len(candidates) == 1:
            return candidates.pop()
    if nothing := lake.nothing_ingested():
        raise nothing
    if query_ids and not asked:
        queries = lake.column("select distinct query_id from lake.raw.queries")
        raise BadInput(
            f"no collection has the query {query_ids[0]!r}", did_you_mean(query_ids[0], queries)
        )
    raise BadInput("which collection?", f"Add --collection, one of: {', '.join(sorted(known))}")
