"""`gradelake gate` on a lake: verdicts, exit codes, forms for others, and what is refused."""

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from tests.analyses.gated import HOSTILE, HOSTILE_QUERY, QUERIES, write_gated, write_run
from tests.command_line import gradelake, json_of
from tests.conftest import made_once
from tests.lakes import start_lake

pytestmark = pytest.mark.slow

BY = ("--measure", "RR", "--label-set", "assessor:me")
PASSED, FELL, CANNOT_TELL = 0, 4, 5


@pytest.fixture(scope="module")
def gated(tmp_path_factory) -> Path:
    """r1 as `write_gated` has it. In r2 the run of `base` is that of `worse`, a query is new, and a
    passage is judged otherwise."""

    def make(folder: Path) -> None:
        write_gated(folder)
        start_lake(folder)
        gradelake(folder, "ingest", "gated")
        gradelake(folder, "build", "--name", "r1")
        write_run(folder, "base", 9)
        for file, line in {"topics.tsv": "q99\tnew\n", "me.qrels": "q99 0 yes 1\n"}.items():
            with (folder / file).open("a") as stream:
                stream.write(line)
        gradelake(folder, "ingest", "gated")
        gradelake(folder, "build", "--name", "r2")
        with (folder / "gradelake.toml").open("a") as settings:
            settings.write(
                '[gates.since]\ncollection = "gated"\nsystem = "base"\nmeasures = ["RR", "AP"]\n'
                'label_set = "assessor:me"\ntolerance = 0.1\n'
                '[gates.wrong]\ncollection = "gated"\nsystem = "base"\nmeasures = []\n'
                'label_set = "assessor:me"\ntolerance = -1\nalpha = 0.5\n'
            )

    return made_once(tmp_path_factory, "gated", make)


def gate(folder: Path, *arguments: str, code: int, release: str = "r1") -> str:
    return gradelake(
        folder, "gate", "gated", *arguments, *BY, "--release", release, code=code
    ).stdout


def gate_json(folder: Path, *arguments: str, code: int, release: str = "r1") -> dict:
    return json.loads(gate(folder, *arguments, "--json", code=code, release=release))


# --- verdicts -------------------------------------------------------------------------------------


def test_a_system_that_is_worse_on_nine_of_twelve_queries_fell(gated):
    found = gate_json(gated, "--system", "worse", "--baseline", "base", code=FELL)
    (one,) = found["measures"]
    assert (one["system"], one["difference"]) == (0.625, -0.375)  # 9 of 12 have 0.5
    assert (one["n_worse"], one["n_better"]) == (9, 0)
    assert {each["query_id"] for each in found["queries"]} < set(QUERIES[:9])
    shown = gate(gated, "--system", "worse", "--baseline", "base", code=FELL)
    assert shown.startswith("fell: worse against base by assessor:me; tolerance 0.01, alpha 0.05\n")
    assert "RR fell by 0.375 (1.000 to 0.625), more than 0.01" in shown


def test_one_query_of_twelve_cannot_tell_and_it_says_how_many_would(gated):
    found = gate_json(gated, "--system", "shaky", "--baseline", "base", code=CANNOT_TELL)
    (one,) = found["measures"]
    assert one["queries_if_equal"] > one["n_queries"]
    assert [(each["query_id"], each["verdict_without"]) for each in found["queries"]] == [
        (HOSTILE_QUERY, "cannot tell")  # the others are equal, by other rankings
    ]
    shown = gate(gated, "--system", "shaky", "--baseline", "base", code=CANNOT_TELL)
    assert f"{one['queries_if_equal']:,} queries for an equal system to pass" in shown
    gate(gated, "--system", "shaky", "--baseline", "base", "--tolerance", "0.4", code=PASSED)


