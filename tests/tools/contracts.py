"""`make contracts`: the record of what each mart's versions promise, dbt_project/contracts.txt.

python -m tests.tools.contracts

Adds marts, versions and columns that are new. What a version promised stays in it: a column that is
gone, or has another type, belongs in a new version beside it (dbt_project/README.md says how).
"""

import sys

from gradelake.sql.build.changes import DBT_PROJECT, definitions
from gradelake.sql.build.plan import TEST, plan

RECORD = DBT_PROJECT / "contracts.txt"
HEAD = """\
# What marts promise to whoever reads them: a line per mart and version, its columns and types.
# `make contracts` adds what is new. To take a promise back on purpose, before anybody reads it,
# remove its line first.
"""
Contracts = dict[str, dict[str, str]]  # types by column, by mart and version: `kappa v1`


def current() -> Contracts:
    """The contracts of the models as they are, as dbt reads them."""
    found = {}
    for node in plan(definitions()).nodes.values():
        if node.schema == "marts" and node.kind != TEST:
            version = node.id.rpartition(".")[2]
            found[f"{node.name} {version}"] = node.columns
    return found


def recorded() -> Contracts:
    """The contracts of the record."""
    found = {}
    for line in RECORD.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            mart, _, columns = line.partition(": ")
            found[mart] = dict(column.split(" ") for column in columns.split(", "))
    return found


def broken(promised: Contracts, now: Contracts) -> list[str]:
    """What was promised and is not so any more, in sentences."""
    found = []
    for mart, columns in promised.items():
        if mart not in now:
            found.append(f"{mart} is gone")
            continue
        for column, type_ in columns.items():
            if (is_now := now[mart].get(column)) is None:
                found.append(f"{mart} has no column {column} any more")
            elif is_now != type_:
                found.append(f"{mart}: {column} is {is_now}, and was {type_}")
    return found


def written(contracts: Contracts) -> str:
    """The record's text."""
    lines = (
        f"{mart}: {', '.join(f'{column} {type_}' for column, type_ in columns.items())}\n"
        for mart, columns in sorted(contracts.items())
    )
    return HEAD + "".join(lines)


def main() -> int:
    """Write the record, unless a promise is broken. Returns the exit code."""
    now = current()
    if problems := broken(recorded() if RECORD.exists() else {}, now):
        print("\n".join(problems))
        print("A changed column is a new version of its mart: dbt_project/README.md says how.")
        return 1
    RECORD.write_text(written(now), encoding="utf-8")
    print(f"{RECORD}: {len(now)} contracts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
