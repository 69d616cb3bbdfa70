"""`gradelake mcp`."""

import click

from gradelake.sql.common.errors import BadInput, how_to_install


@click.command(short_help="Let a model ask the lake, over MCP.")
@click.option("--release", metavar="NAME", help="Read this release instead of the newest.")
@click.option(
    "--url",
    metavar="URL",
    help="Where people find `gradelake serve`: answers give the page that shows the same.",
)
@click.pass_obj
def mcp(project, release, url):
    """Let a model ask the lake: a server of the Model Context Protocol, on standard input.

    A client (an editor, an assistant) starts it. The model can list the questions of the query
    book, ask them, and write SQL, which reads a release and nothing else, for 30 seconds at most.

    \b
    Examples:
      gradelake mcp
      gradelake --config /lakes/web/gradelake.toml mcp --url http://127.0.0.1:8137
    """
    try:
        from gradelake.mcp.tools import serve
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in ("anyio", "mcp"):
            raise
        raise BadInput(f"{package} is not installed", how_to_install("mcp")) from None
    serve(project(), release, url and url.rstrip("/"))
