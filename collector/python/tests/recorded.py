"""Reads back recorded runs, and records the order of calls, for the tests of the adapters."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import trainscope
from trainscope import TrainscopeWarning

# Folder to import the tested package from, in another process too: that of the installed wheel, or of the sources.
PACKAGES = Path(trainscope.__file__).parent.parent
ROOT = Path(__file__).parents[3]
PROGRAM = os.environ.get("TRAINSCOPE_PROGRAM", str(ROOT / "target" / "debug" / "trainscope"))


@pytest.fixture(autouse=True)
def nothing_lost(recwarn: pytest.WarningsRecorder) -> Iterator[None]:
    """Fails a test in which something could not be recorded, unless it expects the warning."""
    yield
    assert [str(each.message) for each in recwarn if issubclass(each.category, TrainscopeWarning)] == []


def first_cause(folder: Path) -> dict[str, Any]:
    """The first cause that `trainscope check` names: `step`, `tensor`, `condition`, …"""
    command = [PROGRAM, "check", "--format", "json", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stdout + done.stderr
    cause = json.loads(done.stdout)["first_cause"]
    assert cause is not None, done.stdout
    return cause


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Points of each scalar of a run as (step, value), as TensorBoard reads them."""
    events = EventAccumulator(str(folder), size_guidance={"tensors": 0, "scalars": 0}).Reload()
    return {tag: [(point.step, point.value) for point in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def steps(folder: Path, tag: str) -> list[int]:
    """Steps of the points of one scalar."""
    return [step for step, _ in scalars(folder)[tag]]


def record_calls(monkeypatch: pytest.MonkeyPatch, methods: dict[type, list[str]]) -> list[str]:
    """List that gets `name` and the numbers and texts among the arguments of each call of these methods, in their
    order."""
    calls: list[str] = []

    def wrap(owner: type, name: str) -> None:
        original = getattr(owner, name)

        def record(self: Any, *args: Any, **kwargs: Any) -> Any:
            words = [str(arg) for arg in args if isinstance(arg, int | str)]
            calls.append(" ".join([name.strip("_"), *words]))
            return original(self, *args, **kwargs)

        monkeypatch.setattr(owner, name, record)

    for owner, names in methods.items():
        for name in names:
            wrap(owner, name)
    return calls
