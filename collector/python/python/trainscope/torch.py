"""Watch of a PyTorch model: its weights, gradients and activations, by hooks that exist on sampled steps only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.optim import Optimizer

from trainscope import _torch_not_finite, _torch_watches
from trainscope._lost import guarded
from trainscope._torch_curves import OptimizerCurves
from trainscope._torch_device import PLAIN, DeviceRows, are_finite, is_shard, whole
from trainscope._torch_forward import ForwardHooks
from trainscope._torch_graph import Selection, graph_of
from trainscope._torch_kept import KeptActivations
from trainscope._torch_layer_gate import LayerGate
from trainscope._torch_missing import Coverage
from trainscope._torch_program import Program
from trainscope._torch_readings import Item, Readings
from trainscope._torch_update_hooks import UpdateHooks
from trainscope._torch_watch_state import WatchState
from trainscope._torch_watched import Kinds

if TYPE_CHECKING:
    from trainscope._torch_first_batch import FirstBatch

__all__ = ["Watch", "graph_of"]


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
        start_step: int = 0,
    ) -> None:
        if not isinstance(model, nn.Module):
            raise TypeError(f"watch needs a torch.nn.Module, not {type(model).__name__}")
        self._run = run
        for other in list(_torch_watches.OPEN):
            # Runs that are open at the same time may watch one model.
            if other.model is None or (other.model is model and other._run is run):
                other.close()
        kinds = Kinds(weights, "update" if gradients is True else gradients, activations, activation_gradients)
        self._state = state = WatchState(run, model, kinds, Selection(run, names, exclude, every, first))
        state.updates.start_at(start_step)
        self._device = DeviceRows(run)
        self._curves = OptimizerCurves(run, self._device, is_on=curves)
        self._readings = Readings(state.watched, state.updates)
        self._not_finite = _torch_not_finite.of_run(run)
        self._program = Program.of(run)
        self._forward = ForwardHooks(self, state, self._program, self._not_finite, writes_graph=graph)
        self._forward.records_loss = hooks
        self._update_hooks = UpdateHooks(self, state, self._curves, self._not_finite)
        self._layer_gate = LayerGate(run, state.watched, state.passes)
        self._kept = KeptActivations(run, state.watched, state.passes)
        self._coverage = Coverage(run, state, self._readings, self._forward.activations, has_hooks=hooks)
        self._has_hooks = hooks
        self._first_batch: FirstBatch | None = None
        _torch_watches.OPEN.add(self)
        self._not_finite.open(model)
        self._program.follow_lines(self._not_finite.lines)
        self._program.open(self, optimizer)
        if hooks:
            self._update_hooks.set(optimizer, scaler)
            self.begin(state.updates.now())
        if preflight is not False:
            from trainscope._torch_first_batch import FirstBatch

            options = {} if preflight is True else preflight
            self._first_batch = FirstBatch(run, state.passes, model, optimizer, options)
        run._nodes([name for name, _ in state.watched.modules(model)])

    # Questions.

    @property
    def model(self) -> nn.Module | None:
        """The model; None once it is gone."""
        return self._state.watched.model

    @property
    def prefix(self) -> str:
        """Beginning of all names: the name of the class and a dot for a second model with the same names, else ""."""
        return self._state.watched.prefix

    @property
    def optimizer(self) -> Optimizer | None:
        """The optimizer that the watch was given, in the wrappers of other libraries; None without one."""
        return self._state.updates.given

    @property
    def look_step(self) -> int:
        """The sampled step whose update is to come; -1 without one."""
        return self._state.looks.look_step

    @property
    def is_in_forward(self) -> bool:
        """True while a forward pass of the model for the training is under way."""
        return self._state.passes.is_open

    def names(self) -> list[str]:
        """Names of the tensors that are recorded on sampled steps, in the order of the model. Costs 1 µs a tensor.

        Before the first of them, also of activations of modules that are never called.
        """
        return self._coverage.names()

    def missing(self) -> list[str]:
        """Sentences about the tensors that are not seen, with the reasons. Empty if all are.

        After three sampled updates they become a note of the run.
        """
        return self._coverage.sentences()

    def tensors(self) -> list[tuple[str, str, Any]]:
        """Weights, gradients and kept activations that there are now, as (name, role, tensor). Nothing is read.

        The tensor is None for an activation that was changed in place since its forward pass.
        """
        return self._kept.items() + self._state.watched.items()

    def has_remote_gradients(self) -> bool:
        """True if a gradient is on a device that is not the processor."""
        return any(not gradient.is_cpu for gradient in self._state.watched.gradients())

    def gradients_are_finite(self) -> bool:
        """True if all elements of all gradients are finite. Waits for their devices."""
        return are_finite(self._state.watched.gradients())

    # The steps; an adapter calls these.

    @guarded
    def begin(self, step: int) -> None:
        """Begins a step, before its forward pass: sets the forward hooks if it is looked at, else removes them."""
        self._device.send()
        self._device.read()
        self._layer_gate.follow()
        self._kept.follow()
        looks = self._state.looks
        looks.leave(step)
        self._not_finite.begin(step)
        if self._state.watched.selection.has_step(step) or self._not_finite.wants_look:
            if looks.is_begun(step) and self._forward.are_set:
                return
            looks.begin(step)
            self._forward.set()
        else:
            self._forward.remove()
        looks.step = step

    @guarded
    def before_update(self, step: int, scale: float = 1.0, optimizer: Optimizer | None = None) -> None:
        """Reads weights and gradients, on a sampled step, or if such a step has begun since the last update.

        scale: statistics of gradients are multiplied by it. optimizer: its parameters, and those in no optimizer, are
        read; None for all.
        """
        self._not_finite.before_update()
        if self._state.looks.includes(step):
            self._read(step, scale, None, optimizer, weights=True, gradients=True)
            self._state.looks.update_step = step
            self._device.send()

    @guarded
    def record_curves(self, optimizer: Optimizer, step: int, scale: float = 1.0, *, rates: bool = True) -> None:
        """Records the learning rates and the norm of the gradients of an update, before it."""
        is_look = self._state.looks.includes(step)
        if rates:
            self._curves.record_rates(optimizer, step, is_look=is_look)
        if is_look:
            self._curves.record_norm(optimizer, step, scale)

    @guarded
    def after_update(self, step: int) -> None:
        """Ends the update of this step: the run has made `step` + 1."""
        self._state.looks.note_update(step)
        self._end_look()
        self._run._set_updates(step + 1, is_made=True)
        self._device.read()

    def pass_gate(self, *, is_end: bool) -> None:
        """Takes over the wishes of a person during a gate. is_end: the step has ended."""
        self._layer_gate.follow()
        if is_end:
            self._kept.drop()
        self._kept.follow()

    @guarded
    def close(self) -> None:
        """Removes all hooks, and records the rows on their way from a device. May be called twice."""
        if self in self._run._watches:
            self._run._watches.remove(self)
        if self in _torch_watches.OPEN:
            self._coverage.note()
        _torch_watches.OPEN.discard(self)
        if self._first_batch is not None:
            self._first_batch.close()
        self._program.close(self)
        self._forward.remove()
        self._layer_gate.close()
        self._kept.close()
        if not self._run._watches:
            self._not_finite.close()
        self._update_hooks.remove()
        self._device.send()
        self._device.read(wait=True)

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # Parts of the watch call these.

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
        """Records weights, and gradients whose statistics are multiplied by `scale` and the number in `factor`."""
        read_weights, read_gradients = self._readings.items(step, optimizer, weights=weights, gradients=gradients)
        if scale == 1.0 and factor is None:
            self._record(read_weights + read_gradients, step)
        else:
            self._record(read_weights, step)
            self._record(read_gradients, step, scale, factor)

    def _record(self, items: list[Item], step: int, scale: float = 1.0, factor: torch.Tensor | None = None) -> None:
        """Records statistics: at once in the memory of the processor, as rows that are computed on other devices."""
        items = self._sent(items, step, scale, factor)
        if items:
            if factor is not None:
                scale *= float(factor)
            self._run._record_tensors(items, step, scale)

    def _record_and_find_nan(self, items: list[Item], step: int) -> bool:
        """Records statistics as `_record` does. True if one of the tensors in the memory of the processor has a NaN."""
        if len(items) != 1 or type(items[0][2]) is not torch.Tensor or not items[0][2].is_cpu:
            items = self._sent(items, step)
        return bool(items) and self._run._record_and_find_nan(items, step)

    def _sent(
        self, items: list[Item], step: int, scale: float = 1.0, factor: torch.Tensor | None = None
    ) -> list[Item]:
        """Takes the tensors of other devices, and returns those in the memory of the processor."""
        for _, _, tensor in items:
            if type(tensor) not in PLAIN or not tensor.is_cpu:
                break
        else:
            return items
        items = [(name, role, whole(tensor)) for name, role, tensor in items]
        remote = [item for item in items if not item[2].is_cpu or is_shard(item[2])]
        self._device.add(remote, step, scale, factor)
        return [item for item in items if item[2].is_cpu and not is_shard(item[2])]

    def _end_look(self) -> None:
        """Ends the update of a sampled step."""
        self._forward.end_look()
        self._coverage.end_look()
