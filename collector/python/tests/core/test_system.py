"""Load of the machine and of the process in a run: values, steps, ranks, forks, and the end."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import trainscope
from reading import profile, scalars
from test_process import execute
from trainscope import _system

PROCESS = {"process_cpu_percent", "process_memory_gb", "process_read_mb_s", "process_written_mb_s"}
MACHINE = {
    *("cpu_percent", "memory_gb", "memory_percent", "disk_free_gb"),
    *("network_received_mb_s", "network_sent_mb_s"),
}


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value every 20 ms, without the accelerators of this machine."""
    monkeypatch.setattr(_system, "INTERVAL_SECS", 0.02)
    monkeypatch.setattr(_system, "_imported", lambda name: None)
    monkeypatch.setattr(_system.shutil, "which", lambda name: None)
    for name in _system.LOCAL_RANK_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def until(is_so: Callable[[], Any], secs: float = 20.0) -> None:
    """Waits for something that another thread does."""
    end = time.monotonic() + secs
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "trainscope system"}


@contextlib.contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Steps of the values that are recorded."""
    steps: list[int] = []
    original = trainscope.Run.log

    def log(run: trainscope.Run, values: Any, step: Any = None, **options: Any) -> None:
        if any(name.startswith("system/") for name in values):
            steps.append(step)
        original(run, values, step, **options)

    monkeypatch.setattr(trainscope.Run, "log", log)
    yield steps


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="values of /proc")
def test_values_are_those_of_the_machine_at_the_step_that_is_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with counted(monkeypatch) as steps:
        with trainscope.start(tmp_path, system=True, strict=True) as run:
            for step in (1, 2, 3):
                run.scalar("train/loss", 1.0, step)
                until(lambda: step in steps)
                sum(number * number for number in range(200_000))
    found = {name.removeprefix("system/"): points for name, points in scalars(tmp_path).items() if "/loss" not in name}
    may_be_hidden = {"process_read_mb_s", "process_written_mb_s"}
    assert PROCESS | MACHINE >= found.keys() >= (PROCESS | MACHINE) - may_be_hidden
    for points in found.values():
        assert {step for step, _ in points} <= {1, 2, 3} and all(value >= 0 for _, value in points)
    assert {step for step, _ in found["cpu_percent"]} == {1, 2, 3}
    # The kernel counts hundredths of a second: 20 ms are few of them.
    assert all(value <= 200 for _, value in found["cpu_percent"])
    assert any(value > 0 for _, value in found["process_cpu_percent"])
    assert 0.005 < found["process_memory_gb"][-1][1] < found["memory_gb"][-1][1] < 100_000
    assert 0 < found["memory_percent"][-1][1] <= 100


def test_counters_are_beside_the_timeline_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counters: dict[str, set[str]] = {"plain": set(), "steps": set()}
    original = trainscope.Run.counter

    def counter(run: trainscope.Run, name: str, value: float) -> None:
        counters[run.folder.name].add(name)
        original(run, name, value)

    monkeypatch.setattr(trainscope.Run, "counter", counter)
    with counted(monkeypatch) as steps:
        for folder, names in counters.items():
            steps.clear()
            with trainscope.start(tmp_path / folder, system=True) as run:
                for number in run.steps(range(1, 3)) if folder == "steps" else (1, 2):
                    run.scalar("train/loss", 1.0, number)
                    until(lambda: len(steps) > 2 * number)
            recorded = {name for name in scalars(tmp_path / folder) if name.startswith("system/")}
            assert recorded and names == (recorded if folder == "steps" else set())
    # Beside the two spans of each step.
    assert profile(tmp_path / "steps")["events"] > 4


def test_steps_do_not_go_back_and_nothing_is_recorded_before_one_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[float] = []
    original = _system._read
    monkeypatch.setattr(_system, "_read", lambda readers: (times.append(time.monotonic()), original(readers))[1])
    with counted(monkeypatch) as steps, trainscope.start(tmp_path, system=True) as run:
        until(lambda: len(times) > 5)
        # A training that goes on at step 1,000 has no value at step 0, which would start the curve again.
        assert steps == []
        run.scalar("train/loss", 1.0, 1_000)
        until(lambda: steps)
        run.scalar("val/accuracy", 1.0, 3)
        count = len(steps)
        until(lambda: len(steps) > count + 2)
        run.scalar("train/loss", 1.0, 1_001)
        until(lambda: steps[-1] == 1_001)
    assert set(steps) == {1_000, 1_001}


def test_the_first_step_that_is_open_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with counted(monkeypatch) as steps, trainscope.start(tmp_path, system=True) as run:
        with run.step(0):
            until(lambda: steps)
    assert set(steps) == {0}


def test_the_thread_ends_with_the_run_and_loses_nothing(tmp_path: Path) -> None:
    before = threads()
    for number in range(20):
        run = trainscope.start(tmp_path / str(number), system=True)
        run.scalar("x", 1.0, 1)
        time.sleep(0.03 if number % 2 else 0.0)
        assert run.finish().lost == {}
    until(lambda: threads() <= before)


def test_a_run_that_is_left_ends_its_thread(tmp_path: Path) -> None:
    before = threads()
    run = trainscope.Run(tmp_path, system=True)
    assert len(threads() - before) == 1
    del run
    until(lambda: threads() <= before)


@pytest.mark.parametrize(
    ("argument", "variable", "is_on"),
    [(None, None, True), (None, "1", True), (None, "0", False), (False, "1", False), (True, "0", True)],
)
def test_it_can_be_switched_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: bool | None, variable: str | None, is_on: bool
) -> None:
    if variable is None:
        monkeypatch.delenv("TRAINSCOPE_SYSTEM", raising=False)
    else:
        monkeypatch.setenv("TRAINSCOPE_SYSTEM", variable)
    before = threads()
    with trainscope.start(tmp_path, system=argument):
        assert bool(threads() - before) == is_on


def test_a_run_by_its_class_records_the_machine_on_request_only(tmp_path: Path) -> None:
    before = threads()
    with trainscope.Run(tmp_path):
        assert threads() <= before


@pytest.mark.parametrize(
    ("rank", "local_rank", "is_ours"),
    [(0, None, True), (1, None, False), (8, "0", True), (9, "1", False), (0, "x", True)],
)
def test_one_rank_of_each_machine_records_it_and_each_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rank: int, local_rank: str | None, is_ours: bool
) -> None:
    if local_rank is not None:
        monkeypatch.setenv("LOCAL_RANK", local_rank)
    with counted(monkeypatch) as steps:
        with trainscope.start(tmp_path, rank=rank, world_size=16, system=True) as run:
            run.scalar("x", 1.0, 1)
            until(lambda: steps)
    names = {name.removeprefix("system/") for name in scalars(tmp_path / f"rank_{rank}")}
    assert "process_memory_gb" in names and ("memory_gb" in names) == is_ours


def test_a_fork_has_no_thread_and_may_finish_the_run(tmp_path: Path) -> None:
    program = """
        import os, sys, threading, time, trainscope
        from trainscope import _system
        _system.INTERVAL_SECS = 0.001
        run = trainscope.start(sys.argv[1], system=True)
        run.scalar("x", 1.0, 1)
        for _ in range(50):
            child = os.fork()
            if child == 0:
                assert threading.active_count() == 1
                run.finish()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        assert run.finish().lost == {}
    """
    assert execute(program, tmp_path / "run", "-W", "ignore") == ("", "")
    assert "system/process_memory_gb" in scalars(tmp_path / "run")


@pytest.mark.parametrize("end", ["", "sys.exit(0)", "del run", "os._exit(0)", "run.finish()"])
def test_it_does_not_keep_a_process_alive(tmp_path: Path, end: str) -> None:
    program = f"""
        import os, sys, trainscope, trainscope._system
        # The next value would come after the time limit of the program.
        trainscope._system.INTERVAL_SECS = 1000.0
        run = trainscope.start(sys.argv[1], system=True)
        run.scalar("x", 1.0, 1)
        {end}
    """
    assert execute(program, tmp_path / "run") == ("", "")


def test_readers_that_fail_give_nothing_and_the_others_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> _system.Values:
        raise OSError("no such file")

    monkeypatch.setattr(_system, "_readers", lambda *_, **__: [fail, lambda: {"memory_gb": 2.0, "+growing": time.monotonic() * 3}])
    with counted(monkeypatch) as steps:
        with trainscope.start(tmp_path, system=True) as run:
            run.scalar("x", 1.0, 1)
            until(lambda: len(steps) > 2)
    found = scalars(tmp_path)
    assert found["system/memory_gb"][-1][1] == 2.0
    assert found["system/growing"][-1][1] == pytest.approx(3.0, rel=0.3)


def test_without_proc_and_psutil_there_is_the_time_of_the_process_and_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    names = _system._read(list(_system._readers(tmp_path, is_machine=True, is_several=False))).keys()
    assert names == {"+process_cpu_percent", "disk_free_gb"}


def test_psutil_gives_the_same_as_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_proc = _system._read(list(_system._readers(tmp_path, is_machine=True, is_several=False)))
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(_system, "_imported", lambda name: psutil if name == "psutil" else None)
    by_psutil = _system._read(list(_system._readers(tmp_path, is_machine=True, is_several=False)))
    assert by_psutil.keys() == by_proc.keys()
    for name in ("memory_gb", "process_memory_gb", "disk_free_gb"):
        assert by_psutil[name] == pytest.approx(by_proc[name], rel=0.2), name
    assert by_psutil["+cpu_percent"] == pytest.approx(by_proc["+cpu_percent"], rel=0.02)


class Nvml(types.ModuleType):
    """NVML of a machine with three accelerators, of which one cannot tell its power."""

    def nvmlInit(self) -> None:  # noqa: N802
        pass

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return 3

    def nvmlDeviceGetHandleByIndex(self, number: int) -> int:  # noqa: N802
        return number

    def nvmlDeviceGetUUID(self, handle: int) -> bytes:  # noqa: N802
        return f"GPU-{handle}".encode()

    def nvmlDeviceGetUtilizationRates(self, handle: int) -> Any:  # noqa: N802
        return types.SimpleNamespace(gpu=10 * handle, memory=1)

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> Any:  # noqa: N802
        return types.SimpleNamespace(used=2_000_000_000, total=8)

    def nvmlDeviceGetTemperature(self, handle: int, sensor: int) -> int:  # noqa: N802
        return 50 + sensor

    def nvmlDeviceGetPowerUsage(self, handle: int) -> int:  # noqa: N802
        if handle == 1:
            raise RuntimeError("not supported")
        return 250_500


@pytest.mark.parametrize(
    ("visible", "is_several", "numbers"),
    [("", False, {0, 1, 2}), ("1", False, {1}), ("GPU-0,2", False, {0, 2}), ("MIG-7", False, {0, 1, 2}), ("1", True, {0, 1, 2})],
)
def test_accelerators_of_nvidia_are_those_that_the_process_may_use(
    monkeypatch: pytest.MonkeyPatch, visible: str, is_several: bool, numbers: set[int]
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    values = _system._Nvidia(Nvml("pynvml"), is_several)()
    assert {int(name.split("_")[1]) for name in values} == numbers
    for number in numbers:
        units = {"percent": 10.0 * number, "memory_gb": 2.0, "celsius": 50.0} | ({} if number == 1 else {"watts": 250.5})
        assert {name: value for name, value in values.items() if name.startswith(f"gpu_{number}_")} == {
            f"gpu_{number}_{unit}": value for unit, value in units.items()
        }


def test_without_a_driver_nvml_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    class NoDriver(Nvml):
        def nvmlInit(self) -> None:  # noqa: N802
            calls.append(1)
            raise RuntimeError("driver not loaded")

    reader = _system._Nvidia(NoDriver("pynvml"), False)
    assert [_system._read([reader]) for _ in range(3)] == [{}, {}, {}] and calls == [1]


def test_accelerators_of_amd_are_read_where_their_driver_shows_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = tmp_path / "class/drm/card1/device"
    files = {
        "gpu_busy_percent": "37\n",
        "mem_info_vram_used": "1500000000\n",
        "hwmon/hwmon3/temp1_input": "51000\n",
        "hwmon/hwmon3/power1_average": "120000000\n",
    }
    for name, text in files.items():
        (device / name).parent.mkdir(parents=True, exist_ok=True)
        (device / name).write_text(text)
    (tmp_path / "class/drm/card0/device").mkdir(parents=True)
    monkeypatch.setattr(_system, "SYS", tmp_path)
    expected = {"gpu_1_percent": 37.0, "gpu_1_memory_gb": 1.5, "gpu_1_celsius": 51.0, "gpu_1_watts": 120.0}
    assert _system._amd_by_sys() == expected
    (device / "mem_info_vram_used").write_text("unknown")
    assert _system._amd_by_sys().keys() == expected.keys() - {"gpu_1_memory_gb"}


TABLE = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 25.1.0                   Version: 25.1.0                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     Ascend910           | OK            | 162.6       34                0    / 0             |
| 0     0                   | 0000:9D:00.0  | 71          0    / 0          26838/ 65536         |
+------------------------------------------------------------------------------------------------+
| 0     Ascend910           | Warning       | -           35                0    / 0             |
| 1     1                   | 0000:9F:00.0  | 5           0    / 0          2000 / 65536         |
+===========================+===============+====================================================+
| 3     310P3               | OK            | NA          39                0    / 0             |
| 0                         | 0000:83:00.0  | 0           1848 / 21534                           |
+===========================+===============+====================================================+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 0       0                 | 123456        | python                   | 24000                   |
| No running processes found in NPU 3                                                            |
+===========================+===============+====================================================+
"""


@pytest.mark.skipif(os.name != "posix", reason="a program in a shell")
def test_accelerators_of_huawei_are_those_of_npu_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "npu-smi"
    program.write_text(f"#!/bin/sh\ncat <<'EOF'\n{TABLE}EOF\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(_system.shutil, "which", lambda name: str(program) if name == "npu-smi" else None)
    values = _system._read(list(_system._readers(tmp_path, is_machine=True, is_several=False)))
    found = {name: round(value, 3) for name, value in values.items() if name.startswith("npu_")}
    assert found == {
        **{"npu_0_watts": 162.6, "npu_0_celsius": 34.0, "npu_0_percent": 71.0, "npu_0_memory_gb": 28.142},
        **{"npu_0_1_celsius": 35.0, "npu_0_1_percent": 5.0, "npu_0_1_memory_gb": 2.097},
        **{"npu_3_celsius": 39.0, "npu_3_percent": 0.0, "npu_3_memory_gb": 1.938},
    }
    for text in ("", "npu-smi: command failed", TABLE[:700], TABLE.replace("|", "/")):
        _system._table_of_npu_smi(text)
