"""State of a model and of the program around it, that probes put back: tensors, attributes, random states and flags."""

from __future__ import annotations

import collections
import contextlib
import dis
import functools
import inspect
import random
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Set
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from trainscope import _source

MAX_OBJECTS = 200_000
"""Most objects that are remembered, about 200 bytes each: those of a model of 20,000 parameters and its optimizer."""

MAX_ITEMS = 10_000
"""Most items of a container that are remembered. Of a longer one only the length is put back."""

SHARE_OF_FREE_MEMORY = 0.25
"""Largest share of the free memory of a device that copies may take."""

UNKNOWN_FREE_MEMORY = 8 << 30
"""Free memory, in bytes, where the system does not say it."""

_PLAIN = (int, float, complex, str, bytes, bool, type(None), range, slice, torch.dtype, torch.device, torch.Size)


class TooLarge(Exception):
    """The copies do not fit into the memory."""


class State:
    """State that a forward pass may change: all that can be reached from some objects.

    Tensors with their gradients and `requires_grad`, attributes of modules and of objects of the program, containers, and
    what functions of the program count in variables. Raises TooLarge if the copies do not fit.
    """

    def __init__(self, roots: Iterable[Any]) -> None:
        self._tensors: list[_Tensor] = []
        self._others: list[_Kept] = []
        self._seen: set[int] = set()
        # Objects that were seen are kept alive, since their identities are used.
        self._held: list[Any] = []
        self.is_complete = True
        found: list[torch.Tensor] = []
        waiting = list(roots)
        while waiting:
            value = waiting.pop()
            if isinstance(value, _PLAIN) or id(value) in self._seen:
                continue
            if len(self._seen) >= MAX_OBJECTS:
                self.is_complete = False
                break
            self._seen.add(id(value))
            self._held.append(value)
            if isinstance(value, torch.Tensor):
                found.append(value)
                waiting += _around(value)
            else:
                waiting += self._enter(value)
        _check(found)
        self._tensors = [_Tensor(tensor) for tensor in found if not _is_without_elements(tensor)]

    def put_back(self, *, but: Set[int] = frozenset()) -> None:
        """Writes what has changed as it was. `but`: identities of tensors that are left as they are."""
        for kept in self._others:
            kept.put_back()
        for own in self._tensors:
            if id(own.tensor) not in but:
                own.put_back()

    def parts(self) -> list[Callable[[], None]]:
        """Functions that each put one thing back."""
        return [kept.put_back for kept in (*self._others, *self._tensors)]

    def is_as_it_was(self) -> bool:
        """True if everything is equal to the last bit."""
        return all(kept.is_same() for kept in self._others) and all(own.is_same() for own in self._tensors)

    def tensors(self) -> list[torch.Tensor]:
        """All tensors of the state."""
        return [own.tensor for own in self._tensors]

    def _enter(self, value: Any) -> list[Any]:
        """Remembers an object that is no tensor, and returns what it refers to."""
        kind = type(value)
        if isinstance(value, nn.Module):
            forward = inspect.getattr_static(kind, "forward", None)
            return [*_of_class(kind, self._others), *self._enter_dict(value.__dict__), forward]
        if isinstance(value, Optimizer):
            return self._enter_dict(value.__dict__)
        if isinstance(value, dict):
            return self._enter_dict(value)
        if isinstance(value, (list, collections.deque, set)):
            if len(value) > MAX_ITEMS:
                if isinstance(value, list):
                    self._others.append(_Length(value))
                return []
            self._others.append(_Items(value))
            return list(value)
        if isinstance(value, (tuple, frozenset)):
            return list(value)[:MAX_ITEMS]
        if isinstance(value, functools.partial):
            return [value.func, value.args, value.keywords]
        if isinstance(value, types.MethodType):
            return [value.__self__, value.__func__]
        if isinstance(value, types.FunctionType):
            return _of_function(value, self._others)
        random_state = _Stream.of(value)
        if random_state is not None:
            self._others.append(random_state)
            return []
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.ndarray):
            self._others.append(_Array(value))
            return []
        if not isinstance(value, (type, types.ModuleType)) and _is_of_program(kind):
            slots = [name for one in kind.__mro__ for name in getattr(one, "__slots__", ())]
            if slots:
                self._others.append(_Slots(value, slots))
            inner = [getattr(value, name, None) for name in slots]
            return [*inner, *self._enter_dict(getattr(value, "__dict__", {})), *_of_class(kind, self._others)]
        return []

    def _enter_dict(self, value: dict[Any, Any]) -> list[Any]:
        if id(value) not in self._seen:
            self._seen.add(id(value))
            self._held.append(value)
        if len(value) > MAX_ITEMS and not all(isinstance(key, (str, torch.Tensor)) for key in value):
            return []
        self._others.append(_Entries(value))
        return [*value.keys(), *value.values()]


