"""Weights and gradients of a watched model that are read at an update."""

from __future__ import annotations

import torch
from torch import nn
from torch.optim import Optimizer

from trainscope._torch_device import PLAIN
from trainscope._torch_graph import named_parameters
from trainscope._torch_updates import Updates
from trainscope._torch_watched import WatchedModel, role_of

Item = tuple[str, str, torch.Tensor]
"""Name, role and tensor of a record."""


class Readings:
    """Readings of one watch. A parameter is read once in a step, although several optimizers make updates."""

    def __init__(self, watched: WatchedModel, updates: Updates) -> None:
        self._watched = watched
        self._updates = updates
        # Parameters, by identity, that were read in the step of the last reading.
        self._step, self._read = -1, set[int]()
        # Names of parameters without a gradient at the last reading of gradients.
        self.without_gradient: list[str] = []

    def items(
        self, step: int, optimizer: Optimizer | None, *, weights: bool, gradients: bool
    ) -> tuple[list[Item], list[Item]]:
        """Weights, and gradients, to be read at an update of an optimizer: those that it holds, and that none holds."""
        watched = self._watched
        model = watched.model
        if model is None:
            return [], []
        kinds = watched.kinds
        weights, gradients = weights and kinds.weights, gradients and kinds.gradients == "update"
        if step != self._step:
            self._step, self._read = step, set()
        others = self._updates.held_by_others(optimizer, self._read)
        read_weights: list[Item] = []
        read_gradients: list[Item] = []
        without: list[str] = []
        prefix, wants, read = watched.prefix, watched.selection.has_name, self._read
        for name, parameter in named_parameters(model)[0]:
            identity = id(parameter)
            if identity in others or (type(parameter) not in PLAIN and nn.parameter.is_lazy(parameter)):
                continue
            read.add(identity)
            name = prefix + name
            if weights and wants(name):
                read_weights.append((name, role_of(parameter), parameter))
            if gradients and wants(name_of_gradient := f"{name}.grad"):
                gradient = parameter.grad
                if gradient is not None:
                    read_gradients.append((name_of_gradient, "gradient", gradient))
                elif parameter.requires_grad:
                    without.append(name)
        if gradients:
            self.without_gradient = without
        return read_weights, read_gradients
