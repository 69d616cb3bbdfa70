"""Reads prompt files: YAML, one prompt each, every fault reported with its line."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from gradelake.grading.prompts import prompt_yaml
from gradelake.grading.prompts.examples import read_examples
from gradelake.grading.prompts.parsers import PARSERS
from gradelake.grading.prompts.prompt import EXAMPLE, LONG, SLOT, WRITING, Prompt
from gradelake.grading.prompts.prompt_yaml import YamlFile
from gradelake.grading.prompts.scale import Scale
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import reject
from gradelake.sql.common.project import Project, did_you_mean, is_name

HINT = "Fix the prompt file. `gradelake prompts show question_self_rating` prints one that works."
# target -> slots its template must have, slots it may have
SLOTS = {
    "question": (("item", "passage"), ("query", "examples")),
    "nugget": (("item", "passage"), ("query", "examples")),
    "extract": (("item", "passage"), ("query",)),
    "direct": (("query", "passage"), ("examples", "label_rubrics")),
    "verify": (("item", "gold_answer", "answer"), ("query",)),
    "generate": (("query",), ("subtopic",)),
    "explain": (("query", "passage", "label"), ("max_label",)),
    "distil": (("label", "rubrics", "explanations"), ("max_label",)),
}
OF_AN_EXAMPLE = ("query", "passage", "label")
ITEMS = ("question", "nugget")
OUTPUTS = ("scale", "text")


@cache
def shipped_prompts() -> dict[str, Prompt]:
    """The prompts that come with Gradelake, by name."""
    folder = Path(__file__).parent
    return {file.stem: read_prompt(file, str(file)) for file in sorted(folder.glob("*.yaml"))}


def own_prompts(project: Project) -> dict[str, Prompt]:
    """The prompts of the project's own folder; none when `[grading] prompts` names none."""
    named = project.grading.get("prompts")
    if not named:
        return {}
    folder = project.folder / named
    if not folder.is_dir():
        raise BadInput(
            f"{project.file}: [grading] prompts: no folder {folder}",
            "Make it, or name another one, relative to this file.",
        )
    found: dict[str, Prompt] = {}
    for file in sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")]):
        prompt = read_prompt(file, shown := str(Path(named) / file.name))
        if prompt.name in shipped_prompts():
            raise reject(
                shown,
                None,
                f"the name {prompt.name!r} is that of a prompt of Gradelake's own",
                "Give the file and the prompt another name.",
            )
        if prompt.name in found:
            raise reject(
                shown,
                None,
                f"{found[prompt.name].file.name} has the name {prompt.name!r} too",
                "Rename or remove one of them.",
            )
        found[prompt.name] = prompt
    return found


def read_prompt(file: Path, shown: str) -> Prompt:
    """One prompt file. Raises `Rejected` with all that is wrong in it."""
    content = YamlFile(file, shown, HINT)
    prompt = _keys(content, file)
    examples = content.optional("examples", prompt_yaml.text)
    content.refuse_unread(
        tuple(key for key in Prompt.__dataclass_fields__ if key not in ("file", "label_rubrics"))
    )
    if prompt["template"]:
        _check_slots(content, prompt, examples)
    path = file.parent / examples if examples else file
    if not path.is_file():
        content.add("examples", f"no such file: {path}")
    content.problems.raise_if_any()
    if examples:
        shown_examples = str(Path(shown).parent / examples)
        prompt["examples"] = tuple(read_examples(path, shown_examples, prompt["scale"]))
    return Prompt(**prompt, file=file)


def _keys(content: YamlFile, file: Path) -> dict[str, Any]:
    """The values of all keys but `examples`; None for those with a problem."""
    target = content.word("target", tuple(SLOTS))
    output = content.word("output", OUTPUTS)

    def name(node: yaml.Node) -> str:
        stated = prompt_yaml.text(node)
        if stated != file.stem:
            raise ValueError(f"{stated!r} is not the file's name, {file.stem!r}")
        if not is_name(stated):
            raise ValueError(f"{stated!r}: use letters, digits and . _ + = @ - only")
        return stated

    return {
        "name": content.required("name", name),
        "version": content.required("version", prompt_yaml.version),
        "target": target,
        "items": _items(content, target),
        "source": content.required("source", prompt_yaml.text),
        "description": content.required("description", prompt_yaml.text),
        "system": content.optional("system", _system),
        "template": content.required("template", prompt_yaml.text),
        "scale": _scale(content, target, output),
        "output": output,
        "parser": _parser(content, target),
        "context_first": bool(content.optional("context_first", prompt_yaml.switch)),
        "decoding": content.optional("decoding", prompt_yaml.numbers) or {},
        "example": content.optional("example", _example) or EXAMPLE,
    }


