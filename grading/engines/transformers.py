"""The papers' own kinds of model, by transformers: FLAN-T5 (text to text), and extractive question
answering in the manner of SQuAD2."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from grading.engines import Cluster, EngineUnusable, Response, Setting, Workers
from grading.engines import Engine as Base
from grading.tokens import Fitter
from sql.errors import BadInput

if TYPE_CHECKING:
    from grading.prompt import Rendered

_STRIDE = 128  # tokens that two windows on a long passage share
_LONGEST_ANSWER = 30  # tokens


class Engine(Base):
    """Real models: `google/flan-t5-large` for grades, `deepset/roberta-base-squad2` for answers.

    A text-to-text model's probability of each word of the scale is read from its output, the
    grade is the most probable word. A question-answering model extracts the passage's best span,
    or nothing when "no answer" is more probable.
    """

    needs = ("transformers", "torch")
    install = "pip install 'gradelake[transformers]'"
    settings: ClassVar[Mapping[str, Setting]] = {
        "dtype": Setting(str, "float32", "float32, bfloat16 or float16"),
        "max_model_len": Setting(int, 512, "tokens of the prompt; longer passages are cut"),
        "batch_size": Setting(int, 16, "prompts computed together", False),
        "cpus_per_actor": Setting(int, 1, "cores of an actor, without a GPU", False),
    }

    def __init__(self, grader):
        super().__init__(grader)
        import torch
        from transformers import AutoConfig, AutoTokenizer

        self.torch = torch
        path = grader.model_path
        try:
            config = AutoConfig.from_pretrained(path)
            self.tokenizer = AutoTokenizer.from_pretrained(path)
            self.extractive = any(
                name.endswith("ForQuestionAnswering") for name in config.architectures or []
            )
            self.model = self._load(config, path)
        except (OSError, ValueError) as error:
            raise EngineUnusable(
                f"transformers cannot load {path}: {str(error).splitlines()[0]}",
                "Check the model's name or folder.",
            ) from error
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model.to(self.device).eval()
        self.fitter = Fitter(
            grader.prompt, self.tokenizer, grader.settings["max_model_len"], chat=False
        )
        if grader.prompt.output == "scale":
            self.words = self._word_tokens()

    def _load(self, config, path: str):
        from transformers import AutoModelForQuestionAnswering, AutoModelForSeq2SeqLM

        target = self.grader.prompt.target
        if self.extractive != (target == "extract") and self.extractive:
            raise EngineUnusable(
                f"{path} extracts answers and cannot grade", "Use the prompt question_answer."
            )
        if not self.extractive and not config.is_encoder_decoder:
            raise EngineUnusable(
                f"{path} is no text-to-text and no question-answering model",
                "Use the vllm engine for it.",
            )
        kind = AutoModelForQuestionAnswering if self.extractive else AutoModelForSeq2SeqLM
        dtype = getattr(self.torch, self.grader.settings["dtype"])
        return kind.from_pretrained(path, dtype=dtype)

    @classmethod
    def check(cls, settings: Mapping[str, Any], where: str) -> None:
        if settings["dtype"] not in ("float32", "bfloat16", "float16"):
            raise BadInput(f"{where}: dtype {settings['dtype']!r}", "float32, bfloat16 or float16")

    @classmethod
    def workers(cls, cluster: Cluster, settings: Mapping[str, Any]) -> Workers:
        if cluster.gpus:
            return Workers(count=cluster.gpus, gpus=1)
        cpus = settings["cpus_per_actor"]
        return Workers(count=max(1, cluster.cpus // cpus), cpus=cpus)

    def score(self, prompts: "Sequence[Rendered]") -> list[Response]:
        with self.torch.inference_mode():
            if self.extractive:
                return [self._extract(prompt) for prompt in prompts]
            return self._text_to_text(prompts)

    # --- text to text -----------------------------------------------------------------------------

    def _word_tokens(self) -> list[list[int]]:
        return [self.tokenizer.encode(word, add_special_tokens=False) for word in self.scale.words]

    def _text_to_text(self, prompts: "Sequence[Rendered]") -> list[Response]:
        fitted = self.fitter.fit(prompts)
        responses = [Response(error=one.error, cut_characters=one.cut_characters) for one in fitted]
        # prompts of like length together: less padding
        order = sorted(
            (n for n, one in enumerate(fitted) if not one.error), key=lambda n: len(fitted[n].ids)
        )
        size = self.grader.settings["batch_size"]
        answer = self._rate if self.grader.prompt.output == "scale" else self._generate
        for start in range(0, len(order), size):
            batch = order[start : start + size]
            inputs = self.tokenizer.pad(
                {"input_ids": [fitted[n].ids for n in batch]}, return_tensors="pt"
            ).to(self.device)
            for n, (text, probabilities, n_tokens) in zip(batch, answer(inputs), strict=True):
                responses[n].text = text
                responses[n].probabilities = probabilities
                responses[n].prompt_tokens = len(fitted[n].ids)
                responses[n].cached_tokens = 0
                responses[n].completion_tokens = n_tokens
        return responses

    def _rate(self, inputs) -> list[tuple[str, list[float], int]]:
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
        words = list(self.scale.words)
        best = (max(range(len(words)), key=row.__getitem__) for row in probabilities)
        return [
            (words[n], row, len(self.words[n])) for n, row in zip(best, probabilities, strict=True)
        ]

    def _generate(self, inputs) -> list[tuple[str, None, int]]:
        decoding = self.grader.decoding
        options: dict[str, Any] = {"max_new_tokens": decoding["max_tokens"], "num_beams": 1}
        if decoding["temperature"] > 0:
            self.torch.manual_seed(decoding["seed"])
            options |= {"do_sample": True, "temperature": decoding["temperature"],
                        "top_p": decoding["top_p"]}  # fmt: skip
        else:
            options["do_sample"] = False
        generated = self.model.generate(**inputs, **options)
        padding = self.tokenizer.pad_token_id
        texts = self.tokenizer.batch_decode(generated, skip_special_tokens=True)
        lengths = (generated[:, 1:] != padding).sum(dim=1).tolist()
        return [(text, None, n) for text, n in zip(texts, lengths, strict=True)]

    # --- extractive -------------------------------------------------------------------------------

    def _extract(self, prompt: "Rendered") -> Response:
        """The passage's span with the highest start and end score, over windows of a long passage;
        nothing when "no answer" scores higher (Devlin et al., BERT, NAACL 2019, section 4.3)."""
        question, passage = prompt.values["item"], prompt.values["passage"]
        length = min(self.grader.settings["max_model_len"], self.tokenizer.model_max_length)
        encoded = self.tokenizer(
            question, passage, truncation="only_second", max_length=length,
            stride=min(_STRIDE, length // 4), return_overflowing_tokens=True,
            return_offsets_mapping=True, padding=True, return_tensors="pt",
        )  # fmt: skip
        offsets = encoded.pop("offset_mapping")
        encoded.pop("overflow_to_sample_mapping")
        output = self.model(**encoded.to(self.device))
        best, best_score, no_answer = (0, 0), float("-inf"), float("inf")
        for window in range(offsets.shape[0]):
            start, end = output.start_logits[window].float(), output.end_logits[window].float()
            no_answer = min(no_answer, (start[0] + end[0]).item())
            of_passage = self.torch.tensor(
                [part == 1 for part in encoded.sequence_ids(window)], device=self.device
            )
            start = start.masked_fill(~of_passage, float("-inf"))
            end = end.masked_fill(~of_passage, float("-inf"))
            spans = start[:, None] + end[None, :]
            allowed = self.torch.ones_like(spans, dtype=self.torch.bool)
            allowed = allowed.triu().tril(_LONGEST_ANSWER - 1)  # ends after it starts, and soon
            spans = spans.masked_fill(~allowed, float("-inf"))
            top = spans.argmax().item()
            score = spans.flatten()[top].item()
            if score > best_score:
                first, last = divmod(top, spans.shape[1])
                best = (offsets[window][first][0].item(), offsets[window][last][1].item())
                best_score = score
        return Response(
            text=passage[best[0] : best[1]] if best_score > no_answer else "",
            prompt_tokens=int(encoded["attention_mask"].sum()),
            cached_tokens=0,
            completion_tokens=0,
        )
