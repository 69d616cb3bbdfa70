"""A review without a server: what the form holds, what its answers become, what is refused."""

import json
from pathlib import Path

import pytest

from gradelake.grading.review.cards import Assignment, Card, deal, find_grader
from gradelake.grading.review.form.form_export import FORMAT, form_id
from gradelake.grading.review.form.form_import import import_reviews
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.grading.reviewing import HEAD, KEY, read_form, saved
from tests.reading import live

REVIEWS = (
    "select grade, blind_grade, verdict, own_grade, note, seconds, "
    "strftime(reviewed_at, '%Y-%m-%d %H:%M') from lake.raw.grade_reviews "
    "where assessor = ? order by reviewed_at"
)


@pytest.fixture(scope="module")
def form(graded_demo, tmp_path_factory) -> dict:
    """The data of ann's form of 5 cards."""
    return read_form(export(graded_demo, tmp_path_factory.mktemp("form") / "ann.html"))


def export(folder: Path, output: Path, *options: str, assessor: str = "ann") -> Path:
    who = ("--grader", "lexical", "--assessor", assessor)
    gradelake(folder, "export", "review", "demo", *who, "--sample", "5", *options, "-o", output)
    return output


def bring(folder: Path, content: dict | str, code: int = 0) -> dict | str:
    """What `import reviews` says of a file."""
    file = folder / "answers.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    done = gradelake(folder, "import", "reviews", "demo", file, "--json", code=code)
    return json.loads(done.stdout) if done.stdout else done.stderr


def dealt(folder: Path, n: int = 5) -> list[Card]:
    with Lake.live(Project.find(folder)) as lake:
        assignment = Assignment(
            "demo", find_grader(lake, "lexical"), "eve", 4, sample=n, blind=True
        )
        return deal(lake, assignment).cards


def unlike(grade: int) -> int:
    return 0 if grade else 1


def test_the_form_has_the_cards_of_a_blind_review_and_no_grade_or_answer(graded_demo, form):
    cards = dealt(graded_demo)
    assert [card["item_id"] for card in form["cards"]] == [card.item_id for card in cards]
    assert [form["passages"][card["passage"]] for card in form["cards"]]
    keys = {key for card in form["cards"] for key in card}
    assert keys == {"id", *KEY, "query", "item", "passage", "turned"}
    assert form["about"]["scale"] == [0, 1, 2, 3, 4, 5]
    assert form["about"]["format"] == FORMAT


@pytest.mark.slow
def test_the_same_cards_are_the_same_file_and_other_assessors_have_other_forms(
    graded_demo, form, tmp_path
):
    again, other = tmp_path / "again.html", tmp_path / "other.html"
    assert read_form(export(graded_demo, again)) == form
    theirs = read_form(export(graded_demo, other, assessor="bob"))
    assert theirs["about"]["form"] != form["about"]["form"]
    assert theirs["cards"] == form["cards"]


def test_answers_become_blind_reviews_in_one_commit(folder, form):
    first, second, *_ = (card.grade for card in dealt(folder))
    ours = saved(form, first, unlike(second))
    ours["answers"][1]["note"] = " too\n harsh\x1b "
    before = live(folder).rows("select max(snapshot_id) from lake.snapshots()")
    done = bring(folder, ours)
    after = live(folder).rows("select max(snapshot_id) from lake.snapshots()")
    assert after[0][0] == before[0][0] + 1
    assert (done["written"], done["revised"], done["known"]) == (2, 0, 0)
    assert live(folder).rows(REVIEWS, "ann") == [
        (first, first, "agree", None, None, 2.5, "2026-01-31 09:00"),
        (second, unlike(second), "disagree", unlike(second), "too harsh", 2.5, "2026-01-31 09:00"),
    ]
    # the same file again, and one with an answer more
    assert bring(folder, ours)["snapshot"] is None
    assert (
        "nothing new of 2 answers"
        in gradelake(folder, "import", "reviews", "demo", folder / "answers.json").stdout
    )
    ours["answers"] += saved(form, 1, 1, 1)["answers"][2:]
    done = bring(folder, ours)
    assert (done["written"], done["known"]) == (1, 2)
    # reviewed cards are not dealt again
    rest = read_form(export(folder, folder / "rest.html"))
    assert [card["id"] for card in rest["cards"]] == [card["id"] for card in form["cards"][3:]]


@pytest.mark.slow
def test_a_newer_answer_revises_an_older_one_never_and_what_was_said_first_stays(folder, form):
    ((grade,),) = [(dealt(folder)[0].grade,)]
    other = unlike(grade)
    bring(folder, saved(form, other, minute=10))
    older = bring(folder, saved(form, grade, minute=5))
    assert (older["snapshot"], older["older"]) == (None, 1)
    assert "1 answer is older" in older["warnings"][0]
    newer = bring(folder, saved(form, grade, minute=20))
    assert (newer["written"], newer["revised"]) == (1, 1)
    assert live(folder).rows(REVIEWS, "ann") == [
        (grade, other, "agree", None, None, 2.5, "2026-01-31 09:20")
    ]


@pytest.mark.slow
def test_a_clock_that_is_ahead_does_not_outlive_later_reviews(folder, form):
    ahead = saved(form, 1, answered_at="2199-01-01T00:00:00.000Z")
    bring(folder, ahead)
    assert bring(folder, ahead)["known"] == 1
    ((since,),) = live(folder).rows(
        "select reviewed_at <= now()::timestamp at time zone 'UTC' from lake.raw.grade_reviews"
    )
    assert since


