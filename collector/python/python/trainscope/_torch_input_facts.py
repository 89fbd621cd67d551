"""Facts of the inputs of models: batches that differ, and the sizes of their features."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from trainscope._facts import Facts
from trainscope._torch_batches import Inputs, LayerInput
from trainscope._torch_graph import tensors_in
from trainscope._torch_later import Later, is_readable

MAX_INPUTS = 8
"""Inputs of one training, and tensors in one of them, that are kept apart."""

_SUMMING = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
"""Layers whose sums grow with what they get."""


class InputFacts:
    """Inputs of the models of one run, and the main input of the last forward pass."""

    def __init__(self, later: Later) -> None:
        self._later = later
        self._inputs: dict[str, Inputs] = {}
        self._layers: dict[str, LayerInput] = {}
        self._main: weakref.ref[torch.Tensor] | None = None
        # Others of whole numbers in two dimensions.
        self._tokens: list[weakref.ref[torch.Tensor]] = []

    def __len__(self) -> int:
        return len(self._inputs)

    def read(self, prefix: str, module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Reads the inputs of a model whose names have this prefix."""
        main: torch.Tensor | None = None
        tokens: list[torch.Tensor] = []
        for name, tensor in _named_inputs(module, args, kwargs):
            if not is_readable(tensor):
                continue
            subject = prefix + name
            if subject not in self._inputs and len(self._inputs) >= MAX_INPUTS:
                continue
            self._later.read([tensor], self._inputs.setdefault(subject, Inputs()).add)
            if main is None or name == "input_ids":
                main = tensor
            if not tensor.is_floating_point() and tensor.ndim == 2:
                tokens.append(tensor)
        if main is not None:
            self._main = weakref.ref(main)
            self._tokens = [weakref.ref(one) for one in tokens if one is not main]

    def read_layer(self, name: str, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Reads what a layer of sums gets as the first one of its model, after all that the model does to its inputs."""
        given = args[0] if args else None
        if not isinstance(module, _SUMMING) or not isinstance(given, torch.Tensor) or given.requires_grad:
            return
        if not is_readable(given) or not given.is_floating_point():
            return
        if name in self._layers or len(self._layers) < MAX_INPUTS:
            self._later.read([given], self._layers.setdefault(name, LayerInput()).add)

    def batch(self) -> torch.Tensor | None:
        """The main input of the last forward pass that was read; `None` once it is gone."""
        return None if self._main is None else self._main()

    def tokens(self) -> tuple[torch.Tensor, ...]:
        """Other inputs of that pass that may be tokens."""
        return tuple(one for reference in self._tokens if (one := reference()) is not None)

    def collect(self, facts: Facts) -> None:
        """Puts the facts of all inputs."""
        for name, inputs in self._inputs.items():
            facts.put("inputs", name, inputs.numbers())
        for name, layer in self._layers.items():
            facts.put("layer_input", name, layer.numbers())


@functools.lru_cache(maxsize=256)
def _names_of(forward: Any) -> list[str]:
    """Names of the parameters of the method `forward` of a class."""
    try:
        return list(inspect.signature(forward).parameters)[1:]
    except (TypeError, ValueError):
        return []


def _named_inputs(
    module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors that a model is called with, without labels, by the names of its parameters."""
    names = _names_of(type(module).forward)
    named = [(names[at] if at < len(names) else str(at), value) for at, value in enumerate(args)]
    for name, value in [*named, *kwargs.items()]:
        if "label" in name or "target" in name:
            continue
        for number, tensor in enumerate(tensors_in(value)):
            if number < MAX_INPUTS:
                yield (f"{name}.{number}" if number else name), tensor
