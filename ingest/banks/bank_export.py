"""`gradelake export bank`: a rubric bank as a file that `import bank` and the workbench read."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering, reading, to_file
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import TO_BANK, did_you_mean
from gradelake.sql.common.rubric_items import plural
from gradelake.sql.common.whole_file import whole_file
from gradelake.sql.lake.opening import Lake

if TYPE_CHECKING:  # it brings polars, which `gradelake --help` should not wait for
    from gradelake.ingest.banks.bank_items import Item


def _print_written(done: dict) -> None:
    console.say(f"{done['output']}: wrote {counted(done['items'], 'items')} of bank {done['bank']}")


@click.command("bank", short_help="Write a rubric bank of COLLECTION as it was ingested.")
@click.argument("collection")
@click.option("--name", required=True, help="Name of the bank.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["workbench", "csv", "nuggetizer", "criteria"]),
    default="workbench",
    help="Format of the file.",
)
@to_file("File to write; zipped when its name ends in .gz.", required=True)
@answering(_print_written)
@reading
def export_bank(read, collection, name, format_, output):
    """Write a rubric bank of COLLECTION as it was ingested: rubric version 0.

    \b
    Examples:
      gradelake export bank dl19 --name questions --output questions.jsonl.gz
    """
    with console.working("reading the lake"), read() as lake:
        n_items = write_bank(lake, collection, name, format_, output)
    return {"bank": name, "items": n_items, "output": str(output)}


_ONLY = {"criteria": "criterion", "nuggetizer": "nugget"}  # format -> the kind that it holds
ITEMS = """
    select query_id, facet_id, item_id, kind, text, gold_answers, weight
    from lake.raw.rubric_items
    where collection = ? and bank = ?
    order by query_id, facet_id, kind, place, item_id
"""
BROUGHT_ALONG = """
    select query_id, part, content
    from lake.raw.brought_along
    where target = ?
    order by place, query_id, part
"""


def write_bank(lake: Lake, collection: str, bank: str, format_: str, output: Path) -> int:
    """Write a bank in the order of its author. Returns the number of items.

    `workbench`: JSON lines, one object per query, facet and kind; weights other than 1 are an extra
    key, which the workbench passes over. `nuggetizer`: what `nuggetizer create` writes; a nugget
    that weighs 1 or more is vital. `criteria`: as TREC RAG 2026's development rubrics. A bank that
    came in that form has its lines as they came. The same bank gives the same bytes. Raises
    `BadInput` for an unknown bank, and when the file cannot be written.
    """
    from gradelake.ingest.banks import bank_lines, bank_table
    from gradelake.ingest.banks.bank_items import Item

    items = [Item(None, *row) for row in lake.rows(ITEMS, collection, bank)]
    if not items:
        lake.require_collection(collection)
        banks = "select distinct bank from lake.raw.rubric_items where collection = ?"
        hint = did_you_mean(bank, lake.column(banks, collection), TO_BANK)
        if lake.release is not None:
            hint += " With --live, what was imported since the last build is read too."
        raise BadInput(f"{collection!r} has no bank {bank!r} here", hint)
    if format_ == "csv":
        text = bank_table.text_of(items)
    else:
        if only := _ONLY.get(format_):
            _require_only(only, items, bank, format_)
        brought = lake.rows(BROUGHT_ALONG, f"{collection}/bank/{bank}")
        form = bank_lines.form_of(format_, lake.query_texts(collection), collection)
        text = bank_lines.text_of(form, items, brought)
    with whole_file(output) as stream:
        stream.write(text.encode())
    return len(items)


def _require_only(kind: str, items: "list[Item]", bank: str, format_: str) -> None:
    others = {each for item in items if (each := item.kind.split(":")[0]) != kind}
    if others:
        raise BadInput(
            f"bank {bank!r} has {plural(min(others))}, and {format_} holds {plural(kind)} only",
            "Take --format workbench or csv.",
        )
