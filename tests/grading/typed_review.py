"""`gradelake review` in a terminal, driven as a person would."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

ASKED = "[q]uit: "


class TypedReview:
    """`gradelake review` in a pseudo-terminal of its own."""

    def __init__(self, folder: Path, *options: str):
        self.mine, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gradelake", "review", "demo", "--grader", "lexical",
             "--assessor", "ann", *options],
            cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.shown = ""

    def read_until(self, text: str) -> str:
        """What is shown up to this text."""
        until, seen = time.monotonic() + 60, ""
        while not seen.endswith(text):
            assert time.monotonic() < until, f"{text!r} did not come:\n{seen}"
            if select.select([self.mine], [], [], 1)[0]:
                try:
                    seen += os.read(self.mine, 65536).decode()
                except OSError:  # Linux's word for the end of a terminal
                    break
        return seen

    def press(self, keys: str, then: str = ASKED) -> str:
        time.sleep(0.1)  # what is typed before the key is awaited does not count
        os.write(self.mine, keys.encode())
        return self.read_until(then)
