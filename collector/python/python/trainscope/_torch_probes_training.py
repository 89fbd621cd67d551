"""Probes of one training step: outputs and loss, gradients, the update, memory, and the type of the numbers."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from trainscope._preflight import Probe
from trainscope._torch_graph import dtype_name, named_parameters, tensors_in
from trainscope._torch_preflight_pass import Guess, functions_of, guess_of, training_pass
from trainscope._torch_preflight_session import NotTried, Session, mapped, numbers_in
from trainscope._torch_preflight_state import check_memory, free_memory

FAR_ABOVE_CHANCE = 3.0
"""Initial loss in units of that of a guess above which a classifier is confidently wrong: as for the warning of the
condition `initial_loss`. Common initializations stay below 1.5."""

FAR_BELOW_CHANCE = 0.5
"""Initial loss in units of that of a guess below which the labels must be known."""

FAR_OFF_SCALE = 100.0
"""Ratio of the sizes (RMS) of targets and outputs of a regression above which they are on other scales: as in the
condition of the scale of targets."""

MAX_SIXTEEN_BIT_ERROR = 0.05
"""Relative difference (RMS) of a layer's output in 16 bits from that in 32 bits above which it is lost: bfloat16 rounds
by 0.4 %, and thirty layers of random rounding reach 2 %."""

MAX_NAMES = 32
"""Layers and parameters that data and numbers name."""


def sizes_of(tensors: list[torch.Tensor]) -> dict[torch.device, int]:
    """Bytes of tensors by device."""
    sizes: dict[torch.device, int] = {}
    for own in tensors:
        if not own.is_meta:
            sizes[own.device] = sizes.get(own.device, 0) + own.numel() * own.element_size()
    return sizes


# Outputs and loss.


def finite(session: Session) -> Probe:
    """Are the outputs and the loss of the first batch numbers?"""
    found = training_pass(session)
    bad: list[str] = []
    numbers = {"outputs": len(found.outputs), "nan": 0, "infinite": 0}
    for number, tensor in enumerate(found.outputs):
        nan, infinite = int(tensor.isnan().sum()), int(tensor.isinf().sum())
        numbers["nan"] += nan
        numbers["infinite"] += infinite
        # Logits of forbidden classes are often -inf.
        is_mask = infinite == int((tensor == -math.inf).sum())
        if nan or (infinite and not (is_mask and found.loss is not None and math.isfinite(found.loss))):
            bad.append(f"{nan + infinite} of {tensor.numel()} elements of output {number + 1}")
    if found.loss is not None and not math.isfinite(found.loss):
        bad.append(f"the loss ({found.loss})")
    if bad:
        return Probe("finite", "failed", f"Not finite in the first batch: {', '.join(bad)}.", numbers)
    what = "Outputs and loss" if found.loss is not None else "Outputs"
    return Probe("finite", "passed", f"{what} of the first batch are finite.", numbers)


def initial_loss(session: Session) -> Probe:
    """Is the loss of the first batch that of a guess?"""
    found = training_pass(session)
    if found.loss is None:
        raise NotTried(found.reason)
    guess = found.guess
    if guess is None:
        raise NotTried("the loss is none whose value for a guess is known")
    if not math.isfinite(guess.value):
        raise NotTried("the loss is not finite")
    numbers: dict[str, float] = {"loss": guess.value, "expected": guess.expected}
    if guess.kind == "regression":
        return _initial_regression(guess, numbers)
    numbers["classes"] = guess.classes
    of = f"ln {guess.classes} = {guess.expected:.3g}"
    if guess.value > FAR_ABOVE_CHANCE * guess.expected:
        says = (
            f"The first loss is {guess.value:.3g}, that of a guess {of}: the model is confidently wrong. Initialize the "
            "last layer with smaller weights, and scale the inputs."
        )
        return Probe("initial_loss", "failed", says, numbers)
    if guess.value < FAR_BELOW_CHANCE * guess.expected:
        return _initially_known(session, guess, numbers, of)
    return Probe("initial_loss", "passed", f"The first loss is {guess.value:.3g}, as of a guess ({of}).", numbers)


def _initially_known(session: Session, guess: Guess, numbers: dict[str, float], of: str) -> Probe:
    """Decides by one more pass with random weights if they are trained, or the labels leak past them."""
    random = torch.Generator().manual_seed(0)
    weights = [own for _, own in named_parameters(session.model)[0] if own.ndim > 1 and own.is_floating_point()]
    check_memory(sizes_of(weights))
    copies = [own.detach().clone() for own in weights]
    try:
        for own in weights:
            own.data.copy_(torch.randn(own.shape, generator=random) * own.detach().float().std().cpu())
        output = session.run(evaluates=False, gradients=True)
        with session.context(gradients=True):
            loss = session.loss_of(output)
        again = None if loss.grad_fn is None else guess_of(functions_of(loss.grad_fn))
    finally:
        for own, before in zip(weights, copies, strict=True):
            own.data.copy_(before)
    if again is None:
        raise NotTried("the loss with random weights is not known")
    numbers["loss_with_random_weights"] = again.value
    if again.value < FAR_BELOW_CHANCE * guess.expected:
        says = (
            f"The first loss is {guess.value:.3g}, far below that of a guess ({of}), also with random weights: the labels "
            "leak into the outputs."
        )
        return Probe("initial_loss", "failed", says, numbers)
    says = f"The first loss is {guess.value:.3g}, below that of a guess ({of}): the weights are trained."
    return Probe("initial_loss", "passed", says, numbers)


def _initial_regression(guess: Guess, numbers: dict[str, float]) -> Probe:
    numbers |= {"outputs_rms": guess.outputs, "targets_rms": guess.targets}
    if guess.targets > FAR_OFF_SCALE * max(1.0, guess.outputs):
        says = f"Targets have a size of {guess.targets:.3g}, outputs of {guess.outputs:.3g}: scale the targets."
        return Probe("initial_loss", "failed", says, numbers)
    if guess.expected > 0 and guess.value > FAR_OFF_SCALE**2 * guess.expected and guess.outputs > guess.targets:
        says = (
            f"Outputs have a size of {guess.outputs:.3g}, targets of {guess.targets:.3g}: scale the inputs, or initialize "
            "the last layer with smaller weights."
        )
        return Probe("initial_loss", "failed", says, numbers)
    says = f"The first mean square error is {guess.value:.3g}; the variance of the targets is {guess.expected:.3g}."
    return Probe("initial_loss", "passed", says, numbers)


# Gradients and parameters.


def reach(session: Session) -> Probe:
    """Does the loss reach all parameters that the optimizer holds, and are they those of the model?"""
    found = training_pass(session)
    if not session.parameters:
        raise NotTried("the model has no trainable parameter")
    of = "loss" if found.loss is not None else "output"
    gradients = found.gradients or {}
    held = {id(own) for optimizer in session.optimizers for group in optimizer.param_groups for own in group["params"]}
    of_model = {id(own) for own in session.model.parameters()}
    counted = [(name, own) for name, own in session.parameters if not held or id(own) in held]
    not_reached = [(name, own) for name, own in counted if name not in gradients]
    missing = [name for name, own in session.parameters if held and id(own) not in held]
    others = len(held - of_model)
    numbers = {
        "trainable": len(session.parameters), "reached": len(gradients), "not_reached": len(not_reached),
        "foreign": len(found.foreign), "held": len(held), "missing": len(missing), "others": others,
    }  # fmt: skip
    if found.foreign:
        says = (
            f"The {of} depends on {len(found.foreign)} parameters, one of shape {list(found.foreign[0])}, that are neither "
            "in the model nor in an optimizer: layers in a Python list instead of a ModuleList?"
        )
        return Probe("reach", "failed", says, numbers)
    if not gradients:
        says = f"The {of} has no gradient: it is computed by operations without one, or under no_grad."
        return Probe("reach", "failed", says, numbers)
    if held and not held & of_model:
        return Probe("reach", "failed", "The optimizer holds no parameter of the model.", numbers)
    if missing and others:
        says = (
            f"The optimizer holds {others} parameters that are not in the model, and not {named_few(missing)}, which are: "
            "it was made before the model was changed."
        )
        return Probe("reach", "failed", says, numbers)
    cut = _cut_off(session, not_reached) if not_reached else []
    numbers["cut_off"] = len(cut)
    if cut:
        says = f"Outputs depend on {named_few(cut)}, but no gradient reaches them: detached, or under no_grad."
        return Probe("reach", "failed", says, numbers)
    says = f"The {of} reaches {len(gradients)} of {len(session.parameters)} trainable parameters."
    if not_reached:
        says += f" It does not use {named_few([name for name, _ in not_reached])} in this batch."
    if missing:
        says += f" No optimizer that was given holds {named_few(missing)}."
    return Probe("reach", "passed", says, numbers)


def _cut_off(session: Session, parameters: list[tuple[str, torch.Tensor]]) -> list[str]:
    """Those of the parameters without a gradient that outputs depend on, by a pass with other values."""
    tensors = [own for _, own in parameters]
    check_memory(sizes_of(tensors))
    before = [own.detach().clone() for own in tensors]
    random = torch.Generator().manual_seed(1)

    def outputs(chosen: list[int]) -> list[torch.Tensor]:
        try:
            for number in chosen:
                own = tensors[number]
                spread = float(own.detach().float().std()) if own.numel() > 1 else 0.0
                noise = torch.randn(own.shape, generator=random) * (spread or 0.1)
                own.data.add_(noise.to(own.device, own.dtype))
            return [own.detach() for own in numbers_in(session.run())]
        finally:
            for number in chosen:
                tensors[number].data.copy_(before[number])

    def depends(chosen: list[int]) -> bool:
        after = outputs(chosen)
        return any(a.shape != b.shape or not torch.equal(a, b) for a, b in zip(first, after, strict=True))

    first = outputs([])
    everything = list(range(len(tensors)))
    if not depends(everything):
        return []
    # Halves, until a few are left that can be named, or no pass is left.
    chosen = everything
    try:
        while len(chosen) > 1:
            half = chosen[: len(chosen) // 2]
            if not depends(half):
                chosen = chosen[len(half) :]
            elif depends(chosen[len(half) :]):
                break
            else:
                chosen = half
    except NotTried:
        pass
    return [parameters[number][0] for number in chosen]


def named_few(names: list[str]) -> str:
    """A few names."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} others" if len(names) > 3 else "")


