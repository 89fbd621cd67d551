"""Counts of the calls that set the random state, before the training and within it."""

from __future__ import annotations

from typing import Any

from trainscope import _source
from trainscope._facts import Facts
from trainscope._source import Place

MAX_SEEDS = 100_000
"""Different seeds that are remembered."""


class Seeds:
    """Seeds of one run."""

    def __init__(self) -> None:
        self._counts = {"calls": 0, "calls_in_loop": 0, "same_in_loop": 0}
        self._values = set[int]()
        self._place: Place | None = None

    @property
    def wants_place(self) -> bool:
        """True until the second call within the training: the line of the next call is to be given."""
        return self._counts["calls_in_loop"] <= 1

    def add(self, seed: Any, *, is_in_loop: bool) -> None:
        """Counts a call; `is_in_loop`: an update was made before."""
        self._counts["calls"] += 1
        if is_in_loop:
            self._counts["calls_in_loop"] += 1
            self._counts["same_in_loop"] += seed in self._values
        if isinstance(seed, int) and len(self._values) < MAX_SEEDS:
            self._values.add(seed)

    def set_place(self, place: Place | None) -> None:
        """Notes the line of the last call."""
        self._place = place

    def collect(self, facts: Facts, updates: int) -> None:
        """Puts the fact, if there was a call."""
        if self._counts["calls"]:
            numbers = {**self._counts, "updates": updates}
            facts.put("seeds", "manual_seed", numbers, {}, _source.of_place(self._place))
