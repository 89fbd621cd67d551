"""A run: the records of a training in one folder."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import operator
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, TypeVar

from trainscope import _landscape, _options, _process, _source
from trainscope._elsewhere import Elsewhere
from trainscope._lost import guarded, text_of, warn
from trainscope._native import Recorder
from trainscope._steps import Step, Steps
from trainscope._trees import flatten, leaves, mapping_of
from trainscope.report import Report

if TYPE_CHECKING:
    from trainscope._torch_capsule import Capsules
    from trainscope._source import Source
    from trainscope._system import System
    from trainscope.torch import Watch

T = TypeVar("T")


class Run(Recorder):
    """Records a training into `folder`.

    Methods may be called from any thread. They raise nothing because of recording, unless the run was started with
    `strict`: losses are counted (`report().lost`) and warned of once for each place of the program.
    After `finish`, and in forks of the process, they do nothing but count.

    Where `step` is not given, it is the open step (`step`, `steps`), else the number of updates of a watched optimizer,
    else the last step that a call has named.
    """

    def __new__(cls, folder: str | os.PathLike[str], **options: Any) -> Run:
        return super().__new__(cls, os.fspath(folder), _options.complete(options))

    def __init__(self, folder: str | os.PathLike[str], **options: Any) -> None:
        """Creates the folder and begins a file in it. Options are those of `trainscope.start`; ranks are not looked up.

        Raises OSError if the folder cannot be made, TypeError or ValueError for a wrong option or the address of a
        store.
        """
        self._lost_places: dict[tuple[str, int], str] = {}
        self._watches: list[Watch] = []
        self._phase = ""
        self._has_spans = False
        self._wants_capsule = _options.wants_capsule(options.get("at_hit"))
        self._capsules: Capsules | None = None
        self._next_step = 0
        self._is_finished = False
        self._has_failed = False
        self._system: System | None = None
        _process.register(self)
        if options.get("system"):
            self._begin_system(options.get("world_size"))

    def _begin_system(self, world_size: int | None) -> None:
        """Begins to record the load of the machine, if a thread can be had."""
        try:
            from trainscope._system import System

            self._system = System(self, world_size)
        except Exception as error:
            warn(self, f"the load of the machine is not recorded: {text_of(error)}")

    def __repr__(self) -> str:
        state = "finished" if self._is_finished else "recording"
        return f"<trainscope run {self.folder}, {state}; `{self._command()}` shows it>"

    def _command(self) -> str:
        """Command that opens the page of the run."""
        return f"trainscope start --summary-base-dir {shlex.quote(str(self.folder))}"

    def __deepcopy__(self, memo: dict[int, Any]) -> Run:
        """The run itself: copies of a model that holds it record into the same one."""
        return self

    def __copy__(self) -> Run:
        return self

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """A process that receives it by pickle gets an `Elsewhere`: nothing is recorded there."""
        return Elsewhere, (f"the run in {self.folder}",)

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Finishes the run; as failed if the block was left by an exception."""
        if error is not None:
            self._fail(error)
        self.finish()

    @guarded
    def image(
        self,
        name: str,
        image: Any,
        step: int | None = None,
        *,
        layout: str | None = None,
        wall_time: float | None = None,
    ) -> None:
        """Records an image, or several of one size.

        `image`: an array of any framework with the axes HW, HWC, CHW, NHWC or NCHW and 1, 3 or 4 channels, an image of
        Pillow or a figure of Matplotlib. Floating point is from 0 to 1, other numbers from 0 to 255; numbers beyond are
        cut off, NaN is black. `layout`: the axes, if their sizes leave it open. The pixels are copied; another thread
        encodes them.
        """
        pixels = _pixels_of(image)
        if pixels is None:
            super().image(name, image, step, layout=layout, wall_time=wall_time)
        else:
            self._pixels(name, *pixels, step=step, wall_time=wall_time)

    @guarded
    def hparams(self, values: Mapping[str, Any], metrics: Sequence[str] = ()) -> None:
        """Records hyper-parameters: shown in the list of runs, compared and searched.

        `values`: a mapping, dataclass or `argparse.Namespace`, whose nested names are joined by `/`. A value that is
        neither number, text nor bool is written as its `repr`. `metrics`: names of scalars that measure success. May be
        called again: later values win.
        """
        metrics = [metrics] if isinstance(metrics, str) else metrics
        if not isinstance(metrics, Sequence):
            raise TypeError(f"metrics are names, not {type(metrics).__name__}")
        self._hparams(list(flatten(mapping_of(values))), [str(metric) for metric in metrics])

    @guarded
    def graph(self, model_or_graph: Any, *inputs: Any, name: str = "model") -> None:
        """Records the graph of a model.

        A module of PyTorch: its modules, the functions between them and their edges, by one forward pass with `inputs`
        in evaluation mode; the modes of the modules are put back. The bytes of an ONNX model become a file beside the
        records, those of a TensorFlow GraphDef a record. No weights of modules are written.
        """
        if isinstance(model_or_graph, bytes):
            self._graph_of_bytes(model_or_graph, name)
            return
        from trainscope.torch import graph_of

        self._graph(name, graph_of(model_or_graph, inputs))

    def _graph_of_bytes(self, content: bytes, name: str) -> None:
        # Field 1 of an ONNX model is its version, a number; field 1 of a GraphDef is a node, a message.
        if content[:1] == b"\x08":
            Path(self.folder, f"{Path(name).name}.onnx").write_bytes(content)
        else:
            from trainscope import _protobuf as pb

            # Fields 1 (wall time) and 4 (graph) of an `Event`.
            self._raw_event(pb.double(1, self._nanos() / 1e9) + pb.data(4, content))

    @guarded
    def _fact(
        self,
        kind: str,
        subject: str = "",
        *,
        numbers: Mapping[str, float] = MappingProxyType({}),
        texts: Mapping[str, str] = MappingProxyType({}),
        source: Source | None = None,
        step: int | None = None,
    ) -> None:
        """Records a measurement of the program that trains, for the engine to judge.

        `kind`: the measurement; `subject`: its object. Bounded: 64 numbers and 64 texts.
        """
        measured = [(name, float(value)) for name, value in numbers.items()]
        self._write_fact(kind, subject, measured, list(texts.items()), source, step)

    @guarded
    def landscape(
        self,
        snapshots: Mapping[int, Mapping[str, Any]] | Sequence[tuple[int, Mapping[str, Any]]],
        loss: Callable[..., SupportsFloat],
        *,
        model: Any = None,
        name: str = "landscape",
        size: int = 25,
        samples: int = 0,
        seed: int | None = None,
        normalisation: str | None = None,
        reach: float | None = None,
    ) -> None:
        """Records the loss on a plane through the weights that the training has passed, at the last step of them.

        `snapshots`: weights by step, as copies of `model.state_dict()`: at least 3 that are not on one line. The plane
        goes through the last one; its directions are the two principal ones of all, or random ones with `seed`. `loss`
        is called `size`² times and once for each snapshot, and returns a number; NaN and infinities are recorded. It
        gets the weights by name, in single precision, as arrays of the framework that the snapshots are of. With
        `model`, a module of PyTorch, it gets nothing: its parameters have the weights, without gradients, and are put
        back in the end.

        `samples`: number of samples over which the loss is a mean. `normalisation`: `orthonormal` (default), or
        `filter`: each filter of a direction is as long as that of the weights (Li et al. 2018; default with `seed`).
        `reach`: half of the side of the square, in units of the directions; without it, the path with a margin, or 1.
        If `loss` raises, nothing is recorded. Memory: three copies of the weights beside the snapshots.
        """
        options = {"name": name, "size": size, "samples": samples, "seed": seed}
        _landscape.record(self, snapshots, loss, model, normalisation=normalisation, reach=reach, **options)

    @guarded
    def lineage(self, **fields: Any) -> None:
        """Records settings of the training: optimizer, learning_rate, loss_function, epochs, parallel_mode,
        device_count, batch_size, dataset_path, dataset_size, network, loss, model_path, model_size_bytes; others as
        user-defined."""
        self._train_lineage(fields)

    @guarded
    def dataset(self, pipeline: Sequence[Mapping[str, Any] | str]) -> None:
        """Records the operations of the data pipeline, the source first: each a name or a mapping with `op` and
        parameters.

        `run.dataset([{"op": "Mnist", "path": "data"}, "Shuffle", {"op": "Batch", "size": 32}])`
        """
        if isinstance(pipeline, str) or not isinstance(pipeline, Sequence) or len(pipeline) > MAX_OPERATIONS:
            raise TypeError(f"a data pipeline is a list of at most {MAX_OPERATIONS} operations")
        steps = [{"op": each} if isinstance(each, str) else dict(each) for each in pipeline]
        self._dataset([(str(step.pop("op")), [(str(k), v) for k, v in step.items()]) for step in steps])

    def step(self, number: int | None = None) -> Step:
        """Context manager: records made in it belong to this step. Its tensors become one record at its end.

        `number=None`: one more than the last one.
        """
        return Step(self, self._next_step if number is None else number)

    def steps(self, batches: Iterable[T], *, start: int | None = None) -> Steps[T]:
        """Iterates over `batches`, each in a new step. Steps count from `start`, by default from the one after the last
        step: the second epoch goes on where the first has ended.

        Records a span `data` for the wait and `step` for the body of the loop. Closes the iterator of `batches` when
        the loop is left. The result has the length of `batches`, for progress bars.
        """
        return Steps(batches, self._in_steps(iter(batches), start))

    def _in_steps(self, iterator: Iterator[T], start: int | None) -> Iterator[T]:
        try:
            start = self._next_step if start is None else operator.index(start)
        except TypeError as error:
            self._count_invalid(f"steps: start: {error}")
            start = 0
        number, self._has_spans = start, True
        try:
            while True:
                self._begin_step(number)
                begun = self._nanos()
                try:
                    batch = next(iterator)
                except StopIteration:
                    # There is no such step: later records belong to the last one.
                    if number > start:
                        self._begin_step(number - 1)
                    return
                self._push_span("data", begun, self._nanos() - begun, kind="data")
                with self.step(number), self.span("step"):
                    yield batch
                number += 1
        finally:
            self._end_step()
            close = getattr(iterator, "close", None)
            if close is not None:
                close()

    def watch(
        self,
        model: Any,
        optimizer: Any = None,
        *,
        scaler: Any = None,
        weights: bool = True,
        gradients: Literal["update", "raw"] | bool = "update",
        activations: bool = True,
        activation_gradients: bool = False,
        names: Sequence[str] = (),
        exclude: Sequence[str] = (),
        every: int | None = None,
        first: int | None = None,
        graph: bool = True,
        curves: bool = True,
        preflight: bool | Mapping[str, Any] | None = None,
        start_step: int = 0,
    ) -> Watch | None:
        """Records statistics of a PyTorch model's weights, gradients and activations on selected steps.

        `gradients`: "update" as the optimizer gets them; "raw" after each backward pass, before all-reduce, clipping
        and unscaling; or False. `scaler`: a `GradScaler`, so that gradients are unscaled and skipped updates marked.
        `names`, `exclude`: patterns of tensors. `every`, `first`: steps; those of the run by default. `curves`: the
        learning rate whenever it changes, and the norm of all gradients that the optimizer holds, as `learning_rate`
        and `grad_norm`. `preflight`: probes the model after the backward pass of the first batch, as
        `trainscope.preflight` does, whose options may be given as a mapping; by default if TRAINSCOPE_PREFLIGHT is set.
        `start_step`: step of the first update, for a training that goes on: needed where neither an open step nor the
        state of the optimizer has it, as with SGD.

        Costs 3 µs a tensor and reading its memory, on selected steps only. Does not keep the model alive and changes no
        result. `None` if the model cannot be watched, with a warning.
        """
        try:
            from trainscope.torch import Watch

            watch = Watch(
                self, model, optimizer, scaler=scaler, weights=weights, gradients=gradients, activations=activations,
                activation_gradients=activation_gradients, names=names, exclude=exclude, every=every, first=first,
                graph=graph, curves=curves,
                preflight=_options.wants_preflight() if preflight is None else preflight, start_step=start_step,
            )
        except Exception as error:
            self._count_invalid(f"watch: {text_of(error)}")
            return None
        self._watches.append(watch)
        return watch

    @guarded
    def unwatch(self, model: Any = None) -> None:
        """Ends watching a model, or all of them."""
        for watch in list(self._watches):
            if model is None or watch.model is model:
                watch.close()

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Context manager for an evaluation: watched tensors are called `<name>/…` in it, also without gradients."""
        if not isinstance(name, str):
            self._count_invalid(f"phase: a name must be text, not {type(name).__name__}")
            name = self._phase
        return self._in_phase(name)

    @contextlib.contextmanager
    def _in_phase(self, name: str) -> Iterator[None]:
        before, self._phase = self._phase, name
        try:
            yield
        finally:
            self._phase = before

    @guarded
    def log_tree(self, stats: Mapping[str, Any], *, role: str = "other", step: int | None = None) -> None:
        """Records statistics of a tree: of `trainscope.jax.summarize`, or nested mappings and sequences of tensors.

        Names are joined by `/`. The step's policy is not asked.
        """
        tensors: list[tuple[str, str, Any]] = []
        for name, leaf in leaves(stats):
            if hasattr(leaf, "trainscope_row"):
                dtype, shape, row = leaf.trainscope_row()
                self._record_summary(name, role, dtype, shape, row, step)
            else:
                tensors.append((name, role, leaf))
        if tensors:
            self._record_tensors(tensors, step)

    def gate(self, place: Literal["after_step", "before_update"] = "after_step") -> None:
        """Place where the training may wait, or end, in a live session: `after_step` or `before_update`.

        For loops that use neither `step` nor `steps`: after the step, everything gathered is written. Call it on all
        ranks, outside of collectives. Raises `TrainingStopped` if a person or a hit ends the training; only writes
        unless the training is connected or `at_hit` is set.
        """
        self._stop_at(self._is_stopped_at(place))

    @guarded
    def _is_stopped_at(self, place: str) -> int:
        """Passes a gate: above 0 if the training has to end, see `_gate`."""
        step = self._step()
        if place == "after_step":
            self._end_step()
        return self._pass(place, step, self._shown)

    def _gate_at_node(self, name: str, outputs: list[tuple[str, str, Any]]) -> None:
        self._stop_at(self._is_stopped_at_node(name, outputs))

    @guarded
    def _is_stopped_at_node(self, name: str, outputs: list[tuple[str, str, Any]]) -> int:
        """Passes the gate after the forward pass of a layer; its outputs can be looked at, too."""
        return self._pass(f"node:{name}", self._step(), lambda: outputs + self._shown())

    def _pass(self, place: str, step: int, show: Callable[[], list[tuple[str, str, Any]]]) -> int:
        answer = self._gate(place, step, show, self._gradients_are_finite)
        if place == "before_update" and self._capsules is not None and self._takes_hit():
            self._capsules.write(step, "a watchpoint has a hit")
        for watch in self._watches:
            watch.pass_gate(is_end=place == "after_step")
        return answer

    @guarded
    def total_steps(self, steps: int) -> None:
        """Sets the number of steps of the whole training, for the page and for the time that a stop saves."""
        self._total_steps(operator.index(steps))

    def _stop_at(self, answer: int | None) -> None:
        if answer:
            raise TrainingStopped(is_hit=answer == _BY_HIT)

    def _shown(self) -> list[tuple[str, str, Any]]:
        """Weights and gradients of the watched models, that can be looked at while the training waits."""
        return [item for watch in self._watches for item in watch.tensors()]

    def _gradients_are_finite(self) -> bool | None:
        """True if all gradients of the watched models are finite; None if all are in the memory of the processor."""
        if not any(watch.has_remote_gradients() for watch in self._watches):
            return None
        return all(watch.gradients_are_finite() for watch in self._watches)

    @guarded
    def report(self) -> Report:
        """Progress and losses of the recording."""
        return self._complete(super().report())

    @guarded
    def finish(self, status: Literal["success", "failure"] = "success") -> Report:
        """Ends the recording and waits until all records are in the file, at most for `patience`.

        `status`: "success" or "failure". A second call changes nothing.
        """
        if self._system is not None and not self._is_forked():
            self._system.stop()
        for watch in list(self._watches):
            watch.close()
        self._watches.clear()
        status = status if isinstance(status, str) else type(status).__name__
        if status not in ("success", "failure"):
            self._count_invalid(f'finish: the status is "success" or "failure", not "{status}"')
        report = self._complete(super().finish("failure" if self._has_failed else status))
        lost = sum(report.lost.get(reason, 0) for reason in ("queue_full", "disk", "removed"))
        if lost and not self._is_finished and not self._is_forked():
            warn(self, f"{lost} records are not in {self.folder}: {report.first_error or 'the disk was too slow'}")
        self._is_finished = True
        return report

    def _complete(self, report: Report) -> Report:
        places = {f"{file}:{line}": reason for (file, line), reason in self._lost_places.items()}
        return dataclasses.replace(report, lost_at=places)

    def _fail(self, error: BaseException) -> None:
        """Records an exception that ends the training; GeneratorExit and a normal SystemExit are none."""
        if self._is_forked() or isinstance(error, (GeneratorExit, TrainingStopped)):
            return
        if isinstance(error, SystemExit) and error.code in (None, 0):
            return
        if not self._has_failed:
            self._has_failed = True
            self.note(_sentence_of(error))
            self._record_failure(error)

    @guarded
    def _record_failure(self, error: BaseException) -> None:
        """Records the type, message and line of an exception that ends the training."""
        # Nothing is imported here: Python would forget that the program ends by an interrupt.
        place = _source.of_traceback(error.__traceback__)
        try:
            message = str(error)
        except Exception:
            message = ""
        source = _source.of_place(place)
        self._fact("failure", type(error).__qualname__, texts={"message": message}, source=source)


_RECORDS = frozenset(
    "scalar values log log_tree image audio text histogram tensor counter dataset hparams lineage graph span step "
    "steps".split()
)
"""Methods that record."""


class ReplacedRun(Run):
    """A run that `start` has finished because it began another one. Later records of it are lost."""

    def __getattribute__(self, name: str) -> Any:
        if name in _RECORDS:
            folder = super().__getattribute__("folder")
            warn(
                self,
                f"the run in {folder} ended when `start` began another one, and this is lost: runs that are open at "
                "the same time are made by trainscope.Run(folder)",
            )
        return super().__getattribute__(name)


class TrainingStopped(SystemExit):
    """The end of a training at a gate: by a hit of a watchpoint (`code` 1), or by a person (`code` 0).

    It ends the program unless it is caught; `except Exception` does not catch it.
    """

    def __init__(self, *, is_hit: bool) -> None:
        super().__init__(1 if is_hit else 0)

    def __str__(self) -> str:
        by = "a hit of a watchpoint" if self.code else "a person"
        return f"the training was stopped by {by}"


_BY_HIT = 2
"""Answer of a gate at which a hit ends the training."""


def _sentence_of(error: BaseException) -> str:
    """Type and text of an exception and the last line of the program that it went through."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    place = f" ({frame.tb_frame.f_code.co_filename}:{frame.tb_lineno})" if frame else ""
    return f"The training ended with {text_of(error)}{place}"


MAX_OPERATIONS = 1_000
"""Most operations of a data pipeline: each is nested in the next one."""

def _pixels_of(image: Any) -> tuple[bytes, int, int, int] | None:
    """Bytes, width, height and channels of an image of Pillow or a figure of Matplotlib; `None` for anything else."""
    if hasattr(image, "canvas") and hasattr(image, "savefig"):
        canvas = importlib.import_module("matplotlib.backends.backend_agg").FigureCanvasAgg(image)
        canvas.draw()
        width, height = canvas.get_width_height()
        return bytes(canvas.buffer_rgba()), width, height, 4
    if hasattr(image, "getbands") and hasattr(image, "tobytes"):
        mode = image.mode if image.mode in ("L", "LA", "RGB", "RGBA") else "RGBA"
        converted = image if image.mode == mode else image.convert(mode)
        return converted.tobytes(), *converted.size, len(converted.getbands())
    return None
