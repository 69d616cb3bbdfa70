"""Whose grades can be reviewed, and from which grade on an item counts as answered."""

from dataclasses import dataclass

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import did_you_mean
from gradelake.sql.lake.lake import Lake

ANSWERED = 4  # the grade from which an item counts as answered, unless another is asked for


@dataclass(frozen=True)
class Reviewable:
    """A grader whose grades can be reviewed, as the lake knows it."""

    name: str
    grader_id: str
    kind: str  # question or nugget
    scale_min: int
    scale_max: int

    @property
    def scale(self) -> range:
        return range(self.scale_min, self.scale_max + 1)


def find_grader(lake: Lake, name: str) -> Reviewable:
    """A grader of rubric items by its name in the marts. Raises `BadInput` for any other."""
    rows = lake.rows(
        "select grader, kind, grader_id, scale_min, scale_max, target "
        "from lake.intermediate.int_own_graders"
    )
    known = {row[0]: row for row in rows}
    if name not in known:
        raise BadInput(
            f"the lake has no grades of a grader {name!r}",
            did_you_mean(name, [row[0] for row in rows if row[1]])
            or "An ensemble has no grades of its own: review those of its members.",
        )
    _, kind, grader_id, scale_min, scale_max, target = known[name]
    if kind is None:
        raise BadInput(
            f"{name} does not grade rubric items (its prompt's target is {target!r})",
            "Judges of whole passages are compared with people's judgments: see `gradelake export "
            "sample` and `gradelake sql @kappa`.",
        )
    return Reviewable(name, grader_id, kind, scale_min, scale_max)


def choose_tau(lake: Lake, grader: Reviewable, asked: int | None) -> int:
    """The grade from which an item counts as answered: what was asked for, else 4, or the top of
    the scale where that is lower. Raises `BadInput` for one that marts are not computed at."""
    levels = lake.column("select level from lake.intermediate.evaluation_levels")
    tau = min(ANSWERED, grader.scale_max) if asked is None else asked
    if tau not in levels:
        raise BadInput(
            f"--tau {tau}: marts are computed at {', '.join(map(str, sorted(levels)))}",
            "seeds/evaluation_levels.csv says at which.",
        )
    return tau
