"""A good file of every kind of input, the command that takes it, and what comes of it."""

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from gradelake.ingest.mapping.form import ROLES
from tests.grading.workbench_files import (
    EXPORTED,
    direct,
    extracted,
    judgment,
    paragraph,
    ranking,
    rated,
)

INGEST = "ingest tiny"
QUERIES = ("q1", "q2")
GENERATED = ("systems", "run_entries", "passages", "answers", "sentences", "citations")


@dataclass(frozen=True)
class Kind:
    """A kind of input: a good file, and the tables that the command that takes it may change.

    `rows` asks the lake for what came of the file, `counted` counts it in the file's bytes.
    """

    file: str
    good: bytes
    tables: tuple[str, ...]
    rows: str | None = None
    counted: Callable[[bytes], int] | None = None
    command: str = INGEST
    settings: dict = field(default_factory=dict)

    def packed(self, data: bytes) -> bytes:
        return gzip.compress(data, mtime=0) if self.file.endswith(".gz") else data


def filled(data: bytes) -> int:
    """How many lines are not blank."""
    return sum(bool(line.strip()) for line in data.decode().split("\n"))


def said(data: bytes) -> int:
    """How many answers say anything: an empty one has no passage."""
    lines = data.removeprefix(b"\xef\xbb\xbf").decode().split("\n")
    return sum(bool(json.loads(line)["text"].strip()) for line in lines if line.strip())


