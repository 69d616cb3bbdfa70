"""What systems have in common: `[collections.NAME.groups.GROUPING]` of gradelake.toml."""

from fnmatch import fnmatchcase

from gradelake.ingest.collections.targets import Targets, hash_of
from gradelake.sql.common.problems import Problems
from gradelake.sql.lake.rows import frame_of


def write(into: Targets) -> None:
    """Put the collection's systems into their groups, as they are now.

    Raises `Rejected` when a system would be in two groups of one grouping; warns of patterns that
    fit no system of the lake.
    """
    settings = into.collection.groups
    systems = sorted(into.known("systems", "system"))
    where = f"[collections.{into.name}.groups]"
    problems = Problems(where, "Let each system match the patterns of one group only.")
    rows = []
    for grouping, groups in settings.items():
        placed: dict[str, str] = {}
        for group, patterns in groups.items():
            for pattern in patterns:
                fitting = [system for system in systems if fnmatchcase(system, pattern)]
                if not fitting:
                    into.outcome.warnings.append(
                        f"{where} {grouping}, {group}: no system is called {pattern!r}"
                    )
                for system in fitting:
                    if placed.setdefault(system, group) != group:
                        problems.add(
                            None, f"{grouping}: {system!r} is in {placed[system]!r} and {group!r}"
                        )
        rows += [(grouping, group, system) for system, group in placed.items()]
    problems.raise_if_any()
    target = into.target("system_groups")
    if not rows and into.transaction.recorded(target) is None:
        return
    sha256 = hash_of(rows)
    if into.transaction.recorded(target) == sha256:
        return  # not an input of its own
    frame = frame_of("system_groups", ("grouping", "group_name", "system"), rows)
    into.replace("system_groups", frame, where, target, sha256)
