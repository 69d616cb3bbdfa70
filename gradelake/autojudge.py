"""A grader of Gradelake as a judge that `auto-judge run` of TREC AutoJudge can call.

A workflow.yml names `gradelake.autojudge.Judge`, and in its settings a gradelake.toml and one of
its graders. What a call is given, and nothing else, becomes a collection of a lake of its own,
named by a hash of it. Only what is missing is graded, and what another collection of the lake has
a grade of is not asked again: with the model's endpoint off, a second run says the same.
`pip install 'gradelake[autojudge]'` brings autojudge-base; analyses/TRACK.md shows it at work.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autojudge_base import (
    Leaderboard,
    LeaderboardBuilder,
    LeaderboardSpec,
    LlmConfigProtocol,
    MeasureSpec,
    NuggetBanks,
    Qrels,
    Report,
    Request,
)
from autojudge_base.nugget_data import (
    NuggetBank,
    NuggetClaim,
    NuggetQuestion,
    write_nugget_banks_generic,
)
from autojudge_base.qrels.qrels import QrelRow

from gradelake.grading.plan.plans import Plans
from gradelake.open_lake import OpenLake
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.files import sha256_of
from gradelake.sql.common.hashes import id_of
from gradelake.sql.common.project import Project, require_known
from gradelake.sql.lake.opening import Lake

BANK = "nuggets"  # that it wrote itself
NUGGETS = "nuggets.jsonl"  # that it was given
_REPORT = {"metadata", "responses", "references"}  # what `ingest` reads of one


@dataclass(frozen=True)
class Given:
    """What a call was given, in the lake."""

    lake: OpenLake
    collection: str


class Judge:
    """All three protocols of autojudge-base, by a grader. These are the settings of workflow.yml.

    - gradelake: path of a gradelake.toml; its graders may leave `model` and `base_url` to
      auto-judge's environment
    - grader: which of its graders judges, or writes nuggets
    - lake: folder of the lake; default: `gradelake` in auto-judge's --out-dir
    - label_set: which of the grader's, where it has several; default: of the newest rubric version
      the first by name
    - measures: which of its measures; default: all
    - failed_allowed: how many failed grades it may do without; default: none. Where no more have
      failed, they are not asked for again

    Each method raises `GradelakeError` with what is wrong in the settings, the files or the model,
    and where something is left that the model gave no grade or nuggets for: what it did not say is
    no score. What it did say stays in the lake, and the next run asks for the rest.
    """

    nugget_banks_type = NuggetBanks

    def judge(
        self,
        rag_responses: Iterable[Report],
        rag_topics: Sequence[Request],
        llm_config: LlmConfigProtocol,
        nugget_banks: NuggetBanks | None = None,
        qrels: Qrels | None = None,
        corpus: str | None = None,
        *,
        measures: Sequence[str] = (),
        **settings: Any,
    ) -> Leaderboard:
        """The grader's board: a run without an answer to a topic has 0 there, as `leaderboard`
        counts it. `qrels` are not used: the lake has its own."""
        reports = list(rag_responses)
        asked = (reports, rag_topics, llm_config, corpus, settings, nugget_banks)
        with _given(*asked) as given:
            called, rows = _graded(given, settings, "leaderboard", _SCORES)
        known = {measure for _, _, measure, _ in rows}
        for measure in measures:
            require_known(measure, known, f"measures: {called} has no {measure!r}")
        names = sorted(known & set(measures) if measures else known)
        values = {(run, topic, measure): value for run, topic, measure, value in rows}
        specs = (MeasureSpec(name, float, f"{name} by {called}") for name in names)
        board = LeaderboardBuilder(LeaderboardSpec(tuple(specs)))
        for run in sorted({report.metadata.run_id for report in reports}):
            for topic in rag_topics:
                scores = {name: values.get((run, topic.request_id, name), 0.0) for name in names}
                board.add(run_id=run, topic_id=topic.request_id, values=scores)
        return board.build([topic.request_id for topic in rag_topics], on_missing="error")

    def create_qrels(
        self,
        rag_responses: Iterable[Report],
        rag_topics: Sequence[Request],
        llm_config: LlmConfigProtocol,
        nugget_banks: NuggetBanks | None = None,
        corpus: str | None = None,
        **settings: Any,
    ) -> Qrels:
        """The labels of the answers' passages; a passage's id is the MD5 hash of its text, as
        autojudge-base's `doc_id_md5` makes it."""
        asked = (list(rag_responses), rag_topics, llm_config, corpus, settings, nugget_banks)
        with _given(*asked) as given:
            _, rows = _graded(given, settings, "relevance_labels", _LABELS)
        return Qrels(rows=[QrelRow(*row) for row in rows])

    def create_nuggets(
        self,
        rag_responses: Iterable[Report] | None,
        rag_topics: Sequence[Request],
        llm_config: LlmConfigProtocol,
        nugget_banks: NuggetBanks | None = None,
        corpus: str | None = None,
        *,
        grader: str,
        **settings: Any,
    ) -> NuggetBanks:
        """A bank for each topic, written by a grader whose prompt generates items; nuggets that are
        given are not added to."""
        from gradelake.grading.generate import generation
        from gradelake.grading.generate.generation_bank import GenerationRequest
        from gradelake.grading.graders.configured import writing

        asked = (list(rag_responses or ()), rag_topics, llm_config, corpus, settings)
        with _given(*asked) as given:
            lake = given.lake
            writer = writing(lake.project, grader, "generate")
            request = GenerationRequest(given.collection, writer, BANK)
            with console.quietly(True):
                done = generation.generate(lake.project, request, ["autojudge", grader])
            if done.failed or done.left:
                first = next(iter(done.failed.items()), ("", "stopped"))
                raise WorkFailed(
                    f"{len(done.failed) + done.left} topics got no nuggets: {': '.join(first)}"
                )
            lake.build()
            rows = lake.sql(_ITEMS, collection=given.collection, bank=BANK).fetchall()
        banks = {}
        for topic in rag_topics:
            bank = NuggetBank(query_id=topic.request_id, title_query=topic.title)
            of_topic = (row for query, *row in rows if query == topic.request_id)
            banks[topic.request_id] = bank.add_nuggets([_nugget(topic, *row) for row in of_topic])
        return NuggetBanks(banks=banks)


