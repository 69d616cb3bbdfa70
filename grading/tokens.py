"""Prompts as token ids that fit a model: the end of the passage is cut, never the prompt."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from grading.neutral import neutralise_tokens

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

    from grading.prompt import Prompt, Rendered

# no tokenizer makes longer tokens out of a text; what lies beyond cannot fit
LONGEST_TOKEN = 32  # characters
_CONTENT = "\x1fcontent\x1f"


@dataclass(frozen=True, slots=True)
class Fitted:
    """A prompt's token ids, or why it does not fit; how many characters of the passage were cut."""

    ids: list[int]
    cut_characters: int = 0
    error: str | None = None


class Fitter:
    """Puts prompts into a model's chat template, and cuts passages to its length."""

    def __init__(
        self, prompt: "Prompt", tokenizer: "PreTrainedTokenizerFast", limit: int, chat: bool
    ):
        """`limit` is the number of tokens a prompt may have."""
        self.prompt = prompt
        self.tokenizer = tokenizer
        self.limit = limit
        self.chat = chat
        tokens = [*tokenizer.all_special_tokens, *map(str, tokenizer.added_tokens_decoder.values())]
        self.special = sorted({token for token in tokens if token.strip()}, key=len, reverse=True)
        self._has_special = re.compile("|".join(map(re.escape, self.special)) or r"(?!)").search
        self._frame = lru_cache(maxsize=8)(self._make_frame)

    def _make_frame(self, system: str | None) -> tuple[str, str]:
        if not self.chat:
            return (f"{system}\n\n" if system else "", "")
        messages = [{"role": "user", "content": _CONTENT}]
        if system:
            messages.insert(0, {"role": "system", "content": system})
        framed = self.tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
        head, _, tail = framed.partition(_CONTENT)
        return head, tail

    def fit(self, prompts: "Sequence[Rendered]") -> list[Fitted]:
        """Token ids of each prompt, in order."""
        safe = [self._without_special(prompt) for prompt in prompts]
        longest = self.limit * LONGEST_TOKEN
        cut = [max(0, len(prompt.passage) - longest) for prompt in safe]
        texts = [
            self._text(prompt, prompt.passage[:longest] if n else prompt.passage)
            for prompt, n in zip(safe, cut, strict=True)
        ]
        encoded = self._encode(texts)
        return [
            Fitted(ids) if len(ids) <= self.limit and not n else self._cut(prompt, ids)
            for prompt, ids, n in zip(safe, encoded, cut, strict=True)
        ]

    def _without_special(self, prompt: "Rendered") -> "Rendered":
        if not any(map(self._has_special, prompt.values.values())):
            return prompt
        return self.prompt.render(
            {name: neutralise_tokens(v, self.special) for name, v in prompt.values.items()}
        )

    def _text(self, prompt: "Rendered", passage: str) -> str:
        head, tail = self._frame(prompt.system)
        return f"{head}{prompt.before}{passage}{prompt.after}{tail}"

    def _encode(self, texts: list[str]) -> list[list[int]]:
        # a chat template writes the model's first token itself
        return self.tokenizer(texts, add_special_tokens=not self.chat)["input_ids"]

    def _cut(self, prompt: "Rendered", ids: list[int]) -> Fitted:
        bare = len(self._encode([self._text(prompt, "")])[0])
        if bare > self.limit:
            return Fitted(
                [], error=f"without its passage the prompt has {bare} tokens already; "
                f"{self.limit} fit"
            )  # fmt: skip
        passage = prompt.passage[: self.limit * LONGEST_TOKEN]
        ends = self.tokenizer(passage, add_special_tokens=False, return_offsets_mapping=True)[
            "offset_mapping"
        ]
        keep = min(len(ends), self.limit - bare)
        while True:
            kept = passage[: ends[keep - 1][1]] if keep > 0 else ""
            ids = self._encode([self._text(prompt, kept)])[0]
            if len(ids) <= self.limit:
                return Fitted(ids, cut_characters=len(prompt.passage) - len(kept))
            # where pieces meet, tokens may come out one or two more than counted apart
            keep -= max(1, len(ids) - self.limit)
