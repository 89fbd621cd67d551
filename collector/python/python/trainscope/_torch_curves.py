"""Curves of the optimizers of PyTorch: their learning rates, and the norm of the gradients that they hold."""

from __future__ import annotations

import dataclasses
import itertools
import weakref
from typing import Any

import torch
from torch.optim import Optimizer

from trainscope._lost import guarded
from trainscope._torch_device import DeviceRows, is_shard, norm_of, whole
from trainscope._torch_hooks import parameters_of

MAX_OPTIMIZERS = 16
"""Most optimizers of a run that have curves."""

MAX_GROUPS = 16
"""Most groups of an optimizer that have a curve."""


@dataclasses.dataclass
class _Rate:
    """Learning rate of a group: the last point of its curve, and the last step that had this rate."""

    value: float
    point: int
    seen: int


@dataclasses.dataclass
class _Curves:
    """Curves of one optimizer, and of those that replace it on its parameters."""

    prefix: str
    rates: dict[int, _Rate] = dataclasses.field(default_factory=dict)
    rate_step: int = -1
    norm_step: int = -1


# By run; watches of one run share them.
_OF_RUN: weakref.WeakKeyDictionary[Any, weakref.WeakKeyDictionary[Optimizer, _Curves]] = weakref.WeakKeyDictionary()


class OptimizerCurves:
    """Records `learning_rate` and `grad_norm` of the optimizers that one watch sees.

    The second group is `learning_rate/1`; a second optimizer of the run has its class in front: `Adam/grad_norm`.
    """

    def __init__(self, run: Any, rows: DeviceRows, *, is_on: bool = True) -> None:
        self._run = run
        self._rows = rows
        self._is_on = is_on
        self._of_run = _OF_RUN.setdefault(run, weakref.WeakKeyDictionary())

    @guarded
    def record_rates(self, optimizer: Optimizer, step: int, *, is_look: bool) -> None:
        """Records the rates of an update: those that have changed, at a look all of them.

        The last step with the rate before gets a point too, so that a step of a schedule is not drawn as a ramp. Rates on a
        device are recorded at looks.
        """
        curves = self._curves_of(optimizer)
        if curves is None or curves.rate_step == step:
            return
        curves.rate_step = step
        for number, group in enumerate(optimizer.param_groups[:MAX_GROUPS]):
            value = group.get("lr")
            name = f"{curves.prefix}learning_rate" + (f"/{number}" if number else "")
            if isinstance(value, torch.Tensor) and not value.is_cpu:
                if is_look:
                    self._rows.add_scalar(name, value, step)
            elif value is not None:
                self._record_rate(curves.rates, number, name, float(value), step, is_look)

    def _record_rate(
        self, rates: dict[int, _Rate], number: int, name: str, value: float, step: int, is_look: bool
    ) -> None:
        before = rates.get(number)
        if before is not None and before.value == value and not is_look:
            before.seen = step
            return
        if before is not None and before.value != value and before.point < before.seen < step:
            self._run.scalar(name, before.value, before.seen)
        self._run.scalar(name, value, step)
        rates[number] = _Rate(value, step, step)

    @guarded
    def record_norm(
        self, optimizer: Optimizer, step: int, scale: float = 1.0, factor: torch.Tensor | None = None
    ) -> None:
        """Records the norm of all gradients that the optimizer holds, multiplied by `scale` and the number in `factor`.

        If ranks hold parts of a gradient, it is that of the parts of this rank, as `grad_norm/shard`.
        """
        curves = self._curves_of(optimizer)
        if curves is None or curves.norm_step == step:
            return
        curves.norm_step = step
        gradients = [one for parameter in parameters_of(optimizer) if (one := parameter.grad) is not None]
        gradients = [one if type(one) is torch.Tensor else whole(one) for one in gradients]
        norm = norm_of(gradients)
        if norm is None:
            return
        name = f"{curves.prefix}grad_norm" + ("/shard" if any(map(is_shard, gradients)) else "")
        if isinstance(norm, torch.Tensor):
            self._rows.add_scalar(name, norm, step, scale, factor)
        else:
            self._run.scalar(name, norm * scale * (1.0 if factor is None else float(factor)), step)

    def _curves_of(self, optimizer: Optimizer) -> _Curves | None:
        """Curves of an optimizer; None if there are too many, or if the watch has none."""
        if not self._is_on:
            return None
        of_run = self._of_run
        curves = of_run.get(optimizer)
        if curves is None:
            held = set(map(id, parameters_of(optimizer)))
            others = list(of_run.items())
            for other, others_curves in others:
                if not held.isdisjoint(map(id, parameters_of(other))):
                    # It replaces the other, or is a part of it.
                    of_run[optimizer] = others_curves
                    return others_curves
            taken = {own.prefix for _, own in others}
            if len(taken) >= MAX_OPTIMIZERS:
                return None
            own = type(optimizer).__name__
            prefixes = itertools.chain(["", f"{own}/"], (f"{own}{number}/" for number in itertools.count(2)))
            curves = of_run[optimizer] = _Curves(next(prefix for prefix in prefixes if prefix not in taken))
        return curves
