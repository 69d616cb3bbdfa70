"""`gradelake review` in a terminal, driven as a person would."""

import sys
import termios
import time
from pathlib import Path

from tests.sql.terminal import Terminal

ASKED = "[q]uit: "
_PATIENCE = 60  # seconds


class TypedReview(Terminal):
    """`gradelake review` in a pseudo-terminal of its own."""

    def __init__(self, folder: Path, *options: str):
        who = ("demo", "--grader", "lexical", "--assessor", "ann")
        program = (sys.executable, "-m", "gradelake", "review")
        super().__init__(folder, *who, *options, width=80, program=program)

    def press(self, keys: str, then: str = ASKED) -> str:
        """What is shown after keys, which are typed once they are awaited: before, none counts."""
        time.sleep(0.1)  # after a key that means nothing, the next is awaited a moment later
        until = time.monotonic() + _PATIENCE
        while termios.tcgetattr(self._fd)[3] & termios.ICANON:
            assert time.monotonic() < until, f"no key is awaited for {keys!r}"
            time.sleep(0.01)
        return self.write(keys, then)

    def write(self, text: str, then: str = ASKED) -> str:
        """What is shown after a text that is awaited as a line."""
        self.type(text)
        return self.wait_for(then)

    def quit(self) -> str:
        """What is shown after the last key, of a review that ends well."""
        shown = self.press("q", "")
        assert self.end() == 0
        return shown + self.shown[self._seen :]
