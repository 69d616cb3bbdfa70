"""Tables as people keep them: any form gives the same rows, and says what it cannot use."""

import csv
import io
import json
import shutil
import sqlite3
from contextlib import closing

import duckdb
import polars as pl
import pytest

import gradelake
from gradelake.ingest.collections.dry_run import dry_run
from gradelake.ingest.collections.responses import read_responses
from gradelake.ingest.collections.texts import query_id_of, read_passages
from gradelake.ingest.mapping.columns import read_judgments, read_run
from gradelake.ingest.mapping.form import File
from gradelake.ingest.reading import rows as reading
from gradelake.sql.common.problems import Rejected
from gradelake.sql.lake import extensions
from gradelake.sql.lake.connection import open_duckdb, quote
from tests import command_line
from tests.ingest.conftest import report, said

COLUMNS = ("Search term", "sku", "position", "ranker")
ROWS = [("café, nearby", "7", 1, "a"), ("café, nearby", "007", 2, "a"), ("red shoes", "8", 1, "b")]
RUN = {"query": "search term", "passage": "sku", "rank": "position", "system": "ranker"}


def refusal(reader, path, form=None) -> str:
    return report(lambda path, shown: [reader(path, File(shown, form))], path)


def as_csv(delimiter: str, encoding: str) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows([COLUMNS, *ROWS])
    return text.getvalue().encode(encoding)


def written(path, kind: str, rows=ROWS) -> None:
    """The same table in one of its forms."""
    objects = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    if kind == "json":
        path.write_text(json.dumps(objects))
        return
    if kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, objects)))
        return
    with duckdb.connect() as connection:
        for extension in ("excel", "sqlite_scanner"):
            extensions.load(connection, extension)
        connection.register("rows", pl.DataFrame(objects))
        if kind == "parquet":
            connection.execute(f"copy (from rows) to {quote(str(path))}")
        elif kind == "xlsx":
            connection.execute(f"copy (from rows) to {quote(str(path))} (format xlsx, header true)")
        else:
            sqlite = ", type sqlite" if kind == "sqlite" else ""
            connection.execute(f"attach {quote(str(path))} as made (read_write{sqlite})")
            connection.execute("create table made.results as from rows")


EXPECTED = [
    ("a", "café, nearby", "7", 1, -1.0),
    ("a", "café, nearby", "007", 2, -2.0),
    ("b", "red shoes", "8", 1, -1.0),
]


@pytest.mark.parametrize("kind", ["json", "jsonl", "parquet", "xlsx", "duckdb", "sqlite"])
def test_a_table_is_the_same_in_every_form(tmp_path, kind):
    path = tmp_path / f"table.{kind}"
    written(path, kind)
    assert read_run(path, File(path.name, RUN)).drop("line").rows() == EXPECTED


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^"])
def test_a_csv_may_be_separated_and_encoded_as_its_form_says(tmp_path, delimiter, encoding):
    path = tmp_path / "table.csv"
    path.write_bytes(as_csv(delimiter, encoding))
    said = {"delimiter": "^"} if delimiter == "^" else {}
    said |= {"encoding": encoding} if encoding == "latin-1" else {}
    frame = read_run(path, File(path.name, RUN | said))
    assert frame.drop("line").rows() == EXPECTED


