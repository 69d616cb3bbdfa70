"""`gradelake rubric edit`: from an editor or a file to rows of rubric_edits.csv, or to nothing."""

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from gradelake.ingest.rubric import edits_file
from gradelake.ingest.rubric.edits_file import COLUMNS
from gradelake.ingest.rubric.save import save
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Rejected
from gradelake.sql.common.rubric_items import item_id_of
from gradelake.sql.lake.transaction import author
from tests.ingest.rubric.conftest import BEES, BLUE, LIGHT, SKY, line_of, without


def rows(tiny) -> list[dict[str, str]]:
    """The file's rows; a known item by its text."""
    names = {item_id_of("q1", "", text): text for text in (SKY, LIGHT, BLUE)}
    names[item_id_of("q2", "", BEES)] = BEES
    found = list(csv.DictReader(io.StringIO(tiny.edits.read_bytes().decode(), newline="")))
    return [row | {"item_id": names.get(row["item_id"], row["item_id"])} for row in found]


def edit(tiny, code: str, *options: str, exit_code: int = 0):
    """Edit q1 with a scripted editor."""
    os.environ["EDITOR"] = tiny.editor(code)  # the fixture puts it back
    return tiny.rubric("edit", "q1", "--bank", "mine", *options, code=exit_code)


def kept_sheets(tiny) -> list:
    return sorted((tiny.folder / "lake" / "sheets").glob("*"))


def test_each_kind_of_edit_becomes_a_row_of_one_version(tiny):
    sheet = tiny.sheet("q2", "q1")
    assert re.findall("@query .* @base", sheet) == [
        "@query q2 @bank mine @base",
        "@query q1 @bank facets @base",
        "@query q1 @bank mine @base",
    ]
    assert "\n# facet f1\n# facet f2\n@query q1 @bank facets" in sheet
    heading, shared = line_of(sheet, "@bank facets")[1], item_id_of("q1", "f2", "Same words?")
    changed = without(without(sheet, BEES), BLUE)
    for old, new in (
        (heading, f"{heading}\n+ @facet f2 3 question New?"),
        (line_of(sheet, shared)[1], f"{shared}  9  question  Same words?"),
        (SKY, 'Why is it "blue", #1?'),
        (f"2  question  {LIGHT}", f"0.25  question  {LIGHT}"),
    ):
        changed = changed.replace(old, new)
    changed += "+ 2 nugget Air is thin [answers: a\\|b|c]\n"
    done = tiny.use(changed, "--reason", "too, easy").stdout
    found = rows(tiny)
    for column, value in (
        ("rubric_version", "1"),
        ("collection", "tiny"),
        ("editor", author()),
        ("reason", "too, easy"),
    ):
        assert {row[column] for row in found} == {value}
    names = ("bank", "item_id", "action", "query_id", "kind", "text", "gold_answer", "weight")
    assert [tuple(row[name] for name in (*names, "facet_id")) for row in found] == [
        ("mine", BEES, "drop", "q2", "", "", "", "", ""),
        ("facets", "", "add", "q1", "question", "New?", "", "3", "f2"),
        ("facets", shared, "reweight", "q1", "", "", "", "9", ""),
        ("mine", SKY, "reword", "q1", "", 'Why is it "blue", #1?', "", "", ""),
        ("mine", LIGHT, "reweight", "q1", "", "", "", "0.25", ""),
        ("mine", "", "add", "q1", "nugget", "Air is thin", "a\\|b|c", "2", ""),
        ("mine", BLUE, "drop", "q1", "", "", "", "", ""),
    ]
    assert 'reworded    Why is [-the-]{+it+} [-sky-]{+"blue",+} [-blue?-]{+#1?+}' in done
    assert f"reweighted  {LIGHT} (weight 2 -> 0.25)" in done
    assert "2 dropped, 2 added, 1 reworded, 2 reweighted" in done
    assert "saved as version 1 of tiny's rubric" in done
    assert "as 3 new items have no grades yet" in done
    assert "gradelake grade tiny --grader NAME --rubric-version 1" in done


@pytest.mark.slow
def test_edits_that_dbt_refuses_are_named_by_line_and_nothing_is_saved(tiny):
    sheet = tiny.sheet("q1")
    heading = line_of(sheet, "@bank facets")[1]
    changed = without(sheet, SKY).replace(heading, f"{heading}\n+ @facet f3 question New?")
    changed = changed.replace(BLUE, "").replace("2  question", "-2  question")
    changed += f"+ question Same?\n+ nugget Same?\n+ question {SKY}\n+ inf question Much?\n"
    error = tiny.use(changed, code=2).error
    last = changed.count("\n")
    for line, problem in (
        (line_of(changed, "f3")[0], "query q1 has no facet 'f3'"),
        (line_of(changed, "-2  question")[0], "weight -2 is negative"),
        (line_of(changed, "1  nugget")[0], "its text is empty"),
        (last - 2, f"the item is edited twice in this version (see line {last - 3})"),
        (last - 1, "the query has an item with this text already"),
        (last, "weight must be finite"),
    ):
        assert f"sheet.txt:{line}: {problem}" in error
    assert "Nothing was written" in error
    assert not tiny.edits.exists()
    again = sheet + f"+ question {LIGHT}\n"
    assert "the query has an item with this text already" in tiny.use(again, code=2).error


