"""Who may enter: links, roles, cookies, and what ends them."""

import json
import stat

import pytest

from gradelake.serve.people import NAME, People
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from tests import projects
from tests.command_line import gradelake


@pytest.fixture
def project(tmp_path) -> Project:
    return projects.project(tmp_path)


def test_a_link_is_printed_once_and_only_a_hash_of_its_secret_is_kept(project):
    said = gradelake(project.folder, "assessor", "add", "ann", "--json").stdout
    told = json.loads(said)
    secret = told["link"].partition("#")[2]

    file = project.folder / NAME
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert secret not in file.read_text()
    assert (told["name"], told["role"]) == ("ann", "assessor")
    found = People(project).of_secret(secret)
    assert found
    assert (found.name, found.role) == ("ann", "assessor")
    assert secret not in gradelake(project.folder, "assessor", "list", "--json").stdout


def test_a_second_link_ends_the_first_and_removing_ends_both(project):
    people = People(project)
    first = people.add("ann", "reader")
    second = people.add("ann", "editor")

    assert people.of_secret(first) is None
    found = people.of_secret(second)
    assert found
    assert found.may("assessor")
    assert not found.may("operator")
    people.remove("ann")
    assert people.of_secret(second) is None
    people.remove("ann")  # the same again
    with pytest.raises(BadInput, match="nobody is called 'bea'"):
        people.remove("bea")


def test_names_are_what_the_lake_can_have(project):
    for name in ("", "a b", "../x", "<b>", "'; drop table", "a/b", "ann\n"):
        with pytest.raises(BadInput):
            People(project).add(name, "reader")
    assert not (project.folder / NAME).exists()


def test_a_file_that_others_may_read_or_that_is_damaged_lets_nobody_in(project):
    people = People(project)
    secret = people.add("ann", "reader")
    file = project.folder / NAME
    file.chmod(0o644)
    with pytest.raises(BadInput, match="chmod 600"):
        people.of_secret(secret)
    file.chmod(0o600)
    file.write_text('{"people": {"ann": {"role": "king", "sha256": "x", "added_at": ""}}}')
    with pytest.raises(BadInput, match="not as `gradelake assessor` writes it"):
        people.of_secret(secret)
