"""Datasets that ir_datasets has, or that a project registers there."""

import hashlib
import importlib
import sys
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from gradelake.ingest.collections import dataset_home  # noqa: F401  (comes before ir_datasets)

# isort: split
import ir_datasets
from ir_datasets.formats import BaseQrels, BaseQueries, TrecQrel

from gradelake.ingest.collections import texts
from gradelake.ingest.collections.collection import Collection
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.own_code import load_file


class PageQueries(BaseQueries):
    """A page of TREC CAR as a query, its headings as facets: ir_datasets has a query per heading,
    `PAGE/HEADING/SUBHEADING`."""

    def __init__(self, dataset: ir_datasets.Dataset):
        self._dataset = dataset

    def queries_iter(self) -> Iterator[texts.Query]:
        of_page = groupby(self._dataset.queries_iter(), lambda each: _page(each.query_id))
        for page, (first, *more) in of_page:
            facets = [
                texts.Facet(each.query_id.removeprefix(f"{page}/"), " / ".join(each.headings))
                for each in (first, *more)
            ]
            yield texts.Query(page, first.title, facets=tuple(facets))


class PageQrels(BaseQrels):
    """Judgments of pages of TREC CAR: the highest of their headings'."""

    def __init__(self, dataset: ir_datasets.Dataset):
        self._dataset = dataset

    def qrels_iter(self) -> Iterator[TrecQrel]:
        best: dict[tuple[str, str], int] = {}
        for each in self._dataset.qrels_iter():
            pair = _page(each.query_id), each.doc_id
            best[pair] = max(each.relevance, best.get(pair, each.relevance))
        return (TrecQrel(*pair, relevance, "0") for pair, relevance in best.items())


def _page(query_id: str) -> str:
    """Slashes within names of pages and headings are percent-encoded."""
    return query_id.partition("/")[0]


def load_named(collection: Collection, *local: Any) -> ir_datasets.Dataset:
    """The dataset that a collection names, with what is `local` in the place of its own. Raises as
    `datasets.load`."""
    dataset_id = collection.ir_dataset
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
        local += PageQueries(dataset), PageQrels(dataset) if dataset.has_qrels() else None
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
