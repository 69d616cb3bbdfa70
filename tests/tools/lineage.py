"""The lineage of the models as a Mermaid diagram that a page can hold, drawn from dbt's manifest.

python -m tests.tools.lineage        renews the picture in dbt_project/README.md
"""

import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gradelake.sql.build.changes import DBT_PROJECT
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.whole_file import whole_file

PAGE = DBT_PROJECT / "README.md"
_FENCED = re.compile(r"```mermaid\n.*?```", re.DOTALL)

Edges = set[tuple[str, str]]  # (made of, what is made)


def mermaid(manifest: Any) -> str:
    """The picture of a manifest (`gradelake.sql.build.docs.manifest`).

    Boxes are folders of marts, exposures, and what comes in: raw tables and seeds, those that go
    the same ways in one box. Staging and intermediate models are the arrows. An arrow that other
    arrows imply is left out, except to exposures, which show what they read themselves.
    """
    nodes = manifest.nodes | manifest.sources | manifest.exposures
    boxes = {unique_id: _box(node) for unique_id, node in nodes.items()}
    boxes = {unique_id: box for unique_id, box in boxes.items() if box}
    made: Edges = set()
    read: Edges = set()
    for unique_id, box in boxes.items():
        if box.startswith("seed "):
            continue  # what its check reads is none of its rows
        edges = read if box.startswith("exposure ") else made
        sources = {boxes[one] for one in _nearest(unique_id, manifest.parent_map, boxes)}
        edges |= {(source, box) for source in sources if source != box}
    return _drawn(_reduced(made), read, boxes, nodes)


def renew(page: Path = PAGE) -> None:
    """Put the picture of the models as they are into a page. Raises `BadInput` without a place."""
    from gradelake.sql.build import docs
    from gradelake.sql.common.project import Project

    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "gradelake.toml"  # dbt asks for one, though nothing is read
        config.touch()
        picture = mermaid(docs.manifest(Project.read(config)))
    text = page.read_text(encoding="utf-8")
    if not _FENCED.search(text):
        raise BadInput(f"{page}: there is no picture to renew", "Put in a block ```mermaid first.")
    with whole_file(page) as file:
        file.write(_FENCED.sub(lambda _: picture, text, count=1).encode())


def picture_of(page: Path = PAGE) -> str:
    """The picture that a page has, as `mermaid` writes it."""
    return _FENCED.search(page.read_text(encoding="utf-8"))[0]


def _box(node: Any) -> str | None:
    """The box a node is in, as "kind name"; None for what is drawn as arrows, and for tests."""
    kind = str(node.resource_type)
    if kind == "model" and node.fqn[1] == "seeds":
        return f"seed {node.name}"
    if kind == "model":
        return f"marts {node.fqn[2]}" if node.fqn[1] == "marts" else None
    return f"{kind} {node.name}" if kind in ("source", "exposure") else None


def _nearest(unique_id: str, parents: dict[str, list[str]], boxes: dict[str, str]) -> set[str]:
    """The nodes in boxes that a node is made of, directly or by way of nodes in none."""
    found, looked_at, ahead = set(), set(), list(parents.get(unique_id, ()))
    while ahead:
        parent = ahead.pop()
        if parent in looked_at:
            continue
        looked_at.add(parent)
        if parent in boxes:
            found.add(parent)
        else:
            ahead += parents.get(parent, ())
    return found


def _reduced(edges: Edges) -> Edges:
    """The edges that no longer way replaces: what can be reached stays the same."""
    kept = set(edges)
    for edge in sorted(edges):
        if _leads(kept - {edge}, *edge):
            kept.remove(edge)
    return kept


def _leads(edges: Edges, start: str, end: str) -> bool:
    reached, ahead = {start}, [start]
    while ahead:
        here = ahead.pop()
        onward = {to for source, to in edges if source == here} - reached
        if end in onward:
            return True
        reached |= onward
        ahead += onward
    return False


def _drawn(made: Edges, read: Edges, boxes: dict[str, str], nodes: dict[str, Any]) -> str:
    targets = defaultdict(set)
    for source, box in made:
        targets[source].add(box)
    alike: dict[tuple, list[str]] = defaultdict(list)  # what comes in, by where it goes
    for box in sorted(set(boxes.values())):
        if box.startswith(("source ", "seed ")):
            alike[box.split()[0], tuple(sorted(targets[box]))].append(box)
    folders: dict[str, set[str]] = defaultdict(set)
    labels: dict[str, str] = {}
    for unique_id, box in boxes.items():
        if box.startswith("marts "):
            folders[box].add(nodes[unique_id].name)
        elif box.startswith("exposure "):
            labels[box] = nodes[unique_id].label or nodes[unique_id].name
    ids: dict[str, str] = {}
    lines = ["flowchart LR"]

    def group(title: str, kind: str, members: Iterable[tuple[list[str], str]]) -> None:
        lines.append(f'  subgraph {kind}["{title}"]')
        for n, (in_it, label) in enumerate(members, start=1):
            ids.update(dict.fromkeys(in_it, f"{kind}{n}"))
            lines.append(f'    {kind}{n}["{label}"]')
        lines.append("  end")

    for kind, title in (
        ("source", "what came in: lake.raw"),
        ("seed", "what people decide: seeds"),
    ):
        of_kind = [names for (which, _), names in sorted(alike.items()) if which == kind]
        group(
            title, kind, [(in_it, ", ".join(box.split()[1] for box in in_it)) for in_it in of_kind]
        )
    group(
        "lake.marts",
        "marts",
        [
            ([box], "<br>".join([f"<b>{box.split()[1]}</b>", *sorted(names)]))
            for box, names in sorted(folders.items())
        ],
    )
    group("who reads them", "exposure", [([box], labels[box]) for box in sorted(labels)])
    lines += sorted({f"  {ids[source]} --> {ids[box]}" for source, box in made | read})
    return "\n".join(["```mermaid", *lines, "```"])


if __name__ == "__main__":
    renew()
