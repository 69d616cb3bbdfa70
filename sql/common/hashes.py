"""What tells contents apart: hashes of texts, and ids made of all that is known of a thing."""

import hashlib
import json
from typing import Any


def text_sha256(text: str) -> str:
    """What the lake has of a text, to find the same text again."""
    return hashlib.sha256(text.encode()).hexdigest()


def id_of(content: Any) -> str:
    """16 hex digits: any other content, which JSON can hold, makes another id."""
    return text_sha256(json.dumps(content, sort_keys=True))[:16]
