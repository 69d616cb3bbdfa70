"""Both roads to a collection are one: everything is read as an ir_datasets dataset.

A local collection is registered with ir_datasets as `gradelake/COLLECTION` (and its judgments as
`gradelake/COLLECTION/ASSESSOR`) through handlers that read its files strictly, so that
`ir_datasets.load` in the same process gives the topics, passages and qrels that the lake holds.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from gradelake.ingest.collections import dataset_home  # noqa: F401  (comes before ir_datasets)

# isort: split
import ir_datasets
from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, TrecQrel
from ir_datasets.indices import DEFAULT_DOCSTORE_OPTIONS, Docstore

from gradelake.ingest.collections import texts, trec
from gradelake.ingest.collections.collection import Collection
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Rejected, reject


class LocalQueries(BaseQueries):
    """Topics of a local file."""

    def __init__(self, file: Path, shown: str):
        self._file, self._shown = file, shown

    def queries_iter(self) -> Iterator[texts.Query]:
        yield from texts.read_queries(self._file, self._shown)

    def queries_cls(self) -> type:
        return texts.Query

    def queries_namespace(self) -> str:
        return f"gradelake/{self._collection.name}"

    def queries_lang(self) -> None:
        return None


class LocalDocs(BaseDocs):
    """Passages of a local file."""

    def __init__(self, file: Path, shown: str):
        self._file, self._shown = file, shown

    def docs_iter(self) -> Iterator[texts.Passage]:
        yield from texts.read_passages(self._file, self._shown)

    def docs_cls(self) -> type:
        return texts.Passage

    def docs_store(self, field: str = "doc_id", options: Any = DEFAULT_DOCSTORE_OPTIONS) -> Any:
        return _InMemory(self.docs_iter())

    def docs_count(self) -> int:
        return sum(1 for _ in self.docs_iter())

    def docs_namespace(self) -> str:
        return f"gradelake/{self._collection.name}"

    def docs_lang(self) -> None:
        return None


class _InMemory(Docstore):
    def __init__(self, docs: Iterable[texts.Passage]):
        super().__init__(texts.Passage)
        self._docs = {doc.doc_id: doc for doc in docs}

    def get_many_iter(self, doc_ids: Iterable[str]) -> Iterator[texts.Passage]:
        return (self._docs[doc_id] for doc_id in doc_ids if doc_id in self._docs)


class LocalQrels(BaseQrels):
    """One assessor's judgments in a local file."""

    def __init__(self, collection: Collection, assessor: str):
        self._collection = collection
        self._assessor = assessor

    def qrels_iter(self) -> Iterator[TrecQrel]:
        shown = self._collection.judgments[self._assessor]
        frame, _ = trec.read_qrels(self._collection.path(shown), shown)
        for query_id, passage_id, relevance in frame.drop("line").iter_rows():
            yield TrecQrel(query_id, passage_id, relevance, "0")

    def qrels_cls(self) -> type:
        return TrecQrel

    def qrels_defs(self) -> dict[int, str]:
        return {}


def register(collection: Collection) -> str:
    """Register a local collection with ir_datasets, anew each time. Returns its dataset id."""
    base = f"gradelake/{collection.name}"
    parts = {base: _local_texts(collection)}
    for assessor in collection.judgments:
        parts[f"{base}/{assessor}"] = [*parts[base], LocalQrels(collection, assessor)]
    for dataset_id, handlers in parts.items():
        ir_datasets.registry._registered.pop(dataset_id, None)  # the registry has no replace
        ir_datasets.registry.register(dataset_id, ir_datasets.Dataset(*handlers))
    return base


def _local_texts(collection: Collection) -> list[Any]:
    """Handlers of the topics and passages that are local files."""
    path, topics, passages = collection.path, collection.queries, collection.passages
    queries = [LocalQueries(path(topics), topics)] if topics else []
    docs = [LocalDocs(path(passages), passages)] if passages else []
    return queries + docs


def load(collection: Collection) -> ir_datasets.Dataset:
    """The collection's dataset: the registered local one, or the named one, in which local topics
    and passages take the place of its own.

    Raises `BadInput` for an id that ir_datasets does not know.
    """
    dataset_id = collection.ir_dataset
    if not dataset_id:
        return ir_datasets.load(register(collection))
    try:
        return ir_datasets.Dataset(*_local_texts(collection), ir_datasets.load(dataset_id))
    except KeyError as error:
        raise BadInput(
            f"ir_datasets knows no dataset {dataset_id!r}",
            "See https://ir-datasets.com for the ids.",
        ) from error


def read(dataset_id: str, what: str, records: Callable[[], Iterable[Any]]) -> list[Any]:
    """All records that ir_datasets hands out, turning a failed download into a rejection."""
    try:
        return list(records())
    except Rejected:
        raise
    except Exception as error:  # ir_datasets raises whatever its download or parser raised
        raise reject(
            f"ir_datasets {dataset_id}",
            None,
            f"its {what} cannot be read: {_innermost(error)}",
            "Check the network, or put the files in $IR_DATASETS_HOME as its manual says.",
        ) from error


def query_text(query: Any) -> texts.Query:
    """Any dataset's query as ours: default text, description and narrative where it has them."""
    if isinstance(query, texts.Query):
        return query
    return texts.Query(
        query.query_id,
        query.default_text(),
        getattr(query, "description", None) or None,
        getattr(query, "narrative", None) or None,
    )


def _innermost(error: BaseException) -> str:
    while inner := error.__cause__ or error.__context__:
        error = inner
    return f"{type(error).__name__}: {error}".splitlines()[0]