# Precision and memory.


def precision(session: Session) -> Probe:
    """Compares outputs of layers in 16 bits, as in the training, with those in 32 bits."""
    types = [dtype for _, is_on, dtype in session.autocast if is_on]
    types += [own.dtype for own in session.model.parameters() if own.dtype in (torch.bfloat16, torch.float16)]
    if not types:
        raise NotTried("the model computes in 32 bits")
    exact, rounded = _Layers(session), _Layers(session)
    with rounded:
        session.run()
    with exact, _in_32_bits(session) as arguments:
        session.run(arguments, uses_autocast=False)
    if exact.is_full:
        raise NotTried("the outputs of the layers do not fit into the memory twice")
    dtype = dtype_name(types[0])
    errors: dict[str, float] = {}
    for name, before in exact.outputs.items():
        after = rounded.outputs.get(name)
        if after is None or after.shape != before.shape:
            continue
        if not bool(torch.isfinite(before).all()):
            raise NotTried(f"the output of {name} is not finite in 32 bits")
        size = float(before.norm())
        if not bool(torch.isfinite(after).all()):
            errors[name] = math.inf
        elif size > 0:
            errors[name] = float((after - before).norm()) / size
    if not errors:
        raise NotTried("no layer has an output that could be compared")
    above = [name for name, own in errors.items() if own > MAX_SIXTEEN_BIT_ERROR]
    largest = max(errors.values())
    numbers = {"layers": len(errors), "above": len(above), "largest": largest if math.isfinite(largest) else math.nan}
    infinite = [name for name, own in errors.items() if own == math.inf]
    numbers["not_finite"] = len(infinite)
    finite_errors = [(name, own) for name, own in list(errors.items())[:MAX_NAMES] if math.isfinite(own)]
    data = {"errors": {name: float(f"{own:.2g}") for name, own in finite_errors}}
    if infinite:
        says = f"The output of {infinite[0]} is finite in float32 and not in {dtype}."
        return Probe("precision", "failed", says, numbers, data)
    if above:
        percent = f"{100 * errors[above[0]]:.2g} %"
        says = f"The output of {above[0]} in {dtype} differs from float32 by {percent}, the first above 5 %."
        return Probe("precision", "failed", says, numbers, data)
    says = f"Layers in {dtype} differ from float32 by {100 * largest:.1g} % at most."
    return Probe("precision", "passed", says, numbers, data)


