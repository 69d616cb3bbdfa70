"""`make reproduce`: figures of the papers that public data allow, the papers' beside ours.

python -m tests.tools.reproduce

Prints rows of analyses/REPRODUCTION.md, which says what each is and what cannot be had so.
"""

import csv
import gzip
import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from gradelake.analyses.answers.agreement import agreement
from gradelake.analyses.answers.correlation_table import Style, correlation_table
from gradelake.analyses.answers.labels import labels
from gradelake.analyses.answers.leaderboard import approximate_ranks
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.answer import BEST, BOLD, Cell, Column, Table, with_best_bold
from gradelake.sql.shown.kinds import shown as as_shown
from tests import lakes
from tests.command_line import gradelake as command
from tests.documentation.pages import blocks
from tests.lakes import copy_of, kept
from tests.places import DL19, LLMJUDGE, missing_dl19, missing_llmjudge
from tests.projects import project
from tests.published import (
    APPROXIMATE_RANKS,
    CAR_MERGED,
    DL20_BOXED,
    DL20_COUNTS,
    DL20_MERGED,
    KAPPAS,
    LLMJUDGE_KAPPAS,
    RANKS_ON_A_BOARD,
    RUBRIC_DL19,
    TABLE_3,
    TABLE_3_COLUMNS,
    UMBRELA_TABLE_1,
    WHOLE_TABLE_3,
)

PAGE = "analyses/REPRODUCTION.md"
GRADERS = ("flan", "flan_nuggets", "flan_answers", "thomas", "umbrela")  # of the page's settings
# all that published labels; lakes of other tests have three of them
JUDGES = lakes.DL19_JUDGES | {
    "Nugget": "NuggetSelfRatedPrompt",
    **{name: name for name in ("FagB", "FagB_few", "HELM", "Sun_few")},
}
MEASURES = {  # as the appendix calls them
    "ndcg_cut.10": "nDCG@10",
    "ndcg_cut.20": "nDCG@20",
    "map": "AP",
    "Rprec": "Rprec",
    "recip_rank": "RR",
}
WITHIN = 0.05  # of a column's best is as good, in RUBRIC's Table 3
PLAIN = Style()
AS_IN_TABLE_3 = Style(within=WITHIN, repeated=True)
# EXAM++'s Table 3: its measures and direct judges
EXAM_TABLE_3 = ("AP", "nDCG@20", "Rprec", "Cover@20")
DIRECT = ("Thomas", "FagB", "HELM", "Sun", "FagB_few", "Sun_few")

_KAPPA = """
    select printf('%.3f', kappa) as kappa
    from lake.marts.kappa
    where label_set = $label_set and cut = $cut and kind = 'binary' and assessor = $assessor
"""
_CORRELATIONS = """
    select label_set, level, measure, spearman, kendall from lake.marts.leaderboard_correlation
"""
_PERFECT = """
    select count(*) filter (where score_4dp = 1), count(*)
    from lake.marts.leaderboard
    where label_set = 'judge:Thomas' and level = 1 and measure = 'Success@20'
"""


def tables(folder: Path) -> Iterator[str]:
    """The lines of the tables; `folder` gets the lakes they are read from."""
    dl19, llmjudge, counted = folder / "dl19", folder / "llmjudge", folder / "counted"
    if not (no_dl19 := missing_dl19()):
        make_dl19(dl19)
        with Lake.published(Project.find(dl19)) as lake:
            yield from appendix(lake)
            yield from table_3(lake)
            yield from exam_table_3(lake)
    yield "| figure | paper | ours |"
    make_counted(counted)
    yield from counted_figures(counted)
    yield from wins()
    yield from approximate()
    if not no_dl19:
        with Lake.published(Project.find(dl19)) as lake:
            yield from dl19_figures(lake)
    yield "| figure that no paper prints | by others | ours |"
    if not no_dl19:
        with Lake.published(Project.find(dl19)) as lake:
            yield from dl19_checks(lake)
    if not (no_llmjudge := missing_llmjudge()):
        make_llmjudge(llmjudge)
        yield from llmjudge_figures(llmjudge)
    yield "| grader | pairs | prompts | prompt tokens |"
    if not no_dl19:
        yield from costs(dl19)
    yield from (f"skipped: {reason}" for reason in (no_dl19, no_llmjudge) if reason)


