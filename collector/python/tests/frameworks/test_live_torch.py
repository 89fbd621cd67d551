"""Live sessions of trainings with PyTorch: a hit ends them before the NaN reaches the weights."""

from __future__ import annotations

import json
import math
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import torch
import trainscope
from live_session import Training, control, server, status, wait_for  # noqa: F401 (a fixture)
from torch import nn
from trainscope.torch import Watch

NETWORK = """
import sys, time
import torch
from torch import nn
import trainscope

model = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
run = trainscope.start(sys.argv[1], every=100)
run.watch(model, optimizer)
for number in run.steps(range(100_000)):
    optimizer.zero_grad()
    model(torch.ones(5, 4)).square().mean().backward()
    optimizer.step()
    time.sleep(0.01)
    print(number, flush=True)
"""


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


def test_gradients_of_a_device_are_looked_at_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    original = trainscope.Run._shown

    def show(run: trainscope.Run) -> list[tuple[str, str, Any]]:
        shown.append(run._step())
        return original(run)

    monkeypatch.setattr(trainscope.Run, "_shown", show)
    monkeypatch.setattr(Watch, "has_remote_gradients", lambda _watch: True)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    run = trainscope.start(tmp_path / "run", every=100, first=1, at_hit="stop")
    run.watch(model, optimizer)
    reached = -1
    with pytest.raises(trainscope.TrainingStopped):
        for reached in run.steps(range(8)):
            optimizer.zero_grad()
            (model(torch.ones(3, 4)).sum() * (math.nan if reached == 5 else 1.0)).backward()
            optimizer.step()
    # Their memory is read once, to say where the NaN is.
    assert reached == 5 and set(shown) == {5}
    assert torch.isfinite(model.weight).all()
    run.finish()


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


def asked(server: str, path: str, **query: str) -> Any:
    """The answer of the server as JSON."""
    with urllib.request.urlopen(f"{server}{path}?{urllib.parse.urlencode(query)}") as answer:
        return json.load(answer)


def test_a_training_waits_after_the_forward_pass_of_a_layer(tmp_path: Path, server: tuple[str, Any]) -> None:  # noqa: F811
    folder, address = tmp_path / "a", server[0]
    training = Training(NETWORK, folder, address)
    try:
        training.step()
        wait_for(lambda: "nodes" in status(folder, address).get("can", []))
        session = status(folder, address)["id"]
        nodes = asked(address, "/api/session/nodes", session=session, rank="0")["items"]
        assert [node["name"] for node in nodes] == ["Sequential", "0", "1", "2"]
        assert control(folder, address, "to", "1").returncode == 0
        wait_for(lambda: status(folder, address)["state"] == "waiting")
        held = status(folder, address)
        assert (held["place"], held["reason"]) == ("node:1", "node")
        tensors = asked(address, "/api/session/tensors", session=session, rank="0")["items"]
        shapes = {tensor["name"]: (tensor["role"], tensor["shape"]) for tensor in tensors}
        assert shapes["1"] == ("activation", [5, 3]) and shapes["0.weight"] == ("weight", [3, 4])
        values = asked(address, "/api/tensor", run="a", tensor="1", session=session, rank="0", step=str(held["step"]))
        assert values["shape"] == [5, 3]

        # The next layer is in the same step, the layer before it in the next one.
        for name, step in [("2", held["step"]), ("0", held["step"] + 1)]:
            assert control(folder, address, "to", name).returncode == 0
            wait_for(lambda name=name: status(folder, address).get("place") == f"node:{name}")
            assert status(folder, address)["step"] == step
        assert control(folder, address, "continue").returncode == 0
        wait_for(lambda: status(folder, address)["state"] == "running")
        training.step()
        assert control(folder, address, "stop").returncode == 0
        message = training.process.communicate(timeout=60)[1]
        assert "waits after layer 1 of step" in message and "the layer that it was asked for" in message
    finally:
        training.end()


def test_activations_are_kept_until_the_gate(tmp_path: Path, server: tuple[str, Any]) -> None:  # noqa: F811
    folder, address = tmp_path / "a", server[0]
    network = NETWORK.replace("nn.Tanh(), nn.Linear(3, 2)", "nn.Tanh(), nn.Linear(3, 2), nn.ReLU(inplace=True)")
    training = Training(network, folder, address)
    try:
        training.step()
        wait_for(lambda: "keep" in status(folder, address).get("can", []))
        assert control(folder, address, "keep", "1", "2", "3").returncode == 0
        training.step()
        assert control(folder, address, "pause").returncode == 0
        wait_for(lambda: status(folder, address)["state"] == "waiting")
        assert control(folder, address, "step", "2").returncode == 0
        wait_for(lambda: status(folder, address)["state"] == "waiting")
        held = status(folder, address)
        assert held["keep"] == ["1", "2", "3"]
        session = held["id"]
        tensors = asked(address, "/api/session/tensors", session=session, rank="0")["items"]
        activations = {tensor["name"]: tensor["shape"] for tensor in tensors if tensor["role"] == "activation"}
        # The output of layer 2 was changed in place by layer 3.
        assert activations == {"1": [5, 3], "2": [], "3": [5, 2]}
        values = asked(address, "/api/tensor", run="a", tensor="1", session=session, rank="0", step=str(held["step"]))
        assert values["shape"] == [5, 3]
        with pytest.raises(urllib.error.HTTPError) as failed:
            asked(address, "/api/tensor", run="a", tensor="2", session=session, rank="0", step=str(held["step"]))
        assert failed.value.code == 404 and "changed in place" in json.load(failed.value)["message"]

        assert control(folder, address, "keep").returncode == 0
        assert control(folder, address, "step", "2").returncode == 0
        wait_for(lambda: (now := status(folder, address))["state"] == "waiting" and now["step"] == held["step"] + 2)
        tensors = asked(address, "/api/session/tensors", session=session, rank="0")["items"]
        assert all(tensor["role"] != "activation" for tensor in tensors)
    finally:
        training.end()


def test_kept_activations_are_those_of_the_last_forward_pass(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(4, 2), nn.Tanh())
    run = trainscope.start(tmp_path / "run")
    run.watch(model, torch.optim.SGD(model.parameters(), lr=0.1))
    patterns = ["0"]
    run._keep_patterns = lambda: patterns  # type: ignore[method-assign]
    watch = run._watches[0]
    watch.begin(0)
    for rows in (3, 5):
        model(torch.ones(rows, 4))
    kept = {name: tuple(tensor.shape) for name, role, tensor in run._shown() if role == "activation"}
    assert kept == {"0": (5, 2)}
    patterns = []
    watch.begin(1)
    assert not watch._kept._hooks and not watch._kept.items()
    run.finish()
