"""What dbt makes of the models, kept: the SQL of each, in an order in which they can be made.

dbt compiles once for each state of the definitions, in ten seconds; the SQL is the same for every
lake. A wheel brings the plan of its own models along (`make wheel`); that of others is kept in the
user's cache. Where nothing can be kept, dbt compiles for each build.
"""

import json
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from gradelake.sql.build.changes import DBT_PROJECT
from gradelake.sql.common.cache import cache_folder, keep
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.project import Project, require_known

SEED, TEST = "seed_file", "test"  # kinds; others are view, table, parts and snapshot
PACKAGED = DBT_PROJECT / "plan.json"  # in a wheel
_KEPT = 4  # of the newest


@dataclass(frozen=True)
class Node:
    """A model, seed, snapshot or data test, as dbt compiled it."""

    id: str
    name: str
    kind: str
    schema: str
    table: str
    sql: str
    reads: list[str]  # ids, those of raw tables among them
    columns: dict[str, str]  # of a model with a contract, in its order, and their types
    config: dict[str, Any]  # of parts and snapshots
    generic: bool  # a test that stands beside a column, or is one of several of its kind

    @property
    def relation(self) -> str:
        """Its table or view, as compiled SQL names it."""
        return f'"lake"."{self.schema}"."{self.table}"'


class BuildPlan:
    """All nodes that a build may make (dbt_project/selectors.yml), seeds and what their checks read
    before others, each after what it reads."""

    def __init__(self, nodes: Iterable[Node]):
        found = {node.id: node for node in nodes}
        order = TopologicalSorter({node.id: node.reads for node in found.values()}).static_order()
        self.nodes = {each: found[each] for each in order if each in found}
        seeds = [node.id for node in found.values() if node.kind == SEED]
        self.for_seeds = self.above(seeds)
        self.nodes = {each: self.nodes[each] for each in self.nodes if each in self.for_seeds} | (
            self.nodes
        )

    def ids(self, names: Iterable[str]) -> list[str]:
        """The ids of models and seeds, by their tables. Raises `BadInput` for what is not one."""
        known = {node.table: node.id for node in self.nodes.values() if node.kind != TEST}
        for name in names:
            require_known(name, known, f"there is no model {name!r}")
        return [known[name] for name in names]

    def above(self, ids: Iterable[str]) -> set[str]:
        """These nodes and all that they are made of."""
        found, todo = set[str](), [each for each in ids if each in self.nodes]
        while todo:
            if (one := todo.pop()) not in found:
                found.add(one)
                todo += [each for each in self.nodes[one].reads if each in self.nodes]
        return found

    def below(self, ids: Iterable[str]) -> set[str]:
        """These nodes and all that is made of them, data tests too."""
        found = set(ids)
        for node in self.nodes.values():
            if found.intersection(node.reads):
                found.add(node.id)
        return found & self.nodes.keys()


def plan(definitions: str) -> BuildPlan:
    """The plan of the models with these definitions (`changes.definitions`): a kept one, the
    wheel's, or dbt's now."""
    file = cache_folder() / f"{definitions[:32]}-plan.json"
    for each in (file, PACKAGED):
        with suppress(OSError, ValueError, KeyError, TypeError):  # none yet, or a damaged one
            kept = json.loads(each.read_bytes())
            if kept["definitions"] == definitions:
                return BuildPlan(Node(**node) for node in kept["nodes"])
    nodes = _compiled()
    keep(file, packed(definitions, nodes))
    with suppress(OSError):
        plans = sorted(file.parent.glob("*-plan.json"), key=lambda each: each.stat().st_mtime)
        for old in plans[:-_KEPT]:
            old.unlink(missing_ok=True)
    return BuildPlan(nodes)


def packed(definitions: str, nodes: Iterable[Node]) -> bytes:
    """A plan as it is kept, with the definitions that it is of."""
    plan = {"definitions": definitions, "nodes": [asdict(node) for node in nodes]}
    return json.dumps(plan).encode()


def _compiled() -> list[Node]:
    from gradelake.sql.build import dbt
    from gradelake.sql.lake.opening import Lake

    with tempfile.TemporaryDirectory(prefix="gradelake-plan-") as folder:
        Path(folder, "gradelake.toml").touch()
        project = Project.find(Path(folder))
        Lake.create(project).close()
        try:
            done = dbt.run(project, ["compile", "--no-write-json"], Path(folder, "dbt"))
        except dbt.Failed as error:
            raise WorkFailed(f"dbt cannot compile the models\n  {error}") from None
        nodes = [each.node for each in done.results]
    return [_node(node) for node in nodes if node.resource_type in ("model", "snapshot", "test")]


def _node(node: Any) -> Node:
    config = node.config.to_dict()
    enforced = config.get("contract", {}).get("enforced")
    kept = ("inputs", "in_order_of", "unique_key", "check_cols")
    return Node(
        id=node.unique_id,
        name=node.name,
        kind=config["materialized"],
        schema=node.schema,
        table=node.alias,
        sql=node.compiled_code,
        reads=[*node.depends_on.nodes],
        columns={name: about.data_type for name, about in node.columns.items()} if enforced else {},
        config={name: config[name] for name in kept if config.get(name)},
        generic=bool(getattr(node, "test_metadata", None)),
    )
