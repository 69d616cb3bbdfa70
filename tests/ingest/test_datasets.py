"""Datasets of ir_datasets come in as local files do."""

import json
import os
import shutil
from typing import Any

import ir_datasets
import pytest
from ir_datasets import formats
from ir_datasets.datasets.car import CarQuery
from ir_datasets.datasets.clueweb09 import TrecWebTrackQuery
from ir_datasets.util import LocalDownload

from gradelake.sql.common.errors import BadInput
from tests import command_line
from tests.ingest.conftest import said
from tests.places import SHARED
from tests.projects import write

TOPICS = ["q1\twhy is the sky blue", "q2\thow do bees find home", "q3\twhy is the sea salt"]
NOWHERE = "http://127.0.0.1:9"  # nothing is downloaded, whatever the network
QRELS = ["q1 0 d1 2", "q2 0 d2 0", "q3 0 d3 -1"]


@pytest.fixture
def registered(tmp_path, request):
    """The id of a dataset made of ir_datasets' own formats, over small files."""
    files = tmp_path / "dataset"
    docs = [json.dumps({"doc_id": f"d{n}", "text": f"Document {n}."}) for n in range(1, 31)]
    scored = [f"q1 Q0 d{n} {n} {30 - n}.5 x" for n in range(10, 20)]
    handlers = [
        formats.JsonlDocs(
            LocalDownload(write(files / "docs.jsonl", docs)),
            docstore_path=str(tmp_path / "docs.pklz4"),
        ),
        formats.TsvQueries(LocalDownload(write(files / "topics.tsv", TOPICS))),
        formats.TrecQrels(LocalDownload(write(files / "qrels.txt", QRELS)), {}),
        formats.TrecScoredDocs(LocalDownload(write(files / "scored.run", scored))),
    ]
    dataset_id = f"lab/{tmp_path.name}"
    ir_datasets.registry.register(dataset_id, ir_datasets.Dataset(*handlers))
    return dataset_id


def use(tiny, dataset_id, **settings):
    """Take everything from the dataset, unless set otherwise."""
    nothing = dict.fromkeys(("queries", "passages", "judgments", "runs"))
    tiny.configure(**nothing | {"ir_dataset": dataset_id} | settings)


def passages(tiny) -> list[str]:
    return [i for (i,) in tiny.rows("select passage_id from lake.raw.passages order by all")]


# --- in -----------------------------------------------------------------------------------------


def test_a_dataset_brings_topics_judgments_a_system_and_the_pools_passages(tiny, registered):
    use(tiny, registered, default_pool_depth=4)
    outcome = tiny.ingest()
    assert (outcome.exit_code, outcome.rejected, outcome.warnings) == (0, [], [])
    counts = {"queries": 3, "judgments": 3, "systems": 1, "run_entries": 10, "passages": 7}
    assert outcome.counts == counts
    assert tiny.rows("select source from lake.raw.collections") == [(registered,)]
    assert tiny.rows("select query_id, text from lake.raw.queries order by all") == [
        tuple(line.split("\t")) for line in TOPICS
    ]
    assert tiny.rows(
        "select * exclude (collection, gain) from lake.raw.judgments order by all"
    ) == [("official", "q1", "d1", 2), ("official", "q2", "d2", 0), ("official", "q3", "d3", -1)]
    assert tiny.run_of("scoreddocs") == [("q1", f"d{n}", 30.5 - n) for n in range(10, 20)]
    assert tiny.rows("select distinct rank from lake.raw.run_entries") == [(None,)]
    assert passages(tiny) == ["d1", "d10", "d11", "d12", "d13", "d2", "d3"]
    assert tiny.rows("select text from lake.raw.passages where passage_id = 'd12'") == [
        ("Document 12.",)
    ]
    before, again = tiny.snapshot(), tiny.ingest()
    assert (again.counts, again.unchanged, tiny.snapshot()) == ({}, 4, before)


def test_local_runs_and_judgments_stand_beside_those_of_the_dataset(tiny, registered):
    tiny.write("runs/good.run", ["q3 Q0 d25 1 9.5 t", "q3 Q0 d99 1 9 t"])
    tiny.write("mine.qrels", ["q1 0 d30 1"])
    use(
        tiny,
        registered,
        assessor="nist",
        scoreddocs="first_stage",
        runs=["runs/*"],
        judgments={"mine": "mine.qrels"},
        default_pool_depth=1,
    )
    outcome = tiny.ingest()
    assert outcome.exit_code == 0
    assert tiny.systems() == {"good", "first_stage"}
    assert tiny.rows(
        "select assessor, count(*) from lake.raw.judgments group by all order by all"
    ) == [("mine", 1), ("nist", 3)]
    assert passages(tiny) == ["d1", "d10", "d2", "d25", "d3", "d30"]


