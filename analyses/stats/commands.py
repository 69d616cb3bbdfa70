"""Commands of leaderboards' statistics: stats ranks, correlation, significance, battles, meta."""

from dataclasses import replace

import click

from gradelake.analyses.stats import options
from gradelake.sql.common import console
from gradelake.sql.common.command_line import to_file
from gradelake.sql.common.errors import BadInput

OTHER_LABELS = "Bring other labels in, `gradelake import labels` or `gradelake grade`; then build."


@click.group("stats", short_help="Compute what SQL cannot: intervals, significance, agreement.")
def stats():
    """Compute what SQL cannot: intervals, significance, agreement, estimates.

    \b
    Examples:
      gradelake stats correlation dl19 --measure nDCG@10
      gradelake stats kappa dl19 --label-set judge:Sun
    """


@stats.command("ranks", short_help="Compute how surely each system has its rank.")
@options.on_collection
@options.tabled
@options.measured
@options.named("--label-set", "Whose leaderboard.", required=True)
@options.in_segment
@options.at_level
@options.at_alpha("Significance level of the groups.")
@options.replicated("Bootstrap samples, and random permutations of the test.")
@options.with_confidence
def ranks(read, collection, measure, label_set, segment, level, replicates, **settings):
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
    from gradelake.analyses.stats.answers import Ranks, tell_incomplete
    from gradelake.analyses.stats.boards import read_board
    from gradelake.analyses.stats.ranks import rank_uncertainty

    with console.working("reading the lake"), read() as lake:
        board = read_board(lake, collection, label_set, measure, level, segment)
    with console.working("resampling"):
        found = rank_uncertainty(board, n_replicates=replicates, **settings)
    tell_incomplete([board])
    asked = {"collection": collection, "measure": measure, "replicates": replicates}
    return Ranks(asked | settings, found)


@stats.command("correlation", short_help="Compute how well leaderboards agree, with intervals.")
@options.on_collection
@options.tabled
@options.measured
@options.of_label_sets("Compare this one; repeat it for more. Default: all.")
@options.with_official_ranks
@click.option(
    "--against",
    metavar="LABEL_SET",
    help="Give the probability that each label set agrees better with the reference than this one.",
)
@options.numbered(
    "--top",
    "Also look at the first N systems by the reference, and at the best; repeat it.",
    click.IntRange(min=2),
    multiple=True,
)
@options.at_level
@options.at_reference_level
@options.replicated("Bootstrap samples, and random orders of the test.")
@options.with_confidence
def correlation(
    read,
    collection,
    measure,
    label_sets,
    leaderboard,
    reference,
    against,
    top,
    level,
    reference_level,
    replicates,
    **settings,
):
    """Say how surely leaderboards agree with official ranks, or with another label set's.

    Spearman's rho, Kendall's tau-b and tau-AP as in leaderboard_correlation, with intervals from
    resampling queries, systems, and both, and the p-value of a permutation test (systems in random
    order agree as well). Replicates in which a figure is undefined are counted.

    An interval is for the correlation that boards of as many queries have on average, not for that
    of endless ones. It lies around the value: Student's, with the bootstrap's standard error, on
    the scale of the correlation's angle (arccos).

    --top adds tau-b, tau-AP and RBO over the first systems by the reference alone, and what one
    loses, in its score, who takes a label set's best system for its best.

    \b
    Examples:
      gradelake stats correlation dl19 --measure nDCG@10
      gradelake stats correlation dl19 --measure nDCG@10 \\
          --reference assessor:nist --top 5 --top 10
      gradelake stats correlation dl19 --measure AP \\
          --label-set judge:Sun --level 1 \\
          --reference assessor:nist --against judge:Thomas
    """
    from gradelake.analyses import qrels_export
    from gradelake.analyses.stats import boards
    from gradelake.analyses.stats.answers import Correlations
    from gradelake.analyses.stats.correlation import agreement
    from gradelake.analyses.stats.ranks import rank_uncertainty
    from gradelake.analyses.stats.top import top_agreement

    found, tops = [], []
    best: dict[int, list[str]] = {}  # level of the reference -> who may be its best
    drawn = settings | {"n_replicates": replicates}
    with console.working("reading the lake"), read() as lake:
        if not label_sets:  # those that are measured so; all, when none is: reading them says why
            known = qrels_export.label_sets(lake, collection)
            label_sets = boards.measured_label_sets(lake, collection, measure) or known
        label_sets = [name for name in dict.fromkeys(label_sets) if name != reference]
        if not label_sets:
            raise BadInput(f"there is nothing to compare {reference!r} with", OTHER_LABELS)
        official = None if reference else boards.read_official_ranks(lake, collection, leaderboard)
        other = boards.read_board(lake, collection, against, measure, level) if against else None
        read_at_once = boards.read_boards(lake, collection, label_sets, measure, level)
        for board in console.progress("resampling", read_at_once, len(read_at_once)):
            theirs = official or boards.read_reference(
                lake, collection, reference, reference_level, board
            )
            rival = None if board.label_set == against else other
            found.append(agreement(board, theirs, rival, **drawn))
            if top:
                group = None
                if isinstance(theirs, boards.Board):
                    if theirs.level not in best:
                        best[theirs.level] = rank_uncertainty(theirs, **drawn).top
                    group = best[theirs.level]
                tops.append(top_agreement(board, theirs, top, group, **drawn))
    asked = {"collection": collection, "measure": measure, "replicates": replicates}
    return Correlations(asked | settings | {"against": against}, found, tops)


