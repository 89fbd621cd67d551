"""Looks at the losses and gradients of a run, and records the operation that made one of them not finite."""

from __future__ import annotations

import cmath
import functools
import math
import weakref
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import torch

from trainscope import _source, _torch_calls, _torch_reasons
from trainscope._lost import guarded
from trainscope._native import GradientHook
from trainscope._torch_capsule import Capsules
from trainscope._torch_device import is_capturing, pinned
from trainscope._torch_finding import Finding, with_lines
from trainscope._torch_forensics import Known, find
from trainscope._torch_functions import SAME, Saved, address_of, is_finite, name_of, not_finite_in, snake_of, value_of
from trainscope._torch_graph import named_parameters, tensors_in
from trainscope._torch_hooks import Hook
from trainscope._torch_lines import Lines
from trainscope._torch_notes import module_of, note_of, operation_of, without_line

MAX_SEARCHES = 6
"""Losses that are not finite whose graph is searched, and sampled steps that are wanted because of them."""

MAX_FINDINGS = 8
"""Facts of operations that are recorded."""

MAX_HOOKS = 20_000
"""Functions of a graph whose gradients are looked at."""

MAX_FLAGS = 8
"""Copies of flags that are on their way from a device."""

_OF_RUNS: weakref.WeakKeyDictionary[Any, NotFinite] = weakref.WeakKeyDictionary()


def of_run(run: Any) -> NotFinite:
    """That of a run, made at the first call."""
    found = _OF_RUNS.get(run)
    if found is None:
        found = _OF_RUNS[run] = NotFinite(run)
    return found


class Edge(NamedTuple):
    """A gradient between two functions, by their places in the graph."""

    source: int
    target: int
    operation: str
    module: str
    place: _source.Place | None
    without_line: str


class _Flag(NamedTuple):
    """Numbers on their way from a device: the largest magnitudes of the gradients of edges, or a loss without edges."""

    numbers: torch.Tensor
    event: Any
    edges: list[Edge] | None
    step: int


