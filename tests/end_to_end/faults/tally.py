"""What became of the faults.

    python -m tests.end_to_end.faults.tally

prints the tables of the last campaign, whose parts each kept theirs.
"""

import pickle
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.table import Table

AGAIN, TOLD = "retried", "clear error"
HARM = ("lost", "doubled", "unsound")
KEPT = Path(__file__).parents[3] / "build" / "campaigns"


@dataclass
class Tally:
    """How often a fault of each kind met each command at work, and how that ended."""

    ended: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # command, kind, how
    harm: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    rounds: int = 0
    runs: int = 0  # of commands and nights
    reads: int = 0

    def count(self, kind: str = "", command: str = "", how: str = "") -> int:
        """Faults that met a command at work: of a kind, of a command, that ended so, or all."""
        wanted = (command, kind, how)
        return sum(
            n
            for key, n in (self.harm if how in HARM else self.ended).items()
            if all(not want or want == have for want, have in zip(wanted, key, strict=True))
        )

    @property
    def total(self) -> int:
        return self.count()

    def table(self, by: str = "kind") -> Table:
        """For people, a row for each `kind` or `command`."""
        titles = ("injected", AGAIN, TOLD, "rows lost", "doubled", "unsound")
        table = Table("fault" if by == "kind" else by, *titles, box=None, pad_edge=False)
        for column in table.columns[1:]:
            column.justify = "right"
        for name in [*sorted({key[by == "kind"] for key in self.ended}), ""]:
            counts = (self.count(how=how, **{by: name}) for how in ("", AGAIN, TOLD, *HARM))
            table.add_row(name or "all", *map(str, counts))
        for kind, why in self.left_out.items() if by == "kind" else ():
            table.add_row(kind, f"not tried: {why}")
        return table

    def text(self) -> str:
        """Both tables, and what was wrong."""
        console = Console(width=100, markup=False)
        with console.capture() as printed:
            console.print(self.table("kind"))
            console.print(self.table("command"))
            console.print(
                f"{self.total} faults in {self.runs} commands and nights; readers read "
                f"{self.reads} times; {len(self.problems)} problems"
            )
            for problem in self.problems:
                console.print(f"- {problem}")
        return printed.get()

    def keep(self, lake: str, seed: int) -> None:
        KEPT.mkdir(parents=True, exist_ok=True)
        (KEPT / f"{lake}-{seed}.pickle").write_bytes(pickle.dumps(self))

    @classmethod
    def of(cls, parts: Iterable["Tally"]) -> "Tally":
        """Several in one."""
        whole = cls()
        for part in parts:
            whole.ended += part.ended
            whole.harm += part.harm
            whole.problems += part.problems
            whole.left_out |= part.left_out
            whole.rounds += part.rounds
            whole.runs += part.runs
            whole.reads += part.reads
        return whole


def main() -> None:
    files = sorted(KEPT.glob("*.pickle"))
    for lake, parts in groupby(files, lambda file: file.stem.partition("-")[0]):
        print(lake)
        print(Tally.of(pickle.loads(part.read_bytes()) for part in parts).text())


if __name__ == "__main__":
    main()
