"""Losses of a program that records none itself: one series for each line that calls `backward`."""

from __future__ import annotations

import dataclasses
import os
import weakref
from collections import deque
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from trainscope import _source

MAX_SERIES = 64
"""Most series; the losses of further lines are left out."""

MAX_SCALED = 16
"""Scaled losses whose value is remembered until their backward pass."""

Place = tuple[str, int, str]


@dataclasses.dataclass
class _Series:
    """Losses of one line since the last update."""

    variable: str
    """Name of the variable that holds the loss; "" if none does."""
    name: str = ""
    total: Any = 0.0
    passes: int = 0


class Losses:
    """Collects the losses of backward passes, and records their mean at the update that they lead to.

    The only one is called `loss`. Of several each is called `loss/<variable>`, or `loss/<file>:<line>`. So the first losses
    wait for a second update of the same optimizer.
    """

    def __init__(self, record: Callable[[str, Any, int], None]) -> None:
        """`record`: gets name, value and step."""
        self._record = record
        self._series: dict[Place, _Series] = {}
        self._is_named = False
        # Losses without a name: line, value and step.
        self._waiting: list[tuple[Place, Any, int]] = []
        # Results of a gradient scaler with the loss that they are of.
        self._scaled: deque[tuple[weakref.ref[torch.Tensor], torch.Tensor]] = deque(maxlen=MAX_SCALED)

    def scaled(self, result: torch.Tensor, loss: torch.Tensor) -> None:
        """Remembers the loss that a scaled one was made of."""
        self._scaled.append((weakref.ref(result), loss.detach()))

    def add(self, loss: torch.Tensor, frame: FrameType) -> None:
        """Adds the loss of a backward pass that begins in this frame."""
        place = _source.place_of(frame) or ("", 0, "")
        series = self._series.get(place)
        if series is None:
            if len(self._series) >= MAX_SERIES:
                return
            series = self._series[place] = _Series(_variable_of(loss, frame, place))
        value = next((own for one, own in self._scaled if one() is loss), loss.detach())
        # On the processor the number is there; on a device it is waited for when the record is written.
        number = value.item() if value.is_cpu else value
        series.total = series.total + number if series.passes else number
        series.passes += 1

    def forget(self) -> None:
        """Leaves out what was added so far."""
        self._series.clear()

    def before_update(self, step: int, *, is_second: bool) -> None:
        """Records what was added since the last update. `is_second`: all lines that belong to an update were seen."""
        for place, series in self._series.items():
            if series.passes:
                value = series.total / series.passes if series.passes > 1 else series.total
                series.total, series.passes = 0.0, 0
                if self._is_named:
                    self._record(self._name_of(place), value, step)
                else:
                    self._waiting.append((place, value, step))
        self._scaled.clear()
        if not self._is_named and (is_second or len(self._waiting) >= MAX_SERIES):
            self.finish()

    def finish(self) -> None:
        """Records what has waited for a name."""
        self._is_named = True
        waiting, self._waiting = self._waiting, []
        for place, value, step in waiting:
            self._record(self._name_of(place), value, step)

    def _name_of(self, place: Place) -> str:
        series = self._series[place]
        if not series.name:
            series.name = self._new_name(place, series)
        return series.name

    def _new_name(self, place: Place, series: _Series) -> str:
        taken = {other.name for other in self._series.values()}
        if len(self._series) == 1 and "loss" not in taken:
            return "loss"
        shared = [other for other in self._series.values() if other.variable == series.variable]
        name = f"loss/{series.variable}"
        if series.variable and len(shared) == 1 and name not in taken:
            return name
        file, line, _ = place
        return f"loss/{os.path.basename(file)}:{line}"


def _variable_of(loss: torch.Tensor, frame: FrameType | None, place: Place) -> str:
    """Name of the variable that holds a tensor in the function at a place."""
    while frame is not None and (frame.f_code.co_filename, frame.f_lineno) != place[:2]:
        frame = frame.f_back
    names = () if frame is None else (name for name, value in list(frame.f_locals.items()) if value is loss)
    return next((name for name in names if not name.startswith("_")), "")
