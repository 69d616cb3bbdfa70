"""`gradelake --install-completion`: what it writes, and what Tab then does in real shells."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import command_line, projects
from tests.sql.terminal import ENTER, TAB, Terminal

PLACES = {
    "bash": (".local/share/gradelake/completion.bash", ".bashrc"),
    "zsh": (".local/share/gradelake/completion.zsh", ".zshrc"),
    "fish": (".config/fish/completions/gradelake.fish", None),
}


def at_home(home: Path) -> dict[str, str]:
    """Variables of somebody who lives there."""
    return {
        "HOME": str(home),
        "ZDOTDIR": str(home),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_CONFIG_HOME": str(home / ".config"),
    }


@pytest.fixture
def project(tmp_path) -> Path:
    """A folder whose gradelake.toml names two collections and a grader; there is no lake."""
    two = {f"trec_{n}": {"queries": "t.tsv"} for n in ("one", "two")}
    return projects.project(tmp_path / "project", two, {"words": projects.LEXICAL}).folder


def install(home: Path, *shell: str, **environment: str) -> subprocess.CompletedProcess:
    return command_line.run(home, "--install-completion", *shell, **at_home(home), **environment)


@pytest.mark.parametrize("shell", PLACES)
def test_it_writes_a_file_and_one_line_and_says_so(tmp_path, shell):
    file, start_up = PLACES[shell]
    if start_up:
        (tmp_path / start_up).write_bytes(b"mine='\xe9'")  # Latin-1, without its end of line
    said = [install(tmp_path, shell).stdout for _ in range(2)]
    for each in said:
        assert f"wrote {tmp_path / file}\n" in each
        assert f"A new {shell} completes" in each
    assert "_GRADELAKE_COMPLETE" in (tmp_path / file).read_text()
    if start_up:
        first, line = (tmp_path / start_up).read_bytes().splitlines()
        assert first == b"mine='\xe9'"
        assert str(tmp_path / file) in line.decode()
        assert f"added the line that reads it to {tmp_path / start_up}\n" in said[0]
        assert f"the line that reads it is in {tmp_path / start_up}\n" in said[1]


def test_the_shell_is_the_users_own_or_one_that_is_known(tmp_path):
    install(tmp_path, SHELL="/usr/bin/fish")
    assert (tmp_path / PLACES["fish"][0]).exists()
    for words, shell in (((), "/bin/tcsh"), (("tcsh",), "/bin/bash")):
        done = install(tmp_path, *words, SHELL=shell)
        assert done.returncode == 2
        assert "no completion for the shell 'tcsh'\n  Name one: " in done.stderr
    (tmp_path / ".local").touch()
    assert "cannot be written" in install(tmp_path, "bash").stderr
    assert not (tmp_path / ".bashrc").exists()


def completed(folder: Path, *words: str) -> subprocess.CompletedProcess:
    """What bash is told to complete the last word with; standard error has every import."""
    asked = {"COMP_WORDS": " ".join(("gradelake", *words)), "COMP_CWORD": str(len(words))}
    return subprocess.run(
        [sys.executable, "-X", "importtime", str(Path(sys.executable).with_name("gradelake"))],
        cwd=folder,
        env=os.environ | asked | {"_GRADELAKE_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["pla"], ["plan"]),
        (["plan", "tr"], ["trec_one", "trec_two"]),
        (["plan", "trec_t"], ["trec_two"]),
        (["plan", "trec_two", "--grader", ""], ["words"]),
        (["report", "trec_one", "trec_t"], ["trec_two"]),
        (["stats", "correlation", ""], ["trec_one", "trec_two"]),
        (["sql", "--form"], ["--format"]),
        (["--config", "project/gradelake.toml", "plan", "trec_o"], ["trec_one"]),
    ],
)
def test_commands_options_collections_and_graders_complete(project, words, found):
    done = completed(project.parent if "--config" in words else project, *words)
    assert [line.removeprefix("plain,") for line in done.stdout.split()] == found


def test_prompts_complete_where_there_is_no_project(tmp_path):
    assert completed(tmp_path, "prompts", "show", "product").stdout.split() == [
        "plain,product_search"
    ]
    assert not completed(tmp_path, "plan", "").stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["sql", "@leaderboard_"], ["@leaderboard_shift"]),
        (["stats", "ranks", "demo", "--label-set", "judge:lex"], ["judge:lexical_direct"]),
        (["report", "demo", "--reference", "ass"], ["assessor:human"]),
        (["compare", "demo", "--measure", "nDCG@1"], ["nDCG@10"]),
        (["compare", "demo", "bm25_r"], ["bm25_rm3"]),
        (["sql", "--release", ""], ["r1"]),
        (["release", "diff", "r"], ["r1"]),
        (["prompts", "show", "product"], ["product_search"]),
    ],
)
def test_what_a_lake_has_completes(graded_demo, words, found):
    done = completed(graded_demo, *words)
    assert [line.removeprefix("plain,") for line in done.stdout.split()] == found


@pytest.mark.slow
def test_bash_completes_names_that_it_would_break(graded_demo, tmp_path):
    """At : and @ bash begins another word."""
    assert install(tmp_path, "bash").returncode == 0
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    terminal = Terminal(graded_demo, "-i", program=("bash",), PATH=path, **at_home(tmp_path))
    try:
        for typed, done in (
            ("gradelake sql @leaderboard_sh", "ift "),
            ("gradelake stats ranks demo --label-set judge:lex", "ical_direct "),
        ):
            terminal.type(f"{typed}{TAB}")
            terminal.wait_for(done)
            terminal.type(f"\x15echo rea''dy{ENTER}")
            terminal.wait_for("ready")
    finally:
        terminal.__exit__()


def test_completing_imports_no_dbt_and_opens_no_lake(project):
    done = completed(project, "plan", "")
    assert done.stdout
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not {"dbt", "dbt.cli", "ray", "torch", "vl_convert", "polars"} & imported
    assert not (project / "lake").exists()


def test_without_a_project_names_complete_to_nothing(tmp_path):
    done = completed(tmp_path, "plan", "")
    assert done.stdout.strip() == ""
    assert "error:" not in done.stderr


@pytest.mark.parametrize("shell", PLACES)
def test_tab_completes_in_the_shell_itself(project, tmp_path, shell):
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell}")
    home = tmp_path / "home"
    home.mkdir()
    assert install(home, shell).returncode == 0
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    terminal = Terminal(project, "-i", program=(shell,), PATH=path, **at_home(home))
    try:
        terminal.type("echo rea''dy" + ENTER)
        terminal.wait_for("ready")
        for typed, completed in (("gradelake pla", "n"), ("trec_o", "ne"), ("--grader ", "words")):
            terminal.type(typed)
            terminal.wait_for(typed.strip()[-3:])
            time.sleep(0.3)  # drawn, and waiting for a key
            terminal.type(TAB)
            terminal.wait_for(completed)
    finally:
        terminal.__exit__()
