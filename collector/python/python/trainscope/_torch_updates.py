"""Updates of a watched model: its optimizers among all, and the steps of their updates."""

from __future__ import annotations

import operator
import weakref
from typing import Any

from torch.optim import Optimizer

from trainscope._torch_hooks import parameters_of, unwrapped, updates_in
from trainscope._torch_watched import WatchedModel
from trainscope._torch_watches import of_other_runs


class Updates:
    """Numbers of the updates that each optimizer of a model has made."""

    def __init__(self, run: Any, watched: WatchedModel) -> None:
        self._run = run
        self._watched = watched
        # None for an optimizer that holds no parameter of the model.
        self._counts: weakref.WeakKeyDictionary[Optimizer, int | None] = weakref.WeakKeyDictionary()
        # The highest of them, also of optimizers that are gone.
        self._made = 0
        self.has_updated = False
        self._given: weakref.ref[Optimizer] | None = None
        # An optimizer without hooks, by the name of its class.
        self.foreign = ""

    @property
    def given(self) -> Optimizer | None:
        """The optimizer that the watch was given; None once it is gone."""
        return None if self._given is None else self._given()

    def start_at(self, step: int) -> None:
        """Sets the step of the first update."""
        self._set_made(operator.index(step))

    def open(self, optimizer: Any) -> None:
        """Takes the optimizer that the watch was given."""
        inner = unwrapped(optimizer)
        if inner is not None:
            self._given = weakref.ref(inner)
            self._counts[inner] = self._made
            self._resume(inner)
        elif optimizer is not None:
            self.foreign = type(optimizer).__name__

    def know(self, optimizer: Optimizer) -> None:
        """Takes another optimizer of the model, which has made no update yet."""
        self._counts.setdefault(optimizer, 0)

    def now(self) -> int:
        """The open step, or the number of updates."""
        step = self._run._open_step()
        return int(step) if step is not None else self._made

    def step_of(self, optimizer: Optimizer) -> int:
        """Step of the update that an optimizer is about to make, or has just made."""
        step = self._run._open_step()
        return int(step) if step is not None else self._counts[optimizer] or 0

    def is_ours(self, optimizer: Optimizer) -> bool:
        """True if an optimizer holds parameters of the model."""
        if optimizer not in self._counts:
            model = self._watched.model
            if any(other.optimizer is optimizer for other in of_other_runs(self._run)):
                # It trains a part that models of two runs share.
                self._counts[optimizer] = None
                return False
            ours = set() if model is None else {id(parameter) for parameter in model.parameters()}
            held = {id(parameter) for parameter in parameters_of(optimizer)}
            if ours.isdisjoint(held):
                self._counts[optimizer] = None
            else:
                self._counts[optimizer] = self._first_of(held)
                self._resume(optimizer)
        return self._counts[optimizer] is not None

    def count(self, optimizer: Optimizer) -> None:
        """Counts an update that an optimizer has made."""
        self._counts[optimizer] = made = (self._counts[optimizer] or 0) + 1
        self.has_updated = True
        self._set_made(made, is_made=True)

    def count_by_hand(self, made: int) -> None:
        """Sets the number of updates of a program that makes them without an optimizer."""
        self.has_updated = True
        self._set_made(made, is_made=True)

    def begin_at(self, optimizer: Optimizer, step: int) -> bool:
        """Sets the step of the next update, if it is later than the one that is known, and returns if it is."""
        is_later = step > (self._counts.get(optimizer) or 0)
        if is_later:
            self._counts[optimizer] = step
            self._set_made(step)
        return is_later

    def resume(self) -> bool:
        """Takes over the number of updates from a checkpoint, and returns if it could: before the first update only."""
        optimizer = self.given
        if optimizer is None or self.has_updated:
            return False
        self._resume(optimizer)
        return True

    def held_by_others(self, optimizer: Optimizer | None, read: set[int]) -> set[int]:
        """Parameters, by identity, that this optimizer does not hold and another holds, or that were `read` before."""
        if optimizer is None:
            return set()
        self.know(optimizer)
        others = [other for other, made in self._counts.items() if made is not None and other is not optimizer]
        held = {id(parameter) for other in others for parameter in parameters_of(other)}
        return (held | read) - {id(parameter) for parameter in parameters_of(optimizer)}

    def _resume(self, optimizer: Optimizer) -> None:
        """Takes over the number of updates from the state of an optimizer that was loaded from a checkpoint."""
        self.begin_at(optimizer, updates_in(optimizer))

    def _set_made(self, made: int, *, is_made: bool = False) -> None:
        self._made = max(self._made, made)
        self._run._set_updates(self._made, is_made=is_made)

    def _first_of(self, held: set[int]) -> int:
        """First step of an optimizer that comes in later: it follows another on its parameters, or works beside it."""
        others = {other: made for other, made in self._counts.items() if made is not None}
        followed = [made for other, made in others.items() if not held.isdisjoint(map(id, parameters_of(other)))]
        if others and not followed:
            # The other has made its update of this step before.
            return max(0, self._made - 1)
        return self._made
