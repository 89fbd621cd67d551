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
from trainscope._native import GradientHook
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

# The operation (or several that say the same) and a loss of a matrix of 3 rows and 4 columns without zeros; its smallest element
# is 0.5. Each is on one line: the finding has to name it.
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


class Fact(dict[str, Any]):
    """A fact that was recorded: its numbers and texts."""

    def __init__(self, operation: str, numbers: dict[str, float], texts: dict[str, str], source: Any, step: int) -> None:
        super().__init__(numbers | texts)
        self.operation, self.source, self.step = operation, source, step
        # Of an operation: its chain to the loss.
        self.chain: list[Fact] = []

    @property
    def line(self) -> int:
        return 0 if self.source is None else int(self.source.line)


Begin = Callable[..., tuple[trainscope.Run, list[Fact]]]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Begins runs whose facts of operations are gathered; they are finished in the end."""
    runs: list[trainscope.Run] = []

    def start(**options: Any) -> tuple[trainscope.Run, list[Fact]]:
        run = trainscope.Run(tmp_path / f"run{len(runs)}", **{"every": 1, "strict": True} | options)
        runs.append(run)
        found: list[Fact] = []
        write = run._fact

        def fact(kind: str, subject: str = "", *, numbers: Any = (), texts: Any = (), source: Any = None, step: Any = None) -> None:
            numbers, texts = dict(numbers), dict(texts)
            write(kind, subject, numbers=numbers, texts=texts, source=source, step=step)
            if kind == "operation_not_finite":
                found.append(Fact(subject, numbers, texts, source, step))
            if kind == "chain_to_loss":
                found[-1].chain.append(Fact(texts["operation"], numbers, texts, source, step))

        run._fact = fact  # type: ignore[method-assign, assignment]
        return run, found

    yield start
    for run in runs:
        run.finish()


class Probe(nn.Module):
    """Computes a loss from its only parameter."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        values = torch.tensor([[0.5, -1.5, 2.0, 0.75], [-0.5, 1.0, -2.25, 1.25], [0.625, -0.75, 1.5, -1.0]])
        self.x = nn.Parameter(values.to(dtype))

    def forward(self, loss: Loss) -> T:
        return loss(self.x * 1)


def one_step(begin: Begin, loss: Loss, dtype: torch.dtype = torch.float32, **options: Any) -> tuple[T, Probe, list[Fact]]:
    """One watched step of a loss."""
    run, facts = begin(**options)
    model = Probe(dtype)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    run.watch(model, optimizer)
    value = model(loss)
    value.backward()
    optimizer.step()
    return value.detach(), model, facts


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("case", FORWARD)
def test_the_operation_and_line_of_a_loss_that_is_not_finite(begin: Begin, case: str, dtype: str) -> None:
    operation, loss = FORWARD[case]
    value, _, facts = one_step(begin, loss, TYPES[dtype])
    assert not torch.isfinite(value) and len(facts) == 1
    (fact,) = facts
    assert fact.operation == operation or f"and {operation}" in fact["between"]
    assert fact["pass"] == "forward" and fact["reason"] and fact["is_complete"] == 1
    assert [link["is_first"] for link in fact.chain].count(1) == 1
    first = next(link for link in fact.chain if link["is_first"])
    assert first.operation in (fact.operation, fact.get("inputs_from"))
    assert all(link["nan"] + link["infinite"] == 0 for link in fact.chain[: fact.chain.index(first)] if "elements" in link)
    assert fact.chain[-1]["elements"] == 1 and fact.chain[-1]["nan"] + fact.chain[-1]["infinite"] == 1
    if operation != "Inverse":
        assert fact.line == loss.__code__.co_firstlineno
        assert Path(fact.source.file).name == Path(__file__).name and "lambda x" in fact.source.excerpt


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("case", BACKWARD)
def test_the_operation_and_line_of_gradients_that_are_not_finite(begin: Begin, case: str, dtype: str) -> None:
    operation, loss = BACKWARD[case]
    value, model, facts = one_step(begin, loss, TYPES[dtype])
    assert torch.isfinite(value) and model.x.grad is not None and not torch.isfinite(model.x.grad).all()
    assert [fact.operation for fact in facts] == [operation]
    assert facts[0]["pass"] == "backward" and facts[0]["reason"] and facts[0]["not_finite"] > 0
    line = Inverse.forward.__code__.co_firstlineno if operation == "Inverse" else loss.__code__.co_firstlineno
    assert facts[0].line == line


