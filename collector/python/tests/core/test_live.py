"""Live sessions: a hit ends a training, and a server makes it wait, with the program `trainscope`."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trainscope
from recorded import PROGRAM

TRAINING = """
import sys, time
import trainscope

run = trainscope.start(sys.argv[1], every=1)
run.total_steps(100_000)
for number in run.steps(range(100_000)):
    run.scalar("train/loss", 1.0)
    run.tensor("w.grad", [0.5, 0.25], role="gradient")
    time.sleep(0.01)
    print(number, flush=True)
"""


def test_a_hit_ends_the_training_and_the_run_is_whole(tmp_path: Path) -> None:
    run = trainscope.start(tmp_path / "run", every=1, at_hit="stop")
    passed = []
    with pytest.raises(trainscope.TrainingStopped) as stopped:
        for number in run.steps(range(10)):
            run.tensor("w.grad", [1.0, math.nan if number == 3 else 0.5], role="gradient")
            passed.append(number)
    assert stopped.value.code == 1 and isinstance(stopped.value, SystemExit)
    assert passed == [0, 1, 2, 3]
    report = run.finish()
    assert report.is_closed and not report.lost
    checked = subprocess.run([PROGRAM, "check", str(run.folder), "--format", "json"], capture_output=True, text=True)
    assert checked.returncode == 1
    assert '"step":3' in checked.stdout.replace(" ", "")


def test_without_it_a_hit_is_only_recorded(tmp_path: Path) -> None:
    run = trainscope.start(tmp_path / "run", every=1)
    assert not run._has_gates()
    for _ in run.steps(range(3)):
        run.tensor("w.grad", [math.nan], role="gradient")
    assert not run.finish().lost


def test_options_of_a_session_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at_hit must be"):
        trainscope.start(tmp_path / "run", at_hit="explode")
    with pytest.raises(ValueError, match="at_hit_severity must be"):
        trainscope.start(tmp_path / "run", at_hit_severity="fatal")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server on an empty folder, with a pause that ends a second after its connection."""
    environment = os.environ | {"TRAINSCOPE_SESSION_LIMITS": "5,1800,1"}
    arguments = [PROGRAM, "start", "--summary-base-dir", str(tmp_path), "--port", "0", "--cache-dir", str(tmp_path / "cache")]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            yield found[0], process
            break
    process.kill()
    process.wait()


class Training:
    """A training in a process of its own, that prints the number of each step."""

    def __init__(self, folder: Path, server: str) -> None:
        environment = os.environ | {"TRAINSCOPE_SERVER": server}
        self.process = subprocess.Popen(
            [sys.executable, "-c", TRAINING, str(folder)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )

    def step(self) -> int:
        """Waits for the next step."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read() if self.process.stderr else ""
        return int(line)

    def end(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def training(tmp_path: Path, server: tuple[str, Any]) -> Iterator[Training]:
    """A training that is connected."""
    training = Training(tmp_path / "a", server[0])
    training.step()
    wait_for(lambda: status(tmp_path / "a", server[0])["state"] == "running")
    yield training
    training.end()


def control(folder: Path, server: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs `trainscope control`."""
    arguments = [PROGRAM, "control", folder.name, *command, "--server", server]
    return subprocess.run(arguments, capture_output=True, text=True)


def status(folder: Path, server: str) -> dict[str, Any]:
    """The session of a run; without a state before there is one."""
    answer = control(folder, server, "status", "--json")
    return json.loads(answer.stdout) if answer.returncode == 0 else {"state": None}


def wait_for(condition: Callable[[], bool]) -> None:
    """Looks until the condition holds, at most a minute."""
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_person_pauses_steps_and_stops_a_training(tmp_path: Path, server: tuple[str, Any], training: Training) -> None:
    folder, address = tmp_path / "a", server[0]
    assert control(folder, address, "pause").returncode == 0
    wait_for(lambda: status(folder, address)["state"] == "waiting")
    held = status(folder, address)
    assert held["place"] == "after_step" and held["total_steps"] == 100_000
    assert control(folder, address, "step", "3").returncode == 0
    wait_for(lambda: status(folder, address)["state"] == "waiting" and status(folder, address)["step"] == held["step"] + 3)
    assert control(folder, address, "continue").returncode == 0
    wait_for(lambda: status(folder, address)["state"] == "running")
    assert control(folder, address, "stop").returncode == 0
    assert training.process.communicate(timeout=60)[1] == ""
    assert training.process.returncode == 0


def test_ctrl_c_ends_a_pause_and_the_training(tmp_path: Path, server: tuple[str, Any], training: Training) -> None:
    folder, address = tmp_path / "a", server[0]
    control(folder, address, "pause")
    wait_for(lambda: status(folder, address)["state"] == "waiting")
    training.process.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in training.process.communicate(timeout=60)[1]


def test_a_training_goes_on_when_the_server_is_killed(
    tmp_path: Path, server: tuple[str, subprocess.Popen[str]], training: Training
) -> None:
    folder, address = tmp_path / "a", server[0]
    control(folder, address, "pause")
    wait_for(lambda: status(folder, address)["state"] == "waiting")
    held = status(folder, address)["step"]
    server[1].kill()
    while training.step() <= held + 1:
        pass
