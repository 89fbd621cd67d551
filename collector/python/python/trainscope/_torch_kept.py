"""Activations that are kept from the forward pass until the gate, because a person wants to look at them."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import nn

from trainscope._lost import guarded
from trainscope._torch_graph import tensors_in
from trainscope._torch_hooks import Hook, ModuleHooks
from trainscope._torch_passes import Passes
from trainscope._torch_watched import WatchedModel


class KeptActivations:
    """References to the outputs of some layers in the last forward pass. Costs memory that would be freed otherwise."""

    def __init__(self, run: Any, watched: WatchedModel, passes: Passes) -> None:
        self._run = run
        self._watched = watched
        self._passes = passes
        self._patterns: list[str] = []
        self._hooks = ModuleHooks()
        # By name: the tensor, and the count of its changes in place when it was made.
        self._outputs: dict[str, tuple[torch.Tensor, int]] = {}

    def follow(self) -> None:
        """Hooks the layers that are wanted now, if they are others than before."""
        patterns = self._run._keep_patterns()
        if patterns == self._patterns:
            return
        self.close()
        self._patterns = patterns
        model = self._watched.model
        if not patterns or model is None:
            return
        self._hooks.before(model, Hook(self, KeptActivations._begin))
        for name, module in self._watched.modules(model):
            if self._run._matches(patterns, name):
                self._hooks.after(module, Hook(self, KeptActivations._keep, name))

    def items(self) -> list[tuple[str, str, Any]]:
        """Activations as (name, role, tensor); without a tensor if it was changed in place since its forward pass."""
        return [
            (name, "activation", tensor if tensor._version == version else None)
            for name, (tensor, version) in self._outputs.items()
        ]

    def drop(self) -> None:
        """Gives the memory back."""
        self._outputs.clear()

    def close(self) -> None:
        """Removes the hooks."""
        self._hooks.remove()
        self._patterns = []
        self.drop()

    @guarded
    def _begin(self, module: nn.Module, _args: tuple[Any, ...]) -> None:
        if self._passes.sees(module):
            self.drop()

    @guarded
    def _keep(self, name: str, module: nn.Module, _args: tuple[Any, ...], output: Any) -> None:
        if not self._passes.sees(module):
            return
        calls = itertools.count(2)
        call = name
        while call in self._outputs:
            call = f"{name}#{next(calls)}"
        for number, tensor in enumerate(tensors_in(output)):
            if not tensor.is_inference():
                # It shares the memory, and the count of changes.
                self._outputs[f"{call}:{number}" if number else call] = (tensor.detach(), tensor._version)
