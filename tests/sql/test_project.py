"""gradelake.toml: found, read, and refused with the place of the fault."""

import os
from pathlib import Path

import pytest

import gradelake as api
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project, is_name
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake


def write(folder, text):
    (folder / "gradelake.toml").write_text(text, encoding="utf-8")
    return folder


def test_it_is_found_from_a_folder_below(tmp_path, monkeypatch):
    write(tmp_path, '[lake]\npath = "there"\n')
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    project = Project.find()
    assert project.file == tmp_path / "gradelake.toml"
    assert project.lake_path == tmp_path / "there"


def test_the_environment_names_one_and_an_argument_wins(tmp_path, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        write(folder, "")
    monkeypatch.setenv("GRADELAKE_CONFIG", str(first))
    assert Project.find().folder == first
    assert Project.find(second / "gradelake.toml").folder == second
    assert Project.find(second).folder == second


def test_none_anywhere_says_what_to_do(monkeypatch):
    monkeypatch.delenv("GRADELAKE_CONFIG", raising=False)
    monkeypatch.chdir("/")  # other tests may leave one above a temporary folder
    with pytest.raises(BadInput, match=r"no gradelake\.toml") as error:
        Project.find()
    assert "gradelake init" in error.value.hint


STRANGER = 65534
PROJECT = """
[grading]
engines = "engines"
prompts = "prompts"
[collections.c]
queries = "topics.tsv"
passages = "passages.tsv"
runs = ["*.run"]
[collections.d]
ir_dataset = "lab/d"
registered_by = "sets/ours.py"
[graders.theirs]
engine = "theirs"
prompt = "umbrela"
"""
ENGINE = """
from pathlib import Path
Path({!r}).write_text("run")
from gradelake.grading.engines.lexical import Engine as Lexical
class Engine(Lexical):
    pass
"""


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_what_another_user_put_there_is_not_found_but_named(tmp_path, monkeypatch):
    monkeypatch.delenv("GRADELAKE_CONFIG", raising=False)
    folder, below, ran = tmp_path / "theirs", tmp_path / "theirs" / "a", tmp_path / "ran"
    for name in ("engines", "prompts", "seeds", "sets", "a"):
        (folder / name).mkdir(parents=True)
    (folder / "sets" / "ours.py").touch()
    write(folder, PROJECT)
    (folder / "topics.tsv").write_text("q\twhy\n")
    (folder / "passages.tsv").write_text("p\tbecause\n")
    (folder / "x.run").write_text("q Q0 p 1 1.0 x\n")
    (folder / "engines" / "theirs.py").write_text(ENGINE.format(str(ran)))
    gradelake(folder, "ingest", "c")
    plan = ("plan", "c", "--grader", "theirs")
    gradelake(below, *plan)
    assert ran.read_text() == "run", "what is ours may run"
    ran.unlink()

    config = folder / "gradelake.toml"

    def refused(place: Path) -> None:
        os.chown(place, STRANGER, STRANGER, follow_symlinks=False)
        for words in (plan, ("sql", "select 1"), ("build",), ("doctor",)):
            told = gradelake(below, *words, code=1 if words == ("doctor",) else 2)
            assert f"belongs to another user (uid {STRANGER})" in told.stdout + told.stderr, place
        assert f"gradelake --config {config}" in told.stdout + told.stderr
        monkeypatch.chdir(below)
        with pytest.raises(BadInput, match="another user"):
            api.open()
        assert not ran.exists()

    for name in ("gradelake.toml", "prompts", "seeds", "sets", "sets/ours.py", "engines"):
        refused(folder / name)
        if name != "engines":
            os.chown(folder / name, 0, 0)
    gradelake(below, "--config", config, *plan)
    assert ran.read_text() == "run"
    with api.open(folder):
        pass
    ran.unlink()

    (folder / "engines").rename(tmp_path / "their_engines")
    (folder / "engines").symlink_to(tmp_path / "their_engines")
    refused(tmp_path / "their_engines")
    os.chown(tmp_path / "their_engines", 0, 0)
    config.rename(tmp_path / "ours.toml")
    config.symlink_to(tmp_path / "ours.toml")
    refused(config)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_what_root_put_there_is_found(tmp_path, monkeypatch):
    monkeypatch.delenv("GRADELAKE_CONFIG", raising=False)
    write(tmp_path, "")
    for folder in (tmp_path, *tmp_path.parents):
        if folder != Path("/") and folder != Path("/tmp"):
            folder.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    os.seteuid(STRANGER)
    try:
        assert Project.find().folder == tmp_path
    finally:
        os.seteuid(0)


def test_a_fault_is_named_with_its_place(tmp_path):
    for text, message, hint in (
        ("[lake\n", r"gradelake\.toml:1: ", "Fix the TOML"),
        ('[lake]\npth = "x"\n', r"toml:2: \[lake\]: unknown setting 'pth'", "'path'"),
        ("[collection.x]\n", "unknown setting 'collection'", "'collections'"),
        ("[lake]\npath = 3\n", "path must be a string", ""),
        ('[collections."a b"]\n', "'a b' cannot be used as a name", "letters, digits"),
        ('[collections."../up"]\n', "cannot be used as a name", "letters, digits"),
        ("collections = 3\n", r"\[collections\] must be a table", ""),
        ("[collections]\nx = 3\n", r"\[collections\.x\] must be a table", ""),
    ):
        with pytest.raises(BadInput, match=message) as error:
            Project.find(write(tmp_path, text))
        assert error.value.exit_code == 2
        assert hint in (error.value.hint or "")


def test_the_line_of_a_setting_is_found_however_it_is_written(tmp_path):
    write(
        tmp_path,
        '[lake]\npath = "x" # [graders.a]\n\n[graders]\na.engine = "b"\n'
        '[ graders . "c=d" ] # another\n"engine"="e"\nwords = [\n  "seed = 3",\n]\n'
        "[graders.f.decoding]\nseed = 3\n",
    )
    line_of = Project.find(tmp_path).line_of
    assert line_of("lake", "path") == 2
    assert line_of("graders", "a", "engine") == 5
    assert line_of("graders", "c=d", "engine") == 7
    assert line_of("graders", "f", "decoding", "seed") == 12
    assert line_of("graders", "c=d", "prompt") == 6  # not there: the line of its table
    assert line_of("collections", "x") is None


def test_names_that_can_be_used_and_those_that_cannot():
    can, cannot = (
        ("bm25", "TUW19-p3-f", "a.b_c+d=e@f", "9lives"),
        ("", "a b", "a/b", "../a", "a..b"),
    )
    assert [name for name in can if not is_name(name)] == []
    assert [name for name in (*cannot, "it's", 'a"b', "-a", ".a", "é") if is_name(name)] == []


# --- what TOML allows, and nothing here can hold --------------------------------------------------

STRANGE = {
    "nested too deeply": "a = " + "[" * 5000 + "]" * 5000,
    "gradelake.toml:2: nested too deeply": f"[lake]\n{'.'.join('a' * 50_000)} = 1",
    "a number in it is too long": "a = " + "9" * 5000,
    "c: min_relevant is too large a number": "[collections.c]\nmin_relevant = 9223372036854775808",
    "c: queries holds a null character": '[collections.c]\nqueries = "t\\u0000.tsv"',
    "runs holds a null character": '[collections.c]\nruns = ["a", "b\\u0000"]',
    "a name holds a null character": '"a\\u0000" = 1',
    "[lake] path cannot be used: File name too": f'[lake]\npath = "{"x" * 300}"',
    "[grading] prompts cannot be used": f'[grading]\nprompts = "{"x" * 300}"',
}


def test_what_cannot_be_held_is_refused(tmp_path):
    for wrong, text in STRANGE.items():
        with pytest.raises(BadInput) as error:
            Project.read(write(tmp_path, text) / "gradelake.toml")
        assert str(tmp_path / "gradelake.toml") in error.value.message
        assert wrong in error.value.message


def test_bytes_that_are_not_utf_8_are_named_with_their_line(tmp_path):
    (tmp_path / "gradelake.toml").write_bytes('[lake]\npath = "für"\n'.encode("latin-1"))
    with pytest.raises(BadInput, match=r"gradelake\.toml:2: byte 0xfc is not UTF-8"):
        Project.read(tmp_path / "gradelake.toml")


def test_a_lake_cannot_be_made_where_a_file_is(tmp_path):
    project = Project.read(write(tmp_path, '[lake]\npath = "gradelake.toml"') / "gradelake.toml")
    with pytest.raises(BadInput, match=r"gradelake\.toml: cannot be made: File exists"):
        Lake.create(project)
