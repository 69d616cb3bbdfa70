"""The report in three sentences: who is best, what would settle it, how far to trust judges."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np

from gradelake.analyses.compare.comparison import compare
from gradelake.analyses.gate.sample import Difference
from gradelake.analyses.gate.verdict import queries_needed
from gradelake.analyses.stats.better import BETTER
from gradelake.analyses.stats.boards import Board
from gradelake.analyses.stats.ceiling import Together
from gradelake.sql.common.counted import counted
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.kinds import Interval, shown

ALPHA = 0.05
NAMED = 5  # systems of a sentence
JUDGES = 3  # of a sentence, the best first
ALIKE = 0.8  # tau: below it boards differ noticeably (Voorhees, SIGIR 2001)


@dataclass(frozen=True)
class Sentence:
    """`why`: the address of what it is read off, as it stands behind # in a file."""

    text: str
    why: str


def overview(
    lake: Lake,
    collection: str,
    first: dict[str, Any] | None,
    board: Board | None,
    judges: Sequence[str],
    against: str | None,
    correlated: Sequence[dict[str, Any]],
    kappas: dict[str, dict[str, Any]],
    ceilings: dict[str, Together],
) -> list[Sentence]:
    """The three. `first` is what the report opens on (`first_board`), of `board`; `judges` are the
    label sets that no person made, `against` is what `correlated` (`correlate`) compares with;
    `kappas` are with the reference; `ceilings`: judge -> people and it on the same passages."""
    of = first or {"measure": ""}
    taus = {row["label_set"]: row for row in correlated if row["measure"] == of["measure"]}
    trust = Sentence(_trust(judges, against or "", taus, kappas, ceilings), "judges")
    if first is None or board is None:
        unknown = "How many queries it takes to tell systems apart is known once they have scores."
        return [Sentence("No system has a score yet.", "board"), Sentence(unknown, "board"), trust]
    chosen = {"labels": first["label_set"], "measure": first["measure"], "level": first["level"]}
    best = Sentence(_best(first["rows"], board), f"board?{urlencode(chosen)}")
    if len(first["rows"]) < 2:
        unknown = "How many queries it takes to tell two systems apart is known once there are two."
        return [best, Sentence(unknown, "board"), trust]
    one, other = (row["system"] for row in first["rows"][:2])
    names = (collection, other, one)
    of_board = board.measure, board.label_set, board.level
    said = compare(lake, names, *of_board, alpha=ALPHA, board=board).as_object()
    if said["verdict"] == BETTER:
        settling = f"The queries tell the first from the second: {said['sentence']}"
    elif said["low"] is not None and (more := more_queries(board.pair(one, other))):
        settling = f"About {counted(more, 'more queries')} would tell the first from the second"
        settling += " four times in five, if the difference stayed as large. " + said["sentence"]
    else:
        settling = f"{said['sentence']} How many queries would settle it cannot be estimated."
    why = f"compare?{urlencode({'a': other, 'b': one} | chosen)}"
    return [best, Sentence(settling, why), trust]


def _best(rows: Sequence[dict[str, Any]], board: Board) -> str:
    """`rows`: of the board, the best first."""
    best, *others = rows
    groups = {row["system"]: re.findall("[a-zA-Z]'*", row["groups"] or "") for row in others}
    near = [system for system, letters in groups.items() if "a" in letters]
    by = f"by {board.measure} with the labels of {board.label_set}"
    by += f" ({complete})" if (complete := board.completeness.says) else ""
    if not others:
        return f"{best['system']} is the only system with a score: nothing to compare it with."
    if not best["groups"]:
        return f"{best['system']} is ahead {by}; whether the lead is significant was not tested."
    if not near:
        return f"{best['system']} is the best {by}: every other system is significantly worse."
    return f"{best['system']} is ahead {by}; not significantly worse: {_listed(near)}."


