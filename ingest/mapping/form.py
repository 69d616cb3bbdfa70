"""What gradelake.toml says of a table: its file, how it is written, and what its columns hold.

A role is what a column is to us (query, passage, score, ...). Where no setting names its column,
the usual names of a role are looked for, in their order, by their letters and digits alone: a name
stands here once for `Search Term`, `search_term` and `SearchTerm`.
"""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, GetPydanticSchema, create_model

from gradelake.ingest.mapping.paths import check_path, plain
from gradelake.sql.common.checked import Checked, Name, Text

_OF_ANYTHING = "id"
# the names these go by in the formats people have (ours first, then TREC RAG, shops, ...)
_QUERY_ID = ("query_id", "qid", "id", "request_id", "topic_id", "narrative_id")
_QUERY = (
    *(name for name in _QUERY_ID if name != _OF_ANYTHING),
    "query",
    "search_term",
    "term",
    "question",
    "user_input",
    "query_text",
    "topic",
    "search_query",
    "keyword",
    "suchanfrage",
    "suchbegriff",
    "anfrage",
    "requête",
    "requete",
)
_PASSAGE = (
    # a table of PyTerrier has its own number in `docid` beside the passage's id in `docno`
    "passage_id",
    "docno",
    "doc_id",
    "pid",
    "id",
    "paragraph_id",
    "corpus_id",
    "segment_id",
    "chunk_id",
    "document_id",
    "product_id",
    "object_id",
    "item_id",
    "sku",
    "url",
)
_OF_ROWS = (
    *(name for name in _PASSAGE if name != _OF_ANYTHING),
    "passage",
    "document",
    "doc",
    "asin",
    "product",
    "item",
    "produkt_id",
    "artikel_id",
    "artikelnummer",
    "dokument_id",
    "dokument",
    "produkt",
    "identifiant_du_document",
    "id_document",
    "id_produit",
    "produit",
)

# columns whose cells hold a ranking each
LISTED = ("doc_ids", "passage_ids", "product_ids", "retrieved_ids", "ranked_ids", "ranking")


class File(str):
    """A file's name, and what settings say of what is in it: how it is written, where its rows are,
    what the columns of roles are called, and what values mean."""

    settings: dict[str, Any]

    def __new__(cls, name: str, settings: dict[str, Any] | None = None) -> "File":
        file = super().__new__(cls, name)
        file.settings = settings or {}
        return file


def settings_of(shown: str) -> dict[str, Any]:
    """What settings say of the table in a file; nothing of most."""
    return shown.settings if isinstance(shown, File) else {}


