"""Topics between tags, as TREC writes them: XML, and the older form that closes only some tags.

Nothing of XML that refers to anything else is followed.
"""

import html
import re
from collections.abc import Iterator

_TOPIC = re.compile(
    r"<(?P<tag>topic|top|query)(?P<attributes>\s[^<>]*)?>(?P<content>.*?)</(?P=tag)\s*>",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*["']([^"'<>]*)["']""")
_PART = re.compile(r"<([A-Za-z][\w:.-]*)[^<>]*>([^<]*)")
_NAMES = {"number": "query_id", "num": "query_id", "desc": "description", "narr": "narrative"}
_LABEL = re.compile(r"\s*(?:number|topic|description|narrative)\s*:", re.IGNORECASE)


def is_tagged(start: bytes) -> bool:
    """Whether a file that begins so holds tags."""
    return start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")


def topics_of(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """(first line, {attribute or tag: its text}) of every topic, by our names of what TREC has."""
    line, at = 1, 0
    for topic in _TOPIC.finditer(text):
        line += text.count("\n", at, topic.start())
        at = topic.start()
        row: dict[str, str] = {}
        attributes = _ATTRIBUTE.findall(topic["attributes"] or "")
        for name, content in (*attributes, *_PART.findall(topic["content"])):
            said = _LABEL.sub("", content, count=1)  # `<num> Number: 301`
            name = name.lower()
            row.setdefault(_NAMES.get(name, name), " ".join(html.unescape(said).split()))
        yield line, row
