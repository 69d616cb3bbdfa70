"""What the commands of agreement answer: an object for `--json`, tables for people."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gradelake.analyses.stats.answers import interval, rounded
from gradelake.analyses.stats.ceiling import Together
from gradelake.analyses.stats.kappas import Kappa
from gradelake.analyses.stats.rates import FIGURES, Rates
from gradelake.analyses.stats.resample import Spread
from gradelake.sql.common import console

FEW = 10  # queries in which labels differ


def _said(value: float | None, spread: Spread) -> str:
    return "undefined" if value is None else f"{value:.3f} ({interval(spread)})"


def _figures(names: Sequence[str], values: Sequence, spreads: Sequence[Spread]) -> dict[str, Any]:
    """name -> {value, low, high, standard_error, undefined}."""
    of = zip(names, values, spreads, strict=True)
    return {name: {"value": value} | asdict(spread) for name, value, spread in of}


@dataclass(frozen=True)
class Kappas:
    """Kappas with a reference, perhaps compared with another judge's."""

    about: dict[str, Any]
    found: list[Kappa]
    better: list[Together]

    def as_object(self) -> dict[str, Any]:
        rows = [asdict(one) for one in self.found]
        return self.about | {
            "kappas": [
                {name: value for name, value in row.items() if name != "spread"} | row["spread"]
                for row in rows
            ],
            "better": [
                {"label_set": one.sides[0], "kind": one.kind, "n": one.n, "p": one.p}
                | _figures(
                    ("kappa", "against", "difference"),
                    (*one.kappas, one.difference),
                    (*one.spreads, one.spread),
                )
                for one in self.better
            ],
        }

    def show(self) -> None:
        console.say(f"reference: {self.about['reference']}")
        console.print_table(
            ["label set", "kind", "cut", "kappa", "interval", "pairs", "queries apart"],
            [
                [
                    *(one.label_set, one.kind, one.cut, rounded(one.kappa)),
                    *(interval(one.spread), one.n, one.n_disagreeing),
                ]
                for one in self.found
            ],
        )
        if any(0 < one.n_disagreeing < FEW for one in self.found):
            console.warn(
                f"note: where labels differ in fewer than {FEW} queries, an interval knows little: "
                "other queries may hold errors that these do not"
            )
        if self.better:
            console.say(f"\nAgrees better than {self.about['against']}, on the same pairs?")
            console.print_table(
                ["label set", "kind", "kappa", "its", "difference", "interval", "p", "pairs"],
                [
                    [
                        *(one.sides[0], one.kind, *map(rounded, one.kappas)),
                        *(rounded(one.difference), interval(one.spread)),
                        *(rounded(one.p), one.n),
                    ]
                    for one in self.better
                ],
            )


@dataclass(frozen=True)
class Ceilings:
    """Judges and two people on the same passages."""

    about: dict[str, Any]
    found: list[Together]

    def as_object(self) -> dict[str, Any]:
        return self.about | {
            "ceilings": [
                dict(zip(("label_set", "assessor", "other_assessor"), one.sides, strict=True))
                | {"kind": one.kind, "n": one.n, "p": one.p}
                | _figures(
                    ("kappa_assessor", "kappa_other", "kappa_people", "shortfall"),
                    (*one.kappas, one.difference),
                    (*one.spreads, one.spread),
                )
                for one in self.found
            ]
        }

    def show(self) -> None:
        for people in dict.fromkeys(one.sides[1:] for one in self.found):
            heads = ["label set", "kind", *(f"with {who}" for who in people), "people"]
            console.say(f"{' and '.join(people)}, and who labelled the same passages:")
            console.print_table(
                [*heads, "shortfall", "p", "pairs"],
                [
                    [
                        *(one.sides[0], one.kind, *map(_said, one.kappas, one.spreads)),
                        *(_said(one.difference, one.spread), rounded(one.p), one.n),
                    ]
                    for one in self.found
                    if one.sides[1:] == people
                ],
            )
        if not self.found:
            console.warn("note: no passage was labelled by a judge and by two assessors")


@dataclass(frozen=True)
class RatesFound:
    """The share of relevant passages at each cut of a judge's labels."""

    about: dict[str, Any]
    found: list[Rates]

    def as_object(self) -> dict[str, Any]:
        return self.about | {
            "cuts": [
                {"label_cut": one.label_cut, "n": one.n, "n_judged": one.n_judged}
                | _figures(FIGURES, [*one.figures.values()], [*one.spreads.values()])
                for one in self.found
            ]
        }

    def show(self) -> None:
        one = self.found[0]
        console.say(f"{one.n:,} passages labelled, {one.n_judged:,} of them judged by people")
        console.print_table(
            ["cut", "share", "value", "interval"],
            [
                [
                    f">={one.label_cut}",
                    name,
                    rounded(one.figures[name]),
                    interval(one.spreads[name]),
                ]
                for one in self.found
                for name in FIGURES
            ],
        )
        if no_better := [
            f">={one.label_cut}" for one in self.found if one.figures["corrected"] is None
        ]:
            console.warn(
                f"note: at {', '.join(no_better)} the judge is not shown to be better than chance: "
                "its rate cannot be corrected by its errors"
            )
