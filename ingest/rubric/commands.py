"""Commands for people's edits of a rubric: show, edit, preview, diff."""

import sys
from pathlib import Path

import click

from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering, refuse_beside
from gradelake.sql.common.errors import BadInput

_collection = click.option(
    "--collection", help="The collection (default: the only one, or the only one with the query)."
)
_sheet = click.Path(path_type=Path, allow_dash=True)


def _answering(printer: str):
    """`answering`, which prints a result as this function of rubric_text does."""

    def show(result):
        from gradelake.ingest.rubric import rubric_text  # after the command: it needs DuckDB

        getattr(rubric_text, printer)(result)

    return answering(show)


@click.group()
def rubric():
    """See, edit and compare versions of a rubric.

    Version 0 is the banks as they were imported; edits make the versions after it, in
    seeds/rubric_edits.csv next to gradelake.toml.

    \b
    Examples:
      gradelake rubric show volcano-prediction
      gradelake rubric edit volcano-prediction
      gradelake rubric preview
    """


@rubric.command(short_help="List the items of a QUERY, including dropped ones.")
@click.argument("query")
@_collection
@click.option("--version", type=click.IntRange(min=0), help="Default: the newest.")
@_answering("print_query")
@click.pass_obj
def show(project, query, collection, version):
    """List the items of a QUERY, what the version did to them, and those dropped so far.

    \b
    Examples:
      gradelake rubric show volcano-prediction --version 1
    """
    from gradelake.ingest.rubric import rubric_text

    found, _ = _open(project(), collection, (query,))
    version = found.newest if version is None else version
    found.check_version(version)
    return rubric_text.query_as_object(found, query, version)


@rubric.command(short_help="Open the items of QUERIES in your editor; keep the changes.")
@click.argument("queries", nargs=-1, metavar="[QUERY]...")
@_collection
@click.option("--bank", help="Only the items of this bank.")
@click.option("--reason", help="Why; kept beside the edits.")
@click.option(
    "--version",
    type=click.IntRange(min=1),
    help="Add to this version, if it is the newest; default: a new one.",
)
@click.option(
    "--from",
    "source",
    type=_sheet,
    metavar="FILE",
    help="Read a saved sheet instead of opening an editor; - is standard input.",
)
@click.option("--print", "print_sheet", is_flag=True, help="Print the sheet and change nothing.")
@click.option("--yes", "-y", is_flag=True, help="Save without a preview, and without asking.")
@_answering("print_saved")
@click.pass_context
def edit(context, queries, collection, bank, reason, version, source, print_sheet, yes):
    """Open the items of QUERIES in your editor, and keep what you change as a new version.

    After the editor you see what the edits will do (as `rubric preview` says it), and are asked
    before they are saved. A sheet that is read with --from is saved at once.

    The editor is $VISUAL or $EDITOR. An item is a line: change its text or weight, remove it, add
    lines that begin with +, remove the # from a dropped item. A sheet with a wrong line changes
    nothing, and is kept.

    \b
    Examples:
      gradelake rubric edit volcano-prediction --reason "too easy"
      gradelake rubric edit q1 q2 --print > sheet.txt
      gradelake rubric edit --from sheet.txt
    """
    from gradelake.ingest.rubric import editor
    from gradelake.ingest.rubric.save import Session, next_version, save

    if source and print_sheet:
        raise BadInput("--from and --print cannot be used together")
    if print_sheet:
        refuse_beside("--print", {"--json": "prints a sheet"})
    if not queries and not source:
        raise BadInput("name the queries to edit", "For example: gradelake rubric edit QUERY")
    if not (source or print_sheet):
        editor.command()  # before any work: there must be one
    project = context.obj()
    text, shown = _read_sheet(source) if source else ("", "")
    if source and collection is None:
        collection = _collection_of(text, shown)
    found, rows = _open(project, collection, queries or None)
    session = Session(project, found, rows, queries, bank, version, reason or "")
    next_version(rows, found.collection, version)
    if print_sheet:
        sys.stdout.write(session.text())
        context.exit()
    if source:  # perhaps by a notebook, whose shell looks like a terminal and nobody answers
        return save(session.read(text, shown, reason))
    asks = not (yes or context.params["as_json"]) and sys.stdin.isatty() and sys.stderr.isatty()

    def use(text, shown):
        proposal = session.read(text, shown)
        return save(proposal, _confirmed(proposal) if asks else b"")

    return editor.edit(session.text(), project.lake_path / "sheets", found.collection, use)


