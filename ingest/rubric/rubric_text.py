"""What people read of a rubric and its edits."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from gradelake.ingest.reading.csv_tables import join_answers
from gradelake.ingest.rubric.changes import Edit
from gradelake.ingest.rubric.differences import KINDS, Diff, marked
from gradelake.ingest.rubric.items import RubricItem, number, short_ids
from gradelake.ingest.rubric.rubric import Removal, Rubric
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.shown.kinds import shown
from gradelake.sql.shown.units import amount

if TYPE_CHECKING:
    from gradelake.ingest.rubric.preview import Previewed, Version
    from gradelake.ingest.rubric.save import Saved

_ACTIONS = ("drop", "add", "reword", "reanswer", "reweight", "restore")
_DONE = dict(zip(_ACTIONS, KINDS, strict=True))


# --- show ---------------------------------------------------------------------------------------


def query_as_object(rubric: Rubric, query_id: str, version: int) -> dict:
    """A query's items in a version, and those no longer in force: what `--json` prints."""
    items = [item for item in rubric.items(version) if item.query_id == query_id]
    gone = [item for item in rubric.dropped(version) if item.query_id == query_id]
    ids = short_ids(item.item_id for item in (*items, *gone))
    last = {
        (removal.bank, removal.item_id): removal
        for removal in rubric.removals
        if removal.rubric_version <= version
    }
    return {
        "collection": rubric.collection,
        "query_id": query_id,
        "query_text": rubric.query_texts.get(query_id, ""),
        "rubric_version": version,
        "items": [
            _as_object(item, ids) | {"in_this_version": _what_happened(rubric, item, version)}
            for item in items
        ],
        "dropped": [
            _as_object(item, ids) | {"why": _why_gone(last[item.bank, item.item_id])}
            for item in gone
        ],
    }


def print_query(shown: dict) -> None:
    """A query's items, those in force first."""
    console.say(f"{shown['query_id']}: {shown['query_text']}")
    console.say(f"rubric version {shown['rubric_version']} of {shown['collection']}")
    console.say()
    _print_items(shown["items"], "in_this_version", "in this version")
    if shown["dropped"]:
        console.say()
        console.say("no longer in force:")
        _print_items(shown["dropped"], "why", "why")


def _print_items(items: Sequence[dict], what: str, title: str) -> None:
    columns = ("id", "bank", "kind", "weight", "text", "gold_answers", what)
    console.print_table(
        [*columns[:-2], "gold answers", title], [[item[c] for c in columns] for item in items]
    )


def _as_object(item: RubricItem, ids: dict[str, str]) -> dict:
    names = ("item_id", "bank", "facet_id", "kind", "weight", "text", "gold_answers")
    shown = {name: getattr(item, name) for name in (*names, "origin", "origin_item_id")}
    return {"id": ids[item.item_id], **shown, "gold_answers": list(item.gold_answers)}


def _what_happened(rubric: Rubric, item: RubricItem, version: int) -> str:
    """What the edits of a version did to an item that is in force in it."""
    before = rubric.before(item, version)
    if before and item.action == "reword":
        return f"reworded from {before.text!r}"
    if before and item.action == "reweight":
        return f"reweighted from {number(before.weight)}"
    if before and item.action == "reanswer":
        return f"reanswered from {join_answers(before.gold_answers) or 'none'}"
    return _DONE[item.action] if item.action else ""


def _why_gone(removal: Removal) -> str:
    by = f" by {removal.editor}" if removal.editor else ""
    reason = f": {removal.reason}" if removal.reason else ""
    return f"{_DONE[removal.action]} in version {removal.rubric_version}{by}{reason}"


# --- edit ---------------------------------------------------------------------------------------


def print_saved(saved: "Saved") -> None:
    """What was saved, and what to do next."""
    for query in saved.untouched:
        console.warn(f"note: query {query} has no heading in the sheet any more: left as it is")
    if saved.version is None:
        console.say("nothing was changed")
        return
    if saved.copied:
        console.warn(
            f"note: the edits that come with the package were copied to {saved.file} first"
        )
    print_edits(saved.edits)
    console.say(f"saved as version {saved.version} of {saved.collection}'s rubric in {saved.file}")
    console.hint("next: gradelake build")
    new = sum(edit.action in ("add", "reword") for edit in saved.edits)
    if new:
        console.hint(
            f"then, as {new:,} new item{' has' if new == 1 else 's have'} no grades yet: "
            f"gradelake grade {saved.collection} --grader NAME --rubric-version {saved.version}"
        )