def test_the_chain_leads_from_what_goes_into_the_operation_to_the_loss(begin: Begin) -> None:
    def loss(x: T) -> T:
        p = torch.softmax(x * 200, dim=-1)
        entropy = -(p * p.log()).sum(dim=-1)
        return entropy.mean() + 1

    _, _, (fact,) = one_step(begin, loss)
    told = [(link.operation, link["is_first"], link.get("zeros", 0) > 0, link.get("nan", 0), link.get("infinite", 0) > 0) for link in fact.chain]
    assert told[:3] == [("mul", 0, False, 0, False), ("softmax", 0, True, 0, False), ("log", 1, True, 0, True)]
    assert [name for name, *_ in told[3:]] == ["mul", "sum", "neg", "mean", "add"]
    assert all(nan > 0 for *_, nan, _ in told[3:])
    begun = loss.__code__.co_firstlineno
    assert [link.line - begun for link in fact.chain[1:]] == [1, 2, 2, 2, 2, 3, 3]


def test_a_result_without_a_gradient_is_known_when_its_memory_was_used_again(begin: Begin) -> None:
    def loss(x: T) -> T:
        difference = NONE.to(x.dtype).log() - x.log_softmax(1)
        for _ in range(100):
            NONE.to(x.dtype) + 1
        return (NONE.to(x.dtype) * difference).sum()

    _, _, (fact,) = one_step(begin, loss)
    assert fact.operation == "log" and fact.line == loss.__code__.co_firstlineno + 1


def test_a_step_that_was_not_looked_at_gets_its_line_from_the_next_one(begin: Begin) -> None:
    run, facts = begin(every=10)
    model = Probe(torch.float32)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    run.watch(model, optimizer)

    def loss(x: T) -> T:
        y = x * scale
        return y.log().sum()

    for step in range(8):
        scale = 0 if step >= 5 else 1
        optimizer.zero_grad()
        model(lambda x: loss(x * x + 1) if step < 5 else loss(x * x)).backward()
        optimizer.step()
    first, again = facts
    assert first.operation == again.operation == "log" and first.step == again.step == 5
    assert first.source is None and "without_line" in first and "without_line" not in again
    begun = loss.__code__.co_firstlineno
    assert again.line == begun + 2
    assert [link.line - begun for link in again.chain if link.operation in ("log", "sum")] == [2, 2]


def test_another_pass_gives_no_line(begin: Begin) -> None:
    run, facts = begin(every=10)
    model = Probe(torch.float32)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    run.watch(model, optimizer)
    for step in range(8):
        optimizer.zero_grad()
        model(lambda x: ((x * 0).log() if step == 5 else (x * 0 + 1).log().exp()).sum()).backward()
        optimizer.step()
    assert [(fact.operation, fact.source, fact.step) for fact in facts][:1] == [("log", None, 5)]
    assert all(fact.source is None for fact in facts if fact.step == 5)


def test_a_long_chain_is_cut_before_the_loss(begin: Begin) -> None:
    def loss(x: T) -> T:
        y = (x * 0).log()
        for _ in range(20):
            y = y * 1
        return y.sum()

    _, _, (fact,) = one_step(begin, loss)
    assert [link.operation for link in fact.chain] == ["mul", "mul", "log", "mul", "mul", "mul", "mul", "sum"]
    assert [link["left_out"] for link in fact.chain][-2:] == [0, 16]


