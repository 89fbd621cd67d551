"""The model of a watch, with the names and kinds of its tensors that are read."""

from __future__ import annotations

import itertools
import weakref
from typing import Any, NamedTuple

import torch
from torch import nn

from trainscope import _torch_watches
from trainscope._torch_graph import Selection, is_freed, named_modules, named_parameters


class Kinds(NamedTuple):
    """Kinds of tensors that a watch reads. `gradients`: "update", "raw" or false."""

    weights: bool
    gradients: str | bool
    activations: bool
    activation_gradients: bool


class WatchedModel:
    """A model that is not kept alive, and a prefix for its names if another watch of the run has the same ones."""

    def __init__(self, run: Any, model: nn.Module, kinds: Kinds, selection: Selection) -> None:
        self._model = weakref.ref(model)
        self.kinds = kinds
        self.selection = selection
        self.prefix = _free_prefix(run, model)
        # Modules that call no other although they have children.
        self._inner_leaves: weakref.WeakSet[nn.Module] = weakref.WeakSet()

    @property
    def model(self) -> nn.Module | None:
        """The model; None once it is gone."""
        return self._model()

    def modules(self, model: nn.Module) -> list[tuple[str, nn.Module]]:
        """Modules with the names of their activations."""
        name_of_root = type(model).__name__
        return [(self.prefix + (name or name_of_root), module) for name, module in named_modules(model)]

    def is_leaf(self, module: nn.Module) -> bool:
        """True for a module that calls no other."""
        children = module._modules
        return not children or all(child is None for child in children.values()) or module in self._inner_leaves

    def note_inner_leaf(self, module: nn.Module) -> None:
        """Notes that a module with children has called none of them."""
        self._inner_leaves.add(module)

    def parameters(self) -> list[tuple[str, torch.Tensor]]:
        """Parameters with their full names."""
        model = self._model()
        return [] if model is None else [(self.prefix + name, one) for name, one in named_parameters(model)[0]]

    def gradients(self) -> list[torch.Tensor]:
        """Gradients that there are now."""
        model = self._model()
        parameters = [] if model is None else [parameter for _, parameter in named_parameters(model)[0]]
        return [parameter.grad for parameter in parameters if parameter.grad is not None]

    def items(self) -> list[tuple[str, str, Any]]:
        """Weights and gradients that there are now, as (name, role, tensor). Nothing is read."""
        items: list[tuple[str, str, Any]] = []
        for name, parameter in self.parameters():
            if nn.parameter.is_lazy(parameter) or is_freed(parameter) or not self.selection.has_name(name):
                continue
            items.append((name, role_of(parameter), parameter.detach()))
            if parameter.grad is not None:
                items.append((f"{name}.grad", "gradient", parameter.grad.detach()))
        return items


def role_of(parameter: torch.Tensor) -> str:
    """Role of the record of a parameter."""
    return "weight" if parameter.requires_grad else "frozen_weight"


def _free_prefix(run: Any, model: nn.Module) -> str:
    """Prefix of the names of a model that no other watch of the run has: "" if they are free as they are."""

    def names(model: nn.Module, prefix: str) -> set[str]:
        modules = [name or type(model).__name__ for name, _ in named_modules(model)]
        return {prefix + name for name in modules + [name for name, _ in named_parameters(model)[0]]}

    taken: set[str] = set()
    for other in list(_torch_watches.OPEN):
        others = other.model
        if other._run is run and others is not None:
            taken |= names(others, other.prefix)
    kind = type(model).__name__
    prefixes = itertools.chain(["", f"{kind}."], (f"{kind}{number}." for number in itertools.count(2)))
    return next(prefix for prefix in prefixes if taken.isdisjoint(names(model, prefix)))
