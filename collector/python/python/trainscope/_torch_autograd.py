"""Graph of autograd, read from a result back to what it was computed from. Nothing in it is changed or kept."""

from __future__ import annotations

import functools
import re
from collections.abc import Generator, Iterable
from typing import Any

import torch

Edge = tuple[Any, int]
"""A function of the graph, and which of its results is meant."""

# Names of functions that have another one in the graph.
_NAMES = {
    "addmm": "linear", "mkldnn_linear": "linear", "sparse_addmm": "linear",
    "mm": "matmul", "bmm": "matmul", "mv": "matmul", "dot": "matmul", "baddbmm": "matmul", "addbmm": "matmul",
    "nll_loss2d": "nll_loss", "nll_loss_nd": "nll_loss", "safe_softmax": "softmax", "log_sigmoid": "logsigmoid",
    "native_layer_norm": "layer_norm", "native_group_norm": "group_norm", "native_dropout": "dropout",
    "native_batch_norm": "batch_norm", "cudnn_batch_norm": "batch_norm", "miopen_batch_norm": "batch_norm",
    "batch_norm_with_update": "batch_norm", "rsub": "sub", "convolution": "conv", "convolution_overrideable": "conv",
    "mkldnn_convolution": "conv", "linalg_vector_norm": "norm", "log_softmax_backward_data": "log_softmax",
    "max_pool2d_with_indices": "max_pool2d", "max_pool3d_with_indices": "max_pool3d", "accumulate_grad": "parameter", "special_xlog1py": "xlog1py",
}  # fmt: skip

PASSING = frozenset(
    "view unsafe_view reshape reshape_alias view_as squeeze unsqueeze transpose t permute movedim swapaxes to_copy clone "
    "alias expand expand_as contiguous select slice narrow index gather index_select masked_select take as_strided split "
    "split_with_sizes unsafe_split unbind diagonal flatten unflatten copy_slices copy_backwards unfold "
    "lift_fresh real view_as_real detach".split()
)
"""Functions that pass their elements on: other shapes, types, places, or a part of them."""

JOINING = frozenset({"cat", "stack"})
"""Functions that join several tensors."""


@functools.lru_cache(maxsize=4096)
def _snake(name: str) -> str:
    name = re.sub(r"Backward(Full|Implicit)?\d*$", "", name.rpartition("::")[2])
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).strip("_").lower()
    snake = re.sub(r"(\d)_d(?=_|$)", r"\1d", snake)
    if snake.startswith("scaled_dot_product"):
        return "scaled_dot_product_attention"
    return _NAMES.get(snake, snake)


def name_of(node: Any) -> str:
    """Name of the function of PyTorch, in snake case: `log_softmax`; `parameter` for a leaf."""
    kind = type(node).__name__
    name = _snake(node.name() if kind in ("CppFunction", "Node") else kind)
    # The weight of a layer is a leaf; one that is frozen is not in the graph.
    if name == "matmul" and any(parent is None or _is_of_parameter(parent) for parent, _ in node.next_functions):
        return "linear"
    return name


def _is_of_parameter(node: Any) -> bool:
    if type(node).__name__ in ("TBackward0", "TransposeBackward0", "ToCopyBackward0"):
        node = next((parent for parent, _ in node.next_functions), None)
    return type(node).__name__ == "AccumulateGrad"


def parents(node: Any) -> list[Edge]:
    """Functions that made the inputs that need gradients."""
    return [(parent, number) for parent, number in node.next_functions if parent is not None]


def shape_of(edge: Edge) -> tuple[int, ...] | None:
    """Shape of a result; `None` if it is not known."""
    node, number = edge
    try:
        return tuple(int(size) for size in node._input_metadata[number].shape)
    except Exception:
        # Sizes of nested tensors and of those with symbols are no numbers.
        return None


def sequence_of(node: Any) -> int:
    """Number of the function in the order in which those of a thread were called."""
    number: int = node._sequence_nr()
    return number


def saved(node: Any, name: str) -> torch.Tensor | None:
    """A tensor that a function keeps for its gradient.

    `None` if it keeps none of this name, it was changed since, or was packed by a hook, which to call might compute a
    part of the model again.
    """
    try:
        if getattr(getattr(node, f"_raw_saved_{name}", None), "unpack_hook", None) is not None:
            return None
        value = getattr(node, f"_saved_{name}", None)
    except RuntimeError:
        return None
    return value.detach() if isinstance(value, torch.Tensor) else None


def saved_all(node: Any, name: str) -> list[torch.Tensor | None]:
    """Several tensors that a function keeps under one name, as the indices of `index`."""
    try:
        raw = getattr(node, f"_raw_saved_{name}", ())
        if any(getattr(one, "unpack_hook", None) is not None for one in raw):
            return []
        return list(getattr(node, f"_saved_{name}", ()))
    except (RuntimeError, TypeError):
        return []


def number_of(node: Any, name: str) -> int | None:
    """An integer that a function keeps: a dimension, counted from the end if it is negative."""
    value = getattr(node, f"_saved_{name}", None)
    if not isinstance(value, int):
        return None
    return value - (1 << 64) if value >= 1 << 63 else value


def behind(edge: Edge) -> tuple[Edge, list[Any]]:
    """The function that computed elements, behind those that only pass them on, and these, nearest first."""
    passed: list[Any] = []
    while len(passed) < 64:
        node = edge[0]
        name = name_of(node)
        before = parents(node)
        if not before or name not in PASSING | JOINING:
            break
        if name in JOINING and len({name_of(behind(one)[0][0]) for one in before[:4]}) != 1:
            break
        passed.append(node)
        edge = before[0]
    return edge, passed


def main_parent(node: Any) -> Edge | None:
    """The input that is computed from others, else the first one that needs a gradient."""
    before = parents(node)
    computed = (edge for edge in before if type(behind(edge)[0][0]).__name__ != "AccumulateGrad")
    return next(computed, before[0] if before else None)


def walk(roots: Iterable[Any], limit: int) -> tuple[list[Any], bool]:
    """All leaves that the functions lead to, and whether the graph was followed to its end."""
    waiting = [root for root in roots if root is not None]
    seen = set(waiting)
    leaves: list[Any] = []
    while waiting:
        node = waiting.pop()
        for parent, _ in node.next_functions:
            if parent is not None and parent not in seen:
                seen.add(parent)
                waiting.append(parent)
        # Only leaves have one.
        variable = getattr(node, "variable", None)
        if variable is not None:
            leaves.append(variable)
        if len(seen) > limit:
            return leaves, False
    return leaves, True


def functions_from(
    root: Any, stops: frozenset[str], limit: int
) -> Generator[tuple[Any, tuple[Any, ...]], bool | None, None]:
    """Functions from a result on, with the path to each of them, nearest first, without those behind `stops`.

    `send(True)` leaves out what is behind the function that was given last.
    """
    waiting: list[tuple[Any, tuple[Any, ...]]] = [(root, ())]
    seen = {root}
    while waiting and limit > 0:
        limit -= 1
        node, path = waiting.pop(0)
        is_end = yield node, path
        if is_end or name_of(node) in stops:
            continue
        for parent, _ in parents(node):
            if parent not in seen:
                seen.add(parent)
                waiting.append((parent, (*path, node)))
