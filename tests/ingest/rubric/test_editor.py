"""The person's editor: which one, what it may do, and that no sheet is lost."""

import os
import pty
import subprocess
import sys

import pytest

from tests.ingest.rubric.conftest import LIGHT, SKY
from tests.ingest.rubric.editing import edit, rows, sheets
from tests.tiers import first_of


@pytest.mark.parametrize("code", ["", "text = ''", "text = '# nothing left\\n'"])
def test_an_unchanged_or_emptied_sheet_does_nothing_and_says_so(tiny, code):
    assert edit(tiny, code).stdout == "nothing was changed\n"
    assert not tiny.edits.exists()
    assert sheets(tiny) == []


def test_visual_comes_before_editor_and_may_have_options(tiny, monkeypatch):
    monkeypatch.setenv("EDITOR", "false")
    monkeypatch.setenv("VISUAL", tiny.editor(f"text = text.replace({SKY!r}, sys.argv[1])") + " --x")
    tiny.rubric("edit", "q1")
    assert rows(tiny)[0][6] == "--x"


def test_without_an_editor_the_other_way_is_told(tiny):
    assert "--print" in tiny.rubric("edit", "q1", code=2).error


def test_an_editor_that_fails_changes_nothing(tiny):
    tiny_error = edit(tiny, "sys.exit(3)", exit_code=1).error
    assert "ended with status 3: nothing was changed" in tiny_error
    assert not tiny.edits.exists()
    assert sheets(tiny) == []


def test_a_refused_sheet_is_kept_and_can_be_mended_and_used(tiny):
    refused = edit(
        tiny, f"text = text.replace({SKY!r}, '').replace({LIGHT!r}, 'What?')", exit_code=2
    )
    (kept,) = sheets(tiny)
    number, line = next(
        (n, line)
        for n, line in enumerate(kept.read_text().split("\n"), 1)
        if line.endswith("question  ")
    )
    assert f"{kept.name}:{number}: the text is empty" in refused.error
    assert "Your sheet was kept in " in refused.error
    assert not tiny.edits.exists()
    tiny.use(kept.read_text().replace(line, f"{line}{SKY}"))
    assert [row[2:7] for row in rows(tiny)] == [(LIGHT, "reword", "q1", "", "What?")]


@pytest.mark.parametrize(
    ("answers", "status"),
    first_of(
        1,
        ([("Go on editing?", "n")], 2),
        ([("Go on editing?", "y"), ("Save?", "y")], 0),
        ([("Go on editing?", "y"), ("Save?", "n"), ("Go on editing?", "n")], 2),
    ),
)
def test_on_a_terminal_a_refused_sheet_can_be_edited_on(tiny, answers, status):
    assert tiny.project
    program = tiny.editor(
        f"text = text.replace({SKY!r}, '') if {SKY!r} in text else "
        f"text.replace('question  \\n', 'question  Fixed?\\n')"
    )
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gradelake", "rubric", "edit", "q1", "--bank", "mine"],
        cwd=tiny.folder,
        env=os.environ | {"EDITOR": program},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        close_fds=True,
    )
    os.close(theirs)
    said, seen = b"", 0
    for question, answer in answers:
        while question.encode() not in said[seen:]:
            said += os.read(ours, 1000)
        seen = len(said)
        os.write(ours, f"{answer}\n".encode())
    while chunk := _read(ours):
        said += chunk
    os.close(ours)
    assert process.wait(60) == status, said.decode()
    assert b"the text is empty" in said
    assert len(sheets(tiny)) == (1 if status else 0)
    assert tiny.edits.exists() is (status == 0)
    assert status or [row[6] for row in rows(tiny)] == ["Fixed?"]


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1000)
    except OSError:  # how Linux says that the other end is closed
        return b""
