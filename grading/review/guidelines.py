"""What assessors are to go by: a Markdown file of the collection, shown as it is written."""

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project


def guidelines_of(project: Project, collection: str) -> str | None:
    """The text of `guidelines` of a collection of gradelake.toml; None where it names none. Raises
    `BadInput` for a file that cannot be read as text."""
    name = project.collections.get(collection, {}).get("guidelines")
    if not isinstance(name, str):
        return None
    file = project.folder / name
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else "cannot be read as text"
        raise BadInput(f"{file}: {why}", "`guidelines` in gradelake.toml names it.") from error
