"""Which of many cases are for `make test`."""

from collections.abc import Sequence
from typing import Any

import pytest


def first_of(n: int, *cases: Sequence[Any]) -> list[Any]:
    """Cases for `parametrize`, by their arguments: all but the first `n` are slow. For cases that
    are alike and take seconds each."""
    marks = [()] * n + [pytest.mark.slow] * (len(cases) - n)
    return [pytest.param(*case, marks=mark) for case, mark in zip(cases, marks, strict=True)]
