"""Every link of a page to another place in the repository leads there."""

import re
from pathlib import Path

from tests.documentation.pages import pages
from tests.places import REPOSITORY

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def anchors(text: str) -> set[str]:
    """What GitHub calls the headings of a page."""
    without_marks = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(text))
    return {heading.replace(" ", "-") for heading in without_marks}


def leads_somewhere(page: Path, link: str) -> bool:
    """Whether a link's file and heading are there."""
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return target.exists() and (not anchor or anchor in anchors(target.read_text(encoding="utf-8")))


def test_links_within_the_repository_lead_somewhere():
    for page in pages():
        file = REPOSITORY / page
        links = _LINK.findall(file.read_text(encoding="utf-8"))
        within = [link for link in links if not link.startswith(("https://", "http://"))]
        if page.startswith("ingest/demo/"):  # `gradelake init --demo` copies it
            assert [link for link in within if not link.startswith("#")] == []
        assert [link for link in within if not leads_somewhere(file, link)] == [], page
