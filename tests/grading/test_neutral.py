"""Texts from outside cannot break a prompt's frame."""

import re
import time

import pytest

from gradelake.grading.prompts.neutral import neutralise, neutralise_tokens


def test_control_tokens_are_broken_after_their_first_character_and_only_once():
    for token, broken in (
        ("<|im_start|>", "< |im_start|>"),
        ("[/INST]", "[ /INST]"),
        ("<<SYS>>", "< < SYS>>"),
        ("</think>", "< /think>"),
        ("<\u200b|im_\u2060end|>", "< |im_end|>"),  # hidden by what has no width
        ("<|<s>|>[[INST]]", "< |< s>|>[[ INST]]"),
    ):
        assert neutralise(f"before {token} after") == f"before {broken} after"
        assert neutralise(neutralise(token)) == broken


# what ends or begins a turn, or stands for something else than its letters, in the chat templates
# and tokenizers of models that people judge with
TOKENS = {
    "Llama 2, 3, 4": "<s> </s> [INST] <<SYS>> <</SYS>> <|eot_id|> <|header_start|> <|python_tag|> "
    "<function=f>",
    "Mistral, Mixtral": "[/INST] [SYSTEM_PROMPT] [AVAILABLE_TOOLS] [TOOL_CALLS] [/TOOL_RESULTS] "
    "[IMG] [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX] [THINK] [/THINK] [ARGS] [CALL_ID] "
    "[AUDIO] [BEGIN_AUDIO]",
    "Qwen": "<|im_start|> <|im_end|> <|endoftext|> <tools> <tool_call> </tool_response> <think>",
    "Gemma": "<bos> <eos> <start_of_turn> <end_of_turn> <start_of_image> <image_soft_token> "
    "<unused7> <|turn> <turn|> <channel|>",
    "Phi": "<|user|> <|end|> <|image_1|>",
    "Command R, Aya": "<BOS_TOKEN> <EOS_TOKEN> <EOP_TOKEN> <MASK_TOKEN> <PAD> <UNK> <CLS> <SEP> "
    "<|START_OF_TURN_TOKEN|>",
    "DeepSeek": "<\uff5cUser\uff5c> <\uff5cend\u2581of\u2581sentence\uff5c> <|EOT|>",
    "Yi": "<fim_prefix> <|startoftext|> <reponame>",
    "GLM, ChatGLM": "[gMASK] [sMASK] <sop> <eop> <eod> <|observation|> <arg_key> [Round 1]",
    "Falcon": ">>TITLE<< >>QUESTION<< >>UNUSED_12<<",
    "InternLM": "<eoh> <eoa> <TOKENS_UNUSED_0> [UNUSED_TOKEN_146]",
    "Baichuan": "<reserved_106>",
    "StarCoder, SmolLM": "<fim_middle> <gh_stars> <jupyter_text> <filename> <repo_name> <file_sep>",
    "OLMo": "<functions> <function_calls> <|endoftext|>",
    "Granite": "<|start_of_role|> <|end_of_text|> <tool_call>",
    "Jamba, DBRX": "<|bom|> <|startoftext|> <|im_end|>",
    "Nemotron": "<extra_id_0> <extra_id_1> <SPECIAL_10> <TOOLCALL> <AVAILABLE_TOOLS>",
    "EXAONE": "[|system|] [|user|] [|endofturn|] <thought> [BOS]",
    "Hunyuan": "<\uff5chy_User\uff5c> <|extra_0|> <answer>",
    "gpt-oss": "<|start|> <|channel|> <|message|> <|return|>",
    "Claude": "<function_calls> <invoke name='f'> </invoke> <parameter name='x'> <thinking>",
    "SmolVLM, Idefics, LLaVA": "<image> <end_of_utterance> <fake_token_around_image> <global-img>",
    "MiniCPM": "<\u7528\u6237> <AI>",
    "MiniMax": "]~b] ]~!b[ [e~[ <minimax:tool_call>",
    "Seed-OSS": "<seed:bos> <seed:eos> <seed:think>",
    "Ling": "<role> </role>",
    "Skywork": "[USER] [BOT] [SEP]",
    "T5, UL2, BERT": "<extra_id_99> [NLG] [S2S] [CLS] [MASK] [unused3]",
}
# templates that mark turns in plain words: what begins one, and what is left of it
TURNS = {
    "\n\nHuman: hi": "\n\nHuman : hi",  # Claude 2, BELLE, XVERSE
    "\n\nAssistant: hi": "\n\nAssistant : hi",
    "Human: hi": "Human : hi",
    "sun. USER: 5 ASSISTANT: 5": "sun. USER : 5 ASSISTANT : 5",  # Vicuna
    "sun\nUser: 5": "sun\nUser : 5",  # Falcon, Jais
    "sun\n### Instruction:\n5": "sun\n### Instruction :\n5",  # Alpaca
    "### Response:": "### Response :",
    "### Input:": "### Input :",
    "###Human: 5": "###Human : 5",  # Guanaco, Aquila
    "### System:\n5": "### System :\n5",  # Solar, StableBeluga
    "GPT4 Correct User: 5": "GPT4 Correct User : 5",  # OpenChat, Starling
    "\n\n\u95ee\uff1a5\n\n\u7b54\uff1a": "\n\n\u95ee \uff1a5\n\n\u7b54 \uff1a",  # ChatGLM 2
}


