"""Functions in a graph of autograd: their names, inputs and order, and the tensors that they have kept."""

from __future__ import annotations

import functools
import heapq
import re
from collections.abc import Iterable
from typing import Any

import torch

MAX_NODES = 50_000
"""Functions of a graph that are looked at."""

VIEWS = frozenset(
    "view unsafe_view _unsafe_view reshape_alias t transpose permute unsqueeze squeeze expand alias clone select slice "
    "split unbind index gather index_select narrow repeat unfold diagonal as_strided detach flip roll to_copy "
    "contiguous cat stack chunk numpy_t mt movedim unsafe_split split_with_sizes constant_pad_nd lift_fresh".split()
)
"""Functions whose outputs have elements of the inputs: none is infinite or NaN unless an input is."""

SAME = frozenset(
    "view unsafe_view _unsafe_view reshape_alias t transpose permute unsqueeze squeeze expand alias clone".split()
)
"""Functions of `VIEWS` whose outputs have all elements of the input."""

Key = tuple[Any, int]
"""A function, and the number of one of its outputs."""


def nodes_of(roots: Iterable[Any], limit: int = MAX_NODES) -> list[Any]:
    """Functions of a graph that lead to these, at most `limit`."""
    nodes: dict[Any, None] = {root: None for root in roots if root is not None}
    waiting = list(nodes)
    while waiting and len(nodes) < limit:
        for function, _ in waiting.pop().next_functions:
            if function is not None and function not in nodes:
                nodes[function] = None
                waiting.append(function)
    return list(nodes)


def in_order(nodes: list[Any]) -> list[Any]:
    """Functions in the order of the forward pass: after their inputs, and as they were called."""
    inside = set(nodes)
    users: dict[Any, list[Any]] = {}
    missing: dict[Any, int] = {}
    for node in nodes:
        producers = {one for one, _ in node.next_functions if one in inside}
        missing[node] = len(producers)
        for producer in producers:
            users.setdefault(producer, []).append(node)
    ready = [(_sequence(node), at, node) for at, node in enumerate(nodes) if not missing[node]]
    heapq.heapify(ready)
    order: list[Any] = []
    places = {node: at for at, node in enumerate(nodes)}
    while ready:
        node = heapq.heappop(ready)[2]
        order.append(node)
        for user in users.get(node, ()):
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, (_sequence(user), places[user], user))
    return order


def _sequence(node: Any) -> int:
    return -1 if is_leaf(node) else int(node._sequence_nr())


def name_of(node: Any) -> str:
    """Name of an operation of PyTorch in snake case, or that of the class of a function of the program."""
    if isinstance(node, torch.autograd.function.BackwardCFunction):
        return type(node).__name__.removesuffix("Backward")
    return snake_of(type(node).__name__)


@functools.lru_cache(maxsize=1024)
def snake_of(name: str) -> str:
    """Name of an operation in snake case, of that of its class: `mse_loss` of `MseLossBackward0`."""
    name = re.sub(r"Backward\d*$", "", name)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def is_leaf(node: Any) -> bool:
    """True for the function that adds a gradient to that of a parameter."""
    return type(node).__name__ == "AccumulateGrad"


def is_view(node: Any) -> bool:
    """True for a function whose result has the elements of its only input, and none besides."""
    return name_of(node) in SAME and len(node.next_functions) == 1


def inputs_of(node: Any) -> list[Key]:
    """Outputs of other functions that go into a function, without inputs that need no gradient."""
    return [(function, number) for function, number in node.next_functions if function is not None]


def form_of(node: Any) -> tuple[tuple[int, ...], torch.dtype] | None:
    """Shape and type of the first result of a function."""
    try:
        first = node._input_metadata[0]
        return tuple(first.shape), first.dtype
    except (AttributeError, IndexError, RuntimeError, TypeError):
        return None


class Saved:
    """Tensors that a function of autograd has kept, without those that hooks packed, or that were changed since."""

    def __init__(self, node: Any) -> None:
        self.tensors: dict[str, torch.Tensor] = {}
        self.left_out = 0
        kind: Any = type(node)
        for attribute in _raw_attributes(kind):
            try:
                raw = getattr(node, attribute)
                packed = raw if isinstance(raw, (tuple, list)) else (raw,)
                # A hook of the program may compute the whole region again, or read a file.
                if any(one is not None and getattr(one, "unpack_hook", raw) is not None for one in packed):
                    self.left_out += len(packed)
                    continue
                name = attribute.removeprefix("_raw_saved_")
                kept = getattr(node, "saved_tensors" if name == "tensors" else f"_saved_{name}")
            except RuntimeError:
                self.left_out += 1
                continue
            if isinstance(kept, torch.Tensor):
                self.tensors[name] = kept
            elif isinstance(kept, (tuple, list)):
                for number, one in enumerate(kept):
                    if isinstance(one, torch.Tensor):
                        self.tensors[f"{name}{number}"] = one


@functools.lru_cache(maxsize=1024)
def _raw_attributes(kind: Any) -> tuple[str, ...]:
    return tuple(name for name in dir(kind) if name.startswith("_raw_saved_"))


def value_of(node: Any, name: str) -> Any:
    """A setting that a function of autograd has kept, or `None`."""
    try:
        return getattr(node, f"_saved_{name}", None)
    except RuntimeError:
        return None


def is_finite(tensor: torch.Tensor) -> bool:
    """True if all elements are finite. Waits for a device."""
    return tensor.numel() == 0 or bool(torch.isfinite(torch.linalg.vector_norm(tensor.detach(), torch.inf)))


def not_finite_in(tensor: torch.Tensor) -> int:
    """Count of elements that are not finite."""
    return int(tensor.numel() - int(torch.isfinite(tensor).sum()))


def bytes_of(tensor: torch.Tensor) -> int:
    """Size of the elements in bytes."""
    return int(tensor.numel() * tensor.element_size())


def address_of(tensor: torch.Tensor) -> int:
    """Address of the memory of a tensor; 0 without one."""
    try:
        return int(tensor.untyped_storage().data_ptr())
    except (RuntimeError, NotImplementedError):
        return 0
