"""A card on the terminal, 80 columns wide. Texts are other people's: nothing of them steers it."""

from typing import Any

import click
from rich.console import Console
from rich.text import Text

from gradelake.grading.review.cards import Card, Reviewable, turned
from gradelake.sql.common.console import printable

WIDTH = 80
_LABEL = 10  # columns
# what turns the direction of writing: a text could show other words than it has
_TURNING = {n: f"\\u{n:04x}" for n in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


class Screen:
    """Writes cards to standard output, or to standard error when a program reads the output."""

    def __init__(self, grader: Reviewable, assessor: str, to_stderr: bool):
        self.grader = grader
        self.assessor = assessor
        self.to_stderr = to_stderr

    def seen(self, card: Card, grade: int | None) -> int | None:
        """A grade of the card as the assessor sees it; or, of what they gave, as it is kept."""
        return turned(grade) if self.grader.turns(card, self.assessor) else grade

    def write(self, text: str) -> None:
        """A text, at once, and nothing in it that steers the terminal."""
        click.echo(harmless(text), nl=False, err=self.to_stderr)

    def show(
        self, card: Card, passage: str, which: str, note: str | None, blind: bool = False
    ) -> None:
        """Write a card, with the assessor's note and review of it; blind, without the grade."""
        lines = ["-" * WIDTH, *_lines(which, WIDTH), ""]
        lines += _field("Query", card.query)
        judgment = self.grader.judgment
        if judgment.shows_topic:
            for name, text in (("Meaning", card.description), ("Narrative", card.narrative)):
                lines += _field(name, text) if text else []
        texts = [(judgment.words.get("item", ""), card.item), (judgment.words["text"], passage)]
        if judgment.verdicts:
            pair = [card.item, passage]
            if not self.grader.turns(card, self.assessor):
                pair.reverse()
            texts = [*zip(("First", "Second"), pair, strict=True)]
        for name, text in texts:
            lines += [] if text is None else _field(name, text)
        if self.grader.hint:
            named = (f"{label} {name}" for label, name in enumerate(self.grader.label_names))
            lines += _field("Scale", ", ".join([*named, self.grader.hint]))
        lines += [] if blind or card.grade is None else self._grade(card)
        if card.before:
            own = self.seen(card, card.before.own_grade)
            words = "" if own is None else f", it should be {own}"
            lines += _field("You said", card.before.verdict + words)
        if note:
            lines += _field("Note", note)
        self.write("\n".join([*lines, "", ""]))

    def reveal(self, card: Card) -> None:
        """What the grader made of a card that was graded blind."""
        self.write("\n".join([*self._grade(card), ""]))

    def others(self, card: Card, opinions: list[dict[str, Any]]) -> None:
        """What other people say of the card."""
        said = [(one["assessor"], self.seen(card, one["grade"])) for one in opinions]
        words = [f"{who}: {'disagrees' if grade is None else grade}" for who, grade in said]
        self.write("\n".join([*_field("Others", ", ".join(words)), ""]))

    def _grade(self, card: Card) -> list[str]:
        low, high = self.grader.scale_min, self.grader.scale_max
        if card.item is None:
            return _field("Label", f"{card.grade}  (by {self.grader.name})")
        answer = _field("Answer", card.answer) if card.answer else []
        return answer + _field(
            "Grade", f"{self.seen(card, card.grade)}  (of {low} to {high}, by {self.grader.name})"
        )


def harmless(text: str) -> str:
    """A text whose control characters, and those that turn its direction, are shown as escapes."""
    return printable(text.translate(_TURNING))


def _field(label: str, text: str) -> list[str]:
    """A label and beside it the text in lines that fit."""
    lines = _lines(text.strip(), WIDTH - _LABEL) or [""]
    labels = [label] + [""] * (len(lines) - 1)
    return [f"{left:<{_LABEL}}{line}".rstrip() for left, line in zip(labels, lines, strict=True)]


def _lines(text: str, width: int) -> list[str]:
    """The text in lines of so many columns; wide characters count as two."""
    room = Console(width=width, color_system=None)
    return [
        line.plain.rstrip()
        for paragraph in text.splitlines()
        for line in Text(harmless(paragraph), tab_size=4).wrap(room, width, overflow="fold")
    ]
