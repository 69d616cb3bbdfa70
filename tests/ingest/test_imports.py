"""What `import bank`, `labels` and `judgments` have in common: once, recorded, refused whole."""

import json

import pytest

# command -> its option, a file that it takes, what it counts (the first is told), its line in the
# ledger, its rows in the lake, what it answers
IMPORTS = {
    "bank": (
        ("--name", "mine"),
        ["query_id,kind,text", "q1,nugget,Blue scatters most", "q2,question,Do bees see the sun?"],
        {"rubric_items": 2, "left_out": 0},
        "tiny/bank/mine",
        "from lake.raw.rubric_items order by all",
        {"bank": "mine", "written": 2, "queries": 2, "n_left_out": 0, "left_out": [], "notes": []},
    ),
    "labels": (
        ("--judge", "Sun"),
        ["q1 0 p1 3", "q2 0 p9 1"],
        {"labels": 2},
        "tiny/labels/Sun",
        "from lake.raw.grades order by all",
        {"judge": "Sun", "written": 2, "warnings": []},
    ),
    "judgments": (
        ("--assessor", "ann"),
        ["query_id,passage_id,judgment", "q1,p1,2", "q2,p3,0"],
        {"judgments": 2},
        "tiny/judgments/ann",
        "from lake.raw.judgments order by all",
        {"assessor": "ann", "sample": None, "written": 2, "not_judged_yet": 0, "changed": 0}
        | {"warnings": []},
    ),
}


@pytest.mark.parametrize("what", IMPORTS)
def test_a_file_lands_in_one_recorded_commit_and_then_not_again(ingested, what):
    option, lines, counts, target, rows, answer = IMPORTS[what]
    command = ("import", what, "tiny", "file", *option)
    ingested.write("file", lines)
    process = ingested.gradelake(*command, "--json")
    assert process.stderr == ""
    snapshot = ingested.snapshot()
    assert json.loads(process.stdout) == answer | {"snapshot": snapshot}
    (counted, n), *_ = counts.items()
    assert ingested.rows(
        f"select commit_message from lake.snapshots() where snapshot_id = {snapshot}"
    ) == [(f"import {what} tiny {option[1]}: {n} {counted.replace('_', ' ')}",)]
    assert ingested.rows(
        "select arguments::json, state, counts::json from lake.raw.pipeline_runs "
        "where command like 'import%'"
    ) == [(json.dumps([*command, "--json"]), "done", json.dumps(counts))]
    assert ingested.rows(f"select n_rows from lake.raw.ledger where target = '{target}'") == [(n,)]
    landed = ingested.rows(rows)
    assert ingested.gradelake(*command).stdout == "file: unchanged, nothing to do\n"
    assert ingested.snapshot() == snapshot
    # a file with a fault leaves everything as it was, and is told by its line
    ingested.write("file", [*lines, "q7", "q7 0 p1 3"] if what == "labels" else ["no header"])
    refused = ingested.gradelake(*command, code=2)
    assert refused.stdout == ""
    assert refused.stderr.startswith("error: file:")
    assert "\n  " in refused.stderr
    assert (ingested.snapshot(), ingested.rows(rows)) == (snapshot, landed)
    for wrong, problem in (
        (("tinny", "file", *option), "no collection 'tinny'\n  Did you mean 'tiny'?"),
        (("tiny", "gone", *option), "gone: no such file\n  Name a "),
        (("tiny", "file", option[0], "a/b"), f"{option[0]}: 'a/b' cannot be used as a name"),
    ):
        assert problem in ingested.gradelake("import", what, *wrong, code=2).stderr
