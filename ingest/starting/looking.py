"""What each file of a folder is: by presets, or by the usual names of a table's columns.

What a form tells is sure. Names of columns, and lines with an id and a text, tell less: such a file
counts where others that are sure name its ids, or where its own name says it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from gradelake.ingest.mapping.columns import columns_of
from gradelake.ingest.mapping.form import LISTED, ROLES, File, names_of, settings_of
from gradelake.ingest.mapping.labels import is_open, proposed
from gradelake.ingest.mapping.paths import plain, value_at
from gradelake.ingest.mapping.presets import (
    FOLDER,
    FileSample,
    Preset,
    are_grades,
    best_of,
    brought,
    names_in,
    preset,
    presets_of,
)
from gradelake.ingest.reading.csv_tables import finite_number
from gradelake.ingest.reading.heads import head_of
from gradelake.ingest.reading.rows import MARKS, entries_of, is_json, tables_of
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import CONFIG_NAME
from gradelake.sql.common.quoting import on_one_line

_MOST = 500  # files that are looked at
_FEW = 6  # words that a message names
_DEPTH = 3  # folders below the one
_PAIR = re.compile(r"[^\t]+\t[^\t]+")
_TOPIC_WORDS = 12  # that a topic has at most, and a passage seldom
# what a table must have to be of a kind, in the order of what tells most
_NEEDS = {
    "rag": {"question", "contexts", "answer"},
    "judgments": {"query", "passage", "judgment"},
    "clicks": {"query", "passage", "position", "clicks"},
    "runs": {"query", "passage"},
    "passages": {"passage", "text"},
    "responses": {"query", "text"},
    "queries": {"text"},
}
# columns of runs and clicks, whose numbers are no judgments
_OTHERS = {
    plain(name)
    for kind, roles in (
        ("runs", ("rank", "score", "system")),
        ("clicks", ("position", "clicks", "impressions", "day")),
    )
    for role in roles
    for name in ROLES[kind][role]
}
_OF_JUDGES = {"labels", "judges"}  # folders whose judgments are no people's
_NAMED = {  # words of a file's name that say what it is
    "queries": {"topic", "topics", "query", "queries", "searches", "questions"},
    "passages": {"passages", "passage", "corpus", "collection", "docs", "documents", "products"},
}


@dataclass(frozen=True)
class Seen:
    """What a file was seen to be: `brings` is what gradelake.toml, or an import, says of it, by the
    kind of what it brings; `roles` has the columns of a table that has no preset. `form` is the
    preset's name, `others` are those that are as good."""

    shown: str
    why: str
    brings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    form: str | None = None
    is_sure: bool = False
    others: tuple[str, ...] = ()
    sample: FileSample | None = field(default=None, repr=False, compare=False)

    @property
    def kind(self) -> str | None:
        """What it mainly brings."""
        return [*self.brings][-1] if self.brings else None

    @property
    def taken_for(self) -> str:
        return ", ".join(self.brings) or "not used"


def look_at(folder: Path, presets: Mapping[str, str]) -> list[Seen]:
    """Every file of a folder, and of those in it, that could be an input. `presets`: those that
    were stated, by file. Raises `BadInput` for a file or a preset that is not there."""
    forms, found = presets_of(folder), []
    paths = list(_files(folder))
    shown_as = [str(path.relative_to(folder)) for path in paths]
    if unknown := sorted(presets.keys() - {*shown_as}):
        raise BadInput(f"--as {unknown[0]}: there is no such file in {folder}")
    for path, shown in zip(paths[:_MOST], shown_as, strict=False):
        if not path.resolve().is_relative_to(folder.resolve()):
            why = "a link that leads out of this folder; name it here yourself if you trust it"
            found.append(Seen(shown, why))
            continue
        if shown not in presets and (sheets := tables_of(path)):
            found += [
                _seen(FileSample(path, File(shown, {"table": each})), forms) for each in sheets
            ]
            continue
        sample = FileSample(path, shown)
        seen = _told(folder, sample, presets[shown]) if shown in presets else _seen(sample, forms)
        if "judgments" in seen.brings and {*path.relative_to(folder).parts[:-1]} & _OF_JUDGES:
            kinds = {"labels": seen.brings["judgments"]}
            seen = replace(seen, brings=kinds, why=f"of a judge, by its folder; {seen.why}")
        found.append(seen)
    if paths[_MOST:]:
        found.append(Seen("what follows", f"only {_MOST} files were looked at"))
    return [_of_all_sheets([*each]) for _, each in groupby(_with_evidence(found), _shown)]


