"""The layout of the house: which room may import which, and that nothing imports in a circle."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.places import REPOSITORY

ROOMS = ("gradelake", "ingest", "grading", "analyses", "sql")
MAY_IMPORT = {
    "sql": {"sql"},
    "ingest": {"ingest", "sql"},
    "grading": {"grading", "sql"},
    "analyses": {"analyses", "sql"},
}


def module_of(file: Path) -> str:
    """`sql/lake/lock.py` is `gradelake.sql.lake.lock`."""
    parts = list(file.relative_to(REPOSITORY).with_suffix("").parts)
    if parts[0] != "gradelake":
        parts.insert(0, "gradelake")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_of(file): file for room in ROOMS for file in (REPOSITORY / room).rglob("*.py")}


def imported(file: Path) -> Iterator[str]:
    """The modules of Gradelake that a file imports, wherever in it, for types too."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in FILES)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield from (name for name in (whole, node.module) if name in FILES)


def room_of(module: str) -> str:
    """The top folder that a module is in."""
    return (
        module.split(".")[1] if module.count(".") and module.split(".")[1] in ROOMS else "gradelake"
    )


# a module reaches its package's `__init__` by being in it; only what it names is an arrow
ARROWS = {
    module: {name for name in imported(file) if not module.startswith(f"{name}.")} - {module}
    for module, file in FILES.items()
}


def test_nothing_imports_in_a_circle():
    try:
        TopologicalSorter(ARROWS).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_rooms_import_only_what_stands_below_them():
    for module, names in ARROWS.items():
        allowed = MAY_IMPORT.get(room_of(module), set(ROOMS))
        wrong = [name for name in names if room_of(name) not in allowed]
        assert not wrong, f"{module} imports {wrong}"


def test_every_room_says_what_belongs_there():
    for module, file in FILES.items():
        if file.name == "__init__.py":
            text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
            assert text, f"{module} does not say what belongs there"
