"""From a NaN or an infinity to the operation and the line that made it, forward and backward, in three types of numbers."""

from __future__ import annotations

import copy
import itertools
import random
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
import trainscope
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from trainscope import _torch_forensics as forensics
from trainscope import _torch_not_finite as not_finite
from trainscope._torch_lines import Lines

TYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}

T = torch.Tensor
Loss = Callable[[T], T]


def zeros(x: T) -> T:
    """The tensor with zeros in its first column, and no negative element."""
    return x.abs() * torch.tensor([0.0, 1.0, 1.0, 1.0], dtype=x.dtype)


def shrunk(x: T) -> T:
    """Elements between -1/2 and 1/2."""
    return x.clamp(-1, 1) / 2


def root(x: T) -> float:
    """A number whose square is larger than the largest one of the type."""
    return float(torch.finfo(x.dtype).max ** 0.5 * 1.5)


def near(x: T) -> T:
    """Half of the largest number of the type."""
    return x / x.detach() * (torch.finfo(x.dtype).max / 2)


ZERO = torch.zeros(1, 4)
LABELS = torch.tensor([0, 1, 2])
IGNORED = torch.tensor([-100, -100, -100])
NONE = torch.zeros(3, 4, dtype=torch.bool)

# The operation (or several that say the same) and a loss of a matrix of 3 rows and 4 columns without zeros, the smallest of
# which is 0.5. Each stands on one line, which the finding has to name.
FORWARD: dict[str, tuple[str, Loss]] = {
    "log of 0": ("log", lambda x: zeros(x).log().mean()),
    "log of softmax": ("log", lambda x: -(x * 500).softmax(1).log().mean()),
    "log1p of -1": ("log1p", lambda x: torch.log1p(zeros(x) - 1).mean()),
    "log2": ("log2", lambda x: torch.log2(zeros(x)).mean()),
    "log10": ("log10", lambda x: (x * 0).log10().sum()),
    "division by 0": ("div", lambda x: (x / zeros(x)).mean()),
    "division of 0 by 0": ("div", lambda x: (x.sum(1) * 0 / zeros(x).sum(0)[0]).mean()),
    "division by a deviation of 0": ("div", lambda x: (x / x.expand(2, 3, 4).std(0)).mean()),
    "square root of a negative number": ("sqrt", lambda x: torch.sqrt((x**2).mean(1) - x.mean(1) ** 2 - 9).mean()),
    "rsqrt of 0": ("rsqrt", lambda x: zeros(x).rsqrt().mean()),
    "power of a negative base": ("pow", lambda x: (-x.abs()).pow(0.5).mean()),
    "power of 0 with a negative exponent": ("pow", lambda x: (zeros(x) ** -1.5).mean()),
    "overflow of exp": ("exp", lambda x: (x.abs() * 1000).exp().mean()),
    "overflow of cosh": ("cosh", lambda x: torch.cosh(x.abs() * 1000).mean()),
    "overflow of sinh": ("sinh", lambda x: torch.sinh(x.abs() * 1000).mean()),
    "overflow of expm1": ("expm1", lambda x: torch.expm1(x.abs() * 1000).mean()),
    "overflow of exp in a log": ("exp", lambda x: (x.abs() * 1000).exp().sum(1).log().mean()),
    "softmax of a row of -inf": ("softmax", lambda x: x.masked_fill(~NONE, -torch.inf).softmax(1).mean()),
    "softmax of a row that is masked": ("softmax", lambda x: x.masked_fill(torch.ones(3, 4).tril(-1) == 0, -torch.inf).softmax(1).sum()),
    "log of softmax of -inf": ("log_softmax", lambda x: x.masked_fill(~NONE, -torch.inf).log_softmax(1).mean()),
    "mean of an empty mask": ("mean", lambda x: x[NONE].mean()),
    "masked mean of an empty mask": ("div", lambda x: (x * NONE).sum() / NONE.sum()),
    "std of one element": ("std", lambda x: x[:, :1].std(1).mean()),
    "var of one element": ("var", lambda x: x[:, :1].var(1).mean()),
    "0 times infinity": ("mul", lambda x: (x * 0 * torch.tensor(torch.inf, dtype=x.dtype)).mean()),
    "acos beyond 1": ("acos", lambda x: (x.abs() + 2).acos().mean()),
    "asin beyond 1": ("asin", lambda x: (x.abs() + 2).asin().mean()),
    "atanh of 1": ("atanh", lambda x: torch.atanh(zeros(x) * 0 + 1).mean()),
    "acosh below 1": ("acosh", lambda x: torch.acosh(shrunk(x)).mean()),
    "reciprocal of 0": ("reciprocal", lambda x: zeros(x).reciprocal().mean()),
    "lgamma of 0": ("lgamma", lambda x: torch.lgamma(zeros(x)).mean()),
    "digamma of 0": ("digamma", lambda x: torch.digamma(-zeros(x) * 0 - 1).mean()),
    "cross-entropy of ignored targets": ("cross_entropy", lambda x: functional.cross_entropy(x, IGNORED)),
    "NLL of ignored targets": ("nll_loss", lambda x: functional.nll_loss(x.log_softmax(1), IGNORED)),
    "KL of zeros": ("log", lambda x: (NONE.to(x.dtype) * (NONE.to(x.dtype).log() - x.log_softmax(1))).sum()),
    "layer norm of constants": ("layer_norm", lambda x: functional.layer_norm(x * 0 + 1, (4,), eps=0.0).mean()),
    "batch norm of no variance": ("batch_norm", lambda x: functional.batch_norm(x, ZERO[0].to(x), ZERO[0].to(x), eps=0.0).sum()),
    "normalize without eps": ("normalize", lambda x: functional.normalize(x * 0, dim=1, eps=0.0).mean()),
    "overflow of linear": ("linear", lambda x: functional.linear(near(x), torch.ones(2, 4, dtype=x.dtype)).mean()),
    "overflow of matmul": ("matmul", lambda x: (near(x) @ torch.ones(4, 2, dtype=x.dtype)).mean()),
    "overflow of a sum": ("sum", lambda x: near(x).sum()),
    "overflow of a sum of an axis": ("sum", lambda x: (near(x).sum(-1) * 0.5).mean()),
    "overflow of cumsum": ("cumsum", lambda x: near(x).cumsum(1).mean()),
    "overflow of prod": ("prod", lambda x: (near(x) / 2).prod()),
    "overflow of cumprod": ("cumprod", lambda x: near(x).cumprod(1).amax()),
    "overflow of a square": ("square", lambda x: near(x).square().mean()),
    "overflow of a product": ("mul", lambda x: (near(x) * near(x)).amax()),
    "overflow of an addition": ("add", lambda x: (near(x) + near(x) * 1.5).relu().amax()),
    "overflow of a convolution": ("conv1d", lambda x: functional.conv1d(near(x)[None], torch.ones(1, 3, 1, dtype=x.dtype)).amax()),
    "overflow of a cast": ("half", lambda x: (x.float().abs() * 1e6).half().float().mean()),
    "xlogy": ("xlogy", lambda x: torch.xlogy(x.abs(), x * 0).mean()),
    "erfinv of 1": ("erfinv", lambda x: torch.erfinv(x * 0 + 1).mean()),
    "logit of 0": ("logit", lambda x: torch.logit(x * 0).mean()),
    "tan": ("remainder", lambda x: torch.remainder(x, x * 0).mean()),
    "interpolation between infinities": ("lerp", lambda x: torch.lerp(near(x), -near(x) * 1.9, 9.0).amin()),
    "variance over a mean of 0": ("div", lambda x: (x.var(1) / (x * 0).mean(1)).mean()),
}  # fmt: skip

