"""How surely each system has its rank."""

from gradelake.analyses.answers import parts
from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.shown.answer import Answer, Column, Table
from gradelake.sql.shown.kinds import Interval, shown

COLUMNS = [
    Column("rank", kind="rank", is_key=True),
    parts.SYSTEM,
    Column("score", kind="score"),
    Column("interval", kind="interval", is_beside=True),
    Column("best_rank", kind="rank", is_detail=True),
    Column("worst_rank", kind="rank", is_detail=True),
    Column("ranks"),
    Column("groups"),
    Column("stderr", kind="score", is_detail=True),
]


@question("ranks", "Compute how surely each system has its rank.")
@options.measured
@options.named("--label-set", "Whose leaderboard.", required=True)
@options.in_segment
@options.at_level
@options.at_alpha("Significance level of the groups.")
@options.replicated("Bootstrap samples, and random permutations of the test.")
@options.with_confidence
def ranks(lake, collection, measure, label_set, segment, level, replicates, **settings):
    """Say how surely systems have their scores and ranks, and which cannot be told apart.

    Student's t interval of each mean over queries; the ranks that a system has when queries are
    resampled; and groups: systems that share a letter do not differ significantly by the
    randomised Tukey HSD, which looks at all pairs at once. Queries count by their weights, and
    clusters of queries are resampled as a whole.

    \b
    Examples:
      gradelake stats ranks dl19 --measure nDCG@10 --label-set judge:Sun
      gradelake stats ranks shop --measure AP --label-set judge:Sun \\
          --segment tail
    """
    from gradelake.analyses.stats.boards import read_board
    from gradelake.analyses.stats.ranks import rank_uncertainty

    board = read_board(lake, collection, label_set, measure, level, segment)
    found = rank_uncertainty(board, n_replicates=replicates, **settings)
    rows = [
        vars(one)
        | {"score": parts.rounded(one.score), "stderr": parts.rounded(one.stderr)}
        | {"interval": Interval(parts.rounded(one.low), parts.rounded(one.high))}
        | {"ranks": "undefined" if one.low is None else f"{one.best_rank} to {one.worst_rank}"}
        for one in found.systems
    ]
    asked = {"collection": collection, "measure": measure, "replicates": replicates} | settings
    details = {"label_set": label_set, "level": board.level, "n_queries": len(board.queries)}
    return Answer(
        asked,
        f"{parts.heading(board)}: {parts.sized(board)}; {shown('percent', found.confidence)} "
        "intervals. Systems that share a letter do not differ significantly among all of them "
        f"({found.correction}, alpha {found.alpha:g}).",
        tables=[Table.of("systems", COLUMNS, rows)],
        notes=[*parts.incomplete([board]), *([found.too_few] if found.too_few else [])],
        details=details | board.completeness.as_object() | {"top": found.top},
    )
