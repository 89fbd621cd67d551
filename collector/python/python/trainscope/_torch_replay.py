"""Results of functions of autograd, computed again from the tensors that the functions have kept."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from trainscope._torch_functions import form_of, value_of

Operand = Callable[..., torch.Tensor | None]
"""Returns the first tensor that a function has kept under one of these names, or has as its input of a number."""

# Functions that give an input another form, by the sizes and the type of the result.
_FORMS = ("view", "unsafe_view", "_unsafe_view", "reshape_alias", "squeeze", "unsqueeze", "expand", "to_copy")


def replayed(node: Any, name: str, operand: Operand) -> torch.Tensor | None:
    """The result of a function, computed again from its operands; `None` if one of them or a setting is not known."""
    form = form_of(node)
    if form is None:
        return None
    shape, dtype = form
    if name in _FORMS:
        x = operand(0)
        if x is None:
            return None
        try:
            return x.expand(shape) if name == "expand" else x.reshape(shape).to(dtype)
        except RuntimeError:
            return None
    for overload in _overloads(name):
        arguments = _arguments(node, overload, operand)
        if arguments is None:
            continue
        try:
            result = overload(*arguments[0], **arguments[1])
        except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError):
            continue
        first = result[0] if isinstance(result, (tuple, list)) else result
        if isinstance(first, torch.Tensor) and tuple(first.shape) == shape and first.dtype == dtype:
            return first
    return None


@functools.lru_cache(maxsize=1024)
def _overloads(name: str) -> tuple[Any, ...]:
    """Functions of PyTorch of a name that depend on their arguments alone: no random numbers, nothing in place."""
    found: list[Any] = []
    for full in (name, f"_{name}"):
        packet = getattr(torch.ops.aten, full, None)
        if packet is None:
            continue
        for one in packet.overloads():
            overload = getattr(packet, one)
            if torch.Tag.nondeterministic_seeded in overload.tags or overload._schema.is_mutable:
                continue
            if any(str(argument.type) == "Tensor" for argument in overload._schema.arguments):
                found.append(overload)
    return tuple(found)


def _arguments(node: Any, overload: Any, operand: Operand) -> tuple[list[Any], dict[str, Any]] | None:
    """Arguments by the names under which a function keeps them; `None` if one is not known."""
    edges = len(node.next_functions)
    arguments: list[Any] = []
    named: dict[str, Any] = {}
    tensors = 0
    for argument in overload._schema.arguments:
        kind = str(argument.type)
        if kind == "List[Tensor]":
            many = [operand(at) for at in range(edges)]
            if any(one is None for one in many):
                return None
            arguments.append(many)
        elif kind in ("Tensor", "Optional[Tensor]"):
            tensor = operand(argument.name, *([tensors] if tensors < edges else []))
            tensors += 1
            if tensor is None and (kind == "Tensor" or _has_edge(node, tensors - 1)):
                return None
            arguments.append(tensor)
        else:
            kept = f"_saved_{argument.name}"
            value = value_of(node, argument.name)
            if not hasattr(type(node), kept):
                if not argument.has_default_value():
                    return None
                value = argument.default_value
            if isinstance(value, torch.Tensor):
                return None
            if argument.kwarg_only:
                named[argument.name] = _signed(value)
            else:
                arguments.append(_signed(value))
    return arguments, named


def _has_edge(node: Any, at: int) -> bool:
    return at < len(node.next_functions) and node.next_functions[at][0] is not None


def _signed(value: Any) -> Any:
    """A number that was kept without its sign, as axes are."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1 << 63:
        return value - (1 << 64)
    if isinstance(value, (tuple, list)):
        return [_signed(one) for one in value]
    return value
