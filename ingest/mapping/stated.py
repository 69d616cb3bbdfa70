"""What is said of a file that an import brings, by a preset and by options, as gradelake.toml would
have it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gradelake.ingest.mapping.form import ROLES, File
from gradelake.ingest.mapping.labels import whole
from gradelake.ingest.mapping.paths import check_path
from gradelake.ingest.mapping.presets import FileSample, brought, fits, preset
from gradelake.sql.common.errors import BadInput

# what options say, by their names: `preset` is --as
Form = Mapping[str, Any]
_RATERS = "Several raters in one table are for `judgments` in gradelake.toml."


def file_of_import(
    folder: Path,
    path: Path,
    kinds: Sequence[str],
    form: Form | None = None,
    without: Sequence[str] = (),
) -> File:
    """A file of one of these `kinds`, the first of which has the roles, with what options say of
    it; `folder` is the project's, whose presets count. Roles `without` a meaning here are refused.

    Raises `BadInput` for an unknown role or preset, and a value that cannot be meant.
    """
    form, shown = form or {}, str(path)
    settings: dict[str, Any] = {}
    if named := form.get("preset"):
        settings |= _of_preset(folder, FileSample(path, shown), named, kinds)
        several = not isinstance(settings.get("judgment", ""), str)
        if "rater" in without and ("rater" in settings or several):
            raise BadInput(f"{shown}: names a rater for each judgment", _RATERS)
    settings |= _columns(form.get("columns") or {}, kinds[0], without)
    if rows := form.get("rows"):
        try:
            check_path(rows)
        except ValueError as error:
            raise BadInput(f"--rows: {error}") from error
        settings["rows"] = rows
    if labels := form.get("labels"):
        settings["labels"] = {word: _label(word, label) for word, label in labels.items()}
    if cuts := form.get("cuts"):
        settings["cuts"] = cuts
    if only := form.get("only"):
        settings["only"] = dict(only)
    return File(shown, settings)


def _of_preset(
    folder: Path, sample: FileSample, named: str, kinds: Sequence[str]
) -> dict[str, Any]:
    """What a preset says of a file that brings one of these kinds."""
    known = preset(folder, named)
    if not fits(known, sample):
        needs = f"columns {', '.join(known.columns)}" if known.columns else "lines of its own"
        raise BadInput(f"{sample.shown}: is not {known.says}", f"--as {named} needs {needs}.")
    found = brought(known, sample)
    kind = next((kind for kind in reversed(kinds) if kind in found), None)
    if kind is None:
        what = f"--as {named}: {known.says} brings no {kinds[-1]}"
        raise BadInput(what, f"It brings {', '.join(found)}.")
    return {role: settings for role, settings in found[kind].items() if role != "judge"}


def _columns(columns: Mapping[str, str], kind: str, without: Sequence[str]) -> dict[str, str]:
    roles = [role for role in ROLES[kind] if role not in without]
    if unknown := sorted(columns.keys() - {*roles}):
        what = f"--column: there is no role {unknown[0]!r} here"
        hint = f"Known: {', '.join(roles)}."
        if unknown[0] == "rater":
            hint += f" {_RATERS}"
        raise BadInput(what, hint)
    return dict(columns)


def _label(word: str, label: str) -> int:
    number = whole(label)
    if number is None:
        raise BadInput(f"--label {word}={label}: {label!r} is not a whole number")
    return number
