"""A night that may spend so much, and no more."""

import json
import shutil

import pytest

from tests.conftest import gradelake
from tests.grading.batch_server import BatchServer
from tests.grading.misbehaving import Server

pytestmark = pytest.mark.slow

A_PROMPT = (6 * 100 + 4 * 10 + 1 * 1000) / 1e6  # as `misbehaving.answer` counts tokens
SEED = "model,from_date,currency,input,cached,output,batch\nm,2026-01-01,EUR,100,10,1000,\n"


@pytest.fixture
def server():
    server = Server()
    yield server
    server.stop()


def test_a_night_keeps_to_its_money_and_leaves_out_what_has_no_price(
    demo, server, tmp_path, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    folder = tmp_path / "night"
    shutil.copytree(demo, folder)
    (folder / "seeds").mkdir()
    (folder / "seeds" / "prices.csv").write_text(SEED)
    with (folder / "gradelake.toml").open("a") as config:
        for name, model in (("paid", "m"), ("unpriced", "another")):
            config.write(
                f'\n[graders.{name}]\nengine = "openai"\nmodel = "{model}"\nprompt = "thomas"\n'
                f'base_url = "{server.url}"\ncollections = ["demo"]\n'
            )
    done = json.loads(gradelake(folder, "nightly", "--max-cost", "0.2", "--json", code=1).stdout)
    graded = {each["grader"]: each for each in done["graded"] if each["collection"] == "demo"}
    paid = graded["paid"]
    assert 0 < paid["cost"] <= 0.2
    assert paid["cost"] == pytest.approx(paid["pairs"] * A_PROMPT)
    assert (paid["currency"], paid["out_of_budget"]) == ("EUR", True)
    assert paid["left"] == 304 - paid["pairs"]
    assert (graded["unpriced"]["pairs"], graded["unpriced"]["cost"]) == (0, None)
    assert graded["lexical_direct"]["pairs"] == 304
    (left_out,) = done["failed"]
    assert left_out["step"] == "grade demo unpriced"
    assert left_out["reason"].startswith("seeds/prices.csv has no price of its model")
    assert done["release"]  # all else was done


def test_a_night_collects_what_an_earlier_one_submitted(demo, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    server = BatchServer()
    server.looks = 1
    folder = tmp_path / "night"
    shutil.copytree(demo, folder)
    (folder / "seeds").mkdir()
    (folder / "seeds" / "prices.csv").write_text(f"{SEED.rstrip()}0.5\n")
    config = folder / "gradelake.toml"
    config.write_text(
        f"{config.read_text().partition('[graders.')[0]}"
        f'[graders.paid]\nengine = "openai"\nmodel = "m"\nprompt = "thomas"\n'
        f'base_url = "{server.url}"\ncollections = ["demo"]\nbatch = true\n'
    )

    def night(*options: str) -> tuple[dict, dict]:
        done = json.loads(gradelake(folder, "nightly", "--json", *options).stdout)
        (paid,) = (each for each in done["graded"] if each["grader"] == "paid")
        return done, paid

    first, paid = night("--max-cost", "5")
    submitted = paid["under_way"]
    assert 0 < submitted < 304
    assert (paid["pairs"], paid["left"]) == (0, 304 - submitted)
    assert f", {submitted} under way in batches; " in first["text"]
    _, paid = night()
    assert (paid["pairs"], paid["failed"], paid["left"]) == (submitted, 0, 0)
    assert paid["under_way"] == 304 - submitted
    third, paid = night()
    assert (paid["pairs"], paid["under_way"]) == (304 - submitted, 0)
    assert "under way" not in third["text"]
    assert set(server.times_billed().values()) == {1}
    server.stop()