# of the level that boards begin with; measures of whole answers are the same at every one
_SCORES = """
    select system, query_id, measure, value
    from topic_scores inner join usual_levels using (collection, label_set, level)
    where collection = $collection and label_set = $label_set
"""
_LABELS = """
    select query_id, passage_id, label
    from relevance_labels
    where collection = $collection and label_set = $label_set
"""
_ITEMS = """
    select query_id, kind, text, weight, gold_answers
    from rubric_items_effective
    where collection = $collection and bank = $bank and rubric_version = 0
    order by query_id, item_id
"""
# `called`: under the names of gradelake.toml, whatever graders of these names the lake had before
_LABEL_SETS = """
    select distinct replace(label_set, graders.grader, graders.name) as called, label_set
    from {mart}
    inner join marts.graders as graders
        on label_set = 'judge:' || graders.grader or starts_with(label_set, graders.grader || '/')
    where collection = $collection and list_contains($grader_ids, graders.grader_id)
    order by try_cast(regexp_extract(label_set, '/v([0-9]+)/', 1) as integer) desc, called
"""


def _nugget(
    topic: Request, kind: str, text: str, weight: float, answers: list[str] | None
) -> NuggetQuestion | NuggetClaim:
    importance = "vital" if weight >= 1 else "okay"
    about: dict[str, Any] = {"query_id": topic.request_id, "importance": importance}
    if kind == "question":
        return NuggetQuestion.from_lazy(question=text, gold_answers=answers or None, **about)
    return NuggetClaim(claim=text, **about)


@contextmanager
def _given(
    reports: list[Report],
    topics: Sequence[Request],
    llm_config: LlmConfigProtocol,
    corpus: str | None,
    settings: dict[str, Any],
    banks: NuggetBanks | None = None,
) -> Iterator[Given]:
    """The lake with what was given in it, as files beside it hold it."""
    if "gradelake" not in settings:
        raise BadInput("workflow.yml: the settings name no gradelake.toml", "gradelake: FILE")
    project = Project.find(settings["gradelake"])
    folder = Path(settings.get("lake") or Path(settings.get("outdir", ".")) / "gradelake").resolve()
    name, files = _files(folder / "given", reports, topics, corpus, banks)
    table = {"model": llm_config.model}
    if base_url := getattr(llm_config, "base_url", None):
        table["base_url"] = base_url
    project = replace(
        project,
        lake_path=folder / "lake",
        collections={name: files},
        graders={
            name: (table if grader.get("engine") == "openai" and "model" not in grader else {})
            | grader
            for name, grader in project.graders.items()
        },
    )
    Lake.create(project).close()
    with OpenLake(project) as lake:
        for refused in lake.ingest(name)["rejected"]:
            problem = refused["problems"][0]
            raise BadInput(f"{refused['file']}: {problem['message']}", refused["what_to_do"])
        if banks:
            lake.import_.bank(name, folder / "given" / name / NUGGETS, name="given")
        yield Given(lake, name)