def test_a_chain_ends_at_the_functions_that_are_looked_at(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes_of = forensics.nodes_of
    monkeypatch.setattr(forensics, "nodes_of", lambda roots: nodes_of(roots, 3))
    _, _, (fact,) = one_step(begin, lambda x: (x * 2 * 0).log().sum())
    assert fact.operation == "log"
    assert [link.operation for link in fact.chain] == ["mul", "log", "sum"]


def test_there_are_thirty_operations() -> None:
    assert len(FORWARD) >= 30 and len({operation for operation, _ in [*FORWARD.values(), *BACKWARD.values()]}) >= 30


# Sentences.


class Net(nn.Module):
    """Two layers, and an operation of the second."""

    def __init__(self, operation: Loss) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.head = Head(operation)

    def forward(self, x: T) -> T:
        result: T = self.head(self.body(x))
        return result


class Head(nn.Module):
    """A layer with an operation after it."""

    def __init__(self, operation: Loss) -> None:
        super().__init__()
        self.fc = nn.Linear(8, 3)
        self.operation = operation

    def forward(self, x: T) -> T:
        return self.operation(self.fc(x))


def trained(run: trainscope.Run, model: nn.Module, loss_of: Callable[[T], T], data: list[T], skips: bool = False) -> list[T]:
    """Losses of a watched training. skips: there is no update if the loss is not finite."""
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    run.watch(model, optimizer)
    losses = []
    for x in data:
        optimizer.zero_grad()
        loss = loss_of(model(x))
        loss.backward()
        losses.append(loss.detach())
        if skips and not torch.isfinite(loss):
            optimizer.zero_grad()
        optimizer.step()
    return losses


def batches(count: int, factor: float = 1.0) -> list[T]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(5, 4, generator=generator) * factor for _ in range(count)]


def test_numbers_module_and_origin_are_named(begin: Begin) -> None:
    torch.manual_seed(0)
    run, facts = begin()
    model = Net(lambda x: (x * 1000).softmax(1))
    (loss,) = trained(run, model, lambda p: -p.log().mean(), batches(1))
    (fact,) = facts
    zeros_seen = int(fact["bad_inputs"])
    assert fact.operation == "log" and fact["reason"].startswith(f"{zeros_seen} of 15 inputs of log are 0; the smallest other is ")
    assert fact["inputs_from"] == "softmax (head)" and fact.get("module", "") == "" and loss == torch.inf
    assert fact["elements"] == 15 and fact["not_finite"] == zeros_seen and 0 < fact["smallest_other"] < 1


def test_an_operation_in_a_module_names_it(begin: Begin) -> None:
    torch.manual_seed(0)
    run, facts = begin()
    trained(run, Net(lambda x: (x - x.max()).sqrt()), lambda y: y.mean(), batches(1))
    assert [(fact.operation, fact["module"]) for fact in facts] == [("sqrt", "head")]


def test_an_output_of_a_module_that_has_a_nan_under_a_finite_loss(begin: Begin) -> None:
    torch.manual_seed(0)
    run, facts = begin()
    model = nn.Sequential(Net(lambda x: (x - x.max()).sqrt()), nn.Identity())
    trained(run, model, lambda y: torch.where(y.isnan(), torch.zeros(()), y).mean(), batches(1))
    found = [(fact.operation, fact["module"], fact["pass"], fact["is_loss_finite"]) for fact in facts]
    assert found == [("sqrt", "0.head", "forward", 1), ("sqrt", "0.head", "backward", 1)]
    run, facts = begin()
    trained(run, Net(lambda x: x.masked_fill(x < 0, -torch.inf)), lambda y: y.exp().mean(), batches(3))
    assert not facts


def test_data_that_is_not_finite_is_called_data(begin: Begin) -> None:
    run, facts = begin()
    (x,) = batches(1)
    x[1, 2] = torch.nan
    trained(run, Net(lambda y: y), lambda y: y.square().mean(), [x])
    (fact,) = facts
    assert fact["inputs_from"] == "data: input" and fact.operation == "linear" and fact["module"] == "body.0"
    assert fact["reason"].startswith("1 of 20 elements of data: input are not finite")


