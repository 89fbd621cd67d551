"""The operation that made a value that is not finite: found in the graph of autograd from what its functions have kept.

Pure: given a loss or an output, what is known of lines and names, it returns a finding and changes nothing.
"""

from __future__ import annotations

import functools
import heapq
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import torch

from trainscope import _torch_reasons
from trainscope._torch_lines import Lines, Note
from trainscope._torch_reasons import Reason, shown

MAX_BYTES = 64 << 20
"""Bytes of saved tensors that are looked at, the small ones first, and of results that are computed again."""

MAX_NODES = 50_000
"""Functions of a graph that are looked at."""

# Outputs that cannot be infinite or NaN unless an input is, and have its elements.
_VIEWS = frozenset(
    "view unsafe_view _unsafe_view reshape_alias t transpose permute unsqueeze squeeze expand alias clone select slice split "
    "unbind index gather index_select narrow repeat unfold diagonal as_strided detach flip roll to_copy contiguous cat stack "
    "chunk numpy_t mt movedim unsafe_split split_with_sizes constant_pad_nd lift_fresh".split()
)
# Of them, those that have all elements of the input.
_SAME = frozenset("view unsafe_view _unsafe_view reshape_alias t transpose permute unsqueeze squeeze expand alias clone".split())
# Taken for finite where what is not kept is a constant of the program: a number that is added, a mask that is filled in.
_WITH_CONSTANT = frozenset(
    "add sub rsub mul masked_fill where index_put copy_slices masked_scatter native_dropout fill maximum minimum clamp".split()
)

_SUMS = frozenset("sum mean cumsum".split())

MAX_BEFORE = 2
"""Operations before the one that is found, in its chain."""

MAX_AFTER = 5
"""Operations after it, in its chain: the ones between the first and the last of them are counted."""


class Position(NamedTuple):
    """Place of an operation among those of a pass, in the order of the forward pass: that of the same one in another pass."""

    number: int
    of: int
    name: str


class Link(NamedTuple):
    """An operation of the chain to the loss. `result`: counts of its elements, where it is known."""

    operation: str
    module: str = ""
    place: tuple[str, int, str] | None = None
    result: Mapping[str, int] = {}
    is_first: bool = False
    left_out: int = 0
    position: Position | None = None


class Finding(NamedTuple):
    """The operation that made a value that is not finite, and what is known of it.

    `inputs_from`: operation and module that its input comes from, "data" or "parameter fc.weight" where the input itself is
    not finite and no operation made it. `between`: the gap in which it is, where saved tensors leave one. `left_out`: saved
    tensors that could not be read. `chain`: the operations from those before it to the output that was searched.
    `position`: where its line may be found in another pass.
    """

    operation: str
    reason: str
    module: str = ""
    place: tuple[str, int, str] | None = None
    without_line: str = ""
    is_backward: bool = False
    not_finite: int | None = None
    elements: int | None = None
    bad_inputs: int | None = None
    smallest_other: float | None = None
    inputs_from: str = ""
    between: str = ""
    dtype: str = ""
    left_out: int = 0
    is_complete: bool = True
    chain: tuple[Link, ...] = ()
    position: Position | None = None


class Known(NamedTuple):
    """Knowledge beside the graph: lines, names of parameters by identity, names of inputs by address of their memory."""

    lines: Lines | None = None
    names: Mapping[int, str] = {}
    inputs: Mapping[int, str] = {}


def find(output: torch.Tensor, known: Known = Known()) -> Finding | None:
    """The first operation in the forward pass that explains an output that is not finite; `None` if its graph does not.

    Saved tensors are read, never unpacked by hooks; results that were not kept are computed again from what is kept.
    """
    if output.grad_fn is None:
        return None
    devices = {output.device.type, "cpu"}
    with (
        torch.no_grad(), torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), warnings.catch_warnings()
    ):  # fmt: skip
        # A function that is computed again has warned before.
        warnings.simplefilter("ignore")
        autocasts = [device for device in devices if torch.is_autocast_enabled(device)]
        for device in autocasts:
            torch.set_autocast_enabled(device, False)
        try:
            return _Search(output, known).run()
        finally:
            for device in autocasts:
                torch.set_autocast_enabled(device, True)


