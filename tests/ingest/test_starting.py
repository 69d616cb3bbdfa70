"""`gradelake start`: what the files of a folder are, and nothing named that was not understood."""

import glob
import json
import os
import shlex
import tomllib
from pathlib import Path

import duckdb
import pytest

from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.pipeline import ingest_collection
from gradelake.ingest.starting import start as starting
from gradelake.ingest.starting.start import start
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import CONFIG_NAME, Project
from gradelake.sql.lake import extensions
from gradelake.sql.lake.opening import Lake
from tests.projects import write
from tests.tiers import first_of

FILES = {
    "topics.tsv": "q1\twhy is the sky blue\nq2\thow do bees find home\n",
    "topics.csv": "id,title\nq1,why is the sky blue\n",
    "runs/bm25.run": "q1 Q0 p1 1 2.5 x\n",
    "clicks.csv": "query,passage,position,clicked\nq1,p1,1,1\n",
    "products.csv": "sku,title\n7,Lamp\n",
    "scored.csv": "query,passage,score\nq1,p1,2.5\n",
    "shop.csv": "sku;name\n1;Größe\n".encode("latin-1"),
    "nist.qrels": "q1 0 p1 2\n",
    "team.csv": "query,passage,rating,rater\nq1,p1,1,ann\n",
    "labels/my gpt.csv": "query,passage,label\nq1,p1,3\n",
    "logs.jsonl": '{"question": "q", "contexts": ["c"], "answer": "a"}\n',
    "notes.txt": "Ask Ann about the ratings.\n",
}


