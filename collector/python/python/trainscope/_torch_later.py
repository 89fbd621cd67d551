"""Small tensors that are read when they are there: at once in the memory of the processor, else without waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from trainscope._torch_device import PLAIN, is_capturing

MAX_WAITING = 32
"""Readings under way at most: what comes later is left out."""

MAX_ELEMENTS = 1 << 20
"""Elements of one tensor that are copied from a device; the others of it are left out."""


class Later:
    """Calls functions with tensors that are in the memory of the processor."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Any, list[torch.Tensor | None], Callable[..., None]]] = []

    def read(self, tensors: list[torch.Tensor | None], then: Callable[..., None]) -> None:
        """Calls `then` with the tensors, at once or in a later `poll`. What cannot be read is `None`."""
        readable = [one if one is not None and is_readable(one) else None for one in tensors]
        if all(one is None or one.is_cpu for one in readable):
            then(*(None if one is None else one.detach() for one in readable))
            return
        if len(self._waiting) >= MAX_WAITING or is_capturing():
            return
        copies = [None if one is None else _copy(one.detach()) for one in readable]
        event = None
        if torch.cuda.is_initialized():
            event = torch.cuda.Event()
            event.record()
        self._waiting.append((event, copies, then))

    def poll(self, wait: bool = False) -> None:
        """Reads what has arrived; with `wait`, everything."""
        while self._waiting and not is_capturing():
            event, copies, then = self._waiting[0]
            if event is not None and not event.query():
                if not wait:
                    return
                event.synchronize()
            self._waiting.pop(0)
            then(*copies)


def is_readable(tensor: torch.Tensor) -> bool:
    """True for a tensor with elements in memory, and not one of a class of its own or inside of `vmap`."""
    if type(tensor) not in PLAIN or tensor.layout != torch.strided or tensor.is_quantized:
        return False
    if tensor.device.type in ("meta", "xla") or torch._C._functorch.peek_interpreter_stack() is not None:
        return False
    return not (tensor.numel() > 0 and tensor.untyped_storage().nbytes() == 0)


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    """A copy on its way, of the first elements along the first axis."""
    if tensor.is_cpu:
        return tensor
    if tensor.numel() > MAX_ELEMENTS and tensor.ndim:
        tensor = tensor[: max(1, len(tensor) * MAX_ELEMENTS // tensor.numel())]
    if tensor.device.type != "cuda":
        return tensor.cpu()
    pinned = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    return pinned.copy_(tensor, non_blocking=True)
