"""`SummaryWriter` with the methods of `torch.utils.tensorboard.SummaryWriter`, recorded by this package.

Neither torch nor tensorboard is needed. NumPy is imported when arrays are to be arranged: images, videos, boxes,
embeddings, curves, meshes, and histograms with given edges; PIL for boxes and sprites; matplotlib for figures.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import socket
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from trainscope import _protobuf as pb
from trainscope._elsewhere import Elsewhere
from trainscope._event_file import FileWriter, in_folder, working_folder
from trainscope._lost import guarded
from trainscope.run import Run


class SummaryWriter:
    """Records into a folder, with the methods of `torch.utils.tensorboard.SummaryWriter`.

    The folder is `log_dir`, by default `runs/<time>_<host><comment>`. Events from `purge_step` on that an earlier
    writer left in it are superseded. `max_queue` has no effect; records are in the file after half a second at most, or
    `flush_secs` if that is less. `filename_suffix` ends the name of the file.

    A `global_step` of None is step 0, as in torch; a `walltime` is in seconds since 1970, None means now. Arrays are
    NumPy's, torch's, or anything else that NumPy can read; those on a GPU are waited for. Methods never raise: losses
    are counted and warned of once. After `close`, the next call begins a new file. Raises OSError if the folder cannot
    be made.
    """

    _run: Run
    file_writer: FileWriter | None = None
    all_writers: dict[str, FileWriter] | None = None

    def __init__(
        self,
        log_dir: str | Path | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            begin = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{begin}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self._base = working_folder()
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self._embeddings: list[dict[str, Any]] = []
        self._get_file_writer()

    def get_logdir(self) -> str | Path:
        """Folder of the event file, as it was given."""
        return self.log_dir

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Records a number; NaN and infinities are kept. Takes 0.3 µs.

        It is exact with and without `double_precision`: as 32 bits for other readers, with 64 bits beside them if
        they differ.
        """
        try:
            if type(global_step) is not int:
                global_step = _step(global_step)
            if self.file_writer is None:
                self._get_file_writer()
            if not tag or type(scalar_value) is str:
                self._add_odd_scalar(tag, scalar_value, global_step, walltime)
            else:
                self._run.scalar(tag, scalar_value, global_step, wall_time=walltime)
        except Exception as error:  # the decorator for this would take as long as the recording
            self._run._count_invalid(f"add_scalar: {error}")

    def _add_odd_scalar(self, tag: str, value: Any, step: int, walltime: float | None) -> None:
        """Adds a number given as text, or under an empty tag: torch accepts both."""
        value = float(value)
        if tag:
            self._run.scalar(tag, value, step, wall_time=walltime)
        else:
            self._add_value(pb.data(1, "") + pb.single(2, value), step, walltime)

    @guarded
    def add_scalars(
        self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Records lines of one chart, each into a file in another folder: `<main_tag with _>_<tag>`."""
        walltime = time.time() if walltime is None else walltime
        step = _step(global_step)
        self._get_file_writer()
        for tag, value in tag_scalar_dict.items():
            self._get_line_writer(main_tag, tag)._run.scalar(main_tag, value, step, wall_time=walltime)

    @guarded
    def add_tensor(self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Records all elements of a tensor."""
        self._open_run().values(tag, tensor, _step(global_step), wall_time=walltime)

    @guarded
    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Any = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Records how many elements fall into each bin; NaN and infinities are counted beside.

        `bins`: "tensorflow" for 64 equal bins from the smallest to the largest element, or an argument of
        `numpy.histogram`: a number, edges, a name of a rule. Neighbours are joined if there are more than `max_bins`.
        """
        if max_bins is None and isinstance(bins, str) and bins == "tensorflow":
            self._open_run().histogram(tag, values, _step(global_step), wall_time=walltime)
        else:
            from trainscope import _summary_values

            self._add_value(_summary_values.binned_histogram(tag, values, bins, max_bins), global_step, walltime)

    @guarded
    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: float,
        sum: float,
        sum_squares: float,
        bucket_limits: Sequence[float],
        bucket_counts: Sequence[float],
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Records a histogram that was made elsewhere: upper edges of its bins, and how many values each has."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError(f"{len(bucket_limits)} bucket_limits for {len(bucket_counts)} bucket_counts")
        content = pb.histogram(min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self._add_value(pb.data(1, tag) + content, global_step, walltime)

    @guarded
    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Records an image, encoded on another thread: bytes, or floating point from 0 to 1.

        `dataformats`: the order of its axes. 1 (grey), 2 (grey, alpha), 3 or 4 channels.
        """
        from trainscope import _arrays

        self._add_pixels(tag, _arrays.to_image(img_tensor, dataformats)[None], global_step, walltime)

    @guarded
    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Records a batch of images as one, a grid of eight columns. A list of images has no N in `dataformats`."""
        from trainscope import _arrays

        if isinstance(img_tensor, list):
            import numpy as np

            img_tensor = np.stack([_arrays.to_array(image) for image in img_tensor])
            dataformats = "N" + dataformats.upper().replace("N", "")
        self._add_pixels(tag, _arrays.to_image(img_tensor, dataformats)[None], global_step, walltime)

    @guarded
    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: Any = None,
    ) -> None:
        """Records an image with red rectangles: N rows of left, top, right, bottom, in pixels. Needs PIL.

        `labels`: a text for each, left out if they are not as many.
        """
        from trainscope import _arrays

        boxes = _arrays.to_array(box_tensor)
        labels = [labels] if isinstance(labels, str) else labels
        if labels is not None and len(labels) != len(boxes):
            labels = None
        image = _arrays.draw_boxes(_arrays.to_image(img_tensor, dataformats), boxes, labels, rescale)
        self._add_pixels(tag, image[None], global_step, walltime)

    @guarded
    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Records a figure of matplotlib as an image, or a list of figures of one size as a grid; then closes it."""
        import numpy as np

        from trainscope import _arrays

        figures = figure if isinstance(figure, list) else [figure]
        images = np.stack([_arrays.draw_figure(each, close) for each in figures])
        self._add_pixels(tag, _arrays.to_grid(images, 8)[None], global_step, walltime)

    @guarded
    def add_video(
        self, tag: str, vid_tensor: Any, global_step: Any = None, fps: float = 4, walltime: float | None = None
    ) -> None:
        """Records videos (N, T, C, H, W) beside each other as one animated PNG, among the images."""
        self._add_video(tag, vid_tensor, global_step, fps, walltime, "NTCHW")

    @guarded
    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: Any = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Records sound from -1 to 1 of shape (L,) or (1, L); `sample_rate` in Hz. Samples keep 32 bits."""
        samples = snd_tensor.squeeze() if hasattr(snd_tensor, "squeeze") else snd_tensor
        self._open_run().audio(tag, samples, sample_rate, _step(global_step), wall_time=walltime)

    @guarded
    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """Records text under the name `<tag>/text_summary`, as torch does."""
        self._open_run().text(f"{tag}/text_summary", text_string, _step(global_step), wall_time=walltime)

    @guarded
    def add_onnx_graph(self, prototxt: Any) -> None:
        """Records the graph of an ONNX file: as torch reads it, or a copy of the file without torch, tensorboard or
        onnx."""
        try:
            reader = importlib.import_module("torch.utils.tensorboard._onnx_graph")
            self._get_file_writer().add_onnx_graph(reader.load_onnx_graph(prototxt))
        except ImportError:
            Path(self._get_file_writer()._path, "model.onnx").write_bytes(Path(prototxt).read_bytes())

    @guarded
    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """Records the modules of a model and their edges by one forward pass with `input_to_model`, and a copy for the
        page Graphs of TensorBoard.

        With `use_strict_trace=False` it is torch's trace of the operations instead, if tensorboard is there.
        """
        from trainscope.torch import graph_of

        if not use_strict_trace and importlib.util.find_spec("tensorboard"):
            tracer = importlib.import_module("torch.utils.tensorboard._pytorch_graph")
            self._get_file_writer().add_graph(tracer.graph(model, input_to_model, verbose, use_strict_trace))
            return
        inputs = input_to_model if isinstance(input_to_model, (tuple, list)) else (input_to_model,)
        nodes = graph_of(model, () if input_to_model is None else tuple(inputs))
        if verbose:
            print(*nodes, sep="\n")
        self._open_run()._graph("graph", nodes)
        # The name of the writer comes last: trainscope does not read this as a second graph.
        self._get_file_writer()._write(pb.data(4, pb.graph(nodes)) + pb.data(10, pb.data(1, "trainscope")), None, None)

    @guarded
    def add_embedding(
        self,
        mat: Any,
        metadata: Sequence[Any] | None = None,
        label_img: Any = None,
        global_step: Any = None,
        tag: str = "default",
        metadata_header: Sequence[str] | None = None,
    ) -> None:
        """Writes N points of D dimensions for the projector, as text files in `<step>/<tag>` below the folder.

        `metadata`: a label for each point, or a row for each if `metadata_header` names the columns. `label_img`:
        images (N, C, H, W); needs PIL. Nothing is written if their numbers differ.
        """
        from trainscope import _projector

        points, images = _projector.checked(mat, metadata, label_img, metadata_header)
        step, base = _step(global_step), Path(self._get_file_writer()._path)
        info = _projector.write(base, step, tag, points, images, metadata, metadata_header)
        self._embeddings.append(info)
        (base / "projector_config.pbtxt").write_text(pb.embeddings(self._embeddings), encoding="utf-8")

    @guarded
    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Records precision and recall at thresholds from 0 to 1, 127 at most, as in torch.

        `labels` are true or false, `predictions` probabilities, `weights` how much each counts.
        """
        from trainscope import _arrays

        curve = _arrays.compute_curve(labels, predictions, min(num_thresholds, 127), weights)
        self._add_curve(tag, curve, num_thresholds, global_step, walltime)

    @guarded
    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Records precision and recall that were computed elsewhere, an entry for each threshold.

        `weights` has no effect, as in torch.
        """
        import numpy as np

        from trainscope import _arrays

        counts = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts)
        curve = np.stack([_arrays.to_array(row) for row in (*counts, precision, recall)])
        self._add_curve(tag, curve, num_thresholds, global_step, walltime)

    @guarded
    def add_custom_scalars_multilinechart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Records that scalars belong into one chart."""
        self._add_value(pb.custom_scalars({category: {title: ["Multiline", tags]}}))

    @guarded
    def add_custom_scalars_marginchart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Records that three scalars are a line, its lower and its upper margin."""
        self._add_value(pb.custom_scalars({category: {title: ["Margin", tags]}}))

    @guarded
    def add_custom_scalars(self, layout: dict[str, Any]) -> None:
        """Records charts of scalars: `{category: {title: ["Multiline" or "Margin", tags]}}`."""
        self._add_value(pb.custom_scalars(layout))

    @guarded
    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: dict[str, Any] | None = None,
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Records bodies or clouds of points: `vertices`, `colors` and `faces` of shape (B, N, 3).

        `config_dict`: names and settings of classes of three.js.
        """
        from trainscope import _summary_values

        summary = _summary_values.mesh(tag, vertices, colors, faces, config_dict)
        self._get_file_writer()._write(pb.data(5, summary), global_step, walltime)

    @guarded
    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list[Any]] | None = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """Records hyper-parameters and the metrics they led to, in a new folder, named by time or `run_name`.

        Numbers, text and bool are kept as such, None is left out, everything else is its `repr`.
        `hparam_domain_discrete`: all values that a hyper-parameter can have.
        """
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        values = pb.hparams(hparam_dict, metric_dict, hparam_domain_discrete or {})
        writer = self._get_other_writer(folder)
        for value in values:
            writer._write(pb.data(5, pb.data(1, value)), global_step, None)
        for tag, metric in metric_dict.items():
            writer._run.scalar(tag, metric, _step(global_step))
        writer.close()

    @guarded
    def flush(self) -> None:
        """Writes the records that wait in memory to the files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    @guarded
    def close(self) -> None:
        """Writes the records that wait in memory, and ends the files. Twice is fine; adding more begins new files."""
        for writer in (self.all_writers or {}).values():
            writer.close()
        self.file_writer = self.all_writers = None

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """A process that receives it by pickle gets an `Elsewhere`: nothing is recorded there."""
        return Elsewhere, (f"the writer in {self.log_dir}",)

    def __deepcopy__(self, memo: dict[int, Any]) -> SummaryWriter:
        """The writer itself."""
        return self

    def __copy__(self) -> SummaryWriter:
        return self

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _get_file_writer(self) -> FileWriter:
        """Writer of the file in the folder itself; a new one after `close`."""
        if self.file_writer is None or self.all_writers is None:
            self.file_writer = self._get_other_writer(self.log_dir)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            self._run = self.file_writer._run
            self._purge()
        return self.file_writer

    @guarded
    def _purge(self) -> None:
        """Says once that earlier events from `purge_step` on are superseded."""
        step, self.purge_step = self.purge_step, None
        if step is not None:
            self._run._session_start(int(step))

    def _get_other_writer(self, folder: str | Path) -> FileWriter:
        path = in_folder(self._base, str(folder))
        writer = FileWriter(path, self.max_queue, self.flush_secs, self.filename_suffix)
        writer._folder = str(folder)
        return writer

    def _get_line_writer(self, main_tag: str, tag: str) -> FileWriter:
        """Writer of one line of `add_scalars`."""
        folder = f"{self._get_file_writer().get_logdir()}/{self._name_line(main_tag, tag)}"
        assert self.all_writers is not None
        if folder not in self.all_writers:
            self.all_writers[folder] = self._get_other_writer(folder)
        return self.all_writers[folder]

    def _name_line(self, main_tag: str, tag: str) -> str:
        """Folder of a line, relative to that of the writer."""
        return main_tag.replace("/", "_") + "_" + tag

    def _open_run(self) -> Run:
        self._get_file_writer()
        return self._run

    def _add_value(self, value: bytes, step: Any = None, walltime: float | None = None) -> None:
        """Writes one `Summary.Value`."""
        self._get_file_writer()._write(pb.data(5, pb.data(1, value)), step, walltime)

    def _add_pixels(self, tag: str, frames: Any, step: Any, walltime: float | None, fps: float = 4.0) -> None:
        """Records bytes of shape (frames, H, W, C); several frames move."""
        number, height, width, channels = frames.shape
        if channels > 4:
            raise ValueError(f"an image of {channels} channels; it has 1 to 4")
        pixels = frames.tobytes()
        self._open_run()._pixels(tag, pixels, width, height, channels, _step(step), walltime, number, float(fps))

    def _add_video(
        self, tag: str, videos: Any, step: Any, fps: float, walltime: float | None, dataformats: str
    ) -> None:
        from trainscope import _arrays

        self._add_pixels(tag, _arrays.to_frames(videos, dataformats.upper()), step, walltime, fps)

    def _add_curve(self, tag: str, curve: Any, thresholds: int, step: Any, walltime: float | None) -> None:
        content = pb.metadata("pr_curves", pb.integer(2, min(thresholds, 127)))
        self._add_value(pb.data(1, tag) + content + pb.float_tensor(curve), step, walltime)


def _step(step: Any) -> int:
    """Step as an integer: 0 for None, the integer part of a float."""
    return 0 if step is None else int(step)