class NotFinite(_torch_calls.Listener):
    """Watches the losses of all backward passes of a run, and at sampled steps the gradients of each function.

    Of a loss on the processor one number is read. On a device a flag is copied without waiting and read a step later:
    then the step that follows is looked at. `waits`: a loss on a device is read at once.
    """

    def __init__(self, run: Any) -> None:
        self._reference = weakref.ref(run)
        self.lines = Lines()
        self.gradients = Gradients(self)
        self.waits = bool(run._wants_capsule)
        self.capsules = Capsules(run) if run._wants_capsule else None
        run._capsules = self.capsules
        self._wants_capsule = False
        # The next step is to be looked at, because a loss was not finite and its lines are not known.
        self.wants_look = False
        # The last loss was not finite, as it is known now.
        self.is_bad = False
        self._step = -1
        self._is_looked = False
        self._searches, self._findings = 0, 0
        self._is_done = False
        self._flags: list[_Flag] = []
        self._inputs: dict[int, str] = {}
        # The first output of a module that has a NaN, until the backward pass.
        self._output: torch.Tensor | None = None
        # Operations, lines and passes that are recorded: each once.
        self._recorded: set[tuple[Any, ...]] = set()
        self._has_chain = False
        # The first finding of a step that was not looked at, until its line is known, with the step.
        self._without_line: tuple[Finding, int] | None = None

    @property
    def _run(self) -> Any:
        return self._reference()

    # Places of the watch that call this.

    @guarded
    def open(self, model: torch.nn.Module) -> None:
        """Begins to follow a model that is watched."""
        _torch_calls.listen(self)
        if self.capsules is not None:
            self.capsules.follow(model)

    @guarded
    def begin(self, step: int) -> None:
        """Begins a step: the lines of the one before it are not needed any more."""
        self._read_flags()
        if step != self._step:
            self._step, self._is_looked = step, False
            self._forget()
            if self.capsules is not None:
                self.capsules.drop()

    @guarded
    def before_model(self, modules: Iterable[tuple[str, Any]], args: Any, kwargs: Mapping[str, Any]) -> None:
        """Begins to note lines: a sampled forward pass for the training is about to begin."""
        self._is_looked = True
        if self._is_done and self._findings >= MAX_FINDINGS:
            return
        named = list(modules)
        self.lines.enter(named, named[0][0] if named else "")
        for key, value in (("input", args), *kwargs.items()):
            for number, tensor in enumerate(tensors_in(value)):
                self._inputs[address_of(tensor)] = f"{key}:{number}" if number else key

    @guarded
    def after_module(self, outputs: list[torch.Tensor]) -> None:
        """Looks for NaN in the outputs of a module that are in memory, in a sampled forward pass.

        Not needed for outputs whose statistics have no NaN.
        """
        if not self._is_looked or self._output is not None or self._findings >= MAX_FINDINGS:
            return
        for tensor in outputs:
            if type(tensor) is not torch.Tensor or tensor.dtype not in _FLOATS or not tensor.is_cpu:
                continue
            # Of infinities the sum may be NaN, too.
            if tensor.grad_fn is not None and _is_readable(tensor) and math.isnan(tensor.detach().sum().item()):
                if bool(torch.isnan(tensor.detach()).any()):
                    self._output = tensor
                    return

    @guarded
    def before_backward(self, roots: tuple[Any, ...]) -> None:
        """Looks at the losses, and at a sampled step hooks the functions that lead to them."""
        self.lines.leave()
        if torch._C._functorch.peek_interpreter_stack() is not None or is_capturing() or torch.compiler.is_compiling():
            return
        self.gradients.end()
        self._read_flags()
        with torch._C.DisableTorchFunction():
            losses = [one for one in roots if type(one) is torch.Tensor and one.grad_fn is not None]
            bad = [one for one in losses if self._is_bad(one)]
            self.is_bad = bool(bad)
            if self.capsules is not None and losses:
                loss = bad[0] if bad else losses[0]
                self.capsules.before_backward(loss, float(loss.detach()) if loss.numel() == 1 else None)
                if bad:
                    self.capsules.write(self._run._step(), "its loss is not finite")
            if self._without_line is not None and self._is_looked and losses:
                self._find_line(losses[0])
            if bad:
                self._search(bad[0])
            elif self._is_looked:
                self.wants_look = False
                output, self._output = self._output, None
                if losses and output is not None and (finding := find(output, self._known())) is not None:
                    self.record(finding, self._run._step(), is_loss_finite=True)
                if self._findings < MAX_FINDINGS:
                    self.gradients.begin(losses)

    @guarded
    def after_backward(self) -> None:
        """Removes the hooks of functions: the graph may be used again."""
        self.gradients.end()

    @guarded
    def before_update(self) -> None:
        """Writes the capsule of a step whose gradients are not finite, as they were found."""
        self.lines.leave()
        if self.capsules is None or self.capsules.is_written:
            return
        self.gradients.end()
        self._read_flags(wait=True)
        if self._wants_capsule:
            self.capsules.write(self._run._step(), "a gradient is not finite")

    @guarded
    def close(self) -> None:
        """Removes the hooks and the mode."""
        _torch_calls.leave(self)
        if self.capsules is not None:
            self.capsules.close()
        self._read_flags(wait=True)
        self._forget()

    def _forget(self) -> None:
        self.lines.leave()
        self.lines.clear()
        self.gradients.end()
        self._inputs.clear()
        self._output = None

    # The loss.

    def _is_bad(self, loss: torch.Tensor) -> bool:
        if not loss.is_floating_point() or loss.layout != torch.strided or loss.device.type in ("meta", "xla"):
            return False
        if loss.is_cpu or self.waits or self.wants_look:
            if loss.numel() == 1:
                return not math.isfinite(loss.item())
            return (self._is_looked or self.waits) and not is_finite(loss)
        if loss.numel() == 1:
            self.send(loss.detach().reshape(1).float(), None)
        return False

    def _search(self, loss: torch.Tensor) -> None:
        if self._is_done or self._searches >= MAX_SEARCHES:
            self.wants_look = False
            return
        self._searches += 1
        finding = find(loss, self._known())
        is_consequence = finding is not None and finding.inputs_from.startswith("parameter") and self._findings > 0
        if finding is not None and not is_consequence:
            if not self._is_looked and self._findings == 0:
                self._without_line = finding, self._run._step()
            self.record(finding, self._run._step())
        self._is_done = self._is_looked
        self.wants_look = not self._is_looked and self._searches < MAX_SEARCHES

    def _find_line(self, loss: torch.Tensor) -> None:
        """Records a finding again with its line, if this pass made the same operations as the one that it is of."""
        assert self._without_line is not None
        (finding, step), self._without_line = self._without_line, None
        placed = with_lines(finding, loss, self.lines)
        if placed is not None:
            self._has_chain = False
            self.record(placed, step)

    def _known(self) -> Known:
        return Known(self.lines if self._is_looked else None, self.names(), self._inputs)

    def names(self) -> dict[int, str]:
        """Names of the parameters of all watched models, by identity."""
        names: dict[int, str] = {}
        for watch in self._run._watches:
            model = watch.model
            for name, parameter in [] if model is None else named_parameters(model)[0]:
                names[id(parameter)] = watch.prefix + name
        return names

    def record(self, finding: Finding, step: int, *, is_loss_finite: bool = False) -> None:
        """Records a finding as a fact of the run."""
        self._wants_capsule = self.capsules is not None
        key = finding.operation, finding.place, finding.is_backward
        if self._findings >= MAX_FINDINGS or key in self._recorded:
            return
        self._recorded.add(key)
        self._findings += 1
        counts = {
            "not_finite": finding.not_finite,
            "elements": finding.elements,
            "bad_inputs": finding.bad_inputs,
            "smallest_other": finding.smallest_other,
            "is_loss_finite": int(is_loss_finite or finding.is_backward),
            "left_out": finding.left_out,
            "is_complete": int(finding.is_complete),
        }
        texts = {
            "module": finding.module,
            "pass": "backward" if finding.is_backward else "forward",
            "reason": finding.reason,
            "inputs_from": finding.inputs_from,
            "between": finding.between,
            "dtype": finding.dtype,
            "without_line": finding.without_line,
        }
        self._run._fact(
            "operation_not_finite",
            finding.operation,
            numbers={name: float(count) for name, count in counts.items() if count is not None},
            texts={name: text for name, text in texts.items() if text},
            source=_source.of_place(finding.place),
            step=step,
        )
        if finding.chain and not is_loss_finite and not self._has_chain:
            self._has_chain = True
            self._record_chain(finding, step)

    def _record_chain(self, finding: Finding, step: int) -> None:
        for number, link in enumerate(finding.chain):
            counts = {**link.result, "is_first": int(link.is_first), "left_out": link.left_out}
            texts = {"operation": link.operation, "module": link.module}
            self._run._fact(
                "chain_to_loss",
                str(number),
                numbers={name: float(count) for name, count in counts.items()},
                texts={name: text for name, text in texts.items() if text},
                source=_source.of_place(link.place),
                step=step,
            )

    # Flags of devices.

    def send(self, numbers: torch.Tensor, edges: list[Edge] | None) -> None:
        """Begins to copy numbers from their device."""
        if numbers.device.type == "cuda" and len(self._flags) < MAX_FLAGS:
            host = pinned(numbers)
            make: Any = torch.cuda.Event
            event = make()
            event.record(torch.cuda.current_stream(numbers.device))
            self._flags.append(_Flag(host, event, edges, self._run._step()))
        elif numbers.device.type != "cuda" and edges is not None:
            # Without an event that is known to work, waiting is the only safe way: at sampled steps only.
            self._take(_Flag(numbers.cpu(), None, edges, self._run._step()))

    def _read_flags(self, wait: bool = False) -> None:
        while self._flags and not is_capturing() and (wait or self._flags[0].event.query()):
            flag = self._flags.pop(0)
            if wait:
                flag.event.synchronize()
            self._take(flag)

    def _take(self, flag: _Flag) -> None:
        bad = [at for at, number in enumerate(flag.numbers.tolist()) if not math.isfinite(number)]
        if not bad:
            return
        if flag.edges is None:
            self.is_bad = True
            self.wants_look = not self._is_done and self._searches < MAX_SEARCHES
            return
        # In the order in which the functions were executed.
        origins: dict[int, Edge] = {}
        for at in bad:
            edge = flag.edges[at]
            origin = origins.setdefault(edge.source, edge)
            if edge.target == _LEAF:
                reason = f"the gradients that flow into {origin.operation} are finite, and those that leave it are not"
                finding = Finding(origin.operation, reason, *origin[3:], is_backward=True)
                self.record(finding, flag.step)
                return
            origins[edge.target] = origin


