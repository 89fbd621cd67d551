"""The function and the line of the program at which two forward passes part, and those that draw random numbers."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from trainscope import _source
from trainscope._source import Source

MAX_KEPT = 512 << 20
"""Bytes of results that are kept of the first of two passes. What comes after is not compared."""

# Functions that turn values off at random, which belongs to the training alone.
_DROPPING = frozenset(
    "dropout dropout1d dropout2d dropout3d feature_dropout alpha_dropout feature_alpha_dropout dropout_ alpha_dropout_ "
    "bernoulli bernoulli_ rrelu rrelu_ native_dropout scaled_dot_product_attention multi_head_attention_forward".split()
)

# Functions that draw numbers, as generative models do when they are evaluated, too.
_DRAWING = frozenset(
    "rand rand_like randn randn_like randint randint_like randperm normal normal_ uniform_ exponential_ cauchy_ "
    "multinomial poisson gumbel_softmax random_ log_normal_ geometric_".split()
)


@dataclasses.dataclass(frozen=True)
class Place:
    """A function of PyTorch and the line of the program that called it."""

    function: str
    source: Source | None


class Kept(TorchFunctionMode):
    """Keeps the results of all functions of a pass, until the memory for them is used up."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[tuple[str, torch.Tensor | None]] = []
        self._bytes = 0

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        tensor = _tensor_of(result)
        if tensor is not None:
            self._bytes += tensor.numel() * tensor.element_size()
            kept = tensor.detach().clone() if self._bytes <= MAX_KEPT else None
            self.results.append((_name(function), kept))
        return result


class Parting(TorchFunctionMode):
    """Finds the first function of a pass whose result differs from that of another pass, by a question about the two."""

    def __init__(self, kept: Kept, differ: Callable[[torch.Tensor, torch.Tensor], bool]) -> None:
        super().__init__()
        self._kept, self._differ, self._number = kept.results, differ, 0
        self.place: Place | None = None
        self._is_over = False

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        tensor = None if self._is_over else _tensor_of(result)
        if tensor is None:
            return result
        name, before = self._kept[self._number] if self._number < len(self._kept) else ("", None)
        self._number += 1
        if name != _name(function) or before is None or before.shape != tensor.shape:
            self._is_over = True
        elif self._differ(before, tensor.detach()):
            self._is_over = True
            self.place = Place(name, _here())
        return result


class Randomness(TorchFunctionMode):
    """Finds functions that draw random numbers, and those that drop values."""

    def __init__(self) -> None:
        super().__init__()
        self.dropping: Place | None = None
        self.drawing: Place | None = None

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = _name(function)
        if name in _DROPPING and self.dropping is None and _drops(name, args, kwargs or {}):
            self.dropping = Place(name, _here())
        if name in _DRAWING and self.drawing is None:
            self.drawing = Place(name, _here())
        return function(*args, **(kwargs or {}))


def _drops(name: str, args: Any, kwargs: Any) -> bool:
    """True if a function that may drop values does so with these arguments."""
    if name == "scaled_dot_product_attention":
        return bool((args[4] if len(args) > 4 else kwargs.get("dropout_p", 0.0)) > 0)
    if name == "multi_head_attention_forward":
        return bool(kwargs.get("training", True)) and bool((args[10] if len(args) > 10 else kwargs.get("dropout_p", 0)) > 0)
    if name.startswith("bernoulli"):
        return True
    default = not name.startswith(("rrelu", "alpha_dropout", "feature_alpha"))
    place = {"rrelu": 3, "rrelu_": 3}.get(name, 2)
    is_training = args[place] if len(args) > place else kwargs.get("training", kwargs.get("train", default))
    rate = args[1] if len(args) > 1 else kwargs.get("p", 0.5)
    return bool(is_training) and bool(rate)


def _tensor_of(result: Any) -> torch.Tensor | None:
    """The result, or the first one of several, if it is a tensor of numbers."""
    if isinstance(result, (tuple, list)) and result:
        result = result[0]
    if isinstance(result, torch.Tensor) and result.is_floating_point() and result.ndim:
        return result
    return None


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", function))


def _here() -> Source | None:
    place = _source.place_of(sys._getframe(2))
    return None if place is None else _source.of(*place)
