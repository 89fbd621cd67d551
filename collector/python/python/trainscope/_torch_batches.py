"""Figures of the inputs and targets of a training, over the batches that were looked at."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import torch

MAX_READ = 1 << 16
"""Elements of a tensor that are read."""

MAX_FEATURES = 2048
"""Features whose sizes and correlations are measured."""

MAX_CLASSES = 1 << 16
"""Labels that are counted; higher ones count as one."""

MAX_HASHES = 1024

Numbers = dict[str, float]


class Inputs:
    """One input of a model: how many of its batches differ, and the sizes of its features."""

    def __init__(self) -> None:
        self._batches = 0
        self._hashes = set[bytes]()
        self._largest, self._smallest = 0.0, math.inf

    def add(self, tensor: torch.Tensor | None) -> None:
        """Adds a batch."""
        if tensor is None or tensor.numel() == 0:
            return
        self._batches += 1
        if len(self._hashes) < MAX_HASHES:
            self._hashes.add(_hash_of(tensor))
        if tensor.is_floating_point() and tensor.ndim > 1:
            sizes = _features(tensor).square().mean(0).sqrt()
            sizes = sizes[sizes > 0]
            if sizes.numel():
                self._largest = max(self._largest, float(sizes.max()))
                self._smallest = min(self._smallest, float(sizes.min()))

    def numbers(self) -> Numbers:
        """The fact."""
        numbers = {"batches": float(self._batches), "different": float(len(self._hashes))}
        if self._largest > 0:
            numbers |= {"largest_rms": self._largest, "smallest_rms": self._smallest}
        return numbers


class LayerInput:
    """Numbers that the first layer of a model gets: their range, and whether they are whole, as bytes are."""

    def __init__(self) -> None:
        self._batches = self._features = 0
        self._lowest, self._highest = math.inf, -math.inf
        self._are_whole = True

    def add(self, tensor: torch.Tensor | None) -> None:
        """Adds a batch."""
        if tensor is None or tensor.numel() == 0 or tensor.ndim < 2:
            return
        part = _first(tensor).float()
        self._batches += 1
        self._features = tensor[0].numel()
        lowest, highest = torch.aminmax(part)
        self._lowest, self._highest = min(self._lowest, float(lowest)), max(self._highest, float(highest))
        self._are_whole = self._are_whole and bool((part == part.round()).all())

    def numbers(self) -> Numbers:
        """The fact."""
        numbers: Numbers = {"batches": self._batches}
        if self._batches:
            numbers |= {
                "lowest": self._lowest, "highest": self._highest, "whole": float(self._are_whole), "features": self._features,
            }  # fmt: skip
        return numbers


class Targets:
    """Targets of one loss function: their labels, and how they follow from the inputs."""

    def __init__(self) -> None:
        self._batches = self._labels = self._of_one = self._ignored = self._positions = 0
        self._counts = torch.zeros(0, dtype=torch.int64)
        # Batches of numbers that are no labels: beside them, those that are whole say nothing of classes.
        self._without_labels = 0
        # Sums over batches of the shares of targets that equal the inputs 0, 1, 2 positions later.
        self._equal = [0.0, 0.0, 0.0]
        self._compared = 0
        self._trailing = 0.0
        self._sums: _Sums | None = None

    def add(
        self,
        target: torch.Tensor | None,
        inputs: torch.Tensor | None,
        ignored: int | None,
        others: tuple[torch.Tensor | None, ...] = (),
    ) -> None:
        """Adds the targets of a batch, its main input where it is known, and other inputs that may be tokens."""
        if target is None or target.numel() == 0:
            return
        self._batches += 1
        flat = target[: max(1, MAX_READ * len(target) // target.numel())] if target.ndim else target
        if inputs is not None:
            inputs = inputs[: len(flat)] if inputs.ndim and flat.ndim and len(inputs) == len(target) else inputs
        if _are_labels(flat):
            self._add_labels(flat, ignored)
            tokens = [inputs, *(one[: len(flat)] for one in others if one is not None and one.ndim and flat.ndim)]
            self._compare(flat, [one for one in tokens if one is not None and not one.is_floating_point()], ignored)
        else:
            self._without_labels += 1
        if inputs is not None and inputs.is_floating_point() and inputs.ndim > 1:
            self._correlate(flat, inputs)

    def _add_labels(self, target: torch.Tensor, ignored: int | None) -> None:
        labels = target.flatten().long()
        counted = labels[labels >= 0] if ignored is None else labels[(labels != ignored) & (labels >= 0)]
        self._ignored += labels.numel() - counted.numel()
        self._positions += labels.numel()
        self._labels += counted.numel()
        if counted.numel() == 0:
            return
        counts = torch.bincount(counted.clamp(max=MAX_CLASSES))
        self._of_one += counted.numel() > 8 and int((counts > 0).sum()) == 1
        size = max(len(counts), len(self._counts))
        self._counts = _longer(self._counts, size) + _longer(counts, size)

    def _compare(self, target: torch.Tensor, tokens: list[torch.Tensor], ignored: int | None) -> None:
        def fits(one: torch.Tensor) -> bool:
            elements = target.numel()
            return bool(one.ndim == 2 and elements % max(1, len(one)) == 0 and elements >= len(one) * 3 > 0)

        tokens = [one for one in tokens if fits(one)]
        if not tokens:
            return
        rows = target.reshape(len(tokens[0]), -1)
        is_counted = rows >= 0 if ignored is None else (rows != ignored) & (rows >= 0)
        # Of a source and its translation, the targets follow from the one that they continue.
        shares = [_shares(rows, one, is_counted) for one in tokens if len(one) == len(rows)]
        nearest = max(shares, key=lambda of: of[1])
        for shift, share in enumerate(nearest):
            self._equal[shift] += share
        self._compared += 1
        # Targets at the end of a row that are all the same.
        is_last = (rows == rows[:, -1:]) & is_counted
        runs = is_last.flip(1).long().cumprod(1).sum(1)
        self._trailing += float(torch.where(runs > 1, runs, 0).sum()) / max(1, int(is_counted.sum()))

    def _correlate(self, target: torch.Tensor, inputs: torch.Tensor) -> None:
        values = target.flatten().float()
        features = _features(inputs)
        if len(features) != len(values) or len(values) < 2 or features.shape[1] > MAX_FEATURES:
            return
        if self._sums is None or self._sums.width != features.shape[1]:
            self._sums = _Sums(features.shape[1])
        self._sums.add(features, values)

    def numbers(self) -> Numbers:
        """The fact."""
        numbers: Numbers = {"batches": self._batches}
        if self._labels and not self._without_labels:
            most = int(self._counts.argmax())
            numbers |= {
                "labels": self._labels,
                "classes_seen": int((self._counts > 0).sum()),
                "most_common_share": float(self._counts[most]) / self._labels,
                "most_common": most,
                "batches_of_one_label": self._of_one,
            }
        if self._positions:
            numbers["padding"] = self._ignored / self._positions
        if self._compared:
            numbers |= {f"equal_{shift}": total / self._compared for shift, total in enumerate(self._equal)}
            numbers["trailing"] = self._trailing / self._compared
        if self._sums is not None:
            feature, correlation = self._sums.largest()
            numbers |= {"correlation": correlation, "feature": feature, "samples": self._sums.count}
        return numbers


class _Sums:
    """Sums for the correlation of each feature with the targets."""

    def __init__(self, width: int) -> None:
        self.width, self.count = width, 0
        self._x, self._xx, self._xy = (torch.zeros(width, dtype=torch.float64) for _ in range(3))
        self._y = self._yy = 0.0

    def add(self, features: torch.Tensor, values: torch.Tensor) -> None:
        wide, targets = features.double(), values.double()
        self._x += wide.sum(0)
        self._xx += wide.square().sum(0)
        self._xy += targets @ wide
        self._y += float(targets.sum())
        self._yy += float(targets.square().sum())
        self.count += len(values)

    def largest(self) -> tuple[int, float]:
        """Feature with the largest correlation, and that; 0 of what does not change."""
        n = self.count
        spread = (n * self._xx - self._x.square()) * (n * self._yy - self._y**2)
        scale = (n * self._xx).abs() * abs(n * self._yy)
        r = (n * self._xy - self._x * self._y).abs() / spread.clamp(min=0).sqrt()
        r = torch.where(spread > 1e-10 * scale, r, 0.0).nan_to_num(0.0)
        at = int(r.argmax()) if r.numel() else 0
        return at, float(r[at]) if r.numel() else 0.0


def _shares(rows: torch.Tensor, tokens: torch.Tensor, is_counted: torch.Tensor) -> list[float]:
    """Shares of targets that equal the tokens 0, 1, 2 positions later."""
    length = min(rows.shape[1], tokens.shape[1])
    shares = [0.0, 0.0, 0.0]
    for shift in range(3):
        mask = is_counted[:, : length - shift]
        if bool(mask.any()):
            equal = rows[:, : length - shift] == tokens[:, shift:length]
            shares[shift] = float(equal[mask].float().mean())
    return shares


def rms_of(tensor: torch.Tensor) -> float:
    """Root of the mean square, of the first elements of a large tensor."""
    part = _first(tensor)
    if part.numel() == 0:
        return 0.0
    part = part.abs() if part.is_complex() else part
    return float(part.double().square().mean().sqrt())


def share_of_negative(tensor: torch.Tensor) -> float:
    """Share of negative elements."""
    part = _first(tensor)
    return float((part < 0).double().mean()) if part.numel() and not part.is_complex() else 0.0


def range_of_rows(logarithms: torch.Tensor, dimension: int) -> float | None:
    """Largest difference between the logarithms of the probabilities of two classes for one sample."""
    if logarithms.numel() > MAX_READ or logarithms.numel() == 0 or not -logarithms.ndim <= dimension < logarithms.ndim:
        return None
    return float((logarithms.amax(dimension) - logarithms.amin(dimension)).max())


def _first(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.numel() > MAX_READ and tensor.ndim:
        tensor = tensor[: max(1, len(tensor) * MAX_READ // tensor.numel())]
    return tensor


def _features(tensor: torch.Tensor) -> torch.Tensor:
    """Samples by features, the first ones of many, in single precision."""
    flat = tensor[: max(2, MAX_READ * len(tensor) // tensor.numel())].flatten(1)
    return flat[:, :MAX_FEATURES].float()


def _are_labels(target: torch.Tensor) -> bool:
    """True for integers, also as numbers of another type: 0 and 1."""
    if target.is_complex():
        return False
    if not target.is_floating_point():
        return True
    return target.ndim <= 2 and bool(((target == 0) | (target == 1)).all())


def _longer(counts: torch.Tensor, size: int) -> torch.Tensor:
    return torch.nn.functional.pad(counts, (0, size - len(counts)))


def _hash_of(tensor: torch.Tensor) -> bytes:
    part = _first(tensor).contiguous()
    if part.is_complex():
        part = torch.view_as_real(part.resolve_conj())
    content: Any = part.reshape(-1).view(torch.uint8).numpy()
    return hashlib.blake2b(memoryview(content), digest_size=8).digest()
