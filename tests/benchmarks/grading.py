"""Grading: how fast work is planned and moved, and what the prefix cache saves a real model.

Absolute times depend on the machine; the ratios and shares are the result.

    python -m tests.benchmarks.grading [start] [plan] [moving] [endpoint] [pace] [model]

`pace` takes 8 minutes, and is not in `make bench`.
"""

import asyncio
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import aiohttp
from rich.console import Console
from rich.table import Table

from gradelake.grading.engines import _pace
from gradelake.grading.engines.openai import Engine
from gradelake.grading.graders.grader_reader import read_grader
from gradelake.grading.plan.planner import ensure_views
from gradelake.sql.lake.opening import Lake
from tests import projects
from tests.benchmarks.aims import note
from tests.benchmarks.leaderboards import command
from tests.grading import smollm
from tests.grading.dl19_sample import make_sample
from tests.grading.project import engine_code
from tests.places import missing_dl19
from tests.projects import LEXICAL

QUERIES, PASSAGES, ITEMS = 1_000, 100, 110  # of each query; 11 million pairs
ITEMS_GRADED = 100  # of each query: 10 million grades
NOTHING = """
chunk_pairs = 4000
asks_model = os.environ.get("IS_LOGGED") == "yes"

def score(self, prompts):
    return [Response("3")] * len(prompts)
"""
# answers chats after so many seconds; those beyond so many at once with a 429
ENDPOINT = """
import asyncio, sys
from aiohttp import web

PORT, SECONDS, MOST = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])

LIKELY = [{"token": str(grade), "logprob": -1.0 - grade, "bytes": None} for grade in range(6)]
REPLY = {
    "id": "x", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{
        "index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "3"},
        "logprobs": {"content": [LIKELY[3] | {"top_logprobs": LIKELY}]},
    }],
    "usage": {"prompt_tokens": 200, "completion_tokens": 1, "total_tokens": 201},
}

at_work = 0

async def chat(request):
    global at_work
    await request.read()
    if at_work >= MOST:
        return web.json_response({"error": {"message": "slow down"}}, status=429)
    at_work += 1
    await asyncio.sleep(SECONDS)
    at_work -= 1
    return web.json_response(REPLY)

app = web.Application()
app.router.add_post("/v1/chat/completions", chat)
web.run_app(app, host="127.0.0.1", port=PORT, print=None, access_log=None)
"""
AT_ONCE = 64
console = Console(highlight=False, width=100)


def make_big(folder: Path) -> None:
    """A lake with ten million grades of `lexical`, and a million pairs it has not graded."""
    graders = {"lexical": LEXICAL, "nothing": LEXICAL | {"engine": "nothing"}}
    files = {"engines/nothing.py": engine_code(NOTHING)}
    project = projects.project(folder, None, graders, files, grading={"engines": "engines"})
    Lake.create(project).close()
    grader_id = read_grader(project, "lexical").grader_id
    with Lake.writer(project) as lake:
        with lake.transaction("benchmark") as transaction:
            for statement in MAKE:
                transaction.run(
                    statement.replace("GRADER", f"'{grader_id}'")
                    .replace("QUERIES", str(QUERIES))
                    .replace("PASSAGES", str(PASSAGES))
                    .replace("ITEMS_GRADED", str(ITEMS_GRADED))
                    .replace("ITEMS", str(ITEMS))
                )
        ensure_views(lake)


MAKE = (
    "insert into {lake}.raw.collections values ('big', 'files', 2, 3, 20, false, now()::timestamp)",
    "insert into {lake}.raw.queries "
    "select 'big', 'q' || i, 'query number ' || i, null, null from range(QUERIES) t(i)",
    """
    insert into {lake}.raw.passages by name
    select 'big' as collection, 'p' || i as passage_id, sha256(i::varchar) as text_sha256,
        'the text of passage number ' || i || repeat(' and some more words', 15) as text,
        'corpus' as origin
    from range(QUERIES * PASSAGES) t(i)
    """,
    "insert into {lake}.raw.judgments "
    "select 'big', 'nist', 'q' || (i // PASSAGES), 'p' || i, i % 4 "
    "from range(QUERIES * PASSAGES) t(i)",
    """
    insert into {lake}.raw.rubric_items
    select 'big', 'bank', 'q' || (i // ITEMS), '', 'q' || (i // ITEMS) || '/' || md5(i::varchar),
        'question', 'What is said about number ' || i || '?', null, 1, 'imported', now()::timestamp,
        1 + i % ITEMS
    from range(QUERIES * ITEMS) t(i)
    """,
    """
    insert into {lake}.raw.grades by name
    select GRADER as grader_id, 'big' as collection, 'q' || q as query_id, 'p' || p as passage_id,
        'q' || q || '/' || md5(i::varchar) as item_id, (p + i) % 6 as grade, 'ok' as status,
        ((p + i) % 6)::varchar as response, 1.0 * ((p + i) % 6) as expected_grade,
        200 as prompt_tokens, 150 as cached_tokens, 1 as completion_tokens, 'b' as run_id,
        now()::timestamp as graded_at, sha256(p::varchar) as passage_sha256
    from (select p // PASSAGES as q, p from range(QUERIES * PASSAGES) t(p))
    inner join (
        select i // ITEMS as q, i from range(QUERIES * ITEMS) t(i) where i % ITEMS < ITEMS_GRADED
    ) using (q)
    """,
)