def test_a_parameter_that_is_not_finite_is_called_one(begin: Begin) -> None:
    run, facts = begin()
    model = Net(lambda y: y)
    with torch.no_grad():
        model.head.fc.weight[0, 0] = torch.inf
    trained(run, model, lambda y: y.square().mean(), batches(1))
    (fact,) = facts
    assert fact["inputs_from"] == "parameter head.fc.weight" and "an earlier update" in fact["reason"]


def test_between_looks_the_operation_is_named_and_the_next_step_is_looked_at(begin: Begin) -> None:
    torch.manual_seed(0)
    run, facts = begin(every=1000, first=1)
    model = Net(lambda x: x.softmax(1))
    data = batches(6)
    data[3] *= 1e5
    data[4] *= 1e5
    losses = trained(run, model, lambda p: -p.log().mean(), data, skips=True)
    assert [bool(torch.isfinite(loss)) for loss in losses] == [True, True, True, False, False, True]
    assert [(fact.operation, fact.step, fact.line > 0) for fact in facts] == [("log", 3, False), ("log", 3, True)]
    assert facts[0]["without_line"] == "its step was not looked at" and facts[0]["inputs_from"] == "softmax"


def test_saved_tensors_that_were_changed_are_left_out_and_counted(begin: Begin) -> None:
    def loss(x: T) -> T:
        h = x * 0
        result = h.log().mean()
        with torch.no_grad():
            h.add_(1)
        return result

    run, facts = begin()
    model = Probe(torch.float32)
    run.watch(model, torch.optim.SGD(model.parameters(), 0.1))
    value = model(loss)
    with pytest.raises(RuntimeError, match="inplace"):
        value.backward()
    (fact,) = facts
    assert fact["left_out"] == 1 and fact.operation in ("log", "mean") and "log" in fact.get("between", "") + fact["reason"]


def test_what_is_beyond_the_limit_of_bytes_is_left_out_and_counted(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forensics, "MAX_BYTES", 100)
    _, _, facts = one_step(begin, lambda x: (x.repeat(100, 1) * 0).log().mean())
    assert [fact["is_complete"] for fact in facts] == [0]
    assert facts[0]["between"].startswith("between ")


def test_a_masked_gradient_is_no_finding(begin: Begin) -> None:
    _, model, facts = one_step(begin, lambda x: x.relu().sqrt().sum())
    assert model.x.grad is not None and torch.isfinite(model.x.grad).all() and not facts


def test_a_mask_of_infinities_is_no_finding(begin: Begin) -> None:
    run, facts = begin()
    mask = torch.ones(3, 4).tril() == 0
    _, _, facts = one_step(begin, lambda x: x.masked_fill(mask, -torch.inf).softmax(1).sum())
    assert not facts
    # The mask is not to blame for what another operation does.
    _, _, facts = one_step(begin, lambda x: (x.masked_fill(mask, -torch.inf).softmax(1) * 0).log().sum())
    assert [fact.operation for fact in facts] == ["log"]


def test_regions_of_torch_compile_give_no_lines(begin: Begin) -> None:
    torch._dynamo.reset()
    counts = torch._dynamo.utils.counters
    losses: list[T] = []
    breaks: list[tuple[int, int]] = []
    for is_watched in (False, True):
        torch._dynamo.reset()
        counts.clear()
        torch.manual_seed(0)
        model = Net(lambda x: x)
        function = torch.compile(lambda x: (x * 0).log().mean(), backend="aot_eager")
        run, facts = begin()
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        if is_watched:
            run.watch(model, optimizer)
        for x in batches(2):
            loss = function(model(x))
            loss.backward()
            losses.append(loss.detach())
        breaks.append((sum(counts["graph_break"].values()), counts["stats"]["unique_graphs"]))
    assert breaks[0] == breaks[1] and torch.equal(torch.stack(losses[:2]), torch.stack(losses[2:]))
    assert facts and facts[0]["without_line"] == "torch.compile gives no lines" and facts[0].source is None
    torch._dynamo.reset()
    torch._dynamo.eval_frame.cached_backends.clear()


