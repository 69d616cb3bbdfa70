"""What a gate is asked: on the command line, or as `[gates.NAME]` of gradelake.toml."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, ValidationInfo, field_validator

from gradelake.analyses.gate.sample import ANY, FIXED, TYPICAL
from gradelake.sql.common import checked
from gradelake.sql.common.checked import Checked, Text
from gradelake.sql.common.errors import BadInput, NotThere
from gradelake.sql.common.project import Project, did_you_mean

ALL = "all"  # of segments: every query
SAMPLE = "sample"  # queries that stand for all of their kind


def _as_tuple(value: Any) -> Any:
    return (value,) if isinstance(value, str) else tuple(value) if type(value) is list else value


Several = Annotated[tuple[Text, ...], BeforeValidator(_as_tuple)]


class Rule(Checked):
    """A system, what it is compared with, and by what. `tolerance` is in points of the measures.

    Each label set is judged on each segment. Without a `baseline` the system is compared with
    itself in another release. `sure`: of differences as they typically are spread, or however they
    are. `queries`: a sample of all queries like these, or these and no others ("fixed").
    """

    collection: Text
    system: Text
    label_set: Several = Field(
        min_length=1, description='For example: label_set = ["assessor:nist", "judge:gpt"].'
    )
    measures: Several = Field(
        min_length=1, description='For example: measures = ["nDCG@10", "AP"].'
    )
    baseline: Text | None = None
    baseline_release: Text | None = None
    level: int | None = None
    segment: Several = Field(
        (ALL,), min_length=1, description=f'For example: segment = ["{ALL}", "tail"].'
    )
    tolerance: float = Field(0.01, ge=0, le=1, description="In points: 0.01 of 0 to 1.")
    alpha: float = Field(0.05, gt=0, lt=0.5)
    sure: Annotated[Text, checked.one_of((TYPICAL, ANY))] = TYPICAL
    queries: Annotated[Text, checked.one_of((SAMPLE, FIXED))] = SAMPLE

    @field_validator("queries")
    @classmethod
    def _leaves_chance(cls, queries: str, others: ValidationInfo) -> str:
        if queries == FIXED and others.data.get("sure") == ANY:
            raise ValueError(
                "fixed queries leave nothing to chance, so nothing to be sure of",
                f"Leave sure out, or have queries = {SAMPLE!r}.",
            )
        return queries

    @property
    def way(self) -> str:
        """What the verdict holds for: `TYPICAL` or `ANY` differences, or `FIXED` queries."""
        return FIXED if self.queries == FIXED else self.sure


def rule_of(project: Project, name: str | None, asked: dict[str, Any]) -> Rule:
    """`[gates.NAME]`, perhaps against another release, or what is asked: the fields of `Rule`.

    Raises `BadInput` for both at once, and with all that is missing or wrong.
    """
    if name is None:
        needed = {"collection": "COLLECTION", "system": "--system", "measures": "--measure"}
        needed |= {"label_set": "--label-set"}
        missing = [option for key, option in needed.items() if key not in asked]
        if missing:
            raise BadInput(
                f"missing: {', '.join(missing)}", "Or name a rule of gradelake.toml: --rule NAME."
            )
        try:
            return Rule(**asked)
        except ValidationError as error:
            raise BadInput("; ".join(map(str, checked.faults(error, Rule, "option")))) from None
    if asked.keys() - {"baseline_release"}:
        raise BadInput(
            "--rule NAME says what is judged, by what", "Leave COLLECTION and the options out."
        )
    if name not in project.gates:
        raise NotThere(
            f"{project.file}: there is no [gates.{name}]",
            did_you_mean(
                name, project.gates, "Describe it there: collection, system, label_set, measures."
            ),
        )
    return checked.table(Rule, project, "gates", name).model_copy(update=asked)