def measure_start(folder: Path, runs: int = 3) -> None:
    """A little work for an engine without a model: all of it is the start of Ray and its worker."""
    command(folder, "init", "--demo", "demo")
    demo = folder / "demo"
    command(demo, "ingest", "demo")
    command(demo, "import", "bank", "demo", "question_bank.jsonl", "--name", "questions")
    command(demo, "plan", "demo", "--grader", "lexical")
    for _ in range(runs):  # each grades 300 pairs more
        started = time.perf_counter()
        told = json.loads(
            command(demo, "grade", "demo", "--grader", "lexical", "--limit", "300", "--json")
        )
        wall = time.perf_counter() - started
        console.print(
            f"gradelake grade of {told['pairs']} pairs without a model: {wall:.1f} s, until the "
            f"worker was ready {told['loading_seconds']:.1f} s of them"
        )


def measure_plan(folder: Path) -> None:
    """Planning a million missing pairs against ten million grades, in a process of its own."""
    program = (
        "import json, resource, subprocess, sys, time\n"
        "started = time.perf_counter()\n"
        "done = subprocess.run([sys.executable, '-m', 'gradelake', 'plan', 'big', '--grader',"
        " 'lexical', '--json'], capture_output=True, check=True, text=True)\n"
        "peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
        "print(json.dumps([time.perf_counter() - started, peak, json.loads(done.stdout)]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, check=True, capture_output=True, text=True
    )
    seconds, peak, told = json.loads(done.stdout)
    plan = told["plans"][0]
    console.print(
        f"gradelake plan: {plan['missing_pairs']:,} pairs missing beside "
        f"{plan['graded_pairs']:,} grades: {seconds:.1f} s, {peak / 1e6:.2f} GB at most"
    )


def measure_moving(folder: Path, limit: int = 400_000) -> None:
    """An engine that answers at once: what remains is everything else."""
    told = json.loads(
        command(folder, "grade", "big", "--grader", "nothing", "--limit", str(limit), "--json")
    )
    working = told["seconds"] - told["plan_seconds"] - told["loading_seconds"]
    console.print(
        f"gradelake grade with an engine that does nothing: {told['pairs']:,} pairs, "
        f"{told['pairs'] / working:,.0f} pairs/s once started "
        f"(planning {told['plan_seconds']:.1f} s, starting Ray {told['loading_seconds']:.1f} s, "
        f"working {working:.1f} s, of them committing {told['commit_seconds']:.1f} s)"
    )


