"""Costs of recording from Python, beside the writers of PyTorch and tensorboardX in the same run.

Needs torch, tensorboard and tensorboardX. Arguments are names of parts: calls, tensors, training, looks, start. All by
default.
"""

from __future__ import annotations

import copy
import gc
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CALLS = 20_000
ROUNDS = 15


def line(what: str, *values: str) -> None:
    print(f"| {what:<58} | " + " | ".join(f"{value:>14}" for value in values) + " |", flush=True)


def nanos(secs: float) -> str:
    return f"{secs * 1e9:.0f} ns" if secs < 1e-5 else f"{secs * 1e6:.1f} µs"


def loop(call: Callable[[int], Any], calls: int = CALLS) -> float:
    """Seconds of a call, without the loop around it."""
    numbers = range(calls)
    begun = time.perf_counter()
    for number in numbers:
        call(number)
    passed = time.perf_counter() - begun
    begun = time.perf_counter()
    for number in numbers:
        nothing(number)
    return (passed - (time.perf_counter() - begun)) / calls


def nothing(number: int) -> None:
    """A call whose cost is taken off."""


def median_of(calls: dict[str, Callable[[int], Any]], count: int = CALLS) -> dict[str, float]:
    """Median seconds of each call, alternating."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            times[name].append(loop(call, count))
    return {name: statistics.median(values) for name, values in times.items()}


def paced(call: Callable[[int], Any], calls: int = 300) -> float:
    """Median seconds of a call with 1 ms of other work between two: products of matrices, as in a training."""
    import torch

    times = []
    matrix = torch.randn(256, 256)
    for number in range(calls):
        until = time.perf_counter() + 1e-3
        while time.perf_counter() < until:
            matrix @ matrix
        begun = time.perf_counter()
        call(number)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def measure_calls(folder: Path) -> None:
    import tensorboardX
    import torch
    import trainscope
    from torch.utils.tensorboard import SummaryWriter as TorchWriter

    run = trainscope.start(folder / "calls", queue_bytes=1 << 30)
    four = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    number = torch.tensor(0.5)

    def span(_: int) -> None:
        with run.span("x"):
            pass

    print("\nCalls, median of 15 × 20,000\n")
    times = median_of(
        {
            "run.scalar(name, 0.5, step)": lambda step: run.scalar("x", 0.5, step),
            "run.scalar(name, 0.5)": lambda _: run.scalar("x", 0.5),
            "run.log of four numbers": lambda step: run.log(four, step),
            "run.scalar of a 0-d tensor": lambda step: run.scalar("x", number, step),
            "with run.span": span,
        }
    )
    for name, secs in times.items():
        line(name, nanos(secs))
    run.finish()

    ours = trainscope.SummaryWriter(str(folder / "ours"))
    writers = {
        "trainscope.SummaryWriter": ours.add_scalar,
        "torch.utils.tensorboard": TorchWriter(str(folder / "torch")).add_scalar,
        "tensorboardX": tensorboardX.SummaryWriter(str(folder / "x")).add_scalar,
    }
    print("\nadd_scalar, wall time: in a loop, and with 1 ms of other work between calls\n")
    tight = {
        name: median
        for name, median in median_of(
            {name: (lambda step, add=add: add("x", 0.5, step)) for name, add in writers.items()}, 2_000
        ).items()
    }
    cold = {name: paced(lambda step, add=add: add("x", 0.5, step)) for name, add in writers.items()}
    for name in writers:
        line(
            name,
            nanos(tight[name]),
            f"{tight[name] / tight['trainscope.SummaryWriter']:.0f} ×",
            nanos(cold[name]),
            f"{cold[name] / cold['trainscope.SummaryWriter']:.0f} ×",
        )


def measure_tensors(folder: Path) -> None:
    import torch
    import trainscope

    print("\nStatistics of tensors (counts, moments, exponents, hash), best of 7\n")
    run = trainscope.start(folder / "tensors", every=1)
    step = 0
    for count, size in ((1_000, 16), (1_000, 4_096), (200, 262_144), (1, 100_000_000)):
        tensors = [torch.randn(size) for _ in range(count)]
        items = [(f"t{index}", "weight", tensor) for index, tensor in enumerate(tensors)]
        best = float("inf")
        plain = float("inf")
        for _ in range(7):
            begun = time.perf_counter()
            run._record_tensors(items, step)
            best = min(best, time.perf_counter() - begun)
            step += 1
            run._end_step()
            run.flush()
            begun = time.perf_counter()
            for tensor in tensors:
                tensor.max()
            plain = min(plain, time.perf_counter() - begun)
        line(f"{count} × {size:,} f32", nanos(best / count) + " each", f"max(): {nanos(plain / count)}")
        del tensors, items
    run.finish()


def measure_training(folder: Path) -> None:
    import torch
    import trainscope

    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(768, 12, 3072, batch_first=True, dropout=0.0)
    model = torch.nn.Sequential(torch.nn.TransformerEncoder(layer, 14, enable_nested_tensor=False), torch.nn.Linear(768, 768))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    batch = torch.randn(4, 128, 768)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    print(f"\nA transformer of {parameters / 1e6:.0f} M parameters, seconds a step\n")

    def train(steps: int) -> float:
        begun = time.perf_counter()
        for _ in range(steps):
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
        return (time.perf_counter() - begun) / steps

    train(2)
    plain, watched = [], []
    for round in range(3):
        plain.append(train(10))
        with trainscope.start(folder / f"training{round}", every=10, first=0) as run:
            run.watch(model, optimizer)
            watched.append(train(10))
    before, after = min(plain), min(watched)
    line("without", f"{before:.3f} s")
    line("watched, every=10", f"{after:.3f} s", f"{100 * (after / before - 1):+.1f} %")


def measure_looks(folder: Path) -> None:
    """Processor time on one thread; an unwatched copy of each model takes turns with the watched one."""
    import torch
    import trainscope
    from torch import nn

    torch.manual_seed(1)
    torch.set_num_threads(1)
    every, rounds = 10, 100
    tiny = [part for _ in range(20) for part in (nn.Linear(16, 16), nn.ReLU())]
    block = nn.TransformerEncoderLayer(64, 4, 256, batch_first=True)
    convolutions = [
        part
        for inside, outside in ((3, 32), (32, 64), (64, 128))
        for part in (nn.Conv2d(inside, outside, 3, padding=1), nn.BatchNorm2d(outside), nn.ReLU(), nn.MaxPool2d(2))
    ]
    models = {
        "40 small layers": (nn.Sequential(*tiny), torch.randn(16, 16)),
        "a transformer of 4 blocks": (nn.TransformerEncoder(block, 4, enable_nested_tensor=False), torch.randn(8, 32, 64)),
        "convolutions, 16 pictures": (nn.Sequential(*convolutions), torch.randn(16, 3, 32, 32)),
    }
    print("\nProcessor time of steps, watched with every=10: without, a look adds, another step adds\n")
    for name, (model, batch) in models.items():
        copied = copy.deepcopy(model)
        both = [(one, torch.optim.AdamW(one.parameters(), lr=1e-4)) for one in (copied, model)]
        times: list[list[list[float]]] = [[[] for _ in range(every)] for _ in both]
        with trainscope.start(folder / name.replace(" ", "-"), every=every, first=0) as run:
            run.watch(*both[1])
            # The first looks read more than those that follow.
            for round in range(-12, rounds):
                for place, (one, optimizer) in enumerate(both):
                    for step in range(every):
                        begun = time.process_time()
                        optimizer.zero_grad()
                        one(batch).square().mean().backward()
                        optimizer.step()
                        if round >= 0:
                            times[place][step].append(time.process_time() - begun)
        plain = statistics.median(secs for of_step in times[0] for secs in of_step)
        look = statistics.median(times[1][0]) - statistics.median(times[0][0])
        other = statistics.median(secs for of_step in times[1][2:] for secs in of_step)
        line(name, f"{plain * 1e3:.2f} ms", f"{look * 1e3:.2f} ms", f"{(other - plain) * 1e6:.0f} µs")


def measure_start(folder: Path) -> None:
    print("\nImport and memory\n")
    script = "import time; a = time.perf_counter(); import trainscope; print(time.perf_counter() - a)"
    times = [
        float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)
        for _ in range(ROUNDS)
    ]
    line("import trainscope", f"{statistics.median(times) * 1e3:.1f} ms")

    import torch
    import trainscope

    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    data = torch.randn(16, 4)
    with trainscope.start(folder / "long") as run:
        run.watch(model, optimizer)
        before = 0
        for step in range(100_000):
            optimizer.zero_grad()
            loss = model(data).square().mean()
            loss.backward()
            optimizer.step()
            run.scalar("loss", loss, step)
            if step == 1_000:
                gc.collect()
                before = resident()
        gc.collect()
        line("growth over 100,000 steps", f"{(resident() - before) / 1e6:.1f} MB")


def resident() -> int:
    """Resident memory in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


PARTS = {
    "calls": measure_calls,
    "tensors": measure_tensors,
    "training": measure_training,
    "looks": measure_looks,
    "start": measure_start,
}


def main() -> None:
    for name in sys.argv[1:] or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[name](Path(folder))


if __name__ == "__main__":
    main()
