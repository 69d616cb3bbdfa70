"""Prompts as token ids that fit a model: the end of the passage is cut, never the prompt."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING
from unicodedata import normalize

from gradelake.grading.prompts.neutral import neutralise_tokens
from gradelake.grading.prompts.prompt import Prompt, Rendered

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

# of text beyond this only a first look is saved: hardly any text has longer tokens
LONGEST_TOKEN = 32  # characters
# stands for the user's message in a chat template; no white space, which some templates strip
_CONTENT = "\ue000content\ue000"


@dataclass(frozen=True, slots=True)
class Fitted:
    """A prompt's token ids, or why it does not fit; how many characters of the passage were cut."""

    ids: list[int]
    cut_characters: int = 0
    error: str | None = None


class Fitter:
    """Puts prompts into a model's chat template, and cuts passages to its length."""

    def __init__(
        self, prompt: Prompt, tokenizer: "PreTrainedTokenizerFast", limit: int, chat: bool
    ):
        """`limit` is the number of tokens a prompt may have."""
        self.prompt = prompt
        self.tokenizer = tokenizer
        self.limit = limit
        self.chat = chat
        known = {
            **dict(zip(tokenizer.all_special_tokens, tokenizer.all_special_ids, strict=True)),
            **{str(token): number for number, token in tokenizer.added_tokens_decoder.items()},
        }
        self.special = sorted((token for token in known if token.strip()), key=len, reverse=True)
        self._has_special = re.compile("|".join(map(re.escape, self.special)) or r"(?!)").search
        # an unknown word has a special token of its own, and may stand anywhere
        self._special_ids = {known[token] for token in self.special} - {tokenizer.unk_token_id}
        self._frame = lru_cache(maxsize=8)(self._make_frame)
        self._n_own_special = lru_cache(maxsize=8)(self._count_own_special)

    def _make_frame(self, system: str | None) -> tuple[str, str]:
        if not self.chat:
            return (f"{system}\n\n" if system else "", "")
        from jinja2 import TemplateError

        try:
            framed = self._framed(system, _CONTENT)
        except TemplateError:
            if not system:
                raise
            framed = self._framed(None, f"{system}\n\n{_CONTENT}")  # models without a system role
        head, found, tail = framed.partition(_CONTENT)
        if not found:
            raise ValueError("the model's chat template leaves the user's message out")
        return head, tail

    def _framed(self, system: str | None, content: str) -> str:
        messages = [{"role": "user", "content": content}]
        if system:
            messages.insert(0, {"role": "system", "content": system})
        return self.tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )

    def _count_own_special(self, system: str | None) -> int:
        """Special tokens of the prompt itself and of the frame around it."""
        empty = replace(self.prompt.frame, system=system)
        return self._count_special(self._encode([self._text(empty, "")])[0])

    def _count_special(self, ids: list[int]) -> int:
        return sum(map(self._special_ids.__contains__, ids))

    def fit(self, prompts: Sequence[Rendered]) -> list[Fitted]:
        """Token ids of each prompt, in order."""
        safe = [self.safe(prompt) for prompt in prompts]
        longest = self.limit * LONGEST_TOKEN
        encoded = self._encode([self._text(prompt, prompt.passage[:longest]) for prompt in safe])
        return [self._fit(prompt, ids, longest) for prompt, ids in zip(safe, encoded, strict=True)]

    def _fit(self, prompt: Rendered, ids: list[int], longest: int) -> Fitted:
        """One prompt; `ids` are those with at most `longest` characters of the passage."""
        if self._count_special(ids) > self._n_own_special(prompt.system):
            # the tokenizer's own changes to characters made a special token of a look-alike
            values = {name: normalize("NFKC", value) for name, value in prompt.values.items()}
            prompt = self.safe(self.prompt.render(values))
            ids = self._encode([self._text(prompt, prompt.passage[:longest])])[0]
            if self._count_special(ids) > self._n_own_special(prompt.system):
                return Fitted([], error="the texts hold special tokens of the model")
        passage = prompt.passage[:longest]
        if len(ids) <= self.limit and len(passage) < len(prompt.passage):
            passage = prompt.passage  # tokens are few: white space, or words unknown to the model
            ids = self._encode([self._text(prompt, passage)])[0]
        return Fitted(ids) if len(ids) <= self.limit else self._cut(prompt, passage)

    def safe(self, prompt: Rendered) -> Rendered:
        """The prompt with the tokenizer's special tokens broken in its texts."""
        if not any(map(self._has_special, prompt.values.values())):
            return prompt
        return self.prompt.render(
            {name: neutralise_tokens(v, self.special) for name, v in prompt.values.items()}
        )

    def _text(self, prompt: Rendered, passage: str) -> str:
        head, tail = self._frame(prompt.system)
        return f"{head}{prompt.before}{passage}{prompt.after}{tail}"

    def _encode(self, texts: list[str]) -> list[list[int]]:
        if not texts:  # the tokenizer would fail
            return []
        # a chat template writes the model's first token itself
        return self.tokenizer(texts, add_special_tokens=not self.chat, verbose=False)["input_ids"]

    def _cut(self, prompt: Rendered, passage: str) -> Fitted:
        """The prompt with as many of the passage's first tokens as fit."""
        ids = self._encode([self._text(prompt, "")])[0]
        if len(ids) > self.limit:
            return Fitted(
                [],
                error=f"without its passage the prompt has {len(ids)} tokens already; "
                f"{self.limit} fit",
            )
        encoded = self.tokenizer(
            passage, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        ends = [0, *(end for _, end in encoded["offset_mapping"])]

        def with_tokens(n: int) -> list[int]:
            return self._encode([self._text(prompt, passage[: ends[n]])])[0]

        # where pieces meet, tokens come out one or two more or fewer than counted apart
        keep = min(len(ends) - 1, self.limit - len(ids))
        while keep > 0 and len(fitting := with_tokens(keep)) > self.limit:
            keep -= max(1, len(fitting) - self.limit)
        keep = max(0, keep)
        fitting = with_tokens(keep)
        while keep + 1 < len(ends) and len(longer := with_tokens(keep + 1)) <= self.limit:
            keep, fitting = keep + 1, longer
        return Fitted(fitting, cut_characters=len(prompt.passage) - ends[keep])
