"""From a lake to a page: everything that the report of a collection shows, in one HTML file."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradelake.analyses import choosing
from gradelake.analyses.compare.comparison import compare
from gradelake.analyses.report.agreement import read_confusions
from gradelake.analyses.report.boards import (
    at_level,
    first_board,
    read_agreement,
    read_boards,
    read_query_scores,
)
from gradelake.analyses.report.comparisons import (
    MEASURES,
    OF_ANSWERS,
    REPLICATES,
    SEED,
    compare_label_sets,
    compare_systems,
    correlate,
    decide,
    telling,
)
from gradelake.analyses.report.grids import Grids, pack, read_grids
from gradelake.analyses.report.health import TAU, read_health
from gradelake.analyses.report.html import render, vega
from gradelake.analyses.report.judges import read_ceilings, read_judges
from gradelake.analyses.report.moved import read_moved
from gradelake.analyses.report.overview import next_steps, overview
from gradelake.analyses.report.provenance import earlier_release, read_provenance
from gradelake.analyses.report.rankings import read_rankings
from gradelake.analyses.report.report_queries import ask, ask_by, in_batches
from gradelake.analyses.report.shown import (
    chosen_reference,
    judged_shares,
    newest_rubric,
    opens_on,
    shown_label_sets,
)
from gradelake.analyses.stats.boards import Board, boards_by_measure, counting_of, read_board
from gradelake.analyses.stats.kappas import kappas
from gradelake.sql.common import console
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.pictures.picture import look, specs

QUERIES_AT_ONCE = 50  # of grids and rankings
SCORES_AT_ONCE = 10_000  # of systems on queries, by each measure
QUEUES = """
    select distinct queue, n_cards, n_done, n_conflicts from lake.marts.review_queues
    where collection = ? and (n_done < n_cards or n_conflicts > 0) order by all
