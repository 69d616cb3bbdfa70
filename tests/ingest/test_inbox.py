"""The inbox: whole files land and are put away, bad ones are quarantined with a reason."""

import os
import time

import pytest

from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.inbox import look
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import HOW_TO_NAME
from tests.projects import project

GOOD = ["q1 Q0 p2 1 2.5 new", "q2 Q0 p3 2 1.5 new"]
BAD = ["q1 Q0 p2 1 high new"]


@pytest.fixture
def boxed(tiny):
    """The tiny collection with an inbox, ingested."""
    tiny.configure(inbox="in [1]")  # a name that a file pattern would misread
    tiny.ingest()
    return tiny


def arrive(tiny, name: str, lines: list[str], seconds_ago: float = 3600):
    path = tiny.write(f"in [1]/{name}", lines)
    then = time.time() - seconds_ago
    os.utime(path, (then, then))
    return path


def inbox_files(tiny) -> set[str]:
    folder = tiny.folder / "in [1]"
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


def test_a_run_that_arrived_lands_and_is_put_away(boxed):
    arrive(boxed, "new.run", GOOD)
    outcome = boxed.ingest()
    assert boxed.systems() == {"good", "new"}
    assert outcome.inbox.accepted == ["in [1]/new.run"]
    assert inbox_files(boxed) == {"accepted/new.run"}
    assert boxed.ingest().warnings == [], "what came through the inbox is no left-over"
    assert boxed.systems() == {"good", "new"}


def test_responses_are_known_by_their_ending_and_any_file_by_its_folder(boxed):
    answer = '{"system": "writer", "query_id": "q1", "text": "Scattering."}'
    arrive(boxed, "answers.jsonl", [answer])
    arrive(boxed, "runs/odd.txt", GOOD)
    boxed.ingest()
    assert boxed.systems() == {"good", "odd", "writer"}
    assert inbox_files(boxed) == {"accepted/answers.jsonl", "accepted/odd.txt"}


def test_a_bad_file_is_quarantined_with_a_reason_while_good_ones_land(boxed):
    arrive(boxed, "broken.run", BAD)
    arrive(boxed, "new.run", GOOD)
    arrive(boxed, "notes.docx", ["hello"])
    outcome = boxed.ingest()
    assert outcome.exit_code == 3
    assert boxed.systems() == {"good", "new"}
    assert inbox_files(boxed) == {
        "accepted/new.run",
        "quarantine/broken.run",
        "quarantine/broken.run.reason.txt",
        "quarantine/notes.docx",
        "quarantine/notes.docx.reason.txt",
    }
    reason = (boxed.folder / "in [1]/quarantine/broken.run.reason.txt").read_text()
    assert "in [1]/broken.run:1: score 'high' is not a finite number" in reason
    assert "what to do" in reason
    assert boxed.ingest().exit_code == 0, "what is in quarantine is not read again"


def test_a_link_is_not_followed(boxed):
    arrive(boxed, "new.run", GOOD).rename(boxed.folder / "elsewhere")
    (boxed.folder / "in [1]/linked.run").symlink_to(boxed.folder / "elsewhere")
    os.utime(boxed.folder / "in [1]/linked.run", (1e9, 1e9), follow_symlinks=False)
    boxed.ingest()
    assert boxed.systems() == {"good"}
    assert (boxed.folder / "in [1]/quarantine/linked.run").is_symlink()


def test_a_file_that_is_still_being_written_waits_until_it_settled_or_is_marked(boxed):
    path = arrive(boxed, "new.run", GOOD[:1], seconds_ago=5)
    outcome = boxed.ingest()
    assert outcome.inbox.waiting == ["in [1]/new.run"]
    assert outcome.exit_code == 0
    assert boxed.systems() == {"good"}
    boxed.write("in [1]/new.run", GOOD)
    path.with_name("new.run.done").touch()
    boxed.ingest()
    assert boxed.systems() == {"good", "new"}
    assert boxed.rows("select count(*) from lake.raw.run_entries where system = 'new'") == [(2,)]
    assert inbox_files(boxed) == {"accepted/new.run"}


def test_a_clock_that_was_set_back_makes_no_file_wait_for_ever(boxed):
    arrive(boxed, "new.run", GOOD, seconds_ago=-86_400)
    boxed.ingest()
    assert boxed.systems() == {"good", "new"}


def test_a_killed_ingest_is_finished_by_the_next(boxed):
    """Killed between the commit and the move, the file lies where it was, and is in the lake."""
    path = arrive(boxed, "new.run", GOOD)
    boxed.ingest()
    (boxed.folder / "in [1]/accepted/new.run").rename(path)
    entries = boxed.rows("select count(*) from lake.raw.run_entries")
    outcome = boxed.ingest()
    assert outcome.inbox.accepted == ["in [1]/new.run"]
    assert outcome.counts == {}
    assert boxed.rows("select count(*) from lake.raw.run_entries") == entries


def test_a_file_that_changes_while_it_is_read_stays(boxed, monkeypatch):
    path = arrive(boxed, "new.run", GOOD[:1])

    def meanwhile(what, items, total):
        yield from items
        path.write_text("".join(f"{line}\n" for line in GOOD))

    monkeypatch.setattr(console, "progress", meanwhile)
    outcome = boxed.ingest()
    assert outcome.inbox.waiting == ["in [1]/new.run"]
    assert inbox_files(boxed) == {"new.run"}


