"""A check in parts has the answer of one process, on every engine that applies a function to a list."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import trainscope
from recorded import PROGRAM


@pytest.fixture(autouse=True)
def _program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINSCOPE_PROGRAM", PROGRAM)


def write_step(path: Path, values: list[float]) -> None:
    data = struct.pack(f"<{len(values)}f", *values)
    entry = {"dtype": "F32", "shape": [len(values)], "data_offsets": [0, len(data)]}
    header = json.dumps({"weight/fc1.weight": entry}).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)


@pytest.fixture
def training(tmp_path: Path) -> Path:
    run = tmp_path / "run"
    for rank in range(3):
        for step in range(4):
            value = float("nan") if (rank, step) == (1, 2) else 0.5 + step
            write_step(run / f"rank_{rank}" / f"step_{step}.safetensors", [0.25, value, -0.5])
    return run


def with_threads(function: Callable[..., Any], parts: list[Any]) -> list[Any]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(function, parts))


def with_processes(function: Callable[..., Any], parts: list[Any]) -> list[Any]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        return list(pool.map(function, parts))


@pytest.mark.parametrize("engine", [map, with_threads, with_processes])
def test_parts_on_an_engine_have_the_answer_of_one_process(training: Path, tmp_path: Path, engine: Any) -> None:
    alone = trainscope.check(training)
    assert not alone.ok
    assert alone.first_cause is not None
    assert alone.first_cause["rank"] == 1
    parts = trainscope.check(training, shards=5, summaries=tmp_path / "s", plan=tmp_path / "plan", map=engine)
    assert parts.raw == alone.raw
    assert len(list((tmp_path / "s").glob("*.summaries"))) == 5


def test_a_part_that_fails_is_an_error_with_its_last_lines(training: Path, tmp_path: Path) -> None:
    (tmp_path / "s").write_text("a file, and no folder")
    with pytest.raises(trainscope.CheckError, match="shard 0/2 ended with status 2: error: the folder of summaries"):
        trainscope.check(training, shards=2, summaries=tmp_path / "s")


def test_a_folder_without_runs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(trainscope.CheckError, match="no runs found"):
        trainscope.check(tmp_path)
