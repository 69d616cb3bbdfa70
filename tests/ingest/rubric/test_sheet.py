"""The sheet that people edit: every text survives it, what a change means, what is refused."""

import random
import re

import pytest

from gradelake.ingest.rubric import changes, sheet
from gradelake.ingest.rubric.items import RubricItem, Section, cleaned, number, short_ids
from gradelake.ingest.rubric.line import (
    Fields,
    read_fields,
    take_token,
    write_fields,
    write_text,
    write_token,
)
from gradelake.sql.common.problems import Rejected
from gradelake.sql.common.rubric_items import item_id_of
from tests.ingest.rubric.conftest import line_of, without

# what lines, quotes, comments, columns and answers are made of, and what editors may swallow
PIECES = [
    *"\"'#+@|\\\n\r\t ,;[]a1-`é",
    *("\\n", "\r\n", "  ", "[answers: ", " [answers: ", "]]", "Why?", "0.5", "question", "@query"),
    *("日本", "🙂", "👩\u200d🔬", "\u200b", "\u2028", "\x85", "\x0b", "\x0c", "\x1b[31m", "\ufeff"),
    *("\u202e", "\xa0", "%s", "{}", "$HOME", "null", "NaN", "{+", "+}"),
]


def nasty(chance: random.Random, most: int = 8) -> str:
    return "".join(chance.choices(PIECES, k=chance.randint(0, most)))


def item(text, answers=(), weight=1.0, kind="question", query="q1", bank="mine", is_in_force=True):
    own_id = item_id_of(query, "", text)
    fields = (kind, text, answers, weight, "imported", own_id, is_in_force)
    return RubricItem(bank, query, "", own_id, *fields)


SKY, LIGHT = item("Why is the sky blue?"), item("What scatters light?", ("air", "molecules"), 2.0)
BLUE = item("Blue scatters most", kind="nugget")
OLD = item("Is the sky blue?", weight=0.5, is_in_force=False)
SECTION = Section("q1", "mine", (SKY, LIGHT, BLUE), (OLD,))
BEES = Section("q2", "mine", (item("Bees?", query="q2"),), ())


def write(*sections: Section, reason: str = "") -> str:
    return sheet.write("tiny", 3, sections or (SECTION,), {"q1": "why is the sky blue"}, reason)


def edits(text: str, *sections: Section) -> list[tuple]:
    """(action, item's text, values that are given) of what a sheet changes."""
    by_key = {(s.query_id, s.bank): s for s in sections or (SECTION,)}
    found = changes.compare(
        sheet.read(text, "sheet"), "sheet", lambda part: by_key.get((part.query_id, part.bank))
    )
    names = ("kind", "text", "gold_answers", "weight")
    return [
        (
            edit.action,
            edit.item and edit.item.text,
            {name: v for name in names if (v := getattr(edit, name)) not in ("", (), None)},
        )
        for edit in found
    ]


def refused(text: str, *sections: Section) -> str:
    with pytest.raises(Rejected) as caught:
        edits(text, *sections)
    return str(caught.value)


def changed(*replaced: tuple[str, str]) -> str:
    """The sheet with some things changed, each of which is there once."""
    text = write()
    for old, new in replaced:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def test_every_text_weight_answer_and_id_survives_a_line():
    chance = random.Random(7)
    for _ in range(10_000):
        fields = Fields(
            chance.choice([0.0, 0.5, 1.0, 2.0, 1e-7, 12345.678, 1e22]),
            chance.choice(["question", "nugget"]),
            nasty(chance).strip(),
            cleaned(nasty(chance, 4) for _ in range(chance.randint(0, 3))),
        )
        line = write_fields(fields, (chance.randint(0, 8), chance.randint(0, 8)))
        assert not {"\n", "\r"} & set(line)
        assert read_fields(line) == fields, line
        token = nasty(chance, 5) or "x"
        word = write_token(token)
        assert len(word.split()) == 1, word
        assert word[0] not in "#+@"
        rest = "the rest" if word[0] == '"' else "the rest "
        assert take_token(f"  {word}  the rest ") == (token, rest)


def test_a_line_is_as_plain_as_its_text_allows():
    plain = Fields(1.0, "question", 'Is "blue" #1, or not?', ("yes|no", "a\\b"))
    assert write_fields(plain) == ('1  question  Is "blue" #1, or not? [answers: yes\\|no|a\\\\b]')
    several = Fields(0.5, "nugget", 'one\n"two"\u2028', ())
    assert write_fields(several) == '0.5  nugget  "one\\n\\"two\\"\\u2028"'
    assert [number(w) for w in (1, 1.0, 0.5, 2.25, 0)] == ["1", "1", "0.5", "2.25", "0"]
    for line, read in (
        ("question 3 what?", (1.0, "question", "3 what?", ())),
        ("3 question what?", (3.0, "question", "what?", ())),
        (
            "1 question Why? [answers: air |  air|a\\|b | ]",
            (1.0, "question", "Why?", ("air", "a|b")),
        ),
    ):
        assert read_fields(line, weight_may_miss=True) == read


