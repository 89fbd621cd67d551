"""Load of the machine and of the process, recorded into a run every ten seconds by a separate thread.

Values come from `/proc` and `/sys` on Linux, and from psutil elsewhere, if it is installed. Accelerators: NVIDIA's by
`pynvml` (package nvidia-ml-py) if it is installed, AMD's by `/sys`, Huawei's by the program npu-smi. Missing parts are
left out.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainscope.run import Run

INTERVAL_SECS = 10.0

MAX_DEVICES = 16
"""Most accelerators of a machine that are recorded."""

LOCAL_RANK_VARIABLES = (
    "LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "SLURM_LOCALID",
)
"""Variables for the rank among those of one machine: of torchrun, Open MPI, MPICH and srun."""

PROC, SYS = Path("/proc"), Path("/sys")

Values = dict[str, float]
Reader = Callable[[], Values]
"""Values by name; those that grow, and whose rise in a second is recorded, have a name that begins with `+`."""


class System:
    """The thread of one run. It refers to the run weakly and ends with it."""

    def __init__(self, run: Run, world_size: int | None) -> None:
        self._run = weakref.ref(run)
        is_several = bool(world_size and world_size > 1)
        # Imports are on this thread: in a fork, one that another thread had begun would never end.
        self._readers = list(_readers(run.folder, is_machine=_is_machine_ours(run.rank, is_several), is_several=is_several))
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._step = -1
        threading.Thread(target=self._work, name="trainscope system", daemon=True).start()

    def stop(self) -> None:
        """Ends the recording; nothing is recorded when it returns. Not for forks: they may have a lock that is held."""
        self._end.set()
        with self._lock:
            pass

    def _work(self) -> None:
        before, then = _read(self._readers), time.monotonic()
        while not self._end.wait(INTERVAL_SECS):
            values, now = _read(self._readers), time.monotonic()
            found: Values = {}
            for name, value in values.items():
                if not name.startswith("+"):
                    found[name] = value
                elif name in before and value >= before[name]:
                    found[name[1:]] = (value - before[name]) / (now - then)
            before, then = values, now
            run = self._run()
            if run is None or run._is_forked():
                return
            try:
                self._record(run, found)
            except Exception:
                # As when the interpreter ends.
                return
            del run

    def _record(self, run: Run, values: Values) -> None:
        with self._lock:
            if self._end.is_set():
                return
            if run._watches or run._has_spans:
                # Beside the timeline; without spans there is none.
                for name, value in values.items():
                    run.counter(f"system/{name}", value)
            step = run._last_step()
            if step <= 0 and run._open_step() is None and self._step < 0:
                # The step is not known yet: that of a training that goes on is not 0.
                return
            # A curve that went back to an earlier step would begin again there.
            self._step = max(self._step, step)
            run.log({f"system/{name}": value for name, value in values.items()}, self._step)


def _is_machine_ours(rank: int, is_several: bool) -> bool:
    """True for one rank of each machine; for rank 0 alone, if the launcher does not say which ranks are on one machine."""
    if not is_several:
        return True
    for name in LOCAL_RANK_VARIABLES:
        text = os.environ.get(name, "")
        if text.isascii() and text.isdigit():
            return int(text) == 0
    return rank == 0


def _read(readers: list[Reader]) -> Values:
    """Values of all readers; one that fails gives none."""
    values: Values = {}
    for reader in readers:
        try:
            values |= reader()
        except Exception:
            continue
    return values


def _readers(folder: Path, *, is_machine: bool, is_several: bool) -> Iterator[Reader]:
    """Readers for the parts of this machine."""
    yield lambda: {"+process_cpu_percent": time.process_time() * 100}
    is_linux = sys.platform.startswith("linux")
    psutil = None if is_linux else _imported("psutil")
    if is_linux:
        yield _process_by_proc
    elif psutil is not None:
        yield lambda: _process_by_psutil(psutil)
    if not is_machine:
        return
    yield lambda: {"disk_free_gb": shutil.disk_usage(folder).free / 1e9}
    if is_linux:
        yield from (_cpu_by_proc, _memory_by_proc, _network_by_proc, _amd_by_sys)
    elif psutil is not None:
        yield lambda: _machine_by_psutil(psutil)
    nvml = _imported("pynvml")
    if nvml is not None:
        yield _Nvidia(nvml, is_several)
    if shutil.which("npu-smi"):
        subprocess = importlib.import_module("subprocess")
        yield lambda: _huawei(subprocess)


def _imported(name: str) -> Any:
    """A module, if it is installed and can be imported."""
    try:
        return importlib.import_module(name) if importlib.util.find_spec(name) else None
    except Exception:
        return None


def _process_by_proc() -> Values:
    pages = int((PROC / "self/statm").read_text().split()[1])
    values = {"process_memory_gb": pages * os.sysconf("SC_PAGE_SIZE") / 1e9}
    try:
        text = (PROC / "self/io").read_text()
    except OSError:
        # Some containers do not allow it.
        return values
    numbers = dict(line.split(": ") for line in text.splitlines())
    read, written = (int(numbers[name]) / 1e6 for name in ("read_bytes", "write_bytes"))
    return values | {"+process_read_mb_s": read, "+process_written_mb_s": written}


def _process_by_psutil(psutil: Any) -> Values:
    process = psutil.Process()
    values = {"process_memory_gb": process.memory_info().rss / 1e9}
    if hasattr(process, "io_counters"):
        counters = process.io_counters()
        read, written = counters.read_bytes / 1e6, counters.write_bytes / 1e6
        values |= {"+process_read_mb_s": read, "+process_written_mb_s": written}
    return values


def _cpu_by_proc() -> Values:
    """Share of all processors that was not idle."""
    lines = (PROC / "stat").read_text().splitlines()
    user, nice, system, _, _, *rest = map(int, lines[0].split()[1:])
    count = sum(line.startswith("cpu") for line in lines) - 1
    # Interrupts and the time that a hypervisor took; guests are in the first two.
    busy = user + nice + system + sum(rest[:3])
    return {"+cpu_percent": 100 * busy / os.sysconf("SC_CLK_TCK") / count}


def _memory_by_proc() -> Values:
    lines = (PROC / "meminfo").read_text().splitlines()
    sizes = {name: int(rest.split()[0]) * 1024 for name, _, rest in (line.partition(":") for line in lines)}
    used, total = sizes["MemTotal"] - sizes["MemAvailable"], sizes["MemTotal"]
    return {"memory_gb": used / 1e9, "memory_percent": 100 * used / total}


def _network_by_proc() -> Values:
    """Bytes of the interfaces with a device; in a container without one, of all but the loopback."""
    counts: dict[str, list[int]] = {}
    for line in (PROC / "net/dev").read_text().splitlines()[2:]:
        name, _, rest = line.partition(":")
        counts[name.strip()] = [int(text) for text in rest.split()]
    real = [name for name in counts if (SYS / "class/net" / name / "device").exists()]
    names = real or [name for name in counts if name != "lo"]
    received, sent = (sum(counts[name][column] for name in names) / 1e6 for column in (0, 8))
    return {"+network_received_mb_s": received, "+network_sent_mb_s": sent}


def _machine_by_psutil(psutil: Any) -> Values:
    times, memory, network = psutil.cpu_times(), psutil.virtual_memory(), psutil.net_io_counters()
    busy = sum(times) - times.idle - getattr(times, "iowait", 0.0)
    used = memory.total - memory.available
    return {
        "+cpu_percent": 100 * busy / psutil.cpu_count(),
        "memory_gb": used / 1e9,
        "memory_percent": 100 * used / memory.total,
        "+network_received_mb_s": network.bytes_recv / 1e6,
        "+network_sent_mb_s": network.bytes_sent / 1e6,
    }


class _Nvidia:
    """Reader of NVIDIA's accelerators: of those that the process may use, or of all if it is one of several ranks."""

    def __init__(self, nvml: Any, is_several: bool) -> None:
        self._nvml, self._is_several = nvml, is_several
        self._readers: list[Reader] | None = None

    def __call__(self) -> Values:
        if self._readers is None:
            # Without a driver this fails, once.
            self._readers = []
            self._readers = self._begin()
        return _read(self._readers)

    def _begin(self) -> list[Reader]:
        nvml = self._nvml
        nvml.nvmlInit()
        handles = {number: nvml.nvmlDeviceGetHandleByIndex(number) for number in range(nvml.nvmlDeviceGetCount())}
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        if visible and not self._is_several:
            wanted = {text.strip() for text in visible.split(",")}
            names = {number: {str(number), _text(nvml.nvmlDeviceGetUUID(handle))} for number, handle in handles.items()}
            # Parts of an accelerator are not among them: then all.
            handles = {number: handles[number] for number in handles if names[number] & wanted} or handles
        return [_nvidia(nvml, number, handle) for number, handle in list(handles.items())[:MAX_DEVICES]]


