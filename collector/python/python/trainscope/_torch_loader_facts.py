"""Facts of the loaders of batches: their settings, and the backward passes on their batches."""

from __future__ import annotations

import dataclasses
from typing import Any

from trainscope import _source
from trainscope._facts import Facts
from trainscope._source import Place

MAX_LOADERS = 8
"""Loaders of one training that are kept apart."""


@dataclasses.dataclass
class _Loader:
    """A loader of batches, and the backward passes while it was the last one to begin an epoch."""

    kind: str
    subject: str
    sampler: str
    numbers: dict[str, float]
    place: Place | None
    passes: int = 0
    iterations: int = 0


class LoaderFacts:
    """Loaders of one run."""

    def __init__(self) -> None:
        self._loaders: dict[tuple[Any, ...], _Loader] = {}
        # The one whose epoch began last.
        self._current: _Loader | None = None

    def __len__(self) -> int:
        return len(self._loaders)

    def begin(self, loader: Any, place: Place | None) -> None:
        """Reads the settings of a loader that begins an epoch in this line."""
        kind, sampler = (type(getattr(loader, name, None)).__name__ for name in ("dataset", "sampler"))
        numbers = _settings_of(loader)
        # One may be made new for each epoch.
        key = (kind, sampler, place, *numbers.values())
        known = self._loaders.get(key)
        if known is None and len(self._loaders) < MAX_LOADERS:
            count = 1 + sum(other.kind == kind for other in self._loaders.values())
            known = _Loader(kind, kind if count == 1 else f"{kind}#{count}", sampler, numbers, place)
            self._loaders[key] = known
        if known is not None:
            known.iterations += 1
        self._current = known

    def count_pass(self) -> None:
        """Counts a backward pass for the loader whose epoch began last."""
        if self._current is not None:
            self._current.passes += 1

    def collect(self, facts: Facts) -> None:
        """Puts the facts of all loaders."""
        for loader in self._loaders.values():
            numbers = {**loader.numbers, "passes": loader.passes, "iterations": loader.iterations}
            numbers["training"] = float(loader.passes > 0)
            texts = {"sampler": loader.sampler}
            facts.put("data_loader", loader.subject, numbers, texts, _source.of_place(loader.place))


def _settings_of(loader: Any) -> dict[str, float]:
    sampler = getattr(loader, "sampler", None)
    kinds = [one.__name__ for one in type(sampler).__mro__]
    is_shuffled = "RandomSampler" in kinds or "WeightedRandomSampler" in kinds or "SubsetRandomSampler" in kinds
    shuffles = getattr(sampler, "shuffle", is_shuffled)
    try:
        batches = float(len(loader))
    except (TypeError, NotImplementedError):
        batches = 0.0
    return {
        "batch_size": float(getattr(loader, "batch_size", None) or 0),
        "workers": float(getattr(loader, "num_workers", 0) or 0),
        "shuffle": float(bool(shuffles)),
        "drop_last": float(bool(getattr(loader, "drop_last", False))),
        "batches": batches,
    }
