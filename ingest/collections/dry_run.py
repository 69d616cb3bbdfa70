"""`gradelake ingest --dry-run`: how the files of a collection are understood, by an ingest into an
empty lake that is thrown away."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.pipeline import ingest
from gradelake.ingest.collections.targets import Ingested
from gradelake.ingest.mapping.columns import columns_of, meant
from gradelake.ingest.reading.rows import is_table, rows_of
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.problems import Problems, Rejected, named
from gradelake.sql.common.project import Project
from gradelake.sql.common.table_text import table_lines, text_columns
from gradelake.sql.lake.opening import Lake

_ROWS = 5  # of each part
_MOST_PARTS = 12  # whose first rows are printed
# what an ingest brings -> whose it is, in what order, and what is shown of it
_PARTS = {
    "topics": "null as name, rowid as place, query_id, text from lake.raw.queries",
    "query weights": "null as name, rowid as place, query_id, weight, cluster, segments "
    "from lake.raw.query_weights",
    "clicks": "null as name, rowid as place, query_id, passage_id, position, n_impressions, "
    "n_clicks from lake.raw.clicks",
    "passages": "null as name, rowid as place, passage_id, text from lake.raw.passages "
    "where origin = 'corpus'",
    "judgments": "assessor as name, rowid as place, query_id, passage_id, relevance "
    "from lake.raw.judgments",
    "run": "system as name, (query_id, -score, passage_id) as place, query_id, passage_id, rank, "
    "score from lake.raw.run_entries "
    "semi join (from lake.raw.systems where kind = 'ranking') using (system)",
    "answers": "system as name, query_id as place, query_id, text "
    "from lake.raw.answers join lake.raw.passages using (collection, passage_id)",
}
_FIRST = """
    select * exclude (place), count(*) over (partition by name) as n_rows
    from (select {})
    qualify row_number() over (partition by name order by place) <= ?
    order by name, place
"""


@dataclass
class DryRunPart:
    """What one part of a collection would bring: how many rows, and the first of them."""

    what: str
    name: str | None
    n_rows: int
    columns: list[str]
    rows: list[tuple[Any, ...]]


@dataclass
class DryRun:
    """What an ingest would have done; `read_as`: "KIND from FILE" -> the columns of its roles."""

    outcome: Ingested
    read_as: dict[str, dict[str, str]]
    parts: list[DryRunPart]

    @property
    def exit_code(self) -> int:
        return self.outcome.exit_code

    def as_object(self) -> dict[str, Any]:
        of_dry_run = {"read_as": self.read_as, "parts": [vars(part) for part in self.parts]}
        return self.outcome.as_object() | of_dry_run

    def print(self) -> None:
        for file, columns in self.read_as.items():
            roles = ", ".join(f"{role} = {column}" for role, column in columns.items())
            console.say(f"{named(file)}: {roles}")
        for n, part in enumerate(self.parts):
            name = f" {part.name}" if part.name else ""
            console.say(f"{part.what}{name}: {counted(part.n_rows, 'rows')}")
            for line in (
                table_lines(text_columns(part.columns, part.rows), 80)[0] if n < _MOST_PARTS else ()
            ):
                console.say(f"  {line}")
        self.outcome.print_faults()
        console.hint("nothing was written; `gradelake ingest` without --dry-run does that")


def dry_run(project: Project, name: str) -> DryRun:
    """Read all that a collection names, as into an empty lake, and leave the lake as it is."""
    settings = Collection.named(project, name).model_copy(update={"inbox": None})
    with TemporaryDirectory() as folder:
        place = replace(project, lake_path=Path(folder, "lake"), catalog=None, data=None)
        with Lake.create(place) as lake:
            outcome = ingest(lake, settings, ["ingest", name, "--dry-run"])
            parts = [part for what in _PARTS for part in _parts(lake, what)]
    return DryRun(outcome, dict(_read_as(settings)), parts)


def _parts(lake: Lake, what: str) -> Iterator[DryRunPart]:
    found = lake.frame(_FIRST.format(_PARTS[what]), _ROWS)
    for part in found.partition_by("name", maintain_order=True):
        shown = part.drop("name", "n_rows")
        yield DryRunPart(what, part["name"][0], part["n_rows"][0], shown.columns, shown.rows())


def _read_as(settings: Collection) -> Iterator[tuple[str, dict[str, str]]]:
    """Each table, and the columns that were found for its roles."""
    files = [(kind, getattr(settings, kind)) for kind in ("queries", "clicks")]
    files += [("queries", settings.query_weights)]
    files += [("passages", file) for file in settings.passages]
    files += [("judgments", file) for file in settings.judgments.values()]
    files += [(kind, file) for kind in ("runs", "responses") for file in settings.matching(kind)]
    for kind, shown in files:
        if shown and is_table(path := settings.path(shown), shown, kind):
            with suppress(Rejected):  # the ingest says why
                _, row = next(meant(rows_of(path, shown, Problems(shown, "")), shown))
                yield f"{kind} from {shown}", columns_of(kind, shown, row)