def test_answers_on_changed_texts_are_named_and_left_out_and_the_others_land(folder, form):
    passage = form["cards"][0]["passage_id"]
    file = folder / "passages.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if line["passage_id"] == passage:
            line["text"] += " And more."
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    gradelake(folder, "ingest", "demo")
    n_kept = sum(card["passage_id"] != passage for card in form["cards"])
    answers = saved(form, 1, 1, 1, 1, 1)
    answers["answers"].append(answers["answers"][-1] | {"item_id": "of-another-lake"})
    done = bring(folder, answers, code=3)
    assert done["written"] == n_kept
    assert (
        f"answer 1 (query '{form['cards'][0]['query_id']}', passage '{passage}', item "
        in done["left_out"][0]
    )
    assert done["left_out"][0].endswith("the passage was changed since")
    assert ": answer 6 (" in done["left_out"][-1]
    assert done["left_out"][-1].endswith("the lake has no grade of it")


def edited(form: dict, **changes: object) -> dict:
    return saved(form, 1, 2) | changes


def spoilt(form: dict, **changes: object) -> dict:
    return saved(form, 1, 2, **changes)


@pytest.mark.slow
def test_a_file_that_was_changed_or_damaged_is_refused_whole(graded_demo, form, tmp_path):
    file = tmp_path / "answers.json"
    for make, message in (
        (lambda form: "", "the file is empty"),
        (lambda form: "{", "not JSON"),
        (lambda form: "[]", "holds no answers of a form"),
        (lambda form: edited(form, format="gradelake review answers 0"), "holds no answers"),
        (lambda form: edited(form, assessor="bob"), "is not what the form was made for"),
        (lambda form: edited(form, assessor="../bob"), "'../bob' cannot be used as a name"),
        (lambda form: edited(form, collection="dl19"), "is not what the form was made for"),
        (lambda form: edited(form, more=1), "unknown key 'more'"),
        (lambda form: edited(form, answers=[1]), "answer 1 is no JSON object"),
        (lambda form: spoilt(form, grade=6), "answer 1: grade 6 is not of the scale, 0 to 5"),
        (lambda form: spoilt(form, grade="5"), "answer 1: grade must be a whole number"),
        (lambda form: spoilt(form, grade=10**30), "answer 1: "),
        (lambda form: spoilt(form, seconds=-1), "answer 2: seconds must be at least 0"),
        (lambda form: spoilt(form, seconds=float("inf")), "answer 1: seconds must be a number"),
        (lambda form: spoilt(form, answered_at="yesterday"), "answer 1: answered_at: 'yesterday'"),
        (lambda form: spoilt(form, answered_at="0001-01-01T00:00:00Z"), "is no time such as"),
        (lambda form: spoilt(form, note="x" * 10_001), "answer 1: note"),
        (lambda form: spoilt(form, note="\ud800"), "half a character"),
        (
            lambda form: edited(form, answers=saved(form, 1)["answers"] * 2),
            "answer 2 is of the same card as answer 1",
        ),
        (lambda form: edited(form, answers=[{}] * 2001), "answers"),
    ):
        content = make(form)
        file.write_text(
            content if isinstance(content, str) else json.dumps(content), encoding="utf-8"
        )
        with pytest.raises(BadInput) as refused, Lake.live(Project.find(graded_demo)) as lake:
            import_reviews(lake, "demo", file, [])
        assert message in str(refused.value), message


def test_answers_of_another_collection_or_lake_are_refused(graded_demo, form, tmp_path):
    file = tmp_path / "answers.json"

    def refused(into: str, **changes: str) -> str:
        content = saved(form, 1) | changes
        content["form"] = form_id(*(content[key] for key in (*HEAD[3:4], *HEAD[5:], "deck")))
        file.write_text(json.dumps(content), encoding="utf-8")
        return gradelake(graded_demo, "import", "reviews", into, file, code=2).stderr

    assert "the lake has no collection 'dl19'" in refused("dl19")
    assert "are of collection 'dl19', not 'demo'" in refused("demo", collection="dl19")
    assert "'lexical' with the id '0123'" in refused("demo", grader_id="0123")
    gone = gradelake(graded_demo, "import", "reviews", "demo", tmp_path / "none.json", code=2)
    assert "no such file" in gone.stderr


def test_huge_files_are_not_read_to_their_end(graded_demo, tmp_path):
    file = tmp_path / "huge.json"
    with file.open("wb") as stream:
        stream.writelines([b" " * (1 << 20) + b"\n"] * 70)
    refused = gradelake(graded_demo, "import", "reviews", "demo", file, code=2)
    assert "is larger than 64 MiB" in refused.stderr


@pytest.mark.slow
def test_who_has_reviewed_everything_is_told_so(folder, form):
    bring(folder, saved(form, 1, 1, 1, 1, 1))
    who = ("--grader", "lexical", "--assessor", "ann", "--sample", "5")
    done = gradelake(folder, "export", "review", "demo", *who, "-o", folder / "x.html", code=2)
    assert "ann has reviewed all of these grades" in done.stderr
    assert not (folder / "x.html").exists()
