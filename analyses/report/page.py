"""From a lake to a page: everything that the report of a collection shows, in one HTML file."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

from gradelake.analyses import choosing
from gradelake.analyses.answers.asking import sections
from gradelake.analyses.compare.comparison import compare
from gradelake.analyses.report.agreement import Confusion, read_confusions
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
    Decided,
    compare_label_sets,
    compare_systems,
    correlate,
    decide,
    tau_of,
    telling,
    which_is_higher,
)
from gradelake.analyses.report.grids import Grids, pack, read_grids
from gradelake.analyses.report.health import TAU, read_health
from gradelake.analyses.report.html import render, vega
from gradelake.analyses.report.judges import read_ceilings, read_judges
from gradelake.analyses.report.moved import read_moved
from gradelake.analyses.report.overview import Sentence, next_steps, overview
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
from gradelake.analyses.report.two_boards import TwoBoards
from gradelake.analyses.stats.boards import Board, boards_by_measure, counting_of, read_board
from gradelake.analyses.stats.kappas import kappas
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.judgment_kinds import judgment_kinds
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.html import render as render_answer
from gradelake.sql.shown.kinds import shown
from gradelake.sql.shown.pictures.picture import look, specs

_BROUGHT = "Scores are of whole answers, as another tool computed them."
QUERIES_AT_ONCE = 50  # of grids and rankings
SCORES_AT_ONCE = 10_000  # of systems on queries, by each measure
QUEUES = """
    select distinct queue, n_cards, n_done, n_conflicts from lake.marts.review_queues
    where collection = ? and (n_done < n_cards or n_conflicts > 0) order by all
"""
USUAL = "select label_set, level from lake.marts.usual_levels where collection = ?"


@dataclass(frozen=True)
class ReportRequest:
    """What is asked of a report, or of several, which are files each.

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
    request: ReportRequest | None = None,
    progress: Callable = console.progress,
) -> tuple[str, dict[str, Any]]:
    """The page, and what it has, for the command to tell; call it within `one_state`.

    The same release, compared with the same one, gives the same page. Raises `BadInput` for a
    collection, reference, release or system that is not there, where nothing was built, and for a
    preview that is none.
    """
    lake.require_collection(collection)
    material = Material(project, lake, collection, request or ReportRequest(), progress)
    packs = _packs(material)
    html = render(
        name=collection,
        at=material.request.at,
        compared=material.compared,
        empty_sections=_empty_sections(material),
        without_rubric=material.request.without_rubric,
        provenance=material.provenance,
        settled=_settled(material),
        first=material.first,
        other_levels=_other_levels(material.levels, material.of_passages, material.cut),
        n_assessors=material.n_assessors,
        n_judged=sum(
            row["n_labels"] for row in material.shown if row["label_set"] == material.reference
        ),
        confusions=material.confusions,
        trust=material.trust,
        measure=material.measure,
        correlated=material.correlated,
        decided=material.decided,
        against=material.against,
        sentences=material.sentences,
        queues=[] if material.request.without_rubric else lake.objects(QUEUES, collection),
        next_steps=next_steps(
            material.judges,
            material.n_assessors,
            material.incomplete,
            material.health,
            material.provenance["failures"],
        ),
        left_out=material.left_out,
        replicates=REPLICATES,
        seed=SEED,
        health=material.health,
        moved=material.moved,
        statistics=_statistics(material),
        packs=packs,
    )
    return html, {
        "label_sets": len(material.boards),
        "systems": len(material.systems),
        "grids": sum(map(len, material.grids.choices.values())),
        "left_out": material.left_out,
        "sentences": [vars(one) for one in material.sentences],
    }


