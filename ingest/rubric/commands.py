"""Commands for people's edits of a rubric: show, edit, diff."""

import sys
from pathlib import Path

import click

from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput

_collection = click.option(
    "--collection", help="The collection (default: the only one, or the only one with the query)."
)
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


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
@_json
@click.pass_obj
def show(project, query, collection, version, as_json):
    """List the items of a QUERY, what the version did to them, and those dropped so far.

    \b
    Examples:
      gradelake rubric show volcano-prediction --version 1
    """
    from gradelake.ingest.rubric import rubric_text

    _, found, _ = _open(project(), collection, (query,))
    version = found.newest if version is None else version
    found.check_version(version)
    shown = rubric_text.query_as_object(found, query, version)
    if as_json:
        console.print_json(shown)
    else:
        rubric_text.print_query(shown)


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
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Read a saved sheet instead of opening an editor; - is standard input.",
)
@click.option("--print", "print_sheet", is_flag=True, help="Print the sheet and change nothing.")
@click.option("--yes", "-y", is_flag=True, help="Save without a preview, and without asking.")
@_json
@click.pass_obj
def edit(project, queries, collection, bank, reason, version, source, print_sheet, yes, as_json):
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
    from gradelake.ingest.rubric.save import Session

    if source and print_sheet:
        raise BadInput("--from and --print cannot be used together")
    if not queries and not source:
        raise BadInput("name the queries to edit", "For example: gradelake rubric edit QUERY")
    if not (source or print_sheet):
        editor.command()  # before any work: there must be one
    project = project()
    text, shown = _read_sheet(source) if source else ("", "")
    if source and collection is None:
        collection = _collection_of(text, shown)
    collection, found, rows = _open(project, collection, queries or None)
    session = Session(project, found, rows, queries, bank, version, reason or "")
    session.check_version()
    if print_sheet:
        sys.stdout.write(session.text())
        return
    if source:  # perhaps by a notebook, whose shell looks like a terminal and nobody answers
        saved = session.save(text, shown, reason)
    else:
        asks = not (yes or as_json) and sys.stdin.isatty() and sys.stderr.isatty()

        def save(text, shown):
            if asks:
                _ask(project, collection, session.propose(text, shown))
            return session.save(text, shown)

        folder = project.lake_path / "sheets"
        saved = editor.edit(session.text(), folder, collection, save)
    _tell(project, collection, saved, as_json)


@rubric.command(short_help="Say what edits will do once they are built; write nothing.")
@click.argument("collection", required=False)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="The edits of a saved sheet (- from standard input), instead of those in the file.",
)
@_json
@click.pass_obj
def preview(project, collection, source, as_json):
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
        if source:
            session = previews.session(project, collection or _collection_of(text, shown))
            collection = session.rubric.collection
            proposed = session.propose(text, shown)
            versions = previews.of_proposed(project, collection, proposed) if proposed.rows else []
        else:
            release, versions = previews.of_saved(project, collection)
    if as_json:
        console.print_json({"versions": [version.as_object() for version in versions]})
    elif versions:
        for version in versions:
            console.say(f"{version.rubric.collection}, as the next build will see it:")
            previews.print_version(version)
            console.say()
        console.say("nothing was written")
    elif source:
        console.say("nothing is changed in this sheet")
    else:
        console.say(f"no edits since {release}" if release else "no edits")


@rubric.command(short_help="Show what differs between versions V1 and V2.")
@click.argument("first", metavar="V1", type=click.IntRange(min=0))
@click.argument("second", metavar="V2", type=click.IntRange(min=0))
@_collection
@click.option("--query", help="Only this query.")
@_json
@click.pass_obj
def diff(project, first, second, collection, query, as_json):
    """Show what differs between versions V1 and V2: dropped, added, reworded, reweighted.

    In a reworded text, [-words-] are gone and {+words+} are new.

    \b
    Examples:
      gradelake rubric diff 0 2
    """
    from gradelake.ingest.rubric import rubric_text
    from gradelake.ingest.rubric.differences import KINDS, differences

    collection, found, _ = _open(project(), collection, (query,) if query is not None else None)
    changed = differences(found, first, second)
    if as_json:
        console.print_json(
            {
                "collection": collection,
                "from": first,
                "to": second,
                "counts": {kind: sum(d.kind == kind for d in changed) for kind in KINDS},
                "differences": [d.as_object() for d in changed],
            }
        )
    else:
        rubric_text.print_differences(found, first, second, changed)


def _open(project, collection: str | None, queries):
    """(collection, its rubric with every edit of the file, the file's rows)."""
    with console.working("reading the rubric"):
        from gradelake.ingest.rubric.rubric import Rubric, choose_collection
        from gradelake.ingest.rubric.up_to_date import open_up_to_date

        lake, rows = open_up_to_date(project, console.tell)
        with lake:
            collection = choose_collection(project, lake, collection, queries)
            return collection, Rubric(lake, collection, queries), rows


def _read_sheet(source: Path) -> tuple[str, str]:
    """A saved sheet's text and what it is called."""
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


def _ask(project, collection: str, proposed) -> None:
    """Show what edits will do, and raise `BadInput` unless they shall be saved."""
    from gradelake.ingest.rubric import preview as previews

    if not proposed.rows:
        return
    with console.working("trying the edits out (--yes saves without this)"):
        versions = previews.of_proposed(project, collection, proposed)
    for version in versions:
        previews.print_version(version)
    if not click.confirm("Save?", default=True, err=True):
        raise BadInput("nothing was saved")


def _tell(project, collection: str, saved, as_json: bool) -> None:
    """What was saved, and what to do next."""
    import os

    from gradelake.ingest.rubric import edits_file, rubric_text

    file = os.path.relpath(edits_file.path_of(project))
    if as_json:
        console.print_json(
            {
                "collection": collection,
                "version": saved.version,
                "file": file,
                "edits": rubric_text.edits_as_objects(saved.edits),
            }
        )
        return
    for query in saved.untouched:
        console.warn(f"note: query {query} has no heading in the sheet any more: left as it is")
    if saved.version is None:
        console.say("nothing was changed")
        return
    if saved.copied:
        console.warn(f"note: the edits that come with the package were copied to {file} first")
    rubric_text.print_edits(saved.edits)
    console.say(f"saved as version {saved.version} of {collection}'s rubric in {file}")
    console.hint("next: gradelake build")
    new = sum(edit.action in ("add", "reword") for edit in saved.edits)
    if new:
        console.hint(
            f"then, as {new:,} new item{' has' if new == 1 else 's have'} no grades yet: "
            f"gradelake grade {collection} --grader NAME --rubric-version {saved.version}"
        )