def free_memory(device: torch.device) -> int:
    """Bytes that are free on a device, or for this container."""
    if device.type == "cuda":
        with contextlib.suppress(Exception):
            return int(torch.cuda.mem_get_info(device)[0])
    if device.type != "cpu":
        return UNKNOWN_FREE_MEMORY
    found = [int(own) << 10 for own in re.findall(r"^MemAvailable:\s+(\d+) kB", _text("/proc/meminfo"), re.MULTILINE)]
    limit, used = _text("/sys/fs/cgroup/memory.max").strip(), _text("/sys/fs/cgroup/memory.current").strip()
    if limit.isdigit() and used.isdigit():
        found.append(max(0, int(limit) - int(used)))
    return min(found, default=UNKNOWN_FREE_MEMORY)


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def check_memory(sizes: dict[torch.device, int]) -> None:
    """Raises TooLarge if copies of these sizes in bytes are too large for a device."""
    for device, size in sizes.items():
        limit = int(SHARE_OF_FREE_MEMORY * free_memory(device))
        if size > limit:
            raise TooLarge(
                f"copies would take {size / 1e9:.1f} GB on {device}, above a quarter of what is free ({limit / 1e9:.1f} GB)"
            )


def _check(tensors: list[torch.Tensor]) -> None:
    sizes: dict[torch.device, int] = {}
    for tensor in tensors:
        if not _is_without_elements(tensor):
            sizes[tensor.device] = sizes.get(tensor.device, 0) + tensor.numel() * tensor.element_size()
    check_memory(sizes)


def _is_without_elements(tensor: torch.Tensor) -> bool:
    return bool(tensor.is_meta or nn.parameter.is_lazy(tensor))


def _around(tensor: torch.Tensor) -> list[Any]:
    """The gradient of a tensor, and the functions that are called with gradients."""
    around: list[Any] = [tensor.grad] if tensor.is_leaf and not nn.parameter.is_lazy(tensor) else []
    hooks = (getattr(tensor, "_backward_hooks", None), getattr(tensor, "_post_accumulate_grad_hooks", None))
    return around + [each for each in hooks if each]


def _is_of_program(kind: type) -> bool:
    """True for a class that the program defines, in no library."""
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    if file is None:
        return kind.__module__ == "__main__"
    return _source._kind_of(file) == _source._PROGRAM


def _of_class(kind: type, kept: list[_Kept]) -> list[Any]:
    """Attributes of a class of the program and of its bases: some count in them."""
    found: list[Any] = []
    for one in kind.__mro__:
        if one.__module__ != "builtins" and not one.__module__.startswith("torch.") and _is_of_program(one):
            values = {name: own for name, own in vars(one).items() if not name.startswith("__")}
            names = [name for name, own in values.items() if isinstance(own, _PLAIN)]
            kept.append(_Attributes(one, names))
            found += [own for own in values.values() if not isinstance(own, (property, classmethod, staticmethod))]
    return found


