"""`make reproduce`: figures of the papers that public data allow, the papers' beside ours.

python -m tests.tools.reproduce

Prints rows of analyses/REPRODUCTION.md, which says what each is and what cannot be had so.
"""

import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import gradelake
from tests import lakes
from tests.command_line import gradelake as command
from tests.documentation.pages import blocks
from tests.lakes import copy_of, kept
from tests.places import DL19, LLMJUDGE, missing_dl19, missing_llmjudge
from tests.projects import project
from tests.published import CORRELATIONS, KAPPAS, LLMJUDGE_KAPPAS

PAGE = "analyses/REPRODUCTION.md"
GRADERS = ("flan", "flan_nuggets", "flan_answers", "thomas", "umbrela")  # of the page's settings

_CORRELATION = """
    select printf('%.3f', spearman) as spearman, printf('%.3f', kendall) as kendall
    from leaderboard_correlation
    where label_set = $label_set and level = $level and measure = $measure
"""
_KAPPA = """
    select printf('%.3f', kappa) as kappa
    from kappa
    where label_set = $label_set and cut = $cut and kind = 'binary' and assessor = $assessor
"""


def tables(folder: Path) -> Iterator[str]:
    """The lines of two tables; `folder` gets the lakes they are read from."""
    dl19, llmjudge = folder / "dl19", folder / "llmjudge"
    yield "| figure | paper | ours |"
    if not (no_dl19 := missing_dl19()):
        make_dl19(dl19)
        yield from dl19_figures(dl19)
    if not (no_llmjudge := missing_llmjudge()):
        make_llmjudge(llmjudge)
        yield from llmjudge_figures(llmjudge)
    yield "| grader | pairs | prompts | prompt tokens |"
    if not no_dl19:
        yield from costs(dl19)
    yield from (f"skipped: {reason}" for reason in (no_dl19, no_llmjudge) if reason)


def make_dl19(folder: Path) -> None:
    """A lake with TREC DL 2019, RUBRIC's labels and banks of it, and the page's graders."""
    copy_of(kept("dl19", lakes.make_dl19), folder)
    (settings,) = (block.text for block in blocks(PAGE) if block.language == "toml")
    with (folder / "gradelake.toml").open("a", encoding="utf-8") as file:
        file.write(settings)
    for kind in ("question", "nugget"):
        bank = DL19 / f"{kind}_bank.jsonl.gz"
        command(folder, "import", "bank", "dl19", bank, "--name", f"{kind}s")


def dl19_figures(folder: Path) -> Iterator[str]:
    with gradelake.open(folder) as lake:
        for (label_set, level, measure), published in CORRELATIONS.items():
            where = {"label_set": label_set, "level": level, "measure": measure}
            ours = lake.sql(_CORRELATION, **where).fetchall()[0]
            for name, theirs, here in zip(("Spearman", "Kendall"), published, ours, strict=True):
                if theirs:
                    yield row(f"{name}, {label_set}, level {level}, {measure}", theirs, here)
        for (label_set, cut), theirs in KAPPAS.items():
            ours = lake.sql(_KAPPA, label_set=label_set, cut=cut, assessor="nist").fetchall()
            yield row(f"kappa, {label_set}, {cut.replace('|', ' against ')}", theirs, ours[0][0])


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
    with gradelake.open(folder) as lake:
        for grader, theirs in LLMJUDGE_KAPPAS.items():
            where = {"label_set": f"{grader}/v0/best", "cut": ">=4|>=2", "assessor": "human"}
            ours = lake.sql(_KAPPA, **where).fetchall()[0][0]
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