def _text(value: Any) -> str:
    """Text of a name, which older versions of NVML's package give as bytes."""
    return value.decode() if isinstance(value, bytes) else str(value)


def _nvidia(nvml: Any, number: int, handle: Any) -> Reader:
    def values() -> Values:
        # A value that an accelerator does not support is an error of that value alone.
        return _read(
            [
                lambda: {f"gpu_{number}_percent": float(nvml.nvmlDeviceGetUtilizationRates(handle).gpu)},
                lambda: {f"gpu_{number}_memory_gb": nvml.nvmlDeviceGetMemoryInfo(handle).used / 1e9},
                lambda: {f"gpu_{number}_celsius": float(nvml.nvmlDeviceGetTemperature(handle, 0))},
                lambda: {f"gpu_{number}_watts": nvml.nvmlDeviceGetPowerUsage(handle) / 1e3},
            ]
        )

    return values


_AMD_FILES = (
    ("percent", "gpu_busy_percent", 1),
    ("memory_gb", "mem_info_vram_used", 1e9),
    ("celsius", "hwmon/hwmon*/temp1_input", 1e3),
    ("watts", "hwmon/hwmon*/power1_[ai][vn]*", 1e6),
)
"""Unit, file and divisor; newer cards have `power1_input` in the place of `power1_average`."""