def make_dl19(folder: Path) -> None:
    """A lake with TREC DL 2019, all of RUBRIC's labels and banks of it, and the page's graders."""
    copy_of(kept("dl19", lakes.make_dl19), folder)
    (settings,) = (block.text for block in blocks(PAGE) if block.language == "toml")
    with (folder / "gradelake.toml").open("a", encoding="utf-8") as file:
        file.write(settings)
    for judge, file in JUDGES.items():
        if judge not in lakes.DL19_JUDGES:
            labels = DL19 / "labels" / f"{file}.qrels"
            command(folder, "import", "labels", "dl19", labels, "--judge", judge)
    command(folder, "build")
    for kind in ("question", "nugget"):
        bank = DL19 / f"{kind}_bank.jsonl.gz"
        command(folder, "import", "bank", "dl19", bank, "--name", f"{kind}s")


def published_appendix() -> dict[tuple[str, int, str], tuple[str, str]]:
    """(label set, level, measure) -> Spearman and Kendall as printed; `nan` is undefined."""
    judges = {file: judge for judge, file in JUDGES.items()}
    with (DL19 / "published_correlation.tsv").open(encoding="utf-8", newline="") as lines:
        return {
            (f"judge:{judges[Path(row[0]).stem]}", int(row[1]), MEASURES[row[2]]): (row[3], row[4])
            for row in csv.reader(lines, delimiter="\t")
            if len(row) == 5 and row[2] in MEASURES
        }


def printed(value: float | None) -> str:
    return "nan" if value is None else f"{value:.3f}"


def appendix(lake: Lake) -> Iterator[str]:
    """RUBRIC's appendix, as it has it: ours where it is the same, else both."""
    theirs = published_appendix()
    ours = {tuple(row[:3]): tuple(map(printed, row[3:])) for row in lake.rows(_CORRELATIONS)}
    yield row("method", "tau", *(f"{measure} {of}" for measure in MEASURES.values() for of in "SK"))
    for judge, level in dict.fromkeys(key[:2] for key in theirs):
        pairs = [
            pair
            for measure in MEASURES.values()
            for at in [(judge, level, measure)]
            for pair in zip(theirs[at], ours[at], strict=True)
        ]
        cells = (one if one == other else f"{one} (ours {other})" for one, other in pairs)
        shown = (cell.replace("nan", "-") for cell in cells)
        yield row(judge.removeprefix("judge:"), str(level), *shown)


def table_3(lake: Lake) -> Iterator[str]:
    """RUBRIC's Table 3, its columns of DL 2019: as good as the best is bold, and counted."""
    yield row("method", "tau", *TABLE_3_COLUMNS, "wins")
    for (judge, level), cells in our_table_3(lake).items():
        yield row(judge, str(level), *map(marked, cells[:-1]), str(cells[-1]))


def marked(cell: Cell) -> str:
    """As RUBRIC prints it: the best of a column is bold italic, what is as good bold."""
    stars = "***" if BEST in cell.marks else "**" * (BOLD in cell.marks)
    return f"{stars}{as_shown('tau', cell.value)}{stars}"


def correlated(lake: Lake, style: Style = PLAIN, **asked: Any) -> Table:
    """The table of correlations of all judges' boards, or of what is asked."""
    every = {"label_sets": tuple(f"judge:{judge}" for judge in JUDGES), "levels": ()}
    every |= {"leaderboard": None, "reference": None, "by_topic": False}
    return correlation_table(lake, "dl19", **(every | asked), **asdict(style)).tables[0]


