"""Findings of values that are not finite: the operation that made them, and the chain of operations to the loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch

from trainscope._source import Place
from trainscope._torch_functions import in_order, name_of, nodes_of
from trainscope._torch_lines import Lines
from trainscope._torch_notes import Position, note_of


class Link(NamedTuple):
    """An operation of the chain to the loss. `result`: counts of its elements, if it is known."""

    operation: str
    module: str = ""
    place: Place | None = None
    result: Mapping[str, int] = {}
    is_first: bool = False
    left_out: int = 0
    position: Position | None = None


class Finding(NamedTuple):
    """The operation that made a value that is not finite, and its circumstances.

    `inputs_from`: operation and module that its input comes from; "data" or "parameter fc.weight" if the input itself
    is not finite and no operation made it. `between`: the gap in which it is, if saved tensors leave one. `left_out`:
    saved tensors that could not be read. `chain`: the operations from those before it to the output that was searched.
    `position`: the place of the function in the pass, to find its line in another pass.
    """

    operation: str
    reason: str
    module: str = ""
    place: Place | None = None
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


def with_lines(finding: Finding, output: torch.Tensor, lines: Lines) -> Finding | None:
    """A finding and its chain with lines of the pass that made an output; `None` if it made other operations."""
    order = in_order(nodes_of([output.grad_fn]))

    def place(position: Position | None) -> Place | None:
        if position is None or len(order) != position.of or name_of(order[position.number]) != position.name:
            return None
        note = note_of(order[position.number], lines)
        return None if note is None else note.place

    found = place(finding.position)
    if found is None:
        return None
    chain = tuple(link._replace(place=place(link.position)) for link in finding.chain)
    return finding._replace(place=found, without_line="", chain=chain)
