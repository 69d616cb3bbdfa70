"""A pseudo-terminal with a command in it, driven as a person would."""

import codecs
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from fcntl import ioctl
from pathlib import Path

UP, CTRL_C, CTRL_D, TAB, ENTER = "\x1b[A", "\x03", "\x04", "\t", "\r"
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-Z\\^_=>])")
PROMPT = "lake>"
_PROMPT_LEFT = "\x1b[?2004l"  # what prompt_toolkit sends when a line was taken
_PATIENCE = 90  # seconds until something must have been shown


class Terminal:
    """`gradelake sql ARGUMENTS` in a terminal of its own, 40 lines high. Use as a context manager.

    What is longer goes through `cat`, unless an environment says otherwise."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        width: int = 100,
        program: tuple[str, ...] = (sys.executable, "-m", "gradelake", "sql"),
        **environment: str,
    ):
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.raw = ""  # everything the terminal was sent
        self._seen = 0
        without = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PAGER", "LESS"}
        kept = {name: value for name, value in os.environ.items() if name not in without}
        usual = {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", "PAGER": "cat"}
        environment = kept | usual | environment
        self._dumb = environment["TERM"] == "dumb"
        self.pid, self._fd = pty.fork()
        if not self.pid:
            os.chdir(folder)
            os.execvpe(program[0], [*program, *arguments], environment)
        ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))

    def __enter__(self) -> "Terminal":
        self.wait_for(PROMPT)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def wait_for(self, text: str) -> str:
        """Read until the terminal shows a text; returns what it showed up to it since the last."""
        until = time.monotonic() + _PATIENCE
        while (found := self.shown.find(text, self._seen)) < 0:
            going_on = self._read(0.2) is not None and time.monotonic() < until
            assert going_on, f"{text!r} did not come:\n{self.shown[self._seen :]}"
        shown = self.shown[self._seen : found + len(text)]
        self._seen = found + len(text)
        return shown

    def ask(self, text: str, answer: str) -> str:
        """Type a line, wait for its answer and the next prompt; returns what followed the line."""
        self.enter(text)
        return self.wait_for(answer) + self.wait_for(PROMPT)

    def do(self, text: str) -> None:
        """Type a line that has no answer, and wait for the next prompt."""
        self.enter(text)
        self.wait_for(PROMPT)

    def complete(self, text: str) -> None:
        """Type a text and Tab, and wait until the terminal has come to rest."""
        for keys, rest in ((text, 0.25), (TAB, 1.5)):  # a busy machine draws a key, and thinks
            before = len(self.raw)
            self.type(keys)
            until = time.monotonic() + _PATIENCE
            while self._read(rest) or len(self.raw) == before:
                assert time.monotonic() < until, f"nothing came of {keys!r}"

    def enter(self, text: str) -> str:
        """Type a line and wait until the shell works on it; what is shown next is its answer.

        Returns the whole line as it was taken: the prompt is drawn anew with it.
        """
        before = len(self.raw)
        self.type(text + ENTER)
        if self._dumb:
            return text
        until = time.monotonic() + _PATIENCE
        while (found := self.raw.find(_PROMPT_LEFT, before)) < 0:
            going_on = self._read(0.05) is not None and time.monotonic() < until
            assert going_on, f"{text!r} was not taken:\n{self.shown[self._seen :]}"
        self._seen = len(_ESCAPES.sub("", self.raw[:found]))
        return self.shown[: self._seen].rpartition(PROMPT)[2].strip()

    def wait_until_ctrl_c_is_a_signal(self) -> None:
        """While a query runs it is; at the prompt it is a key."""
        until = time.monotonic() + _PATIENCE
        while not termios.tcgetattr(self._fd)[3] & termios.ISIG:
            assert time.monotonic() < until
            time.sleep(0.02)

    def leave(self) -> int:
        """Type Ctrl-D; returns the exit code."""
        self.type(CTRL_D)
        return self.end()

    def end(self) -> int:
        """Wait until the command has ended; returns its exit code."""
        until = time.monotonic() + _PATIENCE
        while self._read(0.2) is not None:
            assert time.monotonic() < until, f"it did not end:\n{self.shown[self._seen :]}"
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    @property
    def shown(self) -> str:
        """All that was shown, without escapes."""
        return _ESCAPES.sub("", self.raw)

    def _read(self, seconds: float) -> str | None:
        """What came within a time, '' for nothing, None at the end."""
        if not select.select([self._fd], [], [], seconds)[0]:
            return ""
        try:
            new = os.read(self._fd, 65536)
        except OSError:  # Linux's word for the end of a terminal
            new = b""
        if not new:
            return None
        text = self._decoder.decode(new)  # a character may come in two parts
        self.raw += text
        return text