def _items(content: YamlFile, target: str | None) -> str | None:
    if target in ("direct", "explain", "distil"):
        content.forbid("items", f"a prompt with target {target} asks about no items")
        return None
    if target not in ITEMS:
        return content.word("items", ITEMS)
    if "items" in content.nodes and content.word("items", ITEMS) not in (target, None):
        content.add("items", f"a prompt with target {target} asks about {target}s")
    return target


def _system(node: yaml.Node) -> str:
    system = prompt_yaml.text(node)
    if slots := SLOT.findall(system):
        raise ValueError(f"{{{slots[0]}}}: slots belong into the template")
    return system


def _example(node: yaml.Node) -> str:
    example = prompt_yaml.text(node)
    slots = SLOT.findall(example)
    for slot in OF_AN_EXAMPLE:
        if slot not in slots:
            raise ValueError(f"the slot {{{slot}}} is missing")
    for slot in slots:
        if slot not in OF_AN_EXAMPLE:
            raise ValueError(f"{{{slot}}} is no slot of an example")
    return example


def _scale(content: YamlFile, target: str | None, output: str | None) -> Scale | None:
    if target in WRITING:
        content.forbid("scale", f"a prompt with target {target} has none")
        if output == "scale":
            content.add("output", f"a prompt with target {target} asks for text")
        return None
    if output == "scale" and "scale" not in content.nodes:
        content.add("output", "scale: which one? The key `scale` is missing")
        return None
    return content.required("scale", prompt_yaml.scale)


def _parser(content: YamlFile, target: str | None) -> str | None:
    if target in WRITING:
        content.forbid("parser", f"a prompt with target {target} has none")
        return None
    name = content.word("parser", tuple(PARSERS))
    if name and target and target not in PARSERS[name].targets:
        able = [other for other, parser in PARSERS.items() if target in parser.targets]
        content.add(
            "parser",
            f"{name!r} cannot read replies to a prompt with target {target}; "
            f"these can: {', '.join(able)}",
        )
    return name


def _check_slots(content: YamlFile, prompt: dict[str, Any], examples: str | None) -> None:
    """Unknown, missing and repeated slots; and whether the passage stands where it is said."""
    slots = SLOT.findall(prompt["template"])
    required, optional = SLOTS.get(prompt["target"], ((), ()))
    allowed = (*required, *optional) or {slot for pair in SLOTS.values() for slot in sum(pair, ())}
    of = f" of a prompt with target {prompt['target']}" if prompt["target"] else ""
    for slot in dict.fromkeys(slots):
        if slot not in allowed:
            message = f"template: {{{slot}}} is no slot{of}. {did_you_mean(slot, allowed)}"
            content.problems.add(content.line_of("template", f"{{{slot}}}"), message)
    for slot in required:
        if slot not in slots:
            content.add("template", f"the slot {{{slot}}} is missing")
    for slot in LONG:
        if slots.count(slot) > 1:
            content.add("template", f"{{{slot}}} may stand there only once")
    if examples and "examples" not in slots:
        content.add("examples", "the template has no slot {examples}")
    if "example" in content.nodes and "examples" not in slots:
        content.add("example", "the template has no slot {examples}")
    if "examples" in slots and "examples" not in content.nodes:
        content.add("template", "{examples} needs the key `examples`, which names a JSONL file")
    about = next((slot for slot in slots if slot in ("item", "query")), None)
    if about and "passage" in slots:
        first = slots.index("passage") < slots.index(about)
        if first != prompt["context_first"]:
            place, key = "before" if first else "after", "context_first"
            content.add(
                key if key in content.keys else "template",
                f"the passage stands {place} {{{about}}}: write {key}: {str(first).lower()}",
            )
