"""Reads prompt files: YAML, one prompt each, every fault reported with its line."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator

from gradelake.grading.prompts.examples import read_examples
from gradelake.grading.prompts.parsers import PARSERS, parsers_of
from gradelake.grading.prompts.prompt import EXAMPLE, LONG, OF_QUERY, SLOT, Prompt
from gradelake.grading.prompts.prompt_yaml import YamlFile
from gradelake.grading.prompts.scale import Scale
from gradelake.sql.common.checked import Checked, Name, Text, one_of
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.judgment_kinds import WRITING, items_of, judgment_kinds, kinds_with
from gradelake.sql.common.problems import reject
from gradelake.sql.common.project import Project, did_you_mean, require_known
from gradelake.sql.common.rubric_items import plural

HINT = "Fix the prompt file. `gradelake prompts show question_self_rating` prints one that works."
# target -> slots its template must have, slots it may have; `OF_QUERY` where it may have `query`
SLOTS = {
    **{each.target: (each.slots, each.may) for each in judgment_kinds().values()},
    "extract": (("item", "passage"), ("query",)),
    "verify": (("item", "gold_answer", "answer"), ("query",)),
    "importance": (("items",), ("query", "n_items")),
    "generate": (("query",), ("subtopic",)),
    "explain": (("query", "passage", "label"), ("max_label",)),
    "distil": (("label", "rubrics", "explanations"), ("max_label",)),
    "answer": (("query",), ()),
}
OF_ANY_ITEMS = ("extract", "verify", "generate")  # targets of prompts that say what items
OF_AN_EXAMPLE = ("query", "passage", "label")
# of a prompt with target generate that has the first of them, and keys that it alone has
OUT_OF_PASSAGES = (("passages", "query", "items"), ("n_items", "max_nuggets"))
# of a prompt with target question or nugget that asks about several at once
OF_SEVERAL = (("items", "passage"), ("query", "n_items"))
KEYS_OUT_OF_PASSAGES = ("window", "max_nuggets", "max_passages", "importance")
# targets of prompts about a passage and an item, or several
PASSAGE_ITEMS = [
    each.target for each in judgment_kinds().values() if each.is_of_passages and each.item_kind
]
# target -> the rubric items its prompts ask about, first those that they do unless they say
ITEMS_OF = {
    **{each.target: items_of(each.target) for each in judgment_kinds().values() if each.item_kind},
    "importance": ["nugget"],
}
ITEMS = {kind for kinds in ITEMS_OF.values() for kind in kinds}
# targets of prompts about several items at once
LISTS = [target for target, (needed, _) in SLOTS.items() if "items" in needed]


def _as_scale(value: Any) -> Scale:
    if isinstance(value, dict):
        digits = {str(digit): digit for digit in range(10)}
        value = {word: digits.get(str(grade), grade) for word, grade in value.items()}
    return Scale.parse(value)


def _without_slots(system: str) -> str:
    if slots := SLOT.findall(system):
        raise ValueError(f"{{{slots[0]}}}: slots belong in the template")
    return system


def _with_slots(example: str) -> str:
    slots = SLOT.findall(example)
    for slot in OF_AN_EXAMPLE:
        if slot not in slots:
            raise ValueError(f"the slot {{{slot}}} is missing")
    for slot in slots:
        if slot not in OF_AN_EXAMPLE:
            raise ValueError(f"{{{slot}}} is not a slot of an example")
    return example


class Decoding(Checked):
    """What a prompt file or `[graders.NAME] decoding` states; None what it does not."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=100_000)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None

    @property
    def stated(self) -> dict[str, float | int]:
        return self.model_dump(exclude_unset=True)


class PromptFile(Checked):
    """What a prompt file may hold. What goes with which target, `_misfits` says."""

    name: Name
    version: Annotated[int, Field(ge=1, lt=10**9)]
    target: Annotated[str, one_of(SLOTS)]
    items: Annotated[str, one_of(ITEMS)] | None = None
    source: Text
    description: Text
    system: Annotated[Text, AfterValidator(_without_slots)] | None = None
    template: Text
    scale: Annotated[Scale, PlainValidator(_as_scale)] | None = None
    output: Annotated[str, one_of(("scale", "text"))]
    parser: Annotated[str, one_of(PARSERS)] | None = None
    context_first: bool = False
    window: Annotated[int, Field(ge=1, le=100)] | None = None
    max_nuggets: Annotated[int, Field(ge=1, le=1000)] | None = None
    max_passages: Annotated[int, Field(ge=1, le=10_000)] | None = None
    importance: Name | None = None
    together: Name | None = None
    decoding: Decoding = Field(
        Decoding(), description="Write it as {temperature: 0, max_tokens: 100}."
    )
    examples: Text | None = None
    example: Annotated[Text, AfterValidator(_with_slots)] = EXAMPLE


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


