"""Topics and passages are read as an ir_datasets dataset, those of local files too."""

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from gradelake.ingest.collections import texts
from gradelake.ingest.collections.collection import Collection
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.own_code import load_file
from gradelake.sql.common.problems import Rejected, reject


class LocalQueries:
    """Topics of a local file."""

    queries_handler = None  # ir_datasets asks only whether there is one

    def __init__(self, file: Path, shown: str):
        self._file, self._shown = file, shown

    def queries_iter(self) -> Iterator[texts.Query]:
        yield from texts.read_queries(self._file, self._shown)


class LocalDocs:
    """Passages of local files, by what each is called; how far their reading is is shown."""

    docs_handler = None

    def __init__(self, files: dict[str, Path]):
        self._files = files

    def docs_iter(self) -> Iterator[texts.Passage]:
        for shown, file in self._files.items():
            yield from texts.read_passages(file, shown, console.progress)

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


class PageQueries:
    """A page of TREC CAR as a query, its headings as facets: ir_datasets has a query per heading,
    `PAGE/HEADING/SUBHEADING`."""

    queries_handler = None

    def __init__(self, dataset: Any):
        self._dataset = dataset

    def queries_iter(self) -> Iterator[texts.Query]:
        of_page = groupby(self._dataset.queries_iter(), lambda each: _page(each.query_id))
        for page, (first, *more) in of_page:
            facets = [
                texts.Facet(each.query_id.removeprefix(f"{page}/"), " / ".join(each.headings))
                for each in (first, *more)
            ]
            yield texts.Query(page, first.title, facets=tuple(facets))


class PageQrels:
    """Judgments of pages of TREC CAR: the highest of their headings'."""

    qrels_handler = None

    def __init__(self, dataset: Any):
        self._dataset = dataset

    def qrels_iter(self) -> Iterator[Any]:
        from ir_datasets.formats import TrecQrel

        best: dict[tuple[str, str], int] = {}
        for each in self._dataset.qrels_iter():
            pair = _page(each.query_id), each.doc_id
            best[pair] = max(each.relevance, best.get(pair, each.relevance))
        return (TrecQrel(*pair, relevance, "0") for pair, relevance in best.items())


def _page(query_id: str) -> str:
    """Slashes within names of pages and headings are percent-encoded."""
    return query_id.partition("/")[0]


def load(collection: Collection) -> Any:
    """The collection's dataset: the named one, in which local topics and passages take the place
    of its own; or these alone.

    Raises `BadInput` for an id that ir_datasets does not know, and where what registers it fails.
    """
    path, topics, passages = collection.path, collection.queries, collection.passages
    local: list[Any] = [
        LocalQueries(path(topics), topics) if topics else None,
        LocalDocs({shown: path(shown) for shown in passages}) if passages else None,
    ]
    dataset_id = collection.ir_dataset
    if not dataset_id:
        return LocalDataset(*local)
    from gradelake.ingest.collections import dataset_home  # noqa: F401  (comes before ir_datasets)

    # isort: split
    import ir_datasets

    if collection.registered_by:
        _register(collection.registered_by, collection)
    try:
        dataset = ir_datasets.load(dataset_id)
    except KeyError as error:
        raise BadInput(
            f"ir_datasets has no dataset {dataset_id!r}",
            "See https://ir-datasets.com for the ids; registered_by names what registers others.",
        ) from error
    if collection.car_pages:
        if not dataset.has_queries() or "headings" not in dataset.queries_cls()._fields:
            raise BadInput(
                f"car_pages: the queries of {dataset_id!r} have no headings",
                "It is for ir_datasets' car; take the setting out.",
            )
        local.append(PageQueries(dataset))
        local.append(PageQrels(dataset) if dataset.has_qrels() else None)
    return ir_datasets.Dataset(*local, dataset)


def _register(named: str, collection: Collection) -> None:
    """Run a file or import a module that registers datasets; once, since ir_datasets refuses to
    register an id twice."""
    where = f"[collections.{collection.name}] registered_by"
    if named.endswith(".py"):
        file = collection.path(named).resolve()
        if not file.is_file():
            raise BadInput(f"{where}: no file {file}", "Name a Python file, or a module.")
        name = f"gradelake_datasets_{hashlib.sha256(str(file).encode()).hexdigest()}"
        if name not in sys.modules:
            load_file(file, name)
        return
    try:
        importlib.import_module(named)
    except Exception as error:
        raise BadInput(
            f"{where}: {named!r} cannot be imported: {type(error).__name__}: {error}",
            "Install its package here, or name a file that ends in .py.",
        ) from error


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
