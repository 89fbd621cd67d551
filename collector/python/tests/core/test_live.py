"""Live sessions: a hit ends a training, and a server makes it wait, with the program `trainscope`."""

from __future__ import annotations

import math
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trainscope
from live_session import Training, control, server, status, wait_for  # noqa: F401 (a fixture)
from reading import notes
from recorded import PROGRAM

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
    assert not run._has_gate("after_step")
    for _ in run.steps(range(3)):
        run.tensor("w.grad", [math.nan], role="gradient")
    assert not run.finish().lost


def test_options_of_a_session_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at_hit must be"):
        trainscope.start(tmp_path / "run", at_hit="explode")
    with pytest.raises(ValueError, match="at_hit_severity must be"):
        trainscope.start(tmp_path / "run", at_hit_severity="fatal")
    with pytest.raises(ValueError, match="wait must be"):
        trainscope.start(tmp_path / "run", wait=-1)


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


@pytest.fixture
def training(tmp_path: Path, server: tuple[str, Any]) -> Iterator[Training]:
    """A training that is connected."""
    training = Training(TRAINING, tmp_path / "a", server[0])
    training.step()
    wait_for(lambda: status(tmp_path / "a", server[0])["state"] == "running")
    yield training
    training.end()


def test_a_training_waits_at_its_first_gate(tmp_path: Path, server: tuple[str, Any]) -> None:  # noqa: F811
    folder, address = tmp_path / "a", server[0]
    waiting = Training(TRAINING.replace("every=1", "every=1, wait=300"), folder, address)
    wait_for(lambda: status(folder, address)["state"] == "waiting")
    held = status(folder, address)
    assert (held["reason"], held["step"]) == ("start", 0)
    assert control(folder, address, "continue").returncode == 0
    waiting.step()
    assert control(folder, address, "stop").returncode == 0
    message = waiting.process.communicate(timeout=60)[1]
    assert "waits after step 0: its program wants a person to continue it" in message
    # Once, whether or not the connection was there before the gate.
    assert message.count(f"continue it at {address}. It goes on by itself after 5 min") == 1
    assert waiting.process.returncode == 0


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
    message = training.process.communicate(timeout=60)[1]
    assert training.process.returncode == 0
    step = held["step"]
    for said in [
        f"waits after step {step}: a person has paused it; continue it at {address}. It goes on by itself after 30 min",
        f"waits after step {step + 3}: it has made the steps that it was asked for",
        "a person has stopped it",
    ]:
        assert message.count(said) == 1, message


def test_a_training_that_is_not_paused_says_where_it_is(tmp_path: Path, server: tuple[str, Any]) -> None:
    folder, address = tmp_path / "a", server[0]
    program = "".join(line for line in TRAINING.splitlines(True) if "scalar" not in line and "tensor" not in line)
    silent = Training(program, folder, address)
    while silent.step() < 100:
        pass
    wait_for(lambda: status(folder, address).get("step", 0) >= 100)
    assert status(folder, address)["places"] == ["after_step"]
    silent.end()


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
    training.process.kill()
    message = training.process.communicate()[1]
    assert "the server does not answer: the training goes on after 1 s unless it is back" in message
    assert f"the server is lost: the training goes on from step {held}" in message


def test_a_hit_says_in_the_terminal_why_the_training_waits_or_ends(tmp_path: Path, server: tuple[str, Any]) -> None:  # noqa: F811
    folder, address = tmp_path / "a", server[0]
    # NaN from the moment that a file is there: before it is connected, a training does not wait.
    values = "[0.5, float('nan') if os.path.exists(sys.argv[1] + '.nan') else 0.25]"
    program = TRAINING.replace("import sys", "import os, sys").replace("[0.5, 0.25]", values)
    paused = Training(program.replace("every=1", "every=1, at_hit='pause'"), folder, address)
    wait_for(lambda: status(folder, address)["state"] == "running")
    (tmp_path / "a.nan").touch()
    wait_for(lambda: status(folder, address)["state"] == "waiting")
    assert control(folder, address, "stop").returncode == 0
    message = paused.process.communicate(timeout=60)[1]
    step = status(folder, address)["step"]
    assert f"waits after step {step}: w.grad" in message and "NaN" in message, message
    (tmp_path / "b.nan").touch()
    ended = Training(program.replace("every=1", "every=1, at_hit='stop'"), tmp_path / "b", "")
    message = ended.process.communicate(timeout=60)[1]
    assert "the training ends after step 0: w.grad" in message and ended.process.returncode == 1


