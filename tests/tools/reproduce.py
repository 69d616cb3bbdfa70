"""`make reproduce`: figures of the papers that public data allow, the papers' beside ours.

python -m tests.tools.reproduce

Prints rows of analyses/REPRODUCTION.md, which says what each is and what cannot be had so.
"""

import csv
import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from gradelake.analyses.tables.correlation import Style, correlation_table
from gradelake.analyses.tables.labels import labels_table
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests import lakes
from tests.command_line import gradelake as command
from tests.documentation.pages import blocks
from tests.lakes import copy_of, kept
from tests.places import DL19, LLMJUDGE, missing_dl19, missing_llmjudge
from tests.projects import project
from tests.published import KAPPAS, LLMJUDGE_KAPPAS, TABLE_3, TABLE_3_COLUMNS, UMBRELA_TABLE_1

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
GRID = (*MEASURES.values(), "P@20", "Success@20")
WITHIN = 0.05  # of a column's best is as good, in RUBRIC's Table 3
AS_IN_TABLE_3 = Style(within=WITHIN, repeated=True)

_KAPPA = """
    select printf('%.3f', kappa) as kappa
    from lake.marts.kappa
    where label_set = $label_set and cut = $cut and kind = 'binary' and assessor = $assessor
"""
_CORRELATIONS = """
    select label_set, level, measure, spearman, kendall from lake.marts.leaderboard_correlation
"""
_PERFECT = """
    select
        count(*) filter (where measure = 'Success@20' and score_4dp = 1),
        count(*) filter (where measure = 'Success@20'),
        printf('%.2f', min(score) filter (where measure = 'P@20')),
        printf('%.2f', max(score) filter (where measure = 'P@20'))
    from lake.marts.leaderboard
    where label_set = 'judge:Thomas' and level = 1
"""


def tables(folder: Path) -> Iterator[str]:
    """The lines of the tables; `folder` gets the lakes they are read from."""
    dl19, llmjudge = folder / "dl19", folder / "llmjudge"
    if not (no_dl19 := missing_dl19()):
        make_dl19(dl19)
        with Lake.published(Project.find(dl19)) as lake:
            yield from appendix(lake)
            yield from table_3(lake)
    yield "| figure | paper | ours |"
    if not no_dl19:
        with Lake.published(Project.find(dl19)) as lake:
            yield from dl19_figures(lake)
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
    (folder / "seeds").mkdir(exist_ok=True)
    (folder / "seeds" / "evaluation_grid.csv").write_text("\n".join(("measure", *GRID, "")))
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
        shown = [f"**{cell.text}**" if cell.is_bold else cell.text for cell in cells]
        yield row(judge, str(level), *shown)


def our_table_3(lake: Lake, style: Style = AS_IN_TABLE_3) -> dict[tuple[str, int], list]:
    """(judge, level) -> the cells of Table 3's columns, and the row's wins."""
    levels = tuple(sorted({level for _, level in TABLE_3}))
    names = tuple(f"judge:{judge}" for judge in JUDGES)
    table = correlation_table(lake, "dl19", names, levels, TABLE_3_COLUMNS, style=style)
    rows = [row for block in table.blocks for row in block.rows]
    label_sets = [record["label_set"].removeprefix("judge:") for record in table.records()]
    found = {(name, line[1].value): line[2:] for name, line in zip(label_sets, rows, strict=True)}
    return {key: found[key] for key in TABLE_3}


def by_topic(lake: Lake) -> list[tuple[float, float]]:
    """Of each judge, Kendall's tau with people's board, and the mean of the topics' own."""
    names = tuple(f"judge:{judge}" for judge in JUDGES)
    asked = {"measures": ("nDCG@10 kendall",), "reference": "assessor:nist", "by_topic": True}
    table = correlation_table(lake, "dl19", names, **asked)
    return [
        (record["nDCG@10 kendall"], record["nDCG@10 by topic kendall"])
        for record in table.records()
    ]


def their_wins() -> list[int]:
    """How many of a row's published cells are within 0.05 of the best of their column."""
    best = [max(map(float, column)) for column in zip(*TABLE_3.values(), strict=True)]
    return [
        sum(float(cell) >= top - WITHIN - 1e-9 for cell, top in zip(line, best, strict=True))
        for line in TABLE_3.values()
    ]


def dl19_figures(lake: Lake) -> Iterator[str]:
    """How many cells are the papers', and single figures."""
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
        yield row(f"{what} cells of RUBRIC's appendix that are equal", str(len(pairs)), str(same))
    table = our_table_3(lake)
    same = sum(
        cell.text == one
        for key, line in TABLE_3.items()
        for one, cell in zip(line, table[key][:-1], strict=True)
    )
    yield row("cells of RUBRIC's Table 3 that are equal", str(4 * len(TABLE_3)), str(same))
    wins = zip(their_wins(), (line[-1].value for line in table.values()), strict=True)
    same = sum(one == other for one, other in wins)
    yield row("its wins over these columns that are equal", str(len(TABLE_3)), str(same))
    overlapping = our_table_3(lake, Style(overlapping=True, repeated=True))
    by_column = zip(*(line[:-1] for line in overlapping.values()), strict=True)
    for name, column in zip(TABLE_3_COLUMNS, by_column, strict=True):
        errors = sorted(cell.error for cell in column)
        estimate = f"{errors[0]:.3f} to {errors[-1]:.3f}, median {median(errors):.3f}"
        yield row(f"standard error of Table 3's cells, {name}", f"{WITHIN}", estimate)
    (counted,) = labels_table(lake, "dl19", ("assessor:nist",)).records()
    for name, count in UMBRELA_TABLE_1.items():
        yield row(f"UMBRELA's Table 1, {name.replace('_', ' ')}", str(count), str(counted[name]))
    perfect, systems, low, high = lake.rows(_PERFECT)[0]
    yield row("Success@20 by judge:Thomas: systems at 1", "all", f"{perfect} of {systems}")
    yield row("P@20 by judge:Thomas: from, to", "-", f"{low}, {high}")
    taus = by_topic(lake)
    lowest, highest = min(taus), max(taus)
    shown = "; ".join(f"{run:.3f}, {topic:.3f}" for run, topic in (lowest, highest))
    yield row("tau of nDCG@10 by run, by topic: worst and best judge", "lower by topic", shown)
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
    command(folder, "ingest", "llmjudge")
    command(folder, "import", "grades", "llmjudge", file, "--rater", "both")
    command(folder, "build")


def llmjudge_figures(folder: Path) -> Iterator[str]:
    with Lake.published(Project.find(folder)) as lake:
        for grader, theirs in LLMJUDGE_KAPPAS.items():
            where = {"label_set": f"{grader}/v0/best", "cut": ">=4|>=2", "assessor": "human"}
            ours = lake.value(_KAPPA, **where)
            yield row(f"kappa, {grader.split('.')[1]}, >=4 against >=2", theirs, ours)


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