@pytest.mark.slow
def test_a_sheet_may_come_from_standard_input_and_json_says_what_was_saved(tiny):
    sheet = tiny.sheet("q2")
    unchanged = json.loads(tiny.rubric("edit", "--from", "-", "--json", stdin=sheet).stdout)
    assert (unchanged["version"], unchanged["edits"]) == (None, [])
    assert tiny.use(tiny.sheet("q1", "q2")).stdout == "nothing was changed\n"
    assert not tiny.edits.exists()
    changed = without(sheet, BEES)
    done = json.loads(tiny.rubric("edit", "--from", "-", "--json", stdin=changed).stdout)
    assert (done["collection"], done["version"]) == ("tiny", 1)
    (edit,) = done["edits"]
    assert (edit["action"], edit["old_text"], edit["text"]) == ("drop", BEES, None)
    assert [row["item_id"] for row in rows(tiny)] == [BEES]


@pytest.mark.slow
def test_a_sheet_that_was_saved_by_a_process_that_died_can_be_given_again(tiny):
    sheet = without(tiny.sheet("q1", "q2"), BEES).replace(LIGHT, "Two?")
    tiny.use(sheet)  # killed after it: nobody read what it said
    saved = tiny.edits.read_bytes()
    assert tiny.use(sheet).stdout == "nothing was changed\n"
    assert tiny.edits.read_bytes() == saved
    other = tiny.use(sheet.replace("Two?", "Three?"), code=2).error
    assert "has been edited since this was written" in other


def test_the_reason_comes_from_the_option_or_the_sheet(tiny):
    session = tiny.session(queries=("q1",), reason="was 1")
    text = session.text()
    assert session.read(text, "sheet").reason == "was 1"
    assert session.read(text.replace("@reason was", "@reason is"), "sheet").reason == "is 1"
    assert session.read(text, "sheet", "too, easy").reason == "too, easy"


@pytest.mark.slow
def test_sheets_and_names_that_do_not_fit_are_refused(tiny, monkeypatch):
    monkeypatch.setenv("EDITOR", "true")
    sheet = tiny.sheet("q1")
    number, line = line_of(sheet, SKY)
    error = tiny.use(sheet.replace(line, f"deadbeef {line[8:]}"), code=2).error
    assert f"sheet.txt:{number}: there is no item 'deadbeef' here" in error
    error = tiny.use(sheet, "--bank", "facets", code=2).error
    assert "no query 'q1' with a bank 'mine' to edit here" in error
    for arguments, problem in (
        (["edit"], "name the queries to edit"),
        (["edit", "q3", "--print"], "tiny has no query 'q3'\n  Known: q1, q2."),
        (["edit", "q1", "--print", "--bank", "mines"], "no bank 'mines'\n  Did you mean 'mine'?"),
        (["edit", "q1", "--print", "--collection", "tinny"], "Did you mean 'tiny'?"),
        (["edit", "q1", "--print", "--from", "x"], "--from and --print cannot be used together"),
        (["edit", "--from", "nowhere.txt"], "nowhere.txt: cannot be read"),
        (["show", "q3"], "tiny has no query 'q3'"),
        (["show", "q1", "--version", "1"], "no rubric version 1\n  Known: 0."),
        (["diff", "0", "4"], "no rubric version 4"),
    ):
        assert problem in tiny.rubric(*arguments, code=2).error
    assert not tiny.edits.exists()


# --- the editor ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_editor_that_is_missing_fails_or_changes_nothing_leaves_nothing(tiny):
    assert "--print" in tiny.rubric("edit", "q1", code=2).error
    for code in ("", "text = ''", "text = '# nothing left\\n'"):
        assert edit(tiny, code).stdout == "nothing was changed\n"
    failed = edit(tiny, "sys.exit(3)", exit_code=1).error
    assert "ended with status 3: nothing was changed" in failed
    assert not tiny.edits.exists()
    assert kept_sheets(tiny) == []


