"""Operations, modules and lines of functions of autograd, as the program knows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch

from trainscope._torch_functions import is_leaf, name_of
from trainscope._torch_lines import Lines, Note
from trainscope._torch_reasons import shown


class Position(NamedTuple):
    """Place of an operation in the order of a forward pass. The same operation of another pass has the same one."""

    number: int
    of: int
    name: str


class Notes:
    """Operations, modules, lines and positions of the functions of one graph."""

    def __init__(self, order: list[Any], lines: Lines | None, names: Mapping[int, str]) -> None:
        self.lines = lines
        self._order = order
        self._names = names

    def of(self, node: Any) -> Note | None:
        """The call that made a function."""
        return note_of(node, self.lines)

    def module(self, node: Any, note: Note | None) -> str:
        """The module in which a function was called."""
        return module_of(node, note, self._names)

    def described(self, node: Any) -> str:
        """The operation with its module, for a sentence."""
        note = self.of(node)
        module = self.module(node, note)
        return operation_of(node, note) + (f" ({module})" if module else "")

    def position(self, node: Any) -> Position:
        """The place of a function in the forward pass."""
        return Position(self._order.index(node), len(self._order), name_of(node))


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
    """Name of an operation as the program calls it: that of its note, unless this is an operator or another method."""
    name = shown(name_of(node))
    if note is None or not note.operation.isidentifier() or note.operation in ("apply", "call", "index_put"):
        return name
    return note.operation


def note_of(node: Any, lines: Lines | None) -> Note | None:
    """Line of the call that made a function of autograd; for a function of the program, the line of its definition."""
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
    return "its step was not looked at" if lines is None else lines.reason or "it was not called in this thread"
