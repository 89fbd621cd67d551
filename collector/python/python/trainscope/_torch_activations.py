"""Outputs of the modules of a watched model: their names, and the modules that were called."""

from __future__ import annotations

import torch

from trainscope._torch_passes import Passes
from trainscope._torch_readings import Item
from trainscope._torch_watched import WatchedModel


class Activations:
    """Activations of one watch."""

    def __init__(self, watched: WatchedModel, passes: Passes) -> None:
        self._watched = watched
        self._passes = passes
        # Calls of modules in this pass, by name.
        self._calls: dict[str, int] = {}
        # Names of modules whose activations were seen, and of those that were called without gradients.
        self.called, self.called_without = set[str](), set[str]()

    def begin_pass(self) -> None:
        """Begins a pass: the calls of the one before it do not count."""
        self._calls.clear()

    def items(self, name: str, outputs: list[torch.Tensor]) -> list[Item]:
        """Outputs of a call to be read: `fc1`; `fc1:1` is the second tensor, `fc1#2` the second call of the pass."""
        self.called.add(name)
        call = self._calls[name] = self._calls.get(name, 0) + 1
        if call > 1:
            name = f"{name}#{call}"
        items: list[Item] = []
        wants, named = self._watched.selection.has_name, self._passes.named
        for number, tensor in enumerate(outputs):
            full = f"{name}:{number}" if number else name
            if (tensor.is_floating_point() or tensor.is_complex()) and wants(full):
                items.append((named(full), "activation", tensor))
        return items
