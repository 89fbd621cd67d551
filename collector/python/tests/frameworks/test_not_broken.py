"""A training is with `watch` what it is without: equal to the bit, with the same errors, and nothing is left behind."""

from __future__ import annotations

import copy
import gc
import io
import os
import pickle
import subprocess
import sys
import textwrap
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch
import trainscope
from reading import scalars, statistics
from torch import nn
from torch.nn import functional
from torch.optim.optimizer import _global_optimizer_post_hooks, _global_optimizer_pre_hooks
from torch.utils.checkpoint import checkpoint

STEPS = 20
Watch = Callable[..., Any]


class Net(nn.Module):
    """Two layers with an activation between them."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.fc1 = nn.Linear(4, width)
        self.act = nn.ReLU()
        self.fc2 = nn.Linear(width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.fc2(self.act(self.fc1(x)))
        return result


class Tricky(nn.Module):
    """Changes in place, a residual sum in place, a view as output, and modules that are called twice."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(4, 4)
        self.act = nn.ReLU(inplace=True)
        self.fc2 = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.3)
        self.flat = nn.Flatten()
        self.same = nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.fc1(x)
        y += x
        y = self.fc1(self.drop(self.act(y)))
        z = self.fc2(self.act(y))
        z *= 0.5
        result: torch.Tensor = self.same(self.flat(z)).sum(1, keepdim=True)
        return result


def hooks_of(model: nn.Module) -> int:
    """Number of hooks in all modules and parameters of a model."""
    hooks = [
        dictionary
        for module in model.modules()
        for dictionary in (module._forward_hooks, module._forward_pre_hooks, module._backward_hooks)
    ]
    of_parameters = [p._post_accumulate_grad_hooks or {} for p in model.parameters()]
    return sum(map(len, hooks + of_parameters))


def train(
    model: nn.Module, optimizer: torch.optim.Optimizer, *, call: Any = None, steps: int = STEPS, scaler: Any = None
) -> list[torch.Tensor]:
    """Losses of the steps, and the weights after them."""
    losses = []
    for _ in range(steps):
        x = torch.randn(6, 4)
        optimizer.zero_grad()
        loss = functional.mse_loss((model if call is None else call)(x), x.sum(1, keepdim=True))
        if scaler is None:
            loss.backward()
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        losses.append(loss.detach().clone())
    return [*losses, *(parameter.detach().clone() for parameter in model.parameters())]


def compare(folder: Path, training: Callable[[Watch], list[torch.Tensor]], **options: Any) -> None:
    """Runs a training without and with `watch`, which looks at everything in every step; results must be equal bits."""
    torch.manual_seed(0)
    alone = training(lambda *_args, **_options: None)
    torch.manual_seed(0)
    with trainscope.start(folder, every=1, strict=True) as run:
        everything: dict[str, Any] = {"activation_gradients": True} | options
        watched = training(lambda model, *args, **kwargs: run.watch(model, *args, **kwargs, **everything))
    assert run.report().lost == {}
    assert len(alone) == len(watched) > STEPS
    for number, (one, other) in enumerate(zip(alone, watched, strict=True)):
        assert one.dtype == other.dtype and torch.equal(one, other), f"result {number} differs"


@pytest.mark.parametrize("gradients", ["update", "raw"])
def test_a_plain_training_is_the_same_to_the_bit(tmp_path: Path, gradients: str) -> None:
    def training(watch: Watch) -> list[torch.Tensor]:
        model = Net()
        optimizer = torch.optim.AdamW(model.parameters(), 0.01)
        watch(model, optimizer)
        return train(model, optimizer)

    compare(tmp_path, training, gradients=gradients)
    rows = statistics(tmp_path)
    assert {len(rows[name]) for name in ("fc1", "fc1.grad", "fc1.weight", "fc1.weight.grad")} == {STEPS}