def exam_table_3(lake: Lake) -> Iterator[str]:
    """EXAM++'s Table 3 as far as labels of DL 2019 are published: its direct judges."""
    names = tuple(f"judge:{judge}" for judge in DIRECT)
    style = Style(within=WITHIN, grey_below=0.5)
    table = correlated(lake, style, label_sets=names, levels=(1,), measures=EXAM_TABLE_3)
    yield row(
        "direct judge", "tau", *(f"{measure} {of}" for measure in EXAM_TABLE_3 for of in "SK")
    )
    found = {whose.value: cells for whose, _, *cells, _, _, _ in table.rows}
    for name in names:
        yield row(name.removeprefix("judge:"), "1", *map(marked, found[name]))


def our_table_3(lake: Lake, style: Style = AS_IN_TABLE_3) -> dict[tuple[str, int], list]:
    """(judge, level) -> the cells of Table 3's columns, and the row's wins."""
    levels = tuple(sorted({level for _, level in TABLE_3}))
    table = correlated(lake, style, levels=levels, measures=TABLE_3_COLUMNS)
    found = {
        (whose.value.removeprefix("judge:"), level): cells
        for whose, level, *cells, _, _ in table.rows
    }
    return {key: found[key] for key in TABLE_3}


def by_topic(lake: Lake) -> list[tuple[float, float]]:
    """Of each judge, Kendall's tau with people's board, and the mean of the topics' own."""
    asked = {"measures": ("nDCG@10 kendall",), "reference": "assessor:nist", "by_topic": True}
    table = correlated(lake, **asked)
    return [
        (record["nDCG@10 kendall"], record["nDCG@10 by topic kendall"])
        for record in table.records()
    ]


def wins() -> Iterator[str]:
    """Wins of RUBRIC's Table 3, as our rule counts them in its twelve columns."""
    lines = [line.split() for line, _ in WHOLE_TABLE_3.values()]
    cells = [[Cell(float(cell), shown=cell) for cell in line] for line in lines]
    columns = [Column(str(n)) for n in range(len(lines[0]))]
    counted = with_best_bold(Table("", columns, cells), [each.key for each in columns], WITHIN)
    of_rows = zip(WHOLE_TABLE_3.items(), counted.rows, strict=True)
    for ((judge, level), (_, theirs)), line in of_rows:
        ours = sum(BOLD in cell.marks for cell in line)
        yield row(f"RUBRIC's Table 3, wins of {judge} at {level}", str(theirs), str(ours))


def approximate() -> Iterator[str]:
    """Ranks of systems that were not submitted, from the order of RUBRIC's Table 4."""
    official = {name: rank for name, rank in RANKS_ON_A_BOARD.items() if rank is not None}
    ours = approximate_ranks([*RANKS_ON_A_BOARD], official)
    for system, theirs in APPROXIMATE_RANKS.items():
        yield row(f"the Workbench's Table 4, rank of {system}", f"~{theirs}", f"~{ours[system]:g}")


def dl19_figures(lake: Lake) -> Iterator[str]:
    """What papers print of DL 2019."""
    asked = {"label_sets": ("assessor:nist",), "reference": None, "measure": "nDCG@10"}
    (counted,) = labels(lake, "dl19", **asked).tables[0].records()
    n_judged = sum(counted[f"label_{label}"] for label in range(4))
    ours = {"queries": counted["topics"], "systems": counted["runs"], "judged passages": n_judged}
    for name, theirs in RUBRIC_DL19.items():
        yield row(f"RUBRIC's section 6, {name} of DL 2019", str(theirs), str(ours[name]))
    for name, count in UMBRELA_TABLE_1.items():
        yield row(f"UMBRELA's Table 1, {name.replace('_', ' ')}", str(count), str(counted[name]))


