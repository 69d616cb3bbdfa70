"""A full disk, too little memory, a locked catalog, a server, bucket or file that is gone: what to
do about it."""

import errno
import os
import re

import duckdb

from gradelake.sql.common.errors import NOT_BUILT_YET, Unreachable, WorkFailed

_NOTHING_LOST = "What was committed before stays, and nothing half-done is in the lake."
# the last is what polars says where the disk is full when it writes a Parquet footer
_FULL = re.compile(
    r"no space left on device|database or disk is full|invalid thrift: transport error",
    re.IGNORECASE,
)
_NO_MEMORY = re.compile(r"Out of Memory Error|std::bad_alloc")
_HELD = re.compile(r"/([\d.]+ \w+) used\)")
_LOCKED = re.compile(r"database is locked|database table is locked")
_LOST = re.compile(r'Cannot open file "([^"]+\.parquet)": No such file or directory')
_DAMAGED = re.compile(
    r"No magic bytes found at end of file '([^']+\.parquet)'"
    r"|File '([^']+\.parquet)' too small to be a Parquet file"
)
# what is left of a session whose PostgreSQL server went away, at its first query and at later ones
_SERVER_GONE = re.compile(
    r"server closed the connection|terminating connection|no connection to the server"
    r"|from DuckLake: Current transaction is aborted|the database system is (shutting|starting)"
    r'|Unable to connect to Postgres|Failed to execute query "ROLLBACK"'
    r"|Attempting to fetch from an unsuccessful query result"
)
_NO_RIGHT = re.compile(
    r"cannot execute [A-Z ]+ in a read-only transaction|permission denied for [a-z]+ \"?\w+\"?"
)
_LACKS = re.compile(
    r"(?si)^Binder Error: .*?(?:column |have a column named |extract field )[\"'](\w+)[\"']"
    r"|^Catalog Error: Table with name (\S+) does not exist"
)
_KEPT_FROM_US = (errno.EROFS, errno.EACCES, errno.EPERM)
_CLOSED = re.compile(
    r'(?:Cannot open file|Failed to create directory) "([^"]+)": '
    r"(Read-only file system|Permission denied)"
)


def in_plain_words(error: BaseException, ours: bool = False) -> WorkFailed | None:
    """An error of DuckDB, SQLite or the system as one that says what to do; None for others.
    `ours`: of a statement of ours, where what is missing is missing in what is read."""
    if refused := bucket_error(error):
        return refused
    text = str(error)
    if ran_out := _ran_out(error):
        return ran_out
    if _LOCKED.search(text):
        return WorkFailed(
            "the catalog is locked by another program (database is locked)",
            f"{_NOTHING_LOST} Close what has it open (an SQLite shell, a backup tool), and run it "
            "again.",
        )
    if no_right := _NO_RIGHT.search(text):
        return WorkFailed(
            f"this PostgreSQL login may not do that: {no_right[0]}",
            f"{_NOTHING_LOST} Name a login that may in [lake] of gradelake.toml; SECURITY.md says "
            "which there are.",
        )
    if isinstance(error, OSError) and error.filename and error.errno in _KEPT_FROM_US:
        return cannot_be_used(str(error.filename), os.strerror(error.errno))
    if closed := _CLOSED.search(text):
        return cannot_be_used(closed[1], closed[2])
    if _SERVER_GONE.search(text):
        return Unreachable(
            "the connection to the lake's catalog was lost: was its PostgreSQL server restarted?",
            f"{_NOTHING_LOST} Run it again once it answers.",
        )
    if lost := _LOST.search(text):
        return WorkFailed(
            f"{lost[1]}: this data file of the lake is gone",
            "`gradelake lake verify` lists all that are missing, and says what to do.",
        )
    if damaged := _DAMAGED.search(text):
        return WorkFailed(
            f"{damaged[1] or damaged[2]}: this data file is damaged (it has no Parquet footer)",
            "If it is the lake's, `gradelake lake verify` says who is hit, and what to do.",
        )
    return older_release(error) if ours else None


class RanOut(WorkFailed):
    """The machine has too little for the work; what was read is not at fault."""


def _ran_out(error: BaseException) -> RanOut | None:
    text = str(error)
    of_spill = "max_temp_directory_size" in text  # by default what the disk has free
    if of_spill or _FULL.search(text) or getattr(error, "errno", None) == errno.ENOSPC:
        return RanOut(
            "no space is left on the disk", f"{_NOTHING_LOST} Make room, and run it again."
        )
    if isinstance(error, MemoryError) or _NO_MEMORY.search(text):
        if had := _HELD.search(text):
            return RanOut(
                f"memory ran out: DuckDB may hold {had[1]} for this",
                f"{_NOTHING_LOST} Let it hold more: memory_gb in [lake] of gradelake.toml is half "
                "of the machine's memory by default, and what goes through row by row has a tenth "
                "of that.",
            )
        return RanOut(
            "memory ran out",
            f"{_NOTHING_LOST} Close what else needs it, or run this where there is more.",
        )
    return None


def damage(error: BaseException) -> str:
    """What is said of something that cannot be read, in a line. Raises `RanOut` where memory or the
    disk did not suffice: that is no damage."""
    if ran_out := _ran_out(error):
        raise ran_out from None
    return (str(error) or type(error).__name__).splitlines()[0]


def older_release(error: BaseException | None, release: str | None = None) -> WorkFailed | None:
    """What a statement of ours asks for and what is read lacks: an older version built that."""
    if not (isinstance(error, duckdb.Error) and (lacks := _LACKS.search(str(error)))):
        return None
    what = f"column {lacks[1]}" if lacks[1] else f"table {lacks[2]}"
    which = f"release {release}" if release else "what is read"
    return WorkFailed(f"{which} has no {what}", NOT_BUILT_YET)


class CannotBeUsed(WorkFailed):
    """The system keeps a place from us."""


def cannot_be_used(place: str, reason: str) -> CannotBeUsed:
    """A place that the system keeps from us, and why."""
    return CannotBeUsed(
        f"{place} cannot be used: {reason}",
        f"{_NOTHING_LOST} Run it as a user, and on a file system, that may write there.",
    )


def bucket_error(error: BaseException) -> WorkFailed | None:
    """What DuckDB says of a bucket that refuses or does not answer, in the words of this project;
    None for any other error. No secret is in it: keys are sent as signatures."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = "".join(lines[:1])
    is_refused = isinstance(error, duckdb.HTTPException) or (
        isinstance(error, duckdb.IOException | duckdb.TransactionException)
        and re.search(r"HTTP (Error|GET|HEAD|PUT|POST|DELETE)|<Code>|s3://", first)
    )
    if not is_refused:
        return None
    what = re.sub(r"^(HTTP|IO) Error: ", "", lines[0])
    # AccessDenied, SignatureDoesNotMatch, NoSuchBucket, ...
    reason = [line for line in lines[1:2] if re.match(r"[A-Z][A-Za-z]+: ", line)]
    return WorkFailed(
        " ".join(["the bucket cannot be used:", what, *reason]),
        "Are the AWS_ variables right (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, "
        "AWS_ENDPOINT_URL), and may this key do that?",
    )
