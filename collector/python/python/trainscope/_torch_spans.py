"""Spans of the parts of a sampled step: forward pass, backward pass and update."""

from __future__ import annotations

from typing import Any


class Spans:
    """Parts of a step that have begun, by name."""

    def __init__(self, run: Any) -> None:
        self._run = run
        self._starts: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._starts

    def begin(self, name: str) -> None:
        """Begins a part now."""
        self._starts[name] = self._run._nanos()

    def drop(self, name: str) -> None:
        """Forgets that a part has begun."""
        self._starts.pop(name, None)

    def end(self, name: str, step: int) -> None:
        """Records a part that ends now, if it has begun."""
        start = self._starts.pop(name, None)
        if start is not None:
            self._run._push_span(name, start, self._run._nanos() - start, step, "compute")
