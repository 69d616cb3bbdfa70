"""Where names stand beside their points: over no other name, point, line or border."""

from collections.abc import Iterator, Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
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
    points = axes.transData.transform(np.column_stack([x, y]))
    radius = _RADIUS * canvas.figure.dpi / 72
    dots = [Bbox.from_extents(*(p - radius), *(p + radius)) for p in points]
    frame = axes.get_window_extent(renderer)
    lines = [axes.transData.transform_path(line) for line in lines]
    taken: dict[int, Bbox] = {}
    leaders: list[Path] = []
    for index, name in names.items():
        others = [dot for at, dot in enumerate(dots) if at != index]
        apart = [dot for dot in others if not dot.overlaps(dots[index])]
        written = axes.annotate(
            name,
            (x[index], y[index]),
            (0, 0),
            textcoords="offset points",
            fontsize=FONT_SIZE,
            zorder=4,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0},
        )
        written.set_in_layout(False)
        for strictness, distance, (right, up) in _candidates():
            steep = abs(right) < 0.4 * distance
            written.set(
                position=(right, up),
                ha="center" if steep else "left" if right > 0 else "right",
                va="center" if not steep else "bottom" if up > 0 else "top",
            )
            box = written.get_window_extent(renderer)
            keep_off = [*leaders, *lines] if strictness == 2 else leaders
            free = (
                bool(np.all(frame.min <= box.min) and np.all(box.max <= frame.max))
                and not box.count_overlaps([*others, *taken.values()])
                and not any(line.intersects_bbox(box, filled=False) for line in keep_off)
            )
            leader = None
            if free and distance > _NEAR:
                leader = Path([points[index], np.clip(points[index], box.min, box.max)])
                under = [*taken.values(), *(apart if strictness else [])]
                free = not any(leader.intersects_bbox(other, filled=False) for other in under)
                crossed = leaders if strictness else []
                free = free and not any(leader.intersects_path(line) for line in crossed)
            if free:
                taken[index] = box
                if leader is not None:
                    leaders.append(leader)
                    ends = axes.transData.inverted().transform(leader.vertices).T
                    axes.plot(
                        *ends,
                        color="#666666",
                        linewidth=0.5,
                        zorder=1.5,
                        scalex=False,
                        scaley=False,
                    )
                break
        else:
            written.remove()
    return taken


def _candidates() -> Iterator[tuple[int, int, np.ndarray]]:
    """(strictness, distance, offset in points), the best first.

    Of strictness 2 names keep off all lines, of 1 their lines off points and each other's.
    """
    for strictness in (2, 1, 0):
        for distance in _DISTANCES:
            for angle in _ANGLES:
                yield strictness, distance, distance * np.array([np.cos(angle), np.sin(angle)])