@stats.command("significance", short_help="Test which systems differ by more than chance.")
@options.on_collection
@options.tabled
@options.measured
@options.named("--label-set", "Whose values to test.", required=True)
@click.option(
    "--reference",
    metavar="LABEL_SET",
    help="Count how often both agree on which pairs are significant, and what goes wrong where "
    "the label set decides for this one.",
)
@options.in_segment
@options.at_level
@options.at_reference_level
@options.at_alpha("A pair with p at or below it is significant.")
@options.replicated("Permutations; with up to 14 queries all sign patterns are tried.")
@to_file("Write all pairs as CSV, zipped when the name ends in .gz.")
def significance(
    read,
    collection,
    measure,
    label_set,
    reference,
    segment,
    level,
    reference_level,
    alpha,
    replicates,
    seed,
    output,
):
    """Test which pairs of systems differ by more than chance.

    Paired randomisation tests over queries, two-sided: uncorrected, corrected by Holm and by
    Benjamini and Hochberg, and the randomised Tukey HSD, which looks at all systems at once. With
    --reference also decision errors: shares of the pairs that one of both calls different, with
    intervals from resampling queries.

    \b
    Examples:
      gradelake stats significance dl19 --measure nDCG@10 \\
          --label-set judge:Sun -o pairs.csv
      gradelake stats significance dl19 --measure AP \\
          --label-set judge:Sun --level 1 --reference assessor:nist
    """
    from gradelake.analyses.stats.answers import Significance, tell_incomplete
    from gradelake.analyses.stats.boards import read_board, read_reference
    from gradelake.analyses.stats.decisions import decision_errors
    from gradelake.analyses.stats.significance import compare_pairs

    with console.working("reading the lake"), read() as lake:
        boards = [read_board(lake, collection, label_set, measure, level, segment)]
        if reference:
            boards.append(read_reference(lake, collection, reference, reference_level, boards[0]))
    with console.working("testing pairs of systems"):
        systems = list(boards[0].systems)
        pairs, *theirs = (compare_pairs(each.of(systems), replicates, seed) for each in boards)
        errors = decision_errors(pairs, theirs[0], alpha, seed=seed) if theirs else []
    tell_incomplete(boards)
    asked = {"collection": collection, "measure": measure, "seed": seed, "replicates": replicates}
    found = Significance(asked, pairs, theirs[0] if theirs else None, alpha, output, errors)
    if output:
        found.write()
    return found


