"""Lines of the program that call functions of PyTorch, noted during the forward pass of a sampled step."""

from __future__ import annotations

import bisect
import functools
import math
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.overrides import TorchFunctionMode
from torch.utils._device import DeviceContext

from trainscope import _source

MAX_NOTES = 50_000
"""Calls that are noted in one step; what comes later has no line."""

MAX_LINES = 1_000
"""Lines whose time is added up, of all steps."""

MAX_SLOWEST = 8
"""Lines that are recorded: the slowest ones when they are asked for, and those that were recorded before."""

MAX_DEPTH = 64
"""Deepest nesting of modules with lines: the hooks cost one call of Python's limit of 1,000 for each."""

# Modules that take another path in evaluation, with other rounding, if any mode sees their functions.
_WITH_FAST_PATH = (nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerEncoder)

# Modules of PyTorch that are one function: the mode is taken off for their calls, which are noted by the hooks.
_ONE_FUNCTION: dict[type, Callable[..., Any]] = {
    nn.Linear: functional.linear,
    nn.Conv1d: torch.conv1d,
    nn.Conv2d: torch.conv2d,
    nn.Embedding: functional.embedding,
    nn.LayerNorm: functional.layer_norm,
    nn.Dropout: functional.dropout,
    nn.ReLU: functional.relu,
    nn.LeakyReLU: functional.leaky_relu,
    nn.GELU: functional.gelu,
    nn.SiLU: functional.silu,
    nn.Tanh: torch.tanh,
    nn.Sigmoid: torch.sigmoid,
}

# Functions whose results without a gradient are looked at: masks and targets that the program computes before its loss.
_RISKY = frozenset(
    "log log2 log10 log1p div true_divide divide reciprocal sqrt rsqrt pow exp expm1 mean std var softmax log_softmax "
    "norm vector_norm normalize acos asin atanh logit erfinv inv matmul mul".split()
)

# Functions that wait for the device of their tensor.
_WAITING = frozenset("item tolist cpu numpy bool float int index nonzero repr str format".split())

# Methods of operators by the function that they are.
_OPERATORS = {
    "truediv": "div", "rtruediv": "div", "itruediv": "div", "rdiv": "div", "radd": "add", "iadd": "add", "rsub": "sub",
    "isub": "sub", "rmul": "mul", "imul": "mul", "rpow": "pow", "ipow": "pow", "rmatmul": "matmul", "imatmul": "matmul",
    "getitem": "index", "setitem": "index_put",
}  # fmt: skip


_sequence = torch._C._autograd._get_sequence_nr


class Note(NamedTuple):
    """A call of a function of PyTorch: the function, the innermost line of the program, and the module that made it."""

    operation: str
    place: tuple[str, int, str]
    module: str


class _Unrecorded(NamedTuple):
    """A result without a gradient function, with the tensors that it was computed from."""

    result: weakref.ref[torch.Tensor]
    note: Note
    inputs: tuple[weakref.ref[torch.Tensor], ...]


class LineTime:
    """Calls of one line and their time in seconds, over all sampled steps; waits for devices are also counted apart."""

    __slots__ = ("calls", "seconds", "wait", "wait_seconds", "waits")

    def __init__(self) -> None:
        self.calls, self.seconds = 0, 0.0
        self.waits, self.wait_seconds, self.wait = 0, 0.0, ""


