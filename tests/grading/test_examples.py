"""`gradelake prompts`: list, show, render, and worked examples drawn from judged passages."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from gradelake.grading.prompts.examples import read_examples, sample
from gradelake.grading.prompts.scale import Scale
from gradelake.sql.common.errors import BadInput
from tests.command_line import gradelake, json_of
from tests.grading.test_judged_pairs import make
from tests.places import REPOSITORY
from tests.sql.terminal import Terminal

YN = Scale.parse({"No": 0, "Yes": 1})
N3 = Scale.parse("0-3")
SHIPPED = {file.stem for file in (REPOSITORY / "grading" / "prompts").glob("*.yaml")}


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A project whose one query has 24 judged passages, six of each judgment -1, 0, 1 and 2."""
    tiny = make(tmp_path_factory.mktemp("judged"))
    yield tiny
    tiny.close()


def drawn(tiny, scale=YN, per_label=3, seed=1, assessor="nist", collection="tiny"):
    return sample(tiny.lake, collection, assessor, scale, per_label, seed)


def judgment(example):
    return int(example["passage_id"][1:]) % 4 - 1


def test_each_label_is_drawn_equally_often_and_labels_take_turns(judged):
    examples = drawn(judged)
    assert [example["label"] for example in examples] == ["Yes", "No"] * 3
    for example in examples:
        assert (judgment(example) >= 1) == (example["label"] == "Yes")


def test_on_a_numeric_scale_the_label_is_the_judgment_and_below_zero_is_zero(judged):
    examples = drawn(judged, Scale.parse("0-2"), 6)
    assert len({example["passage_id"] for example in examples}) == 18
    for example in examples:
        assert int(example["label"]) == max(0, judgment(example))
    # all twelve passages judged -1 or 0 can be drawn
    seen = {judgment(e) for seed in range(5) for e in drawn(judged, Scale.parse("0-2"), 3, seed)}
    assert seen == {-1, 0, 1, 2}


def test_too_few_of_a_label_unknown_collections_and_assessors_are_refused(judged):
    with pytest.raises(
        BadInput, match=r"not have 13 judged passages of every label: 12 of label 0"
    ):
        drawn(judged, per_label=13)
    with pytest.raises(BadInput, match="0 of label 3"):
        drawn(judged, N3, 1)
    with pytest.raises(BadInput, match=r"no judgments of 'nits' in tiny(.|\n)*mean 'nist'"):
        drawn(judged, assessor="nits")
    with pytest.raises(BadInput, match=r"no collection 'tinny'(.|\n)*mean 'tiny'"):
        drawn(judged, collection="tinny")
    with pytest.raises(BadInput, match="which word"):
        drawn(judged, Scale.parse({"Bad": 0, "Fair": 1, "Good": 2}))


# --- the commands -----------------------------------------------------------------------------


def test_a_sample_becomes_a_file_that_a_prompt_of_ones_own_can_show(judged):
    arguments = shlex.split("prompts sample tiny --assessor nist --per-label 2 --seed 3")
    printed = judged.gradelake(*arguments).stdout
    done = judged.gradelake(*arguments, "--output", "few.jsonl")
    assert done.stdout == "few.jsonl: 4 examples from tiny\n"
    file = judged.folder / "few.jsonl"
    assert file.read_text(encoding="utf-8") == printed
    assert [e.label for e in read_examples(file, "few.jsonl", YN)] == ["Yes", "No", "Yes", "No"]
    again = judged.gradelake(*arguments, "--output", "few.jsonl", code=2)
    assert "few.jsonl: already exists" in again.stderr
    wrong = judged.gradelake(*arguments, "--scale", "good", code=2)
    assert "--scale: 'good' is not a scale" in wrong.stderr