@contextlib.contextmanager
def _in_32_bits(session: Session) -> Iterator[tuple[Any, Any]]:
    """Weights and buffers of 16 bits are of 32 meanwhile; the arguments, too."""

    def is_short(tensor: torch.Tensor) -> bool:
        return tensor.dtype in (torch.bfloat16, torch.float16)

    short = [own for own in (*session.model.parameters(), *session.model.buffers()) if is_short(own)]
    check_memory({device: 2 * size for device, size in sizes_of(short).items()})
    before = [own.data for own in short]
    try:
        for own in short:
            own.data = own.data.float()
        with session.leaving(short):
            yield mapped((session.args, session.kwargs), lambda own: own.detach().float() if is_short(own) else own)
    finally:
        for own, memory in zip(short, before, strict=True):
            own.data = memory


class _Layers:
    """Outputs of all modules that call no other, in 32 bits."""

    def __init__(self, session: Session) -> None:
        self.outputs: dict[str, torch.Tensor] = {}
        self.is_full = False
        self._names = session.names()
        self._left = min(free_memory(own) for own in session.devices) // 8

    def __enter__(self) -> None:
        self._handle = nn.modules.module.register_module_forward_hook(self._keep)

    def __exit__(self, *_error: Any) -> None:
        self._handle.remove()

    def _keep(self, module: nn.Module, _args: Any, output: Any) -> None:
        name = self._names.get(id(module))
        tensor = next((own for own in tensors_in(output) if own.is_floating_point()), None)
        if name is None or tensor is None or any(True for _ in module.children()):
            return
        self._left -= tensor.numel() * 4
        if self._left < 0:
            self.is_full = True
        else:
            self.outputs.setdefault(name, tensor.detach().float().clone())


