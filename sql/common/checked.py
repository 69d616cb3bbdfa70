"""Settings and files that pydantic checks: all that is wrong, where, and what to do about it.

Importing pydantic takes about 0.1 s. Modules that every command needs do without.
"""

import re
from collections.abc import Collection, Iterator
from typing import Annotated, Any, NamedTuple, TypeVar

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
Count = Annotated[int, Field(ge=1)]


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
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "must be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), "must be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(("dict_type", "model_type"), "must be a table"),
    **dict.fromkeys(("tuple_type", "list_type"), "must be a list of strings"),
    "greater_than": "must be above {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be below {lt:g}",
    "less_than_equal": "must be at most {le:g}",
}


_QUOTED = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?|true|false")


class SettingFault(NamedTuple):
    """One thing wrong: the keys that lead to it, what it is, and what to do about it."""

    path: tuple[str, ...]
    message: str
    hint: str | None

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}" if self.hint else self.message


def faults(
    error: ValidationError, model: type[Checked], key_is: str = "setting"
) -> Iterator[SettingFault]:
    """What pydantic found, in its order; `key_is` is what people call a key there.

    Values that may be secrets are not repeated.
    """
    for each in error.errors(include_url=False):
        # "[key]" follows a key that is wrong itself; a number is a place in a list
        path = tuple(part for part in each["loc"] if isinstance(part, str) and part != "[key]")
        known, field = _fields(model), None
        for key in path:
            if key not in known:
                break
            field = known[key]
            known = _fields(field.annotation)
        hint, about = field and field.description, ".".join(path)
        kind, value, context = each["type"], each["input"], each.get("ctx", {})
        if kind == "extra_forbidden":
            about = f"{'.'.join(path[:-1])}: " if path[1:] else ""
            message = f"{about}unknown {key_is} {path[-1]!r}"
            hint = did_you_mean(path[-1], known)
        elif kind == "value_error":
            about = ".".join(path[:-1]) if "[key]" in each["loc"] else about
            message, *hints = context["error"].args
            message, hint = f"{about}: {message}", (*hints, hint)[0]
        elif kind in _MUST:
            kind = "tuple_type" if isinstance(each["loc"][-1], int) else kind
            if kind == "missing":
                hint = hint or f"Give {path[-1]} a value."
            message = f"{about} {_MUST[kind].format(**context)}"
            if kind.endswith("_type") and isinstance(value, str) and _QUOTED.fullmatch(value):
                hint = f"Write {path[-1]} = {value}, without quotes."
        else:
            message = f"{about}: {each['msg']}"
        yield SettingFault(path, message, hint)


def read(model: type[M], content: Any, **options: Any) -> tuple[M | None, list[SettingFault]]:
    """What a file holds, as a model has it, and all that is wrong with its keys; None with them."""
    try:
        return model.model_validate(content, **options), []
    except ValidationError as error:
        return None, [*faults(error, model, "key")]


def _fields(model: Any) -> dict[str, FieldInfo]:
    fields = getattr(model, "model_fields", {})
    return {field.alias or name: field for name, field in fields.items()}


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
        found = [(project.line_of(*path, *each.path), each) for each in faults(error, model)]
    *others, last = [
        BadInput(
            f"{project.file}{f':{line}' if line else ''}: [{'.'.join(path)}]: {each.message}",
            each.hint,
        )
        for line, each in sorted(found, key=lambda each: each[0] or 0)
    ]
    raise BadInput("\n".join([*map(str, others), last.message]), last.hint)