@dataclass
class Material:
    """What a report is made of, each read or computed when it is first needed."""

    project: Project
    lake: Lake
    collection: str
    request: ReportRequest
    progress: Callable

    @cached_property
    def since(self) -> str | None:
        """The release that it is compared with."""
        return self.request.compare_with or earlier_release(self.project, self.lake)

    @cached_property
    def moved(self) -> dict[str, Any]:
        asked = self.request
        return read_moved(
            self.project,
            self.lake,
            self.collection,
            self.since,
            asked.without_rubric,
            asked.preview,
        )

    @cached_property
    def shown(self) -> list[dict[str, Any]]:
        """The label sets, with their kinds."""
        return shown_label_sets(self.lake, self.collection)

    @cached_property
    def names(self) -> list[str]:
        return [row["label_set"] for row in self.shown]

    @cached_property
    def kinds_of(self) -> dict[str, str]:
        return {row["label_set"]: row["kind"] for row in self.shown}

    @cached_property
    def of_answers(self) -> dict[str, str]:
        """Label set that scores answers -> what its scores are, in words."""
        says = {each.label_sets: each.words.get("board") for each in judgment_kinds().values()}
        return {
            row["label_set"]: says.get(row["kind"]) or _BROUGHT
            for row in self.shown
            if row["is_of_answers"]
        }

    @cached_property
    def reference(self) -> str | None:
        return chosen_reference(self.request.reference, self.shown)

    @cached_property
    def assessor(self) -> str | None:
        return self.reference.partition(":")[2] if self.reference else None

    @cached_property
    def cut(self) -> int:
        """The judgment from which a passage is relevant."""
        return choosing.min_relevant(self.lake, self.collection)

    @cached_property
    def boards(self) -> dict[str, dict[str, Any]]:
        published = Lake.published(self.project, self.since) if self.since else nullcontext()
        with published as before:
            return read_boards(self.lake, before, self.collection, self.names)

    @cached_property
    def systems(self) -> set[str]:
        return {system for board in self.boards.values() for system in board["systems"]}

    @cached_property
    def official(self) -> dict[str, dict[str, float]]:
        return choosing.official_ranks(self.lake, self.collection)

    @cached_property
    def leaderboard(self) -> str | None:
        """The official ranks that at least two systems have."""
        usable = (
            name for name, ranks in self.official.items() if len(self.systems & ranks.keys()) > 1
        )
        return next(usable, None)

    @cached_property
    def against(self) -> str | None:
        return self.leaderboard or self.reference

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Measure -> its kind."""
        return choosing.measures(self.lake)

    @cached_property
    def levelled(self) -> list[str]:
        return [measure for measure, kind in self.kinds.items() if kind in choosing.LEVELLED]

    @cached_property
    def judged(self) -> dict[str, float]:
        """Label set with a board -> how much of what systems rank high it labels."""
        shares = judged_shares(self.lake, self.collection)
        return {name: shares[name] for name in self.names if name in self.boards}

    @cached_property
    def compared(self) -> dict[str, Any] | None:
        """What is said of the two systems that the report is to begin with."""
        if not self.request.compare:
            return None
        names = (self.collection, *self.request.compare)
        found = compare(self.lake, names, label_set=self.request.reference).as_object()
        # as the address of their view has them, which finds them by it
        return found | {"labels": found["label_set"], "level": str(found["level"])}

    @cached_property
    def scored(self) -> list[str]:
        """The label sets with a board; first the one that two systems are compared by."""
        names = [name for name in self.names if name in self.boards]
        if self.compared:
            first = self.compared["label_set"]
            names.sort(key=lambda name: (name != first, -self.judged[name]))
        return names

    @cached_property
    def of_passages(self) -> list[str]:
        return [n for n in self.names if n in self.boards and n not in self.of_answers]

    @cached_property
    def levels(self) -> dict[str, int]:
        """Label set with a board -> its usual level."""
        usual = dict(self.lake.rows(USUAL, self.collection))
        return {name: usual.get(name, self.cut) for name in self.scored}

    @cached_property
    def incomplete(self) -> dict[str, str]:
        found = choosing.completeness(self.lake, self.collection)
        return {name: one.says for name, one in found.items() if one.says}

    @cached_property
    def queries(self) -> list[dict[str, Any]]:
        return ask(self.lake, "query_texts", collection=self.collection)

    @cached_property
    def in_parts(self) -> list[list[str]]:
        """The label sets, as many at once as leaves their scores in memory."""
        sizes = [len(self.queries) * len(board["systems"]) for board in self.boards.values()]
        return in_batches(self.scored, SCORES_AT_ONCE // max(sizes, default=1) or 1)

    @cached_property
    def known(self) -> dict[tuple[str, str], Board]:
        """The boards of the usual levels, by label set and measure."""
        known: dict[tuple[str, str], Board] = {}
        for some in self.in_parts:
            levels = {name: self.levels[name] for name in some}
            wanted = (*MEASURES, *OF_ANSWERS)
            known |= boards_by_measure(self.lake, self.collection, levels, wanted)
        return known

    def read(self, label_set: str, measure: str) -> Board:
        """A board of the usual level. Raises `BadInput` where there is none."""
        known = self.known.get((label_set, measure))
        return known or read_board(self.lake, self.collection, label_set, measure)

    @cached_property
    def told(self) -> Callable:
        return telling()

    @cached_property
    def pairs(self) -> dict[str, dict[str, dict[str, Any]]]:
        """What is said of each two systems; adds to the boards how sure their ranks are."""
        return compare_systems(self.boards, self.read, self.told, self.levelled, self.progress)

    @cached_property
    def _correlations(self) -> tuple[list[dict[str, Any]], list[str]]:
        return correlate(
            self.lake,
            self.collection,
            self.of_passages,
            self.reference,
            self.leaderboard,
            self.read,
            self.progress,
        )

    @property
    def correlated(self) -> list[dict[str, Any]]:
        return self._correlations[0]

    @property
    def left_out(self) -> list[str]:
        return self._correlations[1]

    @cached_property
    def agreement(self) -> dict[str, dict]:
        """How label sets' boards agree with the reference's."""
        return read_agreement(self.lake, self.collection, self.reference, self.boards)

    @property
    def alike(self) -> list[tuple[str, str]]:
        """The label sets that can be compared: what labels passages, and what scores answers, have
        no measure in common."""
        kinds = self.of_answers
        return [two for two in combinations(self.scored, 2) if len({*map(kinds.get, two)}) == 1]

    def tau(self, two: TwoBoards, *names: str) -> dict[str, float | None]:
        """Kendall's tau-b of the boards of two label sets, by its name; none where nothing has
        computed it."""
        if two.measure in MEASURES and len(two.systems) > 1:
            with suppress(BadInput):
                return {
                    "tau": tau_of(*(self.read(name, two.measure).of(two.systems) for name in names))
                }
        other = next((name for name in names if name != self.reference), "")
        of_level = self.agreement.get(other, {}).get(self.levels[other], {})
        known = of_level.get(two.measure) if self.reference in names else None
        return {"tau": known["kendall"]} if known else {}

    @cached_property
    def newest(self) -> Any:
        """The newest version of the rubric."""
        return newest_rubric(self.lake, self.collection)

    def _by_query(self, what: str) -> Iterable[list[str]]:
        parts = in_batches([row["query_id"] for row in self.queries], QUERIES_AT_ONCE)
        return self.progress(what, parts, len(parts))

    @cached_property
    def grids(self) -> Grids:
        if self.request.without_rubric:
            return Grids({}, {}, {})
        return read_grids(
            self.lake,
            self.collection,
            self._by_query("reading grids"),
            self.newest,
            self.assessor,
            self.request.grid_passages,
        )

    @cached_property
    def rankings(self) -> dict[str, str]:
        return read_rankings(
            self.lake,
            self.collection,
            self._by_query("reading rankings"),
            self.names,
            self.newest,
            self.grids,
            self.request.grid_passages,
            self.request.without_rubric,
        )

    @cached_property
    def health(self) -> list[dict[str, Any]]:
        return read_health(self.lake, self.collection, self.newest, self.assessor)

    @cached_property
    def provenance(self) -> dict[str, Any]:
        found = read_provenance(self.lake, self.collection, self.since, self.request.options())
        for grader in found["graders"] if self.request.without_rubric else ():
            if grader["engine"] == "imported":
                grader["settings"] = ""  # a file of others may have said anything there
        return found

    @cached_property
    def opens_on(self) -> str | None:
        return opens_on(self.reference, {name: self.judged[name] for name in self.scored})

    @cached_property
    def first(self) -> dict[str, Any] | None:
        """The board that the page begins with."""
        name = self.opens_on
        return first_board(name, self.boards[name], self.levels[name]) if name else None

    @cached_property
    def opening(self) -> Board | None:
        """The board that the page begins with, with each query's values."""
        if not (self.first and self.opens_on):
            return None
        measure, level = self.first["measure"], self.first["level"]
        found = self.known.get((self.opens_on, measure))
        if found is None or found.level != level:  # it has none of the usual level
            found = read_board(self.lake, self.collection, self.opens_on, measure, level)
        return found

    @cached_property
    def measure(self) -> str:
        return self.first["measure"] if self.first else "nDCG@10"

    @cached_property
    def judges(self) -> list[str]:
        """Label sets of passages that are not people's."""
        people = "assessor", "hybrid", "panel"
        return [
            name
            for name in self.names
            if self.kinds_of[name] not in people and name not in self.of_answers
        ]

    @cached_property
    def n_assessors(self) -> int:
        return [*self.kinds_of.values()].count("assessor")

    @cached_property
    def confusions(self) -> list[Confusion]:
        if not self.reference:
            return []
        return read_confusions(self.lake, self.collection, self.reference, self.cut, self.names)

    @cached_property
    def agreeing(self) -> dict[str, Any]:
        """Label set -> its kappa with the reference."""
        if not self.reference:
            return {}
        return kappas(self.lake, self.collection, self.reference, REPLICATES, SEED)

    @cached_property
    def ceilings(self) -> dict[str, Any]:
        if not self.reference:
            return {}
        return read_ceilings(self.lake, self.collection, self.reference, REPLICATES, SEED)

    @cached_property
    def sentences(self) -> list[Sentence]:
        return overview(
            self.lake,
            self.collection,
            self.first,
            self.opening,
            self.judges,
            self.against,
            self.correlated,
            self.agreeing,
            self.ceilings,
        )

    @cached_property
    def decided(self) -> list[Decided]:
        return decide(
            self.lake,
            self.collection,
            [name for name in self.of_passages if name != self.reference],
            self.reference,
            self.leaderboard,
            self.measure,
            self.read,
            self.told,
            self.progress,
        )

    @cached_property
    def trust(self) -> list[dict[str, Any]]:
        of_measure = [row for row in self.correlated if row["measure"] == self.measure]
        return read_judges(
            self.lake,
            self.collection,
            self.assessor,
            self.measure,
            self.judges,
            {row["label_set"]: row for row in of_measure},
            self.agreeing,
            self.ceilings,
            self.against or "",
        )


