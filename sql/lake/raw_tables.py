"""What the raw tables are, as dbt_project/models/raw/ declares them."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

DECLARED = Path(__file__).resolve().parents[2] / "dbt_project" / "models" / "raw"


@dataclass(frozen=True)
class RawTable:
    """A raw table's key, and its columns: name -> SQL type, and what a value must be."""

    key: list[str]
    types: dict[str, str]
    rules: dict[str, dict[str, Any]]

    def create(self, name: str) -> str:
        """The statement that makes the table."""
        columns = [
            f"{column} {type_}" + ("" if self.rules[column].get("optional") else " not null")
            for column, type_ in self.types.items()
        ]
        return f"create table raw.{name} ({', '.join(columns)})"


@cache
def raw_tables() -> dict[str, RawTable]:
    """Every raw table by its name."""
    import yaml

    files = [file.read_text(encoding="utf-8") for file in sorted(DECLARED.glob("*.yml"))]
    declared = [yaml.load(text, Loader=yaml.CSafeLoader)["sources"][0] for text in files]
    return {
        table["name"]: RawTable(
            _meta(table).get("key", []),
            {column["name"]: column["data_type"] for column in table["columns"]},
            {column["name"]: _meta(column) for column in table["columns"]},
        )
        for source in declared
        for table in source["tables"]
    }


def _meta(node: dict[str, Any]) -> dict[str, Any]:
    return node.get("config", {}).get("meta", {})