def _shown(seen: Seen) -> str:
    return str(seen.shown)


def _of_all_sheets(sheets: list[Seen]) -> Seen:
    """What a file of several tables is: all that one of them alone brings of a kind."""
    if len(sheets) == 1:
        return sheets[0]
    brings: dict[str, Mapping[str, Any]] = {}
    whys = []
    for seen in sheets:
        table = settings_of(seen.shown)["table"]
        what = seen.taken_for if seen.brings else seen.why
        for kind, settings in seen.brings.items():
            others = [each for each in sheets if each is not seen and kind in each.brings]
            if others:
                what = f"not used, as several sheets are {kind}: name one of them by its table"
            else:
                brings[kind] = {"table": table, **settings}
        whys.append(f"{table}: {what}")
    used = [seen for seen in sheets if {*seen.brings} & {*brings}] or sheets
    main = used[-1]
    return replace(main, shown=str(main.shown), brings=brings, why="; ".join(whys))


def _files(folder: Path, depth: int = 0) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in ("lake", "seeds", FOLDER, CONFIG_NAME):
            continue
        if path.is_dir() and depth < _DEPTH:
            yield from _files(path, depth + 1)
        elif path.is_file() and path.stat().st_size:
            yield path


def _told(folder: Path, sample: FileSample, name: str) -> Seen:
    form = preset(folder, name)
    return _of_form(sample, name, form, "as it was told")


def _of_form(sample: FileSample, name: str, form: Preset, why: str = "") -> Seen:
    found = brought(form, sample)
    unknown = "" if found else "but no column is known that says which query or passage is meant"
    if not found and "rag" in form.brings:
        rows = f" --rows '{form.rows.split(' | ')[0]}'" if form.rows else ""
        unknown = "but what was asked is not where it usually is: "
        unknown += f"import rag{rows} --column question=PATH"
    says = ", ".join(filter(None, [form.says, why, unknown]))
    roles = {"system": form.system} if form.system else {}
    return Seen(sample.shown, says, found, roles, name, form.is_sure, sample=sample)


def _seen(sample: FileSample, forms: Mapping[str, Preset]) -> Seen:
    if fitting := best_of(forms, sample):
        best, *others = fitting
        return replace(_of_form(sample, best, forms[best]), others=tuple(others))
    shown = sample.shown
    entries = entries_of(sample.path, shown, names_of("queries") | names_of("passages"))
    texts = [row["text"] for _, row in entries or () if isinstance(row.get("text"), str)]
    if entries and len(texts) == len(entries):
        return _of_texts(sample, {str(row["id"]): row["text"] for _, row in entries})
    if sample.lines and all(map(_PAIR.fullmatch, sample.lines)):
        return _of_texts(sample, dict(line.split("\t", 1) for line in sample.lines))
    if sample.is_table or any(len(row) > 1 for row in sample.rows()):
        return _as_read(_of_columns(sample), sample)
    return Seen(shown, sample.why or "no form that is known here")


def _as_read(seen: Seen, sample: FileSample) -> Seen:
    """A text that turned out to be a table with a header is read as one, whatever its name."""
    if sample.is_table or not sample.lines or is_json(sample.path):
        return seen
    mark = head_of("\n".join(sample.lines).encode(), MARKS).mark
    brings = {kind: {"delimiter": mark, **settings} for kind, settings in seen.brings.items()}
    return replace(seen, brings=brings)


