"""What servers that nobody vouches for say: their words without our secrets, how long to wait."""

import base64
import email.utils
import re
import time
from functools import cache
from typing import Any
from urllib.request import HTTPRedirectHandler

SHORTEST_KEY = 8  # characters; a shorter one may be a word of the scale
_LONGEST_ERROR = 500  # characters of a server's words that are kept


class NoRedirects(HTTPRedirectHandler):
    """A redirect is an answer: urllib would go on elsewhere, with what was meant for one server."""

    def redirect_request(self, *_: Any) -> None:
        return None


def retry_after(headers: Any) -> float | None:
    """Seconds that a server asks to wait: a number, or a date (RFC 9110, section 10.2.3)."""
    stated = headers.get("retry-after")
    if not stated:
        return None
    try:
        seconds = float(stated)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(stated).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return seconds if seconds > 0 else None


def short(text: str, key: str) -> str:
    """A server's words on one line, cut where they are long, without the key."""
    text = " ".join(masked(text, key).split())
    return text if len(text) <= _LONGEST_ERROR else f"{text[:_LONGEST_ERROR]}..."


def masked(text: str, key: str) -> str:
    """A server's words without the key, should they repeat it, in whichever form."""
    return _forms(key).sub("***", text) if key else text


@cache
def _forms(key: str) -> re.Pattern[str]:
    """A key as it is, with characters of it quoted as in addresses, JSON or HTML, in hex, or in
    base64 with whatever around it; each perhaps broken by white space."""
    if len(key) < SHORTEST_KEY:
        return re.compile(re.escape(key))
    plain = [
        rf"(?:{re.escape(c)}|%(?i:{n:02x})|\\u(?i:{n:04x})|&#0*{n};|&#(?i:x0*{n:x});)"
        for c, n in ((c, ord(c)) for c in key)
    ]
    forms = [plain, [f"(?i:{digit})" for digit in key.encode().hex()]]
    for n_before in range(3):
        coded = base64.b64encode(bytes(n_before) + key.encode()).decode().rstrip("=")
        # the first characters hold what stands before, too, and the last one what follows
        whole = coded[(0, 2, 3)[n_before] : (n_before + len(key)) * 8 // 6]
        forms.append([{"+": "[+-]", "/": "[/_]"}.get(c, c) for c in whole])
    return re.compile("|".join(r"(?:\s|\\+[nrt])*".join(form) for form in forms))
