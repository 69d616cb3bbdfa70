"""How well judges' boards agree with the truth's, as TREC AutoJudge computes it."""

from dataclasses import replace

import click

from gradelake.analyses.answers import parts
from gradelake.analyses.answers.asking import question
from gradelake.analyses.answers.correlation import read_compared
from gradelake.analyses.stats import options
from gradelake.sql.common.errors import BadInput
from gradelake.sql.shown.answer import Answer, Column, Table

ABOUT = [parts.LABEL_SET, parts.MEASURE, parts.LEVEL, parts.N_SYSTEMS, parts.N_QUERIES]
COMPLETE = [parts.LABELLED_SHARE, parts.IS_INCOMPLETE]
OF_LABELS = {
    "label_set": "text",
    "level": "label",
    "reference_level": "label",
    "query_id": "id",
    "precision": "score",
    "recall": "score",
    "f1": "score",
    "tp": "count",
    "fp": "count",
    "fn": "count",
    "jaccard": "score",
    "kappa": "kappa",
    "kappa_linear": "kappa",
    "alpha": "kappa",
    "ari": "kappa",
}
MARTS = ["leaderboard_agreement", "kappa", "topic_scores"]
MEANS = {  # of what no mart has
    "pearson": "Pearson's r of the two boards' scores.",
    "tauap_b": "tau-AP, which weighs mistakes at the top more, in another form for ties.",
    "tau_gap": "tau_GAP: two systems count the more, the further apart the truth has them.",
    "@": "Kendall's tau-b over the truth's first systems, of which the name says how many.",
    "f1": "The harmonic mean of precision and recall.",
    "tp": "Passages relevant by both.",
    "fp": "Passages relevant by the labels alone.",
    "fn": "Passages relevant by the truth alone.",
    "jaccard": "The share of the passages relevant by either that are relevant by both.",
    "kappa_linear": "Kappa weighted by how far apart labels are.",
    "alpha": "Krippendorff's alpha.",
    "ari": "The adjusted Rand index of both sides' labels.",
}
QRELS = [Column(key, kind=kind, means=MEANS.get(key, "")) for key, kind in OF_LABELS.items()]


@question("meta", "Compute what TREC AutoJudge says of judges.", marts=MARTS)
@options.named("--reference", "The truth: a label set.", required=True)
@options.named("--reference-measure", "The truth's measure. Default: that of each board.")
@options.of_label_sets("The label set whose boards to look at; may be repeated. Default: all.")
@options.of_measures("The measure of the boards; may be repeated.", required=True)
@options.numbered(
    "--top",
    "Also give Kendall's tau-b over the truth's first N systems; may be repeated.",
    click.IntRange(min=2),
    multiple=True,
    default=(15,),
)
@click.option("--only-shared-queries", is_flag=True, help="Use only queries that both have.")
@click.option(
    "--qrels", is_flag=True, help="Also show how labels of passages agree, query by query."
)
@options.at_level
@options.at_reference_level
def meta(lake, collection, reference, label_sets, measures, top, only_shared_queries, **asked):
    """Say how well judges' boards agree with the truth's, as autojudge-evaluate does.

    Kendall's tau-b, Spearman's rho, Pearson's r, tau-AP for ties, tau_GAP and Kendall's tau-b over
    the truth's first systems, of scores as they are stored, over the systems that both have. For
    intervals: stats correlation.

    --qrels adds precision, recall, F1, Jaccard, kappas, Krippendorff's alpha and the adjusted Rand
    index of each query's labels, and their means; what only one of them labelled is 0 for the
    other.

    \b
    Examples:
      gradelake stats meta dl19 --reference assessor:nist \\
          --measure nDCG@10
      gradelake stats meta rag --reference people/battles \\
          --reference-measure WinRate --measure nDCG@10 --format latex
    """
    from gradelake.analyses.stats.boards import read_reference
    from gradelake.analyses.stats.meta import label_evaluation, meta_evaluation

    found, labelled = [], {}
    for measure in measures:
        read = read_compared(lake, collection, label_sets, measure, asked["level"], reference)
        for board in read:
            like = replace(board, measure=asked["reference_measure"] or measure)
            truth = read_reference(lake, collection, reference, asked["reference_level"], like)
            found.append(meta_evaluation(board, truth, top, only_shared_queries))
            labelled[board.label_set] = (board, truth)
    statistics = [
        Column(name, name, "tau", means=MEANS.get(name.partition("@")[1] or name, ""))
        for name in found[0].statistics
    ]
    tables = [Table.of("rows", ABOUT + statistics + COMPLETE, map(_row, found))]
    if asked["qrels"]:
        rows = [
            row
            for board, truth in labelled.values()
            for row in label_evaluation(lake, collection, board, truth, only_shared_queries)
        ]
        if not rows:
            raise BadInput(f"{reference!r}, or what is compared with it, has no labels of passages")
        tables.append(Table.of("qrels", QRELS, rows))
    notes = parts.incomplete(one.board for one in found)
    return Answer({"collection": collection, "reference": reference}, tables=tables, notes=notes)


def _row(evaluated):
    board = evaluated.board
    about = {"label_set": parts.named(board), "measure": board.measure, "level": board.level}
    about |= {"n_systems": evaluated.n_systems, "n_queries": evaluated.n_queries}
    return about | board.completeness.as_object() | evaluated.statistics
