"""Two of a kind side by side, and what moved: the page's figures against scipy and SQL."""

import json
import re
from collections import Counter
from html import unescape
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake, json_of
from tests.conftest import made_once
from tests.end_to_end.edited_demo import ADDED_LATER, BREAD, REWORDED, REWORDED_AGAIN
from tests.moved_demo import HOSTILE, HOSTILE_ITEM, REREAD
from tests.reading import published
from tests.report_page import Page, make_hostile

pytestmark = pytest.mark.slow

HUMAN, NEWEST = "assessor:human", "lexical/v2/best"
LEVELS = {HUMAN: 2, NEWEST: 4}  # from which boards count, unless another is asked for


@pytest.fixture(scope="module")
def page(moved) -> Page:
    return Page(moved / "reports" / "demo.html")


@pytest.fixture
def lake(moved):
    with Lake.published(Project.find(moved)) as lake:
        yield lake


def topics_of(lake, label_set: str) -> list[str]:
    query = "select distinct query_id from lake.marts.relevance_labels where label_set = ?"
    return sorted(lake.column(query, label_set))


def topic_values(lake, label_set: str, measure: str, level: int = 2) -> dict[str, np.ndarray]:
    """system -> its value on each labelled topic; NaN where it left one unanswered."""
    topics = topics_of(lake, label_set)
    found: dict[str, np.ndarray] = {}
    for system, topic, value in lake.rows(
        "select system, query_id, value from lake.marts.topic_scores "
        "where label_set = ? and measure = ? and level = ?",
        label_set,
        measure,
        level,
    ):
        found.setdefault(system, np.full(len(topics), np.nan))[topics.index(topic)] = value
    return found


def exact_p(first: np.ndarray, second: np.ndarray) -> float:
    """scipy's, of all ways to swap two samples of values topic by topic."""
    found = stats.permutation_test(
        (np.rint(1e10 * first), np.rint(1e10 * second)),
        lambda a, b: (a - b).sum(),
        permutation_type="samples",
    )
    return found.pvalue


def test_label_sets_of_the_newest_rubric_are_shown_and_no_older_ones(page):
    shown = page.settled["label_sets"]
    assert "assessor:human" in shown
    assert "lexical/v2/best" in shown
    assert not [name for name in shown if "/v0/" in name or "/v1/" in name]


def test_ranks_are_compared_with_the_release_before(page, moved):
    assert page.settled["compared_with"] == "r1"
    ranks = dict(
        published(moved, "r1").rows(
            "select system, rank from lake.marts.leaderboard where label_set = "
            "'assessor:human' and level = 2 and measure = 'AP'"
        )
    )
    board = page.board("assessor:human")
    assert dict(zip(board["systems"], board["boards"]["2"]["AP"]["before"], strict=True)) == ranks
    new = page.board("lexical/v2/best")["boards"]["2"]["AP"]["before"]
    assert set(new) == {None}, "r1 knows no version 2"


def test_of_each_pair_it_says_what_compare_says_and_what_holds_among_all(page, moved):
    measure = "nDCG@10"
    found = page.unpack(f"pairs-{page.settled['label_sets'].index(NEWEST)}")[measure]
    systems = found["systems"]
    pairs = list(combinations(systems, 2))
    assert (found["level"], len(found["says"]), len(systems)) == (LEVELS[NEWEST], len(pairs), 11)
    asked = ("--measure", measure, "--label-set", NEWEST, "--json")
    for at in (0, 9, 10, 31, 54):  # the view finds a pair by its place
        ours, theirs = pairs[at]
        told = json_of(moved, "compare", "demo", theirs, ours, *asked)
        assert found["says"][at].startswith(told["sentence"].partition("; ")[0].removesuffix("."))
        assert f"{told['n_half']} quer" in found["says"][at]
    is_better = [" is better than " in said for said in found["says"]]
    among = ["Among all 11 systems it holds" in said for said in found["says"]]
    assert 0 < sum(among) < sum(is_better) < len(pairs)
    board = page.board(NEWEST)["boards"][str(found["level"])][measure]
    letters = dict(zip(systems, board["groups"], strict=True))
    for (ours, theirs), holds in zip(pairs, among, strict=True):
        assert holds == (not {*letters[ours]} & {*letters[theirs]}), "the letters say the same"


