"""Accelerate: the tracker by its name and as an object, its run, and a watch of a prepared model."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import Accelerator
from recorded import PACKAGES, nothing_lost, scalars  # noqa: F401

import trainscope
from trainscope.accelerate import TrainscopeTracker


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def train(accelerator: Any, **options: Any) -> None:
    """A training as the documentation of Accelerate has it."""
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    model, optimizer = accelerator.prepare(model, optimizer)
    accelerator.init_trackers("mnist", {"lr": 0.5, "name": "sgd"}, **options)
    accelerator.get_tracker("trainscope", unwrap=True).watch(model, optimizer, every=1)
    for step in range(3):
        loss = model(torch.randn(8, 4)).square().mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        accelerator.log({"train/loss": loss, "nested": {"a": 1.0}, "words": "some text"}, step=step)
    accelerator.end_training()


@pytest.mark.parametrize("folder", [None, "runs/other"])
def test_the_tracker_is_known_by_its_name(tmp_path: Path, folder: str | None) -> None:
    options = {"init_kwargs": {"trainscope": {"folder": folder, "every": 1}}} if folder else {}
    train(Accelerator(cpu=True, log_with="trainscope"), **options)
    run = trainscope.current()
    assert run is not None and run.report().is_closed
    assert run.folder == tmp_path / (folder or "runs/mnist")
    found = scalars(run.folder)
    assert [step for step, _ in found["train/loss"]] == [0, 1, 2] == [step for step, _ in found["nested/a"]]
    assert found["learning_rate"] == [(0, 0.5), (1, 0.5), (2, 0.5)] and len(found["grad_norm"]) == 3


def test_an_object_is_a_tracker_too(tmp_path: Path) -> None:
    train(Accelerator(cpu=True, log_with=[TrainscopeTracker("mnist", tmp_path / "object")]))
    assert [step for step, _ in scalars(tmp_path / "object")["train/loss"]] == [0, 1, 2]


def test_a_run_that_is_open_is_used_and_left_open(tmp_path: Path) -> None:
    with trainscope.start(tmp_path / "run") as run:
        train(Accelerator(cpu=True, log_with="trainscope"))
        assert not run.report().is_closed
        run.scalar("later", 1.0, 3)
    assert {"train/loss", "later"} <= scalars(tmp_path / "run").keys() and not (tmp_path / "runs").exists()


def test_images_and_a_second_training(tmp_path: Path) -> None:
    tracker = TrainscopeTracker("images", tmp_path / "run")
    for step in range(2):
        tracker.log_images({"sample": torch.zeros(2, 8, 8, 3).numpy()}, step)
        tracker.finish()
    assert len(list((tmp_path / "run").glob("*tfevents*"))) == 2


def test_the_name_works_in_a_program_of_three_lines(tmp_path: Path) -> None:
    program = """
        import trainscope.accelerate
        from accelerate import Accelerator
        accelerator = Accelerator(cpu=True, log_with="trainscope")
        accelerator.init_trackers("short")
        accelerator.log({"x": 1.0}, step=0)
        accelerator.end_training()
    """
    environment = os.environ | {"PYTHONPATH": str(PACKAGES)}
    command = [sys.executable, "-W", "error::UserWarning", "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert scalars(tmp_path / "runs" / "short") == {"x": [(0, 1.0)]}
