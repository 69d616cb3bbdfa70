"""Eight passages with a label of 0-5 and a judgment of 0-3 each: agreement to count by hand."""

from pathlib import Path

from tests.conftest import gradelake, start_lake

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
    start_lake(folder, folder.parent)
    gradelake(folder, "ingest", "small")
    gradelake(folder, "ingest", "one")
    for judge in ("five", "elsewhere"):
        gradelake(folder, "import", "labels", "small", f"{judge}.qrels", "--judge", judge)
    gradelake(folder, "build")
    return folder
