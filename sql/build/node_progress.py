"""How a build shows what it is at."""

from rich.progress import Progress, TextColumn, TimeElapsedColumn

from gradelake.sql.common import console


class NodeProgress:
    """Shows a build's models as they finish: a bar on a terminal, a line each elsewhere."""

    def __init__(self, quiet: bool):
        """`quiet`: nothing is shown, because dbt's own log or an object tells."""
        self._quiet = quiet
        self._shown = not quiet and console.shows_progress()
        self._bar = Progress(
            TextColumn("building"),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
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

    def __call__(self, name: str, status: str, seconds: float) -> None:
        if self._quiet:
            return
        if self._shown:
            self._bar.update(self._task, description=name)
        elif status not in ("pass", "success", "skipped"):  # skipped: it depends on what failed
            console.warn(f"  {name}: {status}")
