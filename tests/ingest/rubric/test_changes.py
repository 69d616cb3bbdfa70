"""What a changed sheet means: each kind of edit, and every line that is refused."""

import random

import pytest

from gradelake.ingest.rubric import changes, sheet
from gradelake.ingest.rubric.items import RubricItem, Section, cleaned
from gradelake.sql.common.problems import Rejected
from gradelake.sql.common.rubric_items import item_id_of
from tests.ingest.rubric.conftest import line_of, without
from tests.ingest.rubric.test_line import nasty


def item(text, answers=(), weight=1.0, kind="question", query="q1", bank="mine") -> RubricItem:
    item_id = item_id_of(query, "", text)
    return RubricItem(bank, query, "", item_id, kind, text, answers, weight, "imported", item_id)


SKY, LIGHT = item("Why is the sky blue?"), item("What scatters light?", ("air", "molecules"), 2.0)
BLUE, OLD = item("Blue scatters most", kind="nugget"), item("Is the sky blue?", weight=0.5)
SECTION = Section("q1", "mine", (SKY, LIGHT, BLUE), (OLD,))


def write(*sections: Section, reason: str = "") -> str:
    return sheet.write("tiny", 3, sections or (SECTION,), {"q1": "why is the sky blue"}, reason)


def edits(text: str, *sections: Section) -> list[tuple]:
    """(action, item's text, values that are given) of what a sheet changes."""
    by_key = {(s.query_id, s.bank): s for s in sections or (SECTION,)}
    found = changes.compare(
        sheet.read(text, "sheet"), "sheet", lambda part: by_key.get((part.query_id, part.bank))
    )
    return [
        (
            edit.action,
            edit.item and edit.item.text,
            {
                name: value
                for name in ("kind", "text", "gold_answers", "weight")
                if (value := getattr(edit, name)) not in ("", (), None)
            },
        )
        for edit in found
    ]


def refused(text: str, *sections: Section) -> str:
    with pytest.raises(Rejected) as caught:
        edits(text, *sections)
    return str(caught.value)


def changed(old: str, new: str) -> str:
    """The sheet with one thing changed."""
    text = write()
    assert text.count(old) == 1
    return text.replace(old, new)


# --- the sheet ----------------------------------------------------------------------------------


def test_a_sheet_is_a_line_per_item_under_a_heading_with_dropped_ones_as_comments():
    lines = write(reason="too easy").split("\n\n", 1)[1].splitlines()
    ids = [i.item_id.removeprefix("q1/")[:8] for i in (SKY, LIGHT, BLUE, OLD)]
    assert lines == [
        "@rubric tiny @version 3",
        "@reason too easy",
        "",
        "# why is the sky blue",
        f"@query q1 @bank mine @base {SECTION.fingerprint()}",
        f"{ids[0]}  1    question  Why is the sky blue?",
        f"{ids[1]}  2    question  What scatters light? [answers: air|molecules]",
        f"{ids[2]}  1    nugget    Blue scatters most",
        "# no longer in force:",
        f"# {ids[3]}  0.5  question  Is the sky blue?",
    ]


def test_an_unchanged_sheet_changes_nothing_whatever_its_texts():
    chance = random.Random(9)
    for _ in range(1000):
        texts = {nasty(chance).strip() for _ in range(6)} - {""}
        items = [
            item(
                f"{chance.choice(['', ' '])}{text}",
                cleaned(nasty(chance, 3) for _ in range(2)),
                chance.choice([0.0, 0.5, 3.0]),
                chance.choice(["question", "nugget"]),
                nasty(chance, 3) + "q",
                "b " + nasty(chance, 2),
            )
            for text in sorted(texts)
        ]
        keys = sorted({(i.query_id, i.bank) for i in items})
        sections = []
        for query_id, bank in keys:
            here = [i for i in items if (i.query_id, i.bank) == (query_id, bank)]
            cut = chance.randint(0, len(here))
            sections.append(Section(query_id, bank, tuple(here[:cut]), tuple(here[cut:])))
        text = sheet.write("tiny", 0, sections, {q: nasty(chance) for q, _ in keys}, nasty(chance))
        assert edits(text, *sections) == []
        assert edits(text.replace("\n", "\r\n"), *sections) == []
        shuffled = [line for line in text.split("\n") if not line.startswith("#")]
        assert edits("\n".join(shuffled), *sections) == []