def test_a_run_named_like_the_datasets_system_is_refused_with_it(tiny, registered):
    tiny.write("runs/scoreddocs.run", ["q1 Q0 d1 1 9.5 t"])
    use(tiny, registered, runs=["runs/*"])
    outcome = tiny.ingest()
    assert (
        f"several files claim the system 'scoreddocs': runs/scoreddocs.run, {registered}"
        in said(outcome)
    )
    assert outcome.exit_code == 3


def test_all_passages_come_when_they_are_wanted_also_after_those_of_the_pool(tiny, registered):
    use(tiny, registered, default_pool_depth=1)
    assert tiny.ingest().counts["passages"] == 4
    use(tiny, registered, passages_for="all")
    assert tiny.ingest().counts == {"passages": 30}
    assert len(passages(tiny)) == 30
    assert tiny.ingest().counts == {}


def test_local_topics_and_passages_take_the_place_of_the_datasets(tiny, registered):
    tiny.write("topics.tsv", [*TOPICS[:2], "q3\tanother wording"])
    tiny.write("passages.tsv", ["d1\tMy own text.", "x\tNot in the pool."])
    use(tiny, registered, queries="topics.tsv", passages="passages.tsv")
    outcome = tiny.ingest()
    assert outcome.exit_code == 0
    assert tiny.rows("select text from lake.raw.queries where query_id = 'q3'") == [
        ("another wording",)
    ]
    assert tiny.rows("select passage_id, text from lake.raw.passages order by all") == [
        ("d1", "My own text."),
        ("x", "Not in the pool."),
    ]
    assert tiny.rows("select count(*) from lake.raw.judgments") == [(3,)]


def test_topics_keep_their_description_and_narrative_and_subtopics_are_facets(tiny, tmp_path):
    told = (("1", "Find hives.", "nav"), ("2", "Why?", "inf"))
    subtopics = tuple(formats.TrecSubtopic(*each) for each in told)
    for name, found, counts in (
        (
            "plain",
            [
                formats.TrecQuery("q1", "sky", "Why is it blue?", "Physics, please."),
                formats.TrecQuery("q2", "bees", "", None),
            ],
            {"queries": 2},
        ),
        (
            "web",
            [TrecWebTrackQuery("7", "bees", "About bees.", "faceted", subtopics)],
            {"queries": 1, "facets": 2},
        ),
    ):
        register(tmp_path / name, topics(*found))
        tiny.name = name
        use(tiny, f"lab/{name}")
        assert tiny.ingest().counts == counts
    assert tiny.rows("select * from lake.raw.queries order by all") == [
        ("plain", "q1", "sky", "Why is it blue?", "Physics, please."),
        ("plain", "q2", "bees", None, None),
        ("web", "7", "bees", "About bees.", None),
    ]
    assert tiny.rows("select * from lake.raw.facets order by all") == [
        ("web", "7", "1", "Find hives."),
        ("web", "7", "2", "Why?"),
    ]


OUTLINES = [
    CarQuery("enwiki:Bee/Dance", "Bee Dance", "Bee", ("Dance",)),
    CarQuery("enwiki:Bee/Dance/In%2Fout", "Bee Dance In/out", "Bee", ("Dance", "In/out")),
    CarQuery("enwiki:Sea/Salt", "Sea Salt", "Sea", ("Salt",)),
]


def car(tmp_path):
    """A dataset as ir_datasets' `car` is: a query and judgments for each heading."""
    dance, deeper, salt = (query.query_id for query in OUTLINES)
    labels = [(dance, "d1", 1), (deeper, "d1", 3), (deeper, "d2", -2), (salt, "d1", 0)]
    register(tmp_path, topics(*OUTLINES), judgments(*labels))
    return f"lab/{tmp_path.name}"