@pytest.mark.slow
def test_a_refused_sheet_is_kept_and_can_be_mended_and_used(tiny, monkeypatch):
    refused = edit(
        tiny, f"text = text.replace({SKY!r}, '').replace({LIGHT!r}, 'What?')", exit_code=2
    )
    (kept,) = kept_sheets(tiny)
    number, line = next(
        (n, line)
        for n, line in enumerate(kept.read_text().split("\n"), 1)
        if line.endswith("question  ")
    )
    assert f"{kept.name}:{number}: its text is empty" in refused.error
    assert "Your sheet was kept in " in refused.error
    assert not tiny.edits.exists()
    monkeypatch.setenv("EDITOR", "false")  # $VISUAL comes first, and may have options
    mend = f"text = text.replace({SKY!r}, sys.argv[1])"
    monkeypatch.setenv("VISUAL", tiny.editor(mend) + " --x")
    tiny.rubric("edit", "q1")
    assert [row["text"] for row in rows(tiny)] == ["--x"]
    tiny.edits.unlink()
    tiny.use(kept.read_text().replace(line, f"{line}{SKY}"))
    assert [(row["item_id"], row["text"]) for row in rows(tiny)] == [(LIGHT, "What?")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "answers", "status"),
    [
        ([], [("Go on editing?", "y"), ("Save?", "y")], 0),
        ([], [("Go on editing?", "y"), ("Save?", "n"), ("Go on editing?", "n")], 2),
        (["--yes"], [("Go on editing?", "y")], 0),
    ],
)
def test_on_a_terminal_a_refused_sheet_can_be_edited_on(tiny, options, answers, status):
    assert tiny.project
    program = tiny.editor(
        f"text = text.replace({SKY!r}, '') if {SKY!r} in text else "
        f"text.replace('question  \\n', 'question  Fixed?\\n')"
    )
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gradelake", "rubric", "edit", "q1", "--bank", "mine", *options],
        cwd=tiny.folder,
        env=os.environ | {"EDITOR": program},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        close_fds=True,
    )
    os.close(theirs)
    seen, at = b"", 0
    for question, answer in answers:
        while question.encode() not in seen[at:]:
            seen += os.read(ours, 1000)
        at = len(seen)
        os.write(ours, f"{answer}\n".encode())
    while chunk := _read(ours):
        seen += chunk
    os.close(ours)
    assert process.wait(60) == status, seen.decode()
    assert b"its text is empty" in seen
    assert (b"Save?" in seen) is ("--yes" not in options)
    assert len(kept_sheets(tiny)) == (1 if status else 0)
    assert tiny.edits.exists() is (status == 0)
    assert status or [row["text"] for row in rows(tiny)] == ["Fixed?"]


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1000)
    except OSError:  # how Linux says that the other end is closed
        return b""


# --- two at once --------------------------------------------------------------------------------

# waits until both editors have their sheet
MEET = """
import time
(file.parent / sys.argv[1]).touch()
while len(list(file.parent.glob("here-*"))) < 2:
    time.sleep(0.01)
"""


@pytest.mark.slow
def test_two_edits_of_different_items_at_once_are_both_kept(tiny):
    changes = {SKY: "One?", LIGHT: "Two?"}.items()
    codes = [f"text = text.replace({old!r}, {new!r})" for old, new in changes]
    processes = [
        tiny.start("q1", "--bank", "mine", editor=f"{tiny.editor(MEET + code, f'{n}.py')} here-{n}")
        for n, code in enumerate(codes)
    ]
    done = [(*process.communicate(timeout=120), process.returncode) for process in processes]
    assert [code for *_, code in done] == [0, 0], done
    found = sorted((row["rubric_version"], row["text"]) for row in rows(tiny))
    assert [version for version, _ in found] == ["1", "2"]
    assert {text for _, text in found} == {"One?", "Two?"}


@pytest.mark.slow
def test_what_somebody_else_saved_meanwhile_is_not_gone_over(tiny):
    header = ",".join(COLUMNS)
    tiny.write("seeds/rubric_edits.csv", [header])
    first, second = tiny.session(queries=("q1",)), tiny.session(queries=("q1",))
    text = first.text()
    heavier = text.replace("2  question", "3  question")
    save(first.read(heavier + "+ question New?\n", "sheet"))
    edited = f"{re.escape(repr(LIGHT))} has been edited since this was written"
    by = re.escape(f"(rubric_edits.csv:2, reweight by {author()})")
    with pytest.raises(Rejected, match=f"{edited} {by}"):
        save(second.read(heavier, "sheet"))
    with pytest.raises(Rejected, match="the query has an item with this text already"):
        save(second.read(text + "+ question New?\n", "sheet"))
    assert len(rows(tiny)) == 2
    later = replace(second, rows=edits_file.read(second.project))
    tiny.write("seeds/rubric_edits.csv", [header])
    with pytest.raises(BadInput, match="has changed in the meantime"):
        save(later.read(text.replace(LIGHT, "Two?"), "sheet"))
    assert tiny.edits.read_text() == f"{header}\n"
