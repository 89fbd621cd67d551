"""Memory of NumPy arrays and plain lists: every layout and type is read as NumPy reads it, and nothing else is read."""

from __future__ import annotations

import array
import ctypes
import gc
import math
import subprocess
import sys
import textwrap
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trainscope
from reading import PROGRAM, statistics
from trainscope import Run

Array = np.ndarray[Any, Any]

TYPES = {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "float16": "f16", "float32": "f32", "float64": "f64",
}
"""Names of element types in a run, by those of NumPy."""


def expect(values: Array, tiny: float | None = None) -> dict[str, float]:
    """Statistics of the elements by NumPy. `tiny`: smallest normal number of their type."""
    if tiny is None:
        tiny = float(np.finfo(values.dtype).tiny) if values.dtype.kind == "f" else 0.0
    wide = values.astype(np.float64).ravel()
    finite = wide[np.isfinite(wide)]
    row: dict[str, float] = {
        "count": wide.size,
        "nan": np.isnan(wide).sum(),
        "pos_inf": (wide == math.inf).sum(),
        "neg_inf": (wide == -math.inf).sum(),
        "zero": (finite == 0).sum(),
        "negative": (finite < 0).sum(),
        "positive": (finite > 0).sum(),
        "subnormal": ((np.abs(finite) < tiny) & (finite != 0)).sum(),
    }
    if finite.size:
        row |= {"min": finite.min(), "max": finite.max(), "mean": finite.mean(), "std": finite.std(),
                "mean_abs": np.abs(finite).mean(), "l2": np.sqrt((finite * finite).sum())}
    return row


def compare(row: dict[str, Any], expected: dict[str, float]) -> None:
    """Compares statistics: counts and extremes exactly, moments to the 12th digit of the largest element."""
    scale = max(abs(expected.get("min", 0.0)), abs(expected.get("max", 0.0)))
    for name, value in expected.items():
        tolerance = 0.0 if name not in ("mean", "std", "mean_abs", "l2") else 1e-12 * scale * max(expected["count"], 1)
        assert row[name] == pytest.approx(value, rel=0, abs=tolerance), f"{row['tag']}: {name}"


def shape_of(row: dict[str, Any]) -> tuple[int, ...]:
    return tuple(int(size) for size in str(row["shape"]).split("x")) if row["shape"] is not None else ()


def check(run: Run, arrays: dict[str, tuple[Any, Array, str]], tiny: float | None = None) -> None:
    """Records statistics and elements of arrays; compares what is in the files with an array of NumPy and a type's name."""
    for index, (values, _, _) in enumerate(arrays.values()):
        run.tensor(f"statistics {index}", values, step=0)
        run.values(f"values {index}", values, step=0)
    report = run.finish()
    assert (report.lost, report.lost_at) == ({}, {})
    rows, folder = statistics(run.folder), run.folder.parent / "elements"
    command = [PROGRAM, "export", str(run.folder), "--kind", "tensors", "--format", "files", "-o", str(folder)]
    subprocess.run([*command, "--tags", "^values "], check=True, capture_output=True, timeout=60)
    for index, (name, (_, expected, dtype)) in enumerate(arrays.items()):
        row = rows[f"statistics {index}"][0]
        assert (row["dtype"], shape_of(row)) == (dtype, expected.shape), name
        compare(row, expect(expected, tiny))
        (path,) = folder.glob(f"*_values_{index}.rank_0.step_0.npy")
        got = np.load(path)
        if expected.dtype.isbuiltin == 1:
            assert got.dtype == expected.dtype.newbyteorder("="), name
        np.testing.assert_array_equal(got, expected.astype(got.dtype), err_msg=name)


