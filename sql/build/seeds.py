"""The seeds of a build: those that people keep next to gradelake.toml, over the packaged ones."""

import contextlib
import csv
import hashlib
import io
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project, did_you_mean
from gradelake.sql.common.whole_file import whole_file

if TYPE_CHECKING:
    from gradelake.sql.lake.lake import Lake

EDITS_INSTEAD = "GRADELAKE_EDITS_INSTEAD"  # a night's steps: a file of edits that takes the place
FACET = "facet_id"
PACKAGED = Path(__file__).resolve().parents[2] / "dbt_project" / "seeds"
_DESCRIBED = PACKAGED.parent / "models" / "seeds" / "seeds.yml"


def seeds_folder(project: Project) -> Path:
    """Where a project keeps its own seeds."""
    return project.folder / "seeds"


def gather(project: Project, folder: Path | None = None, instead: Iterable[Path] = ()) -> Path:
    """Put the seeds that hold for a project into one folder, and return it.

    A file of the project's own folder takes the place of the packaged one of the same name, and one
    of `instead` (or `EDITS_INSTEAD`) that of both. `folder`: another one than the lake's.

    Raises `BadInput` for a file that no seed is called, and `Rejected` for rows that do not fit the
    header.
    """
    gathered = folder or project.lake_path.resolve() / "dbt" / "seeds"
    gathered.mkdir(parents=True, exist_ok=True)
    packaged = {file.name: file.read_bytes() for file in PACKAGED.glob("*.csv")}
    own = {}
    of_the_night = [Path(os.environ[EDITS_INSTEAD])] if EDITS_INSTEAD in os.environ else []
    files = [*sorted(seeds_folder(project).glob("*.csv")), *of_the_night, *instead]
    for name, file in {file.name: file for file in files}.items():
        if name not in packaged:
            raise BadInput(f"{file}: no seed has this name", did_you_mean(name, packaged))
        own[name] = _checked(file, _header(packaged[name]))
    for old in gathered.glob("*.csv"):
        if old.name not in packaged:
            old.unlink()
    for name, content in (packaged | own).items():
        _write(gathered / name, content)
    return gathered


def edited_since(project: Project, built: Mapping[str, str]) -> list[str]:
    """The files of a project's own seeds that are not as in the build of these hashes.

    `built` has the SHA-256 of each seed as `gather` writes it, by its name without `.csv`.
    """
    edited = []
    for packaged in sorted(PACKAGED.glob("*.csv")):
        own = seeds_folder(project) / packaged.name
        if not own.is_file():
            continue
        contents = [own.read_bytes()]  # as the packaged one was built, before there was this file
        with contextlib.suppress(BadInput):  # the next build says what is wrong
            contents.append(_checked(own, _header(packaged.read_bytes())))
        if built.get(packaged.stem) not in [hashlib.sha256(c).hexdigest() for c in contents]:
            edited.append(packaged.name)
    return edited


def edits_are_in(lake: "Lake", gathered: Path, seeds: Iterable[str] = ("rubric_edits",)) -> bool:
    """Whether the lake has the rows of these gathered files, no more and no fewer."""
    return all(_is_in(lake, gathered / f"{seed}.csv") for seed in seeds)


def _is_in(lake: "Lake", file: Path) -> bool:
    table = f"lake.intermediate.{file.stem}"
    of_file = (
        "select * from read_csv($file, header = true, all_varchar = true, auto_detect = false, "
        "delim = ',', quote = '\"', escape = '\"', nullstr = '', columns = $columns)"
    )
    columns = dict.fromkeys(_header(file.read_bytes()), "VARCHAR")
    try:
        return not lake.rows(
            f"(({of_file}) except all from {table}) union all (from {table} except all ({of_file}))"
            " limit 1",
            file=str(file),
            columns=columns,
        )
    except duckdb.CatalogException:
        return False  # no build yet


def edits_of(lake: "Lake") -> bytes:
    """The rubric edits that the lake has, as `gather` writes them; none before the first build."""
    header = _header((PACKAGED / "rubric_edits.csv").read_bytes())
    try:
        rows = lake.rows("from lake.intermediate.rubric_edits")
    except duckdb.CatalogException:
        rows = []
    return _as_text([header, *([cell or "" for cell in row] for row in rows)])


def _write(target: Path, content: bytes) -> None:
    """Write a file unless it has these bytes already."""
    if target.is_file() and target.read_bytes() == content:
        return
    with whole_file(target) as file:
        file.write(content)


def _header(content: bytes) -> list[str]:
    return next(csv.reader(io.StringIO(content.decode())))


def _whole_numbers() -> dict[str, set[str]]:
    """The columns of each seed that hold whole numbers, as seeds.yml says."""
    import yaml

    described = yaml.safe_load(_DESCRIBED.read_text(encoding="utf-8"))
    return {
        f"{seed['name']}.csv": {
            column["name"] for column in seed["columns"] if column.get("data_type") == "integer"
        }
        for seed in described["models"]
    }


def _checked(file: Path, header: list[str]) -> bytes:
    """A seed's content, if every row fits the header: every filled cell quoted, so that nothing
    about quotes is left to guess."""
    from gradelake.sql.common import files
    from gradelake.sql.common.problems import Problems

    shown = os.path.relpath(file)
    problems = Problems(shown, "Fix these rows and build again; nothing was changed.")
    numbers = _whole_numbers()[file.name]
    reader = csv.reader(io.StringIO(files.read(file, shown).decode(), newline=""), strict=True)
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
                if rows:
                    _check_numbers(cells, header, numbers, reader.line_num, problems)
                rows.append(cells)
    except csv.Error as error:
        problems.add(reader.line_num, f"quotes that do not match ({error})")
    problems.raise_if_any()
    return _as_text(rows)


def _as_text(rows: Iterable[list[str]]) -> bytes:
    return "".join(",".join(map(_quoted, cells)) + "\n" for cells in rows).encode()


def _check_numbers(cells, header, numbers, line, problems) -> None:
    for column, cell in zip(header, cells, strict=False):
        if column in numbers and not re.fullmatch(r"(-?[0-9]{1,9})?", cell.strip()):
            problems.add(line, f"{column} {cell!r} is not a whole number")


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if cell else ""
