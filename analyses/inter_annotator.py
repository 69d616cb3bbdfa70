"""The workbench's tables of agreement: labels that take one, two or five answers.

A Workbench for Autograding Retrieve/Generate Systems (SIGIR 2024), Table 3: `inter-annotator`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradelake.analyses.answers.agreement import Counts, Rows, columns_of, rows_of
from gradelake.analyses.stats.kappas import kappa
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.answer import Column, Table

MIN_ANSWERS = (1, 2, 5)
LENIENT, STRICT = 1, 2  # the judgment from which a passage is relevant
# a passage's label is the grade that so many of its items reach
COUNTS = """
    with graded as (
        select query_id, passage_id, list(grade order by grade desc) as grades
        from lake.marts.grade_grid
        where collection = $collection and grader = $grader and rubric_version = $version
        group by query_id, passage_id
    )
    select
        greatest(0, coalesce(grades[$min_answers], 0)) as label,
        greatest(0, judged.label) as judgment,
        count(*)
    from graded
    inner join lake.marts.relevance_labels as judged using (query_id, passage_id)
    where judged.collection = $collection and judged.label_set = $reference
    group by all
"""


def inter_annotator_tables(
    lake: Lake, collection: str, grader: str, version: int, reference: str, answered: int
) -> Iterator[Table]:
    """Tables of counts and Cohen's kappas for at least 1, 2 and 5 answers.

    Every label stands beside every judgment (graded), and beside judgments from 2 and those below
    (merged); labels from `answered` beside judgments from 1 (lenient) and from 2 (strict).
    """
    about = {"collection": collection, "reference": reference}
    for n in MIN_ANSWERS:
        found = lake.rows(COUNTS, grader=grader, version=version, min_answers=n, **about)
        counts: Counts = {(label, judgment): number for label, judgment, number in found}
        if not counts:
            continue
        top = max(answered, max(label for label, _ in counts))
        highest = max(STRICT, max(judgment for _, judgment in counts))
        every = [Rows.of(label, label) for label in range(top, -1, -1)]
        two = [Rows.of(answered, top), Rows.of(0, answered - 1)]
        strict = [Rows.of(STRICT, highest), Rows.of(0, STRICT - 1)]
        lenient = [Rows.of(LENIENT, highest), Rows.of(0, LENIENT - 1)]
        each = [Rows.of(judgment, judgment) for judgment in range(highest, -1, -1)]
        sections = {
            "graded": (every, each),
            "merged": (every, strict),
            "lenient": (two, lenient),
            "strict": (two, strict),
        }
        for name, (rows, columns) in sections.items():
            boxed = {
                at: _stands_for(row, columns)
                for at, row in enumerate(rows)
                if not row.values.isdisjoint({0, answered})
            }
            yield _table(name, n, about, _cells(counts, rows, columns, boxed), columns)


def _cells(
    counts: Counts, rows: Sequence[Rows], columns: Sequence[Rows], boxed: dict[int, int]
) -> list[list[Any]]:
    kappas = {at: _kappa(counts, rows[at], columns[column]) for at, column in boxed.items()}
    return rows_of(counts, rows, columns, boxed, kappas)


def _table(
    section: str, n: int, about: dict[str, str], cells: list[list[Any]], columns: Sequence[Rows]
) -> Table:
    answers = "1 answer" if n == 1 else f"{n} answers"
    return Table(
        f"agreement-{n}-{section}",
        [Column("min_answers", kind="label", is_detail=True), *columns_of(columns)],
        [[n, *row] for row in cells],
        f"{about['collection']}: {section}; labels that take at least {answers} (rows) and "
        f"{about['reference']} (columns), how often they meet, and Cohen's kappa of each boxed "
        "cell against the rest. Bold: the most of a column.",
    )


def _stands_for(row: Rows, columns: Sequence[Rows]) -> int:
    """The column that a row stands for: that of 0, or of the judgment above the one from which a
    passage is relevant, where there is such a one."""
    wanted = 0 if 0 in row.values else min(STRICT + 1, max(columns[0].values))
    return next(at for at, column in enumerate(columns) if wanted in column.values)


def _kappa(counts: Counts, row: Rows, column: Rows) -> float | None:
    """Cohen's kappa of a row and a column, each against the rest; None where it is undefined."""
    table = np.zeros((2, 2))
    for (label, judgment), n in counts.items():
        table[int(label not in row.values), int(judgment not in column.values)] += n
    value = float(kappa(table, 1 - np.eye(2)))
    return None if np.isnan(value) else value