def fill(generator: np.random.Generator, dtype: np.dtype[Any], size: int) -> Array:
    """Elements of any bits: with NaN, infinities, subnormals and extremes, where the type has them."""
    if dtype.kind == "b":
        return generator.integers(0, 2, size).astype(dtype)
    if dtype.kind == "f" and dtype.itemsize > 2:
        # Any bits would make sums whose rounding is larger than their value.
        values = generator.standard_normal(size).astype(dtype)
        special = [math.nan, math.inf, -math.inf, 0.0, -0.0, float(np.finfo(dtype).smallest_subnormal)]
        chosen = generator.random(size) < 0.2
        values[chosen] = generator.choice(special, chosen.sum())
        return values
    return np.frombuffer(generator.bytes(size * dtype.itemsize), dtype)


def arrange(generator: np.random.Generator, dtype: np.dtype[Any]) -> Array:
    """An array of random shape, strides and offset: parts, steps of either sign, any order of axes, repeated axes."""
    axes = int(generator.integers(0, 6))
    shape = tuple(int(size) for size in generator.integers(0 if generator.random() < 0.1 else 1, 6, axes))
    offset = int(generator.integers(0, 5))
    values = fill(generator, dtype, offset + math.prod(shape))[offset:].reshape(shape)
    values = values.transpose(generator.permutation(axes))
    steps = generator.choice([1, 1, 1, 2, -1, -2], axes)
    starts = [int(generator.integers(0, 2)) if step > 0 else None for step in steps]
    values = values[tuple(slice(start, None, int(step)) for start, step in zip(starts, steps, strict=True))]
    if generator.random() < 0.3:
        values = np.broadcast_to(values, (int(generator.integers(1, 4)), *values.shape))
    return values


@pytest.mark.parametrize("dtype", TYPES)
def test_arrays_of_any_layout_are_read_as_numpy_reads_them(run: Run, dtype: str) -> None:
    generator = np.random.default_rng(len(dtype))
    arrays = [arrange(generator, np.dtype(dtype)) for _ in range(60)]
    assert any(min(values.strides, default=0) < 0 for values in arrays)
    check(run, {str(index): (values, values, TYPES[dtype]) for index, values in enumerate(arrays)})


def test_large_arrays_of_any_layout_are_read_as_numpy_reads_them(run: Run) -> None:
    values = np.random.default_rng(0).standard_normal((2, 300, 700)).astype(np.float32)
    values[1, 2, 3], values[0, 3, 4] = math.nan, math.inf
    layouts = {
        "rows": values,
        "transposed": values.transpose(2, 0, 1),
        "gaps": values[:, ::2, 3:],
        "reversed": values[:, ::-1],
        "repeated": np.broadcast_to(values[:1], (3, 300, 700)),
    }
    check(run, {name: (layout, layout, "f32") for name, layout in layouts.items()})


@pytest.mark.parametrize("dtype", ["int16", "uint64", "float16", "float32", "float64"])
def test_big_endian_arrays_are_read_as_numpy_reads_them(run: Run, dtype: str) -> None:
    generator = np.random.default_rng(0)
    swapped = np.dtype(dtype).newbyteorder(">")
    arrays = [arrange(generator, np.dtype(dtype)).astype(swapped) for _ in range(20)]
    check(run, {str(index): (values, values, TYPES[dtype]) for index, values in enumerate(arrays)})


@pytest.mark.parametrize(("dtype", "parts"), [("complex64", "float32"), ("complex128", "float64")])
def test_complex_arrays_are_read_as_their_parts(run: Run, dtype: str, parts: str) -> None:
    generator = np.random.default_rng(0)
    arrays = {}
    for index in range(30):
        values = arrange(generator, np.dtype(parts))
        values = (values + 1j * np.roll(values, 1)).astype(dtype) if values.size else values.astype(dtype)
        values = values[..., ::-1] if values.ndim and index % 2 else values.T
        arrays[str(index)] = (values, np.stack([values.real, values.imag], -1), TYPES[parts])
    check(run, arrays)


