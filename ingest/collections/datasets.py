"""Topics and passages are read as an ir_datasets dataset, those of local files too."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from gradelake.ingest.collections import texts
from gradelake.ingest.collections.collection import Collection
from gradelake.sql.common import console
from gradelake.sql.common.problems import Rejected, reject


class LocalQueries:
    """Topics of a local file, with what ir_datasets' `BaseQueries` has of use here."""

    def __init__(self, file: Path, shown: str):
        self._file, self._shown = file, shown

    def queries_handler(self) -> "LocalQueries":
        return self

    def queries_iter(self) -> Iterator[texts.Query]:
        yield from texts.read_queries(self._file, self._shown)


class LocalDocs:
    """Passages of a local file, as `BaseDocs`; how far their reading is is shown."""

    def __init__(self, file: Path, shown: str):
        self._file, self._shown = file, shown

    def docs_handler(self) -> "LocalDocs":
        return self

    def docs_iter(self) -> Iterator[texts.Passage]:
        yield from texts.read_passages(self._file, self._shown, console.progress)

    def docs_store(self) -> "LocalDocs":
        return self

    def get_many_iter(self, doc_ids: Iterable[str]) -> Iterator[texts.Passage]:
        wanted = set(doc_ids)
        return (doc for doc in self.docs_iter() if doc.doc_id in wanted)


class LocalDataset:
    """Local files alone, as a `Dataset`: without ir_datasets, which takes a while to import."""

    def __init__(self, queries: LocalQueries | None, docs: LocalDocs | None):
        self._queries, self._docs = queries, docs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queries if name.startswith("queries_") else self._docs, name)

    def has_queries(self) -> bool:
        return self._queries is not None

    def has_docs(self) -> bool:
        return self._docs is not None


def load(collection: Collection) -> Any:
    """The collection's dataset: the named one, in which local topics and passages take the place
    of its own; or these alone.

    Raises `BadInput` for an id that ir_datasets does not know, and where what registers it fails.
    """
    path, topics, passages = collection.path, collection.queries, collection.passages
    queries = LocalQueries(path(topics), topics) if topics else None
    docs = LocalDocs(path(passages), passages) if passages else None
    if not collection.ir_dataset:
        return LocalDataset(queries, docs)
    from gradelake.ingest.collections.named_dataset import load_named

    return load_named(collection, queries, docs)


def read(dataset_id: str, what: str, records: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """All records that ir_datasets hands out, turning a failed download into a rejection."""
    try:
        yield from records()
    except (Rejected, MemoryError):
        raise
    except Exception as error:  # ir_datasets raises whatever its download or parser raised
        raise reject(
            f"ir_datasets {dataset_id}",
            None,
            f"its {what} cannot be read: {_innermost(error)}",
            "Check the network, or put the files in $IR_DATASETS_HOME as its manual says.",
        ) from error


def query_text(query: Any) -> texts.Query:
    """Any dataset's query as ours: description, narrative and subtopics where it has them."""
    if isinstance(query, texts.Query):
        return query
    return texts.Query(
        query.query_id,
        query.default_text(),
        getattr(query, "description", None) or None,
        getattr(query, "narrative", None) or None,
        tuple(map(_facet, getattr(query, "subtopics", None) or ())),
    )


def _facet(subtopic: Any) -> texts.Facet:
    if isinstance(subtopic, str):
        return texts.Facet(texts.facet_id_of(subtopic), subtopic)
    return texts.Facet(str(subtopic.number), subtopic.text)


def _innermost(error: BaseException) -> str:
    while inner := error.__cause__ or error.__context__:
        error = inner
    return f"{type(error).__name__}: {error}".splitlines()[0]
