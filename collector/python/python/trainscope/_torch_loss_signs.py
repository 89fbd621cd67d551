"""Sign with which a loss goes into the result that a backward pass begins at."""

from __future__ import annotations

from typing import Any

import torch

from trainscope._torch_autograd import JOINING, PASSING, name_of, parents, saved

MAX_CHECKED = 1 << 16
"""Elements of a factor that are read to know its sign."""

_KEEPING = frozenset({"mean", "sum", "add"})


def sign_of(path: tuple[Any, ...], node: Any, *, is_logarithm: bool) -> int:
    """1 for a loss that is minimized, -1 for one that is made larger, 0 if that is not known.

    `path`: functions from the result to the loss. `is_logarithm`: the loss is written as logarithm of probabilities, of
    which the negative is minimized; its factors may be rewards, or costs.
    """
    sign = -1 if is_logarithm else 1
    for above, below in zip(path, (*path, node)[1:], strict=True):
        name = name_of(above)
        if name in ("add", "sub") and len(parents(above)) > 1:
            # Beside other terms, one may be made larger on purpose.
            return 0
        if name in PASSING or name in JOINING or name in _KEEPING:
            continue
        if name == "neg":
            sign = -sign
        elif name == "sub":
            sign = -sign if _is_subtracted(above, below) else sign
        elif name in ("mul", "div"):
            sign *= _sign_of_factor(above, name, is_logarithm=is_logarithm)
        else:
            return 0
    return sign


def _is_subtracted(node: Any, operand: Any) -> bool:
    """True if a function subtracts this operand from the other one."""
    if type(node).__name__.startswith("Rsub"):
        return True
    edges = node.next_functions
    return len(edges) == 2 and edges[1][0] is operand


def _sign_of_factor(node: Any, name: str, *, is_logarithm: bool) -> int:
    """Sign of what a loss is multiplied with or divided by; 0 if it has both signs, or is not known."""
    edges = node.next_functions
    if len(edges) == 2 and edges[0][0] is not None and edges[1][0] is not None:
        return 0
    if name == "div" and edges[0][0] is None:
        return 0
    factor = saved(node, "self" if edges[0][0] is None else "other")
    if factor is None or not factor.is_cpu or not 0 < factor.numel() <= MAX_CHECKED or factor.is_complex():
        return 0
    if is_logarithm and name == "mul" and (factor.numel() > 1 or abs(float(factor)) != 1):
        return 0
    lowest, highest = (float(one) for one in torch.aminmax(factor))
    if lowest >= 0 and highest > 0:
        return 1
    return -1 if highest <= 0 and lowest < 0 else 0
