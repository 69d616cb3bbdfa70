"""Completion in bash, zsh and fish: `--install-completion`, and names of a project and its lake."""

import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from shlex import quote

import click
from click.shell_completion import CompletionItem, get_completion_class
from click.types import StringParamType

from gradelake.sql.common import console
from gradelake.sql.common.command_line import each_within
from gradelake.sql.common.errors import BadInput, GradelakeError
from gradelake.sql.common.project import Project, if_any
from gradelake.sql.common.whole_file import whole_file

SHELLS = ("bash", "zsh", "fish")
# zsh's own completion, where no start-up file has begun it
_ZSH = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }\n"


# bash breaks words at : and @ which label sets and questions have: its own line is told instead
_BASH_LINE = """    local line="${COMP_LINE:0:COMP_POINT}" words
    IFS=$' \\t' read -ra words <<< "$line"
    [[ "$line" == *[[:blank:]] ]] && words+=("")
    local breaks="${COMP_WORDBREAKS//[^:@]/}" broken=""
    [[ "$breaks" ]] && broken="${words[-1]%"${words[-1]##*[$breaks]}"}"
"""
_OF_LAKE = {
    "label_sets": "select distinct label_set from lake.marts.label_sets "
    "where collection = coalesce($collection, collection) order by 1",
    "systems": "select distinct system from lake.raw.systems "
    "where collection = coalesce($collection, collection) order by 1",
    "measures": "select distinct measure from lake.intermediate.evaluation_grid order by 1",
}


def _names(kind: str, project: Project | None, collection: str | None) -> Iterable[str]:
    """Names of a kind that a project has; of one collection where it is told. Without a project
    there are prompts."""
    if kind == "prompts":
        from gradelake.grading.prompts.prompt_file import load_prompts

        return sorted(load_prompts(project))
    if project is None:
        return []
    if (own := getattr(project, kind, None)) is not None:
        return own
    from gradelake.sql.lake.opening import Lake

    if kind in _OF_LAKE:
        import duckdb

        try:
            with Lake.published(project) as lake:
                named = {} if kind == "measures" else {"collection": collection}
                return lake.column(_OF_LAKE[kind], **named)
        except duckdb.Error:  # of a release that another version published
            return []
    if kind == "releases":
        from gradelake.sql.releases.publishing import available

        with Lake.live(project) as lake:
            return [each.name for each in reversed(available(project, lake.connection))]
    from gradelake.sql.ask.book import entries

    return [f"@{name}" for name in entries()]


class Named(StringParamType):
    """A text that is a name which the project has: of its collections, its label sets, ..."""

    def __init__(self, kind: str):
        self.kind = kind

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names that begin so; none without the gradelake.toml or the lake that they are in."""
        collection = ctx.params.get("collection")
        try:
            project = if_any(lambda: Project.find(ctx.find_root().params.get("config")))
            names = list(_names(self.kind, project, collection))
        except (GradelakeError, OSError):
            return []
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


# what completes -> options, arguments, and arguments of one command or group
_COMPLETED = {
    "collections": ("collection", "collections", "generate names", "--also"),
    "graders": ("--grader", "--card"),
    "gates": ("--rule",),
    "sentinels": ("sentinels",),
    "label_sets": ("--label-set", "--reference", "stats --against"),
    "measures": ("--measure",),
    "systems": ("--system", "--baseline", "--systems", "system", "systems", "compare names"),
    "releases": ("--release", "--baseline-release", "release name", "before", "after"),
    "questions": ("sql query",),
    "prompts": ("prompts name",),
}
_KINDS = {place: kind for kind, places in _COMPLETED.items() for place in places}


def names_of(option: click.Parameter, group: str, project: Project, collection: str) -> list[str]:
    """The names that a project has for an option of a command of `group`; none where it takes no
    name."""
    places = [place for each in option.opts for place in (each, f"{group} {each}")]
    kind = next((_KINDS[place] for place in places if place in _KINDS), None)
    return list(_names(kind, project, collection)) if kind else []


def complete_names(command: click.Command, group: str | None = None) -> None:
    """Have names of the project complete in a command, and in those within it."""
    for each in command.params:
        if type(each.type) is StringParamType:
            bare = each.opts if isinstance(each, click.Option) else [each.name]
            keys = [f"{parent} {name}" for parent in (group, command.name) for name in bare] + bare
            if kind := next((_KINDS[key] for key in keys if key in _KINDS), None):
                each.type = Named(kind)
    each_within(command, partial(complete_names, group=command.name))


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
    console.say(f"A new {shell} completes commands, options and names of yours with Tab.")
    context.exit()


def script(shell: str, app: click.Command) -> str:
    """What a shell reads to complete."""
    kind = get_completion_class(shell)
    assert kind, shell  # of SHELLS
    written = kind(app, {}, "gradelake", "_GRADELAKE_COMPLETE").source()
    if shell == "bash":
        start, told, rest = written.partition("    response=$(env")
        told += rest.replace(
            'COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD',
            'COMP_WORDS="$line" COMP_CWORD=$((${#words[@]} - 1))',
        ).replace("COMPREPLY+=($value)", 'COMPREPLY+=("${value#"$broken"}")')
        written = f"{start}{_BASH_LINE}{told}"
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
