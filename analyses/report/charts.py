"""The report's pictures, as Vega-Lite: what is drawn is said here, the rows come from the page.

No colour is set but where it carries meaning: the page's style gives both, light and dark.
"""

from functools import cache
from typing import Any

import altair as alt
import vl_convert

ROWS = "rows"  # the name under which the page puts the data
# as wide as the page allows; the page makes it as high as its rows, of so many pixels, want
_SIZE_OF_ROWS = {"width": "container", "height": alt.Step(18)}


@cache
def javascript() -> str:
    """Vega, Vega-Lite and Vega-Embed, whole: nothing is loaded from anywhere."""
    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub wants a snippet
    return bundle.replace("</script", "<\\/script")


def specifications() -> dict[str, dict[str, Any]]:
    """Picture's name -> Vega-Lite specification."""
    return {
        "leaderboard": _spec(_leaderboard()),
        "scatter": _spec(_scatter()),
        "correlation": _spec(_correlation()),
        "coverage": _spec(_coverage()),
    }


def _spec(chart: alt.TopLevelMixin) -> dict[str, Any]:
    spec = chart.to_dict()
    for of_altair in ("config", "$schema", "datasets"):
        spec.pop(of_altair, None)
    return spec


def _rows() -> alt.Data:
    return alt.NamedData(name=ROWS)


def _leaderboard() -> alt.TopLevelMixin:
    """Each system's score, and 1.96 standard errors to both sides of it."""
    base = alt.Chart(_rows()).encode(
        y=alt.Y("system:N", sort=None, title=None, axis=alt.Axis(labelLimit=170)),
        tooltip=[
            alt.Tooltip("system:N"),
            alt.Tooltip("score:Q", format=".4f"),
            alt.Tooltip("stderr:Q", format=".4f", title="standard error"),
            alt.Tooltip("rank:Q"),
        ],
    )
    whiskers = (
        base.transform_calculate(
            low="datum.score - 1.96 * datum.stderr", high="datum.score + 1.96 * datum.stderr"
        )
        .mark_rule(opacity=0.55)
        .encode(x=_score("low:Q"), x2="high:Q")
    )
    points = base.mark_point(filled=True, size=55).encode(x=_score("score:Q"))
    return (whiskers + points).properties(**_SIZE_OF_ROWS)


def _score(field: str) -> alt.X:
    axis = alt.Axis(tickCount=8, labelOverlap=True)
    return alt.X(field, title="score", scale=alt.Scale(zero=False), axis=axis)


def _scatter() -> alt.TopLevelMixin:
    """Each system's score by the reference (across) and by the label set (up)."""
    tooltip = [
        alt.Tooltip("system:N"),
        alt.Tooltip("x:Q", title="reference", format=".4f"),
        alt.Tooltip("y:Q", title="labels", format=".4f"),
        alt.Tooltip("rank_x:Q", title="rank by reference"),
        alt.Tooltip("rank_y:Q", title="rank by labels"),
    ]
    across = alt.X("x:Q", title="by the reference", scale=alt.Scale(zero=False, padding=12))
    up = alt.Y("y:Q", title="by the labels", scale=alt.Scale(zero=False, padding=12))
    far = alt.Scale(domain=[False, True], range=["circle", "triangle-up"])
    return (
        alt.Chart(_rows())
        .mark_point(filled=True, size=70, opacity=0.8)
        .encode(
            x=across,
            y=up,
            tooltip=tooltip,
            shape=alt.Shape("far:N", legend=None, scale=far),
            color=alt.Color(
                "far:N", legend=None, scale=alt.Scale(domain=[False, True], range="category")
            ),
        )
        .properties(width="container", height=340)
    )


def _correlation() -> alt.TopLevelMixin:
    """Kendall's tau-b of each label set's board, and its interval."""
    base = alt.Chart(_rows()).encode(
        y=alt.Y("label_set:N", sort=None, title=None, axis=alt.Axis(labelLimit=170)),
        tooltip=[
            alt.Tooltip("label_set:N"),
            alt.Tooltip("measure:N"),
            alt.Tooltip("kendall:Q", format=".3f"),
            alt.Tooltip("low:Q", format=".3f"),
            alt.Tooltip("high:Q", format=".3f"),
        ],
    )
    axis = alt.X("low:Q", title="Kendall's tau-b", scale=alt.Scale(domainMax=1))
    interval = base.mark_rule(opacity=0.55).encode(x=axis, x2="high:Q")
    points = base.mark_point(filled=True, size=55).encode(x=alt.X("kendall:Q"))
    return (interval + points).properties(**_SIZE_OF_ROWS)


def _coverage() -> alt.TopLevelMixin:
    """Cover@k of each system as k grows."""
    return (
        alt.Chart(_rows())
        .mark_line(point=True, opacity=0.85)
        .encode(
            x=alt.X("k:O", title="k: passages of each ranking", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("cover:Q", title="share of the rubric covered", axis=alt.Axis(format="%")),
            color=alt.Color(
                "system:N", sort=None, legend=None, scale=alt.Scale(scheme="tableau20")
            ),
            tooltip=[
                alt.Tooltip("system:N"),
                alt.Tooltip("k:O"),
                alt.Tooltip("cover:Q", format=".4f"),
            ],
        )
        .properties(width="container", height=300)
    )
