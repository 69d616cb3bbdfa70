"""What came in place of a reply: a server's error, or a refusal to say anything."""

import json
import re
from typing import Any

from gradelake.grading.prompts.reply import GRADE_KEYS

_LONGEST = 600  # characters of a refusal; who writes more says something, too
_PAGE = r"<!doctype\b|<\?xml\b|<(?:html|head|body|title|error)\b"
_STATUS = (
    r"(?:http/[\d.]+\s+|error(?:\s+code)?:?\s+|status(?:\s+code)?:?\s+)?[45]\d\d:?\s+"
    r"(?:bad |unauthori[sz]ed|payment required|forbidden|not found|method not|request |too many"
    r"|internal server|not implemented|service |gateway |(?:client|server) error)"
)
_WORDS = (
    r"error:|error code: \d+|(?-i:(?:\w+\.)*(?:[A-Z]\w*)?(?:Error|Exception))\s*[:(]"
    r"|traceback \(most recent call last\)|data:\s*\{\s*\"error\"|upstream (?:connect|request)\b"
    r"|no healthy upstream|internal server error\b|bad gateway\b|gateway time-?out\b"
    r"|service (?:temporarily )?unavailable\b|too many requests\b|rate limit (?:exceeded|reached)"
    r"|request timed? ?out\b|connection (?:refused|reset|timed out)\b|context deadline exceeded"
    r"|(?:the )?(?:server|model|engine) is (?:currently |temporarily )?"
    r"(?:overloaded|busy|unavailable|at capacity)"
)
_ERROR = re.compile(rf"\A(?:{_PAGE}|{_STATUS}|{_WORDS})", re.IGNORECASE)
_ERROR_KEYS = frozenset({"error", "errors", "exception", "fault", "detail", "errormessage"})
_CANNOT = r"(?:can(?:no|['\u2019])?t|can not|won['\u2019]t|will not|(?:am )?(?:unable|not able) to)"
_WORK = (
    r"(?:be able to|help|assist|comply|fulfil|proceed|engage|participate|continue|respond|discuss"
    r"|process|complete|rate|grade|judge|score|evaluate|assess)\w*"
    r"|(?:provide|give|offer|assign)\s+(?:\w+\s+){0,3}"
    r"(?:rating|grade|score|assessment|assistance|evaluation|judge?ment|response|help)"
)
_REFUSED = re.compile(
    rf"\bI(?:['\u2019]m| am)?\s+(?:sorry\b.{{0,40}}?\bI(?:['\u2019]m| am)?\s+)?(?:really |just )?"
    rf"{_CANNOT}\s+(?:{_WORK})\b"
    r"|\A(?:(?:I['\u2019]m )?sorry|(?:my )?apologies|unfortunately)?\W*(?:but )?(?:this|the|your) "
    r"(?:request|prompt|content|message|response|output) (?:was|is|has been|violates|contains|may) "
    r"(?:\w+ ){0,3}(?:block|filter|flag|reject|refus|censor|prohibit|violat|against|our)\w*",
    re.IGNORECASE | re.DOTALL,
)


def server_error(text: str) -> str | None:
    """Why a final output is an error of a server, whatever else stands in it; None: it is none."""
    if _ERROR.match(text) or _tells_of_an_error(text):
        return f"a server's error came in place of a reply: {text!r:.80}"
    return None


def refusal(text: str) -> str | None:
    """Why a final output is no answer to what was asked; None: it may be one."""
    if len(text) <= _LONGEST and _REFUSED.search(text):
        return f"the model refused: {text!r:.80}"
    return None


def _tells_of_an_error(text: str) -> bool:
    """Whether all of it is an object that tells of an error, and of no grade."""
    if not text.startswith(("{", "[{")):
        return False
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    found = value[0] if isinstance(value, list) else value
    told = {re.sub(r"\W|_", "", str(key).lower()): found[key] for key in found}
    if any(key.replace("_", "") in told for key in GRADE_KEYS):
        return False
    is_typed = "error" in (told.get("object"), told.get("type"), told.get("status"))
    is_coded = "message" in told and bool(told.keys() & {"code", "status", "statuscode"})
    return is_typed or is_coded or any(told.get(key) for key in _ERROR_KEYS)
