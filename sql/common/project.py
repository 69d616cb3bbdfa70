"""`gradelake.toml`: where the lake is, and the tables the other rooms read their settings from."""

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.quoting import shell_word

CONFIG_NAME = "gradelake.toml"
# Settings are checked by hand, because every command reads them and importing pydantic would cost
# each 0.1 s; the other tables are models (sql/common/checked.py). Those that are numbers: their
# type, the least and the most that they may be.
_NUMBERS: dict[str, tuple[type, float, float]] = {
    "memory_gb": (float, 0.5, 1e6),
    "keep_releases": (int, 1, 1e6),
    "keep_days": (float, 0, 1e6),
    "least_share": (float, 0, 1),
    "max_unzipped_gb": (float, 0.1, 1e6),
    "max_unzipped_ratio": (float, 1, 1e6),
}
_SETTINGS: dict[str, set[str]] = {  # by table
    "lake": {"path", "catalog", "data", *_NUMBERS},
    "grading": {"prompts", "engines", "ray_address"},
    **{table: set() for table in ("collections", "graders", "gates", "sentinels", "probes")},
}
MOST_TRIALS = 20  # of a grader
_PLACES = (("lake", "path"), ("lake", "data"), ("grading", "prompts"), ("grading", "engines"))
# a key of so many parts that are joined by dots
_DEEP = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){100}""")


class NoProject(BadInput):
    """No gradelake.toml was named, and there is none here or above."""


@dataclass(frozen=True)
class Project:
    """A parsed `gradelake.toml`. Relative paths in it are relative to the file itself."""

    file: Path
    lake_path: Path
    catalog: str | None = None
    data: str | None = None
    memory_gb: float | None = None  # what DuckDB may hold; None: half of the machine's
    keep_releases: int = 14  # how many of the newest stay when the lake is tidied
    keep_days: float = 1  # how long files stay that nothing needs any more, and snapshots
    least_share: float = 0.9  # of the last release's rows, without which a night publishes nothing
    max_unzipped_gb: float = 200  # what a .gz may become; more is not read
    max_unzipped_ratio: float = 200  # the same, of its own size
    grading: dict[str, str] = field(default_factory=dict)
    collections: dict[str, dict[str, Any]] = field(default_factory=dict)
    graders: dict[str, dict[str, Any]] = field(default_factory=dict)
    trials: dict[str, tuple[str, int]] = field(default_factory=dict)  # NAME.2 -> NAME, 2
    gates: dict[str, dict[str, Any]] = field(default_factory=dict)
    sentinels: dict[str, dict[str, Any]] = field(default_factory=dict)
    probes: dict[str, dict[str, Any]] = field(default_factory=dict)
    rubric_edits: bytes | None = None  # of a night, while seeds/rubric_edits.csv has wrong rows
    text: str = field(default="", repr=False)

    @classmethod
    def find(cls, path: str | os.PathLike[str] | None = None) -> "Project":
        """Read the given file, else `$GRADELAKE_CONFIG`, else the nearest one at or above here.

        Raises `NoProject` when none was named and there is none, and `BadInput` when it cannot be
        read, and, unless it was named, when it or what it has run belongs to another user.
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
            if (file := folder / CONFIG_NAME).is_file():
                _check_owner(file, file)
                project = cls.read(file)
                beside = [project.grading.get(key) for key in ("engines", "prompts")]
                for table in project.collections.values():
                    own = table.get("registered_by")  # a file of Python, or a module
                    if isinstance(own, str) and own.endswith(".py"):
                        beside += [own, os.path.dirname(own) or "."]
                for name in ("seeds", *filter(None, beside)):
                    _check_owner(project.folder / name, file)
                return project
        raise NoProject(
            f"no {CONFIG_NAME} in {here} or any folder above it",
            "Run `gradelake init` here, or name one: --config FILE, or $GRADELAKE_CONFIG.",
        )

    @classmethod
    def read(cls, file: Path) -> "Project":
        """Parse one file. Raises `BadInput` naming the line where that is known."""
        file = file.resolve()
        try:
            text = file.read_text(encoding="utf-8")
            if deep := _DEEP.search(text):  # Python's reader takes minutes for 50,000 of them
                line = text.count("\n", 0, deep.start()) + 1
                raise BadInput(f"{file}:{line}: nested too deeply", "Is this the right file?")
            content = tomllib.loads(text)
            _check_values(content, str(file))
        except tomllib.TOMLDecodeError as error:
            found = re.search(r"line (\d+)", str(error))
            where = f"{file}:{found[1]}" if found else str(file)
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
        _check_tables(content, file, text)
        _check_places(content, file)
        lake, graders = content.get("lake", {}), content.get("graders", {})
        trials = _further_trials(graders, file, text)
        return cls(
            file=file,
            lake_path=file.parent / lake.get("path", "lake"),
            catalog=lake.get("catalog"),
            data=lake.get("data"),
            **{key: lake[key] for key in _NUMBERS if key in lake},
            grading=content.get("grading", {}),
            collections=content.get("collections", {}),
            graders=graders | {name: graders[first] for name, (first, _) in trials.items()},
            trials=trials,
            gates=content.get("gates", {}),
            sentinels=content.get("sentinels", {}),
            probes=content.get("probes", {}),
            text=text,
        )

    @property
    def folder(self) -> Path:
        return self.file.parent

    def line_of(self, *path: str) -> int | None:
        """The line of a setting, or of the table it belongs in; None when there is none."""
        return _line_of(self.text, *path)

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


def if_any(find: Callable[[], Project]) -> Project | None:
    """What `find` finds; None where no gradelake.toml was named and there is none."""
    try:
        return find()
    except NoProject:
        return None


