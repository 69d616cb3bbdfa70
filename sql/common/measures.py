"""What to say of a measure that is not there: mistyped, not computed, or unknown."""

import re
from collections.abc import Callable, Collection

from gradelake.sql.common.project import did_you_mean


def measure_hint(
    measure: str, known: Collection[str], rows: Callable[[str], list], lake: str = "lake"
) -> str:
    """The measure that was meant, where or how it is computed, or which families there are.

    `known` are those that could be named here; `rows` answers SQL on the lake, attached as `lake`.
    """
    if measure.lower() in {each.lower() for each in known}:
        return did_you_mean(measure, known)
    boards = rows(f"select distinct measure, label_set from {lake}.marts.leaderboard order by all")
    if found := [label_set for each, label_set in boards if each.lower() == measure.lower()]:
        return f"It belongs to {', '.join(found[:3])}{' and others' if found[3:] else ''}."
    families = rows(
        f"select family, spelling, pattern from {lake}.intermediate.int_measure_families "
        "order by place"
    )
    for family, _, pattern in families:
        if re.fullmatch(pattern, measure, re.IGNORECASE):
            spelled = family + measure[len(family) :].lower()
            return (
                f"{spelled} is not computed. Add the line {spelled} to the file "
                "seeds/evaluation_grid.csv next to gradelake.toml and run `gradelake build`. "
                "If there is no such file, begin it with the line: measure"
            )
    near = did_you_mean(measure, known)
    if near.startswith("Did"):
        return near
    return f"There are: {', '.join(spelling for _, spelling, _ in families)}."
