"""The tables that a session of `gradelake sql` can ask, under the names it asks them by."""

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import did_you_mean
from gradelake.sql.lake.dictionary import meanings
from gradelake.sql.lake.opening import Lake

SCHEMAS = ("marts", "raw", "intermediate")  # most useful first
HOME = "marts"  # its tables, and temporary ones, need no prefix


def tables(lake: Lake) -> dict[str, dict[str, str]]:
    """Names of tables and views, the most useful schema's first, each with its columns' types."""
    columns = lake.rows(
        """
        select
            case when database_name = 'temp' or schema_name = $home
                then table_name else schema_name || '.' || table_name
            end as shown,
            column_name,
            data_type
        from duckdb_columns()
        where
            (database_name = 'lake' and list_contains($schemas, schema_name))
            or (database_name = 'temp' and not internal)
        order by
            case when database_name = 'temp' then 0
                else list_position($schemas, schema_name) end,
            shown,
            column_index
        """,
        home=HOME,
        schemas=list(SCHEMAS),
    )
    found: dict[str, dict[str, str]] = {}
    for table, column, type_ in columns:
        found.setdefault(table, {}).setdefault(column, type_)
    return found


def shown_name(name: str) -> str:
    """A table's name without what need not be said: `lake.` and `marts.`."""
    return name.lower().removeprefix("lake.").removeprefix(f"{HOME}.")


def schema_of(lake: Lake, name: str) -> tuple[list[str], list[tuple]]:
    """The columns of a table: name, type and, where the lake says it, what each means.

    Returns a header and its rows. Raises `BadInput` when there is no such table.
    """
    known = {each.lower(): columns for each, columns in tables(lake).items()}
    table = shown_name(name.strip().strip(";").replace('"', ""))
    if table not in known:
        bare = [each for each in known if each.endswith(f".{table}")]
        raise BadInput(
            f"there is no table {name}",
            f"Did you mean {bare[0]!r}?" if bare else did_you_mean(table, known),
        )
    described = meanings(lake).get(table)
    if described is None:
        return ["column", "type"], list(known[table].items())
    rows = [(column, type_, described.get(column)) for column, type_ in known[table].items()]
    return ["column", "type", "meaning"], rows
