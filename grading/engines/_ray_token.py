"""The token of a Ray cluster. Ray heeds what is said of it only before it is imported."""

import os
from pathlib import Path


def has_token() -> bool:
    return any(os.environ.get(name) for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"))


def send_token() -> None:
    """Have Ray send the token, where one is known: `ray start` asks for it then."""
    if has_token() or Path("~/.ray/auth_token").expanduser().is_file():
        os.environ.setdefault("RAY_AUTH_MODE", "token")
