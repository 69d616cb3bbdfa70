"""From a lake to a page: everything that the report of a collection shows, in one HTML file."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import jinja2

from gradelake.analyses.choosing import measures, min_relevant, official_ranks
from gradelake.analyses.qrels_export import one_state
from gradelake.analyses.report import charts
from gradelake.analyses.report.agreement import read_confusions
from gradelake.analyses.report.boards import read_agreement, read_boards, usable_official
from gradelake.analyses.report.correlations import MEASURES, REPLICATES, SEED, correlate
from gradelake.analyses.report.grids import Grids, read_grids
from gradelake.analyses.report.health import SHOWN, TAU, read_health
from gradelake.analyses.report.packed import pack
from gradelake.analyses.report.provenance import earlier_release, read_provenance
from gradelake.analyses.report.report_queries import ask
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project, did_you_mean
from gradelake.sql.lake.lake import Lake

SCRIPTS = ("packs", "tables", "charts", "boards", "correlation", "grid", "start")  # in this order

Progress = Callable[[str, list], Iterable]


@dataclass(frozen=True)
class Settings:
    """What a report is of. None: the assessor who judged the most (of equals the first by name);
    the release before; every passage of each grid."""

    collection: str
    reference: str | None = None
    compare_with: str | None = None
    grid_passages: int | None = None


@dataclass(frozen=True)
class Report:
    """A page, and what it has, for the command to tell."""

    html: str
    label_sets: int
    systems: int
    grids: int
    left_out: list[str]


def make_report(project: Project, lake: Lake, settings: Settings, progress: Progress) -> Report:
    """Read one state of the lake and write the page. The same release, compared with the same one,
    gives the same page.

    Raises `BadInput` for a collection, reference or release that is not there, and where nothing
    was built.
    """
    with one_state(lake):
        return _made(project, lake, settings, progress)


def _made(project: Project, lake: Lake, settings: Settings, progress: Progress) -> Report:
    collection = settings.collection
    lake.require_collection(collection)
    versions = ask(lake, "newest_rubric", collection=collection)  # none, or one
    newest = versions[0]["rubric_version"] if versions else None
    shown = ask(lake, "shown_label_sets", collection=collection, rubric_version=newest)
    names = [row["label_set"] for row in shown]
    reference = _reference(settings.reference, shown)
    assessor = reference.partition(":")[2] if reference else None
    cut = min_relevant(lake, collection)
    compared = settings.compare_with or earlier_release(project, lake)
    with Lake.published(project, compared) if compared else nullcontext() as before:
        boards = read_boards(lake, before, collection, names)
    official = official_ranks(lake, collection)
    leaderboard = usable_official(official, boards)
    correlated, left_out = correlate(
        lake,
        collection,
        [name for name in names if name in boards],
        reference,
        leaderboard,
        lambda pairs: progress("correlating", pairs),
    )
    grids = read_grids(
        lake,
        collection,
        newest,
        assessor,
        settings.grid_passages,
        lambda queries: progress("reading grids", queries),
    )
    confusions = read_confusions(lake, collection, reference, cut, names) if reference else []
    provenance = read_provenance(lake, collection, compared, _options(settings))
    settled = {
        "min_relevant": cut,
        "reference": reference,
        "assessor": assessor,
        "highest": {row["label_set"]: row["highest_label"] for row in shown},
        "label_sets": [name for name in names if name in boards],
        "covered": [
            name
            for name, board in boards.items()
            if any(measure.startswith("Cover@") for measure in board["measures"])
        ],
        "of_rubric": [m for m, kind in measures(lake).items() if kind == "rubric"],
        "official": official,
        "compared_with": compared,
        "grids": grids.choices,
        "texts": grids.texts,
        "measures": MEASURES,
        "tau": TAU,
    }
    html = _template().render(
        name=collection,
        provenance=provenance,
        settled=settled,
        n_assessors=sum(row["kind"] == "assessor" for row in shown),
        n_judged=sum(row["n_labels"] for row in shown if row["label_set"] == reference),
        confusions=confusions,
        correlated=correlated,
        against=leaderboard or reference,
        left_out=left_out,
        replicates=REPLICATES,
        seed=SEED,
        health=read_health(lake, collection, newest, assessor),
        shown=SHOWN,
        packs=_packs(lake, collection, reference, boards, correlated, settled, grids),
        style=_part("report.css"),
        vega=charts.javascript(),
        scripts="\n".join(_part(f"{name}.js") for name in SCRIPTS),
    )
    n_systems = len({system for board in boards.values() for system in board["systems"]})
    return Report(html, len(boards), n_systems, sum(map(len, grids.choices.values())), left_out)


def _packs(lake, collection, reference, boards, correlated, settled, grids: Grids) -> dict:
    """Id -> packed data: the page reads each when it needs it."""
    return {
        "settled": pack(settled),
        "charts": pack(charts.specifications()),
        "agreement": pack(read_agreement(lake, collection, reference)),
        "correlated": pack([vars(one) for one in correlated]),
        **{
            f"board-{number}": pack(boards[name])
            for number, name in enumerate(settled["label_sets"])
        },
        **grids.packs,
    }


def _reference(wanted: str | None, shown: list[dict[str, Any]]) -> str | None:
    names = [row["label_set"] for row in shown]
    if wanted is None:
        of_people = [row for row in shown if row["kind"] == "assessor"]
        most = min(of_people, key=lambda row: (-row["n_labels"], row["label_set"]), default=None)
        return most["label_set"] if most else None
    if wanted not in names:
        raise BadInput(f"there is no label set {wanted!r}", did_you_mean(wanted, names))
    if not wanted.startswith("assessor:"):
        raise BadInput(
            f"the reference is an assessor, and {wanted!r} is none",
            "gradelake stats correlation and plot scatter compare judges with each other.",
        )
    return wanted


def _options(settings: Settings) -> list[str]:
    """What of the settings has to be said to get the same page."""
    said = {"--reference": settings.reference, "--grid-passages": settings.grid_passages}
    return [str(word) for pair in said.items() if pair[1] is not None for word in pair]


def _part(name: str) -> str:
    return (files("gradelake.analyses.report") / "page" / name).read_text(encoding="utf-8")


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["counted"] = counted
    environment.filters["count"] = lambda n: f"{n:,}"
    environment.filters["figure"] = lambda x, n=3: "\u2013" if x is None else f"{x:.{n}f}"
    return environment.from_string(_part("report.html.jinja"))
