"""Commands that bring data in: init, ingest, import."""

from pathlib import Path

import click

from gradelake.sql.common import console
from gradelake.sql.common.command_line import (
    answering,
    bringing_in,
    form_of,
    typed,
    with_options,
    without_project,
)
from gradelake.sql.common.project import Project, if_any
from gradelake.sql.common.quoting import shell_word
from gradelake.sql.lake.opening import Lake


@click.command(short_help="Write a starter gradelake.toml and make an empty lake.")
@click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option("--demo", is_flag=True, help="Start with the demo collection.")
@without_project
def init(folder, demo):
    """Write a starter gradelake.toml and make an empty lake, here or in FOLDER.

    \b
    Examples:
      gradelake init
      gradelake init demo --demo
    """
    from gradelake.ingest.collections import starter

    folder = folder or Path.cwd()
    file = starter.copy_demo(folder) if demo else starter.write_starter(folder)
    project = Project.read(file)
    Lake.create(project).close()
    console.say(f"wrote {file}")
    console.say(f"made an empty lake in {project.lake_path}")
    if demo:
        console.hint(f"next: cd {shell_word(folder)} && gradelake ingest demo && gradelake build")
    else:
        console.hint("next: describe your collection there, then run `gradelake ingest mine`")


def _pairs(_context, option, stated: tuple[str, ...]) -> dict[str, str]:
    """`judgment=stars` of an option that may be repeated."""
    if wrong := [each for each in stated if not all(each.partition("="))]:
        raise click.BadParameter(f"{wrong[0]!r} is not {option.metavar}")
    return dict(each.split("=", 1) for each in stated)


@click.command(short_help="Write a gradelake.toml for the files in a FOLDER.")
@click.argument(
    "folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--name", help="Name of the collection (default: the folder's).")
@click.option(
    "--as",
    "presets",
    metavar="FILE=PRESET",
    multiple=True,
    callback=_pairs,
    help="What a file is, if `start` cannot tell: a preset's name.",
)
@answering(lambda done: done.print())
@without_project
def start(folder, name, presets):
    """Look at the files here or in FOLDER, and write a gradelake.toml that says what they are.

    Forms that tools write are known by their columns, keys and lines; presets say how. How each
    file was understood stands beside it in comments; what was not is named there, too, and not
    used. An ingest is tried out, which writes nothing.

    \b
    Examples:
      gradelake start
      gradelake start shop --name shop
      gradelake start --as results.json=ranx_run
    """
    from gradelake.ingest.starting.start import start as run_start

    return run_start(folder or Path.cwd(), name, presets)


@click.command(short_help="Bring what is new or changed in a COLLECTION into the lake.")
@click.argument("collection")
@click.option(
    "--dry-run", is_flag=True, help="Show how files would be understood, and write nothing."
)
@answering(lambda done: done.print())
@click.pass_obj
def ingest(project, collection, dry_run):
    """Bring what is new or changed in a COLLECTION of gradelake.toml into the lake.

    Unchanged files are skipped. A file with a fault lands nothing, is reported by line, and does
    not stop the others. Exit code 3 means that some input was rejected, 2 that nothing landed.

    What has arrived in the collection's inbox (inbox = "FOLDER" in gradelake.toml) is read too and
    moved to FOLDER/accepted, or with a reason to FOLDER/quarantine. A file that changed within the
    last minute waits, unless FILE.done says that it is whole.

    \b
    Examples:
      gradelake ingest dl19
      gradelake ingest shop --dry-run
    """
    project = project()
    with console.working(f"ingesting {collection}"):
        if dry_run:
            from gradelake.ingest.collections.dry_run import dry_run as run_dry

            return run_dry(project, collection)
        from gradelake.ingest.collections.pipeline import ingest_collection

        return ingest_collection(project, collection, typed())


@click.command(short_help="Check FILEs of answers by a COLLECTION's form and rules.")
@click.argument("collection")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path())
@answering(lambda done: done.print())
@click.pass_obj
def check(project, collection, files):
    """Say what `ingest` would find wrong in FILEs of answers, or in all that COLLECTION names.

    It needs gradelake.toml and the topics, and no lake: a participant gets the same verdict as
    whoever runs the track. Rules are in [collections.COLLECTION.rules]. Exit code 1 means that a
    rule is broken, or that a file cannot be read.

    \b
    Examples:
      gradelake check rag26 my-run.jsonl
    """
    from gradelake.ingest.collections.check import check as run_check

    with console.working("reading the answers"):
        return run_check(project(), collection, files)


