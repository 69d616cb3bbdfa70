"""Probes: made-up variants of judged passages, what they do to grades, and the alarm of a night."""

import math
import shutil
from collections import Counter, defaultdict
from contextlib import closing, suppress

import pytest
from scipy import stats

from gradelake.grading.probe.attacks import CLAIM, ORDER, variants
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import a_night, gradelake, json_of
from tests.grading.project import wait_for
from tests.grading.test_sentinel import Watched, watched_lake  # noqa: F401
from tests.reading import published

TEXT = "Bread is sour. Acids make it so! Who eats it?"
# says 3 of what claims to be relevant, and else what people say, or 0
GULLIBLE = """
def score(self, prompts):
    time.sleep(float((HERE / "seconds.txt").read_text()))
    said = []
    for prompt in prompts:
        passage = prompt.values["passage"]
        label = "3" if "perfectly relevant" in passage else passage.split()[-1]
        said.append(Response(f"##final score: {label if label in '013' else 0}"))
    return said
"""


def test_variants_are_the_same_for_a_seed_and_each_does_what_it_says():
    made = variants("why sour bread", TEXT, False, "Cars are of steel.", "1")
    assert made == variants("why sour bread", TEXT, False, "Cars are of steel.", "1")
    assert made["unchanged"] == made["again"] == TEXT
    assert made["query_repeated"].count("why sour bread") == 3
    assert Counter(made["query_words"].split()) == Counter(["why", "sour", "bread"])
    assert made["claim"] == f"{TEXT} {CLAIM}"
    assert made["instruction"] == f"{TEXT} {ORDER}"
    assert made["other_query"] == "Cars are of steel."
    assert made["shuffled"] != TEXT
    assert Counter(made["shuffled"].split()) == Counter(TEXT.split())
    assert made["doubled"].startswith("Bread is sour. Bread is sour. Acids")
    assert made["cut"] == "Bread is sour. Acids make it so!"

    # of what is relevant, what may lose meaning; of one sentence nothing can be shuffled or cut
    assert set(variants("q", TEXT, True, "other", "1")) == {
        *("unchanged", "again", "shuffled", "doubled", "cut")
    }
    assert set(variants("q", "One sentence.", True, None, "1")) == {"unchanged", "again", "doubled"}
    assert variants("q", "甲。乙。", True, None, "1")["cut"] == "甲。"


def wilson(k: float, n: float, t: float) -> tuple[float, float]:
    """The two shares p whose distance from k / n is t standard errors of p."""
    a, b, c = 1 + t * t / n, -2 * k / n - t * t / n, (k / n) ** 2
    root = math.sqrt(max(0, b * b - 4 * a * c))
    return (-b - root) / 2 / a, (-b + root) / 2 / a


def interval(values: dict[str, list[float]]) -> tuple[float, float, float]:
    """(mean, low, high) of values of 0 or more by query, by residuals of whole queries."""
    flat = [x for of_query in values.values() for x in of_query]
    n, mean = len(flat), sum(flat) / len(flat)
    unit = sum(x * x for x in flat) / sum(flat) if any(flat) else 1
    residuals = [sum(x - mean for x in of_query) / unit for of_query in values.values()]
    share, variance = mean / unit, stats.tvar(residuals) * len(values) / n**2
    free = share * (1 - share) / variance if variance > 1e-12 else len(values)
    low, high = wilson(share * free, free, stats.t.ppf(0.975, len(values) - 1))
    return mean, low * unit, high * unit


def rise_of(up: dict[str, list[float]], down: dict[str, list[float]]) -> tuple[float, float, float]:
    """(mean, low, high) of how far labels rise less how far they fall."""
    (u, least_up, most_up), (d, least_down, most_down) = interval(up), interval(down)
    n = sum(map(len, up.values()))
    apart = 2 * stats.t.ppf(0.975, len(up) - 1) ** 2 * u * d / n
    low = math.sqrt((u - least_up) ** 2 + (most_down - d) ** 2 + apart)
    return u - d, u - d - low, u - d + math.sqrt((most_up - u) ** 2 + (d - least_down) ** 2 + apart)


