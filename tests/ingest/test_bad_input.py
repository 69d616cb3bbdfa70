"""What cannot be used is refused by file and line, with what to do; everything else lands."""

import gzip
import json
import os
import re
import subprocess
import sys
import zlib
from contextlib import closing

import pytest

from gradelake.ingest.collections import doctor
from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.trec import read_run
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Rejected
from tests.ingest.conftest import new_tiny, report, said
from tests.projects import write


def zipped(lines: int) -> bytearray:
    return bytearray(gzip.compress(b"".join(b"q1 Q0 p%d 1 1 t\n" % n for n in range(lines))))


def damaged(data: bytearray, at: int) -> bytearray:
    data[at] ^= 0xFF
    return data


GOOD = "q1 Q0 p1 1 2.5 t\n"
LATIN = f"{GOOD}q1 Q0 f\u00fcr 2 1.5 t\n"

# file, bytes, and what the report says of it, in parts
FAULTY_RUNS = [
    (
        "twice.run",
        f"{GOOD}q2 Q0 p1 1 3 t\nq1 Q0 p2 2 2 t\n\nq1 Q0 p1 3 1 t\n",
        [
            ":5: query_id 'q1', passage_id 'p1' is listed twice (first on line 1)",
            "Fix or remove these lines",
        ],
    ),
    (
        "unknown.run",
        f"{GOOD}Q1 Q0 p1 1 3 t\nq9 Q0 p2 2 2 t\nq9 Q0 p1 3 1 t\n",
        [
            ":2: unknown query 'Q1' (1 line)",
            ":3: unknown query 'q9' (2 lines)",
            "Add these queries to the collection's topics, or remove the lines.",
        ],
    ),
    ("empty.run", "", [": the file is empty"]),
    ("bom.run", "\ufeff", [": the file is empty"]),
    ("zipped.run.gz", gzip.compress(b""), [": the file is empty"]),
    ("none.run.gz", b"", [": the file is empty"]),
    (
        "cut.run.gz",
        zipped(5000)[:-2000],
        [":", "the gzip file is broken or cut off here (", "Copy or download the file again."],
    ),
    ("start.run.gz", damaged(zipped(5000), at=10), [":1: the gzip file is broken or cut off"]),
    ("plain.run.gz", GOOD, [": is not gzip, though its name ends in .gz", "rename it without .gz"]),
    ("packed.run", gzip.compress(GOOD.encode()), [": is a gzip file", "packed.run.gz"]),
    (
        "packed_twice.run.gz",
        gzip.compress(gzip.compress(GOOD.encode())),
        [": is zipped twice", "Unzip it once"],
    ),
    ("latin.run", LATIN.encode("latin-1"), [":2: byte 0xfc is not UTF-8", "iconv -f LATIN1"]),
    ("utf16.run", LATIN.encode("utf-16"), [": is UTF-16, not UTF-8", "iconv -f UTF-16"]),
    (
        "long.run",
        f"q1 Q0 p1 1 {'9' * 100_000}x t\n",
        [":1: score '999", " ... ", "99x' is not a finite number"],
    ),
    *(
        (f"{name}.run", GOOD, [f": {name!r} cannot be used as a system's name", "letters, digits"])
        for name in ("my run", "it's", "-x", "a..b", "gr\u00fcn")
    ),
]


@pytest.fixture(scope="module")
def beside_good_runs(tmp_path_factory, empty_lake):
    """One ingest of all faulty runs, with good ones between them: (what was said, the lake)."""
    with closing(new_tiny(tmp_path_factory.mktemp("faulty") / "project", empty_lake)) as tiny:
        for name, content, _ in FAULTY_RUNS:
            path = tiny.folder / "runs" / name
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        tiny.write("runs/also_good.run", GOOD)
        tiny.write("runs/zz_good.run.gz", GOOD)
        outcome = tiny.ingest()
        yield outcome, tiny


def test_faulty_runs_are_refused_by_file_and_line_with_what_to_do(beside_good_runs):
    reports = {
        rejected.file: "\n".join(rejected.lines()) for rejected in beside_good_runs[0].rejected
    }
    for name, _, expected in FAULTY_RUNS:
        shown = reports[f"runs/{name}"]
        assert shown.startswith(f"runs/{name}{expected[0]}")
        for part in expected[1:]:
            assert part in shown
        assert "\n  what to do: " in shown
        assert len(shown) < 1000