def dl19_checks(lake: Lake) -> Iterator[str]:
    """How many cells of tables are the papers', and figures that stand in none."""
    theirs = published_appendix()
    ours = {tuple(row[:3]): tuple(map(printed, row[3:])) for row in lake.rows(_CORRELATIONS)}
    for what, is_defined in (("defined", True), ("undefined", False)):
        pairs = [
            pair
            for at, cells in theirs.items()
            for pair in zip(cells, ours[at], strict=True)
            if (pair[0] != "nan") == is_defined
        ]
        same = sum(one == other for one, other in pairs)
        yield row(
            f"{what} cells of RUBRIC's appendix that are equal", "-", f"{same} of {len(pairs)}"
        )
    table = our_table_3(lake)
    same = sum(
        as_shown("tau", cell.value) == one
        for key, line in TABLE_3.items()
        for one, cell in zip(line, table[key][:-1], strict=True)
    )
    yield row("cells of RUBRIC's Table 3 that are equal", "-", f"{same} of {4 * len(TABLE_3)}")
    overlapping = our_table_3(lake, Style(overlapping=True, repeated=True))
    by_column = zip(*(line[:-1] for line in overlapping.values()), strict=True)
    for name, column in zip(TABLE_3_COLUMNS, by_column, strict=True):
        errors = sorted(cell.error for cell in column)
        estimate = f"{errors[0]:.3f} to {errors[-1]:.3f}, median {median(errors):.3f}"
        yield row(f"standard error of Table 3's cells, {name}", "-", estimate)
    perfect, systems = lake.rows(_PERFECT)[0]
    yield row("Success@20 by judge:Thomas: systems at 1", "-", f"{perfect} of {systems}")
    taus = by_topic(lake)
    lowest, highest = min(taus), max(taus)
    shown = "; ".join(f"{run:.3f}, {topic:.3f}" for run, topic in (lowest, highest))
    yield row("tau of nDCG@10 by run, by topic: worst and best judge", "-", shown)
    for (label_set, cut), kappa in KAPPAS.items():
        here = lake.value(_KAPPA, label_set=label_set, cut=cut, assessor="nist")
        yield row(f"kappa, {label_set}, {cut.replace('|', ' against ')}", kappa, here)


def make_llmjudge(folder: Path) -> None:
    """A lake with the development half of the LLMJudge challenge and its published grades."""
    file = LLMJUDGE / "dev.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        texts = {
            each["paragraph_id"]: each["text"] for line in lines for each in json.loads(line)[1]
        }
    rows = [json.dumps({"passage_id": name, "text": text}) for name, text in texts.items()]
    collection = {
        "queries": LLMJUDGE / "dev_queries.tsv",
        "passages": "passages.jsonl",
        "judgments": {"human": LLMJUDGE / "dev_qrels.txt"},
        "min_relevant": 1,
    }
    project(folder, {"llmjudge": collection}, files={"passages.jsonl": rows})
    lakes.start_lake(folder)
    command(folder, "ingest", "llmjudge")
    command(folder, "import", "grades", "llmjudge", file, "--rater", "both")
    command(folder, "build")


def llmjudge_figures(folder: Path) -> Iterator[str]:
    with Lake.published(Project.find(folder)) as lake:
        for grader, theirs in LLMJUDGE_KAPPAS.items():
            where = {"label_set": f"{grader}/v0/best", "cut": ">=4|>=2", "assessor": "human"}
            ours = lake.value(_KAPPA, **where)
            yield row(f"kappa, {grader.split('.')[1]}, >=4 against >=2", theirs, ours)