def check_mart(folder, grader: str, cut: int) -> list[dict]:
    """Compare all cells of `judge_probes` with grades, put together in plain Python."""
    with Lake.published(Project.find(folder)) as lake:
        found = lake.objects(
            "select * from lake.marts.judge_probes where grader = ? order by all", grader
        )
        graded = lake.rows(
            """
            select probe.is_relevant, probe.attack, query_id, probe.original_id, item_id, grade
            from lake.raw.sentinel_grades
            inner join lake.raw.probe_variants as probe
                using (collection, sentinel, query_id, passage_id)
            inner join lake.raw.graders using (grader_id)
            where graders.name = ?
            """,
            grader,
        )
    labels: dict = {}
    for relevant, attack, query, original, _, grade in graded:
        key = relevant, attack, query, original
        labels[key] = max(labels.get(key, grade), grade)
    seen = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for (relevant, attack, query, original), label in labels.items():
        before = labels[relevant, "unchanged", query, original]
        of = seen[relevant, attack]
        of["up"][query].append(max(0, label - before))
        of["down"][query].append(max(0, before - label))
        of["risen_share"][query].append(int(label > before))
        of["fallen_share"][query].append(int(label < before))
        if before < cut:
            of["crossed_share"][query].append(int(label >= cut))
    rows = {(row["is_relevant"], row["attack"]): row for row in found}
    assert rows.keys() == {key for key in seen if key[1] != "unchanged"}
    for key, row in rows.items():
        assert row["n_pairs"] == sum(map(len, seen[key]["up"].values()))
        for name in ("mean_rise", "risen_share", "fallen_share", "crossed_share"):
            values = seen[key][name]
            if name == "mean_rise":
                expected = rise_of(seen[key]["up"], seen[key]["down"])
            else:
                expected = interval(values) if values else (None,) * 3
            cells = (row[name], row[f"{name}_low"], row[f"{name}_high"])
            assert cells == pytest.approx(expected, abs=3e-3), (key, name)
        again = rows[key[0], "again"]
        assert row["crossed_again_share"] == again["crossed_share"]
    return found


# --- how it is asked ------------------------------------------------------------------------------


class Probed(Watched):
    """Two queries with 30 judged passages each; a judge who believes what passages claim."""

    def __init__(self, folder):
        super().__init__(folder)
        self.sentinels = {}
        self.engine("gullible", f"chunk_pairs = 10\n{GULLIBLE}")
        self.graders |= {
            "gullible": {"engine": "gullible", "prompt": "umbrela", "actors": 1},
            "lexical": {"engine": "lexical", "prompt": "umbrela"},
        }
        self.slowly(0)

    def slowly(self, seconds: float) -> None:
        self.write("engines/seconds.txt", str(seconds))

    def probe(self, *options: str, code: int = 0) -> dict:
        assert self.project
        asked = ("probe", "tiny", "--size", "10", "--json", *options)
        return json_of(self.folder, *asked, code=code)

    def counted(self) -> list[tuple]:
        """(round, grades, variants)."""
        return self.rows(
            "select round, count(*), count(distinct (grader_id, query_id, passage_id)) "
            "from lake.raw.sentinel_grades group by round order by round"
        )


@pytest.fixture
def probed(tmp_path, watched_lake):  # noqa: F811
    shutil.copytree(watched_lake, tmp_path / "project" / "lake")
    with closing(Probed(tmp_path / "project")) as project:
        yield project