class Gradients:
    """Hooks of the functions of one backward pass: they find where gradients stop to be finite.

    The operation is the first function with finite incoming gradients from which ones that are not finite reach a
    parameter: values that a mask or an activation takes out again harm nothing.
    """

    def __init__(self, owner: NotFinite) -> None:
        self._owner = weakref.ref(owner)
        self._nodes: list[Any] = []
        # For each of them, which of its outgoing gradients go where: to a place in the list, or `_LEAF`.
        self._targets: list[list[tuple[int, int]]] = []
        self._handles: list[Any] = []
        # Names of parameters, once they are asked for.
        self._names: dict[int, str] = {}
        # Findings by the functions that their gradients, which are not finite, flow into.
        self._origins: dict[int, Finding] = {}
        # Largest magnitudes on devices, by device, and the edges of their gradients.
        self._largest: dict[torch.device, tuple[list[torch.Tensor], list[Edge]]] = {}
        # Nothing is looked at any more.
        self._is_over = True
        self._is_complete = True

    @property
    def _run(self) -> Any:
        owner = self._owner()
        return None if owner is None else owner._run

    def begin(self, losses: Iterable[torch.Tensor]) -> None:
        """Hooks the functions that lead to the losses."""
        owner = self._owner()
        if owner is None:
            return
        functions = _functions_of([loss.grad_fn for loss in losses])
        self._is_complete = len(functions) < MAX_HOOKS
        self._nodes = [node for node, before in functions.items() if not _passes_on(node, before)]
        places = {node: at for at, node in enumerate(self._nodes)}
        self._targets = []
        for node in self._nodes:
            targets: list[tuple[int, int]] = []
            for number, one in enumerate(functions[node]):
                at = places.get(one)
                if at is None:
                    at = _target(one, places, functions)
                if at is not None:
                    targets.append((number, at))
            self._targets.append(targets)
        self._is_over = False
        after = Hook(self, Gradients._after)
        self._handles = [
            node.register_hook(GradientHook(at, [number for number, _ in targets], after))
            for at, (node, targets) in enumerate(zip(self._nodes, self._targets, strict=True))
            if targets
        ]

    def end(self) -> None:
        """Removes the hooks, and sends the magnitudes that were gathered on devices."""
        if self._is_over and not self._nodes:
            return
        for handle in self._handles:
            handle.remove()
        self._handles, self._nodes, self._targets = [], [], []
        self._names, self._origins = {}, {}
        self._is_over = True
        owner, gathered = self._owner(), self._largest
        self._largest = {}
        if owner is not None and not is_capturing():
            for numbers, edges in gathered.values():
                owner.send(torch.stack(numbers), edges)

    @guarded
    def _after(self, at: int, outgoing: tuple[Any, ...], incoming: tuple[Any, ...]) -> None:
        """Looks at gradients that are on a device, large or not finite: the hook has seen that all others are finite."""
        if self._is_over:
            return
        finding: Finding | None = None
        for number, target in self._targets[at]:
            gradient = outgoing[number]
            if not _is_readable(gradient):
                continue
            if gradient.requires_grad:
                gradient = gradient.detach()
            if gradient.is_cpu:
                # The sum is the faster one of the two, and may overflow.
                if cmath.isfinite(gradient.sum().item()) or is_finite(gradient):
                    continue
                finding = self._origins[target] = finding or self._origin(at, gradient, incoming)
                if target == _LEAF:
                    self._record(finding)
                    return
            else:
                numbers, edges = self._largest.setdefault(gradient.device, ([], []))
                numbers.append(torch.linalg.vector_norm(gradient, torch.inf).float())
                edges.append(Edge(at, target, *self._described(self._nodes[at])))

    def _record(self, finding: Finding) -> None:
        owner = self._owner()
        if owner is not None:
            owner.record(finding, owner._run._step())
        # The hooks are removed at the end of the pass: here they are being called.
        self._is_over = True

    def _described(self, node: Any) -> tuple[str, str, Any, str]:
        owner = self._owner()
        lines = None if owner is None else owner.lines
        note = note_of(node, lines)
        place = None if note is None else note.place
        if not self._names and owner is not None:
            self._names = owner.names()
        return operation_of(node, note), module_of(node, note, self._names), place, without_line(node, note, lines)

    def _origin(self, at: int, outgoing: torch.Tensor, incoming: tuple[Any, ...]) -> Finding:
        """The finding of an outgoing gradient: the one of the incoming gradients, if these are not finite either."""
        known = self._origins.get(at)
        if known is not None and not all(is_finite(one) for one in incoming if _is_readable(one)):
            return known
        return self._finding(self._nodes[at], outgoing, incoming)

    def _finding(self, node: Any, outgoing: torch.Tensor, incoming: tuple[Any, ...]) -> Finding:
        operation, module, place, missing = self._described(node)
        saved = Saved(node)

        def operand(*names: str | int) -> torch.Tensor | None:
            found = (saved.tensors.get(name) for name in names if isinstance(name, str))
            return next((one.detach() for one in found if one is not None), None)

        reason = None
        text = f"the gradients that flow into {operation} are finite, and those that leave it are not"
        if any(_is_readable(one) and not is_finite(one) for one in incoming):
            text = f"the sum of the gradients that flow into {operation} is not finite, or the one that backward began with"
        else:
            reason = _torch_reasons.of_gradient(
                name_of(node), operand, lambda setting: value_of(node, setting), outgoing
            )
        return Finding(
            operation,
            text if reason is None else reason.text,
            module,
            place,
            missing,
            is_backward=True,
            not_finite=not_finite_in(outgoing),
            elements=outgoing.numel(),
            bad_inputs=None if reason is None else reason.bad_inputs,
            smallest_other=None if reason is None else reason.smallest_other,
            dtype=str(outgoing.dtype).removeprefix("torch."),
            left_out=saved.left_out,
            is_complete=self._is_complete,
        )


