"""Battles of eight systems, from their answers to the board, counted in plain Python beside it."""

import hashlib
import re
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import pytest

from tests.command_line import gradelake, json_of
from tests.grading.project import engine_code
from tests.projects import project
from tests.reading import live, published

pytestmark = pytest.mark.slow

SYSTEMS, QUERIES, OPPONENTS = 8, 5, 4
VERDICTS = ("A", "B", "Tie", "Both bad", "A or B")  # the last is none
GRADES = {"A": 3, "B": 0, "Tie": 2, "Both bad": 1}
# An engine whose verdict is chance, but the same for the same prompt
CHANCE = f"""
def score(self, prompts):
    return [self.verdict(p.values["query"], p.values["passage"], p.values["item"]) for p in prompts]

def verdict(self, *texts):
    import hashlib
    return Response({VERDICTS}[int(hashlib.md5("|".join(texts).encode()).hexdigest(), 16) % 37 % 5])
"""


def verdict(*texts: str) -> str:
    return VERDICTS[int(hashlib.md5("|".join(texts).encode()).hexdigest(), 16) % 37 % 5]


def answer(system: int, query: int) -> str | None:
    """s6 answers as s5 does, and s7 leaves the first two queries unanswered."""
    if system == 7 and query < 2:
        return None
    return f"So says {min(system, 5) if system < 7 else system} of {query}."


@pytest.fixture(scope="module")
def arena(tmp_path_factory, new_lake) -> Path:
    folder = tmp_path_factory.mktemp("arena")
    new_lake(folder)
    files = {
        "topics.tsv": {f"q{query}": f"what about {query}" for query in range(QUERIES)},
        "responses.jsonl": [
            {"system": f"s{system}", "query_id": f"q{query}", "text": text}
            for system in range(SYSTEMS)
            for query in range(QUERIES)
            if (text := answer(system, query))
        ],
        "engines/chance.py": engine_code(CHANCE),
    }
    settings = {"grading": {"engines": "engines"}}
    collection = {"queries": "topics.tsv", "responses": ["responses.jsonl"]}
    judge = {"engine": "chance", "prompt": "battle", "actors": 1}
    project(folder, {"rag": collection}, {"judge": judge}, files, **settings)
    gradelake(folder, "ingest", "rag")
    gradelake(folder, "grade", "rag", "--grader", "judge", code=3)
    gradelake(folder, "build")
    return folder


