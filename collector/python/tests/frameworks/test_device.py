"""Statistics computed by operations of PyTorch, as on a GPU, against those of the native kernel, which reads memory."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
import trainscope
from reading import statistics
from torch.utils._python_dispatch import TorchDispatchMode
from trainscope import _torch_device
from trainscope._torch_device import DeviceRows, are_finite
from trainscope.torch import Watch

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e4m3fn, torch.float8_e5m2]
UNSIGNED = [torch.bool, torch.uint8, torch.uint16, torch.uint32, torch.uint64]
SIGNED = [torch.int8, torch.int16, torch.int32, torch.int64]
COUNTS = ("count", "nan", "pos_inf", "neg_inf", "zero", "negative", "positive", "subnormal")
SUMS = ("mean", "std", "mean_abs", "l2")

# Bits of the mantissa.
MANTISSA = dict(zip(FLOATS, (10, 7, 23, 52, 3, 2), strict=True))
SIGNED_BYTES = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def all_bits(dtype: torch.dtype, count: int = 4099) -> torch.Tensor:
    """A tensor of random bits: each exponent, NaN, infinities and subnormal numbers are there. Bools are 0 and 1."""
    generator = torch.Generator().manual_seed(dtype.itemsize)
    if dtype == torch.bool:
        return torch.randint(0, 2, (count,), generator=generator).bool()
    raw = torch.randint(0, 256, (count * dtype.itemsize,), dtype=torch.uint8, generator=generator)
    return raw.view(dtype)


def from_bits(dtype: torch.dtype, *bits: int) -> torch.Tensor:
    """Numbers of these bits."""
    size = 8 * dtype.itemsize
    signed = [value - (1 << size) if value >> (size - 1) else value for value in bits]
    return torch.tensor(signed, dtype=SIGNED_BYTES[dtype.itemsize]).view(dtype)


def special(dtype: torch.dtype) -> torch.Tensor:
    """Zeros of both signs, the smallest and largest subnormal and normal numbers, and what is no number."""
    sign, normal = 1 << (8 * dtype.itemsize - 1), 1 << MANTISSA[dtype]
    largest = torch.tensor([torch.finfo(dtype).max], dtype=torch.float64).to(dtype)
    bits = [0, sign, 1, sign | 1, normal - 1, sign | (normal - 1), normal, sign | normal]
    rest = torch.tensor([math.inf, -math.inf, math.nan, 1.0, -1.5], dtype=torch.float64).to(dtype)
    if dtype == torch.float8_e4m3fn:
        # It has no infinities: NaN of both signs.
        rest = from_bits(dtype, 0x7F, 0xFF, 0x38)
    parts = [from_bits(dtype, *bits), rest, largest]
    return torch.cat([part.view(torch.uint8) for part in parts]).view(dtype)


def record_both(folder: Path, tensors: dict[str, torch.Tensor], scale: float = 1.0) -> dict[str, tuple[Any, Any]]:
    """Statistics of each tensor by the native kernel and by rows, read back from the file."""
    with trainscope.start(folder, every=1, strict=True) as run:
        run._record_tensors([(f"kernel/{name}", "weight", tensor) for name, tensor in tensors.items()], 0, scale)
        rows = DeviceRows(run)
        rows.add([(f"rows/{name}", "weight", tensor) for name, tensor in tensors.items()], 0, scale)
        rows.send()
        rows.read()
    assert run.report().lost == {}
    found = statistics(folder)
    return {name: (found[f"kernel/{name}"][0], found[f"rows/{name}"][0]) for name in tensors}


def assert_equal(kernel: dict[str, Any], rows: dict[str, Any]) -> None:
    """Types, counts and extremes are equal, sums to 1e-9 unless they leave the range of f64: the kernel scales them."""
    for key in ("role", "dtype", "shape", *COUNTS, "min", "max"):
        assert rows[key] == kernel[key], (key, rows[key], kernel[key])
    largest = 0.0 if kernel["l2"] is None else max(abs(kernel["min"]), abs(kernel["max"]))
    for key in SUMS:
        if key in ("std", "l2") and largest > 1e154:
            assert rows[key] == math.inf
            continue
        if key in ("std", "l2") and 0 < largest < 1e-154:
            assert rows[key] == 0 and kernel[key] < 1e-153
            continue
        if math.isinf(largest * kernel["count"]) and not math.isfinite(rows[key]):
            continue
        # The deviation is the difference of large sums: it is compared with the size of the numbers.
        size = 0.0 if kernel["l2"] is None else kernel["l2"] / math.sqrt(max(1, kernel["count"]))
        tolerance = 1e-7 * size if key == "std" and math.isfinite(size) else 0.0
        assert (rows[key] is None) == (kernel[key] is None), key
        assert kernel[key] is None or rows[key] == pytest.approx(kernel[key], rel=1e-9, abs=tolerance, nan_ok=True), key


@pytest.mark.parametrize("dtype", [*FLOATS, *UNSIGNED, *SIGNED], ids=str)
def test_every_type_is_reduced_as_the_kernel_does(tmp_path: Path, dtype: torch.dtype) -> None:
    tensors = {"bits": all_bits(dtype), "empty": all_bits(dtype, 0), "one": all_bits(dtype, 1)}
    tensors["matrix"] = all_bits(dtype, 12).reshape(3, 4).T
    for kernel, rows in record_both(tmp_path, tensors).values():
        assert_equal(kernel, rows)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_subnormal_numbers_nan_and_infinities_are_counted_as_the_kernel_does(
    tmp_path: Path, dtype: torch.dtype
) -> None:
    values = special(dtype)
    nothing = torch.full((5,), math.nan).to(dtype)
    tensors = {"special": values, "nan": nothing, "zeros": torch.zeros(3).to(dtype), "tiny": from_bits(dtype, 1, 2, 3)}
    both = record_both(tmp_path, tensors)
    for kernel, rows in both.values():
        assert_equal(kernel, rows)
    _, rows = both["special"]
    # Four numbers are subnormal where more than one mantissa bit is there.
    assert rows["zero"] == 2 and rows["subnormal"] == 4 and rows["nan"] == (2 if dtype == torch.float8_e4m3fn else 1)
    assert both["nan"][1]["min"] is None and both["nan"][1]["nan"] == 5
    assert both["tiny"][1]["subnormal"] == 3


def test_complex_sparse_strided_and_conjugated_tensors_are_reduced_as_the_kernel_does(tmp_path: Path) -> None:
    torch.manual_seed(0)
    complex_numbers = torch.randn(4, 3, dtype=torch.complex64)
    tensors = {
        "complex": complex_numbers,
        "conjugate": complex_numbers.conj(),
        "negated": complex_numbers.conj().imag,
        "strided": torch.randn(6, 6)[::2, 1::3],
        "expanded": torch.randn(3, 1).expand(3, 4),
        "channels last": torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
        "scalar": torch.tensor(3.5),
        "parameter": torch.nn.Parameter(torch.randn(3)),
    }
    for name, (kernel, rows) in record_both(tmp_path, tensors).items():
        for key in (*COUNTS, "min", "max"):
            assert rows[key] == kernel[key], (name, key)


def test_parts_and_groups_of_tensors_are_reduced_as_the_kernel_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_torch_device, "ROW_ELEMENTS", 64)
    # More than one part, with a rest; several of one size, in more than one group; NaN in the last part only.
    tensors = {"long": all_bits(torch.float32, 64 * 3 + 5)}
    tensors |= {f"same {number}": all_bits(torch.float16, 20) + number for number in range(7)}
    tensors |= {f"empty {number}": torch.empty(0, 3) for number in range(3)}
    tensors["last"] = torch.cat([torch.ones(64), torch.tensor([math.nan])])
    for kernel, rows in record_both(tmp_path, tensors).values():
        assert_equal(kernel, rows)


def test_scales_and_factors_multiply_statistics(tmp_path: Path) -> None:
    values = torch.tensor([-3.0, 1.0, 6.0, math.inf])
    with trainscope.start(tmp_path, strict=True) as run:
        rows = DeviceRows(run)
        rows.add([("both", "gradient", values)], 4, scale=0.5, factor=torch.tensor(0.25))
        rows.add([("negative", "gradient", values)], 4, scale=-1.0)
        rows.send()
        rows.read()
    found = statistics(tmp_path)
    both, negative = found["both"][4], found["negative"][4]
    assert (both["min"], both["max"], both["mean"]) == (-3 / 8, 6 / 8, pytest.approx(4 / 24))
    assert both["l2"] == pytest.approx(math.sqrt(46) / 8) and both["pos_inf"] == 1 and both["count"] == 4
    assert (negative["min"], negative["max"], negative["mean_abs"]) == (-6.0, 3.0, pytest.approx(10 / 3))


class Operations(TorchDispatchMode):
    """Names of the operations that are called; fails at one that waits for a device."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(function)
        self.names.append(name)
        assert not any(word in name for word in ("_local_scalar_dense", "nonzero", "is_nonzero", "equal.default")), name
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64, torch.int64, torch.bool], ids=str)
def test_nothing_waits_for_the_device_before_the_rows_are_read(tmp_path: Path, dtype: torch.dtype) -> None:
    with trainscope.start(tmp_path, strict=True) as run:
        rows = DeviceRows(run)
        with Operations() as operations:
            items = [(name, "weight", all_bits(dtype, count)) for name, count in (("a", 5), ("b", 5), ("none", 0))]
            rows.add(items, 0, factor=torch.tensor(2.0))
            rows.send()
        assert any("sum" in name for name in operations.names)
        assert not any("::item" in name for name in operations.names)
        rows.read()
    assert statistics(tmp_path).keys() == {"a", "b", "none"}


