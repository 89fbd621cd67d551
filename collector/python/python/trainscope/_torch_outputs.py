"""Outputs of the functions of one graph of autograd: the values that were kept, and if they are finite."""

from __future__ import annotations

import functools
from typing import Any

import torch

from trainscope._torch_functions import VIEWS, Key, Saved, bytes_of, form_of, inputs_of, is_finite, is_leaf
from trainscope._torch_replay import replayed

WITH_CONSTANT = frozenset(
    "add sub rsub mul masked_fill where index_put copy_slices masked_scatter native_dropout fill maximum minimum "
    "clamp".split()
)
"""Functions that are taken for finite although a constant of the program was not kept: an added number, a mask."""


class Outputs:
    """Knowledge of outputs by function and number; it grows by `take` and `learn`, within a budget of bytes."""

    def __init__(self, nodes: list[Any], budget: int) -> None:
        self.saved = {node: Saved(node) for node in nodes}
        self.values: dict[Key, torch.Tensor] = {}
        # True: all elements are finite. An output that is not known has no entry.
        self.finite: dict[Key, bool] = {}
        # Outputs taken for finite, because of a constant that was not kept.
        self.presumed: set[Key] = set()
        # False once the budget has left out a tensor.
        self.is_complete = True
        self._budget, self._bytes = budget, 0
        # Tensors by identity, which is theirs as long as they are held here, and if they may be read.
        self._read: dict[int, tuple[torch.Tensor, bool]] = {}
        self._finite_leaves: dict[int, bool] = {}

    @property
    def left_out(self) -> int:
        """Saved tensors that cannot be read."""
        return sum(saved.left_out for saved in self.saved.values())

    def take_saved(self) -> None:
        """Takes over the saved tensors, the small ones first."""
        items = [tensor for saved in self.saved.values() for tensor in saved.tensors.values()]
        for tensor in sorted(items, key=bytes_of):
            if tensor.grad_fn is not None:
                self.take((tensor.grad_fn, tensor.output_nr), tensor)

    def take(self, key: Key, tensor: torch.Tensor) -> None:
        """Takes over the value of an output, if it may be read."""
        if key in self.values:
            return
        state = self._test(tensor)
        if state is not None:
            self.values[key] = tensor
            self.finite[key] = state

    def learn(self, node: Any, name: str) -> None:
        """Finds out if a result is finite: by computing it again, or because no input is bad and it cannot be."""
        keys = inputs_of(node)
        result = None if self._bytes > self._budget else replayed(node, name, functools.partial(self.operand, node))
        key = (node, 0)
        if result is not None:
            self.take(key, result)
            return
        if not keys or any(self.finite.get(one) is not True for one in keys):
            return
        if name in VIEWS | WITH_CONSTANT and not self._may_overflow(node):
            self.finite[key] = True
            if name in WITH_CONSTANT or not self.presumed.isdisjoint(keys):
                self.presumed.add(key)

    def operand(self, node: Any, *names: str | int) -> torch.Tensor | None:
        """The first tensor that a function has kept under one of these names, or that is its input of this number."""
        for name in names:
            if isinstance(name, str):
                tensor = self.saved[node].tensors.get(name)
            else:
                functions = node.next_functions
                tensor = None
                if name < len(functions) and functions[name][0] is not None:
                    producer, number = functions[name]
                    tensor = self.values.get((producer, number))
                    if tensor is None and is_leaf(producer):
                        tensor = producer.variable
            if tensor is not None and self._may_read(tensor):
                return tensor.detach()
        return None

    def leaf_is_finite(self, tensor: torch.Tensor) -> bool:
        """True for data, a constant or a parameter without an element that is not finite, or that may not be read."""
        known = self._finite_leaves.get(id(tensor))
        if known is None:
            known = self._finite_leaves[id(tensor)] = self._test(tensor) is not False
        return known

    def bad_result(self, node: Any) -> torch.Tensor | None:
        """The first output of a function that is not finite."""
        outputs = [tensor for key, tensor in self.values.items() if key[0] is node and not self.finite[key]]
        return outputs[0] if outputs else None

    def _test(self, tensor: torch.Tensor) -> bool | None:
        """True if all elements are finite; `None` if it is not looked at."""
        if tensor.layout != torch.strided or tensor.device.type in ("meta", "xla") or tensor.is_quantized:
            return None
        if not tensor.is_floating_point() and not tensor.is_complex():
            return True
        return is_finite(tensor) if self._may_read(tensor) else None

    def _may_read(self, tensor: torch.Tensor) -> bool:
        """True until the budget is used up; the same tensor counts once."""
        known = self._read.get(id(tensor))
        if known is not None:
            return known[1]
        may = self._bytes + bytes_of(tensor) <= self._budget
        if may:
            self._bytes += bytes_of(tensor)
        else:
            self.is_complete = False
        self._read[id(tensor)] = tensor, may
        return may

    def _may_overflow(self, node: Any) -> bool:
        """True if an input is near the largest number of the result's type."""
        form = form_of(node)
        if form is None or not form[1].is_floating_point:
            return False
        half = torch.finfo(form[1]).max / 2
        values = [self.values.get(key) for key in inputs_of(node)]
        return any(one is not None and one.numel() and float(one.abs().max()) > half for one in values)
