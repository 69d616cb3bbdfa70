"""What commands and the Python API return, as the object that `--json` prints."""

from dataclasses import asdict, is_dataclass
from typing import Any


def as_object(result: Any) -> Any:
    """A result as an object of plain values: what it says of itself, else its fields."""
    if hasattr(result, "as_object"):
        return result.as_object()
    if is_dataclass(result) and not isinstance(result, type):
        return asdict(result)
    return result
