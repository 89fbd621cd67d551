"""Learning rates and norms of gradients that `watch` records, of one and several optimizers, and what loads a machine."""

from __future__ import annotations

import gc
import math
from pathlib import Path
from typing import Any

import pytest
import torch
import trainscope
from reading import scalars
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from trainscope import _torch_device
from trainscope._torch_device import norm_of

Points = dict[str, list[tuple[int, float]]]


def begin(folder: Path, **options: Any) -> trainscope.Run:
    """A run that raises its errors."""
    torch.manual_seed(0)
    return trainscope.start(folder, **{"every": 4, "first": 1, "strict": True} | options)


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def backward(model: nn.Module, scale: float = 1.0) -> None:
    (model(torch.randn(6, 4)).square().mean() * scale).backward()


def norm(parameters: Any) -> float:
    """Norm of the gradients, in another way."""
    total = sum(parameter.grad.double().square().sum().item() for parameter in parameters if parameter.grad is not None)
    return math.sqrt(total)


def curves(folder: Path) -> Points:
    """Curves of the optimizers."""
    return {tag: points for tag, points in scalars(folder).items() if "learning_rate" in tag or "grad_norm" in tag}


def test_the_rate_is_recorded_when_it_changes_and_at_looks_and_the_norm_at_looks(tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [6], gamma=0.5)
    norms = []
    with begin(tmp_path) as run:
        run.watch(model, optimizer)
        for _ in range(10):
            optimizer.zero_grad()
            backward(model)
            norms.append(norm(model.parameters()))
            optimizer.step()
            schedule.step()
    found = curves(tmp_path)
    # The rate before is drawn up to its last step: no ramp from step 4 to 6.
    assert found["learning_rate"] == [(0, 0.5), (4, 0.5), (5, 0.5), (6, 0.25), (8, 0.25)]
    assert found["grad_norm"] == [(step, pytest.approx(norms[step], rel=1e-6)) for step in (0, 4, 8)]
    assert found.keys() == {"learning_rate", "grad_norm"}


def test_a_rate_that_changes_at_every_step_has_each_of_them_once(tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 1.0)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    with begin(tmp_path) as run:
        run.watch(model, optimizer)
        for _ in range(6):
            backward(model)
            optimizer.step()
            schedule.step()
    assert curves(tmp_path)["learning_rate"] == [(step, 0.5**step) for step in range(6)]


def test_each_group_and_each_optimizer_has_curves(tmp_path: Path) -> None:
    models = {name: net() for name in ("generator", "discriminator", "third")}
    halves = (models["generator"][0].parameters(), models["generator"][2].parameters())
    first = torch.optim.Adam([{"params": halves[0], "lr": 0.125}, {"params": halves[1], "lr": 0.25}])
    second = torch.optim.Adam(models["discriminator"].parameters(), 0.375)
    third = torch.optim.Adam(models["third"].parameters(), torch.tensor(0.5))
    with begin(tmp_path) as run:
        for model, optimizer in zip(models.values(), (first, second, third), strict=True):
            run.watch(model, optimizer)
        for model, optimizer in zip(models.values(), (first, second, third), strict=True):
            backward(model)
            optimizer.step()
    found = curves(tmp_path)
    rates = {tag: value for tag, [(_, value)] in found.items() if "rate" in tag}
    assert rates == {
        **{"learning_rate": 0.125, "learning_rate/1": 0.25},
        **{"Adam/learning_rate": 0.375, "Adam2/learning_rate": 0.5},
    }
    prefixes = dict(zip(("", "Adam/", "Adam2/"), models.values(), strict=True))
    assert {tag: points for tag, points in found.items() if "norm" in tag} == {
        f"{prefix}grad_norm": [(0, pytest.approx(norm(model.parameters()), rel=1e-6))] for prefix, model in prefixes.items()
    }


def test_one_optimizer_of_two_watched_models_has_one_curve_of_all_that_it_holds(tmp_path: Path) -> None:
    encoder, decoder = net(), nn.Sequential(nn.Linear(1, 4))
    parameters = [*encoder.parameters(), *decoder.parameters()]
    optimizer = torch.optim.SGD(parameters, 0.125)
    with begin(tmp_path) as run:
        run.watch(encoder, optimizer)
        run.watch(decoder, optimizer)
        decoder(encoder(torch.randn(3, 4))).sum().backward()
        optimizer.step()
    assert curves(tmp_path) == {
        "learning_rate": [(0, 0.125)], "grad_norm": [(0, pytest.approx(norm(parameters), rel=1e-6))],
    }


def test_optimizers_that_replace_each_other_share_their_names(tmp_path: Path) -> None:
    model = net()
    kept = []
    with begin(tmp_path) as run:
        run.watch(model)
        for number in range(5):
            # One for each epoch, on the same parameters; all are alive.
            kept.append(torch.optim.SGD(model.parameters(), 0.5 + number))
            backward(model)
            kept[-1].step()
    assert curves(tmp_path).keys() == {"learning_rate", "grad_norm"}
    assert curves(tmp_path)["learning_rate"] == [(number, 0.5 + number) for number in range(5)]