def test_a_new_version_of_a_run_takes_the_place_of_the_old_and_both_files_are_kept(boxed):
    for lines in (GOOD[:1], GOOD):
        arrive(boxed, "new.run", lines)
        boxed.ingest()
    assert boxed.rows("select count(*) from lake.raw.run_entries where system = 'new'") == [(2,)]
    assert inbox_files(boxed) == {"accepted/new.run", "accepted/new-2.run"}


def test_a_system_of_a_file_in_the_settings_is_not_taken_over(boxed):
    arrive(boxed, "good.run", GOOD)
    outcome = boxed.ingest()
    assert inbox_files(boxed) == {"quarantine/good.run", "quarantine/good.run.reason.txt"}
    assert "comes from runs/good.run" in str(outcome.rejected[0])
    assert boxed.rows("select distinct source_file from lake.raw.systems") == [("runs/good.run",)]


def test_files_wait_while_the_topics_cannot_be_read(tiny):
    tiny.configure(inbox="in [1]")
    tiny.write("topics.tsv", ["no tab"])
    arrive(tiny, "new.run", GOOD)
    outcome = tiny.ingest()
    assert outcome.exit_code == 2
    assert inbox_files(tiny) == {"new.run"}


def test_no_inbox_and_an_empty_one_are_nothing_to_do(boxed):
    assert look(boxed.collection).ready == []
    boxed.configure(inbox=None)
    assert boxed.ingest().inbox.as_object() == {"accepted": [], "quarantined": [], "waiting": []}


def arrive_as(tiny, name: bytes):
    """A run whose name is these bytes."""
    path = os.path.join(os.fsencode(tiny.folder), b"in [1]", name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as stream:
        stream.write("".join(f"{line}\n" for line in GOOD).encode())
    os.utime(path, (1e9, 1e9))


def test_a_name_that_is_not_utf_8_is_quarantined_and_stops_nothing(boxed):
    arrive_as(boxed, b"\xff.run")
    arrive(boxed, "new.run", GOOD)
    outcome = boxed.ingest()
    assert boxed.systems() == {"good", "new"}
    assert outcome.inbox.quarantined == ["in [1]/\udcff.run"]
    quarantine = boxed.folder / "in [1]" / "quarantine"
    assert {os.fsencode(path.name) for path in quarantine.iterdir()} == {
        b"\xff.run",
        b"\xff.run.reason.txt",
    }
    (reason,) = quarantine.glob("*.reason.txt")
    assert "cannot be used as a system's name" in reason.read_text(encoding="utf-8")


def test_a_name_of_two_lines_is_quarantined_and_told_in_one(boxed):
    answer = '{"system": "writer", "query_id": "q1", "text": "Scattering."}'
    arrive(boxed, "two\nlines.run", GOOD)
    arrive(boxed, "more\tof\x1b[31mthem.jsonl", [answer])
    done = boxed.gradelake("ingest", "tiny", code=3)
    assert done.stderr.splitlines()[:4] == [
        "in [1]/two\\nlines.run: 'two\\nlines' cannot be used as a system's name",
        "  what to do: Rename the file, or name its system in gradelake.toml: "
        f'{{ file = "FILE", name = "NAME" }}. {HOW_TO_NAME}',
        "in [1]/more\\tof\\x1b[31mthem.jsonl: the file's name holds a line break or the like",
        "  what to do: Rename it.",
    ]
    told = "quarantined in [1]/more\\tof\\x1b[31mthem.jsonl, in [1]/two\\nlines.run\n"
    assert told in done.stdout
    assert boxed.systems() == {"good"}


def test_a_name_as_long_as_can_be_is_put_away_all_the_same(boxed):
    arrive_as(boxed, b"x" * 251 + b".run")
    arrive_as(boxed, b"-" + b"y" * 250 + b".run")
    outcome = boxed.ingest()
    assert boxed.systems() == {"good", "x" * 251}
    assert (len(outcome.inbox.accepted), len(outcome.inbox.quarantined)) == (1, 1)
    expected = {("accepted", 201), ("quarantine", 201), ("quarantine", 212)}
    found = (name.partition("/") for name in inbox_files(boxed))
    assert {(folder, len(name)) for folder, _, name in found} == expected


@pytest.mark.parametrize("inbox", [".", "..", "lake", "lake/data", "seeds/.."])
def test_an_inbox_that_holds_the_project_is_refused(boxed, inbox):
    boxed.configure(inbox=inbox)
    with pytest.raises(BadInput, match="inbox must be a folder of its own"):
        boxed.ingest()
    assert (boxed.folder / "gradelake.toml").is_file()


def test_what_is_needed_elsewhere_must_not_lie_in_an_inbox(boxed):
    boxed.write("box/mine.run", ["q1 Q0 p1 1 1.0 mine"])
    boxed.configure(inbox="box", runs=["runs/*", "box/*.run"])
    with pytest.raises(BadInput, match="is needed where it is"):
        boxed.ingest()
    assert (boxed.folder / "box" / "mine.run").exists()
    boxed.write("box/accepted/old.run", ["q1 Q0 p1 1 1.0 old"])  # is not moved again
    boxed.configure(runs=["runs/*", "box/accepted/*.run"])
    assert boxed.ingest().exit_code == 0


@pytest.mark.parametrize("other", ["in", "in/deeper", "."])
def test_two_collections_share_no_inbox(tmp_path, other):
    boxes = {name: {"queries": "q.tsv", "inbox": box} for name, box in (("a", "in"), ("b", other))}
    with pytest.raises(BadInput, match="inbox must be a folder of its own"):
        Collection.named(project(tmp_path, boxes), "b")