def _settled(material: Material) -> dict[str, Any]:
    """What the page knows from its start."""
    return {
        "collection": material.collection,
        "source": material.provenance["source"],
        "min_relevant": material.cut,
        "reference": material.reference,
        "opens_on": material.opens_on,
        "assessor": material.assessor,
        "levels": material.levels,
        "label_sets": material.scored,
        "judged": {name: material.judged[name] for name in material.scored},
        "circles": ask_by(material.lake, "circles", "label_set", collection=material.collection),
        "same_runs": ask(material.lake, "same_runs", collection=material.collection),
        "cut_systems": ask(material.lake, "cut_systems", collection=material.collection),
        "of_answers": material.of_answers,
        "incomplete": material.incomplete,
        "covered": _covered(material),
        "of_rubric": [measure for measure, kind in material.kinds.items() if kind == "rubric"],
        "has_levels": material.levelled,
        "queries": material.queries,
        "systems": sorted(material.systems),
        "counts": counting_of(material.lake, material.collection),
        "official": material.official,
        "compared_with": material.since,
        "compared": material.compared,
        "release": material.lake.release,
        "grids": material.grids.choices,
        "has_texts": not material.request.without_rubric,
        "pool_depth": material.provenance["collection"]["pool_depth"],
        "measures": MEASURES,
        "tau": TAU,
        "taus": {one["grader"]: one["tau"] for one in material.health},
    }