class _Mode(TorchFunctionMode):
    """Passes every function of PyTorch on, and notes where it was called from."""

    def __init__(self, lines: Lines) -> None:
        super().__init__()
        self._lines = weakref.ref(lines)

    def __torch_function__(
        self, function: Callable[..., Any], _types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if torch.compiler.is_compiling():
            return function(*args, **(kwargs or {}))
        before = _sequence()
        begun = time.perf_counter()
        result = function(*args, **(kwargs or {}))
        took = time.perf_counter() - begun
        lines = self._lines()
        if lines is not None and lines.is_on:
            try:
                # Calls in a mode of the program are noted with its functions only.
                lines._note(function, args, result, before, took, is_outermost=torch._C._len_torch_function_stack() == 0)
            except Exception:
                # Objects of the program in the arguments may raise anything.
                pass
        return result


class Lines:
    """Lines of the functions that were called since `enter`, and the modules in which they were.

    A function belongs to the nodes of autograd whose sequence numbers it used: no tensor and no node is kept alive, and
    nothing of the result is asked for. One thread; costs 5 to 9 µs a function while it is entered.
    """

    def __init__(self) -> None:
        self._mode = _Mode(self)
        self._thread = 0
        self._handles: list[Any] = []
        self._names: dict[int, str] = {}
        self._modules: list[str] = []
        # First sequence number of each call, in ascending order, the first one behind it, and what was called.
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._notes: list[tuple[Callable[..., Any], _source.Place, str]] = []
        # By the identity of their results, which another one may have once they are gone.
        self._unrecorded: dict[int, _Unrecorded] = {}
        # Calls whose results have no gradient, with their largest magnitudes: NaN if an element is.
        self._largest: list[tuple[torch.Tensor, Note]] = []
        # Of all steps.
        self.times: dict[tuple[str, int, str], LineTime] = {}
        self._slowest: dict[tuple[str, int, str], LineTime] = {}
        self.steps = 0
        # The mode is among those of the thread: it cannot be taken off while it is called.
        self._is_stacked = False
        self.is_on = False
        # The module of one function that is being called, the sequence number and the time before.
        self._called: tuple[nn.Module, int, float] | None = None
        self.reason = "its step was not looked at"

    def enter(self, modules: Iterable[tuple[str, nn.Module]], root: str = "") -> None:
        """Begins to note, in this thread, in the module `root`.

        Compiled functions would be compiled again: with them nothing is noted.
        """
        named = list(modules)
        for name, module in named:
            self._names[id(module)] = name
        if self.is_on and self._thread == threading.get_ident():
            return
        self.leave()
        if has_compiled():
            self.reason = "torch.compile gives no lines"
            return
        if any(name.count(".") > MAX_DEPTH for name, _ in named):
            self.reason = "its modules are nested too deep"
            return
        self.reason = ""
        self.steps += not self._notes
        self._thread = threading.get_ident()
        self._modules[:] = [root] if root else []
        self._handles = self._hooked()
        self._push()
        self.is_on = True

    def leave(self) -> None:
        """Ends noting; the notes stay."""
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self.is_on = False
        if self._is_stacked and self._thread == threading.get_ident():
            self._pop()

    def clear(self) -> None:
        """Forgets all notes."""
        for notes in (self._starts, self._ends, self._notes, self._unrecorded, self._largest, self._names):
            notes.clear()
        self.reason = "its step was not looked at"

    def of_sequence(self, number: int) -> Note | None:
        """The call that made the node of autograd with this sequence number."""
        at = bisect.bisect_right(self._starts, number) - 1
        if at < 0 or number >= self._ends[at]:
            return None
        function, place, module = self._notes[at]
        return Note(_name_of(function), place, module)

    def of_tensor(self, tensor: torch.Tensor) -> tuple[Note, list[torch.Tensor]] | None:
        """The call that computed a tensor without a gradient from others, and those of them that are still there."""
        known = self._unrecorded.get(id(tensor))
        if known is None or known.result() is not tensor or not known.inputs:
            return None
        return known.note, [one for reference in known.inputs if (one := reference()) is not None]

    def first_unrecorded(self) -> Note | None:
        """The first call whose result has no gradient and is not finite. Waits for devices."""
        return next((note for largest, note in self._largest if not math.isfinite(largest)), None)

    def slowest(self) -> list[tuple[tuple[str, int, str], LineTime]]:
        """Lines in which most of the time went by, and those that wait for a device; at most twice `MAX_SLOWEST`."""
        lines = sorted(self.times.items(), key=lambda item: (item[1].wait_seconds, item[1].seconds), reverse=True)
        for place, line in lines[:MAX_SLOWEST]:
            if len(self._slowest) < 2 * MAX_SLOWEST:
                self._slowest[place] = line
        return list(self._slowest.items())

    def _note(
        self, function: Callable[..., Any], args: Any, result: Any, before: int, took: float, *, is_outermost: bool
    ) -> None:
        after = _sequence()
        if self._thread != threading.get_ident() or len(self._notes) + len(self._unrecorded) + len(self._largest) >= MAX_NOTES:
            return
        if after == before:
            self._note_unrecorded(function, args, result, took, is_outermost=is_outermost)
            return
        place = _source.place_of(sys._getframe(2))
        if place is None:
            return
        self._add_time(place, took)
        self._starts.append(before)
        self._ends.append(after)
        self._notes.append((function, place, self._modules[-1] if self._modules else ""))

    def _note_unrecorded(
        self, function: Callable[..., Any], args: Any, result: Any, took: float, *, is_outermost: bool
    ) -> None:
        """Notes a call without a gradient function."""
        if not (type(result) is torch.Tensor and is_outermost and _is_new(result, args)):
            if args and isinstance(args[0], torch.Tensor) and waits(function, args[0]):
                place = _source.place_of(sys._getframe(3))
                if place is not None:
                    self._add_time(place, took, _name_of(function))
            return
        place = _source.place_of(sys._getframe(3))
        if place is None:
            return
        self._add_time(place, took)
        note = Note(_name_of(function), place, self._modules[-1] if self._modules else "")
        inputs = tuple(weakref.ref(one) for one in args if isinstance(one, torch.Tensor))
        if note.operation in _RISKY and result.numel():
            with torch.no_grad():
                self._largest.append((torch.linalg.vector_norm(result, torch.inf), note))
        self._unrecorded[id(result)] = _Unrecorded(weakref.ref(result), note, inputs)

    def _add_time(self, place: _source.Place, took: float, wait: str = "") -> None:
        line = self.times.get(place)
        if line is None:
            if len(self.times) >= MAX_LINES:
                return
            line = self.times[place] = LineTime()
        line.calls += 1
        line.seconds += took
        if wait:
            line.waits += 1
            line.wait_seconds += took
            line.wait = wait

    def _hooked(self) -> list[Any]:
        """Hooks of all modules, which refer to this object weakly."""
        thread, names, inside, reference = self._thread, self._names, self._modules, weakref.ref(self)

        def before(module: nn.Module, _args: Any) -> None:
            if threading.get_ident() == thread:
                name = names.get(id(module))
                inside.append(name if name is not None else inside[-1] if inside else "")
                if type(module) in _ONE_FUNCTION:
                    if (lines := reference()) is not None:
                        lines._before_function(module)
                elif isinstance(module, _WITH_FAST_PATH) and (lines := reference()) is not None:
                    lines._step_aside(module, is_before=True)

        def after(module: nn.Module, args: Any, output: Any) -> None:
            if threading.get_ident() == thread:
                if type(module) in _ONE_FUNCTION:
                    if (lines := reference()) is not None:
                        lines._after_function(module, args, output)
                elif isinstance(module, _WITH_FAST_PATH) and (lines := reference()) is not None:
                    lines._step_aside(module, is_before=False)
                if inside:
                    inside.pop()

        return [register_module_forward_pre_hook(before), register_module_forward_hook(after, always_call=True)]

    def _before_function(self, module: nn.Module) -> None:
        """Takes the mode off for a module of one function, if no other mode and no hook of the program are to see it."""
        if not self._is_stacked or not self.is_on or module._forward_pre_hooks or len(module._forward_hooks) > 1:
            return
        if torch._C._len_torch_function_stack() == 1:
            mode = torch._C._pop_torch_function_stack()
            if mode is not self._mode:
                torch._C._push_on_torch_function_stack(mode)
                return
            self._is_stacked = False
            self._called = module, _sequence(), time.perf_counter()

    def _after_function(self, module: nn.Module, args: Any, output: Any) -> None:
        """Notes the call, and puts the mode back; without an output it has failed."""
        called, self._called = self._called, None
        if called is None or called[0] is not module:
            return
        took = time.perf_counter() - called[2]
        if self._is_stacked or not self.is_on:
            return
        try:
            if output is not None:
                self._note(_ONE_FUNCTION[type(module)], args, output, called[1], took, is_outermost=True)
        finally:
            self._is_stacked = True
            torch._C._push_on_torch_function_stack(self._mode)

    def _step_aside(self, module: nn.Module, *, is_before: bool) -> None:
        if self.is_on and not module.training:
            if is_before:
                self._pop()
            else:
                self._push()

    def _push(self) -> None:
        """Puts the mode below all others, so that the blocks of the program that end take off their own.

        The modes of devices expect to be below all others.
        """
        modes = [mode for mode in _taken_off() if mode is not self._mode]
        self._is_stacked = True
        devices = [mode for mode in modes if isinstance(mode, DeviceContext)]
        _put_on([*devices, self._mode, *(mode for mode in modes if not isinstance(mode, DeviceContext))])

    def _pop(self) -> None:
        modes = _taken_off()
        others = [mode for mode in modes if mode is not self._mode]
        self._is_stacked = len(others) == len(modes)
        _put_on(others)


def has_compiled() -> bool:
    """True if the program has made a function by `torch.compile`."""
    frames = sys.modules.get("torch._dynamo.eval_frame")
    backends = getattr(frames, "cached_backends", None) or {}
    return any(backend is not None for backend in list(backends.values()))


def _taken_off() -> list[Any]:
    """The modes of this thread, the lowest first; none is left."""
    modes = [torch._C._pop_torch_function_stack() for _ in range(torch._C._len_torch_function_stack())]
    return modes[::-1]


def _put_on(modes: Iterable[Any]) -> None:
    for mode in modes:
        torch._C._push_on_torch_function_stack(mode)


def waits(function: Callable[..., Any], tensor: Any) -> bool:
    """True for a function that waits for the device of its tensor."""
    return _name_of(function) in _WAITING and not tensor.is_cpu and not tensor.is_meta


@functools.lru_cache(maxsize=4096)
def _name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "").strip("_")
    return _OPERATORS.get(name, name)


def _is_new(result: torch.Tensor, args: Any) -> bool:
    """True for numbers with decimals that are no argument: those that a function may have made without a gradient."""
    return result.is_floating_point() and not any(result is one for one in args)