@stats.command("battles", short_help="Rate systems by the battles of their answers.")
@options.on_collection
@options.tabled
@options.named("--label-set", "The judge's: GRADER/battles.", required=True)
@options.in_segment
@options.replicated("Bootstrap samples of queries.", 1000)
@options.with_confidence
def battles(read, collection, label_set, segment, replicates, **settings):
    """Rate systems by the battles of their answers (Bradley and Terry), with intervals and ranks.

    A system that beats another ten times as often as it loses has 400 more; a tie is half a win to
    both, and 1000 the mean. So that who never lost has a rating, each gets one tie with an average
    system. Intervals are Student's, with the bootstrap's standard error over queries; who won all
    battles, or lost all, has none. Where people judged battles, too, how well they agree.

    \b
    Examples:
      gradelake stats battles rag --label-set judge/battles
    """
    from gradelake.analyses.stats.answers import tell_incomplete
    from gradelake.analyses.stats.battles import Ratings, agreement_of, rate, wins_of
    from gradelake.analyses.stats.boards import read_board

    with console.working("reading the lake"), read() as lake:
        board = read_board(lake, collection, label_set, "WinRate", segment=segment)
        wins = wins_of(lake, collection, board)
        agreement = agreement_of(lake, collection, board)
    with console.working("resampling"):
        found = rate(board, wins, n_replicates=replicates, **settings)
    tell_incomplete([board])
    asked = {"collection": collection, "label_set": label_set, "replicates": replicates}
    return Ratings(asked | settings, board, found, agreement)


@stats.command("meta", short_help="Compute what TREC AutoJudge says of judges, against a truth.")
@options.on_collection
@options.tabled
@options.named("--reference", "The truth: a label set.", required=True)
@options.named("--reference-measure", "Its measure. Default: that of each board.")
@options.of_label_sets("Whose boards; repeat it for more. Default: all.")
@options.of_measures("Of which measures; repeat it for more.", required=True)
@options.numbered(
    "--top",
    "Also kendall over the truth's first N systems; repeat it.",
    click.IntRange(min=2),
    multiple=True,
    default=(15,),
)
@click.option("--only-shared-queries", is_flag=True, help="Over the queries that both have.")
@click.option("--qrels", is_flag=True, help="Also how labels of passages agree, query by query.")
@options.at_level
@options.at_reference_level
def meta(
    read,
    collection,
    reference,
    reference_measure,
    label_sets,
    measures,
    top,
    only_shared_queries,
    qrels,
    level,
    reference_level,
):
    """Say how well judges' boards agree with the truth's, as autojudge-evaluate does.

    Kendall's tau-b, Spearman's rho, Pearson's r, tau-AP for ties, tau_GAP and Kendall's tau-b over
    the truth's first systems, of scores as they are stored, over the systems that both have. For
    intervals: stats correlation.

    --qrels adds precision, recall, F1, Jaccard, kappas, Krippendorff's alpha and the adjusted Rand
    index of each query's labels, and their means; what one of both did not label is 0 there.

    \b
    Examples:
      gradelake stats meta dl19 --reference assessor:nist \\
          --measure nDCG@10
      gradelake stats meta rag --reference people/battles \\
          --reference-measure WinRate --measure nDCG@10 --format latex
    """
    from gradelake.analyses import qrels_export
    from gradelake.analyses.stats import boards
    from gradelake.analyses.stats.answers import tell_incomplete
    from gradelake.analyses.stats.meta import MetaEvaluations, label_evaluation, meta_evaluation

    found, labelled = [], {}
    with console.working("reading the lake"), read() as lake:
        for measure in measures:
            names = label_sets or boards.measured_label_sets(lake, collection, measure)
            names = names or qrels_export.label_sets(lake, collection)  # or it says why not
            names = [name for name in dict.fromkeys(names) if name != reference]
            if not names:
                what = f"there is nothing to compare {reference!r} with by {measure!r}"
                raise BadInput(what, OTHER_LABELS)
            for board in boards.read_boards(lake, collection, names, measure, level):
                like = replace(board, measure=reference_measure or measure)
                truth = boards.read_reference(lake, collection, reference, reference_level, like)
                found.append(meta_evaluation(board, truth, top, only_shared_queries))
                labelled[board.label_set] = lake, collection, board, truth, only_shared_queries
        rows = [row for of in labelled.values() if qrels for row in label_evaluation(*of)]
    tell_incomplete(one.board for one in found)
    if qrels and not rows:
        raise BadInput(f"{reference!r}, or what is compared with it, has no labels of passages")
    return MetaEvaluations({"collection": collection, "reference": reference}, found, rows)
