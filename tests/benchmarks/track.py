"""A made-up track of generated answers, from a folder of submissions to its tables.

Each of 20 systems answers 20 topics in eight sentences, with citations of the topic's passages, of
which some are wrong or not there. The graders have no model: what is measured is all but that.

    python -m tests.benchmarks.track [--systems 20] [--topics 20]
"""

import argparse
import json
import random
import tempfile
from pathlib import Path

from rich.table import Table

from tests.benchmarks.leaderboards import command, console, timed

SENTENCES, PASSAGES, NUGGETS = 8, 30, 15
WORDS = [f"word{n}" for n in range(400)]
TOML = """
[collections.track]
queries = "topics.tsv"
passages = "passages.jsonl"
responses = ["submissions/*.jsonl"]
[graders.assigns]
engine = "lexical"
prompt = "nuggetizer_assign"
[graders.supports]
engine = "lexical"
prompt = "support"
"""
EXPORT = ("export", "scores", "track", "--label-set")
STEPS = (
    ("ingest", ("ingest", "track")),
    ("import of the nuggets", ("import", "bank", "track", "nuggets.jsonl", "--name", "nuggets")),
    ("assignment", ("grade", "track", "--grader", "assigns")),
    ("support", ("grade", "track", "--grader", "supports")),
    ("build", ("build",)),
    ("table of nuggets", (*EXPORT, "assigns/v0/nuggets", "-o", "nuggets.txt")),
    ("table of support", (*EXPORT, "supports/first_citation", "-o", "support.txt")),
)


def make(folder: Path, n_systems: int, n_topics: int) -> None:
    """Submissions, topics, passages and nuggets of a track."""
    rng = random.Random(20)

    def words(n: int) -> str:
        return " ".join(rng.choices(WORDS, k=n))

    def write(name: str, rows: list[dict]) -> None:
        (folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    topics = [f"t{n:02}" for n in range(n_topics)]
    passages = {t: [(f"{t}-p{n:02}", words(80)) for n in range(PASSAGES)] for t in topics}
    (folder / "topics.tsv").write_text("".join(f"{t}\t{words(6)}\n" for t in topics))
    write(
        "passages.jsonl",
        [{"passage_id": p, "text": text} for each in passages.values() for p, text in each],
    )
    write(
        "nuggets.jsonl",
        [
            {
                "query": t,
                "qid": t,
                "nuggets": [
                    {"text": words(5), "importance": rng.choice(["vital", "okay"])}
                    for _ in range(NUGGETS)
                ],
            }
            for t in topics
        ],
    )
    (folder / "submissions").mkdir()
    for system in range(n_systems):
        reports = []
        for t in topics:
            sentences = []
            for _ in range(SENTENCES):
                cited, text = rng.choice(passages[t])
                said = " ".join(text.split()[:12]) if rng.random() < 0.7 else words(12)
                cited = cited if rng.random() < 0.95 else "nowhere"
                sentences.append({"text": f"{said}.", "citations": [cited]})
            metadata = {"run_id": f"run{system:02}", "topic_id": t}
            reports.append({"metadata": metadata, "responses": sentences})
        write(f"submissions/run{system:02}.jsonl", reports)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--systems", type=int, default=20)
    parser.add_argument("--topics", type=int, default=20)
    sizes = parser.parse_args()
    table = Table(
        "", "wall s", "processor s", title=f"{sizes.systems} systems, {sizes.topics} topics"
    )
    with tempfile.TemporaryDirectory(prefix="gradelake-track-") as name:
        folder = Path(name)
        command(folder, "init", ".")
        (folder / "gradelake.toml").write_text(TOML)
        make(folder, sizes.systems, sizes.topics)
        sums = [0.0, 0.0]
        for step, words in STEPS:
            wall, cpu, _ = timed(lambda words=words: command(folder, *words))
            sums = [sums[0] + wall, sums[1] + cpu]
            table.add_row(step, f"{wall:.1f}", f"{cpu:.1f}")
        table.add_row("together", *(f"{each:.1f}" for each in sums))
        lines = [
            (folder / f"{each}.txt").read_text().splitlines() for each in ("nuggets", "support")
        ]
    console.print(table)
    console.print(f"{len(lines[0]):,} scores of nuggets, {len(lines[1]):,} of support")


if __name__ == "__main__":
    main()
