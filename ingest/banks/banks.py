"""`gradelake import bank`: other people's questions and nuggets become a rubric bank."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from gradelake.ingest.banks import bank_checks, bank_formats, bank_json, bank_lines, bank_table
from gradelake.ingest.banks.bank_items import Draft, Findings, Item, settle
from gradelake.ingest.reading.rows import is_binary
from gradelake.sql.common import console, files
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Rejected, reject
from gradelake.sql.common.project import check_name
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.rows import frame_of
from gradelake.sql.lake.transaction import Transaction

_NO_BANK = (
    "A bank is JSON (of the RUBRIC workbench, genq, nuggetizer, autojudge or TQA) or a table (CSV, "
    "a workbook, Parquet, JSON) with the columns query_id, kind and text."
)


@dataclass
class ImportedBank:
    """What an import did; `snapshot` is None when nothing changed."""

    bank: str
    collection: str
    findings: Findings
    n_items: int = 0
    n_queries: int = 0
    snapshot: int | None = None

    @property
    def exit_code(self) -> int:
        """3 when something was left out, else 0."""
        return 3 if self.findings.left_out else 0

    def as_object(self) -> dict:
        """What `--json` prints; every oddity is in it."""
        found = self.findings
        return {
            "written": self.n_items,
            "queries": self.n_queries,
            "snapshot": self.snapshot,
            "n_left_out": found.n_left_out,
            "left_out": [vars(problem) for group in found.left_out.values() for problem in group],
            "notes": [vars(problem) for group in found.notes.values() for problem in group],
            "bank": self.bank,
        }

    def print(self) -> None:
        """Say it to a person: the oddities on standard error, the outcome on standard output."""
        found = self.findings
        if self.snapshot is None:
            console.say(f"{found.file}: unchanged, nothing to do")
            return
        for line in found.lines(found.left_out):
            console.warn(line)
        for line in found.lines(found.notes):
            console.warn(f"note: {line}")
        console.say(
            f"bank {self.bank}: wrote {counted(self.n_items, 'items')} of "
            f"{counted(self.n_queries, 'queries')} for {self.collection}"
        )
        if found.left_out:
            what = counted(found.n_left_out, "items") if found.n_left_out else "parts of the file"
            console.warn(f"left out: {what}; the rest landed")


def import_bank(
    lake: Lake, collection: str, path: Path, name: str, format_: str, arguments: list[str]
) -> ImportedBank:
    """Store a bank's items; a changed file replaces the bank's items in one commit.

    Grades of items that are gone stay in the lake. Raises `BadInput` for an unknown collection or
    a name that cannot be used, and `Rejected` for a file that is not a bank or from which no item
    can be used.
    """
    check_name(name, "--name")
    shown, findings = str(path), Findings(str(path))
    with lake.transaction("import", f"bank {collection} {name}") as transaction:
        lake.require_collection(collection)
        paths = _files_of(path)
        _refuse_if_not_imported(lake, collection, name)
        queries = lake.query_ids(collection)
        of_file = " ".join(map(files.sha256_of, paths))
        # of the queries, too: items that were left out come in when their query does
        content = json.dumps([of_file, sorted(queries)]).encode()
        target, sha256 = f"{collection}/bank/{name}", hashlib.sha256(content).hexdigest()
        if transaction.recorded(target) == sha256:
            return ImportedBank(name, collection, findings)
        found = read_bank(path, shown, format_, findings)
        for file, sha256_then in zip(paths, of_file.split(), strict=True):
            files.require_same(file, str(file), sha256_then)
        items = bank_checks.of_known_queries(found, queries, findings)
        if not items:
            raise _nothing_left(findings, collection)
        n_items = _write(transaction, collection, name, items, findings.kept)
        transaction.record(target, sha256, n_items)
        transaction.say(rubric_items=n_items, left_out=findings.n_left_out)
        transaction.finish_run(arguments)
    n_queries = len({item.query_id for item in items})
    return ImportedBank(name, collection, findings, n_items, n_queries, lake.newest_snapshot())


def read_bank(path: Path, shown: str, format_: str, findings: Findings) -> list[Item]:
    """The items of a bank, each once; `format_` is auto, csv or one of `bank_formats.READERS`.

    `path` is a file, or a folder with a file per topic. Oddities go to `findings`. Raises
    `Rejected` for a file that is not a bank of that format.
    """
    settled: list[Item] = []
    for file in _files_of(path):
        findings.file = shown if file == path else str(file)
        drafts = _drafts(file, findings.file, format_, findings)
        for draft in drafts:
            if item := settle(draft):
                settled.append(item)
                bank_lines.keep(findings.kept, item, draft)
    if findings.file != shown:  # lines of several files say nothing together
        settled = [item._replace(line=None) for item in settled]
        findings.file = shown
    bank_checks.note_unusual_topics(settled, findings)
    items = bank_checks.once_each(settled, findings)
    bank_checks.note_shared_ids(items, findings)
    bank_checks.note_broken_texts(items, findings)
    return items


def _files_of(path: Path) -> list[Path]:
    """The file, or the files of a folder, by name. Raises `BadInput` where there is none."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise BadInput(f"{path}: no such file", "Name a file that holds a rubric bank.")
    endings = (".json", ".jsonl", ".csv")
    found = [
        file
        for file in sorted(path.iterdir())
        if file.name.lower().removesuffix(".gz").endswith(endings) and file.is_file()
    ]
    if not found:
        raise BadInput(f"{path}: no file in it ends in {', '.join(endings)} (or .gz)")
    return found


