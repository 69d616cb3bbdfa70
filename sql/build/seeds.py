"""The seeds of a build: those that people keep next to gradelake.toml, over the packaged ones."""

import csv
import hashlib
import io
import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.judgment_kinds import ROW, judgment_kinds
from gradelake.sql.common.project import Project, require_known
from gradelake.sql.common.whole_file import whole_file

if TYPE_CHECKING:
    from gradelake.sql.lake.opening import Lake

KINDS = "judgment_kinds.csv"  # a seed that nobody has of their own
PACKAGED = Path(__file__).resolve().parents[2] / "dbt_project" / "seeds"
_GRID, _WITHOUT = "evaluation_grid.csv", "without "
_WHOLE = re.compile("(-?[0-9]{1,9})?")
_DESCRIBED = PACKAGED.parent / "models" / "seeds" / "_seeds__models.yml"


class WrongSeeds(BadInput):
    """Rows of seeds that cannot land; `found` has (file, row, problem) of each."""

    def __init__(self, found: list[tuple[str, str, str]], folder: Path):
        from gradelake.sql.common.problems import SHOWN

        self.found = found
        lines = [f"{seed}: {row}: {problem}" for seed, row, problem in found[:SHOWN]]
        if len(found) > SHOWN:
            lines.append(f"and {len(found) - SHOWN:,} more like these")
        super().__init__(
            "\n  ".join(lines),
            f"Fix these rows in {folder} (row 1 is the one below the names) and build again; until "
            "then nothing of the file counts.",
        )


def seeds_folder(project: Project) -> Path:
    """Where a project keeps its own seeds."""
    return project.folder / "seeds"


