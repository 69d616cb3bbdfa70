"""Engines: what answers prompts. Each is one file here, or in a folder of the project's own.

An engine is a class named `Engine` in a module named after it. See `grading/engines/README.md`
for a whole one in twenty lines.
"""

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

from gradelake.grading.graders.grader import Grader
from gradelake.grading.prompts.prompt import Prompt, Rendered
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.halves import without_halves
from gradelake.sql.common.judgment_kinds import WRITING, targets

OF_ITSELF = "model", "system_fingerprint"  # what an endpoint's reply says of what gave it
# how a server ends a reply that is whole, as it is where none is told; what ends with another word
# is no reply
WHOLE = frozenset({"stop", "eos", "eos_token", "end_turn"})
USED_UP = frozenset({"length", "max_tokens", "model_length"})  # its tokens
CUT_OFF, NOT_WHOLE = "the reply was cut off", "the reply is not whole"  # errors begin so
TOKENS = ("prompt_tokens", "cached_tokens", "completion_tokens")  # that replies take
MOST_MASS = 1.01  # that probabilities may sum to: a little above 1 is rounding


@dataclass(slots=True)
class Response:
    """What an engine answered to one prompt; `error` says why there is no answer.

    `probabilities` has the probability the model itself gave to each word of the scale, in the
    scale's order; their sum is at most 1. Where only the shares among the words are known,
    `constrained_probabilities` is true. Token counts are None where the engine knows none.
    `finish` is the word with which it ended; `is_final` says that an error would come again,
    however often it is asked: the model refuses, or has no room. `is_recalled`: it came in an
    earlier run. `reasoning` came apart from the reply, to be kept.
    """

    text: str = ""
    error: str | None = None
    probabilities: Sequence[float] | None = None
    constrained_probabilities: bool = False
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    cut_characters: int = 0  # of the passage's end
    finish: str | None = None
    is_final: bool = False
    is_recalled: bool = False
    reasoning: str | None = None

    @property
    def is_cut_off(self) -> bool:
        """Whether it ends where its tokens ended."""
        return self.finish is not None and self.finish.lower() in USED_UP

    @property
    def why_not_whole(self) -> str | None:
        """Why what came is not all that the model had to say; None: it is."""
        if not self.finish or self.finish.lower() in WHOLE:
            return None
        if self.is_cut_off:
            more = "allow more tokens: decoding = { max_tokens = ... }"
            return f"{CUT_OFF} ({self.finish}); {more}"
        return f"{NOT_WHOLE}: it ended with {self.finish!r}"

    def mend(self) -> None:
        """Replace half characters, which JSON can spell and no file hold."""
        for name in ("finish", "text", "error", "reasoning"):
            setattr(self, name, (text := getattr(self, name)) and without_halves(text))


# a prompt, what it was answered, and after how many seconds
Came = Callable[[Rendered, Response, float], None]


class EngineUnusable(WorkFailed):
    """The engine cannot work at all: nothing it was given is to blame, and the run stops."""


@dataclass(frozen=True)
class Setting:
    """A key of `[graders.NAME]` that an engine reads.

    `kind` is its type, perhaps annotated with what pydantic should check.
    """

    kind: Any
    default: Any
    meaning: str
    changes_grades: bool = True  # whether it is part of the grader's id
    #: names a folder, seen from gradelake.toml's; its files, not its place, are part of the id
    is_folder: bool = False


@cache
def versions(*packages: str) -> dict[str, str]:
    """The versions of those packages that are installed here; of vLLM also its build for CPUs."""
    found = {}
    for package in packages:
        for name in (f"{package}-cpu", package):
            with suppress(PackageNotFoundError):
                found[package] = version(name)
    return found


@dataclass(frozen=True)
class Workers:
    """How many processes hold the engine, and what each needs of the cluster."""

    count: int
    cpus: float = 1
    gpus: float = 0


@dataclass(frozen=True)
class Cluster:
    """What the machines have: CPU cores and GPUs."""

    cpus: int
    gpus: int


