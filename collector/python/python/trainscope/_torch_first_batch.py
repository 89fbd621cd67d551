"""Preflight of a watched model at its first batch: its inputs, and the loss of the first backward pass."""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from trainscope._examine import examine
from trainscope._lost import guarded, text_of
from trainscope._preflight import not_tried
from trainscope._torch_calls import Listener, leave, listen
from trainscope._torch_graph import tensors_in
from trainscope._torch_hooks import Hook, ModuleHooks
from trainscope._torch_passes import Passes
from trainscope._torch_preflight_pass import CLASSES, REGRESSION, functions_of, ignored_label, operation_of
from trainscope._torch_preflight_session import Given, autocast_now, mapped

PASSES_WITHOUT_LOSS = 3
"""Forward passes after which the probes are made although no backward pass was seen."""

MAX_PARTS = 1024
"""Most parts of a batch whose losses are divided by their number."""

SAME = 1e-4
"""Relative difference up to which a loss that was computed again is the same: float32, summed in another order."""

# Functions of outputs before a loss: none, or those by which programs of sequences and pictures arrange them.
_ARRANGED: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
    lambda own: own,
    lambda own: own.flatten(0, -2),
    lambda own: own[:, :-1].flatten(0, -2),
    lambda own: own.transpose(1, 2),
    lambda own: own.squeeze(-1),
    lambda own: own.flatten(),
    lambda own: own[:, -1],
)