_FLOATS = frozenset((torch.float32, torch.float64, torch.float16, torch.bfloat16))

_LEAF = -1
"""Place of a function that takes a gradient to a parameter."""


# Functions whose outgoing gradient is finite where the incoming one is, and may leave out other elements.
_MASKS = frozenset({"relu", "neg", "threshold"})


def _functions_of(roots: Iterable[Any]) -> dict[Any, list[Any]]:
    """Functions of a graph with those that their outgoing gradients flow into, at most `MAX_HOOKS`."""
    functions: dict[Any, list[Any]] = {root: [] for root in roots if root is not None}
    waiting = list(functions)
    while waiting:
        before = functions[node := waiting.pop()]
        for one, _ in node.next_functions:
            before.append(one)
            if one is not None and one not in functions and len(functions) < MAX_HOOKS:
                functions[one] = []
                waiting.append(one)
    return functions


@functools.lru_cache(maxsize=1024)
def _kind_of_class(function: Any) -> str:
    if function.__name__ == "AccumulateGrad":
        return "leaf"
    if issubclass(function, torch.autograd.function.BackwardCFunction):
        return ""
    name = snake_of(function.__name__)
    return "mask" if name in _MASKS else "view" if name in SAME else ""


def _kind_of(node: Any) -> str:
    """"leaf", "mask", "view", or "" for any other function."""
    kind: Any = type(node)
    return _kind_of_class(kind)


