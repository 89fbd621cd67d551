"""Hooks of a watch: of modules and optimizers, and in the place of a gradient scaler's step."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.optim import Optimizer


def _nothing(*_args: Any, **_kwargs: Any) -> None:
    """Does nothing: the hook of a copied model."""


class Hook:
    """Hook that calls a function with its owner, as long as there is one.

    It refers to the owner weakly. A copy of a module that has it gets a function that does nothing, a pickled one a
    method of the standard library that does nothing, so that the file is read without this package.
    """

    __slots__ = ("_args", "_function", "_owner")
    # A tensor with this hook is pickled without a warning.
    __torch_unserializable__ = True

    def __init__(self, owner: Any, function: Callable[..., None], *args: Any) -> None:
        self._owner = weakref.ref(owner)
        self._function = function
        self._args = args

    def __call__(self, *args: Any) -> None:
        if torch.compiler.is_compiling():
            return
        owner = self._owner()
        if owner is not None:
            self._function(owner, *self._args, *args)

    def __deepcopy__(self, memo: dict[int, Any]) -> Callable[..., None]:
        return _nothing

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (contextlib.nullcontext(), "__exit__")


class ScalerStep:
    """`step` of one gradient scaler: tells the watch of skipped updates. Copies of the scaler get the plain method."""

    def __init__(self, watch: Any, scaler: Any) -> None:
        self._watch = weakref.ref(watch)
        self._scaler = weakref.ref(scaler)
        self._inner = scaler.__dict__.get("step")
        self._is_over = False

    def __call__(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        scaler: Any = self._scaler()
        watch = None if self._is_over else self._watch()
        if watch is not None:
            watch._before_scaler()
        if self._inner is None:
            result = type(scaler).step(scaler, optimizer, *args, **kwargs)
        else:
            result = self._inner(optimizer, *args, **kwargs)
        if watch is not None:
            watch._after_scaler(scaler, optimizer)
        return result

    def restore(self) -> None:
        """Puts back what was there. If another has replaced it since, it only stops to tell."""
        self._is_over = True
        scaler = self._scaler()
        if scaler is None or scaler.__dict__.get("step") is not self:
            return
        if self._inner is None:
            del scaler.step
        else:
            scaler.step = self._inner

    def __reduce__(self) -> tuple[Any, ...]:
        # The copied scaler exists when its attributes are copied, and has no `step` of its own yet.
        return getattr, (self._scaler(), "step")


def unwrapped(optimizer: Any) -> Optimizer | None:
    """The optimizer of PyTorch in the wrappers of other libraries; None if there is none with hooks."""
    for _ in range(8):
        inner = getattr(optimizer, "optimizer", None)
        if not isinstance(inner, Optimizer):
            break
        optimizer = inner
    has_hooks = isinstance(optimizer, Optimizer) and hasattr(optimizer, "_optimizer_step_pre_hooks")
    return optimizer if has_hooks else None


def parameters_of(optimizer: Optimizer) -> Iterator[torch.Tensor]:
    """Parameters of all groups."""
    for group in optimizer.param_groups:
        yield from group["params"]


def updates_in(optimizer: Optimizer) -> int:
    """Updates that the optimizer has made before, by the `step` of its state; 0 if it keeps none."""
    steps = [state["step"] for state in optimizer.state.values() if isinstance(state, dict) and "step" in state]
    return int(steps[0]) if steps else 0


def unscaling_factor(optimizer: Optimizer) -> torch.Tensor | None:
    """Factor that takes the scale off the gradients that a fused optimizer gets from a gradient scaler."""
    scale = getattr(optimizer, "grad_scale", None)
    return scale.detach().reciprocal() if isinstance(scale, torch.Tensor) else None
