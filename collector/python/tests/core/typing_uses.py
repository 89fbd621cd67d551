"""Uses of the package that type checkers accept, and, where a line says so, uses that they must refuse. Not to be run."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import assert_type

import numpy as np
import trainscope
from trainscope import Report, Run, SummaryWriter
from trainscope.torch import Watch


@dataclasses.dataclass
class Settings:
    rate: float = 0.1


def begin(path: Path) -> Run:
    run = trainscope.start(path, hparams=Settings(), every=5, names=["fc*"], channels={"activation": 1})
    assert_type(run, Run)
    trainscope.start("run", rank=0, world_size=2, dump_every=10, on_full="block", strict=True)
    trainscope.start("run", at_hit="pause", at_hit_severity="warning", quiet=True)
    trainscope.start("run", at_hit="explode")  # type: ignore[arg-type]
    trainscope.start("run", on_full="wait")  # type: ignore[arg-type]
    trainscope.start()  # type: ignore[call-arg]
    trainscope.start("run", 5)  # type: ignore[call-arg]
    trainscope.start("run", every="often")  # type: ignore[arg-type]
    trainscope.start("run", evry=5)  # type: ignore[call-arg]
    return run


def record_numbers(run: Run) -> None:
    run.scalar("loss", 0.5)
    run.scalar("loss", True, 3)
    run.scalar("loss", np.float32(1), step=3, wall_time=1.5)
    run.scalar("loss", np.ones(1), 3)
    run.scalar("loss", Decimal("0.1"))
    run.log({"loss": 0.5, "rate": {"bias": 1}}, 3)
    run.counter("queue", 3)
    run.scalar("loss", "0.5")  # type: ignore[arg-type]
    run.scalar("loss", None)  # type: ignore[arg-type]
    run.scalar(5, 0.5)  # type: ignore[arg-type]
    run.scalar("loss")  # type: ignore[call-arg]
    run.scalar("loss", 0.5, "first")  # type: ignore[arg-type]
    run.scalar("loss", 0.5, 3, 1.5)  # type: ignore[call-arg]
    run.log([("loss", 0.5)])  # type: ignore[arg-type]
    run.counter("queue", "full")  # type: ignore[arg-type]
    run.missing("loss", 0.5)  # type: ignore[attr-defined]


def record_tensors(run: Run) -> None:
    run.tensor("x", np.ones((2, 3)), role="weight", step=3)
    run.values("x", [1.0, 2.0], 3)
    run.histogram("x", np.ones(3), step=3, wall_time=1.5)
    run.image("picture", np.zeros((8, 8, 3)), 3, layout="HWC")
    run.audio("voice", np.zeros(100), 16_000, 3)
    run.tensor("x", np.ones(3), "weight")  # type: ignore[call-arg]
    run.audio("voice", np.zeros(100))  # type: ignore[call-arg]
    run.image("picture", np.zeros((8, 8)), layout=3)  # type: ignore[arg-type]


def record_the_rest(run: Run, arguments: argparse.Namespace) -> None:
    run.text("sample", "text", 3)
    run.note("text")
    run.trigger("text")
    run.hparams({"rate": 0.1, "model": {"depth": 3}}, metrics=["loss"])
    run.dataset([{"op": "Mnist", "path": "data"}, "Shuffle"])
    run.lineage(optimizer="SGD", learning_rate=0.1)
    trainscope.hparams(arguments)
    run.text("sample", b"bytes")  # type: ignore[arg-type]
    run.note(5)  # type: ignore[arg-type]


def train(run: Run, batches: list[int]) -> Iterator[int]:
    for batch in run.steps(batches, start=3):
        assert_type(batch, int)
        yield batch
    with run.step(3), run.span("body", kind="copy", lane="stream 7"), run.phase("eval"):
        run.gate()
    for text in trainscope.steps(["a", "b"]):
        assert_type(text, str)
    run.steps(5)  # type: ignore[arg-type]
    run.lane("stream 7", "stream")
    run.end_flow(run.flow(), lane="stream 7")
    trainscope.end_flow(trainscope.flow())
    run.span("body", kind=1)  # type: ignore[arg-type]
    run.span("body", "copy")  # type: ignore[call-arg]
    run.lane("stream 7")  # type: ignore[call-arg]
    run.end_flow(None)  # type: ignore[arg-type]


def decorate(run: Run) -> None:
    @run.span("work")
    def work(number: int) -> str:
        return str(number)

    assert_type(work(3), str)
    work("three")  # type: ignore[arg-type]


def end(run: Run) -> bool:
    assert_type(run.folder, Path)
    assert_type(run.rank, int)
    assert_type(run.url, str | None)
    assert_type(trainscope.watch(run), Watch | None)
    assert_type(run.flush(), bool)
    assert_type(run.report(), Report)
    assert_type(trainscope.current(), Run | None)
    assert_type(trainscope.finish(), Report | None)
    report = run.finish("failure")
    assert_type(report.lost, dict[str, int])
    assert_type(report.files, list[Path])
    report.records_written = 0  # type: ignore[misc]
    run.rank = 3  # type: ignore[misc]
    with trainscope.start("run") as entered:
        assert_type(entered, Run)
    return report.is_complete


def write(writer: SummaryWriter) -> None:
    writer.add_scalar("loss", 0.5, 3)
    writer.add_scalars("loss", {"a": 0.5}, 3)
    writer.add_text("sample", "text")