def test_every_reworded_text_is_read_as_it_was_meant():
    chance = random.Random(10)
    for _ in range(2000):
        meant = nasty(chance).strip()
        if not meant or "\0" in meant or meant in (i.text for i in (SKY, LIGHT, BLUE, OLD)):
            continue
        from gradelake.ingest.rubric.line import write_text

        text = changed("Why is the sky blue?", write_text(meant))
        assert edits(text) == [("reword", SKY.text, {"text": meant})], text


def test_a_reason_is_read_back():
    assert sheet.read(write(reason='"both" are # 1'), "sheet").reason == '"both" are # 1'


@pytest.mark.parametrize("text", ["", "\n \n", "# all gone\n"])
def test_an_emptied_sheet_changes_nothing(text):
    assert edits(text) == []


def test_a_query_whose_heading_is_gone_too_is_left_alone():
    other = Section("q2", "mine", (item("Bees?", query="q2"),), ())
    assert edits(write(other), SECTION, other) == []


# --- edits --------------------------------------------------------------------------------------


def test_a_changed_text_is_a_rewording():
    assert edits(changed("Why is the sky blue?", "Why is the sky  not # green?")) == [
        ("reword", SKY.text, {"text": "Why is the sky  not # green?"})
    ]


def test_a_changed_weight_is_a_reweighting():
    assert edits(changed("  2    question", "  0    question")) == [
        ("reweight", LIGHT.text, {"weight": 0.0})
    ]


def test_a_changed_text_and_weight_are_one_rewording():
    text = changed("2    question  What scatters light?", "3    question  What scatters?")
    assert edits(text) == [("reword", LIGHT.text, {"text": "What scatters?", "weight": 3.0})]


def test_changed_gold_answers_are_a_reanswering():
    assert edits(changed("air|molecules]", "gas|dust]")) == [
        ("reanswer", LIGHT.text, {"gold_answers": ("gas", "dust")})
    ]
    text = changed(
        "2    question  What scatters light? [answers: air",
        "3 question  What scatters light? [answers: gas",
    )
    assert edits(text) == [
        ("reanswer", LIGHT.text, {"gold_answers": ("gas", "molecules"), "weight": 3.0})
    ]
    assert edits(changed("Why is the sky blue?", "Why is the sky blue? [answers: air]")) == [
        ("reanswer", SKY.text, {"gold_answers": ("air",)})
    ]


def test_gold_answers_change_with_the_text():
    text = changed("What scatters light? [answers: air|molecules]", "What scatters? [answers: gas]")
    assert edits(text) == [
        ("reword", LIGHT.text, {"text": "What scatters?", "gold_answers": ("gas",)})
    ]


def test_a_removed_line_is_a_drop():
    assert edits(without(write(), "Blue scatters")) == [("drop", BLUE.text, {})]


def test_all_lines_of_a_heading_removed_drop_all_its_items():
    text = write()
    for kept in (SKY, LIGHT, BLUE):
        text = without(text, kept.text)
    assert edits(text) == [("drop", i.text, {}) for i in (SKY, LIGHT, BLUE)]


def test_a_line_with_a_plus_is_added():
    new = "+ question How high is it?\n+2 nugget It is high [answers: 100 km]"
    assert edits(write() + new) == [
        ("add", None, {"kind": "question", "text": "How high is it?", "weight": 1.0}),
        (
            "add",
            None,
            {"kind": "nugget", "text": "It is high", "weight": 2.0, "gold_answers": ("100 km",)},
        ),
    ]


@pytest.mark.parametrize("comment", ["# ", "#", "#  "])
def test_a_dropped_items_line_without_its_comment_sign_is_restored(comment):
    text, (_, line) = write(), line_of(write(), OLD.text)
    assert edits(text.replace(line, line.replace("# ", comment))) == []
    assert edits(text.replace(line, line.removeprefix("# "))) == [("restore", OLD.text, {})]


def test_an_item_comes_back_with_another_weight_if_that_is_written():
    text, (_, line) = write(), line_of(write(), OLD.text)
    assert edits(text.replace(line, line.removeprefix("# ").replace("0.5", "4"))) == [
        ("restore", OLD.text, {"weight": 4.0})
    ]


