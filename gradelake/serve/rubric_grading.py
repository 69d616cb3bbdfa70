"""Grading what a query's rubric lacks: planned here, done by a process of its own.

The process (`python -m gradelake.serve.rubric_grading FILE`) is told what to grade on its standard
input, so that no id is read as anything else, and answers in lines of JSON.
"""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradelake.sql.common.errors import GradelakeError, WorkFailed
from gradelake.sql.common.project import Project

if TYPE_CHECKING:
    from gradelake.serve.writer import Job, Writer

_EVERY = 0.5  # seconds between two lines about progress


def plans(project: Project, collection: str, query_id: str) -> list[dict[str, Any]]:
    """What each grader of gradelake.toml lacks of a query, as `gradelake plan --json` has it.

    Graders with nothing to grade there are left out. In the writer's thread: views may be made.
    """
    from gradelake.grading.graders import engine_finder
    from gradelake.grading.plan.planner import NothingToGrade
    from gradelake.grading.plan.plans import plan
    from gradelake.sql.common import console

    with console.quietly(True):
        found = plan(project, collection, queries=(query_id,))
    missing = [
        totals.as_object(grader) | {"needs_model": engine_finder.engine_of(grader).needs_model}
        for grader, totals in found.plans
        if totals.missing
    ]
    return missing + [
        {"grader": name, "refused": error.message}
        for name, error in found.refused or ()
        if not isinstance(error, NothingToGrade)
    ]


def grading_job(
    project: Project, writer: "Writer", collection: str, query_id: str, grader: str
) -> "Job":
    """Grade it in the background; its result is what `gradelake grade --json` prints."""
    asked = {"collection": collection, "queries": [query_id], "grader": grader}

    def work(job: "Job") -> dict[str, Any]:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(project.file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            cwd=project.folder,
            start_new_session=True,  # the terminal's Ctrl-C is for the server, which passes it on
        )
        assert process.stdin
        assert process.stdout

        stopping = threading.Event()

        def stop() -> None:
            job.progress = "stopping; what is at work is finished first"
            stopping.set()
            process.terminate()  # not SIGINT: what starts a server in the background may ignore it

        job.stop = stop
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(asked))
            process.stdin.close()
        last: dict[str, Any] = {}
        for line in process.stdout:
            last = json.loads(line)
            job.progress = last.get("progress", job.progress)
            job.done, job.total = last.get("done", job.done), last.get("total", job.total)
        code = process.wait()
        job.stop = None
        if "error" in last:
            raise WorkFailed(last["error"], last["hint"])
        if "run" not in last:
            if stopping.is_set():
                return {"pairs": 0, "stopped": True, "left": None}
            raise WorkFailed(
                f"the process that grades ended with status {code}",
                f"`gradelake grade {collection} --grader {grader}` may say why; it goes on with "
                "what is left.",
            )
        return last["run"]

    about = {"kind": "grade", "collection": collection, "query_id": query_id, "grader": grader}
    job = writer.beside(f"grade with {grader}", work, **about)
    job.progress = job.progress or "starting"
    return job


def main() -> None:
    """Grade what standard input asks for."""
    from gradelake.grading.run import grader_run
    from gradelake.grading.run.progress import rates
    from gradelake.grading.run.run_text import run_as_object
    from gradelake.sql.common import console

    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what Ray and engines print is not for the server
    last = 0.0

    def say(**line: Any) -> None:
        print(json.dumps(console.plain(line)), file=out, flush=True)

    def on_progress(run: Any, committer: Any) -> None:
        nonlocal last
        if time.monotonic() - last > _EVERY:
            last = time.monotonic()
            done = committer.counts["pairs"]
            shown = f"{done:,} of {run.planned:,} pairs, {rates(run, committer.seconds)}"
            say(done=done, total=run.planned, progress=shown)

    asked = json.load(sys.stdin)
    try:
        project = Project.read(Path(sys.argv[1]))
        request = grader_run.requested(
            project, asked["collection"], asked["grader"], None, tuple(asked["queries"])
        )
        run = grader_run.grade(project, request, lambda line: say(progress=line), on_progress)
        say(run=run_as_object(request, run))
    except GradelakeError as error:
        say(error=error.message, hint=error.hint)


if __name__ == "__main__":
    main()
