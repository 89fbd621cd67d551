"""Callback for the Trainer of Hugging Face's transformers, and for trainers made from it (trl, setfit).

Once this module is imported, `TrainingArguments(report_to="trainscope")` names the callback, and `log_with="trainscope"`
the tracker of `trainscope.accelerate`.

Tried with transformers 5.23; newer ones work as long as the events keep their names.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Mapping
from typing import Any

import torch

from trainscope._adapter import Adapter, Folder, open_run
from trainscope._lost import guarded
from trainscope._torch_hooks import Hook

_TrainerCallback: Any = importlib.import_module("transformers").TrainerCallback


class TrainscopeCallback(Adapter, _TrainerCallback):  # type: ignore[misc]
    """Records weights, gradients, activations, the loss of every update and what the Trainer logs.

    The step is `state.global_step` before the update, so that the first is 0; what the Trainer logs after an update
    (its own step is one higher) is recorded at that update's step. `train/step_loss` is the loss that the model
    itself returned: the Trainer's own `loss` is a mean since the last logging, in which NaN and infinities are
    replaced (`logging_nan_inf_filter`).

    Gradients are read after clipping, which spreads a NaN in one gradient to all: activations tell where it came
    from. The norm before clipping is the scalar `train/grad_norm`.

    `Trainer(callbacks=[TrainscopeCallback("runs/1", every=10)], …)`
    """

    def __init__(self, folder: Folder = None, **watch: Any) -> None:
        """`folder`: begins a run there, which ends with the training; as failed if the training is left by an
        exception. Without it the run started last is used, and left open. `watch`: arguments of `Run.watch`."""
        super().__init__()
        self._folder = folder
        self._options = watch
        self._handle: Any = None
        self._loss: Any = None
        self._batches = 0
        self._step = 0
        self._lacks_loss = False

    @guarded
    def on_train_begin(self, args: Any, state: Any, control: Any, *, model: Any, **kwargs: Any) -> None:
        """Begins the run with the arguments of the training as hyperparameters, and watches the model."""
        self._remove_loss_hook()
        self._choose_folder(args)
        run = self._open()
        if run is None:
            return
        run.hparams(args.to_sanitized_dict())
        run.note(
            "Gradients are recorded after clipping, as the Trainer of Hugging Face shows them; their norm before it is "
            "train/grad_norm."
        )
        self._step, self._lacks_loss = int(state.global_step), False
        self._handle = model.register_forward_hook(Hook(self, TrainscopeCallback._add_loss), with_kwargs=True)
        self._begin_watch(run, model, self._options)

    @guarded
    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Opens the step."""
        if self._run is None or self._watch is None:
            return
        self._step = int(state.global_step)
        self._loss, self._batches = None, 0
        self._run._begin_step(self._step)
        self._watch.begin(self._step)

    @guarded
    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Records the loss, and reads weights and gradients before the update."""
        if self._run is None or self._watch is None:
            return
        if self._loss is not None:
            self._run.scalar("train/step_loss", self._loss / self._batches, self._step)
        elif not self._lacks_loss:
            self._lacks_loss = True
            self._run.note(
                "train/step_loss is not recorded: the model returned no loss of its own (the Trainer has a loss function "
                "or label smoothing), or it is compiled."
            )
        self._watch.before_update(self._step)
        if self._run._is_stopped_at("before_update"):
            # Without gradients the update changes nothing.
            kwargs["model"].zero_grad(set_to_none=True)
            control.should_training_stop = True

    @guarded
    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Ends the step."""
        if self._run is None or self._watch is None:
            return
        self._watch.after_update(self._step)
        if self._run._is_stopped_at("after_step"):
            control.should_training_stop = True

    @guarded
    def on_log(self, args: Any, state: Any, control: Any, *, logs: Mapping[str, Any], **kwargs: Any) -> None:
        """Records what the Trainer logs, evaluations too: `eval_loss` as `eval/loss`, `loss` as `train/loss`."""
        if self._run is not None:
            numbers = {_name(key): value for key, value in logs.items() if isinstance(value, int | float)}
            self._run.log(numbers, self._step)

    @guarded
    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Removes the hooks, and ends a run of its own."""
        self._remove_loss_hook()
        self._close()

    @guarded
    def _add_loss(self, model: Any, args: Any, kwargs: Mapping[str, Any], output: Any) -> None:
        """Adds the loss in what the model returned, on its device."""
        if not (model.training and torch.is_grad_enabled()):
            return
        loss = output.get("loss") if isinstance(output, Mapping) else output[0] if isinstance(output, tuple) else None
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            return
        self._loss = loss.detach() if self._loss is None else self._loss + loss.detach()
        # With the number of items of all batches given, the model has divided by it: its losses are parts of the mean.
        self._batches = 1 if kwargs.get("num_items_in_batch") is not None else self._batches + 1

    def _choose_folder(self, args: Any) -> None:
        """Chooses the folder of a run of its own before each training."""

    def _remove_loss_hook(self) -> None:
        if self._handle is not None:
            self._handle.remove()
            self._handle = None


def _name(key: str) -> str:
    """Name of a logged number, as the Trainer's TensorBoard callback calls it."""
    for phase in ("eval", "test"):
        if key.startswith(f"{phase}_"):
            return f"{phase}/{key.removeprefix(f'{phase}_')}"
    return f"train/{key}"


class _ReportedCallback(TrainscopeCallback):
    """The callback of `report_to="trainscope"`: without a run that is open it begins one in `<output_dir>/trainscope`."""

    def _choose_folder(self, args: Any) -> None:
        self._close("failure")
        self._folder = None if open_run() else os.path.join(args.output_dir or ".", "trainscope")


def _register() -> None:
    integrations: Any = importlib.import_module("transformers.integrations")
    known = getattr(integrations, "INTEGRATION_TO_CALLBACK", None)
    if isinstance(known, dict):
        known["trainscope"] = _ReportedCallback
    with contextlib.suppress(ImportError):
        importlib.import_module("trainscope.accelerate")


_register()
