"""Trainings whose parameters no optimizer holds: the program changes them itself, or an optimizer has those of another model.

Nothing is done while every model is found by its optimizer. Otherwise the first backward passes are looked at: the
parameters that a loss reaches, the modules that were called, and whether parameters have changed from one pass to the
next. Then the model is watched, and each backward pass is a step.
"""

from __future__ import annotations

import weakref
from collections.abc import MutableMapping
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim import Optimizer

from trainscope import _source
from trainscope._lost import guarded
from trainscope._torch_autograd import walk
from trainscope._torch_hooks import Hook, parameters_of
from trainscope._torch_losses import losses_of
from trainscope._torch_optimizers import mark_of
from trainscope._torch_program import MAX_NODES, Program

if TYPE_CHECKING:
    from trainscope._auto_torch import Observer
    from trainscope.torch import Watch

UPDATES_BEFORE = 2
"""Updates of an optimizer after which the model that it trains would have been found."""

MAX_PASSES = 40
"""Backward passes that are looked at, if nothing is found."""

IDLE_PASSES = 20
"""Backward passes of a model in training mode after which something should have changed."""

MAX_MARKS = 8
"""Parameters that are looked at for changes."""

MAX_LEAVES = 1_000

SURE = 3
"""Changes after which each pass on another device than the processor counts as followed by one."""


class ByHand:
    """Looks for such a training, and follows it."""

    def __init__(self, observer: Observer) -> None:
        self._observer = weakref.ref(observer)
        # Modules that were called from outside of any other, and all that are in them.
        self._called: list[weakref.ref[nn.Module]] = []
        self._within: weakref.WeakSet[nn.Module] = weakref.WeakSet()
        self._hook: Any = None
        self._passes = 0
        self._marks = _Marks()
        self._training: _Training | None = None
        self._is_over = False

    def _count_invalid(self, message: str) -> None:
        """Error of `guarded`."""
        observer = self._observer()
        if observer is not None:
            observer._count_invalid(message)

    def close(self) -> None:
        """Ends the search."""
        self._is_over = True
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
        self._called.clear()
        self._within.clear()

    def before_pass(self, roots: tuple[Any, ...], frame: FrameType, updates: MutableMapping[Optimizer, int]) -> None:
        """Looks at a backward pass that is about to begin. `updates`: those that each optimizer has made."""
        observer = self._observer()
        if self._training is not None:
            if updates:
                # An optimizer takes over.
                self._training = None
            else:
                self._training.before_pass()
        elif observer is not None and not self._is_over:
            self._search(observer, roots, frame, updates)

    def after_pass(self) -> int:
        """Step of the pass that has ended, if it is one of such a training, else -1."""
        return -1 if self._training is None else self._training.after_pass()

    def _search(
        self, observer: Observer, roots: tuple[Any, ...], frame: FrameType, updates: MutableMapping[Optimizer, int]
    ) -> None:
        run = observer._recording.run() if observer._recording.has_run() else None
        # Keras has its own optimizers, and its callback records the steps.
        is_followed = observer._recording.has_callback or (run is not None and run._watches)
        if self._passes >= MAX_PASSES or is_followed:
            self.close()
            return
        if updates and max(updates.values()) < UPDATES_BEFORE:
            # Those that were seen before the optimizer was made say nothing of it.
            self._passes = 0
            self._follow_calls()
            return
        self._passes += 1
        self._follow_calls()
        functions = [root.grad_fn for root in roots if isinstance(root, torch.Tensor) and root.grad_fn is not None]
        leaves, is_complete = walk(functions, MAX_NODES)
        leaves = [one for one in leaves if isinstance(one, torch.Tensor) and one.requires_grad][:MAX_LEAVES]
        if not leaves or not is_complete:
            return
        if updates:
            self._search_beside(observer, leaves, updates)
        else:
            self._search_without(observer, functions, leaves, frame)

    def _search_beside(self, observer: Observer, leaves: list[torch.Tensor], updates: MutableMapping[Optimizer, int]) -> None:
        """With optimizers: a model is watched if a loss reaches it, and nothing that an optimizer holds."""
        held = {id(parameter) for optimizer in updates for parameter in parameters_of(optimizer)}
        models = self._models_of(leaves)
        if any(id(one) in held for one in leaves):
            self.close()
        elif models and all(isinstance(one, nn.Parameter) for one in leaves):
            optimizer = max(updates, key=updates.__getitem__)
            for model in models:
                observer.found_by_loss(model, optimizer)
            self.close()

    def _search_without(
        self, observer: Observer, functions: list[Any], leaves: list[torch.Tensor], frame: FrameType
    ) -> None:
        """Without optimizers: a model is watched if its parameters change, or do not for many passes of a training."""
        has_changed = self._marks.have_changed()
        self._marks.set(leaves)
        if not has_changed and self._passes < IDLE_PASSES:
            return
        models = self._models_of(leaves)
        if not has_changed:
            # Without a loss, or with gradients of something else, it may be a measurement.
            are_parameters = all(isinstance(one, nn.Parameter) for one in leaves)
            is_training = models and are_parameters and all(model.training for model in models)
            if not is_training or not any(losses_of(function) for function in functions):
                self.close()
                return
        if not models:
            models = [_named(leaves, frame)]
        watches = [watch for model in models if (watch := observer.found_by_loss(model, None)) is not None]
        passes = self._passes
        self.close()
        if watches:
            # Those that are not registered are kept alive by nothing else.
            self._training = _Training(models, watches, leaves, passes - 1, has_changed=has_changed)

    # Modules that are called.

    def _follow_calls(self) -> None:
        if self._hook is None:
            self._hook = register_module_forward_pre_hook(Hook(self, ByHand._before_forward))

    @guarded
    def _before_forward(self, module: nn.Module, _args: tuple[Any, ...]) -> None:
        if module in self._within or not torch.is_grad_enabled() or torch._C._current_graph_task_id() != -1:
            return
        self._within.update(module.modules())
        if next(module.parameters(), None) is not None:
            inner = set(module.modules())
            self._called = [one for one in self._called if one() not in inner]
            self._called.append(weakref.ref(module))

    def _models_of(self, leaves: list[torch.Tensor]) -> list[nn.Module]:
        """Called modules with one of these parameters."""
        wanted = {id(one) for one in leaves}
        living = [model for one in self._called if (model := one()) is not None]
        return [model for model in living if any(id(parameter) in wanted for parameter in model.parameters())]