def load_prompts(project: Project | None) -> dict[str, Prompt]:
    """All prompts by name: the shipped ones, and those of the folder in `[grading] prompts`.

    Without a project there are the shipped ones.

    Raises `BadInput` for a folder that is not there and `Rejected` for a file that is not a prompt.
    """
    return {**shipped_prompts(), **(own_prompts(project) if project else {})}


def find_prompt(project: Project | None, name: str) -> Prompt:
    """One prompt. Raises as `load_prompts` does, and `BadInput` for an unknown name."""
    prompts = load_prompts(project)
    where = "" if project else " among Gradelake's own, and there is no gradelake.toml here"
    require_known(name, prompts, f"there is no prompt {name!r}{where}")
    return prompts[name]


def read_prompt(file: Path, shown: str) -> Prompt:
    """One prompt file. Raises `Rejected` with all that is wrong in it."""
    yaml = YamlFile(file, shown, HINT)
    stated = yaml.read(PromptFile, strict=False)
    texts = {key: value if isinstance(value, str) else "" for key, value in yaml.content.items()}
    for key, message in _misfits(texts, file):
        yaml.add((key,), message)
    if texts.get("template"):
        _check_slots(yaml, texts)
    examples = file.parent / (texts.get("examples") or file.name)
    if not examples.is_file():
        yaml.add(("examples",), f"examples: no such file: {examples}")
    yaml.problems.raise_if_any()
    assert stated
    _check_verdicts(yaml, stated)
    values = dict(stated) | {"decoding": stated.decoding.stated, "examples": ()}
    if stated.importance:
        values["importance"] = _importance(yaml, stated.importance, file, shown)
    if stated.examples:
        scale = stated.scale
        assert scale is not None  # only prompts that grade show examples
        shown_examples = str(Path(shown).parent / stated.examples)
        values["examples"] = tuple(read_examples(examples, shown_examples, scale))
    if stated.target in ITEMS_OF:
        values["items"] = stated.items or ITEMS_OF[stated.target][0]
    return Prompt(**values, file=file)


def _check_verdicts(yaml: YamlFile, stated: PromptFile) -> None:
    """The verdicts of a kind of judgment that has its own, and no others, are on the scale; raises
    `Rejected`."""
    verdicts = next((each.verdicts for each in kinds_with(stated.target)), ())
    grades = set(stated.scale.words.values()) if stated.scale else set()
    if verdicts and not {0, len(verdicts) - 1} <= grades <= {*range(len(verdicts))}:
        says = ", ".join(f"{grade} {words}" for grade, words in enumerate(verdicts))
        yaml.add(("scale",), f"scale: of a {stated.target}: {says}")
        yaml.problems.raise_if_any()


def _importance(yaml: YamlFile, name: str, file: Path, shown: str) -> Prompt | None:
    """The prompt of that name, from beside the file or as it is shipped. Raises `Rejected`."""
    places = [file.with_name(f"{name}.yaml"), file.with_name(f"{name}.yml")]
    places.append(Path(__file__).with_name(f"{name}.yaml"))
    found = next((place for place in places if place != file and place.is_file()), None)
    if found:
        shown = str(Path(shown).with_name(found.name))
        if YamlFile(found, shown, HINT).content.get("target") == "importance":
            return read_prompt(found, shown)
    yaml.add(("importance",), f"importance: no prompt {name!r} with target importance")
    yaml.problems.raise_if_any()
    return None


def _is_out_of_passages(content: dict[str, str]) -> bool:
    return content.get("target") == "generate" and "{passages}" in content.get("template", "")


def _is_of_several(content: dict[str, str]) -> bool:
    """Whether it asks about several items at once."""
    target = content.get("target")
    has_list = target in PASSAGE_ITEMS and "{items}" in content.get("template", "")
    return target in LISTS or has_list


