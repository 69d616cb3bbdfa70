"""A picture: rows, and the spec that says how they are drawn. The same rows give the same bytes.

(Of a PDF where letters of several fonts are in it, the fonts come in any order.)
"""

import json
import re
import struct
import zlib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import vl_convert

from gradelake.sql.common.errors import BadInput
from gradelake.sql.shown.kinds import KINDS

FORMS = ("svg", "png", "pdf")
VEGA_LITE = "6.4"  # of those that vl-convert has
PX, PT = 96, 72  # specs are in the page's pixels, files in points: so many make an inch
MOST_ROWS = 200  # of a picture with a row for each system, query or item
PIXELS = 200  # of a PNG, an inch
MOST_NAMES = 0.6  # of a width that was asked for: what names of rows may take
POINTS = 9.0  # of usual text, as look.json has it in pixels
_FITS = {("width", "height"): "fit", ("width",): "fit-x", ("height",): "fit-y", (): "pad"}
_SLOT = re.compile(r"\{(\w+)\}")
_COLOUR = re.compile(r"var\(--(\w+)\)")
_UNSPEAKABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML
_NAMES = re.compile(rb"(?: +/[A-Za-z]+\d+ \d+ 0 R\n)+")  # of a PDF's dictionary
_PNG = b"\x89PNG\r\n\x1a\n"
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)" viewBox="0 0 [\d.]+ [\d.]+"')
_PLOT = re.compile(r'class="background" aria-hidden="true" d="M[\d.,]+h([\d.]+)v([\d.]+)')


@dataclass(frozen=True)
class Picture:
    """Rows, and NAME.vl.json of this folder, which draws them; `slots` fill what it leaves open,
    such as titles. Rows and slots are data: no text in them becomes a part of the spec. `unfit`:
    why they cannot be drawn, such as more rows than a page has room for."""

    name: str
    rows: Sequence[Mapping[str, Any]]
    slots: Mapping[str, Any] = field(default_factory=dict)
    unfit: BadInput | None = None


def unfit(n: int, what: str, instead: str, most: int = MOST_ROWS) -> BadInput | None:
    """What is wrong with a picture of `n` rows where that is too many; `instead`: what to do."""
    if n <= most:
        return None
    return BadInput(f"{n} {what} are more than a picture has room for ({most})", instead)


@cache
def look() -> dict[str, Any]:
    """`colours` by their names, and the `config` that all pictures share."""
    return _read("look.json")


@cache
def specs() -> dict[str, dict[str, Any]]:
    """name -> spec with slots, a string `{slot}` each. `usermeta` has the slots and what is there
    where nothing fills them; `line`: the field of which each value has a line of the picture."""
    found = sorted(each.name for each in _folder().iterdir() if each.name.endswith(".vl.json"))
    return {name.removesuffix(".vl.json"): _read(name) for name in found}


def spec_of(picture: Picture) -> dict[str, Any]:
    """The Vega-Lite of a picture, with its rows, in the colours of paper."""
    spec = deepcopy(specs()[picture.name])
    defaults = spec.pop("usermeta")["slots"]
    if unknown := picture.slots.keys() - defaults:
        raise ValueError(f"{picture.name}.vl.json has no slots {sorted(unknown)}")
    slots = defaults | picture.slots | {"rows": picture.rows}
    filled = _filled(spec, {name: _clean(value) for name, value in slots.items()})
    return filled | {"config": _filled(_merged(look()["config"], spec.get("config", {})), {})}


def draw(
    picture: Picture,
    form: str,
    width: float | None = None,
    height: float | None = None,
    font_size: float | None = None,
) -> bytes:
    """A picture as `svg`, `png` or `pdf`, so many inches wide and high, its usual text of so many
    points; where they are None, as what is in it needs. Raises what makes the picture `unfit`."""
    if picture.unfit:
        raise picture.unfit
    spec = spec_of(picture)
    if font_size:
        _resize(spec, font_size / POINTS)
    for side, inches in (("width", width), ("height", height)):
        if inches:
            spec[side] = inches * PX
    if width:
        spec["config"]["axisYBand"]["labelLimit"] = MOST_NAMES * width * PX
    fits = [side for side in ("width", "height") if isinstance(spec.get(side), int | float)]
    spec["autosize"] = {"type": _FITS[tuple(fits)], "contains": "padding"}
    svg = _svg(spec)
    if specs()[picture.name]["usermeta"].get("square"):
        svg = _svg(_squared(spec, svg, width, height))
    drawn = [float(side) for side in _sizes(svg)]
    points = [
        f"{inches * PT if inches else px * PT / PX:g}"
        for inches, px in zip((width, height), drawn, strict=True)
    ]
    unit = "pt" if form == "svg" else ""
    across, down = (f"{side}{unit}" for side in points)
    box = " ".join(f"{side:g}" for side in (0, 0, *drawn))
    svg = _SIZE.sub(f'width="{across}" height="{down}" viewBox="{box}"', svg, count=1)
    if form == "svg":
        return svg.encode()
    if form == "png":
        return _squeezed(vl_convert.svg_to_png(svg, ppi=PIXELS))
    return _NAMES.sub(_sorted, vl_convert.svg_to_pdf(svg))


