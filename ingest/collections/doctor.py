"""What `gradelake doctor` finds out about collections, without reading their files."""

from gradelake.ingest.collections.collection import NO_TOPICS, ONE_FILE, Collection
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.operations.doctor import Finding


def collections(project: Project) -> list[Finding]:
    """Whether each collection of gradelake.toml could be ingested: its settings, as `ingest` checks
    them, and its files."""
    return [_look_at(project, name) for name in project.collections]


def _look_at(project: Project, name: str) -> Finding:
    try:
        found = Collection.named(project, name)
    except BadInput as error:
        return Finding("bad", error.message, error.hint)
    files = [getattr(found, setting) for setting in ONE_FILE]
    files += [*found.judgments.values(), *found.official_ranks.values()]
    missing = [file for file in files if file and not (project.folder / file).is_file()]
    if missing:
        return Finding(
            "bad",
            f"[collections.{name}] names missing files: {', '.join(missing)}",
            f"Paths are relative to {project.folder}.",
        )
    if not found.names_topics:
        return Finding("note", f"[collections.{name}] names no topics", NO_TOPICS)
    return Finding("good", f"collection {name}: its files are there")
