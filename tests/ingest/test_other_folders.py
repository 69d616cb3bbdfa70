"""Folders as people keep them: each was once not taken, or taken for something else."""

import gzip
import json
import zipfile

import pytest

from gradelake.ingest.starting.looking import look_at
from gradelake.ingest.starting.start import start
from tests.projects import write
from tests.tiers import first_of

QUERIES = "query_id,query\n1,red tent\n2,bike helmet\n"
RANKS = "query_id,doc_id,rank\n1,d1,0\n1,d2,1\n2,d1,0\n"
JUDGED = "query_id,doc_id,rating\n1,d1,3\n2,d1,0\n"
RUN = {"1": {"d1": 2.5, "d2": 1.5}, "2": {"d1": 0.5}}
USUAL = {"queries": 2, "judgments": 2, "systems": 1, "run_entries": 3}


def counted(folder, files):
    for name, content in files.items():
        write(folder / name, content)
    done = start(folder, "shop")
    assert done.tried is not None, done.fault
    assert not done.tried.outcome.rejected
    return dict(done.tried.outcome.counts)


def lines(*rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


RESULTS = [
    {"query_id": query, "results": [{"doc_id": doc, "score": score} for doc, score in docs.items()]}
    for query, docs in RUN.items()
]
FOLDERS = {
    "tables with tabs and a header": {
        "queries.tsv": QUERIES.replace(",", "\t"),
        "relevance_judgments.tsv": JUDGED.replace(",", "\t"),
        "bm25.tsv": RANKS.replace(",", "\t"),
    },
    "German headers and words": {
        "anfragen.csv": QUERIES,
        "urteile.csv": "Anfrage;Dokument;Relevanz\n1;d1;sehr relevant\n2;d1;nicht relevant\n",
        "lauf.csv": RANKS.replace("query_id,doc_id,rank", "Suchanfrage,Produkt-ID,Rang"),
    },
    "French headers": {
        "q.csv": QUERIES,
        "j.csv": "Requête;Identifiant du document;Pertinence\n1;d1;3\n2;d1;0\n",
        "r.csv": RANKS,
    },
    "cells that are not judged": {
        "queries.csv": QUERIES,
        "ratings.csv": f"{JUDGED}1,d2,n/a\n2,d2,-\n",
        "bm25.csv": RANKS,
    },
    "lists by query": {
        "queries.json": {"1": "red tent", "2": "bike helmet"},
        "qrels.json": {"1": ["d1"], "2": ["d1"]},
        "bm25.json": {query: [*docs] for query, docs in RUN.items()},
    },
    "pairs by query": {
        "queries.json": {"1": "red tent", "2": "bike helmet"},
        "qrels.json": {"1": {"d1": 3}, "2": {"d1": 0}},
        "bm25.json": {query: [*docs.items()] for query, docs in RUN.items()},
    },
    "results in each row": {
        "queries.csv": QUERIES,
        "judgements.csv": JUDGED.replace("rating", "rel"),
        "bm25.jsonl": lines(*RESULTS),
    },
    "a run with whole numbers": {
        "queries.csv": QUERIES,
        "qrels.json": {"1": {"d1": 3}, "2": {"d1": 0}},
        "bm25_run.json": {"1": {"d1": 2, "d2": 1}, "2": {"d1": 2}},
    },
    "systems in one dict": {
        "queries.csv": QUERIES,
        "qrels.json": {"1": {"d1": 3}, "2": {"d1": 0}},
        "runs.json": {"bm25": RUN},
    },
    "a golden set": {
        "golden.jsonl": lines(
            {"query_id": "1", "query": "red tent", "relevant_docs": ["d1"]},
            {"query_id": "2", "query": "bike helmet", "relevant_docs": ["d1"]},
        ),
        "bm25.jsonl": lines(*({"query_id": q, "doc_ids": [*docs]} for q, docs in RUN.items())),
    },
    "queries whose ids others name": {
        "topics.csv": QUERIES.replace("query_id", "topic"),
        "judged.csv": JUDGED.replace("query_id", "topic"),
        "results.csv": RANKS.replace("query_id", "topic"),
    },
}


@pytest.mark.parametrize("name", first_of(4, *FOLDERS))
def test_all_of_a_folder_is_brought_in(tmp_path, name):
    assert counted(tmp_path, FOLDERS[name]) == USUAL


def test_a_dataset_of_an_evaluator_brings_all_but_runs(tmp_path):
    content = {
        "queries": {"1": "red tent", "2": "bike helmet"},
        "corpus": {"d1": "A tent.", "d2": "A helmet."},
        "relevant_docs": {"1": ["d1"], "2": ["d2"]},
    }
    found = counted(tmp_path, {"eval_dataset.json": content})
    assert found == {"queries": 2, "passages": 2, "judgments": 2}


def test_passages_have_the_ids_that_others_name(tmp_path):
    rows = [{"pid": f"d{n}", "passage": f"About {n}.", "docid": "x"} for n in (1, 2)]
    files = {"queries.csv": QUERIES, "qrels.csv": JUDGED, "run.csv": RANKS}
    (tmp_path / "passages_00.gz").write_bytes(gzip.compress(lines(*rows).encode()))
    assert counted(tmp_path, files) == {**USUAL, "passages": 2}


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def workbook(path, sheets):
    """A workbook of several sheets, as the parts that readers look at."""
    ids = [*enumerate(sheets, start=1)]
    parts = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in ids)
    book = f'<workbook xmlns="{MAIN}" xmlns:r="{RELATED}"><sheets>{parts}</sheets></workbook>'
    links = "".join(
        f'<Relationship Id="r{n}" Type="{RELATED}/worksheet" Target="worksheets/s{n}.xml"/>'
        for n, _ in ids
    )
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    top = f'<Relationship Id="b" Type="{RELATED}/officeDocument" Target="xl/workbook.xml"/>'
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    form = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    named = {"workbook": "sheet.main"} | {f"worksheets/s{n}": "worksheet" for n, _ in ids}
    overrides = '<Default Extension="rels" ContentType="application/xml"/>' + "".join(
        f'<Override PartName="/xl/{part}.xml" ContentType="{form}.{kind}+xml"/>'
        for part, kind in named.items()
    )
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("[Content_Types].xml", f'<Types xmlns="{types}">{overrides}</Types>')
        made.writestr("_rels/.rels", f'<Relationships xmlns="{package}">{top}</Relationships>')
        made.writestr("xl/workbook.xml", book)
        made.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}">{links}</Relationships>',
        )
        for n, name in ids:
            rows = "".join(
                f'<row r="{at}">'
                + "".join(
                    f'<c r="{"ABC"[column]}{at}" t="inlineStr"><is><t>{cell}</t></is></c>'
                    for column, cell in enumerate(line.split(","))
                )
                + "</row>"
                for at, line in enumerate(sheets[name].split(), start=1)
            )
            made.writestr(
                f"xl/worksheets/s{n}.xml",
                f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>',
            )


