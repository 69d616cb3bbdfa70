"""Asks a server as a worker does, in a process of its own.

python -m tests.grading.asking FOLDER N SETTINGS: N prompts, with a grader that has these settings
(JSON), of the engine `openai` where they name no other.
"""

import json
import sys
from pathlib import Path

from gradelake.grading.graders.engine_finder import started
from gradelake.grading.graders.grader_reader import read_grader
from tests.projects import project


def main(folder: str, n: str, settings: str) -> None:
    wanted = {"engine": "openai", "model": "m", "prompt": "sun", "constrain": "none"}
    wanted |= json.loads(settings)
    engine = started(read_grader(project(Path(folder), {}, {"g": wanted}), "g"))
    prompts = [
        engine.grader.prompt.render({"query": "why", "passage": f"Number {number}."})
        for number in range(int(n))
    ]
    assert all(response.error is None for response in engine.score(prompts))


if __name__ == "__main__":
    main(*sys.argv[1:])
