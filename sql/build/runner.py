"""The work of a build: nodes of a plan are made, one after the other, in an open transaction.

All of it is one transaction, so nobody meets a table that is gone or half there, and a new table is
cheaper than replacing the old one's rows.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from gradelake.sql.build import seeds
from gradelake.sql.build.plan import SEED, TEST, BuildPlan, Node
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.plain_words import in_plain_words
from gradelake.sql.lake.connection import NAME, join_as_written, literal, quote
from gradelake.sql.lake.opening import Lake

_FAILED = "the lake could not be built; readers keep the last release"
# parts are computed in slices that fit into memory, at 2 MB a part: some four times what the
# ranking of 1,000 passages takes, graded against 20 items
_SLICE = "greatest(100, parse_formatted_bytes(current_setting('memory_limit')) // 2000000)"
_STANDING = """
    select
        schemas.schema_name,
        relations.name,
        relations.kind
    from (
        select
            table_name as name,
            schema_id,
            'table' as kind,
            begin_snapshot as begun,
            end_snapshot as ended
        from {metadata}.ducklake_table
        union all
        select view_name, schema_id, 'view', begin_snapshot, end_snapshot
        from {metadata}.ducklake_view
    ) as relations
    inner join {metadata}.ducklake_schema as schemas using (schema_id)
    where begun <= {snapshot:d} and coalesce(ended > {snapshot:d}, true)
"""
# a spell of time in which the file of edits had a row as it is, as dbt's snapshots keep them: one
# that is no longer true ends, and another begins, of the row as it is now, or of its being gone
_SPELLS = """
    create or replace temp table now_true as
    select *, {unique_key} as spell_key from ({sql});

    create or replace temp table in_force as
    select
        spells.*,
        now_true.spell_key is null as is_gone,
        if(is_gone, dbt_is_deleted = 'True', {same}) as still_true
    from (select *, {unique_key} as spell_key from {relation} where dbt_valid_to is null) as spells
    left join now_true using (spell_key);

    update {relation} set dbt_valid_to = now()::timestamp
    where dbt_scd_id in (select dbt_scd_id from in_force where not still_true);

    insert into {relation} by name
    select
        * exclude (spell_key, is_gone, still_true) replace (
            md5(coalesce(dbt_scd_id, spell_key) || '|' || now()::timestamp) as dbt_scd_id,
            now()::timestamp as dbt_updated_at,
            now()::timestamp as dbt_valid_from,
            if(dbt_scd_id is null, 'False', 'True') as dbt_is_deleted
        )
    from (
        from in_force where is_gone and not still_true
        union all by name
        from now_true
        where spell_key not in (select spell_key from in_force where still_true)
    );
"""
_NO_SPELLS = """
    create table {relation} as
    select
        *,
        ''::varchar as dbt_scd_id,
        null::timestamp as dbt_updated_at,
        null::timestamp as dbt_valid_from,
        null::timestamp as dbt_valid_to,
        ''::varchar as dbt_is_deleted
    from ({sql})
    limit 0
