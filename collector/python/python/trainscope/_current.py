"""The run that was started last, and functions that act on it.

Before `start`, they do nothing and warn once for each place of the program.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, TypeVar

from trainscope import _launch, _lost, _options
from trainscope._examine import examine
from trainscope._native import Flow
from trainscope._preflight import Preflight
from trainscope._steps import Steps
from trainscope.report import Report
from trainscope.run import ReplacedRun, Run

if TYPE_CHECKING:
    from trainscope._torch_capsule import Capsule
    from trainscope.torch import Watch

T = TypeVar("T")

_run: Run | None = None


def start(
    folder: str | os.PathLike[str],
    *,
    hparams: Any = None,
    rank: int | None = None,
    world_size: int | None = None,
    every: int | None = None,
    first: int = 3,
    names: Sequence[str] = (),
    exclude: Sequence[str] = (),
    exponents: bool = True,
    hash: bool = True,
    change: bool = False,
    histograms: bool = False,
    channels: Mapping[str, int] | Sequence[tuple[str, int]] = (),
    dump_every: int = 0,
    dump_first: int = 0,
    dump_at_not_finite: int = 0,
    dump_names: Sequence[str] = (),
    queue_bytes: int = 64 << 20,
    snapshot_bytes: int = 1 << 30,
    on_full: Literal["drop", "block"] = "drop",
    flush_every: float = 0.5,
    patience: float = 10.0,
    strict: bool = False,
    live: str | None = None,
    at_hit: Literal["record", "pause", "stop", "capsule"] | None = None,
    at_hit_severity: Literal["info", "warning", "error"] | None = None,
    wait: float | None = None,
    system: bool | None = None,
    quiet: bool | None = None,
) -> Run:
    """Begins to record into `folder`, which is the run, and makes it the one that the functions of this module act on.

    hparams: as in `Run.hparams`.
    rank, world_size: found in the variables of torchrun, Open MPI, MPICH, srun and MindSpore unless given. With more
        than one rank each records into a different folder below `folder`: `rank_0`, `rank_1`, …
    every, first: steps of which statistics of tensors are computed: the first `first` and multiples of `every` (10, or
        TRAINSCOPE_EVERY).
    names, exclude: patterns of tensors; `*` is any text, `?` one character.
    exponents, hash: histogram of powers of two, and hash of the elements.
    change: difference from the state at the last selected step; needs `snapshot_bytes` of memory.
    histograms: 64 bins of each tensor.
    channels: axis of the channels by role, `{"activation": 1}`: statistics of each channel.
    dump_every, dump_first, dump_names: steps and tensors that are written in full. dump_at_not_finite: number of steps
        in which the first tensor with NaN or infinity, and those after it, are written in full.
    queue_bytes: memory for records that wait for the disk. on_full: "drop" and count them, or "block" at most for
        `patience` seconds.
    flush_every: seconds after which a record is in the file; a killed process loses at most this much.
    strict: raises errors that are otherwise counted and warned of, for tests.
    live: address of a server, `http://host:8080`, that may pause the training and look at its tensors; that of
        TRAINSCOPE_SERVER by default. `trainscope attach` connects a training without it.
    at_hit: "record" hits of watchpoints only (the default, or TRAINSCOPE_AT_HIT), "pause" at a gate if the training is
        connected, "stop" there with `TrainingStopped`, or "capsule": the step of the first hit, of a loss or of
        gradients that are not finite, is written before its update, for `trainscope.capsule` (also with
        TRAINSCOPE_CAPSULE=1, beside any of them; a loss on a device is then waited for). at_hit_severity: "info",
        "warning" or "error" (the default).
    wait: waits at the first gate until a person continues the training from the page or with `trainscope control`, at
        most this many seconds (TRAINSCOPE_WAIT, or not at all). The address of the page is printed to standard error.
    system: records the load of the machine and of the process every ten seconds, as scalars and counters `system/…`;
        TRAINSCOPE_SYSTEM=0 switches it off unless it is given.
    quiet: prints no line that says how to see the run. Without it, one comes to standard error on rank 0, unless
        TRAINSCOPE_QUIET is set.

    A relative folder is that of this call, also after `os.chdir`. Raises OSError if it cannot be made, TypeError or
    ValueError for wrong options and for addresses of stores (`s3://…`). Nothing else ever raises because of recording,
    unless `strict`. Called again while a run is open (a notebook cell that is run again), it finishes that one first,
    and a note in the new run says so; a program that still records into the first is warned. Runs that are open at the
    same time are made by `Run(folder)`.
    """
    global _run
    before = _run if _run is not None and not _run._is_finished and not _run._is_forked() else None
    ranks = _options.ranks_from_environment() if rank is None else None
    if ranks is not None:
        rank, world_size = ranks[0], world_size or ranks[1]
    run = Run(
        folder,
        rank=rank,
        world_size=world_size,
        every=every if every is not None else _options.every_from_environment(),
        first=first,
        names=names,
        exclude=exclude,
        exponents=exponents,
        hash=hash,
        change=change,
        histograms=histograms,
        channels=channels,
        dump_every=dump_every,
        dump_first=dump_first,
        dump_at_not_finite=dump_at_not_finite,
        dump_names=dump_names,
        queue_bytes=queue_bytes,
        snapshot_bytes=snapshot_bytes,
        on_full=on_full,
        flush_every=flush_every,
        patience=patience,
        strict=strict,
        live=live,
        at_hit=at_hit,
        at_hit_severity=at_hit_severity,
        wait=wait,
        system=system if system is not None else _options.is_system_wanted(),
    )
    if before is not None:
        before.finish()
        before.__class__ = ReplacedRun
        run.note(f"The run in {before.folder} was still open: this one was started after it in the same process.")
    _run = run
    _launch.tell_of_run(run.folder)
    if hparams is not None:
        run.hparams(hparams)
    if not run.rank and not (quiet if quiet is not None else _options.is_quiet()):
        _say(run)
    return run


def _say(run: Run) -> None:
    """Prints where to see the run, in a line that can be copied."""
    page = f"watch it at {run.url}, or:" if run.url else "to see the run:"
    try:
        sys.stderr.write(f"trainscope: recording; {page} {run._command()}\n")
    except (OSError, ValueError, AttributeError):
        # There is no terminal, or it was closed.
        pass


def current() -> Run | None:
    """The run that was started last, also if it is finished; `None` before the first one."""
    return _run


def _is_worker() -> bool:
    """`True` in a process that `multiprocessing` has started: the run is that of another process."""
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def _get(function: str) -> Run | None:
    if _run is None and not _is_worker():
        _lost.warn(None, f"{function} does nothing before trainscope.start(folder)")
    return _run


def scalar(name: str, value: Any, step: int | None = None) -> None:
    """`Run.scalar` of the run started last."""
    run = _get("scalar")
    if run is not None:
        run.scalar(name, value, step)


def log(values: Mapping[str, Any], step: int | None = None) -> None:
    """`Run.log` of the run started last."""
    run = _get("log")
    if run is not None:
        run.log(values, step)


def tensor(name: str, tensor: Any, *, role: str = "other", step: int | None = None) -> None:
    """`Run.tensor` of the run started last."""
    run = _get("tensor")
    if run is not None:
        run.tensor(name, tensor, role=role, step=step)


def values(name: str, tensor: Any, step: int | None = None) -> None:
    """`Run.values` of the run started last."""
    run = _get("values")
    if run is not None:
        run.values(name, tensor, step)


def histogram(name: str, tensor: Any, step: int | None = None) -> None:
    """`Run.histogram` of the run started last."""
    run = _get("histogram")
    if run is not None:
        run.histogram(name, tensor, step)


def image(name: str, image: Any, step: int | None = None, *, layout: str | None = None) -> None:
    """`Run.image` of the run started last."""
    run = _get("image")
    if run is not None:
        run.image(name, image, step, layout=layout)


def audio(name: str, samples: Any, rate: int, step: int | None = None) -> None:
    """`Run.audio` of the run started last."""
    run = _get("audio")
    if run is not None:
        run.audio(name, samples, rate, step)


def text(name: str, text: str, step: int | None = None) -> None:
    """`Run.text` of the run started last."""
    run = _get("text")
    if run is not None:
        run.text(name, text, step)


def note(text: str) -> None:
    """`Run.note` of the run started last."""
    run = _get("note")
    if run is not None:
        run.note(text)


def hparams(values: Any, metrics: Sequence[str] = ()) -> None:
    """`Run.hparams` of the run started last."""
    run = _get("hparams")
    if run is not None:
        run.hparams(values, metrics)


def graph(model_or_graph: Any, *inputs: Any, name: str = "model") -> None:
    """`Run.graph` of the run started last."""
    run = _get("graph")
    if run is not None:
        run.graph(model_or_graph, *inputs, name=name)


def landscape(
    snapshots: Mapping[int, Mapping[str, Any]] | Sequence[tuple[int, Mapping[str, Any]]],
    loss: Callable[..., SupportsFloat],
    **options: Any,
) -> None:
    """`Run.landscape` of the run started last."""
    run = _get("landscape")
    if run is not None:
        run.landscape(snapshots, loss, **options)


def lineage(**fields: Any) -> None:
    """`Run.lineage` of the run started last."""
    run = _get("lineage")
    if run is not None:
        run.lineage(**fields)


def dataset(pipeline: Sequence[Mapping[str, Any] | str]) -> None:
    """`Run.dataset` of the run started last."""
    run = _get("dataset")
    if run is not None:
        run.dataset(pipeline)


def counter(name: str, value: float) -> None:
    """`Run.counter` of the run started last."""
    run = _get("counter")
    if run is not None:
        run.counter(name, value)


def unwatch(model: Any = None) -> None:
    """`Run.unwatch` of the run started last."""
    run = _get("unwatch")
    if run is not None:
        run.unwatch(model)


def log_tree(stats: Mapping[str, Any], *, role: str = "other", step: int | None = None) -> None:
    """`Run.log_tree` of the run started last."""
    run = _get("log_tree")
    if run is not None:
        run.log_tree(stats, role=role, step=step)


def trigger(reason: str) -> None:
    """`Run.trigger` of the run started last."""
    run = _get("trigger")
    if run is not None:
        run.trigger(reason)


def gate(place: Literal["after_step", "before_update"] = "after_step") -> None:
    """`Run.gate` of the run started last."""
    run = _get("gate")
    if run is not None:
        run.gate(place)


def total_steps(steps: int) -> None:
    """`Run.total_steps` of the run started last."""
    run = _get("total_steps")
    if run is not None:
        run.total_steps(steps)


def span(name: str, *, kind: str | None = None, lane: str | None = None) -> AbstractContextManager[Any]:
    """`Run.span` of the run started last."""
    run = _get("span")
    return run.span(name, kind=kind, lane=lane) if run is not None else contextlib.nullcontext()


def lane(name: str, kind: str) -> None:
    """`Run.lane` of the run started last."""
    run = _get("lane")
    if run is not None:
        run.lane(name, kind)


def flow(*, lane: str | None = None) -> Flow | None:
    """`Run.flow` of the run started last; `None` without one."""
    run = _get("flow")
    return run.flow(lane=lane) if run is not None else None


def end_flow(flow: Flow | None, *, lane: str | None = None) -> None:
    """`Run.end_flow` of the run started last; `None` is a flow that began before there was one."""
    run = _get("end_flow")
    if run is not None and flow is not None:
        run.end_flow(flow, lane=lane)


def step(number: int | None = None) -> AbstractContextManager[Any]:
    """`Run.step` of the run started last."""
    run = _get("step")
    return run.step(number) if run is not None else contextlib.nullcontext()


def steps(batches: Iterable[T], *, start: int | None = None) -> Steps[T]:
    """`Run.steps` of the run started last."""
    run = _get("steps")
    return run.steps(batches, start=start) if run is not None else Steps(batches, iter(batches))


def phase(name: str) -> AbstractContextManager[None]:
    """`Run.phase` of the run started last."""
    run = _get("phase")
    return run.phase(name) if run is not None else contextlib.nullcontext()


def watch(model: Any, optimizer: Any = None, **options: Any) -> Watch | None:
    """`Run.watch` of the run started last."""
    run = _get("watch")
    return run.watch(model, optimizer, **options) if run is not None else None


def flush() -> bool:
    """`Run.flush` of the run started last; `False` without one."""
    run = _get("flush")
    return run.flush() if run is not None else False


def report() -> Report | None:
    """`Run.report` of the run started last."""
    run = _get("report")
    return run.report() if run is not None else None


def finish(status: Literal["success", "failure"] = "success") -> Report | None:
    """`Run.finish` of the run started last."""
    run = _get("finish")
    return run.finish(status) if run is not None else None


def preflight(
    model: Any,
    inputs: Any,
    targets: Any = None,
    *,
    loss: Any = None,
    optimizer: Any = None,
    output: Any = None,
    one_batch: bool = False,
    rates: bool = False,
    batch_dim: int | None = None,
    seconds: float = 30.0,
) -> Preflight:
    """Probes a PyTorch model with its first batch, before it is trained. Changes nothing.

        report = trainscope.preflight(model, inputs, targets, loss=criterion, optimizer=optimizer)
        print(report)

    inputs: a tensor, a tuple of arguments, or a mapping of keyword arguments. loss: called as `loss(output, targets)`;
        not needed by a model that returns its loss. optimizer: one, or several in a sequence.
    output: selects one of several outputs, which is judged and given to `loss`: a key, an index or a function.
    one_batch: tries if one batch can be learned, in up to 150 updates of copies. rates: tries 40 learning rates.
    batch_dim: dimension of the samples, 0 or 1, if the sizes leave it open.
    seconds: time after which no other pass begins. There are at most 20 forward passes, without those of the two
        options.

    Parameters, buffers, gradients, the optimizer, modes, attributes of modules and random states are put back and
    compared; files that the forward pass writes are not. Probes that do not fit into the time or the memory are not
    tried. The probes are also recorded, if a run is open.
    """
    run = current()
    report = examine(
        model, inputs, targets, loss=loss, optimizer=optimizer, output=output, one_batch=one_batch, rates=rates,
        batch_dim=batch_dim, seconds=seconds,
    )  # fmt: skip
    if run is not None and not run._is_finished and not run._is_forked():
        report.record(run)
    return report


def capsule(path: str | os.PathLike[str]) -> Capsule:
    """Opens the capsule of a step, or the one in the folder of a run: `load(model)`, `inputs`, `random_state()` repeat
    it.

    Raises OSError or ValueError without one.
    """
    from trainscope._torch_capsule import Capsule

    return Capsule(path)
