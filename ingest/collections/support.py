"""`gradelake import support`: what people say of how far cited passages support sentences."""

from pathlib import Path

import polars as pl

from gradelake.ingest.landing.imported import ImportedFile
from gradelake.ingest.landing.landing import landing
from gradelake.ingest.mapping.columns import roles_of
from gradelake.ingest.mapping.form import ROLES, settings_of
from gradelake.ingest.mapping.stated import Form, file_of_import
from gradelake.sql.common.problems import Problems
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.rows import frame_of

COLUMNS = ("system", "query_id", "sentence", "cited_passage_id", "support")
# as files say it, where nobody says otherwise: full support, "Full Support", FS, 2
LABELS = {
    **dict.fromkeys(("none", "no", "no support", "ns", "0"), 0),
    **dict.fromkeys(("partial", "partial support", "ps", "1"), 1),
    **dict.fromkeys(("full", "full support", "fs", "2"), 2),
}
_FIX = "Fix these rows and import again; nothing of the file was taken."
_CITED = """
    select citations.system, citations.query_id, citations.sentence, citations.cited_passage_id,
        sentences.item_id
    from lake.raw.citations
    inner join lake.raw.sentences using (collection, system, query_id, sentence)
    where citations.collection = ? and sentences.text != ''
"""
_CHANGED = """
    select count(*) from lake.raw.support_judgments as known
    inner join labels using (collection, assessor, query_id, item_id, cited_passage_id)
    where known.support != labels.support
"""


def import_support(
    lake: Lake,
    collection: str,
    path: Path,
    assessor: str,
    arguments: list[str],
    form: Form | None = None,
) -> ImportedFile:
    """Store support labels of a table (`COLUMNS`), in one commit.

    `form`: what the file looks like (mapping/stated.py), where that is not as usual.

    A sentence is named by system, query and its number in the answer; systems that say the same
    share its labels. Rows that contradict each other are left out, as it is not known which is
    right; a row without a label is counted and skipped; a label takes the place of the assessor's
    former one. Raises `BadInput` for an unknown collection or a name that cannot be
    used, and `Rejected` for a file with faults, of which nothing lands.
    """
    done = ImportedFile(str(path), collection, "support labels", {"assessor": assessor})
    known_as = f"Name a table with {', '.join(COLUMNS)}."
    with landing(lake, done, "--assessor", arguments, known_as) as land:
        file = file_of_import(lake.project.folder, path, ["support"], form)
        cited = {tuple(key): item_id for *key, item_id in lake.rows(_CITED, collection)}
        if land.is_known([settings_of(file), sorted(map(str, cited.items()))]):
            return done
        labels, done.empty, done.left_out = _read(path, file, cited)
        keys = ((*pair, support) for pair, support in labels.items())
        columns = ("query_id", "item_id", "cited_passage_id", "support")
        rows = frame_of("support_judgments", columns, keys).select(
            pl.lit(collection).alias("collection"), pl.lit(assessor).alias("assessor"), pl.all()
        )
        with lake.registered("labels", rows):
            done.changed = lake.value(_CHANGED)
            land.transaction.delete_keys_of("labels", "support_judgments")
        done.written = land.transaction.insert("support_judgments", rows)
        land.commit(judgments=done.written)
    return done


def _read(
    path: Path, shown: str, cited: dict[tuple, str]
) -> tuple[dict[tuple[str, str, str], int], int, list[str]]:
    """(query, sentence's item, cited passage) -> support 0 to 2; how many rows have no label; and
    what is left out, because it has several."""
    problems = Problems(shown, _FIX)
    known_labels = LABELS | {
        word.casefold(): label for word, label in settings_of(shown).get("labels", {}).items()
    }
    lines: dict[tuple[str, str, str], dict[int, int]] = {}  # label -> the first line that has it
    empty = 0
    for line, row in roles_of("support", path, shown, tuple(ROLES["support"]), problems):
        system, query_id, sentence, passage_id, label = (
            str(row.get(role) or "") for role in ROLES["support"]
        )
        if not label:
            empty += 1
            continue
        support = known_labels.get(label.casefold().replace("_", " "))
        if support is None:
            problems.add(line, f"support {label!r} is not full, partial or none")
            continue
        is_number = sentence.isdecimal() and len(sentence) < 10
        key = (system, query_id, int(sentence) if is_number else None, passage_id)
        item_id = cited.get(key)
        if item_id is None:
            problems.add(
                line,
                f"sentence {sentence!r} of {system!r} on query {query_id!r} "
                f"does not cite {passage_id!r}",
            )
            continue
        lines.setdefault((query_id, item_id, passage_id), {}).setdefault(support, line)
    problems.raise_if_any()
    labels = {pair: next(iter(said)) for pair, said in lines.items() if len(said) == 1}
    left_out = [
        f"{shown}:{', '.join(map(str, sorted(said.values())))}: different labels of the same "
        f"sentence of query {query_id!r} and {passage_id!r}"
        for (query_id, _, passage_id), said in lines.items()
        if len(said) > 1
    ]
    return labels, empty, left_out
