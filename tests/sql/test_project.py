"""gradelake.toml: found, read, and refused with the place of the fault."""

import pytest

from sql import BadInput, Project
from sql.project import is_name


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


def test_none_anywhere_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("GRADELAKE_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=r"no gradelake\.toml") as error:
        Project.find()
    assert "gradelake init" in error.value.hint


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[lake\n", r"gradelake\.toml:1: ", "Mend the TOML"),
        ('[lake]\npth = "x"\n', r"\[lake\]: unknown setting 'pth'", "'path'"),
        ("[collection.x]\n", "unknown setting 'collection'", "'collections'"),
        ("[lake]\npath = 3\n", "path must be a string", None),
        ('[collections."a b"]\n', "'a b' cannot be used as a name", "letters, digits"),
        ('[collections."../up"]\n', "cannot be used as a name", "letters, digits"),
        ("collections = 3\n", r"\[collections\] must be a table", None),
        ("[collections]\nx = 3\n", r"\[collections\.x\] must be a table", None),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path, text, message, hint):
    write(tmp_path, text)
    with pytest.raises(BadInput, match=message) as error:
        Project.find(tmp_path)
    assert error.value.exit_code == 2
    assert hint is None or hint in error.value.hint


@pytest.mark.parametrize("name", ["bm25", "TUW19-p3-f", "a.b_c+d=e@f", "9lives"])
def test_names_that_can_be_used(name):
    assert is_name(name)


@pytest.mark.parametrize("name", ["", "a b", "a/b", "../a", "a..b", "it's", 'a"b', "-a", ".a", "é"])
def test_names_that_cannot(name):
    assert not is_name(name)
