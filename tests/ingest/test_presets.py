"""Forms of tools are YAML files: a project's own is known as ours are, and says nothing else."""

import json
import re
import sys
import tomllib

import pytest

from gradelake.ingest.mapping.columns import read_run
from gradelake.ingest.mapping.presets import presets_of
from gradelake.ingest.starting.start import start
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Rejected
from tests.command_line import gradelake, run
from tests.places import REPOSITORY
from tests.projects import write
from tests.sql.terminal import Terminal

OWN = """
says: what our labelling tool exports
rows: tasks[].votes[]
columns: [^.search, doc, vote]
brings:
  queries: {query: ^.search, text: ^.search}
  judgments:
    query: ^.search
    passage: doc
    judgment: vote
    rater: by?
    labels: {useful: 1, "no": 0}
"""
VOTES = {
    "tasks": [
        {
            "search": "red-shoes",
            "votes": [{"doc": "p1", "vote": "useful", "by": "ann"}, {"doc": "p2", "vote": "no"}],
        }
    ]
}


def test_a_new_form_is_one_yaml(tmp_path):
    write(tmp_path / "presets" / "votes.yaml", OWN)
    write(tmp_path / "export.json", json.dumps(VOTES, indent=1))
    write(tmp_path / "a.run", "red-shoes Q0 p1 1 2.0 x\nred-shoes Q0 p2 2 1.0 x\n")
    done = start(tmp_path, "shop")
    taken = {seen.shown: (seen.form, seen.taken_for) for seen in done.seen}
    assert taken == {"a.run": ("trec_run", "runs"), "export.json": ("votes", "queries, judgments")}
    assert done.tried.outcome.rejected == []
    shop = tomllib.loads(done.file.read_text())["collections"]["shop"]
    assert shop["judgments"]["export"]["labels"] == {"useful": 1, "no": 0}
    assert shop["judgments"]["export"]["rater"] == "by"
    assert gradelake(tmp_path, "ingest", "shop").returncode == 0
    export = gradelake(tmp_path, "sql", "--live", "from raw.judgments order by all").stdout
    assert "ann" in export
    imported = run(
        tmp_path,
        *("import", "judgments", "shop", "export.json", "--assessor", "bo", "--as", "votes"),
    )
    assert imported.returncode != 0  # it has raters of its own
    assert "names a rater for each judgment" in imported.stderr


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("passage: doc", "file: /etc/passwd"), "brings.judgments has 'file'"),
        (("judgments:", "registered_by:"), "brings no 'registered_by'"),
        (("columns: [^.search, doc, vote]", "columns: []"), "nothing says how it is recognised"),
        (("rows: tasks[].votes[]", "rows: 'tasks['"), "is no path"),
        (("says:", "say:"), "says is missing"),
        (("{query:", "{{query:"), "cannot be read"),
    ],
)
def test_a_preset_that_cannot_be_used_is_refused_by_its_name(tmp_path, change, told):
    write(tmp_path / "presets" / "votes.yaml", OWN.replace(*change))
    write(tmp_path / "a.run", "q Q0 p1 1 2.0 x\n")
    with pytest.raises(BadInput) as refused:
        start(tmp_path, "shop")
    assert "votes.yaml" in str(refused.value)
    assert told in str(refused.value)
    assert not (tmp_path / "gradelake.toml").exists()


def test_every_preset_of_ours_stands_on_a_page(tmp_path):
    pages = [REPOSITORY / "ingest" / "TABLES.md", REPOSITORY / "grading" / "RAG.md"]
    said = "".join(page.read_text(encoding="utf-8") for page in pages)
    told = {*re.findall(r"`([a-z0-9_]+)`", said)}
    # a sheet that no import takes, so that it is not taken for a log
    assert presets_of(tmp_path).keys() - told == {"answer_scores"}


def test_where_two_forms_are_as_good_it_says_so_and_takes_what_it_is_told(tmp_path):
    write(tmp_path / "presets" / "votes.yaml", OWN)
    write(tmp_path / "presets" / "ballots.yaml", OWN.replace("labelling tool", "other tool"))
    write(tmp_path / "export.json", json.dumps(VOTES))
    with pytest.raises(BadInput, match="nothing in it is sure") as raised:
        start(tmp_path, "shop")
    assert "say --as export.json=ballots or --as export.json=votes" in str(raised.value)
    done = start(tmp_path, "shop", {"export.json": "votes"})
    assert [seen.form for seen in done.seen] == ["votes"]
    with pytest.raises(BadInput, match="there is no preset 'vote'"):
        start(tmp_path, "shop", {"export.json": "vote"})
    with pytest.raises(BadInput, match="no such file"):
        start(tmp_path, "shop", {"x.json": "votes"})


def test_a_tools_file_that_is_named_without_a_word_is_told_by_its_form(tmp_path):
    write(tmp_path / "topics.tsv", {"q1": "sky"})
    write(tmp_path / "run.json", json.dumps({"q1": {"p1": 0.5}}))
    settings = '[collections.c]\nqueries = "topics.tsv"\nruns = ["run.json"]\n'
    write(tmp_path / "gradelake.toml", settings)
    told = run(tmp_path, "ingest", "c").stderr
    assert "looks like a run as ranx and pytrec_eval keep it" in told
    written = told[told.index("{ file") : told.index("; or to an import: --as ranx_run")]
    write(tmp_path / "gradelake.toml", settings.replace('"run.json"', written))
    assert "1 run entry" in gradelake(tmp_path, "ingest", "c").stdout


@pytest.mark.parametrize("indent", [None, 2])
def test_a_form_that_is_read_as_a_table_is_told_once_with_what_to_write(tmp_path, indent):
    path = tmp_path / "bm25.json"
    path.write_text(json.dumps({"q1": {"d1": 2.5, "d2": 1.5}, "q2": {"d1": 1.0}}, indent=indent))
    with pytest.raises(Rejected) as caught:
        read_run(path, "bm25.json")
    what, remedy = caught.value.lines()
    assert "looks like a run as ranx and pytrec_eval keep it" in what
    said = (
        '{ file = "bm25.json", rows = "{}.{}", query = "^.key", passage = "key", score = "value" }'
    )
    assert f"Say so in gradelake.toml: {said}; or to an import: --as ranx_run." in remedy


@pytest.mark.slow
def test_who_sits_at_a_terminal_is_asked_which_form_is_meant(tmp_path):
    write(tmp_path / "presets" / "votes.yaml", OWN)
    write(tmp_path / "presets" / "ballots.yaml", OWN.replace("labelling tool", "other tool"))
    write(tmp_path / "export.json", json.dumps(VOTES))
    terminal = Terminal(
        tmp_path, "--name", "shop", program=(sys.executable, "-m", "gradelake", "start")
    )
    try:
        terminal.wait_for("export.json may be several forms (ballots, votes) [ballots]:")
        terminal.type("votes\r")
        terminal.wait_for("next: gradelake ingest shop")
    finally:
        terminal.__exit__()
    assert "our labelling tool exports" in (tmp_path / "gradelake.toml").read_text()
