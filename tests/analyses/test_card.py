"""`gradelake export track --card`: its figures are the marts', and what is not known is said."""

import json
import re

import pytest

from gradelake.analyses.card.card import read_card
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.answer import Page
from gradelake.sql.shown.forms import paged
from tests.command_line import gradelake, json_of
from tests.reading import published

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(graded_demo) -> Page:
    with Lake.published(Project.find(graded_demo)) as lake:
        return read_card(lake, "judge:lexical", ["demo"], "nDCG@10")


@pytest.fixture(scope="module")
def card(page) -> dict:
    return json.loads(paged(page, "json"))


def rows(card: dict, name: str) -> list[dict]:
    (section,) = (each for each in card["sections"] if each["section"] == name)
    assert (section["missing"] is None) == bool(section["rows"])
    return section["rows"]


def test_the_figures_of_a_card_are_the_marts(graded_demo, card):
    lake = published(graded_demo)
    assert (card["grader"], card["collections"]) == ("lexical", ["demo"])
    (identity,) = rows(card, "identity")
    assert (identity["engine"], identity["scale"]) == ("lexical", "0 to 5")
    taus = lake.rows(
        "select label_set, kendall from lake.marts.leaderboard_correlation inner join "
        "lake.marts.usual_levels using (collection, label_set, level) "
        "where measure = 'nDCG@10' and starts_with(label_set, 'lexical/')"
    )
    found = {row["label_set"]: row["kendall"] for row in rows(card, "correlations")}
    assert {name: round(tau, 3) for name, tau in found.items()} == {
        name: round(tau, 3) for name, tau in taus
    }
    favours = lake.rows(
        "select label_set, max(favour) from lake.marts.system_bias inner join "
        "lake.marts.usual_levels using (collection, label_set, level) "
        "where measure = 'nDCG@10' and starts_with(label_set, 'lexical/') group by all"
    )
    found = {row["label_set"]: row["favour"] for row in rows(card, "system_bias")}
    assert {name: round(of, 4) for name, of in found.items()} == {
        name: round(favour, 4) for name, favour in favours
    }
    kappas = lake.rows(
        "select label_set, kappa from lake.marts.kappa inner join lake.marts.usual_levels "
        "using (collection, label_set) where kind = 'binary' and label_cut = level "
        "and reference = 'assessor:human' and reference_cut = 2 "
        "and starts_with(label_set, 'lexical/')"
    )
    for row in rows(card, "kappas"):
        assert row["kappa"] == pytest.approx(dict(kappas)[row["label_set"]], abs=1e-9)
        assert row["low"] < row["kappa"] < row["high"]
    tops = lake.rows(
        "select label_set, k, kendall, loss from lake.marts.top_agreement inner join "
        "lake.marts.usual_levels using (collection, label_set, level) where "
        "measure = 'nDCG@10' and not is_official and starts_with(label_set, 'lexical/')"
    )
    found = {(row["label_set"], row["k"], row["kendall"], row["loss"]) for row in rows(card, "top")}
    assert set(tops) <= found
    asked = ("significance", "demo", "--measure", "nDCG@10", "--label-set", "lexical/v0/best")
    words = ("--reference", "assessor:human", "--replicates", "10000", "--json")
    done = json_of(graded_demo, "stats", *asked, *words)
    errors = {
        each["error"]: each["share"]
        for each in done["decision_errors"]
        if "Tukey" in each["correction"]
    }
    found = {
        row["error"]: row["share"]
        for row in rows(card, "decision_errors")
        if row["label_set"] == "lexical/v0/best"
    }
    assert found == pytest.approx(errors)
    (cost,) = rows(card, "cost")
    n_grades = lake.value("select sum(n_pairs) from lake.marts.grading_cost where grader='lexical'")
    assert cost["pairs"] == n_grades


def test_what_is_not_known_is_said_with_what_would_tell(card):
    said = {each["section"]: each["missing"] for each in card["sections"] if each["missing"]}
    assert "[sentinels]" in said["drift"]
    assert "`trials`" in said["trials"]
    assert not [why for why in said.values() if "Not known" in why], "all is in this release"


def test_a_card_is_markdown_and_latex_with_the_same_sections(page, card):
    markdown, latex = paged(page, "markdown"), paged(page, "latex")
    assert re.findall(r"(?m)^## (.*)$", markdown) == [each["title"] for each in card["sections"]]
    for table in re.findall(r"(?m)(?:^\|.*\n)+", markdown):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1
    assert latex.count(r"\subsection*") == len(card["sections"])
    assert latex.count(r"\begin{tabular}") == sum(bool(each["rows"]) for each in card["sections"])
    bare = re.sub(r"\\[{}&%$#_]", "", re.sub(r"(?m)^%.*$", "", latex))
    assert bare.count("{") == bare.count("}")
    assert not re.search(r"[&_#%]", re.sub(r"(?s)\\begin\{tabular\}.*?\\end\{tabular\}", "", bare))


def test_a_judge_that_there_is_not_is_refused(graded_demo):
    wrong = gradelake(graded_demo, "export", "track", "demo", "--card", "lexcal", code=2)
    assert "has no grader 'lexcal'" in wrong.stderr
    assert "lexical" in wrong.stderr
