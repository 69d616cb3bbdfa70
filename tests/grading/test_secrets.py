"""A key comes from the environment, goes to its endpoint, and appears nowhere else."""

import json
import shutil
import tempfile
from pathlib import Path

import pytest

from tests import command_line
from tests.grading.misbehaving import Reply, answer, echo, sent
from tests.search import texts

pytestmark = pytest.mark.slow

KEY = "sk-planted-7f3a9c"


@pytest.fixture
def logs(monkeypatch):
    """Where Ray writes its logs. Sockets are in there too, so the path has to be short."""
    folder = Path(tempfile.mkdtemp(prefix="gl", dir="/tmp"))
    monkeypatch.setenv("RAY_TMPDIR", str(folder))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def gpt(judged, server, logs, monkeypatch):
    """A project whose grader asks the server, with a planted key."""
    judged.grader(
        "gpt",
        engine="openai",
        model="m",
        prompt="question_self_rating",
        base_url=server.url,
        api_key_env="PLANTED_KEY",
        pause=0.01,
        timeout=1.0,
    )
    monkeypatch.setenv("PLANTED_KEY", KEY)
    return judged


def grade(judged, *options: str, before: tuple[str, ...] = ()):
    command = (*before, "grade", "tiny", "--grader", "gpt", *options)
    return command_line.run_apart(judged.project.file.parent, *command)  # with a Ray of its own


def lake_text(judged) -> str:
    """All that the tables and views of the lake hold, as SQL shows it."""
    tables = judged.rows(
        "select table_schema, table_name from information_schema.tables "
        "where table_catalog = 'lake'"
    )
    return repr([judged.rows(f'select * from lake."{schema}"."{name}"') for schema, name in tables])


def where_it_is(word: str, judged, logs: Path, *done) -> list[str]:
    """All places that hold a word: output, files of the project, Ray's logs, the lake."""
    places = {f"output {n}": one.stdout + one.stderr for n, one in enumerate(done)}
    places |= texts(judged.folder) | texts(logs) | {"the lake": lake_text(judged)}
    return [place for place, text in places.items() if word in text]


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
    for reply in (redirect, another_model, echo(401), everywhere(500)):
        server.on("", reply)
        refused.append(grade(gpt, before=("--debug",)))
    server.on("steel", everywhere(400))
    server.on("landmarks", Reply(answer().body, delay=3.0))
    server.on("", everywhere())
    done = grade(gpt, "--json", before=("--debug",))
    built = command_line.run_apart(gpt.project.file.parent, "build")
    assert [one.returncode for one in (*refused, done, built)] == [1, 1, 1, 1, 3, 0], done.stderr
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

    assert where_it_is(KEY, gpt, logs, *refused, done, built) == []
    # and the search does find what is there
    found = where_it_is("Bearer ***", gpt, logs, *refused, done, built)
    assert {"output 0", "output 1", "output 2", "the lake"} <= set(found)
    assert any(place.endswith("decoded") for place in found)
    assert any("raylet" in place for place in texts(logs))
