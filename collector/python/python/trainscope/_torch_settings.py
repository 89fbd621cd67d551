"""Modes and settings of the modules of a model, rows of its embeddings, and weights that are tied."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from trainscope._facts import Facts
from trainscope._torch_graph import named_modules
from trainscope._torch_later import Later, is_readable

MAX_MODULES = 512
"""Modules whose mode is asked for at every backward pass."""

MAX_SETTINGS = 4
MAX_EMBEDDINGS = 8
MAX_PAIRS = 8
MAX_ROWS = 1 << 20
ROWS_COMPARED = 64


class Settings:
    """Of one model, whose names begin with `prefix`."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._modal: list[tuple[str, str, weakref.ref[nn.Module]]] | None = None
        # The first module that was in evaluation mode.
        self._first: tuple[str, str] = ("", "")
        self._rows: dict[str, _Rows] = {}
        self._pairs: list[_Pair] | None = None
        self.has_modes = self._is_collected = False

    def begin(self, model: nn.Module | None) -> None:
        """Notes, once, which weights are equal before the training changes them."""
        if self._pairs is None and model is not None:
            self._pairs = _pairs_of(model, self._prefix)

    def mode(self, model: nn.Module | None) -> tuple[bool, str, str] | None:
        """True if the model is in evaluation mode, and the first module of it that behaves otherwise then."""
        if model is None:
            return None
        if self._modal is None:
            self._modal = self._modal_of(model)
        for name, kind, reference in self._modal:
            module = reference()
            if module is not None and not module.training:
                if not self._first[0] or not model.training:
                    self._first = name, kind
                return not model.training, name, kind
        return False, "", ""

    def _modal_of(self, model: nn.Module) -> list[tuple[str, str, weakref.ref[nn.Module]]]:
        modal = [(name, one) for name, one in named_modules(model) if isinstance(one, (_BatchNorm, _DropoutNd))]
        modal = [(name, one) for name, one in modal if not _does_nothing(one)][:MAX_MODULES]
        self.has_modes = bool(modal)
        kinds = [type(one).__name__ for _, one in modal]
        return [(self._prefix + name or kind, kind, weakref.ref(one)) for (name, one), kind in zip(modal, kinds, strict=True)]

    def mode_texts(self) -> dict[str, str]:
        """The module that was in evaluation mode, and its class."""
        return {"module": self._first[0], "class": self._first[1]}

    def add_rows(self, name: str, module: nn.Embedding, indices: torch.Tensor, later: Later) -> None:
        """Adds the rows that an embedding has given in one pass."""
        if module.num_embeddings > MAX_ROWS or (name not in self._rows and len(self._rows) >= MAX_EMBEDDINGS):
            return
        rows = self._rows.setdefault(name, _Rows(module.num_embeddings, module.padding_idx))
        later.read([indices], rows.add)

    def collect(self, model: nn.Module | None, facts: Facts) -> None:
        """Puts together what is known."""
        for name, rows in self._rows.items():
            facts.put("embedding", name, rows.numbers())
        if model is None:
            return
        if not self._is_collected:
            self._is_collected = True
            self._collect_settings(model, facts)
        for pair in self._pairs or ():
            facts.put("tied", pair.name, pair.numbers())

    def _collect_settings(self, model: nn.Module, facts: Facts) -> None:
        """The first module of each momentum, the highest ones."""
        found: dict[float, tuple[str, str]] = {}
        for name, module in named_modules(model):
            if isinstance(module, _BatchNorm) and isinstance(module.momentum, float):
                found.setdefault(module.momentum, (self._prefix + name or type(module).__name__, type(module).__name__))
        for momentum in sorted(found, reverse=True)[:MAX_SETTINGS]:
            name, kind = found[momentum]
            facts.put("module_setting", name, {"momentum": momentum}, {"class": kind})


def _does_nothing(module: nn.Module) -> bool:
    """True for a module that is the same in both modes."""
    if isinstance(module, _DropoutNd):
        return bool(module.p == 0)
    return isinstance(module, _BatchNorm) and not module.track_running_stats


class _Rows:
    """Rows of one embedding that were used with a gradient."""

    def __init__(self, count: int, padding: int | None) -> None:
        self._used = torch.zeros(count, dtype=torch.bool)
        self._padding = padding
        self._looks = 0

    def add(self, indices: torch.Tensor | None) -> None:
        if indices is None or indices.is_floating_point() or not indices.numel():
            return
        self._looks += 1
        # The embedding has refused others.
        self._used[indices.reshape(-1)[:MAX_ROWS].long()] = True
        if self._padding is not None:
            self._used[self._padding] = False

    def numbers(self) -> dict[str, float]:
        used = int(self._used.sum())
        row = int(self._used.long().argmax()) if used else -1
        return {"rows": len(self._used), "rows_with_gradient": used, "looks": self._looks, "row": row}


class _Pair:
    """Two matrices of one shape that may be meant to be one."""

    def __init__(self, name: str, first: torch.Tensor, second: torch.Tensor) -> None:
        self.name = name
        self._first, self._second = weakref.ref(first), weakref.ref(second)
        self._was_equal = self._is_equal = self._are_equal()

    def _are_equal(self) -> bool:
        first, second = self._first(), self._second()
        if first is None or second is None or not is_readable(first) or not is_readable(second):
            return False
        every = max(1, len(first) // ROWS_COMPARED)
        return bool(torch.equal(first.detach()[::every], second.detach()[::every]))

    def numbers(self) -> dict[str, float]:
        if self._is_equal:
            self._is_equal = self._are_equal()
        return {"equal_first": float(self._was_equal), "equal": float(self._is_equal)}


def _pairs_of(model: nn.Module, prefix: str) -> list[_Pair]:
    """Embeddings and linear layers whose weights are equal and not the same tensor."""
    embeddings: list[tuple[str, Any]] = []
    linear: list[tuple[str, Any]] = []
    for name, module in named_modules(model):
        if isinstance(module, (nn.Embedding, nn.Linear)) and not nn.parameter.is_lazy(module.weight):
            kind = embeddings if isinstance(module, nn.Embedding) else linear
            kind.append((f"{prefix}{name}.weight" if name else "weight", module.weight))
    pairs = [
        _Pair(f"{first} = {second}", one, other)
        for first, one in embeddings
        for second, other in linear
        if one.shape == other.shape and one is not other and one.dtype == other.dtype
    ]
    return [pair for pair in pairs if pair.numbers()["equal"]][:MAX_PAIRS]