def test_a_folder_of_files_becomes_a_collection_that_comes_in(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
    done = start(tmp_path, "mine")
    kinds = {seen.shown: seen.kind for seen in done.seen}
    assert kinds == {
        "topics.tsv": "queries",
        "topics.csv": "queries",
        "runs/bm25.run": "runs",
        "clicks.csv": "clicks",
        "products.csv": "passages",
        "scored.csv": "runs",
        "shop.csv": None,
        "nist.qrels": "judgments",
        "team.csv": "judgments",
        "labels/my gpt.csv": "labels",
        "logs.jsonl": "rag",
        "notes.txt": None,
    }
    project = Project.read(done.file)
    collection = Collection.named(project, "mine")
    assert collection.judgments == {"nist": "nist.qrels", "team": "team.csv"}
    by_hand = "`gradelake import labels mine 'labels/my gpt.csv' --judge my-gpt`"
    assert by_hand in done.file.read_text()
    assert "# notes.txt is not used: no form that is known here" in done.file.read_text()
    assert "is not UTF-8; Save it as UTF-8, or name its encoding in" in done.file.read_text()
    outcome = ingest_collection(project, "mine", [])
    assert (outcome.exit_code, outcome.rejected) == (0, [])
    assert not [said for said in outcome.warnings if "ranks" in said]  # scored.csv has none
    assert start(tmp_path, "mine").file == done.file, "the same again changes nothing"
    done.file.write_text(f"{done.file.read_text()}\n# edited\n")
    with pytest.raises(BadInput, match="already exists"):
        start(tmp_path, "mine")


def test_a_dictionary_of_topics_is_topics_and_one_of_passages_is_passages(tmp_path):
    write(tmp_path / "dl20-queries.json", {"1": "why is the sky blue", "2": "how do bees fly"})
    write(tmp_path / "passages.json", {"p1": "Air scatters blue light. " * 9, "p2": "Bees. " * 30})
    done = start(tmp_path, "dl20")
    kinds = {seen.shown: seen.kind for seen in done.seen}
    assert kinds == {"dl20-queries.json": "queries", "passages.json": "passages"}
    outcome = ingest_collection(Project.read(done.file), "dl20", [])
    assert (outcome.exit_code, outcome.rejected) == (0, [])
    with Lake.live(Project.read(done.file)) as lake:
        for table in ("queries", "passages"):
            assert lake.value(f"select count(*) from lake.raw.{table}") == 2


def test_without_a_file_of_topics_queries_are_their_own_texts(tmp_path):
    (tmp_path / "a.csv").write_text("search_term,sku,position\nred shoes,1,1\nred shoes,2,2\n")
    project = Project.read(start(tmp_path, "shop").file)
    outcome = ingest_collection(project, "shop", [])
    assert outcome.counts == {"queries": 1, "systems": 1, "run_entries": 2}


# what a stranger would have in a gradelake.toml, or in the shell that runs what `start` prints
PLANTED = '\nir_dataset = "foo"\nregistered_by = "payload/evil.py"\n# '
RUN, QRELS, JUDGED = "q1 Q0 p1 1 2.5 x\n", "q1 0 p1 1\n", "query,passage,label\nq1,p1,1\n"
HOSTILE = {
    "topics.tsv": "q1\twhy is the sky blue\n",
    f"line{PLANTED.replace('/', '-')}.run": RUN,
    f"line{PLANTED.replace('/', '-')}.csv": JUDGED,
    'quote", "x"]; registered_by = "evil.py" #.run': RUN,
    "'" * 3 + "\\u000aregistered_by = 1\\.run": RUN,
    "next\u2028registered_by=1\u202e[graders.x].run": RUN,
    "[collections.shop] #.run": RUN,
    "x[12].run": RUN,
    "x1.run": RUN,
    "--json.run": RUN,
    "$(touch out).qrels": QRELS,
    'a" = { file = "b" } }.qrels': QRELS,
    "labels/`touch out`; touch out.csv": JUDGED,
    "labels/--judge=x.csv": JUDGED,
    "-rf ; touch out.jsonl": '{"question": "q", "contexts": ["c"], "answer": "a"}\n',
    "keys.json": json.dumps([{f"x{PLANTED}": 1}]),
    "known.json": json.dumps([{"query": "q1", "passage": "p1", "label": 1, f"x{PLANTED}": 2}]),
    "header.csv": f'"a{PLANTED.replace(chr(34), chr(34) * 2)}",b\n1,2\n',
    "systems.json": json.dumps(
        [{"query": "q1", "passage": "p1", "rank": 1, "system": f"s{PLANTED}"}]
    ),
}


def test_no_name_in_a_strangers_folder_is_a_setting_or_a_command(tmp_path):
    for name, content in HOSTILE.items():
        write(tmp_path / name, content)
    (tmp_path / os.fsdecode(b"caf\xe9.run")).write_text(RUN)
    (tmp_path / "link.run").symlink_to("/etc/hostname")
    with duckdb.connect() as connection:
        extensions.load(connection, "sqlite_scanner")
        connection.execute(f"attach '{tmp_path}/tables.db' as made (type sqlite)")
        for table in ("a", PLANTED):
            connection.execute(
                f"""create table made."{table.replace('"', '""')}" as select 1 as x"""
            )
    done = start(tmp_path, "shop")

    text = done.file.read_text()
    written = tomllib.loads(text)
    assert set(written) == {"collections", "graders"}
    assert set(written["graders"]) == {"context", "correct", "faithful"}
    assert all(set(grader) == {"engine", "prompt"} for grader in written["graders"].values())
    assert set(written["collections"]) == {"shop"}
    settings = written["collections"]["shop"]
    assert set(settings) == {"queries", "judgments", "runs"}
    by_kind = {kind: {each.shown for each in done.seen if each.kind == kind} for kind in settings}
    assert set(settings["judgments"].values()) == by_kind["judgments"]
    patterns = [each if isinstance(each, str) else each["file"] for each in settings["runs"]]
    matched = [glob.glob(pattern, root_dir=tmp_path) for pattern in patterns]
    assert {name for (name,) in matched} == by_kind["runs"]
    assert len(by_kind["judgments"]) == 3
    assert len(by_kind["runs"]) == 8

    unused = {seen.shown for seen in done.seen if seen.kind is None}
    assert {"keys.json", "header.csv", "tables.db", "link.run", "caf\udce9.run"} < unused
    for file, (command,) in done.commands.items():
        program, verb, *words = shlex.split(command)
        assert (program, verb, words[1], words[2].removeprefix("./")) == (
            *("gradelake", "import", "shop"),
            file,
        )
        assert f"`{command}`" in text
        assert [word for word in words[3:] if word.startswith("-")] in (
            ["--judge"],
            ["--system", "--as"],
        )
    assert Collection.named(Project.read(done.file), "shop").registered_by is None


LISTED = [{"query": "q1", "passage": "p1", "label": 1}]


@pytest.mark.parametrize(
    ("files", "names"),
    first_of(
        3,
        (("2019/qrels.txt", "2020/qrels.txt"), ("2019-qrels", "2020-qrels")),
        (("my a.qrels", "me.b c.csv"), ("my-a", "me")),
        (("esci.csv", "esci.json"), ("esci-csv", "esci-json")),
        (("a b.qrels", "a-b.qrels"), ("a-b-1", "a-b-2")),
        (("a/bm25.run", "b/bm25.run", "c.run"), ("a-bm25", "b-bm25", "c")),
        (("bm25.run", "x/y/bm25.run", "z/y/bm25.run"), ("bm25", "x-y-bm25", "z-y-bm25")),
        (("日本.run", "my run.run"), ("system", "my-run")),
    ),
)
def test_names_are_made_different_and_come_in(tmp_path, files, names):
    write(tmp_path / "topics.tsv", {"q1": "sky"})
    contents = {".csv": JUDGED, ".json": json.dumps(LISTED), ".run": RUN}
    for name in files:
        write(tmp_path / name, contents.get(Path(name).suffix, QRELS))
    project = Project.read(start(tmp_path, "shop").file)
    outcome = ingest_collection(project, "shop", [])
    assert (outcome.exit_code, outcome.rejected) == (0, [])
    runs = files[0].endswith(".run")
    judged = dict(zip(names, files, strict=True))
    assert Collection.named(project, "shop").judgments == ({} if runs else judged)
    with Lake.live(project) as lake:
        systems = lake.column("select system from lake.raw.systems")
    assert set(systems) == (set(names) if runs else set())


def test_what_does_not_say_what_was_meant_is_not_written(tmp_path, monkeypatch):
    write(tmp_path / "topics.tsv", HOSTILE["topics.tsv"])
    write(tmp_path / "keys.json", HOSTILE["keys.json"])
    with monkeypatch.context() as broken:
        broken.setattr(starting, "toml_comment", lambda text: f"# {text}")
        with pytest.raises(BadInput, match=r"cannot be written into a gradelake\.toml"):
            start(tmp_path, "shop")
    with monkeypatch.context() as broken:
        broken.setattr(Lake, "create", lambda project: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            start(tmp_path, "shop")
    assert not (tmp_path / CONFIG_NAME).exists()
    assert start(tmp_path, "shop").file.exists()


def test_large_files_are_looked_at_and_not_tried(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(starting, "_TRIED", 10)
    write(tmp_path / "topics.tsv", {"q1": "why is the sky blue"})
    write(tmp_path / "a.run", RUN)
    done = start(tmp_path, "big")
    done.print()
    said = capsys.readouterr().out
    assert done.tried is None
    assert "these files are large: no ingest was tried" in said
    assert "gradelake ingest big --dry-run" in said