def _files(
    folder: Path,
    reports: list[Report],
    topics: Sequence[Request],
    corpus: str | None,
    banks: NuggetBanks | None,
) -> tuple[str, dict[str, Any]]:
    """A collection's name, a hash of what was given, and its settings, with the files that they
    name."""
    from gradelake.ingest.collections.written import write_collection

    if corpus and not Path(corpus).is_file():
        raise BadInput(f"--corpus {corpus}: no such file", "Name a file of passages.")
    queries = [
        {
            "query_id": each.request_id,
            "text": each.title,
            "description": each.background,
            "narrative": each.problem_statement,
        }
        for each in topics
    ]
    by_run: dict[str, list[Any]] = {}
    texts: dict[str, str] = {}
    for report in reports:
        said = report.model_dump(mode="json", include=_REPORT, exclude_none=True)
        by_run.setdefault(report.metadata.run_id, []).append(said)
        texts |= {name: one.text for name, one in (report.documents or {}).items() if not corpus}
    passages = [{"passage_id": name, "text": text} for name, text in sorted(texts.items())]
    nuggets = ""
    if banks:
        folder.mkdir(parents=True, exist_ok=True)
        write_nugget_banks_generic(banks, folder / NUGGETS)
        nuggets = (folder / NUGGETS).read_text(encoding="utf-8")
    held = [queries, passages, by_run, corpus and sha256_of(Path(corpus)), nuggets]
    name = id_of(held)
    settings = write_collection(folder / name, queries, passages, by_run)
    if banks:
        (folder / NUGGETS).replace(folder / name / NUGGETS)
    return name, settings | ({"passages": str(Path(corpus).resolve())} if corpus else {})


def _graded(
    given: Given, settings: dict[str, Any], mart: str, query: str
) -> tuple[str, list[tuple[Any, ...]]]:
    """Grade what is missing, and build; returns the label set that is asked for, as settings call
    it, of those that a mart has of the grader, and what a query of it finds."""
    if "grader" not in settings:
        raise BadInput("workflow.yml: the settings name no grader", "grader: NAME")
    lake, grader, allowed = given.lake, settings["grader"], settings.get("failed_allowed", 0)
    before = _planned(given, grader)
    too_many = any(totals.failed > allowed for _, totals in before.plans)
    lake.grade(given.collection, grader, retry_failed=too_many)
    for _, totals in _planned(given, grader).plans:
        lacks = totals.missing + totals.under_way + totals.failed
        if lacks > allowed:
            raise WorkFailed(
                f"{grader} has no grade of {counted(lacks, 'pairs')}",
                "Run it again; failed_allowed: N in the settings does without N.",
            )
    lake.build()
    asked = {
        "collection": given.collection,
        "grader_ids": [one.grader_id for one, _ in before.plans],
    }
    found = dict(lake.sql(_LABEL_SETS.format(mart=mart), **asked).fetchall())
    if not found:
        raise BadInput(f"{grader} makes no label set of {mart}", "Choose another grader.")
    if chosen := settings.get("label_set"):
        require_known(chosen, found, f"label_set: {grader} makes no {chosen!r}")
    called = chosen or next(iter(found))
    rows = lake.sql(query, collection=given.collection, label_set=found[called]).fetchall()
    return called, rows


def _planned(given: Given, grader: str) -> Plans:
    """What a grader, or each of its trials, has still to do, and what of it failed."""
    from gradelake.grading.run.grading import grade

    with console.quietly(True):
        plans = grade(given.lake.project, given.collection, (grader,), dry_run=True)
    assert isinstance(plans, Plans)
    return plans