def nodes_of(roots: Iterable[Any], limit: int = MAX_NODES) -> list[Any]:
    """Functions of a graph that lead to these, at most `limit`."""
    nodes: dict[Any, None] = {root: None for root in roots if root is not None}
    waiting = list(nodes)
    while waiting and len(nodes) < limit:
        for function, _ in waiting.pop().next_functions:
            if function is not None and function not in nodes:
                nodes[function] = None
                waiting.append(function)
    return list(nodes)


def name_of(node: Any) -> str:
    """Name of an operation of PyTorch in snake case, or that of the class of a function of the program."""
    if isinstance(node, torch.autograd.function.BackwardCFunction):
        return type(node).__name__.removesuffix("Backward")
    return _snake(type(node).__name__)


@functools.lru_cache(maxsize=1024)
def _snake(name: str) -> str:
    name = re.sub(r"Backward\d*$", "", name)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


class Saved:
    """Tensors that a function of autograd has kept: those that hooks packed, or that were changed since, are left out."""

    def __init__(self, node: Any) -> None:
        self.tensors: dict[str, torch.Tensor] = {}
        self.left_out = 0
        kind: Any = type(node)
        for attribute in _raw_attributes(kind):
            try:
                raw = getattr(node, attribute)
                packed = raw if isinstance(raw, (tuple, list)) else (raw,)
                # A hook of the program may compute the whole region again, or read a file.
                if any(one is not None and getattr(one, "unpack_hook", raw) is not None for one in packed):
                    self.left_out += len(packed)
                    continue
                name = attribute.removeprefix("_raw_saved_")
                kept = getattr(node, "saved_tensors" if name == "tensors" else f"_saved_{name}")
            except RuntimeError:
                self.left_out += 1
                continue
            if isinstance(kept, torch.Tensor):
                self.tensors[name] = kept
            elif isinstance(kept, (tuple, list)):
                for number, one in enumerate(kept):
                    if isinstance(one, torch.Tensor):
                        self.tensors[f"{name}{number}"] = one


@functools.lru_cache(maxsize=1024)
def _raw_attributes(kind: Any) -> tuple[str, ...]:
    return tuple(name for name in dir(kind) if name.startswith("_raw_saved_"))


def value_of(node: Any, name: str) -> Any:
    """A setting that a function of autograd has kept, or `None`."""
    try:
        return getattr(node, f"_saved_{name}", None)
    except RuntimeError:
        return None


Key = tuple[Any, int]


