"""The operation that made a value that is not finite: found in the graph of autograd from the tensors that it has kept.

Pure: given a loss or an output, and the known lines and names, it returns a finding and changes nothing.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch

from trainscope import _torch_reasons
from trainscope._torch_chain import chain_of
from trainscope._torch_finding import Finding
from trainscope._torch_functions import (
    MAX_NODES,
    SAME,
    VIEWS,
    Key,
    address_of,
    in_order,
    inputs_of,
    is_finite,
    is_leaf,
    name_of,
    nodes_of,
    not_finite_in,
    value_of,
)
from trainscope._torch_lines import Lines
from trainscope._torch_notes import Notes, operation_of, without_line
from trainscope._torch_outputs import WITH_CONSTANT, Outputs
from trainscope._torch_reasons import Reason

MAX_BYTES = 64 << 20
"""Bytes of saved tensors that are looked at, the small ones first, and of results that are computed again."""

_SUMS = frozenset("sum mean cumsum".split())


class Known(NamedTuple):
    """Knowledge beside the graph: lines, names of parameters by identity, and of inputs by address of their memory."""

    lines: Lines | None = None
    names: Mapping[int, str] = {}
    inputs: Mapping[int, str] = {}


def find(output: torch.Tensor, known: Known = Known()) -> Finding | None:
    """The first operation in the forward pass that explains an output that is not finite; `None` if its graph does not.

    Saved tensors are read, never unpacked by hooks; results that were not kept are computed again from kept tensors.
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


