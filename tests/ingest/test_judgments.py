"""`gradelake import judgments`: a CSV that people filled in becomes an assessor's judgments."""

from contextlib import closing

import duckdb
import polars as pl
import pytest

from gradelake.ingest.collections.judgments import import_judgments
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Rejected
from gradelake.sql.lake import extensions
from tests.ingest.conftest import new_tiny, said

HEADER = "query_id,query,passage_id,passage,judgment"
DESIGN = "sample,label_set,unit,stratum,stratum_size,probability,depth"
PLAIN = [HEADER, "q1,sky,p1,Text,2", "q1,sky,p2,Text,", "q2,bees,p3,Text,0"]
SAMPLE = [
    f"{HEADER},{DESIGN}",
    'q1,sky,p1,"Text, with a comma",2,pair-1,judge:Sun,pair,s1,6,0.5,10',
    'q1,sky,p2,"Two\nlines",,pair-1,judge:Sun,pair,s2,4,0.25,10',
    "q2,bees,p3,Text,0,pair-1,judge:Sun,pair,s1,6,0.5,10",
]


def bring(tiny, lines=None, name="done.csv", assessor="ann", collection="tiny"):
    if lines is not None:
        tiny.write(name, lines)
    return import_judgments(tiny.lake, collection, tiny.folder / name, assessor, ["import"])


def judgments(tiny, assessor="ann"):
    return tiny.lake.rows(
        "select query_id, passage_id, relevance from lake.raw.judgments where assessor = ? "
        "order by all",
        assessor,
    )


def drawn(tiny, assessor="ann"):
    return tiny.lake.rows(
        "select sample, label_set, unit, query_id, passage_id, stratum, stratum_size, "
        "probability, depth from lake.raw.review_samples where assessor = ? order by all",
        assessor,
    )


@pytest.fixture(scope="module")
def judged(tmp_path_factory, tiny_lake):
    """A project with ann's judgments, for all tests that must leave it as it is."""
    with closing(new_tiny(tmp_path_factory.mktemp("judged") / "project", tiny_lake)) as tiny:
        bring(tiny, PLAIN)
        yield tiny


def test_filled_cells_become_judgments_and_empty_ones_are_counted(ingested):
    done = bring(ingested, PLAIN)
    assert (done.written, done.empty, done.changed, done.by["sample"]) == (2, 1, 0, None)
    assert judgments(ingested) == [("q1", "p1", 2), ("q2", "p3", 0)]
    assert drawn(ingested) == []
    assert done.snapshot == ingested.snapshot()
    assert ingested.rows(
        f"select commit_message from lake.snapshots() where snapshot_id = {done.snapshot}"
    ) == [("import judgments tiny ann: 2 judgments",)]


def test_a_sample_keeps_how_each_pair_was_drawn_judged_or_not(ingested):
    done = bring(ingested, SAMPLE)
    assert (done.written, done.empty, done.by["sample"]) == (2, 1, "pair-1")
    assert drawn(ingested) == [
        ("pair-1", "judge:Sun", "pair", "q1", "p1", "s1", 6, 0.5, 10),
        ("pair-1", "judge:Sun", "pair", "q1", "p2", "s2", 4, 0.25, 10),
        ("pair-1", "judge:Sun", "pair", "q2", "p3", "s1", 6, 0.5, 10),
    ]


def test_a_fuller_file_replaces_what_it_brought_before(ingested):
    bring(ingested, SAMPLE)
    fuller = [line.replace('lines",,', 'lines",3,').replace("Text,0", "Text,1") for line in SAMPLE]
    done = bring(ingested, fuller, "fuller.csv")
    assert (done.written, done.empty, done.changed) == (3, 0, 1)
    assert judgments(ingested) == [("q1", "p1", 2), ("q1", "p2", 3), ("q2", "p3", 1)]
    assert len(drawn(ingested)) == 3


def test_an_emptied_cell_takes_its_judgment_back_and_a_row_left_out_stays(ingested):
    bring(ingested, SAMPLE)
    emptied = SAMPLE[1].replace('comma",2,', 'comma",,')
    done = bring(ingested, [SAMPLE[0], emptied], "less.csv")
    assert (done.written, done.empty, done.changed) == (0, 1, 1)
    assert judgments(ingested) == [("q2", "p3", 0)]
    assert len(drawn(ingested)) == 3