class _Search:
    """One search: what is known of the outputs of functions, by function and number of the output."""

    def __init__(self, output: torch.Tensor, known: Known) -> None:
        self._known = known
        self._bytes = 0
        # Tensors by identity, which is theirs as long as they are held here, and whether they may be read.
        self._read: dict[int, tuple[torch.Tensor, bool]] = {}
        self._left_out = 0
        self._is_complete = True
        self._root: Key = (output.grad_fn, output.output_nr)
        self._nodes = nodes_of([output.grad_fn])
        self._is_complete = len(self._nodes) < MAX_NODES
        self._saved = {node: Saved(node) for node in self._nodes}
        self._left_out = sum(saved.left_out for saved in self._saved.values())
        self._values: dict[Key, torch.Tensor] = {}
        # True: all elements are finite. Where it is not known, there is no entry.
        self._finite: dict[Key, bool] = {}
        self._finite_leaves: dict[int, bool] = {}
        # Outputs taken for finite, because of a constant that was not kept.
        self._presumed: set[Key] = set()
        # Origin of a view whose elements come from data or a parameter that is not finite.
        self._from_leaf: dict[Key, tuple[str, torch.Tensor]] = {}
        self._order = _in_order(self._nodes)
        self._take(self._root, output)
        self._take_saved()

    def run(self) -> Finding | None:
        # A view that is not finite has an input that is not.
        for node in reversed(self._order):
            if self._finite.get((node, 0)) is False and name_of(node) in _SAME:
                for key in _inputs(node):
                    self._finite.setdefault(key, False)
        suspects = self._suspects()
        for node in self._order:
            if node in suspects and (finding := self._judge(node)) is not None:
                return finding._replace(chain=self._chain(node, finding))
        return None

    def _take_saved(self) -> None:
        """Takes over the saved tensors, the small ones first."""
        items = [tensor for saved in self._saved.values() for tensor in saved.tensors.values()]
        for tensor in sorted(items, key=_bytes_of):
            if tensor.grad_fn is not None:
                self._take((tensor.grad_fn, tensor.output_nr), tensor)

    def _take(self, key: Key, tensor: torch.Tensor) -> None:
        if key in self._values:
            return
        is_finite = self._test(tensor)
        if is_finite is not None:
            self._values[key] = tensor
            self._finite[key] = is_finite

    def _test(self, tensor: torch.Tensor) -> bool | None:
        """True if all elements are finite; `None` if it is not looked at."""
        if tensor.layout != torch.strided or tensor.device.type in ("meta", "xla") or tensor.is_quantized:
            return None
        if not tensor.is_floating_point() and not tensor.is_complex():
            return True
        return is_finite(tensor) if self._may_read(tensor) else None

    def _may_read(self, tensor: torch.Tensor) -> bool:
        """True until as many bytes were read as may be; the same tensor counts once."""
        known = self._read.get(id(tensor))
        if known is not None:
            return known[1]
        may = self._bytes + _bytes_of(tensor) <= MAX_BYTES
        if may:
            self._bytes += _bytes_of(tensor)
        else:
            self._is_complete = False
        self._read[id(tensor)] = tensor, may
        return may

    def _leaf_is_finite(self, tensor: torch.Tensor) -> bool:
        known = self._finite_leaves.get(id(tensor))
        if known is None:
            known = self._finite_leaves[id(tensor)] = self._test(tensor) is not False
        return known

    def _suspects(self) -> set[Any]:
        """Functions from which a way to the output leads over no output that is known to be finite."""
        suspects = {self._root[0]}
        waiting = [self._root[0]]
        while waiting:
            for key in _inputs(waiting.pop()):
                if key[0] not in suspects and self._finite.get(key) is not True:
                    suspects.add(key[0])
                    waiting.append(key[0])
        return suspects

    def _judge(self, node: Any) -> Finding | None:
        """The finding, if this function is the first with a result that is not finite. Else learns what it can."""
        name, key = name_of(node), (node, 0)
        if is_leaf(node):
            return None
        outputs = {one: state for one, state in self._finite.items() if one[0] is node}
        leaf = self._bad_leaf(node)
        if leaf is not None and name in _VIEWS:
            self._from_leaf[key] = leaf
            self._finite[key] = False
            return None
        if not outputs:
            self._learn(node, name)
            state = self._finite.get(key)
        else:
            state = all(outputs.values())
        if state is None:
            reason = self._reason(node, name)
            if reason is None or reason.bad_inputs is None:
                return None
        elif state:
            return None
        return self._finding(node, name, leaf)

    def _learn(self, node: Any, name: str) -> None:
        """Finds out if the result is finite: by computing it again, or because no input is bad and it cannot be."""
        keys = _inputs(node)
        result = None if self._bytes > MAX_BYTES else _replayed(node, name, functools.partial(self._operand, node))
        key = (node, 0)
        if result is not None:
            self._take(key, result)
            return
        if not keys or any(self._finite.get(one) is not True for one in keys):
            return
        if name in _VIEWS | _WITH_CONSTANT and not self._may_overflow(node):
            self._finite[key] = True
            if name in _WITH_CONSTANT or not self._presumed.isdisjoint(keys):
                self._presumed.add(key)

    def _may_overflow(self, node: Any) -> bool:
        """True if an input is near the largest number of the result's type."""
        described = _described(node)
        if described is None or not described[1].is_floating_point:
            return False
        half = torch.finfo(described[1]).max / 2
        values = [self._values.get(key) for key in _inputs(node)]
        return any(one is not None and one.numel() and float(one.abs().max()) > half for one in values)

    def _operand(self, node: Any, *names: str | int) -> torch.Tensor | None:
        """The first tensor that a function has kept under one of these names, or that is known as its input of a number."""
        for name in names:
            if isinstance(name, str):
                tensor = self._saved[node].tensors.get(name)
            else:
                functions = node.next_functions
                tensor = None
                if name < len(functions) and functions[name][0] is not None:
                    producer, number = functions[name]
                    tensor = self._values.get((producer, number))
                    if tensor is None and is_leaf(producer):
                        tensor = producer.variable
            if tensor is not None and self._may_read(tensor):
                return tensor.detach()
        return None

    def _bad_leaf(self, node: Any) -> tuple[str, torch.Tensor] | None:
        """Data, a constant or a parameter that is not finite and goes into this function."""
        for producer, number in node.next_functions:
            if producer is None:
                continue
            if is_leaf(producer) and not self._leaf_is_finite(producer.variable):
                return self._origin(producer.variable), producer.variable
            if (producer, number) in self._from_leaf:
                return self._from_leaf[producer, number]
        for tensor in self._saved[node].tensors.values():
            is_own = tensor.grad_fn is node
            if tensor.grad_fn is None and not is_own and tensor.is_floating_point() and not self._is_result(node, tensor):
                if not self._leaf_is_finite(tensor):
                    return self._origin(tensor), tensor
        return None

    def _is_result(self, node: Any, tensor: torch.Tensor) -> bool:
        """True for a result that is not differentiated: scales of a normalization, the weight of all targets."""
        saved = self._saved[node].tensors
        return any(saved.get(name) is tensor for name in ("result1", "result2", "total_weight", "logsumexp", "inverse"))

    def _origin(self, tensor: torch.Tensor) -> str:
        name = self._known.names.get(id(tensor))
        if name is not None:
            return f"parameter {name}"
        if isinstance(tensor, torch.nn.Parameter):
            return "parameter"
        name = self._known.inputs.get(address_of(tensor))
        return "data" if name is None else f"data: {name}"

    def _finding(self, node: Any, name: str, leaf: tuple[str, torch.Tensor] | None) -> Finding:
        result = self._bad_result(node)
        note = note_of(node, self._known.lines)
        operation = operation_of(node, note)
        finding = Finding(
            operation,
            "",
            module=self._module(node, note),
            place=None if note is None else note.place,
            without_line=without_line(node, note, self._known.lines),
            left_out=self._left_out,
            is_complete=self._is_complete,
            position=self._position(node),
        )
        if result is not None:
            count = result.numel() - int(torch.isfinite(result).sum())
            dtype = str(result.dtype).removeprefix("torch.")
            finding = finding._replace(not_finite=count, elements=result.numel(), dtype=dtype)
        if leaf is not None:
            return self._of_leaf(finding, *leaf)
        unknown = [key for key in _inputs(node) if not is_leaf(key[0]) and key not in self._finite]
        reason = self._reason(node, name)
        is_proof = reason is not None and reason.bad_inputs is not None
        if unknown and not is_proof:
            return self._of_gap(finding, node, unknown, result)
        if reason is None and not self._presumed.isdisjoint(_inputs(node)):
            return self._of_constant(finding, node)
        if reason is None:
            reason = Reason(f"{_counted(finding)} of {operation} are not finite, and its inputs are")
        elif operation not in reason.text:
            reason = reason._replace(text=f"{reason.text} (in {operation})")
        return finding._replace(
            reason=reason.text,
            bad_inputs=reason.bad_inputs,
            smallest_other=reason.smallest_other,
            inputs_from=self._inputs_from(node),
        )

    def _of_constant(self, finding: Finding, node: Any) -> Finding:
        """A constant that was not kept went into this function, or into one before it: it may be to blame."""
        note = None if self._known.lines is None else self._known.lines.first_unrecorded()
        if note is not None:
            return finding._replace(
                operation=note.operation,
                module=note.module,
                place=note.place,
                not_finite=None,
                elements=None,
                reason=f"a result of {note.operation}, which has no gradient, is not finite and goes into {finding.operation}",
            )
        keys = [key for key in _inputs(node) if key in self._presumed]
        while keys and keys[0] in self._presumed:
            last = keys[0][0]
            keys = [key for key in _inputs(last) if not is_leaf(key[0])]
        before = self._described(keys[0][0]) if keys else "the input"
        between = f"between {before} and {finding.operation}"
        return finding._replace(
            between=between, reason=f"{between}: a constant, a mask or a target that {operation_of(last, None)} used is not kept"
        )

    def _of_leaf(self, finding: Finding, origin: str, tensor: torch.Tensor) -> Finding:
        """An input that was not finite before any operation of the graph; it may be a result without a gradient."""
        tensor = tensor.detach() if tensor.requires_grad else tensor
        unrecorded = self._unrecorded(finding, tensor)
        if unrecorded is not None:
            return unrecorded
        count = tensor.numel() - int(torch.isfinite(tensor).sum())
        what = {"data": "an input that is data or a constant"}.get(origin, origin)
        reason = f"{count} of {tensor.numel()} elements of {what} are not finite before {finding.operation}"
        if origin.startswith("parameter"):
            reason += ": an earlier update made them so"
        return finding._replace(reason=reason, bad_inputs=count, inputs_from=origin)

    def _unrecorded(self, finding: Finding, tensor: torch.Tensor) -> Finding | None:
        """The operation without a gradient that made a tensor not finite, if its inputs are still there and finite."""
        lines = self._known.lines
        for _ in range(100):
            made = None if lines is None else lines.of_tensor(tensor)
            if made is None:
                return None
            note, inputs = made
            bad = [one for one in inputs if one.is_floating_point() and one is not tensor and not is_finite(one)]
            if bad:
                tensor = bad[0]
                continue

            def operand(*names: str | int) -> torch.Tensor | None:
                at = next((name for name in names if isinstance(name, int)), 0)
                return inputs[at] if at < len(inputs) else None

            count = tensor.numel() - int(torch.isfinite(tensor).sum())
            reason = _torch_reasons.of_result(note.operation, operand, lambda _: None, tensor)
            text = f"{count} of {tensor.numel()} results of {note.operation}, which has no gradient, are not finite"
            return finding._replace(
                operation=note.operation,
                module=note.module,
                place=note.place,
                not_finite=count,
                elements=tensor.numel(),
                dtype=str(tensor.dtype).removeprefix("torch."),
                reason=text if reason is None else reason.text,
                bad_inputs=None if reason is None else reason.bad_inputs,
                smallest_other=None if reason is None else reason.smallest_other,
            )
        return None

    def _bad_result(self, node: Any) -> torch.Tensor | None:
        outputs = [tensor for key, tensor in self._values.items() if key[0] is node and not self._finite[key]]
        return outputs[0] if outputs else None

    def _reason(self, node: Any, name: str) -> Reason | None:
        get = functools.partial(self._operand, node)
        return _torch_reasons.of_result(name, get, functools.partial(value_of, node), self._bad_result(node))

    def _of_gap(self, finding: Finding, node: Any, unknown: list[Key], result: torch.Tensor | None) -> Finding:
        """Functions before this one keep nothing: the operation is one of them, or this one."""
        before, gap, waiting, seen = "the input", [], list(unknown), set(unknown)
        while waiting:
            key = waiting.pop(0)
            if self._finite.get(key):
                before = self._described(key[0])
                break
            gap.append(key[0])
            for one in _inputs(key[0]):
                if one not in seen and not is_leaf(one[0]):
                    seen.add(one)
                    waiting.append(one)
        able = [one for one in gap if name_of(one) not in _VIEWS | _WITH_CONSTANT]
        between = f"between {before} and {finding.operation}"
        names = ", ".join(dict.fromkeys(operation_of(one, self._note(one)) for one in able[:5]))
        reason = f"{between}: {names or 'what is between them'} keeps no result"
        # A sum or a view of finite numbers is never NaN.
        is_passed_on = name_of(node) in _VIEWS | _WITH_CONSTANT | _SUMS and result is not None and bool(result.isnan().any())
        if len(able) == 1 and is_passed_on:
            note = self._note(able[0])
            finding = finding._replace(
                operation=operation_of(able[0], note),
                module=self._module(able[0], note),
                place=None if note is None else note.place,
                without_line=without_line(able[0], note, self._known.lines),
                position=self._position(able[0]),
            )
        return finding._replace(between=between, reason=reason)

    def _position(self, node: Any) -> Position:
        return Position(self._order.index(node), len(self._order), name_of(node))

    # The chain.

    def _chain(self, node: Any, finding: Finding) -> tuple[Link, ...]:
        """The operations before the one that was found, that one, and those that its result goes through, without views."""
        after = self._after(node)
        for key in after:
            if key not in self._values:
                self._learn(key[0], name_of(key[0]))
        links = [self._link(key) for key in after]
        before: list[Link] = []
        if finding.inputs_from.startswith(("data", "parameter")):
            links.insert(0, Link(finding.inputs_from))
        elif (finding.operation, finding.place) != (links[0].operation, links[0].place):
            links.insert(0, Link(finding.operation, finding.module, finding.place, position=finding.position))
        else:
            before = [self._link(key) for key in self._before(node)]
        links[0] = links[0]._replace(is_first=True)
        if len(links) > 1 + MAX_AFTER:
            last = links[-1]._replace(left_out=len(links) - 1 - MAX_AFTER)
            links = [*links[:MAX_AFTER], last]
        return (*before, *links)

    def _after(self, node: Any) -> list[Key]:
        """Results from a function to the output, by the shortest way over those that may be not finite."""
        ways: dict[Any, Key | None] = {self._root[0]: None}
        key: Key | None = self._root
        waiting = [self._root]
        results: dict[Any, Key] = {self._root[0]: self._root}
        while waiting and node not in results:
            key = waiting.pop(0)
            for one in _inputs(key[0]):
                if one[0] not in ways and one[0] in self._saved and self._finite.get(one) is not True:
                    ways[one[0]], results[one[0]] = key, one
                    waiting.append(one)
        found: list[Key] = []
        key = results.get(node, (node, 0))
        while key is not None:
            found.append(key)
            key = ways.get(key[0])
        return [found[0], *(one for one in found[1:] if name_of(one[0]) not in _VIEWS)]

    def _before(self, node: Any) -> list[Key]:
        """The functions whose results go into a function, the first of them in the forward pass first, without views."""
        found: list[Key] = []
        for _ in range(100):
            keys = [key for key in _inputs(node) if not is_leaf(key[0]) and key[0] in self._saved]
            if not keys or len(found) == MAX_BEFORE:
                break
            node = keys[0][0]
            if name_of(node) not in _VIEWS:
                found.insert(0, keys[0])
        return found

    def _link(self, key: Key) -> Link:
        note, tensor = self._note(key[0]), self._values.get(key)
        result: dict[str, int] = {}
        if tensor is not None:
            counts = {"nan": tensor.isnan(), "infinite": tensor.isinf(), "zeros": tensor == 0}
            result = {"elements": tensor.numel(), **{name: int(has.sum()) for name, has in counts.items()}}
        place = None if note is None else note.place
        position = self._position(key[0])
        return Link(operation_of(key[0], note), self._module(key[0], note), place, result, position=position)

    def _note(self, node: Any) -> Note | None:
        return note_of(node, self._known.lines)

    def _inputs_from(self, node: Any) -> str:
        """The function that made the input, over views and casts."""
        keys = [key for key in _inputs(node) if not is_leaf(key[0])]
        for _ in range(100):
            if not keys:
                return ""
            if name_of(keys[0][0]) not in _VIEWS:
                return self._described(keys[0][0])
            keys = [key for key in _inputs(keys[0][0]) if not is_leaf(key[0])]
        return ""

    def _described(self, node: Any) -> str:
        note = note_of(node, self._known.lines)
        module = self._module(node, note)
        return operation_of(node, note) + (f" ({module})" if module else "")

    def _module(self, node: Any, note: Note | None) -> str:
        return module_of(node, note, self._known.names)


