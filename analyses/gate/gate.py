"""A gate on a lake: both systems' scores as the marts have them, and what to know beside them."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from gradelake.analyses import choosing
from gradelake.analyses.gate.rules import ALL, Rule, rule_of
from gradelake.analyses.gate.sample import ANY, FIXED
from gradelake.analyses.gate.verdict import Judged, Verdict, judge
from gradelake.analyses.stats.boards import UNIT, Board, counting_of, read_board
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake

UNLABELLED = """
    select n_unlabelled_at_k
    from lake.marts.leaderboard
    where collection = ? and label_set = ? and measure = ? and level = ? and system = ?
"""
TEXTS = "select query_id, text from lake.raw.queries where collection = ?"
RANKINGS = """
    select count(*), bit_xor(hash(query_id, passage_id, rank))
    from lake.intermediate.int_rankings
    where collection = ? and system = ?
"""
LABELS = """
    select count(*), bit_xor(hash(query_id, passage_id, label))
    from lake.marts.relevance_labels
    where collection = ? and label_set = ?
"""


@dataclass(frozen=True)
class Block:
    """What came of a gate by a label set on a segment, and what else to know."""

    label_set: str
    segment: str
    measures: list[Judged]
    notes: list[str]


@dataclass(frozen=True)
class Gate:
    """A rule and what came of it; releases are None for the working catalog. `blocks` are in the
    rule's order. `texts`: query_id -> the query's words."""

    rule: Rule
    baseline: str
    release: str | None
    baseline_release: str | None
    verdict: Verdict
    blocks: list[Block]
    texts: dict[str, str]

    @property
    def against(self) -> str:
        """What it is compared with, as people call it."""
        if self.baseline_release == self.release:
            return self.baseline
        whose = f"{self.baseline} of" if self.baseline != self.rule.system else "that of"
        return f"{whose} release {self.baseline_release}"


def run_gate(
    project: Project, read: Callable[[], Lake], name: str | None, asked: dict[str, Any]
) -> Gate:
    """Judge by the rule `name`, or by what is `asked` (see `rule_of`), in the lake that `read`
    opens; a baseline in another release is read from there.

    Queries are those of the label set and the segment, in both; one that a system left unanswered
    is 0, as on the leaderboard. Nothing is written. Raises `BadInput` for a collection, label set,
    segment, measure, level or system that is not there, the same system twice, and no query that
    both have.
    """
    rule = rule_of(project, name, asked)
    release = rule.baseline_release
    with read() as lake, Lake.published(project, release) if release else nullcontext() as earlier:
        return _judged(lake, rule, earlier)


def _judged(lake: Lake, rule: Rule, earlier: Lake | None) -> Gate:
    baseline = rule.baseline or rule.system
    if baseline == rule.system and (earlier is None or earlier.release == lake.release):
        raise BadInput(
            f"{rule.system!r} would be compared with itself",
            "Name another system with --baseline, or an earlier release with --baseline-release.",
        )
    pairs: list[Board] = []
    same: list[int] = []  # places of pairs that rank the same
    notes: dict[tuple[str, str], list[str]] = {}
    for label_set, segment in product(*map(dict.fromkeys, (rule.label_set, rule.segment))):
        of_segment, level = None if segment == ALL else segment, rule.level
        about = notes.setdefault((label_set, segment), [])
        for measure in dict.fromkeys(rule.measures):
            board = read_board(lake, rule.collection, label_set, measure, level, of_segment)
            level = board.level  # of the release too, whatever is usual there
            other = board if earlier is None else _earlier_board(earlier, rule, board)
            if measure == rule.measures[0]:
                about += _notes_on_labels(lake, earlier, rule, board, other)
            pair = _paired(board, other, rule.system, baseline, earlier)
            if not pair.differences.any():  # perhaps by chance
                ours = lake.rows(RANKINGS, rule.collection, rule.system)
                if ours == (earlier or lake).rows(RANKINGS, rule.collection, baseline):
                    same.append(len(pairs))
            pairs.append(pair)
            about += _notes_on_unlabelled(lake, earlier or lake, rule, baseline, board)
    if rule.way == ANY and any(np.abs(pair.differences).max() > UNIT for pair in pairs):
        raise BadInput(
            f"sure = {ANY!r} needs measures between 0 and 1", "Leave out those that go beyond."
        )
    kinds = choosing.measures(lake)
    for pair in pairs if rule.way != FIXED else ():
        if kinds[pair.measure] == "scores" and np.abs(pair.differences).max() > UNIT:
            raise BadInput(
                f"{pair.measure} goes beyond 0 to 1, where a gate's bounds do not hold",
                "Leave it out, import it on a scale from 0 to 1, or say --fixed-queries.",
            )
    verdict = judge(pairs, rule.tolerance, rule.alpha, same, rule.way)
    judged_of: dict[tuple[str, str], list[Judged]] = {part: [] for part in notes}
    for one in verdict.measures:
        judged_of[one.pair.label_set, one.pair.segment or ALL].append(one)
    blocks = [Block(*part, judged_of[part], about) for part, about in notes.items()]
    texts = dict(lake.rows(TEXTS, rule.collection))
    return Gate(rule, baseline, lake.release, (earlier or lake).release, verdict, blocks, texts)


def _earlier_board(earlier: Lake, rule: Rule, board: Board) -> Board:
    same = board.label_set, board.measure, board.level, board.segment
    try:
        return read_board(earlier, rule.collection, *same)
    except BadInput as error:
        raise BadInput(f"release {earlier.release}: {error.message}", error.hint) from None


def _paired(board: Board, other: Board, system: str, baseline: str, earlier: Lake | None) -> Board:
    """The system and its baseline on the queries of both boards, which count as the newer lake
    says."""
    queries = [query for query in board.queries if query in set(other.queries)]
    if not queries:
        of_segment = f" of segment {board.segment!r}" if board.segment else ""
        raise BadInput(
            f"{board.label_set!r} has no queries{of_segment} to compare by {board.measure}",
            "Compare releases that have queries in common.",
        )
    where = "" if earlier is None else f"release {earlier.release}: "
    was, now = other.of([baseline], where), board.of([system])
    rows, their_rows = ([one.queries.index(query) for query in queries] for one in (board, other))
    return replace(
        now,
        queries=tuple(queries),
        systems=(system, baseline),
        values=np.hstack([now.values[rows], was.values[their_rows]]),
        printed=np.hstack([now.printed, was.printed]),
        counting=board.counting and board.counting.of(np.array(rows)),
    )


def _notes_on_labels(
    lake: Lake, earlier: Lake | None, rule: Rule, board: Board, other: Board
) -> Iterator[str]:
    """What else than the systems may make the difference."""
    if says := board.completeness.says:
        yield f"{board.label_set} is {says}"
    if earlier is None:
        return
    if n := len(set(board.queries) ^ set(other.queries)):
        yield f"left out: {counted(n, 'queries')} that only one of the two releases has"
    if counting_of(lake, rule.collection) != counting_of(earlier, rule.collection):
        yield (
            f"queries have other weights than in release {earlier.release}; both are judged as "
            "they count now"
        )
    labels = rule.collection, board.label_set
    if len({*lake.rows(LABELS, *labels), *earlier.rows(LABELS, *labels)}) > 1:
        yield (
            f"labels of {board.label_set} changed since release {earlier.release}: a difference "
            "may come from them, not from the system"
        )


def _notes_on_unlabelled(
    lake: Lake, other: Lake, rule: Rule, baseline: str, board: Board
) -> Iterator[str]:
    """How many passages that the two systems rank high nobody labelled."""
    key = rule.collection, board.label_set, board.measure, board.level
    ours = lake.value(UNLABELLED, *key, rule.system) or 0
    theirs = other.value(UNLABELLED, *key, baseline) or 0
    if ours or theirs:
        yield (
            f"{board.measure}: {counted(ours, 'passages')} that {rule.system} ranks high and "
            f"{theirs:,} of the baseline's have no label; they count as not relevant"
            + (" (of all segments)" if board.segment else "")
            + ("; so the difference is of what is labelled" if rule.way == FIXED else "")
        )
