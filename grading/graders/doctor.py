"""What `gradelake doctor` finds out about graders, without asking a model anything."""

from gradelake.grading.graders.configured import configured, judges
from gradelake.grading.graders.engine_finder import engine_of, started
from gradelake.grading.graders.grader_reader import read_grader
from gradelake.sql.common.errors import GradelakeError
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.doctor import Finding


def graders(project: Project) -> list[Finding]:
    """Whether each grader of gradelake.toml could begin: its settings, engine, prompt, endpoint."""
    return [_look_at(project, name) for name in project.graders]


def _look_at(project: Project, name: str) -> Finding:
    try:
        looked_up = {"answers_from", "label_rubrics", "scores_from"} & project.graders[name].keys()
        if name in judges(project) and looked_up:
            with Lake.readable(project) as lake:
                grader = configured(project, lake, name)
        else:
            grader = read_grader(project, name)
        what = f"grader {name}: {grader.engine} {grader.model}".rstrip()
        what += f", prompt {grader.prompt.name}"
        if not engine_of(grader).has_endpoint:
            return Finding("good", what)
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