def test_headings_of_car_are_queries_or_with_car_pages_facets_of_their_page(tiny, tmp_path):
    dataset_id = car(tmp_path)
    use(tiny, dataset_id)
    assert tiny.ingest().counts == {"queries": 3, "judgments": 4}
    tiny.name = "pages"
    use(tiny, dataset_id, car_pages=True)
    assert tiny.ingest().counts == {"queries": 2, "facets": 3, "judgments": 3}
    of_pages = "where collection = 'pages' order by all"
    assert tiny.rows(f"select query_id, text from lake.raw.queries {of_pages}") == [
        ("enwiki:Bee", "Bee"),
        ("enwiki:Sea", "Sea"),
    ]
    assert tiny.rows(f"select * exclude collection from lake.raw.facets {of_pages}") == [
        ("enwiki:Bee", "Dance", "Dance"),
        ("enwiki:Bee", "Dance/In%2Fout", "Dance / In/out"),
        ("enwiki:Sea", "Salt", "Salt"),
    ]
    judged = f"select query_id, passage_id, relevance from lake.raw.judgments {of_pages}"
    assert tiny.rows(judged) == [
        ("enwiki:Bee", "d1", 3),
        ("enwiki:Bee", "d2", -2),
        ("enwiki:Sea", "d1", 0),
    ]


def test_car_pages_needs_a_dataset_with_headings(tiny, registered):
    use(tiny, registered, car_pages=True)
    with pytest.raises(BadInput, match=r"car_pages: the queries of .* have no headings"):
        tiny.ingest()


def test_empty_passages_of_a_dataset_are_left_out_with_a_note_and_written_once(tiny, tmp_path):
    class Docs(formats.BaseDocs):
        def docs_store(self, *_):
            return self

        def get_many_iter(self, ids):
            return (formats.GenericDoc(i, "" if i == "d1" else "Text.") for i in sorted(ids))

    register(tmp_path, topics(), judgments(("q1", "d1", 1), ("q1", "d2", 1)), Docs())
    use(tiny, f"lab/{tmp_path.name}")
    outcome = tiny.ingest()
    assert "1 passage has an empty text; left out" in outcome.warnings
    assert passages(tiny) == ["d2"]
    before = tiny.snapshot()
    assert tiny.ingest().counts == {}
    assert tiny.snapshot() == before


def test_a_datasets_scored_documents_can_be_left_out(tiny, registered):
    use(tiny, registered, scoreddocs=False)
    assert tiny.ingest().counts == {"queries": 3, "judgments": 3, "passages": 3}
    assert tiny.systems() == set()
    tiny.settings["scoreddocs"] = 7
    with pytest.raises(BadInput, match=r"scoreddocs must be a string\n.*or false"):
        tiny.ingest()


# --- a dataset that a file or a package registers -----------------------------------------------

# what a person writes: ir_datasets' own formats, over files beside this one
OWN = """
from pathlib import Path
import ir_datasets
from ir_datasets.formats import JsonlDocs, TrecQrels, TrecScoredDocs, TsvQueries
from ir_datasets.util import LocalDownload

FOLDER = Path(__file__).parent
ir_datasets.registry.register(
    "ours/DATASET",
    ir_datasets.Dataset(
        JsonlDocs(LocalDownload(FOLDER / "docs.jsonl"), docstore_path=str(FOLDER / "docs.pklz4")),
        TsvQueries(LocalDownload(FOLDER / "topics.tsv")),
        TrecQrels(LocalDownload(FOLDER / "qrels.txt"), {}),
        TrecScoredDocs(LocalDownload(FOLDER / "scored.run")),
    ),
)
"""


@pytest.fixture
def own_file(tiny):
    """A Python file that registers a dataset, and the files that it is made of."""
    name = f"d{abs(hash(tiny.folder))}"
    docs = [json.dumps({"doc_id": f"d{n}", "text": f"Document {n}."}) for n in range(1, 5)]
    tiny.write("sets/docs.jsonl", docs)
    tiny.write("sets/topics.tsv", TOPICS)
    tiny.write("sets/qrels.txt", QRELS)
    tiny.write("sets/scored.run", [f"q1 Q0 d{n} {n} {9 - n}.5 x" for n in (1, 4)])
    return tiny.write(f"sets/{name}.py", OWN.replace("DATASET", name))


