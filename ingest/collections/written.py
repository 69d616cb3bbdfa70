"""What a program was given, as the files of a collection: JSON lines, which `ingest` reads."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote


def write_collection(
    folder: Path, queries: Iterable[Any], passages: Sequence[Any], responses: Mapping[str, Any]
) -> dict[str, Any]:
    """Write rows into a folder, `responses` those of each system. Returns the settings of a
    collection of these files; there are none of what has no rows."""

    def written(name: str, rows: Iterable[Any]) -> str:
        file = folder / f"{name}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        file.write_text(text, encoding="utf-8")
        return str(file)

    settings: dict[str, Any] = {"queries": written("topics", queries)}
    if passages:
        settings["passages"] = written("passages", passages)
    if responses:
        settings["responses"] = [
            written(f"responses/{quote(name, safe='')}", rows) for name, rows in responses.items()
        ]
    return settings
