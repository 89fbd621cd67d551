"""Parameters that the losses of a training reach, and those that they reach and nothing trains."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import nn

from trainscope._torch_graph import named_modules

MAX_NAMES = 5
MAX_FOREIGN = 1_000
MAX_FOLLOWED = 5_000
"""Parameters not reached whose gradients are asked for at every update."""

LAST_PASS = 2_000
"""Backward passes after which it is settled what is not reached."""

FIRST_PASSES = 6


class Reach:
    """Parameters of one model by what becomes of them in backward passes."""

    def __init__(self) -> None:
        self._reached = set[int]()
        # Trained parameters that no pass has reached, and that never had a gradient.
        self._waiting: dict[int, weakref.ref[torch.Tensor]] = {}
        self._foreign: dict[int, tuple[weakref.ref[torch.Tensor], tuple[int, ...]]] = {}
        self._is_known = False

    def is_open(self, passes: int) -> bool:
        """True while another graph may show something new."""
        return passes <= FIRST_PASSES or (bool(self._waiting) and passes <= LAST_PASS)

    def add(
        self, parameters: list[tuple[str, torch.Tensor]], leaves: Iterable[Any], known: set[int], *,
        is_complete: bool, is_sharded: bool,
    ) -> None:  # fmt: skip
        """Adds the leaves of a graph. `known`: parameters of all watched models. A graph that was not followed to its end
        shows what is reached, and not what is not."""
        found = {id(leaf): leaf for leaf in leaves}
        trained = [one for _, one in parameters if one.requires_grad]
        self._reached.update(id(one) for one in trained if id(one) in found)
        for one in trained:
            if id(one) not in self._reached and is_complete and len(self._waiting) < MAX_FOLLOWED:
                self._waiting.setdefault(id(one), weakref.ref(one))
        for identity in [identity for identity in self._waiting if identity in self._reached]:
            del self._waiting[identity]
        self._is_known |= is_complete
        # Of sharded models, the whole parameters that are gathered are others.
        for identity, leaf in {} if is_sharded else found.items():
            if identity not in known and isinstance(leaf, torch.Tensor) and len(self._foreign) < MAX_FOREIGN:
                self._foreign[identity] = weakref.ref(leaf), tuple(leaf.shape)

    def note_gradients(self) -> None:
        """Takes out what has a gradient although no graph has shown the way: of a part that is computed again."""
        if not self._waiting:
            return
        for identity, reference in list(self._waiting.items()):
            parameter = reference()
            if parameter is None or parameter.grad is not None:
                del self._waiting[identity]

    def numbers(
        self, parameters: list[tuple[str, torch.Tensor]], held: set[int], module: nn.Module | None
    ) -> tuple[dict[str, float], dict[str, str]]:
        """The facts; nothing before a graph was followed. `held`: parameters in optimizers."""
        if not self._is_known:
            return {}, {}
        trained = [(name, one) for name, one in parameters if one.requires_grad]
        own = {id(one) for _, one in parameters}
        missing = [name for name, one in trained if id(one) in self._waiting]
        of_reached = {name.rpartition(".")[0] for name, one in trained if id(one) in self._reached}
        living = [
            (identity, one, shape)
            for identity, (reference, shape) in self._foreign.items()
            if identity not in held and identity not in own and (one := reference()) is not None
        ]
        foreign = [shape for _, one, shape in living if isinstance(one, nn.Parameter)]
        hidden: list[str] = []
        if living and module is not None:
            wanted = {identity for identity, _, _ in living}
            hidden = [name for name, one in _unregistered(module) if id(one) in wanted]
        numbers: dict[str, float] = {
            "trainable": len(trained),
            "reached": sum(id(one) in self._reached for _, one in trained),
            "without_gradient": len(missing),
            "beside_reached": sum(name.rpartition(".")[0] in of_reached for name in missing),
            "foreign": len(foreign),
            "unregistered": len(set(hidden)),
        }
        texts = {
            "not_reached": ", ".join(missing[:MAX_NAMES]),
            "foreign_shape": str(list(foreign[0])) if foreign else "",
            "unregistered": ", ".join(hidden[:MAX_NAMES]),
        }
        return numbers, texts


def _unregistered(model: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors in attributes of modules that are no parameters: in lists, tuples and dictionaries, and modules in these."""
    for name, module in named_modules(model):
        # Those that PyTorch keeps are registered.
        attributes = {key: value for key, value in vars(module).items() if not key.startswith("_") or key[1:2] == "_"}
        yield from _tensors_of(attributes, f"{name}." if name else "", 0)


def _tensors_of(value: Any, name: str, depth: int) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield name.rstrip("."), value
    elif isinstance(value, nn.Module):
        for key, parameter in value.named_parameters():
            yield f"{name}{key}", parameter
    elif depth < 4 and isinstance(value, dict):
        for key, part in list(value.items())[:MAX_FOREIGN]:
            yield from _tensors_of(part, f"{name}{key}.", depth + 1)
    elif depth < 4 and isinstance(value, (list, tuple, set, frozenset)):
        for number, part in enumerate(list(value)[:MAX_FOREIGN]):
            yield from _tensors_of(part, f"{name}{number}.", depth + 1)