def make_counted(folder: Path) -> None:
    """A lake of `dl20` and `car`, of which the papers print how often labels met judgments: as many
    pairs, and the labels of a class are its highest and its lowest."""
    judgments = [
        3 - column
        for *of, _ in DL20_COUNTS.values()
        for column, n in enumerate(of)
        for _ in range(n)
    ]
    questions = [label for label, (*of, _) in DL20_COUNTS.items() for _ in range(sum(of))]
    dl20 = {"Question": questions}
    for judge in ("Nugget", "Sun"):
        dl20[judge] = _merged(judgments, 2, DL20_MERGED[judge])
    (both, label_only, _), (judgment_only, neither, _) = CAR_MERGED["Question"][1:3]
    car = [1] * (both + judgment_only) + [0] * (label_only + neither)
    labels = {"dl20": dl20, "car": {"Question": _merged(car, 1, CAR_MERGED["Question"])}}
    files: dict[str, Any] = {"topics.tsv": {"q": "counted"}}
    collections = {}
    for name, least, judged in (("dl20", 2, judgments), ("car", 1, car)):
        of_name = {"people": judged, **labels[name]}
        for judge, of in of_name.items():
            files[f"{name}.{judge}.qrels"] = {"q": {f"p{n}": each for n, each in enumerate(of)}}
        collections[name] = {
            "queries": "topics.tsv",
            "judgments": {"people": f"{name}.people.qrels"},
            "min_relevant": least,
            "max_relevance": 3,
        }
    project(folder, collections, files=files)
    lakes.start_lake(folder)
    for name, of_judges in labels.items():
        command(folder, "ingest", name)
        for judge in of_judges:
            command(folder, "import", "labels", name, f"{name}.{judge}.qrels", "--judge", judge)
    command(folder, "build")


def _merged(judgments: list[int], least: int, printed: tuple) -> list[int]:
    """Labels that meet the judgments as often as printed."""
    cut, upper, *_ = printed
    top = 1 if cut == 1 else 5  # a label of the upper class need not be the cut
    left = {True: upper[0], False: upper[1]}
    found = []
    for judgment in judgments:
        is_relevant = judgment >= least
        found.append(top if left[is_relevant] > 0 else 0)
        left[is_relevant] -= 1
    return found


def counted_figures(folder: Path) -> Iterator[str]:
    """Totals and kappas of the papers' tables of counts, by our tables of agreement."""
    with Lake.published(Project.find(folder)) as lake:
        for record in counts(lake, "dl20", "Question"):
            at, label = f"RUBRIC's Table 5, label {record['label']}", int(record["label"])
            yield row(f"{at}: total", str(DL20_COUNTS[label][-1]), str(record["total"]))
            if theirs := DL20_BOXED.get(label):
                ours = f"{record['kappa']:.{len(theirs) - 2}f}"
                yield row(f"{at}: kappa of the boxed cell", theirs, ours)
        for collection, where, merged in (
            ("dl20", "Table 5 of RUBRIC or the Workbench", DL20_MERGED),
            ("car", "Table 6 of RUBRIC", CAR_MERGED),
        ):
            for judge, (cut, *printed_counts, kappas) in merged.items():
                records = counts(lake, collection, judge, cut)
                for record, of, theirs in zip(records, printed_counts, kappas, strict=True):
                    at = f"{where}, {judge} {record['label']}"
                    yield row(f"{at}: total", str(of[-1]), str(record["total"]))
                    yield row(f"{at}: kappa", theirs, f"{record['kappa']:.2f}")


def counts(lake: Lake, collection: str, judge: str, cut: int | None = None) -> list[dict]:
    """The rows of a judge's table of agreement."""
    asked = {"label_sets": (f"judge:{judge}",), "reference": None, "cut": cut}
    found = agreement(lake, collection, **asked, judgment_cut=None, each_kappa=False)
    return found.tables[0].records()


def costs(folder: Path) -> Iterator[str]:
    """What `gradelake plan` says of the papers' graders before anything is graded."""
    for grader in GRADERS:
        printed = command(folder, "plan", "dl19", "--grader", grader, "--json").stdout
        (plan,) = json.loads(printed)["plans"]
        tokens = f"{plan['prompt_tokens'] / 1e6:.1f} M"
        yield row(f"`{grader}`", f"{plan['wanted_pairs']:,}", f"{plan['prompts']:,}", tokens)


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        for line in tables(Path(made)):
            print(line, flush=True)
