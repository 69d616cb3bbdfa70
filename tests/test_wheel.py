"""The wheel: one package, all that the rooms hold, and nothing that only development needs."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from gradelake.sql.build import plan as plans
from gradelake.sql.build.changes import definitions
from tests.places import REPOSITORY

ROOMS = ("analyses", "dbt_project", "grading", "ingest", "sql")
# for readers of the repository and for development
LEFT_OUT = re.compile(
    r"""(?!ingest/demo/).*/[A-Z]+\.md | .*\.(png|ipynb) | .*/\.sqlfluff | .*_unit_tests\.yml
    | sql/lake/rights/.* | .*__pycache__.* | dbt_project/(target|logs|dbt_packages)/.*
    | dbt_project/plan\.json""",
    re.VERBOSE,
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    source = tmp_path_factory.mktemp("wheel") / "source"
    for name in ("gradelake", *ROOMS):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / name, source / name, symlinks=True, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, source)
    now = definitions()
    plan = plans.packed(now, plans.plan(now).nodes.values())
    (source / "dbt_project" / "plan.json").write_bytes(plan)
    build = "from setuptools.build_meta import build_wheel; build_wheel('..')"
    subprocess.run([sys.executable, "-c", build], cwd=source, capture_output=True, check=True)
    (file,) = source.parent.glob("*.whl")
    return file


def held(folder: Path) -> set[str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    names = {str(path.relative_to(REPOSITORY)) for path in files}
    return {name for name in names if not LEFT_OUT.fullmatch(name)}


def test_it_holds_what_the_rooms_hold_in_one_package(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    info = {name for name in names if name.split("/")[0].endswith(".dist-info")}
    expected = {f"gradelake/{name}" for room in ROOMS for name in held(REPOSITORY / room)}
    plan = {"gradelake/dbt_project/plan.json"}  # `make wheel` puts it there
    assert set(names) - info == expected | plan | held(REPOSITORY / "gradelake")
    assert "gradelake/py.typed" in names


@pytest.mark.slow
def test_it_works_beside_packages_with_the_names_of_its_rooms(wheel, tmp_path):
    """Folders `sql`, `ingest` and so on that belong to others: nothing of them is imported. Nor is
    dbt, whose work the wheel brings along."""
    home, work = tmp_path / "venv", tmp_path / "work"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    (site,) = home.glob("lib/python*/site-packages")
    zipfile.ZipFile(wheel).extractall(site)
    # what it depends on; an editable install there is not looked at, for that takes its .pth file
    places = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (site / "dependencies.pth").write_text("\n".join(places))
    for room in ROOMS:
        (work / room).mkdir(parents=True)
    (work / "dbt").mkdir()
    for room in (*ROOMS[::2], "dbt"):
        (work / room / "__init__.py").write_text("raise ImportError('this is of somebody else')")

    def run(*words: str) -> str:
        done = subprocess.run(
            [home / "bin" / "python", *words],
            cwd=work,
            env=os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        return done.stdout

    assert "0.1.0" in run("-m", "gradelake", "--version")
    run("-m", "gradelake", "init", ".", "--demo")
    run("-m", "gradelake", "ingest", "demo")
    run("-m", "gradelake", "build")
    code = "import gradelake, gradelake.sql as sql; print(gradelake.__file__, sql)"
    told = run("-c", f"{code}\nprint(gradelake.open().ask('leaderboard').fetchall())")
    assert told.count(str(site)) == 2
    assert "'bm25_rm3'" in told
