"""ranx and pytrec_eval: qrels and runs are JSON of {query: {passage: number}}."""

import json
from pathlib import Path

from tests.ingest.forms.beir import results
from tests.ingest.forms.folder import JUDGMENTS, PASSAGES, QUERIES, RUNS, Folder
from tests.ingest.forms.world import ASKED, JUDGED, RANKED, SOLD
from tests.projects import write


def _texts(folder: Path) -> None:
    write(folder / "queries.tsv", ASKED)
    rows = [{"id": own, "title": title, "text": text} for own, (title, text) in SOLD.items()]
    write(folder / "docs.jsonl", rows)


def _ranx(folder: Path) -> None:
    _texts(folder)
    write(folder / "qrels.json", json.dumps(JUDGED, indent=4))  # as ranx saves it
    for system in RANKED:
        write(folder / f"{system}.json", json.dumps(results(system), indent=4))


def _pytrec_eval(folder: Path) -> None:
    _texts(folder)
    write(folder / "data" / "qrel.json", JUDGED)
    for system in RANKED:
        # ranks that somebody turned into scores: whole numbers, and no judgments
        scores = {
            query: {passage: 1000 - rank for rank, passage in enumerate(passages)}
            for query, passages in RANKED[system].items()
        }
        write(folder / "data" / f"{system}.json", scores)


_TEXTS = {"queries.tsv": QUERIES, "docs.jsonl": PASSAGES}
FOLDERS = (
    Folder(
        "ranx", _ranx, {**_TEXTS, "qrels.json": JUDGMENTS, "strong.json": RUNS, "weak.json": RUNS}
    ),
    Folder(
        "pytrec-eval",
        _pytrec_eval,
        {**_TEXTS, "data/qrel.json": JUDGMENTS, "data/strong.json": RUNS, "data/weak.json": RUNS},
    ),
)
