"""Faults in commands and nights: what a lake survives, and how each fault ends.

Each command that writes is broken on a small lake, nights too: processes are killed, the
disk fills up, the catalog is locked, files change or are gone, the clock goes back, a server
restarts. After each fault all that was acknowledged is looked for, and the lake is verified.

    python -m tests.benchmarks.faults [--faults 100] [--seed 1] [--lake postgres] [--only nightly]
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.end_to_end.faults.whole import LAKES, campaign


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--only", action="append", default=[], help="a command; may be repeated")
    parser.add_argument("--by", action="append", default=[], help="a fault; may be repeated")
    parser.add_argument("--lake", choices=LAKES, default=LAKES[0])
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="gradelake-faults-") as folder:
        tally = campaign(
            Path(folder),
            options.faults,
            options.seed,
            lambda text: print(text, file=sys.stderr, flush=True),
            options.lake,
            options.minutes,
            tuple(options.only),
            tuple(options.by),
        )
    print(tally.text(), end="")
    print(f"{(time.monotonic() - started) / 60:.0f} minutes")
    sys.exit(bool(tally.problems))


if __name__ == "__main__":
    main()
