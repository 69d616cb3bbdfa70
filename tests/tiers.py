"""Which of many cases are for `make test`."""

from collections.abc import Sequence
from typing import Any

import pytest


def first_of(n: int, *cases: Sequence[Any]) -> list[Any]:
    """For `parametrize`: the arguments of the first `n` cases, and of the others, which are slow.
    For cases that are alike and take seconds each."""
    slow = (pytest.param(*case, marks=pytest.mark.slow) for case in cases[n:])
    return [*(pytest.param(*case) for case in cases[:n]), *slow]
