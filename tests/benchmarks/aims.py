"""What was measured beside what is wanted of it, in one table at the end of `make bench`."""

from rich.console import Console
from rich.table import Table

console = Console(highlight=False, width=100)

# processor seconds of whole processes, where the name says nothing else
AT_MOST = {
    "DL 2019: an item is dropped, build": 2.5,
    "DL 2019: the second edit in a process that stays": 2.0,
    "DL 2019: one new run, ingest": 1.5,
    "DL 2019: one new run, build": 2.5,
    "37 runs, ingest": 2.0,
    "370 runs, ingest": 14,
    "first build of the demo": 3.5,
    "size 1: build after an item is dropped": 8,
    "size 1: build after a new system": 9,
    "size 1: first build": 100,
    "size 1: export grades": 100,
    "engine `openai`: ms of processor time a pair": 0.6,
    "report of the demo": 4,
    "a night with nothing new": 2,
    "a night: 3 new systems beside 97": 25,
    "make demo after the installation, by the clock": 30,
    "3x5000: GB of a report": 1.5,
    "3x5000: GB of a server": 1.5,
    "300x100: GB of a report": 1.5,
    "300x100: GB of a server": 1.5,
}
AT_LEAST = {
    "37 runs: pytrec_eval / ingest and first build": 1.2,
    "370 runs: pytrec_eval / ingest and first build": 3.5,
    "37 runs: evaluate() / measure models": 12,
    "370 runs: evaluate() / measure models": 12,
    "engine `openai`: pairs a second": 1_000,
}
_measured: dict[str, float] = {}


def note(what: str, figure: float) -> None:
    """Keep a figure for the table, which shows it if `what` has an aim."""
    _measured[what] = figure


def table() -> Table:
    """A row for each aim; what misses it is marked."""
    shown = Table(title="Aims: processor seconds of whole processes, or as named")
    for column in ("what", "measured", "wanted", ""):
        shown.add_column(column, justify="right" if column == "measured" else "left")
    for bound, aims in (("at most", AT_MOST), ("at least", AT_LEAST)):
        for what, aim in aims.items():
            figure, remark = _measured.get(what), ""
            if figure is None:
                remark = "not measured"
            elif figure > aim if aims is AT_MOST else figure < aim:
                remark = "missed"
            measured = "" if figure is None else f"{figure:,.2f}"
            shown.add_row(what, measured, f"{bound} {aim:,g}", remark)
    return shown