def test_a_line_that_cannot_be_read_says_why():
    for line, problem in (
        ("heavy question Why?", "weight 'heavy' is not a number"),
        ("1_0 question Why?", "weight '1_0' is not a number"),
        ("0,5 question Why?", "weight '0,5' is not a number"),
        ("1 Why is it?", "expected question, nugget or criterion:TIER:TYPE"),
        ("1", "expected question, nugget or criterion:TIER:TYPE"),
        ("", "something is missing"),
        ('1 question "Blue" is what?', "'is what?' follows the closing quote"),
        ('1 question "Blue', "a quoted text that cannot be read"),
        ("1 question Why? [answers: air", "do not end with a ]"),
        ('1 question "\\u0000"', "null character"),
        ('1 question "\\ud800"', "half a character"),
    ):
        with pytest.raises(ValueError, match=re.escape(problem)):
            read_fields(line)


def test_a_short_id_is_the_shortest_unique_beginning_and_foreign_and_shared_ids_stay_whole():
    same, zeros = "0123456789", "0" * 32
    one, other, far = f"{same}a{'0' * 21}", f"{same}b{'0' * 21}", "f" * 32
    for ids in (
        {f"q/{one}": f"{same}a", f"q/{other}": f"{same}b", f"q/{far}": "f" * 8},
        {"q1/n-3": "n-3"} | {each: each for each in (f"q1/f1/{zeros}", f"q1/f2/{zeros}")},
    ):
        assert short_ids(ids) == ids


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
    assert sheet.read(write(reason='"both" are # 1'), "sheet").reason == '"both" are # 1'


def test_an_unchanged_sheet_changes_nothing_whatever_its_texts():
    chance = random.Random(9)
    for _ in range(500):
        items = [
            item(
                f"{chance.choice(['', ' '])}{text}",
                cleaned(nasty(chance, 3) for _ in range(2)),
                chance.choice([0.0, 0.5, 3.0]),
                chance.choice(["question", "nugget"]),
                nasty(chance, 3) + "q",
                "b " + nasty(chance, 2),
            )
            for text in sorted({nasty(chance).strip() for _ in range(6)} - {""})
        ]
        keys = sorted({(i.query_id, i.bank) for i in items})
        sections = []
        for query_id, bank in keys:
            here = [i for i in items if (i.query_id, i.bank) == (query_id, bank)]
            cut = chance.randint(0, len(here))
            sections.append(Section(query_id, bank, tuple(here[:cut]), tuple(here[cut:])))
        text = sheet.write("tiny", 0, sections, {q: nasty(chance) for q, _ in keys}, nasty(chance))
        without_comments = [line for line in text.split("\n") if not line.startswith("#")]
        for same in (text, text.replace("\n", "\r\n"), "\n".join(without_comments)):
            assert edits(same, *sections) == []
    for emptied in ("", "\n \n", "# all gone\n"):
        assert edits(emptied) == []
    assert edits(write(BEES), SECTION, BEES) == []  # a heading that is gone is left alone


def test_every_reworded_text_is_read_as_it_was_meant():
    chance = random.Random(10)
    for _ in range(1000):
        meant = nasty(chance).strip()
        if meant:
            text = changed((SKY.text, write_text(meant)))
            assert edits(text) == [("reword", SKY.text, {"text": meant})], text


