"""Reasons for which an operation has a result or a gradient that is not finite, in numbers: "52 of 192 inputs of log are 0"."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch


class Reason(NamedTuple):
    """A sentence, the number of inputs that are to blame, and the smallest magnitude of the others.

    Without a number, the result alone was looked at: it has this reason if the inputs are finite.
    """

    text: str
    bad_inputs: int | None = None
    smallest_other: float | None = None


Get = Callable[..., torch.Tensor | None]
"""Returns the first tensor that an operation has kept under one of these names, or that is known as its input."""


def of_result(name: str, get: Get, value: Callable[[str], Any], result: torch.Tensor | None) -> Reason | None:
    """Reason of a result that is not finite while the inputs are; `None` if what is known gives none.

    name: the operation as PyTorch's differentiation calls it. value: settings that it has kept.
    """
    x = get("self", "input", "x1", 0)
    return _of_domain(name, x, get, value, result) or _of_overflow(name, x, result)


def _of_domain(
    name: str, x: torch.Tensor | None, get: Get, value: Callable[[str], Any], result: torch.Tensor | None
) -> Reason | None:
    if name in ("log", "log2", "log10") and x is not None:
        return _outside(name, x, [("0", x == 0), ("negative", x < 0)])
    if name == "log1p" and x is not None:
        return _outside(name, x, [("-1", x == -1), ("below -1", x < -1)])
    if name in ("xlogy", "special_xlog1py") and (other := get("other", 1)) is not None:
        return _outside(name, other, [("0", other == 0), ("negative", other < 0)])
    if name == "reciprocal" and x is not None:
        return _outside(name, x, [("0", x == 0)])
    if name in ("div", "remainder", "fmod") and (divisor := get("other", 1)) is not None:
        return _outside(name, divisor, [("0", divisor == 0)], "divisor")
    if name in ("sqrt", "rsqrt") and x is not None:
        zero = [("0", x == 0)] if name == "rsqrt" else []
        return _outside(name, x, [*zero, ("negative", x < 0)])
    if name == "sqrt" and result is not None and (count := _count(torch.isnan(result))):
        return Reason(f"{count} of {result.numel()} results of sqrt are NaN: its inputs there are negative")
    if name in ("acos", "asin") and x is not None:
        return _outside(name, x, [("beyond -1 and 1", x.abs() > 1)])
    if name == "atanh" and x is not None:
        return _outside(name, x, [("-1 or 1", x.abs() == 1), ("beyond -1 and 1", x.abs() > 1)])
    if name == "acosh" and x is not None:
        return _outside(name, x, [("below 1", x < 1)])
    if name in ("lgamma", "digamma", "mvlgamma") and x is not None:
        return _outside(name, x, [("0 or a negative integer", (x <= 0) & (x == x.floor()))])
    if name in ("erfinv", "special_erfinv", "logit") and x is not None:
        return _outside(name, x, [("at or beyond the ends of its domain", (x.abs() >= 1) | ((x <= 0) & (name == "logit")))])
    if name == "pow":
        return _of_power(x, get("exponent", 1), value("exponent"))
    if name in ("softmax", "_softmax", "log_softmax", "_log_softmax", "_safe_softmax") and result is not None:
        return _of_rows(name.strip("_"), result, value("dim"))
    if name in ("mean", "var", "std", "var_mean", "std_mean"):
        return _of_few(name, x, result, value)
    if name.startswith("nll_loss") or name == "cross_entropy_loss":
        return _of_targets(get("target"), value("ignore_index"), get("weight"))
    if name in ("native_layer_norm", "native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm", "native_group_norm"):
        scales = get("result2")
        infinite = 0 if scales is None else _count(~torch.isfinite(scales))
        if scales is not None and infinite:
            text = f"{infinite} of {scales.numel()} variances are 0 and there is no eps: 1 / sqrt(0)"
            return Reason(text, infinite)
    if name == "mul" and result is not None:
        factors = [one for one in (x, get("other", 1)) if one is not None]
        if any(_count(torch.isinf(one)) for one in factors) and bool(torch.isnan(result).any()):
            return Reason("0 times infinity")
    return None


def of_gradient(name: str, get: Get, value: Callable[[str], Any], outgoing: torch.Tensor | None) -> Reason | None:
    """Reason of an outgoing gradient that is not finite while the incoming one is."""
    x = get("self", "input", "x1", 0)
    result = get("result", "output", "result0")
    if name in ("sqrt", "linalg_vector_norm", "norm", "cdist", "std", "_cdist_forward") and result is not None:
        zero = _count(result == 0)
        if zero:
            slope = "0/0" if name == "std" else "1/0"
            text = f"{zero} of {result.numel()} results of {shown(name)} are 0, where its gradient is {slope}"
            return Reason(text, zero, _smallest(result, result == 0))
    if name in ("log", "log2", "log10") and x is not None:
        return _slope(name, x, [("0", x == 0)])
    if name == "log1p" and x is not None:
        return _slope(name, x, [("-1", x == -1)])
    if name in ("acos", "asin") and x is not None:
        return _slope(name, x, [("-1 or 1", x.abs() == 1), ("beyond -1 and 1", x.abs() > 1)])
    if name in ("acosh", "atanh") and x is not None:
        return _slope(name, x, [("-1 or 1", x.abs() == 1)])
    if name == "atan2" and x is not None and (other := get("other", 1)) is not None:
        return _slope(name, x, [("0 as the others are", (x == 0) & (other == 0))])
    if name == "div" and (divisor := get("other", 1)) is not None:
        return _slope(name, divisor, [("0", divisor == 0)], "divisor")
    if name == "pow" and x is not None:
        return _slope(name, x, [("0", x == 0), ("negative", x < 0)])
    if name in ("reciprocal", "rsqrt", "exp", "expm1", "exp2", "tan", "sinh", "cosh") and result is not None:
        large = _count(~torch.isfinite(result))
        if large:
            return Reason(f"{large} of {result.numel()} results of {name} are not finite", large)
    if name in ("cumprod", "prod") and x is not None:
        return _slope(name, x, [("0", x == 0)])
    if name in ("lgamma", "digamma") and x is not None:
        return _slope(name, x, [("0 or a negative integer", (x <= 0) & (x == x.floor()))])
    if name in ("var", "std", "mean"):
        return _of_few(name, x, outgoing, value)
    if name.startswith("nll_loss"):
        return _of_targets(get("target"), value("ignore_index"), get("weight"))
    if outgoing is not None and _is_narrow(outgoing) and not bool(torch.isnan(outgoing).any()):
        return Reason(f"a gradient of {shown(name)} is beyond {_largest(outgoing):.6g}, the largest {_type_of(outgoing)}")
    return None


def _outside(name: str, x: torch.Tensor, kinds: list[tuple[str, torch.Tensor]], noun: str = "input") -> Reason | None:
    """Says how many elements are where the operation has no finite result; `None` if none are."""
    total = torch.zeros_like(x, dtype=torch.bool)
    parts: list[str] = []
    for words, is_bad in kinds:
        count = _count(is_bad)
        if count:
            parts.append(f"{count} of {x.numel()} {noun}s of {name} are {words}" if not parts else f"{count} are {words}")
            total |= is_bad
    if not parts:
        return None
    smallest = _smallest(x, total)
    other = "" if smallest is None else f"; the smallest other is {smallest:.3g}"
    return Reason(" and ".join(parts) + other, _count(total), smallest)


def _slope(name: str, x: torch.Tensor, kinds: list[tuple[str, torch.Tensor]], noun: str = "input") -> Reason | None:
    reason = _outside(name, x, kinds, noun)
    return None if reason is None else reason._replace(text=f"{reason.text}; its gradient there is not finite")


def _of_power(base: torch.Tensor | None, exponent: torch.Tensor | None, number: Any) -> Reason | None:
    if base is None:
        return None
    if exponent is None and isinstance(number, (int, float)):
        exponent = torch.full_like(base, float(number))
    if exponent is None:
        return None
    is_fraction = exponent != exponent.floor()
    kinds = [("negative with a fractional exponent", (base < 0) & is_fraction)]
    kinds.append(("0 with a negative exponent", (base == 0) & (exponent < 0)))
    return _outside("pow", base.expand_as(base + exponent), kinds, "base")


def _of_rows(name: str, result: torch.Tensor, dim: Any) -> Reason | None:
    axis = int(dim) - (1 << 64 if int(dim) >= 1 << 63 else 0) if isinstance(dim, int) else -1
    rows = torch.isnan(result).all(axis) if result.ndim else torch.isnan(result)
    bad = _count(rows)
    if not bad:
        return None
    return Reason(f"{bad} of {rows.numel()} rows of {name} are NaN: all their inputs are -inf, or one is +inf")


def _of_few(name: str, x: torch.Tensor | None, result: torch.Tensor | None, value: Callable[[str], Any]) -> Reason | None:
    """Mean of no element, or spread of one."""
    count = x.numel() if x is not None else value("self_sym_numel")
    sizes = tuple(x.shape) if x is not None else value("self_sym_sizes")
    dims = value("dim")
    if sizes is not None:
        axes = range(len(sizes)) if not dims else [one - (1 << 64 if one >= 1 << 63 else 0) for one in _listed(dims)]
        count = math.prod(sizes[axis] for axis in axes)
    if count is None:
        return None
    if count == 0:
        return Reason(f"{name} of no elements is 0/0", 0)
    correction = value("correction")
    if name != "mean" and count <= (1 if correction is None else float(correction)):
        elements = "one element" if count == 1 else f"{count} elements"
        return Reason(f"{name} of {elements} with correction {1 if correction is None else correction} is 0/0")
    return None


def _listed(dims: Any) -> list[int]:
    return [dims] if isinstance(dims, int) else list(dims)


def _of_targets(target: torch.Tensor | None, ignored: Any, weight: torch.Tensor | None) -> Reason | None:
    if target is None:
        return None
    if isinstance(ignored, int) and ignored >= 1 << 63:
        ignored -= 1 << 64
    count = _count(target == ignored) if isinstance(ignored, int) else 0
    if count == target.numel():
        return Reason(f"all {count} targets are {ignored}, which is ignored: the mean of no losses is 0/0", count)
    if weight is not None and not bool(weight.any()):
        return Reason("all weights of the classes are 0")
    return None


def _of_overflow(name: str, x: torch.Tensor | None, result: torch.Tensor | None) -> Reason | None:
    if result is None or not result.is_floating_point() or bool(torch.isnan(result).any()):
        return None
    infinite = _count(torch.isinf(result))
    if not infinite:
        return None
    text = f"{infinite} of {result.numel()} results of {shown(name)} are beyond {_largest(result):.6g}, the largest {_type_of(result)}"
    if name in ("exp", "expm1", "exp2", "cosh", "sinh") and x is not None and x.numel():
        text += f"; the largest input is {float(x.abs().max()):.4g}"
    return Reason(text)


def _count(is_it: torch.Tensor) -> int:
    return int(is_it.sum())


def _smallest(x: torch.Tensor, without: torch.Tensor) -> float | None:
    others = x[~without & torch.isfinite(x)].abs() if x.numel() else x
    return float(others.min()) if others.numel() else None


def _is_narrow(tensor: torch.Tensor) -> bool:
    return tensor.dtype in (torch.float16, torch.bfloat16)


def _largest(tensor: torch.Tensor) -> float:
    return float(torch.finfo(tensor.dtype).max)


def _type_of(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


_NAMES = {
    "addmm": "linear", "_unsafe_view": "view", "unsafe_view": "view", "reshape_alias": "view", "native_layer_norm": "layer_norm",
    "native_batch_norm": "batch_norm", "cudnn_batch_norm": "batch_norm", "miopen_batch_norm": "batch_norm",
    "native_group_norm": "group_norm", "native_dropout": "dropout", "convolution": "conv", "mkldnn_convolution": "conv",
    "linalg_vector_norm": "norm", "linalg_inv_ex": "inv", "linalg_cholesky_ex": "cholesky", "to_copy": "to", "bmm": "matmul",
    "mm": "matmul", "nll_loss2d": "nll_loss", "efficient_attention": "scaled_dot_product_attention",
}  # fmt: skip


def shown(name: str) -> str:
    """Name of an operation as programs call it."""
    if name.lstrip("_").startswith("scaled_dot_product"):
        return "scaled_dot_product_attention"
    return _NAMES.get(name, name.strip("_"))
