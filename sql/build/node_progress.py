"""How a build shows what it is at."""

from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from gradelake.sql.common import console
from gradelake.sql.shown.kinds import shown


class NodeProgress(Progress):
    """Shows a build's models as they finish: a bar on a terminal, a line each elsewhere."""

    def __init__(self, quiet: bool):
        """`quiet`: nothing is shown, because a JSON object is printed."""
        self._quiet = quiet
        self._each = console.loudness.verbose and not quiet
        super().__init__(
            TextColumn("building"),
            MofNCompleteColumn(" of "),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=console.err,
            transient=True,
            disable=quiet or self._each or not console.shows_progress(),
        )
        self._task = self.add_task("", total=None)

    def total(self, n: int) -> None:
        """There are `n` models, seeds and data tests to run."""
        self.update(self._task, total=n)

    def node(self, name: str, status: str, seconds: float) -> None:
        """One of them has finished."""
        self.update(self._task, description=name, advance=1)
        if self._each:
            console.warn(f"  {name}: {status} in {shown('seconds', seconds)}")
        elif status == "fail" and self.disable and not self._quiet:
            console.warn(f"  {name}: {status}")