def test_a_system_against_itself_in_another_release_with_what_else_has_changed(gated):
    found = gate_json(
        gated, "--system", "base", "--baseline-release", "r1", code=FELL, release="r2"
    )
    assert (found["baseline"], found["baseline_release"], found["release"]) == ("base", "r1", "r2")
    assert found["measures"][0]["n_queries"] == 12
    assert found["measures"][0]["difference"] == -0.375
    left_out, labels = found["notes"]
    assert left_out == "left out: 1 query that only one of the two releases has"
    assert labels.startswith("labels of assessor:me changed since release r1")
    other = ("--system", "worse", "--baseline", "base", "--baseline-release", "r1")
    done = gradelake(gated, "gate", "gated", *other, *BY, "--release", "r2", code=FELL)
    assert done.stdout.startswith("fell: worse against base of release r1 by")
    shown = done.stderr
    assert "note: labels of assessor:me changed since release r1" in shown
    shown = gate(gated, *other, "--format", "markdown", code=FELL, release="r2")
    assert "changed since release r1" in shown


def test_a_rule_of_gradelake_toml_says_all_of_it(gated):
    since = ("gate", "--rule", "since", "--baseline-release", "r1")
    found = json_of(gated, *since, "--json", code=FELL)
    assert [one["measure"] for one in found["measures"]] == ["RR", "AP"]
    assert (found["tolerance"], found["alpha"]) == (0.1, 0.05)
    wrong = gradelake(gated, "gate", "--rule", "wrong", code=2).stderr
    assert "[gates.wrong]: tolerance must be at least 0" in wrong
    assert "[gates.wrong]: alpha must be below 0.5" in wrong
    assert "measures" in wrong


def test_passages_that_nobody_judged_are_told(gated, tmp_path):
    folder = shutil.copytree(gated, tmp_path / "unjudged")
    new = "".join(f"{query} Q0 new{n} 1 9 x\n" for n, query in enumerate(QUERIES))
    (folder / "runs" / "new.run").write_text(new)
    gradelake(folder, "ingest", "gated")
    gradelake(folder, "build")
    by = ("--measure", "P@10", "--label-set", "assessor:me", "--json")
    new = ("gate", "gated", "--system", "new", "--baseline", "again", *by)
    for fixed, code in (([], CANNOT_TELL), (["--fixed-queries"], FELL)):  # nearly all lose 0.1
        (note,) = json_of(folder, *new, *fixed, code=code)["notes"]
        about = "P@10: 12 passages that new ranks high and 0 of the baseline's have no label"
        assert note.startswith(about)
        assert note.endswith("the difference is of what is labelled") == bool(fixed)


def test_a_small_drop_on_fixed_queries_is_a_fact_and_any_distribution_takes_more_queries(gated):
    """RR of `shaky` is 0.5 for one of twelve queries: lower by 0.0417."""
    two = ("--system", "shaky", "--baseline", "base")
    gate(gated, *two, code=CANNOT_TELL)
    shown = gate(gated, *two, "--fixed-queries", code=FELL)
    assert "tolerance 0.01, on these queries\n" in shown
    assert "on these 12 queries RR fell by 0.042 (1.000 to 0.958), no less than 0.01" in shown
    assert "interval" not in shown
    (one,) = gate_json(gated, *two, "--fixed-queries", "--tolerance", "0.05", code=0)["measures"]
    assert {one[name] for name in ("low", "high", "p_passed", "p_fell", "unseen_share")} == {None}
    shown = gate(gated, *two, "--sure", "any", code=CANNOT_TELL)
    assert "alpha 0.05, however differences are distributed" in shown
    (one,) = gate_json(gated, *two, "--sure", "any", code=CANNOT_TELL)["measures"]
    assert one["unseen_share"] == pytest.approx(1 - 0.05 ** (1 / 12))
    assert "losses or gains on fewer than 22% of queries may not show in 12" in shown


# --- forms ----------------------------------------------------------------------------------------


