"""What stands on a judge's card: each section one question of the query book, or one query, and
what is said where it has no answer."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from gradelake.analyses.card.computed import decision_rows, kappa_rows

GRADERS = """
    select
        shown.grader, shown.asks_about, graders.engine, graders.model, graders.model_revision,
        graders.scale_min || ' to ' || graders.scale_max as scale, graders.settings, graders.parser,
        graders.prompt, graders.prompt_sha256, graders.prompt_text, graders.created_at as first_used
    from lake.marts.graders as shown
    left join lake.raw.graders as graders using (grader_id)
    where shown.grader = $grader
"""
_IDENTITY = f"select * exclude (prompt, prompt_sha256, prompt_text) from ({GRADERS})"
_PROMPT = f"""
    select prompt, prompt_sha256 as sha256, prompt_text as text from ({GRADERS})
    where nullif(prompt, '') is not null
"""
_STACK = """
    select
        collection, stack, count(*) as runs, min(started_at) as first, max(started_at) as last
    from lake.marts.grading_runs
    where grader = $grader and list_contains($collections, collection) and stack is not null
    group by all
    order by first
"""
_COLLECTIONS = """
    select
        collection, label_set, levels.level, n_labels, labels.reference,
        labels.labelled_share, labels.is_incomplete
    from lake.marts.label_sets
    left join lake.marts.usual_levels as levels using (collection, label_set)
    left join lake.marts.label_completeness as labels using (collection, label_set)
    where list_contains($collections, collection)
    order by all
"""
_TOP = """
    select
        collection, label_set, reference, k, n_systems, kendall,
        tau_ap, rbo, best_system, best_rank,
        loss
    from lake.marts.top_agreement
    inner join lake.marts.usual_levels using (collection, label_set, level)
    where measure = $measure and list_contains($collections, collection)
    order by all
"""
_COST = """
    select
        collection, cast(sum(n_pairs) as bigint) as pairs, cast(sum(n_failed) as bigint) as failed,
        cast(sum(prompt_tokens) as bigint) as prompt_tokens,
        cast(sum(completion_tokens) as bigint) as completion_tokens,
        if(bool_and(cost is not null), sum(cost), null) as cost,
        any_value(currency) as currency
    from lake.marts.grading_cost
    where grader = $grader and list_contains($collections, collection)
    group by collection
    order by collection
