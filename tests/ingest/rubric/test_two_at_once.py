"""Two `rubric edit` at once: no row is lost, and no edit of one item goes over another."""

from dataclasses import replace

import pytest

from gradelake.ingest.rubric import edits_file
from gradelake.ingest.rubric.edits_file import COLUMNS
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Rejected
from gradelake.sql.lake.transaction import author
from tests.ingest.rubric.conftest import LIGHT, SKY, line_of
from tests.ingest.rubric.editing import rows, sheets

pytestmark = pytest.mark.slow

# waits until both editors have their sheet
MEET = """
import time
(file.parent / sys.argv[1]).touch()
while len(list(file.parent.glob("here-*"))) < 2:
    time.sleep(0.01)
"""


def both(tiny, first: str, second: str):
    """Two people edit q1 at once; what each process printed."""
    processes = [
        tiny.start("q1", "--bank", "mine", editor=f"{tiny.editor(MEET + code, f'{n}.py')} here-{n}")
        for n, code in enumerate((first, second))
    ]
    return [(*process.communicate(timeout=120), process.returncode) for process in processes]


def test_two_edits_of_different_items_at_once_are_both_kept(tiny):
    done = both(
        tiny, f"text = text.replace({SKY!r}, 'One?')", f"text = text.replace({LIGHT!r}, 'Two?')"
    )
    assert [code for *_, code in done] == [0, 0], done
    assert sorted(row[0] for row in rows(tiny)) == ["1", "2"]
    assert sorted(row[6] for row in rows(tiny)) == ["One?", "Two?"]


def test_of_two_edits_of_one_item_at_once_the_later_is_refused_and_its_sheet_kept(tiny):
    done = both(
        tiny, f"text = text.replace({SKY!r}, 'One?')", f"text = text.replace({SKY!r}, 'Two?')"
    )
    assert sorted(code for *_, code in done) == [0, 2], done
    (error,) = [stderr for _, stderr, code in done if code]
    (kept,) = [file for file in sheets(tiny) if file.suffix == ".txt"]
    (row,) = rows(tiny)
    number = line_of(kept.read_text(), "Two?" if row[6] == "One?" else "One?")[0]
    assert f"{kept.name}:{number}: {SKY!r} has been edited since this sheet was written" in error
    assert f"rubric_edits.csv:2, reword by {author()}" in error


def test_a_file_that_something_else_changed_meanwhile_is_not_added_to(tiny):
    header = ",".join(COLUMNS)
    tiny.write("seeds/rubric_edits.csv", [header])
    session = tiny.session(queries=("q1",))
    session.save(session.text().replace(SKY, "One?"), "sheet")
    later = replace(session, rows=edits_file.read(session.project))
    tiny.write("seeds/rubric_edits.csv", [header])
    with pytest.raises(BadInput, match="has changed in the meantime"):
        later.save(session.text().replace(LIGHT, "Two?"), "sheet")
    assert tiny.edits.read_text() == f"{header}\n"


def test_a_text_that_somebody_else_added_meanwhile_is_refused(tiny):
    first, second = tiny.session(queries=("q1",)), tiny.session(queries=("q1",))
    first.save(first.text() + "+ question New?\n", "sheet")
    with pytest.raises(Rejected, match=r"'New\?' has been edited since"):
        second.save(second.text() + "+ question New?\n", "sheet")
    assert len(rows(tiny)) == 1
