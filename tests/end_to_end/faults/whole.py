"""The campaign: on a lake on a small disk, with its catalog in PostgreSQL, or its files in S3."""

import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

from tests.end_to_end.faults.clock import ClockBack
from tests.end_to_end.faults.rounds import Rounds
from tests.end_to_end.faults.starter import Starter
from tests.end_to_end.faults.strikes import (
    DISK_BYTES,
    FILE_HITS,
    PROCESSES,
    BucketStill,
    CatalogLocked,
    ConnectionsEnded,
    DiskFull,
    Fault,
    ParquetLost,
    PostgresRestarted,
    TablesLocked,
)
from tests.end_to_end.faults.tally import Tally
from tests.end_to_end.faults.works import Desk, model, writers
from tests.postgres_server import new_database, postgres_server
from tests.s3_server import s3_server

LAKES = ("sqlite", "postgres", "s3")


def campaign(
    folder: Path,
    n_faults: int,
    seed: int,
    tell: Callable[[str], None],
    lake: str = LAKES[0],
    minutes: float = float("inf"),
    only: tuple[str, ...] = (),
    by: tuple[str, ...] = (),
    turn: int = 0,
) -> Tally:
    """Break commands of a lake made in `folder` by so many faults; `only` these, and `by` these
    kinds of fault, if some are named. A command meets each kind once before any twice, from the
    first on, or from as far down the list as `turn` says: campaigns in parts meet all.

    No round is begun after so many minutes.
    """
    until = time.monotonic() + 60 * minutes
    tally = Tally()
    kinds: list[type[Fault]] = [*PROCESSES, *FILE_HITS]
    with ExitStack() as stack:
        mounted = stack.enter_context(small_disk(folder / "disk"))
        for kind, there, why in (
            (DiskFull, mounted, "no small file system could be mounted (is this root?)"),
            (ClockBack, shutil.which("gcc"), "there is no gcc to make the clock that jumps"),
        ):
            if there:
                kinds.append(kind)
            else:
                tally.left_out[kind.kind] = why
        setting = ""
        if lake == LAKES[1]:
            catalog = stack.enter_context(postgres_server())
            setting = f'catalog = "{new_database(catalog, "desk")}"'
            kinds += [TablesLocked, ConnectionsEnded, PostgresRestarted]
        elif lake == LAKES[2]:
            bucket = stack.enter_context(s3_server())
            stack.enter_context(mock.patch.dict(os.environ, bucket.writer))
            setting = f'data = "{bucket.data("desk")}"'
            kinds += [CatalogLocked, BucketStill]
        else:
            kinds += [CatalogLocked, ParquetLost]
        kinds = [kind for kind in kinds if not by or kind.kind in by]
        turn %= len(kinds)
        kinds = kinds[turn:] + kinds[:turn]
        asked = stack.enter_context(model())
        desk = Desk.made(folder / "disk" / "desk", f"{setting}\n{writers(asked)}")
        if lake == LAKES[2]:
            desk.bucket = bucket
        environment: dict[str, str] = {}
        if ClockBack in kinds:
            ClockBack(random.Random(seed)).prepare(desk, environment)
        desk.starter = stack.enter_context(Starter(environment))
        Rounds(desk, kinds, seed, tally, tell, only).run(n_faults, until)
    return tally


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Mount a small file system there; yields whether that could be done."""
    folder.mkdir(parents=True)
    size = f"size={DISK_BYTES}"
    command = ["mount", "-t", "tmpfs", "-o", size, "gradelake-faults", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=False)