def _further_trials(
    graders: dict[str, dict[str, Any]], file: Path, text: str
) -> dict[str, tuple[str, int]]:
    """NAME.2 and NAME.3 of a grader with `trials = 3`: whose trials, and which, they are."""
    further = {}
    for name, table in graders.items():
        trials = table.get("trials")
        if type(trials) is not int or trials > MOST_TRIALS:
            continue  # reading the grader says what is wrong
        for trial in range(2, trials + 1):
            if f"{name}.{trial}" in graders:
                line = _line_of(text, "graders", name, "trials")
                raise BadInput(
                    f"{file}:{line}: [graders.{name}]: trials: its trials are called {name}.2 and "
                    f'so on, and there is a [graders."{name}.{trial}"]',
                    "Give one of them another name.",
                )
            further[f"{name}.{trial}"] = (name, trial)
    return further


def _check_owner(place: Path, file: Path) -> None:
    """Refuse what another user has put where it would be found: it may run code as this one."""
    for look in (os.lstat, os.stat):  # a link, and what it leads to
        try:
            owner = look(place).st_uid
        except OSError:
            return  # it is not there: a command that needs it says so
        if owner not in (os.geteuid(), 0):
            raise BadInput(
                f"{place} belongs to another user (uid {owner}), and what is run is read from it",
                "If you trust that user with this account, name it: "
                f"gradelake --config {shell_word(file)} ...",
            )


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


def _check_tables(content: dict[str, Any], file: Path, text: str) -> None:
    """Refuse unknown tables and settings, and values of another kind."""

    def wrong(*path: str, message: str, hint: str | None = None) -> BadInput:
        line = _line_of(text, *path)
        return BadInput(f"{file}{f':{line}' if line else ''}: {message}", hint)

    for name, table in content.items():
        if name not in _SETTINGS:
            hint = did_you_mean(name, _SETTINGS)
            raise wrong(name, message=f"unknown setting {name!r}", hint=hint)
        if not isinstance(table, dict):
            raise wrong(name, message=f"[{name}] must be a table")
        for key, value in table.items():
            if not (known := _SETTINGS[name]):
                if not is_name(key):
                    message = f"[{name}.{key}]: {key!r} cannot be used as a name"
                    raise wrong(name, key, message=message, hint=HOW_TO_NAME)
                if not isinstance(value, dict):
                    raise wrong(name, key, message=f"[{name}.{key}] must be a table")
            elif key not in known:
                message = f"[{name}]: unknown setting {key!r}"
                raise wrong(name, key, message=message, hint=did_you_mean(key, known))
            elif key in _NUMBERS:
                kind, least, most = _NUMBERS[key]
                if type(value) not in (int, kind) or not least <= value <= most:  # a bool is none
                    what = "a whole number" if kind is int else "a number"
                    message = f"[{name}] {key} must be {what} from {least}"
                    message += f" to {most}" if most < 1e6 else ""
                    raise wrong(name, key, message=message)
            elif not isinstance(value, str):
                raise wrong(name, key, message=f"[{name}] {key} must be a string")


def _line_of(text: str, *path: str) -> int | None:
    """The line that leads farthest on a path of keys, the first of these."""
    found, farthest = None, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), start=1):
        is_table = line.lstrip().startswith("[")
        try:
            content: Any = tomllib.loads(line if is_table else f"{line.partition('=')[0]}=0")
        except tomllib.TOMLDecodeError:
            continue
        keys: tuple[str, ...] = () if is_table else table
        while isinstance(content, dict) and content:
            key, content = content.popitem()
            keys = (*keys, key)
        table = keys if is_table else table
        if farthest < len(keys) and keys == path[: len(keys)]:
            found, farthest = number, len(keys)
    return found


_LISTED = 20


# what brings the first of a kind
TO_JUDGE = "Nobody judged it yet. Set judgments in gradelake.toml, and ingest."
TO_LABEL = (
    "Nothing is labelled yet. Ingest judgments, `gradelake import labels` or `gradelake grade`; "
    "then `gradelake build`."
)
TO_BANK = "There is none yet. `gradelake import bank` or `gradelake generate` brings one in."
TO_GRADE = (
    "There is none yet. Describe one in gradelake.toml ([graders.NAME] engine, prompt), `gradelake "
    "grade`, then build."
)
TO_RANK = "There is none yet. Set runs or responses in gradelake.toml, and ingest."


def require_known(
    name: str,
    known: Collection[str],
    message: str,
    error: type[BadInput] = BadInput,
    none_yet: str = "There are none yet.",
) -> None:
    """Raise an error with the message, and a hint at the nearest, unless the name is known."""
    if name not in known:
        raise error(message, did_you_mean(name, known, none_yet))


def did_you_mean(name: str, known: Iterable[str], none_yet: str = "There are none yet.") -> str:
    """A hint that names the nearest of the known names, or lists them; `none_yet` where there are
    none."""
    known = sorted(known)
    if not known:
        return none_yet
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


def nearest_name(text: str) -> str:
    """The nearest text that can be used as a name; none where there is none."""
    return re.sub(r"\.\.+", ".", re.sub(r"[^A-Za-z0-9_.+=@-]+", "-", text)).strip("-._+=@")


HOW_TO_NAME = "Use letters, digits and . _ + = @ - only, starting with a letter or digit."


def check_name(name: str, where: str) -> None:
    """Raise `BadInput` unless `is_name(name)`."""
    if not is_name(name):
        raise BadInput(f"{where}: {name!r} cannot be used as a name", HOW_TO_NAME)