def test_a_rewording_may_go_back_to_an_earlier_text():
    assert edits(
        changed("Why is the sky blue?", OLD.text).replace(
            f"# {OLD.item_id.removeprefix('q1/')[:8]}", "# gone "
        )
    ) == [("reword", SKY.text, {"text": OLD.text})]


def test_an_item_whose_text_nobody_knows_can_be_reweighted_dropped_or_given_a_text():
    known = item("x")
    unknown = RubricItem("mine", "q1", "", known.item_id, "nugget", "", (), 1.0, "imported", "x")
    section = Section("q1", "mine", (unknown,), ())
    text = write(section)
    line = line_of(text, "  1  nugget")[1]
    assert edits(text, section) == []
    assert edits(text.replace(line, line.replace("  1", "  2")), section) == [
        ("reweight", "", {"weight": 2.0})
    ]
    assert edits(text.replace(line, f"{line} Found"), section) == [
        ("reword", "", {"text": "Found"})
    ]


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("Blue scatters most", "", "the text is empty: to drop the item, remove the whole line"),
        ("Blue scatters most", LIGHT.text, "already has this text"),
        ("  2    question", "  -2    question", "weight -2 is negative"),
        ("  2    question", "  two    question", "weight 'two' is not a number"),
        ("  2    question", "  2    nugget", "the kind of an item cannot change"),
        (" [answers: air|molecules]", "", "an item cannot lose all its gold answers"),
        ("light? [answers: air|molecules]", "it?", "a new wording keeps the gold answers"),
        ("Why is the sky blue?", "Why is it\nblue?", "there is no item 'blue?' here"),
        ("# no longer in force:", "no longer in force:", "there is no item 'no' here"),
        ("# no longer in force:", "+ question", "the new item has no text"),
        ("# no longer in force:", "+ Why?", "weight 'Why?' is not a number"),
        ("# no longer in force:", f"+ question {SKY.text}", "already has this text"),
        ("# no longer in force:", f"+ question {OLD.text}", "take the # off its line"),
    ],
)
def test_a_wrong_line_is_refused_by_its_number(old, new, problem):
    wrong = line_of(write(), old)[0] + new.count("\n")
    said = refused(changed(old, new))
    assert f"sheet:{wrong}: " in said
    assert problem in said
    assert "Nothing was written" in said


def test_an_item_that_stands_twice_is_refused():
    number, line = line_of(write(), SKY.text)
    said = refused(f"{write()}{line}\n")
    assert f"is already on line {number}" in said


def test_two_new_items_of_one_text_are_refused():
    text = write() + "+ question Same?\n+ nugget Same?\n"
    last = text.count("\n")
    assert f"sheet:{last}: line {last - 1} has the same text" in refused(text)


def test_the_text_of_an_item_that_is_dropped_in_the_same_sheet_is_refused():
    said = refused(without(write(), SKY.text) + f"+ question {SKY.text}\n")
    assert "leave that item on its line as it is" in said


def test_a_restored_item_cannot_be_reworded_at_once():
    line = line_of(write(), OLD.text)[1]
    text = write().replace(line, line.removeprefix("# ").replace("sky", "sea"))
    assert "an item comes back as it was" in refused(text)


def test_an_item_under_another_heading_is_refused():
    other = Section("q2", "mine", (item("Bees?", query="q2"),), ())
    text, (_, line) = write(SECTION, other), line_of(write(), SKY.text)
    moved = text.replace(f"{line}\n", "") + f"{line}\n"
    assert f"sheet:{moved.count(chr(10))}: there is no item" in refused(moved, SECTION, other)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("@rubric tiny @version 3\n", "", "the line that begins with @rubric is missing"),
        ("@version 3", "@version three", "@version 'three' is not a whole number"),
        ("@bank mine", "@bank", "this should read @query ... @bank ... @base ..."),
        ("@bank mine", "@bank other", "no query 'q1' with a bank 'other' to edit here"),
        ("@query q1", "0a1b2c3d 1 question Why?\n@query q1", "an item before the first line"),
        (SECTION.fingerprint(), "00000000", "is not what it was when this sheet was written"),
    ],
)
def test_headings_that_were_changed_are_refused(old, new, problem):
    assert problem in refused(changed(old, new))


def test_every_wrong_line_is_told_at_once():
    said = refused(changed("  2    question", "  x    question").replace("Blue scatters most", ""))
    assert "weight 'x' is not a number" in said
    assert "the text is empty" in said