@pytest.mark.parametrize("family", TOKENS)
def test_the_control_tokens_of_open_models_are_broken(family):
    tokens = re.findall(r"<\w+ name=[^>]*>|<\w+ [^>]*>|\[Round 1\]|\S+", TOKENS[family])
    assert [token for token in tokens if token in neutralise(f"a {token} b")] == []
    for token in tokens:
        assert neutralise(f"a {token} b").replace(" ", "") == f"a{token}b".replace(" ", "")


@pytest.mark.parametrize(("text", "broken"), TURNS.items())
def test_turns_in_plain_words_are_broken(text, broken):
    assert neutralise(text) == broken
    assert neutralise(broken) == broken


def test_null_bytes_escapes_direction_marks_and_invisible_characters_are_removed():
    assert neutralise("a\0b\x1bc\x7fd\u202ee\u200ff\u2066g\ufeffh\u200bi\U000e0041j") == (
        "abcdefghij"
    )


def test_newlines_and_tabs_stay_and_other_line_breaks_become_newlines():
    assert neutralise("a\n\tb") == "a\n\tb"
    assert neutralise("a\r\nb\rc\fd\x85e") == "a\nb\nc\nd\ne"


def test_half_a_character_is_replaced_so_that_the_text_can_be_encoded():
    assert neutralise("a\ud800b").encode() == "a\ufffdb".encode()


def test_joiners_stay_where_they_are_spelling():
    persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    assert neutralise(persian) == persian
    assert neutralise("no\u200cthing") == "nothing"


@pytest.mark.parametrize(
    "text",
    [
        "The sky is blue.",
        "x < 3 and y > 4, a[0] = b[i], <b>bold</b>, x >> 2 << 1",
        "<video src='x'> <p class='a_b'> [1] [citation needed] [US] max[i_1]",
        "He is human: to err. The user's assistant said: yes. Question: 1",
        "##final score: 3",  # only replies are parsed, so this may stand in a passage
        "na\u00efve caf\u00e9 \u00a0 \u4f60\u597d \U0001f600 {item} %s",
        "",
    ],
)
def test_ordinary_text_is_left_alone(text):
    assert neutralise(text) is text or neutralise(text) == text


@pytest.mark.parametrize(
    "part", ["<", "[", ">", "<_", "<a_", "a_", "[A_", "_", " ", "#", "\n", ">A", "<a", "USER", "]~"]
)
def test_what_might_become_a_token_takes_no_longer(part):
    started = time.process_time()
    neutralise("<[:" + part * (250_000 // len(part)))
    assert time.process_time() - started < 2


def test_an_engines_own_tokens_are_broken_wherever_they_begin():
    assert neutralise_tokens("a<stop><stop>b@@@", ["<stop>", "@@"]) == "a< stop>< stop>b@ @ @"


def test_single_characters_and_white_space_are_not_taken_for_special_tokens():
    assert neutralise_tokens("a  b\n\nc", ["a", "  ", "\n\n", ""]) == "a  b\n\nc"
