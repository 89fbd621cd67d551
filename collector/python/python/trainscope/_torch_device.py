"""Statistics of PyTorch tensors that are not in the memory of the processor, computed where they are.

For each tensor one row of numbers is computed by operations of its device. The rows of a step are copied together,
without waiting, and read when the copy has arrived: nothing here waits for the device but `read(wait=True)` and
`are_finite`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any

import torch

from trainscope._device import fetch
from trainscope._torch_graph import dtype_name

# Elements that one row covers at most: bounds the memory for intermediate results, 8 bytes an element for 64-bit sums.
ROW_ELEMENTS = 1 << 23
# Elements of which one sum in 32-bit floating point is exact enough: 1e-5 of it.
NORM_ELEMENTS = 1 << 16
# Devices whose numbers are read at once: there is nothing to wait for.
HERE = ("cpu",)
# Copies under way at most: beyond it, reading waits for the oldest.
MOST_COPIES = 8

PLAIN = (torch.Tensor, torch.nn.Parameter)
"""Classes of tensors that are neither distributed nor of a program."""

# Types whose norms are summed in their own precision.
_SUMMED = (torch.float32, torch.float64)

# Exponent of the smallest normal number.
_MIN_NORMAL = {
    torch.float16: -14,
    torch.bfloat16: -126,
    torch.float32: -126,
    torch.float64: -1022,
    torch.float8_e4m3fn: -6,
    torch.float8_e5m2: -14,
}


@dataclasses.dataclass(frozen=True)
class _Entry:
    """A tensor whose rows are on the way: as many as it has parts."""

    name: str
    role: str
    dtype: str
    shape: tuple[int, ...]
    count: int
    rows: int
    step: int
    scale: float
    # Row of the factor beside `scale`, if that one is on the device too.
    has_factor: bool
    # Seconds since 1970 of a scalar; None for a tensor.
    wall_time: float | None = None


@dataclasses.dataclass(frozen=True)
class _Copy:
    """A copy under way: it has arrived when `event` says so."""

    entries: list[_Entry]
    counts: torch.Tensor
    figures: torch.Tensor
    event: Any


class DeviceRows:
    """Rows of tensors of one run, from the device to the file."""

    def __init__(self, run: Any) -> None:
        self._run = run
        self._entries: dict[torch.device, list[_Entry]] = {}
        self._counts: dict[torch.device, list[torch.Tensor]] = {}
        self._figures: dict[torch.device, list[torch.Tensor]] = {}
        self._copies: list[_Copy] = []

    def add(
        self,
        items: list[tuple[str, str, torch.Tensor]],
        step: int,
        scale: float = 1.0,
        factor: torch.Tensor | None = None,
    ) -> None:
        """Computes the rows of tensors, (name, role, tensor), on their devices.

        Statistics are multiplied by `scale` and by the number in `factor`, which may be on a device and is not waited
        for. Tensors of equal type and size are reduced together. Nothing is computed while a CUDA graph is captured.
        """
        if is_capturing():
            return
        groups: dict[tuple[torch.device, torch.dtype, int], list[tuple[_Entry, torch.Tensor]]] = {}
        for name, role, tensor in items:
            local = _local(tensor)
            # Tensors of XLA are computed lazily: to read one would compute it.
            if local.device.type in ("meta", "xla"):
                continue
            flat = _flat(local)
            shape, parts = tuple(local.shape), max(1, -(-flat.numel() // ROW_ELEMENTS))
            entry = _Entry(
                name, role, dtype_name(flat.dtype), shape, flat.numel(), parts, step, scale, factor is not None
            )
            groups.setdefault((flat.device, flat.dtype, flat.numel()), []).append((entry, flat))
        for (device, _, count), group in groups.items():
            # As many together as one row may cover.
            together = max(1, ROW_ELEMENTS // max(1, count))
            for start in range(0, len(group), together):
                self._reduce(device, group[start : start + together], factor)

    def add_scalar(
        self, name: str, value: torch.Tensor, step: int, scale: float = 1.0, factor: torch.Tensor | None = None
    ) -> None:
        """Takes a number on a device; it is recorded as a scalar, multiplied like the statistics of `add`."""
        if is_capturing() or value.device.type in ("meta", "xla"):
            return
        device, wide = value.device, _wide(value.device)
        now = self._run._nanos() / 1e9
        entry = _Entry(name, "", "", (), 0, 1, step, scale, factor is not None, now)
        with torch.no_grad(), torch.autocast(device.type, enabled=False):
            figures = torch.zeros((1, 6), dtype=wide, device=device)
            figures[0, 0] = value.detach().to(wide)
            figures[0, 5] = 1.0 if factor is None else factor.detach().to(device, wide, non_blocking=True).reshape(())
        self._entries.setdefault(device, []).append(entry)
        self._counts.setdefault(device, []).append(torch.zeros((1, 7), dtype=torch.int64, device=device))
        self._figures.setdefault(device, []).append(figures)

    def send(self) -> None:
        """Begins to copy what was added: one copy for each device, behind an event."""
        if not self._entries or is_capturing():
            return
        for device, entries in self._entries.items():
            counts, figures = torch.cat(self._counts[device]), torch.cat(self._figures[device])
            event = None
            if device.type == "cpu":
                pass
            elif device.type == "cuda":
                counts, figures = pinned(counts), pinned(figures)
                event = torch.cuda.Event()  # type: ignore[no-untyped-call]
                event.record(torch.cuda.current_stream(device))
            else:
                # Without an event that is known to work for the copy, waiting is the only safe way.
                counts, figures = counts.cpu(), figures.cpu()
            self._copies.append(_Copy(entries, counts, figures, event))
        self._entries, self._counts, self._figures = {}, {}, {}

    def read(self, wait: bool = False) -> None:
        """Records what has arrived; with `wait`, everything that was sent."""
        while self._copies and not is_capturing():
            copy = self._copies[0]
            if copy.event is not None and not copy.event.query():
                if not wait and len(self._copies) <= MOST_COPIES:
                    return
                copy.event.synchronize()
            self._copies.pop(0)
            self._record(copy)

    def _reduce(
        self, device: torch.device, group: list[tuple[_Entry, torch.Tensor]], factor: torch.Tensor | None
    ) -> None:
        with torch.no_grad(), torch.autocast(device.type, enabled=False):
            flats = [flat for _, flat in group]
            matrix = flats[0].unsqueeze(0) if len(flats) == 1 else torch.stack(flats)
            rows = [reduce_rows(part) for part in torch.split(matrix, ROW_ELEMENTS, dim=1)]
            counts = torch.cat([counts for counts, _ in rows])
            figures = torch.cat([figures for _, figures in rows])
            if factor is not None:
                scales = factor.detach().to(device, figures.dtype, non_blocking=True).reshape(1, 1)
                figures = torch.cat([figures, scales.expand(figures.shape[0], 1)], dim=1)
            else:
                figures = torch.nn.functional.pad(figures, (0, 1), value=1.0)
        self._entries.setdefault(device, []).extend(entry for entry, _ in group)
        self._counts.setdefault(device, []).append(counts)
        self._figures.setdefault(device, []).append(figures)

    def _record(self, copy: _Copy) -> None:
        all_counts, all_figures = copy.counts.tolist(), copy.figures.tolist()
        at = 0
        for entry in copy.entries:
            counts, figures = all_counts[at : at + entry.rows], all_figures[at : at + entry.rows]
            at += entry.rows
            if entry.wall_time is not None:
                value = figures[0][0] * figures[0][5] * entry.scale
                self._run.scalar(entry.name, value, entry.step, wall_time=entry.wall_time)
                continue
            row = merged(counts, figures, entry.count, entry.scale * figures[0][5])
            self._run._record_summary(entry.name, entry.role, entry.dtype, entry.shape, row, entry.step)


def are_finite(tensors: Iterable[torch.Tensor]) -> bool:
    """True if all elements are finite, from one norm of each tensor, computed on its device. Waits for the devices.

    A norm beyond the range of 32-bit floating point counts as not finite. True while a CUDA graph is captured.
    """
    if is_capturing():
        return True
    groups: dict[tuple[torch.device, torch.dtype], list[torch.Tensor]] = {}
    for tensor in tensors:
        if _is_plain(tensor):
            groups.setdefault((tensor.device, tensor.dtype), []).append(tensor)
            continue
        local = _local(tensor)
        if local.device.type not in ("meta", "xla"):
            flat = _flat(local)
            groups.setdefault((flat.device, flat.dtype), []).append(flat)
    norms: list[torch.Tensor] = []
    with torch.no_grad():
        for (device, dtype), group in groups.items():
            with torch.autocast(device.type, enabled=False):
                if dtype in _SUMMED:
                    norms.append(torch.stack(torch._foreach_norm(group)).sum())
                else:
                    # The norm of a narrow type may exceed its range.
                    is_narrow = dtype in (torch.float16, torch.bfloat16)
                    wide = [flat if is_narrow else flat.to(torch.float32) for flat in group]
                    norms.append(torch.stack([_norm(flat) for flat in wide]).sum())
    return all(math.isfinite(norm) for norm in fetch(norms) if norm is not None)


def norm_of(tensors: Iterable[torch.Tensor]) -> float | torch.Tensor | None:
    """Norm of all elements together; a tensor if one of them is on a device, which is not waited for.

    Of distributed tensors the part that is here counts. None if the norm needs a wait (sparse tensors on a device, of
    which several values may be one element), if there is nothing, and while a CUDA graph is captured.
    """
    if is_capturing():
        return None
    groups: dict[tuple[torch.device, torch.dtype], list[torch.Tensor]] = {}
    for tensor in tensors:
        if _is_plain(tensor):
            groups.setdefault((tensor.device, tensor.dtype), []).append(tensor)
            continue
        local = _local(tensor)
        if local.device.type in ("meta", "xla"):
            return None
        if local.layout == torch.sparse_coo and not local.is_coalesced():
            if not local.is_cpu:
                return None
            local = local.coalesce()
        flat = _flat(local)
        groups.setdefault((flat.device, flat.dtype), []).append(flat)
    if not groups:
        return None
    here, remote = 0.0, list[torch.Tensor]()
    with torch.no_grad():
        for (device, dtype), flats in groups.items():
            with torch.autocast(device.type, enabled=False):
                if device.type in HERE:
                    here = math.hypot(here, _norm_here(flats, dtype))
                else:
                    known = flats if dtype in _MIN_NORMAL and dtype.itemsize > 1 else [flat.float() for flat in flats]
                    norms = torch._foreach_norm(known, 2, dtype=_wide(device))
                    remote.append(torch.linalg.vector_norm(torch.stack(norms)))
        if not remote:
            return here
        together = [norm.to(remote[0].device, non_blocking=True) for norm in remote]
        total = torch.linalg.vector_norm(torch.stack(together))
        return total if here == 0 else torch.hypot(total, torch.full_like(total, here))


def _is_plain(tensor: torch.Tensor) -> bool:
    """True for a tensor in the memory of the processor whose norm is asked for as it is."""
    return type(tensor) in PLAIN and tensor.is_cpu and tensor.layout == torch.strided and tensor.dtype in _SUMMED


def _norm_here(flats: list[torch.Tensor], dtype: torch.dtype) -> float:
    """Norm of tensors in the memory of the processor."""
    parts: list[torch.Tensor] = []
    for flat in flats:
        parts.extend([flat] if flat.numel() <= NORM_ELEMENTS else torch.split(flat.reshape(-1), NORM_ELEMENTS))
    if dtype in _SUMMED:
        norms = list(torch._foreach_norm(parts))
    else:
        norms = [_norm(part if part.is_floating_point() and part.itemsize == 4 else part.float()) for part in parts]
    norm = float(torch.linalg.vector_norm(torch.stack(norms).double()))
    if math.isinf(norm) or norm < 1e-15:
        # Squares have left the range of 32 bits.
        norms = [torch.linalg.vector_norm(part.double()) for part in parts]
        norm = float(torch.linalg.vector_norm(torch.stack(norms)))
    return norm


def _norm(flat: torch.Tensor) -> torch.Tensor:
    norm: torch.Tensor = torch.linalg.vector_norm(flat, dtype=torch.float32)
    return norm


def is_capturing() -> bool:
    """True while a CUDA graph is captured: no operation may be added to it, and no event be asked."""
    is_initialized = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return bool(is_initialized and torch.cuda.is_current_stream_capturing())


def reduce_rows(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Counts and figures of each row of a matrix, on its device, without waiting.

    Counts (64-bit integers): NaN, +∞, −∞, zero, negative, positive, subnormal. Figures (f64, f32 on devices without
    it), of the finite elements: minimum, maximum, sum, sum of squares, sum of magnitudes; of none, +∞ and −∞ are
    minimum and maximum. Integers are read as f64. Sums that leave the range of f64 are infinite, NaN or 0: of squares, for
    elements beyond 1e±154.
    """
    wide = _wide(matrix.device)
    count, exponent = matrix.shape[1], _MIN_NORMAL.get(matrix.dtype)
    if count == 0:
        none = matrix.new_zeros((matrix.shape[0], 5), dtype=wide)
        none[:, 0], none[:, 1] = torch.inf, -torch.inf
        return matrix.new_zeros((matrix.shape[0], 7), dtype=torch.int64), none
    if exponent is None:
        matrix = matrix.to(wide)
    elif matrix.dtype not in (torch.float32, torch.float64):
        matrix = matrix.float()
    is_finite = torch.isfinite(matrix)
    clean = torch.where(is_finite, matrix, 0.0)
    magnitudes = clean.abs()
    finite = is_finite.sum(1)
    nan, positive_infinity = torch.isnan(matrix).sum(1), (matrix == torch.inf).sum(1)
    zero, negative = (clean == 0).sum(1) - (count - finite), (clean < 0).sum(1)
    subnormal = torch.zeros_like(zero)
    if exponent is not None:
        subnormal = (magnitudes < 2.0**exponent).sum(1) - (count - finite) - zero
    counts = [
        nan,
        positive_infinity,
        count - finite - nan - positive_infinity,
        zero,
        negative,
        finite - zero - negative,
        subnormal,
    ]
    figures = [
        torch.where(is_finite, matrix, torch.inf).amin(1).to(wide),
        torch.where(is_finite, matrix, -torch.inf).amax(1).to(wide),
        clean.sum(1, dtype=wide),
        clean.to(wide).square().sum(1),
        magnitudes.sum(1, dtype=wide),
    ]
    return torch.stack(counts, 1), torch.stack(figures, 1)


