"""The graded demo after its rubric was edited, a topic judged anew, and a night."""

import shutil
from pathlib import Path

from gradelake.nightly import record
from gradelake.sql.common.project import Project
from tests.command_line import gradelake
from tests.edits import edit, write_edits
from tests.end_to_end.edited_demo import BREAD, KINDS, edits
from tests.rubric_oracle import read_bank

HOSTILE = '</script><script>window.broken = "yes"</script><img src=x onerror="window.broken=1">'
HOSTILE_ITEM = f"Is the crust brown? {HOSTILE}"
REREAD = "volcano-prediction"  # nobody judges its passages relevant any more
NIGHT = {"pairs": 1234, "pairs_failed": 7, "pairs_left": 5, "tokens": 81_920}


def make_moved(graded: Path, folder: Path) -> None:
    """r1 is the graded demo; r2 has versions 1 and 2 of the rubric and another reading of a topic;
    its report is compared with r1."""
    shutil.copytree(graded, folder)
    banks = [read_bank(folder / f"{kind}_bank.jsonl", kind) for kind in KINDS.values()]
    hostile = edit(2, "add", query_id=BREAD, kind="question", text=HOSTILE_ITEM, reason=HOSTILE)
    write_edits(folder, *edits(*banks), hostile)
    judgments = folder / "judgments.qrels"
    lines = judgments.read_text(encoding="utf-8").splitlines()
    reread = [f"{line[:-1]}0" if line.startswith(REREAD) else line for line in lines]
    judgments.write_text("\n".join(reread) + "\n", encoding="utf-8")
    gradelake(folder, "ingest", "demo")
    project = Project.find(folder)
    record.end(project, record.begin(project, []), "done", NIGHT, None)
    gradelake(folder, "build")
    gradelake(folder, "report")
