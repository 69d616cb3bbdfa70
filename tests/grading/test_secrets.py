"""A key comes from the environment, goes to its endpoint, and appears nowhere else."""

import json
import shutil
import tempfile
from pathlib import Path

import pytest

from tests import shared_ray
from tests.command_line import run
from tests.grading.misbehaving import Reply, answer, echo, sent
from tests.search import texts

pytestmark = pytest.mark.slow

KEY = "sk-planted-7f3a9c"


@pytest.fixture
def logs(monkeypatch):
    """Where Ray writes its logs. Sockets are in there too, so the path has to be short."""
    folder = Path(tempfile.mkdtemp(prefix="gl", dir="/tmp"))
    monkeypatch.setenv("RAY_TMPDIR", str(folder))
    monkeypatch.setenv("PLANTED_KEY", KEY)
    with shared_ray.new_ray(), shared_ray.new_workers():
        yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def gpt(judged, server, logs):
    """A project whose grader asks the server, with a planted key."""
    judged.grader(
        "gpt",
        engine="openai",
        model="m",
        prompt="question_self_rating",
        base_url=server.url,
        api_key_env="PLANTED_KEY",
        keep_reasoning=True,
        pause=0.01,
        timeout=1.0,
    )
    return judged


def grade(judged, *options: str):
    return run(judged.project.folder, "--debug", "grade", "tiny", "--grader", "gpt", *options)


def lake_text(judged) -> str:
    """All that the tables and views of the lake hold, as SQL shows it."""
    tables = judged.rows(
        "select table_schema, table_name from information_schema.tables "
        "where table_catalog = 'lake'"
    )
    return repr([judged.rows(f'select * from lake."{schema}"."{name}"') for schema, name in tables])


def all_places(judged, logs: Path, *done) -> dict[str, str]:
    """What is there to read: output, files of the project, Ray's logs, the lake."""
    places = {f"output {n}": one.stdout + one.stderr for n, one in enumerate(done)}
    return places | texts(judged.folder) | texts(logs) | {"the lake": lake_text(judged)}


def everywhere(status: int = 200):
    """A reply that repeats the key wherever a reply has room for words."""

    def reply(asked):
        bearer = asked.headers["authorization"]
        body = {
            "id": bearer,
            "object": bearer,
            "model": "m-2024-08-06",
            "system_fingerprint": bearer,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": bearer,
                    "message": {
                        "role": bearer,
                        "content": f"3 {bearer}",
                        "refusal": bearer,
                        "reasoning_content": bearer,
                    },
                    "logprobs": {"content": [{"token": bearer, "top_logprobs": [bearer]}]},
                }
            ],
            "usage": {"prompt_tokens": bearer, bearer: bearer},
            "error": {"message": bearer, "code": bearer},
        }
        headers = {"Retry-After": bearer, "X-Request-Id": bearer, "Server": bearer, "Via": bearer}
        return sent(body, status=status, headers=headers)

    return reply


def redirect(asked):
    return Reply(status=307, headers={"Location": f"/{asked.headers['authorization']}"})


def another_model(asked):
    return answer(model=asked.headers["authorization"])


def test_the_key_is_nowhere_however_a_reply_repeats_it(gpt, server, logs):
    refused = []
    for reply in (redirect, another_model, echo(401)):
        server.on("", reply)
        refused.append(grade(gpt))
    server.on("steel", everywhere(400))
    server.on("landmarks", Reply(answer().body, delay=3.0))
    server.on("", everywhere())
    done = grade(gpt, "--json")
    built = run(gpt.folder, "build", "--select", "+missing_grades")
    assert [one.returncode for one in (*refused, done, built)] == [1, 1, 1, 3, 0], done.stderr
    assert "redirects to '/Bearer ***'" in refused[0].stderr
    assert "'Bearer ***' answers, not 'm'" in refused[1].stderr
    assert "you sent Bearer ***" in refused[2].stderr
    assert "Is the key in PLANTED_KEY right?" in refused[2].stderr
    told = json.loads(done.stdout)
    assert (told["pairs"], told["notes"]) == (12, ["'m-2024-08-06' answers for 'm'"])
    errors = {error for (error,) in gpt.grades("gpt", "error").values() if error}
    assert any("Bearer ***" in error for error in errors)
    assert any("no reply within 1 second" in error for error in errors)
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {KEY}"}

    places = all_places(gpt, logs, *refused, done, built)
    assert [place for place, text in places.items() if KEY in text] == []
    # and the search does find what is there
    found = [place for place, text in places.items() if "Bearer ***" in text]
    assert {"output 0", "output 1", "output 2", "the lake"} <= set(found)
    assert any(place.endswith("decoded") for place in found)
    assert any("raylet" in place for place in places)
