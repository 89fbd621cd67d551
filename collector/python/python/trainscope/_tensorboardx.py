"""`SummaryWriter` as users of tensorboardX call it; `trainscope.tensorboard.install` puts it there."""

from __future__ import annotations

import importlib
import json
import time
from pathlib import Path
from typing import Any

from trainscope._event_file import FileWriter
from trainscope._lost import guarded
from trainscope._summary_writer import SummaryWriter


def _do_nothing(*_: object, **__: object) -> None:
    """Method of a writer that writes nothing."""


class _NoFileWriter(FileWriter):
    """`FileWriter` that writes nothing, for `write_to_disk=False`."""

    _run: Any = None
    reopen = add_event = add_summary = add_graph = add_onnx_graph = flush = close = _do_nothing


class TensorboardXWriter(SummaryWriter):
    """`SummaryWriter` with the parameters and attributes of tensorboardX, where they are not those of torch."""

    def __init__(
        self,
        logdir: str | Path | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
        write_to_disk: bool = True,
        log_dir: str | Path | None = None,
        comet_config: object = None,
        **_: object,
    ) -> None:
        self.scalar_dict: dict[str, list[Any]] = {}
        self._writes = write_to_disk
        if not write_to_disk:
            purge_step = None
            for name in dir(type(self)):
                if name.startswith(("add_", "export_")):
                    setattr(self, name, _do_nothing)
        super().__init__(logdir or log_dir, comment, purge_step, max_queue, flush_secs, filename_suffix)
        self.logdir = self.log_dir

    def add_scalar(  # type: ignore[override]
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        display_name: str = "",
        summary_description: str = "",
    ) -> None:
        """Records a number; its title and description are not recorded."""
        super().add_scalar(tag, scalar_value, global_step, walltime)

    @guarded
    def add_scalars(
        self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Records lines of one chart in folders `<main_tag>/<tag>`, and keeps them for `export_scalars_to_json`."""
        walltime = time.time() if walltime is None else walltime
        super().add_scalars(main_tag, tag_scalar_dict, global_step, walltime)
        for tag, value in tag_scalar_dict.items():
            folder = self._get_line_writer(main_tag, tag).get_logdir()
            self.scalar_dict.setdefault(folder, []).append([walltime, global_step, float(value)])

    @guarded
    def export_scalars_to_json(self, path: str | Path) -> None:
        """Writes the records of `add_scalars` as JSON, and forgets them."""
        Path(path).write_text(json.dumps(self.scalar_dict), encoding="utf-8")
        self.scalar_dict = {}

    @guarded
    def add_hparams(  # type: ignore[override]
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """Records hyper-parameters and the metrics they led to, in a new folder, named by time or `name`."""
        super().add_hparams(hparam_dict, metric_dict, None, name, global_step)

    @guarded
    def add_image_with_boxes(  # type: ignore[override]
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
        labels: Any = None,
        rescale: float = 1,
        **_: object,
    ) -> None:
        """Records an image with red rectangles: N rows of left, top, right, bottom, in pixels. Needs PIL."""
        super().add_image_with_boxes(tag, img_tensor, box_tensor, global_step, walltime, rescale, dataformats, labels)

    @guarded
    def add_video(
        self,
        tag: str,
        vid_tensor: Any,
        global_step: Any = None,
        fps: float = 4,
        walltime: float | None = None,
        dataformats: str = "NTCHW",
    ) -> None:
        """Records videos beside each other as one animated PNG, among the images; `dataformats` orders their axes."""
        self._add_video(tag, vid_tensor, global_step, fps, walltime, dataformats)

    @guarded
    def add_openvino_graph(self, xmlname: str) -> None:
        """Records the graph of an OpenVINO file, as tensorboardX reads it."""
        reader = importlib.import_module("tensorboardX.openvino_graph")
        self._get_file_writer().add_onnx_graph(reader.load_openvino_graph(xmlname))

    def _name_line(self, main_tag: str, tag: str) -> str:
        return f"{main_tag}/{tag}"

    def _get_other_writer(self, folder: str | Path) -> FileWriter:
        return super()._get_other_writer(folder) if self._writes else _NoFileWriter(folder)