"""
USUAL = "select label_set, level from lake.marts.usual_levels where collection = ?"


@dataclass(frozen=True)
class Request:
    """Of one report, and, first, of the files of several.

    - collections: all in the lake where none is named
    - output: the file, of one collection; default: reports/COLLECTION.html
    - reference: the assessor to compare with; default: who judged the most, of equals the first by
      name
    - compare_with: since which release ranks moved; default: the one before
    - grid_passages: how many of each grid are shown, the best first; default: all
    - without_rubric: nothing is shown of an item, an answer, or what a model replied
    - preview: a file of what `rubric preview --json` printed
    - compare: two systems whose comparison comes first; sections that would be empty are left out
    - at: where a server has the collection's pages; None in a file
    """

    collections: tuple[str, ...] = ()
    output: Path | None = None
    reference: str | None = None
    compare_with: str | None = None
    grid_passages: int | None = None
    without_rubric: bool = False
    preview: Path | None = None
    compare: tuple[str, str] | None = None
    at: str | None = None

    def options(self) -> dict[str, Any]:
        """What a command was told that makes the same report, but for where it reads."""
        return {
            "--reference": self.reference,
            "--grid-passages": self.grid_passages,
            "--without-rubric": self.without_rubric or None,
            "--preview": self.preview,
            "--compare": self.compare,
        }


def make_report(
    project: Project,
    lake: Lake,
    collection: str,
    request: Request | None = None,
    progress: Callable = console.progress,
) -> tuple[str, dict[str, Any]]:
    """The page, and what it has, for the command to tell; call it within `one_state`.

    The same release, compared with the same one, gives the same page. Raises `BadInput` for a
    collection, reference, release or system that is not there, where nothing was built, and for a
    preview that is none.
    """
    request = request or Request()
    without_rubric = request.without_rubric
    lake.require_collection(collection)
    since = request.compare_with or earlier_release(project, lake)
    moved = read_moved(project, lake, collection, since, without_rubric, request.preview)
    newest = newest_rubric(lake, collection)
    shown = shown_label_sets(lake, collection)
    names = [row["label_set"] for row in shown]
    of_answers = {row["label_set"]: row["kind"] for row in shown if row["is_of_answers"]}
    reference = chosen_reference(request.reference, shown)
    assessor = reference.partition(":")[2] if reference else None
    cut = choosing.min_relevant(lake, collection)
    with Lake.published(project, since) if since else nullcontext() as before:
        boards = read_boards(lake, before, collection, names)
    scored = [name for name in names if name in boards]
    of_passages = [name for name in scored if name not in of_answers]
    official = choosing.official_ranks(lake, collection)
    systems = {system for board in boards.values() for system in board["systems"]}
    usable = (name for name, ranks in official.items() if len(systems & ranks.keys()) > 1)
    leaderboard = next(usable, None)
    kinds = choosing.measures(lake)
    levelled = [m for m, kind in kinds.items() if kind in choosing.LEVELLED]
    usual_levels = dict(lake.rows(USUAL, collection))
    levels = {name: usual_levels.get(name, cut) for name in scored}
    shares = judged_shares(lake, collection)
    judged = {name: shares[name] for name in scored}
    first_set = opens_on(reference, judged)
    compared = None
    if request.compare:
        of_two = compare(lake, (collection, *request.compare), label_set=request.reference)
        compared = of_two.as_object()
        # as the address of their view has them, which finds them by it
        compared |= {"labels": compared["label_set"], "level": str(compared["level"])}
        scored.sort(key=lambda name: (name != compared["label_set"], -judged[name]))
    queries = ask(lake, "query_texts", collection=collection)
    query_ids = in_batches([row["query_id"] for row in queries], QUERIES_AT_ONCE)
    most = max((len(queries) * len(board["systems"]) for board in boards.values()), default=1)
    label_sets = in_batches(scored, SCORES_AT_ONCE // most or 1)
    known: dict[tuple[str, str], Board] = {}
    for some in label_sets:
        known |= boards_by_measure(
            lake, collection, {name: levels[name] for name in some}, (*MEASURES, *OF_ANSWERS)
        )

    def read(label_set: str, measure: str) -> Board:
        return known.get((label_set, measure)) or read_board(lake, collection, label_set, measure)

    told = telling()
    pairs = compare_systems(boards, read, told, levelled, progress)
    correlated, left_out = correlate(
        lake, collection, of_passages, reference, leaderboard, read, progress
    )
    grids = Grids({}, {}, {})
    if not without_rubric:
        batches = progress("reading grids", query_ids, len(query_ids))
        grids = read_grids(lake, collection, batches, newest, assessor, request.grid_passages)
    batches = progress("reading rankings", query_ids, len(query_ids))
    rankings = read_rankings(
        lake, collection, batches, names, newest, grids, request.grid_passages, without_rubric
    )
    health = read_health(lake, collection, newest, assessor)
    provenance = read_provenance(lake, collection, since, request.options())
    settled = {
        "collection": collection,
        "source": provenance["source"],
        "min_relevant": cut,
        "reference": reference,
        "opens_on": first_set,
        "assessor": assessor,
        "levels": levels,
        "label_sets": scored,
        "judged": judged,
        "circles": ask_by(lake, "circles", "label_set", collection=collection),
        "same_runs": ask(lake, "same_runs", collection=collection),
        "cut_systems": ask(lake, "cut_systems", collection=collection),
        "of_answers": of_answers,
        "incomplete": {
            name: one.says
            for name, one in choosing.completeness(lake, collection).items()
            if one.says
        },
        "covered": [
            name
            for name, board in boards.items()
            if any(measure.startswith("Cover@") for measure in board["measures"])
        ],
        "of_rubric": [m for m, kind in kinds.items() if kind == "rubric"],
        "has_levels": levelled,
        "queries": queries,
        "systems": sorted(systems),
        "counts": counting_of(lake, collection),
        "official": official,
        "compared_with": since,
        "compared": compared,
        "release": lake.release,
        "grids": grids.choices,
        "has_texts": not without_rubric,
        "pool_depth": provenance["collection"]["pool_depth"],
        "measures": MEASURES,
        "tau": TAU,
        "taus": {one["grader"]: one["tau"] for one in health},
    }
    if without_rubric:
        for grader in provenance["graders"]:
            if grader["engine"] == "imported":
                grader["settings"] = ""  # a file of others may have said anything there
    packs = {  # id -> packed data: the page reads each when it needs it
        "vega": pack(vega()),
        "pictures": pack({"specs": specs(), "look": look()}),
        "settled": pack(settled),
        "agreement": pack(read_agreement(lake, collection, reference)),
        "correlated": pack(correlated),
        "days": pack(moved["days"]),
        **grids.packs,
        **rankings,
    }
    scores_of, usual = {}, {}  # of query scores no more stays in memory than those of usual levels
    for some in label_sets:
        for name, scores in read_query_scores(lake, collection, some).items():
            scores_of[name] = pack(scores)
            usual[name] = at_level(scores, levels[name])
    for number, name in enumerate(scored):
        packs[f"board-{number}"] = pack(boards[name])
        packs[f"pairs-{number}"] = pack(pairs[name])
        packs[f"query-scores-{number}"] = scores_of[name]
    packs["label-sets"] = pack(
        compare_label_sets({name: levels[name] for name in of_passages}, read, usual)
    )
    first = opening = None
    if first_set:
        first = first_board(first_set, boards[first_set], levels[first_set])
        opening = known.get((first_set, first["measure"]))
        if opening is None or opening.level != first["level"]:  # it has none of the usual level
            opening = read_board(lake, collection, first_set, first["measure"], first["level"])
    confusions = read_confusions(lake, collection, reference, cut, names) if reference else []
    agreeing, ceilings = {}, {}
    if reference:
        agreeing = kappas(lake, collection, reference, REPLICATES, SEED)
        ceilings = read_ceilings(lake, collection, reference, REPLICATES, SEED)
    kinds_of = {row["label_set"]: row["kind"] for row in shown}
    people = "assessor", "hybrid", "panel"
    judges = [name for name in names if kinds_of[name] not in people and name not in of_answers]
    n_assessors = [*kinds_of.values()].count("assessor")
    against = leaderboard or reference
    sentences = overview(
        *(lake, collection, first, opening, judges, against, correlated, agreeing, ceilings)
    )
    measure = first["measure"] if first else "nDCG@10"
    taus = {row["label_set"]: row for row in correlated if row["measure"] == measure}
    others = [name for name in of_passages if name != reference]
    decided = decide(
        lake, collection, others, reference, leaderboard, measure, read, told, progress
    )
    trust = read_judges(
        *(lake, collection, assessor, measure, judges, taus), agreeing, ceilings, against or ""
    )
    filled = {
        "trust": trust,
        "scatter": reference and scored,
        "correlation": correlated,
        "confusion": confusions,
        "grid": grids.choices,
        "coverage": settled["covered"],
        "rubric": health,
        "moved": any(moved[each] for each in ("versions", "previewed", "since", "nights", "days")),
        "cost": provenance["cost"] or provenance["failures"],
    }
    html = render(
        name=collection,
        at=request.at,
        compared=compared,
        empty_sections={each for each, has in filled.items() if not has},
        without_rubric=without_rubric,
        provenance=provenance,
        settled=settled,
        first=first,
        other_levels=_other_levels(levels, of_passages, cut),
        n_assessors=n_assessors,
        n_judged=sum(row["n_labels"] for row in shown if row["label_set"] == reference),
        confusions=confusions,
        trust=trust,
        measure=measure,
        correlated=correlated,
        decided=decided,
        against=against,
        sentences=sentences,
        queues=[] if without_rubric else lake.objects(QUEUES, collection),
        next_steps=next_steps(
            judges, n_assessors, settled["incomplete"], health, provenance["failures"]
        ),
        left_out=left_out,
        replicates=REPLICATES,
        seed=SEED,
        health=health,
        moved=moved,
        packs=packs,
    )
    return html, {
        "label_sets": len(boards),
        "systems": len(systems),
        "grids": sum(map(len, grids.choices.values())),
        "left_out": left_out,
        "sentences": [vars(one) for one in sentences],
    }


def _other_levels(levels: dict[str, int], names: list[str], cut: int) -> dict[int, list[str]]:
    """level -> label sets whose boards begin there, and not where judgments count as relevant."""
    found: dict[int, list[str]] = {}
    for name in names:
        if levels[name] != cut:
            found.setdefault(levels[name], []).append(name)
    return found
