"""What `gradelake lake verify` looked at, and what it found."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Fault:
    """One thing wrong: which file or table, which catalogs are hit, and what to do."""

    what: str
    hint: str
    file: str | None = None
    table: str | None = None
    hits: list[str] = field(default_factory=list)


@dataclass
class Verified:
    """What was looked at and what was found."""

    deep: bool = False
    catalogs: list[str] = field(default_factory=list)
    files: int = 0
    bytes: int = 0
    compared: int = 0  # files whose bytes were compared with a backup's
    orphans: int = 0  # files that no catalog names
    orphan_bytes: int = 0
    tables: dict[str, int] = field(default_factory=dict)  # raw tables checked: rows
    notes: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
