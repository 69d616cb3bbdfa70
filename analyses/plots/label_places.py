"""Where names stand beside their points: over no other name, point, line or border."""

from collections.abc import Iterator, Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.path import Path
from matplotlib.transforms import Bbox

FONT_SIZE = 8
_NEAR = 7  # points between a point and its name; farther off a line leads to it
_DISTANCES = (_NEAR, 14, 24, 36, 50, 68, 90)
_ANGLES = np.radians([0, 180, 45, 135, -45, -135, 90, -90, 20, 160, -20, -160, 70, 110, -70, -110])
_RADIUS = 4.0  # kept free around each point, in points


def place_labels(
    axes: Axes, x: np.ndarray, y: np.ndarray, names: Mapping[int, str], lines: list[Path]
) -> dict[int, Bbox]:
    """Write the names of some of the points, each in the first free place, the nearest first.

    `lines`, in data coordinates, are kept free where it can be had. Returns the place of each
    name, in pixels; a name for which there is no room is left out.
    """
    canvas = axes.figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)  # of `style.figure`
    canvas.figure.draw_without_rendering()  # settles where the axes are
    renderer = canvas.get_renderer()
    scale = canvas.figure.dpi / 72
    points = axes.transData.transform(np.column_stack([x, y]))
    radius = _RADIUS * scale
    dots = [Bbox.from_extents(*(p - radius), *(p + radius)) for p in points]
    frame = axes.get_window_extent(renderer)
    lines = [axes.transData.transform_path(line) for line in lines]
    taken: dict[int, Bbox] = {}
    leaders: list[Path] = []
    for index, name in names.items():
        size = _size(axes, name, renderer)
        others = [dot for at, dot in enumerate(dots) if at != index]
        apart = [dot for dot in others if not dot.overlaps(dots[index])]
        for strictness, distance, offset in _candidates():
            box, leader = _place(points[index], offset * scale, size, distance)
            keep_off = [*leaders, *lines] if strictness == 2 else leaders
            free = (
                _contains(frame, box)
                and not box.count_overlaps([*others, *taken.values()])
                and not any(line.intersects_bbox(box, filled=False) for line in keep_off)
            )
            if free and leader is not None:
                under = [*taken.values(), *(apart if strictness else [])]
                free = not any(leader.intersects_bbox(other, filled=False) for other in under)
                crossed = leaders if strictness else []
                free = free and not any(leader.intersects_path(line) for line in crossed)
            if free:
                taken[index] = box
                leaders += [leader] if leader is not None else []
                _write(axes, name, box, leader)
                break
    return taken


def _candidates() -> Iterator[tuple[int, int, np.ndarray]]:
    """(strictness, distance, offset in points), the best first.

    Of strictness 2 names keep off all lines, of 1 their lines off points and each other's.
    """
    for strictness in (2, 1, 0):
        for distance in _DISTANCES:
            for angle in _ANGLES:
                yield strictness, distance, distance * np.array([np.cos(angle), np.sin(angle)])


def _size(axes: Axes, name: str, renderer: RendererAgg) -> np.ndarray:
    """Width and height in pixels."""
    written = axes.text(0, 0, name, fontsize=FONT_SIZE)
    box = written.get_window_extent(renderer)
    written.remove()
    return np.array([box.width, box.height])


def _place(
    point: np.ndarray, offset: np.ndarray, size: np.ndarray, distance: int
) -> tuple[Bbox, Path | None]:
    """The name's box, its nearest edge at the offset; and the line to it, if it stands far off."""
    anchor = point + offset
    steep = abs(offset[0]) < 0.4 * np.hypot(*offset)
    left = anchor[0] - size[0] / 2 if steep else anchor[0] - (size[0] if offset[0] < 0 else 0)
    bottom = anchor[1] - size[1] / 2
    if steep:
        bottom = anchor[1] - (size[1] if offset[1] < 0 else 0)
    box = Bbox.from_bounds(left, bottom, *size)
    leader = Path([point, np.clip(point, box.min, box.max)]) if distance > _NEAR else None
    return box, leader


def _contains(frame: Bbox, box: Bbox) -> bool:
    return bool(np.all(frame.min <= box.min) and np.all(box.max <= frame.max))


def _write(axes: Axes, name: str, box: Bbox, leader: Path | None) -> None:
    to_data = axes.transData.inverted().transform
    if leader is not None:
        ends = to_data(leader.vertices)
        axes.plot(*ends.T, color="#666666", linewidth=0.5, zorder=1.5, scalex=False, scaley=False)
    centre = to_data(np.add(box.min, box.max) / 2)
    written = axes.text(
        centre[0],
        centre[1],
        name,
        fontsize=FONT_SIZE,
        ha="center",
        va="center",
        zorder=4,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0},
    )
    written.set_in_layout(False)