def test_each_change_is_the_edit_that_it_looks_like():
    old_line = line_of(write(), OLD.text)[1]
    restored = old_line.removeprefix("# ")
    add = {"kind": "nugget", "text": "It is high", "weight": 2.0, "gold_answers": ("100 km",)}
    for text, expected in (
        (changed((SKY.text, "Why  not # it?")), [("reword", SKY.text, {"text": "Why  not # it?"})]),
        (changed(("  2    qu", "  0    qu")), [("reweight", LIGHT.text, {"weight": 0.0})]),
        (
            changed(("2    question  What scatters light?", "3    question  What?")),
            [("reword", LIGHT.text, {"text": "What?", "weight": 3.0})],
        ),
        (
            changed(("air|molecules]", "gas|dust]")),
            [("reanswer", LIGHT.text, {"gold_answers": ("gas", "dust")})],
        ),
        (
            changed(
                (
                    "2    question  What scatters light? [answers: air|",
                    f"3 question {LIGHT.text} [answers: ",
                )
            ),
            [("reanswer", LIGHT.text, {"gold_answers": ("molecules",), "weight": 3.0})],
        ),
        (
            changed((SKY.text, f"{SKY.text} [answers: air]")),
            [("reanswer", SKY.text, {"gold_answers": ("air",)})],
        ),
        (
            changed(("What scatters light? [answers: air|molecules]", "What? [answers: gas]")),
            [("reword", LIGHT.text, {"text": "What?", "gold_answers": ("gas",)})],
        ),
        (without(write(), BLUE.text), [("drop", BLUE.text, {})]),
        (
            without(without(without(write(), SKY.text), LIGHT.text), BLUE.text),
            [("drop", i.text, {}) for i in (SKY, LIGHT, BLUE)],
        ),
        (
            write() + "+ question How high?\n+2 nugget It is high [answers: 100 km]",
            [
                ("add", None, {"kind": "question", "text": "How high?", "weight": 1.0}),
                ("add", None, add),
            ],
        ),
        (write().replace(old_line, f"#{restored}"), []),
        (write().replace(old_line, restored), [("restore", OLD.text, {})]),
        (
            write().replace(old_line, restored.replace("0.5", "4")),
            [("restore", OLD.text, {"weight": 4.0})],
        ),
        (
            changed((old_line, "# gone"), (SKY.text, OLD.text)),
            [("reword", SKY.text, {"text": OLD.text})],
        ),
    ):
        assert edits(text) == expected, text


def test_a_criterions_tier_and_type_change_and_its_weight_may_be_negative():
    section = Section("q1", "mine", (item("Is short", kind="criterion:optional:form"), BLUE), ())
    text = write(section).replace("1  criterion:optional", "-3 criterion:mandatory")
    changes = {"weight": -3.0, "kind": "criterion:mandatory:form"}
    assert edits(text, section) == [("reweight", "Is short", changes)]


def test_an_item_whose_text_nobody_knows_can_be_reweighted_dropped_or_given_a_text():
    known = item("x")
    unknown = RubricItem("mine", "q1", "", known.item_id, "nugget", "", (), 1.0, "imported", "x")
    section = Section("q1", "mine", (unknown,), ())
    text = write(section)
    line = line_of(text, "  1  nugget")[1]
    for new, expected in (
        (line, []),
        (line.replace("  1", "  2"), [("reweight", "", {"weight": 2.0})]),
        (f"{line} Found", [("reword", "", {"text": "Found"})]),
    ):
        assert edits(text.replace(line, new), section) == expected


def test_wrong_lines_and_headings_are_refused_by_number_all_at_once():
    gone, sky = "# no longer in force:", line_of(write(), SKY.text)
    for old, new, problem in (
        ("  2    question", "  two    question", "weight 'two' is not a number"),
        ("  2    question", "  2    nugget", "the kind of an item cannot change"),
        (" [answers: air|molecules]", "", "an item cannot lose all its gold answers"),
        ("light? [answers: air|molecules]", "it?", "a new wording keeps the gold answers"),
        (SKY.text, "Why is it\nblue?", "there is no item 'blue?' here"),
        (gone, "no longer in force:", "there is no item 'no' here"),
        (gone, "+ Why?", "weight 'Why?' is not a number"),
        (gone, sky[1], f"is already on line {sky[0]}"),
    ):
        wrong = line_of(write(), old)[0] + new.count("\n")
        shown = refused(changed((old, new)))
        assert f"sheet:{wrong}: " in shown
        assert problem in shown
        assert "Nothing was written" in shown
    for old, new, problem in (
        ("@rubric tiny @version 3\n", "", "the line that begins with @rubric is missing"),
        ("@version 3", "@version three", "@version 'three' is not a whole number"),
        ("@bank mine", "@bank", "this should read @query ... @bank ... @base ..."),
        ("@bank mine", "@bank other", "no query 'q1' with a bank 'other' to edit here"),
        ("@query q1", "0a1b2c3d 1 question Why?\n@query q1", "an item before the first line"),
        (SECTION.fingerprint(), "00000000", "is not what it was when this sheet was written"),
    ):
        assert problem in refused(changed((old, new)))
    line = line_of(write(), OLD.text)[1]
    reworded = write().replace(line, line.removeprefix("# ").replace("sky", "sea"))
    assert "an item comes back as it was" in refused(reworded)
    both = refused(changed(("  2    question", "  x    question"), ("nugget    ", "question  ")))
    assert "weight 'x' is not a number" in both
    assert "the kind of an item cannot change" in both
    text = write(SECTION, BEES)
    moved = text.replace(f"{sky[1]}\n", "") + f"{sky[1]}\n"
    last = moved.count("\n")
    assert f"sheet:{last}: there is no item" in refused(moved, SECTION, BEES)
