"""Watch of a PyTorch model: its weights, gradients and activations, by hooks that exist on sampled steps only."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from trainscope import _torch_not_finite
from trainscope._lost import guarded, warn
from trainscope._torch_curves import OptimizerCurves
from trainscope._torch_device import PLAIN, DeviceRows, are_finite, is_capturing, is_shard, whole
from trainscope._torch_graph import (
    Selection,
    Trace,
    graph_of,
    is_compiled,
    is_freed,
    named_modules,
    named_parameters,
    tensors_in,
)
from trainscope._torch_hooks import Hook as _Hook
from trainscope._torch_hooks import (
    ModuleHooks,
    ScalerStep,
    compilations,
    parameters_of,
    unscaling_factor,
    unwrapped,
    updates_in,
)
from trainscope._torch_kept import KeptActivations
from trainscope._torch_missing import has_activation, sentences_of
from trainscope._torch_program import Program

if TYPE_CHECKING:
    from trainscope._torch_first_batch import FirstBatch

__all__ = ["Watch", "graph_of"]

Item = tuple[str, str, torch.Tensor]

LOOKS_BEFORE_NOTE = 3
"""Sampled updates after which the unseen tensors are noted: the number of steps sampled first by default."""

PASSES_BEFORE_WARNING = 10
"""Forward passes of a training without any update that are worth a warning at its end."""

MAX_SENTENCES = 5
"""Most sentences of what is not seen that become notes."""

MAX_HOOKED_DEPTH = 32
"""Deepest nesting of modules whose containers are hooked: each hook costs one call of Python's limit of 1,000."""

# Looked up once: they are asked for each module.
_graph_task = torch._C._current_graph_task_id
_transform = torch._C._functorch.peek_interpreter_stack

# Watches that are not closed.
_WATCHES: weakref.WeakSet[Watch] = weakref.WeakSet()