class LateEvent:
    """Event of a copy that has arrived once it was asked for three times, or waited for."""

    def __init__(self) -> None:
        self.asked = 0
        self.was_waited_for = False

    def query(self) -> bool:
        self.asked += 1
        return self.asked > 3

    def synchronize(self) -> None:
        self.was_waited_for = True


def test_rows_that_have_not_arrived_are_read_later_with_their_own_step(tmp_path: Path) -> None:
    with trainscope.start(tmp_path, strict=True) as run:
        rows = DeviceRows(run)
        events = []
        for step in range(2):
            rows.add([("late", "weight", torch.full((3,), float(step)))], step)
            rows.send()
            events.append(LateEvent())
            copy = rows._copies[-1]
            rows._copies[-1] = _torch_device._Copy(copy.entries, copy.counts, copy.figures, events[-1])
        for _ in range(3):
            rows.read()
        assert len(rows._copies) == 2
        rows.read()
        assert len(rows._copies) == 1 and not events[0].was_waited_for
        rows.read(wait=True)
        assert events[1].was_waited_for
    found = statistics(tmp_path)["late"]
    assert [found[step]["max"] for step in (0, 1)] == [0.0, 1.0]


def test_copies_under_way_are_bounded(tmp_path: Path) -> None:
    class NeverEvent(LateEvent):
        """Arrives when it is waited for."""

        def query(self) -> bool:
            return False

    with trainscope.start(tmp_path, strict=True) as run:
        rows = DeviceRows(run)
        for step in range(30):
            rows.add([("x", "weight", torch.ones(2))], step)
            rows.send()
            copy = rows._copies[-1]
            rows._copies[-1] = _torch_device._Copy(copy.entries, copy.counts, copy.figures, NeverEvent())
            rows.read()
            assert len(rows._copies) <= _torch_device.MOST_COPIES
        rows.read(wait=True)
    assert list(statistics(tmp_path)["x"]) == list(range(30))


