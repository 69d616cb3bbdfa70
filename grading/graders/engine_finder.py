"""Finds engines by name: those of Gradelake, and those in a folder of the project's own."""

import importlib
import importlib.util
import pkgutil
from pathlib import Path

from gradelake.grading import engines
from gradelake.grading.engines import Engine, EngineUnusable
from gradelake.grading.engines._ray_token import send_token
from gradelake.grading.graders.grader import Grader
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.own_code import load_file
from gradelake.sql.common.project import Project, require_known


def shipped() -> list[str]:
    """Names of the engines that come with Gradelake."""
    names = (module.name for module in pkgutil.iter_modules(engines.__path__))
    return sorted(name for name in names if not name.startswith("_"))


def own_files(project: Project) -> dict[str, Path]:
    """name -> file of the project's own engines.

    Raises `BadInput` when the folder that `[grading] engines` names is not there.
    """
    named = project.grading.get("engines")
    if not named:
        return {}
    folder = project.folder / named
    if not folder.is_dir():
        raise BadInput(f"{project.file}: [grading] engines: no folder {folder}")
    return {file.stem: file for file in sorted(folder.glob("*.py")) if file.stem != "__init__"}


def find(project: Project, name: str, where: str) -> tuple[type[Engine], str | None]:
    """The engine's class, and its file when it is the project's own.

    Raises `BadInput` for an unknown name, and for a file that holds no engine.
    """
    own = own_files(project)
    known = [*shipped(), *own]
    require_known(name, known, f"{where}: there is no engine {name!r}")
    file = str(own[name]) if name not in shipped() else None
    if file and project.grading.get("ray_address"):  # it may import Ray
        send_token()
    return load(name, file), file


def load(name: str, file: str | None) -> type[Engine]:
    """The class of a shipped engine, or of one in a file."""
    if file is None:
        return importlib.import_module(f"gradelake.grading.engines.{name}").Engine
    engine = getattr(load_file(file, f"gradelake_engine_{name}"), "Engine", None)
    if not (isinstance(engine, type) and issubclass(engine, Engine)):
        raise BadInput(
            f"{file}: holds no engine",
            "Write `class Engine(gradelake.grading.engines.Engine)` in it.",
        )
    return engine


def engine_of(grader: Grader) -> type[Engine]:
    """The class of a grader's engine."""
    return load(grader.engine, grader.engine_file)


def started(grader: Grader) -> Engine:
    """A grader's engine, loaded. Raises `EngineUnusable` when that cannot be done."""
    try:
        return engine_of(grader)(grader)
    except ImportError as error:
        raise EngineUnusable(f"{grader.engine}: {error}", engine_of(grader).install) from error


def require_installed(engine: type[Engine], name: str) -> None:
    """Raise `BadInput` saying which extra to install, unless all the engine needs is there."""
    missing = [module for module in engine.needs if not importlib.util.find_spec(module)]
    if missing:
        raise BadInput(
            f"the engine {name!r} needs {', '.join(missing)}, not installed here", engine.install
        )
