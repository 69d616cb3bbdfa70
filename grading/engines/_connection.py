"""What an engine asks an endpoint by, patiently; the two ways are in openai.py and litellm.py."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

from gradelake.grading.engines import EngineUnusable
from gradelake.grading.engines._chat import full_text, is_of_account, reason_of
from gradelake.grading.graders.grader import Grader
from gradelake.sql.common.servers import retry_after, short

ACCOUNT = "The account's balance or quota is used up, or it was closed: its provider's page says."
CONTINUES = "What was graded is kept; the same command continues."
_LONGEST = 60.0  # seconds between two requests, where the server says nothing


class Busy(Exception):
    """The server is to be asked again: in so many `seconds`, where it says so."""

    def __init__(self, reason: str, seconds: float | None = None):
        super().__init__(reason)
        self.seconds = seconds


async def patiently(
    ask: Callable[[], Awaitable[Any]],
    patience: float,
    pause: float,
    answered_at: Callable[[], float] = lambda: 0.0,
) -> Any:
    """What `ask` brings, called again as long as it raises `Busy`; the last one goes through.

    It gives up before a wait that would end more than `patience` seconds after the first `Busy`,
    or after `answered_at()`, when the server last answered anybody.
    """
    longer, first_busy = 2 * (pause or 1.0), 0.0
    while True:
        try:
            return await ask()
        except Busy as error:
            now = time.monotonic()
            first_busy = first_busy or now
            seconds = min(longer, _LONGEST) if error.seconds is None else error.seconds
            if now + seconds > max(first_busy, answered_at()) + patience:
                raise
        longer *= 2
        await asyncio.sleep(seconds)


class Connection:
    """Asks one endpoint with one key, which appears nowhere else; says what went wrong.

    Errors are those of the library `openai`, whichever way a request takes.
    """

    def __init__(self, grader: Grader):
        import openai

        self.openai = openai
        self.settings = grader.settings
        self.where = grader.settings["base_url"] or grader.model
        self.names = {grader.model}  # under which the model answers
        self.key_name = self.name_of_key()
        self.key = os.environ.get(self.key_name, "").strip()
        if not (self.key.isascii() and self.key.isprintable()):
            raise EngineUnusable(
                f"the key in {self.key_name} has characters that cannot be sent",
                "Copy it again: letters, digits and punctuation only, on one line.",
            )

    def name_of_key(self) -> str:
        """The variable that the key is in."""
        return self.settings["api_key_env"]

    async def chat(self, messages: list[dict[str, str]], options: dict[str, Any]) -> Any:
        """A completion, asked for once."""
        raise NotImplementedError

    async def reach(self) -> str | None:
        """What there is to say of the endpoint; None: it answers."""
        raise NotImplementedError

    def stated_wait(self, error: Any) -> float | None:
        """Seconds that a 429 asks to wait."""
        return retry_after(error.response.headers)

    def lacks_credentials(self, error: Exception) -> bool:
        """Whether nothing was sent, as nobody knows who asks."""
        return False

    async def sent(self, request: Awaitable[Any], seconds: float, prompt: str = "") -> Any:
        """What a request brings. Raises `EngineUnusable` where the account is refused: no prompt
        is to blame, and none will be answered."""
        try:
            async with asyncio.timeout(seconds):
                return await request
        except self.openai.OpenAIError as error:
            if is_of_account(getattr(error, "status_code", None), full_text(error), prompt):
                raise self.unusable(error, f"{ACCOUNT} {CONTINUES}") from None
            raise

    # --- telling ----------------------------------------------------------------------------------

    @property
    def key_hint(self) -> str:
        name = self.key_name
        return f"Is the key in {name} right?" if self.key else f"{name} holds no key."

    def reason(self, error: Exception) -> str:
        """What went wrong, on one line."""
        return reason_of(error, self.key)

    def unusable(self, why: str | Exception, hint: str | None = None) -> EngineUnusable:
        """What says so of this endpoint."""
        return EngineUnusable(
            f"{self.where}: {why if isinstance(why, str) else self.reason(why)}", hint
        )

    def busy(self, error: Any) -> Busy:
        """A 429, as what is waited for."""
        return Busy(self.reason(error), self.stated_wait(error))

    def refuse_redirect(self, error: Any) -> None:
        """Raise `EngineUnusable` where the server sends us elsewhere."""
        if error.response.has_redirect_location:
            target = short(error.response.headers["location"], self.key)
            raise self.unusable(
                f"redirects to {target!r}",
                "Prompts go to the address in gradelake.toml only. If that is right, name it in "
                "base_url.",
            ) from None
