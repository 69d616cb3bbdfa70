"""Small collections: agreement to count by hand, and systems that are all far from their place."""

from pathlib import Path

from tests.command_line import gradelake
from tests.lakes import start_lake

PAIRS = [(5, 3), (4, 3), (4, 2), (3, 2), (1, 0), (0, 0), (0, 1), (0, -1)]  # (label, judgment)


def make_small(folder: Path) -> Path:
    """Ingest and build the collections `small` (assessor `me`, judges `five` and `elsewhere`) and
    `one`, which has one label set and one system."""
    folder.mkdir(parents=True)
    (folder / "gradelake.toml").write_text(
        '[collections.small]\nqueries = "topics.tsv"\npassages = "passages.tsv"\n'
        'judgments = { me = "me.qrels" }\nmin_relevant = 2\n'
        '[collections.one]\nqueries = "topics.tsv"\nruns = ["only.run"]\n'
        'judgments = { me = "elsewhere.qrels" }\n'
    )
    (folder / "topics.tsv").write_text("q\tblue sky\n")
    numbered = list(enumerate(PAIRS))
    (folder / "passages.tsv").write_text("".join(f"p{i}\tPassage {i}.\n" for i, _ in numbered))
    for name, of in (("me", 1), ("five", 0)):
        (folder / f"{name}.qrels").write_text(
            "".join(f"q 0 p{i} {pair[of]}\n" for i, pair in numbered)
        )
    (folder / "elsewhere.qrels").write_text("q 0 p99 1\n")
    (folder / "only.run").write_text("q Q0 p99 1 1 tag\n")
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
    folder.mkdir(parents=True)
    (folder / "gradelake.toml").write_text(
        '[collections.far]\nqueries = "topics.tsv"\nruns = ["runs/*.run"]\n'
        'judgments = { me = "me.qrels" }\n'
    )
    (folder / "topics.tsv").write_text("q\tblue sky\n")
    for name, relevant in (("me", 0), ("other", 1)):
        labels = [f"q 0 p{n} {int(n == relevant)}\n" for n in range(20)]
        (folder / f"{name}.qrels").write_text("".join(labels))
    (folder / "runs").mkdir()
    for n, system in enumerate(FAR):
        place = min(max(n, 1), len(FAR) - 2)
        ranking = [f"p{i}" for i in range(2, 20)]
        ranking.insert(place, "p0")
        ranking.insert(len(FAR) - place + (place < len(FAR) / 2), "p1")
        (folder / "runs" / f"{system}.run").write_text(
            "".join(f"q Q0 {p} {i} {99 - i} {system}\n" for i, p in enumerate(ranking, start=1))
        )
    start_lake(folder)
    gradelake(folder, "ingest", "far")
    gradelake(folder, "import", "labels", "far", "other.qrels", "--judge", "other")
    gradelake(folder, "build")
    return folder