def more_queries(pair: Board) -> int | None:
    """How many more queries would tell two systems apart in four of five cases, if the true
    difference is the one observed: Student's t at 0.05, two-sided, with the spread observed.
    Rounded up to a second digit of 0 or 5; None where they are equal, or a million would not do."""
    sample = Difference.of(pair.differences, 0, ALPHA, counting=pair.counting)
    n = len(pair.queries)
    # as the gate has it: of how many an equal system is shown not to be worse by as much
    _, needed = queries_needed(sample, abs(sample.mean), ALPHA / 2, 1)
    if needed is None:
        return None
    more = max(1, int(np.ceil(needed * n / sample.n)) - n)
    step = max(1, 5 * 10 ** (len(str(more)) - 2))
    return int(-(-more // step) * step)


def _trust(
    judges: Sequence[str],
    against: str,
    taus: dict[str, dict[str, Any]],
    kappas: dict[str, dict[str, Any]],
    ceilings: dict[str, Together],
) -> str:
    if not judges:
        return "No judge has labelled passages yet."
    known = [name for name in judges if name in taus or name in kappas]
    if not known:
        return f"{_listed(judges)}: nothing to compare with, no person judged the same passages."
    known.sort(key=lambda name: -(taus.get(name, {}).get("kendall") or -2))
    said = [_of_judge(name, taus.get(name), kappas.get(name), against) for name in known[:JUDGES]]
    if (more := len(judges) - len(said)) > 0:
        said.append(f"{counted(more, 'more judges', 'are')} listed under Judges")
    others = [one for name, one in kappas.items() if name not in judges]
    if ceiling := next((ceilings[name] for name in known if name in ceilings), None):
        same = f"on the same {counted(ceiling.n, 'passages')}"
        said.append(f"people agree with each other by kappa {by_people(ceiling)}, ")
        said[-1] += f"{ceiling.sides[0]} with them by {own(ceiling)} {same}"
    elif others:
        most = max(others, key=lambda one: one["n"])
        said.append(f"people agree with each other by {_figures('kappa', most)}")
    elif kappas:
        said.append("how far people agree with each other is unknown, as only one judged")
    return f"{'; '.join(said)}."


def _of_judge(
    judge: str, row: dict[str, Any] | None, kappa: dict[str, Any] | None, against: str
) -> str:
    _, says = verdict(row, against)
    said = f"{judge}: {says}"
    if row and row["kendall"] is not None:
        incomplete = " (incomplete)" if row["is_incomplete"] else ""
        said = f"{judge}{incomplete} {says}: {_figures('tau', row | {'tau': row['kendall']})}"
    return f"{said}, on passages {_figures('kappa', kappa)}" if kappa else said


def by_people(together: Together) -> str:
    """How far two people agree with each other: `0.52 (0.40 to 0.61)`."""
    spread = together.spreads[2]
    row = {"kappa": together.kappas[2]} | vars(spread)
    return _figures("kappa", row).removeprefix("kappa ")


def own(together: Together) -> str:
    """How far the judge agrees with each of them: `0.48 and 0.51`."""
    return " and ".join(shown("kappa", each) for each in together.kappas[:2])


def verdict(row: dict[str, Any] | None, against: str) -> tuple[str, str]:
    """("better", "doubt" or "worse", in words) of a judge, by its row of `correlate`.

    By p and the ends of tau's interval, both for all label sets at once: of many judges, one may
    look good by chance.
    """
    if not row or row["kendall"] is None:
        return "doubt", "how it orders systems is not known"
    whom = "people do" if against.startswith("assessor:") else "the official ranks do"
    low, high = row["low_among"], row["high_among"]
    # a few systems are often in the same order by chance, and of many judges one is
    if row["p_value"] > ALPHA / row["n_compared"] or (low is not None and low <= 0):
        return "worse", f"is not shown to order systems as {whom}"
    if low is not None and low >= ALIKE:
        return "better", f"orders systems as {whom}"
    if high is not None and high < ALIKE:
        return "doubt", f"orders systems only partly as {whom}"
    return "doubt", f"orders systems at least partly as {whom}"


def _figures(name: str, found: dict[str, Any]) -> str:
    """`tau 0.83 (0.71 to 0.90)`; `tau 1.00 (no interval: the same in every draw)`."""
    if found[name] is None:
        return f"{name} undefined"
    interval = f"no interval: {found['no_interval']}"
    if found["low"] is not None:
        interval = shown("kappa", Interval(found["low"], found["high"]))
    return f"{name} {shown('kappa', found[name])} ({interval})"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def next_steps(
    judges: Sequence[str],
    n_assessors: int,
    incomplete: dict[str, str],
    health: Sequence[dict[str, Any]],
    failures: Sequence[dict[str, Any]],
) -> list[Sentence]:
    """What would tell more, each with the address of what asks for it."""
    n_failed = sum(row["n_pairs"] for row in failures)
    steps = [
        (not n_assessors, "Have people judge some passages: nothing else tests a judge", "judges"),
        (not judges, "Grade: no judge has labelled anything yet", "judges"),
        (n_assessors == 1, "Have a second person judge some of the passages again", "judges"),
        *((True, f"Grade more: {name} is {says}", "judges") for name, says in incomplete.items()),
        (n_failed, f"Grade again: {counted(n_failed, 'pairs')} failed", "cost"),
    ]
    for one in health:
        items = counted(n := one["n_spurious"], "items", "are")
        words = f"Reword: by {one['grader']}, {items} answered by non-relevant passages"
        steps.append((n, words, "rubric"))
    return [Sentence(text, why) for holds, text, why in steps if holds]
