"""The papers' own kinds of model: what the engine answers equals what is computed here by hand."""

from contextlib import closing
from functools import cache
from importlib.util import find_spec

import pytest

from gradelake.grading.engines import EngineUnusable
from gradelake.grading.engines.transformers import Engine
from gradelake.sql.common.errors import BadInput
from tests.grading import tiny_models
from tests.grading.project import PASSAGES, QUESTIONS, copy_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not find_spec("transformers"), reason="transformers is not installed"),
]

LONG = " ".join(PASSAGES.values())
ITEMS = [text for texts in QUESTIONS.values() for text in texts]
PAIRS = [
    {"query": "the sky", "item": item, "passage": passage}
    for item in ITEMS
    for passage in [*PASSAGES.values(), LONG]
]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Folders of the tiny models."""
    kinds = {
        "t5": tiny_models.t5,
        "bert": tiny_models.bert,
        "undecided": lambda folder: tiny_models.bert(folder, no_answer=0.5),
        "talkative": lambda folder: tiny_models.bert(folder, no_answer=-5),
        "gpt2": tiny_models.gpt2,
        "cls": lambda folder: tiny_models.t5_extractor(folder, cls_token="<cls>"),
        "no_cls": tiny_models.t5_extractor,
    }
    return {name: make(tmp_path_factory.mktemp(name)) for name, make in kinds.items()}


@pytest.fixture(scope="module")
def project(tmp_path_factory, judged_lake):
    with closing(copy_of(judged_lake, tmp_path_factory.mktemp("models") / "project")) as project:
        yield project


def grader(project, model, prompt="question_self_rating", **settings):
    project.graders.pop("flan", None)
    return project.grader(
        "flan", engine="transformers", model=str(model), prompt=prompt, **settings
    )


def score(project, model, pairs=PAIRS, **settings):
    """The engine and its responses to the pairs, made into its prompt."""
    made = grader(project, model, **settings)
    engine = Engine(made)
    return engine, engine.score([made.prompt.render(values) for values in pairs])


@cache
def loaded(model, kind="AutoModelForSeq2SeqLM"):
    """Tokenizer and model, as anyone loads them."""
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    return tokenizer, getattr(transformers, kind).from_pretrained(model, dtype="float32").eval()


def text_of(prompt, values) -> str:
    return prompt.render(values).text


# --- text to text: grades -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rated(project, models):
    return score(project, models["t5"], max_model_len=2000)


def first_token_probabilities(tokenizer, model, text):
    """Of the reply's first token, as `generate` has them."""
    generated = model.generate(
        **tokenizer(text, return_tensors="pt"),
        max_new_tokens=1,
        output_scores=True,
        return_dict_in_generate=True,
    )
    return generated.scores[0][0].softmax(dim=-1)


def test_a_words_probability_is_that_of_its_token(rated, models):
    engine, responses = rated
    tokenizer, model = loaded(models["t5"])
    for values, response in zip(PAIRS[:8], responses, strict=False):
        expected = first_token_probabilities(
            tokenizer, model, text_of(engine.grader.prompt, values)
        )
        for grade in (1, 2, 3, 4, 5):
            (token,) = tokenizer.encode(str(grade), add_special_tokens=False)
            assert response.probabilities[grade] == pytest.approx(
                expected[token].item(), rel=1e-4, abs=0
            )


def test_a_word_of_two_tokens_has_the_product_of_theirs(rated, models):
    engine, responses = rated
    tokenizer, model = loaded(models["t5"])
    first, second = tokenizer.encode("0", add_special_tokens=False)
    for values, response in zip(PAIRS[:8], responses, strict=False):
        inputs = tokenizer(text_of(engine.grader.prompt, values), return_tensors="pt")
        start = inputs["input_ids"].new_tensor([[0, first]])
        logits = model(**inputs, decoder_input_ids=start).logits[0].softmax(dim=-1)
        expected = (logits[0, first] * logits[1, second]).item()
        assert response.probabilities[0] == pytest.approx(expected, rel=1e-4, abs=0)


def test_words_are_told_apart_when_one_begins_the_other(project, models):
    project.prompt("begins", "{query} {passage}", scale={"N": 0, "No": 1})
    engine, (response, *_) = score(project, models["t5"], PAIRS[:1], prompt="begins")
    tokenizer, model = loaded(models["t5"])
    first, second = tokenizer.encode("No", add_special_tokens=False)
    assert tokenizer.encode("N", add_special_tokens=False) == [first]
    inputs = tokenizer(text_of(engine.grader.prompt, PAIRS[0]), return_tensors="pt")
    start = inputs["input_ids"].new_tensor([[0, first]])
    logits = model(**inputs, decoder_input_ids=start).logits[0].softmax(-1)
    ends, goes_on = (logits[1, token].item() for token in (tokenizer.eos_token_id, second))
    share = logits[0, first].item()
    assert response.probabilities == pytest.approx([share * ends, share * goes_on], rel=1e-4, abs=0)


