"""One event file in a folder: messages of TensorBoard as they are given."""

from __future__ import annotations

import os
import re
import time
import weakref
from pathlib import Path
from typing import Any

from trainscope import _protobuf as pb
from trainscope._lost import guarded
from trainscope.run import Run


class FileWriter:
    """One event file in a folder, which takes messages of TensorBoard: any with `SerializeToString`, or its bytes.

    `max_queue` has no effect. Records wait in memory for half a second at most, or `flush_secs` if that is less.
    Raises OSError if the folder cannot be made.
    """

    def __init__(
        self, log_dir: str | Path, max_queue: int = 10, flush_secs: float = 120, filename_suffix: str = ""
    ) -> None:
        self._folder = str(log_dir)
        # Once: `reopen` makes a file in the same folder wherever the process is then.
        self._path = in_folder(working_folder(), self._folder)
        self._options = {"flush_every": min(0.5, float(flush_secs)), "file_suffix": filename_suffix}
        self._is_open = False
        self.reopen()

    def reopen(self) -> None:
        """Begins a new file in the same folder after `close`; nothing if the file is open."""
        if not self._is_open:
            self._run = Run(self._path, **self._options)
            self._is_open = True
            weakref.finalize(self, self._run.finish)

    def get_logdir(self) -> str:
        """Folder of the file."""
        return self._folder

    @guarded
    def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
        """Writes an `Event` with the time `walltime` (seconds since 1970; now if None), and `step` if it is given."""
        self._write(_bytes(event), step, walltime)

    @guarded
    def add_summary(self, summary: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Writes a `Summary` as an event."""
        self._write(pb.data(5, _bytes(summary)), global_step, walltime)

    @guarded
    def add_graph(self, graph_profile: tuple[Any, Any], walltime: float | None = None) -> None:
        """Writes a `GraphDef` and its `RunMetadata`."""
        graph, metadata = graph_profile
        self._write(pb.data(4, _bytes(graph)), None, walltime)
        self._write(pb.data(8, pb.data(1, "step1") + pb.data(2, _bytes(metadata))), None, walltime)

    @guarded
    def add_onnx_graph(self, graph: Any, walltime: float | None = None) -> None:
        """Writes a `GraphDef`."""
        self._write(pb.data(4, _bytes(graph)), None, walltime)

    def flush(self) -> None:
        """Writes the records that wait in memory to the file."""
        self._run.flush()

    def close(self) -> None:
        """Writes the records that wait in memory, and ends the file. Twice is fine."""
        self._is_open = False
        self._run.finish()

    def _write(self, event: bytes, step: Any, walltime: float | None) -> None:
        """Writes a serialized `Event`; time and step come last, so they win over those in it."""
        event += pb.double(1, time.time() if walltime is None else float(walltime))
        if step is not None:
            event += pb.integer(2, int(step))
        self._run._raw_event(event)


def working_folder() -> str:
    """Folder of the process; empty if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def in_folder(base: str, folder: str) -> str:
    """The folder in `base` if it is relative. An address (`s3://bucket/run`, or `s3:/bucket/run` as a path) stays as it
    is: `Run` refuses it."""
    return folder if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", folder) else os.path.join(base, folder)


def _bytes(message: Any) -> bytes:
    """Serialized message; bytes are taken as such."""
    return message if isinstance(message, bytes) else bytes(message.SerializeToString())
