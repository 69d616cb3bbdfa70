"""What people keep beside a lake, as a backup takes it along: without secrets, for a local lake."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gradelake.sql.build.seeds import seeds_folder
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import CONFIG_NAME, Project

_SECRET_KEY = re.compile(r"(api_?key|secret|token|password|passwd)s?$", re.IGNORECASE)
_WITH_PASSWORD = re.compile(r"://[^/@\s]*:[^/@\s]+@|password\s*=", re.IGNORECASE)
_PLACES = ("path", "catalog", "data")  # the settings of [lake] that say where it is
_LAKE_SETTING = re.compile(rf"\s*({'|'.join(_PLACES)})\s*=")


def people_files(project: Project) -> tuple[dict[str, bytes], list[str]]:
    """Path in a restored folder -> content, and warnings.

    That is gradelake.toml with its [lake] set to a SQLite lake beside it, the seeds, and the
    folders that [grading] names where they are below the project's. Raises `BadInput` when a
    secret is in gradelake.toml, or a file cannot be read.
    """
    try:
        text = project.file.read_bytes().decode()
        found = {
            str(file.relative_to(project.folder)): file.read_bytes() for file in _beside(project)
        }
    except OSError as error:
        raise BadInput(f"{error.filename}: cannot be read: {error.strerror}") from error
    settings = tomllib.loads(text)
    for where, value in _strings(settings):
        if where.startswith("lake."):
            continue
        if _SECRET_KEY.search(where) or _WITH_PASSWORD.search(value):
            raise BadInput(
                f"{project.file}: {where} looks like a secret, and a backup must not hold one",
                "Put it into an environment variable.",
            )
    warnings = []
    if any(_WITH_PASSWORD.search(value) for _, value in _strings(settings.get("lake", {}))):
        warnings.append(
            f"{project.file}: [lake] holds a password; it was left out of the backup. Better keep "
            "it in PGPASSWORD."
        )
    return {CONFIG_NAME: localised(text, project).encode(), **found}, warnings


def _beside(project: Project) -> Iterator[Path]:
    yield from sorted(seeds_folder(project).glob("*.csv"))
    for key in ("prompts", "engines"):
        folder = project.folder / project.grading.get(key, CONFIG_NAME)
        if folder.is_dir() and folder.resolve().is_relative_to(project.folder):
            yield from sorted(
                file
                for file in folder.resolve().rglob("*")
                if file.is_file() and "__pycache__" not in file.parts
            )


def localised(text: str, project: Project) -> str:
    """A gradelake.toml whose lake is the folder `lake` beside it; all else stays as it was.

    Raises `BadInput` when the file is written in a way that cannot be changed safely.
    """
    before = tomllib.loads(text)
    settings = before.get("lake", {})
    wanted = {key: settings[key] for key in settings if key not in _PLACES} | {"path": "lake"}
    if not settings or settings == wanted:
        return text
    changed, inside = [], False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            inside = line.split("#")[0].strip() == "[lake]"
            changed.append(line)
            if inside:
                changed.append('path = "lake"\n')
        elif not (inside and _LAKE_SETTING.match(line)):
            changed.append(line)
    result = "".join(changed)
    try:
        after = tomllib.loads(result)
    except tomllib.TOMLDecodeError:
        after = None
    if after != before | {"lake": wanted}:
        raise BadInput(
            f"{project.file}: [lake] cannot be set to a local lake for the backup",
            "Write [lake] as a table of its own, with a setting a line.",
        )
    return result


def _strings(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(item, f"{where}.{key}".lstrip("."))
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, where)
    elif isinstance(value, str):
        yield where, value
