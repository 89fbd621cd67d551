"""Hooks of the forward and the backward pass of a watched model, which exist on sampled steps only."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from trainscope._lost import guarded
from trainscope._torch_activations import Activations
from trainscope._torch_graph import is_compiled, named_parameters, tensors_in
from trainscope._torch_hooks import Hook, ModuleHooks
from trainscope._torch_not_finite import NotFinite
from trainscope._torch_program import Program
from trainscope._torch_readings import Item
from trainscope._torch_tracing import Tracing
from trainscope._torch_watch_state import WatchState

MAX_HOOKED_DEPTH = 32
"""Deepest nesting of modules whose containers are hooked: each hook costs one call of Python's limit of 1,000."""


class ForwardHooks:
    """Hooks of modules, of outputs and of gradients as they are computed.

    watch: its `_record` gets the activations. writes_graph: False if the graph of the first pass is not recorded.
    """

    def __init__(
        self, watch: Any, state: WatchState, program: Program, not_finite: NotFinite, *, writes_graph: bool
    ) -> None:
        self._watch = weakref.ref(watch)
        self._run = watch._run
        self._state = state
        self._program = program
        self._not_finite = not_finite
        self.activations = Activations(state.watched, state.passes)
        self._tracing = Tracing(self._run, state.watched, writes=writes_graph)
        # False if an adapter records the loss, with the step of its framework.
        self.records_loss = True
        self._module_hooks = ModuleHooks()
        self._gradient_hooks: list[Any] = []

    @property
    def are_set(self) -> bool:
        """True if there are hooks of modules."""
        return bool(self._module_hooks)

    def set(self) -> None:
        """Sets the hooks for the passes of a sampled step."""
        self.activations.begin_pass()
        self.remove()
        watched = self._state.watched
        model = watched.model
        if model is None or isinstance(model, torch.jit.ScriptModule):
            return
        hooks = self._module_hooks
        hooks.before(model, Hook(self, ForwardHooks._before_model), with_kwargs=True)
        modules = watched.modules(model)
        compiled = {id(part) for _, module in modules if is_compiled(module) for part in module.modules()}
        for name, module in modules:
            is_leaf = watched.is_leaf(module)
            if id(module) in compiled or isinstance(module, torch.jit.ScriptModule):
                continue
            if not self._tracing.is_done and (is_leaf or name.count(".") <= MAX_HOOKED_DEPTH):
                hooks.before(module, Hook(self, ForwardHooks._before_module), with_kwargs=True)
                hooks.after(module, Hook(self, ForwardHooks._after_module, name))
            elif watched.kinds.activations and is_leaf:
                hooks.after(module, Hook(self, ForwardHooks._after_module, name))
        hooks.after(model, Hook(self, ForwardHooks._after_model))
        if watched.kinds.gradients == "raw":
            self._set_gradient_hooks(model)

    def _set_gradient_hooks(self, model: nn.Module) -> None:
        watched = self._state.watched
        for name, parameter in named_parameters(model)[0]:
            name = f"{watched.prefix}{name}.grad"
            if parameter.requires_grad and watched.selection.has_name(name):
                register: Any = parameter.register_post_accumulate_grad_hook
                self._gradient_hooks.append(register(Hook(self, ForwardHooks._after_gradient, name)))

    def remove(self) -> None:
        """Removes the hooks, and drops the trace of a pass that has not ended."""
        self._module_hooks.remove()
        for handle in self._gradient_hooks:
            handle.remove()
        self._gradient_hooks.clear()
        self._tracing.drop()

    def end_look(self) -> None:
        """Ends a sampled step: a graph that was not traced in it is not traced any more."""
        self._tracing.is_done = True

    # The forward pass.

    @guarded
    def _before_model(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        state = self._state
        passes, looks = state.passes, state.looks
        if not passes.begin(module):
            return
        looks.has_forward = True
        if passes.is_open:
            self._not_finite.before_model(state.watched.modules(module), args, kwargs)
        self.activations.begin_pass()
        state.spans.drop("backward")
        state.spans.begin("forward")
        if state.updates.resume():
            looks.step = looks.look_step = state.updates.now()
        watch = self._watch()
        if passes.is_open and watch is not None:
            self._program.before_model(watch, module, args, kwargs)
            self._tracing.begin(module, args, kwargs)

    @guarded
    def _after_model(self, module: nn.Module, _args: tuple[Any, ...], output: Any) -> None:
        state = self._state
        if "forward" not in state.spans or torch._C._current_graph_task_id() != -1:
            return
        outputs = list(tensors_in(output))
        prefix = state.watched.prefix
        if self._program.reads_modules:
            self._program.after_module(prefix or type(module).__name__, module, (), outputs)
        state.spans.end("forward", state.looks.step)
        state.passes.end()
        self._tracing.finish(output)
        for tensor in tensors_in(output):
            if tensor.grad_fn is not None:
                tensor.grad_fn.register_prehook(Hook(self, ForwardHooks._before_backward))
        loss = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", output)
        if self.records_loss and isinstance(loss, torch.Tensor) and loss.ndim == 0 and loss.is_floating_point():
            self._run.scalar(state.passes.named(f"{prefix}loss"), loss.detach(), state.looks.step)

    @guarded
    def _before_module(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._tracing.is_open and self._state.passes.sees(module):
            self._tracing.enter(module, args, kwargs)

    @guarded
    def _after_module(self, name: str, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        if not self._state.passes.sees(module):
            if module.training and not torch.is_grad_enabled():
                self.activations.called_without.add(name)
            return
        # Else each attribute of a tensor that is read would pass through the mode that notes lines.
        with torch._C.DisableTorchFunction():
            self._see_output(name, module, args, output)

    def _see_output(self, name: str, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        """Reads the outputs of a module."""
        state = self._state
        outputs = [output] if isinstance(output, torch.Tensor) else list(tensors_in(output))
        if self._program.reads_modules:
            self._program.after_module(name, module, args, outputs)
        if self._tracing.is_open:
            self._tracing.leave(name, module, output)
        kinds = state.watched.kinds
        items: list[Item] = []
        has_nan = False
        if kinds.activations and state.watched.is_leaf(module):
            state.looks.has_forward = True
            step = state.looks.step
            items = self.activations.items(name, outputs)
            if kinds.activation_gradients:
                for full, _, tensor in items:
                    if tensor.requires_grad:
                        register: Any = tensor.register_hook
                        register(Hook(self, ForwardHooks._after_activation_gradient, f"{full}.grad", step))
            watch = self._watch()
            has_nan = watch is not None and watch._record_and_find_nan(items, step)
        if (has_nan or len(items) < len(outputs)) and state.passes.is_open and not self._run._phase:
            self._not_finite.after_module(outputs)

    # The backward pass.

    @guarded
    def _after_activation_gradient(self, name: str, step: int, gradient: torch.Tensor) -> None:
        self._record([(name, "gradient", gradient)], step)

    @guarded
    def _after_gradient(self, name: str, parameter: torch.Tensor) -> None:
        if parameter.grad is not None:
            self._record([(name, "gradient", parameter.grad)], self._state.looks.step)

    @guarded
    def _before_backward(self, _gradients: Any) -> None:
        spans = self._state.spans
        if "backward" not in spans:
            spans.begin("backward")
            torch.autograd.Variable._execution_engine.queue_callback(Hook(self, ForwardHooks._after_backward))

    @guarded
    def _after_backward(self) -> None:
        self._state.spans.end("backward", self._state.looks.step)

    def _record(self, items: list[Item], step: int) -> None:
        watch = self._watch()
        if watch is not None:
            watch._record(items, step)
