"""Records of `watch` in each situation of a training: tensors, their names, steps and numbers, spans and the graph."""

from __future__ import annotations

import copy
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
import torch
import trainscope
from event_files import read_events
from reading import export, graph, notes, profile, scalars, spans, statistics
from torch import nn
from torch.nn import functional

WEIGHTS = {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}
GRADIENTS = {f"{name}.grad" for name in WEIGHTS}
ACTIVATIONS = {"fc1", "act", "fc2"}


class Net(nn.Module):
    """Two layers with an activation between them."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.act = nn.ReLU()
        self.fc2 = nn.Linear(8, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.fc2(self.act(self.fc1(x)))
        return result


def begin(folder: Path, **options: Any) -> trainscope.Run:
    """A run that looks at every step and raises its errors."""
    torch.manual_seed(0)
    return trainscope.start(folder, **{"every": 1, "strict": True} | options)


def backward(model: nn.Module, scale: float = 1.0) -> torch.Tensor:
    """Loss of one batch, after the backward pass."""
    loss: torch.Tensor = model(torch.randn(6, 4)).square().mean() * scale
    loss.backward()
    return loss


def equals(row: dict[str, Any], tensor: torch.Tensor) -> bool:
    """True if the statistics are those of the tensor: shape, number of elements, extremes to the bit, norm to 1e-6."""
    wide = tensor.detach().double()
    shape = "x".join(map(str, tensor.shape))
    extremes = (wide.min().item(), wide.max().item())
    norm = pytest.approx(wide.norm().item(), rel=1e-6)
    is_same = str(row["shape"]) == shape and row["count"] == wide.numel()
    return is_same and (row["min"], row["max"]) == extremes and row["l2"] == norm


OPTIMIZERS: dict[str, Any] = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, 0.1, momentum=0.9),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, 0.1),
    "fused": lambda parameters: torch.optim.AdamW(parameters, 0.1, fused=True),
    "foreach": lambda parameters: torch.optim.Adam(parameters, 0.1, foreach=True),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_weights_and_gradients_are_those_that_the_optimizer_gets(tmp_path: Path, name: str) -> None:
    model = Net()
    optimizer = OPTIMIZERS[name](model.parameters())
    expected = []
    with begin(tmp_path) as run:
        watch = run.watch(model, optimizer)
        assert watch is not None and set(watch.names()) == WEIGHTS | GRADIENTS | ACTIVATIONS
        for _ in range(3):
            optimizer.zero_grad()
            backward(model, scale=100.0)
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            expected.append([(name, p.detach().clone(), p.grad.clone()) for name, p in model.named_parameters()])
            optimizer.step()
        assert watch.missing() == []
    rows = statistics(tmp_path)
    assert rows.keys() == WEIGHTS | GRADIENTS | ACTIVATIONS
    for step, parameters in enumerate(expected):
        for name, weight, gradient in parameters:
            assert equals(rows[name][step], weight) and equals(rows[f"{name}.grad"][step], gradient)
    assert {row["role"] for name in WEIGHTS for row in rows[name].values()} == {"weight"}
    assert {row["role"] for name in GRADIENTS for row in rows[name].values()} == {"gradient"}
    assert {row["role"] for name in ACTIVATIONS for row in rows[name].values()} == {"activation"}


@pytest.mark.parametrize("is_given", [True, False])
def test_only_the_steps_of_the_policy_are_looked_at(tmp_path: Path, is_given: bool) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path, every=5, first=2) as run:
        run.watch(model, optimizer if is_given else None)
        for _ in range(12):
            backward(model)
            optimizer.step()
    rows = statistics(tmp_path)
    assert {tuple(steps) for steps in rows.values()} == {(0, 1, 5, 10)}


def test_the_step_is_that_of_the_loop_if_there_is_one(tmp_path: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path, every=10, first=0) as run:
        run.watch(model, optimizer)
        for _ in run.steps(range(15), start=95):
            backward(model)
            optimizer.step()
    assert {tuple(steps) for steps in statistics(tmp_path).values()} == {(100,)}


def test_a_resumed_training_goes_on_with_the_steps_of_its_optimizer(tmp_path: Path) -> None:
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), 0.1)
    for _ in range(7):
        backward(model)
        optimizer.step()
    saved = optimizer.state_dict()
    early, late = torch.optim.Adam(model.parameters()), torch.optim.Adam(model.parameters())
    early.load_state_dict(copy.deepcopy(saved))
    for name, optimizer, is_late in (("early", early, False), ("late", late, True)):
        with begin(tmp_path / name) as run:
            run.watch(model, optimizer)
            if is_late:
                optimizer.load_state_dict(saved)
            for _ in range(2):
                run.scalar("loss", backward(model))
                optimizer.step()
        rows = statistics(tmp_path / name)
        assert {tuple(steps) for steps in rows.values()} == {(7, 8)}
        assert [step for step, _ in scalars(tmp_path / name)["loss"]] == [7, 8]


@pytest.mark.parametrize("is_given", [True, False])
def test_a_resumed_training_may_name_the_step_of_its_first_update(tmp_path: Path, is_given: bool) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path) as run:
        run.watch(model, optimizer if is_given else None, start_step=7)
        for step in (7, 8):
            loss = backward(model)
            optimizer.step()
            run.scalar("loss", loss, step)
    assert {tuple(steps) for steps in statistics(tmp_path).values()} == {(7, 8)}
    assert {step for points in scalars(tmp_path).values() for step, _ in points} == {7, 8}


def test_what_is_recorded_after_the_last_update_belongs_to_it(tmp_path: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path) as run:
        run.watch(model, optimizer)
        for _ in range(3):
            backward(model)
            optimizer.step()
        run.note("The end.")
    assert max(event.step for event in read_events(tmp_path)) == 2


def test_accumulated_gradients_are_read_once_an_update_and_raw_ones_after_each_batch(tmp_path: Path) -> None:
    for kind in ("update", "raw"):
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        with begin(tmp_path / kind) as run:
            run.watch(model, optimizer, gradients=kind)
            for _ in range(2):
                for _ in range(3):
                    backward(model)
                last = model.fc1.weight.grad.clone()  # type: ignore[union-attr]
                nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
                clipped = model.fc1.weight.grad.clone()  # type: ignore[union-attr]
                optimizer.step()
                optimizer.zero_grad()
        rows = statistics(tmp_path / kind)
        gradient, activation = rows["fc1.weight.grad"], rows["fc1"]
        assert gradient.keys() == activation.keys() == {0, 1}
        assert [row["times"] for row in activation.values()] == [3, 3]
        assert gradient[1]["times"] == (3 if kind == "raw" else 1)
        assert equals(gradient[1], last if kind == "raw" else clipped)


def test_accumulation_over_steps_of_a_loop_is_read_at_the_update_after_a_looked_at_step(tmp_path: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path, every=4, first=0) as run:
        run.watch(model, optimizer)
        for number in run.steps(range(12)):
            backward(model)
            if number % 3 == 2:
                optimizer.step()
                optimizer.zero_grad()
    rows = statistics(tmp_path)
    assert list(rows["fc1"]) == [0, 4, 8]
    assert list(rows["fc1.weight.grad"]) == list(rows["fc1.weight"]) == [2, 5, 8]


def test_with_a_closure_gradients_are_those_of_this_step(tmp_path: Path) -> None:
    model = Net()
    optimizer = torch.optim.LBFGS(model.parameters(), 0.1, max_iter=3)
    befores, gradients = [], []

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        return backward(model)

    with begin(tmp_path) as run:
        run.watch(model, optimizer)
        for _ in range(2):
            befores.append(model.fc2.weight.detach().clone())
            optimizer.step(closure)
            gradients.append(model.fc2.weight.grad.clone())  # type: ignore[union-attr]
    rows = statistics(tmp_path)
    for step in (0, 1):
        assert equals(rows["fc2.weight"][step], befores[step])
        assert equals(rows["fc2.weight.grad"][step], gradients[step])
        # Those of the step before, which are there when the update begins, are not recorded.
        assert rows["fc2.weight.grad"][step]["times"] == rows["fc2.weight"][step]["times"] == 1


def test_spans_are_recorded_on_looked_at_steps(tmp_path: Path) -> None:
    class Slow(Net):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            time.sleep(0.02)
            return super().forward(x)

    model = Slow()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path, every=2, first=0) as run:
        run.watch(model, optimizer)
        for _ in range(3):
            backward(model)
            time.sleep(0.02)
            optimizer.step()
    found = spans(tmp_path)
    assert [(name, step) for name, step, _ in found] == [
        (name, step) for step in (0, 2) for name in ("forward", "backward", "update")
    ]
    assert profile(tmp_path)["categories"].keys() == {"compute"}
    times = {(name, step): duration for name, step, duration in found}
    assert times["forward", 2] >= 20_000_000
    # The pause after the backward pass belongs to none.
    assert times["backward", 2] < 20_000_000 and times["update", 2] < 20_000_000


def test_the_graph_has_modules_in_their_order_with_edges_sources_and_parameters(tmp_path: Path) -> None:
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.act, self.gain = nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Parameter(torch.ones(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.act(self.fc(x))
            result: torch.Tensor = x + y * self.gain
            return result

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.blocks = nn.Embedding(9, 4), nn.Sequential(Block(), Block())
            self.head = nn.Linear(4, 9, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, tokens: torch.Tensor, *, mask: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = self.head(self.blocks(self.embed(tokens) * mask))
            return result

    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path) as run:
        watch = run.watch(model, optimizer)
        for _ in range(2):
            model(torch.arange(3), mask=torch.ones(3, 1)).sum().backward()
            optimizer.step()
        # Tied weights are one.
        assert watch is not None and "head.weight" not in watch.names()
    nodes = graph(tmp_path)
    # Functions between modules are nodes in the scope that calls them.
    assert list(nodes) == [
        *("input", "mask", "embed/weight", "embed"),
        *("Mul", "blocks/0/fc/weight", "blocks/0/fc/bias", "blocks/0/fc", "blocks/0/act"),
        *("blocks/0/gain", "blocks/0/Mul", "blocks/0/Add"),
        *("blocks/1/fc/weight", "blocks/1/fc/bias", "blocks/1/fc", "blocks/1/act"),
        *("blocks/1/gain", "blocks/1/Mul", "blocks/1/Add", "head"),
    ]
    inputs = {name: set(node["inputs"].split()) for name, node in nodes.items()}
    assert inputs["embed"] == {"input", "embed/weight"} and inputs["Mul"] == {"embed"}
    assert inputs["blocks/0/fc"] == {"Mul", "blocks/0/fc/weight", "blocks/0/fc/bias"}
    assert inputs["blocks/0/act"] == {"blocks/0/fc"}
    assert inputs["blocks/0/Mul"] == {"blocks/0/act", "blocks/0/gain"}
    assert inputs["blocks/0/Add"] == {"Mul", "blocks/0/Mul"}
    assert inputs["blocks/1/fc"] == {"blocks/0/Add", "blocks/1/fc/weight", "blocks/1/fc/bias"}
    assert inputs["head"] == {"blocks/1/Add", "embed/weight"}
    assert nodes["embed"]["op_type"] == "Embedding" and nodes["embed"]["shapes"] == "[3x4]"
    assert nodes["input"]["dtypes"] == "i64" and nodes["head"]["dtypes"] == "f32"


def test_a_graph_of_one_pass_changes_nothing_of_the_model(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(), nn.Linear(4, 1))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with begin(tmp_path) as run:
        random = torch.get_rng_state()
        run.graph(model, torch.ones(3, 4))
        assert torch.equal(torch.get_rng_state(), random)
    assert list(graph(tmp_path)) == [
        *("input", "0/weight", "0/bias", "0", "1/weight", "1/bias", "1", "2", "3/weight", "3/bias", "3")
    ]
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert model.training and all(module.training for module in model)
    assert len(model._forward_hooks) == 0 and model[0].weight.grad is None


def test_outputs_of_all_kinds_get_names_and_a_loss_becomes_a_scalar(tmp_path: Path) -> None:
    class Outputs(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.attention = nn.LSTM(4, 3, batch_first=True), nn.MultiheadAttention(3, 1, batch_first=True)

        def forward(self, x: torch.Tensor) -> dict[str, Any]:
            y, _ = self.lstm(x)
            z, _ = self.attention(y, y, y)
            return {"loss": z.square().mean(), "logits": z, "ids": x.argmax(1)}

    model = Outputs()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    losses = []
    with begin(tmp_path) as run:
        run.watch(model, optimizer)
        for _ in range(2):
            loss = model(torch.randn(2, 5, 4))["loss"]
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    rows = statistics(tmp_path)
    names = ["lstm", "lstm:1", "lstm:2", "attention", "attention:1"]
    assert [str(rows[name][1]["shape"]) for name in names] == ["2x5x3", "1x2x3", "1x2x3", "2x5x3", "2x5x5"]
    assert [value for _, value in scalars(tmp_path)["loss"]] == losses


def test_frozen_weights_have_a_role_of_their_own_and_no_gradient(tmp_path: Path) -> None:
    model = Net()
    model.fc1.requires_grad_(False)
    optimizer = torch.optim.SGD(model.fc2.parameters(), 0.1)
    with begin(tmp_path) as run:
        run.watch(model, optimizer)
        backward(model)
        optimizer.step()
    rows = statistics(tmp_path)
    assert rows["fc1.weight"][0]["role"] == "frozen_weight" and "fc1.weight.grad" not in rows
    assert rows["fc2.weight"][0]["role"] == "weight" and "fc2.weight.grad" in rows and "fc1" in rows


def test_names_and_patterns_choose_tensors(tmp_path: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path, exclude=["*.bias"]) as run:
        watch = run.watch(model, optimizer, names=["fc*", "nothing.*"], exclude=["fc2*.grad"])
        assert watch is not None
        backward(model)
        optimizer.step()
        chosen = {"fc1", "fc2", "fc1.weight", "fc1.weight.grad", "fc2.weight", "fc1.bias.grad"}
        assert set(watch.names()) == chosen
        assert watch.missing() == ['No tensor is called "nothing.*".']
    assert statistics(tmp_path).keys() == chosen


def test_parts_can_be_left_out_and_steps_can_be_its_own(tmp_path: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path) as run:
        run.watch(model, optimizer, weights=False, gradients=False, every=2, first=0, graph=False)
        for _ in range(4):
            backward(model)
            optimizer.step()
    rows = statistics(tmp_path)
    assert rows.keys() == ACTIVATIONS and list(rows["fc1"]) == [0, 2]
    assert export(tmp_path, "graph") == []


def test_gradients_of_activations_are_those_of_autograd(tmp_path: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path) as run:
        run.watch(model, optimizer, activation_gradients=True)
        x = torch.randn(6, 4)
        model(x).square().mean().backward()
        hidden = functional.relu(functional.linear(x, model.fc1.weight, model.fc1.bias)).detach().requires_grad_()
        functional.linear(hidden, model.fc2.weight, model.fc2.bias).square().mean().backward()
    rows = statistics(tmp_path)
    assert hidden.grad is not None and equals(rows["act.grad"][0], hidden.grad)


def test_an_evaluation_is_seen_only_in_a_phase(tmp_path: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path) as run:
        run.watch(model, optimizer)
        backward(model)
        model.eval()
        with torch.no_grad():
            model(torch.full((1, 4), 1e6))
            with run.phase("eval"):
                model(torch.ones(1, 4))
        model.train()
        with torch.no_grad():
            model(torch.full((1, 4), 1e6))
        optimizer.step()
    rows = statistics(tmp_path)
    assert rows.keys() == WEIGHTS | GRADIENTS | ACTIVATIONS | {f"eval/{name}" for name in ACTIVATIONS}
    assert rows["fc1"][0]["times"] == 1 and rows["fc1"][0]["count"] == 48
    assert rows["eval/fc1"][0]["count"] == 8 and rows["eval/fc1"][0]["max"] < 100


def test_parts_of_a_model_may_be_called_without_the_model(tmp_path: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path) as run:
        run.watch(model, optimizer)
        for _ in range(2):
            model.fc2(model.fc1(model.fc1(torch.randn(6, 4))[:, :4])).sum().backward()
            optimizer.step()
    rows = statistics(tmp_path)
    assert rows.keys() - WEIGHTS - GRADIENTS == {"fc1", "fc1#2", "fc2"}
    assert {tuple(steps) for steps in rows.values()} == {(0, 1)}


def test_two_models_each_have_names_and_steps_of_their_own(tmp_path: Path) -> None:
    class Generator(Net):
        """Makes samples."""

    class Discriminator(Net):
        """Judges them."""

    generator, discriminator = Generator(), Discriminator()
    first, second = torch.optim.SGD(generator.parameters(), 0.1), torch.optim.SGD(discriminator.parameters(), 0.1)
    with begin(tmp_path) as run:
        run.watch(generator, first)
        run.watch(discriminator, second)
        for number in range(4):
            backward(discriminator)
            second.step()
            if number % 2:
                backward(generator)
                first.step()
    rows = statistics(tmp_path)
    prefixed = {f"Discriminator.{name}" for name in WEIGHTS | GRADIENTS | ACTIVATIONS}
    assert rows.keys() == WEIGHTS | GRADIENTS | ACTIVATIONS | prefixed
    assert list(rows["fc1.weight.grad"]) == [0, 1]
    assert list(rows["Discriminator.fc1.weight.grad"]) == [0, 1, 2, 3]
    assert "Discriminator/fc1" in graph(tmp_path, "Discriminator") and "fc1" in graph(tmp_path)


def test_two_optimizers_of_one_model_share_its_steps(tmp_path: Path) -> None:
    model = Net()
    first, second = torch.optim.SGD(model.fc1.parameters(), 0.1), torch.optim.Adam(model.fc2.parameters(), 0.1)
    gradients = []
    with begin(tmp_path, every=2, first=0) as run:
        run.watch(model)
        for _ in range(5):
            for optimizer in (first, second):
                optimizer.zero_grad()
            backward(model)
            first.step()
            gradients.append(model.fc2.weight.grad.clone())  # type: ignore[union-attr]
            second.step()
    rows = statistics(tmp_path)
    assert {tuple(steps) for steps in rows.values()} == {(0, 2, 4)}
    assert rows["fc1.weight"][4]["times"] == 1
    for step in (0, 2, 4):
        assert equals(rows["fc2.weight.grad"][step], gradients[step])


def test_an_optimizer_of_another_model_is_left_alone(tmp_path: Path) -> None:
    model, other = Net(), Net()
    with begin(tmp_path) as run:
        run.watch(model)
        mine, others = torch.optim.SGD(model.parameters(), 0.1), torch.optim.SGD(other.parameters(), 0.1)
        for _ in range(3):
            backward(other)
            others.step()
        backward(model)
        mine.step()
    assert {tuple(steps) for steps in statistics(tmp_path).values()} == {(0,)}


def test_wrappers_leave_no_trace_in_names(tmp_path: Path) -> None:
    model = torch.compile(nn.Sequential(torch.optim.swa_utils.AveragedModel(Net())), backend="eager")
    with begin(tmp_path) as run:
        watch = run.watch(model)
        assert watch is not None
        names = {name for name in watch.names() if "weight" in name or "bias" in name}
    assert names == {f"0.{name}" for name in WEIGHTS | GRADIENTS}


def test_a_compiled_model_says_that_its_activations_are_not_seen(tmp_path: Path) -> None:
    model = Net()
    compiled = torch.compile(model, backend="eager")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path) as run:
        watch = run.watch(compiled, optimizer)
        assert watch is not None
        for _ in range(3):
            compiled(torch.randn(6, 4)).square().mean().backward()
            optimizer.step()
        why = (
            "No activation of OptimizedModule was seen. Hooks do not fire inside of torch.compile: "
            "to see activations, run some steps without it."
        )
        assert watch.missing() == [why]
    assert notes(tmp_path) == [f"watch: {why}"]
    assert statistics(tmp_path).keys() == WEIGHTS | GRADIENTS


def test_a_parameter_without_a_gradient_is_named_as_missing(tmp_path: Path) -> None:
    model = nn.ModuleDict({"used": nn.Linear(4, 1), "unused": nn.Linear(4, 1, bias=False)})
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path) as run:
        watch = run.watch(model, optimizer)
        assert watch is not None
        model["used"](torch.randn(2, 4)).sum().backward()
        optimizer.step()
        assert watch.missing() == ["unused.weight had no gradient at the last sampled update."]
    rows = statistics(tmp_path)
    assert "used" in rows and "unused.weight" in rows and "unused.weight.grad" not in rows


def test_an_optimizer_without_hooks_is_named_as_missing(tmp_path: Path) -> None:
    model = Net()
    with begin(tmp_path) as run:
        watch = run.watch(model, object())
        assert watch is not None
        backward(model)
        assert watch.missing()[0] == "object has no hooks: weights and gradients are not read."
    assert statistics(tmp_path).keys() == ACTIVATIONS


def test_wrapped_optimizers_are_unwrapped(tmp_path: Path) -> None:
    class Wrapper:
        def __init__(self, optimizer: torch.optim.Optimizer) -> None:
            self.optimizer = optimizer

    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path) as run:
        run.watch(model, Wrapper(optimizer))
        backward(model)
        optimizer.step()
    assert "fc1.weight.grad" in statistics(tmp_path)


def test_an_adapter_drives_a_watch_without_hooks_of_the_optimizer(tmp_path: Path) -> None:
    from trainscope.torch import Watch

    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path, every=2, first=0) as run, Watch(run, model, hooks=False) as watch:
        for step in range(5, 9):
            watch.begin(step)
            backward(model)
            watch.before_update(step, scale=0.25)
            gradient = model.fc1.weight.grad.clone()  # type: ignore[union-attr]
            optimizer.step()
            watch.after_update(step)
            optimizer.zero_grad()
        assert run._step() == 9
    rows = statistics(tmp_path)
    assert {tuple(steps) for steps in rows.values()} == {(6, 8)}
    assert equals(rows["fc1.weight.grad"][8], gradient * 0.25)


def test_an_adapter_records_the_loss_itself(tmp_path: Path) -> None:
    class Loss(Net):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x).square().mean()

    from trainscope.torch import Watch

    for has_hooks in (True, False):
        model = Loss()
        with begin(tmp_path / str(has_hooks)) as run, Watch(run, model, hooks=has_hooks) as watch:
            watch.begin(0)
            model(torch.randn(6, 4)).backward()
        assert ("loss" in scalars(tmp_path / str(has_hooks))) == has_hooks


@pytest.mark.parametrize("has_steps", [False, True])
def test_a_trigger_looks_at_everything_of_the_next_step(tmp_path: Path, has_steps: bool) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with begin(tmp_path, every=0, first=0) as run:
        run.watch(model, optimizer)
        for number in run.steps(range(6)) if has_steps else range(6):
            backward(model)
            if number == 3:
                run.trigger("asked for")
            optimizer.step()
    rows = statistics(tmp_path)
    assert rows.keys() == WEIGHTS | GRADIENTS | ACTIVATIONS
    assert {tuple(steps) for steps in rows.values()} == {(4,)}


FSDP = """
    import sys, torch, trainscope
    from torch import nn, distributed
    from torch.distributed.fsdp import fully_shard
    distributed.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=0, world_size=1)
    mesh = distributed.device_mesh.init_device_mesh("cpu", (1,))
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    for layer in (model[0], model[2], model):
        fully_shard(layer, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), 0.1)
    with trainscope.start(sys.argv[1], every=1, strict=True) as run:
        watch = run.watch(model, optimizer)
        for _ in range(2):
            model(torch.randn(6, 4)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    print(watch.missing())
    distributed.destroy_process_group()
"""


def test_shards_of_fsdp_are_recorded(tmp_path: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(FSDP), str(tmp_path / "run"), str(tmp_path / "meet")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
    rows = statistics(tmp_path / "run")
    assert list(rows["0.weight"]) == list(rows["2.bias.grad"]) == list(rows["1"]) == [0, 1]
    assert str(rows["0.weight"][0]["shape"]) == "8x4" and rows["0.weight"][0]["l2"] > 0


def test_a_watch_that_is_closed_stays_closed(tmp_path: Path) -> None:
    run = begin(tmp_path)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with run.watch(model, optimizer) as watch:  # type: ignore[union-attr]
        with run.step(0):
            backward(model)
            optimizer.step()
    assert run._watches == []
    with run.step(1):
        backward(model)
        optimizer.step()
    assert not any(module._forward_hooks for module in model.modules())
    # A notebook cell that is run again.
    for _ in range(3):
        watch = run.watch(model, optimizer)
    assert run._watches == [watch]
    run.finish()
    assert {step for steps in statistics(tmp_path).values() for step in steps} == {0}
