"""Facts of one watched model: its gradients, the parameters that losses reach, its modes and its settings."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Protocol

import torch
from torch import nn
from torch.optim import Optimizer

from trainscope import _source
from trainscope._facts import Facts
from trainscope._source import Place
from trainscope._torch_graph import named_parameters
from trainscope._torch_gradients import Gradients
from trainscope._torch_reach import Reach
from trainscope._torch_settings import Settings

LOOKS_READ = 12
"""Sampled steps, at which everything is read, before it is every fourth one: late changes last long."""


class Watched(Protocol):
    """The part of a watch that facts need."""

    @property
    def model(self) -> nn.Module | None:
        """The model; `None` once it is gone."""

    @property
    def prefix(self) -> str:
        """Beginning of all names of the model."""

    @property
    def look_step(self) -> int:
        """The sampled step whose update is to come; -1 without one."""

    @property
    def optimizer(self) -> Optimizer | None:
        """The optimizer that the watch was given."""


class ModelFacts:
    """State of one watched model."""

    def __init__(self, watch: Watched) -> None:
        self._watch = weakref.ref(watch)
        self.name = watch.prefix.rstrip(".")
        self.prefix = watch.prefix
        self.gradients = Gradients()
        self.reach = Reach()
        self.settings = Settings(self.prefix)
        # For training, by updates: the number of all, and those whose last pass was made in evaluation mode.
        self._updates = self._in_evaluation = self._partly = 0
        self._mode: tuple[bool, str, str] | None = None
        self._place: Place | None = None
        # The sampled step of the last look, the number of looks, and if everything is read in this one.
        self._look_step, self._looks = -1, 0
        self.is_read = True

    def choose_name(self, taken: set[str]) -> None:
        """Takes the name of its class if another model has the same name: tensors of both may need no prefix."""
        if self.name in taken:
            kind = type(self.module).__name__
            names = itertools.chain([kind], (f"{kind}#{number}" for number in itertools.count(2)))
            self.name = next(name for name in names if name not in taken)

    @property
    def watch(self) -> Watched | None:
        """The watch; `None` once it is gone."""
        return self._watch()

    @property
    def module(self) -> nn.Module | None:
        """The model; `None` once it or its watch is gone."""
        watch = self.watch
        return None if watch is None else watch.model

    def reads(self) -> bool:
        """True if this step is looked at, and everything is read."""
        watch = self.watch
        step = -1 if watch is None else watch.look_step
        if step < 0:
            return False
        if step != self._look_step:
            self._look_step = step
            self._looks += 1
            self.is_read = self._looks <= LOOKS_READ or self._looks % 4 == 0
        return self.is_read

    def parameters(self) -> list[tuple[str, torch.Tensor]]:
        """Parameters with their full names, without those that are not initialized yet."""
        module = self.module
        if module is None:
            return []
        named = named_parameters(module)[0]
        return [(self.prefix + name, one) for name, one in named if not nn.parameter.is_lazy(one)]

    def belongs(self, optimizer: Optimizer, held: Callable[[], set[int]]) -> bool:
        """True if an optimizer was given with the model, or holds (`held()`, by identity) one of its parameters."""
        watch = self.watch
        if watch is not None and watch.optimizer is optimizer:
            return True
        module = self.module
        return module is not None and any(id(one) in held() for one in module.parameters())

    def before_backward(self, *, is_look: bool) -> None:
        """Notes gradients and modes before a backward pass."""
        module = self.module
        self.gradients.before_pass(is_look)
        self._mode = self.settings.mode(module)
        self.settings.begin(module)

    def after_backward(self, place: Place | None) -> None:
        """Notes the line of a backward pass, if it was one of this model."""
        if self.gradients.after_pass(place):
            self._place = place

    def after_update(self) -> None:
        """Counts an update, by the mode of the pass before it."""
        # Gradients of a closure came within the update.
        self.reach.note_gradients()
        self.gradients.after_update()
        if self._mode is not None:
            is_evaluation, name, _ = self._mode
            self._updates += 1
            self._in_evaluation += is_evaluation
            self._partly += bool(name) and not is_evaluation

    def collect(
        self, facts: Facts, parameters: list[tuple[str, torch.Tensor]], held: set[int] | None, last_place: Place | None,
        *, models: int, optimizers: int,
    ) -> None:  # fmt: skip
        """Puts the facts of the model, with its `parameters`.

        `held`: parameters of all optimizers, by identity; `None` as long as not all optimizers are known. `last_place`:
        line of the last backward pass. `models`, `optimizers`: their numbers in the run.
        """
        module = self.module
        if not parameters and module is None:
            return
        gradients = self.gradients
        if gradients.passes:
            numbers: dict[str, float] = {
                "updates": gradients.updates, "passes": gradients.passes, "kept": gradients.kept,
                "cleared_between": gradients.cleared_between, "closure": float(gradients.has_closure),
                "models": models, "optimizers": optimizers,
                "followed_updates": gradients.followed_updates, "never_cleared": gradients.never_cleared,
            }  # fmt: skip
            facts.put("gradients_kept", self.name, numbers, {}, _source.of_place(self._place))
        if held is not None:
            numbers, texts = self.reach.numbers(parameters, held, module)
            if numbers:
                facts.put("reached", self.name, numbers, texts, _source.of_place(self._place or last_place))
        if self._updates and self.settings.has_modes:
            numbers = {"passes": self._updates, "evaluation": self._in_evaluation, "partly": self._partly}
            texts = self.settings.mode_texts()
            facts.put("module_modes", self.name, numbers, texts, _source.of_place(self._place))
        self.settings.collect(module, facts)