class FirstBatch(Listener):
    """Waits for the first backward pass of the model, and examines the model after it."""

    def __init__(
        self, run: Any, passes: Passes, model: nn.Module, optimizer: Any, options: Mapping[str, Any]
    ) -> None:
        self._run = run
        self._training = passes
        self._model = weakref.ref(model)
        self._optimizer = None if optimizer is None else weakref.ref(optimizer)
        self._options = dict(options)
        self._inputs: Any = None
        self._output: Any = None
        self._autocast: Any = None
        self._passes = 0
        # The loss as a function and its targets, or why there is none.
        self._loss: tuple[Any, Any] | str = "no backward pass of the first batch was seen"
        self._is_due = False
        self._hooks = ModuleHooks()
        self._hooks.before(model, Hook(self, FirstBatch._before_model), with_kwargs=True)
        self._hooks.after(model, Hook(self, FirstBatch._after_model))
        listen(self)

    @guarded
    def close(self) -> None:
        """Ends to wait. If nothing was examined, the run says so."""
        if self._hooks:
            self._end()
            not_tried("the model made no forward pass in a training").record(self._run)

    def _end(self) -> None:
        leave(self)
        self._hooks.remove()

    @guarded
    def _before_model(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not module.training or not torch.is_grad_enabled() or not self._training.sees(module):
            return
        self._passes += 1
        if self._is_due:
            return
        if self._passes <= PASSES_WITHOUT_LOSS:
            types = dict.fromkeys(own.device.type for own in [*module.parameters(), *tensors_in((args, kwargs))])
            self._autocast = autocast_now(types)
            args, kwargs = mapped((args, kwargs), lambda own: own.detach().clone())
            self._inputs, self._output = (args, kwargs), None
        else:
            self._examine()

    @guarded
    def _after_model(self, _module: nn.Module, _args: tuple[Any, ...], output: Any) -> None:
        if self._inputs is not None and not self._is_due:
            self._output = output

    @guarded
    def before_backward(self, roots: tuple[Any, ...]) -> None:
        """Finds the loss of the first batch in the graph."""
        if self._is_due or self._output is None:
            return
        root = next((own for own in roots if isinstance(own, torch.Tensor)), None)
        if root is None:
            return
        if root.grad_fn is None:
            # The loss is a number that was computed without gradients.
            value = root.detach().clone()
            self._is_due, self._loss = True, (lambda _output, _targets: value, None)
            return
        functions = functions_of(root.grad_fn)
        outputs = {own.grad_fn for own in tensors_in(self._output) if own.grad_fn is not None}
        if outputs.isdisjoint(functions):
            return
        self._is_due = True
        try:
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._loss = _loss_of(root, functions, self._output)
        except Exception as error:
            self._loss = f"the loss could not be read: {text_of(error)}"

    @guarded
    def after_backward(self) -> None:
        """Examines the model: the graph of the first batch is not needed any more."""
        if self._is_due and sys.exc_info()[0] is None:
            self._examine()

    def _examine(self) -> None:
        self._end()
        model = self._model()
        self._output = None
        inputs, self._inputs = self._inputs, None
        if model is None or inputs is None:
            return
        options = {"loss": None, "targets": None} | self._options
        reason = ""
        if options["loss"] is None:
            if isinstance(self._loss, str):
                reason = self._loss
            else:
                options["loss"], options["targets"] = self._loss
        targets = options.pop("targets")
        optimizer = None if self._optimizer is None else self._optimizer()
        report = examine(
            model, Given(*inputs), targets, optimizer=optimizer, autocast=self._autocast, reason=reason, **options
        )
        report.record(self._run)


def _loss_of(root: torch.Tensor, functions: list[Any], output: Any) -> tuple[Any, Any] | str:
    """The loss as a function of outputs and targets, and its targets; or why it is not known."""
    whole = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", output)
    if isinstance(whole, torch.Tensor) and whole.ndim == 0:
        return None, None
    if not isinstance(output, torch.Tensor):
        return "the loss is computed from several outputs: call `trainscope.preflight` with it"
    names = (*CLASSES, *REGRESSION, "BinaryCrossEntropy", "BinaryCrossEntropyWithLogits")
    found = [one for one in functions if operation_of(one) in names]
    if len(found) != 1:
        return "the loss is none that is known: call `trainscope.preflight` with it"
    function = found[0]
    compute = _function_of(function)
    targets = function._saved_target
    value = float(compute(function._saved_self, targets))
    if not _is_part(float(root.detach()), value):
        return "the loss has other terms: call `trainscope.preflight` with it"
    for arrange in _ARRANGED:
        for last in _lasts(operation_of(function)):

            def loss(own: torch.Tensor, labels: torch.Tensor, arrange: Any = arrange, last: Any = last) -> torch.Tensor:
                result: torch.Tensor = compute(last(arrange(own)), labels)
                return result

            try:
                again = float(loss(output.detach(), targets))
            except (RuntimeError, IndexError, ValueError, TypeError):
                continue
            if abs(again - value) <= SAME * abs(value) or again == value:
                return loss, targets.detach().clone()
    return "how the outputs go into the loss is not known: call `trainscope.preflight` with it"


def _is_part(whole: float, value: float) -> bool:
    """True if a loss is a value, divided by a number of parts or multiplied by the power of two of a gradient scaler."""
    if value == 0 or whole == 0:
        return whole == value
    ratio = whole / value
    if ratio > 1:
        nearest = 2.0 ** round(torch.tensor(ratio).log2().item())
    else:
        nearest = 1 / min(MAX_PARTS, max(1, round(1 / ratio))) if ratio > 0 else 0.0
    return bool(abs(ratio - nearest) <= SAME * nearest)


def _lasts(operation: str) -> tuple[Callable[[torch.Tensor], torch.Tensor], ...]:
    """Functions of the outputs of a model before the last one of a loss."""
    if operation in CLASSES:
        return (lambda own: functional.log_softmax(own.float(), 1), lambda own: own.float())
    if operation == "BinaryCrossEntropy":
        return (lambda own: own, torch.sigmoid)
    return (lambda own: own,)


_REDUCTIONS = ("none", "mean", "sum")


def _function_of(function: Any) -> Callable[..., torch.Tensor]:
    """A loss of PyTorch with the settings that its function in the graph keeps."""
    name = operation_of(function)
    reduction = _REDUCTIONS[int(function._saved_reduction)]
    if name in CLASSES:
        weight, ignored = function._saved_weight, ignored_label(function)
        return lambda own, labels: functional.nll_loss(own, labels, weight, ignore_index=ignored, reduction=reduction)
    if name == "BinaryCrossEntropyWithLogits":
        weight, positive = function._saved_weight, function._saved_pos_weight
        call = functional.binary_cross_entropy_with_logits
        return lambda own, labels: call(own, labels, weight, pos_weight=positive, reduction=reduction)
    if name == "BinaryCrossEntropy":
        weight = function._saved_weight
        return lambda own, labels: functional.binary_cross_entropy(own, labels, weight, reduction=reduction)
    if name == "SmoothL1Loss":
        beta = float(function._saved_beta)
        return lambda own, labels: functional.smooth_l1_loss(own, labels, reduction=reduction, beta=beta)
    if name == "HuberLoss":
        delta = float(function._saved_delta)
        return lambda own, labels: functional.huber_loss(own, labels, reduction=reduction, delta=delta)
    simple = functional.mse_loss if name == "MseLoss" else functional.l1_loss
    return lambda own, labels: simple(own, labels, reduction=reduction)
