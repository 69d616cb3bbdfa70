"""Commands of how far labels agree: stats kappa, ceiling, rates, alpha."""

import click

from gradelake.analyses.stats import options
from gradelake.sql.common import console


@click.command("kappa", short_help="Compute kappas with intervals; does a judge agree better?")
@options.on_collection
@options.tabled
@options.of_label_sets("Compare this one; repeat it for more. Default: all.")
@options.with_reference
@click.option(
    "--against",
    metavar="LABEL_SET",
    help="Test whether each label set agrees better with the reference than this one.",
)
@options.of_kinds("As in the mart kappa. Default: binary, and of all labels on a common scale.")
@options.replicated("Bootstrap samples of queries.")
@options.with_confidence
def kappa(read, collection, label_sets, reference, against, kinds, replicates, **settings):
    """Say how surely labels agree with people's, or another label set's, beyond chance.

    The kappas of `gradelake sql @kappa`, each with an interval from resampling queries, around the
    kappa. With --against a paired test: the difference of two judges' kappas on the passages that
    both labelled, as leaderboards take labels as relevant, or of all labels.

    \b
    Examples:
      gradelake stats kappa dl19 --label-set judge:Sun
      gradelake stats kappa dl19 --against judge:Thomas --kind quadratic
    """
    from gradelake.analyses.choosing import compared_with, reference_of
    from gradelake.analyses.stats.ceiling import compare_judges
    from gradelake.analyses.stats.kappas import kappa_intervals
    from gradelake.analyses.stats.label_answers import Kappas

    settings["n_replicates"] = replicates
    with console.working("reading the lake"), read() as lake:
        reference = reference_of(lake, collection, reference)
        if against:
            compared_with(lake, collection, reference, (against,))
        named = (*label_sets, against) if label_sets and against else label_sets
        found = kappa_intervals(lake, collection, reference, named, kinds, **settings)
        better = []
        if against:
            better = compare_judges(lake, collection, reference, against, found, **settings)
    asked = {"collection": collection, "reference": reference, "against": against}
    return Kappas(asked | settings, found, better)


@click.command("ceiling", short_help="Compare judges with how far people agree with each other.")
@options.on_collection
@options.tabled
@options.of_label_sets("Of this judge; repeat it for more. Default: all.")
@options.of_kinds("Kind of kappa. Default: all four.", options.KINDS[:4])
@options.replicated("Bootstrap samples of queries.")
@options.with_confidence
def ceiling(read, collection, label_sets, kinds, replicates, **settings):
    """Compare judges with the human ceiling: how far two people agree with each other.

    A judge against each of two assessors, and these against each other, on the passages that all
    three labelled (mart human_ceiling), with intervals from resampling queries. The shortfall is
    people's kappa less the mean of the judge's two: no judge can be expected to have less than 0.

    \b
    Examples:
      gradelake stats ceiling mine
      gradelake stats ceiling mine --label-set judge:umbrela --kind binary
    """
    from gradelake.analyses.stats.ceiling import ceilings
    from gradelake.analyses.stats.label_answers import Ceilings

    settings["n_replicates"] = replicates
    with console.working("reading the lake"), read() as lake:
        found = ceilings(lake, collection, label_sets, kinds, **settings)
    return Ceilings({"collection": collection} | settings, found)


@click.command("rates", short_help="Estimate the share of relevant passages by a judge.")
@options.on_collection
@options.tabled
@options.named("--label-set", "The judge's labels.", required=True)
@options.with_reference
@options.replicated("Bootstrap samples of queries.")
@options.with_confidence
def rates(read, collection, label_set, reference, replicates, **settings):
    """Estimate the share of relevant passages from a judge's labels and what people judged.

    At each cut of the labels: the judge's sensitivity and specificity, its rate, and this rate
    corrected: by the two (Rogan and Gladen 1978), for judged passages that are no random sample of
    those that are labelled, if the judge errs alike on both; and by prediction-powered inference,
    which is right where they are one, however the judge errs. Intervals, from resampling queries,
    hold both uncertainties: of the rate, and of the judge's errors.

    \b
    Examples:
      gradelake stats rates dl19 --label-set judge:Sun
      gradelake stats rates dl19 --label-set judge:Sun --reference assessor:ann
    """
    from gradelake.analyses.choosing import reference_of
    from gradelake.analyses.stats.label_answers import RatesFound
    from gradelake.analyses.stats.rates import rates as rates_of_cuts

    settings["n_replicates"] = replicates
    with console.working("reading the lake"), read() as lake:
        reference = reference_of(lake, collection, reference)
        found = rates_of_cuts(lake, collection, label_set, reference, **settings)
    asked = {"collection": collection, "label_set": label_set, "reference": reference}
    return RatesFound(asked | settings, found)


@click.command("alpha", short_help="Compute Krippendorff's alpha of any number of label sets.")
@options.on_collection
@options.tabled
@options.of_label_sets("Assessors and judges to compare; repeat it. Default: all.")
@click.option(
    "--metric",
    type=click.Choice(["ordinal", "nominal", "interval"]),
    default="ordinal",
    help="How far two labels are apart.",
)
@click.option("--per-query", is_flag=True, help="Also show each query's alpha.")
@options.replicated("Bootstrap samples of queries.")
@options.with_confidence
def alpha(read, collection, label_sets, metric, per_query, replicates, seed, confidence):
    """Compute Krippendorff's alpha: how far label sets agree beyond chance.

    Counted are the pairs of query and passage that two of them labelled at least. Labels below 0
    count as 0. Of all label sets each rater counts once: panels, hybrids and ensembles are left out
    beside their members, and of a grader the newest rubric and the policy `best` count.

    \b
    Examples:
      gradelake stats alpha dl19 --label-set assessor:nist \\
          --label-set judge:Thomas --per-query
    """
    from gradelake.analyses.stats.answers import Alpha
    from gradelake.analyses.stats.labels import compare_labels

    with console.working("reading the lake"), read() as lake:
        found = compare_labels(
            lake, collection, list(label_sets), metric, replicates, seed, confidence
        )
    return Alpha({"collection": collection, "seed": seed}, found, per_query)