def _passes_on(node: Any, before: list[Any]) -> bool:
    """True for a leaf, and for a function that cannot be to blame: a view of a gradient has the same elements, a mask
    fewer."""
    kind = _kind_of(node)
    if kind == "mask":
        return len(before) == 1 and before[0] is not None and _kind_of(before[0]) not in ("leaf", "view")
    return kind == "leaf" or (kind == "view" and len(before) == 1)


def _target(node: Any, places: dict[Any, int], functions: dict[Any, list[Any]]) -> int | None:
    """Place of the function that a gradient flows into, behind those that pass it on; `None` if that is not looked at."""
    for _ in range(64):
        if node is None:
            return None
        at = places.get(node)
        if at is not None:
            return at
        if _kind_of(node) == "leaf":
            return _LEAF
        before = functions.get(node)
        if not before:
            return None
        # A view has one input.
        node = before[0]
    return None


def _is_readable(gradient: Any) -> bool:
    if type(gradient) is torch.Tensor and gradient.dtype in _FLOATS and gradient.is_cpu and gradient.layout == torch.strided:
        return bool(gradient.numel())
    is_plain = isinstance(gradient, torch.Tensor) and gradient.layout == torch.strided and not gradient.is_quantized
    if not is_plain or gradient.device.type in ("meta", "xla") or not gradient.numel():
        return False
    return bool(gradient.is_floating_point() or gradient.is_complex())
