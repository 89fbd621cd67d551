"""The layer after whose forward pass a training is to wait, because a person has asked for it."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from trainscope._torch_graph import tensors_in
from trainscope._torch_hooks import Hook, ModuleHooks
from trainscope._torch_passes import Passes
from trainscope._torch_watched import WatchedModel


class LayerGate:
    """Hook of one layer of a watched model."""

    def __init__(self, run: Any, watched: WatchedModel, passes: Passes) -> None:
        self._run = run
        self._watched = watched
        self._passes = passes
        self._target: str | None = None
        self._hooks = ModuleHooks()

    def follow(self) -> None:
        """Hooks the layer at which the training is to wait, if it is one of this model."""
        target = self._run._target_node()
        if target != self._target:
            self._set(target)

    def close(self) -> None:
        """Removes the hook."""
        self._set(None)

    def _set(self, target: str | None) -> None:
        self._target = target
        self._hooks.remove()
        model = self._watched.model
        if target is None or model is None:
            return
        module = dict(self._watched.modules(model)).get(target)
        if module is not None:
            self._hooks.after(module, Hook(self, LayerGate._at_target, target))

    def _at_target(self, name: str, module: nn.Module, _args: tuple[Any, ...], output: Any) -> None:
        if name != self._target or not self._passes.sees(module):
            return
        tensors: list[tuple[str, torch.Tensor]] = [
            (f"{name}:{number}" if number else name, tensor) for number, tensor in enumerate(tensors_in(output))
        ]
        self._run._gate_at_node(name, [(full, "activation", tensor.detach()) for full, tensor in tensors])