def _drafts(path: Path, shown: str, format_: str, findings: Findings) -> list[Draft]:
    is_text = not is_binary(path)
    is_json = is_text and next(files.chunks(path, shown), b"").lstrip()[:1] in (b"{", b"[")
    if format_ == "csv" or (format_ == "auto" and not is_json):
        of_rows = bank_table.read(path, shown, findings)
        if of_rows is None:
            raise reject(shown, None, "this is not a rubric bank", _NO_BANK)
        return of_rows
    data = files.read(path, shown)
    banks = list(bank_json.read_objects(data, shown))
    formats = [bank_formats.format_of(bank) for _, bank in banks]
    if format_ == "auto":
        format_ = next(filter(None, formats), "")
        if not format_ and (rows := bank_table.read(path, shown, findings)):
            return rows
    if format_ not in formats:
        found = ", ".join(sorted({name for name in formats if name}))
        what = f"this is not in the {format_} format" if format_ else "this is not a rubric bank"
        raise reject(shown, None, what, f"It looks like --format {found}." if found else _NO_BANK)
    drafts: list[Draft] = []
    for (line, bank), name in zip(banks, formats, strict=True):
        if name == format_:
            drafts.extend(bank_formats.READERS[format_](line, bank, findings))
        else:
            findings.leave_out("bank", line, f"left out: not in the {format_} format", n=0)
    return drafts


def _refuse_if_not_imported(lake: Lake, collection: str, bank: str) -> None:
    origins = lake.rows(
        "select distinct origin from lake.raw.rubric_items "
        "where collection = ? and bank = ? and origin <> 'imported'",
        collection,
        bank,
    )
    if origins:
        raise BadInput(
            f"{collection} has a bank {bank!r} from another source ({origins[0][0]})",
            "An import would replace it. Choose another --name.",
        )


def _nothing_left(findings: Findings, collection: str) -> Rejected:
    problems = [problem for group in findings.left_out.values() for problem in group]
    if not problems:
        return reject(findings.file, None, "the bank holds no items", "Is this the right file?")
    if set(findings.left_out) == {"unknown"}:
        hint = f"None of its queries is one of {collection}'s. Is this the right collection?"
    else:
        hint = "No item of this file can be used. Fix these lines and import it again."
    return Rejected(problems, hint)


def _write(
    transaction: Transaction, collection: str, bank: str, items: list[Item], lines: bank_lines.Lines
) -> int:
    target = f"{collection}/bank/{bank}"
    transaction.delete("brought_along", target=target)
    columns = ("query_id", "part", "content", "place")
    brought = frame_of("brought_along", columns, bank_lines.rows(lines, items))
    transaction.insert("brought_along", brought, collection=collection, target=target)
    numbered = ((*item[1:], place) for place, item in enumerate(items, start=1))
    rows = frame_of("rubric_items", (*Item._fields[1:], "place"), numbered)
    of_bank = {"collection": collection, "bank": bank}
    transaction.delete("rubric_items", **of_bank)
    made = {"origin": "imported", "created_at": utc_now()}
    return transaction.insert("rubric_items", rows, **of_bank, **made)
