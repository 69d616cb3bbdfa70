"""Ratings of systems by the battles of their answers."""

from gradelake.analyses.answers import parts
from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.shown.answer import Answer, Column, Table
from gradelake.sql.shown.kinds import Interval, shown

COLUMNS = [
    Column("rank", kind="rank", is_key=True),
    parts.SYSTEM,
    Column(
        "rating", kind="count", means="Its strength in the Bradley-Terry model, on Elo's scale."
    ),
    Column("interval", kind="interval", ends="count", is_beside=True, means=parts.OVER_QUERIES),
    *parts.RANKS,
    Column("n_battles", kind="count", is_detail=True, means="Battles that it fought."),
    Column("wins", kind="count", means="Battles that it won."),
    Column("losses", kind="count", means="Battles that it lost."),
    Column("ties", kind="count", means="Battles that nobody won."),
]
AGREEMENT = [
    Column("assessor", is_key=True),
    Column("other", "with", is_key=True, means="The other person, or the judge."),
    Column("n_battles", "battles", "count"),
    Column("n_same", "said the same", "count"),
    Column("kappa", kind="kappa"),
]


@question("battles", "Rate systems by the battles of their answers.", marts=["battle_agreement"])
@options.named("--label-set", "The judge's label set: GRADER/battles.", required=True)
@options.in_segment
@options.replicated("Bootstrap samples of queries.", 1000)
@options.with_confidence
def battles(lake, collection, label_set, segment, replicates, **settings):
    """Rate systems by the battles of their answers (Bradley and Terry), with intervals and ranks.

    A system that beats another ten times as often as it loses has 400 more; a tie is half a win to
    both, and 1000 the mean. Each system gets one tie with an average one, so that a system that
    never lost has a rating, too. Intervals are Student's, with the bootstrap's standard error over
    queries; a system that won or lost all its battles has none. If people judged battles, too, it
    also says how well they agree.

    \b
    Examples:
      gradelake stats battles rag --label-set judge/battles
    """
    from gradelake.analyses.stats.battles import agreement_of, rate, wins_of
    from gradelake.analyses.stats.boards import read_board

    board = read_board(lake, collection, label_set, "WinRate", segment=segment)
    wins = wins_of(lake, collection, board)
    found = rate(board, wins, n_replicates=replicates, **settings)
    rows = [
        vars(one)
        | {"interval": Interval(one.low, one.high)}
        | {"ranks": f"{one.best_rank} to {one.worst_rank}" if one.best_rank else "undefined"}
        for one in found
    ]
    tables = [Table.of("systems", COLUMNS, rows)]
    if agreement := agreement_of(lake, collection, board):
        caption = "Who said the same of the same battles"
        tables.append(Table.of("agreement", AGREEMENT, agreement, caption=caption))
    asked = {"collection": collection, "label_set": label_set, "replicates": replicates}
    return Answer(
        asked | settings,
        f"{board.label_set}: {parts.sized(board)}; "
        f"{shown('percent', settings['confidence'])} intervals",
        tables=tables,
        notes=parts.incomplete([board]),
        details={"n_queries": len(board.queries)} | board.completeness.as_object(),
    )
