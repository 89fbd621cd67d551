"""A capsule: all inputs of one step, in a file from which the step can be repeated.

The file has the format of safetensors: tensors, and text as JSON. Nothing in it is executed when it is read.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import platform
import random
import struct
import sys
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import torch
from torch import nn

from trainscope._lost import guarded
from trainscope._torch_functions import nodes_of
from trainscope._torch_graph import is_freed, named_modules, named_parameters
from trainscope._torch_hooks import Hook, ModuleHooks

MAX_BYTES = 1 << 30
"""Bytes of the tensors of a capsule; a larger one is not written."""

MAX_BUFFERS = 64 << 20
"""Bytes of buffers that are copied before each forward pass, which may change them."""

MAX_HEADER = 64 << 20
"""Bytes of the text in a capsule that is read."""

MAX_DEPTH = 32
"""Deepest nesting of inputs."""

SUFFIX = ".capsule"

_DTYPES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
    torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL",
    torch.complex64: "C64", torch.complex128: "C128", torch.float8_e4m3fn: "F8_E4M3", torch.float8_e5m2: "F8_E5M2",
}  # fmt: skip

_OF_NAMES = {name: dtype for dtype, name in _DTYPES.items()}


class _Moment(NamedTuple):
    """A forward pass as it begins: its model and inputs, the random states and modes."""

    model: weakref.ref[nn.Module]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    versions: list[int]
    buffers: dict[str, torch.Tensor]
    states: dict[str, Any]
    settings: dict[str, Any]
    training: list[str]


class Capsules:
    """Keeps the state at the beginning of the last forward pass of a step, until its update, and writes it to a file once.

    Costs the copies of the random states and of the buffers at each step; its hooks are removed when it is written.
    """

    def __init__(self, run: Any) -> None:
        self._reference = weakref.ref(run)
        self._hooks: list[ModuleHooks] = []
        self._moment: _Moment | None = None
        self._targets: dict[str, torch.Tensor] = {}
        self._loss: float | None = None
        self.is_written = False

    @property
    def _run(self) -> Any:
        return self._reference()

    @guarded
    def follow(self, model: nn.Module) -> None:
        """Begins to follow the forward passes of a model."""
        if self.is_written or isinstance(model, torch.jit.ScriptModule):
            return
        hooks = ModuleHooks()
        hooks.before(model, Hook(self, Capsules._before_model), with_kwargs=True)
        self._hooks.append(hooks)

    def drop(self) -> None:
        """Forgets the step that has ended."""
        self._moment, self._loss = None, None
        self._targets = {}

    def close(self) -> None:
        """Removes the hooks."""
        for hooks in self._hooks:
            hooks.remove()
        self._hooks.clear()
        self.drop()

    @guarded
    def _before_model(self, module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        is_part = torch._C._current_graph_task_id() != -1 or torch._C._functorch.peek_interpreter_stack() is not None
        if is_part or not module.training or not torch.is_grad_enabled():
            return
        buffers = _buffers(module)
        if sum(_size(one) for one in buffers.values()) <= MAX_BUFFERS:
            buffers = {name: one.detach().clone() for name, one in buffers.items()}
        device = next((one.device.type for one in module.parameters()), "cpu")
        self._moment = _Moment(
            weakref.ref(module),
            args,
            kwargs,
            [one._version for one in _tensors((args, kwargs)) if not one.is_inference()],
            buffers,
            random_states(module),
            _settings(device),
            [name for name, one in named_modules(module) if one.training],
        )

    @guarded
    def before_backward(self, loss: torch.Tensor, value: float | None) -> None:
        """Notes the loss and its targets."""
        self._loss = value
        self._targets = {}
        if self._moment is None:
            return
        for node in nodes_of([loss.grad_fn], 200):
            raw = getattr(node, "_raw_saved_target", None)
            if raw is not None and getattr(raw, "unpack_hook", raw) is None:
                with contextlib.suppress(RuntimeError):
                    self._targets[f"{len(self._targets)}"] = node._saved_target.detach()

    @guarded
    def write(self, step: int, reason: str) -> None:
        """Writes the capsule of this step, before its update, if it is the first."""
        moment, run = self._moment, self._run
        model = None if moment is None else moment.model()
        if self.is_written or moment is None or model is None or run._is_forked():
            return
        self.is_written = True
        tensors: dict[str, torch.Tensor] = {}
        for name, parameter in named_parameters(model)[0]:
            if not nn.parameter.is_lazy(parameter) and not is_freed(parameter):
                tensors[f"parameter/{name}"] = _local(parameter)
        tensors |= {f"buffer/{name}": _local(one) for name, one in moment.buffers.items()}
        tensors |= {f"random/{name}": one for name, one in moment.states.items() if isinstance(one, torch.Tensor)}
        inputs = _encoded(tuple(moment.args), tensors, "input")
        named = _encoded(dict(moment.kwargs), tensors, "keyword")
        targets = _encoded(self._targets, tensors, "target")
        versions = [one._version for one in _tensors((moment.args, moment.kwargs)) if not one.is_inference()]
        size, loss = sum(_size(one) for one in tensors.values()), self._loss
        self.close()
        if size > MAX_BYTES:
            run.note(f"No capsule of step {step}: its tensors are {size / 2**30:.1f} GiB, and at most 1 GiB is written.")
            return
        about = {
            "version": 1,
            "step": step,
            "reason": reason,
            "loss": None if loss is None else repr(loss),
            "model": type(model).__name__,
            "inputs": inputs,
            "named_inputs": named,
            "targets": targets,
            "are_inputs_changed": versions != moment.versions,
            "training": moment.training,
            "random": {name: one for name, one in moment.states.items() if not isinstance(one, torch.Tensor)},
            "settings": moment.settings,
        }
        path = Path(run.folder, f"step_{step}{SUFFIX}")
        save(path, tensors, json.dumps(about))
        run.note(f"Step {step} can be repeated from {path}: {reason}.")


def random_states(model: nn.Module | None = None) -> dict[str, Any]:
    """States of the generators of Python, NumPy (if it is used), PyTorch, and the devices of a model."""
    kind, numbers, gauss = random.getstate()
    states: dict[str, Any] = {"python": [kind, list(numbers), gauss], "torch": torch.get_rng_state()}
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        name, keys, at, has_gauss, gauss = numpy.get_state()
        states["numpy"] = [name, keys.tolist(), int(at), int(has_gauss), float(gauss)]
    devices = set() if model is None else {one.device for one in model.parameters()}
    for device in devices:
        module = None if device.type in ("cpu", "meta", "xla") else torch.get_device_module(device)
        if module is not None and hasattr(module, "get_rng_state"):
            states[str(device)] = module.get_rng_state(device)
    return states


def set_random_states(states: Mapping[str, Any]) -> None:
    """Sets the result of `random_states`; states of devices that are not here are left out."""
    for name, state in states.items():
        if name == "python":
            random.setstate((state[0], tuple(state[1]), state[2]))
        elif name == "numpy":
            import numpy

            numpy.random.set_state((state[0], numpy.array(state[1], dtype=numpy.uint32), *state[2:]))
        elif name == "torch":
            torch.set_rng_state(state)
        elif _is_here(name):
            torch.get_device_module(name).set_rng_state(state, name)


def _settings(device: str) -> dict[str, Any]:
    """Versions and settings that a result depends on."""
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "platform": platform.platform(),
        "device": device,
        "threads": torch.get_num_threads(),
        "default_dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "cudnn_benchmark": torch.backends.cudnn.benchmark,
        "matmul_precision": torch.get_float32_matmul_precision(),
        "autocast": torch.is_autocast_enabled(device),
        "autocast_dtype": str(torch.get_autocast_dtype(device)).removeprefix("torch."),
    }


def _buffers(model: nn.Module) -> dict[str, torch.Tensor]:
    buffers: dict[str, torch.Tensor] = {}
    for name, module in named_modules(model):
        for key, buffer in module._buffers.items():
            if buffer is not None and buffer.layout == torch.strided:
                buffers[f"{name}.{key}" if name else key] = buffer
    return buffers


def _local(tensor: torch.Tensor) -> torch.Tensor:
    """The part of a tensor that is here."""
    tensor = tensor.detach()
    to_local = getattr(tensor, "to_local", None)
    return tensor if to_local is None else to_local()


def _size(tensor: torch.Tensor) -> int:
    return int(tensor.numel() * tensor.element_size())


def _tensors(value: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list, Mapping)) and depth < MAX_DEPTH:
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _tensors(part, depth + 1)


def _encoded(value: Any, tensors: dict[str, torch.Tensor], name: str, depth: int = 0) -> Any:
    """A value as JSON, whose tensors are put beside it. A value that is no tensor, number, text or container is its `repr`."""
    if isinstance(value, torch.Tensor) and value.layout == torch.strided and value.dtype in _DTYPES and not value.is_meta:
        requires_grad = value.requires_grad
        tensors[name] = value = _local(value)
        stride = None if value.is_contiguous() or 0 in value.stride() else list(value.stride())
        return {"tensor": name, "device": str(value.device), "stride": stride, "requires_grad": requires_grad}
    if value is None or isinstance(value, (bool, str)):
        return {"value": value}
    if isinstance(value, int):
        return {"int": str(int(value))}
    if isinstance(value, float):
        return {"float": float(value).hex()}
    if depth < MAX_DEPTH:
        if isinstance(value, (tuple, list)):
            parts = [_encoded(one, tensors, f"{name}/{at}", depth + 1) for at, one in enumerate(value)]
            return {"tuple" if isinstance(value, tuple) else "list": parts}
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return {"dict": {key: _encoded(one, tensors, f"{name}/{key}", depth + 1) for key, one in value.items()}}
    return {"object": f"{type(value).__module__}.{type(value).__qualname__}"}


def save(path: Path, tensors: Mapping[str, torch.Tensor], about: str) -> None:
    """Writes tensors and a text as a file of safetensors; it appears whole or not at all."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt", "trainscope": about}}
    at = 0
    for name, tensor in tensors.items():
        size = _size(tensor)
        header[name] = {"dtype": _DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as file:
            file.write(struct.pack("<Q", len(text)))
            file.write(text)
            for tensor in tensors.values():
                _write(file, tensor)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _write(file: BinaryIO, tensor: torch.Tensor) -> None:
    flat = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    if flat.numel():
        file.write((ctypes.c_char * _size(flat)).from_address(flat.data_ptr()))


class Missing:
    """An input that is neither tensor, number, text nor container: the program has to make it again."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return f"<an object of {self.kind}, which is not in the capsule>"


class Capsule:
    """One step of a training, to be repeated.

    `step`, `reason`, `loss`: of the step. `inputs`, `named_inputs`: arguments of the model, on their devices if these are
    here, else on the processor. `targets`: those of a loss function of PyTorch. `settings`: versions and settings.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Opens a capsule, or the only one in the folder of a run. Raises OSError or ValueError without one."""
        self.path = _found(Path(path))
        try:
            self._entries, self._begin = _header(self.path)
            about = json.loads(self._entries.pop("__metadata__")["trainscope"])
            self.step: int = about["step"]
            self.reason: str = about["reason"]
            self.loss: float | None = None if about["loss"] is None else float(about["loss"])
            self.settings: dict[str, Any] = about["settings"]
            self.model: str = about["model"]
            self.are_inputs_changed: bool = about["are_inputs_changed"]
            self._about = about
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{self.path} is no capsule of trainscope: {error!r}") from error

    def __repr__(self) -> str:
        return f"<capsule of step {self.step} of {self.model}: {self.reason}>"

    @property
    def inputs(self) -> tuple[Any, ...]:
        """Positional arguments of the model."""
        return tuple(self._decoded(self._about["inputs"]))

    @property
    def named_inputs(self) -> dict[str, Any]:
        """Keyword arguments of the model."""
        return dict(self._decoded(self._about["named_inputs"]))

    @property
    def targets(self) -> tuple[torch.Tensor, ...]:
        """Targets that loss functions of PyTorch compared the outputs with; empty if the program computed its loss itself."""
        return tuple(self._decoded(self._about["targets"]).values())

    def load(self, model: nn.Module) -> nn.Module:
        """Gives a model the parameters, buffers and modes of the step, in place, and returns it.

        Raises ValueError if names or shapes are others; then nothing was changed.
        """
        own = {f"parameter/{name}": one for name, one in named_parameters(model)[0]}
        own |= {f"buffer/{name}": one for name, one in _buffers(model).items()}
        kept = {name: entry for name, entry in self._entries.items() if name.startswith(("parameter/", "buffer/"))}
        wrong = [f"{name} is not in the model" for name in kept if name not in own]
        wrong += [f"{name} is not in the capsule" for name in own if name not in kept]
        for name, entry in kept.items():
            shape = None if name not in own else list(own[name].shape)
            if shape is not None and shape != entry["shape"]:
                wrong.append(f"{name} is {shape} in the model and {entry['shape']} in the capsule")
        if wrong:
            more = f", and {len(wrong) - 5} more" if len(wrong) > 5 else ""
            raise ValueError(f"this is another model: {'; '.join(wrong[:5])}{more}")
        with torch.no_grad():
            for name in kept:
                own[name].copy_(self._tensor(name))
        training = set(self._about["training"])
        for name, module in named_modules(model):
            module.training = name in training
        return model

    def random_state(self) -> RandomState:
        """Sets the random states to those of the step, at the beginning of its forward pass.

        As a context manager, it puts the states from before back at its end.
        """
        prefix = "random/"
        states = dict(self._about["random"])
        states |= {name.removeprefix(prefix): self._tensor(name) for name in self._entries if name.startswith(prefix)}
        return RandomState(states)

    def autocast(self) -> contextlib.AbstractContextManager[Any]:
        """Context manager for the forward pass: autocast as it was in the step."""
        settings = self.settings
        dtype = getattr(torch, settings["autocast_dtype"])
        context: contextlib.AbstractContextManager[Any] = torch.autocast(
            settings["device"], dtype=dtype, enabled=bool(settings["autocast"])
        )
        return context

    def _tensor(self, name: str) -> torch.Tensor:
        entry = self._entries[name]
        dtype, shape = _OF_NAMES[entry["dtype"]], [int(one) for one in entry["shape"]]
        begin, end = entry["data_offsets"]
        if end - begin != math.prod(shape) * dtype.itemsize or any(one < 0 for one in shape):
            raise ValueError(f"{self.path}: the size of {name} is not that of its shape")
        if begin == end:
            return torch.empty(shape, dtype=dtype)
        with self.path.open("rb") as file:
            file.seek(self._begin + begin)
            content = bytearray(file.read(end - begin))
        return torch.frombuffer(content, dtype=dtype).reshape(shape)

    def _decoded(self, value: Any) -> Any:
        kind, content = next(iter(value.items()))
        if "tensor" in value:
            tensor = self._tensor(value["tensor"])
            if value["stride"] is not None:
                tensor = torch.empty_strided(tensor.shape, value["stride"], dtype=tensor.dtype).copy_(tensor)
            tensor = tensor.to(value["device"]) if _is_here(value["device"]) else tensor
            return tensor.requires_grad_(bool(value["requires_grad"]))
        if kind in ("tuple", "list"):
            parts = [self._decoded(one) for one in content]
            return tuple(parts) if kind == "tuple" else parts
        if kind == "dict":
            return {key: self._decoded(one) for key, one in content.items()}
        if kind == "int":
            return int(content)
        if kind == "float":
            return float.fromhex(content)
        return Missing(content) if kind == "object" else content


class RandomState(contextlib.AbstractContextManager["RandomState"]):
    """Random states of a step, which are set from now on, or until the end of the block."""

    def __init__(self, states: Mapping[str, Any]) -> None:
        self._before = random_states()
        devices = [name for name in states if name not in ("python", "numpy", "torch") and _is_here(name)]
        self._before |= {name: torch.get_device_module(name).get_rng_state(name) for name in devices}
        set_random_states(states)

    def __exit__(self, *_error: object) -> None:
        set_random_states(self._before)


def _is_here(device: str) -> bool:
    """True if there is such a device."""
    kind, _, number = device.partition(":")
    if kind == "cpu":
        return True
    try:
        return bool(int(number or 0) < torch.get_device_module(kind).device_count())
    except (RuntimeError, AttributeError, ValueError):
        return False


def _found(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = sorted([*path.glob(f"*{SUFFIX}"), *path.glob(f"rank_*/*{SUFFIX}")])
    if len(found) != 1:
        names = ", ".join(str(one) for one in found)
        raise FileNotFoundError(f"there is no capsule in {path}" if not found else f"there are several capsules: {names}")
    return found[0]


def _header(path: Path) -> tuple[dict[str, Any], int]:
    """Entries of the tensors by name, and where their bytes begin."""
    size = path.stat().st_size
    with path.open("rb") as file:
        first = file.read(8)
        length = struct.unpack("<Q", first)[0] if len(first) == 8 else 0
        if not 0 < length <= min(size - 8, MAX_HEADER):
            raise ValueError(f"{path} is no capsule of trainscope")
        entries = json.loads(file.read(length))
    for name, entry in entries.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            if not (0 <= begin <= end <= size - 8 - length) or entry["dtype"] not in _OF_NAMES:
                raise ValueError(f"{path}: the file ends before {name}")
    return entries, 8 + length
