"""Chain of operations from the one that made a value not finite to the loss."""

from __future__ import annotations

from typing import Any

from trainscope._torch_finding import Finding, Link
from trainscope._torch_functions import VIEWS, Key, inputs_of, is_leaf, name_of
from trainscope._torch_notes import Notes, operation_of
from trainscope._torch_outputs import Outputs

MAX_BEFORE = 2
"""Operations before the one that is found, in its chain."""

MAX_AFTER = 5
"""Operations after it, in its chain: the ones between the first and the last of them are counted."""


def chain_of(finding: Finding, node: Any, root: Key, outputs: Outputs, notes: Notes) -> tuple[Link, ...]:
    """The operations before the one that was found, that one, and those that its result goes through, without views.

    `node`: the function of the finding; `root`: the output that was searched.
    """
    after = _after(node, root, outputs)
    for key in after:
        if key not in outputs.values:
            outputs.learn(key[0], name_of(key[0]))
    links = [_link(key, outputs, notes) for key in after]
    before: list[Link] = []
    if finding.inputs_from.startswith(("data", "parameter")):
        links.insert(0, Link(finding.inputs_from))
    elif (finding.operation, finding.place) != (links[0].operation, links[0].place):
        links.insert(0, Link(finding.operation, finding.module, finding.place, position=finding.position))
    else:
        before = [_link(key, outputs, notes) for key in _before(node, outputs)]
    links[0] = links[0]._replace(is_first=True)
    if len(links) > 1 + MAX_AFTER:
        last = links[-1]._replace(left_out=len(links) - 1 - MAX_AFTER)
        links = [*links[:MAX_AFTER], last]
    return (*before, *links)


def _after(node: Any, root: Key, outputs: Outputs) -> list[Key]:
    """Results from a function to the output, by the shortest way over those that may be not finite."""
    ways: dict[Any, Key | None] = {root[0]: None}
    key: Key | None = root
    waiting = [root]
    results: dict[Any, Key] = {root[0]: root}
    while waiting and node not in results:
        key = waiting.pop(0)
        for one in inputs_of(key[0]):
            if one[0] not in ways and one[0] in outputs.saved and outputs.finite.get(one) is not True:
                ways[one[0]], results[one[0]] = key, one
                waiting.append(one)
    found: list[Key] = []
    key = results.get(node, (node, 0))
    while key is not None:
        found.append(key)
        key = ways.get(key[0])
    return [found[0], *(one for one in found[1:] if name_of(one[0]) not in VIEWS)]


def _before(node: Any, outputs: Outputs) -> list[Key]:
    """The functions whose results go into a function, the first of them in the forward pass first, without views."""
    found: list[Key] = []
    for _ in range(100):
        keys = [key for key in inputs_of(node) if not is_leaf(key[0]) and key[0] in outputs.saved]
        if not keys or len(found) == MAX_BEFORE:
            break
        node = keys[0][0]
        if name_of(node) not in VIEWS:
            found.insert(0, keys[0])
    return found


def _link(key: Key, outputs: Outputs, notes: Notes) -> Link:
    note, tensor = notes.of(key[0]), outputs.values.get(key)
    result: dict[str, int] = {}
    if tensor is not None:
        counts = {"nan": tensor.isnan(), "infinite": tensor.isinf(), "zeros": tensor == 0}
        result = {"elements": tensor.numel(), **{name: int(has.sum()) for name, has in counts.items()}}
    place = None if note is None else note.place
    position = notes.position(key[0])
    return Link(operation_of(key[0], note), notes.module(key[0], note), place, result, position=position)
