"""The topic that a row of a log asks: found by its id or its text, or new.

A question with turns before it is another topic than the question alone, and the user's turns tell
which: what the versions of a system answered on the way may differ.
"""

import re

from gradelake.ingest.collections.targets import Targets
from gradelake.ingest.collections.texts import query_id_of
from gradelake.ingest.rag.brought import Brought
from gradelake.ingest.rag.log import Row
from gradelake.ingest.rag.turns import as_narrative
from gradelake.sql.common.errors import BadInput

_TOPICS = "select query_id, text, narrative from lake.raw.queries where collection = ?"


class Topics:
    """The topics of a collection that logs ask. Where gradelake.toml names its topics, logs bring
    none (`are_named`), and what was said before is not looked at."""

    def __init__(self, into: Targets, brought: Brought):
        """Raises `BadInput` where gradelake.toml names topics that are not in the lake yet."""
        self.into, self.brought = into, brought
        self.are_named = into.collection.names_topics
        self.texts: dict[str, str] = {}  # query -> its text
        self.narratives: dict[str, str | None] = {}  # of topics that logs brought
        self.by_text: dict[str, set[str]] = {}
        for query_id, text, narrative in into.transaction.lake.rows(_TOPICS, into.name):
            self.texts[query_id] = _same(text)
            narrative = None if self.are_named else narrative
            self.narratives[query_id] = narrative
            if not narrative:
                self.by_text.setdefault(_same(text), set()).add(query_id)
        if self.are_named and not self.texts:
            fix = f"Bring them in first: gradelake ingest {into.name}"
            raise BadInput(f"the topics of {into.name} are not in the lake yet", fix)

    def of(self, row: Row) -> str | None:
        """The topic of a row. None: it is none, and left out. Raises `ValueError` where that cannot
        be told."""
        if row.before and not self.are_named:
            return self._of_conversation(row)
        found = self.by_text.setdefault(_same(row.question), set())
        if row.query_id in self.texts or (not row.query_id and len(found) == 1):
            if row.query_id and not (self.are_named or row.query_id in found):
                raise ValueError(f"query {row.query_id!r} has another question in the lake")
            return row.query_id or next(iter(found))
        if found and not row.query_id:
            raise ValueError("several topics have this question: say which, in a column query_id")
        if self.are_named:
            if self.into.collection.unknown_queries == "leave out":
                return None
            raise ValueError(f"no topic of {self.into.name} is {row.query_id or row.question!r}")
        query_id = self._new(row, row.query_id or query_id_of(_same(row.question)))
        found.add(query_id)
        return query_id

    def _of_conversation(self, row: Row) -> str:
        """The topic of a question that was asked after others."""
        said = [text for who, text in row.before if who == "user"]
        made = query_id_of("\n".join([_same(row.question), *map(_same, said)]))
        query_id = row.query_id or made
        if query_id not in self.texts:
            return self._new(row, query_id)
        if self.texts[query_id] != _same(row.question):
            raise ValueError(f"query {query_id!r} has another question in the lake")
        if self.narratives[query_id] != as_narrative(row.before):
            self.brought.counts["have other answers before; those of the first log are kept"] += 1
        return query_id

    def _new(self, row: Row, query_id: str) -> str:
        if re.search(r"\s", query_id):
            raise ValueError(f"the query's id {query_id!r} has a space in it")
        narrative = as_narrative(row.before)
        self.brought.topics[query_id] = (row.question, narrative)
        self.texts[query_id], self.narratives[query_id] = _same(row.question), narrative
        self.into.query_ids.add(query_id)
        return query_id


def _same(question: str) -> str:
    """What two questions have in common that are the same."""
    return " ".join(question.split())
