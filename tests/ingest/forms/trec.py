"""TREC's own: submissions without an ending, topics in several forms, reports, nugget banks."""

from pathlib import Path

from tests.ingest.forms.folder import (
    BANK,
    JUDGMENTS,
    PASSAGES,
    QUERIES,
    RANKS,
    RESPONSES,
    RUNS,
    Folder,
)
from tests.ingest.forms.world import (
    ASKED,
    JUDGED,
    N_PASSAGES,
    N_QUERIES,
    N_RANKED,
    RANKED,
    SOLD,
    json_lines,
    lines,
    trec_run,
)
from tests.projects import write


def _corpus(folder: Path) -> None:
    rows = [{"docid": own, "title": t, "segment": text} for own, (t, text) in SOLD.items()]
    json_lines(folder / "corpus.jsonl", rows)


def _submissions(folder: Path) -> None:
    """As they come from NIST: no endings, and published ranks of systems."""
    for system in RANKED:
        trec_run(folder / "runs" / f"input.{system}", system)
    write(folder / "topics.tsv", ASKED)
    rows = [f"{query} 0 {own} {g}" for query, grades in JUDGED.items() for own, g in grades.items()]
    lines(folder / "qrels.final", rows)
    write(folder / "official_ranks.json", {"input.strong": 1, "input.weak": 2})
    _corpus(folder)


def _xml(folder: Path) -> None:
    topics = "".join(
        f'  <topic number="{query}">\n    <title>{text}</title>\n'
        f"    <description>Which is the best {text}?</description>\n"
        f"    <narrative>Good products are {text}s.</narrative>\n  </topic>\n"
        for query, text in ASKED.items()
    )
    write(folder / "topics.xml", f'<?xml version="1.0"?>\n<topics>\n{topics}</topics>\n')
    rows = [f"{query} 0 {own} {g}" for query, grades in JUDGED.items() for own, g in grades.items()]
    lines(folder / "qrels.txt", rows)
    for system in RANKED:
        trec_run(folder / f"{system}.run.gz", system)
    _corpus(folder)


def _rag24(folder: Path) -> None:
    """Reports with references and sentences, and a bank of nuggets."""
    write(folder / "topics.rag24.test.tsv", ASKED)
    for system in RANKED:
        rows = [
            {
                "run_id": f"{system}-answers",
                "topic_id": query,
                "topic": text,
                "references": RANKED[system][query][:3],
                "response_length": 12,
                "answer": [
                    {"text": f"The best {text} is light.", "citations": [0]},
                    {"text": "It is made for weekends on foot.", "citations": [1, 2]},
                ],
            }
            for query, text in ASKED.items()
        ]
        json_lines(folder / "answers" / f"{system}.jsonl", rows)
        trec_run(folder / "retrieval" / system, system)
    bank = [
        {
            "query": text,
            "qid": query,
            "nuggets": [
                {"text": f"It is light for a {text}", "importance": "vital"},
                {"text": "It dries within an hour", "importance": "okay"},
            ],
        }
        for query, text in ASKED.items()
    ]
    json_lines(folder / "nuggets.jsonl", bank)
    write(folder / "umbrela.qrels", JUDGED)
    _corpus(folder)


def _ragtime(folder: Path) -> None:
    """Topics with narratives, and reports whose metadata name the topic."""
    topics = [
        {
            "topic_id": query,
            "title": text,
            "background": "I run a shop for camping.",
            "problem_statement": f"I want a report on the best {text} of this year.",
        }
        for query, text in ASKED.items()
    ]
    json_lines(folder / "ragtime_topics.jsonl", topics)
    for system in RANKED:
        rows = [
            {
                "metadata": {"team_id": "shop", "run_id": f"{system}-answers", "topic_id": query},
                "responses": [
                    {"text": f"The best {text} is light.", "citations": {own: 0.9}}
                    for own in RANKED[system][query][:2]
                ],
                "references": RANKED[system][query][:2],
            }
            for query, text in ASKED.items()
        ]
        json_lines(folder / f"{system}_report.jsonl", rows)
    write(folder / "ragtime.qrels", JUDGED)
    for system in RANKED:
        trec_run(folder / "runs" / f"{system}.txt", system)
    _corpus(folder)


# an answer is a passage, of which both systems wrote the same, and a ranking of it
_WITH_ANSWERS = {
    "answers": 2 * N_QUERIES,
    "systems": 4,
    "passages": N_PASSAGES + N_QUERIES,
    "run_entries": 2 * N_RANKED + 2 * N_QUERIES,
}
_CORPUS = {"corpus.jsonl": PASSAGES}
FOLDERS = (
    Folder(
        "trec",
        _submissions,
        {
            **_CORPUS,
            "topics.tsv": QUERIES,
            "runs/input.*": RUNS,
            "qrels.final": JUDGMENTS,
            "official_ranks.json": RANKS,
        },
        systems=("input.strong", "input.weak"),
        rows={"official_ranks": 2},
    ),
    Folder(
        "trec-xml",
        _xml,
        {**_CORPUS, "topics.xml": QUERIES, "*.run.gz": RUNS, "qrels.txt": JUDGMENTS},
    ),
    Folder(
        "trec-rag24",
        _rag24,
        {
            **_CORPUS,
            "topics.rag24.test.tsv": QUERIES,
            "answers/*.jsonl": RESPONSES,
            "retrieval/*": RUNS,
            "nuggets.jsonl": BANK,
            "umbrela.qrels": JUDGMENTS,
        },
        rows=_WITH_ANSWERS,
    ),
    Folder(
        "ragtime",
        _ragtime,
        {
            **_CORPUS,
            "ragtime_topics.jsonl": QUERIES,
            "*_report.jsonl": RESPONSES,
            "ragtime.qrels": JUDGMENTS,
            "runs/*.txt": RUNS,
        },
        rows=_WITH_ANSWERS,
    ),
)
