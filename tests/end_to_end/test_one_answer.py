"""Is B better than A? Every place that says so says the same, of every pair of systems."""

import random
from itertools import combinations
from pathlib import Path

import pytest

import gradelake
from tests.command_line import gradelake as command
from tests.conftest import made_once
from tests.lakes import start_lake
from tests.projects import project
from tests.report_page import Page
from tests.tiers import CAMPAIGN, first_of

pytestmark = pytest.mark.slow

ALPHA = 0.05
# collection -> (queries, spread of the logarithm of their weights, queries of a cluster)
MADE_UP = {"few": (4, 0, 1), "weighted": (40, 1.5, 1), "both": (200, 1, 4), "heavy": (12, 12, 1)}
NOISE = {"best": 0.3, "twin": 0.3, "good": 0.9, "poor": 4}


def _make(folder: Path) -> None:
    chance = random.Random(48)
    collections, files = {}, {}
    for name, (n, spread, together) in MADE_UP.items():
        queries = [f"q{each}" for each in range(n)]
        labels = {
            q: {f"p{each}": chance.choice([0, 0, 1, 2]) for each in range(9)} for q in queries
        }
        files[f"{name}/topics.tsv"] = {q: f"what is {q}?" for q in queries}
        files[f"{name}/me.qrels"] = labels
        files[f"{name}/how.csv"] = [
            {"query_id": q, "weight": chance.lognormvariate(0, spread), "cluster": at // together}
            for at, q in enumerate(queries)
        ]
        for system, noise in NOISE.items():
            files[f"{name}/{system}.run"] = {
                q: sorted(labels[q], key=lambda p, q=q: chance.gauss(-labels[q][p], noise))
                for q in queries
            }
        collections[name] = {
            "queries": f"{name}/topics.tsv",
            "judgments": {"me": f"{name}/me.qrels"},
            "runs": [f"{name}/*.run"],
            "query_weights": f"{name}/how.csv" if spread or together > 1 else None,
        }
    project(folder, collections, files=files)
    start_lake(folder)
    for name in MADE_UP:
        command(folder, "ingest", name)
    command(folder, "build")


@pytest.fixture(scope="module")
def made_up(tmp_path_factory) -> Path:
    return made_once(tmp_path_factory, "one-answer", _make)


# collection -> the fixture of its lake
LAKES = {"demo": "graded_demo"} | dict.fromkeys(MADE_UP, "made_up") | {"dl19": "dl19"}


@pytest.fixture(params=first_of(3, *LAKES, mark=CAMPAIGN))
def asked(request):
    """(the lake, a collection of it)."""
    return request.getfixturevalue(LAKES[request.param]), request.param


def test_no_two_places_differ_on_a_pair(asked, tmp_path):
    (folder, collection), measure = asked, "nDCG@10"
    file = tmp_path / "report.html"
    command(folder, "report", collection, "-o", str(file))
    page = Page(file)
    with gradelake.open(folder) as lake:
        for label_set in page.settled["label_sets"][:2]:
            of = {"measure": measure, "label_set": label_set}
            ranked = lake.stats.ranks(collection, **of)["systems"]
            systems = sorted(one["system"] for one in ranked)
            among_all = lake.compare(collection, *systems, **of)
            said = {(one["a"], one["b"]): one for one in among_all["pairs"]}
            assert len(said) == len(systems) * (len(systems) - 1) // 2
            _letters_say_it(ranked, among_all, said)
            _significance_says_it(lake.stats.significance(collection, **of)["pairs"], said)
            _the_report_says_it(page, label_set, measure, ranked, said)
            if label_set == page.settled["label_sets"][0]:
                _the_overview_says_it(page, said)
            for a, b in sorted(said)[:: 1 + len(said) // 3]:
                alone = lake.compare(collection, a, b, **of)
                assert _is_told_by(alone["sentence"], said[a, b])
                assert alone["verdict"] == said[a, b]["verdict"]
                of_level = of | {"level": alone["level"]}
                _the_gate_says_no_other(lake, collection, of_level, said[a, b])


def _letters_say_it(ranked, among_all, said) -> None:
    groups = {one["system"]: {*(one["groups"] or "")} for one in ranked}
    by_letter = {one["letter"]: one["system"] for one in among_all["systems"]}
    worse = {
        one["system"]: {by_letter[x] for x in one["better_than"]} for one in among_all["systems"]
    }
    for (a, b), one in said.items():
        apart = not groups[a] & groups[b]
        assert apart == (a in worse[b] or b in worse[a]), (a, b)
        assert not apart or one["verdict"] == "better", (a, b)


def _significance_says_it(pairs, said) -> None:
    assert len(pairs) == len(said)
    for pair in pairs:
        a, b = pair["second"], pair["first"]
        sign, one = (1, said[a, b]) if (a, b) in said else (-1, said[b, a])
        ends = sorted(sign * end for end in (pair["low"], pair["high"]) if end is not None)
        expected = [end for end in (one["low"], one["high"]) if end is not None]
        assert ends == pytest.approx(expected)
        assert sign * pair["difference"] == pytest.approx(one["difference"])
        assert one["p"] is None or pair["p"] == pytest.approx(one["p"], abs=1e-9)
        if one["verdict"] in ("better", "not shown"):
            assert (one["verdict"] == "better") == (pair["p"] <= ALPHA)
            assert (one["verdict"] == "better") == (ends[0] > 0 or ends[1] < 0)
        else:
            assert pair["p"] is None or pair["p"] > ALPHA


def _the_report_says_it(page, label_set, measure, ranked, said) -> None:
    found = page.unpack(f"pairs-{page.settled['label_sets'].index(label_set)}")[measure]
    board = page.board(label_set)
    shown = board["boards"][str(found["level"])][measure]["groups"]
    groups = {one["system"]: one["groups"] for one in ranked}
    assert dict(zip(board["systems"], shown, strict=True)) == groups
    told = dict(zip(combinations(found["systems"], 2), found["says"], strict=True))
    assert len(told) == len(said)
    for (one, other), sentence in told.items():
        assert _is_told_by(sentence, said.get((one, other)) or said[other, one])


def _the_overview_says_it(page, said) -> None:
    """Of the first two of the board that the page opens on."""
    text = page.text()
    found = [one for one in said.values() if any(words in text for words in _words(one))]
    assert len(found) == 1
    tells = "The queries tell the first from the second" in text
    assert tells == (found[0]["verdict"] == "better")


def _is_told_by(sentence: str, one: dict) -> bool:
    """Whether it begins with what was decided."""
    return sentence.startswith(_words(one))


def _words(one: dict) -> tuple[str, str]:
    """What was decided, whichever of the two is named first."""
    said = one["sentence"].removesuffix(".")
    return said, said.replace(f"{one['b']} and {one['a']}", f"{one['a']} and {one['b']}")


def _the_gate_says_no_other(lake, collection, of, one) -> None:
    asked = {"baseline": one["a"], "system": one["b"], "tolerance": 0, "level": of["level"]}
    asked |= {"measures": of["measure"], "label_set": of["label_set"]}
    fixed = lake.gate(collection, **asked, queries="fixed")
    (row,) = fixed["measures"]
    assert row["difference"] == pytest.approx(one["difference"])
    assert (fixed["verdict"] == "passed") == (one["difference"] >= 0)
    verdict = lake.gate(collection, **asked)["verdict"]
    if one["verdict"] == "better":
        assert verdict != ("fell" if one["difference"] > 0 else "passed")
    elif one["verdict"] == "one query":
        assert verdict == "cannot tell"