def test_faults_are_told_by_line_and_lines_within_a_cell_count(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('query,passage,rank\n"two\nlines",p,1\nq,,2\nq,p,soon\nq,p\n')
    assert refusal(read_run, path, None).splitlines()[:-1] == [
        "table.csv:4: no passage",
        "table.csv:5: rank 'soon' is not a number",
        "table.csv:5: neither a rank nor a score",
        "table.csv:6: 2 cells instead of 3 (a text with a comma needs double quotes)",
    ]


@pytest.mark.parametrize(
    ("content", "form", "expected"),
    [
        ("a,b\n1,2\n", None, "no column for the query (usual names: query_id, qid,"),
        ("query,sku,rank\nq,p,1\n", {"rank": "place"}, "has no column 'place'; its"),
        ("query,sku,rank,sku\nq,p,1,p\n", None, "table.csv:1: column sku appears twice"),
        ("query,sku,rank\n", None, "holds no rows, only a header"),
        ("query,sku,rank\nq,p,1\n", {"encoding": "utf-99"}, "there is no encoding"),
        (b"query,sku,rank\ncaf\xe9,p,1\n", None, 'gradelake.toml: encoding = "latin-1"'),
    ],
)
def test_a_table_that_cannot_be_used_says_why(tmp_path, content, form, expected):
    path = tmp_path / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert expected in refusal(read_run, path, form)


@pytest.mark.parametrize(
    ("kind", "form", "expected"),
    [
        ("xlsx", {"table": "May"}, "has no sheet 'May'"),
        ("sqlite", {"table": "may"}, 'table = "...": results.'),
        ("duckdb", {"table": "may"}, "has no table 'may'"),
    ],
)
def test_a_table_of_several_is_named(tmp_path, kind, form, expected):
    path = tmp_path / f"table.{kind}"
    written(path, kind)
    assert expected in refusal(read_run, path, form)


FOR_EVER = "with recursive r(i) as (select 1 union all select i + 1 from r) select count(*) from r"


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_queries_within_a_database_are_not_run(tmp_path, kind):
    """Views, computed columns and virtual tables, by name, alone in their file, and in `start`."""
    (tmp_path / "secret").write_text("a secret")
    path = tmp_path / f"texts.{kind}"
    made = {"endless": f"create view endless as {FOR_EVER}"}
    if kind == "duckdb":
        reads = f"select 'd' as id, content as text from read_text('{tmp_path}/secret')"
        made["private"] = f"create view private as {reads}"
        made["computed"] = "create table computed(id int, text varchar as (repeat('x', id)))"
        with duckdb.connect(str(path)) as connection:
            for statement in made.values():
                connection.execute(statement)
    else:
        made["virtual"] = "create virtual table virtual using fts4(content='endless', i)"
        with closing(sqlite3.connect(path)) as connection:
            for statement in made.values():
                connection.execute(statement)
    for name in made:
        told = refusal(read_run, path, {"table": name})
        assert f"has no table {name!r}" in told
        assert "Views and computed columns are not read: store their rows in a table." in told
    told = command_line.gradelake(tmp_path, "start", code=2).stderr
    assert f"texts.{kind}: has" in told
    assert "a secret" not in told


def test_what_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr(reading, "_PATIENCE", 0.1)
    with (
        open_duckdb() as connection,
        pytest.raises(Rejected, match=r"t.duckdb: gave no rows for 0.1 s"),
        reading._in_time(connection, "t.duckdb"),
    ):
        connection.execute(FOR_EVER)


@pytest.mark.parametrize("kind", ["parquet", "xlsx", "duckdb", "sqlite"])
def test_a_path_is_a_name(tmp_path, kind):
    """No pattern, which would match a file beside it; no column of a folder; no address."""
    written(tmp_path / f"made.{kind}", kind)
    for beside in ("x1", "a"):
        written(tmp_path / f"{beside}.{kind}", kind, [("other", "1", 1, "a")])
    for name in ("x[12]", "*", "?", "{a,b}", "it's", "sku=3/x", "ftp:/x", "md:x"):
        path = tmp_path / f"{name}.{kind}"
        path.parent.mkdir(exist_ok=True)
        shutil.copy(tmp_path / f"made.{kind}", path)
        assert read_run(path, File(path.name, RUN)).drop("line").rows() == EXPECTED, name


@pytest.mark.parametrize("kind", ["xlsx", "parquet", "duckdb", "db"])
def test_what_only_is_called_like_a_table_is_refused(tmp_path, kind):
    path = tmp_path / f"table.{kind}"
    path.write_text("search term,sku,position\n")
    assert refusal(read_run, path, RUN)


def test_ids_and_judgments_may_have_a_fraction_of_nothing_and_empty_is_not_judged(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("query;sku;stars\nq;1.0;3.0\nq;2.0;\nq;3;0\n")
    assert read_judgments(path, path.name).drop("gain").rows() == [
        (None, "q", "1", 3, 2),
        (None, "q", "2", None, 3),
        (None, "q", "3", 0, 4),
    ]
    path.write_text("query;sku;stars\nq;1;2.5\n")
    form = {}
    assert "'2.5' is not a whole number" in refusal(read_judgments, path, form)


SHOP = {
    "queries": "searches.csv",
    "passages": {"file": "products.csv", "template": "{title} by {brand}"},
    "runs": [{"file": "results.csv", "rank": "position"}],
    "judgments": {"team": "ratings.csv"},
}


@pytest.fixture
def shop(tiny):
    """A shop's search: nothing in it has ids but its products."""
    tiny.settings = {}
    tiny.configure(**SHOP)
    tiny.write("searches.csv", ["search_term", "red shoes", "blue hat"])
    tiny.write("products.csv", ["sku,title,brand", "1,Shoe,Acme", "2,Hat,Acme"])
    tiny.write("results.csv", ["search_term,sku,position,system", "red shoes,1,1,A"])
    tiny.write("ratings.csv", ["search_term,sku,rating,rater", "red shoes,1,2.0,Ann B"])
    return tiny


def test_queries_go_by_their_texts_and_raters_are_assessors(shop):
    assert said(shop.ingest()) == ""
    red = query_id_of("red shoes")
    assert shop.run_of("A") == [(red, "1", -1.0)]
    columns = "assessor, query_id, passage_id, relevance"
    assert shop.rows(f"select {columns} from lake.raw.judgments") == [("Ann_B", red, "1", 2)]
    assert ("Shoe by Acme",) in shop.rows("select text from lake.raw.passages")
    assert shop.ingest().counts == {}


def test_two_ratings_of_a_pair_need_two_raters(shop):
    two = ["search_term,sku,rating,rater", "red shoes,1,2,ann", "red shoes,1,0,{}"]
    shop.write("ratings.csv", "\n".join(two).format("ann"))
    assert "is judged 0 here and 2 on line 2" in said(shop.ingest())
    shop.write("ratings.csv", "\n".join(two).format("ben"))
    assert said(shop.ingest()) == ""
    assert sorted(shop.rows("select assessor, relevance from lake.raw.judgments")) == [
        ("ann", 2),
        ("ben", 0),
    ]


def test_a_changed_mapping_reads_the_file_again(shop):
    shop.write(
        "results.csv", ["search_term,sku,position,score", "red shoes,1,1,2", "red shoes,2,2,5"]
    )
    assert said(shop.ingest()) == ""
    assert [passage for _, passage, _ in shop.run_of("results")] == ["1", "2"]
    shop.configure(runs=["results.csv"])  # by score, where no setting says by rank
    assert said(shop.ingest()) == ""
    assert [passage for _, passage, _ in shop.run_of("results")] == ["2", "1"]


def test_a_dry_run_says_how_files_are_read_and_leaves_the_lake_alone(shop):
    before = shop.snapshot()
    shop.write("ratings.csv", ["search_term,sku,rating", "green shoes,1,2"])
    shop.write("traffic.csv", ["search_term,traffic", "red shoes,9", "blue hat,1"])
    shop.write("clicks.csv", ["search_term,sku,position,clicked", "red shoes,1,1,yes"])
    shop.configure(query_weights="traffic.csv", clicks="clicks.csv")
    done = dry_run(shop.project, "tiny")
    assert done.read_as["runs from results.csv"] == {
        "query": "search_term",
        "passage": "sku",
        "rank": "position",
        "system": "system",
    }
    assert {(part.what, part.name): part.n_rows for part in done.parts} == {
        ("topics", None): 2,
        ("query weights", None): 2,
        ("clicks", None): 1,
        ("passages", None): 2,
        ("run", "A"): 1,
    }
    assert done.read_as["queries from traffic.csv"] == {"text": "search_term", "weight": "traffic"}
    assert done.read_as["clicks from clicks.csv"]["clicks"] == "clicked"
    assert "unknown query 'green shoes'" in said(done.outcome)
    assert (done.exit_code, shop.snapshot()) == (3, before)
    printed = shop.gradelake("ingest", "tiny", "--dry-run", code=3)
    assert "runs from results.csv: query = search_term, passage = sku" in printed.stdout


def test_frames_come_in_beside_what_is_there(shop):
    assert said(shop.ingest()) == ""
    shop.close()
    frame = {"search_term": ["blue hat"], "sku": [2], "score": [0.5]}
    with gradelake.open(shop.project.file) as lake:
        for given in (pl.DataFrame(frame), pl.DataFrame(frame).to_pandas(), [{"query": "x"}]):
            done = lake.ingest("tiny", runs={"B": given})
        assert "no column for the passage" in done["rejected"][0]["problems"][0]["message"]
        with pytest.raises(gradelake.GradelakeError, match="a dry run is of what"):
            lake.ingest("tiny", dry_run=True, runs={"B": frame})
        with pytest.raises(gradelake.GradelakeError, match="a int is no frame"):
            lake.ingest("tiny", runs={"B": 3})
        with pytest.raises(gradelake.GradelakeError, match="there are no frames of 'topics'"):
            lake.ingest("tiny", topics=frame)
    shop._lake = None
    assert shop.run_of("B") == [(query_id_of("blue hat"), "2", 0.5)]
    assert shop.systems() == {"A", "B"}


def test_a_text_is_a_text_where_a_form_knows_types_and_a_number_has_no_fraction(tmp_path):
    rows = [{"query": "7.0", "passage": "8.0", "judgment": 1}, {"query": "7", "passage": "8"}]
    expected = [("7.0", "8.0"), ("7", "8")]
    ids = pl.DataFrame(rows).with_columns(judgment=1)
    (tmp_path / "ids.jsonl").write_text("\n".join(map(json.dumps, rows)))
    ids.write_parquet(tmp_path / "ids.parquet")
    with duckdb.connect(tmp_path / "ids.duckdb") as connection:
        connection.register("rows", ids)
        connection.execute("create table judged as from rows")
    for form in ("jsonl", "parquet", "duckdb"):
        frame = read_judgments(tmp_path / f"ids.{form}", f"ids.{form}")
        assert frame.select("query_id", "passage_id").rows() == expected
    numbers = ids.with_columns(query=7.0, passage=pl.lit(8).cast(pl.Decimal(9, 1)))
    numbers.write_parquet(tmp_path / "ids.parquet")
    frame = read_judgments(tmp_path / "ids.parquet", "ids.parquet")
    assert frame.select("query_id", "passage_id").unique().rows() == [("7", "8")]
    (tmp_path / "ids.jsonl").write_text(json.dumps({"passage_id": "7.0", "text": "x"}))
    assert next(read_passages(tmp_path / "ids.jsonl", "ids.jsonl")).doc_id == "7.0"


def test_bytes_are_the_text_that_they_spell_or_refused(tmp_path):
    path = tmp_path / "made.parquet"
    binary = {"query": b"q\xc3\xa9", "passage": b"p", "label": 1, "vector": b"\xff"}
    made = pl.DataFrame([binary])
    made.write_parquet(path)
    assert read_judgments(path, path.name).row(0)[1:4] == ("qé", "p", 1)
    made.with_columns(passage=pl.lit(b"\xff")).write_parquet(path)
    assert "made.parquet:1: passage: bytes that are no UTF-8" in refusal(read_judgments, path)


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_what_a_spreadsheet_shows_for_a_failed_formula_is_no_value(tmp_path, kind):
    path = tmp_path / f"ratings.{kind}"
    with duckdb.connect() as connection:
        extensions.load(connection, "excel")
        rows = "select 'q' as query, '#REF!' as passage, '1' as judgment"
        connection.execute(f"copy ({rows}) to '{path}' (format {kind}, header true)")
    message = "passage: #REF! is an error of a spreadsheet, not a value"
    assert f"ratings.{kind}:2: {message}" in refusal(read_judgments, path)


def test_a_system_is_called_as_settings_say_and_by_one_name(tmp_path):
    named = File("a.csv", {"name": "old"})
    responses = tmp_path / "a.csv"
    responses.write_text("query,answer\nq,x\n")
    assert [each.system for each in read_responses(responses, named)] == ["old"]
    responses.write_text("query,answer,system\nq,x,new\n")
    message = "its rows are of system 'new', and gradelake.toml calls it 'old'"
    assert message in refusal(read_responses, responses, named.settings)