# Results and programs stay the same.


class Random(nn.Module):
    """A model with all that is random or kept: dropout, batch norm, attention, a region that is computed again."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(4, 8)
        self.norm = nn.BatchNorm1d(8)
        self.attention = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.teacher = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval().requires_grad_(False)
        self.again = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.3), nn.Tanh())
        self.head = nn.Linear(8, 3)
        self.calls = 0

    def train(self, mode: bool = True) -> Random:
        super().train(mode)
        self.teacher.eval()
        return self

    def forward(self, x: T) -> T:
        h = self.norm(self.embed(x))[:, None]
        h = self.attention(h) + self.teacher(h.detach())
        h = checkpoint(self._again, h, use_reentrant=False)
        result: T = self.head(h[:, 0])
        return result

    def _again(self, h: T) -> T:
        self.calls += 1
        result: T = self.again(h)
        return result


def random_training(run: trainscope.Run | None, bad_at: int) -> tuple[list[T], dict[str, T], list[Any], int]:
    torch.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)
    model = Random()
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    if run is not None:
        run.watch(model, optimizer)
    losses = []
    for step, x in enumerate(batches(8)):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=step % 2 == 1):
            loss = functional.cross_entropy(model(x), torch.arange(5) % 3)
        if step == bad_at:
            loss = loss * (x.sum() * 0 + model.head.bias.sum() * 0).log()
        loss.backward()
        losses.append(loss.detach())
        if torch.isfinite(loss):
            optimizer.step()
        torch.rand(1), random.random(), numpy.random.rand()
    states = [torch.get_rng_state().tolist(), random.getstate(), numpy.random.get_state()[1].tolist()]
    return losses, copy.deepcopy(model.state_dict()), states, model.calls


@pytest.mark.parametrize("every, first", [(1, 0), (3, 1), (1000, 0)])
@pytest.mark.parametrize("capsule", [False, True])
def test_results_are_equal_to_the_bit(
    begin: Begin, every: int, first: int, capsule: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if capsule:
        monkeypatch.setenv("TRAINSCOPE_CAPSULE", "1")
    plain = random_training(None, bad_at=5)
    run, facts = begin(every=every, first=first)
    watched = random_training(run, bad_at=5)
    assert all(torch.equal(a, b) or bool(a.isnan() & b.isnan()) for a, b in zip(plain[0], watched[0], strict=True))
    assert all(torch.equal(value, watched[1][name]) for name, value in plain[1].items())
    assert plain[2:] == watched[2:]
    assert "log" in [fact.operation for fact in facts]
    run.finish()
    assert (len(list(Path(run.folder).glob("*.capsule"))) == 1) == capsule


def test_a_fast_path_of_evaluation_is_the_same_at_a_looked_at_step(begin: Begin) -> None:
    torch.manual_seed(0)
    run, _ = begin()
    model = Net(lambda x: x)
    teacher = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2).eval()
    x = torch.randn(3, 5, 8)
    with torch.no_grad():
        expected = teacher(x)
    run.watch(model, torch.optim.SGD(model.parameters(), 0.1))
    loss = model(torch.randn(5, 4)).mean()
    assert torch._C._len_torch_function_stack() == 1
    with torch.no_grad():
        assert torch.equal(teacher(x), expected)
    assert torch._C._len_torch_function_stack() == 1
    loss.backward()
    assert torch._C._len_torch_function_stack() == 0


class Counting(torch.overrides.TorchFunctionMode):
    """A mode of the program, which counts."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(getattr(function, "__name__", ""))
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("is_watched", [False, True])
def test_modes_of_the_program_see_the_same_and_are_as_they_were(begin: Begin, is_watched: bool) -> None:
    run, _ = begin()
    model = Net(lambda x: x)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    if is_watched:
        run.watch(model, optimizer, activations=False)
    outer, inner = Counting(), Counting()
    with outer:
        with torch.device("cpu"), inner:
            y = model(torch.ones(5, 4))
        loss = y.square().mean()
        with torch.device("cpu"):
            loss = loss + torch.zeros(())
        loss.backward()
        assert torch._C._len_torch_function_stack() == 1
    assert torch._C._len_torch_function_stack() == 0
    seen = [name for name in inner.names if name in ("linear", "relu", "ones")]
    assert seen == ["ones", "linear", "relu", "linear"] and [name for name in outer.names if name == "square"] == ["square"]
    assert torch.zeros(1).device.type == "cpu"


