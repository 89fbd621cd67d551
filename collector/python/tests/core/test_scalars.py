"""Numbers: of all kinds, at the right step, exact, from many threads, read back by the program and by TensorBoard."""

from __future__ import annotations

import math
import struct
import threading
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import trainscope
from reading import export, scalars
from trainscope import Run


class Half:
    def __float__(self) -> float:
        return 0.5


class Seven:
    def __index__(self) -> int:
        return 7


def points(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Step and value of each point by tag, as `trainscope export` writes them: with all digits."""
    points: dict[str, list[tuple[int, float]]] = {}
    for row in export(folder, "scalars"):
        points.setdefault(row["tag"], []).append((int(row["step"]), float(row["value"])))
    return points


def recorded(run: Run) -> dict[str, list[tuple[int, float]]]:
    """All points of a run, which is finished by this, and has lost nothing."""
    report = run.finish()
    assert (report.lost, report.is_complete) == ({}, True)
    return points(run.folder)


VALUES = {
    "float": (0.1, 0.1),
    "int": (3, 3.0),
    "bool": (True, 1.0),
    "float64": (np.float64(0.1), 0.1),
    "float32": (np.float32(0.1), float(np.float32(0.1))),
    "float16": (np.float16(0.1), float(np.float16(0.1))),
    "int8": (np.int8(-3), -3.0),
    "uint64": (np.uint64(2**64 - 1), float(2**64 - 1)),
    "bool of NumPy": (np.bool_(True), 1.0),
    "array without axes": (np.array(0.1), 0.1),
    "array of one": (np.array([0.1]), 0.1),
    "array of one with three axes": (np.array([[[0.1]]], np.float32), float(np.float32(0.1))),
    "big-endian": (np.array(0.1, ">f8"), 0.1),
    "Decimal": (Decimal("0.1"), 0.1),
    "Fraction": (Fraction(1, 3), 1 / 3),
    "__float__": (Half(), 0.5),
    "__index__": (Seven(), 7.0),
    "int above 2**53": (2**53 + 1, float(2**53 + 1)),
    "int above 2**64": (10**300, 1e300),
}


def test_values_of_every_kind_are_numbers(run: Run) -> None:
    for name, (value, _) in VALUES.items():
        run.scalar(f"one by one/{name}", value, 3)
    run.log({f"together/{name}": value for name, (value, _) in VALUES.items()}, 3)
    got = recorded(run)
    assert got == {f"{how}/{name}": [(3, expected)] for name, (_, expected) in VALUES.items()
                   for how in ("one by one", "together")}


NOT_NUMBERS: list[Any] = [None, "1", b"1", 1j, np.complex64(1), [1.0], (1.0,), {1.0}, np.ones(2), np.ones(0), object(),
                          10**400, np.datetime64("2020-01-01"), np.str_("1"), lambda: 1.0, Half]


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=lambda value: type(value).__name__)
def test_anything_else_is_counted_as_invalid_and_the_rest_of_a_mapping_is_written(run: Run, value: Any) -> None:
    with pytest.warns(trainscope.TrainscopeWarning):
        run.scalar("bad", value, 3)
    with pytest.warns(trainscope.TrainscopeWarning):
        run.log({"before": 1, "bad": value, "after": 2}, 3)
    assert run.finish().lost == {"invalid": 2}
    assert points(run.folder) == {"before": [(3, 1.0)], "after": [(3, 2.0)]}


def test_every_bit_of_a_number_comes_back(run: Run) -> None:
    generator = np.random.default_rng(0)
    patterns = generator.integers(0, 2**64, 2_000, np.uint64)
    numbers = [float(number) for number in patterns.view(np.float64)]
    numbers += [5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.0, -0.0, math.inf, -math.inf, math.nan]
    for step, number in enumerate(numbers):
        run.scalar("x", number, step)

    def bits(numbers: list[float]) -> list[str]:
        # One kind of NaN: text has no others.
        return [struct.pack(">d", number).hex() if number == number else "nan" for number in numbers]

    got = recorded(run)["x"]
    assert [step for step, _ in got] == list(range(len(numbers)))
    assert bits([value for _, value in got]) == bits(numbers)


def test_tensorboard_reads_the_same_numbers(run: Run) -> None:
    numbers = [0.1, 1e-30, -3.5, 2**24 + 1, math.inf, -math.inf, math.nan]
    for step, number in enumerate(numbers):
        run.scalar("x", number, step * 1_000)
    run.log({"y": 1.5, "z": {"a": 2.5}}, 7)
    run.finish()
    got = scalars(run.folder)
    assert [step for step, _ in got["x"]] == [step * 1_000 for step in range(len(numbers))]
    # f32, as old readers know it.
    assert np.array_equal([value for _, value in got["x"]], np.float32(numbers), equal_nan=True)
    assert (got["y"], got["z/a"]) == ([(7, 1.5)], [(7, 2.5)])


def test_nested_mappings_join_their_names_and_are_one_event(run: Run) -> None:
    run.log({"loss": 1, "rate": {"bias": 2, "weights": {"a": 3}}, "other": MappingProxyType({"b": 4})}, 5)
    run.log({}, 6)
    run.log({"empty": {}}, 7)
    got = recorded(run)
    assert got == {"loss": [(5, 1)], "rate/bias": [(5, 2)], "rate/weights/a": [(5, 3)], "other/b": [(5, 4)]}
    times = {row["wall_time_secs"] for row in export(run.folder, "scalars")}
    assert len(times) == 1


STEPS = {
    "int": (3, 3),
    "negative": (-3, -3),
    "zero": (0, 0),
    "large": (2**53 + 1, 2**53 + 1),
    "largest": (2**63 - 1, 2**63 - 1),
    "bool": (True, 1),
    "int64": (np.int64(3), 3),
    "uint8": (np.uint8(3), 3),
    "array": (np.array(3), 3),
    "__index__": (Seven(), 7),
    "whole float": (3.0, 3),
    "float32": (np.float32(3), 3),
}


def test_steps_of_every_kind_are_numbers(run: Run) -> None:
    for name, (step, _) in STEPS.items():
        run.scalar(name, 1.0, step)
    got = recorded(run)
    assert {name: point[0][0] for name, point in got.items()} == {name: step for name, (_, step) in STEPS.items()}


NO_STEPS: list[Any] = ["3", 3.5, math.nan, math.inf, 1e300, 2**63, pytest.param(object(), id="object"), [3], 3j]


@pytest.mark.parametrize("step", NO_STEPS, ids=repr)
def test_what_is_no_step_is_counted_as_invalid_and_changes_no_step(run: Run, step: Any) -> None:
    run.scalar("x", 1.0, 5)
    with pytest.warns(trainscope.TrainscopeWarning, match="step"):
        run.scalar("x", 2.0, step)
    run.scalar("x", 3.0)
    assert run.finish().lost == {"invalid": 1}
    # Of two values at one step the newest counts.
    assert points(run.folder) == {"x": [(5, 3.0)]}


def steps_of(run: Run) -> dict[str, int]:
    """Step of the one point of each scalar. (Several, with steps that go back, are read as a restart of the training.)"""
    return {name: step for name, [(step, _)] in recorded(run).items()}


def test_without_a_step_the_last_one_that_was_named_is_meant(run: Run) -> None:
    run.scalar("at the beginning", 1)
    run.scalar("named", 1, 10)
    run.scalar("after it", 1)
    run.log({"log": 1})
    run.log({"named by log": 1}, 4)
    run.scalar("after log", 1)
    assert steps_of(run) == {
        "at the beginning": 0, "named": 10, "after it": 10, "log": 10, "named by log": 4, "after log": 4
    }


def test_the_number_of_updates_comes_before_the_last_step(run: Run) -> None:
    run.scalar("named", 1, 10)
    run._set_updates(3)
    run.scalar("after 3 updates", 1)
    run.scalar("named again", 1, 20)
    run.scalar("after it", 1)
    run._set_updates(4)
    run.scalar("after 4 updates", 1)
    assert steps_of(run) == {"named": 10, "after 3 updates": 3, "named again": 20, "after it": 3, "after 4 updates": 4}


def test_an_open_step_comes_before_updates_and_the_argument_before_all(run: Run) -> None:
    run._set_updates(3)
    with run.step(30):
        run.scalar("open", 1)
        run.scalar("named", 1, 40)
        run._set_updates(4)
        run.scalar("open after update", 1)
    run.scalar("closed", 1)
    with run.step():
        run.scalar("next", 1)
    assert steps_of(run) == {"open": 30, "named": 40, "open after update": 30, "closed": 4, "next": 31}


def test_a_loop_over_steps_counts_them_and_closes_its_iterator_when_it_is_left(run: Run) -> None:
    is_closed = []

    def batches() -> Any:
        try:
            yield from "abcdef"
        finally:
            is_closed.append(True)

    got = []
    for batch in run.steps(batches(), start=5):
        run.scalar("x", ord(batch))
        got.append(batch)
        if batch == "c":
            break
    # An abandoned generator is closed by its last reference, which the loop held.
    assert (got, is_closed) == (list("abc"), [True])
    assert recorded(run)["x"] == [(5, 97), (6, 98), (7, 99)]


def test_steps_of_the_second_epoch_follow_those_of_the_first(run: Run) -> None:
    for epoch in range(3):
        batches = run.steps(range(4))
        assert len(batches) == 4
        for batch in batches:
            run.scalar("x", 10 * epoch + batch)
    assert recorded(run)["x"] == [(step, 10 * (step // 4) + step % 4) for step in range(12)]
    with pytest.raises(TypeError):
        len(run.steps(iter("ab")))


def test_after_a_loop_over_steps_no_step_is_open(run: Run) -> None:
    for _ in run.steps(range(3)):
        assert run._open_step() is not None
    assert run._open_step() is None


def test_the_time_of_a_scalar_is_now_or_the_one_that_is_given(run: Run) -> None:
    run.scalar("a", 1, 0, wall_time=1234.5)
    run.log({"b": 1}, 0, wall_time=2345.25)
    run.scalar("c", 1, 0)
    run.finish()
    times = {row["tag"]: float(row["wall_time_secs"]) for row in export(run.folder, "scalars")}
    assert (times["a"], times["b"]) == (1234.5, 2345.25)
    assert times["c"] == pytest.approx(run._nanos() / 1e9, abs=60)


def test_no_scalar_of_eight_threads_is_lost(run: Run) -> None:
    barrier = threading.Barrier(8)

    def record(thread: int) -> None:
        barrier.wait()
        for step in range(10_000):
            run.scalar(f"thread {thread}", thread + step / 16, step)

    threads = [threading.Thread(target=record, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    got = recorded(run)
    for thread in range(8):
        assert got[f"thread {thread}"] == [(step, thread + step / 16) for step in range(10_000)]


@pytest.mark.parametrize("name", ["ä/ö", "日本語", "a b", "a\nb", "a\0b", "/", "a//b", "..", "x" * 10_000, 'a,"b"', "notes"])
def test_a_name_is_written_as_it_is(run: Run, name: str) -> None:
    run.scalar(name, 1.0, 3)
    run.finish()
    assert scalars(run.folder) == {name: [(3, 1.0)]}


def test_the_end_of_the_batches_is_no_step(tmp_path: Path) -> None:
    spans: list[tuple[str, int, str | None]] = []

    class Spans(trainscope.Run):
        def _push_span(
            self, name: str, start_nanos: int, duration_nanos: int, step: int | None = None, kind: str | None = None
        ) -> None:
            spans.append((name, self._step() if step is None else step, kind))

    with Spans(tmp_path) as run:
        assert list(run.steps("abc", start=4)) == ["a", "b", "c"]
        assert run._step() == 6
    assert spans == [("data", 4, "data"), ("data", 5, "data"), ("data", 6, "data")]


def test_a_run_says_where_it_is_and_how_to_see_it(run: Run) -> None:
    assert str(run.folder) in repr(run) and "recording" in repr(run) and "trainscope start" in repr(run)
    run.finish()
    assert "finished" in repr(run)
    assert trainscope.__version__.count(".") == 2