@click.group("import", short_help="Bring in others' labels, judgments, rubric banks and grades.")
def import_():
    """Bring in what others made: labels, judgments, rubric banks and grades.

    \b
    Examples:
      gradelake import labels dl19 Sun.qrels --judge Sun
      gradelake import bank dl19 dl19-questions.jsonl.gz --name questions
    """


# what may be said of a file that comes in; the functions get it as `form`
_FORM = (
    click.option(
        "--as", "form_preset", metavar="PRESET", help="The form of FILE: a preset's name."
    ),
    click.option(
        "--column",
        "form_columns",
        metavar="ROLE=COLUMN",
        multiple=True,
        callback=_pairs,
        help=(
            "Which column has this role, if its name is unusual; or a path, such as "
            "inputs.question."
        ),
    ),
    click.option(
        "--rows", "form_rows", metavar="PATH", help="Where the rows are, such as results.hits[]."
    ),
    click.option(
        "--only",
        "form_only",
        metavar="COLUMN=VALUE",
        multiple=True,
        callback=_pairs,
        help="Only rows that have this value.",
    ),
)
_LABELS = click.option(
    "--label",
    "form_labels",
    metavar="WORD=NUMBER",
    multiple=True,
    callback=_pairs,
    help="The number that a word among the judgments stands for.",
)
_SCALE = (
    _LABELS,
    click.option(
        "--cut",
        "form_cuts",
        metavar="NUMBER",
        type=float,
        multiple=True,
        help="The fraction from which a judgment is 1; given again, 2; and so on.",
    ),
)


@import_.command("labels", short_help="Store a qrels-style FILE, or a table, as a judge's labels.")
@bringing_in(
    "ingest.collections.labels:import_labels",
    click.option("--judge", required=True, help="Name of the judge that made the labels."),
    click.option(
        "--max-label",
        type=click.IntRange(min=1),
        help="Top of the judge's scale (default: its highest label).",
    ),
    *_FORM,
    *_SCALE,
)
def import_labels():
    """Store a qrels-style FILE as a direct judge's grades: label set `judge:NAME`.

    FILE may be a table, too: CSV, JSON, Parquet, .xlsx, or a database with one.

    \b
    Examples:
      gradelake import labels dl19 Sun.qrels --judge Sun
      gradelake import labels shop gpt.csv --judge gpt --column judgment=verdict
      gradelake import labels shop own.csv --judge own --label yes=1 --label no=0
    """


@import_.command("bank", short_help="Store FILE's questions, nuggets or criteria as a bank.")
@bringing_in(
    "ingest.banks.banks:import_bank",
    click.option("--name", required=True, help="Name of the bank."),
    click.option(
        "--format",
        "format_",
        default="auto",
        type=click.Choice(
            ["auto", "workbench", "nuggetizer", "criteria", "argue", "csv", "tqa", "genq"]
        ),
        help="Format of the file; auto detects it.",
    ),
)
def import_bank():
    """Store FILE's questions, nuggets or criteria as a rubric bank: JSON or CSV, plain or .gz. FILE
    may be a folder with a file per topic.

    A changed file replaces the bank. Ids that a file states are kept, because grades made
    elsewhere name them. Oddities are reported by line; an ambiguous item, or one whose query the
    collection does not have, is left out. Exit code 3 means that some were, 2 that nothing landed.

    \b
    Examples:
      gradelake import bank dl19 dl19-questions.jsonl.gz --name questions
      gradelake import bank dl19 nuggets.jsonl --name nuggets --format nuggetizer

    \b
    CSV: columns query_id, kind (question, nugget or criterion:TIER:TYPE) and
    text, and any of facet_id, item_id, gold_answer (several as a|b) and weight.
    nuggetizer: vital nuggets weigh 1, okay ones 0.5.
    """


