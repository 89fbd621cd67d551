"""Clipping of gradients, and the scale of the loss that they may still have then."""

from __future__ import annotations

import math
import weakref
from collections import deque
from typing import Any

import torch
from torch.optim import Optimizer

from trainscope._torch_hooks import parameters_of
from trainscope._torch_later import is_readable

MAX_NORMS = 64

NEAR = 0.01
"""Relative distance from the mean that counts as the same norm."""

Place = tuple[str, int, str] | None


class Clipping:
    """Calls of `clip_grad_norm_`, and norms of gradients at updates with a gradient scaler."""

    def __init__(self) -> None:
        self.calls = self._judged = self._clipped = self._scaled = self._not_finite = 0
        self._parameters = 0
        self._max_norm = 0.0
        self.place: Place = None
        self._scaler: weakref.ref[Any] | None = None
        # The loss of the update that is to come was multiplied.
        self.is_scaled = False
        self.updates_before = -1
        self._scale = self._lowest = math.nan
        self._products: deque[float] = deque(maxlen=MAX_NORMS)

    def scales(self, scaler: Any) -> None:
        """A scaler multiplies a loss."""
        if not scaler.is_enabled():
            return
        if self._scaler is None or self._scaler() is not scaler:
            self._scaler = weakref.ref(scaler)
        self.is_scaled = True
        scale = getattr(scaler, "_scale", None)
        if isinstance(scale, torch.Tensor) and scale.is_cpu:
            self._note_scale(float(scale))

    def _note_scale(self, scale: float) -> None:
        self._scale = scale
        self._lowest = scale if math.isnan(self._lowest) else min(scale, self._lowest)

    def add(
        self, parameters: list[torch.Tensor], max_norm: Any, norm: torch.Tensor, place: Place, *, is_look: bool
    ) -> None:
        """Gradients are about to be clipped. Their norm is read where that waits for nothing, and at looks."""
        self.calls += 1
        self.place = self.place or place
        self._parameters = sum(one.grad is not None for one in parameters)
        self._max_norm = float(max_norm)
        if is_readable(norm) and (norm.is_cpu or is_look):
            value = float(norm)
            self._judged += 1
            self._not_finite += not math.isfinite(value)
            self._clipped += value > self._max_norm
        self._scaled += self._is_scaled_now()

    def _is_scaled_now(self) -> bool:
        """True if the scaler has multiplied the loss of this update, and not divided the gradients yet."""
        scaler = None if self._scaler is None else self._scaler()
        if scaler is None or not self.is_scaled or self._scale == 1.0:
            return False
        states = getattr(scaler, "_per_optimizer_states", None) or {}
        stages = [getattr(state.get("stage"), "name", "") for state in states.values()]
        return "UNSCALED" not in stages and "STEPPED" not in stages

    def read_norm(self, optimizer: Optimizer) -> None:
        """Reads the norm of all gradients before an update, at a look, if there is a scaler."""
        scaler = None if self._scaler is None else self._scaler()
        if scaler is None or not self.is_scaled or getattr(optimizer, "grad_scale", None) is not None:
            return
        gradients = [one.grad.detach() for one in parameters_of(optimizer) if one.grad is not None]
        gradients = [one for one in gradients if is_readable(one)]
        scale = getattr(scaler, "_scale", None)
        if not gradients or not isinstance(scale, torch.Tensor):
            return
        norms = [one.to(gradients[0].device, torch.float32) for one in torch._foreach_norm(gradients)]
        norm = float(torch.stack(norms).norm())
        self._note_scale(float(scale))
        if math.isfinite(norm) and norm > 0:
            self._products.append(norm * self._scale)

    def numbers(self) -> tuple[dict[str, float], dict[str, str]]:
        """The fact; nothing without a call and without a scaler."""
        if not self.calls and math.isnan(self._scale):
            return {}, {}
        numbers: dict[str, float] = {
            "calls": self.calls,
            "judged": self._judged,
            "parameters": self._parameters,
            "max_norm": self._max_norm,
            "clipped": self._clipped,
            "not_finite": self._not_finite,
            "scaled": self._scaled,
        }
        if not math.isnan(self._scale):
            numbers |= {"scale": self._scale, "lowest_scale": self._lowest, "steps": len(self._products)}
            if self._products:
                mean = sum(self._products) / len(self._products)
                near = sum(abs(one - mean) <= NEAR * mean for one in self._products)
                numbers["norm_times_scale_near"] = near / len(self._products)
        return numbers, {}