def test_modules_of_one_function_are_noted_as_it_is() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.LayerNorm(4), nn.Dropout(0.5))
    outputs = {}
    for is_hooked in (False, True):
        # With a hook of the program in it, a module is not one function.
        handles = [one.register_forward_pre_hook(lambda *_: None) for one in model] if is_hooked else []
        lines = Lines()
        lines.enter(model.named_modules())
        x = torch.ones(2, 4)
        for one in model:
            x = one(x)
            assert torch._C._len_torch_function_stack() == 1
            note = lines.of_sequence(x.grad_fn._sequence_nr())  # type: ignore[union-attr]
            assert note is not None and note.place[0] == __file__
            outputs.setdefault(note.operation, []).append((note.module, note.place))
        lines.leave()
        assert torch._C._len_torch_function_stack() == 0
        for handle in handles:
            handle.remove()
    assert list(outputs) == ["linear", "relu", "layer_norm", "dropout"]
    assert all(plain == hooked and plain[0] == str(at) for at, (plain, hooked) in enumerate(outputs.values()))


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_the_mode_is_none_after_a_module_of_one_function_that_fails(error: type[BaseException]) -> None:
    class Table(torch.Tensor):
        """A tensor whose functions fail."""

        @classmethod
        def __torch_function__(cls, *_args: Any, **_kwargs: Any) -> Any:
            raise error("a fault")

    model, lines = nn.Linear(4, 4), Lines()
    lines.enter([("fc", model)])
    with pytest.raises(error):
        model(torch.ones(2, 4).as_subclass(Table))
    assert model(torch.ones(2, 4)).shape == (2, 4)
    lines.leave()
    assert torch._C._len_torch_function_stack() == 0


def test_what_a_mask_takes_out_is_not_to_blame(begin: Begin) -> None:
    run, facts = begin()

    class Masked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(4, 4)
            nn.init.constant_(self.fc.bias, -100.0)

        def forward(self, x: T) -> T:
            # Zero everywhere: the gradient of the square root is infinite, and the mask takes it out again.
            return functional.relu(self.fc(x)).sqrt()

    trained(run, Masked(), lambda y: y.sum(), batches(2))
    assert not facts


def test_the_mode_ends_with_the_step_if_no_backward_pass_comes(begin: Begin) -> None:
    run, _ = begin()
    model = Net(lambda x: x)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    watch = run.watch(model, optimizer)
    model(torch.ones(5, 4))
    assert torch._C._len_torch_function_stack() == 1
    assert watch is not None
    watch.close()
    assert torch._C._len_torch_function_stack() == 0
    assert not nn.modules.module._global_forward_hooks and not nn.modules.module._global_forward_pre_hooks


def test_backward_passes_of_all_kinds(begin: Begin) -> None:
    run, facts = begin()
    model = Net(lambda x: x)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    run.watch(model, optimizer)
    for x in batches(3):
        y = model(x)
        loss = y.square().mean()
        loss.backward(retain_graph=True)
        loss.backward(retain_graph=True)
        gradients = torch.autograd.grad(loss, list(model.parameters()), create_graph=True)
        sum(one.square().sum() for one in gradients).backward(retain_graph=True)
        torch.autograd.backward([y.sum(), y.mean()], inputs=list(model.parameters()), retain_graph=True)
        y.backward(torch.ones_like(y))
        optimizer.step()
    assert not facts and all(torch.isfinite(one).all() for one in model.parameters())


