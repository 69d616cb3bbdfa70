"""`gradelake build --watch`: builds again whenever a seed is saved or the lake gets a commit."""

import time
from collections.abc import Iterator

from gradelake.sql.build.seeds import seeds_folder
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake

_SECONDS = 0.5  # between two looks


def changes_of(project: Project) -> Iterator[None]:
    """Yields at once, and then after each change; ends never.

    A build of its own is a change, too: that nothing is left to do is for the next build to find.
    Raises `BadInput` when there is no lake.
    """
    with Lake.live(project) as lake:
        built = None
        while True:
            # what shows a change: the newest commit, and the seeds as they were saved
            files = ((file, file.stat()) for file in sorted(seeds_folder(project).glob("*.csv")))
            seeds = [(file.name, about.st_mtime_ns, about.st_size) for file, about in files]
            found = lake.newest_snapshot(), seeds
            if found != built:
                yield
                built = found  # from before the build: what was saved during it is seen next
            time.sleep(_SECONDS)
