"""How a figure looks, by its kind: the one place that says digits, alignment and what is undefined.

Every form that people read (terminal, LaTeX, Markdown, HTML, a picture's labels) takes a figure's
text from here. CSV and JSON have the value itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from math import ceil, isfinite, log10
from typing import Any

from gradelake.sql.shown.units import amount, duration

UNDEFINED = "--"
OF_PAGES = ("digits", "tells", "is_signed", "percent")  # what a page's script heeds of a kind


@dataclass(frozen=True)
class Kind:
    """A kind of figure. `digits`: behind the point, none of a text.

    `below`: what is less than half of the last digit is `< 0.001`, not 0. `tells`: what would be 0,
    and is not, has as many digits as it takes. `is_signed`: with its plus. `percent`: a share,
    shown times 100. `is_plain`: a whole number without commas. `write`: a way of its own.
    """

    name: str
    digits: int | None = None
    is_number: bool = True
    undefined: str = UNDEFINED
    below: bool = False
    tells: bool = False
    is_signed: bool = False
    percent: bool = False
    is_plain: bool = False
    write: Callable[[Any], str] | None = None

    def text(self, value: Any) -> str:
        """A value as people read it; a text stands as it is, None and NaN as `undefined`."""
        if value is None or (isinstance(value, float) and not isfinite(value)):
            return self.undefined
        if isinstance(value, str):
            return value
        if self.write:
            return self.write(value)
        if not self.is_number or self.digits is None:
            return _listed(value)
        if self.below and value < 0.5 * 10**-self.digits:
            return f"< {10**-self.digits:.{self.digits}f}"
        shown, digits = 100 * value if self.percent else value, self.digits
        if self.tells and 0 < abs(shown) < 0.5 * 10**-digits:
            digits = ceil(-log10(abs(shown)))
        text = f"{shown:z{'' if self.is_plain else ','}.{digits}f}"
        if self.is_signed and shown > 0 and float(text.replace(",", "")):
            text = f"+{text}"
        return f"{text}%" if self.percent else text

    @property
    def d3(self) -> str:
        """The format of a figure in a picture, as d3 writes it."""
        sign, comma = "+" if self.is_signed else "", "" if self.is_plain else ","
        return f"{sign}{comma}.{self.digits}{'%' if self.percent else 'f'}"

    def as_object(self) -> dict[str, Any]:
        """What a page's script needs to show a figure as all others do."""
        return {name: value for name, value in asdict(self).items() if name in OF_PAGES}


def _listed(value: Any) -> str:
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(map(str, value))
    return str(value)


def _rank(value: Any) -> str:
    return f"{value:.4g}"  # ties may share a half one


def _seconds(value: Any) -> str:
    return duration(float(value))


def _flag(value: Any) -> str:
    return "yes" if value else "no"


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("score", digits=3),
        Kind("difference", digits=3, tells=True),
        Kind("change", digits=3, tells=True, is_signed=True),
        Kind("kappa", digits=3),
        Kind("tau", digits=3),
        Kind("p", digits=3, below=True),
        Kind("share", digits=1, percent=True),
        Kind("percent", digits=0, percent=True, tells=True),
        Kind("ratio", digits=2),
        Kind("rate", digits=1),
        Kind("number", digits=0),
        Kind("interval", undefined="none"),
        Kind("count", digits=0),
        Kind("label", digits=0, is_plain=True),
        Kind("rank", write=_rank),
        Kind("money", write=amount),
        Kind("seconds", write=_seconds),
        Kind("flag", is_number=False, undefined="", write=_flag),
        Kind("id", is_number=False, undefined=""),
        Kind("text", is_number=False, undefined=""),
    )
}


@dataclass(frozen=True)
class Interval:
    """Ends of an interval; without them `reason` says why there is none.

    One without a width is none: chance has shown nothing of it.
    """

    low: float | None
    high: float | None
    reason: str = ""

    @property
    def is_known(self) -> bool:
        return self.low is not None and self.high is not None and self.low < self.high

    def text(self, kind: Kind) -> str:
        """`0.298 to 0.455`, with the digits of the figure that it bounds."""
        if self.is_known:
            return f"{kind.text(self.low)} to {kind.text(self.high)}"
        if self.reason:
            return f"none: {self.reason}"
        return KINDS["interval"].undefined


def shown(kind: str, value: Any) -> str:
    """A value as people read it in a sentence: `shown("kappa", 0.4012)` is `0.401`; None is
    `undefined`."""
    if value is None:
        return "undefined"
    if isinstance(value, Interval):
        return value.text(KINDS[kind])
    return KINDS[kind].text(value)


def said_p(value: float | None) -> str:
    """A p-value in a sentence: `p = 0.021`, `p < 0.001`; `no test` where there is none."""
    if value is None:
        return "no test"
    text = shown("p", value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


# what a column of a mart or of the query book is: by its name, by its last word, or by its first
_NAMED = {
    "score": "score value mean difference loss cover low high stderr observed expected precision "
    "recall specificity ece brier brier_of_share generosity residual favour agreement weighted "
    "normalised workbench mean_grade mean_label",
    "kappa": "kappa alpha shortfall",
    "tau": "spearman kendall tau_ap rbo",
    "p": "p p_value p_holm",
    "share": "share rate risen fallen fooled by_chance",
    "label": "level label grade judgment k tau cut label_cut reference_cut version rubric_version",
    "rank": "rank",
    "count": "n wins losses ties tokens runs pairs failed",
    "money": "cost",
    "seconds": "seconds",
    "id": "id",
}
_BY_NAME = {name: kind for kind, names in _NAMED.items() for name in names.split()}


def kind_of(name: str) -> str | None:
    """The kind of a column by its name; None where the name does not say."""
    if name.startswith("n_"):
        return "count"
    if name.startswith("is_"):
        return "flag"
    first, last = name.partition("_")[0], name.rpartition("_")[2]
    return _BY_NAME.get(name) or _BY_NAME.get(last) or _BY_NAME.get(first)
