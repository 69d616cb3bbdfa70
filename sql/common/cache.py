"""Where a user's programs keep what they can recreate."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """$XDG_CACHE_HOME/gradelake, or ~/.cache/gradelake. It need not exist, nor be writable."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "gradelake"
