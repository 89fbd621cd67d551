"""Types of the native module: the class that records, spans and flows."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, Self, SupportsFloat, SupportsIndex, TypeVar, final

from typing_extensions import disjoint_base

from trainscope.report import Report

__all__ = ["Flow", "GradientHook", "Recorder", "Span"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

@disjoint_base
class Recorder:
    """Records into one folder, which is the run; base of `trainscope.Run`."""

    def __new__(cls, folder: str, options: dict[str, Any]) -> Self: ...
    @property
    def folder(self) -> Path:
        """Absolute folder of the run, the same for all ranks."""
    @property
    def url(self) -> str | None:
        """Address of the server of the live session, also while it does not answer.

        `None` without one, after it has refused, and after `finish`.
        """
    @property
    def rank(self) -> int:
        """Rank of this process in the training, from 0."""
    def scalar(
        self, name: str, value: SupportsFloat, step: int | None = None, *, wall_time: float | None = None
    ) -> None:
        """Records one number.

        `value`: a float, int, bool, number of NumPy, or an array or tensor with one element; it is written as f64. NaN
        and infinities are kept, and are findings. A tensor on a device is not waited for: it is written, with the step
        and time of this call, when its step has ended. `wall_time`: seconds since 1970; now by default.

        Takes 0.1 µs; nothing is waited for. After `finish` it is counted as lost.

        >>> run.scalar("train/loss", 0.25, step=3)
        """
    def log(
        self, values: Mapping[str, Any], step: int | None = None, *, wall_time: float | None = None
    ) -> None:
        """Records several numbers of one moment, as one event: readers see all of them or none.

        `values`: numbers as in `scalar`, by name. Nested mappings join their names with `/`. Values that are no numbers
        are counted as invalid; the others are written.

        Takes 0.3 to 1 µs for four numbers; nothing is waited for. After `finish` it is counted as lost.

        >>> run.log({"loss": 0.25, "rate": {"weights": 1e-3, "bias": 1e-2}}, step=3)
        """
    def tensor(self, name: str, tensor: Any, *, role: str | None = None, step: int | None = None) -> None:
        """Records statistics of a tensor, on the steps that `every` and `first` of `start` select.

        Counts by class (NaN, infinities, zeros, signs, subnormals), extremes, moments, exponents and a hash of the
        elements, and additions by options of `start`; extremes and moments are those of the finite elements. `tensor`:
        an array or tensor of any framework and shape, a list or a number. Complex numbers are read as twice as many
        real ones, along one more axis. `name` identifies the tensor in the whole run. `role`: weight, gradient,
        activation, input, output, loss, `optimizer_state`, `frozen_weight` or other (the default).

        The elements are read where they are, on this thread; that takes 2 to 6 times as long as reading the memory.
        Elements are kept only for `change`. Tensors without memory (meta, freed, quantised, inside of `vmap`) are
        counted as invalid. After `finish` it is counted as lost.

        >>> run.tensor("fc1.weight", [[0.5, -0.5], [0.0, 1.5]], role="weight", step=3)
        """
    def values(
        self, name: str, tensor: Any, step: int | None = None, *, wall_time: float | None = None
    ) -> None:
        """Records all elements of a tensor, as they are: type, shape, NaN and infinities.

        `tensor`: as in `tensor`. The elements are copied; for large tensors, the options `dump_…` of `start` write
        separate files. After `finish` it is counted as lost.

        >>> run.values("attention", [[0.5, 0.5], [0.1, 0.9]], step=3)
        """
    def histogram(
        self, name: str, tensor: Any, step: int | None = None, *, wall_time: float | None = None
    ) -> None:
        """Records the distribution of all finite elements of a tensor in 64 bins; NaN and infinities are counted.

        `tensor`: as in `tensor`. Takes a few times as long as reading the memory, on this thread. After `finish` it is
        counted as lost.

        >>> run.histogram("scores", [0.1, 0.2, 0.2, 0.9], step=3)
        """
    def text(
        self, name: str, text: str, step: int | None = None, *, wall_time: float | None = None
    ) -> None:
        """Records a text, shown as Markdown. Anything else is written as its `str`.

        The text is copied; nothing is waited for. After `finish` it is counted as lost.

        >>> run.text("sample", "The *first* sentence.", step=3)
        """
    def note(self, text: str) -> None:
        """Records a note about the run at the current step: shown with the findings.

        After `finish` it is counted as lost.

        >>> run.note("The learning rate was set by hand.")
        """
    def image(
        self,
        name: str,
        image: Any,
        step: int | None = None,
        *,
        layout: str | None = None,
        wall_time: float | None = None,
    ) -> None:
        """Records an image, or several of one size, from an array; `Run.image` says more."""
    def audio(
        self, name: str, samples: Any, rate: int, step: int | None = None, *, wall_time: float | None = None
    ) -> None:
        """Records sound.

        `samples`: (n,), (n, channels) or (channels, n), where the shorter axis is that of the channels; floating point
        is from -1 to 1, integers use the range of their type. `rate`: samples per second. The samples are copied;
        another thread encodes them. After `finish` it is counted as lost.

        >>> run.audio("voice", [0.0, 0.5, 0.0, -0.5] * 100, 16000, step=3)
        """
    def span(self, name: str, *, kind: str | None = None, lane: str | None = None) -> Span:
        """Span of time: a context manager, and a decorator for functions, generators and coroutines.

        Records the time, in ns, that this thread spends inside, at the current step. Names like those of graph nodes
        colour the graph. `kind`: compute, communication, copy, data (waiting for a batch), host, idle (other waiting)
        or other; without one the name tells: data, forward, `all_reduce`. `lane`: the row of the timeline; that of the
        thread by default. A wrong kind or lane is counted as invalid, and the span recorded without it. Takes less than
        1 µs. After `finish` it is counted as lost.

        >>> with run.span("load", kind="data"): batch = list(range(10))
        """
    def lane(self, name: str, kind: str) -> None:
        """Declares the kind of a lane, for all its later spans: thread, device, stream or process.

        Lanes are threads unless declared. Spans of a stream or device are its work; those of threads are the host's. A
        wrong kind is counted as invalid. After `finish` it is counted as lost.

        >>> run.lane("stream 7", "stream")
        >>> with run.span("copy to device", kind="copy", lane="stream 7"): batch = list(range(10))
        """
    def flow(self, *, lane: str | None = None) -> Flow:
        """Begins an arrow at the innermost span that is open now, on this thread or in `lane`; `end_flow` ends it.

        Nothing is recorded until then. A wrong lane is counted as invalid, and the arrow begins on this thread.

        >>> with run.span("put"): flow = run.flow()
        >>> with run.span("get"): run.end_flow(flow)
        """
    def end_flow(self, flow: Flow, *, lane: str | None = None) -> None:
        """Ends an arrow at the innermost span that is open now, on this thread or in `lane`; any thread may end it.

        `flow`: the result of `flow`; anything else is counted as invalid. Ended more than once, it has as many arrows.
        After `finish` it is counted as lost.
        """
    def counter(self, name: str, value: SupportsFloat) -> None:
        """Records the current value of a counter, for example the length of a queue; it is shown with the spans.

        NaN and infinities are kept. Nothing is waited for. After `finish` it is counted as lost.

        >>> run.counter("queue", 3)
        """
    def trigger(self, reason: str) -> None:
        """Selects the next step: statistics of all its tensors, and their elements in full.

        `reason` becomes a note. After `finish` it does nothing.

        >>> run.trigger("the loss has doubled")
        """
    def flush(self) -> bool:
        """Waits until all records are in the file, at most for `patience`. `False` if they are not.

        >>> assert run.flush()
        """
    def report(self) -> Report:
        """Progress and losses of the recording. Nothing is waited for."""
    def finish(self, status: Any = None) -> Report:
        """Ends the recording and waits until all records are in the file; `Run.finish` says more."""
    @property
    def _is_strict(self) -> bool:
        """`True` if errors of recording are raised."""
    def _gate(
        self,
        place: str,
        step: int,
        show: Callable[[], Sequence[tuple[str, str, Any]]],
        are_finite: Callable[[], bool | None],
    ) -> int:
        """Passes a gate: 0 to go on, 1 if a person stops the training, 2 if a hit does. `show`: a function that returns
        tensors as (name, role, tensor). `are_finite`: a function that returns `True` if all gradients are finite, or
        `None` to have their memory read. Raises the exception of a signal in a wait, such as `KeyboardInterrupt`."""
    def _has_gate(self, place: str) -> bool:
        """`True` if the gate of this place may make the training wait or stop. If not, it is noted."""
    def _takes_hit(self) -> bool:
        """`True` if a gate since the last call has seen a hit of the severity that counts, with `at_hit="capsule"`."""
    def _nodes(self, names: list[str]) -> None:
        """Declares the layers at which the training can wait."""
    def _target_node(self) -> str | None:
        """The layer at which the training is to wait, or `None`."""
    def _total_steps(self, steps: int) -> None:
        """Sets the number of steps of the whole training."""
    def _is_forked(self) -> bool:
        """`True` in a fork of the process that started the run: nothing can be recorded there."""
    def _selects(self, step: int) -> bool:
        """`True` if tensors of this step are read: by the policies of statistics and dumps, or by a trigger."""
    def _selects_name(self, name: str) -> bool:
        """`True` if the options `names` and `exclude` select tensors of this name."""
    def _begin_step(self, step: SupportsIndex) -> None:
        """Opens a step, which is the default of calls without a step."""
    def _end_step(self) -> None:
        """Closes the open step: its tensors become one record, and scalars on devices are fetched."""
    def _open_step(self) -> int | None:
        """The open step, or `None`."""
    def _step(self) -> int:
        """The default step of calls without a step."""
    def _last_step(self) -> int:
        """The step of what has happened: between two updates that of the last one."""
    def _set_updates(self, updates: int, *, is_made: bool = False) -> None:
        """Sets the number of updates of an optimizer: the default step while no step is open. The highest counts.
        `is_made`: this program has made the last of them."""
    def _record_tensors(
        self, items: Sequence[tuple[str, str, Any]], step: int | None = None, scale: float = 1.0
    ) -> int:
        """Records statistics of tensors, each as (name, role, tensor), also on steps that no policy selects.

        Statistics are multiplied by `scale`: exact for powers of two, else without exponents. Returns the number of
        tensors that were read; the others are counted as invalid.
        """
    def _record_and_find_nan(self, items: Sequence[tuple[str, str, Any]], step: int) -> bool:
        """Records statistics as `_record_tensors` does. Returns `True` if one of the tensors has a NaN."""
    def _record_summary(
        self, name: str, role: str, dtype: str, shape: Sequence[int], row: Sequence[float], step: int | None = None
    ) -> None:
        """Records statistics that were computed elsewhere.

        `row`: count, NaN, +inf, -inf, zero, negative, positive, subnormal, and over the finite elements minimum,
        maximum, sum, sum of squares, sum of magnitudes; then a hash, which is not recorded.
        """
    def _graph(
        self, tag: str, nodes: Sequence[Mapping[str, Any]], outputs: Sequence[tuple[str, str]] | None = None
    ) -> None:
        """Records a graph.

        Nodes have `name`, `kind` (input, parameter, operation), `op`, `inputs`, and may have `dtype`, `shape`,
        `source`, `attributes`; outputs are (name, node).
        """
    def _landscape(
        self,
        name: str,
        snapshots: Sequence[tuple[int, Sequence[Any]]],
        loss: Callable[[list[bytes]], SupportsFloat],
        size: int,
        samples: int,
        seed: int | None = None,
        normalisation: str | None = None,
        reach: float | None = None,
    ) -> None:
        """Records a loss landscape; `Run.landscape` says more.

        `snapshots`: (step, parameters). `loss` gets the bytes of each parameter in single precision, and returns a
        number. With a seed, the directions are random, and only the last snapshot counts.
        """
    def _raw_event(self, event: bytes) -> None:
        """Records one serialized `Event` as it is."""
    def _session_start(self, step: int) -> None:
        """Records a restart: readers drop the earlier records of this step and of later ones."""
    def _hparams(self, values: Sequence[tuple[str, Any]], metrics: Sequence[str]) -> None:
        """Records hyper-parameters by name, and names of scalars that measure success."""
    def _train_lineage(self, fields: Mapping[str, Any]) -> None:
        """Settings of the training; names that the record has no field for become user-defined information."""
    def _dataset(self, steps: Sequence[tuple[str, Sequence[tuple[str, Any]]]]) -> None:
        """Records a data pipeline, the source first: the operation of each step and its parameters."""
    def _pixels(
        self,
        name: str,
        pixels: bytes,
        width: int,
        height: int,
        channels: int,
        step: int | None = None,
        wall_time: float | None = None,
        frames: int = 1,
        fps: float = 4.0,
    ) -> None:
        """Records an image of bytes, rows from the top, channels interleaved; several frames become an animation."""
    def _nanos(self) -> int:
        """Time of the recording's clock, in ns since 1970."""
    def _push_span(
        self, name: str, start_nanos: int, duration_nanos: int, step: int | None = None, kind: str | None = None
    ) -> None:
        """Records a span of this thread that has ended; `kind` as in `span`."""
    def _write_fact(
        self,
        kind: str,
        subject: str,
        numbers: list[tuple[str, float]],
        texts: list[tuple[str, str]],
        source: tuple[str, int, str, int, str] | None = None,
        step: int | None = None,
    ) -> None:
        """Records a fact of the program. `source`: file, line, function, first line of the excerpt, excerpt."""
    def _count_invalid(self, message: str) -> None:
        """Counts a record that could not be made, and warns of it once for each place; raises if the run is strict."""

@final
class GradientHook:
    """Hook of a function of autograd that calls another one if an outgoing gradient may not be finite."""

    def __new__(cls, at: int, numbers: Sequence[int], otherwise: Callable[..., Any]) -> Self:
        """`otherwise(at, outgoing, incoming)` is called unless the gradients with these numbers are in memory and finite."""
    def __call__(self, outgoing: tuple[Any, ...], incoming: tuple[Any, ...]) -> None: ...

@final
class Span:
    """Time that this thread spends inside of a `with` block or a function; `Run.span` creates one."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> bool: ...
    def __call__(self, function: Callable[_P, _T]) -> Callable[_P, _T]: ...

@final
class Flow:
    """Start of an arrow between two spans; `Run.flow` creates one, `Run.end_flow` ends it."""
