"""A leaderboard: systems, their scores by several measures, and their official ranks."""

from gradelake.analyses import choosing
from gradelake.analyses.stats.boards import default_level
from gradelake.analyses.tables.table import Block, Column, Table, number, rank, text, with_best_bold
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.measures import measure_hint
from gradelake.sql.lake.lake import Lake

SCORES = """
    select system, measure, score_4dp, rank from lake.marts.leaderboard
    where collection = ? and label_set = ? and level = ?
"""


def leaderboard_table(
    lake: Lake,
    collection: str,
    label_set: str | None,
    measures: tuple[str, ...],
    level: int | None = None,
    with_ranks: bool = False,
) -> Table:
    """Systems in order of the first measure; scores as trec_eval prints them, the best bold.

    Without `label_set` it is of the collection's only one; without `measures` it has all but
    `Judged@k`, nDCG first. `level` is the relevance level (see `default_level`); with `with_ranks`
    each measure's ranks stand beside it. Raises `BadInput` for what the leaderboard does not have.
    """
    label_set = choosing.only_label_set(lake, collection, label_set)
    level = default_level(lake, collection, label_set) if level is None else level
    cells = {
        (system, measure): (score, place)
        for system, measure, score, place in lake.rows(SCORES, collection, label_set, level)
    }
    if not cells:
        raise BadInput(
            f"the leaderboard of {label_set!r} on {collection!r} has no level {level}",
            "Are there systems? Levels are those of seeds/evaluation_levels.csv.",
        )
    scored = {measure for _, measure in cells}
    kinds = {m: kind for m, kind in choosing.measures(lake).items() if m in scored}
    for measure in measures:
        if measure not in kinds:
            raise BadInput(
                f"the leaderboard of {label_set!r} has no measure {measure!r}",
                measure_hint(measure, kinds, lake.rows),
            )
    shown = list(dict.fromkeys(measures)) or [m for m in kinds if kinds[m] != "labelled"]
    official = choosing.official_ranks(lake, collection)
    nothing = (None, None)
    places = {system: cells.get((system, shown[0]), nothing)[1] for system, _ in cells}
    rows = []
    for system in sorted(places, key=lambda name: (places[name] is None, places[name], name)):
        row = [rank(places[system]), text(system)]
        for measure in shown:
            score, place = cells.get((system, measure), nothing)
            row += [number(score, 4), rank(place)] if with_ranks else [number(score, 4)]
        rows.append(row + [rank(ranks.get(system)) for _, ranks in official.items()])
    complete = choosing.completeness(lake, collection)[label_set]
    width = 2 if with_ranks else 1
    rows = with_best_bold(rows, range(2, 2 + width * len(shown), width))
    return Table(
        "leaderboard",
        f"{collection}: systems by {shown[0]}, by the labels of {label_set}; passages labelled "
        f"{level} or higher are relevant. Bold: the best of a column."
        + (f" {label_set} is {complete.says}." if complete.says else ""),
        [
            Column("rank", "Rank"),
            Column("system", "System", is_number=False),
            *_columns(shown, with_ranks),
            *(Column(f"{name}_rank", _title(name)) for name in sorted(official)),
        ],
        [Block({}, rows, remarks=complete.as_object())],
        {"collection": collection, "label_set": label_set, "level": level},
    )


def _columns(measures: list[str], with_ranks: bool) -> list[Column]:
    if not with_ranks:
        return [Column(measure, measure) for measure in measures]
    return [
        column
        for measure in measures
        for column in (
            Column(measure, "score", measure),
            Column(f"{measure}_rank", "rank", measure),
        )
    ]


def _title(leaderboard: str) -> str:
    return leaderboard[:1].upper() + leaderboard[1:]