def memory(session: Session) -> Probe:
    """Bytes of weights, gradients, the optimizer and the backward pass; the batch that would fit."""
    found = training_pass(session)
    if found.saved is None:
        raise NotTried("function transforms hide what is saved for the backward pass")
    weights = sum(sizes_of(list(session.model.parameters())).values())
    trainable = sum(sizes_of([own for _, own in session.parameters]).values())
    states = sum(sizes_of([own for one in session.optimizers for own in tensors_in(list(one.state.values()))]).values())
    saved = sum(found.saved.values())
    device = next((own for own in session.devices if own.type != "cpu"), torch.device("cpu"))
    free = free_memory(device)
    given = next((own for own in tensors_in((session.args, session.kwargs)) if own.ndim), None)
    samples = len(given) if given is not None else 1
    first_update = 2 * trainable if session.optimizers and not states else 0
    fits = max(0, free - trainable - first_update) * samples // max(1, saved)
    numbers = {
        "weights": weights, "gradients": trainable, "optimizer": states, "activations": saved, "free": free,
        "samples": samples, "samples_that_fit": fits if saved else samples,
    }  # fmt: skip
    largest = sorted(found.saved.items(), key=lambda own: -own[1])[:MAX_NAMES]
    data = {"activations": dict(largest)}
    most = f", most of it ({_megabytes(largest[0][1])}) in {largest[0][0] or 'functions'}" if largest else ""
    says = f"Activations take {_megabytes(saved)} for {samples} samples{most}; about {fits:,} samples would fit."
    if saved and fits < samples:
        needed = _megabytes(saved + trainable + first_update)
        says = f"{samples} samples need {needed}, and {_megabytes(free)} are free."
        return Probe("memory", "failed", says, numbers, data)
    return Probe("memory", "passed", says, numbers, data)


def _megabytes(size: int) -> str:
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"