def test_the_list_names_every_prompt(judged):
    rows = json.loads(judged.gradelake("prompts", "list", "--json").stdout)
    by_name = {row["name"]: row for row in rows}
    assert len(rows) == len(by_name)
    assert by_name.keys() == SHIPPED
    assert by_name["sun"]["scale"] == {"No": 0, "Yes": 1}
    assert by_name["umbrela"]["slots"] == ["query", "passage"]
    assert len(by_name["umbrela"]["sha256"]) == 64
    table = judged.gradelake("prompts", "list").stdout
    assert table.split("\n")[0].split() == ["name", "target", "description"]
    assert [line.split()[0] for line in table.splitlines()[1:]] == sorted(SHIPPED)
    assert judged.project
    program = (sys.executable, "-m", "gradelake", "prompts", "list")
    terminal = Terminal(judged.folder, width=80, program=program)
    try:
        shown = terminal.wait_for("as good as the gold").replace("\r", "").split("\n")
    finally:
        terminal.__exit__()
    assert max(map(len, shown)) <= 80
    assert len(shown) > 39  # what does not fit a line goes on in the next one


def test_prompts_can_be_read_where_there_is_no_project(tmp_path, monkeypatch):
    monkeypatch.delenv("GRADELAKE_CONFIG", raising=False)
    shown = gradelake(tmp_path, "prompts", "show", "sun").stdout
    assert shown == (Path(__file__).parents[2] / "grading/prompts/sun.yaml").read_text()
    assert len(json_of(tmp_path, "prompts", "list", "--json")) == len(SHIPPED)
    render = ("prompts", "render", "helm", "--query", "Q", "--passage", "P")
    assert "Question: Q Passage: P" in gradelake(tmp_path, *render).stdout
    own = gradelake(tmp_path, "prompts", "show", "mine", code=2)
    assert "no prompt 'mine' among Gradelake's own, and there is no gradelake.toml" in own.stderr
    named = gradelake(tmp_path, "--config", "gradelake.toml", "prompts", "list", code=2)
    assert "gradelake.toml: no such file" in named.stderr
    sample = ("prompts", "sample", "c", "--assessor", "a", "--per-label", "1", "--seed", "1")
    assert "no gradelake.toml in" in gradelake(tmp_path, *sample, code=2).stderr


def test_render_prints_exactly_what_a_model_would_read(judged):
    passage = judged.write("passage.txt", "P {query} <|im_end|> [bold]x[/bold] :smile:")
    done = judged.gradelake(
        "prompts", "render", "helm", "--query", "Q", "--passage-file", str(passage)
    )
    assert done.stdout == (
        "Instruction: Does the passage answer the query? Respond with 'Yes' or 'No'.\n"
        "Question: Q Passage: P {query} < |im_end|> [bold]x[/bold] :smile: Answer:\n"
    )
    missing = judged.gradelake("prompts", "render", "verify_answer", "--item", "x", code=2)
    assert "also needs --slot gold_answer=TEXT, --slot answer=TEXT" in missing.stderr
    assign = ("prompts", "render", "nuggetizer_assign", "--query", "Q", "--passage", "P")
    done = judged.gradelake(*assign, "--item", "It's so", "--item", "b").stdout
    assert "label each of the 2 nuggets either" in done
    assert """\nNugget List: ["It's so", 'b']\n""" in done
    assert "also needs --item" in judged.gradelake(*assign, code=2).stderr
    twice = judged.gradelake("prompts", "render", "helm", "--item", "a", "--item", "b", code=2)
    assert "the prompt 'helm' asks about one item" in twice.stderr


def test_every_slot_of_every_prompt_can_be_filled(judged):
    from gradelake.grading.prompts.prompt_file import shipped_prompts

    texts = {slot: f"[{slot}]" for p in shipped_prompts().values() for slot in p.slots}
    del texts["items"], texts["n_items"]  # they are made of --item
    del texts["passages"]  # of --passage
    for name in ("true_explain", "true_distil", "true_direct", "generate_questions_car"):
        options = [
            word
            for slot in shipped_prompts()[name].slots
            if slot in texts
            for word in (
                (f"--{slot}", texts[slot])
                if slot in ("query", "item", "passage")
                else ("--slot", f"{slot}={texts[slot]}")
            )
        ]
        shown = judged.gradelake("prompts", "render", name, *options).stdout
        for slot in shipped_prompts()[name].slots:
            assert texts[slot] in shown, (name, slot)
