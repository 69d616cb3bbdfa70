"""A night that may spend so much, and no more."""

import json
import shutil

import pytest

from tests.command_line import gradelake
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