def test_changes_in_place_views_and_shared_modules_are_no_trouble(tmp_path: Path) -> None:
    def training(watch: Watch) -> list[torch.Tensor]:
        model = Tricky()
        optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
        watch(model, optimizer)
        return train(model, optimizer)

    compare(tmp_path, training)
    rows = statistics(tmp_path)
    assert len(rows["fc1"]) == len(rows["fc1#2"]) == len(rows["act#2"]) == len(rows["fc1#2.grad"]) == STEPS


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("order", ["watch before compiling", "watch after compiling", "watch the compiled model"])
def test_a_compiled_model_is_the_same_without_graph_breaks(tmp_path: Path, backend: str, order: str) -> None:
    counted: list[int] = []

    def training(watch: Watch) -> list[torch.Tensor]:
        torch._dynamo.reset()
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), 0.05)
        if order == "watch before compiling":
            watch(model, optimizer)
        compiled = torch.compile(model, fullgraph=True, backend=backend)
        if order == "watch after compiling":
            watch(model, optimizer)
        elif order == "watch the compiled model":
            watch(compiled, optimizer)
        graphs = torch._dynamo.utils.counters["stats"]
        results = train(model, optimizer, call=compiled, steps=2)
        before = graphs["unique_graphs"]
        results += train(model, optimizer, call=compiled)
        counted.append(graphs["unique_graphs"] - before)
        assert not torch._dynamo.utils.counters["graph_break"]
        return results

    compare(tmp_path, training)
    assert counted == [0, 0]
    rows = statistics(tmp_path)
    assert len(rows["fc1.weight"]) == len(rows["fc2.bias.grad"]) == STEPS + 2
    assert "fc1" not in rows


def test_a_compiled_function_with_the_optimizer_in_it_is_the_same(tmp_path: Path) -> None:
    def training(watch: Watch) -> list[torch.Tensor]:
        torch._dynamo.reset()
        model = Net()
        optimizer = torch.optim.Adam(model.parameters(), 0.01)
        watch(model, optimizer)

        @torch.compile(backend="aot_eager")
        def update() -> None:
            optimizer.step()

        losses = []
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss = model(torch.randn(6, 4)).square().mean()
            loss.backward()
            update()
            losses.append(loss.detach().clone())
        return [*losses, *(parameter.detach().clone() for parameter in model.parameters())]

    compare(tmp_path, training)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_with_checkpointing_each_activation_is_there_once(tmp_path: Path, use_reentrant: bool) -> None:
    class Checkpointed(Net):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            hidden: Any = checkpoint(lambda x: self.act(self.fc1(x)), x.requires_grad_(), use_reentrant=use_reentrant)
            result: torch.Tensor = self.fc2(hidden)
            return result

    def training(watch: Watch) -> list[torch.Tensor]:
        model = Checkpointed()
        optimizer = torch.optim.SGD(model.parameters(), 0.05)
        watch(model, optimizer)
        return train(model, optimizer)

    compare(tmp_path, training)
    rows = statistics(tmp_path)
    assert len(rows["fc1"]) == len(rows["act"]) == len(rows["fc2"]) == STEPS
    assert {row["times"] for name in ("fc1", "act", "fc2") for row in rows[name].values()} == {1}
    assert not any("#" in name for name in rows)


def test_autocast_is_the_same_and_activations_have_their_own_type(tmp_path: Path) -> None:
    def training(watch: Watch) -> list[torch.Tensor]:
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), 0.05)
        watch(model, optimizer)

        def call(x: torch.Tensor) -> torch.Tensor:
            with torch.autocast("cpu", torch.bfloat16):
                result: torch.Tensor = model(x)
            return result.float()

        return train(model, optimizer, call=call)

    compare(tmp_path, training)
    rows = statistics(tmp_path)
    assert rows["fc1"][3]["dtype"] == "bf16" and rows["fc1.weight"][3]["dtype"] == "f32"


@pytest.mark.parametrize("is_fused", [False, True])
def test_with_a_gradient_scaler_it_is_the_same_and_the_skipped_update_is_marked(tmp_path: Path, is_fused: bool) -> None:
    class Infinite(torch.autograd.Function):
        """Its gradient is infinite in step 3."""

        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, number: int) -> torch.Tensor:
            ctx.number = number
            return x.clone()

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
            return gradients[0] * (torch.inf if ctx.number == 3 else 1.0), None

    def training(watch: Watch) -> list[torch.Tensor]:
        model = Net()
        optimizer = torch.optim.Adam(model.parameters(), 0.01, fused=is_fused)
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=1000)
        watch(model, optimizer, scaler=scaler)
        numbers = iter(range(STEPS))
        return train(model, optimizer, call=lambda x: Infinite.apply(model(x), next(numbers)), scaler=scaler)

    compare(tmp_path, training)
    points, rows = scalars(tmp_path), statistics(tmp_path)
    assert points["amp/skipped"] == [(step, float(step == 3)) for step in range(STEPS)]
    assert points["amp/scale"] == [(step, 1024.0 if step <= 3 else 512.0) for step in range(STEPS)]
    gradients = rows["fc2.bias.grad"]
    assert gradients[3]["pos_inf"] + gradients[3]["neg_inf"] + gradients[3]["nan"] == 1
    assert len(gradients) == STEPS
    assert all(abs(row["mean"]) < 10 for step, row in gradients.items() if step != 3), "gradients are still scaled"


