"""Pictures with a row for each system, query or item."""

from collections.abc import Collection

from gradelake.sql.common.errors import BadInput

MOST_ROWS = 200  # of a picture


def require_room(rows: Collection, of: str, instead: str) -> None:
    """Raises `BadInput` for too many rows, whatever they are `of`; `instead` says what to do."""
    if len(rows) > MOST_ROWS:
        raise BadInput(
            f"{len(rows)} {of} are more than a picture has room for ({MOST_ROWS})", instead
        )
