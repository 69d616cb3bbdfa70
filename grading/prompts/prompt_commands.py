"""`gradelake prompts`: what judges can be asked, and how it reads."""

import json
from pathlib import Path
from typing import Any

import click

from gradelake.grading.prompts.scale import Scale
from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import if_any

# slot -> the option of `prompts render` that its text comes from; others are filled by --slot
_OPTIONS = {
    "query": "--query",
    "passage": "--passage",
    "passages": "--passage",
    "item": "--item",
    "items": "--item",
    "n_items": "--item",
}
# what `prompts list --json` says of each
_TOLD = (
    "name",
    "version",
    "target",
    "items",
    "description",
    "source",
    "scale",
    "output",
    "parser",
    "context_first",
    "window",
    "slots",
    "sha256",
    "file",
)


def _option(slot: str) -> str:
    return _OPTIONS.get(slot, f"--slot {slot}=TEXT")


@click.group()
def prompts():
    """List, show and try the prompts that judges are asked with.

    Without a gradelake.toml these are Gradelake's own.

    \b
    Examples:
      gradelake prompts list
      gradelake prompts show question_self_rating > prompts/mine.yml
    """


def _show_list(found: list[dict[str, Any]]) -> None:
    columns = ("name", "target", "description")
    console.print_wrapped(columns, [[each[column] for column in columns] for each in found])


@prompts.command("list")
@answering(_show_list, "Print one JSON array.")
@click.pass_obj
def list_(project):
    """Name every prompt: the shipped ones and the project's own.

    \b
    Examples:
      gradelake prompts list
      gradelake prompts list --json
    """
    from gradelake.grading.prompts.prompt_file import load_prompts

    found = sorted(load_prompts(if_any(project)).values(), key=lambda prompt: prompt.name)
    return [_as_object(prompt) for prompt in found]


def _as_object(prompt) -> dict:
    about = {name: getattr(prompt, name) for name in _TOLD}
    return about | {"scale": prompt.scale and dict(prompt.scale.words), "file": str(prompt.file)}


@prompts.command()
@click.argument("name")
@click.pass_obj
def show(project, name):
    """Print a prompt's file: copy it to make one of your own.

    \b
    Examples:
      gradelake prompts show question_self_rating
    """
    from gradelake.grading.prompts.prompt_file import find_prompt

    click.echo(find_prompt(if_any(project), name).file.read_text(encoding="utf-8"), nl=False)


@prompts.command(short_help="Print a prompt as a model would read it, with your texts.")
@click.argument("name")
@click.option("--query", help="The query's text.")
@click.option("--item", "items", multiple=True, help="The question or nugget; of a list, each.")
@click.option("--passage", help="The passage's text.")
@click.option("--passage-file", type=click.Path(path_type=Path), help="A file with the passage.")
@click.option(
    "--slot",
    "others",
    multiple=True,
    metavar="SLOT=TEXT",
    help="What stands in another slot of the prompt's file; may be repeated.",
)
@click.pass_obj
def render(project, name, query, items, passage, passage_file, others):
    """Print a prompt exactly as a model would read it, with your texts put in.

    \b
    Examples:
      gradelake prompts render question_self_rating \\
          --item "Why is the sky blue?" \\
          --passage "Air scatters blue light more than red."
      gradelake prompts render verify_answer --item "Who wrote Emma?" \\
          --slot "gold_answer=Jane Austen" --slot answer=Austen
    """
    from gradelake.grading.prompts.label_list import as_list, numbered
    from gradelake.grading.prompts.prompt_file import find_prompt
    from gradelake.sql.common import files

    prompt = find_prompt(if_any(project), name)
    if passage_file:
        if passage is not None:
            raise BadInput("--passage and --passage-file: give one of them")
        passage = files.read(passage_file, str(passage_file)).decode()
    texts = {"query": query, "passage": passage, **dict(map(_slot, others))}
    values = {slot: text for slot, text in texts.items() if text is not None}
    if "passages" in prompt.slots and "passage" in values:
        values["passages"] = numbered([values["passage"]])
    if "items" in prompt.slots and (items or prompt.importance):
        values |= {"items": as_list(items), "n_items": str(len(items))}
    elif items:
        if len(items) > 1:
            raise BadInput(f"the prompt {name!r} asks about one item", "Give --item once.")
        values["item"] = items[0]
    given = [*map(_option, values), *(["--item"] if items else [])]
    if unread := [each for each in given if each not in map(_option, prompt.slots)]:
        raise BadInput(f"the prompt {name!r} does not read {unread[0]}", "Leave it out.")
    options = dict.fromkeys(_option(slot) for slot in prompt.slots if slot not in values)
    if options:
        raise BadInput(f"the prompt {name!r} also needs {', '.join(options)}")
    rendered = prompt.render(values)
    if rendered.system:
        click.echo(f"--- system message\n{rendered.system}\n--- user message")
    click.echo(rendered.text)


def _slot(stated: str) -> list[str]:
    slot, equals, text = stated.partition("=")
    if not equals:
        raise BadInput(f"--slot {stated}: no text", "Write SLOT=TEXT.")
    return [slot, text]


@prompts.command(short_help="Draw worked examples from a collection's judged passages.")
@click.argument("collection")
@click.option("--assessor", required=True, help="The assessor whose judgments to take.")
@click.option("--per-label", type=click.IntRange(1), required=True, help="Passages per label.")
@click.option("--seed", type=int, required=True, help="The same seed draws the same passages.")
@click.option(
    "--scale",
    "stated",
    default="No/Yes",
    help="Labels: a range such as 0-3, or two words, the lower first.",
)
@click.option("--output", type=click.Path(path_type=Path), help="A new file (default: print).")
@click.pass_obj
def sample(project, collection, assessor, per_label, seed, stated, output):
    """Draw worked examples for a few-shot prompt from a collection's judged passages.

    Take them from another collection than the one to judge; a grader refuses examples from that.

    \b
    Examples:
      gradelake prompts sample dl19 --assessor nist --per-label 2 --seed 7 \\
          --output prompts/dl19.jsonl
    """
    from gradelake.grading.prompts.examples import sample as draw
    from gradelake.sql.common.whole_file import whole_file
    from gradelake.sql.lake.opening import Lake

    low, slash, high = stated.partition("/")
    try:
        scale = Scale.parse({low: 0, high: 1} if slash else stated)
    except ValueError as error:
        raise BadInput(f"--scale: {error}", "Write 0-3, or No/Yes.") from None
    if output and output.exists():
        raise BadInput(f"{output}: already exists", "Name another file, or remove it first.")
    with Lake.live(project()) as lake:
        examples = draw(lake, collection, assessor, scale, per_label, seed)
    lines = "".join(f"{json.dumps(example, ensure_ascii=False)}\n" for example in examples)
    if not output:
        click.echo(lines, nl=False)
        return
    with whole_file(output) as stream:
        stream.write(lines.encode())
    console.say(f"{output}: {len(examples)} examples from {collection}")
