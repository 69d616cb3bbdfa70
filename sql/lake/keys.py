"""What makes a row of each raw table unique."""

from gradelake.sql.lake.raw_tables import raw_tables

# table -> columns (none: repeats are meaningful)
KEYS: dict[str, list[str]] = {name: table.key for name, table in raw_tables().items()}
