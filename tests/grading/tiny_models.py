"""Tiny random models that transformers loads from a folder, the same each time.

Their answers are noise. What is done with them can be computed by hand all the same.
"""

import json
import re
import string
from pathlib import Path

from tests.grading.project import PASSAGES, QUESTIONS

# of the prompts, the passages and the scales; every other word comes out as its letters
_SENTENCES = [
    "Can the question be answered based on the available context? choose one:",
    "The answer is highly relevant, complete, and accurate.",
    "provide a complete and concise answer to the question based on the context.",
    "Instruction: Indicate if the passage is relevant for the question. Question: Context:",
    *PASSAGES.values(),
    *(text for texts in QUESTIONS.values() for text in texts),
    "1 2 3 4 5 Yes",  # one token each; 0 and No are two, as 0 is with FLAN-T5
]
_WORDS = sorted({word for text in _SENTENCES for word in re.findall(r"\w+|[^\w\s]", text)})
_CHARACTERS = sorted(set(string.ascii_letters + string.digits + string.punctuation))


def unigram_tokenizer(folder: Path, **more):
    """T5's kind of tokenizer, saved in the folder: SentencePiece's unigrams, </s> at the end of
    each text. `more` are further special tokens."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["<pad>", "</s>", "<unk>", "<extra_id_0>"]
    scores = dict.fromkeys(special, 0.0)
    scores |= {f"▁{word}": -5.0 for word in [*_WORDS, "N"]}
    scores |= dict.fromkeys(["▁", *_CHARACTERS], -8.0)
    tokenizer = Tokenizer(models.Unigram(list(scores.items()), unk_id=2))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B:1 </s>:1", special_tokens=[("</s>", 1)]
    )
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        additional_special_tokens=["<extra_id_0>"],
        model_input_names=["input_ids", "attention_mask"],
        **more,
    )
    wrapped.save_pretrained(folder)
    return wrapped


def t5(folder: Path) -> Path:
    """A text-to-text model of 64 dimensions and two layers."""
    import torch
    from transformers import T5ForConditionalGeneration

    config = _t5_config(unigram_tokenizer(folder))
    torch.manual_seed(7)
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def t5_extractor(folder: Path, **special) -> Path:
    """The papers' kind of question-answering model: a T5 with a head for it. Its tokenizer has
    `cls_token="<cls>"` where it is given one, and sets it nowhere."""
    import torch
    from transformers import T5ForQuestionAnswering

    config = _t5_config(unigram_tokenizer(folder, **special))
    torch.manual_seed(2)
    T5ForQuestionAnswering(config).save_pretrained(folder)
    return folder


def _t5_config(tokenizer):
    from transformers import T5Config

    return T5Config(
        vocab_size=len(tokenizer),
        d_model=64,
        d_kv=16,
        d_ff=128,
        num_layers=2,
        num_heads=4,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        # the usual factor makes one word the most probable everywhere
        initializer_factor=1.5,
        scale_decoder_outputs=True,
    )


def wordpiece_tokenizer(folder: Path):
    """BERT's kind of tokenizer, saved in the folder; of windows of at most 512 tokens."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces += sorted({piece.lower() for piece in [*_WORDS, *_CHARACTERS]})
    pieces += [f"##{piece}" for piece in string.ascii_lowercase + string.digits]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=512,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
    wrapped.save_pretrained(folder)
    return wrapped


def bert(folder: Path, no_answer: float = 0.0) -> Path:
    """A question-answering model that has only 128 positions.

    With a high `no_answer` it never finds one, with a low one always, whatever it is asked.
    """
    import torch
    from transformers import BertForQuestionAnswering

    tokenizer = wordpiece_tokenizer(folder)
    torch.manual_seed(11)
    model = BertForQuestionAnswering(_bert_config(tokenizer, n_layers=0 if no_answer else 2))
    if no_answer:
        _favour_first_position(model, no_answer)
    model.save_pretrained(folder)
    return folder


def gpt2(folder: Path) -> Path:
    """A decoder-only model."""
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = unigram_tokenizer(folder)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_embd=16,
        n_layer=1,
        n_head=1,
        n_positions=64,
        bos_token_id=0,
        eos_token_id=1,
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def _bert_config(tokenizer, n_layers: int):
    from transformers import BertConfig

    return BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_attention_heads=2,
        intermediate_size=64,
        num_hidden_layers=n_layers,
        max_position_embeddings=128,
        initializer_range=0.5,
    )


def _favour_first_position(model, by: float) -> None:
    """Give the first token of every input the highest scores, or the lowest.

    One dimension of the embeddings is kept for it, and the head looks at little else.
    """
    import torch

    embeddings = model.bert.embeddings
    with torch.no_grad():
        for table in (
            embeddings.word_embeddings,
            embeddings.position_embeddings,
            embeddings.token_type_embeddings,
        ):
            table.weight[:, 0] = 0
        embeddings.position_embeddings.weight[0, 0] = 100
        model.qa_outputs.weight[:, 0] = by


def byte_tokenizer(folder: Path, chat_template: str):
    """A tokenizer of single bytes, with control tokens of a chat, saved in the folder."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: n for n, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="<|im_end|>",
        additional_special_tokens=["<|im_start|>", "~turn~"],
    )
    wrapped.chat_template = chat_template
    wrapped.save_pretrained(folder)
    return wrapped


def lora_adapter(folder: Path, hidden: int = 576, layers: int = 30, **config) -> Path:
    """A LoRA adapter of the query projections, of SmolLM2-135M's size, as PEFT saves one."""
    import numpy as np
    from safetensors.numpy import save_file

    random = np.random.default_rng(5)
    rank, tensors = 4, {}
    for layer in range(layers):
        name = f"base_model.model.model.layers.{layer}.self_attn.q_proj"
        down, up = random.standard_normal((rank, hidden)), random.standard_normal((hidden, rank))
        tensors[f"{name}.lora_A.weight"] = (down * 0.05).astype(np.float32)
        tensors[f"{name}.lora_B.weight"] = (up * 0.2).astype(np.float32)
    folder.mkdir(parents=True)
    save_file(tensors, folder / "adapter_model.safetensors")
    stated = {
        "peft_type": "LORA",
        "base_model_name_or_path": "some/model",
        "r": rank,
        "lora_alpha": 2 * rank,
        "target_modules": ["q_proj"],
    }
    (folder / "adapter_config.json").write_text(json.dumps(stated | config))
    return folder
