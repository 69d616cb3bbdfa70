"""Trials: one grader asked several times, each in its own way, as graders of its own.

The second and the third of `sun` are called `sun.2` and `sun.3`; all of them `sun.all`.
"""

import re
from dataclasses import replace

from gradelake.grading.graders.grader import Grader
from gradelake.grading.prompts.prompt import Prompt
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project

ALL = ".all"


def trials_of(project: Project, name: str) -> tuple[str, ...]:
    """The graders that a name of the command line stands for: `sun.all` for all trials of sun."""
    first = name.removesuffix(ALL)
    if name in project.graders or first not in project.graders:
        return (name,)
    return (first, *(each for each, (of, _) in project.trials.items() if of == first))


def check_trials(grader: Grader, trials: int, rotates: bool, where: str) -> None:
    """Raise `BadInput` where trials could not differ, or options cannot be rotated."""
    if rotates and trials == 1:
        raise BadInput(f"{where}: rotate_options is for several trials", "Add: trials = 3")
    n_options = len(_options(grader.prompt)[2]) if rotates else 1
    if rotates and not n_options:
        raise BadInput(
            f"{where}: rotate_options: the prompt {grader.prompt.name!r} does not list each word "
            "of its scale on a line of its own",
            "Let the trials differ by chance: decoding = { temperature = 0.7 }",
        )
    if grader.decoding["temperature"] == 0 and trials > n_options:
        raise BadInput(
            f"{where}: trials: at temperature 0, trial {n_options + 1} would repeat trial 1",
            f"Its options can be rotated {n_options - 1} times. Or set: decoding = "
            "{ temperature = 0.7 }"
            if rotates
            else "Set decoding = { temperature = 0.7 }, or rotate_options = true.",
        )


def later_trial(first: Grader, name: str, trial: int, rotates: bool) -> Grader:
    """The grader that is asked for trial 2 and later: with the next seed, and its options rotated
    by one more."""
    decoding = dict(first.decoding)
    if "seed" in decoding:
        decoding["seed"] = int(decoding["seed"]) + trial - 1
    prompt = _rotated(first.prompt, trial - 1) if rotates else first.prompt
    return replace(
        first, name=name, decoding=decoding, prompt=prompt, trial=trial, trial_of=first.grader_id
    )


def _options(prompt: Prompt) -> tuple[str, int, list[str]]:
    """The lines that explain the words of a prompt's scale, one each and one after the other: in
    which of its texts, where they begin there, and the lines; none where it has no such list."""
    words = prompt.scale.words if prompt.scale else {}
    option = re.compile(rf"\s*(?:[-*]\s*)?({'|'.join(map(re.escape, words))})\s*[:=]")
    for part in ("template", "system") if words else ():
        lines = (getattr(prompt, part) or "").split("\n")
        found = [option.match(line) for line in lines]
        for start in range(len(lines) - len(words) + 1):
            block = found[start : start + len(words)]
            if len({match[1] for match in block if match}) == len(words):
                return part, start, lines[start : start + len(words)]
    return "template", 0, []


def _rotated(prompt: Prompt, by: int) -> Prompt:
    """The prompt with the first `by` of its options moved behind the others."""
    part, start, options = _options(prompt)
    by %= len(options)
    lines = getattr(prompt, part).split("\n")
    lines[start : start + len(options)] = options[by:] + options[:by]
    text = "\n".join(lines)
    return replace(prompt, template=text) if part == "template" else replace(prompt, system=text)
