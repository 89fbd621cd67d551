"""Parameters that the optimizers of a training hold, and the settings of their updates."""

from __future__ import annotations

import itertools
import statistics
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.optim import Optimizer

from trainscope._torch_graph import dtype_name
from trainscope._torch_hooks import parameters_of
from trainscope._torch_later import is_readable

MAX_OPTIMIZERS = 16
MAX_GROUPS = 8
MAX_BUCKETS = 128
"""Parts of a training whose highest learning rate is kept."""

MAX_MATRICES = 8
MAX_ELEMENTS = 1 << 14

_DECOUPLED = ("adamw", "lion", "muon", "sgdw", "lamb", "adopt", "decoupled", "sophia", "prodigy", "adafactor")

Place = tuple[str, int, str] | None


class Rate:
    """Learning rate of one group over the updates."""

    def __init__(self, rate: float) -> None:
        self.first = self.last = self.highest = rate
        self.jump, self.jump_at, self.jump_to, self.highest_before_jump = 1.0, 0, rate, rate
        # Highest rates of equally long parts of the updates so far.
        self._buckets: list[float] = []
        self._length = 1

    def add(self, update: int, rate: float) -> None:
        """Adds the rate of an update, counted from 0."""
        at = update // self._length
        if at >= MAX_BUCKETS:
            pairs = itertools.zip_longest(self._buckets[::2], self._buckets[1::2], fillvalue=0.0)
            self._buckets = [max(pair) for pair in pairs]
            self._length *= 2
            at = update // self._length
        self._buckets += [self.last] * (at - len(self._buckets))
        self._buckets[at:] = [max([rate, *self._buckets[at:]])]
        if rate != self.last:
            ratio = rate / max(self.last, 1e-12)
            if ratio > self.jump and update >= 5:
                self.jump, self.jump_at, self.jump_to, self.highest_before_jump = ratio, update, rate, self.highest
            self.highest = max(self.highest, rate)
            self.last = rate

    def highest_late(self) -> float:
        """The highest one of the second half of the updates so far."""
        return max(self._buckets[len(self._buckets) // 2 :], default=self.last)


class Known:
    """An optimizer that has made an update, or was given with a model."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.updates = 0
        # The number of all updates of the training at its last one.
        self.last_at = 0
        self.rates: dict[int, Rate] = {}
        self.place: Place = None
        # Mean magnitude of the weights of a group at the beginning.
        self.weights: dict[int, float] = {}


class Optimizers:
    """Optimizers that are seen in a training. They are not kept alive."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Optimizer, Known] = weakref.WeakKeyDictionary()
        self._names: dict[str, int] = {}
        # Some parameters as they were when they were looked at first.
        self._marks: dict[int, tuple[weakref.ref[torch.Tensor], Any]] = {}
        self.updates = self._seen = 0

    def __len__(self) -> int:
        """Number of those that have made an update, also of those that are gone."""
        return self._seen

    def items(self) -> list[tuple[Optimizer, Known]]:
        """Those that are not gone."""
        return list(self._known.items())

    def know(self, optimizer: Optimizer) -> Known | None:
        """Notes an optimizer; `None` beyond the largest number of them."""
        known = self._known.get(optimizer)
        if known is None and len(self._known) < MAX_OPTIMIZERS:
            kind = type(optimizer).__name__
            count = self._names[kind] = self._names.get(kind, 0) + 1
            known = self._known[optimizer] = Known(kind if count == 1 else f"{kind}#{count}")
        return known

    def held(self) -> set[int]:
        """Parameters in any of them, by identity."""
        return {id(parameter) for optimizer in self._known for parameter in parameters_of(optimizer)}

    def updated(self, optimizer: Optimizer) -> Known | None:
        """Counts an update, and follows the rates."""
        known = self.know(optimizer)
        if known is None:
            return None
        self.updates += 1
        self._seen += known.updates == 0
        for index, group in enumerate(optimizer.param_groups[:MAX_GROUPS]):
            rate = group.get("lr")
            if isinstance(rate, (int, float)):
                follow = known.rates.get(index)
                if follow is None:
                    follow = known.rates[index] = Rate(float(rate))
                follow.add(known.updates, float(rate))
        known.updates += 1
        known.last_at = self.updates
        return known

    def parameter_numbers(
        self, optimizer: Optimizer, known: Known, models: dict[int, str], ours: Iterable[tuple[str, torch.Tensor]]
    ) -> tuple[dict[str, float], list[str]]:
        """Parameters that an optimizer holds, and names of those that are trained and in none.

        `models`: names of the parameters of all watched models by identity; `ours`: parameters of the models that the
        optimizer belongs to.
        """
        own = [id(parameter) for parameter in parameters_of(optimizer)]
        held = set(own)
        everywhere = self.held()
        missing = [(name, one) for name, one in ours if one.requires_grad and id(one) not in everywhere]
        recent = [other for other, one in self.items() if other is not optimizer and one.last_at > self.updates - 64]
        twice = held & {id(parameter) for other in recent for parameter in parameters_of(other)}
        changed = sum(self._has_changed(one) for _, one in missing[:MAX_MATRICES])
        types = {one.dtype for _, one in missing}
        others = [one for one in parameters_of(optimizer) if id(one) not in models]
        return {
            "held": len(held),
            "of_model": len(held) - len(others),
            "others": len(others),
            "other_types": sum(one.dtype not in types for one in others) if missing else 0,
            "missing": len(missing),
            "missing_changed": changed,
            "twice": len(twice) + len(own) - len(held),
        }, [name for name, _ in missing]

    def settings(self, optimizer: Optimizer, known: Known) -> Iterator[tuple[str, dict[str, float], dict[str, str]]]:
        """Settings of each group: subject, numbers and texts. Waits for a rate that is a tensor of a device."""
        for index, group in enumerate(optimizer.param_groups[:MAX_GROUPS]):
            if group.get("lr") is None or not group["params"]:
                continue
            rate = known.rates.setdefault(index, Rate(float(group["lr"])))
            if isinstance(group["lr"], torch.Tensor):
                rate.add(known.updates, float(group["lr"]))
            numbers = {
                "lr": float(group["lr"]),
                "highest_lr": rate.highest,
                "first_lr": rate.first,
                "highest_late_lr": rate.highest_late(),
                "jump": rate.jump,
                "jump_at": rate.jump_at,
                "jump_to": rate.jump_to,
                "highest_before_jump": rate.highest_before_jump,
                "updates": known.updates,
                "decoupled": float(_is_decoupled(optimizer, group)),
                "maximize": float(bool(group.get("maximize"))),
            }
            names = ("weight_decay", "eps", "momentum")
            numbers |= {name: float(group[name]) for name in names if isinstance(group.get(name), (int, float))}
            betas = group.get("betas")
            if isinstance(betas, (tuple, list)) and len(betas) >= 2:
                numbers |= {"beta1": float(betas[0]), "beta2": float(betas[1])}
            if known.updates <= 3 and index not in known.weights:
                self._measure_weights(known, index, group)
            if index in known.weights:
                numbers["lr_to_weight"] = float(group["lr"]) / known.weights[index]
            yield f"{known.name} {index}", numbers, {"type": dtype_name(group["params"][0].dtype)}

    def _has_changed(self, parameter: torch.Tensor) -> bool:
        """True if values were changed since this was asked first: by what is no optimizer that is known."""
        now = mark_of(parameter)
        reference, before = self._marks.get(id(parameter), (None, None))
        if reference is None or reference() is not parameter:
            self._marks[id(parameter)] = weakref.ref(parameter), now
            return False
        if isinstance(now, torch.Tensor) and isinstance(before, torch.Tensor):
            return not torch.equal(now, before)
        return bool(now != before)

    def measure(self, optimizer: Optimizer, known: Known) -> None:
        """Measures the weights before the first update, where that waits for no device."""
        for index, group in enumerate(optimizer.param_groups[:MAX_GROUPS]):
            if all(one.is_cpu for one in group["params"]):
                self._measure_weights(known, index, group)

    @staticmethod
    def _measure_weights(known: Known, index: int, group: dict[str, Any]) -> None:
        """Median over matrices of the mean magnitude of their weights."""
        matrices = [one for one in group["params"] if one.ndim > 1 and is_readable(one) and one.is_floating_point()]
        means = []
        for matrix in matrices[:: max(1, len(matrices) // MAX_MATRICES)][:MAX_MATRICES]:
            part = matrix.detach()
            part = part[: max(1, MAX_ELEMENTS * len(part) // max(1, part.numel()))]
            mean = float(part.float().abs().mean()) if part.numel() else 0.0
            if mean > 0:
                means.append(mean)
        if means:
            known.weights[index] = statistics.median(means)


def mark_of(parameter: torch.Tensor) -> Any:
    """Its first elements where they are read without waiting, else the number of its changes in place."""
    if not is_readable(parameter) or not parameter.is_cpu:
        return parameter._version
    part = parameter.detach()
    return (part[: max(1, 256 * len(part) // max(1, part.numel()))] if part.ndim else part).clone()


def _is_decoupled(optimizer: Optimizer, group: dict[str, Any]) -> bool:
    """True if weight decay is no part of the gradient."""
    given = group.get("decoupled_weight_decay")
    if isinstance(given, bool):
        return given
    kind = type(optimizer).__name__.lower()
    return any(word in kind for word in _DECOUPLED)
