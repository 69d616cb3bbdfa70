"""A night's summary as people read it."""

from typing import Any

from gradelake.nightly.summary import part
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.problems import named
from gradelake.sql.shown.kinds import shown
from gradelake.sql.shown.units import amount


def show(summary: dict[str, Any], seconds: float) -> None:
    """Print what came in, what was graded, what moved, what failed, and how long it took."""
    console.say(summary["text"])
    for killed in summary["killed_before"]:
        console.say(
            f"the night {killed['night']} was killed before its end; this one went on with its work"
        )
    _show_came_in(summary["came_in"])
    _show_graded(summary["graded"], summary["left_out"])
    if summary["moved"]:
        _show_moved(summary["moved"])
    _show_gates(summary["gates"])
    for what, title in (
        ("sentinel", "which judges were watched (`gradelake sql @drift`)"),
        ("probe", "which judges were attacked (`gradelake sql @probes`)"),
    ):
        if rounds := summary[f"{what}s"]:
            console.say(f"\n{title}")
            columns = [what, "grader", "round", "pairs", "failed", "left", "due_on"]
            console.print_table(columns, [[each[c] for c in columns] for each in rounds])
    for what, title in (("failed", "what failed"), ("refused", "what was refused")):
        if summary[what]:
            console.say(f"\n{title}")
        for each in summary[what]:
            reason = (each["reason"] or each["state"]).replace("\n", "\n    ")
            console.say(f"  {each['step']} ({each['state']}): {reason}")
    console.say(f"\nhow long it took: {console.duration(seconds)}")
    console.print_table(
        ["step", "state", "seconds"],
        [(each["step"], each["state"], float(each["seconds"])) for each in summary["steps"]],
    )


def show_alerts(sent: list[dict[str, Any]]) -> None:
    """Say whom the summary could not be sent to."""
    for each in sent:
        if not each["ok"]:
            console.warn(f"the {each['alert']} that should report it failed: {each['reason']}")


def _show_came_in(came_in: list[dict[str, Any]]) -> None:
    console.say("\nwhat came in")
    for each in came_in:
        written = ", ".join(
            counted(n, what.replace("_", " ")) for what, n in each["written"].items()
        )
        files = ", ".join(
            f"{n:,} {what}" for what, n in each["counts"].items() if n and what != "warnings"
        )
        outcome = f"wrote {written}" if written else "nothing new"
        if each["state"] not in ("done", "partly"):
            outcome = each["state"]
        console.say(f"  {each['collection']}: {outcome}{f' ({files})' if files else ''}")
        for what in ("accepted", "waiting"):
            if each[what]:
                n = each["counts"][what] - len(each[what])
                more = f" and {n:,} more" if n else ""
                console.say(f"    {what} {', '.join(map(named, each[what]))}{more}")
        for what in ("quarantined", "rejected"):
            for refusal in each[what]:
                n = refusal["n_problems"] - 1
                more = f" (and {n:,} more)" if n else ""
                console.say(f"    {what} {refusal['reason']}{more}")


def _show_graded(graded: list[dict[str, Any]], left_out: list[dict[str, Any]]) -> None:
    if graded:
        console.say("\nwhat was graded")
        columns = ["collection", "grader", "state", "pairs", "failed", "left", "tokens"]
        if any(each["under_way"] for each in graded):
            columns.insert(columns.index("left") + 1, "under_way")
        if any(each["cost"] is not None for each in graded):
            columns += ["cost", "currency"]
        shown = [
            each | {"cost": None if each["cost"] is None else amount(each["cost"])}
            for each in graded
        ]
        console.print_table(columns, [[each[c] for c in columns] for each in shown])
    for each in left_out:
        console.say(f"  {each['grader']} has no work in {each['collection']}: {each['reason']}")


def _show_moved(moved: dict[str, Any]) -> None:
    console.say(f"\nwhat moved since {moved['before']}")
    console.say(
        f"  {moved['n_label_sets_moved']:,} of {counted(moved['n_label_sets'], 'label sets')}, "
        f"{moved['n_leaderboards_moved']:,} of {counted(moved['n_leaderboards'], 'leaderboards')}"
    )
    if not moved["leaderboards"]:
        return
    columns = ["collection", "label_set", "measure", "systems moved", "tau-b", "most of all"]
    rows = [
        (
            board["collection"],
            board["label_set"],
            board["measure"],
            board["n_moved"],
            shown("tau", board["kendall"]),
            "; ".join(map(_move, board["systems"][:3])),
        )
        for board in moved["leaderboards"]
    ]
    console.print_table(columns, rows)
    if more := moved["n_leaderboards_moved"] - len(rows):
        console.say(
            f"  and {more:,} more: gradelake release diff {moved['before']} {moved['after']}"
        )


def _show_gates(gates: list[dict[str, Any]]) -> None:
    if gates:
        console.say("\nwhat must not fall")
    rows = [
        (
            gate["gate"],
            one["verdict"],
            gate["system"],
            part(one),
            one["measure"],
            *(shown("difference", one[column]) for column in ("baseline", "system", "difference")),
        )
        for gate in gates
        for one in gate.get("measures", ())
    ]
    if rows:
        columns = ["gate", "verdict", "system", "by", "measure", "was", "is", "difference"]
        console.print_table(columns, rows)
    for gate in gates:
        if "measures" not in gate:
            console.say(f"  {gate['gate']}: {gate['verdict']} to compare with")


def _move(system: dict[str, Any]) -> str:
    name, before, after = system["system"], system["rank_before"], system["rank_after"]
    if before is None:
        return f"{name} is new, rank {after:g}"
    if after is None:
        return f"{name} is gone, was {before:g}"
    if before == after:
        before, after = (shown("score", system[f"score_{at}"]) for at in ("before", "after"))
        return f"{name} {before} -> {after}"
    return f"{name} rank {before:g} -> {after:g}"
