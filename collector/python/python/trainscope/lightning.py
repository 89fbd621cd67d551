"""Callback and logger for Lightning: trainings of `Trainer.fit` are recorded update by update.

Tried with `pytorch_lightning` 2.6; the package `lightning` holds the same classes, and is taken if the program uses it.
Newer ones work as long as the hooks keep their names.
"""

from __future__ import annotations

import importlib
import sys
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from trainscope import Run
from trainscope._adapter import Adapter, Folder
from trainscope._lost import guarded


def _import_lightning() -> Any:
    """The package that the program uses: one of the two names is imported already, or installed."""
    names = ["lightning.pytorch", "pytorch_lightning"]
    for name in names:
        if name in sys.modules:
            return sys.modules[name]
    try:
        return importlib.import_module(names[0])
    except ImportError:
        return importlib.import_module(names[1])


_lightning = _import_lightning()
_Callback: Any = _lightning.Callback
_Logger: Any = importlib.import_module(f"{_lightning.__name__}.loggers").Logger


class TrainscopeCallback(Adapter, _Callback):  # type: ignore[misc]
    """Records weights, gradients, activations, the loss of each update and the values that the module logs.

    The step is `trainer.global_step`, the number of updates before this one; batches that are accumulated for one
    update share it. Gradients are read after unscaling and before clipping. `train/step_loss` is the loss of the
    update: the mean over its accumulated batches. `learning_rate` and `grad_norm` (before clipping) are those of each
    optimizer; with a `LearningRateMonitor` and a `TrainscopeLogger`, the rates are those of the monitor. Values of
    `self.log` are recorded at each update, unless the trainer has a `TrainscopeLogger`, which then does it every
    `log_every_n_steps`. Each of several optimizers has its weights and gradients read at its updates, once a batch.

    `Trainer(callbacks=[TrainscopeCallback("runs/1", every=10)])`
    """

    def __init__(self, folder: Folder = None, **watch: Any) -> None:
        """`folder`: begins a run there, which ends with the training, as failed if by an exception. Without it the
        run started last is used (also that of a `TrainscopeLogger`), and left open. `watch`: arguments of
        `Run.watch`."""
        super().__init__()
        self._folder = folder
        self._options = watch
        self._step = -1
        self._losses: list[Any] = []
        self._updates: set[int] = set()
        self._records_metrics = True
        # A monitor of Lightning records the learning rates.
        self._has_rates = False

    @guarded
    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Begins the run and watches the module."""
        run = self._open()
        if run is None:
            return
        hparams = getattr(pl_module, "hparams_initial", None)
        if hparams:
            run.hparams(dict(hparams))
        self._records_metrics = not any(isinstance(logger, TrainscopeLogger) for logger in trainer.loggers)
        monitors = [each for each in trainer.callbacks if isinstance(each, _lightning.callbacks.LearningRateMonitor)]
        self._has_rates = bool(monitors) and not self._records_metrics
        self._step, self._losses, self._updates = -1, [], set()
        watch = self._begin_watch(run, pl_module, self._options)
        for optimizer in trainer.optimizers:
            # So that the first of several reads nothing that the others hold.
            watch._state.updates.know(optimizer)

    @guarded
    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        """Opens the step, unless this batch is accumulated to the ones before."""
        if self._run is None or self._watch is None or self._step == trainer.global_step:
            return
        self._step = int(trainer.global_step)
        self._run._begin_step(self._step)
        self._watch.begin(self._step)

    @guarded
    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        """Reads weights and gradients before the update. An optimizer that calls its closure again is read once."""
        if self._run is None or self._watch is None or id(optimizer) in self._updates:
            return
        self._updates.add(id(optimizer))
        only = optimizer if len(trainer.optimizers) > 1 else None
        scale = _unscale(trainer, optimizer)
        self._watch.record_curves(optimizer, self._step, scale, rates=not self._has_rates)
        self._watch.before_update(self._step, scale=scale, optimizer=only)
        if self._run._is_stopped_at("before_update"):
            # Without gradients the update changes nothing.
            pl_module.zero_grad(set_to_none=True)
            trainer.should_stop = True

    @guarded
    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Records the loss and the logged values, and ends the step if this batch made an update."""
        if self._run is None or self._watch is None:
            return
        loss = outputs.get("loss") if isinstance(outputs, Mapping) else outputs
        if loss is not None:
            self._losses.append(loss.detach())
        if not self._updates:
            return
        self._watch.after_update(self._step)
        if self._losses:
            # Lightning divides the loss of each batch by the number of batches that are accumulated.
            self._run.scalar("train/step_loss", sum(self._losses), self._step)
        self._record_metrics(trainer)
        self._losses, self._updates = [], set()
        if self._run._is_stopped_at("after_step"):
            trainer.should_stop = True

    @guarded
    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """Records the values that the validation logged, at the last step; nothing of the sanity check before the training."""
        if self._run is not None and not trainer.sanity_checking:
            self._record_metrics(trainer)

    @guarded
    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Ends a run that this callback has begun as failed, with a note of the exception."""
        if self._run is not None:
            self._run._fail(exception)
        self._close("failure")

    @guarded
    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Removes the hooks, and ends a run that this callback has begun."""
        self._close()

    def _record_metrics(self, trainer: Any) -> None:
        # `trainer.logged_metrics` also has those of earlier batches and validations.
        metrics = trainer._logger_connector.metrics["log"]
        if self._run is not None and self._records_metrics and metrics:
            self._run.log(metrics, max(self._step, 0))


class TrainscopeLogger(_Logger):  # type: ignore[misc]
    """Logger of Lightning that records into a new run; every rank into another folder.

    Steps are those that Lightning gives: the number of updates before this one. With a `TrainscopeCallback` without
    folder both record into the same run.

    `Trainer(logger=TrainscopeLogger("runs/1"))`
    """

    def __init__(self, folder: str, **start: Any) -> None:
        """`folder`: the run, begun when the training begins. `start`: further arguments of `trainscope.start`."""
        super().__init__()
        self._owner = Adapter()
        self._owner._folder = folder
        self._options = start

    @property
    def experiment(self) -> Run | None:
        """The run, begun now if it is not open; None if the folder cannot be made."""
        return self._owner._run or self._owner._open(**self._options)

    @property
    def name(self) -> str:
        """Empty: checkpoints go into the folder of the run."""
        return ""

    @property
    def version(self) -> str:
        """Empty: checkpoints go into the folder of the run."""
        return ""

    @property
    def save_dir(self) -> str:
        """Folder of the run."""
        return str(self._owner._folder)

    @property
    def log_dir(self) -> str:
        """Folder of the run."""
        return self.save_dir

    def log_metrics(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        """Records numbers of one moment: one event."""
        if run := self.experiment:
            run.log(metrics, step)

    def log_hyperparams(self, params: Mapping[str, Any] | Namespace, *args: Any, **kwargs: Any) -> None:
        """Records hyperparameters; later values win."""
        if run := self.experiment:
            run.hparams(vars(params) if isinstance(params, Namespace) else params)

    def finalize(self, status: str) -> None:
        """Ends the run, as failed if Lightning says "failed". Later values begin to record again in the same folder."""
        self._owner._close("failure" if status == "failed" else "success")


def _unscale(trainer: Any, optimizer: Any) -> float:
    """Factor that takes the scale of the loss out of the gradients: those of fused optimizers have it until their
    update."""
    scaler = getattr(trainer.precision_plugin, "scaler", None)
    if scaler is None or not getattr(optimizer, "_step_supports_amp_scaling", False):
        return 1.0
    return 1 / float(scaler.get_scale())
