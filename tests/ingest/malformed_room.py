"""A project to try malformed inputs in, and the command line as a person would run it there."""

import os
import re
import sqlite3
from contextlib import closing

from hypothesis import HealthCheck, Phase, settings

from gradelake.sql.lake.lake import Lake
from tests import command_line
from tests.ingest.conftest import Tiny
from tests.ingest.malformed_kinds import KINDS, Kind

EXAMPLES = int(os.environ.get("GRADELAKE_MALFORMED", "160"))  # of all kinds together
OF_EACH = max(EXAMPLES // (len(KINDS) + 10), 1)
TABLES = (
    "collections",
    "queries",
    "passages",
    "near_duplicates",
    "systems",
    "run_entries",
    "answers",
    "sentences",
    "citations",
    "judgments",
    "review_samples",
    "official_ranks",
    "system_groups",
    "rubric_items",
    "graders",
    "grades",
)
# when and by which run something came is no content; scales are only ever widened, and passages
# that nothing names any more stay
PASSING = ["ingested_at", "created_at", "graded_at", "batch_id", "file_sha256"]
STAY = {"graders", "passages"}
# what no person should have to read
TRACE = re.compile(
    r"Traceback|Internal|--debug|\b(?!TREC)[A-Z]\w*(Error|Exception|Exit|Iteration)\b", re.ASCII
)


class Room:
    """A project with every kind of input in its lake, and the command line in its folder.

    The lake is opened once, because that takes longer than most commands.
    """

    def __init__(self, tiny: Tiny):
        self.tiny = tiny
        self.lake: Lake | None = None
        self._content = ""

    def gradelake(self, *arguments: str) -> tuple[int, str, str]:
        """Run the front door. Returns exit code, standard output and standard error."""
        done = command_line.run(self.tiny.folder, *arguments)
        return done.returncode, done.stdout, done.stderr

    def put(self, kind: Kind, data: bytes) -> None:
        path = self.tiny.folder / kind.file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)

    def snapshot(self) -> int:
        catalog = self.tiny.folder / "lake" / "catalog.sqlite"
        with closing(sqlite3.connect(catalog)) as connection:
            (found,) = connection.execute("select max(snapshot_id) from ducklake_snapshot")
        return found[0]

    def content(self) -> dict[str, tuple]:
        """table -> how many rows, and a hash of all of them."""
        if not self._content:
            columns = self.lake.rows(
                "select table_name, string_agg(column_name, ', ') from duckdb_columns() "
                "where database_name = 'lake' and schema_name = 'raw' "
                "and not list_contains($passing, column_name) group by table_name",
                passing=PASSING,
            )
            self._content = " union all ".join(
                f"select '{table}', count(*), bit_xor(hash({names})) from lake.raw.{table}"
                for table, names in columns
                if table in TABLES
            )
        return {table: (n, of_rows) for table, n, of_rows in self.lake.rows(self._content)}

    def ledger_is_right(self) -> None:
        """The ledger's counts are what the lake has."""
        wrong = self.lake.rows("""
            with landed as (
                select 'tiny/judgments/' || assessor as target, count(*) as n
                from lake.raw.judgments group by all
                union all
                select 'tiny/systems/' || system, count(*) from lake.raw.run_entries group by all
                union all
                select 'tiny/bank/' || bank, count(*) from lake.raw.rubric_items group by all
                union all
                select 'tiny/official_ranks/' || leaderboard, count(*)
                from lake.raw.official_ranks group by all
                union all
                select 'tiny/queries', count(*) from lake.raw.queries
                union all
                select 'tiny/near_duplicates', count(*) from lake.raw.near_duplicates
            )
            select target, n, n_rows from landed left join lake.raw.ledger using (target)
            where n_rows is distinct from n and not (n = 0 and n_rows is null)
                and target not in ('tiny/judgments/ann', 'tiny/judgments/bo')
        """)
        assert not wrong


def tried(n: int):
    return settings(
        max_examples=n,
        deadline=None,
        database=None,
        derandomize="GRADELAKE_MALFORMED" not in os.environ,
        phases=[Phase.explicit, Phase.generate],  # what was mutated shows without shrinking
        suppress_health_check=list(HealthCheck),
    )
