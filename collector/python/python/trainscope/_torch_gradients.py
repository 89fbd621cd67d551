"""Gradients of a model at the beginning of its backward passes: kept from the update before, or cleared too often."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from trainscope._torch_device import PLAIN
from trainscope._torch_later import is_readable

MAX_SAMPLES = 4
"""Parameters of a model whose gradients stand for all."""

MAX_ELEMENTS = 1 << 14
"""Elements of a gradient that are read."""

Place = tuple[str, int, str] | None


class Gradients:
    """Follows the gradients of some parameters of a model from one backward pass to the next.

    A pass that changes none of them is one of another model. Where gradients are on a device they are read at looks
    only, as that waits for it.
    """

    def __init__(self) -> None:
        self._samples: list[weakref.ref[torch.Tensor]] = []
        self._before: list[Any] = []
        # `None` before it was asked for.
        self._are_zero: bool | None = True
        self._made = 0
        self._weights: list[Any] = []
        self._place: Place = None
        # The model was updated since the last pass; it is not known what became of the gradients.
        self._is_updated = self._is_unknown = False
        # Gradients from before the last update are part of the next one; `None` if that is not known.
        self._are_kept: bool | None = None
        self.updates = self.passes = self.kept = self.cleared_between = 0
        self.has_closure = False
        self._is_in_closure = False
        # Updates after passes whose gradients are known, and those of them before no pass of which they were zero.
        self.followed_updates = self.never_cleared = 0
        # `None` if it is not known whether they were zero before a pass since the last update.
        self._were_zero: bool | None = False

    def choose(self, parameters: list[torch.Tensor]) -> None:
        """Chooses samples: the smallest parameters that are trained."""
        trained = [one for one in parameters if one.requires_grad and type(one) in PLAIN]
        trained.sort(key=torch.numel)
        # Some from the whole model, as a part of it may not be used.
        every = max(1, len(trained) // MAX_SAMPLES)
        self._samples = [weakref.ref(one) for one in trained[::every][:MAX_SAMPLES]]

    def before_pass(self, is_look: bool) -> None:
        """Notes the gradients before a backward pass."""
        gradients = self._gradients()
        self._before = [_state(gradient) for gradient in gradients]
        present = [gradient for gradient in gradients if gradient is not None]
        if not present:
            self._are_zero = True
        elif is_look or all(gradient.is_cpu for gradient in present):
            self._are_zero = all(_is_zero(gradient) for gradient in present)
        else:
            self._are_zero = None

    def after_pass(self, place: Place) -> bool:
        """Counts the pass, and returns `True`, if it was one of this model."""
        if [_state(gradient) for gradient in self._gradients()] == self._before:
            return False
        if self._are_zero:
            self._were_zero = True
        elif self._are_zero is None and self._were_zero is False:
            self._were_zero = None
        if self._is_in_closure:
            return True
        weights = self._states_of_weights()
        if self._is_updated:
            self._made = 0
            self._is_updated = False
            self._are_kept = None if self._are_zero is None or self._is_unknown else not self._are_zero
        elif self._made and self._are_zero and not self._is_unknown:
            # Gradients of another model that were there before the first pass are cleared for the second.
            if not self._are_kept and place == self._place and weights == self._weights:
                self.cleared_between += 1
            self._are_kept = self._are_kept and False
        self._made += 1
        self.passes += 1
        self._place, self._weights = place, weights
        return True

    def before_update(self, *, has_closure: bool) -> None:
        """An optimizer begins to update the model; with a closure it makes backward passes itself."""
        self._is_in_closure = has_closure
        self.has_closure |= has_closure

    def after_update(self, *, is_skipped: bool = False) -> None:
        """The model was updated, or the scaler has left the update out."""
        if self._are_kept is not None and not is_skipped and not self._is_in_closure:
            self.updates += 1
            self.kept += self._are_kept
        has_passes = self._made > 0 and not self._is_updated
        if has_passes and self._were_zero is not None and not is_skipped and not self._is_in_closure:
            self.followed_updates += 1
            self.never_cleared += not self._were_zero
        self._were_zero = False
        self._are_kept = None
        self._is_unknown = is_skipped or self._is_in_closure
        self._is_in_closure = False
        self._is_updated = True

    def _gradients(self) -> list[torch.Tensor | None]:
        parameters = [one() for one in self._samples]
        return [None if one is None else one.grad for one in parameters]

    def _states_of_weights(self) -> list[Any]:
        return [None if (one := sample()) is None else (one._version, one.data_ptr()) for sample in self._samples]


def _state(gradient: torch.Tensor | None) -> Any:
    return None if gradient is None else (id(gradient), gradient._version)


def _is_zero(gradient: torch.Tensor) -> bool:
    if gradient.is_sparse:
        return gradient._nnz() == 0 or _is_zero(gradient._values())
    if not is_readable(gradient.detach()):
        return False
    part = gradient.detach()
    if part.numel() > MAX_ELEMENTS and part.ndim:
        part = part[: max(1, MAX_ELEMENTS * len(part) // part.numel())]
    return not bool(part.count_nonzero())