def test_junit_has_a_case_for_each_measure_whatever_the_names(gated):
    two = ("--measure", "P@10", "--format", "junit")  # both passages are in every top ten
    shown = gate(gated, "--system", HOSTILE, "--baseline", "base", *two, code=FELL)
    (suite,) = ElementTree.fromstring(shown)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    p10, rr, said = suite
    assert "gains on fewer than 22% of queries may not show in 12" in said.text
    assert (p10.get("name"), p10.get("classname"), len(p10)) == (
        *("P@10 level 1", f"gated.{HOSTILE}"),
        0,
    )
    assert rr[0].tag == "failure"
    assert rr[0].get("message").startswith("RR fell by 0.375")
    assert f"{HOSTILE_QUERY}: 1.000 -> 0.500" in rr[0].text
    unsure = ("--system", "shaky", "--baseline", "base", "--format", "junit")
    ((case, _),) = ElementTree.fromstring(gate(gated, *unsure, code=CANNOT_TELL))
    assert case[0].tag == "error"


def test_markdown_shows_names_as_they_are_and_keeps_its_columns(gated):
    shown = gate(
        gated, "--system", HOSTILE, "--baseline", "base", "--format", "markdown", code=FELL
    )
    assert not any(mark in shown for mark in ("@", "www.", "://"))  # no mention, no link
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(shown)
    texts = [
        "".join(child.content for child in token.children if child.type == "text")
        for token in tokens
        if token.type == "inline"
    ]
    assert texts[:2] == [
        "Gate fell",
        f"fell: {HOSTILE} against base by assessor:me; tolerance 0.01, alpha 0.05",
    ]
    assert HOSTILE_QUERY in texts
    kinds = {child.type for token in tokens for child in token.children or ()}
    assert kinds == {"text"}  # no emphasis, no link, no mark of HTML
    rows = [token for token in tokens if token.type == "tr_open"]
    cells = [token for token in tokens if token.type in ("td_open", "th_open")]
    assert len(rows) == 2 + 6  # a measure, five queries, and the titles of both
    assert len(cells) == 2 * 10 + 6 * 7


@pytest.mark.parametrize("form", ["table", "json", "markdown", "html", "latex", "junit"])
def test_every_form_has_the_words_of_the_queries_that_differ_most(gated, form):
    two = ("--system", "worse", "--baseline", "base", "--queries", "2", "--format", form)
    shown = gate(gated, *two, code=FELL)
    assert re.search({"json": r'"text": "why q02\?"'}.get(form, r"\bwhy q02\?"), shown)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (("--system", "shakey", "--baseline", "base"), "no system 'shakey'\n  Did you mean 'shak"),
        (("--system", "base", "--baseline", "base"), "'base' would be compared with itself"),
        (("--system", "base", "--baseline-release", "r1"), "would be compared with itself"),
        (("--system", "base", "--baseline-release", "r7"), "there is no release 'r7'"),
        (("--system", "base", "--baseline", "again", "--level", "9"), "no relevance level 9"),
        (("--system", "", "--baseline", "again"), "system must not be empty"),
        (("--baseline", "again"), "missing: --system"),
        (("--system", "base", "--baseline", "again", "--tolerance", "nan"), "tolerance must be"),
        (
            ("--system", "worse", "--baseline", "base", "--sure", "any", "--fixed-queries"),
            "fixed queries leave nothing to chance",
        ),
        (("--system", "base", "--rule", "since"), "--system cannot be used with --rule"),
        (("--system", "worse", "--baseline", "base", "--json", "--format", "csv"), "--json and"),
    ],
)
def test_what_cannot_be_judged_is_refused_with_what_to_do(gated, arguments, wrong):
    done = gradelake(gated, "gate", "gated", *arguments, *BY, "--release", "r1", code=2)
    assert wrong in done.stderr


def test_one_query_is_no_error(far):
    two = ("--system", "leads", "--baseline", "leads-too", "--measure", "RR")
    shown = gradelake(far, "gate", "far", *two, "--label-set", "assessor:me").stdout
    assert "none: same rankings  passed" in shown