@pytest.mark.slow
def test_a_probe_is_planned_made_once_goes_on_and_is_asked_of_another_judge(probed):
    plan = probed.probe("--grader", "gullible", "--plan")["plan"]
    assert (plan["graded_pairs"], plan["cost"]["high"]) == (0, 0)
    n = plan["missing_pairs"]
    assert probed.rows("select count(*) from lake.raw.probe_variants") == [(0,)]

    first = probed.probe("--grader", "gullible", "--limit", "30")
    assert (first["pairs"], first["left"]) == (30, n - 30)
    assert probed.probe("--grader", "gullible", "--plan")["plan"]["missing_pairs"] == n - 30
    assert probed.probe("--grader", "gullible")["pairs"] == n - 30
    made = "select * from lake.raw.sentinel_pairs order by all"
    before = probed.rows(made)
    assert len(before) == n
    assert probed.rows("select count(*) from lake.raw.grades") == [(0,)]

    # nothing that is judged later changes it
    probed.write("nist.qrels", ["q1 0 p0 3"])
    assert probed.ingest().exit_code == 0
    assert probed.probe("--grader", "lexical", "--grader", "gullible")["pairs"] == n
    assert probed.probe("--grader", "gullible", "--now")["rounds"][0]["round"] == 2
    assert probed.rows(made) == before
    assert probed.counted() == [(1, 2 * n, 2 * n), (2, n, n)]

    wrong = gradelake(probed.folder, "probe", "tiny", "--grader", "nobody", code=2)
    assert "no [graders.nobody]" in wrong.stderr


@pytest.mark.slow
def test_killed_it_asks_about_each_variant_once(probed):
    probed.slowly(0.5)
    process = probed.spawn("probe", "tiny", "--size", "10", "--grader", "gullible")
    wait_for(probed.waiting, process)
    with suppress(ProcessLookupError):
        process.kill()
    process.wait()
    probed.slowly(0)
    done = probed.probe("--grader", "gullible")
    assert done["left"] == 0
    assert done["rounds"][0]["recovered"] > 0
    ((number, grades, different),) = probed.counted()
    assert (number, grades) == (1, different)


@pytest.mark.slow
def test_a_night_asks_what_is_due_and_tells_which_attack_fools_whom(probed):
    with (probed.project.file).open("a") as settings:
        settings.write('[probes.tricks]\ncollection = "tiny"\ngraders = ["gullible"]\nsize = 10\n')
        settings.write("most_fooled = 0.01\n")  # of two queries an interval is wide
    probed.close()
    done = a_night(probed.folder, code=3)
    assert (done["state"], done["failed"]) == ("done", [])
    (fooled,) = done["fooled"]
    assert (fooled["attack"], fooled["crossed_share"], fooled["n_below"]) == ("claim", 1, 10)
    said = "probe tricks: claim makes gullible call 100% of 10 passages of tiny relevant ("
    assert said in done["text"]
    again = a_night(probed.folder)
    assert [each["pairs"] for each in again["probes"]] == [0]
    assert again["fooled"] == []
    check_mart(probed.folder, "gullible", cut=1)


@pytest.mark.slow
def test_the_demo_is_probed_by_wholes_and_by_questions(graded_demo, tmp_path):
    folder = shutil.copytree(graded_demo, tmp_path / "demo")
    graders = ("--grader", "lexical_direct", "--grader", "lexical")
    gradelake(folder, "probe", "demo", *graders, "--size", "12")
    gradelake(folder, "build")
    direct = check_mart(folder, "lexical_direct", cut=2)
    by_questions = check_mart(folder, "lexical", cut=2)
    assert {row["rubric_version"] for row in direct} == {None}
    assert {row["rubric_version"] for row in by_questions} == {0}
    rises = {row["attack"]: row["mean_rise"] for row in direct if not row["is_relevant"]}
    assert rises["query_words"] > rises["again"] == 0  # it counts common words
    assert rises["shuffled"] == 0
    shown = json_of(folder, "sql", "@probes", "--format", "json")
    assert len(shown) == len(direct) + len(by_questions)
    boards = published(folder)
    assert boards.value("select count(*) from lake.marts.judge_drift") == 0