class Engine:
    """Base of all engines. One instance lives in each worker process.

    A subclass imports its libraries in `__init__`, so that naming it costs nothing.
    """

    #: modules that must be importable, and how to install them
    needs: ClassVar[tuple[str, ...]] = ()
    install: ClassVar[str] = ""
    #: whether it asks a model: its replies are kept as they come. Else the same comes again at once
    asks_model: ClassVar[bool] = True
    #: packages whose versions are noted with what it grades
    made_of: ClassVar[tuple[str, ...]] = ()
    #: whether a `model` must be named
    needs_model: ClassVar[bool] = True
    #: what `[graders.NAME]` may hold beside the settings of every grader
    settings: ClassVar[Mapping[str, Setting]] = {}
    #: targets of prompts that it can answer; one that writes text adds `generate`, and is then
    #: also asked to explain labels, to distil rubrics and which nuggets are vital
    targets: ClassVar[frozenset[str]] = frozenset(targets()) - {*WRITING}
    #: whether it can be asked about several items at once; else each is asked about by itself
    takes_windows: ClassVar[bool] = True
    #: whether it can send prompts to be answered within a day; those with `batch = true` are
    takes_batches: ClassVar[bool] = False
    #: the decoding parameters it knows; None: all of them
    decoding: ClassVar[frozenset[str] | None] = None
    #: whether it asks a server, which `reach` tries
    has_endpoint: ClassVar[bool] = False
    #: pairs per chunk: what is graded, stored and, after a crash, repeated together
    chunk_pairs: ClassVar[int] = 320

    def __init__(self, grader: Grader):
        self.grader = grader
        self.scale = grader.prompt.scale
        self.notes: list[str] = []  # what people should know of how it answers

    @classmethod
    def longest_reply(cls, grader: Grader) -> int:
        """Tokens that a reply to one prompt of the grader may have."""
        return int(grader.decoding["max_tokens"])

    def set_decoding(self, decoding: Mapping[str, float | int]) -> None:
        """Answer in another way from here on, as a reply that cannot be read is asked for again."""
        self.grader = replace(self.grader, decoding=decoding)
        self.derive()

    def set_prompt(self, prompt: Prompt) -> None:
        """Answer another prompt from here on; both ask for texts."""
        self.grader = replace(self.grader, prompt=prompt)
        self.derive()

    def derive(self) -> None:
        """Work out what follows from the grader's prompt and decoding, now that they changed."""

    def reach(self) -> str | None:
        """What there is to say of its server; None: it answers. Asks no model.

        Raises `EngineUnusable` where it cannot be reached.
        """
        return None

    def stack(self) -> dict[str, str | list[str]]:
        """What runs it on this machine, by name: versions, the GPU, and what answered lately."""
        return {**versions("gradelake", *self.made_of), "python": platform.python_version()}

    def score(self, prompts: Sequence[Rendered]) -> list[Response]:
        """One response per prompt, in order.

        A prompt that cannot be answered gets a Response with an `error`; it is tried again, three
        times in all. Raise `EngineUnusable` when no prompt could be.
        """
        raise NotImplementedError

    def score_each(self, prompts: Sequence[Rendered], came: Came) -> list[Response]:
        """Score as `score` does; each response is given to `came` as soon as it is there."""
        started = time.monotonic()
        responses = self.score(prompts)
        if len(responses) == len(prompts):
            seconds = (time.monotonic() - started) / max(1, len(prompts))
            for prompt, response in zip(prompts, responses, strict=True):
                came(prompt, response, seconds)
        return responses

    @classmethod
    def completed(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """The settings, with what follows from others where nothing was stated."""
        return settings

    @classmethod
    def chunks_at_once(cls, grader: Grader) -> int:
        """Chunks that one worker grades side by side at most, each calling `score` in its own
        thread."""
        return 1

    def chunks_now(self) -> int:
        """Chunks that are worth having at work now, of those."""
        return type(self).chunks_at_once(self.grader)

    @classmethod
    def check(cls, settings: Mapping[str, Any], where: str) -> None:
        """Raise `BadInput` for settings that do not go together; `where` names their table."""

    @classmethod
    def revision(cls, model: str, settings: Mapping[str, Any]) -> str | None:
        """What tells two models of one name apart; None: the model's files, or its hub, do."""
        return None

    @classmethod
    def workers(cls, cluster: Cluster, settings: Mapping[str, Any]) -> Workers:
        """How many worker processes to start on a cluster."""
        return Workers(count=max(1, cluster.cpus))
