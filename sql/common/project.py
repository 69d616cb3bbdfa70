"""`gradelake.toml`: where the lake is, and the tables the other rooms read their settings from."""

import difflib
import os
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradelake.sql.common.errors import BadInput

CONFIG_NAME = "gradelake.toml"
_TOP_LEVEL = ("lake", "grading", "collections", "graders")
_NUMBERS = {"keep_releases": 1, "keep_days": 0}  # settings of [lake] -> their least value
_KEYS = {
    "lake": ("path", "catalog", "data", *_NUMBERS),
    "grading": ("prompts", "engines", "ray_address"),
}
_PLACES = (("lake", "path"), ("lake", "data"), ("grading", "prompts"), ("grading", "engines"))


@dataclass(frozen=True)
class Project:
    """A parsed `gradelake.toml`. Relative paths in it are relative to the file itself."""

    file: Path
    lake_path: Path
    catalog: str | None = None
    data: str | None = None
    keep_releases: int = 14  # how many of the newest stay when the lake is tidied
    keep_days: float = 1  # how long files stay that nothing needs any more, and snapshots
    grading: dict[str, str] = field(default_factory=dict)
    collections: dict[str, dict[str, Any]] = field(default_factory=dict)
    graders: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def find(cls, path: str | Path | None = None) -> "Project":
        """Read the given file, else `$GRADELAKE_CONFIG`, else the nearest one at or above here.

        Raises `BadInput` when there is none, or when it cannot be read.
        """
        named = path or os.environ.get("GRADELAKE_CONFIG")
        if named:
            file = Path(named)
            if file.is_dir():
                file = file / CONFIG_NAME
            if not file.is_file():
                raise BadInput(f"{file}: no such file", "Name an existing gradelake.toml.")
            return cls.read(file)
        for folder in (here := Path.cwd(), *here.parents):
            if (folder / CONFIG_NAME).is_file():
                return cls.read(folder / CONFIG_NAME)
        raise BadInput(
            f"no {CONFIG_NAME} in {here} or any folder above it",
            "Run `gradelake init` here, or name one: gradelake --config FILE ...",
        )

    @classmethod
    def read(cls, file: Path) -> "Project":
        """Parse one file. Raises `BadInput` naming the line where that is known."""
        file = file.resolve()
        try:
            content = tomllib.loads(file.read_text(encoding="utf-8"))
            _check_values(content, str(file))
        except tomllib.TOMLDecodeError as error:
            line = re.search(r"line (\d+)", str(error))
            where = f"{file}:{line[1]}" if line else str(file)
            raise BadInput(f"{where}: {error}", "Fix the TOML and run again.") from error
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise BadInput(
                f"{file}:{line}: byte 0x{error.object[error.start]:02x} is not UTF-8",
                "Save the file as UTF-8, without a byte order mark.",
            ) from error
        except OSError as error:
            raise BadInput(f"{file}: cannot be read: {error.strerror or error}") from error
        except RecursionError as error:
            raise BadInput(f"{file}: nested too deeply", "Is this the right file?") from error
        except ValueError as error:  # Python's limit for the digits of a number
            raise BadInput(f"{file}: a number in it is too long", "Shorten it.") from error
        check_keys(content, _TOP_LEVEL, str(file))
        lake = content.get("lake", {})
        for name in _TOP_LEVEL:
            if not isinstance(content.get(name, {}), dict):
                raise BadInput(f"{file}: [{name}] must be a table")
        for name, keys in _KEYS.items():
            check_keys(content.get(name, {}), keys, f"{file}: [{name}]")
            for key, value in content.get(name, {}).items():
                if key in _NUMBERS:
                    _check_number(value, key, f"{file}: [{name}] {key}")
                elif not isinstance(value, str):
                    raise BadInput(f"{file}: [{name}] {key} must be a string")
        for kind in ("collections", "graders"):
            for name, table in content.get(kind, {}).items():
                where = f"{file}: [{kind}.{name}]"
                check_name(name, where)
                if not isinstance(table, dict):
                    raise BadInput(f"{where} must be a table")
        _check_places(content, file)
        return cls(
            file=file,
            lake_path=file.parent / lake.get("path", "lake"),
            catalog=lake.get("catalog"),
            data=lake.get("data"),
            **{key: lake[key] for key in _NUMBERS if key in lake},
            grading=content.get("grading", {}),
            collections=content.get("collections", {}),
            graders=content.get("graders", {}),
        )

    @property
    def folder(self) -> Path:
        return self.file.parent

    @property
    def on_postgres(self) -> bool:
        return (self.catalog or "").startswith(("postgres:", "postgresql:"))

    @property
    def dsn(self) -> str:
        """PostgreSQL's connection string: what follows `postgres:`, or a whole URL."""
        catalog = self.catalog or ""
        if catalog.startswith(("postgres://", "postgresql://")):
            return catalog
        return catalog.partition(":")[2]


def _check_values(value: Any, where: str) -> None:
    """Refuse what TOML allows and nothing here can hold: null characters, numbers over 64 bits."""
    if isinstance(value, dict):
        for key, item in value.items():
            if "\0" in key:
                raise BadInput(f"{where}: a name holds a null character", "Remove it.")
            _check_values(item, f"{where}: {key}")
    elif isinstance(value, list):
        for item in value:
            _check_values(item, where)
    elif isinstance(value, str) and "\0" in value:
        raise BadInput(f"{where} holds a null character", "Remove it.")
    elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise BadInput(f"{where} is too large a number", "TOML's are of 64 bits.")


def _check_places(content: dict[str, Any], file: Path) -> None:
    """Refuse paths that the system cannot look at: too long, or out of bounds for us."""
    for table, key in _PLACES:
        stated = content.get(table, {}).get(key, "")
        try:
            "://" in stated or (file.parent / stated).is_dir()
        except OSError as error:
            raise BadInput(
                f"{file}: [{table}] {key} cannot be used: {error.strerror}", "Choose another path."
            ) from error


def _check_number(value: object, key: str, where: str) -> None:
    """`keep_releases` counts, `keep_days` may be a fraction."""
    least, kinds = _NUMBERS[key], (int,) if key == "keep_releases" else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value < 1e6:
        kind = "a whole number" if kinds == (int,) else "a number"
        raise BadInput(f"{where} must be {kind} from {least}")


def check_keys(table: Iterable[str], known: Iterable[str], where: str) -> None:
    """Refuse a key nobody reads, with the nearest known one."""
    known = list(known)
    for key in table:
        if key not in known:
            raise BadInput(f"{where}: unknown setting {key!r}", did_you_mean(key, known))


_LISTED = 20


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint that names the nearest of the known names, or lists them."""
    known = sorted(known)
    if not known:
        return "There are none yet."
    by_lower_case = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name.lower(), by_lower_case, n=1, cutoff=0.6)
    if near:
        return f"Did you mean {by_lower_case[near[0]]!r}?"
    more = f" and {len(known) - _LISTED:,} more" if len(known) > _LISTED else ""
    return f"Known: {', '.join(known[:_LISTED])}{more}."


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+=@-]*")


def is_name(name: str) -> bool:
    """A name safe in a label set, a path and a table: no spaces, quotes, slashes or `..`."""
    return bool(_NAME.fullmatch(name)) and ".." not in name


def check_name(name: str, where: str) -> None:
    """Raise `BadInput` unless `is_name(name)`."""
    if not is_name(name):
        raise BadInput(
            f"{where}: {name!r} cannot be used as a name",
            "Use letters, digits and . _ + = @ - only, starting with a letter or digit.",
        )
