"""Messages of summaries that are computed from arrays: histograms with given bins, and meshes."""

from __future__ import annotations

import json
from typing import Any

from trainscope import _arrays
from trainscope import _protobuf as pb


def binned_histogram(tag: str, values: Any, bins: Any, max_bins: int | None) -> bytes:
    """A `Summary.Value` with the bins of `numpy.histogram`; field 1001 has the count of all other elements."""
    import numpy as np

    elements = _arrays.to_array(values).astype(np.float64).reshape(-1)
    if elements.size == 0:
        raise ValueError("a histogram of no elements")
    finite = elements[np.isfinite(elements)]
    counts, edges = np.histogram(finite, 64 if isinstance(bins, str) and bins == "tensorflow" else bins)
    if max_bins is not None and len(counts) > max_bins:
        first = np.arange(0, len(counts), -(-len(counts) // max_bins))
        counts, edges = np.add.reduceat(counts, first), np.append(edges[first], edges[-1])
    rows = np.column_stack((edges[:-1], edges[1:], counts)).astype("<f8")
    others = np.isnan(elements).sum(), np.isposinf(elements).sum(), np.isneginf(elements).sum()
    beside = b"".join(pb.integer(field, int(number)) for field, number in enumerate(others, 1))
    if finite.size:
        moments = finite.min(), finite.max(), finite.sum(), finite.dot(finite), finite.size
        beside += b"".join(pb.double(field, number) for field, number in enumerate(moments, 4))
    tensor = pb.tensor(pb.DT_DOUBLE, rows.shape, pb.data(4, rows.tobytes()))
    return pb.data(1, tag) + pb.metadata("histograms") + tensor + pb.data(1001, beside)


def mesh(tag: str, vertices: Any, colors: Any, faces: Any, settings: dict[str, Any] | None) -> bytes:
    """A `Summary` with a value for each part of a mesh: `vertices`, `faces` and `colors` of shape (B, N, 3)."""
    parts = ((1, "VERTEX", vertices), (2, "FACE", faces), (3, "COLOR", colors))
    arrays = [(kind, name, _arrays.to_array(part)) for kind, name, part in parts if part is not None]
    components = sum(1 << kind for kind, _, _ in arrays)
    config = "{}" if settings is None else json.dumps(settings, sort_keys=True)
    summary = b""
    for kind, name, array in arrays:
        if array.ndim != 3:
            raise ValueError(f"{name} of a mesh has three axes, not the shape {array.shape}")
        content = pb.data(2, tag) + pb.integer(3, kind) + pb.data(5, config)
        content += b"".join(pb.integer(6, size) for size in array.shape) + pb.integer(7, components)
        value = pb.data(1, f"{tag}_{name}") + pb.metadata("mesh", content) + pb.float_tensor(array)
        summary += pb.data(1, value)
    return summary
