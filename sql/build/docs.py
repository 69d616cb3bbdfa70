"""dbt's own documentation of the models, as one HTML file that opens from a disk."""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gradelake.sql.build import dbt
from gradelake.sql.common import page_policy
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.common.whole_file import whole_file
from gradelake.sql.lake.connection import require_lake
from gradelake.sql.lake.opening import Lake

# what has a page of its own; tests are shown beside the columns they check
_PAGES = ("model", "snapshot", "source")
# What dbt's page asks for beyond itself, and what becomes of it:
_FIXED = {
    # an icon whose address was never filled in when the page was made
    """<link rel="shortcut icon" href="${require('./assets/favicons/favicon.ico')}"/>""": "",
    # icons whose address a browser fetches, braces and all, before Angular has filled it in
    """xlink:href="{{ getIcon(""": """ng-attr-href="{{ getIcon(""",
    # Angular would try whether it may evaluate text, which the policy below refuses
    """ng-app="dbt\"""": """ng-app="dbt" ng-csp="no-unsafe-eval\"""",
    # its tracker is off (dbt_project.yml); whatever else there may be is refused. Styles are not:
    # the page sets them in many places of its script.
    """<meta charset="utf-8">""": (
        """<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src """
        """'none'; script-src THE-SCRIPT; style-src 'unsafe-inline'; img-src data: blob:; """
        """font-src data:; base-uri 'none'; form-action 'none'">"""
    ),
}
_SCRIPT = re.compile("<script[^>]*>(.*?)</script>", re.DOTALL)


def write_docs(project: Project, target: Path) -> dict[str, Any]:
    """Document the models in an HTML file; columns and their types are those of the newest release.

    Only reads the lake: no lock, and nothing is written beside it. Returns the file's size, and
    what it covers. Raises `BadInput` when there is no lake or nothing is published, and
    `WorkFailed` with dbt's own words.
    """
    with whole_file(target) as file:  # before dbt runs: it may not be writable
        html, covered = _page(project)
        content = html.encode()
        file.write(content)
    return {"file": str(target), "bytes": len(content), **covered}


def _page(project: Project) -> tuple[str, dict[str, Any]]:
    release = _newest_release(project)
    # dbt's own files: the lake's folder may belong to somebody else, or be in use
    with TemporaryDirectory(prefix="gradelake-docs-", ignore_cleanup_errors=True) as folder:
        target = Path(folder)
        selected = [f"resource_type:{kind}" for kind in _PAGES]
        _run(project, target, release, ["docs", "generate", "--static", "--select", *selected])
        page = (target / "static_index.html").read_text(encoding="utf-8")
        theirs = (target / "manifest.json").read_text(encoding="utf-8")
        catalog = json.loads((target / "catalog.json").read_text(encoding="utf-8"))
    manifest = json.loads(theirs.replace(str(target), "target"))  # nobody's business
    # unit tests outnumber what the lineage graph is looked at for
    unit_tests = set(manifest["unit_tests"])
    manifest["unit_tests"] = {}
    for neighbours in ("parent_map", "child_map"):
        manifest[neighbours] = {
            unique_id: [one for one in others if one not in unit_tests]
            for unique_id, others in manifest[neighbours].items()
            if unique_id not in unit_tests
        }
    found = catalog["nodes"] | catalog["sources"]
    columns = {unique_id: list(table["columns"]) for unique_id, table in found.items()}
    for unique_id in columns.keys() & manifest["nodes"].keys():
        described = manifest["nodes"][unique_id]["columns"]
        for column in columns[unique_id]:
            about = described.setdefault(column, {"name": column, "meta": {}, "tags": []})
            about["description"] = meaning(manifest, columns, unique_id, column)
    # in a script, `</` could end it
    page = page.replace(theirs, json.dumps(manifest, ensure_ascii=False).replace("</", "<\\/"))
    for theirs, ours in _FIXED.items():
        page = page.replace(theirs, ours)
    (script,) = _SCRIPT.findall(page)
    page = page.replace("THE-SCRIPT", page_policy.source(script), 1)
    pages = {
        unique_id: node
        for unique_id, node in (manifest["nodes"] | manifest["sources"]).items()
        if node["resource_type"] in _PAGES
    }
    return page, {
        "release": release,
        "models": sum(node["resource_type"] == "model" for node in pages.values()),
        "columns": sum(len(table["columns"]) for table in found.values()),
        "not_built": sorted(node["name"] for each, node in pages.items() if each not in found),
    }


def meaning(
    manifest: dict[str, Any], columns: dict[str, list[str]], unique_id: str, column: str
) -> str:
    """What a table's column means: what its yml says, else what the first says that it reads.

    `columns`: of each table, by its id in dbt's manifest. Empty when nobody says it.
    """
    node = manifest["nodes"].get(unique_id) or manifest["sources"].get(unique_id)
    if node is None or column not in columns.get(unique_id, ()):
        return ""
    own = node["columns"].get(column, {}).get("description", "").strip()
    sources = node.get("depends_on", {}).get("nodes", ())
    passed_on = (meaning(manifest, columns, each, column) for each in sources)
    return own or next(filter(None, passed_on), "")


def _newest_release(project: Project) -> str:
    require_lake(project)
    try:
        with Lake.published(project) as lake:
            assert lake.release is not None  # what is published is a release
            return lake.release
    except BadInput as error:
        unbuilt = "--live" in (error.hint or "")  # the way out of other commands
        raise BadInput(
            error.message, "Run `gradelake build` first." if unbuilt else error.hint
        ) from None


def _run(project: Project, target: Path, release: str, command: list[str]) -> None:
    from gradelake.sql.build import dbt_plugin

    try:
        dbt.run(project, command, target, **{dbt_plugin.READ_RELEASE: release})
    except dbt.Failed as error:
        raise WorkFailed(
            f"dbt could not document the models\n  {error}",
            f"Do the models fit release {release}? Run `gradelake build` and try again.",
        ) from None
