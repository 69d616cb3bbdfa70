"""What was measured beside what it should be at most, in one table at the end of `make bench`."""

from rich.console import Console
from rich.table import Table

console = Console(highlight=False, width=100)

# processor seconds of whole processes, where the text says nothing else; times: at least
AIMS = {
    "DL 2019: an item is dropped, build": "2.5",
    "DL 2019: the second edit in a process that stays": "2.0",
    "DL 2019: one new run, ingest": "1.5",
    "DL 2019: one new run, build": "2.5",
    "37 runs, ingest": "2.0",
    "370 runs, ingest": "14",
    "first build of the demo": "3.5",
    "37 runs: pytrec_eval / ingest and first build": "1.2x",
    "370 runs: pytrec_eval / ingest and first build": "3.5x",
    "37 runs: evaluate() / measure models": "12x",
    "370 runs: evaluate() / measure models": "12x",
    "size 1: build after an item is dropped": "8",
    "size 1: build after a new system": "9",
    "size 1: first build": "100",
    "size 1: export grades": "100",
    "engine `openai`: pairs a second": "1,000x",
    "engine `openai`: ms of processor time a pair": "0.6",
    "report of the demo": "4",
    "a night with nothing new": "2",
    "a night: 3 new systems beside 97": "25",
    "make demo after the installation, by the clock": "30",
}
_measured: dict[str, float] = {}


def note(what: str, figure: float) -> None:
    """Keep a figure for the table. `what` is one of the aims."""
    _measured[what] = figure


def table() -> Table:
    """What was noted so far, a row each; what misses its aim is marked."""
    shown = Table(title="Aims: processor seconds of whole processes, or as named")
    for column in ("what", "measured", "aim", ""):
        shown.add_column(column, justify="right" if column in ("measured", "aim") else "left")
    for what, aim in AIMS.items():
        if (figure := _measured.get(what)) is None:
            shown.add_row(what, "", aim, "not measured")
            continue
        wanted = float(aim.rstrip("x").replace(",", ""))
        missed = figure < wanted if aim.endswith("x") else figure > wanted
        shown.add_row(what, f"{figure:,.1f}", aim, "missed" if missed else "")
    return shown
