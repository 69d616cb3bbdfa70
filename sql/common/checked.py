"""Settings and files that pydantic checks: all that is wrong, where, and what to do about it.

Importing pydantic takes about 0.1 s. Modules that every command needs do without.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import HOW_TO_NAME, Project, did_you_mean, is_name

M = TypeVar("M", bound="Checked")


class Checked(BaseModel):
    """Base of all models. No other keys; no conversions, but of whole numbers to fractions.

    A field's `description` is what to do when its value is wrong.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _name(value: str) -> str:
    if not is_name(value):
        raise ValueError(f"{value!r} cannot be used as a name", HOW_TO_NAME)
    return value


Name = Annotated[str, AfterValidator(_name)]
Text = Annotated[str, Field(pattern=r"\S")]


def one_of(known: Collection[str]) -> AfterValidator:
    """The value must be one of the known ones."""

    def check(value: str) -> str:
        if value not in known:
            raise ValueError(f"unknown value {value!r}", did_you_mean(value, known))
        return value

    return AfterValidator(check)


# pydantic's type of an error -> what the value must be
_MUST = {
    "missing": "is missing",
    "string_type": "must be a string",
    "string_pattern_mismatch": "must not be empty",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "tuple_type": "must be a list of strings",
    "greater_than": "must be above {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
}


@dataclass(frozen=True)
class Fault:
    """One thing wrong: the keys that lead to it, what it is, and what to do about it."""

    path: tuple[str, ...]
    message: str
    hint: str | None

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}" if self.hint else self.message


def faults(
    error: ValidationError, model: type[BaseModel], key_is: str = "setting"
) -> Iterator[Fault]:
    """What pydantic found, in its order. Values are never repeated: they may be secrets.

    `key_is` is what people call a key there.
    """
    for each in error.errors(include_url=False):
        # "[key]" stands behind a key of a table that is wrong itself, a number in a list
        path = tuple(part for part in each["loc"] if isinstance(part, str) and part != "[key]")
        kind, context, key = each["type"], each.get("ctx", {}), ".".join(path)
        hint = getattr(_field(model, path), "description", None)
        if kind == "extra_forbidden":
            above = ".".join(path[:-1])
            message = f"{above}: " * bool(above) + f"unknown {key_is} {path[-1]!r}"
            hint = did_you_mean(path[-1], _keys(model, path[:-1]))
        elif kind == "value_error":
            said = context["error"].args
            about = ".".join(path[: -1 if "[key]" in each["loc"] else None])
            message, hint = f"{about}: {said[0]}", (*said[1:], hint)[0]
        elif kind in _MUST:
            kind = "tuple_type" if isinstance(each["loc"][-1], int) else kind
            message = f"{key} {_MUST[kind].format(**context)}"
            bare = each["input"].strip() if isinstance(each["input"], str) else ""
            if kind in ("int_type", "float_type", "bool_type") and _BARE.fullmatch(bare):
                hint = f"Write {path[-1]} = {bare}, without quotes."
        else:
            message = f"{key}: {each['msg']}"
        yield Fault(path, message, hint)


_BARE = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?|true|false")


def _keys(model: type[BaseModel], path: tuple[str, ...]) -> list[str]:
    if path:
        model = _field(model, path).annotation
    return [field.alias or name for name, field in model.model_fields.items()]


def _field(model: Any, path: tuple[str, ...]) -> FieldInfo | None:
    """The field that a path leads to, or the last one on the way."""
    found = None
    for key in path:
        fields = getattr(model, "model_fields", {})
        known = (field for name, field in fields.items() if key in (name, field.alias))
        field = next(known, None)
        found, model = field or found, getattr(field, "annotation", None)
    return found


def table(model: type[M], project: Project, *path: str) -> M:
    """A table of gradelake.toml, such as ("collections", "demo"), checked.

    Raises `BadInput` with all that is wrong in it, by line.
    """
    content: Any = getattr(project, path[0])
    for key in path[1:]:
        content = content[key]
    try:
        return model.model_validate(content)
    except ValidationError as error:
        found = list(faults(error, model))
    told = []
    for fault in found:
        line = project.line_of(*path, *fault.path)
        where = f"{project.file}:{line}" if line else f"{project.file}"
        what = f"{where}: [{'.'.join(path)}]: {fault.message}"
        told.append((line or 0, BadInput(what, fault.hint)))
    *others, last = [each for _, each in sorted(told, key=lambda each: each[0])]
    raise BadInput("\n".join([*map(str, others), last.message]), last.hint)
