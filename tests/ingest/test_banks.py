"""`import bank` and `export bank`: a rubric bank goes into the lake, and out again."""

import gzip
import json
from pathlib import Path

import duckdb
import polars as pl
import pytest

from gradelake.ingest.banks.bank_export import write_bank
from gradelake.ingest.banks.banks import import_bank
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Rejected
from gradelake.sql.common.rubric_items import item_id_of
from gradelake.sql.lake import extensions
from tests import workbench_schema
from tests.places import DL19, REPOSITORY, missing_dl19

BANK = [
    "query_id,kind,text,gold_answer,weight",
    "q1,question,What scatters light?,air|molecules,2",
    "q1,nugget,Blue scatters most,,",
    "q2,question,Do bees see the sun?,,0.5",
]
KINDS = "question", "nugget", "question"
ITEMS = (
    "select query_id, facet_id, item_id, kind, text, gold_answers, weight "
    "from lake.raw.rubric_items where collection = 'tiny' and bank = ? order by all"
)


@pytest.fixture
def tiny(ingested):
    """A collection with a bank file beside it."""
    ingested.write("bank.csv", BANK)
    return ingested


def bring(tiny, file="bank.csv", name="mine", collection="tiny", format_="auto"):
    path = tiny.folder / file
    return import_bank(tiny.lake, collection, path, name, format_, ["import", "bank"])


def items(tiny, name="mine"):
    return tiny.lake.rows(ITEMS, name)


def texts(tiny, name="mine"):
    return sorted(row[4] for row in items(tiny, name))


# --- import -------------------------------------------------------------------------------------


def test_a_banks_items_go_into_the_lake_as_imported(tiny):
    done = bring(tiny)
    assert (done.n_items, done.n_queries, done.exit_code) == (3, 2, 0)
    assert done.snapshot == tiny.snapshot()
    texts = "What scatters light?", "Blue scatters most", "Do bees see the sun?"
    question, nugget, bees = (
        (query, "", item_id_of(query, "", text), kind, text)
        for query, kind, text in zip(("q1", "q1", "q2"), KINDS, texts, strict=True)
    )
    landed = [(*question, ["air", "molecules"], 2.0), (*nugget, None, 1.0), (*bees, None, 0.5)]
    assert items(tiny) == sorted(landed, key=lambda row: row[:3])
    assert tiny.rows(
        "select distinct origin, created_at <= finished_at and created_at >= started_at "
        "from lake.raw.rubric_items, lake.raw.pipeline_runs where command like 'import%'"
    ) == [("imported", True)]


def test_a_changed_file_replaces_the_bank_in_one_commit_and_grades_stay(tiny):
    bring(tiny)
    item_id = item_id_of("q1", "", "Blue scatters most")
    tiny.lake.connection.execute(
        "insert into lake.raw.grades by name select 'g' as grader_id, 'tiny' as collection, "
        "'q1' as query_id, 'p1' as passage_id, ? as item_id, 3 as grade, 'ok' as status, "
        "'b' as run_id, now()::timestamp as graded_at",
        [item_id],
    )
    before = tiny.snapshot()
    tiny.write("bank.csv", [*BANK[:2], "q2,nugget,Polarised light,,"])
    done = bring(tiny)
    assert (done.n_items, done.snapshot) == (2, before + 1)
    assert texts(tiny) == ["Polarised light", "What scatters light?"]
    assert tiny.rows("select item_id, grade from lake.raw.grades") == [(item_id, 3)]
    assert tiny.rows(f"select count(*) from lake.raw.rubric_items at (version => {before})") == [
        (3,)
    ]


def test_items_of_queries_the_collection_does_not_have_come_in_when_their_query_does(tiny):
    tiny.write("bank.csv", [*BANK, "q3,nugget,One,,", "q3,nugget,Two,,", "q9,nugget,Three,,"])
    done, file = bring(tiny), tiny.folder / "bank.csv"
    assert (done.n_items, done.findings.n_left_out, done.exit_code) == (3, 3, 3)
    assert list(done.findings.lines(done.findings.left_out)) == [
        f"{file}:5: the collection has no query 'q3': its 2 items are left out",
        f"{file}:7: the collection has no query 'q9': its 1 item is left out",
    ]
    topics = ["q1\twhy is the sky blue", "q2\thow do bees find home", "q3\tnew"]
    tiny.write("topics.tsv", topics)
    assert tiny.ingest().exit_code == 0
    assert (bring(tiny).n_items, bring(tiny).snapshot) == (5, None)