class _Search:
    """One search in the graph of an output, function by function in the order of the forward pass."""

    def __init__(self, output: torch.Tensor, known: Known) -> None:
        self._known = known
        self._root: Key = (output.grad_fn, output.output_nr)
        nodes = nodes_of([output.grad_fn])
        self._is_whole = len(nodes) < MAX_NODES
        self._order = in_order(nodes)
        self._notes = Notes(self._order, known.lines, known.names)
        self._outputs = Outputs(nodes, MAX_BYTES)
        self._outputs.take(self._root, output)
        self._outputs.take_saved()
        # Origin of a view whose elements come from data or a parameter that is not finite.
        self._from_leaf: dict[Key, tuple[str, torch.Tensor]] = {}

    def run(self) -> Finding | None:
        """The finding with its chain."""
        # A view that is not finite has an input that is not.
        outputs = self._outputs
        for node in reversed(self._order):
            if outputs.finite.get((node, 0)) is False and name_of(node) in SAME:
                for key in inputs_of(node):
                    outputs.finite.setdefault(key, False)
        suspects = self._suspects()
        for node in self._order:
            if node in suspects and (finding := self._judge(node)) is not None:
                return finding._replace(chain=chain_of(finding, node, self._root, outputs, self._notes))
        return None

    def _suspects(self) -> set[Any]:
        """Functions from which a way to the output leads over no output that is known to be finite."""
        suspects = {self._root[0]}
        waiting = [self._root[0]]
        while waiting:
            for key in inputs_of(waiting.pop()):
                if key[0] not in suspects and self._outputs.finite.get(key) is not True:
                    suspects.add(key[0])
                    waiting.append(key[0])
        return suspects

    def _judge(self, node: Any) -> Finding | None:
        """The finding, if this function is the first with a result that is not finite. Else learns about its result."""
        name, key = name_of(node), (node, 0)
        if is_leaf(node):
            return None
        outputs = {one: state for one, state in self._outputs.finite.items() if one[0] is node}
        leaf = self._bad_leaf(node)
        if leaf is not None and name in VIEWS:
            self._from_leaf[key] = leaf
            self._outputs.finite[key] = False
            return None
        if not outputs:
            self._outputs.learn(node, name)
            state = self._outputs.finite.get(key)
        else:
            state = all(outputs.values())
        if state is None:
            reason = self._reason(node, name)
            if reason is None or reason.bad_inputs is None:
                return None
        elif state:
            return None
        return self._finding(node, name, leaf)

    def _bad_leaf(self, node: Any) -> tuple[str, torch.Tensor] | None:
        """Data, a constant or a parameter that is not finite and goes into this function."""
        for producer, number in node.next_functions:
            if producer is None:
                continue
            if is_leaf(producer) and not self._outputs.leaf_is_finite(producer.variable):
                return self._origin(producer.variable), producer.variable
            if (producer, number) in self._from_leaf:
                return self._from_leaf[producer, number]
        for tensor in self._outputs.saved[node].tensors.values():
            if tensor.grad_fn is None and tensor.is_floating_point() and not self._is_result(node, tensor):
                if not self._outputs.leaf_is_finite(tensor):
                    return self._origin(tensor), tensor
        return None

    def _is_result(self, node: Any, tensor: torch.Tensor) -> bool:
        """True for a result that is not differentiated: scales of a normalization, the weight of all targets."""
        saved = self._outputs.saved[node].tensors
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
        result = self._outputs.bad_result(node)
        note = self._notes.of(node)
        operation = operation_of(node, note)
        finding = Finding(
            operation,
            "",
            module=self._notes.module(node, note),
            place=None if note is None else note.place,
            without_line=without_line(node, note, self._known.lines),
            left_out=self._outputs.left_out,
            is_complete=self._is_whole and self._outputs.is_complete,
            position=self._notes.position(node),
        )
        if result is not None:
            count = not_finite_in(result)
            dtype = str(result.dtype).removeprefix("torch.")
            finding = finding._replace(not_finite=count, elements=result.numel(), dtype=dtype)
        if leaf is not None:
            return self._of_leaf(finding, *leaf)
        unknown = [key for key in inputs_of(node) if not is_leaf(key[0]) and key not in self._outputs.finite]
        reason = self._reason(node, name)
        is_proof = reason is not None and reason.bad_inputs is not None
        if unknown and not is_proof:
            return self._of_gap(finding, node, unknown, result)
        if reason is None and not self._outputs.presumed.isdisjoint(inputs_of(node)):
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
                reason=f"a result of {note.operation}, which has no gradient, is not finite and goes into "
                f"{finding.operation}",
            )
        keys = [key for key in inputs_of(node) if key in self._outputs.presumed]
        while keys and keys[0] in self._outputs.presumed:
            last = keys[0][0]
            keys = [key for key in inputs_of(last) if not is_leaf(key[0])]
        before = self._notes.described(keys[0][0]) if keys else "the input"
        between = f"between {before} and {finding.operation}"
        used = operation_of(last, None)
        return finding._replace(
            between=between, reason=f"{between}: a constant, a mask or a target that {used} used is not kept"
        )

    def _of_leaf(self, finding: Finding, origin: str, tensor: torch.Tensor) -> Finding:
        """An input that was not finite before any operation of the graph; it may be a result without a gradient."""
        tensor = tensor.detach() if tensor.requires_grad else tensor
        unrecorded = self._unrecorded(finding, tensor)
        if unrecorded is not None:
            return unrecorded
        count = not_finite_in(tensor)
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

            count = not_finite_in(tensor)
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

    def _reason(self, node: Any, name: str) -> Reason | None:
        get = functools.partial(self._outputs.operand, node)
        return _torch_reasons.of_result(name, get, functools.partial(value_of, node), self._outputs.bad_result(node))

    def _of_gap(self, finding: Finding, node: Any, unknown: list[Key], result: torch.Tensor | None) -> Finding:
        """Functions before this one keep nothing: the operation is one of them, or this one."""
        before, gap, waiting, seen = "the input", [], list(unknown), set(unknown)
        while waiting:
            key = waiting.pop(0)
            if self._outputs.finite.get(key):
                before = self._notes.described(key[0])
                break
            gap.append(key[0])
            for one in inputs_of(key[0]):
                if one not in seen and not is_leaf(one[0]):
                    seen.add(one)
                    waiting.append(one)
        able = [one for one in gap if name_of(one) not in VIEWS | WITH_CONSTANT]
        between = f"between {before} and {finding.operation}"
        names = ", ".join(dict.fromkeys(operation_of(one, self._notes.of(one)) for one in able[:5]))
        reason = f"{between}: {names or 'what is between them'} keeps no result"
        # A sum or a view of finite numbers is never NaN.
        is_passed_on = name_of(node) in VIEWS | WITH_CONSTANT | _SUMS
        if len(able) == 1 and is_passed_on and result is not None and bool(result.isnan().any()):
            note = self._notes.of(able[0])
            finding = finding._replace(
                operation=operation_of(able[0], note),
                module=self._notes.module(able[0], note),
                place=None if note is None else note.place,
                without_line=without_line(able[0], note, self._known.lines),
                position=self._notes.position(able[0]),
            )
        return finding._replace(between=between, reason=reason)

    def _inputs_from(self, node: Any) -> str:
        """The function that made the input, over views and casts."""
        keys = [key for key in inputs_of(node) if not is_leaf(key[0])]
        for _ in range(100):
            if not keys:
                return ""
            if name_of(keys[0][0]) not in VIEWS:
                return self._notes.described(keys[0][0])
            keys = [key for key in inputs_of(keys[0][0]) if not is_leaf(key[0])]
        return ""


def _counted(finding: Finding) -> str:
    if finding.elements is None:
        return "results"
    return f"{finding.not_finite} of {finding.elements} results"
