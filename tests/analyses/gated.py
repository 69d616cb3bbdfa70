"""A small collection for gates: what its systems' reciprocal ranks are can be counted by hand."""

from pathlib import Path

HOSTILE_QUERY = "q01|<b>&'\"`*_[x](http://y)_"
HOSTILE = "me_@org_+www.x.org=_"  # as far as a system's name can be
QUERIES = [HOSTILE_QUERY, *(f"q{n:02}" for n in range(2, 13))]
# system -> of how many of the twelve queries the relevant passage stands second, not first
SECOND = {"base": 0, "again": 0, "shaky": 1, "worse": 9, HOSTILE: 9}
SETTINGS = """
[collections.gated]
queries = "topics.tsv"
judgments = { me = "me.qrels" }
runs = ["runs/*.run"]
"""


def write_run(folder: Path, system: str, n_second: int) -> None:
    """RR is 0.5 for the first `n_second` queries, and 1 for the others."""
    lines = [
        f"{query} Q0 {passage} {rank} {9 - rank} x\n"
        for n, query in enumerate(QUERIES)
        for rank, passage in enumerate(["no", "yes"] if n < n_second else ["yes", "no"], start=1)
    ]
    (folder / "runs").mkdir(exist_ok=True)
    (folder / "runs" / f"{system}.run").write_text("".join(lines))


def write_gated(folder: Path) -> None:
    """The files of the collection `gated`, with its gradelake.toml."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gradelake.toml").write_text(SETTINGS)
    (folder / "topics.tsv").write_text("".join(f"{query}\twhy\n" for query in QUERIES))
    labels = [f"{query} 0 yes 1\n{query} 0 no 0\n" for query in QUERIES]
    (folder / "me.qrels").write_text("".join(labels))
    for system, n_second in SECOND.items():
        write_run(folder, system, n_second)
