"""Tensors of a watched model that are recorded on sampled steps, and those that are not seen, with the reason."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from trainscope._lost import warn
from trainscope._torch_activations import Activations
from trainscope._torch_graph import is_compiled, is_freed, named_modules
from trainscope._torch_hooks import compilations
from trainscope._torch_readings import Readings
from trainscope._torch_watch_state import WatchState

LOOKS_BEFORE_NOTE = 3
"""Sampled updates after which the unseen tensors are noted: the number of steps sampled first by default."""

PASSES_BEFORE_WARNING = 10
"""Forward passes of a training without any update that are worth a warning at its end."""

MAX_SENTENCES = 5
"""Most sentences about unseen tensors that become notes."""


class Coverage:
    """Tensors of one watch that are seen, of all that it is asked for.

    has_hooks: False if an adapter calls the watch in place of the hooks of optimizers.
    """

    def __init__(
        self, run: Any, state: WatchState, readings: Readings, activations: Activations, *, has_hooks: bool
    ) -> None:
        self._run = run
        self._state = state
        self._readings = readings
        self._activations = activations
        self._has_hooks = has_hooks
        # Compilations before this watch.
        self._compilations = compilations()
        # Updates of sampled steps.
        self._looks = 0
        self._has_noted = False

    def names(self) -> list[str]:
        """Names of the tensors that are recorded on sampled steps, in the order of the model."""
        watched = self._state.watched
        model, kinds = watched.model, watched.kinds
        if model is None:
            return []
        names: list[str] = []
        if kinds.activations:
            names += [name for name, module in watched.modules(model) if self._has_activation(name, module)]
        for name, parameter in watched.parameters():
            names += [name] if kinds.weights else []
            names += [f"{name}.grad"] if kinds.gradients and parameter.requires_grad else []
        return [name for name in names if watched.selection.has_name(name)]

    def _has_activation(self, name: str, module: nn.Module) -> bool:
        """True if a module is expected to return an activation; after the first sampled step, if it was called."""
        # Containers have no forward pass.
        if isinstance(module, torch.jit.ScriptModule) or not self._state.watched.is_leaf(module):
            return False
        if type(module).forward is nn.Module.forward:
            return False
        return name in self._activations.called if self._state.looks.update_step >= 0 else True

    def sentences(self) -> list[str]:
        """Sentences about the tensors that are not seen, with the reasons."""
        watched, updates = self._state.watched, self._state.updates
        model = watched.model
        if model is None:
            return ["The model is gone."]
        sentences = []
        if updates.foreign and not updates.has_updated:
            sentences.append(f"{updates.foreign} has no hooks: weights and gradients are not read.")
        for name, parameter in watched.parameters():
            if nn.parameter.is_lazy(parameter):
                sentences.append(f"{name} is not initialized yet.")
            elif parameter.device.type == "xla":
                sentences.append(f"{name} is computed lazily on {parameter.device}: not read.")
            elif is_freed(parameter):
                sentences.append(f"{name} has no memory at the moment.")
        sentences += [f"{name} had no gradient at the last sampled update." for name in self._readings.without_gradient]
        sentences += [f'No tensor is called "{text}".' for text in watched.selection.unmatched(self.names())]
        if watched.kinds.activations and self._state.looks.update_step >= 0:
            sentences += self._without_activation(model)
        return sentences

    def _without_activation(self, model: nn.Module) -> list[str]:
        """Sentences about modules with parameters that are apparently called without their hooks."""
        called, watched = self._activations.called, self._state.watched
        if not called and compilations() > self._compilations:
            return [
                f"No activation of {type(model).__name__} was seen. Hooks do not fire inside of torch.compile: to see "
                "activations, run some steps without it."
            ]
        compiled = [module for _, module in named_modules(model) if is_compiled(module)]
        within = {id(inner) for module in compiled for inner in module.modules()}
        sentences = []
        for name, module in watched.modules(model):
            if not watched.is_leaf(module) or name in called or not watched.selection.has_name(name):
                continue
            if isinstance(module, torch.jit.ScriptModule):
                sentences.append(f"{name} has no activation: it is a ScriptModule, which has no hooks.")
            elif name in self._activations.called_without:
                sentences.append(f"{name} has no activation: it was called without gradients only.")
            elif id(module) in within and module._parameters:
                sentences.append(f"{name} has no activation: it is inside of torch.compile.")
        return sentences

    def end_look(self) -> None:
        """Counts the update of a sampled step; after some of them, unseen tensors become notes."""
        self._looks += 1
        if self._looks == LOOKS_BEFORE_NOTE:
            self.note()

    def note(self) -> None:
        """Notes unseen tensors, once, and warns if no update was seen at all."""
        if self._has_noted:
            return
        self._has_noted = True
        sentences = self.sentences() if self._state.watched.model is not None else []
        passes = self._state.passes.count
        if self._has_hooks and not self._state.updates.has_updated and passes >= PASSES_BEFORE_WARNING:
            text = (
                f"watch: {passes} forward passes, and no update by an optimizer of PyTorch that holds parameters of "
                "the model: weights and gradients were not read, and all belongs to one step."
            )
            warn(self._run, text)
            sentences = [text, *sentences]
        for sentence in sentences[:MAX_SENTENCES]:
            self._run.note(f"watch: {sentence.removeprefix('watch: ')}")
        if len(sentences) > MAX_SENTENCES:
            more = len(sentences) - MAX_SENTENCES
            self._run.note(f"watch: {more} more are not seen: `missing()` of the watch names them.")
