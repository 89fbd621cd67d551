"""The pass of a preflight in the modes of the training: outputs, loss, gradients, and bytes for the backward pass."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from trainscope._lost import text_of
from trainscope._torch_graph import tensors_in
from trainscope._torch_preflight_session import NotTried, Session, numbers_in, signed_sum

LOSS_SCALE = 1024.0
"""Factor of the loss in float16, whose small gradients would be 0 otherwise."""

CLASSES = ("NllLoss", "NllLoss2D", "NllLossNd")
"""Losses of classifiers."""

REGRESSION = ("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss")
"""Losses of regressions."""


@dataclasses.dataclass
class Pass:
    """One forward and backward pass in the modes of the training. `reason`: why there is no loss."""

    outputs: list[torch.Tensor]
    loss: float | None
    reason: str
    guess: Guess | None
    gradients: dict[str, torch.Tensor] | None
    # Shapes of parameters that the loss reaches and that belong neither to the model nor to an optimizer.
    foreign: list[tuple[int, ...]]
    called: set[int]
    # Bytes that the backward pass needs, by module.
    saved: dict[str, int] | None


@dataclasses.dataclass
class Guess:
    """The kind of a loss, and its value for a guess."""

    kind: str
    value: float
    expected: float
    classes: int = 0
    outputs: float = 0.0
    targets: float = 0.0


def training_pass(session: Session) -> Pass:
    """The pass of the training, made once."""
    known: Pass | Exception | None = session.__dict__.get("_training_pass")
    if known is None:
        try:
            known = _training_pass(session)
        except Exception as error:
            known = error
        session.__dict__["_training_pass"] = known
    if isinstance(known, Exception):
        raise known
    return known


def _training_pass(session: Session) -> Pass:
    trace = _Saved(session)
    try:
        with trace:
            output = session.run(evaluates=False, gradients=True)
        saved: dict[str, int] | None = trace.by_module
    except RuntimeError as error:
        # Function transforms refuse hooks of saved tensors.
        if "hook" not in str(error):
            raise
        saved = None
        output = session.run(evaluates=False, gradients=True)
    outputs = [own.detach() for own in numbers_in(output)]
    loss: torch.Tensor | None = None
    reason = ""
    with session.context(gradients=True):
        try:
            loss = session.loss_of(output)
        except Exception as error:
            reason = str(error) if isinstance(error, NotTried) else f"the loss could not be computed: {text_of(error)}"
    root = loss if loss is not None else _projected([own for own in numbers_in(output) if own.grad_fn is not None])
    found = Pass(outputs, None if loss is None else float(loss.detach()), reason, None, None, [], trace.called, saved)
    if root is None or root.grad_fn is None:
        return found
    functions = functions_of(root.grad_fn)
    found.guess = guess_of(functions) if loss is not None else None
    # Parameters that the pass has put into the model are none of it.
    session.settle()
    found.foreign = _foreign(session, functions)
    if session.parameters:
        found.gradients = gradients_of(session, root, functions)
    return found


def _projected(outputs: list[torch.Tensor]) -> torch.Tensor | None:
    """A sum of all outputs with random signs, in place of a loss."""
    with torch.enable_grad():
        sums = [signed_sum(own).cpu() for own in outputs]
        return torch.stack(sums).sum() if sums else None


def gradients_of(session: Session, root: torch.Tensor, functions: list[Any] | None = None) -> dict[str, torch.Tensor]:
    """Gradients of trainable parameters, without those that have none."""
    names, tensors = zip(*session.parameters, strict=True)
    is_half = any(is_on and dtype == torch.float16 for _, is_on, dtype in session.autocast)
    scale = LOSS_SCALE if is_half and math.isfinite(float(root.detach())) else 1.0
    with torch.enable_grad():
        root = root * scale
    found: Sequence[torch.Tensor | None]
    # Functions of a program may use parameters that the graph does not show, reentrant checkpoints for example.
    if any(hasattr(one, "_forward_cls") for one in functions or functions_of(root.grad_fn)):
        found = _accumulated(root, list(tensors))
    else:
        found = torch.autograd.grad(root, tensors, allow_unused=True)
    return {
        name: gradient if scale == 1.0 else gradient / scale
        for name, gradient in zip(names, found, strict=True)
        if gradient is not None
    }


def _accumulated(root: torch.Tensor, tensors: list[torch.Tensor]) -> list[torch.Tensor | None]:
    """Gradients by a whole backward pass. `.grad` is as before in the end."""
    if any(getattr(own, "_post_accumulate_grad_hooks", None) for own in tensors):
        raise NotTried("gradients are used as they come, by hooks")
    before = [own.grad for own in tensors]
    try:
        for own in tensors:
            own.grad = None
        # Not the one that tells a recorder of the training.
        backward = getattr(torch.autograd.backward, "__wrapped__", torch.autograd.backward)
        backward(root)
        return [own.grad for own in tensors]
    finally:
        for own, gradient in zip(tensors, before, strict=True):
            own.grad = gradient


class _Saved:
    """Counts the bytes that are saved for the backward pass, by the module that saves them."""

    def __init__(self, session: Session) -> None:
        self.by_module: dict[str, int] = {}
        self.called: set[int] = set()
        self._names = session.names()
        self._open: list[str] = []
        own = [*session.model.parameters(), *tensors_in((session.args, session.kwargs))]
        self._seen = {_memory(tensor) for tensor in own}
        self._held: list[Any] = []

    def __enter__(self) -> None:
        self._hooks = torch.autograd.graph.saved_tensors_hooks(self._pack, lambda tensor: tensor)
        self._handles = [
            nn.modules.module.register_module_forward_pre_hook(self._enter),
            nn.modules.module.register_module_forward_hook(self._leave, always_call=True),
        ]
        self._hooks.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._hooks.__exit__(*error)
        for handle in self._handles:
            handle.remove()
        self._held.clear()

    def _enter(self, module: nn.Module, _args: Any) -> None:
        self.called.add(id(module))
        self._open.append(self._names.get(id(module), type(module).__name__))

    def _leave(self, _module: nn.Module, _args: Any, _output: Any) -> None:
        if self._open:
            self._open.pop()

    def _pack(self, tensor: torch.Tensor) -> torch.Tensor:
        memory = _memory(tensor)
        if memory is not None and memory not in self._seen:
            self._seen.add(memory)
            # Freed memory could be given to another tensor, which would not be counted.
            self._held.append(tensor.detach())
            name = self._open[-1] if self._open else ""
            self.by_module[name] = self.by_module.get(name, 0) + tensor.untyped_storage().nbytes()
        return tensor


def _memory(tensor: torch.Tensor) -> int | None:
    return tensor.untyped_storage().data_ptr() if tensor.layout == torch.strided else None


def functions_of(root: Any) -> list[Any]:
    """Functions of the graph of autograd, those near the loss first."""
    seen = {root}
    order = [root]
    for function in order:
        for inner, _ in function.next_functions:
            if inner is not None and inner not in seen:
                seen.add(inner)
                order.append(inner)
    return order


def operation_of(function: Any) -> str:
    """Name of a function of autograd as its class has it: `NllLoss`."""
    return str(type(function).__name__).rstrip("0123456789").removesuffix("Backward")


def ignored_label(function: Any) -> int:
    """The label that does not count in the loss of this function, which keeps it without a sign."""
    label = int(function._saved_ignore_index)
    return label - (1 << 64) if label >= 1 << 63 else label


def _foreign(session: Session, functions: list[Any]) -> list[tuple[int, ...]]:
    known = {id(own) for own in session.model.parameters()}
    groups = [group for optimizer in session.optimizers for group in optimizer.param_groups]
    known |= {id(own) for group in groups for own in group["params"]}
    leaves = [function.variable for function in functions if hasattr(function, "variable")]
    return [tuple(own.shape) for own in leaves if isinstance(own, nn.Parameter) and id(own) not in known]


def guess_of(functions: list[Any]) -> Guess | None:
    """The loss by its function, and that of a guess; `None` of a loss that is made of others, or unknown."""
    named = [(operation_of(one), one) for one in functions]
    found = [(name, one) for name, one in named if name in (*CLASSES, *REGRESSION) or "BinaryCrossEntropy" in name]
    if len(found) != 1:
        return None
    name, function = found[0]
    inputs, targets = function._saved_self.detach(), function._saved_target
    if name in CLASSES:
        axis = 1 if inputs.ndim > 1 else 0
        classes = inputs.shape[axis]
        by_class = inputs.movedim(axis, -1).reshape(-1, classes).float()
        labels = targets.reshape(-1)
        counted = (labels != ignored_label(function)) & (labels >= 0)
        if not bool(counted.any()) or classes < 2:
            return None
        value = -by_class[counted].gather(1, labels[counted, None]).mean()
        return Guess("cross_entropy", float(value), math.log(classes), classes)
    if "BinaryCrossEntropy" in name:
        own = nn.functional.binary_cross_entropy
        compute = nn.functional.binary_cross_entropy_with_logits if "WithLogits" in name else own
        return Guess("binary_cross_entropy", float(compute(inputs.float(), targets.float())), math.log(2), 2)
    if targets.numel() < 2:
        return None
    spread = float(targets.float().var(correction=0))
    value = float((inputs.float() - targets.float()).square().mean())
    return Guess("regression", value, spread, outputs=rms_of(inputs), targets=rms_of(targets))


def rms_of(values: torch.Tensor) -> float:
    """Root of the mean square of elements; 0 without any."""
    return float(values.abs().float().square().mean().sqrt()) if values.numel() else 0.0