# kind of table -> role -> usual names of its column
ROLES: dict[str, dict[str, tuple[str, ...]]] = {
    "queries": {
        "query": _QUERY_ID,
        "text": (
            "text",
            "query",
            "query_text",
            "title",
            "search_term",
            "term",
            "question",
            "suchanfrage",
            "requête",
        ),
        "description": ("description", "problem_statement"),
        "narrative": ("narrative", "background"),
        "weight": ("weight", "traffic", "frequency"),
        "cluster": ("cluster",),
        "segments": ("segments", "segment"),
    },
    "passages": {
        "passage": _PASSAGE,
        "title": ("title", "product_title", "product_name", "name", "titel", "titre"),
        "text": (
            "text",
            "passage",
            "contents",
            "segment",
            "body",
            "doc",
            "description",
            "content",
            "product_description",
            "beschreibung",
        ),
    },
    "runs": {
        "query": _QUERY,
        "passage": (*_OF_ROWS, "results", *LISTED, "id"),
        "rank": ("rank", "position", "pos", "rang"),
        "score": (
            "score",
            "similarity",
            "relevance_score",
            "bm25_score",
            "search_score",
            "punktzahl",
        ),
        "system": ("system", "run", "ranker", "variant", "system_name", "retriever", "model"),
    },
    "judgments": {
        "query": _QUERY,
        "passage": (*_OF_ROWS, "id"),
        "judgment": (
            "judgment",
            "relevance",
            "rating",
            "label",
            "grade",
            "stars",
            "score",
            "judgement",
            "rel",
            "relevance_label",
            "relevance_grade",
            "relevance_score",
            "relevant",
            "is_relevant",
            "bewertung",
            "relevanz",
            "pertinence",
        ),
        "rater": (
            "rater",
            "assessor",
            "annotator",
            "rated_by",
            "judged_by",
            "annotated_by",
            "reviewer",
            "evaluator",
            "rater_id",
            "assessor_id",
            "annotator_id",
            "worker_id",
            "bewerter",
        ),
    },
    "responses": {
        "query": _QUERY,
        "text": ("text", "response", "answer", "output"),
        "system": ("system", "run", "run_id", "variant"),
    },
    "clicks": {
        "query": _QUERY,
        "passage": (*_OF_ROWS, "id"),
        "position": ("position", "rank", "pos"),
        "clicks": ("clicked", "clicks", "n_clicks", "click"),
        "impressions": ("impressions", "n_impressions", "views"),
        "day": ("day", "date"),
        "event": (),  # where settings name it: a click, or that something was shown
    },
    # logs of RAG systems, by ragas, DeepEval, TruLens and datasets of HF. What DeepEval calls
    # `context` should have been found, and is no ranking
    "rag": {
        "question": (
            "question",
            "user_input",
            "input",
            "query",
            "messages",
            "conversation",
            "conversations",
            "prompt",
        ),
        "answer": (
            "answer",
            "response",
            "actual_output",
            "output",
            "outputs",
            "generated_answer",
            "completion",
        ),
        "contexts": (
            "contexts",
            "retrieved_contexts",
            "retrieval_context",
            "retrieved_context",
            "retrieved_documents",
            "retrieved_docs",
            "retrieved_chunks",
            "retrieved_passages",
            "source_documents",
            "chunks",
            "chunk",
        ),
        "reference": (
            "reference",
            "ground_truth",
            "ground_truths",
            "expected_output",
            "expected_answer",
            "reference_answer",
            "expected_response",
            "gold_answer",
            "golden_answer",
            "ideal_answer",
            "correct_answer",
        ),
        "retrievals": ("retrievals",),
        "query": ("query_id", "qid", "question_id"),
        "system": ("system", "variant"),
        "scores": ("scores", "metrics", "metrics_data", "named_scores", "feedback"),
    },
    # what people say of citations
    "support": {
        "system": ("system", "run", "run_id"),
        "query": _QUERY,
        "sentence": ("sentence",),
        "passage": ("cited_passage_id", *_OF_ROWS),
        "support": ("support", "label"),
    },
    # items of a rubric
    "bank": {
        "query": (*(name for name in _QUERY_ID if name != _OF_ANYTHING), "query", "topic"),
        "kind": ("kind",),
        "text": ("text", "question", "nugget", "criterion"),
        "facet": ("facet_id",),
        "item": ("item_id", "question_id", "nugget_id", "criterion_id"),
        "answers": ("gold_answer", "gold_answers"),
        "weight": ("weight",),
    },
    # what somebody else computed: a board, or scores of each query
    "scores": {
        "system": ("system", "run", "run_id", "method"),
        "query": (*_QUERY_ID, "query", "topic"),
        "score": ("score", "value", "mean"),
        "measure": ("measure", "metric"),
        "stderr": ("stderr", "standard_error", "std_error"),
    },
}


def names_of(kind: str) -> set[str]:
    """The usual names of all columns of a kind of table."""
    return {name for usual in ROLES[kind].values() for name in usual}


def is_usual(kind: str, role: str, name: str) -> bool:
    """Whether a column's name is a usual one of a role."""
    return plain(name) in map(plain, ROLES[kind][role])