def _of_texts(sample: FileSample, texts: dict[str, str]) -> Seen:
    """What a file of ids and their texts is: of topics, which are short, or of passages."""
    words = sorted(len(text.split()) for text in texts.values())[len(texts) // 2]
    kind, size = ("queries", "short texts") if words <= _TOPIC_WORDS else ("passages", "texts")
    if named := _named(sample.shown):
        kind = named
    sample._of_rows[None] = [{"id": own, "text": text} for own, text in texts.items()]
    why = f"ids and {size}, {words} words in the middle"
    return Seen(sample.shown, why, {kind: {}}, sample=sample)


def _named(shown: str) -> str | None:
    """The kind that a file's name says."""
    words = {*re.split(r"[^a-z]+", Path(shown).name.lower())}
    return next((kind for kind, known in _NAMED.items() if words & known), None)


def _of_columns(sample: FileSample) -> Seen:
    row = sample.rows() and sample.rows()[0]
    if not row:
        return Seen(sample.shown, sample.why or "no form that is known here")
    if seen := _raters(sample):
        return seen
    unknown = ""
    for kind, needed in _NEEDS.items():
        found = columns_of(kind, sample.shown, row)
        if kind == "runs" and not _is_ranked(found, row):
            continue
        if kind == "passages" and "title" in found and found.get("passage") not in ("id", "_id"):
            needed = {"passage"}  # an id and a title may be a topic, a sku and a title are none
        if not needed <= found.keys() or (kind == "queries" and _is_of_pairs(row)):
            continue
        settings: dict[str, Any] | None = {}
        if kind == "judgments":
            held = [value_at(each, found["judgment"]) for each in sample.rows()]
            settings = proposed(held)
            unknown = unknown or _not_understood(found["judgment"], held, settings)
        if settings is None or "cuts" in settings:
            continue  # a run's score
        roles = ", ".join(f"{role} = {column}" for role, column in found.items())
        brings = {kind: _unusual(kind, found, row) | settings}
        is_sure = kind not in ("queries", "passages", "responses")
        return Seen(sample.shown, roles, brings, found, is_sure=is_sure, sample=sample)
    return Seen(sample.shown, unknown or f"columns {', '.join(row)}", sample=sample)


def _is_ranked(found: dict[str, str], row: dict[str, Any]) -> bool:
    """Whether a row of a run says which place a passage has, or lists them in their order."""
    return bool({"rank", "score"} & found.keys()) or (
        plain(found.get("passage", "")) in map(plain, LISTED) and _is_list(row[found["passage"]])
    )


def _is_list(cell: Any) -> bool:
    return isinstance(cell, list) or str(cell).startswith("[")


def _not_understood(column: str, held: list[Any], scale: dict[str, Any] | None) -> str:
    """What to say of judgments whose meaning is not known."""
    words = dict.fromkeys(str(value) for value in held if not is_open(value))
    if scale is not None or all(finite_number(word) is not None for word in words):
        return ""
    few = ", ".join([*words][:_FEW]) + (", ..." if len(words) > _FEW else "")
    what = f"perhaps judgments ({column}), but nothing says what these mean: {few}"
    return f"{what}; say so in gradelake.toml: labels = {{ WORD = 1 }}"


def _is_of_pairs(row: dict[str, Any]) -> bool:
    """Whether a row is of a query and a passage, and so is no topic."""
    found = columns_of("judgments", "", row)
    return "query" in found and plain(found.get("passage", "id")) != "id"


def _unusual(kind: str, found: dict[str, str], row: dict[str, Any]) -> dict[str, Any]:
    """What settings must say of a table's columns: nothing, where all have usual names."""
    usual = columns_of(kind, "", row)
    return {role: column for role, column in found.items() if usual.get(role) != column}


def _raters(sample: FileSample) -> Seen | None:
    """A table of a query, a passage and nothing else but judgments, a column a rater."""
    rows = sample.rows()
    found = columns_of("judgments", sample.shown, rows[0])
    rest = [name for name in rows[0] if name and name not in found.values()]
    if not {"query", "passage"} <= found.keys() or {"judgment", "rater"} & found.keys():
        return None
    scales = {name: proposed(row[name] for row in rows) for name in rest}
    notes = [name for name in rest if scales[name] is None and _are_notes(rows, name)]
    rest = [name for name in rest if name not in notes]
    if not rest or (notes and len(rest) < 2):
        return None
    if any(scale is None or "cuts" in scale for name, scale in scales.items() if name in rest):
        return None
    if _OTHERS & set(map(plain, rest)) or not all(are_grades(rows, name) for name in rest):
        return None
    if len(rest) < 2 and scales[rest[0]] == {}:
        return None  # numbers of one column may be anything
    known = [scale["labels"] for name in rest if (scale := scales[name])]
    labels = {word: label for scale in known for word, label in scale.items()}
    settings = {"judgment": rest} | ({"labels": labels} if labels else {})
    why = ", ".join(f"{role} = {column}" for role, column in found.items())
    why = f"{why}, a column a rater: {', '.join(rest)}"
    why += f"; passed over: {', '.join(notes)}" if notes else ""
    return Seen(sample.shown, why, {"judgments": settings}, found, is_sure=True, sample=sample)


def _are_notes(rows: list[dict[str, Any]], name: str) -> bool:
    """Whether a column holds texts, and no number that could be a judgment."""
    return all(finite_number(row[name]) is None for row in rows)


def _with_evidence(found: list[Seen]) -> list[Seen]:
    """What is not sure counts where others name its ids or texts, where its own name says it, or
    where it is the only one of its kind in a folder in which something is sure."""
    queries: set[str] = set()
    passages: set[str] = set()
    for seen in found:
        if seen.is_sure and seen.sample:
            _ids_of(seen, queries, passages)
    counted = []
    for seen in found:
        sample = seen.sample
        if seen.is_sure or not seen.brings or sample is None:
            counted.append(seen)
            continue
        own = {str(value) for row in sample.rows() for value in row.values() if value}
        if seen.form:
            own = set()
            _ids_of(seen, own, own)
        n_queries, n_passages = len(own & queries), len(own & passages)
        if seen.kind in _NAMED and {} in seen.brings.values() and n_queries != n_passages:
            kind = "queries" if n_queries > n_passages else "passages"
            if {"title", "text"} & columns_of(kind, sample.shown, sample.rows()[0]).keys():
                seen = replace(seen, brings={kind: {}})
        of_queries = seen.form or seen.kind in ("queries", "responses")
        linked = n_queries if of_queries else n_passages
        told = "others name its ids" if linked else ""
        seen = _with_own_id(seen, queries if seen.kind == "queries" else passages)
        told = told or ("by its name" if _named(sample.shown) == seen.kind else "")
        counted.append(replace(seen, is_sure=bool(told), why=seen.why))
    return _without_guesses(counted)


def _with_own_id(seen: Seen, named: set[str]) -> Seen:
    """Topics or passages whose ids are in a column that the names of others tell: of several, or
    where none has a usual name."""
    role = {"queries": "query", "passages": "passage"}.get(seen.kind or "")
    if not role or not seen.roles or not seen.sample or len(seen.brings) > 1:
        return seen
    rows = seen.sample.rows()

    def known(column: str | None) -> int:
        held = {str(value_at(row, column)) for row in rows} if column else set()
        return len(held & named) if len(held) == len(rows) else 0  # an id for each

    usual, taken = seen.roles.get(role), {*seen.roles.values()}
    best = max((column for column in rows[0] if column not in taken), key=known, default=None)
    if best is None or known(best) <= known(usual):
        return seen
    settings = {role: best, **seen.brings[str(seen.kind)]} | {role: best}
    why = f"{role} = {best}, which others name; {seen.why}"
    return replace(
        seen, brings={str(seen.kind): settings}, roles={**seen.roles, role: best}, why=why
    )


def _without_guesses(found: list[Seen]) -> list[Seen]:
    """Where nothing is sure, nothing counts; else what is alone of its kind does, too."""
    sure = [seen for seen in found if seen.is_sure and seen.brings]
    there = {kind for seen in sure for kind in seen.brings}
    kept = []
    for seen in found:
        alone = [each for each in found if each.kind == seen.kind]
        if (
            seen.brings
            and not seen.is_sure
            and not (sure and len(alone) == 1 and seen.kind not in there)
        ):
            why = f"perhaps {seen.taken_for} ({on_one_line(seen.why)}), but nothing says so"
            seen = Seen(seen.shown, why, sample=seen.sample)
        kept.append(seen)
    return kept


def _ids_of(seen: Seen, queries: set[str], passages: set[str]) -> None:
    """Add the ids, and texts of queries, that a file names."""
    sample = seen.sample
    if sample is None:
        return
    for settings in seen.brings.values():
        if sample.lines and not settings:  # TREC's own forms
            cells = [line.split() for line in sample.lines]
            queries.update(each[0] for each in cells)
            passages.update(each[2] for each in cells if len(each) > 2)
            continue
        named = {**seen.roles, **settings}
        queries |= names_in(sample, named, "query")
        passages |= names_in(sample, named, "passage")