def print_edits(edits: Sequence[Edit]) -> None:
    """What a person changed, by query and bank."""
    for (query_id, bank), group in groupby(edits, key=lambda edit: (edit.query_id, edit.bank)):
        console.say(f"{query_id} ({bank})")
        for edit in group:
            old = edit.item
            weight = (old.weight if old else 1.0, edit.weight)
            if old:
                text = marked(old.text, edit.text) if edit.text else old.text or old.item_id
            else:
                text = edit.text
            answers = _answers(old, edit.gold_answers) if edit.action == "reanswer" else ""
            kind = f" ({old.kind} -> {edit.kind})" if old and edit.kind else ""
            console.say(f"  {_DONE[edit.action]:<11} {text}{answers}{kind}{_weights(*weight)}")
    console.say(counts(_DONE[edit.action] for edit in edits))


def _weights(old: float, new: float | None) -> str:
    return f" (weight {number(old)} -> {number(new)})" if new is not None and new != old else ""


def _answers(old: RubricItem | None, new: Sequence[str]) -> str:
    before = join_answers(old.gold_answers) if old else ""
    return f" (answers {before or 'none'} -> {join_answers(new) or 'none'})"


def counts(kinds: Iterable[str]) -> str:
    """`2 dropped, 1 added`."""
    n = Counter(kinds)
    return ", ".join(f"{n[kind]:,} {kind}" for kind in KINDS if n[kind])


# --- diff ---------------------------------------------------------------------------------------


def print_diff(diff: Diff) -> None:
    """What differs, by query and bank, and how much of it there is."""
    found, texts = diff.found, diff.rubric.query_texts
    for (query_id, bank), group in groupby(found, key=lambda d: (d.item.query_id, d.item.bank)):
        console.say(f"{query_id} ({bank}): {texts.get(query_id, '')}")
        for difference in group:
            old, new = difference.old, difference.new
            text = marked(old.text, new.text) if old and new else difference.item.text
            weight = _weights(old.weight, new.weight) if old and new else ""
            if old and new and old.kind != new.kind:
                weight = f" ({old.kind} -> {new.kind}){weight}"
            if difference.kind == "reanswered" and new:
                weight = _answers(old, new.gold_answers) + weight
            console.say(f"  {difference.kind:<11} {text or difference.item.item_id}{weight}")
    queries = counted(len({difference.item.query_id for difference in found}), "queries")
    what = f"{counts(difference.kind for difference in found)} in {queries}"
    console.say(f"version {diff.first} -> {diff.second}: {what if found else 'no difference'}")


# --- preview ------------------------------------------------------------------------------------


def print_previewed(previewed: "Previewed") -> None:
    """What each version will do."""
    for version in previewed.versions:
        console.say(f"{version.rubric.collection}, as the next build will see it:")
        print_version(version)
        console.say()
    console.say("nothing was written" if previewed.versions else previewed.nothing)


def print_version(version: "Version") -> None:
    """The edits, and what follows from them."""
    print_diff(Diff(version.rubric, version.previous, version.number, version.edits))
    console.say()
    _print_label_sets(version.label_sets)
    console.say()
    _print_grades(version.grades)


def _print_label_sets(label_sets: list[dict[str, Any]]) -> None:
    if not label_sets:
        console.say("no labels are made from this rubric yet")
        return
    measure = next((row["measure"] for row in label_sets if row["measure"]), "")
    columns = ["label set", "labels up", "down", "new", "gone", "leaderboards changed"]
    columns += [f"{measure}: tau-b", "ranks changed", "moves most", "by"]
    console.print_table(
        columns,
        [
            (
                row["label_set"],
                *(row[f"n_labels_{way}"] for way in ("up", "down", "new", "gone")),
                f"{row['n_boards_moved']} of {row['n_boards']}",
                "" if row["kendall"] is None else shown("tau", row["kendall"]),
                row["n_ranks_changed"],
                row["moved_most"] if row["moved_by"] else "",
                shown("change", row["moved_by"]) if row["moved_by"] else "",
            )
            for row in label_sets
        ],
    )


def _print_grades(grades: list[dict[str, Any]]) -> None:
    if not grades:
        console.say("no grades will be wanted")
        return
    columns = ["grader", "items", "passages", "grades wanted", "missing in all"]
    columns += ["prompt tokens", "time"]
    has_cost = any(row["cost"] is not None for row in grades)
    console.print_table(
        columns + ["cost"] * has_cost,
        [
            (
                row["grader"],
                *(f"{row[n]:,}" for n in ("n_items", "n_passages", "n_wanted", "n_missing")),
                f"about {row['prompt_tokens']:,}" if row["prompt_tokens"] else "none",
                "no rate measured yet"
                if row["seconds"] is None
                else f"about {console.duration(row['seconds'])}",
                *([_cost(row)] if has_cost else []),
            )
            for row in grades
        ],
    )


def _cost(row: dict[str, Any]) -> str:
    return "no price" if row["cost"] is None else f"about {amount(row['cost'])} {row['currency']}"