SETTINGS = ROLES.keys() - {"rag", "support", "bank", "scores"}  # kinds that settings name files of
NUMBERED = ("contexts", "reference")  # roles whose values may stand in a column each
# roles whose cells may hold a list, in forms that know none
LISTS = {
    "queries": {"segments"},
    "runs": {"passage"},
    "responses": {"text"},
    "rag": {*NUMBERED, "answer", "question", "retrievals"},
}
# columns that DeepEval's CSV has, by their letters; there bars are between contexts
DEEPEVAL = {"input", "actualoutput", "retrievalcontext"}


def as_tuple(value: Any) -> Any:
    """A list of TOML or YAML as a tuple."""
    return tuple(value) if type(value) is list else value


_ROWS = "Name the list that holds them, such as results.hits[], or {}.{} for objects in an object."


def _path(value: str) -> str:
    check_path(value)
    return value


_Path = Annotated[Text, AfterValidator(_path)]


def _pattern(value: str) -> str:
    try:
        found = re.compile(value)
    except re.error as error:
        raise ValueError(f"{value!r} is no pattern: {error}") from error
    if not found.groupindex:
        raise ValueError(f"{value!r} names no part", r"For example: (?P<query>\S+)\s+...")
    return value


_Pattern = Annotated[Text, AfterValidator(_pattern)]


class _Form(Checked):
    """What a table of settings may hold, beside the columns of roles."""

    file: Text
    table: Text | None = None  # of a database, or a sheet of a workbook
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    encoding: Text | None = None
    columns: Annotated[tuple[Text, ...], BeforeValidator(as_tuple)] | None = Field(
        None, description='Of a table without a header: columns = ["query", "passage", "rank"].'
    )
    lines: _Pattern | None = Field(None, description="A pattern that each line of a text has.")
    short_rows: bool | None = None  # a row may end before its last columns
    rows: _Path | None = Field(None, description=_ROWS)
    only: dict[Text, Any] | None = Field(
        None, description='Which rows are meant: only = { split = "test" }.'
    )


class _OfJudgments(_Form):
    """`labels`: what words mean; `cuts`: from where on a fraction is 1, 2, ...; `gains`: whether
    nDCG gains the fraction itself."""

    labels: dict[Text, int] | None = Field(
        None, description="For example: labels = { Perfect = 3, Good = 2, Bad = 0 }."
    )
    cuts: Annotated[tuple[float, ...], BeforeValidator(as_tuple)] | None = Field(
        None, description="For example: cuts = [0.5], from which on a fraction is 1."
    )
    gains: bool | None = None


class _OfSystem(_Form):
    """`name`: of the system, where it is another than the file's."""

    name: Name | None = None


class _WithTemplate(_Form):
    """`template`: of several columns, such as "{title} by {brand}", one text that prompts see."""

    template: Text | None = None


_BASES: dict[str, type[_Form]] = {
    "judgments": _OfJudgments,
    "passages": _WithTemplate,
    "runs": _OfSystem,
    "responses": _OfSystem,
}


def _as_form(value: Any) -> Any:
    if not isinstance(value, str | dict):
        what = f"{value!r} is neither a file's name nor a table with one"
        raise ValueError(what, 'For example: { file = "b.csv", query = "search_term" }.')
    return {"file": value} if isinstance(value, str) else value


def _as_file(form: _Form) -> File:
    return File(form.file, form.model_dump(exclude_none=True, exclude={"file"}))


def file_of(kind: str) -> GetPydanticSchema:
    """What a `File` is in settings: its name alone, or a table of what is said of this kind."""
    base = _BASES.get(kind, _Form)
    columns: Any = dict.fromkeys(ROLES[kind], (Text | None, None))
    if kind == "judgments":  # several are a column a rater
        several = Annotated[tuple[Text, ...], BeforeValidator(as_tuple)]
        columns["judgment"] = (Text | several | None, None)
    if kind == "queries":  # false: a row's id is of something else, and a topic's is its text
        columns["query"] = (Text | Literal[False] | None, None)
    form = create_model(kind, __base__=base, **columns)
    either: Any = Annotated[form, BeforeValidator(_as_form), AfterValidator(_as_file)]
    return GetPydanticSchema(lambda _, handler: handler.generate_schema(either))
