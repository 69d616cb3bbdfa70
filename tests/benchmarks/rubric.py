"""What a person waits for after editing the rubric: one build, without any LLM call.

TREC DL 2019 with 37 runs, 430 questions and a grade for every pair of the pool (by the lexical
engine): one item is dropped, `gradelake build` is timed as a whole process, and the same lake is
built anew with --full-refresh. The ratio is the result.

    python -m tests.benchmarks.rubric
"""

import shutil
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.leaderboards import command, console, timed
from tests.conftest import write_dl19_config
from tests.edits import write_edits
from tests.places import DL19, missing_dl19

GRADER = (
    '\n[graders.lexical]\nengine = "lexical"\nprompt = "question_self_rating"\nparser = "strict"\n'
)


def main() -> None:
    """Prepare the lake (some minutes), edit, build, print."""
    if reason := missing_dl19():
        console.print(f"rubric: {reason}")
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "edited"
        write_dl19_config(folder)
        with (folder / "gradelake.toml").open("a") as file:
            file.write(GRADER)
        command(folder, "ingest", "dl19")
        bank = DL19 / "question_bank.jsonl.gz"
        command(folder, "import", "bank", "dl19", str(bank), "--name", "questions")
        command(folder, "grade", "dl19", "--grader", "lexical")
        command(folder, "build")
        item_id = command(
            folder, "sql", "--format", "csv", "select min(item_id) from raw.rubric_items"
        ).split()[1]
        write_edits(
            folder,
            {
                "rubric_version": 1,
                "collection": "dl19",
                "bank": "questions",
                "item_id": item_id,
                "action": "drop",
            },
        )
        anew = Path(place) / "anew"
        shutil.copytree(folder, anew)
        edited, edited_cpu, _ = timed(lambda: command(folder, "build"))
        full, full_cpu, _ = timed(lambda: command(anew, "build", "--full-refresh"))
    console.print("[bold]After one item was dropped (DL19, 110,520 grades, no LLM call)[/bold]")
    console.print(f"gradelake build:                 {edited:5.1f} s (CPU {edited_cpu:.1f} s)")
    console.print(f"gradelake build --full-refresh:  {full:5.1f} s (CPU {full_cpu:.1f} s)")
    console.print(
        f"full rebuild / one build:        {full / edited:5.2f}x (CPU {full_cpu / edited_cpu:.2f}x)"
    )


if __name__ == "__main__":
    sys.exit(main())