def test_a_gzip_file_that_was_cut_off_is_named_with_the_line_where_it_ends(tmp_path):
    cut = zipped(5000)[:-2000]
    (tmp_path / "a.run.gz").write_bytes(cut)
    readable = zlib.decompressobj(wbits=31).decompress(cut).count(b"\n")
    assert 1000 < readable < 5000
    assert report(read_run, tmp_path / "a.run.gz").startswith(f"a.run.gz:{readable + 1}: ")


def test_of_faulty_and_good_runs_only_the_good_ones_land(beside_good_runs):
    outcome, tiny = beside_good_runs
    assert len(outcome.rejected) == len(FAULTY_RUNS)
    assert outcome.exit_code == 3
    assert tiny.systems() == {"good", "also_good", "zz_good"}
    assert tiny.rows(
        "select system, count(*) from lake.raw.run_entries group by all order by all"
    ) == [("also_good", 1), ("good", 2), ("zz_good", 1)]


def test_two_files_with_one_systems_name(tiny):
    tiny.write("runs/twin.run", ["q1 Q0 p1 1 2.5 t"])
    tiny.write("runs/twin.txt.gz", ["q1 Q0 p2 1 2.5 t"])
    tiny.write("runs/deeper/good.run", ["q1 Q0 p2 1 2.5 t"])
    tiny.write("runs/fine.run", ["q1 Q0 p2 1 2.5 t"])
    tiny.configure(runs=["runs/**"])
    outcome = tiny.ingest()
    assert said(outcome).splitlines() == [
        "runs/deeper/good.run: several files claim the system 'good': "
        "runs/deeper/good.run, runs/good.run",
        "  what to do: A system is named after its file, without endings. Rename all but one, or "
        'name them in gradelake.toml: { file = "FILE", name = "NAME" }.',
        "runs/twin.run: several files claim the system 'twin': runs/twin.run, runs/twin.txt.gz",
        "  what to do: A system is named after its file, without endings. Rename all but one, or "
        'name them in gradelake.toml: { file = "FILE", name = "NAME" }.',
    ]
    assert (outcome.exit_code, tiny.systems()) == (3, {"fine"})


# --- a line without end -------------------------------------------------------------------------

MEASURE = """
import json, resource, sys, time
from pathlib import Path
from gradelake.sql.common.problems import Rejected
from gradelake.ingest.collections.texts import read_passages
from gradelake.ingest.collections.trec import read_qrels, read_run

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # MiB

found = []
for reader, name in ((read_run, "a.run"), (read_run, "a.run.gz"), (read_qrels, "a.run"),
                     (read_passages, "a.run")):
    before, started = peak(), time.monotonic()
    try:
        list(reader(Path(name), name))
        said = "nothing"
    except Rejected as rejected:
        said = rejected.lines()[0]
    found.append([said, peak() - before, time.monotonic() - started])
print(json.dumps(found))
"""


