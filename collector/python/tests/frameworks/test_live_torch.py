"""Live sessions of trainings with PyTorch: a hit ends them before the NaN reaches the weights."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
import trainscope
from torch import nn


@pytest.mark.parametrize("every", [1, 100])
def test_a_nan_gradient_stops_before_the_update(tmp_path: Path, every: int) -> None:
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    run = trainscope.start(tmp_path / "run", every=every, first=1, at_hit="stop")
    run.watch(model, optimizer)
    before = model.weight.detach().clone()
    reached = -1
    with pytest.raises(trainscope.TrainingStopped) as stopped:
        for number in run.steps(range(8)):
            optimizer.zero_grad()
            loss = model(torch.ones(3, 4)).sum() * (math.nan if number == 5 else 1.0)
            loss.backward()
            before, reached = model.weight.detach().clone(), number
            optimizer.step()
    assert stopped.value.code == 1
    assert reached == 5
    assert torch.equal(model.weight, before) and torch.isfinite(model.weight).all()
    assert run.finish().is_closed


def test_without_a_session_nothing_waits_and_weights_are_the_same(tmp_path: Path) -> None:
    results = []
    for at_hit in (None, "pause", "stop"):
        torch.manual_seed(0)
        model = nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        run = trainscope.start(tmp_path / str(at_hit), every=2, at_hit=at_hit)
        run.watch(model, optimizer)
        for _ in run.steps(range(6)):
            optimizer.zero_grad()
            model(torch.ones(3, 4)).square().mean().backward()
            optimizer.step()
        run.finish()
        results.append(model.weight.detach().clone())
    assert torch.equal(results[0], results[1]) and torch.equal(results[0], results[2])


def test_weights_and_gradients_can_be_looked_at(tmp_path: Path) -> None:
    model = nn.Linear(4, 2)
    run = trainscope.start(tmp_path / "run")
    watch = run.watch(model, torch.optim.SGD(model.parameters(), lr=0.1))
    assert watch is not None
    assert [name for name, _, _ in watch.tensors()] == ["weight", "bias"]
    model(torch.ones(3, 4)).sum().backward()
    shown = {name: (role, tuple(tensor.shape)) for name, role, tensor in run._shown()}
    assert shown["weight.grad"] == ("gradient", (2, 4)) and shown["bias"] == ("weight", (2,))
    run.finish()