def _misfits(content: dict[str, str], file: Path) -> Iterator[tuple[str, str]]:
    """Keys that do not go together, and what is wrong with them."""
    if content.get("name", file.stem) != file.stem:
        yield "name", f"name: {content['name']!r} is not the file's name, {file.stem!r}"
    if (target := content.get("target")) not in SLOTS:
        return
    of = f"a prompt with target {target}"
    if target not in ITEMS_OF and target not in OF_ANY_ITEMS:
        if "items" in content:
            yield "items", f"items: {of} asks about no items"
    elif target in ITEMS_OF:
        if content.get("items") in ITEMS - {*ITEMS_OF[target]}:
            able = " or ".join(map(plural, ITEMS_OF[target]))
            yield "items", f"items: {of} asks about {able}"
    elif "items" not in content:
        yield "", "items is missing"
    elif content["items"] == "criterion" and target != "generate":
        yield "items", f"items: {of} asks about no criteria, which are of whole answers"
    makes_nuggets = _is_out_of_passages(content)
    for key in KEYS_OUT_OF_PASSAGES:
        if makes_nuggets and key not in content:
            yield "", f"{key} is missing: the template has the slot {{passages}}"
        if not makes_nuggets and key in content and key != "window":
            yield key, f"{key}: this is for a prompt with target generate and the slot {{passages}}"
    of_several = _is_of_several(content)
    if not makes_nuggets and ("window" in content) != of_several:
        if "window" in content:
            several = "; several are {items}" if target in PASSAGE_ITEMS else ""
            yield "window", f"window: {of} asks about one item at a time{several}"
        else:
            yield (
                "",
                f"window is missing: how many {plural(ITEMS_OF[target][0])} to ask about at once",
            )
    if "together" in content and (of_several or target not in PASSAGE_ITEMS):
        yield "together", "together: this is for a prompt that grades a passage on one item"
    if of_several and content.get("output") == "scale":
        yield "output", f"output: {of} asks for a list, which is text"
    if target in WRITING:
        for key in ("scale", "parser"):
            if key in content:
                yield key, f"{key}: {of} has none"
        if content.get("output") == "scale":
            yield "output", f"output: {of} asks for text"
        return
    if "scale" not in content and content.get("output") == "scale":
        yield "output", "output: scale: which one? The key `scale` is missing"
    for key in ("scale", "parser"):
        if key not in content and (key, content.get("output")) != ("scale", "scale"):
            yield "", f"{key} is missing"
    parser = content.get("parser")
    if parser in PARSERS and parser not in parsers_of(target, of_several):
        able = ", ".join(parsers_of(target, of_several))
        yield "parser", f"parser: {parser!r} cannot read replies to {of}; these can: {able}"


def _check_slots(yaml: YamlFile, content: dict[str, str]) -> None:
    """Unknown, missing and repeated slots; and whether the passage stands where it is said."""

    def wrong(key: str, message: str) -> None:
        yaml.add((key,), f"{key}: {message}")

    slots, target = SLOT.findall(content["template"]), content.get("target", "")
    required, optional = SLOTS.get(target, ((), ()))
    if _is_out_of_passages(content):
        required, optional = OUT_OF_PASSAGES
    elif target in PASSAGE_ITEMS and _is_of_several(content):
        required, optional = OF_SEVERAL
    elif target == "generate" and content.get("items") == "criterion":
        required = ("query", "items")
    if "query" in (*required, *optional):
        optional += OF_QUERY
    allowed = (*required, *optional) or {slot for pair in SLOTS.values() for slot in sum(pair, ())}
    of = f" of a prompt with target {target}" if target in SLOTS else ""
    for slot in dict.fromkeys(slots):
        if slot not in allowed:
            message = f"template: {{{slot}}} is not a slot{of}. {did_you_mean(slot, allowed)}"
            yaml.add_at("template", f"{{{slot}}}", message)
    for slot in required:
        if slot not in slots:
            wrong("template", f"the slot {{{slot}}} is missing")
    for slot in LONG:
        if slots.count(slot) > 1:
            wrong("template", f"{{{slot}}} may appear only once")
    for key in ("examples", "example"):
        if key in content and "examples" not in slots:
            wrong(key, "the template has no slot {examples}")
    if "examples" in slots and "examples" not in content:
        wrong("template", "{examples} needs the key `examples`, which names a JSONL file")
    asked = ("item", "query", *(("items",) if target in PASSAGE_ITEMS else ()))
    about = next((slot for slot in slots if slot in asked), None)
    if about and "passage" in slots:
        first = str(slots.index("passage") < slots.index(about)).lower()
        if first != content.get("context_first", "false").lower():
            place = "before" if first == "true" else "after"
            key = "context_first" if "context_first" in content else "template"
            wrong(key, f"the passage stands {place} {{{about}}}: write context_first: {first}")
