"""`gradelake search`: the topics of a collection are asked of its search engines."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.pool import ThreadPool
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from gradelake.ingest.collections import datasets
from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.engines.asking import Asking, GivenUp, Unanswered
from gradelake.ingest.engines.evidence import evidence_of, kept_answers, line_of
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project, require_known

_IN_A_ROW = 5  # queries that fail, after which the others are not asked
_SHOWN = 10  # failed queries that are printed
_WAIT = 0.2  # seconds after which a Ctrl-C is heeded


@dataclass
class AskedEngine:
    """What came of asking one engine; `failed`: query id -> why."""

    engine: str
    file: str
    answered: int = 0
    there: int = 0  # answers of before
    without_hits: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    not_asked: int = 0  # as it was given up before

    def print(self) -> None:
        before = f", {self.there:,} were there" if self.there else ""
        answers = counted(self.answered, "answers")
        console.say(f"{self.engine}: {answers}{before}, kept in {self.file}")
        if self.without_hits:
            console.warn(f"note: {counted(self.without_hits, 'answers', 'have')} no hits")
        for query_id, why in [*self.failed.items()][:_SHOWN]:
            console.warn(f"{self.engine}: query {query_id}: {why}")
        if (more := len(self.failed) - _SHOWN) > 0:
            console.warn(f"{self.engine}: and {more:,} more like these")
        if self.not_asked:
            console.warn(f"{self.engine}: given up; {counted(self.not_asked, 'queries')} not asked")


@dataclass
class Searched:
    """What came of asking a collection's engines."""

    collection: str
    engines: list[AskedEngine]

    @property
    def exit_code(self) -> int:
        """0 done; 1 nothing was answered; 3 some queries have no answer."""
        if not any(each.failed or each.not_asked for each in self.engines):
            return 0
        return 3 if any(each.answered or each.there for each in self.engines) else 1

    def print(self) -> None:
        for each in self.engines:
            each.print()
        if self.exit_code:
            console.warn("the same command asks those again that have no answer")
        if self.exit_code != 1:
            console.hint(f"next: `gradelake ingest {self.collection}` makes systems of the answers")


def search(project: Project, name: str, engines: Sequence[str], again: bool = False) -> Searched:
    """Ask engines of a collection, by default all, each topic that they did not answer yet; with
    `again` every one. Answers are kept as they come.

    Raises `BadInput` for engines that gradelake.toml lacks, or that cannot be asked.
    """
    collection = Collection.named(project, name)
    if not collection.engines:
        hint = f"Describe one in [collections.{name}.engines.NAME], with url, hits and id."
        raise BadInput(f"{project.file}: [collections.{name}] has no engines", hint)
    chosen = {}
    for engine in engines or collection.engines:
        where = f"[collections.{name}.engines.{engine}]"
        require_known(engine, collection.engines, f"{project.file}: there is no {where}")
        settings = collection.engines[engine]
        if settings.request("1", "a") == settings.request("2", "b"):
            told = f"{project.file}: {where} asks every query the same"
            raise BadInput(told, "Put {query} into url or body.")
        chosen[engine] = Asking(settings, where)
    found = datasets.read(
        collection.ir_dataset or "", "topics", lambda: datasets.load(collection).queries_iter()
    )
    queries = {each.query_id: each.text for each in map(datasets.query_text, found)}
    done = []
    for engine, asking in chosen.items():
        asked = AskedEngine(engine, evidence_of(name, engine))
        _ask(asked, collection.path(asked.file), asking, queries, again)
        done.append(asked)
    return Searched(name, done)


def _ask(
    asked: AskedEngine, path: Path, asking: Asking, queries: dict[str, str], again: bool
) -> None:
    _drop_half_a_line(path)
    kept = {}
    if path.exists() and not again:
        kept = kept_answers(path, asked.file, asking.engine, queries)
    asked.there = len(kept)
    todo = [query_id for query_id in queries if query_id not in kept]

    def answer(query_id: str) -> tuple[str, bytes | Exception, bool]:
        """The query, its line of evidence or why there is none, and whether there are hits."""
        request = asking.engine.request(query_id, queries[query_id])
        try:
            status, text, seconds = asking.ask(request)
            hits = asking.engine.hits_of(text)
        except (Unanswered, ValueError) as error:
            return query_id, error, False
        line = line_of(query_id, queries[query_id], request, status, text, seconds)
        return query_id, line, bool(hits)

    in_a_row, answers = 0, _as_they_come(answer, todo, asking.engine.concurrency)
    shown = console.progress(f"asking {asked.engine}", answers, len(todo))
    try:
        for n, (query_id, line, has_hits) in enumerate(shown):
            if isinstance(line, Exception):
                asked.failed[query_id], in_a_row = str(line), in_a_row + 1
                if isinstance(line, GivenUp) or in_a_row == _IN_A_ROW:
                    asked.not_asked = len(todo) - n - 1
                    break
                continue
            in_a_row = 0
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as stream:
                stream.write(line)
            asked.answered += 1
            asked.without_hits += not has_hits
    finally:
        asking.end()


def _as_they_come(ask: Callable[[str], Any], todo: Sequence[str], at_once: int) -> Iterator[Any]:
    """What `ask` returns, of few at a time; none is begun before the one it follows was read."""
    found: SimpleQueue[Any] = SimpleQueue()
    with ThreadPool(at_once) as pool:  # whose threads a process that ends does not wait for

        def begin(query_id: str) -> None:
            pool.apply_async(ask, (query_id,), callback=found.put, error_callback=found.put)

        for query_id in todo[:at_once]:
            begin(query_id)
        for n in range(at_once, at_once + len(todo)):
            answer = None
            while answer is None:  # Ctrl-C ends no longer wait: polars has system calls restarted
                with suppress(Empty):
                    answer = found.get(timeout=_WAIT)
            if isinstance(answer, Exception):
                raise answer
            yield answer
            for query_id in todo[n : n + 1]:
                begin(query_id)


def _drop_half_a_line(path: Path) -> None:
    """What a process that was killed left at the end."""
    content = path.read_bytes() if path.exists() else b""
    whole = content.rfind(b"\n") + 1
    if not whole:
        path.unlink(missing_ok=True)
    elif whole < len(content):
        with path.open("r+b") as stream:
            stream.truncate(whole)
