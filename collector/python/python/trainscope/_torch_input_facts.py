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
from trainscope._torch_batches import Inputs
from trainscope._torch_graph import tensors_in
from trainscope._torch_later import Later, is_readable

MAX_INPUTS = 8
"""Inputs of one training, and tensors in one of them, that are kept apart."""


class InputFacts:
    """Inputs of the models of one run, and the main input of the last forward pass."""

    def __init__(self, later: Later) -> None:
        self._later = later
        self._inputs: dict[str, Inputs] = {}
        self._main: weakref.ref[torch.Tensor] | None = None

    def __len__(self) -> int:
        return len(self._inputs)

    def read(self, prefix: str, module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Reads the inputs of a model whose names have this prefix."""
        main: torch.Tensor | None = None
        for name, tensor in _named_inputs(module, args, kwargs):
            if not is_readable(tensor):
                continue
            subject = prefix + name
            if subject not in self._inputs and len(self._inputs) >= MAX_INPUTS:
                continue
            self._later.read([tensor], self._inputs.setdefault(subject, Inputs()).add)
            if main is None or name == "input_ids":
                main = tensor
        if main is not None:
            self._main = weakref.ref(main)

    def batch(self) -> torch.Tensor | None:
        """The main input of the last forward pass that was read; `None` once it is gone."""
        return None if self._main is None else self._main()

    def collect(self, facts: Facts) -> None:
        """Puts the facts of all inputs."""
        for name, inputs in self._inputs.items():
            facts.put("inputs", name, inputs.numbers())


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