def test_fields_and_misaligned_elements_are_read_as_numpy_reads_them(run: Run) -> None:
    table = np.zeros(5, [("a", "i1"), ("b", "f8"), ("c", "f4")])
    table["b"], table["c"] = np.arange(5.0), -np.arange(5.0)
    misaligned = np.frombuffer(b"x" + np.arange(5, dtype=np.float64).tobytes(), np.float64, offset=1)
    check(run, {
        "field": (table["b"], table["b"], "f64"),
        "second field": (table["c"], table["c"], "f32"),
        "misaligned": (misaligned, misaligned, "f64"),
    })


def test_elements_that_cannot_be_written_to_are_read(run: Run, tmp_path: Path) -> None:
    values = np.arange(5.0)
    values.flags.writeable = False
    np.save(tmp_path / "values.npy", values)
    mapped = np.load(tmp_path / "values.npy", mmap_mode="r")
    check(run, {"constant": (values, values, "f64"), "file": (mapped, values, "f64")})


def test_lists_and_numbers_are_read_as_numpy_reads_them(run: Run) -> None:
    lists: dict[str, Any] = {
        "list": [1.5, math.nan, 3],
        "tuple": (1.5, -2.5),
        "empty": [],
        "number": 2.5,
        "int": 3,
        "list of scalars": [np.float32(0.1), np.float32(0.2)],
    }
    arrays = {name: (values, np.asarray(values, np.float64), "f64") for name, values in lists.items()}
    nested = [[1.5, 2.5], [3.5, 4.5]]
    arrays["nested"] = (nested, np.asarray(nested), "f64")
    arrays["list of arrays"] = ([np.ones(2, np.float32)], np.ones((1, 2), np.float32), "f32")
    arrays["range"] = (range(5), np.arange(5), "i64")
    arrays["array"] = (array.array("f", [1.5, 2.5]), np.array([1.5, 2.5], np.float32), "f32")
    arrays["view"] = (memoryview(np.ones((2, 3), np.int16)), np.ones((2, 3), np.int16), "i16")
    check(run, arrays)


def test_scalars_of_numpy_are_read_from_memory_that_is_still_there(run: Run) -> None:
    scalars = {f"{dtype}/{index}": np.dtype(dtype).type(index % 2) for dtype in TYPES for index in range(20)}
    check(run, {name: (value, np.asarray(value), TYPES[name.split("/")[0]]) for name, value in scalars.items()})


class Exported:
    """An object that has memory by DLPack's method only."""

    def __init__(self, values: Array) -> None:
        self.values = values

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()


class Converted:
    """An object that becomes an array by a method, with a result that nothing else holds."""

    def __init__(self, method: str, values: Array) -> None:
        setattr(self, method, lambda: values.copy())


