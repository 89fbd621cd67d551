"""Finds the models, optimizers and losses of a program that trains with PyTorch, by its global hooks.

A root model is the outermost module that is called with gradients and has parameters that an optimizer holds: loss modules
and metrics have none. It is looked for in the first forward passes after an optimizer got parameters; when all of them are
in watched models, the hook of forward passes is removed.
"""

from __future__ import annotations

import atexit
import functools
import sys
import weakref
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_pre_hook

from trainscope import _launch, _source, _torch_calls
from trainscope._auto_by_hand import ByHand
from trainscope._auto_losses import Losses
from trainscope._lost import guarded
from trainscope._torch_hooks import Hook, parameters_of, unwrapped

if TYPE_CHECKING:
    from trainscope._auto import Recording
    from trainscope.torch import Watch

UPDATES_TO_FIND = 2
"""Updates of an optimizer after which its parameters are in no module that will be called."""

MAX_EARLY = 32
"""Most calls before the first model is found that are kept."""

_observer: Observer | None = None


def observe(recording: Recording) -> None:
    """Begins to observe, once."""
    global _observer
    if _observer is None:
        _observer = Observer(recording)


class Observer(_torch_calls.Listener):
    """Hooks that wait for models and optimizers, and hand them to `Run.watch`."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        # Updates that each optimizer was seen to make.
        self._updates: weakref.WeakKeyDictionary[Optimizer, int] = weakref.WeakKeyDictionary()
        # Updates of the run.
        self._made = 0
        # Parameters of optimizers, by identity, that are in no watched model so far.
        self._wanted: dict[int, weakref.ref[torch.Tensor]] = {}
        self._losses = Losses(self._record_loss)
        self._by_hand = ByHand(self)
        self._scaler: weakref.ref[Any] | None = None
        self._before_scaler = 0
        self._forward_hook: Any = None
        # Calls before the first model was found, for the recorder of facts: method, arguments and line.
        self._early: list[tuple[str, tuple[Any, ...], tuple[str, int, str] | None]] = []
        self._hooks = [register_optimizer_step_pre_hook(Hook(self, Observer._before_update))]
        self._restore = [
            _call_after(Optimizer, "add_param_group", self._after_parameters),
            _call_after(torch.amp.GradScaler, "__init__", self._after_scaler),
            _call_after(torch.amp.GradScaler, "scale", self._after_scale),
        ]
        _torch_calls.listen(self)
        atexit.register(self.finish)
        util = sys.modules.get("multiprocessing.util")
        if util is not None and _launch.is_child():
            # Children of multiprocessing end without `atexit`; runs are finished with priority 0.
            util.Finalize(None, self.finish, exitpriority=10)

    def _count_invalid(self, message: str) -> None:
        """Error of `guarded`: it belongs to the run, if there is one."""
        run = self._recording.run()
        if run is not None:
            run._count_invalid(message)

    @guarded
    def finish(self) -> None:
        """Writes the losses that wait for their names."""
        if self._recording.is_here():
            self._losses.finish()

    def close(self) -> None:
        """Removes all hooks: the program records itself, or nothing can be recorded."""
        self._by_hand.close()
        self._wanted.clear()
        self._follow_forward()
        for hook in self._hooks:
            hook.remove()
        for restore in self._restore:
            restore()
        self._hooks, self._restore = [], []
        _torch_calls.leave(self)

    # Optimizers.

    @guarded
    def _after_parameters(self, _result: None, optimizer: Optimizer, *_args: Any, **_options: Any) -> None:
        """An optimizer was made, or got more parameters."""
        if self._recording.is_here():
            if not self._updates:
                # Backward passes before it were for something else.
                self._losses.forget()
            self._add(optimizer)

    def _add(self, optimizer: Optimizer) -> None:
        self._updates.setdefault(optimizer, 0)
        seen = self._watched()
        for parameter in parameters_of(optimizer):
            if parameter.requires_grad and id(parameter) not in seen:
                self._wanted[id(parameter)] = weakref.ref(parameter)
        self._follow_forward()

    def _watched(self) -> set[int]:
        """Parameters of watched models, by identity."""
        run = self._recording.run() if self._recording.has_run() else None
        models = [] if run is None else [watch.model for watch in run._watches]
        return {id(parameter) for model in models if model is not None for parameter in model.parameters()}

    @guarded
    def _before_update(self, optimizer: Optimizer, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> None:
        if not self._recording.is_here():
            return
        if optimizer not in self._updates:
            # It was made before it could be seen.
            self._add(optimizer)
        made = self._updates[optimizer]
        self._updates[optimizer] = made + 1
        step = self._step_of(optimizer, made)
        self._made = max(self._made, step + 1)
        self._losses.before_update(step, is_second=made > 0)
        if made + 1 == UPDATES_TO_FIND and self._wanted:
            for parameter in parameters_of(optimizer):
                self._wanted.pop(id(parameter), None)
            self._follow_forward()

    def _step_of(self, optimizer: Optimizer, made: int) -> int:
        """Step of the update that an optimizer is about to make. `made`: updates of it, for one of no watched model."""
        run = self._recording.run() if self._recording.has_run() else None
        watches = [] if run is None else run._watches
        counts = [watch._state.updates for watch in watches]
        steps = [updates.step_of(optimizer) for updates in counts if updates.is_ours(optimizer)]
        return max(steps, default=made)

    # Models.

    def _follow_forward(self) -> None:
        """Sets or removes the hook of forward passes."""
        if self._wanted and self._forward_hook is None and not self._recording.is_over:
            self._forward_hook = register_module_forward_pre_hook(Hook(self, Observer._before_forward))
        elif not self._wanted and self._forward_hook is not None:
            self._forward_hook.remove()
            self._forward_hook = None

    @guarded
    def _before_forward(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        if not self._wanted or not torch.is_grad_enabled() or not self._recording.is_here():
            return
        if torch._C._current_graph_task_id() != -1 or getattr(module, "_is_replica", False):
            return
        if any(self._wants(parameter) for parameter in module.parameters()):
            self._found(module, args)

    def _wants(self, parameter: torch.Tensor) -> bool:
        one = self._wanted.get(id(parameter))
        return one is not None and one() is parameter

    def _found(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        own = {id(parameter) for parameter in module.parameters()}
        run = self._recording.run()
        if run is None:
            if self._recording.is_over:
                self.close()
            return
        # An adapter may have begun to watch the model since.
        watched = self._watched()
        is_new = any(name in self._wanted for name in own - watched)
        for name in own:
            self._wanted.pop(name, None)
        self._wanted = {name: one for name, one in self._wanted.items() if one() is not None}
        self._follow_forward()
        optimizer = self._holder_of(own)
        if optimizer is None or not is_new:
            return
        modules = set(module.modules())
        for other in list(run._watches):
            if other.model in modules:
                # A part of the model that was called before it.
                other.close()
        scaler = None if self._scaler is None else self._scaler()
        before = set(module._forward_pre_hooks)
        watch = run.watch(module, optimizer, scaler=scaler)
        if watch is None:
            return
        self._begin(watch, optimizer)
        self._repeat_early(watch)
        # PyTorch has gathered the hooks of this call already.
        keywords = _keywords_of(sys._getframe())
        for number, hook in list(module._forward_pre_hooks.items()):
            if number not in before and isinstance(hook, Hook):
                hook(module, args, *([keywords] if number in module._forward_pre_hooks_with_kwargs else []))

    def _holder_of(self, own: set[int]) -> Optimizer | None:
        """The optimizer that holds most of these parameters."""
        held = {one: sum(id(parameter) in own for parameter in parameters_of(one)) for one in list(self._updates)}
        best = max(held, key=held.__getitem__, default=None)
        return best if best is not None and held[best] else None

    def _begin(self, watch: Watch, optimizer: Optimizer) -> None:
        """Sets the first step of a model: that after the updates of one before it, or that of the one beside it."""
        watch._forward.records_loss = False
        others = [other for other in watch._run._watches if other is not watch and other.model is not None]
        first = max(0, self._made - 1) if others else self._made
        if watch._state.updates.begin_at(optimizer, first):
            watch.begin(watch._state.updates.now())

    # Calls before the first model is found.

    @guarded
    def iterates(self, loader: Any) -> None:
        """Keeps the loader that began last."""
        self._early = [call for call in self._early if call[0] != "iterates"]
        self._keep("iterates", weakref.ref(loader))

    @guarded
    def has_loaded(self, module: Any, keys: list[str], result: Any) -> None:
        """Keeps which keys of a state a module has taken over."""
        self._keep("has_loaded", weakref.ref(module), keys, result)

    @guarded
    def seeds(self, seed: Any) -> None:
        """Keeps that the random state was set."""
        self._keep("seeds", seed)

    def _keep(self, name: str, *args: Any) -> None:
        if self._recording.is_here() and not self._recording.has_run() and len(self._early) < MAX_EARLY:
            self._early.append((name, args, _source.place_of(sys._getframe(1))))

    def _repeat_early(self, watch: Watch) -> None:
        early, self._early = self._early, []
        for name, args, place in early:
            living = tuple(one() if isinstance(one, weakref.ref) else one for one in args)
            if None not in living[:1]:
                getattr(watch._program, name)(*living, place=place)

    # Losses.

    @guarded
    def _after_scaler(self, _result: None, scaler: Any, *_args: Any, **_options: Any) -> None:
        self._scaler = weakref.ref(scaler)

    @guarded
    def _after_scale(self, result: Any, _scaler: Any, outputs: Any) -> None:
        if isinstance(outputs, torch.Tensor) and result is not outputs:
            self._losses.scaled(result, outputs)

    @guarded
    def before_scaler(self, scaler: Any, optimizer: Any) -> None:
        """Notes the number of updates before the scaler may leave one out."""
        self._before_scaler = self._updates_of(optimizer)

    @guarded
    def after_scaler(self, scaler: Any, optimizer: Any) -> None:
        """Records the losses of an update that was left out, which counts as a step."""
        inner = unwrapped(optimizer)
        if inner is None or not scaler.is_enabled() or not self._recording.is_here():
            return
        made = self._updates_of(inner)
        if made == self._before_scaler:
            self._losses.before_update(self._step_of(inner, made), is_second=made > 0)

    def _updates_of(self, optimizer: Any) -> int:
        inner = unwrapped(optimizer)
        return 0 if inner is None else self._updates.get(inner, 0)

    @guarded
    def before_backward(self, roots: tuple[Any, ...]) -> None:
        """Notes the losses."""
        if not self._recording.is_here():
            return
        frame = sys._getframe(1)
        self._by_hand.before_pass(roots, frame, self._updates)
        if not self._recording.records_losses():
            return
        for loss in roots:
            if isinstance(loss, torch.Tensor) and loss.numel() == 1 and loss.is_floating_point():
                self._losses.add(loss, frame)

    @guarded
    def after_backward(self) -> None:
        """Records the losses of a training without an optimizer, of which each pass is a step."""
        if not self._recording.is_here():
            return
        step = self._by_hand.after_pass()
        if step >= 0:
            self._made = max(self._made, step + 1)
            self._losses.before_update(step, is_second=True)

    def found_by_loss(self, model: nn.Module, optimizer: Optimizer | None) -> Watch | None:
        """Watches a model that a loss reaches and no optimizer holds."""
        run = self._recording.run()
        if run is None:
            return None
        self._losses.forget()
        watch = run.watch(model, optimizer)
        if watch is None:
            return None
        watch._forward.records_loss = False
        if optimizer is not None:
            self._begin(watch, optimizer)
        self._repeat_early(watch)
        return watch

    def _record_loss(self, name: str, value: Any, step: int) -> None:
        run = self._recording.run()
        if run is not None:
            run.scalar(name, value, step)
        elif self._recording.is_over:
            self.close()


def _call_after(owner: Any, name: str, observer: Callable[..., None]) -> Callable[[], None]:
    """Calls an observer with the result and the arguments of a function after each call. Returns the undoing function."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        observer(result, *args, **kwargs)
        return result

    return _replace(owner, name, call)


def _replace(owner: Any, name: str, call: Callable[..., Any]) -> Callable[[], None]:
    original = getattr(owner, name)
    setattr(owner, name, call)

    def restore() -> None:
        # A wrapper that another has put around it since stays.
        if vars(owner).get(name) is call:
            setattr(owner, name, original)

    return restore


def _keywords_of(frame: FrameType | None) -> dict[str, Any]:
    """Keyword arguments of the module that calls a global hook, which gets the others only."""
    while frame is not None:
        if frame.f_code.co_filename == nn.modules.module.__file__:
            keywords = frame.f_locals.get("kwargs")
            return dict(keywords) if isinstance(keywords, dict) else {}
        frame = frame.f_back
    return {}