def test_rows_are_computed_without_autocast_and_gradients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes = []

    def reduce_rows(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        modes.append((torch.is_autocast_enabled("cpu"), torch.is_grad_enabled(), matrix.requires_grad))
        return original(matrix)

    original = _torch_device.reduce_rows
    monkeypatch.setattr(_torch_device, "reduce_rows", reduce_rows)
    with trainscope.start(tmp_path, strict=True) as run:
        rows = DeviceRows(run)
        with torch.autocast("cpu", torch.bfloat16):
            rows.add([("x", "weight", torch.nn.Parameter(torch.randn(50)))], 0)
    assert modes == [(False, False, False)]


def record_remotely(self: Any, items: Any, step: int, scale: float = 1.0, factor: Any = None) -> None:
    """`Watch._record` that takes all tensors for those of another device."""
    self._device.add(items, step, scale, factor)


def test_what_is_on_its_way_when_a_watch_is_closed_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watch, "_record", record_remotely)
    model = torch.nn.Linear(2, 2)
    with trainscope.start(tmp_path, every=1, strict=True) as run:
        watch = run.watch(model)
        assert watch is not None
        watch.before_update(0)
        copy = watch._device._copies[-1]
        event = LateEvent()
        watch._device._copies[-1] = _torch_device._Copy(copy.entries, copy.counts, copy.figures, event)
    assert event.was_waited_for
    assert statistics(tmp_path)["weight"][0]["max"] == model.weight.max().item()


def test_a_watch_takes_this_way_for_tensors_that_are_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for way in ("local", "remote"):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        with trainscope.start(tmp_path / way, every=1, strict=True) as run:
            if way == "remote":
                monkeypatch.setattr(Watch, "_record", record_remotely)
            run.watch(model, optimizer)
            for _ in range(3):
                model(torch.randn(6, 4)).square().mean().backward()
                optimizer.step()
                optimizer.zero_grad()
        found.append(statistics(tmp_path / way))
    local, remote = found
    assert local.keys() == remote.keys() and len(local) == 11
    for name, steps in local.items():
        assert list(steps) == list(remote[name]) == [0, 1, 2]
        for step, row in steps.items():
            assert_equal(row, remote[name][step])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_one_norm_says_whether_elements_are_finite(dtype: torch.dtype) -> None:
    largest = torch.full((9,), torch.finfo(torch.float16).max / 2, dtype=torch.float64).to(dtype)
    if dtype == torch.float8_e4m3fn:
        largest = torch.full((9,), torch.finfo(dtype).max).to(dtype)
    finite = [torch.zeros(3).to(dtype), largest, torch.zeros(0).to(dtype), torch.tensor(2.0).to(dtype)]
    assert are_finite(finite)
    # One of these types has no infinities.
    for bad in (math.nan, math.inf, -math.inf) if dtype != torch.float8_e4m3fn else (math.nan,):
        assert not are_finite([*finite, torch.tensor([[1.0, bad]]).to(dtype)]), bad


def test_sparse_and_complex_gradients_are_finite_or_not() -> None:
    indices = torch.tensor([[0, 2]])
    for values in ([1.0, 2.0], [1.0, math.nan]):
        is_finite = all(map(math.isfinite, values))
        sparse = torch.sparse_coo_tensor(indices, torch.tensor(values), (4,), check_invariants=True)
        assert are_finite([sparse]) == is_finite
        assert are_finite([torch.complex(torch.ones(2), torch.tensor(values))]) == is_finite
    assert are_finite([]) and are_finite([torch.ones(2, device="meta")])