# --- two label sets -------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["nDCG@10", "RR"])
def test_agreement_of_two_label_sets_is_scipys_overall_and_by_topic(page, lake, measure):
    found, levels = page.unpack("label-sets")["pairs"], page.settled["levels"]
    assert {label_set: levels[label_set] for label_set in LEVELS} == LEVELS
    ours, theirs = (
        topic_values(lake, label_set, measure, LEVELS[label_set]) for label_set in (NEWEST, HUMAN)
    )

    def tau(of):
        pairs = np.array([(of(ours[system]), of(theirs[system])) for system in ours])
        answered = ~np.isnan(pairs).any(axis=1)  # of a topic, by those that did
        return stats.kendalltau(*np.round(pairs[answered], 4).T).statistic

    first, second = sorted((NEWEST, HUMAN), key=page.settled["label_sets"].index)
    overall = tau(lambda values: np.nan_to_num(values).mean())
    found = found[first][second][measure]
    assert found["tau"] == pytest.approx(overall, abs=6e-4)
    topics = [one["query_id"] for one in page.settled["queries"]]
    by_topic = dict(zip(topics, found["taus"], strict=True))
    for at, topic in enumerate(topics):
        changes = [np.nan_to_num(theirs[s][at]) - np.nan_to_num(ours[s][at]) for s in ours]
        if found["uneven"][at] is not None:
            uneven = np.abs(np.array(changes) - np.mean(changes)).mean()
            assert found["uneven"][at] == pytest.approx(uneven, abs=6e-5)
        expected = tau(lambda values, at=at: values[at])
        if np.isnan(expected):
            assert by_topic.get(topic) is None
        else:
            assert by_topic[topic] == pytest.approx(expected, abs=6e-4)
    assert by_topic.get(REREAD) is None, "nothing of it is relevant any more"


def test_p_of_two_label_sets_is_scipys_over_the_topics_of_both(page, lake):
    higher, names = page.unpack("label-sets")["higher"], page.settled["label_sets"]
    assert len(names) > 3
    for measure in ("nDCG@10", "AP", "RR"):
        sums = {}  # of each topic, over systems
        for name in names:
            values = topic_values(lake, name, measure, page.settled["levels"][name])
            of_topics = np.nansum(list(values.values()), axis=0)
            sums[name] = dict(zip(topics_of(lake, name), of_topics, strict=True))
        for first, second in combinations(names, 2):
            both = sorted(sums[first].keys() & sums[second].keys())
            ours, theirs = (np.array([sums[name][t] for t in both]) for name in (first, second))
            said, p = higher[first][second][measure], exact_p(ours, theirs)
            if "cannot show" not in said and "the same" not in said:
                assert f"p = {p:.3f}" in said


# --- what moved -----------------------------------------------------------------------------------


def section(page: Page) -> str:
    return page.html[page.html.index('<section id="moved"') : page.html.index('<section id="cost"')]


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def rows_of(html: str, label: str) -> list[list[str]]:
    table = html[html.index(f'aria-label="{label}"') :]
    rows = re.findall(r"<tr>(.*?)</tr>", table[: table.index("</table>")], re.DOTALL)
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in rows][1:]


def test_a_rewording_shows_both_texts_word_by_word(page):
    rows = rows_of(section(page), "Edits of version 2")
    (item, changes) = next((row[2], row[3]) for row in rows if row[1] == "reword")
    assert "<del> retinal</del> protein <del>may</del><ins>lets</ins>" in item

    def without(tag):
        return unescape(re.sub(rf"<{tag}>.*?</{tag}>|<[^>]+>", "", item))

    assert without("ins") == REWORDED
    assert without("del") == REWORDED_AGAIN
    assert changes == "weight 1 \u2192 4"
    added = [row[2] for row in rows if row[1] == "add"]
    assert f"<ins>{ADDED_LATER}</ins>" in added


def test_texts_of_edits_stay_texts(page):
    assert HOSTILE not in page.html
    assert HOSTILE_ITEM in text_of(section(page))


def test_labels_that_a_version_moved_are_those_that_differ(page, lake):
    """By joining the labels of both versions, which the mart does not do."""
    for version in (1, 2):
        rows = rows_of(section(page), f"Changes by version {version}")
        for row in rows:
            before = row[0].replace(f"/v{version}/", f"/v{version - 1}/")
            moves = Counter(
                lake.column(
                    "select case when one.label is null then 'new' when other.label is null then "
                    "'gone' when other.label > one.label then 'up' else 'down' end "
                    "from (from lake.marts.relevance_labels where label_set = ?) as one "
                    "full join (from lake.marts.relevance_labels where label_set = ?) as other "
                    "using (query_id, passage_id) where one.label is distinct from other.label",
                    before,
                    row[0],
                )
            )
            assert [int(n) for n in row[1:5]] == [moves[k] for k in ("up", "down", "new", "gone")]
        assert len(rows) == 4
        assert any(row[1:5] != ["0"] * 4 for row in rows)


def test_the_greatest_moves_of_labels_are_listed_and_all_are_counted(page, lake):
    for version in (1, 2):
        moves = lake.column(
            "select abs(coalesce(label_after, 0) - coalesce(label_before, 0)) as move "
            "from lake.marts.rubric_impact where rubric_version = ? order by move desc",
            version,
        )
        rows = rows_of(section(page), f"Labels changed by version {version}")
        labels = [[0 if label == "\u2013" else int(label) for label in row[4:6]] for row in rows]
        assert [abs(after - before) for before, after in labels] == moves[:15]
        more = f"; the {len(rows)} largest changes are here" if len(moves) > 15 else ""
        assert f"Labels changed ({len(moves)}{more})" in text_of(section(page))