@rubric.command(short_help="Say what edits will do once they are built; write nothing.")
@click.argument("collection", required=False)
@click.option(
    "--from",
    "source",
    type=_sheet,
    metavar="FILE",
    help="The edits of a saved sheet (- from standard input), instead of those in the file.",
)
@_answering("print_previewed")
@click.pass_obj
def preview(project, collection, source):
    """Say what edits will do once they are built: which labels change, which boards move, and how
    many grades will be wanted.

    The edits are those that were saved since the last build, or those of a sheet that was not saved
    yet. They go through the same SQL as in a build, in memory: the lake is only read.

    \b
    Examples:
      gradelake rubric preview
      gradelake rubric preview demo --from sheet.txt
    """
    from gradelake.ingest.rubric import preview as previews

    project = project()
    text, shown = _read_sheet(source) if source else ("", "")
    with console.working("trying the edits out"):
        if not source:
            return previews.of_saved(project, collection)
        session = previews.session(project, collection or _collection_of(text, shown))
        return previews.of_proposal(session.read(text, shown))


@rubric.command(short_help="Show what differs between versions V1 and V2.")
@click.argument("first", metavar="V1", type=click.IntRange(min=0))
@click.argument("second", metavar="V2", type=click.IntRange(min=0))
@_collection
@click.option("--query", help="Only this query.")
@_answering("print_diff")
@click.pass_obj
def diff(project, first, second, collection, query):
    """Show what differs between versions V1 and V2: dropped, added, reworded, reweighted.

    In a reworded text, [-words-] are gone and {+words+} are new.

    \b
    Examples:
      gradelake rubric diff 0 2
    """
    from gradelake.ingest.rubric.differences import Diff, differences

    found, _ = _open(project(), collection, (query,) if query is not None else None)
    return Diff(found, first, second, differences(found, first, second))


def _open(project, collection: str | None, queries):
    """(a collection's rubric with every edit of the file, the file's rows)."""
    with console.working("reading the rubric"):
        from gradelake.ingest.rubric.rubric import Rubric, choose_collection
        from gradelake.ingest.rubric.up_to_date import open_up_to_date

        lake, rows = open_up_to_date(project)
        with lake:
            collection = choose_collection(project, lake, collection, queries)
            return Rubric(lake, collection, queries), rows


def _read_sheet(source: Path) -> tuple[str, str]:
    from gradelake.sql.common import files

    if str(source) != "-":
        if source.is_file() and not source.read_bytes().strip():
            return "", str(source)
        return files.read(source, str(source)).decode(), str(source)
    try:
        return sys.stdin.buffer.read().decode(), "<standard input>"
    except UnicodeDecodeError as error:
        raise BadInput(f"<standard input>: not UTF-8 ({error})") from error


def _collection_of(text: str, shown: str) -> str | None:
    from gradelake.ingest.rubric import sheet

    return sheet.read(text, shown).collection or None


def _confirmed(proposal) -> bytes:
    """What the file will hold, once it was shown what that will do. Raises `BadInput` unless it
    shall be saved."""
    from gradelake.ingest.rubric import preview as previews
    from gradelake.ingest.rubric import rubric_text
    from gradelake.ingest.rubric.save import numbered

    saved = numbered(proposal)
    if saved.version is not None:
        with console.working("trying the edits out (--yes saves without this)"):
            versions = previews.of_proposed(proposal.session.project, proposal.collection, saved)
        for version in versions:
            rubric_text.print_version(version)
        if not click.confirm("Save?", default=True, err=True):
            raise BadInput("nothing was saved")
    return saved.content
