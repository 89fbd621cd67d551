"""Recorder of the program that trains: its loss, what it reaches, its optimizers, modes, settings and batches.

The first backward passes are looked at, and those of sampled steps; on others some numbers are counted. Nothing of
the training is changed or kept.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from trainscope import _environment, _source, _torch_calls
from trainscope._facts import Facts
from trainscope._loss_line import line_of_loss
from trainscope._lost import guarded
from trainscope._torch_autograd import behind, main_parent, name_of, sequence_of, walk
from trainscope._torch_batches import Inputs, Targets, range_of_rows, rms_of, share_of_negative
from trainscope._torch_clipping import Clipping
from trainscope._torch_device import PLAIN, is_capturing
from trainscope._torch_graph import named_parameters, tensors_in
from trainscope._torch_gradients import Gradients
from trainscope._torch_hooks import Hook, parameters_of, unwrapped
from trainscope._torch_later import Later, is_readable
from trainscope._torch_losses import Loss, losses_of
from trainscope._torch_optimizers import Known, Optimizers
from trainscope._torch_reach import Reach
from trainscope._torch_settings import Settings

if TYPE_CHECKING:
    from trainscope.torch import Watch

FIRST_PASSES = 6
"""Backward passes from the first on that are looked at."""

LOOKS_READ = 12
"""Sampled steps, at which everything is read, before it is every fourth one: what changes late changes for long."""

MAX_PASSES_OF_STEP = 4
"""Backward passes of one step that are looked at."""

MAX_NODES = 100_000
"""Functions of a graph that are followed to find the parameters that a loss reaches."""

MAX_SUBJECTS = 8
"""Loss functions, inputs and loaders of one training that are kept apart."""

UPDATES_BEFORE_FACTS = 2
"""Updates after which it is known which optimizers there are."""

Place = tuple[str, int, str] | None


@dataclasses.dataclass
class _LossFact:
    """State of one loss function over the passes."""

    name: str
    numbers: dict[str, float]
    texts: dict[str, str]
    place: Place
    function: str = ""
    targets: Targets = dataclasses.field(default_factory=Targets)
    # The last pass that has it; one pass has several.
    last_pass: int = 0
    is_repeated: bool = False


@dataclasses.dataclass
class _Loader:
    """A loader of batches, and the backward passes while it was the last one to begin an epoch."""

    kind: str
    subject: str
    sampler: str
    numbers: dict[str, float]
    place: Place
    passes: int = 0
    iterations: int = 0


class Model:
    """State of one watched model."""

    def __init__(self, watch: Watch) -> None:
        self._watch = weakref.ref(watch)
        self.name = watch._prefix.rstrip(".")
        self.prefix = watch._prefix
        self.gradients = Gradients()
        self.reach = Reach()
        self.settings = Settings(self.prefix)
        # For training, by updates: how many, and those whose last pass was made in evaluation mode.
        self.updates = self.in_evaluation = self.partly = 0
        self.mode: tuple[bool, str, str] | None = None
        self.place: Place = None
        # The sampled step of the last look, how many there were, and whether everything is read in this one.
        self._look_step, self._looks = -1, 0
        self.is_read = True

    @property
    def watch(self) -> Watch | None:
        return self._watch()

    @property
    def module(self) -> nn.Module | None:
        watch = self.watch
        return None if watch is None else watch.model

    def reads(self) -> bool:
        """True if this step is looked at, and everything is read."""
        watch = self.watch
        step = -1 if watch is None else watch._look_step
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

    def holds_any(self, held: set[int]) -> bool:
        """True if one of the parameters is among those with these identities."""
        module = self.module
        return module is not None and any(id(one) in held for one in module.parameters())


class Program(_torch_calls.Listener):
    """Recorder of the facts of one run, shared by its watches."""

    def __init__(self, run: Any) -> None:
        self._run = run
        self._facts = Facts(run)
        self._later = Later()
        self._models: list[Model] = []
        self._most_models = 0
        self._hooks: list[Any] = []
        self._optimizers = Optimizers()
        # Models of an optimizer, and how many parameters it held then.
        self._belonging: weakref.WeakKeyDictionary[Optimizer, tuple[int, list[Model]]] = weakref.WeakKeyDictionary()
        self._clipping = Clipping()
        self._losses: dict[tuple[Any, ...], _LossFact] = {}
        self._inputs: dict[str, Inputs] = {}
        self._input: weakref.ref[torch.Tensor] | None = None
        # Modules by the number of the function that gave their output.
        self._made_by: dict[int, str] = {}
        self._loaders: dict[tuple[Any, ...], _Loader] = {}
        # The one whose epoch began last.
        self._loader: _Loader | None = None
        self._seeds = {"calls": 0, "calls_in_loop": 0, "same_in_loop": 0}
        self._seed_values = set[int]()
        self._passes = self._passes_of_step = 0
        self._place: Place = None
        # Everything is read in this step; a backward pass is under way.
        self._is_look = self._is_in_pass = False
        self._environment: threading.Thread | None = None
        self._commit: dict[str, str] = {}
        # Calls of the program by the functions of the graph that they made, and the time of its lines.
        self.lines: Any = None

    @staticmethod
    def of(run: Any) -> Program:
        """The recorder of a run."""
        program: Program | None = run.__dict__.get("_program")
        if program is None:
            program = run._program = Program(run)
        return program

    # Watches.

    @guarded
    def open(self, watch: Watch, optimizer: Any) -> None:
        """Begins to follow the model of a watch."""
        model = Model(watch)
        self._models.append(model)
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
        if self._environment is None:
            self._environment = threading.Thread(target=self._find_commit, daemon=True, name="trainscope-commit")
            self._environment.start()

    @guarded
    def close(self, watch: Watch) -> None:
        """Ends it, and writes what is known; after the last watch, nothing of the training is seen any more."""
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
            return
        self._later.poll(wait=True)
        self._collect(is_end=True)
        self._models = [model for model in self._models if model not in closed]
        self._belonging.clear()
        self._made_by.clear()
        if not self._models and self._environment is not None:
            self._environment.join(1.0)
            self._put_environment()
        self._facts.write(is_end=True)

    def _find_commit(self) -> None:
        self._commit = _environment.commit(os.getcwd())

    def _put_environment(self) -> None:
        self._facts.put("environment", "", {}, _environment.texts() | self._commit)

    # The forward pass of a sampled step.

    @guarded
    def before_model(self, watch: Watch, module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Reads the inputs of a model."""
        if not any([model.reads() for model in self._models if model.watch is watch]):
            return
        if len(self._made_by) > MAX_NODES:
            self._made_by.clear()
        first: torch.Tensor | None = None
        for name, tensor in _named_inputs(module, args, kwargs):
            if not is_readable(tensor):
                continue
            subject = watch._prefix + name
            if subject not in self._inputs and len(self._inputs) >= MAX_SUBJECTS:
                continue
            self._later.read([tensor], self._inputs.setdefault(subject, Inputs()).add)
            if first is None or name == "input_ids":
                first = tensor
        if first is not None:
            self._input = weakref.ref(first)

    @guarded
    def after_module(self, name: str, module: nn.Module, args: tuple[Any, ...], outputs: list[torch.Tensor]) -> None:
        """Notes which functions of the graph are the outputs of a module, and the rows of an embedding."""
        if not any([model.is_read for model in self._models]):
            return
        for tensor in outputs:
            function = tensor.grad_fn
            if function is not None:
                self._made_by.setdefault(sequence_of(function), name)
        if isinstance(module, nn.Embedding) and module.weight.requires_grad and args:
            for model in self._models:
                if name.startswith(model.prefix) and isinstance(args[0], torch.Tensor):
                    model.settings.add_rows(name, module, args[0], self._later)
                    break

    # The backward pass.

    @guarded
    def before_backward(self, roots: tuple[Any, ...]) -> None:
        """Looks at the graph that a backward pass is about to go through."""
        self._is_in_pass = False
        if is_capturing():
            return
        self._is_in_pass = True
        self._passes += 1
        self._passes_of_step += 1
        self._place = _source.place_of(sys._getframe(2))
        is_read = any([model.reads() for model in self._models]) and self._passes_of_step <= MAX_PASSES_OF_STEP
        is_look = self._passes <= FIRST_PASSES or is_read
        self._is_look |= is_look
        if self._loader is not None:
            self._loader.passes += 1
        for model in self._models:
            model.gradients.before_pass(is_look)
            model.mode = model.settings.mode(model.module)
            model.settings.begin(model.module)
        if is_look:
            with torch.no_grad():
                self._read_graph([one for one in roots if isinstance(one, torch.Tensor)])

    @guarded
    def after_backward(self) -> None:
        """Follows the gradients that it has left."""
        if not self._is_in_pass:
            return
        self._is_in_pass = False
        for model in self._models:
            if model.gradients.after_pass(self._place):
                model.place = self._place

    def _read_graph(self, roots: list[torch.Tensor]) -> None:
        functions = [root.grad_fn for root in roots if root.grad_fn is not None]
        for root in roots:
            if root.grad_fn is None:
                self._put_leaf(root)
                continue
            losses = losses_of(root.grad_fn)
            for loss in losses:
                self._put_loss(loss)
            if not losses:
                self._put_unknown(root)
        if any(model.reach.is_open(self._passes) for model in self._models):
            leaves, is_complete = walk(functions, MAX_NODES)
            known = {id(one) for model in self._models for _, one in model.parameters()}
            for model in self._models:
                parameters = model.parameters()
                is_sharded = any(type(one) not in PLAIN for _, one in parameters)
                model.reach.add(parameters, leaves, known, is_complete=is_complete, is_sharded=is_sharded)

    def _put_leaf(self, root: torch.Tensor) -> None:
        """A loss that was not computed from anything with a gradient."""
        numbers = {"has_gradient": 0.0, "broadcast": 0.0}
        self._fact_of(("loss", self._place), "loss", numbers, {"before": "", "before_that": "", "module": ""}, None)

    def _put_unknown(self, root: torch.Tensor) -> None:
        edge = behind((root.grad_fn, root.output_nr))[0]
        for _ in range(64):
            if name_of(edge[0]) not in ("mean", "sum", "neg", "mul", "div", "add", "sub"):
                break
            parent = main_parent(edge[0])
            if parent is None:
                break
            edge = behind(parent)[0]
        before, texts = self._before(edge)
        key = ("loss", before, self._place)
        self._fact_of(key, "loss", {"has_gradient": 1.0, "broadcast": 0.0}, texts, edge[0])

    def _put_loss(self, loss: Loss) -> None:
        before, texts = self._before(loss.operand)
        texts["outputs_shape"] = _shown(loss.outputs_shape)
        texts["targets_shape"] = _shown(loss.targets_shape)
        numbers = {
            "has_gradient": 1.0,
            "broadcast": float(loss.are_outputs_expanded and loss.are_targets_expanded),
            "outputs_expanded": float(loss.are_outputs_expanded),
            "by_hand": float(loss.is_by_hand),
        }
        if loss.classes:
            numbers |= {"classes": loss.classes, "dimension": loss.dimension, "dimensions": len(loss.outputs_shape or ())}
        key = (loss.function, before, self._place)
        fact = self._fact_of(key, loss.function, numbers, texts, loss.node)
        if fact is None:
            return
        inputs = None if self._input is None else self._input()
        ignored, dimension = loss.ignored, loss.dimension

        def read(outputs: Any, target: Any, logarithms: Any, batch: Any) -> None:
            if outputs is not None and target is not None and target.is_floating_point():
                fact.numbers |= {"outputs_rms": rms_of(outputs), "targets_rms": rms_of(target)}
            if target is not None and target.is_floating_point():
                fact.numbers["negative_targets"] = share_of_negative(target)
            if logarithms is not None:
                size = range_of_rows(logarithms, dimension)
                if size is not None:
                    fact.numbers["range"] = max(size, fact.numbers.get("range", 0.0))
            fact.targets.add(target, batch, ignored)

        self._later.read([loss.outputs, loss.target, loss.logarithms, inputs], read)

    def _before(self, edge: tuple[Any, int]) -> tuple[str, dict[str, str]]:
        """Names of the two functions before a loss, and the module that made the last one."""
        (node, _), passed = behind(edge)
        before = name_of(node)
        module = self._made_by.get(sequence_of(node), "")
        for one in reversed(passed):
            module = module or self._made_by.get(sequence_of(one), "")
        parent = main_parent(node)
        before_that = "" if parent is None else name_of(behind(parent)[0][0])
        return before, {"before": before, "before_that": before_that, "module": module}

    def _fact_of(
        self, key: tuple[Any, ...], function: str, numbers: dict[str, float], texts: dict[str, str], node: Any
    ) -> _LossFact | None:
        fact = self._losses.get(key)
        if fact is None:
            if len(self._losses) >= MAX_SUBJECTS:
                return None
            count = 1 + sum(known[0] == function for known in self._losses)
            place = self._place and (self._place[0], line_of_loss(*self._place[:2]), self._place[2])
            name = function if count == 1 else f"{function}#{count}"
            fact = self._losses[key] = _LossFact(name, {"passes": 0}, {}, place, function)
        fact.is_repeated |= fact.last_pass == self._passes
        fact.last_pass = self._passes
        numbers["passes"] = fact.numbers["passes"] + 1
        for name in ("broadcast", "outputs_expanded"):
            numbers[name] = max(numbers.get(name, 0.0), fact.numbers.get(name, 0.0))
        fact.numbers |= numbers
        # Shapes and modules that were known once stay.
        fact.texts |= {name: text or fact.texts.get(name, "") for name, text in texts.items()}
        note = None if self.lines is None or node is None else self.lines.of_sequence(sequence_of(node))
        if note is not None:
            fact.place = note.place
        return fact

    # The update.

    @guarded
    def _before_optimizer(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if is_capturing():
            return
        has_closure = (args[1] if len(args) > 1 else kwargs.get("closure")) is not None
        known = self._optimizers.know(optimizer)
        if known is not None and (self._is_look or known.place is None):
            known.place = _source.place_of(sys._getframe(2))
        for model in self._models_of(optimizer):
            model.gradients.before_update(has_closure=has_closure)
            model.reach.note_gradients()
        if self._is_look:
            self._clipping.read_norm(optimizer)

    @guarded
    def _after_optimizer(self, optimizer: Optimizer, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> None:
        if is_capturing():
            return
        self._optimizers.updated(optimizer)
        self._clipping.is_scaled = False
        for model in self._models_of(optimizer):
            # Those of a closure came within the update.
            model.reach.note_gradients()
            model.gradients.after_update()
            if model.mode is not None:
                is_evaluation, name, _ = model.mode
                model.updates += 1
                model.in_evaluation += is_evaluation
                model.partly += bool(name) and not is_evaluation
        self._passes_of_step = 0
        if self._is_look:
            self._is_look = False
            self._later.poll()
            self._collect()
            self._facts.write()

    def _models_of(self, optimizer: Optimizer) -> list[Model]:
        """Models that an optimizer updates, or was given with; for the only one that there is, the only model."""
        count = sum(len(group["params"]) for group in optimizer.param_groups)
        known = self._belonging.get(optimizer)
        if known is None or known[0] != count or self._is_look:
            held = {id(one) for one in parameters_of(optimizer)}
            models = [model for model in self._models if self._belongs(model, optimizer, held)]
            if not models and len(self._models) == 1 and len(self._optimizers.items()) == 1:
                models = self._models[:]
            self._belonging[optimizer] = known = (count, models)
        return known[1]

    @staticmethod
    def _belongs(model: Model, optimizer: Optimizer, held: set[int]) -> bool:
        watch = model.watch
        given = None if watch is None or watch._optimizer is None else watch._optimizer()
        return given is optimizer or model.holds_any(held)

    # Calls.

    @guarded
    def clips(self, parameters: list[torch.Tensor], max_norm: Any, norm: torch.Tensor) -> None:
        """Follows the clipping of gradients."""
        self._clipping.add(parameters, max_norm, norm, _source.place_of(sys._getframe(2)), is_look=self._is_look)

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
            self._passes_of_step = 0
            for model in self._models_of(inner):
                model.gradients.after_update(is_skipped=True)

    @guarded
    def iterates(self, loader: Any, place: Place = None) -> None:
        """Reads the settings of a loader."""
        kind, sampler = (type(getattr(loader, name, None)).__name__ for name in ("dataset", "sampler"))
        place, numbers = place or _source.place_of(sys._getframe(2)), _settings_of(loader)
        # One may be made new for each epoch.
        key = (kind, sampler, place, *numbers.values())
        known = self._loaders.get(key)
        if known is None and len(self._loaders) < MAX_SUBJECTS:
            count = 1 + sum(other.kind == kind for other in self._loaders.values())
            known = _Loader(kind, kind if count == 1 else f"{kind}#{count}", sampler, numbers, place)
            self._loaders[key] = known
        if known is not None:
            known.iterations += 1
        self._loader = known

    @guarded
    def has_loaded(self, module: nn.Module, keys: list[str], result: Any, place: Place = None) -> None:
        """Counts the keys that a state shares with a model."""
        unexpected = len(result.unexpected_keys)
        numbers = {
            "keys": len(keys),
            "matched": len(keys) - unexpected,
            "missing": len(result.missing_keys),
            "unexpected": unexpected,
        }
        place = place or _source.place_of(sys._getframe(2))
        self._facts.put("loaded", type(module).__name__, numbers, {}, _source_of(place))

    @guarded
    def seeds(self, seed: Any, place: Place = None) -> None:
        """Counts how often the random state is set, and within the training."""
        self._seeds["calls"] += 1
        if self._optimizers.updates:
            self._seeds["calls_in_loop"] += 1
            self._seeds["same_in_loop"] += seed in self._seed_values
        if isinstance(seed, int) and len(self._seed_values) < MAX_NODES:
            self._seed_values.add(seed)
        if self._seeds["calls_in_loop"] <= 1:
            self._seed_place = place or _source.place_of(sys._getframe(2))

    # Facts.

    def _collect(self, *, is_end: bool = False) -> None:
        """Puts together what is known."""
        for fact in self._losses.values():
            self._facts.put("loss_function", fact.name, fact.numbers, fact.texts, _source_of(fact.place))
            numbers = fact.targets.numbers()
            if self._are_sides(fact, numbers):
                numbers = {"batches": numbers["batches"]}
            if numbers["batches"]:
                self._facts.put("targets", fact.name, numbers, {}, _source_of(fact.place))
        for name, inputs in self._inputs.items():
            self._facts.put("inputs", name, inputs.numbers())
        for model in self._models:
            self._collect_model(model, is_end=is_end)
        if self._optimizers.updates >= UPDATES_BEFORE_FACTS or is_end:
            for optimizer, known in self._optimizers.items():
                self._collect_optimizer(optimizer, known)
        numbers, texts = self._clipping.numbers()
        if numbers:
            self._facts.put("clipping", "clip_grad_norm_", numbers, texts, _source_of(self._clipping.place))
        if self._seeds["calls"]:
            numbers = {**self._seeds, "updates": self._optimizers.updates}
            self._facts.put("seeds", "manual_seed", numbers, {}, _source_of(self._seed_place))
        for (file, line, function), time in [] if self.lines is None else self.lines.slowest():
            numbers = {
                "steps": self.lines.steps, "calls": time.calls, "seconds": time.seconds,
                "waits": time.waits, "wait_seconds": time.wait_seconds,
            }  # fmt: skip
            texts = {"wait": time.wait} if time.wait else {}
            source = _source.of(file, line, function)
            self._facts.put("time_by_line", f"{os.path.basename(file)}:{line}", numbers, texts, source)
        for loader in self._loaders.values():
            numbers = {**loader.numbers, "passes": loader.passes, "iterations": loader.iterations}
            numbers["training"] = float(loader.passes > 0)
            texts = {"sampler": loader.sampler}
            self._facts.put("data_loader", loader.subject, numbers, texts, _source_of(loader.place))
        if self._commit or is_end:
            self._put_environment()

    def _are_sides(self, fact: _LossFact, numbers: Mapping[str, float]) -> bool:
        """True if targets say which side samples come from, as in adversarial training: each loss has one of them."""
        is_binary = fact.function.startswith("binary_cross_entropy") and len(self._optimizers) > 1
        return (is_binary or fact.is_repeated) and numbers.get("batches_of_one_label") == numbers["batches"]

    def _collect_model(self, model: Model, *, is_end: bool) -> None:
        parameters = model.parameters()
        if not parameters and model.module is None:
            return
        gradients = model.gradients
        if gradients.passes:
            numbers = {
                "updates": gradients.updates, "passes": gradients.passes, "kept": gradients.kept,
                "cleared_between": gradients.cleared_between, "closure": float(gradients.has_closure),
                "models": self._most_models, "optimizers": len(self._optimizers),
            }  # fmt: skip
            self._facts.put("gradients_kept", model.name, numbers, {}, _source_of(model.place))
        if self._optimizers.updates >= UPDATES_BEFORE_FACTS or is_end:
            numbers, texts = model.reach.numbers(parameters, self._optimizers.held(), model.module)
            if numbers:
                self._facts.put("reached", model.name, numbers, texts, _source_of(model.place or self._place))
        if model.updates and model.settings.has_modes:
            numbers = {"passes": model.updates, "evaluation": model.in_evaluation, "partly": model.partly}
            texts = model.settings.mode_texts()
            self._facts.put("module_modes", model.name, numbers, texts, _source_of(model.place))
        model.settings.collect(model.module, self._facts)

    def _collect_optimizer(self, optimizer: Optimizer, known: Known) -> None:
        models = {id(one): name for model in self._models for name, one in model.parameters()}
        own = [one for model in self._models_of(optimizer) for one in model.parameters()]
        source = _source_of(known.place)
        if known.updates:
            numbers, missing = self._optimizers.parameter_numbers(optimizer, known, models, own)
            texts = {"missing": ", ".join(missing[:5])}
            self._facts.put("optimizer_parameters", known.name, numbers, texts, source)
            for subject, numbers, texts in self._optimizers.settings(optimizer, known):
                self._facts.put("optimizer_settings", subject, numbers, texts, source)


def _source_of(place: Place) -> _source.Source | None:
    return None if place is None else _source.of(*place)


def _shown(shape: tuple[int, ...] | None) -> str:
    return "" if shape is None else str(list(shape))


@functools.lru_cache(maxsize=256)
def _names_of(forward: Any) -> list[str]:
    """Names of the parameters of the method `forward` of a class."""
    try:
        return list(inspect.signature(forward).parameters)[1:]
    except (TypeError, ValueError):
        return []


def _named_inputs(
    module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors that a model is called with, without labels, by the names of its parameters."""
    names = _names_of(type(module).forward)
    named = [(names[at] if at < len(names) else str(at), value) for at, value in enumerate(args)]
    for name, value in [*named, *kwargs.items()]:
        if "label" in name or "target" in name:
            continue
        for number, tensor in enumerate(tensors_in(value)):
            if number < MAX_SUBJECTS:
                yield (f"{name}.{number}" if number else name), tensor


def _settings_of(loader: Any) -> dict[str, float]:
    sampler = getattr(loader, "sampler", None)
    kinds = [one.__name__ for one in type(sampler).__mro__]
    is_shuffled = "RandomSampler" in kinds or "WeightedRandomSampler" in kinds or "SubsetRandomSampler" in kinds
    shuffles = getattr(sampler, "shuffle", is_shuffled)
    try:
        batches = float(len(loader))
    except (TypeError, NotImplementedError):
        batches = 0.0
    return {
        "batch_size": float(getattr(loader, "batch_size", None) or 0),
        "workers": float(getattr(loader, "num_workers", 0) or 0),
        "shuffle": float(bool(shuffles)),
        "drop_last": float(bool(getattr(loader, "drop_last", False))),
        "batches": batches,
    }
