"""One grader asked several times: each trial in its own way, and a grader of its own."""

import json

import pytest

from gradelake.grading.graders.configured import judges
from gradelake.grading.graders.grader_reader import read_grader
from gradelake.grading.graders.trials import trials_of
from gradelake.sql.common.errors import BadInput
from tests.command_line import gradelake, json_of

MOODY = """
decoding = frozenset({"temperature", "seed", "top_p", "max_tokens"})

def score(self, prompts):
    seed, words = self.grader.decoding.get("seed"), list(self.scale.words)

    def word(prompt):
        about = prompt.values["item"] + prompt.values["passage"]
        steady = random.Random(about).randrange(len(words))
        mood = random.Random(f"{seed} {about}").choice([-1, 0, 0, 0, 1])
        return words[min(len(words) - 1, max(0, steady + mood))]

    return [Response(word(prompt)) for prompt in prompts]
"""
WARM = {"temperature": 0.7}


@pytest.fixture
def moody(judged):
    """The grader `moody`, and what may differ of it."""
    judged.engine("moody", MOODY)

    def grader(name="moody", **changes):
        judged.graders["moody"] = {"engine": "moody", "prompt": "question_self_rating"} | changes
        return read_grader(judged.project, name)

    return grader


def refusal(moody, **changes) -> str:
    with pytest.raises(BadInput) as caught:
        moody(**changes)
    return str(caught.value)


def test_each_trial_draws_with_a_seed_of_its_own_and_is_another_grader(moody, judged):
    once = moody(decoding=WARM)
    trials = [moody(name, decoding=WARM, trials=3) for name in ("moody", "moody.2", "moody.3")]
    assert [trial.decoding["seed"] for trial in trials] == [0, 1, 2]
    assert len({trial.grader_id for trial in trials}) == 3
    assert trials[0].grader_id == once.grader_id  # what was graded before is the first trial
    assert {trial.trial_of for trial in trials[1:]} == {once.grader_id}
    assert judges(judged.project) == ("lexical", "moody", "moody.2", "moody.3")
    assert json.loads(trials[2].row()["settings"])["trial"] == 3


def test_all_trials_have_a_name(moody, judged):
    moody(decoding=WARM, trials=3)
    assert trials_of(judged.project, "moody.all") == ("moody", "moody.2", "moody.3")
    assert trials_of(judged.project, "moody") == ("moody",)
    assert trials_of(judged.project, "moody.2") == ("moody.2",)
    assert trials_of(judged.project, "modest.all") == ("modest.all",)  # it is refused later


def test_options_are_rotated_by_one_more_in_each_trial(moody):
    settings = {"trials": 3, "rotate_options": True}
    prompts = [moody(name, **settings).prompt for name in ("moody", "moody.2", "moody.3")]
    firsts = [[line[2] for line in prompt.text.split("\n")[1:7]] for prompt in prompts]
    assert ["".join(words) for words in firsts] == ["543210", "432105", "321054"]
    first, second = (prompt.text.split("\n") for prompt in prompts[:2])
    assert (first[0], first[7:]) == (second[0], second[7:])
    assert prompts[0].sha256 == moody().prompt.sha256


@pytest.mark.parametrize(
    ("prompt", "listed"), [("umbrela", "0123"), ("thomas", "210"), ("nugget_self_rating", "543210")]
)
def test_options_are_found_however_a_prompt_lists_them(judged, prompt, listed):
    judged.graders["vllm"] = {
        **{"engine": "openai", "model": "m", "prompt": prompt},
        **{"trials": 2, "rotate_options": True},
    }
    text = read_grader(judged.project, "vllm.2").prompt.text
    places = [
        text.index(f"\n{sign}{word}")
        for word in listed[1:]
        for sign in ("", "- ")
        if f"\n{sign}{word}" in text
    ]
    assert places == sorted(places)
    assert text.index(f"{listed[0]} = " if prompt != "nugget_self_rating" else "- 5:") > places[-1]


def test_trials_that_could_not_differ_are_refused(moody):
    assert "trial 2 would repeat trial 1" in refusal(moody, trials=3)
    message = refusal(moody, trials=7, rotate_options=True)
    assert "trial 7 would repeat trial 1" in message
    assert "rotated 5 times" in message
    moody(trials=7, rotate_options=True, decoding=WARM)


def test_what_is_no_list_of_options_is_not_rotated(judged):
    rotated = {"trials": 2, "rotate_options": True}
    with pytest.raises(BadInput, match="does not list each word of its scale"):
        judged.grader("sun", engine="openai", model="m", prompt="sun", **rotated)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trials": 0}, "trials"),
        ({"trials": 21, "decoding": WARM}, "trials"),
        ({"trials": "3", "decoding": WARM}, "trials"),
        ({"rotate_options": True}, "rotate_options is for several trials"),
        ({"trial": 2}, "unknown setting 'trial'"),
        (
            {"prompt": "generate_questions_dl", "engine": "openai", "model": "m", "trials": 2},
            "only graders that give grades",
        ),
    ],
)
def test_settings_that_make_no_sense_are_refused(moody, changes, message):
    assert message in refusal(moody, **changes)


def test_a_trial_may_not_be_called_like_another_grader(moody, judged):
    judged.graders["moody.2"] = {"engine": "lexical", "prompt": "question_self_rating"}
    assert 'there is a [graders."moody.2"]' in refusal(moody, trials=2, decoding=WARM)


@pytest.mark.slow
def test_all_trials_are_graded_in_a_row_and_resumed(moody, judged):
    moody(decoding=WARM, trials=2)
    judged.project, judged.close()
    asked = ("grade", judged.name, "--grader", "moody.all", "--json")
    planned = json_of(judged.folder, *asked, "--dry-run")["plans"]
    assert [(plan["grader"], plan["missing_pairs"]) for plan in planned] == [
        ("moody", 12),
        ("moody.2", 12),
    ]
    late = gradelake(judged.folder, *asked[:-1], "--max-minutes", "0.0001")
    assert "not begun: moody.2" in late.stderr
    first = gradelake(judged.folder, "grade", judged.name, "--grader", "moody", "--limit", "4")
    assert "moody graded 4 pairs" in first.stdout
    trials = json_of(judged.folder, *asked)["trials"]
    assert [(run["grader"], run["pairs"]) for run in trials] == [("moody", 8), ("moody.2", 12)]
    again = json_of(judged.folder, *asked)["trials"]
    assert [run["pairs"] for run in again] == [0, 0]
