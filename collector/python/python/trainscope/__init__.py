"""Records a training: scalars, tensors, images, spans, and statistics of weights, gradients and activations.

    import trainscope

    run = trainscope.start("runs/first", hparams={"lr": 0.1})
    run.watch(model, optimizer)
    for step, batch in enumerate(loader):
        loss = train(batch)
        run.scalar("train/loss", loss, step)

`trainscope start` opens the page, `trainscope check` judges runs without it. Functions of this module act on the run that
was started last.
"""

from __future__ import annotations

from trainscope._check import CheckResult, check
from trainscope._current import (
    audio,
    capsule,
    counter,
    current,
    dataset,
    end_flow,
    finish,
    flow,
    flush,
    gate,
    graph,
    histogram,
    hparams,
    image,
    lane,
    landscape,
    lineage,
    log,
    log_tree,
    note,
    phase,
    preflight,
    report,
    scalar,
    span,
    start,
    step,
    steps,
    tensor,
    text,
    total_steps,
    trigger,
    unwatch,
    values,
    watch,
)
from trainscope._lost import TrainscopeWarning
from trainscope._preflight import Preflight, Probe
from trainscope._query import QueryError, Rows, query
from trainscope._read import ReadError, Table, read
from trainscope._shard import CheckError
from trainscope._steps import Step
from trainscope.report import Report
from trainscope.run import Run, TrainingStopped
from trainscope.tensorboard import SummaryWriter


def load_ipython_extension(shell: object) -> None:
    """`%load_ext trainscope` in a notebook: the trainings of its cells are recorded, without a change of them."""
    from trainscope import _auto

    _auto.observe_notebook()


def __getattr__(name: str) -> str:
    """The version, on request: to look it up takes longer than to import the package."""
    if name == "__version__":
        from importlib.metadata import version

        return version("trainscope")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "CheckError",
    "CheckResult",
    "Preflight",
    "Probe",
    "QueryError",
    "ReadError",
    "Report",
    "Rows",
    "Run",
    "Step",
    "SummaryWriter",
    "Table",
    "TrainingStopped",
    "TrainscopeWarning",
    "audio",
    "capsule",
    "check",
    "counter",
    "current",
    "dataset",
    "end_flow",
    "finish",
    "flow",
    "flush",
    "gate",
    "graph",
    "histogram",
    "hparams",
    "image",
    "lane",
    "landscape",
    "lineage",
    "log",
    "log_tree",
    "note",
    "phase",
    "preflight",
    "query",
    "read",
    "report",
    "scalar",
    "span",
    "start",
    "step",
    "steps",
    "tensor",
    "text",
    "total_steps",
    "trigger",
    "unwatch",
    "values",
    "watch",
]
