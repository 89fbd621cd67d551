"""Hooks of all optimizers, and of a gradient scaler: the update of a watched model is looked at before it is made."""

from __future__ import annotations

import dataclasses
import weakref
from typing import Any

import torch
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from trainscope._lost import guarded
from trainscope._torch_curves import OptimizerCurves
from trainscope._torch_hooks import Hook, ScalerStep, unscaling_factor, unwrapped
from trainscope._torch_not_finite import NotFinite
from trainscope._torch_watch_state import WatchState


@dataclasses.dataclass
class _Update:
    """The update that is made now, or was made last."""

    # A hook was called since the scaler was asked; gradients are read after the update.
    is_fired: bool = False
    is_late: bool = False
    step: int = 0
    # The last step that has passed the gate before its update.
    gate_step: int = -1
    found_inf: torch.Tensor | None = None


class UpdateHooks:
    """Hooks of updates. An optimizer may be one in a wrapper, or replace the one that was given: all are hooked.

    watch: its `_read` reads weights and gradients.
    """

    def __init__(self, watch: Any, state: WatchState, curves: OptimizerCurves, not_finite: NotFinite) -> None:
        self._watch = weakref.ref(watch)
        self._run = watch._run
        self._state = state
        self._curves = curves
        self._not_finite = not_finite
        self._update = _Update()
        self._handles: list[Any] = []
        self._scaler_step: ScalerStep | None = None

    def set(self, optimizer: Any, scaler: Any) -> None:
        """Sets the hooks. optimizer, scaler: those that the watch was given, or None."""
        self._handles = [
            register_optimizer_step_pre_hook(Hook(self, UpdateHooks._before_optimizer)),
            register_optimizer_step_post_hook(Hook(self, UpdateHooks._after_optimizer)),
        ]
        self._state.updates.open(optimizer)
        if scaler is not None:
            self._scaler_step = ScalerStep(self, scaler)
            scaler.step = self._scaler_step

    def remove(self) -> None:
        """Removes the hooks, and gives the scaler its step back."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        if self._scaler_step is not None:
            self._scaler_step.restore()
            self._scaler_step = None

    # The optimizer.

    def _before_optimizer(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._read_before_update(optimizer, args, kwargs)
        self._not_finite.before_update()
        update = self._update
        # Of several optimizers that of the first update is the gate of the step.
        if not update.is_fired or update.gate_step == update.step:
            return
        update.gate_step = update.step
        if self._run._has_gate("before_update"):
            watch = self._watch()
            if watch is not None:
                watch._device.read(wait=True)
            self._run.gate("before_update")

    @guarded
    def _read_before_update(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        watch, updates, update = self._watch(), self._state.updates, self._update
        # The hooks of a model that is gone stay: optimizers do not allow to remove one while they call them.
        if watch is None or watch.model is None or not updates.is_ours(optimizer):
            return
        step = updates.step_of(optimizer)
        update.is_fired, update.step = True, step
        update.found_inf = getattr(optimizer, "found_inf", None)
        is_look = self._state.looks.includes(step)
        self._curves.record_rates(optimizer, step, is_look=is_look)
        if not is_look:
            return
        # With a closure the gradients of this step are there after the update only.
        update.is_late = (args[1] if len(args) > 1 else kwargs.get("closure")) is not None
        factor = unscaling_factor(optimizer)
        if not update.is_late:
            self._curves.record_norm(optimizer, step, factor=factor)
        watch._read(step, 1.0, factor, optimizer, weights=True, gradients=not update.is_late)
        watch._device.send()
        self._state.spans.begin("update")

    @guarded
    def _after_optimizer(self, optimizer: Optimizer, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> None:
        watch, updates = self._watch(), self._state.updates
        if watch is None or watch.model is None or not updates.is_ours(optimizer):
            return
        step = updates.step_of(optimizer)
        self._state.spans.end("update", step)
        if self._update.is_late:
            self._update.is_late = False
            self._curves.record_norm(optimizer, step)
            watch._read(step, 1.0, None, optimizer, weights=False, gradients=True)
        self._end_update(watch, optimizer, step)

    def _end_update(self, watch: Any, optimizer: Optimizer, step: int) -> None:
        looks, updates = self._state.looks, self._state.updates
        if looks.includes(step):
            watch._end_look()
        looks.note_update(step)
        updates.count(optimizer)
        watch.begin(updates.now())

    # The gradient scaler.

    @guarded
    def _before_scaler(self) -> None:
        self._update.is_fired, self._update.found_inf = False, None

    @guarded
    def _after_scaler(self, scaler: Any, optimizer: Any) -> None:
        watch, updates, update = self._watch(), self._state.updates, self._update
        inner = unwrapped(optimizer)
        if watch is None or inner is None or not scaler.is_enabled() or not updates.is_ours(inner):
            return
        scale = getattr(scaler, "_scale", None)
        skipped: Any = 0.0
        if update.is_fired:
            step = update.step
            if update.found_inf is not None:
                skipped = update.found_inf.clamp(max=1.0)
        else:
            step, skipped = updates.step_of(inner), 1.0
            is_look = self._state.looks.includes(step)
            self._curves.record_rates(inner, step, is_look=is_look)
            if is_look:
                self._curves.record_norm(inner, step)
                watch._read(step, 1.0, None, inner, weights=True, gradients=True)
                watch._device.send()
        prefix = self._state.watched.prefix
        self._run.scalar(f"{prefix}amp/scale", scaler.get_scale() if scale is None else scale.detach(), step)
        self._run.scalar(f"{prefix}amp/skipped", skipped, step)
        if not update.is_fired:
            self._end_update(watch, inner, step)