def form_of(output: Path) -> str:
    """`svg`, `png` or `pdf`, by the file's name. Raises `BadInput` for any other."""
    ending = output.suffix.removeprefix(".").lower()
    if ending not in FORMS:
        raise BadInput(
            f"{output}: pictures are written as {', '.join(FORMS)}",
            "Give --picture a name that ends in .svg, .png or .pdf.",
        )
    return ending


def _squeezed(png: bytes) -> bytes:
    """A PNG of a third of the size: vl-convert packs its pixels in haste."""
    chunks, at = [], len(_PNG)
    while at < len(png):
        end = at + 12 + int.from_bytes(png[at : at + 4], "big")
        chunks.append((png[at + 4 : at + 8], png[at:end]))
        at = end
    packed = b"".join(whole[8:-4] for kind, whole in chunks if kind == b"IDAT")
    named = b"IDAT" + zlib.compress(zlib.decompress(packed), 9)
    pixels = struct.pack(">I", len(named) - 4) + named + struct.pack(">I", zlib.crc32(named))
    before = [whole for kind, whole in chunks if kind not in (b"IDAT", b"IEND")]
    return b"".join([_PNG, *before, pixels, chunks[-1][1]])


def _sorted(names: re.Match[bytes]) -> bytes:
    """The lines of a dictionary, which come in any order, by name."""
    return b"".join(sorted(names[0].splitlines(keepends=True)))


def _svg(spec: dict[str, Any]) -> str:
    """What Vega draws. It numbers whatever it refers to through the whole of a process."""
    return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])


def _sizes(svg: str) -> tuple[float, float]:
    found = _SIZE.search(svg)
    assert found, "Vega's SVG begins with its size"
    return float(found[1]), float(found[2])


def _squared(
    spec: dict[str, Any], svg: str, width: float | None, height: float | None
) -> dict[str, Any]:
    """The spec with axes of one length: the shorter of those in a first drawing, or the one that
    was asked for."""
    found = _PLOT.search(svg)
    assert found, "a plot has a background"
    plot = float(found[1]), float(found[2])
    asked = [length for length, inches in zip(plot, (width, height), strict=True) if inches]
    side = min(asked or plot[:1])
    padding = spec["config"]["padding"]
    across, down = ((plot[n] - side) / 2 if (width, height)[n] else 0 for n in (0, 1))
    return spec | {
        "width": side,
        "height": side,
        "autosize": {"type": "pad"},
        "padding": {
            "left": padding + across,
            "right": padding + across,
            "top": padding + down,
            "bottom": padding + down,
        },
    }


def _folder():
    return files("gradelake.sql.shown.pictures")


def _read(name: str) -> dict[str, Any]:
    text = (_folder() / name).read_text(encoding="utf-8")
    return json.loads(text, object_hook=_with_digits)


def _with_digits(part: dict[str, Any]) -> dict[str, Any]:
    """A part of a spec, with the digits of the kind that its `format` names."""
    kind = KINDS.get(str(part.get("format")))
    return part | {"format": kind.d3} if kind else part


def _filled(part: Any, slots: Mapping[str, Any]) -> Any:
    """A part of a spec with its slots filled, and its colours by their names."""
    if isinstance(part, dict):
        return {name: _filled(each, slots) for name, each in part.items()}
    if isinstance(part, list):
        return [_filled(each, slots) for each in part]
    if isinstance(part, str):
        if slot := _SLOT.fullmatch(part):
            return slots[slot[1]]
        if colour := _COLOUR.fullmatch(part):
            return look()["colours"][colour[1]]
    return part


def _merged(config: Any, ours: Any) -> Any:
    """A config, where a spec has something of its own with that in its place."""
    if not isinstance(config, dict) or not isinstance(ours, dict):
        return ours
    return config | {name: _merged(config.get(name), each) for name, each in ours.items()}


def _clean(data: Any) -> Any:
    """Data without letters that no XML may have."""
    if isinstance(data, str):
        return _UNSPEAKABLE.sub("\ufffd", data)
    if isinstance(data, Mapping):
        return {name: _clean(each) for name, each in data.items()}
    if isinstance(data, list | tuple):
        return [_clean(each) for each in data]
    return data


def _resize(part: Any, by: float) -> None:
    """Set all texts of a spec greater or smaller, in proportion; its rows stay as they are."""
    for name, each in part.items() if isinstance(part, dict) else enumerate(part):
        if name == "data":
            continue
        if isinstance(each, dict | list):
            _resize(each, by)
        elif str(name).lower().endswith(("fontsize", "lineheight", "dy")):
            part[name] = each * by
