"""Arrays arranged as TensorBoard shows them: grids of images, frames of videos, boxes, figures, precision and recall.

NumPy is imported when the first array comes; matplotlib and PIL are, where one of their objects is made or drawn on.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Bytes = NDArray[np.uint8]


def to_array(values: Any) -> Array:
    """Elements as a NumPy array: a view where the framework gives one. bfloat16 of torch becomes float32."""
    import numpy as np

    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if str(values.dtype) == "torch.bfloat16" else values
        return np.asarray(values.resolve_conj().resolve_neg().numpy())
    return np.asarray(values)


def to_bytes(values: Array) -> Bytes:
    """Brightness from 0 to 255: bytes as they are, everything else from 0 to 1, as torch does. NaN is black."""
    import numpy as np

    if values.dtype == np.uint8:
        return values
    with np.errstate(all="ignore"):
        return np.nan_to_num(values.astype(np.float32) * 255).clip(0, 255).astype(np.uint8)


def to_image(values: Any, axes: str) -> Bytes:
    """Pixels of shape (H, W, C), of an array whose axes are given as any order of `HW`, `CHW` or `NCHW`.

    A batch becomes a grid of eight columns. Raises ValueError if the axes are not those of the array.
    """
    array, axes = to_array(values), axes.upper()
    if sorted(axes) not in (["H", "W"], ["C", "H", "W"], ["C", "H", "N", "W"]):
        raise ValueError(f"dataformats {axes!r} is no order of HW, CHW or NCHW")
    if array.ndim != len(axes):
        raise ValueError(f"an image of shape {array.shape} has not the axes {axes}")
    array = array.transpose([axes.index(axis) for axis in "NHWC" if axis in axes])
    if array.ndim == 2:
        array = array[:, :, None]
    return to_bytes(to_grid(array, 8) if array.ndim == 4 else array)


def to_grid(images: Array, columns: int) -> Array:
    """Images (N, H, W, C) beside and below each other; what is left of the last row is black."""
    import numpy as np

    number, height, width, channels = images.shape
    columns = min(number, columns)
    rows = math.ceil(number / columns)
    cells = np.zeros((rows * columns, height, width, channels), images.dtype)
    cells[:number] = images
    cells = cells.reshape(rows, columns, height, width, channels).swapaxes(1, 2)
    return cells.reshape(rows * height, columns * width, channels)


def to_sprite(images: Any) -> Bytes:
    """Images (N, C, H, W) as the picture of the projector: `ceil(sqrt(N))` in a row, three channels, at least as high
    as wide."""
    import numpy as np

    batch = to_bytes(to_array(images)).transpose(0, 2, 3, 1)
    grid = to_grid(batch, math.ceil(len(batch) ** 0.5))
    sprite = np.zeros((max(grid.shape[:2]), grid.shape[1], 3), np.uint8)
    sprite[: len(grid)] = grid
    return sprite


def to_frames(videos: Any, axes: str) -> Bytes:
    """Frames (T, H, W, C) of a batch whose axes are given as an order of `NTCHW`; the videos of a batch form a grid.

    The grid is that of torch: their number filled up to a power of two, at least as wide as high.
    """
    import numpy as np

    batch = to_bytes(to_array(videos))
    if sorted(axes) != sorted("NTCHW") or batch.ndim != 5:
        raise ValueError(f"a video of shape {batch.shape} has not the axes {axes}")
    batch = batch.transpose([axes.index(axis) for axis in "NTHWC"])
    number, frames, height, width, channels = batch.shape
    rows = 1 << (number.bit_length() - 1) // 2
    columns = (1 << (number - 1).bit_length()) // rows
    cells = np.zeros((rows * columns, *batch.shape[1:]), np.uint8)
    cells[:number] = batch
    cells = cells.reshape(rows, columns, frames, height, width, channels).transpose(2, 0, 3, 1, 4, 5)
    return cells.reshape(frames, rows * height, columns * width, channels)


def draw_boxes(image: Bytes, boxes: Array, labels: Sequence[str] | None, scale: float) -> Bytes:
    """Copy of an image with red rectangles (left, top, right, bottom), in pixels, and their labels; then scaled."""
    import numpy as np
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.fromarray(np.repeat(image, 3, 2) if image.shape[2] == 1 else image)
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default()
    for index, (left, top, right, bottom) in enumerate(boxes.tolist()):
        corners = [(left, top), (left, bottom), (right, bottom), (right, top), (left, top)]
        draw.line(corners, width=2, fill="red")
        if labels and labels[index]:
            x0, y0, x1, y1 = font.getbbox(labels[index])
            width, height = x1 - x0, y1 - y0
            margin = math.ceil(0.05 * height)
            draw.rectangle([(left, bottom - height - 2 * margin), (left + width, bottom)], fill="red")
            draw.text((left + margin, bottom - height - margin), labels[index], fill="black", font=font)
    size = int(picture.width * scale), int(picture.height * scale)
    return np.asarray(picture if scale == 1 else picture.resize(size, Image.Resampling.LANCZOS))


def draw_figure(figure: Any, close: bool) -> Bytes:
    """Pixels (H, W, 3) of a figure of matplotlib, which is closed afterwards if `close`."""
    import numpy as np

    canvas = importlib.import_module("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.array(canvas.buffer_rgba())[:, :, :3]
    if close:
        importlib.import_module("matplotlib.pyplot").close(figure)
    return pixels


def compute_curve(labels: Any, predictions: Any, thresholds: int, weights: Any) -> Array:
    """True positives, false positives, true negatives, false negatives, precision and recall, one row each.

    A column is a threshold: 0 to 1 in equal steps. Predictions outside of 0 to 1 are not counted.
    """
    import numpy as np

    positive = to_array(labels).astype(np.float64)
    weight = 1.0 if weights is None else to_array(weights)
    with np.errstate(invalid="ignore"):
        index = np.floor(to_array(predictions) * (thresholds - 1)).astype(np.int32)

    def counts_above(amounts: Array) -> Array:
        counts, _ = np.histogram(index, bins=thresholds, range=(0, thresholds - 1), weights=amounts)
        return counts[::-1].cumsum()[::-1]

    true, false = counts_above(positive * weight), counts_above((1 - positive) * weight)
    # 1e-7: the least count to divide by, as in TensorBoard.
    precision = true / np.maximum(1e-7, true + false)
    recall = true / np.maximum(1e-7, true[0])
    return np.stack((true, false, false[0] - false, true[0] - true, precision, recall))
