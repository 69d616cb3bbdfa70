"""`export track --participants`: own scores and flags, nothing of others."""

import csv
import re
import shutil
from collections import defaultdict
from pathlib import Path
from statistics import median

import pytest

from tests.command_line import gradelake
from tests.reading import published

pytestmark = pytest.mark.slow

TRACK = ("export", "track")


def read(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_each_finds_own_scores_beside_all_and_nobody_elses_name(graded_demo, tmp_path):
    gradelake(graded_demo, *TRACK, "demo", "--participants", tmp_path / "out")
    lake = published(graded_demo)
    systems = set(lake.column("select system from lake.raw.systems where collection = 'demo'"))
    assert {folder.name for folder in (tmp_path / "out").iterdir()} == systems
    usual = dict(
        lake.rows("select label_set, level from lake.marts.usual_levels where collection = 'demo'")
    )
    values = defaultdict(dict)  # (label set, measure, query) -> system -> value
    for table, value, query in (
        ("topic_scores", "value", "query_id"),
        ("leaderboard", "score", "'all'"),
    ):
        for label_set, level, measure, query_id, system, number in lake.rows(
            f"select label_set, level, measure, {query}, system, {value} "
            f"from lake.marts.{table} where collection = 'demo'"
        ):
            if level == usual[label_set]:
                values[label_set, measure, query_id][system] = number
    for system in systems:
        found = {
            (row["label_set"], row["measure"], row["query_id"]): [
                float(row[column]) for column in ("value", "best", "median", "worst")
            ]
            for row in read(tmp_path / "out" / system / "scores.csv")
        }
        on_board = {key[:2] for key, of in values.items() if key[2] == "all" and system in of}
        expected = {}
        for (label_set, measure, query_id), scored in values.items():
            if (label_set, measure) in on_board:
                board = values[label_set, measure, "all"]
                each = [scored.get(other, 0) for other in board]  # without a result: 0
                own = scored.get(system, 0)
                expected[label_set, measure, query_id] = [own, max(each), median(each), min(each)]
        assert found.keys() == expected.keys()
        for key, numbers in found.items():
            assert numbers == pytest.approx(expected[key], abs=1e-9)
        text = "".join(file.read_text() for file in (tmp_path / "out" / system).iterdir())
        others = systems - {system} - {"best"}
        assert not others & set(
            re.findall(r"[\w.]+", re.sub(r"^[^,]*,[^,]*", "", text, flags=re.M))
        )
        assert {row["system"] for row in read(tmp_path / "out" / system / "scores.csv")} == {system}


def test_flags_are_of_rules_and_of_citations_and_teams_share_a_folder(graded_demo, tmp_path):
    folder = shutil.copytree(graded_demo, tmp_path / "demo")
    file = folder / "answers/responses.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if "brief_writer" not in line))
    with (folder / "gradelake.toml").open("a") as settings:
        settings.write('\n[collections.answers.rules]\nmetadata = ["team_id"]\n')
    gradelake(folder, "ingest", "answers")
    gradelake(folder, "grade", "answers", "--grader", "supports")
    gradelake(folder, "build")
    shown = gradelake(folder, *TRACK, "answers", "--participants", "own", "--measure", "SupportP")
    assert "of 2 systems, best, median and worst tell each other's scores" in shown.stderr
    flagged = read(folder / "own/careless_writer/flagged.csv")
    assert {row["system"] for row in flagged} == {"careless_writer"}
    rules = [row for row in flagged if row["what"] == "metadata"]
    assert {row["query_id"] for row in rules} == {
        *("interest-rates", "migrating-birds", "sourdough", "volcanoes")
    }
    assert {row["detail"] for row in rules} == {"its metadata lack team_id"}
    gone = {(row["query_id"], row["detail"]) for row in flagged if row["what"] == "not in the lake"}
    assert ("volcanoes", "p901") in gone
    assert not [
        row
        for row in read(folder / "own/careful_writer/flagged.csv")
        if row["what"] == "not in the lake"
    ]
    said = gradelake(folder, *TRACK, "answers", "--participants", "t", "--by", "team_id", code=2)
    assert "team_id None cannot name a folder" in said.stderr
    with (folder / "gradelake.toml").open("a") as settings:
        settings.write('\n[collections.answers.groups.team]\nblue = ["care*"]\n')
    gradelake(folder, "ingest", "answers")
    gradelake(folder, "build")
    gradelake(folder, *TRACK, "answers", "--participants", "teams", "--by", "team")
    rows = read(folder / "teams/blue/scores.csv")
    assert {row["system"] for row in rows} == {"careful_writer", "careless_writer"}
    file.write_text(file.read_text() + "\n")
    gradelake(folder, *TRACK, "answers", "--participants", "later")
    (told,) = (
        row["detail"]
        for row in read(folder / "later/careful_writer/flagged.csv")
        if row["what"] == "file"
    )
    assert told.endswith("is not there as it came in: rules were not checked")