def test_a_dataset_of_our_own_is_registered_by_a_file(tiny, own_file):
    use(tiny, f"ours/{own_file.stem}", registered_by=f"sets/{own_file.name}")
    process = tiny.gradelake("ingest", "tiny", "--json", HOME=str(tiny.folder / "home"))
    counts = {"queries": 3, "judgments": 3, "systems": 1, "run_entries": 2, "passages": 4}
    assert json.loads(process.stdout)["written"] == counts
    assert tiny.run_of("scoreddocs") == [("q1", "d1", 8.5), ("q1", "d4", 5.5)]
    assert passages(tiny) == ["d1", "d2", "d3", "d4"]
    assert tiny.ingest().counts == {}  # in this process it is registered now,
    assert tiny.ingest().counts == {}  # and not again


def test_a_module_may_register_it(tiny, own_file, monkeypatch):
    monkeypatch.syspath_prepend(own_file.parent)
    use(tiny, f"ours/{own_file.stem}", registered_by=own_file.stem)
    assert tiny.ingest().counts["judgments"] == 3


@pytest.mark.parametrize(
    ("registers", "content", "said"),
    [
        ("none.py", None, "registered_by: no file .*/none.py"),
        ("bad.py", "1 / 0", "bad.py: cannot be loaded: ZeroDivisionError"),
        ("no_such_module_of_ours", None, "cannot be imported: ModuleNotFoundError"),
        ("other.py", "", "ir_datasets has no dataset 'ours/none'"),
    ],
)
def test_what_registers_nothing_is_bad_input(tiny, registers, content, said):
    if content is not None:
        tiny.write(registers, [content])
    use(tiny, "ours/none", registered_by=registers)
    with pytest.raises(BadInput, match=said):
        tiny.ingest()


def test_a_line_that_ir_datasets_would_repeat_is_refused(tiny, own_file):
    """It gives the row before once more for a line of another number of columns."""
    tiny.write("sets/scored.run", ["q1 Q0 d1 1 8.5 x", "q1 Q0 d4 2 5.5 a tag"])
    use(tiny, f"ours/{own_file.stem}", registered_by=f"sets/{own_file.name}")
    (rejected,) = tiny.ingest().rejected
    assert rejected.file == f"ours/{own_file.stem}"
    assert tiny.systems() == set()


# --- faults -------------------------------------------------------------------------------------


def register(tmp_path, *handlers) -> None:
    ir_datasets.registry.register(f"lab/{tmp_path.name}", ir_datasets.Dataset(*handlers))


def handing_out(base: type, method: str, records) -> Any:
    """A part of a dataset that has these records."""
    return type(base.__name__, (base,), {method: lambda self, *_: iter(records)})()


def topics(*queries):
    queries = queries or (formats.GenericQuery("q1", "sky"),)
    found = handing_out(formats.BaseQueries, "queries_iter", queries)
    found.queries_cls = lambda: type(queries[0])
    return found


def judgments(*labels):
    rows = [formats.TrecQrel(*label, "0") for label in labels]
    return handing_out(formats.BaseQrels, "qrels_iter", rows)


def scored(*entries):
    rows = [formats.GenericScoredDoc("q1", *entry) for entry in entries]
    return handing_out(formats.BaseScoredDocs, "scoreddocs_iter", rows)


def lost(registered, what, file) -> list[str]:
    return [
        f"ir_datasets {registered}: its {what} cannot be read: FileNotFoundError: {file}",
        "  what to do: Check the network, or put the files in $IR_DATASETS_HOME as its manual "
        "says.",
    ]


def test_files_that_cannot_be_had_are_rejections_and_the_rest_lands(tiny, tmp_path, registered):
    tiny.write("runs/good.run", ["q1 Q0 d1 1 1 t"])
    use(tiny, registered, runs=["runs/*"])
    files = tmp_path / "dataset"
    for name in ("qrels.txt", "scored.run", "docs.jsonl"):
        (files / name).unlink()
    outcome = tiny.ingest()
    assert said(outcome).splitlines() == [
        *lost(registered, "qrels", files / "qrels.txt"),
        *lost(registered, "scoreddocs", files / "scored.run"),
        *lost(registered, "passages", files / "docs.jsonl"),
    ]
    assert outcome.exit_code == 3
    assert outcome.counts == {"queries": 3, "systems": 1, "run_entries": 1}


def test_without_its_topics_nothing_of_a_dataset_lands(tiny, tmp_path, registered):
    (tmp_path / "dataset" / "topics.tsv").unlink()
    use(tiny, registered)
    outcome = tiny.ingest()
    expected = lost(registered, "topics", tmp_path / "dataset" / "topics.tsv")
    assert said(outcome).splitlines() == expected
    assert (outcome.exit_code, outcome.counts) == (2, {})