class Interface:
    """An object whose array interface is made again at each access, and is all that holds the memory."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        values = np.full(5_000, 7.0)
        return {**values.__array_interface__, "owner": values}


def test_other_objects_are_read_by_dlpack_and_by_their_methods(run: Run) -> None:
    values = np.arange(6, dtype=np.float32).reshape(2, 3).T
    check(run, {
        "__dlpack__": (Exported(values), values, "f32"),
        "numpy": (Converted("numpy", values), values, "f32"),
        "asnumpy": (Converted("asnumpy", values), values, "f32"),
        "interface": (Interface(), np.full(5_000, 7.0), "f64"),
    })


REFUSED: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "text": lambda: "1.0",
    "object": object,
    "type": lambda: float,
    "ragged list": lambda: [[1.0], [1.0, 2.0]],
    "list with None": lambda: [1.0, None],
    "huge int": lambda: 10**400,
    "dict": lambda: {"a": 1.0},
    "generator": lambda: (number for number in range(3)),
    "objects": lambda: np.array([1.0, None]),
    "texts": lambda: np.array(["1.0"]),
    "times": lambda: np.array(["2020-01-01"], "datetime64[D]"),
    "records": lambda: np.zeros(3, [("a", "f4")]),
    "long double": lambda: np.zeros(3, np.longdouble),
    "1 TB by strides": lambda: np.broadcast_to(np.float32(1), (10**6, 10**6)),
}


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("method", ["tensor", "values", "histogram"])
def test_what_has_no_readable_elements_is_counted_and_named_once(run: Run, method: str, kind: str) -> None:
    with pytest.warns(trainscope.TrainscopeWarning) as warnings:
        for step in range(2):
            getattr(run, method)(f"the {kind}", REFUSED[kind](), step=step)
    assert [warning.filename for warning in warnings] == [__file__]
    assert f"the {kind}" in str(warnings[0].message)
    assert run.finish().lost == {"invalid": 2}


SEQUENCES = {"range": "range(10**13)", "sequence": "Endless()"}


@pytest.mark.parametrize("kind", SEQUENCES)
def test_a_sequence_that_is_too_long_ends_nothing(tmp_path: Path, kind: str) -> None:
    # Beyond the limit memory cannot be had: the process must not take it all, and must not end.
    program = f"""
        import resource, sys, trainscope
        class Endless:
            def __len__(self): return sys.maxsize
            def __getitem__(self, index): raise IndexError
        import numpy
        run = trainscope.start(sys.argv[1])
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        run.tensor("x", {SEQUENCES[kind]}, step=0)
        print(run.finish().lost.get("invalid", 0))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program), str(tmp_path)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


def test_an_interface_with_false_claims_is_refused(run: Run) -> None:
    good = np.ones(3).__array_interface__
    false_claims: list[dict[str, Any]] = [
        {}, {**good, "data": None}, {**good, "data": (0, False)}, {**good, "data": ("x", False)},
        {**good, "shape": (-1,)}, {**good, "shape": (2**62, 2**62)}, {**good, "strides": (8, 8)},
        {**good, "strides": (2**62,)}, {**good, "typestr": "<f3"}, {**good, "shape": None},
    ]
    for lie in false_claims:
        liar = type("Liar", (), {"__array_interface__": lie})()
        run.tensor("lie", liar, step=0)
    assert run.finish().lost == {"invalid": len(false_claims)}


def test_an_array_is_not_kept_alive(run: Run) -> None:
    values = np.ones(1_000)
    reference = weakref.ref(values)
    run.tensor("x", values, step=0)
    run.values("x", values, step=0)
    run.histogram("x", values, step=0)
    references = sys.getrefcount(values)
    run.tensor("y", values, step=0)
    assert sys.getrefcount(values) == references
    del values
    gc.collect()
    assert reference() is None


def test_reading_does_not_change_an_array(run: Run) -> None:
    values = np.random.default_rng(0).standard_normal((500, 700))[:, ::-2]
    before = values.copy()
    run.tensor("x", values, step=0)
    run.values("x", values, step=0)
    np.testing.assert_array_equal(values, before)


def test_another_thread_may_write_to_an_array_that_is_read(run: Run) -> None:
    values = np.zeros(2_000_000)
    is_done = threading.Event()

    def write() -> None:
        number = 0.0
        while not is_done.is_set():
            values.fill(number := number + 1.0)

    writer = threading.Thread(target=write)
    writer.start()
    for step in range(20):
        run.tensor("x", values, step=step)
    is_done.set()
    writer.join()
    assert run.finish().lost == {}
    rows = statistics(run.folder)["x"]
    assert [rows[step]["count"] for step in range(20)] == [values.size] * 20
    assert all(row["nan"] == 0 and 0 <= row["min"] <= row["max"] for row in rows.values())


def test_memory_of_a_c_array_is_read(run: Run) -> None:
    values = (ctypes.c_float * 3)(1.5, 2.5, 3.5)
    check(run, {"ctypes": (values, np.array([1.5, 2.5, 3.5], np.float32), "f32")})
