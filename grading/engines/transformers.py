"""The papers' own kinds of model, by transformers: FLAN-T5 (text to text), and extractive question
answering in the manner of SQuAD2."""

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from gradelake.grading.engines import EngineUnusable, Response, Setting
from gradelake.grading.engines._extractor import Extractor
from gradelake.grading.engines._here import HereEngine, loading
from gradelake.grading.engines._tokens import Fitter
from gradelake.grading.prompts.prompt import Rendered
from gradelake.sql.common.checked import one_of
from gradelake.sql.common.errors import how_to_install


class Engine(HereEngine):
    """Real models: `google/flan-t5-large` for grades, `deepset/roberta-base-squad2` for answers.

    A text-to-text model's probability of each word of the scale is read from its output, the
    grade is the most probable word; for text it generates freely. A question-answering model
    extracts the passage's best span, or nothing when "no answer" is more probable.
    """

    needs = made_of = ("transformers", "torch")
    install = how_to_install("transformers")
    decoding: ClassVar[frozenset[str]] = frozenset({"temperature", "top_p", "max_tokens", "seed"})
    settings: ClassVar[Mapping[str, Setting]] = {
        "dtype": Setting(
            Annotated[str, one_of(("float32", "bfloat16", "float16"))], "float32", "of the weights"
        ),
        "max_model_len": Setting(int, 512, "tokens of the prompt; longer passages are cut"),
        "batch_size": Setting(int, 16, "prompts computed together", False),
        "cpus_per_actor": Setting(int, 1, "cores of an actor, without a GPU", False),
    }

    def __init__(self, grader):
        super().__init__(grader)
        import torch

        self.torch = torch
        what = f"transformers cannot load {grader.model_path}"
        with loading(what, "Check the model's name or folder."):
            self._load(grader.model_path)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model.to(self.device).eval()
        self.derive()
        if grader.prompt.output == "scale":
            self.words = self._word_tokens()

    def _load(self, path: str) -> None:
        """Tokenizer and model. Raises what transformers raises, and `EngineUnusable`."""
        from transformers import (
            AutoConfig,
            AutoModelForQuestionAnswering,
            AutoModelForSeq2SeqLM,
            AutoTokenizer,
        )

        revision = {} if os.path.isdir(path) else {"revision": self.grader.revision or None}
        config = AutoConfig.from_pretrained(path, **revision)
        self.extractive = any(
            name.endswith("ForQuestionAnswering") for name in config.architectures or []
        )
        if self.extractive and self.grader.prompt.target != "extract":
            raise EngineUnusable(
                f"{path} extracts answers and cannot grade", "Use the prompt question_answer."
            )
        if not self.extractive and not config.is_encoder_decoder:
            raise EngineUnusable(
                f"{path} is neither a text-to-text nor a question-answering model",
                "Use the vllm engine for it.",
            )
        self.tokenizer = AutoTokenizer.from_pretrained(path, **revision)
        kind = AutoModelForQuestionAnswering if self.extractive else AutoModelForSeq2SeqLM
        dtype = getattr(self.torch, self.grader.settings["dtype"])
        self.model = kind.from_pretrained(path, dtype=dtype, **revision)

    def derive(self) -> None:
        length = self.grader.settings["max_model_len"]
        self.fitter = Fitter(self.grader.prompt, self.tokenizer, length, chat=False)

    def score(self, prompts: Sequence[Rendered]) -> list[Response]:
        with self.torch.inference_mode():
            if self.extractive:
                extractor = Extractor(self.model, self.tokenizer, self.grader.settings)
                return extractor.extract([self.fitter.safe(prompt) for prompt in prompts])
            return self._text_to_text(prompts)

    # --- text to text -----------------------------------------------------------------------------

    def _word_tokens(self) -> list[list[int]]:
        """Tokens of each word; with the end mark where a longer word begins with them all."""
        unknown, words = self.tokenizer.unk_token_id, self.grader.prompt.grade_scale.words
        found = [self.tokenizer.encode(word, add_special_tokens=False) for word in words]
        for word, tokens in zip(words, found, strict=True):
            if not tokens or unknown in tokens or found.count(tokens) > 1:
                raise EngineUnusable(
                    f"this model's tokenizer cannot write {word!r}",
                    "Use a prompt with another scale, or let the model write freely: "
                    "`constrained = false`, or a prompt with `output: text`.",
                )
        end = [self.tokenizer.eos_token_id]
        starts = [[other[: len(tokens)] for other in found] for tokens in found]
        return [t + end * (each.count(t) > 1) for t, each in zip(found, starts, strict=True)]

    def _text_to_text(self, prompts: Sequence[Rendered]) -> list[Response]:
        fitted = self.fitter.fit(prompts)
        responses = [Response(error=one.error, cut_characters=one.cut_characters) for one in fitted]
        # prompts of like length together: less padding
        order = sorted(
            (n for n, one in enumerate(fitted) if not one.error), key=lambda n: len(fitted[n].ids)
        )
        # what is drawn for a prompt must not depend on those it is computed with
        alone = self.grader.prompt.output == "text" and self.grader.decoding["temperature"] > 0
        size = 1 if alone else self.grader.settings["batch_size"]
        answer = self._rate if self.grader.prompt.output == "scale" else self._generate
        for start in range(0, len(order), size):
            batch = order[start : start + size]
            inputs = self.tokenizer.pad(
                {"input_ids": [fitted[n].ids for n in batch]}, return_tensors="pt"
            ).to(self.device)
            for n, (text, probabilities, n_tokens, finish) in zip(
                batch, answer(inputs), strict=True
            ):
                responses[n].text = text
                responses[n].probabilities = probabilities
                responses[n].prompt_tokens = len(fitted[n].ids)
                responses[n].cached_tokens = 0
                responses[n].completion_tokens = n_tokens
                responses[n].finish = finish
        return responses

    def _rate(self, inputs) -> list[tuple[str, list[float], int, str]]:
        """The most probable word of the scale, and the probability of each.

        A word's probability is the product of its tokens', each given the ones before.
        """
        torch, model = self.torch, self.model
        encoded = model.get_encoder()(**inputs)
        n_prompts = inputs["input_ids"].shape[0]
        start = model.config.decoder_start_token_id
        by_word = []
        steps: dict[tuple, Any] = {}  # what stands before -> log probabilities of the next token
        for tokens in self.words:
            total = torch.zeros(n_prompts, device=self.device)
            for n, token in enumerate(tokens):
                before = (start, *tokens[:n])
                if before not in steps:
                    ids = torch.tensor([before], device=self.device).expand(n_prompts, -1)
                    logits = model(
                        encoder_outputs=encoded,
                        attention_mask=inputs["attention_mask"],
                        decoder_input_ids=ids,
                    ).logits[:, -1]
                    steps[before] = torch.log_softmax(logits.float(), dim=-1)
                total = total + steps[before][:, token]
            by_word.append(total)
        probabilities = torch.stack(by_word, dim=1).exp().tolist()
        words = list(self.grader.prompt.grade_scale.words)
        best = (max(range(len(words)), key=row.__getitem__) for row in probabilities)
        return [
            (words[n], row, len(self.words[n]), "stop")
            for n, row in zip(best, probabilities, strict=True)
        ]

    def _generate(self, inputs) -> list[tuple[str, None, int, str]]:
        decoding = self.grader.decoding
        options: dict[str, Any] = {"max_new_tokens": decoding["max_tokens"], "num_beams": 1}
        options["do_sample"] = decoding["temperature"] > 0
        if options["do_sample"]:
            self.torch.manual_seed(decoding["seed"])
            options |= {name: decoding[name] for name in ("temperature", "top_p")} | {"top_k": 0}
        generated = self.model.generate(**inputs, **options)
        padding = self.tokenizer.pad_token_id
        texts = self.tokenizer.batch_decode(generated, skip_special_tokens=True)
        lengths = (generated[:, 1:] != padding).sum(dim=1).tolist()
        ended = (generated == self.tokenizer.eos_token_id).any(dim=1).tolist()
        return [
            (text, None, n, "stop" if is_whole else "length")
            for text, n, is_whole in zip(texts, lengths, ended, strict=True)
        ]
