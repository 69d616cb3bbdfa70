"""The command that asks search engines."""

import click

from gradelake.sql.common.command_line import answering


@click.command(short_help="Send a COLLECTION's topics to its search engines.")
@click.argument("collection")
@click.argument("engines", metavar="[ENGINE]...", nargs=-1)
@click.option("--again", is_flag=True, help="Ask queries that were answered before, too.")
@answering(lambda done: done.print())
@click.pass_obj
def search(project, collection, engines, again):
    """Send a COLLECTION's topics to its search engines over HTTP: to all, or to each ENGINE named.

    An engine is a table of gradelake.toml, [collections.COLLECTION.engines.ENGINE]. Answers are
    kept as they come, in engines/COLLECTION/ENGINE.jsonl; an ingest makes the system ENGINE of
    them. Queries that were answered are not asked again, unless their texts or the engine's
    settings changed. Exit code 3 means that some queries got no answer, 1 that none did.

    \b
    Examples:
      gradelake search shop
      gradelake search shop b --again
    """
    from gradelake.ingest.engines.search import search as run_search

    return run_search(project(), collection, engines, again)
