"""Numbers that are on another device."""

from __future__ import annotations

from typing import Any


def fetch(tensors: list[Any]) -> list[float | None]:
    """Values of tensors with one element each, in one transfer for each device; `None` for one that has no value.

    Waits for the device.
    """
    import torch

    values: list[float | None] = [None] * len(tensors)
    by_device: dict[Any, list[int]] = {}
    for index, tensor in enumerate(tensors):
        if tensor.numel() == 1 and tensor.device.type != "meta":
            by_device.setdefault(tensor.device, []).append(index)
    with torch.no_grad():
        for device, indices in by_device.items():
            # Metal has no 64-bit floating point.
            dtype = torch.float32 if device.type == "mps" else torch.float64
            row = torch.stack([tensors[index].reshape(()).to(dtype) for index in indices])
            for index, value in zip(indices, row.cpu().tolist(), strict=True):
                values[index] = value
    return values
