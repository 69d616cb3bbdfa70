"""What a night reports at its end: one object for programs, kept in `lake/nights/`."""

import json
from pathlib import Path
from typing import Any

from gradelake.nightly import step
from gradelake.nightly.night import Job, Work
from gradelake.nightly.record import COUNTED
from gradelake.nightly.step import Step
from gradelake.sql.common.counted import counted
from gradelake.sql.common.project import Project
from gradelake.sql.common.whole_file import whole_file
from gradelake.sql.shown.kinds import shown

KEPT = 30  # summaries of the newest nights
LISTED = 50  # files, boards and label sets that a summary lists of each kind; all are counted
SYSTEMS = 5  # systems that it lists of a leaderboard
# a night in numbers -> what they count of what came in, and of what was graded
_FILES = {
    **{f"files_{what}": what for what in ("accepted", "quarantined", "waiting")},
    "inputs_rejected": "rejected",
}
_PAIRS = {
    "pairs": "pairs",
    **{f"pairs_{what}": what for what in ("failed", "left", "under_way")},
    "tokens": "tokens",
}


def summarize(work: Work) -> dict[str, Any]:
    """A night as an object. Its exit code says the worst that happened."""

    def told(each: Step) -> dict[str, Any]:
        return {"step": each.name, "state": each.state, "reason": each.reason}

    failed = [told(each) for each in work.steps if not each.landed]
    refused = [told(each) for each in work.steps if each.landed and each.reason]
    came_in = [_came_in(name, each) for name, each in work.ingested.items()]
    graded = [_graded(job) for job in work.jobs]
    moved = _moved(work.moved) if work.moved else None
    counts = _counts(came_in, graded, moved, failed)
    partly = any(each.state == step.PARTLY for each in work.steps)
    exit_code = (
        (130 if work.stopped else 1) if failed else 3 if partly or work.drifts or work.fooled else 0
    )
    summary = {
        "night": work.night.name,
        "run_id": work.night.run_id,
        "state": "failed" if exit_code in (1, 130) else "done",
        "exit_code": exit_code,
        "started_at": work.night.started_at.isoformat(),
        "release": work.release,
        "nothing_changed_since": work.unchanged,
        "killed_before": work.night.killed,
        "counts": counts,
        "came_in": came_in,
        "graded": graded,
        "left_out": work.left_out,
        "moved": moved,
        "gates": work.gates,
        "sentinels": work.sentinels,
        "drifts": work.drifts,
        "probes": work.probes,
        "fooled": work.fooled,
        "tidied": work.tidied,
        "failed": failed,
        "refused": refused,
        "steps": [
            {
                "step": one.name,
                "state": one.state,
                "exit_code": one.exit_code,
                "seconds": one.seconds,
            }
            for one in work.steps
        ],
    }
    return {"text": line(summary)} | summary


def error_of(summary: dict[str, Any]) -> str | None:
    """What went wrong, for the night's row."""
    lines = ["it was stopped"] if summary["exit_code"] == 130 else []
    wrong = summary["failed"] + summary["refused"]
    lines += [f"{each['step']}: {each['reason']}" for each in wrong]
    lines += falls(summary)
    text = "\n".join(lines).encode(errors="backslashreplace").decode()
    return text[: step.MAX_REASON] or None


def part(measure: dict[str, Any]) -> str:
    """The label set and the segment by which a gate judged."""
    segment = measure["segment"]
    return measure["label_set"] + ("" if segment == "all" else f", segment {segment}")


def falls(summary: dict[str, Any]) -> list[str]:
    """What fell, and by how much: a line for each measure of a gate that did, and for each judge
    that has changed or is fooled."""
    fell = [
        f"gate {gate['gate']}: {gate['system']} fell by {shown('difference', -one['difference'])} "
        f"{one['measure']} ({shown('score', one['baseline'])} to {shown('score', one['system'])}) "
        f"by {part(one)}"
        for gate in summary["gates"]
        for one in gate.get("measures", ())
        if one["verdict"] == "fell"
    ]
    for each in summary["drifts"]:
        numbers = [
            f"{what} {shown('kappa', each[f'{what}_before'])} to "
            f"{shown('kappa', each[f'{what}_since'])}"
            for what in ("agreement", "kappa")
            if each[f"{what}_before"] is not None and each[f"{what}_since"] is not None
        ]
        fell.append(
            f"sentinel {each['sentinel']}: {each['grader']} has not judged {each['collection']} as "
            f"before since {each['drift_began_on']} (round {each['drift_round']} of "
            f"{each['round']}): {', '.join(numbers)}"
        )
    fell += [
        f"probe {each['probe']}: {each['attack']} makes {each['grader']} call "
        f"{shown('percent', each['crossed_share'])} of {each['n_below']} passages of "
        f"{each['collection']} relevant ({shown('percent', each['crossed_share_low'])} to "
        f"{shown('percent', each['crossed_share_high'])})"
        for each in summary["fooled"]
    ]
    return fell


