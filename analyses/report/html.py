"""The page's HTML: its template, style and scripts, and how cells are written."""

from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
import vl_convert
from jinja2.bccache import Bucket
from markupsafe import Markup

from gradelake.sql.common import page_policy
from gradelake.sql.common.cache import cache_folder, keep
from gradelake.sql.common.console import duration
from gradelake.sql.common.counted import counted
from gradelake.sql.common.word_diff import word_diff
from gradelake.sql.shown.kinds import KINDS, shown
from gradelake.sql.shown.units import amount

# in this order
SCRIPTS = (
    "packs",
    "bar",
    "paths",
    "address",
    "tabs",
    "search",
    "table_forms",
    "table_tools",
    "tables",
    "charts",
    "picture_tools",
    "query_scores",
    "boards",
    "every",
    "scatter",
    "correlation",
    "grid",
    "queries",
    "moved",
    "views",
    "system",
    "query",
    "rankings",
    "passage",
    "item",
    "compare",
    "label_sets",
    "start",
)


def render(**values: Any) -> str:
    """The page of these values, which page/report.html.jinja names."""
    scripts = "\n".join(_part(f"{name}.js") for name in SCRIPTS)
    style = _part("report.css")
    template = environment("gradelake.analyses.report", "page").get_template("report.html.jinja")
    kinds = {name: kind.as_object() for name, kind in KINDS.items()}
    return template.render(style=style, vega=vega(), scripts=scripts, kinds=kinds, **values)


def _part(name: str) -> str:
    return (files("gradelake.analyses.report") / "page" / name).read_text(encoding="utf-8")


@cache
def vega() -> str:
    """Vega, Vega-Lite and Vega-Embed, whole: nothing is loaded from anywhere.

    To bundle them takes two seconds: they are kept, once for each version of vl-convert.
    """
    kept = cache_folder() / f"vega-{version('vl-convert-python')}.js"
    with suppress(OSError, UnicodeDecodeError):
        return kept.read_text(encoding="utf-8")
    code = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub wants a snippet
    keep(kept, code.encode())
    return code


class _Compiled(jinja2.BytecodeCache):
    """Templates as Python compiled them, kept for the next process: the report's take a second."""

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            bucket.bytecode_from_string(_kept(bucket).read_bytes())

    def dump_bytecode(self, bucket: Bucket) -> None:
        keep(_kept(bucket), bucket.bytecode_to_string())


def _kept(bucket: Bucket) -> Path:
    return cache_folder() / "templates" / f"{bucket.key}-{version('jinja2')}"


@cache
def environment(package: str, folder: str) -> jinja2.Environment:
    """The templates in a package's folder, and page/tables.html.jinja; all texts are escaped."""
    places = [(package, folder), ("gradelake.analyses.report", "page")]
    made = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(*place) for place in places]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        bytecode_cache=_Compiled(),
    )
    made.globals |= {"word_diff": word_diff, "SORTABLE": Markup(' class="sortable"')}
    made.filters |= {
        "counted": counted,
        "amount": amount,
        "count": lambda n: f"{n:,}",
        "cell": _cell,
        "address": _address,
        "duration": duration,
        "estimated": lambda s: (
            "no rate measured yet" if s is None else f"about {duration(max(s, 1))}"
        ),
        "source": page_policy.source,
        "figure": _figure,
    }
    return made


def _address(row: dict[str, Any], kind: str, *ids: str) -> str:
    """The address of the view of a thing that a row names, as page/address.js writes it."""
    return "#" + "/".join([kind, *(quote(row[key], safe="") for key in ids)])


def _figure(value: Any, kind: str = "kappa") -> str:
    """A figure as its kind looks; a dash where it is undefined."""
    return "\u2013" if value is None else shown(kind, value)


def _cell(value: Any) -> str:
    if value is None or value == "":
        return "\u2013"
    return f"{value:,}" if isinstance(value, int) else str(value)