def test_a_scaler_can_be_copied_and_pickled_while_it_is_watched(tmp_path: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    with trainscope.start(tmp_path, every=1, strict=True) as run:
        run.watch(model, optimizer, scaler=scaler)
        for other in (copy.deepcopy(scaler), pickle.loads(pickle.dumps(scaler))):
            before = model.fc1.weight.detach().clone()
            train(model, optimizer, steps=1, scaler=other)
            assert not torch.equal(before, model.fc1.weight)
            assert other.step.__self__ is other
    assert "step" not in vars(scaler)
    assert "amp/scale" not in scalars(tmp_path)


def test_copies_of_a_model_made_in_a_looked_at_step_are_silent(tmp_path: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    x = torch.randn(6, 4)
    with trainscope.start(tmp_path, every=1, strict=True) as run:
        run.watch(model, optimizer)
        expected = model(x)
        assert hooks_of(model) > 0
        stream = io.BytesIO()
        torch.save(model, stream)
        stream.seek(0)
        copies = [
            copy.deepcopy(model),
            pickle.loads(pickle.dumps(model)),
            torch.load(stream, weights_only=False),
            torch.optim.swa_utils.AveragedModel(model),
            pickle.loads(pickle.dumps(copy.deepcopy(model))),
            torch.export.export(model, (x,)).module(),
        ]
        run._record_tensors([("before the copies", "other", x)], 0)
        optimizer.step()
        for other in copies:
            assert torch.equal(other(x), expected)
    rows = statistics(tmp_path)
    # Step 1 began with the update: a call of a copy would have been recorded there.
    assert list(rows["fc1"]) == [0] and "fc1#2" not in rows


def test_a_pickled_model_is_read_where_this_package_is_not(tmp_path: Path) -> None:
    model = nn.Linear(2, 2)
    with trainscope.start(tmp_path / "run", every=1, strict=True) as run:
        run.watch(model)
        torch.save(model, tmp_path / "model.pt")
    script = """
        import sys, torch
        sys.modules["trainscope"] = None
        model = torch.load(sys.argv[1], weights_only=False)
        assert len(model._forward_hooks) > 0
        assert model(torch.zeros(1, 2)).shape == (1, 2)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "model.pt")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


DDP = """
    import sys, torch, trainscope
    from torch import nn, distributed
    rank, folder, meeting, results = int(sys.argv[1]), *sys.argv[2:]
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1, self.fc2, self.unused = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(4, 4)

        def forward(self, x):
            return self.fc2(self.fc1(x).relu())

    for kind in ("alone", "watched"):
        torch.manual_seed(0)
        net = Net()
        model = nn.parallel.DistributedDataParallel(net, find_unused_parameters=True)
        optimizer = torch.optim.SGD(model.parameters(), 0.05)
        # Rank 1 never watches.
        run = trainscope.start(folder, rank=0, every=1, strict=True) if kind == "watched" and rank == 0 else None
        if run:
            run.watch(model, optimizer)
        torch.manual_seed(rank)
        losses = []
        for _ in range(20):
            optimizer.zero_grad()
            loss = model(torch.randn(6, 4)).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        torch.save([*losses, *net.state_dict().values(), net.fc1.weight.grad], f"{results}-{kind}-{rank}")
        if run:
            run.finish()
    distributed.destroy_process_group()
"""


def test_distributed_data_parallel_of_which_one_rank_watches_is_the_same(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("run", "meeting", "results")]
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(DDP), str(rank), *paths],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"GLOO_SOCKET_IFNAME": "lo"},
        )
        for rank in (0, 1)
    ]
    try:
        for process in ranks:
            output, _ = process.communicate(timeout=90)
            assert process.returncode == 0, output
    finally:
        for process in ranks:
            process.kill()
    for rank in (0, 1):
        alone, watched = (torch.load(tmp_path / f"results-{kind}-{rank}") for kind in ("alone", "watched"))
        assert len(alone) > STEPS
        assert all(torch.equal(one, other) for one, other in zip(alone, watched, strict=True))
    rows = statistics(tmp_path / "run")
    assert len(rows["fc1.weight"]) == len(rows["fc1"]) == STEPS
    # The optimizer got the mean of both ranks.
    assert torch.equal(watched[-1], torch.load(tmp_path / "results-watched-0")[-1])
    assert rows["fc1.weight.grad"][STEPS - 1]["max"] == watched[-1].max().item()


class Numbers(torch.utils.data.Dataset[torch.Tensor]):
    """Numbers, of which each is also logged by the process that makes it."""

    def __len__(self) -> int:
        return 2 * STEPS

    def __getitem__(self, number: int) -> torch.Tensor:
        run = trainscope.current()
        if run is not None:
            run.scalar("worker", number, number)
        return torch.full((4,), float(number)) / 10


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_workers_of_a_loader_are_no_trouble(tmp_path: Path, method: str, capfd: pytest.CaptureFixture[str]) -> None:
    def training(watch: Watch) -> list[torch.Tensor]:
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), 0.05)
        watch(model, optimizer)
        loader = torch.utils.data.DataLoader(Numbers(), 2, num_workers=1, multiprocessing_context=method)
        losses = []
        for x in loader:
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach().clone())
        return [*losses, *(parameter.detach().clone() for parameter in model.parameters())]

    compare(tmp_path, training)
    assert len(statistics(tmp_path)["fc1"]) == STEPS
    assert "worker" not in scalars(tmp_path)
    captured = capfd.readouterr()
    assert "trainscope" not in captured.out + captured.err


class Unlucky(torch.autograd.Function):
    """Fails in the backward pass."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        raise ZeroDivisionError("in backward")


def test_an_exception_in_the_model_or_in_backward_is_the_users_and_leaves_no_hooks(tmp_path: Path) -> None:
    class Fails(nn.Module):
        def __init__(self, where: str) -> None:
            super().__init__()
            self.fc1, self.fc2, self.where = nn.Linear(4, 4), nn.Linear(4, 4), where

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.fc1(x)
            if self.where == "forward":
                raise KeyError("in forward")
            result: torch.Tensor = self.fc2(Unlucky.apply(x))
            return result

    for where, error in (("forward", KeyError), ("backward", ZeroDivisionError)):
        model = Fails(where)
        optimizer = torch.optim.SGD(model.parameters(), 0.05)
        with pytest.raises(error, match=f"in {where}") as raised:  # noqa: SIM117
            with trainscope.start(tmp_path / where, every=1, strict=True) as run:
                run.watch(model, optimizer, gradients="raw", activation_gradients=True)
                model(torch.randn(2, 4)).sum().backward()
        assert raised.value.__cause__ is None and raised.value.__context__ is None
        assert hooks_of(model) == 0
        rows = statistics(tmp_path / where)
        assert list(rows["fc1"]) == [0]
        assert ("fc2.weight.grad" in rows) == (where == "backward")
        assert run.report().is_closed


def test_a_loop_that_is_left_early_leaves_no_hooks(tmp_path: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    with trainscope.start(tmp_path, every=1, strict=True) as run:
        run.watch(model, optimizer)
        for number in run.steps(range(100)):
            train(model, optimizer, steps=1)
            if number == 3:
                break
    assert hooks_of(model) == 0
    assert list(statistics(tmp_path)["fc1"]) == [0, 1, 2, 3]


def test_the_same_cell_run_again_leaves_one_set_of_hooks(tmp_path: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    counts = []
    for number in range(3):
        run = trainscope.start(tmp_path / str(number), every=1, strict=True)
        run.watch(model, optimizer)
        run.watch(model, optimizer)
        of_optimizers = (_global_optimizer_pre_hooks, _global_optimizer_post_hooks)
        counts.append((hooks_of(model), *map(len, of_optimizers)))
    # One of the watch, and one of the recorder of the program.
    assert len(set(counts)) == 1 and counts[0][1:] == (2, 2)
    run.finish()
    assert hooks_of(model) == len(of_optimizers[0]) == len(of_optimizers[1]) == 0


def test_a_model_of_ten_thousand_parameters_and_one_of_none_are_watched(tmp_path: Path) -> None:
    large = nn.ParameterList([nn.Parameter(torch.full((2,), float(number))) for number in range(10_000)])
    optimizer = torch.optim.SGD(large.parameters(), 0.0)
    with trainscope.start(tmp_path, every=1, first=0, strict=True) as run:
        run.watch(large, optimizer, every=1000)
        for parameter in large:
            parameter.grad = torch.ones(2)
        optimizer.step()
        without = nn.ReLU()
        watch = run.watch(without)
        assert watch is not None and watch.names() == ["ReLU"]
        without(torch.ones(3))
    assert hooks_of(large) == hooks_of(without) == 0
    assert run.report().lost == {}
    rows = statistics(tmp_path)
    assert len(rows) == 20_001 and "ReLU" in rows
    assert all(rows[str(number)][0]["max"] == number for number in range(0, 10_000, 999))


def test_lazy_modules_are_seen_once_they_are_initialized(tmp_path: Path) -> None:
    model = nn.Sequential(nn.LazyLinear(3), nn.Linear(3, 1))
    with trainscope.start(tmp_path, every=1, strict=True) as run:
        watch = run.watch(model)
        assert watch is not None
        assert watch.missing() == ["0.weight is not initialized yet.", "0.bias is not initialized yet."]
        model(torch.randn(2, 4))
        optimizer = torch.optim.SGD(model.parameters(), 0.05)
        train(model, optimizer, steps=2)
        assert watch.missing() == []
    assert run.report().lost == {}
    assert list(statistics(tmp_path)["0.weight"]) == [0, 1]


def test_a_parameter_and_a_module_replaced_during_training_are_seen(tmp_path: Path) -> None:
    model = Net()
    with trainscope.start(tmp_path, every=1, strict=True) as run:
        run.watch(model)
        train(model, torch.optim.SGD(model.parameters(), 0.0), steps=2)
        model.fc1.weight = nn.Parameter(torch.full((8, 4), 5.0))
        model.fc2 = nn.Linear(8, 1, bias=False)
        nn.init.constant_(model.fc2.weight, 7.0)
        train(model, torch.optim.SGD(model.parameters(), 0.0), steps=2)
    rows = statistics(tmp_path)
    # The second optimizer goes on where the first has ended.
    assert [rows["fc1.weight"][step]["max"] == 5.0 for step in range(4)] == [False, False, True, True]
    assert [rows["fc2.weight"][step]["max"] == 7.0 for step in range(4)] == [False, False, True, True]


def test_a_model_is_freed_although_it_is_watched(tmp_path: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    with trainscope.start(tmp_path, every=1, strict=True) as run:
        run.watch(model, optimizer, activation_gradients=True)
        train(model, optimizer, steps=3)
        run.watch(other := Net())
        train(other, torch.optim.SGD(other.parameters(), 0.05), steps=1)
        freed, weight = weakref.ref(model), weakref.ref(model.fc1.weight)
        del model, optimizer, other
        gc.collect()
        assert freed() is None and weight() is None
        # The hooks for all optimizers that are left over do nothing.
        third = Net()
        train(third, torch.optim.SGD(third.parameters(), 0.05), steps=2)
    assert run.report().lost == {}


def test_a_long_training_keeps_no_memory(tmp_path: Path) -> None:
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.001)
    process = psutil.Process()
    with trainscope.start(tmp_path, every=5, strict=True) as run:
        run.watch(model, optimizer, activation_gradients=True)
        sizes = []
        for _ in range(5):
            train(model, optimizer, steps=1500)
            gc.collect()
            sizes.append(process.memory_info().rss)
        assert sizes[-1] - sizes[1] < 5 << 20, sizes
        # Nothing of the run that Python holds grows.
        before = len(gc.get_objects())
        train(model, optimizer, steps=200)
        gc.collect()
        assert abs(len(gc.get_objects()) - before) < 200


def test_a_folder_that_is_removed_during_the_training_changes_nothing(tmp_path: Path) -> None:
    def training(watch: Watch) -> list[torch.Tensor]:
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), 0.05)
        watch(model, optimizer)
        results = train(model, optimizer, steps=5)
        for path in (tmp_path / "run").iterdir() if (tmp_path / "run").exists() else []:
            path.unlink()
        return results + train(model, optimizer)

    compare(tmp_path / "run", training)


def test_on_other_steps_there_are_no_hooks(tmp_path: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    with trainscope.start(tmp_path, every=10, first=1, strict=True) as run:
        run.watch(model, optimizer, gradients="raw")
        hooks = []
        for _ in range(12):
            hooks.append(hooks_of(model) > 0)
            train(model, optimizer, steps=1)
    assert hooks == [step % 10 == 0 for step in range(12)]