def with_lines(finding: Finding, output: torch.Tensor, lines: Lines) -> Finding | None:
    """A finding and its chain with lines of the pass that made an output; `None` if it made other operations."""
    order = _in_order(nodes_of([output.grad_fn]))

    def place(position: Position | None) -> tuple[str, int, str] | None:
        if position is None or len(order) != position.of or name_of(order[position.number]) != position.name:
            return None
        note = note_of(order[position.number], lines)
        return None if note is None else note.place

    found = place(finding.position)
    if found is None:
        return None
    chain = tuple(link._replace(place=place(link.position)) for link in finding.chain)
    return finding._replace(place=found, without_line="", chain=chain)


def module_of(node: Any, note: Note | None, names: Mapping[int, str]) -> str:
    """Module in which a function was called; without a note that of the parameters that it takes."""
    if note is not None:
        return note.module
    waiting = [node]
    for _ in range(3):
        producers = [one for function in waiting for one, _ in function.next_functions if one is not None]
        for producer in producers:
            if is_leaf(producer):
                name = names.get(id(producer.variable))
                if name is not None:
                    return name.rpartition(".")[0]
        waiting = [one for one in producers if name_of(one) in ("t", "to_copy", "transpose", "permute")]
    return ""


def operation_of(node: Any, note: Note | None) -> str:
    """Name of an operation as the program calls it: that of its note, if it is no operator or method of another name."""
    name = shown(name_of(node))
    if note is None or not note.operation.isidentifier() or note.operation in ("apply", "call", "index_put"):
        return name
    return note.operation


