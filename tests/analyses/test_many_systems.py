"""The report's greatest question, of 300 systems on 100 queries, in the memory of a reader."""

from itertools import product

import pytest

from gradelake.analyses.report.boards import read_query_scores
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import connect, little_memory
from gradelake.sql.lake.opening import Lake
from tests.projects import project

SYSTEMS, QUERIES, LEVELS = 300, 100, 5
LABEL_SETS = ["judge:0", "judge:1"]
BINARY = ["AP", "RR", "RR@10", "Rprec", "P@10", "R@100", "Success@10"]
GRADED = ["nDCG@10", "nDCG@20", "Judged@10"]


def published(folder) -> Lake:
    """What the question reads, without a build, of two label sets: the report asks of one."""
    connection = connect()
    connection.execute(f"attach '{folder / 'lake.duckdb'}' as lake")
    for schema in ("raw", "intermediate", "marts"):
        connection.execute(f"create schema lake.{schema}")
    label_sets = ", ".join(f"('{one}')" for one in LABEL_SETS)
    kinds = ", ".join(f"('{one}', 'binary')" for one in BINARY)
    kinds += "".join(f", ('{one}', 'graded')" for one in GRADED)
    connection.execute(
        f"""
        create table lake.raw.queries as
            select 'c' as collection, 'q' || n as query_id from range({QUERIES}) as t(n);
        create table lake.marts.measures as
            select *, 'labels' as averaged_over from (values {kinds}) as t(measure, kind);
        create table lake.marts.board_queries as
            select collection, label_set, 'labels' as averaged_over, query_id
            from lake.raw.queries, (values {label_sets}) as t(label_set);
        create table lake.marts.leaderboard as
            select 'c' as collection, label_set, l as level, measure, 's' || n as system
            from range({SYSTEMS}) as t(n), range(1, {LEVELS + 1}) as u(l),
                (values {label_sets}) as v(label_set), lake.marts.measures;
        create table lake.marts.topic_scores as
            select board.*, query_id, hash(system, query_id, measure) % 10001 / 10000 as value
            from lake.marts.leaderboard as board inner join lake.raw.queries using (collection);
        """
    )
    return Lake(Project.read(project(folder).file), connection, None)


@pytest.mark.slow
def test_the_scores_of_300_systems_on_100_queries_fit_the_memory_of_a_reader(tmp_path):
    with published(tmp_path) as lake, little_memory(lake.connection):
        found = read_query_scores(lake, "c", LABEL_SETS)
    for scores in found.values():
        lengths = {
            (level, measure): (len(of["systems"]), {len(row) for row in of["systems"].values()})
            for level, measures in scores.items()
            for measure, of in measures.items()
        }
        everywhere = [*product(range(1, LEVELS + 1), BINARY), *product([1], GRADED)]
        assert lengths == dict.fromkeys(everywhere, (SYSTEMS, {QUERIES}))
    assert list(found) == LABEL_SETS
