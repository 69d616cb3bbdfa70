"""`gradelake gate`."""

import sys
from contextlib import ExitStack

import click

from gradelake.analyses.stats.options import LABEL_SET, named, of_measures, with_json
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.lake import Lake

FORMS = "text", "json", "markdown", "junit"
EXIT_CODES = {"passed": 0, "fell": 4, "cannot tell": 5}


@click.command("gate", short_help="Say whether a system fell behind a baseline.")
@click.argument("collection", required=False)
@named("--system", "The system that is judged.")
@named("--baseline", "The system to compare with. Default: the same one in --baseline-release.")
@click.option("--baseline-release", metavar="RELEASE", help="Take the baseline from this release.")
@of_measures("As in the leaderboard: nDCG@10, AP, ...; repeat it for more.")
@named("--label-set", LABEL_SET)
@click.option(
    "--level",
    type=int,
    metavar="N",
    help="Label from which a passage is relevant. Default: as for stats ranks.",
)
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
@click.option("--rule", metavar="NAME", help="Take all of this from [gates.NAME] instead.")
@click.option(
    "--queries",
    "n_queries",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="How many queries are listed of each measure: those that differ most.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    help="markdown is for a pull request, junit for what shows tests. Default: text.",
)
@with_json
@click.option("--release", help="Judge the system in a named release instead of the newest.")
@click.option("--live", is_flag=True, help="Judge it in the working catalog: the newest commit.")
@click.pass_obj
def gate(
    project, rule, n_queries, form, as_json, release, live, baseline_release, measures, **others
):
    """Say whether a system fell behind a baseline by more than is tolerated.

    The difference of each query, and an interval of their mean: above the tolerance the
    measure passed, below it fell, else it cannot be told. All measures must pass; that any fell is
    corrected for how many there are (Holm). Nothing is written.

    \b
    Exit codes: 0 passed, 4 fell, 5 cannot tell (and how many queries it
    would take), 2 wrong usage, 1 the work failed.

    \b
    Examples:
      gradelake gate dl19 --system mine --baseline bm25 \\
          --measure nDCG@10 --measure AP --label-set assessor:nist
      gradelake gate dl19 --system mine --baseline-release r7 \\
          --measure AP --label-set judge:Sun --format markdown
      gradelake gate --rule production
    """
    from gradelake.analyses.gate import forms
    from gradelake.analyses.gate.gate import pass_through

    if as_json and form not in (None, "json"):
        raise BadInput(f"--json and --format {form} cannot be used together")
    given = {"baseline_release": baseline_release, "measures": measures, **others}
    given = {name: value for name, value in given.items() if value not in (None, ())}
    project = project()
    settings = _rule(project, rule, given)
    with console.working("reading the lake"), ExitStack() as stack:
        lake = stack.enter_context(Lake.reading(project, release, live))
        earlier = None
        if settings.baseline_release:
            earlier = stack.enter_context(Lake.published(project, settings.baseline_release))
        found = pass_through(lake, settings, earlier)
    if as_json or form == "json":
        console.print_json(forms.as_object(found, n_queries))
    elif form in ("markdown", "junit"):
        console.say(getattr(forms, form)(found, n_queries))
    else:
        forms.print_text(found, n_queries)
    sys.exit(EXIT_CODES[found.verdict.verdict])


def _rule(project, name, given):
    """The rule of that name, perhaps against a release, or what the options say."""
    from gradelake.analyses.gate.rules import asked, read_rule

    if name is None:
        needed = {"collection": "COLLECTION", "system": "--system", "measures": "--measure"}
        needed |= {"label_set": "--label-set"}
        missing = [said for key, said in needed.items() if key not in given]
        if missing:
            raise BadInput(
                f"missing: {', '.join(missing)}", "Or name a rule of gradelake.toml: --rule NAME."
            )
        return asked(**given)
    since = given.pop("baseline_release", None)
    if given:
        raise BadInput(
            "--rule NAME says what is judged, by what", "Leave COLLECTION and the options out."
        )
    rule = read_rule(project, name)
    if since and not rule.baseline_release:
        rule = rule.model_copy(update={"baseline_release": since})
    return rule