def note_of(node: Any, lines: Lines | None) -> Note | None:
    """Line of the call that made a function of autograd; of one of the program's own, where it is defined."""
    if isinstance(node, torch.autograd.function.BackwardCFunction):
        code = getattr(getattr(getattr(node, "_forward_cls", None), "forward", None), "__code__", None)
        if code is None or is_compiled(node):
            return None
        return Note("", (code.co_filename, code.co_firstlineno, code.co_qualname), "")
    return None if lines is None or is_leaf(node) else lines.of_sequence(node._sequence_nr())


def is_compiled(node: Any) -> bool:
    """True for a region of `torch.compile`, which is one function of autograd."""
    return type(node).__name__ == "CompiledFunctionBackward"


def without_line(node: Any, note: Note | None, lines: Lines | None) -> str:
    """Reason for which there is no line; "" if there is one."""
    if note is not None:
        return ""
    if is_compiled(node):
        return "torch.compile gives no lines"
    return "its step was not sampled" if lines is None else lines.reason or "it was not called in this thread"




def is_finite(tensor: torch.Tensor) -> bool:
    """True if all elements are finite. Waits for a device."""
    return tensor.numel() == 0 or bool(torch.isfinite(torch.linalg.vector_norm(tensor.detach(), torch.inf)))


def _in_order(nodes: list[Any]) -> list[Any]:
    """Functions in the order of the forward pass: after their inputs, and as they were called."""
    inside = set(nodes)
    users: dict[Any, list[Any]] = {}
    missing: dict[Any, int] = {}
    for node in nodes:
        producers = {one for one, _ in node.next_functions if one in inside}
        missing[node] = len(producers)
        for producer in producers:
            users.setdefault(producer, []).append(node)
    ready = [(_sequence(node), at, node) for at, node in enumerate(nodes) if not missing[node]]
    heapq.heapify(ready)
    order: list[Any] = []
    places = {node: at for at, node in enumerate(nodes)}
    while ready:
        node = heapq.heappop(ready)[2]
        order.append(node)
        for user in users.get(node, ()):
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, (_sequence(user), places[user], user))
    return order


