"""The Content-Security-Policy of pages that Gradelake writes: which scripts and styles may run."""

from base64 import b64encode
from hashlib import sha256


def source(text: str) -> str:
    """What a policy calls a script or style of the page by its text; others are refused."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
