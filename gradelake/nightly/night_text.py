"""A night's summary as a page of answers, which people read."""

from collections.abc import Iterator
from typing import Any

from gradelake.nightly.summary import part
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.problems import named
from gradelake.sql.shown import text
from gradelake.sql.shown.answer import Answer, Column, Page, PagePart, Table
from gradelake.sql.shown.kinds import shown

COLLECTION, GRADER = Column("collection", is_key=True), Column("grader", is_key=True)
STATE = Column("state", is_key=True)
PAIRS = [Column(name, kind="count") for name in ("pairs", "failed", "left")]
GRADED = [
    *(COLLECTION, GRADER, STATE),
    *PAIRS,
    Column("under_way", "under way", "count"),
    Column("tokens", kind="count"),
    Column("cost", kind="money"),
    Column("currency"),
]
WATCHED = [GRADER, Column("round", kind="label"), *PAIRS, Column("due_on", "due on")]
MOVED = [
    COLLECTION,
    Column("label_set", "label set", is_key=True),
    Column("measure", is_key=True),
    Column("n_moved", "systems moved", "count"),
    Column("kendall", "tau-b", "tau"),
    Column("most", "most of all"),
]
GATES = [
    Column("gate", is_key=True),
    Column("verdict"),
    Column("system", is_key=True),
    Column("by", is_key=True),
    Column("measure", is_key=True),
    Column("was", kind="score"),
    Column("is", kind="score"),
    Column("difference", kind="difference"),
]
STEPS = [Column("step", is_key=True), STATE, Column("seconds", kind="rate")]


def show(summary: dict[str, Any], seconds: float) -> None:
    """Print what came in, what was graded, what moved, what failed, and how long it took."""
    text.show_page(page(summary, seconds))


def show_alerts(sent: list[dict[str, Any]]) -> None:
    """Say whom the summary could not be sent to."""
    for each in sent:
        if not each["ok"]:
            console.warn(f"the {each['alert']} that should report it failed: {each['reason']}")


def page(summary: dict[str, Any], seconds: float) -> Page:
    """What a night did, part by part."""
    killed = "\n".join(
        f"the night {each['night']} was killed before its end; this one went on with its work"
        for each in summary["killed_before"]
    )
    return Page(summary["text"], killed, [*_parts(summary, seconds)])


def _parts(summary: dict[str, Any], seconds: float) -> Iterator[PagePart]:
    yield PagePart("came_in", "what came in", _came_in(summary["came_in"]))
    if summary["graded"] or summary["left_out"]:
        yield PagePart("graded", "what was graded", _graded(summary["graded"], summary["left_out"]))
    if moved := summary["moved"]:
        yield PagePart("moved", f"what moved since {moved['before']}", _moved(moved))
    if summary["gates"]:
        yield PagePart("gates", "what must not fall", _gates(summary["gates"]))
    for what, title in (
        ("sentinel", "which judges were watched (`gradelake sql @drift`)"),
        ("probe", "which judges were attacked (`gradelake sql @probes`)"),
    ):
        if rounds := summary[f"{what}s"]:
            columns = [Column(what, is_key=True), *WATCHED]
            yield PagePart(what, title, Answer({}, tables=[Table.of("rounds", columns, rounds)]))
    for what, title in (("failed", "what failed"), ("refused", "what was refused")):
        if summary[what]:
            facts = [
                (f"{each['step']} ({each['state']})", each["reason"] or each["state"])
                for each in summary[what]
            ]
            yield PagePart(what, title, Answer({}, facts=facts))
    took = f"how long it took: {console.duration(seconds)}"
    yield PagePart("steps", took, Answer({}, tables=[Table.of("steps", STEPS, summary["steps"])]))


def _came_in(came_in: list[dict[str, Any]]) -> Answer:
    return Answer({}, facts=[(each["collection"], "\n".join(_brought(each))) for each in came_in])


def _brought(each: dict[str, Any]) -> Iterator[str]:
    """What an ingest brought, and below it a line for each kind of file, or for each refusal."""
    counts = each["counts"]
    written = ", ".join(counted(n, what.replace("_", " ")) for what, n in each["written"].items())
    files = ", ".join(f"{n:,} {what}" for what, n in counts.items() if n and what != "warnings")
    outcome = f"wrote {written}" if written else "nothing new"
    if each["state"] not in ("done", "partly"):
        outcome = each["state"]
    yield f"{outcome}{f' ({files})' if files else ''}"
    for what in ("accepted", "waiting"):
        if each[what]:
            n = counts[what] - len(each[what])
            yield f"{what} {', '.join(map(named, each[what]))}{f' and {n:,} more' if n else ''}"
    for what in ("quarantined", "rejected"):
        for refusal in each[what]:
            n = refusal["n_problems"] - 1
            yield f"{what} {refusal['reason']}{f' (and {n:,} more)' if n else ''}"


def _graded(graded: list[dict[str, Any]], left_out: list[dict[str, Any]]) -> Answer:
    """Each grader's work; what no row has is no column."""
    said = {
        "under_way": any(each["under_way"] for each in graded),
        **dict.fromkeys(("cost", "currency"), any(each["cost"] is not None for each in graded)),
    }
    columns = [column for column in GRADED if said.get(column.key, True)]
    notes = [
        f"{each['grader']} has no work in {each['collection']}: {each['reason']}"
        for each in left_out
    ]
    tables = [Table.of("graded", columns, graded)] if graded else []
    return Answer({}, tables=tables, notes=notes)


def _moved(moved: dict[str, Any]) -> Answer:
    sentence = (
        f"{moved['n_label_sets_moved']:,} of {counted(moved['n_label_sets'], 'label sets')}, "
        f"{moved['n_leaderboards_moved']:,} of {counted(moved['n_leaderboards'], 'leaderboards')}"
    )
    rows = [
        board | {"most": "; ".join(map(_move, board["systems"][:3]))}
        for board in moved["leaderboards"]
    ]
    more = moved["n_leaderboards_moved"] - len(rows)
    command = f"gradelake release diff {moved['before']} {moved['after']}"
    return Answer(
        {},
        sentence,
        tables=[Table.of("boards", MOVED, rows)] if rows else [],
        notes=[f"and {more:,} more: {command}"] if more else [],
    )


def _gates(gates: list[dict[str, Any]]) -> Answer:
    rows = [
        {"gate": gate["gate"], "system": gate["system"], "by": part(one)}
        | {"was": one["baseline"], "is": one["system"]}
        | {key: one[key] for key in ("verdict", "measure", "difference")}
        for gate in gates
        for one in gate.get("measures", ())
    ]
    notes = [
        f"{gate['gate']}: {gate['verdict']} to compare with"
        for gate in gates
        if "measures" not in gate
    ]
    return Answer({}, tables=[Table.of("gates", GATES, rows)] if rows else [], notes=notes)


def _move(system: dict[str, Any]) -> str:
    name, before, after = system["system"], system["rank_before"], system["rank_after"]
    if before is None:
        return f"{name} is new, rank {shown('rank', after)}"
    if after is None:
        return f"{name} is gone, was {shown('rank', before)}"
    if before == after:
        before, after = (shown("score", system[f"score_{at}"]) for at in ("before", "after"))
        return f"{name} {before} -> {after}"
    return f"{name} rank {shown('rank', before)} -> {shown('rank', after)}"
