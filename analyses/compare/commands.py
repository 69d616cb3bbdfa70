"""`gradelake compare`."""

import click

from gradelake.analyses.answers.asking import drawn, formed
from gradelake.analyses.stats.options import (
    LABEL_SET,
    at_alpha,
    at_level,
    in_segment,
    named,
    replicated,
)
from gradelake.sql.common import console
from gradelake.sql.common.command_line import reading


@click.command("compare", short_help="Say whether system B is better than A, and how surely.")
@click.argument("names", nargs=-1, required=True, metavar="[COLLECTION] A B...")
@named("--measure", "A measure of the leaderboard. Default: nDCG@10, or the first there is.")
@named("--label-set", f"{LABEL_SET} Default: the one that a report opens on.")
@at_level
@in_segment
@at_alpha("B is called better, or worse, if p is at or below this.")
@replicated("Permutations; with up to 14 queries all sign patterns are tried.")
@reading
@formed
@drawn
def compare(read, names, **asked):
    """Say whether system B is better than A, by how much, and how surely; of three systems or more,
    who is better than whom.

    First the answer in one sentence; then the difference with its interval and p, the queries that
    decide, how much of what both rank high is judged, and how far judging the rest could move the
    difference. COLLECTION may be left out where only one has both. The picture of two has a bar for
    each query.

    \b
    Examples:
      gradelake compare bm25 mine
      gradelake compare dl19 bm25 mine --measure P@10 --label-set judge:Sun
      gradelake compare dl19 bm25 mine theirs
      gradelake compare dl19 bm25 mine --picture topics.svg
    """
    from gradelake.analyses.compare.several import compare_named

    with console.working("comparing"), read() as lake:
        return compare_named(lake, names, **asked)
