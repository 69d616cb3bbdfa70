"""Grading what a query, or a collection, lacks: planned here, done by a process of its own.

The process (`python -m gradelake.serve.rubric_grading FILE`) is told what to grade on its standard
input, so that no id is read as anything else, and answers in lines of JSON.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradelake.sql.common.errors import GradelakeError, WorkFailed
from gradelake.sql.common.project import Project

if TYPE_CHECKING:
    from gradelake.serve.writer import Job, Writer

_EVERY = 0.5  # seconds between two lines about progress


def plans(project: Project, collection: str, query_id: str | None) -> list[dict[str, Any]]:
    """What each grader of gradelake.toml lacks of a query (None: of all): `gradelake plan --json`.

    Graders with nothing to grade there are left out. In the writer's thread: views may be made.
    """
    from gradelake.grading.graders import engine_finder
    from gradelake.grading.plan.planner import NothingToGrade
    from gradelake.grading.plan.plans import plan
    from gradelake.sql.common import console

    with console.quietly(True):
        found = plan(project, collection, queries=(query_id,) if query_id else None)
    missing = [
        totals.as_object(grader)
        | {
            "needs_model": engine_finder.engine_of(grader).needs_model,
            "in_batches": grader.in_batches,
            "missing_of": totals.missing_of,
            "money": str(totals.cost or f"no price of {grader.model}"),
        }
        for grader, totals in found.plans
        if totals.missing
    ]
    return missing + [
        {"grader": name, "refused": error.message}
        for name, error in found.refused or ()
        if not isinstance(error, NothingToGrade)
    ]


def grading_job(
    project: Project,
    writer: "Writer",
    collection: str,
    query_id: str | None,
    graders: list[str],
    by: str,
) -> "Job":
    """Grade a query (None: all) in the background, by one grader after another, for they may share
    a GPU; its result is what `gradelake grade --json` prints, with the counts of all."""
    shown = ", ".join(graders)
    asked = {"collection": collection, "queries": query_id and [query_id], "graders": graders}

    def work(job: "Job") -> dict[str, Any]:
        process = _process(project, by)
        assert process.stdin
        assert process.stdout

        stopping = threading.Event()

        def stop() -> None:
            job.progress = "stopping after the grades in progress"
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
        if "run" in last:
            return last["run"]
        if stopping.is_set():
            return {"pairs": 0, "stopped": True, "left": None}
        raise WorkFailed(
            f"the process that grades ended with status {code}",
            f"`gradelake grade {collection} --grader {graders[0]}` may say why; it goes on with "
            "what is left.",
        )

    about = {"kind": "grade", "collection": collection, "query_id": query_id, "grader": shown}
    job = writer.beside(f"grade with {shown}", work, **about, by=by)
    job.progress = job.progress or "starting"
    return job


def _process(project: Project, by: str) -> subprocess.Popen[str]:
    """The process that grades, told what by its standard input."""
    return subprocess.Popen(
        [sys.executable, "-m", __name__, str(project.file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        cwd=project.folder,
        env=os.environ | {"LOGNAME": by},  # the author of what it commits
        start_new_session=True,  # the terminal's Ctrl-C is for the server, which passes it on
    )


def main() -> None:
    """Grade what standard input asks for."""
    from gradelake.grading.run import grader_run, machines
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

    asked, wrong = json.load(sys.stdin), []
    queries, counts = asked["queries"] and tuple(asked["queries"]), Counter[str]()
    with machines.staying():
        for grader in asked["graders"]:
            try:
                project = Project.read(Path(sys.argv[1]))
                request = grader_run.requested(project, asked["collection"], grader, None, queries)
                run = grader_run.grade(
                    project, request, lambda line: say(progress=line), on_progress
                )
            except GradelakeError as error:
                wrong.append((f"{grader}: {error.message}", error.hint))  # the others go on
                continue
            done = run_as_object(request, run)
            counts.update({name: done[name] or 0 for name in ("pairs", "failed", "left")})
            if run.stopped:
                break
    if wrong:
        say(error="; ".join(message for message, _ in wrong), hint=wrong[0][1])
    else:
        say(run=done | dict(counts))


if __name__ == "__main__":
    main()