def test_sheets_of_a_workbook_are_each_what_they_are(tmp_path):
    sheets = {"About": "Made_by_Ann", "Queries": "query_id,query\n1,tents\n2,helmets\n"}
    workbook(tmp_path / "all.xlsx", {**sheets, "Judged": JUDGED})
    assert counted(tmp_path, {"run.csv": RANKS}) == USUAL


def test_of_sheets_of_one_kind_none_is_chosen(tmp_path):
    workbook(tmp_path / "all.xlsx", {"Anna": JUDGED, "Bob": JUDGED})
    counted(tmp_path, {"queries.csv": QUERIES, "run.csv": RANKS})
    (seen,) = [seen for seen in look_at(tmp_path, {}) if seen.shown == "all.xlsx"]
    assert not seen.brings
    assert "several sheets are judgments: name one of them by its table" in seen.why


def test_a_sheet_of_raters_may_have_notes_and_titles(tmp_path):
    header = "Query ID,Doc ID,Anna,Bob,Notes\n"
    ratings = f"{header}1,d1,3,2,fine\n2,d1,0,n/a,\n"
    found = counted(tmp_path, {"queries.csv": QUERIES, "ratings.csv": ratings, "run.csv": RANKS})
    assert found == {**USUAL, "judgments": 3}


def test_names_of_raters_may_have_marks_on_their_letters(tmp_path):
    rows = "query,doc,rating,reviewer\n1,d1,3,Anna Müller\n1,d1,2,bob@x.com\n"
    found = counted(tmp_path, {"queries.csv": QUERIES, "ratings.csv": rows})
    assert found == {"queries": 2, "judgments": 2}


def test_words_that_nobody_explained_are_told(tmp_path):
    rows = "query_id,doc_id,relevant\n1,d1,x\n2,d1,o\n"
    counted(tmp_path, {"queries.csv": QUERIES, "run.csv": RANKS, "ratings.csv": rows})
    (seen,) = [seen for seen in look_at(tmp_path, {}) if seen.shown == "ratings.csv"]
    assert seen.taken_for == "not used"
    assert "nothing says what these mean: x, o" in seen.why


def test_lists_of_which_no_other_file_names_a_key_are_no_runs(tmp_path):
    files = {"queries.csv": QUERIES, "run.csv": RANKS, "keywords.json": {"camping": ["tent"]}}
    for name, content in files.items():
        write(tmp_path / name, content)
    (seen,) = [seen for seen in look_at(tmp_path, {}) if seen.shown == "keywords.json"]
    assert not seen.brings
