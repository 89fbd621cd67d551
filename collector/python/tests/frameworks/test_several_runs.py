"""Several runs at once in one process: each watch records into its run, and into no other."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
import trainscope
from reading import export, scalars, statistics
from torch import nn

Rows = dict[str, dict[int, dict[str, Any]]]


def net(*first: nn.Module) -> nn.Sequential:
    return nn.Sequential(*(first or [nn.Linear(4, 8)]), nn.Tanh(), nn.Linear(8, 1))


def open_runs(folder: Path, *every: int) -> list[trainscope.Run]:
    torch.manual_seed(0)
    return [trainscope.Run(folder / name, every=number, strict=True) for name, number in zip("abc", every, strict=False)]


def update(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    model(torch.randn(6, 4)).square().mean().backward()
    optimizer.step()


def steps(folder: Path) -> dict[str, list[int]]:
    """Sampled steps of each tensor; each is recorded once."""
    rows = statistics(folder)
    assert {row["times"] for of_steps in rows.values() for row in of_steps.values()} <= {1}
    return {name: sorted(of_steps) for name, of_steps in rows.items()}


def test_trainings_that_take_turns_record_what_they_record_alone(tmp_path: Path) -> None:
    def train(runs: list[trainscope.Run], numbers: tuple[int, ...]) -> None:
        trainings = []
        for number, run in zip(numbers, runs, strict=True):
            torch.manual_seed(number)
            model = net()
            optimizer = torch.optim.SGD(model.parameters(), 0.125 * (number + 1))
            run.watch(model, optimizer)
            trainings.append((number, run, model, optimizer, torch.Generator().manual_seed(number)))
        for step in range(6):
            for number, run, model, optimizer, generator in trainings:
                if step % (number + 1) == 0:
                    optimizer.zero_grad()
                    loss = model(torch.randn(6, 4, generator=generator)).square().mean()
                    loss.backward()
                    optimizer.step()
                    run.scalar("loss", loss)

    together, alone = tmp_path / "together", tmp_path / "alone"
    runs = open_runs(together, 1, 2, 1)
    train(runs, (0, 1, 2))
    for run in runs:
        assert run.finish().lost == {}
    for number, every in enumerate((1, 2, 1)):
        with trainscope.Run(alone / "abc"[number], every=every) as run:
            train([run], (number,))
    for name in "abc":
        assert scalars(together / name) == scalars(alone / name), name
        both = statistics(together / name), statistics(alone / name)
        for rows in both:
            for of_steps in rows.values():
                for row in of_steps.values():
                    row.pop("wall_time", None)
        assert both[0].keys() == both[1].keys() and len(both[0]) == 11
        assert _figures(both[0]) == _figures(both[1])


def _figures(rows: Rows) -> Any:
    keys = ("count", "min", "max", "mean", "l2", "times")
    return {(name, step): tuple(row[key] for key in keys) for name, of_steps in rows.items() for step, row in of_steps.items()}


def test_one_model_may_be_watched_by_two_runs(tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    first, second = open_runs(tmp_path, 1, 3)
    first.watch(model, optimizer)
    second.watch(model, optimizer)
    for _ in range(4):
        update(model, optimizer)
    first.finish()
    update(model, optimizer)
    for _ in range(2):
        update(model, optimizer)
    second.finish()
    assert set(map(tuple, steps(tmp_path / "a").values())) == {(0, 1, 2, 3)}
    assert set(map(tuple, steps(tmp_path / "b").values())) == {(0, 1, 2, 3, 6)}
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    assert {len(points) for points in (scalars(tmp_path / "a")["grad_norm"], scalars(tmp_path / "b")["grad_norm"])} == {4, 5}


def test_a_second_watch_of_a_run_replaces_the_first_of_the_same_model(tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    (run,) = open_runs(tmp_path, 1)
    first, second = run.watch(model, optimizer), run.watch(model, optimizer)
    update(model, optimizer)
    assert run._watches == [second] and first is not second
    run.finish()
    assert set(map(tuple, steps(tmp_path / "a").values())) == {(0,)}


@pytest.mark.parametrize("is_trained", [True, False])
def test_a_part_that_two_models_share_belongs_to_the_run_that_calls_and_trains_it(tmp_path: Path, is_trained: bool) -> None:
    encoder = nn.Linear(4, 8).requires_grad_(is_trained)
    models = [net(encoder), net(encoder)]
    optimizers = [torch.optim.SGD([each for each in model.parameters() if each.requires_grad], 0.5) for model in models]
    runs = open_runs(tmp_path, 1, 1)
    for run, model, optimizer in zip(runs, models, optimizers, strict=True):
        run.watch(model, optimizer)
    for number, count in enumerate((2, 3)):
        for _ in range(count):
            update(models[number], optimizers[number])
    for run in runs:
        run.finish()
    for name, count in (("a", 2), ("b", 3)):
        assert set(map(tuple, steps(tmp_path / name).values())) == {tuple(range(count))}
        found = scalars(tmp_path / name)
        assert found.keys() == {"learning_rate", "grad_norm"}
        assert [step for step, _ in found["grad_norm"]] == list(range(count))


def test_two_networks_against_each_other_beside_another_training(tmp_path: Path) -> None:
    torch.manual_seed(0)
    generator, critic, other = nn.Linear(4, 4), nn.Linear(4, 1), net()
    of_generator, of_critic = (torch.optim.Adam(part.parameters(), 0.5) for part in (generator, critic))
    of_other = torch.optim.SGD(other.parameters(), 0.25)
    adversarial, plain = open_runs(tmp_path, 1, 1)
    adversarial.watch(generator, of_generator)
    adversarial.watch(critic, of_critic)
    plain.watch(other, of_other)
    for step in adversarial.steps(range(3)):
        of_critic.zero_grad()
        critic(generator(torch.randn(5, 4)).detach()).mean().backward()
        of_critic.step()
        of_generator.zero_grad()
        (-critic(generator(torch.randn(5, 4))).mean()).backward()
        of_generator.step()
        update(other, of_other)
        adversarial.scalar("step", step)
    adversarial.finish()
    plain.finish()
    rates = ("learning_rate", "Adam/learning_rate")
    found = scalars(tmp_path / "a")
    assert found.keys() == {*rates, "grad_norm", "Adam/grad_norm", "step"}
    assert all([step for step, _ in points] == [0, 1, 2] for points in found.values())
    assert scalars(tmp_path / "b").keys() == {"learning_rate", "grad_norm"}
    assert {name.split(".")[0] for name in statistics(tmp_path / "b")} == {"0", "1", "2"}


def test_gradients_that_are_not_finite_are_in_the_run_that_has_them(tmp_path: Path) -> None:
    models = [net(), net()]
    optimizers = [torch.optim.SGD(model.parameters(), 0.5) for model in models]
    runs = open_runs(tmp_path, 1, 1)
    for run, model, optimizer in zip(runs, models, optimizers, strict=True):
        run.watch(model, optimizer)
    (models[0](torch.full((2, 4), math.nan)).mean()).backward()
    optimizers[0].step()
    update(models[1], optimizers[1])
    for run in runs:
        run.finish()
    assert math.isnan(scalars(tmp_path / "a")["grad_norm"][0][1])
    assert math.isfinite(scalars(tmp_path / "b")["grad_norm"][0][1])
    assert not any(int(row["nan"]) for row in export(tmp_path / "b", "statistics"))