def test_models_that_are_made_new_leave_their_names_and_there_is_an_end(tmp_path: Path) -> None:
    kept = []
    with begin(tmp_path) as run:
        for number in range(40):
            model = net()
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            run.watch(model, optimizer)
            if number >= 20:
                kept.append((model, optimizer))
            backward(model)
            optimizer.step()
            del model, optimizer
            gc.collect()
    names = {tag for tag in curves(tmp_path) if tag.endswith("learning_rate")}
    # The first 20 have been one after the other.
    assert len(names) == 16 and names >= {"learning_rate", "SGD/learning_rate", "SGD15/learning_rate"}


@pytest.mark.parametrize("is_fused", [False, True])
def test_the_norm_is_that_of_unscaled_gradients_and_infinite_if_an_update_is_skipped(
    tmp_path: Path, is_fused: bool
) -> None:
    model = net()
    optimizer = torch.optim.Adam(model.parameters(), 0.1, fused=is_fused)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    norms = []
    with begin(tmp_path, every=1) as run:
        run.watch(model, optimizer, scaler=scaler)
        for step in range(3):
            optimizer.zero_grad()
            loss = model(torch.randn(6, 4)).square().mean() * (math.inf if step == 1 else 1.0)
            scaler.scale(loss).backward()
            norms.append(norm(model.parameters()) / scaler.get_scale())
            scaler.step(optimizer)
            scaler.update()
    found = curves(tmp_path)
    assert [step for step, _ in found["grad_norm"]] == [0, 1, 2] == [step for step, _ in found["learning_rate"]]
    values = [value for _, value in found["grad_norm"]]
    assert values[0] == pytest.approx(norms[0], rel=1e-5) and values[2] == pytest.approx(norms[2], rel=1e-5)
    assert not math.isfinite(values[1])


def test_with_a_closure_the_norm_is_that_of_this_step(tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.LBFGS(model.parameters(), 0.1, max_iter=2)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        backward(model)
        return torch.zeros(())

    with begin(tmp_path) as run:
        run.watch(model, optimizer)
        optimizer.step(closure)
    assert curves(tmp_path)["grad_norm"] == [(0, pytest.approx(norm(model.parameters()), rel=1e-6))]


def test_optimizers_without_a_rate_and_gradients_that_are_missing_have_no_curve(tmp_path: Path) -> None:
    class Plain(torch.optim.Optimizer):
        def __init__(self, parameters: Any) -> None:
            super().__init__(parameters, {})

        def step(self, closure: Any = None) -> None:
            pass

    model = net()
    with begin(tmp_path) as run:
        run.watch(model)
        Plain(model.parameters()).step()
    assert curves(tmp_path) == {}


def test_curves_can_be_left_to_the_program(tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    with begin(tmp_path) as run:
        run.watch(model, optimizer, curves=False)
        backward(model)
        run.scalar("grad_norm", 7.0)
        optimizer.step()
    assert scalars(tmp_path) == {"grad_norm": [(0, 7.0)]}


DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_norm_is_exact_in_the_whole_range_and_keeps_nan_and_infinity(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    tensors = [torch.randn(200_000).to(dtype), torch.randn(3, 5).to(dtype).T, torch.empty(0, dtype=dtype)]
    wide = torch.complex128 if dtype.is_complex else torch.float64
    expected = torch.cat([tensor.reshape(-1) for tensor in tensors]).to(wide).norm().item()
    assert norm_of(tensors) == pytest.approx(expected, rel=1e-4)
    assert math.isnan(norm_of([*tensors, torch.tensor([math.nan]).to(dtype)]))  # type: ignore[arg-type]
    assert norm_of([*tensors, torch.tensor([-math.inf]).to(dtype)]) == math.inf
    if dtype in (torch.float32, torch.float64):
        assert norm_of([torch.full((4,), 1e25, dtype=dtype)]) == pytest.approx(2e25)
        assert norm_of([torch.full((4,), 1e-25, dtype=dtype)]) == pytest.approx(2e-25)
    assert norm_of([]) is None


def test_rows_of_a_sparse_gradient_that_are_one_element_are_added() -> None:
    table = nn.Embedding(5, 2, sparse=True)
    table(torch.tensor([1, 1, 3])).sum().backward()
    gradient = table.weight.grad
    assert gradient is not None and not gradient.is_coalesced()
    assert norm_of([gradient]) == pytest.approx(gradient.to_dense().norm().item())


class NoWait(TorchDispatchMode):
    """Refuses operations that wait for a device."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        assert "_local_scalar_dense" not in str(function) and "nonzero" not in str(function), function
        return function(*args, **(kwargs or {}))


def test_on_a_device_the_norm_comes_without_waiting_with_the_step_and_time_of_its_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gradients = [torch.randn(5, dtype=torch.bfloat16), torch.randn(3, 2), torch.tensor([1e25])]
    expected = norm_of(gradients)
    # Tensors of the processor take the way of a device.
    monkeypatch.setattr(_torch_device, "HERE", ())
    with begin(tmp_path) as run:
        rows = _torch_device.DeviceRows(run)
        with NoWait():
            norm = norm_of(gradients)
            assert isinstance(norm, torch.Tensor)
            rows.add_scalar("grad_norm", norm, 7, 0.5, torch.tensor(0.25))
            rows.add([("weight", "weight", torch.ones(3))], 7)
            rows.send()
        run.scalar("later", 1.0, 8)
        rows.read()
    assert scalars(tmp_path)["grad_norm"] == [(7, pytest.approx(expected / 8))]  # type: ignore[operator]
