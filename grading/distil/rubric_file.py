"""Rubrics of labels as files that people edit: written, and read back as a new version."""

from pathlib import Path

from gradelake.grading.distil.distil_store import commit_version
from gradelake.grading.graders.label_rubrics import LabelRubric, find_label_rubric
from gradelake.grading.prompts.prompt_yaml import YamlFile
from gradelake.grading.prompts.written_reply import can_be_stored
from gradelake.sql.common.checked import Checked, Text
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.hashes import id_of
from gradelake.sql.common.problems import reject
from gradelake.sql.common.project import check_name
from gradelake.sql.common.whole_file import whole_file
from gradelake.sql.lake.opening import Lake

PERSON = "person"  # the engine of texts that a person wrote
_HINT = "Edit a file that `gradelake distil --export NAME FILE` wrote, its texts only."


class _RubricFile(Checked):
    """What a file holds: the version that its texts were edited from, and a text per label."""

    version: Text
    labels: dict[str, Text]


class _Folded(str):
    """A text that YAML shows in lines, where its characters allow that."""


def check_rubric_name(name: str, option: str) -> None:
    """Raise `BadInput` for a name that rubrics of labels cannot have."""
    check_name(name, option)
    if "@" in name:
        raise BadInput(f"{option}: {name!r}: what follows an @ names a version")


def write_rubric(rubric: LabelRubric, path: Path) -> None:
    """Write a version into a new file. Raises `BadInput` where there is one already."""
    import yaml

    if path.exists():
        raise BadInput(f"{path}: already exists", "Name another file, or remove it first.")

    class Dumper(yaml.SafeDumper):
        pass

    Dumper.add_representer(
        _Folded,
        lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style=">"),
    )
    content = {
        "version": f"{rubric.name}@{rubric.rubric_id}",
        "labels": {label: _Folded(text) for label, text in rubric.texts.items()},
    }
    head = (
        "# What each label means. Edit the texts and leave the rest as it is, then:\n"
        f"# gradelake distil --import {rubric.name} FILE\n"
    )
    shown = yaml.dump(content, Dumper=Dumper, allow_unicode=True, sort_keys=False, width=96)
    with whole_file(path) as stream:
        stream.write(f"{head}{shown}".encode())


def read_rubric_file(lake: Lake, path: Path) -> tuple[LabelRubric, dict[int, str]]:
    """The version that a file was edited from, and its texts by label, with single spaces.

    Raises `Rejected` with all that is wrong in it, by line.
    """
    yaml = YamlFile(path, str(path), _HINT)
    stated = yaml.read(_RubricFile)
    yaml.problems.raise_if_any()
    assert stated
    try:
        base = find_label_rubric(lake, stated.version, "version")
    except BadInput as error:
        raise reject(
            str(path), yaml.line_of("version"), error.message, error.hint or _HINT
        ) from None
    expected = {str(label): label for label in base.texts}
    for label, text in stated.labels.items():
        if label not in expected:
            yaml.add(("labels", label), f"labels: {label!r} is none of {', '.join(expected)}")
        elif not can_be_stored(text):
            yaml.add(("labels", label), f"labels.{label} has characters that no text may hold")
    for label in expected.keys() - stated.labels.keys():
        yaml.add(("labels",), f"labels: {label} is missing")
    yaml.problems.raise_if_any()
    return base, {expected[label]: " ".join(text.split()) for label, text in stated.labels.items()}


def store_edited(
    lake: Lake, name: str, base: LabelRubric, texts: dict[int, str], arguments: list[str]
) -> tuple[str, bool]:
    """Commit texts that a person edited as a version of a name: one more iteration after those of
    its base, with the base's pairs, which its judges are never measured on. Returns as
    `commit_version` does."""
    rubric_id = id_of([PERSON, name, base.rubric_id, texts])
    if name == base.name and texts == base.texts:
        return base.rubric_id, False
    made = {"rubric_id": rubric_id, "name": name, "engine": PERSON, "model": ""}
    written = made | {"created_at": utc_now()}
    edited = [
        row | written | {"iteration": row["iteration"] + 1, "text": texts[row["label"]]}
        for row in lake.objects(
            "select * from lake.raw.label_rubrics where rubric_id = ? and iteration = ?",
            base.rubric_id,
            base.facts["iterations"],
        )
    ]
    pairs = lake.objects(
        "select * replace (? as rubric_id) from lake.raw.label_rubric_pairs where rubric_id = ?",
        rubric_id,
        base.rubric_id,
    )
    return commit_version(lake, edited, pairs, arguments, {"edited_from": base.rubric_id})