def test_a_sample_may_come_back_in_parts(ingested):
    bring(ingested, SAMPLE[:3], "one.csv")
    bring(ingested, [SAMPLE[0], SAMPLE[3]], "two.csv")
    assert judgments(ingested) == [("q1", "p1", 2), ("q2", "p3", 0)]
    assert len(drawn(ingested)) == 3


def test_what_one_sample_leaves_empty_another_may_have_brought(ingested):
    bring(ingested, SAMPLE)
    empty = [SAMPLE[0], "q1,sky,p1,Text,,pair-2,judge:Sun,pair,s1,9,0.1,"]
    assert bring(ingested, empty, "other.csv").changed == 0
    assert judgments(ingested) == [("q1", "p1", 2), ("q2", "p3", 0)]
    overruled = [SAMPLE[0], "q1,sky,p1,Text,3,pair-2,judge:Sun,pair,s1,9,0.1,"]
    bring(ingested, overruled, "other.csv")
    assert judgments(ingested)[0] == ("q1", "p1", 3)
    assert bring(ingested, SAMPLE).changed == 1, "the first can come in again"
    assert judgments(ingested)[0] == ("q1", "p1", 2)


def test_two_samples_of_one_assessor_stand_side_by_side(ingested):
    bring(ingested, SAMPLE)
    other = [SAMPLE[0], "q2,bees,p4,Text,1,pair-2,judge:Sun,pair,s1,9,0.1,"]
    bring(ingested, other, "other.csv")
    assert judgments(ingested) == [("q1", "p1", 2), ("q2", "p3", 0), ("q2", "p4", 1)]
    assert {row[0] for row in drawn(ingested)} == {"pair-1", "pair-2"}
    assert [row[-1] for row in drawn(ingested)] == [10, 10, 10, None]


def test_two_assessors_judge_one_sample(ingested):
    bring(ingested, SAMPLE)
    bring(ingested, SAMPLE, "bob.csv", assessor="bob")
    assert judgments(ingested, "bob") == judgments(ingested, "ann")
    assert drawn(ingested, "bob") == drawn(ingested, "ann")


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_semicolons_decimal_commas_other_orders_and_a_mark_at_the_start_are_read(ingested, end):
    lines = [
        "probability;judgment;passage_id;query_id;sample;label_set;unit;stratum;stratum_size;depth",
        "0,25;3;p1;q1;pair-1;judge:Sun;pair;s1;4;",
    ]
    ingested.write("done.csv", b"\xef\xbb\xbf" + end.join(lines).encode())
    assert bring(ingested).written == 1
    assert drawn(ingested)[0][-2:] == (0.25, None)


def test_an_assessor_of_the_collections_files_is_not_overwritten(judged):
    before = judged.snapshot()
    with pytest.raises(BadInput, match="judgments of assessor 'nist' from another source"):
        bring(judged, PLAIN, assessor="nist")
    assert judged.snapshot() == before


def test_a_collection_cannot_take_over_the_name_of_people_who_judged(ingested):
    bring(ingested, PLAIN)
    before = judgments(ingested)
    ingested.write("ann.qrels", ["q2 0 p5 1"])
    ingested.configure(judgments={"nist": "nist.qrels", "ann": "ann.qrels"})
    assert "assessor 'ann' has judgments from `gradelake import judgments`" in said(
        ingested.ingest()
    )
    assert judgments(ingested) == before


def test_judgments_above_the_scale_are_noted(ingested):
    done = bring(ingested, [PLAIN[0], "q1,sky,p1,Text,2", "q1,sky,p2,Text,22"])
    assert done.written == 2
    assert done.warnings == [
        "1 judgment is above 2, the top of the collection's scale (first: 22 on line 3)"
    ]


def test_the_scale_goes_as_far_as_judgments_unless_a_setting_says_how_far(tiny):
    def top() -> int:
        return tiny.lake.value("select max_relevance from lake.raw.collections")

    tiny.configure(judgments=None)  # nobody judged: nothing is known but what counts as relevant
    tiny.ingest()
    assert top() == 1
    done = bring(tiny, [PLAIN[0], "q1,sky,p1,Text,0", "q1,sky,p2,Text,3"])
    assert (top(), done.warnings) == (3, [])
    tiny.ingest()
    assert top() == 3
    tiny.configure(max_relevance=2)
    tiny.close()
    tiny._lake = None  # it is opened anew, with what is configured
    tiny.ingest()
    bring(tiny, [PLAIN[0], "q1,sky,p1,Text,0", "q1,sky,p2,Text,4"])
    assert top() == 2


