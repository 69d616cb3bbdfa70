"""Sizes, times, rates and money in units that people read."""


def size(n: float) -> str:
    """Bytes in human units."""
    for unit in ("B", "kB", "MB", "GB"):
        if n < 1000:
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1000
    return f"{n:.1f} TB"


def duration(seconds: float) -> str:
    """Seconds in human units: 0.2 s, 42 s, 3 min 20 s, 5 h 10 min."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60} s"
    hours, minutes = divmod(round(rounded / 60), 60)
    return f"{hours:,} h {minutes} min"


def rate(n: float, unit: str = "", decimals: int = 0) -> str:
    """A rate in words: `1,055 pairs/s`."""
    return f"{n:,.{decimals}f}{' ' if unit else ''}{unit}/s"


def amount(value: float) -> str:
    """Money for people: cents, and of small amounts two digits."""
    return f"{value:,.2f}" if value >= 0.995 or not value else f"{value:.2g}"