def _covered(material: Material) -> dict[str, dict[int, str]]:
    """Label set whose boards have coverage of a rubric -> level -> who covers most of it."""
    found = {}
    for name, board in material.boards.items():
        ks = (one[6:] for one in board["measures"] if one.startswith("Cover@"))
        if k := max(map(int, ks), default=None):
            levels = board["boards"]
            found[name] = {level: _covers(name, board, level, k) for level in levels}
    return found


def _covers(name: str, board: dict[str, Any], level: int, k: int) -> str:
    scores = zip(board["systems"], board["boards"][level][f"Cover@{k}"]["score"], strict=True)
    known = [(score, system) for system, score in scores if score is not None]
    if not known:
        return "No system has a coverage score."
    most, first = min(known, key=lambda one: (-one[0], one[1]))
    return (
        f"By {name}: {first} is first of {len(known)}: its top {k} passages cover "
        f"{shown('percent', most)} of the rubric."
    )


def _packs(material: Material) -> dict[str, str]:
    """id -> packed data: the page reads each when it needs it."""
    pairs = material.pairs  # first: boards get from it how sure ranks are
    packs = {
        "vega": pack(vega()),
        "pictures": pack({"specs": specs(), "look": look()}),
        "settled": pack(_settled(material)),
        "agreement": pack(material.agreement),
        "correlated": pack(material.correlated),
        "days": pack(material.moved["days"]),
        **material.grids.packs,
        **material.rankings,
    }
    scores_of, usual = {}, {}  # of query scores no more stays in memory than those of usual levels
    for some in material.in_parts:
        for name, scores in read_query_scores(material.lake, material.collection, some).items():
            scores_of[name] = pack(scores)
            usual[name] = at_level(scores, material.levels[name])
    for number, name in enumerate(material.scored):
        packs[f"board-{number}"] = pack(material.boards[name])
        packs[f"pairs-{number}"] = pack(pairs[name])
        packs[f"query-scores-{number}"] = scores_of[name]
    compared = compare_label_sets(
        material.alike, material.levels, material.boards, usual, material.tau
    )
    packs["label-sets"] = pack(
        {"pairs": compared, "higher": which_is_higher(material.of_passages, material.read)}
    )
    return packs


def _statistics(material: Material) -> list[dict[str, str]]:
    """The statistics that have a section, each by its defaults; none where it cannot be had."""
    found = []
    for one in sections():
        with suppress(BadInput):
            shown = render_answer(one.answer(material.lake, material.collection))
            found.append({"name": one.name, "title": one.section, "html": shown})
    return found


def _empty_sections(material: Material) -> set[str]:
    """The sections with nothing in them."""
    moved = material.moved
    filled = {
        "trust": material.trust,
        "scatter": material.reference and material.scored,
        "correlation": material.correlated,
        "confusion": material.confusions,
        "grid": material.grids.choices,
        "coverage": _covered(material),
        "rubric": material.health,
        "moved": any(moved[each] for each in ("versions", "previewed", "since", "nights", "days")),
        "cost": material.provenance["cost"] or material.provenance["failures"],
    }
    return {each for each, has in filled.items() if not has}


def _other_levels(levels: dict[str, int], names: list[str], cut: int) -> dict[int, list[str]]:
    """level -> label sets whose boards begin there, and not where judgments count as relevant."""
    found: dict[int, list[str]] = {}
    for name in names:
        if levels[name] != cut:
            found.setdefault(levels[name], []).append(name)
    return found
