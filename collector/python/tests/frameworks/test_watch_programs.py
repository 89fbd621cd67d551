"""A watch in programs that do more with a model than to train it: export, compilation, wrapped and replaced optimizers."""

from __future__ import annotations

import copy
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch
import trainscope
from reading import PROGRAM, graph, notes, statistics
from test_watch import GRADIENTS, WEIGHTS, Net, backward, begin
from torch import nn


def update(model: nn.Module, optimizer: torch.optim.Optimizer, steps: int = 1) -> None:
    """Some steps of a training."""
    for _ in range(steps):
        optimizer.zero_grad()
        backward(model)
        optimizer.step()


def sgd(model: nn.Module) -> torch.optim.SGD:
    return torch.optim.SGD(model.parameters(), 0.01)


@pytest.mark.parametrize("what", ["model", "part", "copy"])
def test_a_watched_model_can_be_scripted(tmp_path: Path, what: str) -> None:
    model = Net()
    optimizer = sgd(model)
    with begin(tmp_path) as run:
        run.watch(model, optimizer)
        update(model, optimizer, 2)
        # The hooks of the step to come are set.
        assert model.fc1._forward_hooks
        chosen: Any = {"model": model, "part": model.fc1, "copy": copy.deepcopy(model)}[what]
        x = torch.randn(3, 4)
        assert torch.equal(torch.jit.script(chosen)(x), chosen(x))
        update(model, optimizer)
        update(model, optimizer)
    assert list(statistics(tmp_path)["fc2"])[-1] == 3
    assert not any("__prepare_scriptable__" in module.__dict__ for module in model.modules())


def test_what_a_module_does_before_it_is_scripted_is_still_done(tmp_path: Path) -> None:
    class Prepared(Net):
        def __prepare_scriptable__(self) -> nn.Module:
            return nn.Identity()

    model = Prepared()
    with begin(tmp_path) as run:
        run.watch(model, sgd(model))
        assert torch.jit.script(model)(torch.tensor(3.0)) == 3.0


def test_modules_around_a_compiled_one_are_seen_in_the_step_of_its_compilation(tmp_path: Path) -> None:
    torch._dynamo.reset()
    model = nn.Sequential(nn.Linear(4, 4), torch.compile(nn.Linear(4, 4), backend="eager"), nn.Linear(4, 4))
    optimizer = sgd(model)
    with begin(tmp_path) as run:
        run.watch(model, optimizer)
        update(model, optimizer, 2)
    rows = statistics(tmp_path)
    assert list(rows["0"]) == list(rows["2"]) == [0, 1] and "1" not in rows


def test_updates_of_an_optimizer_that_replaces_another_are_seen(tmp_path: Path) -> None:
    model = Net()
    first = sgd(model)
    with begin(tmp_path) as run:
        run.watch(model, first)
        update(model, first, 2)
        update(model, torch.optim.Adam(model.parameters()), 3)
    assert list(statistics(tmp_path)["fc1.weight.grad"]) == [0, 1, 2, 3, 4]


def test_an_optimizer_in_any_wrapper_is_seen(tmp_path: Path) -> None:
    class Private:
        """As that of Opacus: not an optimizer with hooks, but one that holds it."""

        def __init__(self, optimizer: torch.optim.Optimizer) -> None:
            self.original_optimizer = optimizer

        def step(self) -> None:
            self.original_optimizer.step()

    model = Net()
    wrapped = Private(sgd(model))
    with begin(tmp_path) as run:
        watch = run.watch(model, wrapped)
        assert watch is not None
        for _ in range(3):
            backward(model)
            wrapped.step()
        assert watch.missing() == []
    assert list(statistics(tmp_path)["fc1.weight.grad"]) == [0, 1, 2]


def test_a_training_without_a_known_optimizer_is_warned_of(tmp_path: Path) -> None:
    model = Net()
    run = begin(tmp_path, strict=False)
    run.watch(model, sgd(model))
    for _ in range(10):
        backward(model)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 0.1 * parameter.grad  # type: ignore[operator]
                parameter.grad = None
    with pytest.warns(trainscope.TrainscopeWarning, match="10 forward passes, and no update"):
        run.finish()
    assert any("10 forward passes, and no update" in text for text in notes(tmp_path))


