"""Prompts as token ids: they fit the model, and nothing in a text speaks as the model's frame."""

from dataclasses import replace
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from gradelake.grading.engines import EngineUnusable
from gradelake.grading.engines._tokens import Fitter
from gradelake.grading.engines.vllm import Engine as Vllm
from gradelake.grading.prompts.prompt import Prompt
from gradelake.grading.prompts.prompt_file import shipped_prompts
from gradelake.grading.prompts.scale import Scale
from tests.grading import smollm, tiny_models
from tests.grading.project import PASSAGES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not find_spec("transformers"), reason="transformers is not installed"),
]

QUESTION = "Why is the sky blue?"
LONG = " ".join(PASSAGES.values())
PROMPT = shipped_prompts()["question_self_rating"]

# Llama's way: what a message holds is stripped, and the first token is written out
TEMPLATE = (
    "{{ '<s>' }}{% for message in messages %}"
    "<|im_start|>{{ message['role'] }}\n{{ message['content'] | trim }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# Gemma's way: there is no system role
NO_SYSTEM = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"


@pytest.fixture(scope="module")
def unigram(tmp_path_factory):
    """T5's kind: NFKC, </s> at the end, no chat template."""
    return tiny_models.unigram_tokenizer(tmp_path_factory.mktemp("unigram"))


@pytest.fixture(scope="module")
def chatting(tmp_path_factory):
    """A byte-level tokenizer with a chat template: SmolLM2's own, else one of bytes."""
    if not smollm.missing():
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(smollm.model_folder())
    return tiny_models.byte_tokenizer(tmp_path_factory.mktemp("bytes"), TEMPLATE)


@pytest.fixture(scope="module")
def stripping(tmp_path_factory):
    return tiny_models.byte_tokenizer(tmp_path_factory.mktemp("stripping"), TEMPLATE)


def rendered(passage: str = LONG, item: str = QUESTION, prompt: Prompt = PROMPT):
    return prompt.render({"passage": passage, "item": item, "query": "the sky"})


def fit(tokenizer, limit: int, passage: str = LONG, chat: bool = False, **texts):
    (fitted,) = Fitter(PROMPT, tokenizer, limit, chat).fit([rendered(passage, **texts)])
    return fitted


def with_system(system: str) -> Prompt:
    return Prompt(
        name="own",
        version=1,
        target="question",
        items="question",
        source="",
        description="",
        system=system,
        template="{item}\n{passage}\nGrade:",
        scale=Scale.parse("0-3"),
        output="scale",
        parser="strict",
        context_first=False,
        file=None,
    )


# --- length ---------------------------------------------------------------------------------------


def test_a_prompt_that_fits_is_the_tokenizers_own_ids(unigram):
    fitted = fit(unigram, 2000)
    assert fitted.ids == unigram(rendered().text)["input_ids"]
    assert (fitted.cut_characters, fitted.error) == (0, None)


@pytest.mark.parametrize("chat", [False, True])
def test_the_longest_beginning_of_the_passage_is_kept(unigram, chatting, chat):
    tokenizer = chatting if chat else unigram
    bare = len(fit(tokenizer, 5000, passage="", chat=chat).ids)
    whole = len(fit(tokenizer, 5000, chat=chat).ids)
    ends = [
        end
        for _, end in tokenizer(LONG, return_offsets_mapping=True, add_special_tokens=False)[
            "offset_mapping"
        ]
    ]
    assert whole - bare > 40
    for limit in range(bare + 1, whole, 3):
        fitted = fit(tokenizer, limit, chat=chat)
        kept = len(LONG) - fitted.cut_characters
        assert len(fitted.ids) <= limit
        # what is left is the prompt with that beginning, in one piece
        assert fitted.ids == fit(tokenizer, 5000, passage=LONG[:kept], chat=chat).ids
        following = next(end for end in ends if end > kept)
        assert len(fit(tokenizer, 5000, passage=LONG[:following], chat=chat).ids) > limit


def test_what_follows_the_passage_stays(unigram):
    prompt = shipped_prompts()["question_self_rating_context_first"]
    fitter = Fitter(prompt, unigram, 5000, chat=False)
    (bare,) = fitter.fit([rendered("", prompt=prompt)])
    after = rendered(prompt=prompt).after.strip()
    end = [*unigram(after, add_special_tokens=False)["input_ids"], unigram.eos_token_id]
    assert QUESTION in after
    (fitted,) = Fitter(prompt, unigram, len(bare.ids) + 20, chat=False).fit(
        [rendered(prompt=prompt)]
    )
    assert fitted.cut_characters > 0
    assert fitted.ids[-len(end) :] == end


def test_a_prompt_that_is_too_long_without_its_passage_says_so(unigram):
    bare = len(fit(unigram, 5000, passage="").ids)
    fitted = fit(unigram, bare - 1)
    assert fitted.ids == []
    assert fitted.error == (
        f"without its passage the prompt has {bare} tokens already; {bare - 1} fit"
    )
    assert fit(unigram, bare).error is None


def test_characters_of_several_tokens_are_kept_whole_or_not_at_all(chatting):
    passage = "\U0001f41d\U0001f9ed" * 30
    bare = len(fit(chatting, 5000, passage="").ids)
    for limit in range(bare + 1, bare + 12):
        fitted = fit(chatting, limit, passage=passage)
        kept = passage[: len(passage) - fitted.cut_characters]
        assert chatting.decode(fitted.ids).endswith(f"{QUESTION} Context: {kept}")


def test_a_passage_of_few_tokens_is_kept_however_many_characters_it_has(unigram):
    passage = "\u4e2d" * 50_000  # one unknown word
    fitted = fit(unigram, 512, passage=passage + " sky")
    assert fitted.cut_characters == 0
    assert fitted.ids[-2:] == [*unigram.encode("sky", add_special_tokens=False), 1]


# --- frame ----------------------------------------------------------------------------------------


def test_a_chat_is_framed_as_the_models_template_says(chatting, stripping):
    for tokenizer in (chatting, stripping):
        messages = [{"role": "user", "content": rendered().text}]
        expected = tokenizer.apply_chat_template(
            messages, tokenize=True, add_generation_prompt=True, return_dict=False
        )
        assert fit(tokenizer, 5000, chat=True).ids == expected


def test_a_system_message_has_its_own_place_in_a_chat(chatting):
    prompt = with_system("You judge.")
    messages = [
        {"role": "system", "content": "You judge."},
        {"role": "user", "content": rendered(prompt=prompt).text},
    ]
    (fitted,) = Fitter(prompt, chatting, 5000, chat=True).fit([rendered(prompt=prompt)])
    assert fitted.ids == chatting.apply_chat_template(
        messages, tokenize=True, add_generation_prompt=True, return_dict=False
    )


def test_a_system_message_comes_first_where_there_is_no_chat(unigram):
    prompt = with_system("You judge.")
    (fitted,) = Fitter(prompt, unigram, 5000, chat=False).fit([rendered(prompt=prompt)])
    assert fitted.ids == unigram(f"You judge.\n\n{QUESTION}\n{LONG}\nGrade:")["input_ids"]


@pytest.mark.fast
def test_a_system_message_goes_before_the_users_where_the_model_knows_none(tmp_path):
    tokenizer = tiny_models.byte_tokenizer(tmp_path, NO_SYSTEM + TEMPLATE)
    prompt = with_system("You judge.")
    (fitted,) = Fitter(prompt, tokenizer, 5000, chat=True).fit([rendered("p", "i", prompt)])
    assert tokenizer.decode(fitted.ids) == (
        "<s><|im_start|>user\nYou judge.\n\ni\np\nGrade:<|im_end|>\n<|im_start|>assistant\n"
    )


@pytest.mark.fast
def test_a_template_that_drops_the_message_is_refused(tmp_path):
    tokenizer = tiny_models.byte_tokenizer(tmp_path, "{{ messages[0]['role'] }}")
    with pytest.raises(ValueError, match="leaves the user's message out"):
        fit(tokenizer, 100, chat=True)


# --- the scale ------------------------------------------------------------------------------------


def test_a_word_of_the_scale_without_a_token_of_its_own_is_refused_by_vllm(chatting):
    prompt = replace(with_system(""), scale=Scale.parse({"incomprehensibly": 0, "Yes": 1}))
    engine = SimpleNamespace(grader=SimpleNamespace(prompt=prompt), chat=True)
    with pytest.raises(EngineUnusable, match="no single token for 'incomprehensibly'") as caught:
        Vllm._word_tokens(engine, chatting)
    assert "output: text" in caught.value.hint


# --- special tokens -------------------------------------------------------------------------------


def special(tokenizer) -> set[int]:
    return set(tokenizer.added_tokens_decoder) - {tokenizer.unk_token_id}


def specials_of(tokenizer, ids: list[int]) -> list[int]:
    return [number for number in ids if number in special(tokenizer)]


@pytest.mark.parametrize("chat", [False, True])
def test_special_tokens_in_a_text_stay_text(unigram, chatting, stripping, chat):
    for tokenizer in (chatting, stripping) if chat else (unigram, chatting, stripping):
        hostile = " x ".join(str(token) for token in tokenizer.added_tokens_decoder.values())
        plain = specials_of(tokenizer, fit(tokenizer, 5000, chat=chat).ids)
        for texts in ({"passage": hostile}, {"item": hostile}):
            fitted = fit(tokenizer, 5000, chat=chat, **texts)
            assert specials_of(tokenizer, fitted.ids) == plain
            assert fitted.error is None


def test_a_token_of_this_tokenizer_only_is_broken_too(stripping):
    assert "~turn~" in stripping.get_vocab()
    fitted = fit(stripping, 5000, passage="a ~turn~ b")
    assert stripping.decode(fitted.ids).endswith("a ~ turn~ b")


def test_a_look_alike_that_the_tokenizer_would_make_special_is_broken_too(unigram):
    passage = "blue \uff1c/s\uff1e sky"  # full-width; NFKC makes </s> of it
    assert unigram.eos_token_id in unigram(passage, add_special_tokens=False)["input_ids"]
    fitted = fit(unigram, 5000, passage=passage)
    assert specials_of(unigram, fitted.ids) == [unigram.eos_token_id]
    assert fitted.ids[-1] == unigram.eos_token_id
    assert unigram.decode(fitted.ids, skip_special_tokens=True).endswith("< /s> sky")


def test_special_tokens_of_the_prompt_itself_stay(stripping):
    prompt = replace(with_system(""), template="<s>{item} {passage}<|im_end|>")
    (fitted,) = Fitter(prompt, stripping, 5000, chat=False).fit([rendered("p", "i", prompt)])
    assert stripping.decode(fitted.ids) == "<s>i p<|im_end|>"
