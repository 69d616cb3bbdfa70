"""EXAM++'s main methods (section 4.2.1): answers are extracted and matched with gold answers. Their
grades become what any grader's do; every figure is worked out here once more in plain Python."""

import re
import shutil
from contextlib import closing

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake, json_of
from tests.edits import edit, write_edits
from tests.grading.project import Judged
from tests.rubric_oracle import item_id

pytestmark = pytest.mark.slow

LIGHT, HOME, SUN = "What scatters light?", "How do bees find home?", "What do bees see?"
STEEL = "What are cars made of?"  # without gold answers
RUBRIC = {
    LIGHT: ("q1", ("the air", "dust")),
    HOME: ("q2", ("by the sun",)),
    SUN: ("q2", ("yes", "to remember landmark!")),
    STEEL: ("q2", ()),
}
CORRECTED = ("small moleculs", "remember landmarks")  # gold answers of LIGHT in version 1
PASSAGES = {
    "p1": "Blue light is scattered by small molecules.",
    "p2": "Bees see the sun and remember landmarks.",
    "p3": "Bees find their way home by the sun.",
    "p4": "Cars are made of steel.",
    "p5": "Blue light is scattered by small molecules.",  # p1's text again
}
RUNS = {
    "good": {"q1": ["p1", "p2"], "q2": ["p3"]},
    "poor": {"q1": ["p2"], "q2": ["p4", "p2", "p3"]},
}
POOL = {"q1": {"p1", "p2", "p5"}, "q2": {"p2", "p3", "p4"}}  # ranked or judged
STOPWORDS = {"the", "by", "to"}

# Extracts the passage's last two words, or nothing where it speaks of steel; writes down who was
# asked, and about what.
EXTRACTING = """
def score(self, prompts):
    note(*(f"{self.grader.name}: {p.values['item']}" for p in prompts))
    return [Response(self.answer(p.values["passage"])) for p in prompts]

def answer(self, passage):
    words = passage.rstrip(".").split()
    return "" if "steel" in words else " ".join(words[-2:])
"""
# Says yes when all words of the gold answer but the first are in the answer.
VERIFYING = """
def score(self, prompts):
    note(*(f"{self.grader.name}: {p.values['item']}" for p in prompts))
    return [Response(self.verify(**p.values)) for p in prompts]

def verify(self, gold_answer, answer, **others):
    return "yes" if set(gold_answer.split()[1:]) <= set(answer.split()) else "no"
"""
GRADERS = {
    "exam": {"engine": "extracting", "prompt": "question_answer", "parser": "answer_key"},
    "looks": {"engine": "extracting", "prompt": "question_answer", "parser": "answer"},
    "verified": {"engine": "verifying", "prompt": "verify_answer", "answers_from": "exam"},
    "rates": {"engine": "lexical", "prompt": "question_self_rating", "parser": "strict"},
}


# --- the papers' rule and what follows, in plain Python -------------------------------------------


def extracted(passage: str) -> str:
    words = PASSAGES[passage].rstrip(".").split()
    return "" if "steel" in words else " ".join(words[-2:])


def distance(a: str, b: str) -> int:
    """Levenshtein's, by its definition."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row, before = [i], row
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
    return row[-1]


def is_right(answer: str, gold: str) -> bool:
    """Lower case, no punctuation, no stopwords; less than 20% of the longer one is different.
    (The rule stems words, too, which makes no difference to these.)"""
    plain = [
        " ".join(w for w in re.sub(r"[^a-z ]", "", text.lower()).split() if w not in STOPWORDS)
        for text in (answer, gold)
    ]
    return bool(answer) and distance(*plain) < 0.2 * max(map(len, plain))


def grades(rubric) -> dict[tuple[str, str], dict[str, int]]:
    """(query, passage) -> item -> grade, on items with gold answers."""
    return {
        (query, passage): {
            item: int(any(is_right(extracted(passage), gold) for gold in answers))
            for item, (of, answers) in rubric.items()
            if of == query and answers
        }
        for query, passages in POOL.items()
        for passage in passages
    }


def cover(rubric, system: str, query: str, k: int = 10) -> float:
    """The share of a query's items that a passage of the top k has right."""
    items = [item for item, (of, answers) in rubric.items() if of == query and answers]
    found = grades(rubric)
    top = RUNS[system][query][:k]
    return sum(any(found[query, passage][item] for passage in top) for item in items) / len(items)


VERSIONS = {0: RUBRIC, 1: RUBRIC | {LIGHT: ("q1", CORRECTED)}}


# --- the lake -------------------------------------------------------------------------------------


def grade(folder) -> dict[str, list[str]]:
    """By all graders, as a person would. Says what each engine was asked about."""
    asked = folder / "engines" / "asked"
    asked.write_text("")
    for name in GRADERS:
        gradelake(folder, "grade", "tiny", "--grader", name)
    found = {name: [] for name in GRADERS}
    for line in asked.read_text().splitlines():
        name, _, item = line.partition(": ")
        found[name].append(item)
    return found