"""


@dataclass(frozen=True)
class Section:
    """Rows of the card under a title.

    `asked`: a question of the query book, SQL of `$grader` and `$collections`, or a function of the
    lake, a collection and the judge; rows of other judges' label sets are left out. `columns`:
    which, all where none is named. Only rows with one of the values in `only` are taken, and of
    those with the same `first_of` the first. A section that `is_one` has a line for each column of
    its only row. `missing`, `about`: sentences. `asks`: a judge whose labels were made elsewhere
    cannot have it.
    """

    name: str
    title: str
    asked: str | Callable[..., Iterable[dict[str, Any]]]
    missing: str
    about: str = ""
    columns: tuple[str, ...] = ()
    first_of: tuple[str, ...] = ()
    only: dict[str, tuple] = field(default_factory=dict)
    is_one: bool = False
    asks: bool = False
    parameters: dict[str, Any] = field(default_factory=dict)


SECTIONS = (
    Section("identity", "What it is", _IDENTITY, "Nothing is known of it.", is_one=True),
    Section(
        "prompt",
        "Prompt",
        _PROMPT,
        "It has no prompt that this lake knows: its labels were made elsewhere.",
        is_one=True,
    ),
    Section(
        "versions",
        "What ran it",
        _STACK,
        "No run of it says what ran it: it did not run here, or before that was noted.",
    ),
    Section(
        "collections",
        "Where it judged",
        _COLLECTIONS,
        "It has no labels yet: `gradelake grade {collection} --grader {grader}`, then "
        "`gradelake build`.",
        "labelled_share: of the pairs that people judged.",
    ),
    Section(
        "kappas",
        "Does it agree with people on passages?",
        kappa_rows,
        "No person judged what it labelled: import judgments, or `gradelake queue add`.",
        "Cohen's kappa of what is relevant, at the label set's usual level; 95% intervals, over "
        "queries. n_disagreeing: in how many queries labels differ from people's; generosity: how "
        "much more it takes as relevant than people do, as a share.",
    ),
    Section(
        "ceiling",
        "As well as people agree with each other?",
        "ceiling",
        "No two people judged the same of what it labelled: have a second one judge some again.",
        "Cohen's kappas on what all three labelled; shortfall: kappa_people less the mean of its "
        "two. `gradelake stats ceiling` has intervals.",
    ),
    Section(
        "correlations",
        "Do its leaderboards agree with the official ones?",
        "correlation",
        "There are no official ranks to compare with: `official_ranks` in gradelake.toml.",
        "By {measure}, at its usual level.",
        ("collection", "label_set", "leaderboard", "spearman", "kendall", "n_systems"),
    ),
    Section(
        "agreement",
        "Do its leaderboards agree with people's?",
        "agreement",
        "No person judged these queries: import judgments, or `gradelake queue add`.",
        "By {measure}, at its usual level.",
        (
            "collection",
            "label_set",
            "reference",
            "spearman",
            "kendall",
            "tau_ap",
            "rbo",
            "n_systems",
        ),
    ),
    Section(
        "top",
        "Is it right about the best systems?",
        _TOP,
        "There are no systems, or neither official ranks nor judgments of people.",
        "By {measure}, over the reference's first k systems; loss: what is lost of the reference's "
        "score by taking the judge's best system for the best.",
    ),
    Section(
        "decision_errors",
        "What goes wrong where it decides which of two systems is better?",
        decision_rows,
        "There are no systems, or no person judged these queries.",
        "By {measure}: shares of the pairs that it, or (missed, contradicted) that people call "
        "different at 0.05, by the randomised Tukey HSD, with 95% intervals. `gradelake stats "
        "significance --reference` has them by other corrections, and says what each error is.",
    ),
    Section(
        "calibration",
        "Are its probabilities what they say?",
        "calibration",
        "It gave no probabilities of grades (`logprobs` of its engine), or no person judged these.",
        "An ece of 0 is calibrated; brier_of_share: of always saying the relevant share.",
        (
            "collection",
            "assessor",
            "cut",
            "n",
            "probability",
            "relevant",
            "ece",
            "brier",
            "brier_of_share",
        ),
    ),
    Section(
        "label_bias",
        "Is it more generous than people to long passages, or to high-ranked ones?",
        "label_bias",
        "No person judged what it labelled.",
        "residual: its mean label less people's, as shares of their scales; of five parts the "
        "first and the last.",
        (
            "collection",
            "label_set",
            "assessor",
            "property",
            "from_amount",
            "to_amount",
            "n",
            "residual",
            "stderr",
        ),
        only={"bucket": (1, 5)},
    ),
    Section(
        "system_bias",
        "Which system does it favour most?",
        "system_bias",
        "There are no systems, or no person judged these queries.",
        "By {measure}: what a system gains over people's judgments more than systems do on "
        "average; the most favoured of many is favoured by chance, too.",
        ("collection", "label_set", "assessor", "system", "favour", "stderr", "n_queries"),
        ("collection", "label_set", "assessor"),
    ),
    Section(
        "group_bias",
        "Does it favour a group of systems?",
        "group_bias",
        "No groups of systems are named: [collections.{collection}.groups] in gradelake.toml.",
        "By {measure}.",
    ),
    Section(
        "families",
        "Does it agree with people without one family of systems, too?",
        "family_correlation",
        "No families of systems are known: groups, or `generator` of systems, in gradelake.toml.",
        "By {measure}: Kendall's tau-b without the systems of a group, of all systems, and of "
        "groups by their means.",
    ),
    Section(
        "probes",
        "What fools it?",
        "probes",
        "No probe was run: `gradelake probe {collection} --grader {grader}`, then "
        "`gradelake build`.",
        "The newest round: rise of the label, with a 95% interval, share that rises and falls; of "
        "passages below min_relevant, the share that it is fooled about, and by chance.",
        (
            "collection",
            "relevant",
            "attack",
            "pairs",
            "rise",
            "low",
            "high",
            "risen",
            "fallen",
            "fooled",
            "fooled_low",
            "fooled_high",
            "by_chance",
        ),
        asks=True,
    ),
    Section(
        "trials",
        "Does it agree with itself?",
        "consistency",
        "It was asked once: `trials` in its settings asks it several times.",
        asks=True,
        parameters={"part": "all"},
        columns=("collection", "n_pairs", "self_agreement", "flip_rate", "graded_alpha"),
    ),
    Section(
        "drift",
        "Did it change?",
        "drift",
        "No sentinel watches it: [sentinels] in gradelake.toml.",
        "The newest round of each sentinel.",
        (
            "collection",
            "sentinel",
            "round",
            "day",
            "pairs",
            "agreement",
            "kappa",
            "alarm",
            "since_round",
        ),
        ("collection", "sentinel"),
        asks=True,
    ),
    Section("cost", "What did it cost?", _COST, "It graded nothing here.", "null: no known price."),
)
