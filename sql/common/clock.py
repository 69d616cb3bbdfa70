"""The time, as the lake stores it. Workers import this, and nothing that opens a lake."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    """UTC without a zone, to the microsecond."""
    return datetime.now(UTC).replace(tzinfo=None)
