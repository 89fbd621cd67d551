"""Modules of a PyTorch model: their names, which of them are looked at, and the graph of one forward pass."""

from __future__ import annotations

import dataclasses
import re
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn

Node = dict[str, Any]

# Children of the wrappers of torch.compile, FSDP and checkpointing.
_OF_WRAPPERS = frozenset({"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"})


def named_modules(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """Modules with their names, each once, parents first; "" is the model. A wrapper has the name of the module in it.

    `module` is left out of a name where it is the only child of a module without parameters: of DDP, for example.
    """
    modules: list[tuple[str, nn.Module]] = []
    seen: set[int] = set()
    waiting = [("", model)]
    while waiting:
        item = waiting.pop()
        name, module = item
        if id(module) in seen:
            continue
        seen.add(id(module))
        modules.append(item)
        children = module._modules
        if not children:
            continue
        is_wrapper = len(children) == 1 and not module._parameters
        prefix = f"{name}." if name else ""
        for key, child in reversed(children.items()):
            if child is not None:
                is_hidden = key in _OF_WRAPPERS or (is_wrapper and key == "module")
                waiting.append((name if is_hidden else prefix + key, child))
    return modules


def named_parameters(model: nn.Module) -> tuple[list[tuple[str, torch.Tensor]], dict[str, list[str]]]:
    """Parameters, each once under its first name, and the other names of those that have several (tied weights)."""
    parameters: list[tuple[str, torch.Tensor]] = []
    first: dict[int, str] = {}
    others: dict[str, list[str]] = {}
    for name, module in named_modules(model):
        prefix = f"{name}." if name else ""
        for key, parameter in module._parameters.items():
            if parameter is None:
                continue
            full = prefix + key
            known = first.setdefault(id(parameter), full)
            if known is full:
                parameters.append((full, parameter))
            else:
                others.setdefault(known, []).append(full)
    return parameters, others


def is_compiled(module: nn.Module) -> bool:
    """True if calls of the module run compiled code, so that hooks of the modules in it never fire."""
    return "_orig_mod" in module._modules or getattr(module, "_compiled_call_impl", None) is not None


def tensors_in(value: Any, within: tuple[int, ...] = ()) -> Iterator[torch.Tensor]:
    """Tensors in tuples, lists, mappings and dataclasses, in their order, nested ones too.

    `within`: identities of the objects around it; one that holds itself is not entered again.
    """
    if isinstance(value, torch.Tensor):
        yield value
        return
    if isinstance(value, Mapping):
        parts: Iterable[Any] = value.values()
    elif isinstance(value, (tuple, list)):
        parts = value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = (getattr(value, field.name, None) for field in dataclasses.fields(value))
    else:
        return
    if id(value) not in within:
        for part in parts:
            yield from tensors_in(part, (*within, id(value)))


def dtype_name(dtype: torch.dtype) -> str:
    """"float32" of `torch.float32`."""
    return str(dtype).removeprefix("torch.")


class Selection:
    """Steps and names that a watch looks at: its own choice, and that of the run."""

    def __init__(
        self, run: Any, names: Sequence[str], exclude: Sequence[str], every: int | None, first: int | None
    ) -> None:
        self._run = run
        self._names, self._excluded = _expressions(names), _expressions(exclude)
        self._every, self._first = every, first
        self._chosen: dict[str, bool] = {}

    def has_step(self, step: int) -> bool:
        """True for the first `first` steps and multiples of `every`; if neither is given, the run decides."""
        if self._every is None and self._first is None:
            return bool(self._run._selects(step))
        every, first = self._every or 0, self._first or 0
        return step >= 0 and (step < first or (every > 0 and step % every == 0))

    def has_name(self, name: str) -> bool:
        """True if the patterns of the watch and of the run choose the name."""
        chosen = self._chosen.get(name)
        if chosen is None:
            chosen = not self._names or any(one.fullmatch(name) for one in self._names.values())
            chosen = chosen and not any(one.fullmatch(name) for one in self._excluded.values())
            chosen = chosen and bool(self._run._selects_name(name))
            self._chosen[name] = chosen
        return chosen

    def unmatched(self, names: list[str]) -> list[str]:
        """Patterns that choose none of these names."""
        return [text for text, one in self._names.items() if not any(one.fullmatch(name) for name in names)]


def _expressions(names: Sequence[str]) -> dict[str, re.Pattern[str]]:
    """Regular expressions by pattern, in which `*` is any text and `?` one character."""
    texts = [names] if isinstance(names, str) else [str(name) for name in names]
    special = {"*": ".*", "?": "."}
    return {
        text: re.compile("".join(special.get(letter) or re.escape(letter) for letter in text), re.DOTALL)
        for text in texts
    }


def is_freed(parameter: torch.Tensor) -> bool:
    """True if a tensor of elements has no memory, as those of FSDP between uses."""
    return parameter.numel() > 0 and parameter.layout == torch.strided and parameter.untyped_storage().nbytes() == 0


class Trace:
    """One forward pass, told by the hooks of all modules.

    A module becomes a node if no other module is called in it. Functions that are called between modules become nodes
    too, where a gradient passes through them: they are found in the graph of autograd, which is kept alive until the
    trace is finished.
    """

    def __init__(self, model: nn.Module, prefix: str = "") -> None:
        parameters, self._other_names = named_parameters(model)
        self._prefix = prefix
        self._names = {id(parameter): name for name, parameter in parameters}
        self._thread = threading.get_ident()
        self._nodes: dict[str, Node] = {}
        self._outputs: list[tuple[str, str]] = []
        self._scopes = {id(module): name.replace(".", "/") for name, module in named_modules(model)}
        # Nodes of functions of autograd; `None` for one that nothing of the model leads to.
        self._by_function: dict[Any, str | None] = {}
        self._by_tensor: dict[int, tuple[weakref.ref[torch.Tensor], int, str]] = {}
        # Open calls: module, names of the nodes of its inputs, and if another module was called in it.
        self._open: list[tuple[nn.Module, list[str], bool]] = []
        self._calls: dict[str, int] = {}

    def begin(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Adds the inputs of the model."""
        named = [("input", tensor) for tensor in tensors_in(args)]
        named += [(key, tensor) for key, value in kwargs.items() for tensor in tensors_in(value)]
        for key, tensor in named:
            name = self._free(key)
            self._add({"name": name, "kind": "input", "op": "Input", "inputs": []}, tensor)
            self._remember(tensor, name)

    def enter(self, module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Notes that a module is called."""
        if threading.get_ident() != self._thread:
            return
        if self._open:
            outer, inputs, _ = self._open[-1]
            self._open[-1] = (outer, inputs, True)
        scope = self._scopes.get(id(self._open[-1][0]), "") if self._open else ""
        inputs = [name for tensor in tensors_in((args, kwargs)) for name in self._origins(tensor, scope)]
        self._open.append((module, inputs, False))

    def leave(self, name: str, module: nn.Module, output: Any) -> bool:
        """Notes that a call has ended, and returns if no other module was called in it."""
        if threading.get_ident() != self._thread:
            return False
        if not any(outer is module for outer, _, _ in self._open):
            return False
        # Calls above it were left by an exception that the model has caught.
        while True:
            inner, inputs, has_inner = self._open.pop()
            if inner is module:
                break
        if has_inner:
            scope = self._scopes.get(id(module), "")
            for tensor in tensors_in(output):
                self._origins(tensor, scope)
        else:
            self._add_module(name, module, inputs, output)
        return not has_inner

    def finish(self, output: Any) -> tuple[list[Node], list[tuple[str, str]]]:
        """Nodes and outputs of a pass that returned this, as `Run._graph` takes them. Frees the graph of autograd."""
        for tensor in tensors_in(output):
            for origin in self._origins(tensor, ""):
                number = len(self._outputs)
                self._outputs.append(("output" if number == 0 else f"output:{number}", origin))
        self._by_function.clear()
        self._by_tensor.clear()
        self._open.clear()
        return list(self._nodes.values()), self._outputs

    def _add_module(self, name: str, module: nn.Module, inputs: list[str], output: Any) -> None:
        for parameter in module._parameters.values():
            own = None if parameter is None else self._of_parameter(parameter)
            if own is not None:
                inputs.append(own)
        path = self._free(name.replace(".", "/"))
        node: Node = {"name": path, "kind": "operation", "op": type(module).__name__}
        node["inputs"] = list(dict.fromkeys(inputs))
        node["attributes"] = {"class": f"{type(module).__module__}.{type(module).__qualname__}"}
        settings = module.extra_repr()
        if settings:
            node["attributes"]["settings"] = settings
        code = getattr(getattr(type(module).forward, "__wrapped__", type(module).forward), "__code__", None)
        # The classes of PyTorch itself have no place that a user could change.
        if code is not None and not type(module).__module__.startswith("torch."):
            node["source"] = f"{code.co_filename}:{code.co_firstlineno}"
        tensors = list(tensors_in(output))
        self._add(node, tensors[0] if tensors else None)
        for tensor in tensors:
            self._remember(tensor, path)

    def _of_parameter(self, parameter: torch.Tensor) -> str | None:
        """Name of the node of a parameter of the model, which is added if it is not there."""
        name = self._names.get(id(parameter))
        if name is None:
            return None
        path = (self._prefix + name).replace(".", "/")
        if path not in self._nodes:
            others = self._other_names.get(name)
            node: Node = {"name": path, "kind": "parameter", "op": "Parameter", "inputs": []}
            node["attributes"] = {"tied": ", ".join(others)} if others else {}
            self._add(node, parameter)
        return path

    def _add(self, node: Node, tensor: torch.Tensor | None) -> None:
        if tensor is not None and not nn.parameter.is_lazy(tensor):
            node["dtype"] = dtype_name(tensor.dtype)
            # A jagged tensor has an axis of no one size.
            if all(isinstance(size, int) for size in tensor.shape):
                node["shape"] = list(tensor.shape)
        self._nodes[node["name"]] = node

    def _free(self, name: str) -> str:
        """The name, with the number of the call behind it from the second on."""
        number = self._calls[name] = self._calls.get(name, 0) + 1
        return name if number == 1 else f"{name}#{number}"

    def _remember(self, tensor: torch.Tensor, name: str) -> None:
        self._by_tensor[id(tensor)] = (weakref.ref(tensor), _version(tensor), name)
        if tensor.grad_fn is not None:
            self._by_function[tensor.grad_fn] = name

    def _origins(self, tensor: torch.Tensor, scope: str) -> list[str]:
        """Names of the nodes that the tensor was computed from; functions not met before belong to the scope."""
        origin = self._of_tensor(tensor)
        if origin is not None:
            return [origin]
        name = self._of_function(tensor.grad_fn, scope)
        return [] if name is None else [name]

    def _of_function(self, function: Any, scope: str) -> str | None:
        """Name of the node of a function of autograd. It and those before it are added where they are not there."""
        waiting = [] if function is None else [function]
        while waiting:
            last = waiting[-1]
            before = [one for one, _ in last.next_functions if one is not None]
            unknown = [one for one in before if one not in self._by_function]
            if last not in self._by_function and unknown:
                waiting.extend(unknown)
                continue
            waiting.pop()
            if last not in self._by_function:
                self._by_function[last] = self._add_function(last, before, scope)
        return self._by_function.get(function)

    def _add_function(self, function: Any, before: list[Any], scope: str) -> str | None:
        variable = getattr(function, "variable", None)
        if isinstance(variable, torch.Tensor):
            return self._of_parameter(variable) or self._of_tensor(variable)
        inputs = [name for one in before if (name := self._by_function[one]) is not None]
        if not inputs:
            return None
        operation = re.sub(r"Backward\d*$", "", type(function).__name__)
        name = self._free(f"{scope}/{operation}" if scope else operation)
        node: Node = {"name": name, "kind": "operation", "op": operation, "inputs": list(dict.fromkeys(inputs))}
        self._nodes[name] = node
        return name

    def _of_tensor(self, tensor: torch.Tensor) -> str | None:
        """Name of the node that this tensor, unchanged, or the one that it is a view of, is an output of."""
        for one in (tensor, None if tensor.requires_grad else tensor._base):
            known = None if one is None else self._by_tensor.get(id(one))
            if one is not None and known is not None and known[0]() is one and known[1] == _version(one):
                return known[2]
        return None


def _version(tensor: torch.Tensor) -> int:
    """Number of changes in place."""
    return 0 if tensor.is_inference() else tensor._version


def graph_of(model: nn.Module, inputs: tuple[Any, ...]) -> list[Node]:
    """Nodes of the graph of one forward pass with these inputs, as `Run._graph` takes them.

    The pass runs in evaluation mode; the state of the random numbers and the modes of the modules are put back. Raises
    what the model raises.
    """
    trace = Trace(model)
    modules = named_modules(model)
    modes = [(module, module.training) for _, module in modules]
    devices = {parameter.device.index for parameter in model.parameters() if parameter.is_cuda}
    handles = []

    def enter(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        trace.enter(module, args, kwargs)

    for name, module in modules:

        def leave(module: nn.Module, args: tuple[Any, ...], output: Any, name: str = name) -> None:
            trace.leave(name or type(model).__name__, module, output)

        handles.append(module.register_forward_pre_hook(enter, with_kwargs=True))
        handles.append(module.register_forward_hook(leave))
    try:
        model.eval()
        with torch.random.fork_rng(devices=devices), torch.enable_grad():
            trace.begin(inputs, {})
            output = model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
        for module, mode in modes:
            module.training = mode
    return trace.finish(output)[0]
