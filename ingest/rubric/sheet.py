"""The sheet that people edit: an item a line, under a heading per query and bank."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gradelake.ingest.rubric.items import Section, number
from gradelake.ingest.rubric.line import (
    Fields,
    read_text,
    take_token,
    write_fields,
    write_text,
    write_token,
)
from gradelake.sql.common.problems import Problems

HINT = "Fix these lines of the sheet. Nothing was written."
_HELP = """\
# The rubric of {collection}, version {version}. Change the lines below, save, and leave the editor.
#
# A line is an item: its id, its weight, question or nugget, its text [answers: one|another].
#   change the text     a new item takes its place, which has no grades yet
#   change the answers  the same item; extracted answers are compared with these
#   change the weight   the same item counts more or less
#   remove the line     the item is dropped
#   add a line          + question What is asked?       (weight 1)
#                       + 2 nugget What a good passage says. [answers: yes]
#                       + 5 criterion:mandatory:explicit What an answer must do.
#                       + @facet ID question What is asked of it?   (of a facet)
#   take a # away       the dropped item on that line is restored
#
# Ids stay as they are, the order means nothing, lines that begin with # are not read. A text with
# line breaks is written as a JSON string: "first line\\nsecond line". When nothing is changed, or
# everything is removed, nothing happens.
"""


@dataclass
class SheetPart:
    """What follows a heading: (line number, line) each."""

    line: int
    query_id: str
    bank: str
    fingerprint: str
    lines: list[tuple[int, str]] = field(default_factory=list)


@dataclass
class Sheet:
    """A sheet as read: which rubric it shows, and its parts. `collection` is '' when emptied."""

    collection: str = ""
    version: int = 0
    reason: str = ""
    parts: list[SheetPart] = field(default_factory=list)


def write(
    collection: str,
    version: int,
    sections: Sequence[Section],
    query_texts: dict[str, str],
    reason: str = "",
) -> str:
    """The sheet of these sections, which `read` and `changes.compare` find unchanged."""
    lines = [
        *_HELP.format(collection=_one_line(collection), version=version).splitlines(),
        "",
        f"@rubric {write_token(collection)} @version {version}",
        f"@reason {write_text(reason)}".rstrip(),
    ]
    for section in sections:
        heading = f"@query {write_token(section.query_id)} @bank {write_token(section.bank)}"
        lines += ["", f"# {_one_line(query_texts.get(section.query_id, ''))}".rstrip()]
        for facet_id, text in section.facets.items():
            about = f": {_one_line(text)}" if text else ""
            lines += [f"# facet {write_token(facet_id)}{about}"]
        lines += [f"{heading} @base {section.fingerprint()}"]
        lines += _items(section)
    return "\n".join(lines) + "\n"


def _items(section: Section) -> Iterable[str]:
    items = (*section.in_force, *section.dropped)
    ids = {item_id: write_token(short) for item_id, short in section.short_ids().items()}
    width = max((len(ids[item.item_id]) for item in items), default=0)
    widths = (
        max((len(number(item.weight)) for item in items), default=0),
        max((len(item.kind) for item in items), default=0),
    )
    for item in items:
        if section.dropped and item is section.dropped[0]:
            yield "# no longer in force:"
        mark = "" if item in section.in_force else "# "
        fields = Fields(item.weight, item.kind, item.text, item.gold_answers)
        yield f"{mark}{ids[item.item_id].ljust(width)}  {write_fields(fields, widths)}".rstrip()


def read(text: str, shown: str) -> Sheet:
    """Take a sheet apart. Raises `Rejected` naming the lines that stand where they should not."""
    sheet, problems = Sheet(), Problems(shown, HINT)
    # only a line feed ends a line: a text may hold what else Unicode calls a line's end
    for number_, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        try:
            _read_line(sheet, number_, line)
        except ValueError as error:
            problems.add(number_, str(error))
    if sheet.parts and not sheet.collection and not problems.found:
        problems.add(None, "the line that begins with @rubric is missing: put it back")
    problems.raise_if_any()
    return sheet


def _read_line(sheet: Sheet, number_: int, line: str) -> None:
    if line.startswith("@rubric"):
        collection, version = _directive(line, "@rubric", "@version")
        if sheet.collection:
            raise ValueError("a second line that begins with @rubric")
        if not (version.isdecimal() and len(version) < 10):
            raise ValueError(f"@version {version!r} is not a whole number")
        sheet.collection, sheet.version = collection, int(version)
    elif line.startswith("@reason"):
        sheet.reason = read_text(line.removeprefix("@reason"))
    elif line.startswith("@"):
        query_id, bank, fingerprint = _directive(line, "@query", "@bank", "@base")
        if any((part.query_id, part.bank) == (query_id, bank) for part in sheet.parts):
            raise ValueError(f"query {query_id} of bank {bank} already has a heading")
        sheet.parts.append(SheetPart(number_, query_id, bank, fingerprint))
    elif sheet.parts:
        sheet.parts[-1].lines.append((number_, line))
    else:
        raise ValueError("an item before the first line that begins with @query")


def _directive(line: str, *names: str) -> list[str]:
    """The values after these words. Raises `ValueError` when the line is not made of them."""
    values, rest = [], line
    try:
        for name in names:
            word, rest = take_token(rest)
            if word != name:
                raise ValueError
            value, rest = take_token(rest)
            values.append(value)
        if rest:
            raise ValueError
    except ValueError:
        wanted = " ".join(f"{name} ..." for name in names)
        raise ValueError(f"this should read {wanted}: leave such lines as they were") from None
    return values


def _one_line(text: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
