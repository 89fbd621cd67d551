"""Callback for Keras 3: weights with every backend; gradients and outputs of layers with the torch backend.

Tried with Keras 3.15, backends torch and jax; newer ones work as long as the callbacks keep their names.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Mapping
from typing import Any

from trainscope import Run
from trainscope._adapter import Adapter, Folder
from trainscope._lost import guarded

_keras: Any = importlib.import_module("keras")

Tensors = list[tuple[str, str, Any]]


class TrainscopeCallback(Adapter, _keras.callbacks.Callback):  # type: ignore[misc]
    """Records weights (`variable.path`), what Keras logs, and with the torch backend gradients and outputs of layers.

    The step counts batches over all epochs, from the number that the optimizer has seen before. With
    `steps_per_execution` of N weights are read before the first of N and metrics after the last; they are looked at
    if any of them is selected. Steps and names are selected by `trainscope.start`. Weights are those before the
    update of the step. `loss` and other metrics of a batch are means since the beginning of the epoch, as Keras gives
    them; `epoch_loss` is that of the epoch, `val_loss` that of a validation. `learning_rate` is recorded at looks and at
    the first step of each epoch, `grad_norm` at looks with the torch backend.

    Give callbacks as a list: Keras calls a single one on another thread while the training goes on; gradients are not
    read then.

    `model.fit(…, callbacks=[TrainscopeCallback("runs/1", every=10)])`
    """

    def __init__(
        self,
        folder: Folder = None,
        *,
        weights: bool = True,
        gradients: bool = True,
        activations: bool = True,
        **start: Any,
    ) -> None:
        """`folder`: begins a run there, with further arguments of `trainscope.start`; it ends with the training, as
        failed if the training is left by an exception. Without it the run started last is used, and left open."""
        super().__init__()
        self._folder = folder
        self._options = start
        self._weights, self._gradients, self._activations = weights, gradients, activations
        self._is_torch = _keras.backend.backend() == "torch"
        self._is_training = False
        self._thread = 0
        self._first_of_epoch = 0
        self._step = 0
        self._is_selected = False
        self._scale = 1.0
        self._hooks: list[Any] = []
        # Calls of each layer in this step.
        self._calls: dict[str, int] = {}

    @guarded
    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Begins the run; says what the backend does not give."""
        self._remove_hooks()
        run = self._open(**self._options)
        if run is None:
            return
        self._is_training = True
        self._thread = threading.get_ident()
        optimizer = self._model.optimizer
        self._first_of_epoch = int(optimizer.iterations) * (optimizer.gradient_accumulation_steps or 1)
        self._step = max(self._first_of_epoch - 1, 0)
        if not self._is_torch:
            run.note(
                f"Gradients and outputs of layers are not recorded: with the {_keras.backend.backend()} backend of Keras "
                "they never leave the compiled step."
            )
        elif self._activations and self._model.jit_compile:
            run.note("Outputs of layers are not recorded: the model is compiled (jit_compile).")
        nodes = _Graph(self._model).nodes
        if nodes:
            run._graph(self._model.name, nodes)

    @guarded
    def on_train_batch_begin(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Opens the step and reads the weights."""
        run = self._run
        if run is None:
            return
        step = self._first_of_epoch + batch
        run._begin_step(step)
        self._is_selected = any(run._selects(step + each) for each in range(self._model.steps_per_execution))
        if self._is_selected or batch == 0:
            self._record_rate(run, step)
        if not self._is_selected:
            return
        if self._weights:
            self._record_weights(run, step)
        if self._is_torch:
            self._scale = self._loss_scale()
            if self._activations and not self._model.jit_compile:
                self._add_hooks(run, step)

    @guarded
    def on_train_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Records metrics and gradients, and ends the step."""
        run = self._run
        if run is None:
            return
        self._remove_hooks()
        # With steps_per_execution the last one of an epoch may have fewer batches than Keras says.
        batches = (self.params or {}).get("steps") or batch + 1
        self._step = self._first_of_epoch + min(batch, batches - 1)
        run.log(logs or {}, self._step)
        if threading.get_ident() != self._thread:
            run._count_invalid("gradients: Keras calls a single callback while the training goes on; give it a list")
            return
        if self._is_torch and self._gradients and self._is_selected:
            self._record_gradients(run)
        if run._is_stopped_at("after_step"):
            self.model.stop_training = True

    @guarded
    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Records metrics of the epoch at its last step."""
        if self._run is None:
            return
        self._first_of_epoch = self._step + 1
        # The learning rate, which some callbacks put there, has a curve of its own.
        others = ("val_", "learning_rate")
        metrics = {name: value for name, value in (logs or {}).items() if not name.startswith(others)}
        self._run.log({f"epoch_{name}": value for name, value in metrics.items()}, self._step)

    @guarded
    def on_test_end(self, logs: Mapping[str, Any] | None = None) -> None:
        """Records metrics of a validation at the last step of the training; `test_…` outside of one."""
        if self._run is not None:
            phase = "val" if self._is_training else "test"
            self._run.log({f"{phase}_{name}": value for name, value in (logs or {}).items()}, self._step)

    @guarded
    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        """Ends a run of its own."""
        self._is_training = False
        self._remove_hooks()
        self._close()

    @guarded
    def _record_rate(self, run: Run, step: int) -> None:
        self._synchronize()
        run.scalar("learning_rate", _keras.ops.convert_to_tensor(self._model.optimizer.learning_rate), step)

    def _synchronize(self) -> None:
        """During an epoch the variables are in the state of the compiled step only, with the backend jax."""
        if hasattr(self._model, "jax_state_sync"):
            self._model.jax_state_sync()

    def _record_weights(self, run: Run, step: int) -> None:
        self._synchronize()
        layers = self._model._flatten_layers()
        frozen = {id(variable) for layer in layers if not layer.trainable for variable in layer.variables}
        weights: Tensors = []
        for variable in self._model.variables:
            role = "weight" if variable.trainable else "frozen_weight" if id(variable) in frozen else "other"
            if run._selects_name(variable.path):
                weights.append((variable.path, role, variable.value))
        run._record_tensors(weights, step)

    def _record_gradients(self, run: Run) -> None:
        from trainscope._torch_device import norm_of

        named = [(f"{variable.path}.grad", variable.value.grad) for variable in self._model.trainable_variables]
        norm = norm_of([gradient for _, gradient in named if gradient is not None])
        if norm is not None:
            run.scalar("grad_norm", norm / self._scale, self._step)
        there = [(name, gradient) for name, gradient in named if gradient is not None and run._selects_name(name)]
        gradients: Tensors = [(name, "gradient", gradient) for name, gradient in there]
        run._record_tensors(gradients, self._step, 1 / self._scale)

    def _add_hooks(self, run: Run, step: int) -> None:
        """Hooks on the layers that have none below them. Keras layers are no children of each other to torch, so
        `watch` would not find them."""
        from trainscope._torch_hooks import Hook

        self._calls.clear()
        for layer in self._model._flatten_layers(include_self=False):
            name = _name_of(layer)
            is_input = isinstance(layer, _keras.layers.InputLayer)
            is_leaf = not is_input and not list(layer._flatten_layers(include_self=False))
            if is_leaf and run._selects_name(name):
                hook = Hook(self, TrainscopeCallback._record_output, name, step)
                self._hooks.append(layer.register_forward_hook(hook))

    @guarded
    def _record_output(self, name: str, step: int, layer: Any, args: Any, output: Any) -> None:
        if self._run is not None:
            calls = self._calls[name] = self._calls.get(name, 0) + 1
            name = name if calls == 1 else f"{name}#{calls}"
            outputs = _keras.tree.flatten(output)
            names = [name if index == 0 else f"{name}:{index}" for index in range(len(outputs))]
            self._run._record_tensors([(name, "activation", part) for name, part in zip(names, outputs)], step)

    def _remove_hooks(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()

    def _loss_scale(self) -> float:
        """Factor of the gradients, if the optimizer scales the loss."""
        optimizer = self._model.optimizer
        scale = getattr(optimizer, "dynamic_scale", None)
        return float(optimizer.loss_scale_factor or 1.0 if scale is None else scale)


class _Graph:
    """Layers of a functional or sequential model and what each gets; empty for other models. Models in it are
    resolved."""

    def __init__(self, model: Any) -> None:
        self.nodes: list[dict[str, Any]] = []
        # Names of the nodes that symbolic tensors come from, by their identity. The model keeps them alive.
        self._origins: dict[int, str] = {}
        self._calls: dict[str, int] = {}
        self._add_model(model)

    def _add_model(self, model: Any) -> None:
        functional = getattr(model, "_functional", None) or model
        by_depth: dict[int, list[Any]] = getattr(functional, "_nodes_by_depth", {})
        for depth in sorted(by_depth, reverse=True):
            for node in by_depth[depth]:
                self._add_node(node)

    def _add_node(self, node: Any) -> None:
        layer = node.operation
        inner = getattr(layer, "_functional", None) or layer
        if hasattr(inner, "_nodes_by_depth"):
            for outside, inside in zip(node.input_tensors, inner.inputs, strict=False):
                if id(outside) in self._origins:
                    self._origins[id(inside)] = self._origins[id(outside)]
            self._add_model(inner)
            for outside, inside in zip(node.outputs, inner.outputs, strict=False):
                self._origins[id(outside)] = self._origins[id(inside)]
            return
        outputs = node.outputs
        if node.is_input and all(id(tensor) in self._origins for tensor in outputs):
            return
        name = _name_of(layer)
        calls = self._calls[name] = self._calls.get(name, 0) + 1
        name = name if calls == 1 else f"{name}#{calls}"
        inputs = [self._origins[id(tensor)] for tensor in node.input_tensors if id(tensor) in self._origins]
        for variable in getattr(layer, "variables", []):
            if calls == 1:
                self._add({"name": variable.path, "kind": "parameter", "op": "Parameter", "inputs": []}, variable)
            inputs.append(variable.path)
        kind = "input" if node.is_input else "operation"
        self._add({"name": name, "kind": kind, "op": type(layer).__name__, "inputs": inputs}, outputs[0])
        activation = getattr(getattr(layer, "activation", None), "__name__", "linear")
        if activation != "linear" and type(layer).__name__ != "Activation":
            # `Dense(4, activation="relu")` is a layer and its activation.
            self._add({"name": f"{name}/{activation}", "kind": kind, "op": activation, "inputs": [name]}, outputs[0])
            name = f"{name}/{activation}"
        self._origins.update((id(tensor), name) for tensor in outputs)

    def _add(self, node: dict[str, Any], tensor: Any) -> None:
        dtype, shape = str(tensor.dtype), tuple(tensor.shape)
        if None in shape:
            # The size of the batch is not known: no shape, as lengths are numbers.
            node["attributes"] = {"shape": str(shape), "dtype": dtype}
        else:
            node |= {"dtype": dtype, "shape": list(shape)}
        self.nodes.append(node)


def _name_of(layer: Any) -> str:
    """Path of a layer, as in the names of its variables; its name where it has none (layers without variables)."""
    return str(getattr(layer, "path", None) or layer.name)