def _amd_by_sys() -> Values:
    """Values of the driver amdgpu, which ROCm uses. The number is that of the card."""
    values: Values = {}
    cards = sorted((SYS / "class/drm").glob("card[0-9]*/device/gpu_busy_percent"))
    for path in cards[:MAX_DEVICES]:
        number = path.parent.parent.name.removeprefix("card")
        for unit, pattern, divisor in _AMD_FILES:
            for file in list(path.parent.glob(pattern))[:1]:
                try:
                    values[f"gpu_{number}_{unit}"] = int(file.read_text()) / divisor
                except (OSError, ValueError):
                    continue
    return values


# The first of the two lines of a chip has its name, power and temperature, the second one its load and memories.
_FIRST = re.compile(r"\|\s*(\d+)\s+\S+\s*\|[^|:]*\|\s*([\d.]+|NA|-)\s+([\d.]+|NA|-)\s")
_SECOND = re.compile(r"\|\s*(\d+)\s*(?:\d+\s*)?\|[^|]*:[^|]*\|\s*([\d.]+)\s+(\d+)\s*/\s*\d+(?:\s+(\d+)\s*/\s*\d+)?")


def _huawei(subprocess: Any) -> Values:
    command = ["npu-smi", "info"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=5, check=True)
    return _table_of_npu_smi(done.stdout)


def _table_of_npu_smi(text: str) -> Values:
    """Values in the table of `npu-smi info`: two lines for each chip."""
    values: Values = {}
    chips: dict[str, int] = {}
    card = ""
    for line in text.splitlines():
        if first := _FIRST.match(line):
            card = first[1]
            number = chips[card] = chips.get(card, -1) + 1
            name = f"npu_{card}" + (f"_{number}" if number else "")
            pairs = (("watts", first[2]), ("celsius", first[3]))
            values |= {f"{name}_{unit}": float(text) for unit, text in pairs if text not in ("NA", "-")}
        elif card and (second := _SECOND.match(line)):
            values |= {f"{name}_percent": float(second[2]), f"{name}_memory_gb": int(second[4] or second[3]) * 2**20 / 1e9}
        if len(chips) >= MAX_DEVICES:
            break
    return values
