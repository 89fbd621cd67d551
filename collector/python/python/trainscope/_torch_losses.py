"""Loss functions in the graph of autograd: those of PyTorch, and those that are written by hand."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from trainscope._torch_autograd import (
    Edge,
    behind,
    functions_from,
    main_parent,
    name_of,
    number_of,
    parents,
    saved,
    saved_all,
    shape_of,
)
from trainscope._torch_loss_signs import sign_of

MAX_LOSSES = 8
"""Losses that are read of one backward pass: a sum may have hundreds."""

MAX_FUNCTIONS = 400
"""Functions between a loss and a model that are looked at."""

MAX_CHECKED = 1 << 16
"""Elements of a tensor that are read to know what it is."""

# Functions of a model: a loss function is not looked for behind them.
_OF_MODELS = frozenset(
    "linear matmul conv layer_norm group_norm batch_norm embedding embedding_bag scaled_dot_product_attention cudnn_rnn "
    "mkldnn_rnn_layer miopen_rnn compiled_function parameter fused_rms_norm einsum bilinear".split()
)

_DIRECT = frozenset(
    "nll_loss mse_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits soft_margin_loss "
    "multi_margin_loss multilabel_margin_loss ctc_loss cudnn_ctc_loss logsigmoid".split()
)

_BOUNDS = frozenset("clamp clamp_min clamp_max nan_to_num add".split())


@dataclasses.dataclass
class Loss:
    """A loss function of one backward pass. Not to be kept: it holds the graph.

    `sign`: 1 if the result that the pass begins at grows with it, -1 if it falls, 0 if that is not known.
    `has_wrong_axis`: probabilities are those along the samples. `node`: the function that ends it; `operand`: what goes into it. `outputs`, `target`: what it compares, as its function keeps it. `logarithms`:
    logarithms of probabilities. `ignored`: the target that does not count. `is_policy`: the targets are actions.
    """

    function: str
    node: Any
    operand: Edge
    outputs: torch.Tensor | None = None
    target: torch.Tensor | None = None
    ignored: int | None = None
    logarithms: torch.Tensor | None = None
    outputs_shape: tuple[int, ...] | None = None
    targets_shape: tuple[int, ...] | None = None
    classes: int = 0
    dimension: int = 0
    are_outputs_expanded: bool = False
    are_targets_expanded: bool = False
    is_by_hand: bool = False
    has_wrong_axis: bool = False
    sign: int = 0


def losses_of(root: Any) -> list[Loss]:
    """Losses that a result is computed from, the nearest first; none if no function is known to be one."""
    found: list[Loss] = []
    known: dict[tuple[str, Any], Loss] = {}
    functions = functions_from(root, _OF_MODELS, MAX_FUNCTIONS)
    try:
        node, path = next(functions)
        while len(found) < MAX_LOSSES:
            loss, is_end = _loss_at(node, path)
            if loss is not None:
                group = "classes" if loss.function in ("cross_entropy", "nll_loss", "kl_div") else loss.function
                key = (group, behind(loss.operand)[0][0])
                loss.sign = sign_of(path, node, is_logarithm=_is_logarithm(loss))
                if key not in known:
                    known[key] = loss
                    found.append(loss)
                elif known[key].sign != loss.sign:
                    known[key].sign = 0
            node, path = functions.send(is_end)
    except StopIteration:
        pass
    return found


def _is_logarithm(loss: Loss) -> bool:
    """True for a loss that ends with logarithms of probabilities, and not with a function that negates them."""
    name = name_of(loss.node)
    return name == "logsigmoid" or (name not in _DIRECT and loss.function not in ("mse_loss", "l1_loss", "norm"))


def _loss_at(node: Any, path: tuple[Any, ...]) -> tuple[Loss | None, bool]:
    """The loss function that ends at a function, and whether nothing behind it is looked at."""
    name = name_of(node)
    if name in _DIRECT:
        return _direct(name, node), True
    logits = logits_of(node)
    if logits is not None:
        return _of_classes(node, logits, path), True
    if name == "softmax":
        return _divergence_of_probabilities(node, path), False
    if name == "log":
        operand = _probability_of(node)
        if operand is None:
            return None, False
        return Loss("binary_cross_entropy", node, operand, target=_factor(path), is_by_hand=True, **_shapes(operand)), True
    if name in ("pow", "mul", "abs", "norm"):
        loss = _of_differences(name, node)
        return loss, loss is not None
    return None, False


def _direct(name: str, node: Any) -> Loss | None:
    operand = main_parent(node)
    if operand is None:
        return None
    if name != "nll_loss":
        return _of_values(name, node, operand)
    target, ignored = saved(node, "target"), number_of(node, "ignore_index")
    shapes: dict[str, Any] = {"targets_shape": None if target is None else tuple(target.shape)}
    log_probabilities, passed = behind(operand)
    logits = logits_of(log_probabilities[0])
    if logits is None:
        shape = shape_of(operand)
        classes = 0 if not shape else shape[1] if len(shape) > 1 else shape[0]
        return Loss(name, node, operand, target=target, ignored=ignored, outputs_shape=shape, classes=classes, **shapes)
    made = log_probabilities[0]
    loss = Loss(
        "cross_entropy", node, logits, target=target, ignored=ignored, logarithms=saved(made, "result"),
        **_class_shapes(made, logits), **shapes,
    )  # fmt: skip
    # The classes of this loss are along the second axis.
    loss.has_wrong_axis = not passed and len(loss.outputs_shape or ()) > 1 and loss.dimension != 1
    return loss


def _of_values(name: str, node: Any, operand: Edge) -> Loss:
    """A loss of PyTorch that compares elements. What was expanded has steps of 0 in its memory."""
    outputs, target = saved(node, "self"), saved(node, "target")
    loss = Loss(name.removeprefix("cudnn_"), node, operand, outputs, target, **_shapes(operand))
    if name in ("soft_margin_loss", "multi_margin_loss", "multilabel_margin_loss", "ctc_loss", "logsigmoid"):
        loss.outputs = loss.target = None
        return loss
    if target is not None:
        loss.targets_shape = _before_expansion(target)
    edge = operand
    is_meant = False
    while name_of(edge[0]) in ("expand", "unsqueeze", "to_copy", "view", "reshape_alias") and parents(edge[0]):
        above, name = parents(edge[0])[0], name_of(edge[0])
        loss.are_outputs_expanded |= name == "expand" and shape_of(above) != shape_of(edge)
        # `outputs[:, None]` is written to be compared with every target.
        is_meant |= name == "unsqueeze"
        edge = above
        if name == "expand":
            loss.outputs_shape = shape_of(above)
    if loss.are_outputs_expanded and not is_meant and target is not None and outputs is not None:
        loss.are_targets_expanded = _is_repeated(target, outputs)
    elif loss.are_outputs_expanded:
        loss.are_outputs_expanded = not is_meant
    return loss


def _before_expansion(tensor: torch.Tensor) -> tuple[int, ...]:
    """Shape without the axes along which all elements are one in memory."""
    sizes = [1 if step == 0 else size for size, step in zip(tensor.shape, tensor.stride(), strict=True)]
    while len(sizes) > 1 and sizes[0] == 1 and tensor.shape[0] != 1:
        sizes.pop(0)
    return tuple(sizes)


def _is_repeated(target: torch.Tensor, outputs: torch.Tensor) -> bool:
    """True if targets are the same along an axis, of more than one element, in which outputs are not expanded."""
    for axis, size in enumerate(target.shape):
        if size < 2 or (outputs.ndim > axis and outputs.stride(axis) == 0):
            continue
        if target.stride(axis) == 0:
            return True
        # Of another type than the outputs, they were copied after they were expanded.
        if target.is_cpu and target.numel() <= MAX_CHECKED:
            first = target.narrow(axis, 0, 1)
            if bool((target == first).all()) and not bool((target == target.flatten()[0]).all()):
                return True
    return False


def logits_of(node: Any) -> Edge | None:
    """Function that the logarithms of probabilities are computed from, if there is one: `log_softmax`, also as
    the logarithm of `softmax`, and as difference to `logsumexp`."""
    name = name_of(node)
    if name == "log_softmax":
        return main_parent(node)
    if name == "log":
        probabilities = _within_bounds(node)
        return main_parent(probabilities) if probabilities is not None and name_of(probabilities) == "softmax" else None
    if name == "sub":
        before = parents(node)
        for total, other in (before, before[::-1]) if len(before) == 2 else ():
            sum_of = behind(total)[0][0]
            if name_of(sum_of) == "logsumexp":
                logits = parents(sum_of)[0]
                if behind(logits)[0][0] is behind(other)[0][0]:
                    return logits
    return None


def _within_bounds(node: Any) -> Any | None:
    """The function whose results a logarithm gets, behind bounds, a small number that is added, and normalization."""
    edge = main_parent(node)
    for _ in range(8):
        if edge is None:
            return None
        inner = behind(edge)[0][0]
        before, name = parents(inner), name_of(inner)
        is_norm = name == "div" and len(before) == 2 and name_of(behind(before[1])[0][0]) == "sum"
        if not (is_norm or (name in _BOUNDS and len(before) == 1)):
            return inner
        edge = before[0]
    return None


def _probability_of(node: Any) -> Edge | None:
    """Probability whose logarithm is taken, of an event or of its opposite, if it comes from `sigmoid`."""
    inner = _within_bounds(node)
    if inner is not None and name_of(inner) == "sub" and len(parents(inner)) == 1:
        edge = parents(inner)[0]
        inner = behind(edge)[0][0]
        if name_of(inner) in _BOUNDS:
            inner = _within_bounds(inner)
    return (inner, 0) if inner is not None and name_of(inner) == "sigmoid" else None


def _of_classes(node: Any, logits: Edge, path: tuple[Any, ...]) -> Loss | None:
    """A loss of logarithms of probabilities that is no call of `nll_loss`."""
    target: torch.Tensor | None = None
    function = "cross_entropy"
    chosen = [one for edge in parents(node) for one in behind(edge)[1]] if name_of(node) == "sub" else []
    for above in (*chosen, *reversed(path)):
        name = name_of(above)
        if name == "gather":
            target = saved(above, "index")
        elif name == "index":
            indices = [one for one in saved_all(above, "indices") if one is not None]
            target = indices[-1] if indices and not indices[-1].is_floating_point() else target
        elif name == "exp":
            function = "policy_gradient"
        elif name == "mul":
            before = parents(above)
            if len(before) == 2 and any(name_of(behind(edge)[0][0]) in ("softmax", "exp") for edge in before):
                # The entropy of the outputs.
                return None
            factor = _constant(above)
            if factor is None or factor.numel() < 2:
                continue
            if target is None:
                target = factor
            elif factor.is_cpu and bool((factor[:MAX_CHECKED] < 0).any()):
                function = "policy_gradient"
        elif name == "sub" and above.next_functions[0][0] is None and target is not None and target.is_floating_point():
            function = "kl_div"
    if any(_is_difference_of_constant(above, node) for above in path[-1:]):
        function = "kl_div"
    loss = Loss(function, node, logits, target=target, logarithms=saved(node, "result"), is_by_hand=True)
    if function == "kl_div":
        # Here the logarithms are the input.
        loss.operand, loss.is_by_hand = (node, 0), False
    if function == "policy_gradient":
        loss.target = None
    elif target is not None:
        loss.targets_shape = tuple(target.shape)
    for name, value in _class_shapes(node, logits).items():
        setattr(loss, name, value)
    return loss


def _is_difference_of_constant(above: Any, node: Any) -> bool:
    """True for `constant - node`: of logarithms of targets, in a divergence."""
    edges = above.next_functions
    return name_of(above) == "sub" and len(edges) == 2 and edges[0][0] is None and edges[1][0] is node


def _divergence_of_probabilities(node: Any, path: tuple[Any, ...]) -> Loss | None:
    """`kl_div` of probabilities in place of their logarithms: `constant - target * probabilities`, `target * (constant - probabilities)`."""
    names = [name_of(above) for above in path]
    factors = [above for above, name in zip(path, names, strict=True) if name == "mul" and _constant(above) is not None]
    differences = [
        above
        for above, name in zip(path, names, strict=True)
        if name == "sub" and len(above.next_functions) == 2 and above.next_functions[0][0] is None
    ]
    if not factors or not differences or any(name in ("log", "logsumexp", "exp", "pow") for name in names):
        return None
    shape = shape_of((node, 0))
    target = next((one for above in factors if (one := _constant(above)) is not None and one.shape == shape), None)
    if target is None or shape_of((differences[-1], 0)) != shape or not _are_probabilities(target):
        return None
    operand = (node, 0)
    return Loss("kl_div", node, operand, target=target, targets_shape=tuple(target.shape), **_class_shapes(node, operand))


def _are_probabilities(tensor: torch.Tensor) -> bool:
    """True if elements are not negative and have the sum 1 along an axis; where reading would wait, by their type."""
    if not tensor.is_floating_point() or tensor.ndim == 0:
        return False
    if not tensor.is_cpu:
        return True
    part = tensor[:64].float()
    sums = (part.sum(axis) for axis in range(part.ndim - 1, 0 if part.ndim > 1 else -1, -1))
    return bool((part >= 0).all()) and any(bool((one - 1).abs().max() < 1e-2) for one in sums)


def _of_differences(name: str, node: Any) -> Loss | None:
    """Squares, magnitudes and norms of differences between outputs and targets."""
    before = parents(node)
    if name == "pow" and _exponent(node) != 2:
        return None
    if name == "mul" and not (len(before) == 2 and before[0] == before[1]):
        return None
    if not before:
        return None
    edge = behind(before[0])[0]
    difference = edge[0]
    while name_of(difference) == "add" and len(parents(difference)) == 1:
        difference = behind(parents(difference)[0])[0][0]
    edges = parents(difference)
    if name_of(difference) != "sub" or not edges:
        return None
    if len(edges) == 2:
        sides = [behind(one)[0][0] for one in edges]
        if any(name_of(side) in ("mean", "sum", "logsumexp") for side in sides):
            # A variance.
            return None
    operand = edges[0]
    function = {"abs": "l1_loss", "norm": "norm"}.get(name, "mse_loss")
    loss = Loss(function, node, operand, is_by_hand=True, **_shapes(operand))
    _compare_with_result(loss, difference, operand, saved(node, "self"))
    return loss


def _compare_with_result(loss: Loss, difference: Any, operand: Edge, values: torch.Tensor | None) -> None:
    """Finds out whether outputs and targets were both expanded: differences are then `outputs[i] - targets[j]`."""
    while name_of(operand[0]) == "expand" and parents(operand[0]):
        operand = parents(operand[0])[0]
    shape, result = shape_of(operand), shape_of((difference, 0))
    if shape is None or result is None or shape == result or name_of(operand[0]) == "unsqueeze":
        return
    loss.outputs_shape = shape
    loss.are_outputs_expanded = True
    if values is None or values.ndim != 2 or not values.is_cpu or min(values.shape) < 2:
        return
    part = values[:64, :64].float()
    mixed = part - part[:1] - part[:, :1] + part[:1, :1]
    if bool(mixed.abs().max() <= 1e-4 * part.abs().max().clamp(min=1e-30)):
        loss.are_targets_expanded = True
        loss.targets_shape = (result[1],) if len(shape) == 2 and shape[1] == 1 else (result[0], 1)


def _exponent(node: Any) -> float | None:
    exponent = getattr(node, "_saved_exponent", None)
    return float(exponent) if isinstance(exponent, (int, float)) else None


def _constant(node: Any) -> torch.Tensor | None:
    """The factor of a product that needs no gradient."""
    edges = node.next_functions
    if len(edges) != 2 or (edges[0][0] is None) == (edges[1][0] is None):
        return None
    return saved(node, "self" if edges[0][0] is None else "other")


def _factor(path: tuple[Any, ...]) -> torch.Tensor | None:
    if not path or name_of(path[-1]) != "mul":
        return None
    return _constant(path[-1])


def _shapes(operand: Edge) -> dict[str, Any]:
    return {"outputs_shape": shape_of(operand)}


def _class_shapes(node: Any, logits: Edge) -> dict[str, Any]:
    """Shape of outputs for classes, number of classes and the axis of these."""
    shape = shape_of(logits)
    inner = node if name_of(node) != "log" else _within_bounds(node)
    dimension = number_of(inner, "dim")
    if shape is None or not shape:
        return {"outputs_shape": shape}
    axis = -1 if dimension is None else dimension
    axis = axis + len(shape) if axis < 0 else axis
    classes = shape[axis] if 0 <= axis < len(shape) else 0
    return {"outputs_shape": shape, "classes": classes, "dimension": axis}