def test_boards_that_moved_since_the_release_before_come_first(page, moved):
    def ranks(release):
        return dict(
            published(moved, release).rows(
                "select system, rank from lake.marts.leaderboard "
                "where label_set = ? and measure = 'AP' and level = 2",
                HUMAN,
            )
        )

    before, after = ranks("r1"), ranks("r2")
    moved = sum(before[system] != after[system] for system in before)
    rows = rows_of(section(page), "Leaderboards since r1")
    (of_ap,) = (row for row in rows if row[:2] == [HUMAN, "AP"])
    assert of_ap[3] == f"{moved} of 11"
    counts = [int(row[3].split()[0]) for row in rows]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] >= moved > 0
    farthest = max(before, key=lambda system: abs(before[system] - after[system]))
    by = abs(before[farthest] - after[farthest])
    first = re.match(r"\s*\S+ \((\d+) \u2192 (\d+)\)", of_ap[5])
    assert abs(int(first[1]) - int(first[2])) == by


def test_nights_and_days_are_told(page, lake):
    ((*row, error),) = rows_of(section(page), "Nights of the whole lake, newest first")
    assert row[1] == "done"
    assert row[6:10] == ["1,234", "7", "5", "81,920"]
    assert error == "\u2013"
    days = page.unpack("days")
    assert sum(day["graded"] + day["failed"] for day in days) == lake.value(
        "select count(*) from lake.raw.grades"
    )


def test_the_command_that_previews_an_edit_is_named(page):
    assert "gradelake rubric preview demo" in text_of(section(page))


@pytest.fixture(scope="module")
def previewed(graded_demo, tmp_path_factory) -> Path:
    """What the command line prints of edits of the graded demo, one of them hostile."""
    folder = tmp_path_factory.mktemp("previewed")
    asked = ("edit", BREAD, "--bank", "questions", "--print")
    lines = gradelake(graded_demo, "rubric", *asked).stdout.splitlines()
    lines = [line.replace("give the bread", "make the bread") for line in lines]
    (folder / "sheet.txt").write_text("\n".join([*lines, f"+ 1 question {HOSTILE_ITEM}"]) + "\n")
    said = gradelake(
        graded_demo, "rubric", "preview", "--from", str(folder / "sheet.txt"), "--json"
    ).stdout
    (folder / "preview.json").write_text(said)
    return folder / "preview.json"


@pytest.mark.parametrize("shares", [False, True])
def test_a_preview_of_edits_says_what_the_command_line_says(
    graded_demo, previewed, tmp_path, shares
):
    (version,) = json.loads(previewed.read_text())["versions"]
    output = tmp_path / "what-if.html"
    options = ["--without-rubric"] if shares else []
    gradelake(graded_demo, "report", "demo", "--preview", previewed, "-o", output, *options)
    page = Page(output)
    html = section(page)
    rows = rows_of(html, "Changes that version 1 will make")
    assert [row[:5] for row in rows] == [
        [row["label_set"], *(str(row[f"n_labels_{way}"]) for way in ("up", "down", "new", "gone"))]
        for row in version["label_sets"]
    ]
    assert any(row[2] != "0" for row in rows)
    assert [row[5:9] for row in rows] == [
        [
            f"{row['n_boards_moved']} of {row['n_boards']}",
            f"{row['kendall']:.3f}",
            str(row["n_ranks_changed"]),
            row["moved_most"] if row["moved_by"] else "\u2013",
        ]
        for row in version["label_sets"]
    ]
    assert [row[:5] for row in rows_of(html, "Grades that version 1 will need")] == [
        [row["grader"], *(str(row[n]) for n in ("n_items", "n_passages", "n_wanted", "n_missing"))]
        for row in version["grades"]
    ]
    assert HOSTILE not in page.html
    assert ("Edits of version 1, previewed" in html) != shares
    assert ("<del>give</del><ins>make</ins>" in html) != shares
    assert (HOSTILE_ITEM in text_of(html)) != shares
    assert f"--preview {previewed}" in page.text()


def test_what_is_no_preview_is_refused_and_one_of_another_collection_shows_nothing(
    tmp_path_factory, tmp_path
):
    tiny = made_once(tmp_path_factory, "hostile-report", make_hostile)
    preview, output = tmp_path / "preview.json", tmp_path / "x.html"
    asked = ("report", "tiny", "--preview", preview, "-o", output)
    for content in ("", "no json", "[]", '{"versions": [{"collection": "tiny"}]}'):
        preview.write_text(content)
        assert "preview.json" in gradelake(tiny, *asked, code=2).stderr
        assert not output.exists()
    preview.write_text('{"versions": [{"collection": "other"}]}')
    gradelake(tiny, *asked)
    assert "The preview has no edits of this rubric." in Page(output).text()


def test_without_the_rubric_versions_are_counted_and_nothing_is_quoted(moved, tmp_path):
    output = tmp_path / "shared.html"
    gradelake(moved, "report", "demo", "--without-rubric", "-o", str(output))
    html = section(Page(output))
    assert "Version 2, after 1: " in text_of(html)
    assert "Changes by version 2" in html
    for quoted in ("<ins>", "<del>", "Edits of version", "Labels changed", "Nights of"):
        assert quoted not in html
    assert "Left out: nights concern the whole lake, not this collection alone." in text_of(html)