def contents(project: Project, instead: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """What each seed holds for a project, by its name without `.csv`.

    A file of the project's own folder takes the place of the packaged one of the same name, but for
    the grid of measures, to which it adds; and one of `instead` (by file name), or
    `project.rubric_edits`, that of both. Raises `BadInput` for a file that no seed is called, and
    `Rejected` for rows that do not fit the header.
    """
    found = {file.name: _rows_of(file.read_bytes()) for file in sorted(PACKAGED.glob("*.csv"))}
    packaged = dict(found)
    found[KINDS] = [list(ROW), *(kind.row for kind in judgment_kinds().values())]
    own: dict[str, Path | bytes] = {each.name: each for each in _own(project)}
    if project.rubric_edits is not None:
        own["rubric_edits.csv"] = project.rubric_edits
    for name, file in (own | dict(instead or {})).items():
        require_known(name, packaged, f"seeds/{name}: no seed has this name")
        shown = os.path.relpath(file) if isinstance(file, Path) else f"seeds/{name}"
        found[name] = _over(name, _checked(file, shown, found[name][0]), found[name])
    return {name.removesuffix(".csv"): _as_text(rows) for name, rows in found.items()}


def _over(name: str, edited: list[list[str]], packaged: list[list[str]]) -> list[list[str]]:
    """What a file of people's own makes of the packaged one. A grid adds measures; its lines
    `without MEASURE` take packaged ones away, `without packaged` all of them."""
    if name != _GRID:
        return edited
    away = {cell.removeprefix(_WITHOUT) for (cell,) in edited if cell.startswith(_WITHOUT)}
    kept = [row for row in packaged[1:] if not away & {row[0], "packaged"}]
    added = [[cell] for (cell,) in edited[1:] if cell.removeprefix(_WITHOUT) not in away]
    wrong = [[_WITHOUT + each] for each in sorted(away) if [each] not in [*packaged, ["packaged"]]]
    return [packaged[0], *kept, *(row for row in added if row not in kept), *wrong]


def _own(project: Project) -> list[Path]:
    return sorted(seeds_folder(project).glob("*.csv"))


def gather(
    project: Project, folder: Path | None = None, instead: Mapping[str, bytes] | None = None
) -> Path:
    """Write `contents` into one folder, for dbt, and return it; `folder`: not the lake's."""
    gathered = folder or project.lake_path.resolve() / "dbt" / "seeds"
    gathered.mkdir(parents=True, exist_ok=True)
    seeds = contents(project, instead)
    for old in gathered.glob("*.csv"):
        if old.stem not in seeds:
            old.unlink()
    for name, content in seeds.items():
        target = gathered / f"{name}.csv"
        if not target.is_file() or target.read_bytes() != content:
            with whole_file(target) as file:
                file.write(content)
    return gathered


def hashes(seeds: Mapping[str, bytes]) -> dict[str, str]:
    """The SHA-256 of each seed: what a build notes of those it was made from."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in seeds.items()}


def edited_since(project: Project, built: Mapping[str, str]) -> list[str]:
    """The files of a project's own seeds that are not as in the build of these hashes.

    A file that is wrong is one of them: the next build says what is wrong.
    """
    return [file.name for file in _own(project) if _hash_of(file) != built.get(file.stem)]


def _hash_of(file: Path) -> str | None:
    """What `hashes` has of one file of people's own; None where it is wrong."""
    try:
        packaged = _rows_of((PACKAGED / file.name).read_bytes())
        rows = _over(file.name, _checked(file, os.path.relpath(file), packaged[0]), packaged)
    except (BadInput, FileNotFoundError):
        return None
    return hashes({file.stem: _as_text(rows)})[file.stem]


def edits_are_in(lake: "Lake", seeds: Iterable[str] = ("rubric_edits",)) -> bool:
    """Whether the lake has the rows of these seeds, no more and no fewer."""
    wanted = contents(lake.project)
    return all(_in_lake(lake, seed) == sorted(_rows_of(wanted[seed])[1:]) for seed in seeds)


def measures_gone(lake: "Lake") -> list[str]:
    """The measures that the last build computed, and the next one will not."""
    wanted = _rows_of(contents(lake.project)[_GRID.removesuffix(".csv")])
    return [name for (name,) in _in_lake(lake, "evaluation_grid") or [] if [name] not in wanted]


def _in_lake(lake: "Lake", seed: str) -> list[list[str]] | None:
    """The rows of a seed that the lake has, as texts; None before the first build."""
    try:
        rows = lake.rows(f"select columns(*)::varchar from lake.intermediate.{seed}")
    except duckdb.CatalogException:
        return None
    return sorted([cell or "" for cell in row] for row in rows)


def edits_of(lake: "Lake") -> bytes:
    """The rubric edits that the lake has, as a file; none before the first build."""
    header = _rows_of((PACKAGED / "rubric_edits.csv").read_bytes())[0]
    return _as_text([header, *(_in_lake(lake, "rubric_edits") or [])])


def _rows_of(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


@cache
def _whole_numbers() -> dict[str, set[str]]:
    """The columns of each seed that hold whole numbers, as their yml says."""
    import yaml

    described = yaml.safe_load(_DESCRIBED.read_text(encoding="utf-8"))
    return {
        f"{seed['name']}.csv": {
            column["name"] for column in seed["columns"] if column.get("data_type") == "integer"
        }
        for seed in described["models"]
    }


def _checked(file: Path | bytes, shown: str, header: list[str]) -> list[list[str]]:
    """A seed's rows, if every one fits the header."""
    from gradelake.sql.common import files
    from gradelake.sql.common.problems import Problems

    problems = Problems(shown, "Fix these rows and build again; nothing was changed.")
    numbers = _whole_numbers()[Path(shown).name]
    content = files.read(file, shown) if isinstance(file, Path) else file
    reader = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
    rows: list[list[str]] = []
    try:
        for cells in reader:
            if not rows and cells != header:
                problems.add(1, f"the first line must be {','.join(header)}")
                break
            if rows and cells and len(cells) != len(header):
                problems.add(
                    reader.line_num,
                    f"{len(cells)} cells instead of {len(header)} (a text with a comma needs "
                    "double quotes)",
                )
            elif cells:
                stated = zip(header, cells, strict=True) if rows else ()  # but for the names
                for column, cell in stated:
                    if column in numbers and not _WHOLE.fullmatch(cell.strip()):
                        problem = f"{column} {cell!r} is not a whole number"
                        problems.add(reader.line_num, problem)
                rows.append(cells)
    except csv.Error as error:
        problems.add(reader.line_num, f"quotes that do not match ({error})")
    problems.raise_if_any()
    return rows


def _as_text(rows: Iterable[list[str]]) -> bytes:
    """Every filled cell is quoted, so that nothing about quotes is left to guess."""

    def quoted(cell: str) -> str:
        return '"' + cell.replace('"', '""') + '"' if cell else ""

    return "".join(",".join(map(quoted, cells)) + "\n" for cells in rows).encode()