def test_a_line_of_200_megabytes_is_refused_before_it_is_in_memory(tmp_path):
    size, block = 200, b"x" * (1 << 20)
    start = b"q1 Q0 p1 1 2.5 t\nq1 Q0 "
    with (
        (tmp_path / "a.run").open("wb") as plain,
        gzip.open(tmp_path / "a.run.gz", "wb", 1) as zipped,
    ):
        for stream in (plain, zipped):
            stream.write(start)
            for _ in range(size):
                stream.write(block)
    process = subprocess.run(
        [sys.executable, "-c", MEASURE], cwd=tmp_path, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
    run, zipped_run, qrels, passages = json.loads(process.stdout)
    for name, (text, memory, seconds) in zip(
        ("a.run", "a.run.gz", "a.run"), (run, zipped_run, qrels), strict=True
    ):
        assert text == f"{name}:2: this line is longer than 1 MiB"
        assert memory < 30
        assert seconds < 5
    assert passages[0] == "a.run:2: this line is longer than 32 MiB"
    assert passages[1] < 100
    assert passages[2] < 5


def test_the_longest_line_that_is_allowed_is_read(tmp_path):
    line = "q1 Q0 p1 1 2.5 " + "t" * ((1 << 20) - 15)
    assert len(line) == 1 << 20
    file = write(tmp_path / "a.run", ["q1 Q0 p2 1 2.5 t", line, "q1 Q0 p3 1 2.5 t"])
    assert [frame.height for frame in read_run(file, "a.run")] == [3]
    file = write(tmp_path / "a.run", ["q1 Q0 p2 1 2.5 t", line + "t", "q1 Q0 p3 1 2.5 t"])
    with pytest.raises(Rejected, match=r"a\.run:2: this line is longer than 1 MiB"):
        list(read_run(file, "a.run"))


# --- other inputs -------------------------------------------------------------------------------


def test_a_run_that_is_no_file_is_named_and_the_others_land(tiny):
    runs = tiny.folder / "runs"
    (runs / "gone.run").symlink_to("nowhere.run")
    (runs / "loop.run").symlink_to("loop.run")
    (runs / "zero.run").symlink_to("/dev/zero")
    os.mkfifo(runs / "pipe.run")
    (runs / "folder.run").mkdir()
    outcome = tiny.ingest()
    told = said(outcome)
    assert "runs/gone.run: cannot be read: No such file or directory" in told
    assert "runs/loop.run: cannot be read: Too many levels of symbolic links" in told
    for name in ("zero", "pipe"):
        assert f"runs/{name}.run: cannot be read: it is a pipe, a socket or a device" in told
    assert "folder.run" not in told
    assert (outcome.exit_code, tiny.systems()) == (3, {"good"})


def test_what_is_faulty_or_missing_of_every_kind_is_refused_and_the_rest_lands(tiny):
    tiny.write("words.qrels", ["q1 0 p1 1", "q1 0 p2 1.5"])
    tiny.write("unknown.qrels", ["q1 0 p1 1", "q7 0 p2 1"])
    tiny.write("passages.jsonl", ['{"passage_id": "p1", "text": "x"}', "{"])
    tiny.write("ranks.tsv", ["good 1", "bad 0"])
    (tiny.folder / "folder").mkdir()
    files = {"words": "words.qrels", "nist": "nist.qrels", "unknown": "unknown.qrels"}
    tiny.configure(
        judgments=files | {"other": "folder"},
        near_duplicates="gone.tsv",
        official_ranks={"trec": "ranks.tsv"},
        passages="passages.jsonl",
    )
    outcome = tiny.ingest()
    told = [rejected.lines()[0] for rejected in outcome.rejected]
    assert told[:-1] == [
        "words.qrels:2: relevance '1.5' is not a whole number",
        "unknown.qrels:2: unknown query 'q7' (1 line)",
        "folder: cannot be read: Is a directory",
        "gone.tsv: cannot be read: No such file or directory",
        "ranks.tsv:2: system 'bad': rank '0' is not a number of at least 1",
    ]
    assert told[-1].startswith("passages.jsonl:2: not JSON: ")
    for setting in ("judgments.other", "near_duplicates"):
        where = f"[collections.tiny] {setting} names it. Paths are relative to {tiny.folder}."
        assert where in said(outcome)
    for table in ("passages", "official_ranks", "near_duplicates"):
        assert tiny.rows(f"select count(*) from lake.raw.{table}") == [(0,)]
    assert tiny.rows("select assessor, count(*) from lake.raw.judgments group by all") == [
        ("nist", 3)
    ]
    assert (outcome.exit_code, tiny.systems()) == (3, {"good"})


# --- topics -------------------------------------------------------------------------------------


def test_without_usable_topics_a_new_collection_lands_nothing(tiny):
    tiny.configure(queries="no.tsv")
    assert said(tiny.ingest()).splitlines() == [
        "no.tsv: cannot be read: No such file or directory",
        f"  what to do: [collections.tiny] queries names it. Paths are relative to {tiny.folder}.",
    ]
    tiny.configure(queries="topics.tsv")
    tiny.write("topics.tsv", ["q1\tsky", "q1\tsea"])
    before = tiny.snapshot()
    outcome = tiny.ingest()
    assert said(outcome).startswith("topics.tsv:2: query 'q1' is listed twice (first on line 1)")
    assert outcome.exit_code == 2
    assert outcome.snapshot is None
    assert tiny.snapshot() == before


def test_with_topics_in_the_lake_already_faulty_ones_do_not_stop_the_rest(ingested):
    ingested.write("topics.tsv", ["q1 no tab"])
    ingested.write("runs/more.run", ["q2 Q0 p1 1 2.5 t"])
    outcome = ingested.ingest()
    assert said(outcome).startswith("topics.tsv:1: no TAB between the query's id and its text")
    assert outcome.exit_code == 3
    assert ingested.systems() == {"good", "more"}
    assert ingested.rows("select query_id from lake.raw.queries order by all") == [("q1",), ("q2",)]


def test_a_query_that_is_still_named_cannot_be_taken_out(ingested):
    ingested.write("topics.tsv", ["q2\thow do bees find home", "q3\tnew"])
    outcome = ingested.ingest()
    assert said(outcome).splitlines() == [
        "topics.tsv: query 'q1' is gone, but 2 judgments name it",
        "topics.tsv: query 'q1' is gone, but 2 run entries name it",
        "  what to do: Keep these topics; to start over, use another collection name.",
    ]
    assert ingested.rows("select query_id from lake.raw.queries order by all") == [("q1",), ("q2",)]


def test_a_query_that_nothing_names_can_be_taken_out(tiny):
    tiny.write("topics.tsv", ["q1\tsky", "q2\tbees", "q3\tsea"])
    tiny.ingest()
    tiny.write("topics.tsv", ["q1\tsky", "q2\tbees and home"])
    assert tiny.ingest().exit_code == 0
    assert tiny.rows("select query_id, text from lake.raw.queries order by all") == [
        ("q1", "sky"),
        ("q2", "bees and home"),
    ]


# --- settings -----------------------------------------------------------------------------------


def test_wrong_settings_are_named_with_what_they_should_be(tiny):
    usual = tiny.settings
    for settings, wrong, hint in (
        ({"judgements": "x"}, "unknown setting 'judgements'", "Did you mean 'judgments'?"),
        ({"run": ["x"]}, "unknown setting 'run'", "Did you mean 'runs'?"),
        ({"xyz": 1}, "unknown setting 'xyz'", "Known: assessor, "),
        ({"queries": ["topics.tsv"]}, "queries: ['topics.tsv'] is neither a file's name", ""),
        ({"queries": ""}, "queries.file must not be empty", ""),
        ({"passages": {}}, "passages.file is missing", "Give file a value."),
        ({"runs": 1}, "runs must be a list of strings", 'for example: runs = ["runs/*"].'),
        ({"runs": [1]}, "runs: 1 is neither a file's name", "{ file = "),
        ({"judgments": ["x"]}, "judgments must be a table", 'It looks like { name = "file" }.'),
        ({"judgments": {"a": 1}}, "judgments.a: 1 is neither a file's name", "{ file = "),
        ({"judgments": {"a/b": "x"}}, "judgments: 'a/b' cannot be used as a name", "Use letters"),
        ({"assessor": "a b"}, "assessor: 'a b' cannot be used as a name", "Use letters"),
        (
            {"min_relevant": "1"},
            ":6: [collections.tiny]: min_relevant must be a whole number",
            "Write min_relevant = 1, without quotes.",
        ),
        ({"min_relevant": True}, "min_relevant must be a whole number", ""),
        ({"min_relevant": 0}, ":6: [collections.tiny]: min_relevant must be at least 1", ""),
        ({"default_pool_depth": 0}, "default_pool_depth must be at least 1", ""),
        ({"passages_for": "some"}, "passages_for: unknown value 'some'", "Known: all, pool."),
        ({"leave_out_near_duplicates": 1}, "leave_out_near_duplicates must be true or false", ""),
    ):
        tiny.settings = usual
        tiny.configure(**settings)
        with pytest.raises(BadInput) as caught:
            tiny.collection  # noqa: B018
        (finding,) = doctor.collections(tiny.project)
        said = finding.state, finding.what, finding.hint
        assert said == ("bad", caught.value.message, caught.value.hint)
        place = ": [collections.tiny] " if wrong.startswith("has") else r":\d: [collections.tiny]: "
        assert re.search("gradelake.toml" + place.replace("[", r"\["), str(caught.value))
        assert wrong in str(caught.value)
        assert hint in str(caught.value)
    tiny.settings = usual
    with pytest.raises(BadInput, match=r"there is no \[collections.tny\]\n  Did you mean 'tiny'?"):
        Collection.named(tiny.project, "tny")


def test_a_pattern_that_matches_nothing_stops_everything(tiny):
    before = tiny.snapshot()
    for setting in ("runs", "responses"):
        tiny.configure(**{"runs": ["runs/*"], setting: ["runs/*", "no/*.x"]})
        with pytest.raises(BadInput) as caught:
            tiny.ingest()
        assert f"[collections.tiny] {setting}: nothing matches 'no/*.x'" in str(caught.value)
        assert f"Paths are relative to {tiny.folder}." in str(caught.value)
    assert tiny.snapshot() == before
    tiny.write("more/a.run.gz", gzip.compress(b"q1 Q0 p1 1 2.5 t"))
    tiny.configure(runs=["more/*.run"])
    with pytest.raises(BadInput, match=r'"more/\*\.run\.gz" matches 1 file\.'):
        tiny.ingest()
    tiny.write("more/b[12].run", ["q1 Q0 p1 1 2.5 t"])
    tiny.configure(runs=["more/b[12].run"])
    with pytest.raises(BadInput, match="but a file is called so") as caught:
        tiny.ingest()
    assert caught.value.hint == 'Write runs = ["more/b[[]12].run"].'


def test_a_folder_in_place_of_a_pattern_is_answered_with_patterns_for_what_is_in_it(tiny):
    for name in ("runs/other.run", "runs/third.run.gz", "runs/.hidden"):
        tiny.write(name, GOOD)
    tiny.configure(runs=["runs/"])
    with pytest.raises(BadInput) as caught:
        tiny.ingest()
    assert "[collections.tiny] runs: 'runs/' is a folder, not files" in str(caught.value)
    assert 'Write runs = ["runs/*.run", "runs/*.run.gz"].' in str(caught.value)


# --- the command line ---------------------------------------------------------------------------


def test_the_command_reports_on_stderr_and_leaves_with_3_when_something_landed(tiny):
    tiny.write("runs/bad.run", ["q1 Q0 p1 1 high t"])
    process = tiny.gradelake("ingest", "tiny", code=3)
    assert process.stderr.splitlines() == [
        "runs/bad.run:1: score 'high' is not a finite number",
        "  what to do: Fix these lines, or leave the run out, and ingest again.",
        "1 input rejected; the rest landed",
    ]
    assert process.stdout.startswith(
        "tiny: wrote 2 queries, 3 judgments, 1 system, 2 run entries, 5 passages in "
    )
    assert process.stdout.endswith("\nnext: `gradelake build` brings it into the marts\n")
    assert tiny.systems() == {"good"}
    assert "next:" not in tiny.gradelake("ingest", "tiny", code=3).stdout, "nothing new to build"


def test_the_command_leaves_with_2_when_nothing_could_land_and_answers_in_json(tiny):
    tiny.write("topics.tsv", ["q1 no tab"])
    answer = json.loads(tiny.gradelake("ingest", "tiny", "--json", code=2).stdout)
    assert answer.pop("seconds") >= 0
    assert answer == {
        "collection": "tiny",
        "written": {},
        "unchanged": 0,
        "broken": [],
        "snapshot": None,
        "warnings": [],
        "inbox": {"accepted": [], "quarantined": [], "waiting": []},
        "rejected": [
            {
                "file": "topics.tsv",
                "problems": [
                    {
                        "file": "topics.tsv",
                        "line": 1,
                        "message": "no TAB between the query's id and its text",
                    }
                ],
                "n_problems": 1,
                "what_to_do": "Each query needs an id of its own and a text: on a line, with a TAB "
                'between, or in a .jsonl file as {"query_id": ..., "text": ...}.',
            }
        ],
    }
