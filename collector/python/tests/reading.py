"""Contents of a recorded run: statistics and graphs by `trainscope export`, scalars by TensorBoard, spans."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

ROOT = Path(__file__).parents[3]
PROGRAM = os.environ.get("TRAINSCOPE_PROGRAM", str(ROOT / "target" / "debug" / "trainscope"))

Row = dict[str, Any]


def export(folder: Path, kind: str) -> list[dict[str, str]]:
    """Rows of `trainscope export --format csv`; none if the run has nothing of this kind."""
    command = [PROGRAM, "export", str(folder), "--kind", kind, "--format", "csv", "-o", "-"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode != 0 and f"has recorded no {kind}" in done.stderr:
        return []
    assert done.returncode == 0, done.stdout + done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def statistics(folder: Path) -> dict[str, dict[int, Row]]:
    """Statistics by tensor and step; `times` is how often the step has the tensor, of which the last one counts."""
    rows: dict[str, dict[int, Row]] = defaultdict(dict)
    for row in export(folder, "statistics"):
        steps, step = rows[row["tag"]], int(row["step"])
        times = steps[step]["times"] + 1 if step in steps else 1
        steps[step] = {name: number(text) for name, text in row.items()} | {"times": times}
    return dict(rows)


def number(text: str) -> Any:
    """The number that the text is; the text itself if it is not a number, None if it is empty."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text or None


def graph(folder: Path, tag: str = "model") -> dict[str, dict[str, str]]:
    """Nodes of a graph by name, in their order. `inputs` are names, separated by spaces."""
    nodes = {row["name"]: row for row in export(folder, "graph") if row["tag"] == tag}
    for node in nodes.values():
        node["inputs"] = " ".join(name.removesuffix(":0") for name in node["inputs"].split())
    return nodes


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Points of each scalar as (step, value), as TensorBoard reads them."""
    events = EventAccumulator(str(folder), size_guidance={"tensors": 0, "scalars": 0}).Reload()
    return {tag: [(point.step, point.value) for point in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def notes(folder: Path) -> list[str]:
    """Texts of the notes."""
    return [
        value.tensor.string_val[0].decode()
        for event in _events(folder)
        for value in event.summary.value
        if value.tag == "notes"
    ]


def spans(folder: Path) -> list[tuple[str, int, int]]:
    """Spans as (name, step, duration in ns), in the order of their ends. The bytes: `FORMAT.md`, *Profile*."""
    found: list[tuple[str, int, int]] = []
    for event in _events(folder):
        for value in event.summary.value:
            if value.tag != "spans":
                continue
            # Field 1002 of the value is what TensorBoard does not know; field 5 of it a profile.
            for record in _fields(value.SerializeToString())[1002]:
                for profile in _fields(record)[5]:
                    fields = _fields(profile)
                    names = [name.decode() for name in fields[1]]
                    numbers = [list(_varints(b"".join(fields[key]))) for key in (3, 5, 7)]
                    step = 0
                    for name, difference, duration in zip(*_padded(numbers), strict=True):
                        step += (difference >> 1) ^ -(difference & 1)
                        found.append((names[name], step, duration))
    return found


def profile(folder: Path) -> dict[str, Any]:
    """The session of the spans, as `trainscope export --kind profile` has it."""
    command = [PROGRAM, "export", str(folder), "--kind", "profile", "--format", "json", "-o", "-"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    (session,) = json.loads(done.stdout)["sessions"]
    return dict(session)


def _events(folder: Path) -> Iterator[Any]:
    for path in sorted(folder.rglob("*tfevents*")):
        yield from EventFileLoader(str(path)).Load()


def _padded(columns: list[list[int]]) -> list[list[int]]:
    """Columns of equal length: one that is left out is all zeros."""
    longest = max(map(len, columns))
    return [column or [0] * longest for column in columns]


def _varints(data: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def _fields(message: bytes) -> dict[int, list[Any]]:
    """Fields of a protobuf message by number: numbers, or bytes."""
    fields: dict[int, list[Any]] = defaultdict(list)
    at = 0

    def varint() -> int:
        nonlocal at
        end = at
        while message[end] >= 128:
            end += 1
        value = next(_varints(message[at : end + 1]))
        at = end + 1
        return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            fields[key >> 3].append(varint())
        else:
            length = {1: 8, 5: 4}.get(key & 7) or varint()
            fields[key >> 3].append(message[at : at + length])
            at += length
    return fields
