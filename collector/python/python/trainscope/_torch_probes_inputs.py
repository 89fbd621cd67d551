"""Probe of the inputs: do outputs depend on each of them, and on none that is the answer?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from trainscope._preflight import Probe
from trainscope._torch_graph import tensors_in
from trainscope._torch_preflight_session import NotTried, Session, mapped, numbers_in, signed_sum
from trainscope._torch_probes_dependence import other_values, unique

MAX_CHANGED_INPUTS = 6
"""Inputs that are changed, one pass each."""


def input_dependence(session: Session) -> Probe:
    """Changes each input, and each feature without a gradient: does any output change?"""
    session.judged  # noqa: B018 - raises where nothing can be judged.
    outputs = _all_outputs(session.base)
    named = list(_named_inputs(session))
    if not named:
        raise NotTried("no input is a tensor")
    ignored: list[str] = []
    leaking: list[str] = []
    skipped: list[str] = []
    for number, (name, tensor) in enumerate(named):
        try:
            after = None if number >= MAX_CHANGED_INPUTS else _after_change(session, tensor)
        except NotTried:
            raise
        except Exception:
            after = None
        if after is None:
            skipped.append(name)
        elif not _any_differs(outputs, after):
            ignored.append(name)
        elif _is_label(session, tensor) and len(named) > 1 and _judged_differs(session, after):
            leaking.append(name)
    features, columns = _ignored_features(session, outputs)
    label = _label_column(session)
    if label and any(own.endswith(f" {label}") for own in features):
        label = ""
    numbers: dict[str, float] = {"inputs": len(named), "ignored": len(ignored)}
    numbers |= {"ignored_features": len(features), "features": columns}
    numbers |= {"with_labels": len(leaking) + bool(label), "skipped": len(skipped)}
    if leaking or label:
        which = leaking[0] if leaking else label
        says = f"Labels leak: {which} is equal to the targets, and outputs depend on it."
        return Probe("input_dependence", "failed", says, numbers)
    if ignored:
        says = f"No output depends on {', '.join(ignored[:3])}: an input is ignored, or a mask does nothing."
        return Probe("input_dependence", "failed", says, numbers)
    if features:
        more = f" and {len(features) - 3} more" if len(features) > 3 else ""
        says = f"No output depends on {', '.join(features[:3])}{more}."
        return Probe("input_dependence", "failed", says, numbers)
    if len(skipped) == len(named):
        raise NotTried("no input could be changed to another one that means something")
    rest = f" Not tried: {', '.join(skipped[:3])}." if skipped else ""
    return Probe("input_dependence", "passed", f"Outputs depend on every input that was changed.{rest}", numbers)


def _named_inputs(session: Session) -> Iterator[tuple[str, torch.Tensor]]:
    for number, value in enumerate(session.args):
        for tensor in tensors_in(value):
            yield f"input {number + 1}", tensor
    for name, value in session.kwargs.items():
        for tensor in tensors_in(value):
            yield f"input `{name}`", tensor


def _after_change(session: Session, tensor: torch.Tensor) -> list[torch.Tensor] | None:
    """All outputs after one input was changed; `None` if it can have no other values that mean something."""
    if not tensor.numel() or tensor.layout != torch.strided or tensor.is_nested:
        return None
    if tensor.dtype == torch.bool or _is_mask(tensor):
        # Off at every second place of the last dimension where it is on. At least the first stays as it is.
        new = tensor.detach().clone()
        new[..., 1::2] = 0 if bool(new[..., 1::2].any()) else 1
    elif tensor.is_floating_point() or tensor.is_complex():
        new = tensor.detach().flip(0) * 1.5 + other_values(tensor, torch.zeros_like(tensor))
    else:
        if len(unique(tensor)) < 2:
            return None
        new = other_values(tensor, tensor.detach())
    args, kwargs = mapped((session.args, session.kwargs), lambda own: new if own is tensor else own)
    with session.filled():
        return _all_outputs(session.run((args, kwargs)))


def _is_mask(tensor: torch.Tensor) -> bool:
    """True for whole numbers that are all 1, with some 0: as the masks of padding."""
    if tensor.is_floating_point() or tensor.is_complex() or tensor.ndim < 2:
        return False
    return bool(((tensor == 0) | (tensor == 1)).all()) and bool((tensor == 1).any())


def _is_label(session: Session, tensor: torch.Tensor) -> bool:
    """True if an input is equal to the targets, which are labels."""
    targets = session.targets
    if not isinstance(targets, torch.Tensor) or targets.is_floating_point() or targets.numel() != tensor.numel():
        return False
    return targets.ndim == 1 and len(targets) > 1 and bool((targets.flatten() == tensor.flatten()).all())


def _label_column(session: Session) -> str:
    """Name of a feature that is equal to the targets; "" without one."""
    targets = session.targets
    if not isinstance(targets, torch.Tensor) or targets.numel() < 8 or len(unique(targets)) < 2:
        return ""
    for name, tensor in _named_inputs(session):
        if _has_features(tensor) and tensor.ndim == 2 and tensor.shape[1] > 1 and len(tensor) == targets.numel():
            same = (tensor == targets.reshape(-1, 1).to(tensor.dtype)).all(0).nonzero().flatten()
            if len(same):
                return f"feature {int(same[0])} of {name}"
    return ""


def _ignored_features(session: Session, outputs: list[torch.Tensor]) -> tuple[list[str], int]:
    """Features that no output depends on, by the gradient and by another pass; and the number of all features."""
    # A tensor that is given twice has one gradient.
    once = {id(own): (name, own) for name, own in reversed(list(_named_inputs(session)))}
    inputs = [(name, own) for name, own in reversed(once.values()) if _has_features(own)]
    if not inputs:
        return [], 0
    known = {id(own): own.detach().clone().requires_grad_() for _, own in inputs}
    arguments = mapped((session.args, session.kwargs), lambda own: known.get(id(own), own))
    session.spend()
    session.settle()
    session._set_modes(evaluates=True)
    with session.filled(), session.context(gradients=True):
        output = session.selected(session.model(*arguments[0], **arguments[1]))
    if not output.requires_grad:
        return [], 0
    try:
        gradients = torch.autograd.grad(signed_sum(output), list(known.values()), allow_unused=True)
    except RuntimeError:
        return [], 0
    found: list[str] = []
    total = 0
    changed: dict[int, torch.Tensor] = {}
    for (name, tensor), gradient in zip(inputs, gradients, strict=True):
        axis = 1 if tensor.ndim >= 4 else tensor.ndim - 1
        total += tensor.shape[axis]
        if gradient is None or tensor.shape[axis] < 2:
            continue
        without = ~gradient.movedim(axis, 0).flatten(1).bool().any(1)
        if bool(without.any()) and not bool(without.all()):
            found += [f"feature {int(own)} of {name}" for own in without.nonzero().flatten()]
            new = tensor.detach().clone().movedim(axis, 0)
            new[without] = other_values(tensor, new[without])
            changed[id(tensor)] = new.movedim(0, axis)
    if not found:
        return [], total
    arguments = mapped((session.args, session.kwargs), lambda own: changed.get(id(own), own))
    with session.filled():
        after = _all_outputs(session.run(arguments))
    return ([] if _any_differs(outputs, after) else found), total


def _has_features(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() and tensor.ndim >= 2 and tensor.layout == torch.strided and not tensor.is_nested


def _all_outputs(output: Any) -> list[torch.Tensor]:
    return [own.detach().clone() for own in numbers_in(output)]


def _any_differs(before: list[torch.Tensor], after: list[torch.Tensor]) -> bool:
    if len(before) != len(after):
        return True
    return any(a.shape != b.shape or not torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(before, after, strict=True))


def _judged_differs(session: Session, after: list[torch.Tensor]) -> bool:
    """True if the judged output is not among those after a change."""
    return not any(own.shape == session.judged.shape and torch.equal(own, session.judged) for own in after)
