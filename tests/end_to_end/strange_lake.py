"""A small lake of odd labels: assessors and judges who agree by chance, or say one thing only."""

import math
import random
import statistics
from collections import defaultdict
from pathlib import Path

from sklearn.isotonic import IsotonicRegression

from tests import oracle
from tests.command_line import gradelake
from tests.lakes import start_lake
from tests.projects import project, write
from tests.reading import published

# every kind of labels that statistics stumble over, on two queries of 12 passages
QUERIES = ("even", "odd")
PASSAGES = [f"p{i:02}" for i in range(12)]
LABELLERS = {
    "assessor:ann": lambda draw, i: draw.choice([-1, 0, 1, 2, 3]),
    "assessor:bob": lambda draw, i: None if i % 3 == 0 else draw.choice([0, 1, 2, 3]),
    "judge:fair": lambda draw, i: draw.randint(0, 3),
    "judge:wide": lambda draw, i: draw.randint(0, 5),
    "judge:yes": lambda draw, i: 1,
    "judge:no": lambda draw, i: 0,
    "judge:lone": lambda draw, i: 3 if i == 0 else None,
    "judge:fine": lambda draw, i: draw.randint(0, 3),
    "judge:good": lambda draw, i: None if i % 4 == 0 else draw.randint(0, 3),
}
MEMBERS = ("fair", "fine", "good")
ENSEMBLES = ("majority", "median", "mean_expected", "calibrated", "sum", "sum_missing_as_0")


def make(folder: Path) -> None:
    """Fill a folder with the lake, built and published."""
    draw = random.Random(5)
    files: dict = {"topics.tsv": {query: f"text {query}" for query in QUERIES}}
    for label_set, labeller in LABELLERS.items():
        files[f"{label_set.split(':')[1]}.qrels"] = [
            f"{query} 0 {passage} {label}"
            for query in QUERIES
            for i, passage in enumerate(PASSAGES)
            if (label := labeller(draw, i)) is not None
        ]
    for system in range(7):
        files[f"runs/s{system}.run"] = [
            f"{query} Q0 {passage} 1 {draw.randint(0, 6)} x"
            for query in QUERIES
            for passage in draw.sample(PASSAGES, 6)
        ]
    files["runs/s7.run"] = files["runs/s6.run"]  # a tie
    collection = {
        "queries": "topics.tsv",
        "judgments": {"ann": "ann.qrels", "bob": "bob.qrels"},
        "runs": ["runs/*.run"],
        "min_relevant": 2,
        "groups": {"half": {"low": ["s[0-3]"], "high": ["s4", "s5", "s6", "s7"]}},
    }
    project(folder, {"strange": collection}, files=files)
    start_lake(folder)
    gradelake(folder, "ingest", "strange")
    for label_set in LABELLERS:
        kind, name = label_set.split(":")
        if kind == "judge":
            gradelake(folder, "import", "labels", "strange", f"{name}.qrels", "--judge", name)
    members = [f"{rule},{rule},{judge}," for rule in ENSEMBLES for judge in MEMBERS]
    write(folder / "seeds/ensembles.csv", ["ensemble,rule,grader,mapping", *members])
    gradelake(folder, "build")


def labels_of(folder: Path) -> dict[str, dict[tuple, int]]:
    """Label set -> (query, passage) -> label, as the files have it; below 0 is 0."""
    found = defaultdict(dict)
    for name in LABELLERS:
        file = folder / f"{name.split(':')[1]}.qrels"
        for query, labels in oracle.read_qrels(file).items():
            found[name] |= {(query, passage): label for passage, label in labels.items()}
    for rule in ENSEMBLES:
        votes = defaultdict(list)
        for member in MEMBERS:
            for pair, label in found[f"judge:{member}"].items():
                votes[pair].append(label)
        more_than = {"sum": len(MEMBERS) - 1, "sum_missing_as_0": 0}.get(rule, len(MEMBERS) / 2)
        enough = {pair: labels for pair, labels in votes.items() if len(labels) > more_than}
        found[f"judge:{rule}"] = {
            pair: together(rule, labels) for pair, labels in enough.items() if rule != "calibrated"
        } or {pair: sum(p > 0.5 for p in reached) for pair, reached in held(enough, found).items()}
    return found


def held(votes: dict[tuple, list[int]], found: dict[str, dict]) -> dict[tuple, list[float]]:
    """How probable each level from 1 to 3 is by what people judged of the other query, as
    scikit-learn says; at a step that nobody judged there as at the next lower one."""
    step = {pair: round(50 * statistics.fmean(labels) / 3) for pair, labels in votes.items()}
    judged = [*found["assessor:ann"].items(), *found["assessor:bob"].items()]
    fits = {}
    for query in QUERIES:
        of_other = [(step[pair], n) for pair, n in judged if pair[0] != query and pair in step]
        steps = [at for at, _ in of_other]
        for level in (1, 2, 3):
            reached = [n >= level for _, n in of_other]
            fits[query, level] = steps, IsotonicRegression().fit(steps, reached)
    return {
        pair: [
            round(fit.predict([max([s for s in steps if s <= at] or [min(steps)])])[0], 9)
            for steps, fit in (fits[pair[0], level] for level in (1, 2, 3))
        ]
        for pair, at in step.items()
    }


def together(rule: str, labels: list[int]) -> int:
    """What an ensemble makes of its members' labels; ties go down."""
    if rule == "majority":
        return min(statistics.multimode(labels))
    if rule == "median":
        return statistics.median_low(labels)
    if rule.startswith("sum"):
        return sum(labels)
    return math.ceil(statistics.fmean(labels) - 0.5)


def rows(folder, query, *parameters) -> list[dict]:
    """The rows of a query over what is published."""
    return published(folder).frame(query, *parameters).to_dicts()