class _Training:
    """Follows a training without an optimizer: each backward pass is a step, and changes of parameters are updates."""

    def __init__(
        self, models: list[nn.Module], watches: list[Watch], leaves: list[torch.Tensor], step: int, *, has_changed: bool
    ) -> None:
        self._models = [model for model in models if isinstance(model, _Tensors)]
        self._watches = watches
        self._program = Program.of(watches[0]._run)
        self._step = step
        self._passes, self._changed = step, int(has_changed)
        self._marks = _Marks()
        self._marks.set(leaves)
        self._is_cpu = all(one.is_cpu for one in leaves)
        for watch in watches:
            watch.begin(step)

    def before_pass(self) -> None:
        """Notes whether the program has changed parameters since the last backward pass."""
        is_known = self._is_cpu or self._changed < SURE
        has_changed = self._marks.have_changed() if is_known else True
        self._changed += has_changed
        if is_known:
            self._marks.renew()
        self._program.updated_by_hand(self._passes, self._changed, has_changed=has_changed)

    def _end(self, step: int) -> None:
        for watch in self._watches:
            watch.before_update(step)
            watch.after_update(step)
            watch._state.updates.count_by_hand(step + 1)
            watch.begin(step + 1)

    def after_pass(self) -> int:
        """Reads weights and gradients of the pass, and returns its step."""
        step = self._step
        self._passes += 1
        self._step += 1
        self._end(step)
        return step


class _Marks:
    """Some tensors as they were."""

    def __init__(self) -> None:
        self._before: list[tuple[weakref.ref[torch.Tensor], Any]] = []

    def set(self, tensors: list[torch.Tensor]) -> None:
        """Notes the smallest ones as they are."""
        chosen = sorted(tensors, key=torch.numel)[:MAX_MARKS]
        self._before = [(weakref.ref(one), mark_of(one)) for one in chosen]

    def renew(self) -> None:
        """Notes the same ones as they are now."""
        living = [one for reference, _ in self._before if (one := reference()) is not None]
        self._before = [(weakref.ref(one), mark_of(one)) for one in living]

    def have_changed(self) -> bool:
        """True if one of them is different now."""
        for reference, before in self._before:
            tensor = reference()
            if tensor is None:
                continue
            now = mark_of(tensor)
            if isinstance(now, torch.Tensor) and isinstance(before, torch.Tensor):
                if not torch.equal(now, before):
                    return True
            elif now != before:
                return True
        return False


class _Tensors(nn.Module):
    """Tensors of a program without modules, by the names of its variables."""


def _named(tensors: list[torch.Tensor], frame: FrameType | None) -> nn.Module:
    module = _Tensors()
    # Typed for parameters only.
    parameters: Any = module._parameters
    names = _names_of({id(one) for one in tensors}, frame)
    for number, tensor in enumerate(tensors):
        parameters[names.get(id(tensor), f"tensor{number}")] = tensor
    return module


def _names_of(wanted: set[int], frame: FrameType | None) -> dict[int, str]:
    """Names of variables that hold tensors, alone or in a list or dictionary, in the functions that are being called."""
    names: dict[int, str] = {}
    place = None if frame is None else _source.place_of(frame)
    while frame is not None and place is not None and len(names) < len(wanted):
        if frame.f_code.co_filename == place[0]:
            for name, value in [*frame.f_locals.items(), *frame.f_globals.items()]:
                for key, one in _parts_of(name, value):
                    if id(one) in wanted:
                        names.setdefault(id(one), key)
        frame = frame.f_back
    return names


def _parts_of(name: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, torch.Tensor):
        return [(name, value)]
    if isinstance(value, dict) and not name.startswith("__"):
        return [(f"{name}.{key}", one) for key, one in list(value.items())[:MAX_LEAVES]]
    if isinstance(value, (list, tuple)):
        return [(f"{name}.{number}", one) for number, one in enumerate(value[:MAX_LEAVES])]
    return []
