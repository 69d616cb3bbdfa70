"""The workflow on the gate's page, job after job as GitHub runs it, with stand-ins for the model,
`gh` and the cache."""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.documentation.pages import blocks
from tests.documentation.shell import Shell
from tests.grading.misbehaving import Server, answer
from tests.projects import write

pytestmark = pytest.mark.slow

KEY = "sk-a-long-key"
QUERIES = [f"q{n:02}" for n in range(30)]
PASSAGES = {"yes": "Because of that.", "no": "The sky is blue.", "other": "Cars are of steel."}
ON_PATH = {  # what the runner has; `gh` and `pip` note what they were given
    "gradelake": f'exec "{sys.executable}" -m gradelake "$@"',
    "pip": 'echo "pip $*" >> "$RUNNER_TEMP/asked"',
    "gh": 'echo "gh $*; $GH_TOKEN" >> "$RUNNER_TEMP/asked"; cp "$5" "$RUNNER_TEMP/comment.md"',
}


class Runner:
    """Runs jobs of the workflow, each in a checkout of its own, with one cache for all."""

    def __init__(self, folder: Path, url: str):
        page = [*blocks("analyses/gate/README.md")]
        (workflow,) = (yaml.safe_load(block.text) for block in page if block.language == "yaml")
        (settings,) = (block.text for block in page if "[graders.gpt]" in block.text)
        self.steps = workflow["jobs"]["gate"]["steps"]
        self.settings = settings.replace('"openai"', f'"openai"\nbase_url = "{url}"')
        self.folder, self.n_jobs = folder, 0
        for name, line in ON_PATH.items():
            write(folder / "bin" / name, ["#!/bin/sh", line]).chmod(0o755)

    def job(self, *best: str) -> bool:
        """Whether a job on a search that ranks these passages so ends well."""
        self.n_jobs += 1
        self.checkout = self.folder / f"checkout-{self.n_jobs}"
        self.best, self.ok, self.code = best, True, ""
        for step in self.steps:
            on_pull_request = "github.event_name == 'pull_request'"
            if {"always()": True, on_pull_request: self.ok, None: self.ok}[step.get("if")]:
                self.ok &= self._runs(step) if "run" in step else self._acts(step)
        return self.ok

    @property
    def comment(self) -> str:
        return (self.folder / "comment.md").read_text()

    def _runs(self, step: dict[str, Any]) -> bool:
        command = self._filled(step["run"])
        output = self.folder / "output"
        places = [self.folder / "bin", Path(sys.executable).parent, os.environ["PATH"]]
        variables = {
            "PATH": os.pathsep.join(map(str, places)),
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            **{name: self._filled(value) for name, value in step.get("env", {}).items()},
        }
        if command.startswith("gradelake grade"):
            self.grades_with = variables
        with Shell(self.checkout, **variables) as shell:
            is_ours = command.startswith("gradelake ")  # in this process
            printed, code = shell.run(command if is_ours else f"(set -e\n{command}\n)")
        print(f"$ {command}\n{printed}")
        if step.get("id") == "gate" and code == 0:
            (self.code,) = re.findall(r"^code=(\d+)$", output.read_text(), re.MULTILINE)[-1:]
        return code == 0

    def _acts(self, step: dict[str, Any]) -> bool:
        given = {name: self._filled(value) for name, value in step.get("with", {}).items()}
        cache = self.folder / "cache"
        match step["uses"].split("@")[0]:
            case "actions/checkout":
                self._check_out()
            case "actions/cache/restore":
                for kept in sorted(cache.glob(f"{given['restore-keys']}*"))[-1:]:
                    shutil.copytree(kept, self.checkout / given["path"])
            case "actions/cache/save":
                shutil.copytree(self.checkout / given["path"], cache / given["key"])
            case other:
                assert other == "actions/setup-python"
        return True

    def _filled(self, text: str) -> str:
        values = {
            "github.run_id": str(self.n_jobs),
            "github.run_attempt": "1",
            "github.event.number": "7",
            "github.token": "of-github",
            "secrets.OPENAI_API_KEY": KEY,
            "steps.gate.outputs.code": self.code,
        }
        return re.sub(r"\$\{\{ (.+?) \}\}", lambda found: values[found[1]], text)

    def _check_out(self) -> None:
        topics = [
            {"query_id": q, "text": f"why {q}?", "segments": "tail" if n % 2 else "head"}
            for n, q in enumerate(QUERIES)
        ]
        lines = [f"{q} Q0 {p} {n} {-n} new" for q in QUERIES for n, p in enumerate(self.best, 1)]
        files = {
            "gradelake.toml": self.settings,
            "topics.jsonl": topics,
            "passages.jsonl": [{"passage_id": p, "text": text} for p, text in PASSAGES.items()],
            "people.qrels": {q: {"yes": 3, "no": 0} for q in QUERIES},
            "runs/bm25.run": {q: ["yes", "no"] for q in QUERIES},
            "search.py": f"print({chr(10).join(lines)!r})",
        }
        for name, content in files.items():
            write(self.checkout / name, content)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        server.on("", lambda asked: answer(f"##final score: {3 * ('Because' in asked.text)}"))
        yield server


def test_a_pull_request_pays_for_grades_once_and_a_worse_run_fails_it(tmp_path, server):
    runner = Runner(tmp_path, server.url)
    assert runner.job("yes", "no")
    assert runner.comment.startswith("### Gate passed\n\npassed: new against bm25; tolerance")
    assert runner.comment.count("\n**") == 4  # by two label sets, on two segments
    assert len(server.asked) == 60
    assert runner.grades_with["OPENAI_API_KEY"] == KEY  # workers of another job's Ray have its own

    assert not runner.job("other", "no", "yes")
    assert len(server.asked) == 90  # the lake has the others
    assert runner.comment.startswith("### Gate fell\n\nfell: new against bm25; tolerance")
    assert "- fell by judge:gpt, segment tail: " in runner.comment
    assert (tmp_path / "summary.md").read_text().endswith(runner.comment)
    commented = "gh pr comment 7 --body-file gate.md --edit-last --create-if-none; of-github"
    assert (tmp_path / "asked").read_text().splitlines()[1::2] == 2 * [commented]
