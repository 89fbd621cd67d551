"""Embeddings for the projector of TensorBoard, as text files and a picture below the folder of a writer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trainscope import _arrays


def checked(
    mat: Any, metadata: Sequence[Any] | None, label_img: Any, metadata_header: Sequence[str] | None
) -> tuple[Any, Any]:
    """Points and images as arrays. Raises ValueError if their numbers differ from each other or from the metadata."""
    points = _arrays.to_array(mat)
    images = None if label_img is None else _arrays.to_array(label_img)
    if points.ndim != 2:
        raise ValueError(f"an embedding has two axes, not the shape {points.shape}")
    for name, items in (("metadata", metadata), ("label_img", images)):
        if items is not None and len(items) != len(points):
            raise ValueError(f"{len(items)} {name} for {len(points)} points")
    if metadata is not None and metadata_header and len(metadata[0]) != len(metadata_header):
        raise ValueError(f"metadata of {len(metadata[0])} columns, metadata_header of {len(metadata_header)}")
    return points, images


def write(
    base: Path,
    step: int,
    tag: str,
    points: Any,
    images: Any,
    metadata: Sequence[Any] | None,
    metadata_header: Sequence[str] | None,
) -> dict[str, Any]:
    """Writes the files of an embedding into `<step>/<tag>` below `base`, and returns its entry in the configuration."""
    number = str(step).zfill(5)
    place = f"{number}/{_encode(tag)}"
    folder = base / place
    folder.mkdir(parents=True, exist_ok=True)
    info: dict[str, Any] = {"tensor_name": f"{tag}:{number}", "tensor_path": f"{place}/tensors.tsv"}
    _write_rows(folder / "tensors.tsv", points.tolist())
    if metadata is not None:
        rows = [metadata_header, *metadata] if metadata_header else [[label] for label in metadata]
        _write_rows(folder / "metadata.tsv", rows)
        info["metadata_path"] = f"{place}/metadata.tsv"
    if images is not None:
        from PIL import Image

        Image.fromarray(_arrays.to_sprite(images)).save(folder / "sprite.png")
        size = [images.shape[3], images.shape[2]]
        info["sprite"] = {"image_path": f"{place}/sprite.png", "single_image_dim": size}
    return info


def _encode(tag: str) -> str:
    """Name of a folder for a tag: `%`, `/` and `\\` become their codes, as in torch."""
    return tag.replace("%", "%25").replace("/", "%2f").replace("\\", "%5c")


def _write_rows(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    """Writes rows of values with tabs between them."""
    lines = ("\t".join(map(str, row)) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")