def drawn(query: int) -> set[frozenset[str]]:
    """The pairs of answers that battle: neighbours in a circle, two to each side."""
    texts = {text for system in range(SYSTEMS) if (text := answer(system, query))}

    def place(text: str) -> str:
        passage_id = hashlib.md5(text.encode()).hexdigest()
        return hashlib.md5(f"1/q{query}/{passage_id}".encode()).hexdigest()

    circle = sorted(texts, key=place)
    return {
        frozenset((text, circle[(n + step) % len(circle)]))
        for n, text in enumerate(circle)
        for step in range(1, OPPONENTS // 2 + 1)
    }


def outcomes() -> dict[tuple[str, str, str], tuple]:
    """(query, system, opponent) -> outcome, flip, bad, verdicts, wins of the first and second."""
    found = {}
    for query in range(QUERIES):
        pairs = drawn(query)
        for one, other in combinations(range(SYSTEMS), 2):
            mine, theirs = answer(one, query), answer(other, query)
            if mine is None or theirs is None or frozenset((mine, theirs)) not in pairs:
                continue
            about = f"what about {query}"
            shown = [verdict(about, mine, theirs), verdict(about, theirs, mine)]
            if "A or B" in shown:
                continue
            as_first = {"A": "win", "B": "loss"}.get(shown[0], "tie")
            as_second = {"A": "loss", "B": "win"}.get(shown[1], "tie")
            found[f"q{query}", f"s{one}", f"s{other}"] = (
                as_first if as_first == as_second else "tie",
                as_first != as_second,
                shown == ["Both bad"] * 2,
                2,
                shown.count("A"),
                shown.count("B"),
            )
    return found


def test_battles_are_as_counted_by_hand(arena):
    rows = published(arena).rows(
        "select query_id, system, opponent, outcome, is_flip, is_bad, n_verdicts, n_first_wins, "
        "n_second_wins from lake.marts.battles"
    )
    expected = outcomes()
    assert {tuple(row[:3]): tuple(row[3:]) for row in rows} == expected
    assert {what[0] for what in expected.values()} == {"win", "loss", "tie"}
    assert any(what[1] for what in expected.values())
    assert any(what[2] for what in expected.values())


def test_pairs_and_the_judges_bias_are_their_sums(arena):
    of_pairs = defaultdict(list)
    for (_, *pair), what in outcomes().items():
        of_pairs[tuple(pair)].append(what)
    columns = (
        "n_battles, n_wins, n_losses, n_ties, n_flips, n_bad, win_rate, n_verdicts, n_first_wins, "
        "n_second_wins, first_share"
    )
    rows = published(arena).rows(f"select system, opponent, {columns} from lake.marts.battle_pairs")
    found = {tuple(row[:2]): tuple(row[2:]) for row in rows}
    assert found.keys() == of_pairs.keys()
    for pair, battles in of_pairs.items():
        n, counts = len(battles), Counter(outcome for outcome, *_ in battles)
        flips, bad, verdicts, first, second = (
            sum(part) for part in list(zip(*battles, strict=True))[1:]
        )
        assert found[pair] == (
            n,
            counts["win"],
            counts["loss"],
            counts["tie"],
            flips,
            bad,
            round((counts["win"] + counts["tie"] / 2) / n, 10),
            verdicts,
            first,
            second,
            round(first / (first + second), 10) if first + second else None,
        )


def test_the_board_has_the_mean_over_queries_of_a_systems_battles(arena):
    values = defaultdict(list)
    for (query, one, other), (outcome, *_) in outcomes().items():
        won = {"win": 1, "tie": 0.5, "loss": 0}[outcome]
        values[one, query].append(won)
        values[other, query].append(1 - won)
    queries = {query for _, query in values}
    rows = published(arena).rows(
        "select system, score, n_queries, n_answered, labelled_share from lake.marts.leaderboard "
        "where label_set = 'judge/battles' and measure = 'WinRate' and level = 1"
    )
    wanted = sum(2 * len(drawn(query)) for query in range(QUERIES))
    failed = published(arena).rows("select count(*) from lake.marts.failed_grades")[0][0]
    assert 0 < failed < wanted
    assert len(rows) == SYSTEMS
    for system, score, n_queries, n_answered, share in rows:
        means = [sum(v) / len(v) for (who, _), v in values.items() if who == system]
        assert score == pytest.approx(sum(means) / len(queries), abs=1e-9)
        assert (n_queries, n_answered) == (len(queries), len(means))
        assert share == pytest.approx((wanted - failed) / wanted)


def test_ratings_come_from_the_lake_and_people_may_review_a_battle(arena):
    shown = json_of(arena, "stats", "battles", "rag", "--label-set", "judge/battles", "--json")
    counted = Counter()
    for (_, one, other), _ in outcomes().items():
        counted[one] += 1
        counted[other] += 1
    assert {row["system"]: row["n_battles"] for row in shown["systems"]} == counted
    assert [row["rank"] for row in shown["systems"]] == sorted(r["rank"] for r in shown["systems"])
    table = gradelake(arena, "stats", "battles", "rag", "--label-set", "judge/battles").stdout
    assert "judge/battles: 8 systems over 5 queries; 95% intervals" in table
    # a person's verdict of the same two answers, in the same order
    (grade,) = published(arena).rows(
        "select text, item_text, grade from lake.marts.verify_grades where grade = 3 limit 1"
    )
    assert verdict("what about " + grade[0].split()[-1][0], grade[0], grade[1]) == "A"
    texts = dict(live(arena).rows("select passage_id, text from lake.raw.passages"))
    stood_first = set()
    for who in ("ann", "dot"):
        blind = ("review", "rag", "--grader", "judge", "--assessor", who, "--blind")
        card = gradelake(arena, *blind, given="3\nq\n").stdout
        first, second = re.findall(r"^(?:First|Second) +(.*)$", card, re.M)[:2]
        ((*pair, said, judged),) = live(arena).rows(
            "select passage_id, item_id, blind_grade, grade from lake.raw.grade_reviews "
            "where assessor = ?",
            who,
        )
        is_turned = [texts[one] for one in pair] == [second, first]
        assert is_turned or [texts[one] for one in pair] == [first, second]
        assert said == (0 if is_turned else 3)  # of the answers, not of the side
        shown = re.search(r"^Grade +(\d)", card, re.M)
        assert int(shown[1]) == (judged if judged in (1, 2) or not is_turned else 3 - judged)
        stood_first.add(is_turned)
    assert stood_first == {True, False}
    agreed = live(arena).objects(
        "select * from lake.marts.battle_agreement where reveal = 'before'"
    )
    assert len(agreed) == 3  # each with the judge, and with each other
    rated = ("stats", "battles", "rag", "--label-set", "judge/battles", "--live")
    told = {
        (one["assessor"], one["other"], one["n_battles"], one["n_same"], one["kappa"])
        for one in json_of(arena, *rated, "--json")["agreement"]
    }
    names = ("assessor", "other_assessor", "n_battles", "n_same", "kappa")
    expected = [[row[name] for name in names] for row in agreed]
    assert told == {(one, other or "the judge", *rest) for one, other, *rest in expected}
    assert re.search(r"^ann +dot +1 +0 +0\.000$", gradelake(arena, *rated).stdout, re.M)
