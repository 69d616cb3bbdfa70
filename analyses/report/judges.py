"""Each judge in a row: how far to trust it, whom it favours, what it costs, whether it drifts."""

from collections.abc import Sequence
from typing import Any

from gradelake.analyses.report.overview import ALPHA, by_people, own, verdict
from gradelake.analyses.report.report_queries import ask_by
from gradelake.analyses.stats.ceiling import Together, ceilings
from gradelake.analyses.stats.resample import student_reach
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.kinds import shown


def read_judges(
    lake: Lake,
    collection: str,
    assessor: str | None,
    measure: str,
    judges: Sequence[str],
    taus: dict[str, dict[str, Any]],
    kappas: dict[str, dict[str, Any]],
    ceilings: dict[str, Together],
    against: str,
) -> list[dict[str, Any]]:
    """A row for each judge, the most trustworthy first; then for each other person: a judge that
    agrees as well as they do is as good as they are. `taus`, `kappas`, `ceilings`, `against`: as
    `overview` has them."""
    asked = {"collection": collection, "assessor": assessor, "measure": measure}
    known = ask_by(lake, "judges", "label_set", **asked)
    people = [name for name in kappas if name.startswith("assessor:")]
    rows = [
        {
            "label_set": name,
            "is_person": name in people,
            "is_incomplete": bool(taus.get(name) and taus[name]["is_incomplete"]),
            "verdict": verdict(taus.get(name), against),
            "tau": taus.get(name),
            "kappa": kappas.get(name),
            "favourite": _favourite(known[name]),
            "cost": known[name]["cost"],
            "currency": known[name]["currency"],
            "drift": _drift(known[name]),
            "ceiling": _ceiling(ceilings.get(name)),
        }
        for name in (*judges, *people)
    ]

    def distrust(row: dict[str, Any]) -> tuple:
        tau = row["tau"]["kendall"] if row["tau"] else None
        return row["is_person"], row["is_incomplete"], 2 if tau is None else -tau

    return sorted(rows, key=distrust)


def _favourite(about: dict[str, Any]) -> str | None:
    """The most favoured of k systems, where more than chance favours the luckiest of k."""
    if not about["favour_stderr"]:
        return None
    reach = student_reach(about["n_queries"], 1 - ALPHA / about["n_systems"])
    if about["favour"] <= reach * about["favour_stderr"]:
        return "none shown"
    return f"{about['favourite']} ({shown('change', about['favour'])})"


def _drift(about: dict[str, Any]) -> str | None:
    if about["is_alarm"]:
        return f"since round {about['drift_round']} of {about['n_rounds']}"
    return about["n_rounds"] and f"none in {about['n_rounds']} rounds"


def _ceiling(together: Together | None) -> str | None:
    return f"{by_people(together)}; its own {own(together)}" if together else None


def read_ceilings(
    lake: Lake, collection: str, reference: str, n_replicates: int, seed: int
) -> dict[str, Together]:
    """Judge -> how far the reference and another person agree with each other, and it with them: of
    those who judged most passages with it."""
    found: dict[str, Together] = {}
    for one in ceilings(lake, collection, (), ["binary"], n_replicates, seed):
        judge, *people = one.sides
        if reference in people and (judge not in found or one.n > found[judge].n):
            found[judge] = one
    return found
