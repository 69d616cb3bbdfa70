"""The documentation site is made of the project's own pages, each from where it stands.

mkdocs wants all pages below one folder; ours lie beside what they are about. So this hook adds
them to its list, with the files that they link to, and links work as they do in a clone.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

REPOSITORY = Path(__file__).parent.parent
ROOMS = ("ingest", "grading", "dbt_project", "analyses", "gradelake", "sql", "tests")
# `make docs` makes it
_REPORT = Path(os.environ.get("GRADELAKE_DEMO_REPORT", REPOSITORY / "build" / "demo-report.html"))
# words for columns, which `gradelake docs` shows with their tables
_LEFT_OUT = REPOSITORY / "dbt_project" / "models"
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")
_TO_FOLDER = re.compile(r"\[([^]]+)\]\((?!https?:)([^)#\s]+)\)")


def on_files(files: Files, config: Any) -> Files:
    """All pages, what they link to, and the demo's report. Raises `PluginError` without that."""
    for file in sorted({*_pages(), *_linked()}):
        place = file.relative_to(REPOSITORY).as_posix()
        files.append(File.generated(config, place, abs_src_path=str(file)))
    if not _REPORT.exists():
        raise PluginError(f"{_REPORT}: not there; `make docs` makes it, and then the site")
    files.append(File.generated(config, "demo-report.html", abs_src_path=str(_REPORT)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A link to a folder leads to the folder's page; where it has none, its words are left."""
    here = (REPOSITORY / page.file.src_uri).parent

    def to_page(link: re.Match[str]) -> str:
        words, target = link.groups()
        folder = here / target
        if not folder.is_dir():
            return link[0]
        return (
            f"[{words}]({target.rstrip('/')}/README.md)"
            if (folder / "README.md").exists()
            else words
        )

    return _TO_FOLDER.sub(to_page, markdown)


def _pages() -> Iterator[Path]:
    yield from REPOSITORY.glob("*.md")
    for room in ROOMS:
        for page in (REPOSITORY / room).rglob("*.md"):
            if _LEFT_OUT not in page.parents:
                yield page


def _linked() -> Iterator[Path]:
    """The files that pages link to: settings, pictures, code."""
    for page in _pages():
        for link in _LINK.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            if target.is_file() and target.suffix != ".md":
                yield target
