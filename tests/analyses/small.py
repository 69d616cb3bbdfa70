"""Small collections: agreement to count by hand, and systems that are all far from their place."""

from pathlib import Path

from tests.command_line import gradelake
from tests.lakes import start_lake
from tests.projects import project

PAIRS = [(5, 3), (4, 3), (4, 2), (3, 2), (1, 0), (0, 0), (0, 1), (0, -1)]  # (label, judgment)


def make_small(folder: Path) -> Path:
    """Ingest and build the collections `small` (assessor `me`, judges `five` and `elsewhere`) and
    `one`, which has one label set and one system."""
    small = {"queries": "topics.tsv", "passages": "passages.tsv", "min_relevant": 2}
    one = {"queries": "topics.tsv", "runs": ["only.run"]}
    labels = {
        name: {"q": {f"p{i}": pair[of] for i, pair in enumerate(PAIRS)}}
        for name, of in (("me", 1), ("five", 0))
    }
    files = {
        "topics.tsv": {"q": "blue sky"},
        "passages.tsv": {f"p{i}": f"Passage {i}." for i in range(len(PAIRS))},
        "me.qrels": labels["me"],
        "five.qrels": labels["five"],
        "elsewhere.qrels": {"q": {"p99": 1}},
        "only.run": {"q": ["p99"]},
    }
    collections = {
        "small": small | {"judgments": {"me": "me.qrels"}},
        "one": one | {"judgments": {"me": "elsewhere.qrels"}},
    }
    project(folder, collections, files=files)
    start_lake(folder)
    gradelake(folder, "ingest", "small")
    gradelake(folder, "ingest", "one")
    for judge in ("five", "elsewhere"):
        gradelake(folder, "import", "labels", "small", f"{judge}.qrels", "--judge", judge)
    gradelake(folder, "build")
    return folder


LONG = "a-system-with-a-name-that-is-far-too-long-of-the-{}-family-and-its-settings"
FAR = ("leads", "leads-too", *(f"s{n:02}" for n in range(8)), LONG.format(1), LONG.format(2))


def make_far(folder: Path) -> Path:
    """Ingest and build the collection `far`: assessor `me` holds p0 relevant, judge `other` p1; by
    RR the later of `FAR` are worse for the one and better for the other. The first two are equal,
    and so are the last two."""
    far = {"queries": "topics.tsv", "runs": ["runs/*.run"], "judgments": {"me": "me.qrels"}}
    files: dict[str, dict] = {"topics.tsv": {"q": "blue sky"}}
    for name, relevant in (("me", 0), ("other", 1)):
        files[f"{name}.qrels"] = {"q": {f"p{n}": int(n == relevant) for n in range(20)}}
    for n, system in enumerate(FAR):
        place = min(max(n, 1), len(FAR) - 2)
        ranking = [f"p{i}" for i in range(2, 20)]
        ranking.insert(place, "p0")
        ranking.insert(len(FAR) - place + (place < len(FAR) / 2), "p1")
        files[f"runs/{system}.run"] = {"q": ranking}
    project(folder, {"far": far}, files=files)
    start_lake(folder)
    gradelake(folder, "ingest", "far")
    gradelake(folder, "import", "labels", "far", "other.qrels", "--judge", "other")
    gradelake(folder, "build")
    return folder
