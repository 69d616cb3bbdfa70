"""Telling somebody that a night did not go well: a command, a webhook, or both."""

import json
import os
import signal
import subprocess
import urllib.parse
import urllib.request
from typing import Any

from gradelake.nightly import WEBHOOK
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.servers import reply_within

_COMMAND_SECONDS, _WEBHOOK_SECONDS = 60.0, 10.0


class Alerts:
    """Where the summary of a night goes whose exit code is not 0.

    A webhook's address lets whoever has it write there: it is a secret, which is never printed,
    recorded or handed to a step.
    """

    def __init__(self, command: str | None, webhook: str | None):
        """Raises `BadInput` for an address that nothing can be sent to."""
        os.environ.pop(WEBHOOK, None)  # neither a step nor the command gets it
        self._command = command
        self._webhook = webhook
        if webhook is not None and not _is_address(webhook):
            raise BadInput(
                "the webhook's address must begin with https:// or http://, and name a host",
                f"Fix --webhook, or ${WEBHOOK}.",
            )

    def send(self, summary: dict[str, Any]) -> list[dict[str, Any]]:
        """Tell everybody. Returns {"alert", "ok", "reason"} for each; raises nothing."""
        body = json.dumps(summary).encode()
        sent = []
        for alert, to, send in (
            ("command", self._command, _run),
            ("webhook", self._webhook, _post),
        ):
            if to:
                reason = send(to, body)
                sent.append({"alert": alert, "ok": reason is None, "reason": reason})
        return sent


def _is_address(webhook: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(webhook)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _run(command: str, body: bytes) -> str | None:
    """Run a shell command with the summary on standard input. Returns what went wrong."""
    process = subprocess.Popen(
        command,
        shell=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _, words = process.communicate(body, timeout=_COMMAND_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return f"it took longer than {round(_COMMAND_SECONDS)} s and was killed"
    if process.returncode == 0:
        return None
    last = words.decode(errors="replace").strip().splitlines()[-1:]
    return ": ".join([f"exit code {process.returncode}", *last])[:300]


def _post(webhook: str, body: bytes) -> str | None:
    """Post the summary. Returns what went wrong, in words that cannot hold the address."""
    request = urllib.request.Request(
        webhook, data=body, headers={"Content-Type": "application/json"}, method="POST"
    )
    try:
        # sent on by GET after a redirect, the summary would be lost on the way
        with reply_within(_WEBHOOK_SECONDS, request) as reply:
            return None if 200 <= reply.status < 300 else f"the server answered {reply.status}"
    except TimeoutError as error:
        return str(error)
    except Exception as error:
        cause = getattr(error, "reason", error)
        strerror = cause.strerror if isinstance(cause, OSError) else None
        return strerror or type(cause).__name__
