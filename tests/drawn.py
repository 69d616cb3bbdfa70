"""What there is to read in a picture's SVG."""

import re
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str | bytes) -> list[str]:
    """What is written in the picture, in order: each line of a text is one."""
    return [
        line.text
        for text in ElementTree.fromstring(svg).iter(f"{SVG}text")
        for line in (text, *text)
        if line.text
    ]


def marks(svg: str | bytes, kind: str) -> list[dict[str, str]]:
    """What each mark of a kind, such as `point`, says of its row, in order."""
    return [
        dict(part.split(": ", 1) for part in re.split(r"; (?=[\w' ]+: )", each.get("aria-label")))
        for each in ElementTree.fromstring(svg).iter()
        if each.get("aria-roledescription") == kind
        or each.get("aria-roledescription") == f"{kind} mark"
        if each.get("role") == "graphics-symbol"
    ]
