"""A small collection for gates: what its systems' reciprocal ranks are can be counted by hand."""

from pathlib import Path

from tests.projects import project, write

HOSTILE_QUERY = "q01|<b>&'\"`*_[x](http://y)_"
HOSTILE = "me_@org_+www.x.org=_"  # as far as a system's name can be
QUERIES = [HOSTILE_QUERY, *(f"q{n:02}" for n in range(2, 13))]
# system -> of how many of the twelve queries the relevant passage stands second, not first
SECOND = {"base": 0, "again": 0, "shaky": 1, "worse": 9, HOSTILE: 9}
GATED = {"queries": "topics.tsv", "judgments": {"me": "me.qrels"}, "runs": ["runs/*.run"]}


def write_run(folder: Path, system: str, n_second: int) -> None:
    """RR is 0.5 for the first `n_second` queries, and 1 for the others."""
    order = ("no", "yes")
    ranked = {q: order if n < n_second else order[::-1] for n, q in enumerate(QUERIES)}
    write(folder / "runs" / f"{system}.run", ranked)


def write_gated(folder: Path) -> None:
    """The files of the collection `gated`, with its gradelake.toml."""
    files = {
        "topics.tsv": {query: f"why {query}?" for query in QUERIES},
        "me.qrels": {query: {"yes": 1, "no": 0} for query in QUERIES},
    }
    project(folder, {"gated": GATED}, files=files)
    for system, n_second in SECOND.items():
        write_run(folder, system, n_second)
