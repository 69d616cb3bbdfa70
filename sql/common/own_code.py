"""Python files of a project's own, which `gradelake.toml` names: engines, datasets."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from gradelake.sql.common.errors import BadInput


def load_file(file: str | Path, module_name: str) -> ModuleType:
    """Run a file as a module of that name. Raises `BadInput` when that fails."""
    spec = importlib.util.spec_from_file_location(module_name, file)
    assert spec is not None  # there is one, with a loader, for every file in .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[module_name]
        raise BadInput(
            f"{file}: cannot be loaded: {type(error).__name__}: {error}", "Fix it and run again."
        ) from error
    return module
