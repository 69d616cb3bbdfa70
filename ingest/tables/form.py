"""What gradelake.toml says of a table: its file, how it is written, and what its columns hold.

A role is what a column is to us (query, passage, score, ...). Where no setting names its column,
the usual names of a role are looked for, in their order.
"""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from gradelake.sql.common.checked import Checked, Text

# the names these go by in the formats people have (ours first, then BEIR, TREC RAG, shops, ...)
_QUERY_ID = ("query_id", "qid", "id", "_id", "request_id", "topic_id", "narrative_id", "query-id")
_QUERY: tuple[str, ...] = (
    *(name for name in _QUERY_ID if name not in ("id", "_id")),
    "query",
    "search_term",
)
_QUERY += ("term", "question", "user_input")
_QUERY_TEXT = ("text", "query", "query_text", "title", "search_term", "term", "question")
_PASSAGE: tuple[str, ...] = (
    "passage_id",
    "docid",
    "doc_id",
    "pid",
    "id",
    "_id",
    "paragraph_id",
    "corpus-id",
)
_PASSAGE += ("document_id", "product_id", "sku", "url")
_OF_ROWS = (*(name for name in _PASSAGE if name not in ("id", "_id")), "passage", "document", "doc")


class Form(Checked):
    """A file, and how its table is written. Each kind of table adds its roles."""

    file: Text
    table: Text | None = None  # of a database, or a sheet of a workbook
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    encoding: Text | None = None

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing but the file's name, so that its name says its form."""
        return self.model_dump(exclude_none=True).keys() == {"file"}

    def column(self, role: str) -> str | None:
        """The column that a setting names for a role, in lower case."""
        named: str | None = getattr(self, role, None)
        return named and named.strip().lower()


Column = Text | None


def _usual(*names: str) -> Any:
    """A role, by the usual names of its column."""
    return Field(None, examples=[*names])


class Topics(Form):
    query: Column = _usual(*_QUERY_ID)
    text: Column = _usual(*_QUERY_TEXT)
    description: Column = _usual("description", "problem_statement")
    narrative: Column = _usual("narrative", "background")
    weight: Column = _usual("weight", "traffic", "frequency")
    cluster: Column = _usual("cluster")
    segments: Column = _usual("segments", "segment")


class Passages(Form):
    """`template`: of several columns, such as "{title} by {brand}", one text that prompts see."""

    passage: Column = _usual(*_PASSAGE)
    title: Column = _usual("title")
    text: Column = _usual("text", "passage", "contents", "segment", "body", "doc", "description")
    template: Text | None = None


class Runs(Form):
    query: Column = _usual(*_QUERY)
    passage: Column = _usual(*_OF_ROWS, "results", "id")
    rank: Column = _usual("rank", "position", "pos")
    score: Column = _usual("score", "similarity")
    system: Column = _usual("system", "run", "ranker", "variant")


class Judgments(Form):
    query: Column = _usual(*_QUERY)
    passage: Column = _usual(*_OF_ROWS, "id")
    judgment: Column = _usual("judgment", "relevance", "rating", "label", "grade", "stars", "score")
    rater: Column = _usual("rater", "assessor", "annotator")


class Responses(Form):
    query: Column = _usual(*_QUERY)
    text: Column = _usual("text", "response", "answer", "output")
    system: Column = _usual("system", "run", "run_id", "variant")


class Clicks(Form):
    query: Column = _usual(*_QUERY)
    passage: Column = _usual(*_OF_ROWS, "id")
    position: Column = _usual("position", "rank", "pos")
    clicks: Column = _usual("clicked", "clicks", "n_clicks", "click")
    impressions: Column = _usual("impressions", "n_impressions", "views")
    day: Column = _usual("day", "date")


_KINDS: dict[str, type[Form]] = {
    "queries": Topics,
    "passages": Passages,
    "runs": Runs,
    "judgments": Judgments,
    "responses": Responses,
    "clicks": Clicks,
}
# kind of table -> role -> usual names of its column
ROLES: dict[str, dict[str, tuple[str, ...]]] = {
    kind: {
        role: tuple(field.examples) for role, field in form.model_fields.items() if field.examples
    }
    for kind, form in _KINDS.items()
}


def as_form(value: Any) -> Any:
    """A file's name alone is a form."""
    if not isinstance(value, str | dict | Form):
        what = f"{value!r} is neither a file's name nor a table with one"
        raise ValueError(what, 'For example: { file = "b.csv", query = "search_term" }.')
    return {"file": value} if isinstance(value, str) else value


OrFile = BeforeValidator(as_form)
PLAIN = Form(file="-")  # of a table that no setting describes