def test_accumulation_of_gradients_is_not_warned_of(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    model = Net()
    optimizer = sgd(model)
    with begin(tmp_path) as run:
        run.watch(model, optimizer)
        for _ in range(12):
            backward(model)
        optimizer.step()
    assert not recwarn.list and notes(tmp_path) == []


class Attention(nn.Module):
    """Modules that are not called by design: a dropout, a list, and a layer of which only the weights are used."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.MultiheadAttention(4, 2, batch_first=True)
        self.drop = nn.Dropout(0.5)
        self.empty = nn.ModuleDict()
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(4))])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.inner(x[None], x[None], x[None])[0][0] * self.scales[0]
        return result


def test_modules_that_are_not_called_by_design_are_not_missing(tmp_path: Path) -> None:
    model = Attention()
    optimizer = sgd(model)
    with begin(tmp_path) as run:
        watch = run.watch(model, optimizer)
        assert watch is not None
        update(model, optimizer, 3)
        assert watch.missing() == []
        names = watch.names()
    assert "inner" in names and "scales.0" in names
    assert not {"inner.out_proj", "drop", "empty", "scales"} & set(names)
    assert set(names) | {"inner:1"} == set(statistics(tmp_path))
    assert notes(tmp_path) == []


def test_what_is_not_seen_is_noted_after_three_looks(tmp_path: Path) -> None:
    model = nn.ModuleDict({"used": nn.Linear(4, 1)} | {f"unused{number}": nn.Linear(4, 1) for number in range(4)})
    optimizer = sgd(model)
    with begin(tmp_path) as run:
        run.watch(model, optimizer)
        for number in range(4):
            model["used"](torch.randn(2, 4)).sum().backward()
            optimizer.step()
            assert run.flush()
            assert len(notes(tmp_path)) == (0 if number < 2 else 6)
    assert notes(tmp_path)[0] == "watch: unused0.weight had no gradient at the last sampled update."
    assert notes(tmp_path)[-1] == "watch: 3 more are not seen: `missing()` of the watch names them."


def test_a_script_module_is_trained_and_named_as_missing(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(4, 4), torch.jit.script(nn.Linear(4, 2)))
    optimizer = sgd(model)
    with begin(tmp_path) as run:
        watch = run.watch(model, optimizer)
        assert watch is not None
        update(model, optimizer, 2)
        assert watch.missing() == ["1 has no activation: it is a ScriptModule, which has no hooks."]
    assert {"0", "1.weight", "1.weight.grad"} < statistics(tmp_path).keys()
    scripted = torch.jit.script(Net())
    with begin(tmp_path / "whole") as run:
        run.watch(scripted, sgd(scripted))
        update(scripted, sgd(scripted), 3)
    assert run.report().lost == {}
    assert statistics(tmp_path / "whole").keys() == WEIGHTS | GRADIENTS


def test_layers_that_are_called_without_gradients_only_are_named_as_missing(tmp_path: Path) -> None:
    class Adjoint(torch.autograd.Function):
        """Calls the model without gradients, and again in the backward pass."""

        @staticmethod
        def forward(context: Any, model: nn.Module, x: torch.Tensor) -> torch.Tensor:
            context.model = model
            context.save_for_backward(x)
            with torch.no_grad():
                result: torch.Tensor = model(x)
            return result

        @staticmethod
        def backward(context: Any, *gradients: torch.Tensor) -> Any:
            (x,) = context.saved_tensors
            with torch.enable_grad():
                context.model(x).backward(gradients[0])
            return None, None

    model = Net()
    optimizer = sgd(model)
    with begin(tmp_path) as run:
        watch = run.watch(model, optimizer)
        assert watch is not None
        Adjoint.apply(model, torch.randn(6, 4, requires_grad=True)).square().mean().backward()
        optimizer.step()
        why = "has no activation: it was called without gradients only."
        assert watch.missing() == [f"fc1 {why}", f"act {why}", f"fc2 {why}"]


def test_an_output_that_holds_itself_is_recorded_once(tmp_path: Path) -> None:
    class Loop(Net):
        def forward(self, x: torch.Tensor) -> Any:
            output: dict[str, Any] = {"logits": super().forward(x)}
            output["self"] = output
            return output

    model = Loop()
    optimizer = sgd(model)
    with begin(tmp_path) as run:
        run.watch(model, optimizer)
        model(torch.randn(6, 4))["logits"].square().mean().backward()
        optimizer.step()
    assert list(statistics(tmp_path)["fc2"]) == [0]


def test_the_graph_has_no_shape_of_a_jagged_tensor(tmp_path: Path) -> None:
    model = Net()
    with begin(tmp_path) as run:
        run.watch(model, sgd(model))
        parts = [torch.randn(2, 4), torch.randn(3, 4)]
        model(torch.nested.nested_tensor(parts, layout=torch.jagged))
    nodes = graph(tmp_path)
    assert list(nodes) == ["input", "fc1/weight", "fc1/bias", "fc1", "act", "fc2/weight", "fc2/bias", "fc2"]
    assert nodes["fc1"]["shapes"] == "" and nodes["fc1/weight"]["shapes"] == "[8x4]"


def test_modules_nested_200_deep_are_trained(tmp_path: Path) -> None:
    script = """
        import sys, torch, trainscope
        from torch import nn

        class Outer(nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.inner = inner

            def forward(self, x):
                return self.inner(x)

        model = nn.Linear(4, 1)
        for _ in range(210):
            model = Outer(model)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        with trainscope.start(sys.argv[1], every=1, strict=True) as run:
            run.watch(model, optimizer)
            for _ in range(3):
                model(torch.randn(2, 4)).sum().backward()
                optimizer.step()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script), tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert list(statistics(tmp_path)[".".join(["inner"] * 210)]) == [0, 1, 2]


PARALLEL = """
    import sys, torch, trainscope
    from torch import nn, distributed
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    rank, folder, meeting = int(sys.argv[1]), *sys.argv[2:]
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2), nn.Linear(2, 1))
    parallelize_module(model, init_device_mesh("cpu", (2,)), {"0": ColwiseParallel(), "2": RowwiseParallel()})
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with trainscope.start(folder, rank=rank, world_size=2, every=1, strict=True) as run:
        watch = run.watch(model, optimizer)
        for _ in range(5):
            optimizer.zero_grad()
            model(torch.randn(6, 4)).square().mean().backward()
            optimizer.step()
    distributed.destroy_process_group()
"""


def test_shards_of_tensor_parallelism_are_no_replicas(tmp_path: Path) -> None:
    def begin_rank(rank: int) -> subprocess.Popen[str]:
        places = str(tmp_path / "run"), str(tmp_path / "meet")
        command = [sys.executable, "-c", textwrap.dedent(PARALLEL), str(rank), *places]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    for rank in [begin_rank(0), begin_rank(1)]:
        _, errors = rank.communicate(timeout=120)
        assert rank.returncode == 0, errors
    rows = statistics(tmp_path / "run" / "rank_1")
    # The output of the row-wise layer is the sum of both ranks.
    assert list(rows["2"]) == [0, 1, 2, 3, 4] and str(rows["2"][0]["shape"]) == "6x2"
    assert str(rows["0.weight"][0]["shape"]) == "4x4"
    checked = subprocess.run([PROGRAM, "check", str(tmp_path / "run")], capture_output=True, text=True, timeout=60)
    assert "differs between ranks" not in checked.stdout


def test_one_look_at_a_training_is_not_called_sound(tmp_path: Path) -> None:
    model = Net()
    used, other = sgd(model), sgd(model)
    with begin(tmp_path, every=100, first=1) as run:
        run.watch(model, used)
        update(model, other, 5)
    done = subprocess.run([PROGRAM, "check", str(run.folder)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "\nok " not in done.stdout, done.stdout
    assert "Tensors were recorded at one step only: nothing over steps was judged." in " ".join(done.stdout.split())
