"""Watches of the process that are not closed."""

from __future__ import annotations

import weakref
from typing import Any

OPEN: weakref.WeakSet[Any] = weakref.WeakSet()
"""Watches of all runs."""


def of_other_runs(run: Any) -> list[Any]:
    """Open watches of runs other than this one."""
    return [watch for watch in list(OPEN) if watch._run is not run]
