"""Malformed seeds: refused by file and line before a build begins, or read whole."""

import csv
import io
from collections.abc import Callable

import pytest
from hypothesis import given

from gradelake.ingest.rubric import edits_file
from gradelake.sql.build import seeds
from gradelake.sql.common.problems import Rejected
from gradelake.sql.common.project import Project
from tests.ingest.malformed import mutated
from tests.ingest.malformed_room import OF_EACH, tried

pytestmark = pytest.mark.slow

SEEDS = {
    "evaluation_grid": b"measure\nnDCG@10\nAP\nRBP(p=0.8)\n",
    "evaluation_completeness": b"least_labelled\n0.9\n",
    "evaluation_levels": b"level\n1\n2\n",
    "label_policies": b"policy,rule,m,tau,mapping\nbest,best,,,\ncount,count_at_least,,4,5:3 4:1\n",
    "ensembles": b"ensemble,rule,grader,mapping\nboth,median,one,\nboth,median,two,\n",
    "rubric_edits": (
        b"rubric_version,collection,bank,item_id,action,query_id,kind,text,gold_answer,weight,"
        b'editor,reason,facet_id\n1,c,b,,add,q1,question,"What, then?",a|b,2,me,why,f\n'
        b"2,c,b,i,drop,,,,,,,,\n"
    ),
}


def refusal(step: Callable[[], object]) -> Rejected | None:
    """What a step refuses; anything else that it raises is a fault of ours."""
    try:
        step()
    except Rejected as refused:
        return refused
    return None


@pytest.mark.parametrize("name", SEEDS)
def test_a_malformed_seed_is_refused_or_every_row_of_it_counts(tmp_path, name):
    (tmp_path / "seeds").mkdir()
    file = tmp_path / "seeds" / f"{name}.csv"
    (tmp_path / "gradelake.toml").write_text("")
    project = Project.read(tmp_path / "gradelake.toml")

    @tried(OF_EACH)
    @given(mutated(SEEDS[name]))
    def campaign(data: bytes) -> None:
        file.write_bytes(data)
        refused = refusal(lambda: seeds.gather(project))
        if refused:
            assert refused.file.endswith(file.name)
            assert refused.hint
        else:
            text = data.removeprefix(b"\xef\xbb\xbf").decode()
            stated = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
            gathered = project.lake_path / "dbt" / "seeds" / file.name
            with gathered.open(newline="", encoding="utf-8") as stream:
                assert list(csv.reader(stream, strict=True)) == stated
        if name == "rubric_edits":
            refusal(lambda: edits_file.read(project))

    campaign()


def test_digits_beyond_ascii_are_no_number(tmp_path):
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "evaluation_levels.csv").write_text("level\n\uff11\n", encoding="utf-8")
    (tmp_path / "gradelake.toml").write_text("")
    refused = refusal(lambda: seeds.gather(Project.read(tmp_path / "gradelake.toml")))
    assert "evaluation_levels.csv:2: level '\uff11' is not a whole number" in str(refused)
