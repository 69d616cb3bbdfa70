"""`gradelake gate`."""

import click

from gradelake.analyses.answers.asking import formed
from gradelake.analyses.stats.options import LABEL_SET, named, numbered, of_measures
from gradelake.sql.common import console
from gradelake.sql.common.command_line import reading, refuse_beside

# what a rule of gradelake.toml says
_OF_RULES = (
    "--system",
    "--baseline",
    "--measure",
    "--label-set",
    "--segment",
    "--level",
    "--tolerance",
    "--alpha",
    "--sure",
    "--fixed-queries",
)


@click.command("gate", short_help="Say whether a system fell behind a baseline.")
@click.argument("collection", required=False)
@named("--system", "The system that is judged.")
@named("--baseline", "The system to compare with. Default: the same one in --baseline-release.")
@click.option("--baseline-release", metavar="RELEASE", help="Take the baseline from this release.")
@of_measures("A measure of the leaderboard: nDCG@10, AP, ...; may be repeated.")
@named("--label-set", f"{LABEL_SET[:-1]}; repeat it for more.", multiple=True)
@named(
    "--segment",
    "Only queries of this segment: tail, language=de, ...; all: every query; may be repeated.",
    multiple=True,
)
@numbered("--level", "Label from which a passage is relevant. Default: as for stats ranks.")
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1),
    metavar="POINTS",
    help="How much a measure may fall, in its own points. Default: 0.01.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 0.5, True, True),
    help="How often a verdict may be wrong. Default: 0.05.",
)
@click.option(
    "--sure",
    type=click.Choice(("typical", "any")),
    help="any: alpha holds however differences are distributed; takes more queries. "
    "Default: typical.",
)
@click.option(
    "--fixed-queries",
    "queries",
    flag_value="fixed",
    help="Judge these queries and no others, such as a shop's own traffic.",
)
@click.option("--rule", metavar="NAME", help="Take all of this from [gates.NAME] instead.")
@click.option(
    "--queries",
    "n_queries",
    type=click.IntRange(min=0),
    default=5,
    help="How many queries are listed for each measure: those that differ most.",
)
@reading
@formed(also=("junit",))
@click.pass_obj
def gate(project, read, rule, n_queries, **asked):
    """Say whether a system fell behind a baseline by more than is tolerated.

    By the interval of the mean difference over queries: above the tolerance a measure passed, below
    it the measure fell, otherwise the gate cannot tell. All measures must pass, by each label set
    and on each segment; a fall is corrected for how many of them there are (Holm). Queries count by
    their weights, and clusters of queries as one. Where queries are fixed, the difference on them
    decides. Nothing is written.

    \b
    Exit codes: 0 passed, 4 fell, 5 cannot tell (and how many queries it
    would take), 2 wrong usage, 1 the work failed.

    \b
    Examples:
      gradelake gate dl19 --system mine --baseline bm25 \\
          --measure nDCG@10 --measure AP --label-set assessor:nist
      gradelake gate dl19 --system mine --baseline-release r7 \\
          --measure AP --label-set judge:Sun --format markdown
      gradelake gate dl19 --system mine --baseline bm25 --measure AP \\
          --label-set assessor:nist --label-set judge:Sun \\
          --segment all --segment tail
      gradelake gate shop --system mine --baseline live --measure nDCG@10 \\
          --label-set judge:gpt --fixed-queries
      gradelake gate --rule production
    """
    from gradelake.analyses.gate.forms import answer
    from gradelake.analyses.gate.gate import run_gate

    if rule:
        refuse_beside("--rule", dict.fromkeys(_OF_RULES, "says what is judged, by what"))
    if asked["queries"]:
        refuse_beside("--fixed-queries", {"--alpha": "leaves nothing to chance"})
    asked = {name: value for name, value in asked.items() if value not in (None, ())}
    with console.working("reading the lake"):
        return answer(run_gate(project(), read, rule, asked), n_queries)
