"""What `gradelake doctor` finds out about graders, without asking a model anything."""

import json
from collections.abc import Mapping
from contextlib import suppress

import duckdb

from gradelake.grading.engines import OF_ITSELF, versions
from gradelake.grading.graders.configured import LOOKED_UP, configured, judges
from gradelake.grading.graders.engine_finder import engine_of, started
from gradelake.grading.graders.grader import Grader
from gradelake.grading.graders.grader_reader import read_grader
from gradelake.sql.common.errors import GradelakeError
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.doctor import Finding

Stack = dict[str, list[str]]  # as `raw.grading_runs.stack`: name -> all that occurred


def graders(project: Project) -> list[Finding]:
    """Whether each grader of gradelake.toml could begin: its settings, engine, prompt, endpoint;
    on which versions, and on which it ran last."""
    stacks = _last_stacks(project) if project.graders else {}
    return [_look_at(project, name, stacks) for name in project.graders]


def _last_stacks(project: Project) -> dict[str, Stack]:
    """grader_id -> what its last run ran on; empty where the lake cannot tell, which is found out
    by who looks at the lake."""
    last = "select grader_id, arg_max(stack, started_at) from lake.raw.grading_runs group by all"
    with suppress(GradelakeError, duckdb.Error), Lake.readable(project) as lake:
        return {grader_id: json.loads(stack) for grader_id, stack in lake.rows(last) if stack}
    return {}


def _words(stack: Mapping[str, str | list[str]]) -> str:
    """Such as `vllm 0.11.0, gpu NVIDIA H100 or NVIDIA A100`."""
    told = {name: [v] if isinstance(v, str) else v for name, v in stack.items()}
    return ", ".join(f"{name} {' or '.join(values)}" for name, values in told.items())


def _with_stack(what: str, grader: Grader, last: Stack, is_elsewhere: bool) -> Finding:
    """A grader whose engine runs here, or on a cluster, with what it runs on."""
    here = {} if is_elsewhere else versions(*engine_of(grader).made_of)
    what += f", on {_words(here)}" if here else ""
    other = {name: last[name] for name in here if last.get(name, [here[name]]) != [here[name]]}
    if other:
        hint = "The same model may grade otherwise there; `grading_runs.stack` has each run's."
        return Finding("note", f"{what}; its last run was on {_words(other)}", hint)
    of_gpu = {name: last[name] for name in ("gpu", "cuda") if name in last}
    return Finding("good", f"{what}; its last run was on {_words(of_gpu)}" if of_gpu else what)


def _look_at(project: Project, name: str, stacks: Mapping[str, Stack]) -> Finding:
    try:
        if name in judges(project) and project.graders[name].keys() & LOOKED_UP:
            with Lake.readable(project) as lake:
                grader = configured(project, lake, name)
        else:
            grader = read_grader(project, name)
        what = f"grader {name}: {grader.engine} {grader.model}".rstrip()
        what += f", prompt {grader.prompt.name}"
        last = stacks.get(grader.grader_id, {})
        if not engine_of(grader).has_endpoint:
            return _with_stack(what, grader, last, "ray_address" in project.grading)
        if answered := {name: last[name] for name in OF_ITSELF if name in last}:
            what += f" (last answered: {_words(answered)})"
        if address := project.grading.get("ray_address"):
            hint = "Its machines need the key, and have to reach the endpoint."
            return Finding("note", f"{what}: works on the cluster at {address}", hint)
        found = started(grader).reach() or "its endpoint answers"
        return Finding("good", f"{what}: {found}")
    except GradelakeError as error:
        message = error.message
        if f"[graders.{name}]" not in message:
            message = f"[graders.{name}]: {message}"
        return Finding("bad", message, error.hint)
