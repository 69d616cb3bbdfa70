"""Whole campaigns: on a lake on a small disk, and on one whose catalog is on PostgreSQL."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.end_to_end.faults.campaign import Campaign, Tally
from tests.end_to_end.faults.kills import KILLS
from tests.end_to_end.faults.room import Room
from tests.end_to_end.faults.surroundings import (
    DISK_BYTES,
    FILES,
    CatalogLocked,
    PostgresRestarted,
    possible_here,
)
from tests.postgres_server import postgres_server

LAKES = ("small disk", "postgres")


def campaign(
    folder: Path,
    n_faults: int,
    seed: int,
    tell: Callable[[str], None],
    lock_seconds: float = 30.0,
    lake: str = LAKES[0],
    minutes: float = float("inf"),
) -> Tally:
    """Inject so many faults into nights of a lake made in `folder`: one on a small disk, or one
    whose catalog is on a server. No round is begun after so many minutes."""
    until = time.monotonic() + 60 * minutes
    tally = Tally()
    CatalogLocked.seconds = lock_seconds
    if lake == LAKES[1]:
        with postgres_server() as catalog:
            room = Room.made(folder / "postgres", f'catalog = "{catalog}"')
            kinds = [PostgresRestarted, *FILES]
            Campaign(room, kinds, seed, tally, tell).run(n_faults, until)
        return tally
    with small_disk(folder / "disk") as mounted:
        kinds, tally.left_out = possible_here(mounted)
        room = Room.made(folder / "disk" / "lake")
        Campaign(room, [*KILLS, *kinds], seed, tally, tell).run(n_faults, until)
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