"""
COUNTED = ("models", "seeds", "data_tests")
Standing = dict[tuple[str, str], str]  # "table" or "view", by schema and name


def standing(lake: Lake, snapshot: int, catalog: str = NAME) -> Standing:
    """What a lake has at a snapshot, by DuckLake's own tables: DuckDB's would read every table's
    statistics."""
    metadata = f"__ducklake_metadata_{catalog}"
    rows = lake.rows(_STANDING.format(metadata=metadata, snapshot=snapshot))
    return {(schema, name): kind for schema, name, kind in rows}


@dataclass
class Runner:
    """Makes nodes on a lake's connection, where a transaction is open.

    `whole`: parts are computed that are there, too. `on_node(name, status, seconds)` is called as
    each node finishes.
    """

    lake: Lake
    plan: BuildPlan
    standing: Standing
    whole: bool
    on_node: Callable[[str, str, float], None] = lambda name, status, seconds: None
    counts: Counter[str] = field(default_factory=Counter)  # nodes that finished, by kind
    seconds: dict[str, float] = field(default_factory=dict)  # by node

    def run(self, chosen: Collection[str], gathered: Path) -> None:
        """Make these nodes (ids), with the seeds of a folder.

        Raises `WrongSeeds` when rows of seeds are wrong, and `WorkFailed` when a model or a data
        test fails.
        """
        execute = self.lake.connection.execute
        execute(f"set variable seeds_folder = {quote(literal(gathered))}")
        join_as_written(self.lake.connection)
        schemas = {node.schema for node in self.plan.nodes.values() if node.kind != TEST}
        for schema in sorted(schemas - {schema for schema, _ in self.standing}):
            execute(f"create schema if not exists lake.{schema}")
        wrong: list[tuple[str, str, str]] = []
        refused, failed = set[str](), list[str]()
        for node in self.plan.nodes.values():
            if node.id not in chosen:
                continue
            if wrong and node.id not in self.plan.for_seeds:
                break  # all that is wrong in seeds is known
            if refused.intersection(node.reads):
                refused.add(node.id)
                continue
            began = time.monotonic()
            try:
                found = self._make(node)
            except duckdb.Error as error:
                if known := in_plain_words(error):
                    message = f"{known.message}; readers keep the last release"
                    raise WorkFailed(message, known.hint) from error
                failed.append(f"{node.name}: {error}")
                break  # what comes after the first fault of a transaction says no more
            status = "fail" if found else "pass" if node.kind == TEST else "success"
            taken = time.monotonic() - began
            self.seconds[node.name] = self.seconds.get(node.name, 0) + taken
            if found and node.kind == SEED:
                refused.add(node.id)
                wrong += [(f"{node.name}.csv", *row) for row in found]
            elif found:
                failed.append(f"{node.name}: {counted(found, 'rows')} should not be there")
            else:
                kind = {SEED: "seeds", TEST: "data_tests"}.get(node.kind, "models")
                self.counts[kind] += 1
            self.on_node(node.name, status, taken)
        if wrong:
            raise seeds.WrongSeeds(wrong, seeds.seeds_folder(self.lake.project))
        if failed:
            raise WorkFailed(
                f"{_FAILED}\n  " + "\n  ".join(failed),
                "`gradelake build --verbose` shows what comes before it.",
            )

    def _make(self, node: Node) -> Any:
        """Make a node; returns what is wrong: rows of a seed, or how many a data test found."""
        match node.kind:
            case "test":
                return self.lake.value(f"select count(*) from ({node.sql})")
            case "seed_file":
                if wrong := self.lake.rows(node.sql):
                    return wrong
                _, rows, *_ = node.sql.split("/* the file */")
                self._replace(node, "table", f"from {rows}")
            case "parts":
                self._compute_parts(node)
            case "snapshot":
                self._keep_history(node)
            case kind:
                columns = ", ".join(node.columns) or "*"
                sql = node.sql if kind == "view" else f"select {columns} from ({node.sql})"
                self._replace(node, kind, sql)
        return None

    def _replace(self, node: Node, kind: str, sql: str) -> None:
        if stands := self.standing.get((node.schema, node.table)):
            self.lake.connection.execute(f"drop {stands} {node.relation}")
        self.lake.connection.execute(f"create {kind} {node.relation} as {sql}")
        self.standing[node.schema, node.table] = kind

    def _compute_parts(self, node: Node) -> None:
        """A table that is kept part by part, whatever else changed: `inputs` lists the parts that
        there should be, each with a hash of all that it is computed from (`part`), and every row of
        the table says which part it belongs to. What it lacks is computed, and what is no longer
        listed goes. So what is computed for one version of a rubric serves every version that has
        the same items for the query."""
        execute = self.lake.connection.execute
        (inputs,) = (self.plan.nodes[each] for each in self.plan.ids([node.config["inputs"]]))
        stands = None if self.whole else self.standing.get((node.schema, node.table))
        if stands == "view":  # of a preview: the lake's own table, where nothing is changed
            execute(f"create or replace temp table kept_parts as from {node.relation}")
            self._replace(node, "table", "from temp.kept_parts")
        order = node.config.get("in_order_of")
        nth = f"(row_number() over (order by {order}, part) - 1) // {_SLICE}" if order else "0"
        waits = "where part not in (select part from temp.done_parts)" if stands else ""
        execute(f"create or replace temp table current_parts as from {inputs.relation}")
        if stands:  # a part has many rows: each would be hashed to be joined
            execute(
                "create or replace temp table done_parts as "
                f"select distinct part from {node.relation}"
            )
        execute(
            "create or replace temp table waiting_parts as "
            f"select *, {nth} as slice from temp.current_parts {waits}"
        )
        gone = "part not in (select current_parts.part from temp.current_parts)"
        if stands and self.lake.value(f"select exists(from temp.done_parts where {gone})"):
            execute(f"delete from {node.relation} where {gone}")
        sql = node.sql.replace(inputs.relation, "temp.stale_parts")
        slices = "select distinct slice from temp.waiting_parts order by slice"
        for each in self.lake.column(slices) or [0]:
            execute(
                "create or replace temp table stale_parts as "
                f"select * exclude (slice) from temp.waiting_parts where slice = {each:d}"
            )
            if stands:
                execute(f"insert into {node.relation} by name {sql}")
            else:
                self._replace(node, "table", sql)
                stands = "table"

    def _keep_history(self, node: Node) -> None:
        same = " and ".join(
            f"spells.{column} is not distinct from now_true.{column}"
            for column in node.config["check_cols"]
        )
        words: Mapping[str, str] = {
            "relation": node.relation,
            "sql": node.sql,
            "unique_key": node.config["unique_key"],
            "same": f"dbt_is_deleted = 'False' and {same}",
        }
        if (node.schema, node.table) not in self.standing:
            self.lake.connection.execute(_NO_SPELLS.format(**words))
            self.standing[node.schema, node.table] = "table"
        self.lake.connection.execute(_SPELLS.format(**words))