def pairs(data: bytes) -> int:
    """How many different pairs qrels judge."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return len({(cells[0], cells[2]) for line in lines if (cells := line.split())})


def below_header(data: bytes) -> int:
    """How many different lines are not blank, without a header of topics."""
    first = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")[0].decode().lower().split("\t")
    names = [cell.strip() for cell in first]
    usual = [ROLES["queries"][role] for role in ("query", "text")]
    in_order = [name in known for name, known in zip(names, usual, strict=False)]
    lines = data.split(b"\n")[len(names) == 2 and all(in_order) :]
    return filled(b"\n".join(dict.fromkeys(lines)))  # the same topic twice is one


def in_clusters(data: bytes) -> int:
    return sum(
        len(line.split()) - 1 for line in data.decode("utf-8-sig").split("\n") if line.strip()
    )


def table(name: str, **where: str) -> str:
    return f"select count(*) from lake.raw.{name} where collection = 'tiny'" + "".join(
        f" and {column} = '{value}'" for column, value in where.items()
    )


def generated(file: str) -> str:
    return (
        "select count(*) from (select distinct system, query_id from lake.raw.run_entries "
        "semi join lake.raw.systems as s on s.system = run_entries.system "
        f"and source_file = '{file}')"
    )


def text(*lines) -> bytes:
    return "".join(
        f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines
    ).encode()


def bank(name: str, file: str, good: bytes, *options: str) -> Kind:
    command = " ".join(("import bank tiny", file, "--name", name, *options))
    return Kind(file, good, ("rubric_items",), table("rubric_items", bank=name), None, command)


def question(query: str, words: str) -> dict:
    return {"query_id": query, "question_id": "", "question_text": words, "gold_answers": ["air"]}


RUN = text(*(f"q{q} Q0 p{p} {p} {9 - p}.5 tag" for q in (1, 2) for p in range(1, 6)))
QRELS = text("q1 0 p1 2", "q1 0 p2 0", "q2 0 p3 1", "q2 0 p4 -1")
RANKED = ("systems", "run_entries")
ANSWERS = [
    {"system": s, "query_id": q, "text": f"{s} says: Air.\n\nMore of {q}."}
    for s in ("a1", "a2")
    for q in QUERIES
]
CITING = [
    {"text": "Air does it.", "citations": [0, 1]},
    {"text": "Light too.", "citations": {"d3": 0.5}},
]
REPORTS = [
    {"metadata": {"run_id": "r1", "topic_id": q}, "references": ["d1", "d2"], "responses": CITING}
    for q in QUERIES
]
WORKBENCH = [
    {
        "query_id": q,
        "query_text": "?",
        "test_collection": "t",
        "items": [question(q, f"What {n} of {q}?") for n in range(3)],
    }
    for q in QUERIES
]
NUGGETS = [("Air is blue", "vital"), ("So is sea", "okay")]
NUGGETIZER = [
    {"query": "?", "qid": q, "nuggets": [{"text": t, "importance": i} for t, i in NUGGETS]}
    for q in QUERIES
]
ASKED = {
    "question": "Why blue?",
    "answers": {"air": {"answer": "air"}},
    "aggregator_type": "AND",
    "sub_nuggets": [],
    "importance": "0.5",
}
ARGUE = {
    "query_id": "q1",
    "nugget_bank": {"Why blue?": ASKED},
    "claim_bank": ["Air scatters", {"claim": "So does dust"}],
}
TQA = {
    "globalID": "NDQ_1",
    "beingAsked": {"processedText": "Why?"},
    "correctAnswer": {"processedText": "b"},
    "answerChoices": {"a": {"processedText": "x"}, "b": {"processedText": "y"}},
}
LESSON = {
    "globalID": "tqa2:1",
    "questions": {"nonDiagramQuestions": {"NDQ_1": TQA}, "diagramQuestions": {}},
}
GRADED = [
    [
        "q1",
        [
            paragraph(
                exam=[rated({"q1/a": 4, "q1/b": 0}), extracted({"q1/a": "air"}, ["q1/a"])],
                grades=[direct(2, "2")],
                judgments=[judgment("p1", 2)],
                rankings=[ranking("theirs", "p1", 1, 2.5)],
            ),
            paragraph(
                "p2",
                exam=[
                    rated({"q1/a": 1}, llm_response_errors={"q1/b": "time-out"}),
                    rated({"q1/c": 3}, **EXPORTED),
                ],
            ),
        ],
    ],
    ["q2", [paragraph("p3", exam=[rated({"q2/a": 5}, relevance_label=3)])]],
]
CRITERIA = {
    "('q1', 'p1')": {"Exactness": 1, "Fit": 3},
    "('q1', 'p2')": {"Exactness": None},
    "('q2', 'p3')": {},
}
KINDS = [
    Kind("runs/x.run", RUN, RANKED, table("run_entries", system="x"), filled),
    Kind("runs/z.run.gz", RUN, RANKED, table("run_entries", system="z"), filled),
    Kind("nist.qrels", QRELS, ("judgments",), table("judgments", assessor="nist"), pairs),
    Kind(
        "topics.tsv",
        text("query_id\ttext", "q1\twhy is the sky blue", "q2\thow bees find home", "tqa2:1\twhy"),
        ("queries",),
        table("queries"),
        below_header,
    ),
    Kind(
        "passages.tsv", text(*(f"p{n}\tText of passage {n}." for n in range(1, 6))), ("passages",)
    ),
    Kind(
        "clusters.tsv",
        text("p1 p2 p7", "p3 p8"),
        ("near_duplicates",),
        table("near_duplicates"),
        in_clusters,
        settings={"near_duplicates": "clusters.tsv"},
    ),
    Kind(
        "ranks.json",
        text({"x": 1, "z": 2, "good": 3, "answers": 3}),
        ("official_ranks",),
        table("official_ranks", leaderboard="json"),
        lambda data: len(json.loads(data)),
        settings={"official_ranks": {"json": "ranks.json", "tsv": "ranks.tsv"}},
    ),
    Kind(
        "ranks.tsv",
        text("system\trank\tscore", "x\t1\t0.5", "z\t2\t0.25"),
        ("official_ranks",),
        table("official_ranks", leaderboard="tsv"),
    ),
    Kind(
        "responses/answers.jsonl",
        text(*ANSWERS),
        GENERATED,
        generated("responses/answers.jsonl"),
        said,
        settings={"responses": ["responses/*"]},
    ),
    Kind(
        "responses/reports.jsonl",
        text(*REPORTS),
        GENERATED,
        generated("responses/reports.jsonl"),
        filled,
    ),
    Kind(
        "Sun.qrels",
        QRELS,
        ("grades", "graders"),
        "select count(*) from lake.raw.grades semi join lake.raw.graders as g "
        "on g.grader_id = grades.grader_id and name = 'Sun'",
        pairs,
        "import labels tiny Sun.qrels --judge Sun",
    ),
    bank("w", "bank.jsonl.gz", text(*WORKBENCH)),
    bank("n", "nuggets.jsonl", text(*NUGGETIZER)),
    bank("a", "argue.json", text(json.dumps({"banks": {"q1": ARGUE}}, indent=1))),
    bank("t", "tqa.json", text(json.dumps([LESSON], indent=1))),
    bank(
        "c",
        "bank.csv",
        text(
            "query_id,kind,text,gold_answer,weight",
            "q1,question,What scatters?,air|dust,2",
            'q1,nugget,"Blue, mostly",,',
            "q2,question,Do bees see?,,0.5",
        ),
        "--format csv",
    ),
    Kind(
        "done.csv",
        text(
            "query_id,passage_id,passage,judgment",
            'q1,p1,"a, ""b""",2',
            "q1,p2,Text,",
            'q2,p3,"Two\nlines",0',
        ),
        ("judgments",),
        table("judgments", assessor="ann"),
        None,
        "import judgments tiny done.csv --assessor ann",
    ),
    Kind(
        "sample.csv",
        text(
            "query_id,passage_id,judgment,sample,label_set,unit,stratum,stratum_size,probability,depth",
            "q1,p1,2,pair-1,judge:Sun,pair,s1,6,0.5,10",
            "q1,p2,,pair-1,judge:Sun,pair,s2,4,0.25,10",
            "q2,p3,0,pair-1,judge:Sun,pair,s1,6,0.5,10",
        ),
        ("judgments", "review_samples"),
        table("judgments", assessor="bo"),
        None,
        "import judgments tiny sample.csv --assessor bo",
    ),
    Kind(
        "graded.jsonl.gz",
        text(*GRADED),
        ("grades", "graders", "passages", "judgments", *RANKED),
        command="import grades tiny graded.jsonl.gz --rater both --assessor wb --systems --trust",
    ),
    Kind(
        "criteria.json",
        text(CRITERIA),
        ("grades", "graders"),
        command="import grades tiny criteria.json --name crit",
    ),
]
SEEDS = {
    "evaluation_grid": text("measure", "nDCG@10", "AP", "RBP(p=0.8)"),
    "evaluation_levels": text("level", "1", "2"),
    "label_policies": text(
        "policy,rule,m,tau,mapping", "best,best,,,", "count,count_at_least,,4,5:3 4:1"
    ),
    "ensembles": text("ensemble,rule,grader,mapping", "both,median,one,", "both,median,two,5:3"),
    "hybrids": text("collection,hybrid,assessor,label_set,mapping", "c,h,a,judge:one,5:3 4:1"),
    "panels": text("collection,panel,rule,assessors", "c,p,last,human human2"),
    "rubric_edits": text(
        "rubric_version,collection,bank,item_id,action,query_id,kind,text,gold_answer,weight,editor,"
        "reason,facet_id",
        '1,c,b,,add,q1,question,"What, then?",a|b,2,me,why,f',
        "2,c,b,i,drop,,,,,,,,",
    ),
}
TOML = b"""\
[lake]
path = "lake"
keep_releases = 5
keep_days = 1.5

[grading]
prompts = "prompts"

[collections.tiny]
queries = "topics.tsv"
passages = "passages.tsv"
passages_for = "all"
judgments = { nist = "nist.qrels" }
runs = ["runs/*"]
official_ranks = { ranks = "ranks.tsv" }
near_duplicates = "clusters.tsv"
leave_out_near_duplicates = true
assessor = "nist"
min_relevant = 1
max_relevance = 3
default_pool_depth = 20
inbox = "inbox"

[collections.tiny.groups.family]
fine = ["g*"]

[graders.lexical]
engine = "lexical"
prompt = "question_self_rating"
parser = "paper"
"""
