"""How a build shows what it is at."""

from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from gradelake.sql.common import console


class NodeProgress:
    """Shows a build's models as they finish: a bar on a terminal, a line each elsewhere."""

    def __init__(self, quiet: bool):
        """`quiet`: nothing is shown, because a JSON object is printed."""
        self._quiet = quiet
        self._each = console.loudness.verbose and not quiet
        self._shown = not quiet and not self._each and console.shows_progress()
        self._bar = Progress(
            TextColumn("building"),
            MofNCompleteColumn(" of "),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=console.err,
            transient=True,
        )

    def __enter__(self) -> "NodeProgress":
        if self._shown:
            self._bar.start()
            self._task = self._bar.add_task("", total=None)
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._bar.stop()

    def total(self, n: int) -> None:
        """There are `n` models, seeds and data tests to run."""
        if self._shown:
            self._bar.update(self._task, total=n)

    def node(self, name: str, status: str, seconds: float) -> None:
        """One of them has finished."""
        if self._quiet:
            return
        if self._shown:
            self._bar.update(self._task, description=name, advance=1)
        elif self._each:
            console.warn(f"  {name}: {status} in {seconds:.2f} s")
        elif status == "fail":
            console.warn(f"  {name}: {status}")
