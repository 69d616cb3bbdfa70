"""The lake: one connection, table contracts, migrations, releases, and the analysts' query book."""

from sql.errors import BadInput, GradelakeError, WorkFailed
from sql.lake import Lake
from sql.project import Project

__all__ = ["BadInput", "GradelakeError", "Lake", "Project", "WorkFailed"]
