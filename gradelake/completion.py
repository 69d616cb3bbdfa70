"""Completion in bash, zsh and fish: `--install-completion`, and names of a project."""

import os
from pathlib import Path
from shlex import quote

import click
from click.shell_completion import CompletionItem, get_completion_class
from click.types import StringParamType

from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput, GradelakeError
from gradelake.sql.common.project import Project
from gradelake.sql.common.whole_file import whole_file

SHELLS = ("bash", "zsh", "fish")
# zsh's own completion, where no start-up file has begun it
_ZSH = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }\n"


class Named(StringParamType):
    """A text that is a name of gradelake.toml: of its `collections`, `graders`, ..."""

    def __init__(self, kind: str):
        self.kind = kind

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names that begin so; none without a gradelake.toml. No lake is opened."""
        try:
            names = getattr(Project.find(ctx.find_root().params.get("config")), self.kind)
        except (GradelakeError, OSError):
            return []
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_names(command: click.Command) -> None:
    """Have names of gradelake.toml complete in a command, and in those within it."""
    for each in command.params:
        if type(each.type) is StringParamType:
            if each.name in ("collection", "collections"):
                each.type = Named("collections")
            elif "--grader" in each.opts:
                each.type = Named("graders")
            elif "--rule" in each.opts:
                each.type = Named("gates")
            elif each.name == "sentinels":
                each.type = Named("sentinels")
    for within in getattr(command, "commands", {}).values():
        complete_names(within)


def install(context: click.Context, _: click.Parameter, shell: str | None) -> None:
    """Write the shell's completion into the user's folder, say so, and end the command.

    bash and zsh read it from a line in their start-up file, which is added once.
    """
    if shell is None or context.resilient_parsing:
        return
    if shell == "":
        shell = Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise BadInput(
            f"no completion for the shell {shell!r}",
            f"Name one: gradelake --install-completion {'|'.join(SHELLS)}",
        )
    home = Path.home()
    if shell == "fish":  # reads what is in this folder
        config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        file, start_up = config / "fish" / "completions" / "gradelake.fish", None
    else:
        data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
        file = data / "gradelake" / f"completion.{shell}"
        start_up = home / ".bashrc"
        if shell == "zsh":
            start_up = Path(os.environ.get("ZDOTDIR") or home) / ".zshrc"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(file) as stream:
            stream.write(script(shell, context.command).encode())
        added = start_up and _add(start_up, f"[ -r {quote(str(file))} ] && . {quote(str(file))}")
    except OSError as error:
        raise BadInput(f"{error.filename}: cannot be written: {error.strerror}") from None
    console.say(f"wrote {file}")
    if start_up:
        line = "added the line that reads it to" if added else "the line that reads it is in"
        console.say(f"{line} {start_up}")
    console.say(f"A new {shell} completes commands, options, collections and graders with Tab.")
    context.exit()


def script(shell: str, app: click.Command) -> str:
    """What a shell reads to complete."""
    kind = get_completion_class(shell)
    assert kind, shell  # of SHELLS
    written = kind(app, {}, "gradelake", "_GRADELAKE_COMPLETE").source()
    return (_ZSH if shell == "zsh" else "") + written


def _add(start_up: Path, line: str) -> bool:
    """Add a line to a file, unless it is there; whether it was added."""
    added = os.fsencode(line)
    content = start_up.read_bytes() if start_up.exists() else b""  # in whatever encoding
    if added in content.splitlines():
        return False
    with start_up.open("ab") as stream:
        stream.write((b"" if not content or content.endswith(b"\n") else b"\n") + added + b"\n")
    return True