def test_an_error_in_the_search_does_not_reach_the_training(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: Any) -> Any:
        raise ValueError("a fault")

    monkeypatch.setattr(not_finite, "find", fail)
    monkeypatch.setattr(not_finite.Gradients, "_finding", fail)
    run, facts = begin(strict=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        losses = trained(run, Net(lambda x: x), lambda y: (y * 0).sqrt().mean(), batches(1))
        losses += trained(run, Net(lambda x: x), lambda y: (y * 0).log().mean(), batches(1))
    assert len(losses) == 2 and not facts and run.report().lost.get("invalid", 0) >= 2


def test_nothing_grows_and_nothing_is_kept(begin: Begin) -> None:
    run, _ = begin()
    model = Net(lambda x: x)
    trained(run, model, lambda y: y.square().mean(), batches(50))
    watcher = not_finite.of_run(run)
    assert not watcher.lines._notes and not watcher.gradients._nodes and not watcher._inputs and not watcher._flags


def test_findings_and_searches_are_limited(begin: Begin) -> None:
    run, facts = begin(every=1000, first=0)
    trained(run, Net(lambda x: x), lambda y: (y * 0).log().mean(), batches(40), skips=True)
    assert 1 <= len(facts) <= 2
    run, facts = begin()
    trained(run, Net(lambda x: x * 0), lambda y: (y * 0).sqrt().mean(), batches(40), skips=False)
    assert len(facts) <= not_finite.MAX_FINDINGS


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_hook_of_gradients_calls_for_what_is_not_finite_alone(dtype: torch.dtype) -> None:
    calls: list[tuple[Any, ...]] = []
    hook = GradientHook(7, [0, 2], lambda *given: calls.append(given))
    finite = torch.full((3, 5), torch.finfo(dtype).max, dtype=dtype)
    hook((finite, None, finite.T), (finite,))
    hook((None, torch.full((2,), torch.nan, dtype=dtype), finite[:, ::2]), (finite,))
    hook((finite[:0], None, finite[0, 0].expand(4)), (finite,))
    assert not calls
    for value in (torch.nan, torch.inf, -torch.inf):
        bad = finite.clone()
        bad[2, 4] = value
        outgoing = (finite, None, bad)
        hook(outgoing, (finite,))
        at, given, incoming = calls.pop()
        assert at == 7 and given is outgoing and incoming[0] is finite and not calls


def test_the_hook_of_gradients_leaves_what_it_cannot_read_to_python() -> None:
    calls: list[tuple[Any, ...]] = []
    hook = GradientHook(0, [0], lambda *given: calls.append(given))
    freed = torch.ones(4)
    freed.untyped_storage().resize_(0)
    others = [torch.ones(2, device="meta"), torch.ones(2, dtype=torch.int32), freed]
    for number, other in enumerate(others):
        hook((other,), ())
        assert len(calls) == number + 1


def test_the_nan_of_an_output_is_known_from_its_statistics(begin: Begin) -> None:
    run, _ = begin()
    whole, bad = torch.ones(4), torch.tensor([1.0, torch.nan])
    assert not run._record_and_find_nan([("whole", "activation", whole), ("infinite", "activation", whole / 0)], 0)
    assert run._record_and_find_nan([("whole#2", "activation", whole), ("bad", "activation", bad)], 0)


def test_lines_cost_little(begin: Begin) -> None:
    model = nn.Sequential(*[nn.Sequential(nn.Linear(16, 16), nn.ReLU()) for _ in range(50)])
    x = torch.randn(2, 16)
    lines = Lines()
    times: dict[bool, float] = {}
    for is_noted in (False, True):
        best = float("inf")
        for _ in range(20):
            if is_noted:
                lines.enter([("", model)])
            begun = time.process_time()
            model(x)
            best = min(best, time.process_time() - begun)
            lines.leave()
            lines.clear()
        times[is_noted] = best
    # Of 100 functions; 6 µs each were measured.
    assert (times[True] - times[False]) / 100 < 60e-6
