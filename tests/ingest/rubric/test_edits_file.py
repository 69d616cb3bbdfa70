"""`seeds/rubric_edits.csv`: read by line, added to, never rewritten."""

import stat

import pytest

from gradelake.ingest.rubric import edits_file
from gradelake.ingest.rubric.edits_file import COLUMNS
from gradelake.sql.build import seeds
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.problems import Rejected
from tests.ingest.conftest import Tiny

HEADER = ",".join(COLUMNS)
DROP = "1,tiny,mine,q1/x,drop,,,,,,ann,easy,"


@pytest.fixture
def project(tmp_path):
    tiny = Tiny(tmp_path / "project")
    return tiny.project


def put(project, content: str) -> None:
    path = edits_file.path_of(project)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode())


def row(**cells: str) -> dict[str, str]:
    return dict.fromkeys(COLUMNS, "") | cells


def add(project, *rows: dict[str, str]) -> None:
    edits_file.write(project, edits_file.appended(project, rows))


def kept(project) -> str:
    return edits_file.path_of(project).read_bytes().decode()


def refused(project) -> str:
    with pytest.raises(Rejected) as caught:
        edits_file.read(project)
    return str(caught.value)


def test_rows_are_read_with_their_lines(project):
    put(project, f'{HEADER}\n{DROP}\n\n2,tiny,mine,q1/y,reword,,,"two\nlines",,,bob,,\n{DROP}\n')
    rows = edits_file.read(project)
    assert [(r.line, r.version, r["text"]) for r in rows] == [
        (2, 1, ""),
        (4, 2, "two\nlines"),
        (6, 1, ""),
    ]
    assert edits_file.newest_version(rows, "tiny") == 2
    assert edits_file.newest_version(rows, "other") == 0


def test_a_file_that_cannot_be_read_is_refused_by_line(project):
    for content, problem in (
        ("rubric_version,collection\n", ":1: the first line is not the header"),
        (f"{HEADER.replace(',', ';')}\n", ":1: the first line is not the header"),
        (f"{HEADER.removesuffix(',facet_id')}\n", ":1: the first line is not the header"),
        (f"{HEADER}\n{DROP},more\n", ":2: 14 cells instead of 13"),
        (f'{HEADER}\n{DROP}\n{DROP},"open\n', ":3: a row that cannot be read begins here"),
    ):
        put(project, content)
        assert f"rubric_edits.csv{problem}" in refused(project)


def test_rows_that_come_with_the_package_are_copied_first(project, tmp_path, monkeypatch):
    packaged = tmp_path / "packaged"
    packaged.mkdir()
    (packaged / edits_file.NAME).write_text(f"{HEADER}\n{DROP}\n")
    monkeypatch.setattr(seeds, "PACKAGED", packaged)
    assert [each["action"] for each in edits_file.read(project)] == ["drop"]
    add(project, row(rubric_version="2", action="drop"))
    assert kept(project) == f"{HEADER}\n{DROP}\n2,,,,drop,,,,,,,,\n"


def test_what_stands_there_keeps_its_bytes_and_line_ends(project):
    for before, end in (
        (f"{HEADER}\n{DROP}\n\n", "\n"),
        (f'{HEADER}\n1 , tiny,mine,q1/x,\'drop\',,,,,,ann,"a ""b""",\n', "\n"),
        (f"\ufeff{HEADER}\n{DROP}\n", "\n"),
        (f"{HEADER}\r\n{DROP}\r\n", "\r\n"),
    ):
        put(project, before)
        add(project, row(rubric_version="2"))
        assert kept(project) == f"{before}2,,,,,,,,,,,,{end}"
    put(project, f"{HEADER}\n{DROP}")
    add(project, row(rubric_version="2"))
    assert kept(project) == f"{HEADER}\n{DROP}\n2,,,,,,,,,,,,\n"


def test_every_text_is_found_again(project):
    texts = ['a, "b" #c', "two\nlines", "lone\rreturn", "\\|", "'=1+1", ""]
    add(project, *(row(rubric_version="1", text=text) for text in texts))
    assert [each["text"] for each in edits_file.read(project)] == texts


def test_the_file_keeps_its_permissions_and_a_link_stays_a_link(project):
    put(project, f"{HEADER}\n")
    path = edits_file.path_of(project)
    real = project.folder / "elsewhere.csv"
    path.rename(real)
    real.chmod(0o664)
    path.symlink_to(real)
    add(project, row(rubric_version="1"))
    assert path.is_symlink()
    assert real.read_text() == f"{HEADER}\n1,,,,,,,,,,,,\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o664


def test_a_folder_that_cannot_be_written_is_told_and_leaves_nothing(project):
    (project.folder / "seeds").write_text("a file where the folder should be")
    with pytest.raises(WorkFailed, match=r"rubric_edits\.csv: cannot be written"):
        add(project, row(rubric_version="1"))