def _sequence(node: Any) -> int:
    return -1 if is_leaf(node) else int(node._sequence_nr())


def is_leaf(node: Any) -> bool:
    return type(node).__name__ == "AccumulateGrad"


def is_view(node: Any) -> bool:
    """True for a function whose result has the elements of its only input, and none besides."""
    return name_of(node) in _SAME and len(node.next_functions) == 1


def _inputs(node: Any) -> list[Key]:
    return [(function, number) for function, number in node.next_functions if function is not None]


def _bytes_of(tensor: torch.Tensor) -> int:
    return int(tensor.numel() * tensor.element_size())


def address_of(tensor: torch.Tensor) -> int:
    try:
        return int(tensor.untyped_storage().data_ptr())
    except (RuntimeError, NotImplementedError):
        return 0


def _counted(finding: Finding) -> str:
    if finding.elements is None:
        return "results"
    return f"{finding.not_finite} of {finding.elements} results"


def _described(node: Any) -> tuple[tuple[int, ...], torch.dtype] | None:
    """Shape and type of the first result of a function."""
    try:
        first = node._input_metadata[0]
        return tuple(first.shape), first.dtype
    except (AttributeError, IndexError, RuntimeError, TypeError):
        return None


def _replayed(node: Any, name: str, operand: Callable[..., torch.Tensor | None]) -> torch.Tensor | None:
    """The result of a function, computed again from its operands; `None` if they, or its settings, are not all known."""
    described = _described(node)
    if described is None:
        return None
    shape, dtype = described
    if name in ("view", "unsafe_view", "_unsafe_view", "reshape_alias", "squeeze", "unsqueeze", "expand", "to_copy"):
        x = operand(0)
        if x is None:
            return None
        try:
            return x.expand(shape) if name == "expand" else x.reshape(shape).to(dtype)
        except RuntimeError:
            return None
    for overload in _overloads(name):
        arguments = _arguments(node, overload, operand)
        if arguments is None:
            continue
        try:
            result = overload(*arguments[0], **arguments[1])
        except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError):
            continue
        first = result[0] if isinstance(result, (tuple, list)) else result
        if isinstance(first, torch.Tensor) and tuple(first.shape) == shape and first.dtype == dtype:
            return first
    return None