def test_a_run_knows_the_address_of_its_server(tmp_path: Path, server: tuple[str, Any]) -> None:  # noqa: F811
    with trainscope.start(tmp_path / "a") as run:
        assert run.url is None
    with trainscope.start(tmp_path / "b", live=server[0]) as run:
        assert run.url == server[0]
    assert run.url is None


def test_what_is_no_address_of_a_server_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for live in ("ftp://x", "localhost", ""):
        with pytest.raises(ValueError, match="is not an address like http://host:8080"):
            trainscope.start(tmp_path / "run", live=live)
    assert not (tmp_path / "run").exists()
    # The environment is not the program's: it is noted, and the training goes on.
    monkeypatch.setenv("TRAINSCOPE_SERVER", "ftp://x")
    with trainscope.start(tmp_path / "run") as run:
        assert run.url is None
    assert any("ftp://x" in note for note in notes(tmp_path / "run"))


RANK = """
import os, sys, time
import trainscope

run = trainscope.start(sys.argv[1], every=1)
for number in range(100_000):
    run.scalar("train/loss", 1.0, number)
    time.sleep(0.01)
    print(number, flush=True)
    if "NO_GATES" not in os.environ:
        run._next_step = number + 1
        run.gate()
"""


@pytest.fixture
def ranks(tmp_path: Path, server: tuple[str, Any]) -> Iterator[Callable[..., list[Training]]]:
    """A function that starts a training of several ranks, each with variables of its own."""
    started: list[Training] = []

    def start(world: int, *environments: dict[str, str]) -> list[Training]:
        for rank, own in enumerate(environments):
            own = {"RANK": str(rank), "WORLD_SIZE": str(world), **own}
            started.append(Training(RANK, tmp_path / "a", server[0], **own))
        return started

    yield start
    for training in started:
        training.end()


def test_a_rank_that_is_killed_during_a_pause_lets_the_others_go_on(
    tmp_path: Path, server: tuple[str, Any], ranks: Callable[..., list[Training]]
) -> None:
    folder, address = tmp_path / "a", server[0]
    first, second = ranks(2, {}, {})
    wait_for(lambda: status(folder, address)["state"] == "running")
    assert control(folder, address, "pause").returncode == 0
    wait_for(lambda: status(folder, address)["state"] == "waiting")
    held = status(folder, address)["step"]
    second.process.kill()
    while first.step() <= held + 1:
        pass
    after = status(folder, address)
    assert [rank["state"] for rank in after["ranks"]] == ["running", "lost"]
    assert "rank_lost" in [note["kind"] for note in after["notes"]]


def test_a_rank_without_gates_is_not_waited_for_beyond_the_limit(
    tmp_path: Path, server: tuple[str, Any], ranks: Callable[..., list[Training]]
) -> None:
    folder, address = tmp_path / "a", server[0]
    first, _second = ranks(2, {}, {"NO_GATES": "1"})
    wait_for(lambda: status(folder, address)["state"] == "running")
    assert control(folder, address, "pause").returncode == 0
    wait_for(lambda: "unaligned" in [note["kind"] for note in status(folder, address)["notes"]])
    assert status(folder, address)["state"] == "running"
    first.step()


def test_a_rank_that_never_connects_holds_no_other(
    tmp_path: Path, server: tuple[str, Any], ranks: Callable[..., list[Training]]
) -> None:
    folder, address = tmp_path / "a", server[0]
    (only,) = ranks(2, {})
    wait_for(lambda: status(folder, address)["state"] == "joining")
    refused = control(folder, address, "pause")
    assert refused.returncode != 0 and "still connecting" in refused.stderr
    before = only.step()
    while only.step() <= before + 50:
        pass