def test_a_workbooks_columns_may_be_called_otherwise_and_a_query_by_its_words(ingested):
    path = ingested.folder / "ann.xlsx"
    rows = [("why is the sky blue", "p1", 3), ("q2", "p3", None)]
    with duckdb.connect() as connection:
        extensions.load(connection, "excel")
        connection.register("rows", pl.DataFrame(rows, ["term", "sku", "verdict"], orient="row"))
        connection.execute(f"copy (from rows) to '{path}' (format xlsx, header true)")
    columns = {"query": "term", "judgment": "verdict"}
    done = import_judgments(ingested.lake, "tiny", path, "ann", [], {"columns": columns})
    assert (done.written, done.empty, judgments(ingested)) == (1, 1, [("q1", "p1", 3)])


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (["query_id,passage_id,verdict", "q1,p1,2"], ": no column for the judgment"),
        ([PLAIN[0], "q1,sky,p1,Text,good"], ":2: judgment 'good' is not a whole number"),
        ([PLAIN[0], "q1,sky,p1,Text,1.5"], ":2: judgment '1.5' is not a whole number"),
        ([PLAIN[0], "q1,sky,,Text,2"], ":2: no passage"),
        ([PLAIN[0], "q1,sky,p1,Text,2", "q9,x,p1,Text,1"], ":3: unknown query 'q9' (1 line)"),
        ([PLAIN[0], "q1,sky,1.2E+05,Text,2"], ":2: unknown passage '1.2E+05'"),
        ([*PLAIN, "q1,x,p1,Text,1"], ":5: query 'q1', passage 'p1' is judged 1 here and 2 on lin"),
        ([*PLAIN, "q1,x,p2,Text,1"], ":5: query 'q1', passage 'p2' is judged 1 here and None on"),
        ([f"{HEADER},sample", "q1,x,p1,T,2,a"], ": no row has a label_set or a unit or a stratum"),
        ([SAMPLE[0], SAMPLE[1].replace(",0.5,", ",1.5,")], ":2: probability '1.5' is not what was"),
        ([SAMPLE[0], SAMPLE[1].replace(",6,", ",0,")], ":2: stratum_size '0' is not what was exp"),
        ([SAMPLE[0], SAMPLE[1].replace(",pair,", ",pear,")], ":2: unit 'pear' is not what was e"),
        ([*SAMPLE[:2], SAMPLE[3].replace("pair-1", "pair-2")], ":3: sample 'pair-2' differs from"),
        ([*SAMPLE[:2], SAMPLE[3].replace(",6,", ",7,")], ":3: stratum_size 7 differs from the fir"),
        ([SAMPLE[0], SAMPLE[3].replace(",6,", f",{'9' * 400},")], ":2: stratum_size '999"),
    ],
)
def test_a_faulty_file_is_rejected_by_line_and_nothing_lands(judged, lines, wrong):
    before = judged.snapshot()
    with pytest.raises(Rejected) as caught:
        bring(judged, lines, "new.csv")
    assert caught.value.lines()[0].startswith(f"{judged.folder}/new.csv{wrong}")
    assert judged.snapshot() == before
    assert judgments(judged) == [("q1", "p1", 2), ("q2", "p3", 0)]


def test_the_next_ingest_does_not_wonder_whose_judgments_they_are(ingested):
    bring(ingested, PLAIN)
    assert ingested.ingest().warnings == []
    ingested.configure(judgments={})
    assert "judgments nist" in ingested.ingest().warnings[0]


def test_a_query_with_a_drawn_passage_cannot_be_taken_out(ingested):
    ingested.write("topics.tsv", ["q1\tsky", "q2\tbees", "q3\tsea"])
    ingested.ingest()
    bring(ingested, [*SAMPLE, "q3,sea,p3,Text,,pair-1,judge:Sun,pair,s1,6,0.5,10"])
    ingested.write("topics.tsv", ["q1\tsky", "q2\tbees"])
    assert "query 'q3' is gone, but 1 review sample names it" in said(ingested.ingest())
