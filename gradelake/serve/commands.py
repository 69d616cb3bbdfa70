"""`gradelake serve`, and `gradelake assessor`: who may enter."""

from dataclasses import dataclass

import click

from gradelake.serve.people import ROLES, People
from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering
from gradelake.sql.common.errors import BadInput, how_to_install

_PORT = 8137


@dataclass(frozen=True)
class Added:
    """Somebody who may enter, with the link that is shown once."""

    name: str
    role: str
    link: str
    had_another: bool

    def as_object(self) -> dict[str, str]:
        return {"name": self.name, "role": self.role, "link": self.link}


def _print_added(made: Added) -> None:
    console.say(f"{made.name} may enter as {made.role} with this link, which is shown only now:")
    console.say(made.link)
    if made.had_another:
        console.say("The link that they had is no longer valid.")


def _print_people(found: list[dict[str, str]]) -> None:
    if found:
        console.print_table(["name", "role", "added"], [tuple(one.values()) for one in found])
    else:
        console.say("nobody yet: gradelake assessor add NAME")


@click.command(short_help="Open the lake in the browser: review, rubrics, boards.")
@click.option("--host", default="127.0.0.1", help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_PORT,
    help="The port to listen on; 0 is a free one.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A further name by which browsers know this server; may be given again.",
)
@click.option(
    "--trust-header",
    metavar="NAME",
    help="The header in which a proxy names the person. Only behind a proxy that sets it itself.",
)
@click.pass_obj
def serve(project, host, port, hosts, trust_header):
    """Open the lake in the browser, where people review grades, edit rubrics and look at boards.

    It prints a link that lets you in, with every right, until it ends (Ctrl-C). Others need a link
    of their own: see `gradelake assessor add`. It listens on this machine only, unless
    --host says otherwise, and speaks no TLS: let a proxy do that for other machines.

    \b
    Examples:
      gradelake serve
      gradelake serve --port 8080
      gradelake serve --host 0.0.0.0 --allow-host lake.example.org
    """
    try:
        from gradelake.serve.running import run
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn", "itsdangerous", "python_multipart"):
            raise
        raise BadInput(f"{error.name} is not installed", how_to_install("serve")) from None
    run(project(), host, port, hosts, trust_header)


@click.group(short_help="Say who may use gradelake serve.")
def assessor():
    """People who may use `gradelake serve`, and what they may do there.

    \b
    Examples:
      gradelake assessor add ann
      gradelake assessor list
    """


@assessor.command(short_help="Let somebody in: print a link for them.")
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), default="assessor", help="What they may do.")
@click.option(
    "--url", default=f"http://127.0.0.1:{_PORT}", help="The address at which they find the server."
)
@answering(_print_added)
@click.pass_obj
def add(project, name, role, url):
    """Let NAME in, and print a link for them: once, for only a hash of its secret is kept.

    A reader sees boards; an assessor reviews grades, too; an editor also edits rubrics and asks
    SQL; an operator also grades. Somebody who is there already gets a new link, and the old one
    ends.

    \b
    Examples:
      gradelake assessor add ann
      gradelake assessor add bob --role editor --url https://lake.example.org
    """
    people = People(project())
    had_another = people.named(name) is not None
    link = f"{url.rstrip('/')}/enter#{people.add(name, role)}"
    return Added(name, role, link, had_another)


@assessor.command("list", short_help="Who may enter.")
@answering(_print_people, "Print a JSON array.")
@click.pass_obj
def list_(project):
    """List who may enter, as what, since when (UTC). No secret is shown: none is kept.

    \b
    Examples:
      gradelake assessor list
    """
    columns = ("name", "role", "added_at")
    everybody = People(project()).everybody()
    return [{key: getattr(one, key) for key in columns} for one in everybody]


@assessor.command(short_help="Stop letting somebody in.")
@click.argument("name")
@click.pass_obj
def remove(project, name):
    """Stop letting NAME in: their link and their open pages end at once. Their reviews stay.

    \b
    Examples:
      gradelake assessor remove bob
    """
    People(project()).remove(name)
    console.say(f"{name} may no longer enter; their reviews stay in the lake")
