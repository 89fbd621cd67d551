"""Event files as TensorBoard reads them: the values of a folder, in a form that is the same for every writer."""

import io
import os
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.compat.proto import types_pb2
from tensorboard.util import tensor_util


class Value(NamedTuple):
    """A value of an event; `array` is its tensor, as which TensorBoard sees scalars, images and sounds too."""

    step: int
    wall_time: float
    plugin: str
    content: bytes
    array: Any


def read_events(folder: Path) -> list[Any]:
    """Events of all event files directly in a folder, in the order of the names of the files."""
    paths = sorted(str(path) for path in Path(folder).iterdir() if "tfevents" in path.name)
    assert paths, f"no event file in {folder}: {os.listdir(folder)}"
    return [event for path in paths for event in EventFileLoader(path).Load()]


def read_tensor(tensor: Any) -> Any:
    """Elements of a tensor; bfloat16, which NumPy does not have, as float32."""
    if tensor.dtype == types_pb2.DT_BFLOAT16:
        return (np.frombuffer(tensor.tensor_content, "<u2").astype(np.uint32) << 16).view(np.float32)
    return tensor_util.make_ndarray(tensor)


def read(folder: Path) -> dict[str, list[Value]]:
    """Values by tag."""
    values: dict[str, list[Value]] = defaultdict(list)
    plugins: dict[str, Any] = {}
    for event in read_events(folder):
        for value in event.summary.value:
            data = plugins.setdefault(value.tag, value.metadata.plugin_data)
            array = read_tensor(value.tensor) if value.tensor.dtype else None
            values[value.tag].append(Value(event.step, event.wall_time, data.plugin_name, data.content, array))
    return dict(values)


def read_points(folder: Path) -> dict[str, list[tuple[int, float, str]]]:
    """Step, time and value (as text, so that NaN equals NaN) of every scalar."""
    return {
        tag: [(value.step, value.wall_time, repr(float(value.array))) for value in values]
        for tag, values in read(folder).items()
        if values[0].plugin == "scalars"
    }


def read_images(folder: Path) -> dict[str, list[Any]]:
    """Pixels (H, W, 3) of every image, without transparency."""
    return {tag: [np.asarray(image.convert("RGB")) for image in images] for tag, images in open_images(folder).items()}


def open_images(folder: Path) -> dict[str, list[Any]]:
    """Images as PIL opens them, with transparency and frames."""
    images: dict[str, list[Any]] = defaultdict(list)
    for tag, values in read(folder).items():
        for value in values:
            if value.plugin == "images":
                images[tag] += [Image.open(io.BytesIO(encoded)) for encoded in value.array[2:]]
    return dict(images)
