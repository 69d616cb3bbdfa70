"""Whole campaigns: on lakes on a small disk whose catalog is a file, or on PostgreSQL."""

import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.end_to_end.faults.campaign import Campaign
from tests.end_to_end.faults.clock import ClockBack
from tests.end_to_end.faults.kills import KILLS, Fault
from tests.end_to_end.faults.room import Room
from tests.end_to_end.faults.rounds import Rounds
from tests.end_to_end.faults.starter import Starter
from tests.end_to_end.faults.strikes import FILE_HITS, SIGNALS, ConnectionsEnded, TablesLocked
from tests.end_to_end.faults.surroundings import (
    DISK_BYTES,
    FILES,
    CatalogLocked,
    DiskFull,
    PostgresRestarted,
    possible_here,
)
from tests.end_to_end.faults.tally import Tally
from tests.end_to_end.faults.works import Desk
from tests.postgres_server import new_database, postgres_server

LAKES = ("sqlite", "postgres")
IN_NIGHTS = 0.05  # of the faults; the others meet single commands


def campaign(
    folder: Path,
    n_faults: int,
    seed: int,
    tell: Callable[[str], None],
    lock_seconds: float = 30.0,
    lake: str = LAKES[0],
    minutes: float = float("inf"),
    in_nights: float = IN_NIGHTS,
) -> Tally:
    """Inject so many faults into commands and nights on two lakes made in `folder`. No round is
    begun after so many minutes."""
    until = time.monotonic() + 60 * minutes
    tally = Tally()
    nights = round(n_faults * in_nights)
    with small_disk(folder / "disk") as mounted:
        place = folder / "disk"
        here, tally.left_out = possible_here(mounted)
        whole = [*SIGNALS, *FILE_HITS, *(kind for kind in (DiskFull, ClockBack) if kind in here)]
        if lake == LAKES[1]:
            with postgres_server() as catalog:
                setting = f'catalog = "{new_database(catalog, "desk")}"'
                kinds = [*whole, TablesLocked, ConnectionsEnded, PostgresRestarted]
                _commands(place, setting, kinds, n_faults - nights, seed, tally, tell, until)
                if nights:
                    room = Room.made(place / "nights", f'catalog = "{catalog}"')
                    kinds = [PostgresRestarted, *FILES]
                    Campaign(room, kinds, seed, tally, tell).run(nights, until)
            return tally
        CatalogLocked.seconds = (1, 2, 3, 3, lock_seconds + 5)
        _commands(place, "", [*whole, CatalogLocked], n_faults - nights, seed, tally, tell, until)
        CatalogLocked.seconds = (lock_seconds,)
        if nights:
            room = Room.made(place / "nights")
            Campaign(room, [*KILLS, *here], seed, tally, tell).run(nights, until)
    return tally


def _commands(
    folder: Path, setting: str, kinds: list[type[Fault]], n: int, seed: int, tally, tell, until
) -> None:
    """Rounds of commands on a new lake."""
    desk = Desk.made(folder / "desk", setting)
    environment: dict[str, str] = {}
    if ClockBack in kinds:
        ClockBack(random.Random(seed)).prepare(desk, environment)
    with Starter(environment) as desk.starter:
        desk.must("ingest", "tiny")
        Rounds(desk, kinds, seed, tally, tell).run(n, until)


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
