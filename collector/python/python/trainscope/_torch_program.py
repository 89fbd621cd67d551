"""Recorder of the program that trains: its losses, the parameters that they reach, optimizers, modes and batches.

The first backward passes are looked at, and those of sampled steps; on others some numbers are counted. Nothing of
the training is changed or kept.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
import weakref
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from trainscope import _source, _torch_calls
from trainscope._environment import Environment
from trainscope._facts import Facts
from trainscope._lost import guarded
from trainscope._source import Place
from trainscope._torch_autograd import walk
from trainscope._torch_clipping import Clipping
from trainscope._torch_device import PLAIN, is_capturing
from trainscope._torch_hooks import Hook, parameters_of, unwrapped
from trainscope._torch_input_facts import InputFacts
from trainscope._torch_later import Later
from trainscope._torch_loader_facts import LoaderFacts
from trainscope._torch_loss_facts import LossFacts
from trainscope._torch_model_facts import ModelFacts, Watched
from trainscope._torch_optimizers import Known, Optimizers
from trainscope._torch_seeds import Seeds

FIRST_PASSES = 6
"""Backward passes from the first on that are looked at."""

MAX_PASSES_OF_STEP = 4
"""Backward passes of one step that are looked at."""

MAX_NODES = 100_000
"""Functions of a graph that are followed to find the parameters that a loss reaches."""

UPDATES_BEFORE_FACTS = 2
"""Updates after which all optimizers of the training are known."""


@dataclasses.dataclass
class _Backward:
    """The backward pass that is under way, or was made last."""

    # Its number in its step, and its line.
    number: int = 0
    place: Place | None = None
    # Everything is read in this step; the pass is under way.
    is_look: bool = False
    is_open: bool = False


class Program(_torch_calls.Listener):
    """Recorder of the facts of one run, shared by its watches."""

    def __init__(self, run: Any) -> None:
        self._run = run
        self._facts = Facts(run)
        self._later = Later()
        self._models: list[ModelFacts] = []
        # The modules of a model are read in this step.
        self.reads_modules = False
        self._most_models = 0
        self._hooks: list[Any] = []
        self._optimizers = Optimizers()
        # Models of an optimizer, and the number of parameters that it held then.
        self._belonging: weakref.WeakKeyDictionary[Optimizer, tuple[int, list[ModelFacts]]]
        self._belonging = weakref.WeakKeyDictionary()
        self._clipping = Clipping()
        self._losses = LossFacts(self._later)
        self._inputs = InputFacts(self._later)
        self._loaders = LoaderFacts()
        self._seeds = Seeds()
        # Backward passes of the training.
        self._passes = 0
        self._backward = _Backward()
        self._environment = Environment()
        # Backward passes of a training without an optimizer, and those after which parameters had changed.
        self._by_hand: dict[str, float] = {}

    @staticmethod
    def of(run: Any) -> Program:
        """The recorder of a run."""
        program: Program | None = run.__dict__.get("_program")
        if program is None:
            program = run._program = Program(run)
        return program

    # Watches.

    def follow_lines(self, lines: Any) -> None:
        """Takes the lines of losses, and the time of the lines of the program, from these `Lines`."""
        self._losses.lines = lines

    @guarded
    def open(self, watch: Watched, optimizer: Any) -> None:
        """Begins to follow the model of a watch."""
        model = ModelFacts(watch)
        model.choose_name({other.name for other in self._models})
        self._models.append(model)
        self._note_models()
        self._most_models = max(self._most_models, len(self._models))
        self._belonging.clear()
        inner = unwrapped(optimizer)
        if inner is not None:
            self._optimizers.know(inner)
        model.gradients.choose([one for _, one in model.parameters()])
        if len(self._models) > 1:
            return
        self._hooks = [
            register_optimizer_step_pre_hook(Hook(self, Program._before_optimizer)),
            register_optimizer_step_post_hook(Hook(self, Program._after_optimizer)),
        ]
        _torch_calls.listen(self)
        self._environment.begin()

    @guarded
    def close(self, watch: Watched) -> None:
        """Ends it, and writes all facts; after the last watch, nothing of the training is seen any more."""
        closed = [model for model in self._models if model.watch in (watch, None)]
        if not closed:
            return
        if len(closed) == len(self._models):
            for handle in self._hooks:
                handle.remove()
            self._hooks.clear()
            _torch_calls.leave(self)
        if self._run._is_forked():
            self._models.clear()
            self.reads_modules = False
            return
        self._later.poll(wait=True)
        self._collect(is_end=True)
        self._models = [model for model in self._models if model not in closed]
        self._note_models()
        self._belonging.clear()
        self._losses.forget_modules()
        if not self._models:
            self._environment.finish(self._facts)
        self._facts.write(is_end=True)

    def _note_models(self) -> None:
        self.reads_modules = any([model.is_read for model in self._models])

    # The forward pass of a sampled step.

    @guarded
    def before_model(self, watch: Watched, module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Reads the inputs of a model."""
        is_read = any([model.reads() for model in self._models if model.watch is watch])
        self._note_models()
        if is_read:
            self._losses.trim_modules()
            self._inputs.read(watch.prefix, module, args, kwargs)

    @guarded
    def after_module(self, name: str, module: nn.Module, args: tuple[Any, ...], outputs: list[torch.Tensor]) -> None:
        """Notes which functions of the graph are the outputs of a module, and the rows of an embedding.

        Asked for while `reads_modules`.
        """
        self._losses.note_module(name, outputs)
        self._inputs.read_layer(name, module, args)
        if isinstance(module, nn.Embedding) and module.weight.requires_grad and args:
            for model in self._models:
                if name.startswith(model.prefix) and isinstance(args[0], torch.Tensor):
                    model.settings.add_rows(name, module, args[0], self._later)
                    break

    # The backward pass.

    @guarded
    def before_backward(self, roots: tuple[Any, ...]) -> None:
        """Looks at the graph that a backward pass is about to go through."""
        backward = self._backward
        backward.is_open = False
        if is_capturing():
            return
        backward.is_open = True
        self._passes += 1
        backward.number += 1
        backward.place = _source.place_of(sys._getframe(2))
        is_read = any([model.reads() for model in self._models]) and backward.number <= MAX_PASSES_OF_STEP
        self._note_models()
        is_look = self._passes <= FIRST_PASSES or is_read
        backward.is_look |= is_look
        self._loaders.count_pass()
        for model in self._models:
            model.before_backward(is_look=is_look)
        if is_look:
            with torch.no_grad():
                self._read_graph([one for one in roots if isinstance(one, torch.Tensor)])

    @guarded
    def after_backward(self) -> None:
        """Follows the gradients that it has left."""
        if not self._backward.is_open:
            return
        self._backward.is_open = False
        for model in self._models:
            model.after_backward(self._backward.place)

    def _read_graph(self, roots: list[torch.Tensor]) -> None:
        functions = [root.grad_fn for root in roots if root.grad_fn is not None]
        self._losses.read(roots, self._passes, self._backward.place, self._inputs.batch(), self._inputs.tokens())
        if any(model.reach.is_open(self._passes) for model in self._models):
            leaves, is_complete = walk(functions, MAX_NODES)
            known = {id(one) for model in self._models for _, one in model.parameters()}
            for model in self._models:
                parameters = model.parameters()
                is_sharded = any(type(one) not in PLAIN for _, one in parameters)
                model.reach.add(parameters, leaves, known, is_complete=is_complete, is_sharded=is_sharded)

    # The update.

    @guarded
    def _before_optimizer(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if is_capturing():
            return
        has_closure = (args[1] if len(args) > 1 else kwargs.get("closure")) is not None
        known = self._optimizers.know(optimizer)
        if known is not None and not known.updates and not known.weights:
            self._optimizers.measure(optimizer, known)
        if known is not None and (self._backward.is_look or known.place is None):
            known.place = _source.place_of(sys._getframe(2))
        for model in self._models_of(optimizer, may_have_changed=self._backward.is_look):
            model.gradients.before_update(has_closure=has_closure)
            model.reach.note_gradients()
        if self._backward.is_look:
            self._clipping.read_norm(optimizer)

    @guarded
    def _after_optimizer(self, optimizer: Optimizer, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> None:
        if is_capturing():
            return
        self._optimizers.updated(optimizer)
        self._clipping.is_scaled = False
        for model in self._models_of(optimizer):
            model.after_update()
        self._end_step()

    @guarded
    def updated_by_hand(self, passes: int, changed: int, *, has_changed: bool) -> None:
        """Without an optimizer, the next backward pass begins; the program has changed parameters since the last, or not."""
        self._by_hand = {"passes": passes, "changed": changed}
        if has_changed:
            self._optimizers.updates += 1
            for model in self._models:
                model.after_update()
        self._end_step()

    def _end_step(self) -> None:
        self._backward.number = 0
        if self._backward.is_look:
            self._backward.is_look = False
            self._later.poll()
            self._collect()
            self._facts.write()

    def _models_of(self, optimizer: Optimizer, *, may_have_changed: bool = False) -> list[ModelFacts]:
        """Models that an optimizer updates, or was given with; for the only optimizer, the only model."""
        count = sum(len(group["params"]) for group in optimizer.param_groups)
        known = self._belonging.get(optimizer)
        if known is None or known[0] != count or may_have_changed:
            held = functools.cache(lambda: {id(one) for one in parameters_of(optimizer)})
            models = [model for model in self._models if model.belongs(optimizer, held)]
            if not models and len(self._models) == 1 and len(self._optimizers.items()) == 1:
                models = self._models[:]
            self._belonging[optimizer] = known = (count, models)
        return known[1]

    # Calls.

    @guarded
    def clips(self, parameters: list[torch.Tensor], max_norm: Any, norm: torch.Tensor) -> None:
        """Follows the clipping of gradients."""
        place = _source.place_of(sys._getframe(2))
        self._clipping.add(parameters, max_norm, norm, place, is_look=self._backward.is_look)

    @guarded
    def scales(self, scaler: Any) -> None:
        """Follows the gradient scaler."""
        self._clipping.scales(scaler)

    @guarded
    def before_scaler(self, scaler: Any, optimizer: Any) -> None:
        """Notes the number of updates before the scaler may leave one out."""
        self._clipping.updates_before = self._optimizers.updates

    @guarded
    def after_scaler(self, scaler: Any, optimizer: Any) -> None:
        """An update that was left out is not one of the training's."""
        inner = unwrapped(optimizer)
        if inner is not None and scaler.is_enabled() and self._optimizers.updates == self._clipping.updates_before:
            self._backward.number = 0
            for model in self._models_of(inner):
                model.gradients.after_update(is_skipped=True)

    @guarded
    def iterates(self, loader: Any, place: Place | None = None) -> None:
        """Reads the settings of a loader."""
        self._loaders.begin(loader, place or _source.place_of(sys._getframe(2)))

    @guarded
    def has_loaded(self, module: nn.Module, keys: list[str], result: Any, place: Place | None = None) -> None:
        """Counts the keys that a state shares with a model."""
        unexpected = len(result.unexpected_keys)
        numbers = {
            "keys": len(keys),
            "matched": len(keys) - unexpected,
            "missing": len(result.missing_keys),
            "unexpected": unexpected,
        }
        place = place or _source.place_of(sys._getframe(2))
        self._facts.put("loaded", type(module).__name__, numbers, {}, _source.of_place(place))

    @guarded
    def seeds(self, seed: Any, place: Place | None = None) -> None:
        """Counts the calls that set the random state, and those within the training."""
        self._seeds.add(seed, is_in_loop=bool(self._optimizers.updates))
        if self._seeds.wants_place:
            self._seeds.set_place(place or _source.place_of(sys._getframe(2)))

    # Facts.

    def _collect(self, *, is_end: bool = False) -> None:
        """Puts all facts together."""
        optimizers = self._optimizers
        are_optimizers_known = optimizers.updates >= UPDATES_BEFORE_FACTS or is_end
        self._losses.collect(self._facts, has_several_optimizers=len(optimizers) > 1)
        self._inputs.collect(self._facts)
        held = optimizers.held() if are_optimizers_known else None
        # Parameters of a large model take a while to be named.
        parameters = {model: model.parameters() for model in self._models}
        for model in self._models:
            model.collect(
                self._facts, parameters[model], held, self._backward.place,
                models=self._most_models, optimizers=len(optimizers),
            )  # fmt: skip
        if are_optimizers_known:
            for optimizer, known in optimizers.items():
                self._collect_optimizer(optimizer, known, parameters)
        if self._by_hand:
            self._facts.put("updates_by_hand", "", self._by_hand, {}, _source.of_place(self._backward.place))
        numbers, texts = self._clipping.numbers()
        if numbers:
            source = _source.of_place(self._clipping.place)
            self._facts.put("clipping", "clip_grad_norm_", numbers, texts, source)
        self._seeds.collect(self._facts, optimizers.updates)
        if self._losses.lines is not None:
            self._collect_times(self._losses.lines)
        self._loaders.collect(self._facts)
        self._environment.put(self._facts, is_end=is_end)

    def _collect_times(self, lines: Any) -> None:
        for (file, line, function), time in lines.slowest():
            numbers = {
                "steps": lines.steps, "calls": time.calls, "seconds": time.seconds,
                "waits": time.waits, "wait_seconds": time.wait_seconds,
            }  # fmt: skip
            texts = {"wait": time.wait} if time.wait else {}
            source = _source.of(file, line, function)
            self._facts.put("time_by_line", f"{os.path.basename(file)}:{line}", numbers, texts, source)

    def _collect_optimizer(
        self, optimizer: Optimizer, known: Known, parameters: Mapping[ModelFacts, list[tuple[str, torch.Tensor]]]
    ) -> None:
        if not known.updates:
            return
        models = {id(one): name for named in parameters.values() for name, one in named}
        ours = [one for model in self._models_of(optimizer) for one in parameters[model]]
        source = _source.of_place(known.place)
        numbers, missing = self._optimizers.parameter_numbers(optimizer, known, models, ours)
        texts = {"missing": ", ".join(missing[:5])}
        self._facts.put("optimizer_parameters", known.name, numbers, texts, source)
        for subject, numbers, texts in self._optimizers.settings(optimizer, known):
            self._facts.put("optimizer_settings", subject, numbers, texts, source)