def line(summary: dict[str, Any]) -> str:
    """A night in one line."""
    counts = summary["counts"]
    n = counts["pairs_under_way"]
    under_way = f", {n:,} under way in batches" if n else ""
    words = {0: "done", 1: "failed", 3: "done, with something refused", 130: "stopped"}
    parts = [
        f"{counted(counts['files_accepted'], 'files')} accepted, "
        f"{counts['files_quarantined']:,} quarantined",
        f"{counted(counts['pairs'], 'pairs')} graded, {counts['pairs_failed']:,} failed, "
        f"{counts['pairs_left']:,} left{under_way}",
        _release(summary),
    ]
    if summary["failed"]:
        parts.append("failed: " + ", ".join(each["step"] for each in summary["failed"]))
    if summary["refused"]:
        parts.append("refused: " + ", ".join(each["step"] for each in summary["refused"]))
    fell = falls(summary)
    if fell and not summary["refused"]:
        words[3] = "done, and something fell, drifted or was fooled"
    return f"{summary['night']}: {words[summary['exit_code']]}; {'; '.join([*parts, *fell])}"


def _release(summary: dict[str, Any]) -> str:
    if summary["nothing_changed_since"]:
        return f"nothing changed since {summary['nothing_changed_since']}"
    return f"release {summary['release']}" if summary["release"] else "no release"


def write(project: Project, summary: dict[str, Any]) -> Path:
    """Keep the summary in `lake/nights/`, and of the older ones the newest."""
    folder = project.lake_path / "nights"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{summary['night']}.json"
    with whole_file(file) as stream:
        text = json.dumps(summary, ensure_ascii=False, indent=1)
        # a file's name may not be UTF-8: its bytes become JSON escapes
        stream.write(text.encode(errors="backslashreplace") + b"\n")
    others = sorted(folder.glob("night-*.json"), key=lambda each: each.stat().st_mtime_ns)
    for old in [each for each in others if each != file][: -KEPT + 1]:
        old.unlink(missing_ok=True)
    return file


def _came_in(collection: str, ingest: Step) -> dict[str, Any]:
    """What an ingest brought. A file that was refused has its reason."""
    result = ingest.result or {}
    inbox = result.get("inbox", {})
    rejected = [_refusal(each) for each in result.get("rejected", ())]
    quarantined = set(inbox.get("quarantined", ()))
    lists = {
        "accepted": inbox.get("accepted", []),
        "quarantined": [each for each in rejected if each["file"] in quarantined],
        "waiting": inbox.get("waiting", []),
        "rejected": [each for each in rejected if each["file"] not in quarantined],
        "warnings": result.get("warnings", []),
    }
    return {
        "collection": collection,
        "state": ingest.state,
        "written": result.get("written", {}),
        **{name: found[:LISTED] for name, found in lists.items()},
        "counts": {name: len(found) for name, found in lists.items()},
    }


def _refusal(rejected: dict[str, Any]) -> dict[str, Any]:
    return {
        "file": rejected["file"],
        "reason": step.refusal(rejected),
        "n_problems": rejected["n_problems"],
        "what_to_do": rejected["what_to_do"],
    }


def _graded(job: Job) -> dict[str, Any]:
    result = (job.step and job.step.result) or {}
    without_step = "out of budget" if job.out_of_budget else "no work"
    is_left = bool(result) and not result.get("stopped") and job.left > 0
    return {
        "collection": job.collection,
        "grader": job.grader,
        "state": job.step.state if job.step else without_step,
        **{name: job.came_to.get(name, 0) for name in COUNTED},
        "cost": result.get("cost"),
        "currency": result.get("currency"),
        "left": job.left,
        "under_way": job.under_way,
        "out_of_budget": job.out_of_budget or is_left,
        "seconds": job.step.seconds if job.step else 0.0,
    }


def _moved(diff: dict[str, Any]) -> dict[str, Any]:
    """What a release diff says, with the systems of a leaderboard that moved most."""
    boards = [
        board
        | {
            "n_moved": len(board["systems"]),
            "systems": sorted(board["systems"], key=_how_far, reverse=True)[:SYSTEMS],
        }
        for board in diff["leaderboards"]
    ]
    labels = [
        {key: value for key, value in moves.items() if key != "examples"}
        for moves in diff["label_sets"]
    ]
    return {
        "before": diff["before"],
        "after": diff["after"],
        "n_label_sets": diff["n_label_sets"],
        "n_label_sets_moved": len(labels),
        "label_sets": labels[:LISTED],
        "n_leaderboards": diff["n_boards"],
        "n_leaderboards_moved": len(boards),
        "leaderboards": boards[:LISTED],
    }


def _how_far(system: dict[str, Any]) -> tuple[bool, float, float]:
    """New and gone systems first, then by ranks, then by score."""
    if system["rank_before"] is None or system["rank_after"] is None:
        return True, 0.0, system["score_after"] or 0.0
    ranks = abs(system["rank_after"] - system["rank_before"])
    return False, ranks, abs((system["score_after"] or 0) - (system["score_before"] or 0))


def _counts(came_in, graded, moved, failed) -> dict[str, int]:
    return {
        **{name: sum(each["counts"][what] for each in came_in) for name, what in _FILES.items()},
        **{name: sum(each[what] for each in graded) for name, what in _PAIRS.items()},
        "leaderboards_moved": moved["n_leaderboards_moved"] if moved else 0,
        "steps_failed": len(failed),
    }