def test_a_docstore_that_cannot_be_opened_is_a_rejection_too(tiny, tmp_path):
    class Docs(formats.BaseDocs):
        def docs_store(self, *_):
            raise OSError("no route to host")

    register(tmp_path, topics(), judgments(("q1", "d1", 1)), Docs())
    use(tiny, f"lab/{tmp_path.name}")
    outcome = tiny.ingest()
    assert "its passages cannot be read: OSError: no route to host" in said(outcome)
    assert outcome.exit_code == 3
    assert tiny.rows("select count(*) from lake.raw.judgments") == [(1,)]


def test_a_dataset_without_topics_is_a_rejection(tiny, tmp_path):
    register(tmp_path, judgments(("q1", "d1", 1)))
    use(tiny, f"lab/{tmp_path.name}")
    outcome = tiny.ingest()
    assert "has no topics" in said(outcome)
    assert 'Set queries = "topics.tsv".' in said(outcome)
    assert outcome.exit_code == 2


def test_what_a_dataset_hands_out_is_checked_like_a_file(tiny, tmp_path):
    docs = [formats.GenericDoc("d1", text) for text in ("One.", "Two.")]
    register(
        tmp_path,
        topics(),
        judgments(("q1", "d1", 1), ("q1", "d1", 2)),
        scored(("d1", 1.0), ("d1", 2.0), ("d2", float("nan"))),
        handing_out(formats.BaseDocs, "docs_iter", docs),
    )
    use(tiny, f"lab/{tmp_path.name}", passages_for="all")
    outcome = tiny.ingest()
    told = said(outcome)
    name = f"lab/{tmp_path.name}"
    assert f"{name}:2: query 'q1', passage 'd1' is judged 2 here and 1 on line 1" in told
    assert f"{name}:2: query_id 'q1', passage_id 'd1' is listed twice (first on line 1)" in told
    assert f"{name}:3: score nan: must be finite as a 32-bit float" in told
    assert f"{name}:2: passage_id 'd1' is listed twice (first on line 1)" in told
    assert (outcome.exit_code, outcome.counts) == (3, {"queries": 1})


# --- a real one ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason=f"no TREC data in {SHARED}")
def test_trec_dl_2019_lands_offline_from_files_put_where_ir_datasets_looks(tiny, tmp_path):
    home = tmp_path / "home"
    qrels = home / "downloads" / "2f4be390198da108f6845c822e5ada14"  # its checksum
    topics = home / "msmarco-passage" / "trec-dl-2019" / "queries.tsv"
    for source, place in (("qrels.txt", qrels), ("topics.tsv", topics)):
        place.parent.mkdir(parents=True)
        shutil.copyfile(SHARED / "dl19" / source, place)
    tiny.write("passages.tsv", ["8139255\tA passage."])
    use(
        tiny,
        "msmarco-passage/trec-dl-2019/judged",
        assessor="nist",
        passages="passages.tsv",
        min_relevant=2,
    )
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), NOWHERE)
    process = command_line.run_apart(  # ir_datasets reads them when it is imported
        tiny.project.file.parent,
        *("ingest", "tiny", "--json"),
        IR_DATASETS_HOME=str(home),
        IR_DATASETS_SMALL_FILE_SIZE="0",
        IR_DATASETS_DL_TRIES="1",
        IR_DATASETS_TMP=str(tmp_path / "tmp"),
        **nowhere,
        **dict.fromkeys(("no_proxy", "NO_PROXY"), ""),
    )
    assert process.returncode == 3, process.stderr
    answer = json.loads(process.stdout)
    assert answer["written"] == {"queries": 43, "judgments": 9260, "passages": 1}
    (rejected,) = answer["rejected"]  # its candidates were not put there
    assert "its scoreddocs cannot be read: " in rejected["problems"][0]["message"]
    assert rejected["what_to_do"].startswith("Check the network, or put the files in ")
    assert "Traceback" not in process.stderr
    assert tiny.rows(
        "select relevance, count(*) from lake.raw.judgments group by all order by all"
    ) == [(0, 5158), (1, 1601), (2, 1804), (3, 697)]
    assert os.listdir(home / "downloads") == [qrels.name]