def _of_function(function: types.FunctionType, kept: list[_Kept]) -> list[Any]:
    """Objects that a function of the program can change: its closure, its defaults, and the variables of its module."""
    code = function.__code__
    if _source._kind_of(code.co_filename) != _source._PROGRAM:
        # Decorators of libraries are around functions of the program.
        return [getattr(function, "__wrapped__", None), *_contents(function)]
    if function.__closure__:
        kept.append(_Cells(function.__closure__))
    loaded, stored = _globals_of(code)
    values = function.__globals__
    kept.append(_Globals(values, [name for name in stored if name in values]))
    found = [values[name] for name in loaded if name in values]
    found = [own for own in found if not isinstance(own, (type, types.ModuleType))]
    return [*found, *_contents(function), function.__defaults__, function.__kwdefaults__, function.__dict__]


def _contents(function: types.FunctionType) -> list[Any]:
    found = []
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):
            found.append(cell.cell_contents)
    return found


@functools.lru_cache(maxsize=4096)
def _globals_of(code: types.CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Variables of its module that code reads, and those that it sets, also in functions within it."""
    loaded: dict[str, None] = {}
    stored: dict[str, None] = {}
    for step in dis.get_instructions(code):
        if step.opname == "STORE_GLOBAL":
            stored[step.argval] = None
        elif step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            loaded[step.argval] = None
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = _globals_of(constant)
            loaded.update(dict.fromkeys(inner[0]))
            stored.update(dict.fromkeys(inner[1]))
    return tuple(loaded), tuple(stored)


class _Kept:
    """Something that is put back."""

    def put_back(self) -> None:
        raise NotImplementedError

    def is_same(self) -> bool:
        raise NotImplementedError


class _Entries(_Kept):
    """Entries of a dictionary, in their order."""

    def __init__(self, value: dict[Any, Any]) -> None:
        self._value, self._entries = value, list(value.items())

    def is_same(self) -> bool:
        if len(self._value) != len(self._entries):
            return False
        pairs = zip(self._value.items(), self._entries, strict=True)
        return all(now[0] is before[0] and now[1] is before[1] for now, before in pairs)

    def put_back(self) -> None:
        if not self.is_same():
            # Those of the class, whatever a subclass of the program does in them.
            kind: Any = collections.OrderedDict if isinstance(self._value, collections.OrderedDict) else dict
            kind.clear(self._value)
            kind.update(self._value, self._entries)


class _Items(_Kept):
    """Items of a list, deque or set."""

    def __init__(self, value: Any) -> None:
        self._value, self._items = value, list(value)

    def is_same(self) -> bool:
        if len(self._value) != len(self._items):
            return False
        if isinstance(self._value, set):
            return {id(own) for own in self._value} == {id(own) for own in self._items}
        return all(now is before for now, before in zip(self._value, self._items, strict=True))

    def put_back(self) -> None:
        if not self.is_same():
            self._value.clear()
            (self._value.update if isinstance(self._value, set) else self._value.extend)(self._items)


class _Length(_Kept):
    """Length of a long list, that has grown at its end."""

    def __init__(self, value: list[Any]) -> None:
        self._value, self._length = value, len(value)

    def is_same(self) -> bool:
        return len(self._value) == self._length

    def put_back(self) -> None:
        del self._value[self._length :]


class _Array(_Kept):
    """Elements of an array of NumPy."""

    def __init__(self, value: Any) -> None:
        self._value, self._copy = value, value.copy()

    def is_same(self) -> bool:
        return bool(self._value.shape == self._copy.shape and self._value.tobytes() == self._copy.tobytes())

    def put_back(self) -> None:
        if not self.is_same():
            self._value[...] = self._copy


class _Attributes(_Kept):
    """Some attributes of a class."""

    def __init__(self, owner: type, names: list[str]) -> None:
        self._owner, self._values = owner, {name: vars(owner)[name] for name in names}

    def is_same(self) -> bool:
        return all(vars(self._owner).get(name) is own for name, own in self._values.items())

    def put_back(self) -> None:
        for name, own in self._values.items():
            if vars(self._owner).get(name) is not own:
                setattr(self._owner, name, own)


class _Slots(_Kept):
    """Attributes of an object with `__slots__`."""

    def __init__(self, owner: Any, names: list[str]) -> None:
        self._owner, self._values = owner, {name: getattr(owner, name) for name in names if hasattr(owner, name)}

    def is_same(self) -> bool:
        return all(getattr(self._owner, name, None) is own for name, own in self._values.items())

    def put_back(self) -> None:
        if not self.is_same():
            for name, own in self._values.items():
                setattr(self._owner, name, own)


class _Cells(_Kept):
    """Variables of the functions around one."""

    def __init__(self, cells: tuple[types.CellType, ...]) -> None:
        self._values: list[tuple[types.CellType, Any]] = []
        for cell in cells:
            with contextlib.suppress(ValueError):
                self._values.append((cell, cell.cell_contents))

    def is_same(self) -> bool:
        return all(cell.cell_contents is own for cell, own in self._values)

    def put_back(self) -> None:
        if not self.is_same():
            for cell, own in self._values:
                cell.cell_contents = own


class _Globals(_Kept):
    """Variables of a module that a function sets."""

    def __init__(self, variables: dict[str, Any], names: list[str]) -> None:
        self._variables, self._values = variables, {name: variables[name] for name in names}

    def is_same(self) -> bool:
        return all(self._variables.get(name) is own for name, own in self._values.items())

    def put_back(self) -> None:
        self._variables.update(self._values)


class _Stream(_Kept):
    """State of a generator of random numbers."""

    def __init__(self, read: Callable[[], Any], write: Callable[[Any], Any]) -> None:
        self._read, self._write, self._state = read, write, read()

    @classmethod
    def of(cls, value: Any) -> _Stream | None:
        """The state of a generator object of Python, PyTorch or NumPy; `None` of anything else."""
        if isinstance(value, random.Random):
            return cls(value.getstate, value.setstate)
        if isinstance(value, torch.Generator):
            return cls(value.get_state, value.set_state)
        numpy = sys.modules.get("numpy.random")
        if numpy is not None and isinstance(value, numpy.RandomState):
            return cls(value.get_state, value.set_state)
        if numpy is not None and isinstance(value, numpy.Generator):
            bits = value.bit_generator
            return cls(lambda: bits.state, lambda state: setattr(bits, "state", state))
        return None

    def is_same(self) -> bool:
        return _are_equal(self._read(), self._state)

    def put_back(self) -> None:
        self._write(self._state)


def _are_equal(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        return bool(torch.equal(a, b))
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(_are_equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_are_equal(a[key], b[key]) for key in a)
    return a.tobytes() == b.tobytes() if hasattr(a, "tobytes") else bool(a == b)


class _Tensor(_Kept):
    """Memory, elements, gradient and `requires_grad` of a tensor. Its count of changes in place stays as it is."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self._memory = tensor.data
        self._copy = tensor.detach().clone()
        self._requires_grad = tensor.requires_grad
        self._gradient = tensor.grad if tensor.is_leaf else None

    def _has_memory(self) -> bool:
        now, before = self.tensor, self._memory
        if now.layout != torch.strided or before.layout != torch.strided:
            return bool(now.layout == before.layout)
        same = now.dtype == before.dtype and now.shape == before.shape and now.stride() == before.stride()
        return bool(same and now.data_ptr() == before.data_ptr())

    def is_same(self) -> bool:
        tensor = self.tensor
        if tensor.requires_grad != self._requires_grad or (tensor.is_leaf and tensor.grad is not self._gradient):
            return False
        return self._has_memory() and are_bits_equal(tensor.detach(), self._copy)

    def put_back(self) -> None:
        tensor = self.tensor
        if not self._has_memory():
            tensor.data = self._memory
        if not are_bits_equal(tensor.detach(), self._copy):
            # `data` has a count of its own: a graph that waits for its backward pass stays valid.
            tensor.data.copy_(self._copy)
        if tensor.is_leaf:
            if tensor.requires_grad != self._requires_grad:
                tensor.requires_grad_(self._requires_grad)
            if tensor.grad is not self._gradient:
                tensor.grad = self._gradient


_WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def are_bits_equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    """True if two tensors have the same elements, NaN included."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.is_nested:
        return are_bits_equal(a.values(), b.values())
    if a.layout == torch.sparse_coo:
        return torch.equal(a._indices(), b._indices()) and are_bits_equal(a._values(), b._values())
    if a.layout != torch.strided or a.is_quantized:
        return bool(torch.equal(a, b))
    if a.is_complex():
        a, b = torch.view_as_real(a.resolve_conj()), torch.view_as_real(b.resolve_conj())
    if a.is_floating_point() and a.element_size() in _WORDS:
        a, b = a.contiguous().view(_WORDS[a.element_size()]), b.contiguous().view(_WORDS[b.element_size()])
    return bool(torch.equal(a, b))


class RandomStates(_Kept):
    """States of the random numbers of Python, NumPy, PyTorch and its devices."""

    def __init__(self, devices: Iterable[torch.device]) -> None:
        self._devices = list(devices)
        self._streams = [_Stream(random.getstate, random.setstate), _Stream(torch.get_rng_state, torch.set_rng_state)]
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            self._streams.append(_Stream(numpy.random.get_state, numpy.random.set_state))
        for device in self._devices:
            module: Any = getattr(torch, device.type, None)
            if device.type == "mps":
                self._streams.append(_Stream(module.get_rng_state, module.set_rng_state))
            elif hasattr(module, "get_rng_state"):
                read = functools.partial(module.get_rng_state, device)
                self._streams.append(_Stream(read, functools.partial(module.set_rng_state, device=device)))

    def is_same(self) -> bool:
        return all(stream.is_same() for stream in self._streams)

    def put_back(self) -> None:
        for stream in self._streams:
            stream.put_back()

    def reseed(self, seed: int) -> None:
        """Other random numbers than those that are kept."""
        random.seed(seed)
        # `torch.manual_seed` would also seed devices that the program has not begun to use.
        torch.default_generator.manual_seed(seed)
        for device in self._devices:
            module: Any = getattr(torch, device.type, None)
            if hasattr(module, "manual_seed"):
                module.manual_seed(seed)
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            numpy.random.seed(seed)


class Flags(_Kept):
    """Settings of PyTorch that a forward pass may change."""

    def __init__(self) -> None:
        self._kept: list[tuple[Callable[[], Any], Callable[[Any], Any], Any]] = []
        for read, write in _flags():
            # Some cannot be read where another way to set them is in use.
            with contextlib.suppress(Exception):
                self._kept.append((read, write, read()))

    def is_same(self) -> bool:
        return all(read() == before for read, _, before in self._kept)

    def put_back(self) -> None:
        for read, write, before in self._kept:
            if read() != before:
                write(before)


def _flags() -> Iterator[tuple[Callable[[], Any], Callable[[Any], Any]]]:
    cudnn: Any = torch.backends.cudnn
    for name in ("enabled", "benchmark", "deterministic", "allow_tf32"):
        yield functools.partial(getattr, cudnn, name), functools.partial(setattr, cudnn, name)
    yield torch.get_float32_matmul_precision, torch.set_float32_matmul_precision
    yield torch.get_default_dtype, torch.set_default_dtype
    yield torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms
    yield torch.is_anomaly_enabled, torch.set_anomaly_enabled
    yield torch.is_grad_enabled, torch._C._set_grad_enabled
    yield torch.get_num_threads, torch.set_num_threads
