"""How pictures look, and how they are written: the same lake gives the same bytes."""

import io
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from gradelake.sql.common import shortened as table_names
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.whole_file import whole_file

if TYPE_CHECKING:
    from matplotlib.typing import RcKeyType

FORMATS = ("svg", "png", "pdf")
# Okabe and Ito's colours, which colour-blind readers tell apart, in print without colour too
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#666666"
COLOURS = (BLUE, VERMILION, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", GREY)
POINTS = 9  # of usual text
STYLE: "dict[RcKeyType, Any]" = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same everywhere
    "font.size": POINTS,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "text.parse_math": False,  # names of systems are not formulas
    "svg.hashsalt": "gradelake",
    "pdf.fonttype": 42,
}
_NO_TIME = {"svg": {"Date": None}, "png": {}, "pdf": {"CreationDate": None}}
MARKERS = "osD^vPX*"  # of what has a colour each
PIXELS_PER_INCH = 200
WIDTH, MARGIN = 6.4, 1.3  # inches of a picture with rows; of its title, axis and legend
MOST_ROWS = 200  # of a picture


@dataclass(frozen=True)
class Look:
    """What a picture was asked to be: inches, and points of its usual text; None: as it is."""

    width: float | None = None
    height: float | None = None
    font_size: float | None = None


_USUAL = Look()
_look: ContextVar[Look] = ContextVar("look", default=_USUAL)


@contextmanager
def looking(look: Look) -> Iterator[None]:
    """Pictures that are drawn inside look so."""
    before = _look.set(look)
    try:
        yield
    finally:
        _look.reset(before)


@contextmanager
def figure(output: Path, width: float, height: float) -> Iterator[Figure]:
    """A figure of so many inches, or as `looking` says, drawn without a screen; then it is written,
    whole or not at all."""
    kind, content, look = format_of(output), io.BytesIO(), _look.get()
    with matplotlib.rc_context(STYLE):
        size = (look.width or width, look.height or height)
        drawn = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(drawn)
        yield drawn
        if look.font_size:
            _resize(drawn, look.font_size)
        drawn.savefig(content, format=kind, dpi=PIXELS_PER_INCH, metadata=_NO_TIME[kind])
    with whole_file(output) as stream:
        stream.write(content.getvalue())


def _resize(drawn: Figure, points: float) -> None:
    """Set all of a figure's texts greater or smaller, in proportion."""
    drawn.draw_without_rendering()  # texts of axes are there from now on
    for each in drawn.findobj(Text):
        each.set_fontsize(float(each.get_fontsize()) * points / POINTS)
    for axes in (found for each in drawn.axes for found in (each, *each.child_axes)):
        axes.tick_params(which="both", labelsize=points)  # of ticks that only a new layout makes


def format_of(output: Path) -> str:
    """`svg`, `png` or `pdf`, by the file's name. Raises `BadInput` for any other."""
    ending = output.suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise BadInput(
            f"{output}: pictures are written as {', '.join(FORMATS)}",
            "Give --output a name that ends in .svg, .png or .pdf.",
        )
    return ending


def shortened(name: str, length: int = 40) -> str:
    """A name that fits; its middle is left out."""
    return table_names.shortened(name, length)


def apart(names: Collection[str], length: int = 24) -> dict[str, str]:
    """Each name as it is drawn: shortened, and different from every other."""
    names = dict.fromkeys(names)
    width = table_names.telling_width(names, length)
    tail = table_names.telling_tail(names, width)
    return {name: table_names.shortened(name, width, tail) for name in names}


@contextmanager
def rows_figure(
    output: Path, names: Sequence[str], of: str, instead: str, per_row: float = 0.2
) -> Iterator[tuple[Figure, Axes]]:
    """A figure with a row for each name, the first on top, and a faint line to each.

    Raises `BadInput` for too many, whatever the rows are `of`; `instead` says what to do then.
    """
    if len(names) > MOST_ROWS:
        raise BadInput(
            f"{len(names)} {of} are more than a picture has room for ({MOST_ROWS})", instead
        )
    with figure(output, WIDTH, MARGIN + per_row * len(names)) as drawn:
        axes = drawn.subplots()
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.grid(color="#e5e5e5", linewidth=0.6)
        axes.set_axisbelow(True)
        yield drawn, axes


def title(drawn: Figure, *lines: str) -> None:
    """Above the whole picture: beside long names the axes have little room."""
    drawn.suptitle("\n".join(lines), fontsize=10)


def legend(drawn: Figure, artists: Sequence[Any], names: Sequence[str], columns: int) -> None:
    """Below the picture."""
    if artists:
        columns = min(columns, len(artists))
        drawn.legend(
            artists, names, loc="outside lower center", ncols=columns, fontsize=8, frameon=False
        )
