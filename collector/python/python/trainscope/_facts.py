"""Facts of a training before they are written: the newest of each, written again when it has changed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from trainscope._source import Source

MAX_FACTS = 512
"""Facts of different kinds and subjects that one training has."""

_FLAGS = (0.0, 1.0)


@dataclasses.dataclass
class _Fact:
    numbers: dict[str, float]
    texts: dict[str, str]
    source: Source | None
    written: tuple[dict[str, float], dict[str, str], Source | None] | None = None

    def has_changed(self) -> bool:
        """True if it differs from what was written in a way that matters: counters when they have doubled."""
        if self.written is None:
            return True
        numbers, texts, source = self.written
        if texts != self.texts or source != self.source or numbers.keys() != self.numbers.keys():
            return True
        return any(_differs(numbers[name], value) for name, value in self.numbers.items())

    def content(self) -> Any:
        return self.numbers, self.texts, self.source


class Facts:
    """Facts of one run."""

    def __init__(self, run: Any) -> None:
        self._run = run
        self._facts: dict[tuple[str, str], _Fact] = {}

    def put(
        self, kind: str, subject: str, numbers: Mapping[str, float], texts: Mapping[str, str] | None = None,
        source: Source | None = None,
    ) -> None:  # fmt: skip
        """Sets a fact. A source that is not known any more stays the one that was."""
        fact = self._facts.get((kind, subject))
        values = {name: float(value) for name, value in numbers.items()}
        if fact is None:
            if len(self._facts) < MAX_FACTS:
                self._facts[kind, subject] = _Fact(values, dict(texts or {}), source)
        else:
            fact.numbers, fact.texts, fact.source = values, dict(texts or {}), source or fact.source

    def write(self, *, is_end: bool = False) -> None:
        """Writes what has changed; at the end also what has changed little."""
        for (kind, subject), fact in self._facts.items():
            if fact.has_changed() or (is_end and fact.content() != fact.written):
                fact.written = (fact.numbers, fact.texts, fact.source)
                self._run._fact(kind, subject, numbers=fact.numbers, texts=fact.texts, source=fact.source)


def _differs(before: float, now: float) -> bool:
    if before == now or (math.isnan(before) and math.isnan(now)):
        return False
    if before in _FLAGS or now in _FLAGS or not math.isfinite(before) or not math.isfinite(now):
        return before in (0.0,) or now in (0.0,) or abs(now) >= 2 * abs(before) or abs(before) >= 2 * abs(now)
    return not 0.5 < now / before < 2
