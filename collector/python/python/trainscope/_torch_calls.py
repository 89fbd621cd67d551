"""Calls of a training that PyTorch has no hooks for, observed while something listens.

Each function of `_OBSERVED` is replaced where programs look it up, and put back when the last listener closes. The
replacement calls the function with the arguments as they are and returns its result.
"""

from __future__ import annotations

import functools
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn.utils import clip_grad
from torch.utils.data import DataLoader


class Listener:
    """Receiver of the observed calls. Methods may raise nothing; those that are not overridden do nothing."""

    def before_backward(self, roots: tuple[Any, ...]) -> None:
        """A backward pass of the program begins, from these tensors: not one inside of another."""

    def after_backward(self) -> None:
        """It has ended, also by an exception."""

    def clips(self, parameters: list[torch.Tensor], max_norm: Any, norm: torch.Tensor) -> None:
        """Gradients of parameters, whose norm is known, are about to be clipped to `max_norm`."""

    def scales(self, scaler: Any) -> None:
        """A gradient scaler multiplies a loss."""

    def before_scaler(self, scaler: Any, optimizer: Any) -> None:
        """A gradient scaler is asked for an update."""

    def after_scaler(self, scaler: Any, optimizer: Any) -> None:
        """It has made it, or left it out."""

    def iterates(self, loader: Any) -> None:
        """A loader of batches begins an epoch."""

    def has_loaded(self, module: Any, keys: list[str], result: Any) -> None:
        """A module has taken over a state; `result` has its missing and unexpected keys."""

    def seeds(self, seed: Any) -> None:
        """The random state of PyTorch was set."""


_listeners: list[weakref.ref[Listener]] = []
_lock = threading.RLock()
_thread = threading.local()
_process = 0


def listen(listener: Listener) -> None:
    """Tells a listener of all calls from now on. It is not kept alive."""
    global _process
    with _lock:
        _listeners[:] = [one for one in _listeners if one() not in (None, listener)]
        if not _listeners:
            _process = os.getpid()
            for patch in _OBSERVED:
                patch.set()
        _listeners.append(weakref.ref(listener))


def leave(listener: Listener) -> None:
    """Ends it; after the last listener all functions are as they were."""
    with _lock:
        _listeners[:] = [one for one in _listeners if one() not in (None, listener)]
        if not _listeners:
            for patch in _OBSERVED:
                patch.remove()


def _living() -> Iterator[Listener]:
    """Listeners of this process, outside of what `torch.compile` traces and of calls that are observed already."""
    if getattr(_thread, "depth", 0) or os.getpid() != _process:
        return
    for reference in list(_listeners):
        listener = reference()
        if listener is not None:
            yield listener


class _Patch:
    """A function in the places where programs look it up: attributes of modules or of classes."""

    def __init__(self, observer: Callable[..., Any], *places: tuple[Any, str]) -> None:
        self._observer = observer
        self._places = places
        self._set: list[tuple[Any, str, Any, Any]] = []

    def set(self) -> None:
        """Replaces it, once for each function."""
        made: dict[Any, Any] = {}
        for owner, name in self._places:
            original = owner.__dict__.get(name)
            if original is None:
                continue
            if original not in made:
                made[original] = _observed(original, self._observer)
            setattr(owner, name, made[original])
            self._set.append((owner, name, original, made[original]))

    def remove(self) -> None:
        """Puts it back. Where another has replaced it since, that one goes on to call ours, which then has no receiver."""
        for owner, name, original, ours in self._set:
            if owner.__dict__.get(name) is ours:
                setattr(owner, name, original)
        self._set.clear()


def _observed(original: Callable[..., Any], observer: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not _listeners or torch.compiler.is_compiling():
            return original(*args, **kwargs)
        return observer(original, args, kwargs)

    return call


def _backward(original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    # One inside of another belongs to a part of the model that is computed again.
    is_within = torch._C._current_graph_task_id() != -1
    listeners = [] if is_within else list(_living())
    if not listeners:
        return original(*args, **kwargs)
    given = args[0] if args else kwargs.get("tensors")
    roots = (given,) if isinstance(given, torch.Tensor) or not isinstance(given, (tuple, list)) else tuple(given)
    for listener in listeners:
        listener.before_backward(roots)
    _thread.depth = 1
    try:
        return original(*args, **kwargs)
    finally:
        _thread.depth = 0
        for listener in listeners:
            listener.after_backward()


def _clip(original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    names = ("parameters", "max_norm", "total_norm")
    given = dict(zip(names, args, strict=False)) | kwargs
    parameters = given.get("parameters")
    if isinstance(parameters, list) and isinstance(given.get("total_norm"), torch.Tensor):
        for listener in _living():
            listener.clips(parameters, given.get("max_norm"), given["total_norm"])
    return original(*args, **kwargs)


def _scale(original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    result = original(*args, **kwargs)
    for listener in _living():
        listener.scales(args[0])
    return result


def _scaler_step(original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    optimizer = args[1] if len(args) > 1 else kwargs.get("optimizer")
    listeners = list(_living())
    for listener in listeners:
        listener.before_scaler(args[0], optimizer)
    result = original(*args, **kwargs)
    for listener in listeners:
        listener.after_scaler(args[0], optimizer)
    return result


def _iterate(original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    for listener in _living():
        listener.iterates(args[0])
    return original(*args, **kwargs)


def _load(original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    result = original(*args, **kwargs)
    state = args[1] if len(args) > 1 else kwargs.get("state_dict")
    if hasattr(result, "missing_keys") and hasattr(result, "unexpected_keys"):
        for listener in _living():
            listener.has_loaded(args[0], [str(key) for key in (state or ())], result)
    return result


def _seed(original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    for listener in _living():
        listener.seeds(args[0] if args else kwargs.get("seed"))
    return original(*args, **kwargs)


_OBSERVED = (
    # The method calls the function, and so do the wrappers of other libraries. It is observed before any mode of functions.
    _Patch(_backward, (torch.autograd, "backward"), (torch.Tensor, "backward")),
    # Called by `clip_grad_norm_` however the program has imported that.
    _Patch(_clip, (clip_grad, "_clip_grads_with_norm_")),
    _Patch(_scale, (torch.amp.GradScaler, "scale")),
    _Patch(_scaler_step, (torch.amp.GradScaler, "step")),
    _Patch(_iterate, (DataLoader, "__iter__")),
    _Patch(_load, (torch.nn.Module, "load_state_dict")),
    _Patch(_seed, (torch, "manual_seed"), (torch.random, "manual_seed")),
)