@functools.lru_cache(maxsize=1024)
def _overloads(name: str) -> tuple[Any, ...]:
    """Functions of PyTorch of a name that are computed from their arguments alone: no random numbers, nothing in place."""
    found: list[Any] = []
    for full in (name, f"_{name}"):
        packet = getattr(torch.ops.aten, full, None)
        if packet is None:
            continue
        for one in packet.overloads():
            overload = getattr(packet, one)
            if torch.Tag.nondeterministic_seeded in overload.tags or overload._schema.is_mutable:
                continue
            if any(str(argument.type) == "Tensor" for argument in overload._schema.arguments):
                found.append(overload)
    return tuple(found)


def _arguments(
    node: Any, overload: Any, operand: Callable[..., torch.Tensor | None]
) -> tuple[list[Any], dict[str, Any]] | None:
    """Arguments by the names under which a function keeps them; `None` if one is not known."""
    edges = len(node.next_functions)
    arguments: list[Any] = []
    named: dict[str, Any] = {}
    tensors = 0
    for argument in overload._schema.arguments:
        kind = str(argument.type)
        if kind == "List[Tensor]":
            many = [operand(at) for at in range(edges)]
            if any(one is None for one in many):
                return None
            arguments.append(many)
        elif kind in ("Tensor", "Optional[Tensor]"):
            tensor = operand(argument.name, *([tensors] if tensors < edges else []))
            tensors += 1
            if tensor is None and (kind == "Tensor" or _has_edge(node, tensors - 1)):
                return None
            arguments.append(tensor)
        else:
            kept = f"_saved_{argument.name}"
            value = value_of(node, argument.name)
            if not hasattr(type(node), kept):
                if not argument.has_default_value():
                    return None
                value = argument.default_value
            if isinstance(value, torch.Tensor):
                return None
            if argument.kwarg_only:
                named[argument.name] = _signed(value)
            else:
                arguments.append(_signed(value))
    return arguments, named


def _has_edge(node: Any, at: int) -> bool:
    return at < len(node.next_functions) and node.next_functions[at][0] is not None


def _signed(value: Any) -> Any:
    """A number that was kept without its sign, as axes are."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1 << 63:
        return value - (1 << 64)
    if isinstance(value, (tuple, list)):
        return [_signed(one) for one in value]
    return value
