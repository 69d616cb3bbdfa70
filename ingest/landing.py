"""How a file that somebody imports lands: found, known again by its bytes, read, committed once."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradelake.sql.common import files
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.transaction import Transaction


@dataclass
class Landing:
    """One import, within its transaction. `target`: the ledger's entry of what it brings."""

    transaction: Transaction
    target: str
    path: Path
    sha256: str
    arguments: list[str]
    mark: str = ""  # what the ledger knows the import by

    def is_known(self, beside: Any = None) -> bool:
        """Whether these bytes are what is in the lake. `beside`: what else makes the rows what they
        are, such as options, or rows of the lake that they are looked up in."""
        self.mark = self.sha256
        if beside is not None:
            content = json.dumps([self.sha256, beside]).encode()
            self.mark = hashlib.sha256(content).hexdigest()
        return self.transaction.recorded(self.target) == self.mark

    def commit(self, n_rows: int, **said: int) -> None:
        """End the import with what the log says of it. Raises `Rejected` where the file changed
        while it was read."""
        files.require_same(self.path, str(self.path), self.sha256)
        self.transaction.record(self.target, self.mark, n_rows)
        self.transaction.say(**said)
        self.transaction.finish_run(self.arguments)


@contextmanager
def landing(
    lake: Lake, kind: str, collection: str, name: str, path: Path, arguments: list[str], hint: str
) -> Iterator[Landing]:
    """The import of a file as the `kind` of a name, in one transaction; without `commit` nothing of
    it stays. Raises `BadInput` for an unknown collection, and a file that is not there (`hint`)."""
    with lake.transaction("import", f"{kind} {collection} {name}") as transaction:
        lake.require_collection(collection)
        if not path.is_file():
            raise BadInput(f"{path}: no such file", hint)
        target, sha256 = f"{collection}/{kind}/{name}", files.sha256_of(path)
        yield Landing(transaction, target, path, sha256, arguments)