class Watch:
    """Statistics of the weights, gradients and activations of a model, on sampled steps. `Run.watch` makes it.

    Names are those of the parameters (`fc1.weight`, `fc1.weight.grad`) and of the modules (`fc1`; `fc1:1` is the second
    tensor that it returns, `fc1#2` its second call in one pass). A second model with the same names gets the name of
    its class in front. Runs that are open at the same time may watch one model, or models that share parts. Of each
    optimizer, the learning rates are scalars whenever they change, and the norm of the gradients at looks. Costs about
    3 µs a tensor and the time to read it; on other steps one call an update.

    hooks: False if an adapter calls `begin`, `before_update` and `after_update` in place of the optimizer's hooks.
    """

    def __init__(
        self,
        run: Any,
        model: nn.Module,
        optimizer: Any = None,
        *,
        scaler: Any = None,
        weights: bool = True,
        gradients: str | bool = "update",
        activations: bool = True,
        activation_gradients: bool = False,
        names: Sequence[str] = (),
        exclude: Sequence[str] = (),
        every: int | None = None,
        first: int | None = None,
        graph: bool = True,
        curves: bool = True,
        hooks: bool = True,
        preflight: bool | Mapping[str, Any] = False,
    ) -> None:
        if not isinstance(model, nn.Module):
            raise TypeError(f"watch needs a torch.nn.Module, not {type(model).__name__}")
        self._run = run
        self._model: weakref.ref[nn.Module] = weakref.ref(model)
        for other in list(_WATCHES):
            # Runs that are open at the same time may watch one model.
            if other._model() is None or (other._model() is model and other._run is run):
                other.close()
        self._weights, self._activations, self._activation_gradients = weights, activations, activation_gradients
        self._gradients = "update" if gradients is True else gradients
        self._selection = Selection(run, names, exclude, every, first)
        self._writes_graph = graph
        self._prefix = ""
        self._prefix = _free_prefix(run, model)
        self._device = DeviceRows(run)
        self._curves = OptimizerCurves(run, self._device, is_on=curves)
        # Updates that each optimizer has made; None of one that holds no parameter of the model.
        self._updates: weakref.WeakKeyDictionary[Optimizer, int | None] = weakref.WeakKeyDictionary()
        # The highest of them, also of optimizers that are gone.
        self._made = 0
        self._has_updated = False
        # Step that is now; sampled step whose update is to come, and the one before it; step of the last update.
        self._step, self._look_step, self._last_look, self._update_step = -1, -1, -1, -1
        # Parameters, by identity, that were read in the step of the last reading.
        self._read_step, self._read_now = -1, set[int]()
        self._calls: dict[str, int] = {}
        # Names of modules whose activations were seen, and of those that were called without gradients.
        self._called, self._called_without = set[str](), set[str]()
        self._without_gradient: list[str] = []
        self._trace: Trace | None = None
        # Modules that call no other although they have children.
        self._inner_leaves: weakref.WeakSet[nn.Module] = weakref.WeakSet()
        self._is_traced = False
        # A forward pass of the model is under way; one was made in the sampled step.
        self._is_forward = self._has_forward = False
        self._starts: dict[str, int] = {}
        self._forward_hooks = ModuleHooks()
        self._gradient_hooks: list[Any] = []
        self._optimizer_hooks: list[Any] = []
        # Layer after whose forward pass the training is to wait, and its hook.
        self._target: str | None = None
        self._target_hook = ModuleHooks()
        self._kept = KeptActivations(self, run)
        self._not_finite = _torch_not_finite.of_run(run)
        self._scaler_step: ScalerStep | None = None
        # An optimizer without hooks, by the name of its class.
        self._foreign = ""
        self._is_fired = self._is_late = False
        self._fired_step, self._gate_step = 0, -1
        self._found_inf: torch.Tensor | None = None
        # Sampled updates; forward passes for the training that were seen; compilations before this watch.
        self._looked, self._passes, self._compilations = 0, 0, compilations()
        self._has_noted = False
        # An adapter records the loss itself, with the step of its framework.
        self._records_loss = hooks
        _WATCHES.add(self)
        self._not_finite.open(model)
        self._optimizer: weakref.ref[Optimizer] | None = None
        self._has_hooks = hooks
        self._program = Program.of(run)
        self._program.lines = self._not_finite.lines
        self._program.open(self, optimizer)
        if hooks:
            self._watch_optimizer(optimizer)
            if scaler is not None:
                self._scaler_step = ScalerStep(self, scaler)
                scaler.step = self._scaler_step
            self.begin(self._now())
        self._first_batch: FirstBatch | None = None
        if preflight is not False:
            from trainscope._torch_first_batch import FirstBatch

            self._first_batch = FirstBatch(self, model, optimizer, {} if preflight is True else preflight)
        run._nodes([name for name, _ in self._modules(model)])

    # Questions.

    @property
    def model(self) -> nn.Module | None:
        """The model; None once it is gone."""
        return self._model()

    def names(self) -> list[str]:
        """Names of the tensors that are recorded on sampled steps, in the order of the model. Costs 1 µs a tensor.

        Before the first of them, also of activations of modules that are never called.
        """
        model = self._model()
        if model is None:
            return []
        names: list[str] = []
        if self._activations:
            names += [name for name, module in self._modules(model) if has_activation(self, name, module)]
        for name, parameter in named_parameters(model)[0]:
            name = self._prefix + name
            names += [name] if self._weights else []
            names += [f"{name}.grad"] if self._gradients and parameter.requires_grad else []
        return [name for name in names if self._selection.has_name(name)]

    def missing(self) -> list[str]:
        """Sentences that say which tensors are not seen, and why. Empty if all are.

        After three sampled updates they become a note of the run.
        """
        return sentences_of(self)

    # The steps; an adapter calls these.

    @guarded
    def begin(self, step: int) -> None:
        """Begins a step, before its forward pass: sets the forward hooks if it is looked at, else removes them."""
        self._device.send()
        self._device.read()
        self._follow_target()
        self._kept.follow()
        is_over = self._look_step <= self._update_step < step
        if self._look_step >= 0 and (is_over or (step != self._step and not self._has_forward)):
            self._last_look, self._look_step = self._look_step, -1
        self._not_finite.begin(step)
        if self._selection.has_step(step) or self._not_finite.wants_look:
            if step == self._step == self._look_step and self._forward_hooks:
                return
            self._look_step, self._has_forward = step, False
            self._calls.clear()
            self._set_forward_hooks()
        else:
            self._remove_forward_hooks()
        self._step = step

    @guarded
    def before_update(self, step: int, scale: float = 1.0, optimizer: Optimizer | None = None) -> None:
        """Reads weights and gradients, on a sampled step, or if such a step has begun since the last update.

        scale: statistics of gradients are multiplied by it. optimizer: only what it holds is read, and what none holds.
        """
        self._not_finite.before_update()
        if self._looks(step):
            self._read(step, scale, None, optimizer, weights=True, gradients=True)
            self._update_step = step
            self._device.send()

    @guarded
    def record_curves(self, optimizer: Optimizer, step: int, scale: float = 1.0, *, rates: bool = True) -> None:
        """Records the learning rates and the norm of the gradients of an update, before it."""
        if rates:
            self._curves.record_rates(optimizer, step, is_look=self._looks(step))
        if self._looks(step):
            self._curves.record_norm(optimizer, step, scale)

    @guarded
    def after_update(self, step: int) -> None:
        """Ends the update of this step: the run has made `step` + 1."""
        self._update_step = max(self._update_step, step)
        self._end_look()
        self._run._set_updates(step + 1)
        self._device.read()

    @guarded
    def close(self) -> None:
        """Removes all hooks, and records what is still on its way from a device. May be called twice."""
        if self in self._run._watches:
            self._run._watches.remove(self)
        if self in _WATCHES:
            self._note_missing()
        _WATCHES.discard(self)
        if self._first_batch is not None:
            self._first_batch.close()
        self._program.close(self)
        self._remove_forward_hooks()
        self._set_target(None)
        self._kept.close()
        if not self._run._watches:
            self._not_finite.close()
        for handle in self._optimizer_hooks:
            handle.remove()
        self._optimizer_hooks.clear()
        if self._scaler_step is not None:
            self._scaler_step.restore()
            self._scaler_step = None
        self._trace = None
        self._device.send()
        self._device.read(wait=True)

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # Names and steps.

    def _looks(self, step: int) -> bool:
        """True if the step is looked at, or one that has begun since the last update."""
        return 0 <= self._look_step <= step or 0 <= step == self._last_look

    def _modules(self, model: nn.Module) -> list[tuple[str, nn.Module]]:
        """Modules with the names of their activations."""
        own = type(model).__name__
        return [(self._prefix + (name or own), module) for name, module in named_modules(model)]

    def _is_leaf(self, module: nn.Module) -> bool:
        children = module._modules
        return not children or all(child is None for child in children.values()) or module in self._inner_leaves

    def _now(self) -> int:
        """The open step, or the number of updates."""
        step = self._run._open_step()
        return int(step) if step is not None else self._made

    # Reading.

    def _read(
        self,
        step: int,
        scale: float,
        factor: torch.Tensor | None,
        optimizer: Optimizer | None,
        *,
        weights: bool,
        gradients: bool,
    ) -> None:
        model = self._model()
        if model is None:
            return
        weights, gradients = weights and self._weights, gradients and self._gradients == "update"
        if step != self._read_step:
            self._read_step, self._read_now = step, set()
        others = self._held_by_others(optimizer)
        read_weights: list[Item] = []
        read_gradients: list[Item] = []
        without: list[str] = []
        prefix, wants = self._prefix, self._selection.has_name
        for name, parameter in named_parameters(model)[0]:
            if id(parameter) in others or nn.parameter.is_lazy(parameter):
                continue
            self._read_now.add(id(parameter))
            name = prefix + name
            if weights and wants(name):
                read_weights.append((name, "weight" if parameter.requires_grad else "frozen_weight", parameter))
            if gradients and wants(name_of_gradient := f"{name}.grad"):
                gradient = parameter.grad
                if gradient is not None:
                    read_gradients.append((name_of_gradient, "gradient", gradient))
                elif parameter.requires_grad:
                    without.append(name)
        if gradients:
            self._without_gradient = without
        if scale == 1.0 and factor is None:
            self._record(read_weights + read_gradients, step)
        else:
            self._record(read_weights, step)
            self._record(read_gradients, step, scale, factor)

    def _record(self, items: list[Item], step: int, scale: float = 1.0, factor: torch.Tensor | None = None) -> None:
        if any(type(tensor) not in PLAIN or not tensor.is_cpu for _, _, tensor in items):
            items = [(name, role, whole(tensor)) for name, role, tensor in items]
            remote = [item for item in items if not item[2].is_cpu or is_shard(item[2])]
            self._device.add(remote, step, scale, factor)
            items = [item for item in items if item[2].is_cpu and not is_shard(item[2])]
        if items:
            if factor is not None:
                scale *= float(factor)
            self._run._record_tensors(items, step, scale)

    def _held_by_others(self, optimizer: Optimizer | None) -> set[int]:
        """Parameters, by identity, that this optimizer does not hold and another holds, or has read in this step."""
        if optimizer is None:
            return set()
        self._updates.setdefault(optimizer, 0)
        others = [other for other, made in self._updates.items() if made is not None and other is not optimizer]
        held = {id(parameter) for other in others for parameter in parameters_of(other)}
        return (held | self._read_now) - {id(parameter) for parameter in parameters_of(optimizer)}

    # The optimizer.

    def _watch_optimizer(self, optimizer: Any) -> None:
        """Hooks all optimizers: what makes the updates may be one in a wrapper, or replace the one that is given."""
        self._optimizer_hooks = [
            register_optimizer_step_pre_hook(_Hook(self, Watch._before_optimizer)),
            register_optimizer_step_post_hook(_Hook(self, Watch._after_optimizer)),
        ]
        inner = unwrapped(optimizer)
        if inner is not None:
            self._optimizer = weakref.ref(inner)
            self._updates[inner] = 0
            self._resume(inner)
        elif optimizer is not None:
            self._foreign = type(optimizer).__name__

    def _resume(self, optimizer: Optimizer) -> None:
        """Takes over the number of updates from the state of an optimizer that was loaded from a checkpoint."""
        made = updates_in(optimizer)
        if made > (self._updates.get(optimizer) or 0):
            self._updates[optimizer] = made
            self._set_made(made)

    def _set_made(self, made: int) -> None:
        self._made = max(self._made, made)
        self._run._set_updates(self._made)

    def _is_ours(self, optimizer: Optimizer) -> bool:
        if optimizer not in self._updates:
            model = self._model()
            if any(other._optimizer is not None and other._optimizer() is optimizer for other in self._of_other_runs()):
                # It trains a part that models of two runs share.
                self._updates[optimizer] = None
                return False
            own = set() if model is None else {id(parameter) for parameter in model.parameters()}
            held = {id(parameter) for parameter in parameters_of(optimizer)}
            if own.isdisjoint(held):
                self._updates[optimizer] = None
            else:
                self._updates[optimizer] = self._first_of(held)
                self._resume(optimizer)
        return self._updates[optimizer] is not None

    def _of_other_runs(self) -> list[Watch]:
        return [other for other in list(_WATCHES) if other._run is not self._run]

    def _first_of(self, held: set[int]) -> int:
        """First step of an optimizer that comes in later: it follows another on its parameters, or works beside it."""
        others = {other: made for other, made in self._updates.items() if made is not None}
        followed = [made for other, made in others.items() if not held.isdisjoint(map(id, parameters_of(other)))]
        if others and not followed:
            # The other has made its update of this step before.
            return max(0, self._made - 1)
        return self._made

    def _step_of(self, optimizer: Optimizer) -> int:
        step = self._run._open_step()
        return int(step) if step is not None else self._updates[optimizer] or 0

    def tensors(self) -> list[tuple[str, str, Any]]:
        """Weights, gradients and kept activations that there are now, as (name, role, tensor). Nothing is read.

        The tensor is None for an activation that was changed in place since its forward pass.
        """
        model = self._model()
        items: list[tuple[str, str, Any]] = self._kept.items()
        for name, parameter in [] if model is None else named_parameters(model)[0]:
            name = self._prefix + name
            if nn.parameter.is_lazy(parameter) or is_freed(parameter) or not self._selection.has_name(name):
                continue
            items.append((name, "weight" if parameter.requires_grad else "frozen_weight", parameter.detach()))
            if parameter.grad is not None:
                items.append((f"{name}.grad", "gradient", parameter.grad.detach()))
        return items

    def has_remote_gradients(self) -> bool:
        """True if a gradient is on a device that is not the processor."""
        return any(not gradient.is_cpu for gradient in self._own_gradients())

    def gradients_are_finite(self) -> bool:
        """True if all elements of all gradients are finite. Waits for their devices."""
        return are_finite(self._own_gradients())

    def _own_gradients(self) -> list[torch.Tensor]:
        model = self._model()
        parameters = [] if model is None else [parameter for _, parameter in named_parameters(model)[0]]
        return [parameter.grad for parameter in parameters if parameter.grad is not None]

    def _before_optimizer(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._read_before_update(optimizer, args, kwargs)
        self._not_finite.before_update()
        # Of several optimizers that of the first update is the gate of the step.
        if not self._is_fired or self._gate_step == self._fired_step:
            return
        self._gate_step = self._fired_step
        if self._run._has_gate("before_update"):
            self._device.read(wait=True)
            self._run.gate("before_update")

    @guarded
    def _read_before_update(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        # The hooks of a model that is gone stay: optimizers do not allow to remove one while they call them.
        if self._model() is None or not self._is_ours(optimizer):
            return
        step = self._step_of(optimizer)
        self._is_fired, self._fired_step = True, step
        self._found_inf = getattr(optimizer, "found_inf", None)
        self._curves.record_rates(optimizer, step, is_look=self._looks(step))
        if not self._looks(step):
            return
        # With a closure the gradients of this step are there after the update only.
        self._is_late = (args[1] if len(args) > 1 else kwargs.get("closure")) is not None
        factor = unscaling_factor(optimizer)
        if not self._is_late:
            self._curves.record_norm(optimizer, step, factor=factor)
        self._read(step, 1.0, factor, optimizer, weights=True, gradients=not self._is_late)
        self._device.send()
        self._starts["update"] = self._run._nanos()

    @guarded
    def _after_optimizer(self, optimizer: Optimizer, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> None:
        if self._model() is None or not self._is_ours(optimizer):
            return
        step = self._step_of(optimizer)
        self._push_span("update", step)
        if self._is_late:
            self._is_late = False
            self._curves.record_norm(optimizer, step)
            self._read(step, 1.0, None, optimizer, weights=False, gradients=True)
        self._end_update(optimizer, step)

    def _end_update(self, optimizer: Optimizer, step: int) -> None:
        if self._looks(step):
            self._end_look()
        self._update_step = max(self._update_step, step)
        self._updates[optimizer] = made = (self._updates[optimizer] or 0) + 1
        self._has_updated = True
        self._set_made(made)
        self.begin(self._now())

    def _end_look(self) -> None:
        self._is_traced = True
        self._looked += 1
        if self._looked == LOOKS_BEFORE_NOTE:
            self._note_missing()

    # The gradient scaler.

    @guarded
    def _before_scaler(self) -> None:
        self._is_fired, self._found_inf = False, None

    @guarded
    def _after_scaler(self, scaler: Any, optimizer: Any) -> None:
        inner = unwrapped(optimizer)
        if inner is None or not scaler.is_enabled() or not self._is_ours(inner):
            return
        scale = getattr(scaler, "_scale", None)
        skipped: Any = 0.0
        if self._is_fired:
            step = self._fired_step
            if self._found_inf is not None:
                skipped = self._found_inf.clamp(max=1.0)
        else:
            step, skipped = self._step_of(inner), 1.0
            self._curves.record_rates(inner, step, is_look=self._looks(step))
            if self._looks(step):
                self._curves.record_norm(inner, step)
                self._read(step, 1.0, None, inner, weights=True, gradients=True)
                self._device.send()
        self._run.scalar(f"{self._prefix}amp/scale", scaler.get_scale() if scale is None else scale.detach(), step)
        self._run.scalar(f"{self._prefix}amp/skipped", skipped, step)
        if not self._is_fired:
            self._end_update(inner, step)

    # The layer at which the training is to wait.

    def pass_gate(self, *, is_end: bool) -> None:
        """Takes over what a person has asked for during a gate. is_end: the step has ended."""
        self._follow_target()
        if is_end:
            self._kept.drop()
        self._kept.follow()

    def _follow_target(self) -> None:
        """Hooks the layer at which the training is to wait, if it is one of this model."""
        target = self._run._target_node()
        if target != self._target:
            self._set_target(target)

    def _set_target(self, target: str | None) -> None:
        self._target = target
        self._target_hook.remove()
        model = self._model()
        if target is None or model is None:
            return
        module = dict(self._modules(model)).get(target)
        if module is not None:
            self._target_hook.after(module, _Hook(self, Watch._at_target, target))

    def _at_target(self, name: str, module: nn.Module, _args: tuple[Any, ...], output: Any) -> None:
        if name != self._target or not self._sees(module):
            return
        outputs = [(f"{name}:{number}" if number else name, tensor) for number, tensor in enumerate(tensors_in(output))]
        self._run._gate_at_node(name, [(full, "activation", tensor.detach()) for full, tensor in outputs])

    # The forward and the backward pass.

    def _set_forward_hooks(self) -> None:
        self._remove_forward_hooks()
        model = self._model()
        if model is None:
            return
        hooks = self._forward_hooks
        if isinstance(model, torch.jit.ScriptModule):
            return
        hooks.before(model, _Hook(self, Watch._before_model), with_kwargs=True)
        modules = self._modules(model)
        compiled = {id(part) for _, module in modules if is_compiled(module) for part in module.modules()}
        for name, module in modules:
            is_leaf = self._is_leaf(module)
            if id(module) in compiled or isinstance(module, torch.jit.ScriptModule):
                continue
            if not self._is_traced and (is_leaf or name.count(".") <= MAX_HOOKED_DEPTH):
                hooks.before(module, _Hook(self, Watch._before_module), with_kwargs=True)
                hooks.after(module, _Hook(self, Watch._after_module, name))
            elif self._activations and is_leaf:
                hooks.after(module, _Hook(self, Watch._after_module, name))
        hooks.after(model, _Hook(self, Watch._after_model))
        if self._gradients == "raw":
            for name, parameter in named_parameters(model)[0]:
                name = f"{self._prefix}{name}.grad"
                if parameter.requires_grad and self._selection.has_name(name):
                    hook = _Hook(self, Watch._after_gradient, name)
                    handle = parameter.register_post_accumulate_grad_hook(hook)  # type: ignore[no-untyped-call]
                    self._gradient_hooks.append(handle)

    def _remove_forward_hooks(self) -> None:
        self._forward_hooks.remove()
        for handle in self._gradient_hooks:
            handle.remove()
        self._gradient_hooks.clear()
        self._trace = None

    def _sees(self, module: nn.Module) -> bool:
        """True if a call of the module belongs to the training or to a phase.

        Calls in a backward pass repeat others, those of replicas and function transforms have tensors of their own, and
        in a CUDA graph that is being captured nothing is recorded.
        """
        if _graph_task() != -1 or _transform() is not None or module.__dict__.get("_is_replica", False) or is_capturing():
            return False
        if self._is_forward or self._run._phase:
            return True
        if not (module.training and torch.is_grad_enabled()):
            return False
        # A part that models of two runs share may be called by the model of the other run.
        return module is self._model() or not any(other._is_forward for other in self._of_other_runs())

    @guarded
    def _before_model(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._is_forward = False
        if not self._sees(module):
            return
        # Parts of the model that run without gradients (frozen, or to be computed again) belong to the pass.
        self._is_forward = module.training and torch.is_grad_enabled()
        self._has_forward = True
        self._passes += self._is_forward
        if self._is_forward:
            self._not_finite.before_model(self._modules(module), args, kwargs)
        self._calls.clear()
        self._starts.pop("backward", None)
        self._starts["forward"] = self._run._nanos()
        optimizer = None if self._optimizer is None else self._optimizer()
        if optimizer is not None and not self._has_updated:
            self._resume(optimizer)
            self._step = self._look_step = self._now()
        if self._is_forward:
            self._program.before_model(self, module, args, kwargs)
        if self._is_forward and not self._is_traced:
            self._trace = Trace(module, self._prefix)
            self._trace.begin(args, kwargs)

    @guarded
    def _after_model(self, module: nn.Module, _args: tuple[Any, ...], output: Any) -> None:
        if "forward" not in self._starts or torch._C._current_graph_task_id() != -1:
            return
        self._program.after_module(self._prefix or type(module).__name__, module, (), list(tensors_in(output)))
        self._push_span("forward", self._step)
        self._is_forward = False
        if self._trace is not None:
            nodes, outputs = self._trace.finish(output)
            self._trace, self._is_traced = None, True
            if self._writes_graph and nodes:
                self._run._graph(self._prefix.rstrip(".") or "model", nodes, outputs)
        for tensor in tensors_in(output):
            if tensor.grad_fn is not None:
                tensor.grad_fn.register_prehook(_Hook(self, Watch._before_backward))
        loss = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", output)
        if self._records_loss and isinstance(loss, torch.Tensor) and loss.ndim == 0 and loss.is_floating_point():
            self._run.scalar(self._name_now(f"{self._prefix}loss"), loss.detach(), self._step)

    @guarded
    def _before_module(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._trace is not None and self._sees(module):
            self._trace.enter(module, args, kwargs)

    @guarded
    def _after_module(self, name: str, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        if not self._sees(module):
            if module.training and not torch.is_grad_enabled():
                self._called_without.add(name)
            return
        # Else each attribute of a tensor that is read would pass through the mode that notes lines.
        with torch._C.DisableTorchFunction():
            self._see_output(name, module, args, output)

    def _see_output(self, name: str, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        """Reads what a module has returned."""
        outputs = [output] if isinstance(output, torch.Tensor) else list(tensors_in(output))
        self._program.after_module(name, module, args, outputs)
        if self._is_forward and not self._run._phase:
            self._not_finite.after_module(outputs)
        if self._trace is not None and self._trace.leave(name, module, output) and module._modules:
            self._inner_leaves.add(module)
        if not self._activations or not self._is_leaf(module):
            return
        self._has_forward = True
        self._called.add(name)
        call = self._calls[name] = self._calls.get(name, 0) + 1
        if call > 1:
            name = f"{name}#{call}"
        items: list[Item] = []
        for number, tensor in enumerate(outputs):
            full = f"{name}:{number}" if number else name
            if (tensor.is_floating_point() or tensor.is_complex()) and self._selection.has_name(full):
                full = self._name_now(full)
                items.append((full, "activation", tensor))
                if self._activation_gradients and tensor.requires_grad:
                    hook = _Hook(self, Watch._after_activation_gradient, f"{full}.grad", self._step)
                    tensor.register_hook(hook)  # type: ignore[no-untyped-call]
        self._record(items, self._step)

    def _name_now(self, name: str) -> str:
        phase = self._run._phase
        return f"{phase}/{name}" if phase else name

    @guarded
    def _after_activation_gradient(self, name: str, step: int, gradient: torch.Tensor) -> None:
        self._record([(name, "gradient", gradient)], step)

    @guarded
    def _after_gradient(self, name: str, parameter: torch.Tensor) -> None:
        if parameter.grad is not None:
            self._record([(name, "gradient", parameter.grad)], self._step)

    @guarded
    def _before_backward(self, _gradients: Any) -> None:
        if "backward" not in self._starts:
            self._starts["backward"] = self._run._nanos()
            torch.autograd.Variable._execution_engine.queue_callback(_Hook(self, Watch._after_backward))

    @guarded
    def _after_backward(self) -> None:
        self._push_span("backward", self._step)

    def _push_span(self, name: str, step: int) -> None:
        start = self._starts.pop(name, None)
        if start is not None:
            self._run._push_span(name, start, self._run._nanos() - start, step, "compute")

    def _note_missing(self) -> None:
        """Notes, once, what is not seen, and warns if it is every update."""
        if self._has_noted:
            return
        self._has_noted = True
        sentences = self.missing() if self._model() is not None else []
        if self._has_hooks and not self._has_updated and self._passes >= PASSES_BEFORE_WARNING:
            text = (
                f"watch: {self._passes} forward passes, and no update by an optimizer of PyTorch that holds parameters of "
                "the model: weights and gradients were not read, and all belongs to one step."
            )
            warn(self._run, text)
            sentences = [text, *sentences]
        for sentence in sentences[:MAX_SENTENCES]:
            self._run.note(f"watch: {sentence.removeprefix('watch: ')}")
        if len(sentences) > MAX_SENTENCES:
            self._run.note(f"watch: {len(sentences) - MAX_SENTENCES} more are not seen: `missing()` of the watch names them.")


def _free_prefix(run: Any, model: nn.Module) -> str:
    """Prefix of the names of a model that no other watch of the run has: "" if they are free as they are."""

    def names(model: nn.Module, prefix: str) -> set[str]:
        own = [name or type(model).__name__ for name, _ in named_modules(model)]
        return {prefix + name for name in own + [name for name, _ in named_parameters(model)[0]]}

    taken: set[str] = set()
    for other in list(_WATCHES):
        others = other._model()
        if other._run is run and others is not None:
            taken |= names(others, other._prefix)
    own = type(model).__name__
    prefixes = itertools.chain(["", f"{own}."], (f"{own}{number}." for number in itertools.count(2)))
    return next(prefix for prefix in prefixes if taken.isdisjoint(names(model, prefix)))
