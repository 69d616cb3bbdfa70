"""`gradelake review` in a terminal, driven as a person would."""

import os
import pty
import select
import subprocess
import sys
import termios
import time
from pathlib import Path

ASKED = "[q]uit: "
_PATIENCE = 60  # seconds


class TypedReview:
    """`gradelake review` in a pseudo-terminal of its own."""

    def __init__(self, folder: Path, *options: str):
        self.mine, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "gradelake",
                "review",
                "demo",
                "--grader",
                "lexical",
                "--assessor",
                "ann",
                *options,
            ],
            cwd=folder,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.shown = ""

    def read_until(self, text: str) -> str:
        """What is shown up to this text."""
        until, seen = time.monotonic() + _PATIENCE, b""
        while not seen.endswith(text.encode()):
            assert time.monotonic() < until, f"{text!r} did not come:\n{seen.decode()}"
            if select.select([self.mine], [], [], 1)[0]:
                try:
                    seen += os.read(self.mine, 65536)
                except OSError:  # Linux's word for the end of a terminal
                    break
        return seen.decode()

    def press(self, keys: str, then: str = ASKED) -> str:
        """What is shown after keys, which are typed once they are awaited: before, none counts."""
        time.sleep(0.1)  # after a key that means nothing, the next is awaited a moment later
        until = time.monotonic() + _PATIENCE
        while termios.tcgetattr(self.mine)[3] & termios.ICANON:
            assert time.monotonic() < until, f"no key is awaited for {keys!r}"
            time.sleep(0.01)
        return self.write(keys, then)

    def write(self, text: str, then: str = ASKED) -> str:
        """What is shown after a text that is awaited as a line."""
        os.write(self.mine, text.encode())
        return self.read_until(then)