def test_a_word_that_the_model_cannot_write_is_refused(project, models):
    project.prompt("foreign", "{query} {passage}", scale={"\u5426": 0, "\u662f": 1})
    with pytest.raises(EngineUnusable, match="cannot write '\u5426'") as caught:
        score(project, models["t5"], prompt="foreign")
    assert "output: text" in caught.value.hint


# --- text to text: text ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prompt", [{"prompt": "question_answer"}, {"prompt": "sun", "constrained": False}]
)
def test_text_is_what_the_model_generates(project, models, prompt):
    engine, responses = score(
        project, models["t5"], **prompt, decoding={"max_tokens": 8}, batch_size=3
    )
    tokenizer, model = loaded(models["t5"])
    for values, response in zip(PAIRS, responses, strict=True):
        inputs = tokenizer(text_of(engine.grader.prompt, values), return_tensors="pt")
        ids = model.generate(**inputs, max_new_tokens=8, do_sample=False, num_beams=1)[0]
        assert response.text == tokenizer.decode(ids, skip_special_tokens=True)
        assert response.completion_tokens == (ids != tokenizer.pad_token_id).sum()
        assert response.probabilities is None
    assert len({response.text for response in responses}) > 1


def test_what_is_drawn_depends_on_the_seed_and_the_prompt_only(project, models):
    def drawn(seed, pairs=PAIRS[:6], **settings):
        decoding = {"temperature": 1.5, "seed": seed, "max_tokens": 8}
        _, responses = score(
            project, models["t5"], pairs, prompt="question_answer", decoding=decoding, **settings
        )
        return [response.text for response in responses]

    first = drawn(1)
    assert drawn(1) == first
    assert drawn(1, PAIRS[5::-1], batch_size=2) == first[::-1]
    assert drawn(2) != first


# --- extractive -----------------------------------------------------------------------------------