def test_a_bank_from_which_nothing_can_be_used_is_rejected_whole(tiny):
    bring(tiny)
    before = tiny.snapshot()
    for lines, why in (
        ([BANK[0], "q8,nugget,One,,"], "Is this the right collection"),
        ([BANK[0], "q1,nugget,,,"], "Fix these lines"),
        (BANK[:1], "this is not a rubric bank"),
    ):
        tiny.write("bad.csv", lines)
        with pytest.raises(Rejected, match=why):
            bring(tiny, "bad.csv")
    assert (tiny.snapshot(), len(items(tiny))) == (before, 3)


def test_a_bank_made_here_is_not_replaced_by_an_import(tiny):
    bring(tiny)
    tiny.lake.connection.execute("update lake.raw.rubric_items set origin = 'generated'")
    tiny.write("bank.csv", BANK[:2])
    with pytest.raises(BadInput, match="from another source \\(generated\\)"):
        bring(tiny)
    assert len(items(tiny)) == 3


# --- the command --------------------------------------------------------------------------------


def test_the_command_imports_what_it_can_and_leaves_with_3(tiny):
    tiny.write("bank.csv", [*BANK, "q1,nugget,,,", "q1,nugget,Blue scatters most,,"])
    command = ("import", "bank", "tiny", "bank.csv", "--name", "mine")
    process = tiny.gradelake(*command, code=3)
    assert process.stdout == "bank mine: wrote 3 items of 2 queries for tiny\n"
    nugget = item_id_of("q1", "", "Blue scatters most")
    assert process.stderr.splitlines() == [
        "bank.csv:5: this row is left out: its text is empty",
        f"note: bank.csv:3: '{nugget}' ('Blue scatters most') is listed 2 times (lines 3, 6): "
        "kept once",
        "left out: 1 item; the rest landed",
    ]
    assert tiny.gradelake(*command).stdout == "bank.csv: unchanged, nothing to do\n"


# --- export -------------------------------------------------------------------------------------

QUOTED = {"question_text": 'He said, "why?"\nTwice', "gold_answers": ["a|b", "c\\", "\\|", "ü, 雪"]}
AWKWARD = [
    {"query_id": "q2", "query_text": "x", "facet_id": "f/1"}
    | {
        "items": [
            QUOTED,
            {"nugget_text": "Carriage\r\nreturn", "weight": 0.1},
            {"nugget_text": "Half\ra return"},
            {"nugget_text": "Weightless", "nugget_id": "q2/f/1/mine", "weight": 0},
        ]
    },
    {"query_id": "q1", "query_text": "x"}
    | {"items": [{"question_text": "=1+1; a\tb", "weight": 1e-7}, {"nugget_text": "'quoted'"}]},
]


def test_an_exported_bank_comes_back_as_it_was(tiny):
    tiny.write("bank.jsonl", AWKWARD)
    bring(tiny, "bank.jsonl")
    for file in ("out.jsonl", "out.jsonl.gz", "out.csv", "out.csv.gz"):
        format_ = "csv" if "csv" in file else "workbench"
        assert write_bank(tiny.lake, "tiny", "mine", format_, tiny.folder / file) == 6
        back = file.replace(".", "-")
        assert bring(tiny, file, back).n_items == 6
        assert items(tiny, back) == items(tiny, "mine")
        first = (tiny.folder / file).read_bytes()
        write_bank(tiny.lake, "tiny", back, format_, tiny.folder / file)
        assert (tiny.folder / file).read_bytes() == first


def test_criteria_have_a_tier_a_type_and_a_weight_and_come_back_with_what_they_came_from(tiny):
    rows = ("Air", "Own", "mandatory", 5), ("Sea", "b_c", "optional", -3), ("a", "d", "optional")
    criteria = [dict(zip(("text", "type", "tier", "weight"), row, strict=False)) for row in rows]
    criteria[0]["source_nugget"] = "air"
    tiny.write("criteria.jsonl", [{"qid": "q1", "criteria": criteria}])
    bring(tiny, "criteria.jsonl")
    assert {row[4]: (row[3], row[6]) for row in items(tiny)} == {
        "Air": ("criterion:mandatory:own", 5),
        "a": ("criterion:optional:d", 2),
        "Sea": ("criterion:optional:b_c", -3),
    }
    for name, format_ in (("out.jsonl", "workbench"), ("out.csv", "csv")):
        write_bank(tiny.lake, "tiny", "mine", format_, tiny.folder / name)
        bring(tiny, name, format_)
        assert items(tiny, format_) == items(tiny)
    assert '"source_nugget": "air"' in (tiny.folder / "out.jsonl").read_text()
    # and in the form that it came in
    write_bank(tiny.lake, "tiny", "mine", "criteria", tiny.folder / "out.json")
    line = {"qid": "q1", "criteria": criteria}
    assert json.loads((tiny.folder / "out.json").read_text()) == line
    bring(tiny, "out.json", "back")
    assert items(tiny, "back") == items(tiny)
    bring(tiny, name="asks")
    with pytest.raises(BadInput, match="'asks' has nuggets, and criteria holds criteria only"):
        write_bank(tiny.lake, "tiny", "asks", "criteria", tiny.folder / "out.json")


