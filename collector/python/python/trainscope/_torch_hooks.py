"""Hooks of a watch: of modules and optimizers, and in the place of a gradient scaler's step."""

from __future__ import annotations

import contextlib
import copy
import functools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.compiler import is_compiling
from torch.optim import Optimizer
from torch.utils.hooks import RemovableHandle

# Name under which `torch.jit.script` looks for a function that makes a module ready for it.
_PREPARE = "__prepare_scriptable__"


def _nothing(*_args: Any, **_kwargs: Any) -> None:
    """Does nothing: the hook of a copied model."""


_pauses = 0


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """No hook of a watch does anything meanwhile."""
    global _pauses
    _pauses += 1
    try:
        yield
    finally:
        _pauses -= 1


def is_paused() -> bool:
    """True while probes run, whose passes do not belong to the training."""
    return _pauses > 0


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
        if is_compiling() or _pauses:
            return
        owner = self._owner()
        if owner is not None:
            self._function(owner, *self._args, *args)

    def __deepcopy__(self, memo: dict[int, Any]) -> Callable[..., None]:
        return _nothing

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (contextlib.nullcontext(), "__exit__")


class Unhook:
    """Takes our hooks off a module before `torch.jit.script` compiles it, which no hook of Python survives."""

    __slots__ = ("_module",)

    def __init__(self, module: nn.Module) -> None:
        self._module = weakref.ref(module)

    def __call__(self) -> nn.Module:
        module = self._module()
        assert module is not None
        for hooks in (module._forward_pre_hooks, module._forward_hooks):
            for number, hook in list(hooks.items()):
                if isinstance(hook, Hook) or hook is _nothing:
                    del hooks[number]
        del module.__dict__[_PREPARE]
        # The module may have one of its class.
        prepare = getattr(module, _PREPARE, None)
        return module if prepare is None else prepare()

    def __deepcopy__(self, memo: dict[int, Any]) -> Unhook:
        module = self._module()
        copied: Any = memo.get(id(module), module)
        return Unhook(copied)

    def __reduce__(self) -> tuple[Any, ...]:
        # A function of the standard library that returns a module: the file is read without this package.
        return functools.partial, (copy.copy, self._module())


class ModuleHooks:
    """Hooks of modules that are set and removed together; `torch.jit.script` does not see them."""

    def __init__(self) -> None:
        # Dictionaries of modules, with our keys in them.
        self._set: list[tuple[dict[int, Any], int]] = []
        self._modules: dict[int, weakref.ref[nn.Module]] = {}

    def __bool__(self) -> bool:
        return bool(self._set)

    def before(self, module: nn.Module, hook: Hook, *, with_kwargs: bool = False) -> None:
        """Calls a hook before the forward pass of a module."""
        key = self._add(module, module._forward_pre_hooks, hook)
        if with_kwargs:
            module._forward_pre_hooks_with_kwargs[key] = True
            self._set.append((module._forward_pre_hooks_with_kwargs, key))

    def after(self, module: nn.Module, hook: Hook) -> None:
        """Calls a hook after the forward pass of a module."""
        self._add(module, module._forward_hooks, hook)

    def _add(self, module: nn.Module, hooks: dict[int, Any], hook: Hook) -> int:
        if not self._set:
            _follow_compilations()
        # As `register_forward_hook` does it, without a handle of three microseconds for each module.
        key = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        hooks[key] = hook
        self._set.append((hooks, key))
        if id(module) not in self._modules:
            self._modules[id(module)] = weakref.ref(module)
            if _PREPARE not in module.__dict__:
                module.__dict__[_PREPARE] = Unhook(module)
        return key

    def remove(self) -> None:
        """Removes all of them."""
        for hooks, key in self._set:
            hooks.pop(key, None)
        self._set.clear()
        for reference in self._modules.values():
            module = reference()
            if module is None or _has_hooks(module):
                continue
            if isinstance(module.__dict__.get(_PREPARE), Unhook):
                del module.__dict__[_PREPARE]
        self._modules.clear()


_compilations = 0


def compilations() -> int:
    """Number of frames that `torch.compile` has compiled since the first hook was set."""
    return _compilations


def _follow_compilations() -> None:
    """Counts the compilations of `torch.compile`."""
    try:
        from torch._dynamo.callback import callback_handler
    except ImportError:
        return
    # `torch._dynamo.reset` forgets them.
    if _before_compilation not in callback_handler.start_callbacks:
        callback_handler.register_start_callback(_before_compilation)


def _before_compilation(_args: Any) -> None:
    global _compilations
    _compilations += 1


def _has_hooks(module: nn.Module) -> bool:
    """True if a watch has hooks in it."""
    if not module._forward_hooks and not module._forward_pre_hooks:
        return False
    hooks = (*module._forward_pre_hooks.values(), *module._forward_hooks.values())
    return any(isinstance(hook, Hook) for hook in hooks)


class ScalerStep:
    """`step` of one gradient scaler: tells its owner of skipped updates. Copies of the scaler get the plain method."""

    def __init__(self, owner: Any, scaler: Any) -> None:
        self._owner = weakref.ref(owner)
        self._scaler = weakref.ref(scaler)
        self._inner = scaler.__dict__.get("step")
        self._is_over = False

    def __call__(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        scaler: Any = self._scaler()
        owner = None if self._is_over else self._owner()
        if owner is not None:
            owner._before_scaler()
        if self._inner is None:
            result = type(scaler).step(scaler, optimizer, *args, **kwargs)
        else:
            result = self._inner(optimizer, *args, **kwargs)
        if owner is not None:
            owner._after_scaler(scaler, optimizer)
        return result

    def restore(self) -> None:
        """Puts the step back that was there before. If another has replaced it since, it only stops to tell."""
        self._is_over = True
        scaler = self._scaler()
        if scaler is None or scaler.__dict__.get("step") is not self:
            return
        if self._inner is None:
            del scaler.step
        else:
            scaler.step = self._inner

    def __reduce__(self) -> tuple[Any, ...]:
        # The copied scaler exists when its attributes are copied, and has only the `step` of its class so far.
        return getattr, (self._scaler(), "step")


def unwrapped(optimizer: Any) -> Optimizer | None:
    """The optimizer of PyTorch in the wrappers of other libraries; None of one without hooks."""
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