def brute_force(model, values, length, first_token="[CLS]", end="[SEP]"):
    """(best span's text, or nothing; the number of its window): every span of all windows tried.

    A window is [CLS] question [SEP] part of the passage [SEP], or with other marks; the next
    begins 128 tokens, or half a window, before the end of the last.
    """
    import torch

    tokenizer, network = loaded(model, "AutoModelForQuestionAnswering")
    before = tokenizer.convert_tokens_to_ids([first_token] if first_token else [])
    end_id = tokenizer.convert_tokens_to_ids(end)
    question = tokenizer(values["item"], add_special_tokens=False)["input_ids"]
    passage = tokenizer(values["passage"], add_special_tokens=False, return_offsets_mapping=True)
    tokens, offsets = passage["input_ids"], passage["offset_mapping"]
    question = [*before, *question, end_id]
    room = length - len(question) - 1
    step = room - min(128, room // 2)
    best, answer, best_at, no_answer, at = float("-inf"), "", 0, float("inf"), 0
    while True:
        part = tokens[at : at + room]
        inputs = {"input_ids": torch.tensor([[*question, *part, end_id]])}
        if "token_type_ids" in tokenizer.model_input_names:
            kinds = [0] * len(question) + [1] * (len(part) + 1)
            inputs["token_type_ids"] = torch.tensor([kinds])
        with torch.no_grad():
            output = network(**inputs)
        starts, ends = output.start_logits[0].tolist(), output.end_logits[0].tolist()
        no_answer = min(no_answer, starts[0] + ends[0])
        offset = len(question)
        for first in range(len(part)):
            for last in range(first, min(first + 30, len(part))):
                total = starts[offset + first] + ends[offset + last]
                if total > best:
                    best, best_at = total, at // step
                    answer = values["passage"][offsets[at + first][0] : offsets[at + last][1]]
        if at + room >= len(tokens):
            # a token of T5's may begin with the blank before its word
            return (answer.strip() if best > no_answer else ""), best_at
        at += step


@pytest.mark.parametrize("model", ["bert", "undecided"])
def test_the_answer_is_the_best_span(project, models, model):
    _, responses = score(project, models[model], prompt="question_answer")
    for values, response in zip(PAIRS, responses, strict=True):
        assert response.text == brute_force(models[model], values, 128)[0]
    assert len({response.text for response in responses}) > 5
    n_answered = sum(bool(response.text) for response in responses)
    assert (n_answered < len(PAIRS)) == (model == "undecided")


@pytest.mark.parametrize("batch_size", [1, 16])
@pytest.mark.parametrize(("model", "first_token"), [("cls", "<cls>"), ("no_cls", "")])
def test_a_t5_finds_the_best_span_behind_its_own_cls(
    project, models, model, first_token, batch_size
):
    settings = {"prompt": "question_answer", "max_model_len": 64, "batch_size": batch_size}
    _, responses = score(project, models[model], **settings)
    for values, response in zip(PAIRS, responses, strict=True):
        assert response.text == brute_force(models[model], values, 64, first_token, "</s>")[0]
    n_answered = sum(bool(response.text) for response in responses)
    assert 0 < n_answered < len(PAIRS)  # both an answer and none win


def test_a_cls_in_a_text_is_text(project, models):
    values = {
        "query": "",
        "item": "<cls> Why is the sky blue?",
        "passage": "The sky is <cls> blue.",
    }
    engine = Engine(grader(project, models["cls"], prompt="question_answer"))
    safe = engine.fitter.safe(engine.grader.prompt.render(values))
    ids = engine.tokenizer(safe.values["item"], safe.values["passage"])["input_ids"]
    assert engine.tokenizer.cls_token_id not in ids


@pytest.mark.parametrize("batch_size", [1, 16])
def test_the_windows_of_a_long_passage_compete(project, models, batch_size):
    pairs = [
        {"query": "", "item": item, "passage": f"{LONG} {LONG} {passage}"}
        for item in ITEMS
        for passage in PASSAGES.values()
    ]
    _, responses = score(
        project,
        models["bert"],
        pairs,
        prompt="question_answer",
        max_model_len=64,
        batch_size=batch_size,
    )
    windows = set()
    for values, response in zip(pairs, responses, strict=True):
        span, window = brute_force(models["bert"], values, 64)
        assert response.text == span != ""
        assert response.prompt_tokens > 2 * 64
        windows.add(window)
    assert len(windows) > 1  # not always the first


def test_windows_are_no_longer_than_the_model_has_positions(project, models):
    values = PAIRS[0] | {"passage": LONG * 3}
    _, (response,) = score(project, models["bert"], [values], prompt="question_answer")
    assert response.error is None  # 512 tokens are the default, the model has 128


def test_an_empty_passage_has_no_answer(project, models):
    _, (response,) = score(
        project, models["talkative"], [PAIRS[0] | {"passage": ""}], prompt="question_answer"
    )
    assert (response.text, response.error) == ("", None)


def test_a_question_that_leaves_no_room_for_the_passage_fails_with_the_reason(project, models):
    too_long = PAIRS[0] | {"item": "Why is the sky blue? " * 30}
    _, responses = score(project, models["bert"], [PAIRS[0], too_long], prompt="question_answer")
    assert responses[0].error is None
    assert "without its passage the question has" in responses[1].error
    assert "128 fit" in responses[1].error


def test_marks_of_the_tokenizer_in_a_passage_are_text(project, models):
    values = PAIRS[0] | {"passage": "The sky [SEP] [CLS] is [MASK] blue [PAD]"}
    engine, (response,) = score(project, models["talkative"], [values], prompt="question_answer")
    safe = engine.grader.prompt.render(values).values["passage"]
    assert "[ SEP]" in safe
    assert response.text in safe


# --- models that do not go with it ----------------------------------------------------------------


def test_an_extractive_model_cannot_grade(project, models):
    with pytest.raises(EngineUnusable, match="extracts answers and cannot grade") as caught:
        score(project, models["bert"])
    assert "question_answer" in caught.value.hint


def test_other_kinds_of_model_are_refused(project, models):
    with pytest.raises(EngineUnusable, match="neither a text-to-text nor a question") as caught:
        score(project, models["gpt2"])
    assert "vllm" in caught.value.hint


def test_a_folder_that_is_no_model_is_refused(project, tmp_path):
    with pytest.raises(BadInput, match="holds no model"):
        grader(project, tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EngineUnusable, match=r"cannot load .*model_type") as caught:
        score(project, tmp_path)
    assert "Check the model's name or folder" in caught.value.hint
    broken = tiny_models.t5(tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(EngineUnusable, match="transformers cannot load"):
        score(project, broken)