def test_a_csv_file_has_a_row_per_item(tiny):
    bring(tiny)
    write_bank(tiny.lake, "tiny", "mine", "csv", tiny.folder / "out.csv")
    question = "What scatters light?"
    assert (tiny.folder / "out.csv").read_text().splitlines()[::2] == [
        "query_id,facet_id,item_id,kind,text,gold_answer,weight",
        f"q1,,{item_id_of('q1', '', question)},question,{question},air|molecules,2",
    ]


# what nobody's items tell: a facet's title, `info`, `hash`, keys that nobody knows
CAR = [
    {
        "query_id": "q1",
        "facet_id": facet_id,
        "facet_text": title,
        "query_text": f"Sky / {title}",
        "test_collection": "cary3",
        "info": {"gpt_model": "gpt-3.5-turbo", "hash": "20240205035043927314"},
        "hash": 1243234,
        "more": [1, {"a": None}],
        "items": [
            {
                "query_id": "q1",
                "facet_id": facet_id,
                "question_id": item_id_of("q1", facet_id, "Why is it blue?"),
                "question_text": " Why is it blue?",
                "gold_answers": ["scattering"],
                "info": {"by": title},
            }
        ],
    }
    for facet_id, title in (("day", "By day"), ("night", "By night"))
]


PUBLISHED = [REPOSITORY / "ingest/demo/question_bank.jsonl"]
PUBLISHED += [DL19 / f"{kind}_bank.jsonl.gz" for kind in ("question", "nugget")]


@pytest.mark.parametrize(
    "file", ["cary3.jsonl", *PUBLISHED], ids=lambda file: "/".join(Path(file).parts[-2:])
)
def test_a_bank_is_written_as_it_was_published(tiny, file):
    if DL19 in Path(file).parents and missing_dl19():
        pytest.skip(missing_dl19())
    tiny.write("cary3.jsonl", [json.dumps(line) for line in CAR])
    data = (tiny.folder / file).read_bytes()
    data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    given = [json.loads(line) for line in data.splitlines()]
    topics = {line["query_id"]: line["query_text"] for line in given}
    tiny.lake.connection.executemany(
        "insert into lake.raw.queries (collection, query_id, text) values ('tiny', ?, ?)",
        list(topics.items()),
    )
    bring(tiny, file)
    write_bank(tiny.lake, "tiny", "mine", "workbench", tiny.folder / "out.jsonl")
    back = [json.loads(line) for line in (tiny.folder / "out.jsonl").open()]
    for line in back:
        workbench_schema.Bank.model_validate(line)
    assert [json.dumps(line, sort_keys=True) for line in back] == [
        json.dumps(line, sort_keys=True) for line in given
    ]


UNHEARD = {"hash": 7, "of": [{"nobody": None}]}
BANKS_AS_THEY_CAME = {
    "workbench": [
        {"query_id": "q2", "facet_id": "z", "test_collection": "x", **UNHEARD}
        | {"items": [{"nugget_text": "Zebra", "info": UNHEARD}, {"question_text": "And who?"}]},
        {"query_id": "q2", "facet_id": "z", "items": [{"nugget_text": "Apes"}]},
        {"query_id": "q1", "items": [{"query_id": "q1", "question_text": " B? ", "weight": 1.0}]},
    ],
    "nuggetizer": [
        {"qid": "q2", "query": "theirs", "nuggets": [{"text": "Z", "importance": "okay"}]},
        {"qid": "q1", **UNHEARD, "nuggets": [{"text": "A", "importance": "failed", **UNHEARD}]},
    ],
    "criteria": [
        {"topic_id": "q2", "criteria": [{"text": "Z", "type": "Own", "tier": "optional"}]},
        {"qid": "q1", **UNHEARD}
        | {"criteria": [{"text": "A", "type": "b", "tier": "mandatory", "weight": 5.0, **UNHEARD}]},
    ],
}


@pytest.mark.parametrize("form", BANKS_AS_THEY_CAME)
def test_a_bank_comes_out_in_its_form_as_it_came_with_what_nobody_has_heard_of(tiny, form):
    """In its order, the keys aside; an item that was left out stays out."""
    given = BANKS_AS_THEY_CAME[form]
    stranger = json.loads(json.dumps(given[0]).replace('"q2"', '"of another collection"'))
    tiny.write("given.jsonl", [*given, stranger])
    bring(tiny, "given.jsonl")
    write_bank(tiny.lake, "tiny", "mine", form, tiny.folder / "out.jsonl")
    assert [json.loads(line) for line in (tiny.folder / "out.jsonl").open()] == given


