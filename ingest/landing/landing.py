"""How a file that somebody imports lands: found, known again by its bytes, read, committed once."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradelake.ingest.landing.imported import ImportedFile
from gradelake.sql.common import files
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.noting import listening
from gradelake.sql.common.project import check_name
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.transaction import Transaction


@dataclass
class Landing:
    """One import, within its transaction. `target`: the ledger's entry of what it brings; `mark`:
    what the ledger knows it by."""

    transaction: Transaction
    done: ImportedFile
    target: str
    sha256: str
    arguments: list[str]
    mark: str = ""

    def is_known(self, beside: Any = None) -> bool:
        """Whether these bytes are what is in the lake. `beside`: what else makes the rows what they
        are, such as options, or rows of the lake that they are looked up in."""
        self.mark = self.sha256
        if beside is not None:
            content = json.dumps([self.sha256, beside]).encode()
            self.mark = hashlib.sha256(content).hexdigest()
        return self.transaction.recorded(self.target) == self.mark

    def commit(self, **logged: int) -> None:
        """End the import with what the log says of it. Raises `Rejected` where the file changed
        while it was read."""
        files.require_same(Path(self.done.file), self.done.file, self.sha256)
        self.transaction.record(self.target, self.mark, self.done.written)
        self.transaction.say(**logged)
        self.transaction.finish_run(self.arguments)


@contextmanager
def landing(
    lake: Lake, done: ImportedFile, option: str, arguments: list[str], form: str
) -> Iterator[Landing]:
    """The import of a file, in one transaction; without `commit` nothing of it stays. `option` says
    whose it is, `form` what the file should be.

    Raises `BadInput` for an unknown collection, a name that cannot be used, and where there is no
    file.
    """
    name, kind, path = str(next(iter(done.by.values()))), done.what.split()[0], Path(done.file)
    check_name(name, option)
    with lake.transaction("import", f"{kind} {done.collection} {name}") as transaction:
        lake.require_collection(done.collection)
        if not path.is_file():
            raise BadInput(f"{path}: no such file", form)
        target, sha256 = f"{done.collection}/{kind}/{name}", files.sha256_of(path)
        with listening() as heard:
            yield Landing(transaction, done, target, sha256, arguments)
        done.warnings += heard
    if transaction.dirty:
        done.snapshot = lake.newest_snapshot()
