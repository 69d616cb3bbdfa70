"""The graded demo in a folder of a test's own, and people who type their reviews of it."""

import json
import re
from datetime import datetime, timedelta
from pathlib import Path

from click.testing import CliRunner, Result

from gradelake.app import app


def review(folder: Path, who: str, lines: tuple, *options: str, fails: bool = False) -> Result:
    """What `gradelake review` makes of lines that somebody types."""
    return CliRunner().invoke(
        app,
        ["--config", f"{folder}/gradelake.toml", "review", "demo", "--assessor", who, *options],
        input="".join(f"{line}\n" for line in lines),
        catch_exceptions=fails,
    )


# --- forms ----------------------------------------------------------------------------------------

_DATA = re.compile(r'<script type="application/json" id="(\w+)">([^<]*)</script>')
HEAD = ("format", "form", "deck", "collection", "grader", "grader_id", "assessor")
KEY = ("query_id", "passage_id", "item_id", "passage_sha256", "query_sha256")


def read_form(page: Path) -> dict:
    """The data of a form: about, cards, passages."""
    return {id_: json.loads(text) for id_, text in _DATA.findall(page.read_text(encoding="utf-8"))}


def saved(form: dict, *grades: int, minute: int = 0, **more: object) -> dict:
    """What the form's button saves when the first cards were given these grades."""
    began = datetime(2026, 1, 31, 9, minute)
    answers = [
        {
            **{key: card[key] for key in KEY},
            **{"grade": grade, "note": None, "seconds": 2.5},
            "answered_at": f"{(began + timedelta(seconds=n)).isoformat()}.000Z",
            **more,
        }
        for n, (card, grade) in enumerate(zip(form["cards"], grades, strict=False))
    ]
    return {**{key: form["about"][key] for key in HEAD}, "answers": answers}
