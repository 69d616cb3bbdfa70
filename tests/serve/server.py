"""A server of a lake in a process of its own, as `gradelake serve` starts it, and who enters."""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import httpx

from gradelake.serve.people import NAME, People
from gradelake.sql.common.project import Project
from tests.reading import live

# a report that nobody asks for takes seconds of a core
_WITHOUT_EARLY = """
from gradelake import app
from gradelake.serve import boards
boards.Reports.make_early = lambda *_: None
app.main()
"""


class Server:
    """`gradelake serve`, until it is left; port 0 is a free one. `url` has no slash at its end.

    `is_early`: it makes reports before somebody asks.
    """

    def __init__(self, folder: Path, *options: str, port: int = 0, is_early: bool = False):
        self.folder = folder
        self.people = People(Project.read(folder / "gradelake.toml"))
        how = ("-m", "gradelake") if is_early else ("-c", _WITHOUT_EARLY)
        command = (sys.executable, *how, "--config", str(folder / "gradelake.toml"))
        self.process = subprocess.Popen(
            [*command, "serve", "--port", str(port), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout
        said = ""
        for line in self.process.stdout:
            said += line
            if line.startswith("Ctrl-C"):
                break
        found = re.search(r"(http://\S+:\d+)(?:/enter#(\S+))?", said)
        assert found, said
        self.url, self.own_secret = found[1], found[2]
        self.wait()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def wait(self) -> None:
        """Until it answers."""
        httpx.get(f"{self.url}/enter", timeout=30)

    def browser(self, name: str | None = None, role: str = "assessor") -> httpx.Client:
        """A browser in which somebody is signed in; None: nobody."""
        client = httpx.Client(base_url=self.url, timeout=60, headers={"accept": "text/html"})
        if name:
            secret = self.people.add(name, role)
            assert client.post("/enter", data={"secret": secret}).status_code == 303
            client.headers["x-token"] = token(client)
        return client

    def kill(self) -> None:
        """As a power cut does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self) -> str:
        """As Ctrl-C does; returns what it said since it started."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.communicate(timeout=30)[0]
        except subprocess.TimeoutExpired:
            self.kill()
            raise


def token(client: httpx.Client) -> str:
    """What the page's forms bring back."""
    found = re.search(r'name="token" content="(\w+)"', client.get("/").text)
    assert found
    return found[1]


def own_server(lake: Path, place: Path) -> Server:
    """A server of a copy of a lake's folder, for a test to change, without the people whom other
    tests let in."""
    others = shutil.ignore_patterns(NAME)
    return Server(shutil.copytree(lake, place / "demo", ignore=others))


def reviews(folder: Path, assessor: str) -> list[tuple]:
    """What the lake has of somebody, when nothing waits any more: query_id, passage_id, item_id,
    verdict, own_grade, blind_grade, note, settles; oldest first."""
    with closing(sqlite3.connect(folder / "lake" / "reviews" / "answers.sqlite")) as journal:
        for _ in range(600):
            if not journal.execute("select 1 from answers").fetchall():
                break
            time.sleep(0.1)
    return live(folder).rows(
        "select query_id, passage_id, item_id, verdict, own_grade, blind_grade, note, settles "
        "from lake.raw.grade_reviews where assessor = ? order by reviewed_at",
        assessor,
    )
