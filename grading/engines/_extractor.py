"""Extractive question answering in the manner of SQuAD2: a passage's best span, or none."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradelake.grading.engines import Response
from gradelake.grading.prompts.prompt import Rendered

STRIDE = 128  # tokens that two windows on a long passage share
LONGEST_ANSWER = 30  # tokens
LEAST_ROOM = 8  # tokens of the passage beside the question
# models whose table of positions begins after the padding token's
_POSITIONS_AFTER_PADDING = ("roberta", "xlm-roberta", "camembert", "longformer", "mpnet")
# models whose tokenizer does not set the token at which "no answer" is read, though it may have one
_SET_NO_CLS = ("t5", "mt5", "umt5")


@dataclass(eq=False)
class _Span:
    """The best part of a passage so far, in characters."""

    score: float = -math.inf
    begin: int = 0
    end: int = 0
    no_answer: float = math.inf  # the lowest score of "no answer"


class Extractor:
    """Looks for answers with a question-answering model of transformers."""

    def __init__(self, model: Any, tokenizer: Any, settings: Mapping[str, Any]):
        self.model = model
        self.tokenizer = tokenizer
        self.batch_size = settings["batch_size"]
        config = model.config
        positions = getattr(config, "max_position_embeddings", None) or math.inf
        if config.model_type in _POSITIONS_AFTER_PADDING:
            positions -= config.pad_token_id + 1
        self.length = min(settings["max_model_len"], tokenizer.model_max_length, positions)
        self.before_question = ""
        if config.model_type in _SET_NO_CLS and tokenizer.cls_token:
            self.before_question = tokenizer.cls_token

    def extract(self, prompts: Sequence[Rendered]) -> list[Response]:
        """The passage's span with the highest start and end score, over windows of a long passage;
        nothing when "no answer", read at the first token, scores higher (Devlin et al., BERT, NAACL
        2019, section 4.3).

        Question and passage are the prompts' values `item` and `passage`. A T5 that was trained
        with `<cls>` before the question gets it (model card of sjrhuschlee/flan-t5-base-squad2).
        """
        spans = [_Span() for _ in prompts]
        responses, windows = [], []
        for prompt, span in zip(prompts, spans, strict=True):
            error, own = self._windows(prompt.values["item"], prompt.values["passage"])
            windows += [(span, window) for window in own]
            tokens = None if error else sum(len(window.ids) for window in own)
            responses.append(
                Response(error=error, prompt_tokens=tokens, cached_tokens=0, completion_tokens=0)
            )
        windows.sort(key=lambda window: len(window[1].ids))  # like lengths together: less padding
        for start in range(0, len(windows), self.batch_size):
            self._look(windows[start : start + self.batch_size])
        for prompt, span, response in zip(prompts, spans, responses, strict=True):
            if span.score > span.no_answer:
                response.text = prompt.values["passage"][span.begin : span.end].strip()
        return responses

    def _windows(self, question: str, passage: str) -> tuple[str | None, list]:
        """The question with each part of the passage as token ids, or why there is no room."""
        question = self.before_question + question
        bare = len(self.tokenizer(question, add_special_tokens=False)["input_ids"])
        bare += self.tokenizer.num_special_tokens_to_add(pair=True)
        room = self.length - bare
        if room < LEAST_ROOM:
            return (
                f"without its passage the question has {bare} tokens already; {self.length} fit",
                [],
            )
        encoded = self.tokenizer(
            question,
            passage,
            truncation="only_second",
            max_length=self.length,
            stride=min(STRIDE, room // 2),
            return_overflowing_tokens=True,
        )
        return None, encoded.encodings

    def _look(self, windows: "Sequence[tuple[_Span, Any]]") -> None:
        """Keep the best span of each window's prompt."""
        import torch

        device = self.model.device
        columns = {
            "input_ids": [window.ids for _, window in windows],
            "token_type_ids": [window.type_ids for _, window in windows],
            "attention_mask": [window.attention_mask for _, window in windows],
        }
        wanted = {name: columns[name] for name in self.tokenizer.model_input_names}
        inputs = self.tokenizer.pad(wanted, return_tensors="pt", padding_side="right").to(device)
        output = self.model(**inputs)
        starts, ends = output.start_logits.float(), output.end_logits.float()
        for row, (span, window) in enumerate(windows):
            n = len(window.ids)
            start, end = starts[row, :n], ends[row, :n]
            span.no_answer = min(span.no_answer, (start[0] + end[0]).item())
            of_passage = torch.tensor([part == 1 for part in window.sequence_ids], device=device)
            allowed = of_passage[:, None] & of_passage[None, :]
            allowed = allowed.triu().tril(LONGEST_ANSWER - 1)  # ends after it starts, and soon
            scores = start[:, None] + end[None, :]
            scores = scores.masked_fill(~allowed, -math.inf)
            top = scores.argmax().item()
            score = scores.flatten()[top].item()
            if score > span.score:
                first, last = divmod(top, n)
                span.score = score
                span.begin, span.end = window.offsets[first][0], window.offsets[last][1]
