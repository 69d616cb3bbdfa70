"""Which of many cases are for `make test`, and which for `make campaigns` alone."""

import os
from typing import Any

import pytest

SLOW, CAMPAIGN = pytest.mark.slow, (pytest.mark.slow, pytest.mark.campaign)
EVERY = bool(os.environ.get("GRADELAKE_EVERY"))  # case, for an hour: in `make campaigns`


def first_of(n: int, *cases: Any, mark: Any = SLOW) -> list[Any]:
    """Cases for `parametrize`, each a value or a tuple of them: all but the first `n` have the
    mark. For cases that are alike and take seconds each."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=() if at < n else mark)
        for at, case in enumerate(cases)
    ]