def merged(counts: list[list[int]], figures: list[list[float]], count: int, scale: float) -> tuple[float, ...]:
    """The 14 numbers of `Run._record_summary`, of the rows of the parts of a tensor; figures multiplied by `scale`.

    There is no hash: that of the other tensors is of their bytes, in an order that a device would have to keep.
    """
    sums = [sum(column) for column in zip(*counts, strict=True)]
    lows, highs, *rest = zip(*figures, strict=True)
    extremes = sorted((min(lows) * scale, max(highs) * scale))
    total, squares, magnitudes = (sum(column) for column in rest[:3])
    return (count, *sums, *extremes, total * scale, squares * scale * scale, magnitudes * abs(scale), 0)


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """The result of a collective that is under way, which its stream waits for; any other tensor as it is."""
    # A name that is missing costs a microsecond to look up.
    finish = None if type(tensor) in PLAIN else getattr(tensor, "trigger_wait", None)
    return tensor if finish is None else finish()


def is_shard(tensor: torch.Tensor) -> bool:
    """True for a distributed tensor of which each rank has other elements: it has no hash to compare between ranks."""
    placements = None if type(tensor) in PLAIN else getattr(tensor, "placements", None)
    if placements is None:
        return False
    sizes = tensor.device_mesh.shape  # type: ignore[attr-defined]
    return any(size > 1 and not placed.is_replicate() for size, placed in zip(sizes, placements, strict=True))


def _wide(device: torch.device) -> torch.dtype:
    """Widest floating point that a device has."""
    return torch.float32 if device.type == "mps" else torch.float64


def _local(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself, or the part of a distributed tensor that is here."""
    tensor = tensor.detach()
    to_local = getattr(tensor, "to_local", None)
    return tensor if to_local is None else whole(to_local())


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    """All elements in one axis, in any order; complex numbers as their parts, sparse tensors as their values."""
    if tensor.layout != torch.strided:
        tensor = tensor._values() if tensor.layout == torch.sparse_coo else tensor.values()
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    return tensor.reshape(-1)


def pinned(tensor: torch.Tensor) -> torch.Tensor:
    """A copy in memory that the device writes to while nothing waits."""
    return torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True).copy_(tensor, non_blocking=True)