@pytest.fixture(scope="module")
def again(new_lake, tmp_path_factory):
    """(folder, what engines were asked the second time): the collection graded by all graders, and
    once more after one item was given other gold answers."""
    folder = tmp_path_factory.mktemp("exam")
    new_lake(folder)
    with closing(Judged(folder)) as files:
        for system, ranked in RUNS.items():
            rows = [
                f"{query} Q0 {passage} {rank} {9 - rank} {system}"
                for query, passages in ranked.items()
                for rank, passage in enumerate(passages, 1)
            ]
            files.write(f"runs/{system}.run", rows)
        files.write("passages.tsv", [f"{key}\t{text}" for key, text in PASSAGES.items()])
        bank = [f"{of},question,{item},{'|'.join(gold)}" for item, (of, gold) in RUBRIC.items()]
        files.write("bank.csv", ["query_id,kind,text,gold_answer", *bank])
        files.engine("extracting", EXTRACTING)
        files.engine("verifying", VERIFYING)
        files.graders = GRADERS
        assert files.project  # writes gradelake.toml
    gradelake(folder, "ingest", "tiny")
    gradelake(folder, "import", "bank", "tiny", "bank.csv", "--name", "questions")
    first = grade(folder)
    assert all(first[name] for name in ("exam", "looks", "verified"))
    gold = {"collection": "tiny", "gold_answer": "|".join(CORRECTED)}
    write_edits(folder, edit(1, "reanswer", item_id("q1", LIGHT), **gold))
    asked = grade(folder)
    gradelake(folder, "build")
    return folder, asked


@pytest.fixture(scope="module")
def rows(again):
    """Asks the lake."""
    with Lake.live(Project.find(again[0])) as lake:
        lake.connection.execute("use lake.marts")
        yield lake.rows


# --- beside all other graders ---------------------------------------------------------------------


def test_who_matches_or_verifies_gold_answers_labels_and_who_only_extracts_does_not(rows):
    label_sets = rows(
        "select distinct label_set from relevance_labels where label_set like '%/best'"
    )
    assert {name for (name,) in label_sets} == {
        f"{grader}/v{version}/best"
        for grader in ("exam", "verified", "rates")
        for version in (0, 1)
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_labels_are_those_of_the_papers_rule(rows, version):
    expected = {
        (query, passage, max(by_item.values()), len(by_item), 0)
        for (query, passage), by_item in grades(VERSIONS[version]).items()
    }
    assert {label for *_, label, _, _ in expected} == {0, 1}
    found = rows(
        "select query_id, passage_id, label, n_items, n_missing from relevance_labels "
        "where label_set = ?",
        f"exam/v{version}/best",
    )
    assert set(found) == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize("version", VERSIONS)
def test_coverage_is_the_share_of_items_with_a_right_answer(rows, version):
    found = rows(
        "select system, query_id, cover from rubric_coverage "
        "where grader = 'exam' and rubric_version = ? and tau = 1 and k = 10",
        version,
    )
    expected = {
        (system, query): cover(VERSIONS[version], system, query)
        for system in RUNS
        for query in POOL
    }
    assert {tuple(key): value for *key, value in found} == pytest.approx(expected)
    assert len(set(expected.values())) > 1


@pytest.mark.parametrize("version", VERSIONS)
def test_a_person_sees_the_answer_beside_the_gold_answers(rows, version):
    found = rows(
        "select query_id, passage_id, item_text, answer, gold_answers, grade from verify_grades "
        "where grader = 'exam' and rubric_version = ?",
        version,
    )
    rubric = VERSIONS[version]
    expected = {
        (query, passage, item): (extracted(passage) or None, sorted(rubric[item][1]), right)
        for (query, passage), by_item in grades(rubric).items()
        for item, right in by_item.items()
    }
    assert {
        tuple(key): (answer, sorted(gold), right) for *key, answer, gold, right in found
    } == expected


# --- other gold answers ---------------------------------------------------------------------------


def test_other_gold_answers_ask_verifiers_only_and_only_about_their_item(again):
    _, asked = again
    # two answers (p5 has p1's text) against two gold answers
    assert asked == {"exam": [], "looks": [], "verified": [LIGHT] * 4, "rates": []}


def test_every_grade_is_there_and_none_is_kept_twice(rows):
    assert rows("select * from grading_backlog") == []
    assert rows("select * from missing_grades where status != 'no text'") == []
    counts = dict(
        rows(
            "select graders.name, count(*) from lake.raw.grades "
            "inner join lake.raw.graders using (grader_id) group by 1"
        )
    )
    # q1 has one item with gold answers, q2 two, and one without any; three passages each. The one
    # item of q1 was compared twice
    assert counts == {"exam": 9 + 3, "verified": 9 + 3, "looks": 12, "rates": 12}


def test_what_other_gold_answers_did_to_labels_is_told(rows):
    found = rows(
        "select query_id, passage_id, label_before, label_after, action, text from rubric_impact "
        "where grader = 'exam' and policy = 'best' order by passage_id"
    )
    before, after = (grades(VERSIONS[version]) for version in VERSIONS)
    assert found == [
        (query, passage, 0, 1, "reanswer", LIGHT)
        for query, passage in sorted(before)
        if max(before[query, passage].values()) < max(after[query, passage].values())
    ]
    assert [passage for _, passage, *_ in found] == ["p1", "p2", "p5"]
    assert rows("select * from rubric_impact where grader = 'rates'") == []


def test_a_plan_says_that_a_known_answer_needs_no_prompt(again, tmp_path):
    """A bank that comes in again with other gold answers is an edit, too."""
    folder = shutil.copytree(again[0], tmp_path / "copy")
    bank = (folder / "bank.csv").read_text().replace("by the sun", "the moon")
    (folder / "bank.csv").write_text(bank)
    (folder / "engines" / "asked").write_text("")
    gradelake(folder, "import", "bank", "tiny", "bank.csv", "--name", "questions")
    planned = json_of(folder, "grade", "tiny", "--grader", "exam", "--dry-run", "--json")["plan"]
    assert (planned["missing_pairs"], planned["prompts"]) == (3, 0)
    done = json_of(folder, "grade", "tiny", "--grader", "exam", "--json")
    assert (done["ok"], done["unanswerable"]) == (2, 1)
    assert (folder / "engines" / "asked").read_text() == ""
