"""The prompt of `gradelake sql` on a terminal: history, colours, completion."""

import os
from collections.abc import Iterable

from prompt_toolkit import PromptSession
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import PostgresLexer

from gradelake.sql.ask.shell.completion import ShellCompleter
from gradelake.sql.ask.shell.input_lines import as_command, needs_more, units
from gradelake.sql.ask.shell.session import CONTINUED, PROMPT, Shell, tell
from gradelake.sql.common import console
from gradelake.sql.common.cache import cache_folder
from gradelake.sql.common.errors import GradelakeError


class KeptHistory(FileHistory):
    """What was asked, in a file that only the user can read. Where no file can be kept, the session
    still has a history of its own."""

    def load_history_strings(self) -> Iterable[str]:
        try:
            return super().load_history_strings()
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        try:
            os.makedirs(os.path.dirname(self.filename), exist_ok=True)
            os.close(os.open(self.filename, os.O_WRONLY | os.O_CREAT, 0o600))
            super().store_string(string)
        except OSError:
            pass


def converse(shell: Shell) -> None:
    """Ask at a prompt until Ctrl-D or `.quit`. No error ends the session."""
    source = "working catalog" if shell.lake.release is None else f"release {shell.lake.release}"
    what = "files open" if shell.lake.allows_files else "read-only"
    console.say(f"{source}, {what}. End statements with ; and see .help; Ctrl-D leaves.")
    session: PromptSession = PromptSession(
        history=KeptHistory(cache_folder() / "sql_history"),
        lexer=None if os.environ.get("NO_COLOR") else PygmentsLexer(PostgresLexer),
        completer=ShellCompleter(shell.lake),
        complete_while_typing=False,
        multiline=Condition(lambda: needs_more(session.default_buffer.text)),
        prompt_continuation=CONTINUED,
        tempfile_suffix=".sql",
        enable_open_in_editor=True,
    )
    unfinished: str | None = ""
    while unfinished is not None:
        try:
            unfinished = _turn(session, shell, unfinished)
        except KeyboardInterrupt:  # what was typed is dropped
            unfinished = ""


def _turn(session: PromptSession, shell: Shell, unfinished: str) -> str | None:
    """Ask once and do what was typed, perhaps after what is `unfinished`; returns what is then, and
    None when it was to leave."""
    try:
        text = session.prompt(PROMPT, default=unfinished)
    except EOFError:
        return None
    try:
        typed, begun = units(as_command(text))
        return begun if all(shell.do(unit) for unit in typed) else None
    except KeyboardInterrupt:
        console.warn("interrupted")
    except Exception as error:  # whatever it is, what was asked before is not lost to it
        tell(error)
        if not isinstance(error, GradelakeError):
            console.warn("  This is a fault of gradelake; the session goes on.")
    return ""
