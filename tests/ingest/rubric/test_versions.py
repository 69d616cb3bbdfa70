"""Versions of a rubric: what `show` and `diff` say of them, and edits of what was edited."""

import json
import shutil

import pytest

from gradelake.sql.lake.transaction import author
from tests.ingest.rubric.conftest import BEES, BLUE, LIGHT, SKY, Edited, line_of, without

pytestmark = pytest.mark.slow

HIGH = 'How high is "it", #1?\nIn km | miles'
# version 1: a rewording with a weight, a drop, an addition; 2: back again, and on
FIRST = {SKY: "Why is the clear sky blue?", "2  question": "3  question"}


@pytest.fixture(scope="module")
def edited_folder(tmp_path_factory, rubric_lake):
    """Two versions, made as a person would, each from a sheet."""
    project = Edited(tmp_path_factory.mktemp("edited") / "project")
    shutil.copytree(rubric_lake, project.folder / "lake")
    sheet = project.sheet("q1", "q2")
    first = without(without(sheet, BLUE), BEES)
    for old, new in FIRST.items():
        first = first.replace(old, new)
    added = "+ 4 question " + json.dumps(HIGH) + " [answers: 100 \\| 62|far]\n"
    first = first.replace(line_of(first, LIGHT)[1], added + line_of(first, LIGHT)[1])
    project.use(first, "--reason", "first")
    second = project.sheet("q1", "q2")
    project.write("version1.txt", second)
    for text in (BLUE, BEES):
        line = line_of(second, text)[1]
        second = second.replace(line, line.removeprefix("# "))
    second = second.replace("Why is the clear sky blue?", "Why is a clear sky blue?")
    second = without(second, "How high")
    project.use(second, "--reason", "second")
    project.sheet("q1")  # builds what the lake must know of version 2
    return project.folder


@pytest.fixture(scope="module")
def edited(edited_folder):
    """The project, for tests that leave it as it is."""
    return Edited(edited_folder)


@pytest.fixture
def copied(tmp_path, edited_folder):
    """A copy, for tests that edit it."""
    for name in ("lake", "seeds"):
        shutil.copytree(edited_folder / name, tmp_path / "project" / name)
    return Edited(tmp_path / "project")


def shown(project, *arguments) -> dict:
    return json.loads(project.rubric("show", *arguments, "--json").stdout)


def test_every_version_stays_beside_the_others(edited):
    def texts(version):
        return {
            (item["text"], item["weight"])
            for query in ("q1", "q2")
            for item in shown(edited, query, "--version", version)["items"]
            if item["bank"] == "mine"
        }

    assert texts("0") == {(SKY, 1), (LIGHT, 2), (BLUE, 1), (BEES, 0.5)}
    assert texts("1") == {("Why is the clear sky blue?", 1), (LIGHT, 3), (HIGH, 4)}
    assert texts("2") == {("Why is a clear sky blue?", 1), (LIGHT, 3), (BLUE, 1), (BEES, 0.5)}
    assert shown(edited, "q2")["rubric_version"] == 2


def test_show_says_what_a_version_did_to_each_item(edited):
    first = {i["text"]: i for i in shown(edited, "q1", "--version", "1")["items"]}
    assert first["Why is the clear sky blue?"]["in_this_version"] == f"reworded from {SKY!r}"
    assert first[LIGHT]["in_this_version"] == "reweighted from 2"
    assert first[HIGH]["in_this_version"] == "added"
    assert (first[HIGH]["gold_answers"], first[HIGH]["origin"]) == (["100 | 62", "far"], "manual")
    second = {i["text"]: i["in_this_version"] for i in shown(edited, "q1")["items"]}
    assert second[BLUE] == "restored"
    assert second[LIGHT] == ""


def test_show_lists_what_is_no_longer_in_force_and_why(edited):
    gone = {item["text"]: item["why"] for item in shown(edited, "q1")["dropped"]}
    assert gone == {
        SKY: f"reworded in version 1 by {author()}: first",
        "Why is the clear sky blue?": f"reworded in version 2 by {author()}: second",
        HIGH: f"dropped in version 2 by {author()}: second",
    }
    said = edited.rubric("show", "q1").stdout
    assert "no longer in force:" in said
    assert "rubric version 2 of tiny" in said


def test_diff_tells_rewordings_with_their_words_marked(edited):
    said = edited.rubric("diff", "0", "2", "--query", "q1").stdout
    assert said.splitlines() == [
        "q1 (mine): why is the sky blue",
        "  reworded    Why is [-the-]{+a clear+} sky blue?",
        f"  reweighted  {LIGHT} (weight 2 -> 3)",
        "version 0 -> 2: 1 reworded, 1 reweighted in 1 query",
    ]


def test_diff_counts_each_kind_over_all_queries(edited):
    def counts(first, second):
        found = json.loads(edited.rubric("diff", first, second, "--json").stdout)
        assert sum(found["counts"].values()) == len(found["differences"])
        return {kind: n for kind, n in found["counts"].items() if n}

    assert counts("0", "1") == {"dropped": 2, "added": 1, "reworded": 1, "reweighted": 1}
    assert counts("1", "2") == {"dropped": 1, "reworded": 1, "restored": 2}
    assert counts("2", "1") == {"dropped": 2, "added": 1, "reworded": 1}
    assert counts("2", "2") == {}
    assert "version 2 -> 2: no difference" in edited.rubric("diff", "2", "2").stdout


def test_edits_may_join_the_newest_version_unless_it_edited_their_item(copied):
    sheet = copied.sheet("q1")
    before = copied.edits.read_bytes()
    error = copied.use(sheet.replace("a clear sky", "our sky"), "--version", "2", code=2).error
    number = line_of(sheet, "Why is a clear sky")[0]
    why = "'Why is a clear sky blue?' was already edited in version 2"
    assert f"sheet.txt:{number}: {why}" in error
    assert copied.edits.read_bytes() == before
    for version in ("1", "4"):
        error = copied.use(without(sheet, LIGHT), "--version", version, code=2).error
        assert "tiny is at version 2" in error
    copied.use(without(sheet, LIGHT), "--version", "2")
    assert copied.edits.read_bytes().startswith(before)
    assert copied.edits.read_text().splitlines()[-1].startswith("2,tiny,mine,q1/")
    assert LIGHT in [item["text"] for item in shown(copied, "q1")["dropped"]]
    # version 2 is not what that sheet shows any more
    assert "make a new sheet" in copied.use(sheet.replace(BLUE, "Blue"), code=2).error


def test_an_older_sheet_can_be_used_where_nobody_edited_the_same_items(copied, edited):
    sheet = (edited.folder / "version1.txt").read_text()
    error = copied.use(sheet.replace("the clear sky", "our sky"), code=2).error
    assert "has been edited since this was written (rubric_edits.csv:" in error
    copied.use(sheet.replace("3  question", "5  question"))
    last = copied.edits.read_text().splitlines()[-1]
    assert last.startswith("3,tiny,mine,q1/")
    assert ",reweight,q1,,,,5," in last