BACKWARD: dict[str, tuple[str, Loss]] = {
    "square root at 0": ("sqrt", lambda x: zeros(x).sqrt().sum()),
    "where of a NaN branch": ("log", lambda x: torch.where(x * 0 > 1, (x * 0).log(), x * 0).sum()),
    "where of a division": ("div", lambda x: torch.where(x * 0 > 1, x / (x * 0), x).sum()),
    "square root of a sum of squares": ("sqrt", lambda x: ((x * 0) ** 2).sum(1).sqrt().sum()),
    "power at 0": ("pow", lambda x: zeros(x).pow(0.5).sum()),
    "acos at 1": ("acos", lambda x: (zeros(x) * 0 + 1).acos().sum()),
    "asin at 1": ("asin", lambda x: torch.asin(x * 0 + 1).sum()),
    "acosh at 1": ("acosh", lambda x: torch.acosh(x * 0 + 1).sum()),
    "0 times infinity in a mask": ("exp", lambda x: torch.where(x > -1e6, x, (x.abs() * 1000).exp()).sum()),
    "atanh at 1 in a mask": ("atanh", lambda x: torch.where(x > -1e6, x, torch.atanh(x * 0 + 1)).sum()),
    "logarithm to the base 2 at 0 in a mask": ("log2", lambda x: torch.where(x > -1e6, x, (x * 0).log2()).sum()),
    "logarithm to the base 10 at 0 in a mask": ("log10", lambda x: torch.where(x > -1e6, x, (x * 0).log10()).sum()),
    "log1p of -1 in a mask": ("log1p", lambda x: torch.where(x > -1e6, x, torch.log1p(x * 0 - 1)).sum()),
    "reciprocal of 0 in a mask": ("reciprocal", lambda x: torch.where(x > -1e6, x, (x * 0).reciprocal()).sum()),
    "rsqrt of 0 in a mask": ("rsqrt", lambda x: torch.where(x > -1e6, x, (x * 0).rsqrt()).sum()),
    "power of 0 in a mask": ("pow", lambda x: torch.where(x > -1e6, x, (x * 0) ** -2).sum()),
    "expm1 in a mask": ("expm1", lambda x: torch.where(x > -1e6, x, torch.expm1(x.abs() * 1000)).sum()),
    "cosh in a mask": ("cosh", lambda x: torch.where(x > -1e6, x, torch.cosh(x.abs() * 1000)).sum()),
    "sinh in a mask": ("sinh", lambda x: torch.where(x > -1e6, x, torch.sinh(x.abs() * 1000)).sum()),
    "digamma of 0 in a mask": ("digamma", lambda x: torch.where(x > -1e6, x, torch.digamma(x * 0)).sum()),
    "lgamma of 0 in a mask": ("lgamma", lambda x: torch.where(x > -1e6, x, torch.lgamma(x * 0)).sum()),
    "xlogy of 0": ("xlogy", lambda x: torch.xlogy(x * 0, x * 0).sum()),
    "hypot of 0": ("hypot", lambda x: torch.hypot(x * 0, x * 0).sum()),
    "deviation by a variance of 0": ("sqrt", lambda x: (x * 0).var(1).sqrt().sum()),
    "distance of equal points": ("sqrt", lambda x: (x[:, None] - x[None]).square().sum(-1).sqrt().sum()),
    "normalize without eps": ("normalize", lambda x: torch.where(x > -1e6, x, functional.normalize(x * 0, eps=0.0)).sum()),
    "layer norm in a mask": ("layer_norm", lambda x: torch.where(x > -1e6, x, functional.layer_norm(x * 0, (4,), eps=0.0)).sum()),
    "std of one element in a mask": ("std", lambda x: torch.where(x[:, :1] > -1e6, x[:, :1], x[:, :1].std(1, keepdim=True)).sum()),
    "overflow of a scaled gradient": ("mul", lambda x: (x * torch.finfo(x.dtype).tiny * root(x) * root(x) * 2).sum()),
    "a function of the program": ("Inverse", lambda x: torch.where(x > -1e6, x, Inverse.apply(x * 0)).sum()),
}  # fmt: skip


class Inverse(torch.autograd.Function):
    """1 / x, which keeps its input."""

    @staticmethod
    def forward(ctx: Any, x: T) -> T:  # type: ignore[override]
        ctx.save_for_backward(x)
        return 1 / x

    @staticmethod
    def backward(ctx: Any, gradient: T) -> T:  # type: ignore[override]
        (x,) = ctx.saved_tensors
        return -gradient / (x * x)