def test_nuggets_of_the_workbench_go_to_nuggetizer_a_line_a_query_vital_first(tiny):
    lines = [
        {"query_id": "q2", "facet_id": facet, "hash": 7, "items": [nugget]}
        for facet, nugget in (
            ("a", {"nugget_text": "Bees", "weight": 0.5, "info": 1}),
            ("b", {"nugget_text": "Sun"}),
            ("c", {"nugget_text": "Bees"}),
        )
    ]
    tiny.write("given.jsonl", lines)
    bring(tiny, "given.jsonl")
    write_bank(tiny.lake, "tiny", "mine", "nuggetizer", tiny.folder / "out.jsonl")
    (line,) = map(json.loads, (tiny.folder / "out.jsonl").open())
    assert line == {
        "qid": "q2",
        "query": "how do bees find home",
        "nuggets": [
            {"text": "Bees", "importance": "vital"},
            {"text": "Sun", "importance": "vital"},
        ],
    }


def test_a_genq_file_becomes_a_workbench_bank_with_the_titles_of_its_facets(tiny):
    facet = {"title": "Sky", "facet": "By day", "questions": ["1. Why is it blue?"]}
    tiny.write("genq.json", json.dumps({"q1": {"day": facet}}))
    bring(tiny, "genq.json")
    write_bank(tiny.lake, "tiny", "mine", "workbench", tiny.folder / "out.jsonl")
    line = json.loads((tiny.folder / "out.jsonl").read_text())
    assert workbench_schema.Bank.model_validate(line).facet_text == "By day"
    assert (line["query_text"], line["facet_id"]) == ("Sky / By day", "day")
    assert [item["question_text"] for item in line["items"]] == ["Why is it blue?"]


def test_what_a_bank_brought_along_goes_with_it(tiny):
    tiny.write("cary3.jsonl", [json.dumps(line) for line in CAR])
    bring(tiny, "cary3.jsonl")
    bring(tiny)
    assert tiny.rows("select count(*) from lake.raw.brought_along") == [(0,)]


def test_an_unknown_bank_and_a_folder_that_is_not_there_are_said(tiny):
    bring(tiny)
    with pytest.raises(BadInput, match="Did you mean 'mine'"):
        write_bank(tiny.lake, "tiny", "mime", "csv", tiny.folder / "out.csv")
    with pytest.raises(BadInput, match="there is no folder"):
        write_bank(tiny.lake, "tiny", "mine", "csv", tiny.folder / "none" / "out.csv")


def test_the_export_command_writes_and_answers(tiny):
    bring(tiny)
    output = tiny.folder / "out.csv"
    words = ("export", "bank", "tiny", "--name", "mine", "--format", "csv", "--output", output)
    assert tiny.gradelake(*words, "--live").stdout == f"{output}: wrote 3 items of bank mine\n"
    assert json.loads(tiny.gradelake(*words, "--live", "--json").stdout) == {
        "bank": "mine",
        "items": 3,
        "output": str(output),
    }
    assert "nothing is published yet" in tiny.gradelake(*words, code=2).stderr
    both = tiny.gradelake(*words, "--live", "--release", "r1", code=2)
    assert "cannot be used together" in both.stderr


def test_a_bank_may_be_any_table(tiny):
    """A workbook, Parquet and a list in JSON, with the names that people give the columns."""
    rows = [
        {"Query ID": "q1", "Question": "Why blue?", "Gold answers": ["a", "b"], "Weight": 2.0},
        {"Query ID": "q1", "Question": "Who says?", "Gold answers": None, "Weight": None},
    ]
    frame = pl.DataFrame(rows)
    frame.write_parquet(tiny.folder / "bank.parquet")
    (tiny.folder / "bank.json").write_text(json.dumps(rows))
    with duckdb.connect() as connection:
        extensions.load(connection, "excel")
        told = frame.with_columns(pl.col("Gold answers").list.join("|"))
        connection.register("told", told)
        place = tiny.folder / "bank.xlsx"
        connection.execute(f"copy (from told) to '{place}' (format xlsx, header true)")
    for file in ("bank.parquet", "bank.json", "bank.xlsx"):
        bring(tiny, file, name=file.replace(".", "-"))
        items = tiny.rows(
            "select query_id, kind, text, gold_answers, weight from lake.raw.rubric_items "
            f"where bank = '{file.replace('.', '-')}' order by place"
        )
        assert items == [
            ("q1", "question", "Why blue?", ["a", "b"], 2.0),
            ("q1", "question", "Who says?", None, 1.0),
        ]