@import_.command("judgments", short_help="Store the judgments that people filled into a table.")
@bringing_in(
    "ingest.collections.judgments:import_judgments",
    click.option("--assessor", required=True, help="Name of the person or group that judged."),
    *_FORM,
    *_SCALE,
)
def import_judgments():
    """Store the judgments filled into a table: label set `assessor:NAME`, once built.

    The table is a CSV that `gradelake export qrels --sample` wrote, or any with columns for the
    query, the passage and the judgment: CSV, JSON, Parquet, .xlsx, or a database with one. Rows
    with an empty judgment are not judged yet: they are counted and skipped. The same file with more
    of them filled in replaces what it brought before.

    \b
    Examples:
      gradelake import judgments dl19 sample.csv --assessor ann
      gradelake import judgments shop a.xlsx --assessor a --column judgment=stars
    """


@import_.command("scores", short_help="Store scores that somebody else computed.")
@bringing_in(
    "ingest.collections.scores:import_scores",
    click.option("--name", required=True, help="Name of the board."),
    click.option("--measure", metavar="NAME", help="What was measured, if FILE does not say it."),
    *_FORM,
)
def import_scores():
    """Store scores that were computed elsewhere: the board `scores:NAME`, once built.

    FILE is JSON {"system": score}, or a table with columns system and score, and stderr and measure
    where there are such. The board stands in `stats leaderboard` and `correlation` like a label
    set, in the column of its measure. Where FILE has a column for the query, systems can be
    compared by it, too.

    \b
    Examples:
      gradelake import scores shop metrics.csv --name lab \\
          --column "score=tone, cost"
      gradelake compare shop v1 v2 --label-set scores:lab --measure tone
      gradelake import scores car exam.tsv --name EXAM --measure Cover@20
      gradelake stats leaderboard car --board scores:EXAM Cover@20 1 \\
          --board assessor:nist AP 1 --picture boards.svg
    """


@import_.command("support", short_help="Store people's labels of what citations support.")
@bringing_in(
    "ingest.collections.support:import_support",
    click.option("--assessor", required=True, help="Name of the person or group that judged."),
    *_FORM,
    _LABELS,
)
def import_support():
    """Store people's labels of how far cited passages support sentences of answers.

    A table with system, query_id, sentence (its number in the answer, from 1),
    cited_passage_id and support: full, partial or none. They score the answers, under label
    sets such as `assessor:NAME/first_citation`; the mart `support_agreement` compares them with
    graders' labels, and with other people's. What another tool assigned comes in under its name.

    Rows that give the same sentence and passage different labels are left out, all of them (exit
    code 3); the rest lands.

    \b
    Examples:
      gradelake import support rag support.csv --assessor ann
    """


@import_.command("rag", short_help="Store a RAG system's log: contexts, answers and references.")
@click.argument("collection")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--system", help="The system's name (default: the file's, without its ending).")
@click.option(
    "--marks/--no-marks", default=True, help="Whether [1] in an answer cites its context."
)
@click.option(
    "--references/--no-references",
    default=None,
    help="Whether references become nuggets (default: where there is no other rubric).",
)
@with_options(*_FORM)
@answering(lambda done: done.print())
@click.pass_obj
def import_rag(project, collection, file, system, marks, references, **form):
    """Store a RAG system's log, JSON lines, a JSON array, CSV or Parquet: what was asked, what was
    retrieved (a ranking), what was answered, and what a good answer says.

    Its form is known by its columns: logs, results and traces of ragas, DeepEval, promptfoo,
    MLflow, LlamaIndex, LangSmith, Langfuse, Phoenix and OpenTelemetry, and tables of your own whose
    columns have usual names. A column `system` makes several systems; of a conversation the last
    turn is asked. Questions become topics of a COLLECTION whose settings name no other topics. A
    changed file replaces its systems. Where there is no gradelake.toml, one is made here.

    \b
    Examples:
      gradelake import rag support v2.jsonl
      gradelake import rag support traces.jsonl --system v2
      gradelake import rag support own.json --column question=asked.text
    """
    with console.working(f"reading {file}"):
        from gradelake.ingest.rag.rag_import import Options
        from gradelake.ingest.rag.rag_import import import_rag as run_import

        options = Options(system, marks, references, form_of(form))
        return run_import(if_any(project), collection, file, options, typed())