@contextmanager
def endpoint(seconds: float, most: int) -> Iterator[str]:
    """The address of one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = [str(each) for each in (port, seconds, most)]
    server = subprocess.Popen([sys.executable, "-c", ENDPOINT, *arguments])
    try:
        time.sleep(3)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.kill()
        server.wait()


@contextmanager
def started(folder: Path, address: str, n: int, **settings: Any) -> Iterator[tuple[Engine, Any]]:
    """The engine `openai`, and so many prompts for it."""
    asks = {"engine": "openai", "model": "m", "base_url": address, **settings}
    grader = read_grader(projects.project(folder, graders={"gpt": LEXICAL | asks}), "gpt")
    prompts = [
        grader.prompt.render({"item": f"What is {i}?", "passage": f"{i} {'some words ' * 80}"})
        for i in range(n)
    ]
    engine = Engine(grader)
    yield engine, prompts
    engine.run(engine.connection.client.close())  # type: ignore[attr-defined]


def measure_endpoint(folder: Path, n: int = 3000) -> None:
    """The engine `openai` and a bare client ask an endpoint that answers after 50 ms."""
    with (
        endpoint(0.05, 10_000) as address,
        started(folder, address, n, concurrency=AT_ONCE) as (engine, prompts),
    ):
        engine.score(prompts[: 8 * AT_ONCE])
        for who, ask in (
            ("engine `openai`", lambda: engine.score(prompts)),
            ("bare client of aiohttp", lambda: asyncio.run(_bare(address, n))),
        ):
            wall, processor = _seconds(ask)
            note(f"{who}: pairs a second", n / wall)
            note(f"{who}: ms of processor time a pair", 1000 * processor / n)
            console.print(
                f"{who}, {AT_ONCE} chats at once: {n / wall:,.0f} pairs/s, "
                f"{1000 * processor / n:.2f} ms of processor time a pair"
            )


def measure_pace(folder: Path, most: int = 300) -> None:
    """How many at once the engine `openai` finds by itself, beside fixed numbers, where a server
    takes 300."""
    table = Table(title=f"A server that takes {most} at once, 429 beyond")
    for column in ("a reply takes", "at once", "pairs/s", "of the best fixed"):
        table.add_column(column, justify="right")
    for seconds, n, fixed in ((0.05, 30_000, (64, 128, most)), (1.0, 30_000, (most,))):
        rates: dict[str, float] = {}
        for at_once in (*fixed, None):
            held = mock.patch.object(_pace, "_limits", partial(_always, at_once))
            with (
                endpoint(seconds, most) as address,
                held if at_once else nullcontext(),
                started(folder / f"{seconds}-{at_once}", address, n) as (engine, prompts),
            ):
                rate = n / _seconds(partial(engine.score, prompts))[0]
            shown = f"{at_once}" if at_once else f"found by itself, in the end {engine.pace.limit}"
            rates[shown] = rate
            share = "" if at_once else f"{rate / max(rates.values()):.0%}"
            table.add_row(f"{seconds:g} s", shown, f"{rate:,.0f}", share)
    console.print(table)


def _always(at_once: float, most: float) -> Iterator[float]:
    """A limit that no throughput and no 429 changes."""
    while True:
        with suppress(Exception):
            yield float(at_once)


async def _bare(address: str, n: int) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "some words " * 100}]}
    gate = asyncio.Semaphore(AT_ONCE)
    async with aiohttp.ClientSession() as session:

        async def ask() -> None:
            async with gate, session.post(f"{address}/chat/completions", json=body) as reply:
                await reply.json()

        await asyncio.gather(*(ask() for _ in range(n)))


def _seconds(work: Callable[[], object]) -> tuple[float, float]:
    """By the clock, and of this process."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def measure_model(folder: Path) -> None:
    """600 real pairs through SmolLM2 in vLLM, grouped and plain.

    One actor: of two, one would have nothing to do while the other loads and while it ends.
    """
    if reason := smollm.missing() or missing_dl19():
        console.print(f"a real model: not measured, {reason}")
        return
    make_sample(folder)
    variants = {
        "plain: question first, no cache": ("question_self_rating", False),
        "passage first, grouped, prefix cache": ("question_self_rating_context_first", True),
    }
    with (folder / "gradelake.toml").open("a") as config:
        for number, (prompt, cache) in enumerate(variants.values()):
            config.write(
                f'\n[graders.v{number}]\nengine = "vllm"\nmodel = "{smollm.model_folder()}"\n'
                f'prompt = "{prompt}"\nparser = "strict"\nprefix_caching = {str(cache).lower()}\n'
                # another length makes another grader, which has everything still to do
                f"max_model_len = {2048 - number}\nkv_cache_mib = 256\n"
                "chunk_pairs = 50\nactors = 1\n"
            )
    command(folder, "plan", "dl19", "--grader", "v0")
    table = Table(title="600 pairs of TREC DL 2019, SmolLM2-135M in vLLM on the CPU")
    columns = ("what", "pairs/s", "ratio", "tokens cached", "all but the model")
    for name in columns:
        table.add_column(name, justify="left" if name == "what" else "right")
    rates = []
    for number, name in enumerate(variants):
        told = json.loads(command(folder, "grade", "dl19", "--grader", f"v{number}", "--json"))
        working = told["seconds"] - told["plan_seconds"] - told["loading_seconds"]
        rates.append(told["pairs"] / working)
        # the model is loaded and at work; the rest of the time is ours
        ours = told["plan_seconds"] + max(0.0, working - told["engine_seconds"])
        table.add_row(
            name,
            f"{rates[-1]:.1f}",
            f"{rates[-1] / rates[0]:.1f}x",
            f"{told['cached_tokens'] / told['prompt_tokens']:.0%}",
            f"{ours / told['seconds']:.1%}",
        )
    console.print(table)


def main() -> None:
    parts = sys.argv[1:] if sys.argv[0].endswith("grading.py") else []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if not parts or "start" in parts:
            measure_start(folder)
        if not parts or {"plan", "moving"} & set(parts):
            make_big(folder / "big")
        if not parts or "plan" in parts:
            measure_plan(folder / "big")
        if not parts or "moving" in parts:
            measure_moving(folder / "big")
        if not parts or "endpoint" in parts:
            measure_endpoint(folder / "endpoint")
        if "pace" in parts:
            measure_pace(folder / "pace")
        if not parts or "model" in parts:
            measure_model(folder / "model")


if __name__ == "__main__":
    main()
